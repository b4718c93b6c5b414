// onnx-pre-krnl-verify: what a lowering to loops takes for granted, checked for all ops at once.
#include "dialects/onnx/onnx.h"
#include "passes/onnx/passes.h"
#include "passes/onnx/rewrite.h"

static bool is_unranked(MlirType type) {
  return mlirTypeIsATensor(type) && !mlirShapedTypeHasRank(type);
}

// Rank decides the number of loops, so it has to be known of everything that has loops over it.
static MlirLogicalResult check(MlirOperation op, void *user) {
  bool *bad = user;
  if (!onnx_is_onnx(op))
    return mlirLogicalResultSuccess();
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (is_unranked(mlirValueGetType(mlirOperationGetOperand(op, i)))) {
      onnx_error(op, "operand %d: expected a ranked tensor, found an unranked one", (int)i);
      *bad = true;
    }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (is_unranked(mlirValueGetType(mlirOperationGetResult(op, i)))) {
      onnx_error(op, "result %d: expected a ranked tensor, found an unranked one", (int)i);
      *bad = true;
    }
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)pass, (void)state;
  bool bad = false;
  walk_ops(op, check, &bad);
  return bad ? mlirLogicalResultFailure() : mlirLogicalResultSuccess();
}

const MlirxPassDescriptor onnx_pre_krnl_verify_pass = {
    .argument = "onnx-pre-krnl-verify",
    .description = "Check that ONNX operators are in the form that lowering to loops needs",
    .run = run};
