//===- Passes.cpp - Passes from C descriptors ---------------------------------------------===//
//
// Needless once mlir-c's external passes take options and state (22 has neither).
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Seam.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/JSON.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

using namespace mlir;

namespace {

// What `initialize` made; lives until the last clone dies.
struct SharedState {
  explicit SharedState(const MlirxPassDescriptor *descriptor) : descriptor(descriptor) {}
  SharedState(const SharedState &) = delete;
  ~SharedState() {
    if (value && descriptor->destroy)
      descriptor->destroy(value);
  }
  const MlirxPassDescriptor *descriptor;
  void *value = nullptr;
};

// Hits of all clones of a pass; written when the last of them dies.
class Report {
public:
  explicit Report(const MlirxPassDescriptor *descriptor) : descriptor(descriptor) {}
  Report(const Report &) = delete;
  ~Report() {
    if (!file)
      return;
    {
      llvm::raw_fd_ostream stream(fileno(file), /*shouldClose=*/false);
      llvm::json::OStream json(stream);
      json.object([&] {
        json.attribute("pass", descriptor->argument);
        json.attributeObject("rules", [&] {
          for (auto &[rule, count] : hits)
            json.attribute(rule, count);
        });
      });
      stream << "\n";
    }
    fclose(file);
  }
  LogicalResult open(const std::string &path, MLIRContext *context) {
    if (file || path.empty())
      return success();
    file = fopen(path.c_str(), "w");
    if (file)
      return success();
    return emitError(UnknownLoc::get(context))
           << "pass '" << descriptor->argument << "' cannot write report file '" << path
           << "': " << strerror(errno);
  }
  void hit(const char *rule) {
    std::lock_guard<std::mutex> lock(mutex);
    ++hits[rule];
  }

private:
  const MlirxPassDescriptor *descriptor;
  std::mutex mutex;
  std::map<std::string, int64_t> hits;
  FILE *file = nullptr;
};

const MlirxOption reportOption = {"report", MLIRX_OPT_STRING, nullptr,
                                  "write the number of hits of each rule to this file as JSON"};

class TablePass final : public Pass {
public:
  explicit TablePass(const MlirxPassDescriptor *descriptor)
      : Pass(onyx::idOf(descriptor)), descriptor(descriptor),
        report(std::make_shared<Report>(descriptor)) {
    addOptions();
  }
  TablePass(const TablePass &other)
      : Pass(other), descriptor(other.descriptor), state(other.state), report(other.report) {
    addOptions();
  }

  StringRef getName() const override { return descriptor->argument; }
  StringRef getArgument() const override { return descriptor->argument; }
  StringRef getDescription() const override { return descriptor->description; }
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<TablePass>(*this); }

  void getDependentDialects(DialectRegistry &registry) const override {
    for (const char *const *name = descriptor->dependentDialects; name && *name; ++name)
      onyx::registerByName(registry, *name);
  }

  bool canScheduleOn(RegisteredOperationName name) const override {
    static const char *const usual[] = {"builtin.module", "func.func", nullptr};
    for (const char *const *a = descriptor->anchors ? descriptor->anchors : usual; *a; ++a)
      if (name.getStringRef() == *a)
        return true;
    return false;
  }

  LogicalResult initialize(MLIRContext *context) override;

  void runOnOperation() override {
    if (failed(unwrap(descriptor->run(MlirxPass{this}, wrap(getOperation()),
                                      state ? state->value : nullptr))))
      signalPassFailure();
  }

  LogicalResult runNested(StringRef pipeline, Operation *op);

  void hit(const char *rule) { report->hit(rule); }

  onyx::OptionTable<Pass> options;

private:
  void addOptions() {
    numOptions = 0;
    for (const MlirxOption *o = descriptor->options; o && o->name; ++o, ++numOptions)
      options.add(*this, *o);
    if (descriptor->report)
      options.add(*this, reportOption);
  }

