//===- IR.cpp - Queries and changes of the IR that mlir-c 22 lacks ------------------------===//

#include "Seam.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

#define FORMAT(message, fmt)                                                                       \
  va_list args;                                                                                    \
  va_start(args, fmt);                                                                             \
  std::string message = onyx::format(fmt, args);                                                   \
  va_end(args)

MlirLogicalResult mlirxEmitError(MlirOperation op, const char *fmt, ...) {
  FORMAT(message, fmt);
  unwrap(op)->emitOpError() << message;
  return mlirLogicalResultFailure();
}

MlirLogicalResult mlirxEmitErrorAt(MlirLocation loc, const char *fmt, ...) {
  FORMAT(message, fmt);
  emitError(unwrap(loc)) << message;
  return mlirLogicalResultFailure();
}

MlirLogicalResult mlirxEmitErrorWithNote(MlirOperation op, MlirLocation noteLoc, const char *note,
                                         const char *fmt, ...) {
  FORMAT(message, fmt);
  InFlightDiagnostic diagnostic = unwrap(op)->emitOpError() << message;
  diagnostic.attachNote(unwrap(noteLoc)) << note;
  return mlirLogicalResultFailure();
}

void mlirxEmitWarning(MlirOperation op, const char *fmt, ...) {
  FORMAT(message, fmt);
  unwrap(op)->emitWarning() << message;
}

void mlirxEmitRemark(MlirOperation op, const char *fmt, ...) {
  FORMAT(message, fmt);
  unwrap(op)->emitRemark() << message;
}

MlirOperation mlirxOperationCloneMapped(MlirOperation op, intptr_t n, const MlirValue *from,
                                        const MlirValue *to) {
  IRMapping mapping;
  for (intptr_t i = 0; i < n; ++i)
    mapping.map(unwrap(from[i]), unwrap(to[i]));
  return wrap(unwrap(op)->clone(mapping));
}

void mlirxRegionTakeBody(MlirRegion to, MlirRegion from) {
  Region *target = unwrap(to);
  target->getBlocks().splice(target->end(), unwrap(from)->getBlocks());
}

bool mlirxIsPure(MlirOperation op) {
  return isMemoryEffectFree(unwrap(op));
}
bool mlirxIsTriviallyDead(MlirOperation op) {
  return isOpTriviallyDead(unwrap(op));
}

bool mlirxProperlyDominates(MlirValue value, MlirOperation op) {
  return DominanceInfo().properlyDominates(unwrap(value), unwrap(op));
}
