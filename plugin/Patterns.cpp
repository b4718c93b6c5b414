//===- Patterns.cpp - Rewrite patterns written in PDL -----------------------------------------===//
//
// mlir-c 22 freezes a PDL module by itself; here it joins any set, the canonicalizer's too.
//
//===----------------------------------------------------------------------===//

#include "Seam.h"

#include "mlir/CAPI/Rewrite.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

MlirLogicalResult mlirxRewritePatternSetAddPDL(MlirRewritePatternSet set, MlirStringRef text,
                                               const MlirxPdlFunction *functions, void *user) {
  MLIRContext *context = unwrap(set)->getContext();
  // The second is what patterns in the first become when the set is frozen.
  for (const char *name : {"pdl", "pdl_interp"})
    if (!context->getOrLoadDialect(name)) {
      emitError(UnknownLoc::get(context))
          << "patterns in PDL need dialect '" << name << "', which this tool does not have";
      return mlirLogicalResultFailure();
    }
  // Patterns that mlir-pdll compiled may still not verify, e.g. for want of a result's type.
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(unwrap(text), ParserConfig(context), "patterns in PDL");
  if (!module)
    return mlirLogicalResultFailure();

  MlirPDLPatternModule patterns = mlirPDLPatternModuleFromModule(wrap(module.release()));
  for (; functions && functions->name; ++functions) {
    MlirStringRef name = wrap(StringRef(functions->name));
    if (functions->constraint)
      mlirPDLPatternModuleRegisterConstraintFunction(patterns, name, functions->constraint, user);
    if (functions->rewrite)
      mlirPDLPatternModuleRegisterRewriteFunction(patterns, name, functions->rewrite, user);
  }
  unwrap(set)->add(std::move(*unwrap(patterns)));
  mlirPDLPatternModuleDestroy(patterns);
  return mlirLogicalResultSuccess();
}
