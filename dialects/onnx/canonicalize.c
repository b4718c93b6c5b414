// Fold hooks and canonicalization patterns, by operator.
#include "dialects/onnx/internal.h"

#include <string.h>

// A value stands for a result of another type only where the types are the same: uses keep theirs.
static bool replace_by(MlirOperation op, MlirValue by, MlirxFoldResult *results) {
  if (!mlirTypeEqual(mlirValueGetType(by), mlirValueGetType(mlirOperationGetResult(op, 0))))
    return false;
  results[0].value = by;
  return true;
}

static MlirLogicalResult fold_identity(MlirOperation op, intptr_t n, const MlirAttribute *operands,
                                       MlirxFoldResult *results) {
  (void)n, (void)operands;
  return replace_by(op, mlirOperationGetOperand(op, 0), results) ? success() : failure();
}

// A cast to the type that a value has.
static MlirLogicalResult fold_cast(MlirOperation op, intptr_t n, const MlirAttribute *operands,
                                   MlirxFoldResult *results) {
  return fold_identity(op, n, operands, results);
}

static const struct fold_entry {
  const char *name;
  onnx_fold_hook fold;
} folds[] = {{"Cast", fold_cast}, {"CastLike", fold_cast}, {"Identity", fold_identity}};

onnx_fold_hook onnx_fold_of(const char *name) {
  for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
    if (strcmp(folds[i].name, name) == 0)
      return folds[i].fold;
  return NULL;
}

onnx_patterns_hook onnx_patterns_of(const char *name) {
  (void)name;
  return NULL;
}
