//===- Entry.cpp - What the shim forwards to: registration ------------------------------------===//
//
// A dialect plugin's callback brings the passes as well, since users may give one flag only.
// MLIR takes a second registration of the same dialect or pass silently.
//
//===----------------------------------------------------------------------===//

#include "Seam.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#include "mlir-c/Dialect/Affine.h"
#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/Bufferization.h"
#include "mlir-c/Dialect/Complex.h"
#include "mlir-c/Dialect/ControlFlow.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/Index.h"
#include "mlir-c/Dialect/LLVM.h"
#include "mlir-c/Dialect/Linalg.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/MemRef.h"
#include "mlir-c/Dialect/OpenMP.h"
#include "mlir-c/Dialect/PDL.h"
#include "mlir-c/Dialect/PDLInterp.h"
#include "mlir-c/Dialect/SCF.h"
#include "mlir-c/Dialect/Tensor.h"
#include "mlir-c/Dialect/Tosa.h"
#include "mlir-c/Dialect/Transform.h"
#include "mlir-c/Dialect/UB.h"
#include "mlir-c/Dialect/Vector.h"

#include <mutex>

using namespace mlir;

// Traits have TypeIDs by the compiler's spelling of their names; a compiler that spells them
// otherwise than libMLIR's would make every trait of ours a different one, in silence.
static void checkTraits() {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = RegisteredOperationName::lookup("builtin.module", &context);
  if (module && module->hasTrait<OpTrait::NoTerminator>())
    return;
  llvm::errs() << "onyx: this plugin was compiled by a compiler whose trait identifiers differ "
                  "from those of libMLIR; compile plugin/ with clang\n";
  exit(1);
}

[[noreturn]] static void dieOfCopies(const Twine &what) {
  llvm::errs() << "onyx: another copy of this plugin is loaded already, or another plugin has "
               << what << "; load one copy only\n";
  exit(1);
}

// A pass of ours that is registered already, but not by us, means a second copy of the library.
static void checkOnlyCopy() {
  const MlirxPassDescriptor *first = mlirxPasses[0];
  const PassInfo *info = first ? PassInfo::lookup(first->argument) : nullptr;
  if (!info)
    return;
  OpPassManager manager;
  if (succeeded(info->addToPipeline(manager, "", [](const Twine &) { return failure(); })) &&
      !manager.empty() && manager.begin()->getTypeID() == onyx::idOf(first))
    return;
  dieOfCopies("a pass '" + Twine(first->argument) + "'");
}

// So does a dialect of ours that was in the registry before we put it there.
static void checkOnlyCopy(const DialectRegistry &registry) {
  static bool done = [&] {
    for (MlirxDialect *const *d = mlirxDialects; *d; ++d)
      if (registry.getDialectAllocator((*d)->name))
        dieOfCopies("a dialect '" + Twine((*d)->name) + "'");
    return true;
  }();
  (void)done;
}

void onyx::prepare(MlirxDialect *descriptor) {
  static std::mutex mutex;
  static llvm::SmallPtrSet<MlirxDialect *, 4> prepared;
  std::lock_guard<std::mutex> lock(mutex);
  if (prepared.insert(descriptor).second && descriptor->prepare)
    descriptor->prepare(descriptor);
}

static void registerPasses() {
  static bool done = [] {
    checkTraits();
    checkOnlyCopy();
    for (MlirxDialect *const *d = mlirxDialects; *d; ++d)
      onyx::prepare(*d);
    for (const MlirxPassDescriptor *const *pass = mlirxPasses; *pass; ++pass)
      onyx::registerPass(*pass);
    for (const MlirxPipeline *const *pipeline = mlirxPipelines; *pipeline; ++pipeline)
      onyx::registerPipeline(*pipeline);
    return true;
  }();
  (void)done;
}

static void registerAll(DialectRegistry *registry) {
  registerPasses();
  checkOnlyCopy(*registry);
  for (MlirxDialect *const *d = mlirxDialects; *d; ++d)
    onyx::registerDialect(*registry, *d);
}

bool onyx::registerByName(DialectRegistry &registry, StringRef name) {
  for (MlirxDialect *const *d = mlirxDialects; *d; ++d)
    if (name == (*d)->name) {
      registerDialect(registry, *d);
      return true;
    }
  static const struct {
    StringRef name;
    MlirDialectHandle (*handle)(void);
  } stock[] = {
      {"affine", mlirGetDialectHandle__affine__},
      {"arith", mlirGetDialectHandle__arith__},
      {"bufferization", mlirGetDialectHandle__bufferization__},
      {"cf", mlirGetDialectHandle__cf__},
      {"complex", mlirGetDialectHandle__complex__},
      {"func", mlirGetDialectHandle__func__},
      {"index", mlirGetDialectHandle__index__},
      {"linalg", mlirGetDialectHandle__linalg__},
      {"llvm", mlirGetDialectHandle__llvm__},
      {"math", mlirGetDialectHandle__math__},
      {"memref", mlirGetDialectHandle__memref__},
      {"omp", mlirGetDialectHandle__omp__},
      {"pdl", mlirGetDialectHandle__pdl__},
      {"pdl_interp", mlirGetDialectHandle__pdl_interp__},
      {"scf", mlirGetDialectHandle__scf__},
      {"tensor", mlirGetDialectHandle__tensor__},
      {"tosa", mlirGetDialectHandle__tosa__},
      {"transform", mlirGetDialectHandle__transform__},
      {"ub", mlirGetDialectHandle__ub__},
      {"vector", mlirGetDialectHandle__vector__},
  };
  for (const auto &dialect : stock)
    if (name == dialect.name) {
      mlirDialectHandleInsertDialect(dialect.handle(), MlirDialectRegistry{&registry});
      return true;
    }
  return false; // found by name in the context, if the tool has it
}

const MlirxOp *onyx_op_lookup(const char *name) {
  StringRef wanted(name);
  for (MlirxDialect *const *d = mlirxDialects; *d; ++d) {
    StringRef prefix((*d)->name);
    if (!wanted.starts_with(prefix) || wanted.substr(prefix.size(), 1) != ".")
      continue;
    onyx::prepare(*d);
    for (size_t i = 0; i < (*d)->numOps; ++i)
      if (wanted == (*d)->ops[i]->name)
        return (*d)->ops[i];
  }
  return nullptr;
}

MlirxDialect *const *mlirxGetDialects() {
  for (MlirxDialect *const *d = mlirxDialects; *d; ++d)
    onyx::prepare(*d);
  return mlirxDialects;
}
const MlirxPassDescriptor *const *mlirxGetPasses() {
  return mlirxPasses;
}
const MlirxPipeline *const *mlirxGetPipelines() {
  return mlirxPipelines;
}

//===----------------------------------------------------------------------===//
// For plugins that link this library
//===----------------------------------------------------------------------===//

void mlirxRegisterDialect(MlirDialectRegistry registry, MlirxDialect *descriptor) {
  onyx::registerDialect(*unwrap(registry), descriptor);
}
void mlirxRegisterPass(const MlirxPassDescriptor *descriptor) {
  onyx::registerPass(descriptor);
}
void mlirxRegisterPipeline(const MlirxPipeline *descriptor) {
  onyx::registerPipeline(descriptor);
}

extern "C" MLIRX_EXPORT DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "onyx", ONYX_VERSION, registerAll};
}

extern "C" MLIRX_EXPORT PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "onyx", ONYX_VERSION, registerPasses};
}