  const MlirxPassDescriptor *descriptor;
  int numOptions = 0;
  std::shared_ptr<SharedState> state;
  std::shared_ptr<Report> report;
};

// Dialects of ours are compared with the loaded ones: of two copies of this library in a process,
// one's passes would not know the other's descriptors, and do nothing in silence.
LogicalResult verifyOwnDialects(MLIRContext *context) {
  for (MlirxDialect *const *d = mlirxDialects; *d; ++d)
    if (Dialect *loaded = context->getLoadedDialect((*d)->name))
      if (loaded->getTypeID() != onyx::idOf(*d))
        return emitError(UnknownLoc::get(context))
               << "dialect '" << (*d)->name
               << "' comes from another copy of the plugin than this pass: load one copy";
  return success();
}

LogicalResult TablePass::initialize(MLIRContext *context) {
  if (failed(verifyOwnDialects(context)))
    return failure();
  for (const char *const *name = descriptor->dependentDialects; name && *name; ++name)
    if (!context->getOrLoadDialect(*name))
      return emitError(UnknownLoc::get(context))
             << "pass '" << descriptor->argument << "' needs dialect '" << *name
             << "', which this tool does not have";
  if (descriptor->report && failed(report->open(options.getString(numOptions), context)))
    return failure();
  if (!descriptor->initialize)
    return success();
  // A new one even if there is an old: other clones may still use that.
  auto made = std::make_shared<SharedState>(descriptor);
  if (failed(unwrap(descriptor->initialize(MlirxPass{this}, wrap(context), &made->value))))
    return failure();
  state = std::move(made);
  return success();
}

LogicalResult TablePass::runNested(StringRef pipeline, Operation *op) {
  OpPassManager manager(op->getName().getStringRef());
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (failed(parsePassPipeline(pipeline, manager, stream)))
    return op->emitError() << "pass '" << descriptor->argument << "': bad pipeline '" << pipeline
                           << "': " << StringRef(errors).trim();
  // Other threads may be running: dialects can no longer be loaded.
  DialectRegistry registry;
  manager.getDependentDialects(registry);
  for (StringRef name : registry.getDialectNames())
    if (!op->getContext()->getLoadedDialect(name))
      return op->emitError() << "pass '" << descriptor->argument << "' runs '" << pipeline
                             << "' and must depend on dialect '" << name << "'";
  return runPipeline(manager, op);
}

TablePass &passOf(MlirxPass p) {
  return *static_cast<TablePass *>(p.ptr);
}

} // namespace

void onyx::registerPass(const MlirxPassDescriptor *descriptor) {
  mlir::registerPass(
      [descriptor]() -> std::unique_ptr<Pass> { return std::make_unique<TablePass>(descriptor); });
}

bool mlirxPassGetBool(MlirxPass p, int option) {
  return passOf(p).options.getBool(option);
}
int64_t mlirxPassGetInt(MlirxPass p, int option) {
  return passOf(p).options.getInt(option);
}
MlirStringRef mlirxPassGetString(MlirxPass p, int option) {
  return wrap(StringRef(passOf(p).options.getString(option)));
}

// Lists of integers and of strings differ in type; the descriptor's kind says which it is.
intptr_t mlirxPassGetListSize(MlirxPass p, int option) {
  return passOf(p).options.getListSize(option);
}
int64_t mlirxPassGetListInt(MlirxPass p, int option, intptr_t i) {
  return passOf(p).options.getInts(option)[i];
}
MlirStringRef mlirxPassGetListString(MlirxPass p, int option, intptr_t i) {
  return wrap(StringRef(passOf(p).options.getStrings(option)[i]));
}

void mlirxReportHit(MlirxPass p, const char *rule) {
  passOf(p).hit(rule);
}

MlirLogicalResult mlirxPassRunPipeline(MlirxPass p, const char *pipeline, MlirOperation op) {
  return wrap(passOf(p).runNested(pipeline, unwrap(op)));
}
