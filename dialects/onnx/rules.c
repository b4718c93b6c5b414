// Questions and constructions that rules share.
#include "dialects/onnx/rules.h"

#include "dialects/onnx/view_mlir.h"

#include <stdio.h>
#include <string.h>

MlirOperation defined_by(MlirValue v, const char *name) {
  if (mlirValueIsNull(v) || !mlirValueIsAOpResult(v))
    return (MlirOperation){0};
  MlirOperation op = mlirOpResultGetOwner(v);
  return onnx_is(op, name) ? op : (MlirOperation){0};
}

MlirOperation defined_by_renaming(MlirValue v) {
  static const char *const names[] = {"Reshape", "Squeeze", "Unsqueeze", "Flatten"};
  for (int i = 0; i < 4; i++) {
    MlirOperation op = defined_by(v, names[i]);
    if (!mlirOperationIsNull(op))
      return op;
  }
  return (MlirOperation){0};
}

bool is_unused(MlirValue v) {
  return mlirOpOperandIsNull(mlirValueGetFirstUse(v));
}

bool has_one_use(MlirValue v) {
  MlirOpOperand use = mlirValueGetFirstUse(v);
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

int64_t rank_of(MlirValue v) {
  return mlirTypeIsARankedTensor(type_of(v)) ? mlirShapedTypeGetRank(type_of(v)) : -1;
}

int64_t size_of(MlirValue v, int64_t axis) {
  if (axis < 0 || axis >= rank_of(v) || mlirShapedTypeIsDynamicDim(type_of(v), axis))
    return -1;
  return mlirShapedTypeGetDimSize(type_of(v), axis);
}

onyx_elem elem_of(MlirValue v) {
  return mlirTypeIsATensor(type_of(v))
             ? onnx_elem_from_mlir(mlirShapedTypeGetElementType(type_of(v)))
             : ONYX_ELEM_UNDEFINED;
}

static bool is_computed_constant(MlirValue v, int depth) {
  if (mlirValueIsNull(v) || !mlirValueIsAOpResult(v) || onnx_is_none(v))
    return false;
  MlirOperation op = mlirOpResultGetOwner(v);
  if (onnx_is(op, "Constant"))
    return true;
  if (depth == 0 || !onnx_schema_of(op) || mlirOperationGetNumRegions(op) ||
      mlirOperationGetNumOperands(op) == 0 ||
      !(mlirxOperationGetDescriptor(op)->traits & MLIRX_PURE))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!onnx_is_none(operand(op, i)) && !is_computed_constant(operand(op, i), depth - 1))
      return false;
  return true;
}

bool is_constant(MlirValue v) {
  return is_computed_constant(v, 8);
}

int constant_ints(MlirValue v, int64_t *out, int max) {
  MlirAttribute a = onnx_value_constant(v);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsADenseElements(a))
    return -1;
  onyx_elem elem = elem_of(v);
  int64_t n = mlirElementsAttrGetNumElements(a);
  if (n > max || (elem != ONYX_I64 && elem != ONYX_I32))
    return -1;
  for (int64_t i = 0; i < n; i++)
    out[i] = elem == ONYX_I64 ? mlirDenseElementsAttrGetInt64Value(a, i)
                              : mlirDenseElementsAttrGetInt32Value(a, i);
  return (int)n;
}

bool constant_splat(MlirValue v, double *out) {
  MlirAttribute a = onnx_value_constant(v);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsADenseElements(a) ||
      !mlirDenseElementsAttrIsSplat(a))
    return false;
  onyx_elem elem = elem_of(v);
  if (elem != ONYX_F32 && elem != ONYX_F64)
    return false;
  *out = elem == ONYX_F32 ? (double)mlirDenseElementsAttrGetFloatSplatValue(a)
                          : mlirDenseElementsAttrGetDoubleSplatValue(a);
  return true;
}

static int64_t integer(MlirAttribute a) {
  MlirType t = mlirAttributeGetType(a);
  return mlirTypeIsAInteger(t) && mlirIntegerTypeIsSigned(t) ? mlirIntegerAttrGetValueSInt(a)
                                                             : mlirIntegerAttrGetValueInt(a);
}

int64_t int_attr(MlirOperation op, const char *name, int64_t otherwise) {
  MlirAttribute a = attribute(op, name);
  return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? otherwise : integer(a);
}

double float_attr(MlirOperation op, const char *name, double otherwise) {
  MlirAttribute a = attribute(op, name);
  return mlirAttributeIsNull(a) || !mlirAttributeIsAFloat(a) ? otherwise
                                                             : mlirFloatAttrGetValueDouble(a);
}

bool string_attr_is(MlirOperation op, const char *name, const char *text, const char *otherwise) {
  MlirAttribute a = attribute(op, name);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAString(a))
    return strcmp(otherwise, text) == 0;
  return mlirStringRefEqual(mlirStringAttrGetValue(a), str(text));
}

