//===- Options.h - MLIR pass options made from a C table ---------------------------------===//
#ifndef ONYX_PLUGIN_OPTIONS_H
#define ONYX_PLUGIN_OPTIONS_H

#include "Seam.h"

#include "mlir/Pass/PassOptions.h"

#include <memory>

namespace onyx {

// Options of a pass or pipeline. `Parent` is mlir::Pass or mlir::detail::PassOptions; `Scalar` and
// `List` are its Option and ListOption templates.
template <typename Parent> class OptionTable {
  template <typename T> using Scalar = typename Parent::template Option<T>;
  template <typename T> using List = typename Parent::template ListOption<T>;

public:
  void add(Parent &parent, const MlirxOption &option) {
    kinds.push_back(option.kind);
    llvm::StringRef text = option.defaultText ? option.defaultText : "";
    llvm::cl::desc help(option.help ? option.help : "");
    llvm::SmallVector<llvm::StringRef> items;
    if (!text.empty())
      text.split(items, ',');
    switch (option.kind) {
    case MLIRX_OPT_BOOL:
      return keep(new Scalar<bool>(parent, option.name, help, llvm::cl::init(text == "true")));
    case MLIRX_OPT_INT: {
      int64_t value = 0;
      text.getAsInteger(10, value);
      return keep(new Scalar<int64_t>(parent, option.name, help, llvm::cl::init(value)));
    }
    case MLIRX_OPT_STRING:
      return keep(new Scalar<std::string>(parent, option.name, help, llvm::cl::init(text.str())));
    case MLIRX_OPT_INT_LIST: {
      llvm::SmallVector<int64_t> values;
      for (llvm::StringRef item : items)
        item.trim().getAsInteger(10, values.emplace_back(0));
      return keep(
          new List<int64_t>(parent, option.name, help, llvm::cl::list_init<int64_t>(values)));
    }
    case MLIRX_OPT_STRING_LIST: {
      llvm::SmallVector<std::string> values;
      for (llvm::StringRef item : items)
        values.push_back(item.trim().str());
      return keep(new List<std::string>(parent, option.name, help,
                                        llvm::cl::list_init<std::string>(values)));
    }
    }
  }

  bool getBool(int i) const { return as<Scalar<bool>>(i).getValue(); }
  int64_t getInt(int i) const { return as<Scalar<int64_t>>(i).getValue(); }
  const std::string &getString(int i) const { return as<Scalar<std::string>>(i).getValue(); }
  llvm::ArrayRef<int64_t> getInts(int i) const { return *as<List<int64_t>>(i); }
  llvm::ArrayRef<std::string> getStrings(int i) const { return *as<List<std::string>>(i); }
  size_t getListSize(int i) const {
    return kinds[i] == MLIRX_OPT_INT_LIST ? getInts(i).size() : getStrings(i).size();
  }
  void print(int i, llvm::raw_ostream &os) const { // as pipeline text
    switch (kinds[i]) {
    case MLIRX_OPT_BOOL:
      return (void)(os << (getBool(i) ? "true" : "false"));
    case MLIRX_OPT_INT:
      return (void)(os << getInt(i));
    case MLIRX_OPT_STRING:
      return printQuoted(getString(i), os);
    case MLIRX_OPT_INT_LIST:
      return llvm::interleave(getInts(i), os, ",");
    case MLIRX_OPT_STRING_LIST:
      return llvm::interleave(getStrings(i), os, ",");
    }
  }

private:
  // Blanks would end the value, brackets be taken for quotes or nesting.
  static void printQuoted(llvm::StringRef text, llvm::raw_ostream &os) {
    if (text.find_first_of(" {}'\",()") == llvm::StringRef::npos)
      os << text;
    else if (!text.contains('"'))
      os << '"' << text << '"';
    else
      os << '\'' << text << '\'';
  }
  void keep(llvm::cl::Option *option) { options.emplace_back(option); }
  template <typename T> T &as(int i) const { return *static_cast<T *>(options[i].get()); }

  std::vector<MlirxOptionKind> kinds;
  std::vector<std::unique_ptr<llvm::cl::Option>> options;
};

} // namespace onyx

#endif // ONYX_PLUGIN_OPTIONS_H
