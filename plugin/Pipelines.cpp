//===- Pipelines.cpp - Named pipelines from text --------------------------------------------===//
//
// Needless once mlir-c can register pass pipelines.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Seam.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace {

class TableOptions : public detail::PassOptions {
public:
  explicit TableOptions(const MlirxPipeline *descriptor) : descriptor(descriptor) {
    for (const MlirxOption *o = descriptor->options; o && o->name; ++o)
      table.add(*this, *o);
  }
  // The value of an option as pipeline text; false if there is no such option.
  bool print(StringRef name, llvm::raw_ostream &os) const {
    int i = 0;
    for (const MlirxOption *o = descriptor->options; o && o->name; ++o, ++i)
      if (name == o->name) {
        table.print(i, os);
        return true;
      }
    return false;
  }

private:
  const MlirxPipeline *descriptor;
  onyx::OptionTable<detail::PassOptions> table;
};

// Comments end with the line; line ends count as blanks, of which the pipeline parser wants none.
std::string stripComments(StringRef text) {
  std::string out;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    out += line.substr(0, line.find("//")).trim();
    out += ' ';
    text = rest;
  }
  return out;
}

// `builtin.module(...)` around the whole would nest a level deeper, and do nothing in silence.
StringRef stripWrapper(StringRef text) {
  StringRef body = text.trim();
  if (!body.consume_front("builtin.module"))
    return text.trim();
  body = body.ltrim();
  if (!body.consume_front("(") || !body.ends_with(")"))
    return text.trim();
  int depth = 1;
  for (size_t i = 0; i < body.size(); ++i) {
    depth += (body[i] == '(') - (body[i] == ')');
    if (depth == 0)
      return i + 1 == body.size() ? body.drop_back().trim() : text.trim();
  }
  return text.trim();
}

LogicalResult substitute(StringRef text, const TableOptions &options, std::string &out,
                         function_ref<LogicalResult(const Twine &)> error) {
  llvm::raw_string_ostream stream(out);
  for (;;) {
    size_t start = text.find("${");
    stream << text.substr(0, start);
    if (start == StringRef::npos)
      return success();
    size_t end = text.find('}', start);
    StringRef name = text.slice(start + 2, end);
    if (end == StringRef::npos || !options.print(name, stream))
      return error("pipeline text names unknown option '" + name + "'");
    text = text.drop_front(end + 1);
  }
}

LogicalResult build(const MlirxPipeline *descriptor, OpPassManager &manager, StringRef optionText,
                    function_ref<LogicalResult(const Twine &)> error) {
  TableOptions options(descriptor);
  std::string problem, text;
  llvm::raw_string_ostream problems(problem);
  if (failed(options.parseFromString(optionText, problems)))
    return error("pipeline '" + Twine(descriptor->name) + "': " + StringRef(problem).trim());
  if (failed(substitute(stripComments(descriptor->text), options, text, error)))
    return failure();
  if (failed(parsePassPipeline(stripWrapper(text), manager, problems)))
    return error("pipeline '" + Twine(descriptor->name) + "': " + StringRef(problem).trim());
  return success();
}

} // namespace

void onyx::registerPipeline(const MlirxPipeline *descriptor) {
  registerPassPipeline(
      descriptor->name, descriptor->description,
      [descriptor](OpPassManager &manager, StringRef options,
                   function_ref<LogicalResult(const Twine &)> error) {
        return build(descriptor, manager, options, error);
      },
      [descriptor](function_ref<void(const detail::PassOptions &)> handler) {
        handler(TableOptions(descriptor));
      });
}