int ints_attr(MlirOperation op, const char *name, int64_t *out, int max) {
  MlirAttribute a = attribute(op, name);
  if (mlirAttributeIsNull(a))
    return -1;
  bool dense = mlirAttributeIsADenseI64Array(a);
  if (!dense && !mlirAttributeIsAArray(a))
    return -1;
  intptr_t n = dense ? mlirDenseArrayGetNumElements(a) : mlirArrayAttrGetNumElements(a);
  if (n > max)
    return -1;
  for (intptr_t i = 0; i < n; i++)
    out[i] = dense ? mlirDenseI64ArrayGetElement(a, i) : integer(mlirArrayAttrGetElement(a, i));
  return (int)n;
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

onnx_builder builder_at(MlirRewriterBase rw, MlirOperation at) {
  mlirRewriterBaseSetInsertionPointBefore(rw, at);
  return (onnx_builder){rw, at, mlirOperationGetContext(at)};
}

MlirAttribute si64_attr(MlirContext ctx, int64_t value) {
  return mlirIntegerAttrGet(mlirIntegerTypeSignedGet(ctx, 64), value);
}

MlirAttribute ints_array(MlirContext ctx, int n, const int64_t *values) {
  MlirAttribute elements[ONYX_MAX_RANK * 2];
  for (int i = 0; i < n && i < ONYX_MAX_RANK * 2; i++)
    elements[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(ctx, 64), values[i]);
  return mlirArrayAttrGet(ctx, n, elements);
}

MlirType tensor_type(MlirType elem, int rank, const int64_t *shape) {
  return mlirRankedTensorTypeGet(rank, shape, elem, (MlirAttribute){0});
}

static MlirOperation insert(onnx_builder *b, MlirOperationState *state) {
  MlirOperation op = mlirOperationCreate(state);
  mlirRewriterBaseInsert(b->rw, op);
  return op;
}

MlirValue make_op(onnx_builder *b, const char *name, MlirType type, int n,
                  const MlirValue *operands, const onnx_named *attrs) {
  char full[64];
  snprintf(full, sizeof full, "onnx.%s", name);
  MlirOperationState state = mlirOperationStateGet(str(full), mlirOperationGetLocation(b->at));
  mlirOperationStateAddOperands(&state, n, operands);
  mlirOperationStateAddResults(&state, 1, &type);
  for (; attrs && attrs->name; attrs++) {
    MlirNamedAttribute named =
        mlirNamedAttributeGet(mlirIdentifierGet(b->ctx, str(attrs->name)), attrs->value);
    mlirOperationStateAddAttributes(&state, 1, &named);
  }
  return result(insert(b, &state), 0);
}

static MlirValue make_constant(onnx_builder *b, MlirAttribute value) {
  const onnx_named attrs[] = {{"value", value}, {0}};
  return make_op(b, "Constant", mlirAttributeGetType(value), 0, NULL, attrs);
}

MlirValue make_ints(onnx_builder *b, int n, const int64_t *values) {
  int64_t shape = n;
  MlirType type = tensor_type(mlirIntegerTypeGet(b->ctx, 64), 1, &shape);
  return make_constant(b, mlirDenseElementsAttrInt64Get(type, n, values));
}

MlirValue make_float(onnx_builder *b, MlirType elem, double value) {
  int64_t one = 1;
  MlirAttribute number = mlirFloatAttrDoubleGet(b->ctx, elem, value);
  return make_constant(b, mlirDenseElementsAttrSplatGet(tensor_type(elem, 1, &one), number));
}

MlirValue make_none(onnx_builder *b) {
  const onnx_named attrs[] = {{"value", mlirUnitAttrGet(b->ctx)}, {0}};
  return make_op(b, "NoValue", mlirNoneTypeGet(b->ctx), 0, NULL, attrs);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

MlirLogicalResult replace_by_op(MlirOperation op, MlirRewriterBase rw, const char *name, int n,
                                const MlirValue *operands, intptr_t results) {
  onnx_builder b = builder_at(rw, op);
  char full[64];
  snprintf(full, sizeof full, "onnx.%s", name);
  MlirOperationState state = mlirOperationStateGet(str(full), mlirOperationGetLocation(op));
  mlirOperationStateAddOperands(&state, n, operands);
  MlirValue values[16];
  intptr_t old = mlirOperationGetNumResults(op);
  if (results > 16 || old > results)
    return failure();
  for (intptr_t i = 0; i < results; i++) {
    MlirType type = i < old ? type_of(result(op, i)) : mlirNoneTypeGet(b.ctx);
    mlirOperationStateAddResults(&state, 1, &type);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); i++) {
    MlirNamedAttribute a = mlirOperationGetAttribute(op, i);
    mlirOperationStateAddAttributes(&state, 1, &a);
  }
  MlirOperation made = insert(&b, &state);
  for (intptr_t i = 0; i < old; i++)
    values[i] = result(made, i);
  mlirRewriterBaseReplaceOpWithValues(rw, op, old, values);
  return success();
}

MlirLogicalResult replace_by_value(MlirOperation op, MlirRewriterBase rw, MlirValue v) {
  if (!same_type(v, result(op, 0))) {
    onnx_builder b = builder_at(rw, op);
    v = make_op(&b, "Identity", type_of(result(op, 0)), 1, &v, NULL);
  }
  mlirRewriterBaseReplaceOpWithValues(rw, op, 1, &v);
  return success();
}
