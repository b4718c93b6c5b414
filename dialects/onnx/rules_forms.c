// One form for each thing: split operators to the standard's, constants to `value`, decided
// branches.
#include "dialects/onnx/rules.h"

// Operators that other tools split by arity.
static MlirLogicalResult single_out(MlirOperation op, MlirRewriterBase rw) {
  MlirValue operands[8];
  intptr_t n = mlirOperationGetNumOperands(op);
  if (n > 8)
    return failure();
  for (intptr_t i = 0; i < n; i++)
    operands[i] = operand(op, i);
  return replace_by_op(op, rw, onnx_schema_of(op)->name, (int)n, operands, 1);
}

// value_int, value_floats, ... to value.
static MlirLogicalResult constant_form(MlirOperation op, MlirRewriterBase rw) {
  if (!mlirAttributeIsNull(attribute(op, "value")))
    return failure();
  MlirAttribute value = onnx_constant_value(op);
  if (mlirAttributeIsNull(value) ||
      !mlirTypeEqual(mlirAttributeGetType(value), type_of(result(op, 0))))
    return failure();
  onnx_builder b = builder_at(rw, op);
  const onnx_named attrs[] = {{"value", value}, {0}};
  return replace_by_value(op, rw,
                          make_op(&b, "Constant", mlirAttributeGetType(value), 0, NULL, attrs));
}

// If whose condition is a constant is one of its branches.
static MlirLogicalResult decided_if(MlirOperation op, MlirRewriterBase rw) {
  MlirAttribute condition = onnx_value_constant(operand(op, 0));
  if (mlirAttributeIsNull(condition) || !mlirAttributeIsADenseElements(condition) ||
      mlirElementsAttrGetNumElements(condition) != 1)
    return failure();
  bool taken = mlirDenseElementsAttrGetBoolValue(condition, 0);
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, taken ? 0 : 1));
  MlirOperation yield = mlirBlockGetTerminator(block);
  intptr_t n = mlirOperationGetNumOperands(yield);
  MlirValue values[64];
  if (n > 64)
    return failure();
  mlirRewriterBaseInlineBlockBefore(rw, block, op, 0, NULL);
  onnx_builder b = builder_at(rw, op);
  for (intptr_t i = 0; i < n; i++) {
    values[i] = operand(yield, i);
    if (!same_type(values[i], result(op, i)))
      values[i] = make_op(&b, "Identity", type_of(result(op, i)), 1, &values[i], NULL);
  }
  mlirRewriterBaseEraseOp(rw, yield);
  mlirRewriterBaseReplaceOpWithValues(rw, op, n, values);
  return success();
}

const onnx_rule onnx_rules_forms[] = {
    {"MaxPoolSingleOut", "max-pool-single-out", single_out},
    {"BatchNormalizationInferenceMode", "batch-normalization-inference", single_out},
    {"Constant", "constant-form", constant_form},
    {"If", "decided-if", decided_if},
    {0}};
