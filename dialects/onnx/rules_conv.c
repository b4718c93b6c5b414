// What follows a convolution or matrix product with constant weights, folded into the weights.
//
// The new weights are written as operators over the constants: small ones fold, large ones are
// computed once when the model is loaded.
#include "dialects/onnx/rules.h"

// A product with weights: Conv, ConvTranspose of one group, or Gemm.
typedef struct product {
  MlirOperation op;
  MlirValue weights, bias; // bias null: none
  int64_t axis;            // axis of the weights that makes the output's channels
  int64_t channels;
} product;

// The product that makes v for this user alone, with constant weights.
static bool find_product(MlirValue v, product *p) {
  static const char *const names[] = {"Conv", "ConvTranspose", "Gemm"};
  *p = (product){0};
  for (int i = 0; i < 3 && mlirOperationIsNull(p->op); i++)
    p->op = defined_by(v, names[i]);
  if (mlirOperationIsNull(p->op) || !has_one_use(v))
    return false;
  p->weights = operand(p->op, 1);
  p->bias = onnx_operand_or_null(p->op, 2);
  if (onnx_is(p->op, "ConvTranspose") && int_attr(p->op, "group", 1) != 1)
    return false;
  if (onnx_is(p->op, "Gemm")) {
    p->axis = int_attr(p->op, "transB", 0) ? 0 : 1;
    if (float_attr(p->op, "beta", 1.0) != 1.0)
      return false;
  } else {
    p->axis = onnx_is(p->op, "ConvTranspose") ? 1 : 0;
  }
  p->channels = size_of(p->weights, p->axis);
  bool vector =
      mlirValueIsNull(p->bias) || (rank_of(p->bias) == 1 && size_of(p->bias, 0) == p->channels);
  return p->channels > 0 && vector && is_static(type_of(p->weights)) && is_constant(p->weights) &&
         (mlirValueIsNull(p->bias) || is_constant(p->bias));
}

static MlirType elem_type(MlirValue v) {
  return mlirShapedTypeGetElementType(type_of(v));
}

static MlirValue binary(onnx_builder *b, const char *name, MlirValue x, MlirValue y,
                        MlirType type) {
  MlirValue operands[] = {x, y};
  return make_op(b, name, type, 2, operands, NULL);
}

// The weights times one factor a channel; factor is tensor<channels>.
static MlirValue scale_weights(onnx_builder *b, const product *p, MlirValue factor) {
  int64_t shape[ONYX_MAX_RANK], rank = rank_of(p->weights);
  for (int64_t i = 0; i < rank; i++)
    shape[i] = i == p->axis ? p->channels : 1;
  MlirValue column = binary(b, "Reshape", factor, make_ints(b, (int)rank, shape),
                            tensor_type(elem_type(factor), (int)rank, shape));
  return binary(b, "Mul", p->weights, column, type_of(p->weights));
}

// The product with other weights and bias takes the place of `user`, its only user.
static MlirLogicalResult replace_product(const product *p, MlirOperation user, MlirRewriterBase rw,
                                         MlirValue weights, MlirValue bias) {
  MlirValue operands[] = {operand(p->op, 0), weights, bias};
  onnx_named attrs[32];
  int n = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(p->op) && n < 31; i++) {
    MlirNamedAttribute a = mlirOperationGetAttribute(p->op, i);
    attrs[n++] = (onnx_named){mlirIdentifierStr(a.name).data, a.attribute};
  }
  attrs[n] = (onnx_named){0};
  onnx_builder b = builder_at(rw, user);
  MlirType type = type_of(result(user, 0));
  return replace_by_value(user, rw,
                          make_op(&b, onnx_schema_of(p->op)->name, type, 3, operands, attrs));
}

static bool is_vector(MlirValue v, int64_t n, onyx_elem elem) {
  return is_constant(v) && rank_of(v) == 1 && size_of(v, 0) == n && elem_of(v) == elem;
}

// BatchNormalization (15): y = (x - mean) * s + shift with s = scale / sqrt(variance + epsilon).
static MlirLogicalResult batch_normalization(MlirOperation op, MlirRewriterBase rw) {
  product p;
  if (!find_product(operand(op, 0), &p) || int_attr(op, "training_mode", 0) ||
      rank_of(operand(op, 0)) != (onnx_is(p.op, "Gemm") ? 2 : rank_of(p.weights)))
    return failure();
  for (intptr_t i = 1; i < mlirOperationGetNumResults(op); i++)
    if (!onnx_is_none(result(op, i)) && !is_unused(result(op, i)))
      return failure();
  for (int i = 1; i < 5; i++)
    if (!is_vector(operand(op, i), p.channels, elem_of(p.weights)))
      return failure();
  if (mlirOperationGetNumResults(op) != 1)
    return failure(); // an unused second result is dropped by its own rule first
  onnx_builder b = builder_at(rw, op);
  MlirValue scale = operand(op, 1), shift = operand(op, 2), mean = operand(op, 3),
            variance = operand(op, 4);
  MlirType vector = type_of(scale);
  MlirValue epsilon = make_float(&b, elem_type(scale), float_attr(op, "epsilon", 1e-5));
  MlirValue sum = binary(&b, "Add", variance, epsilon, vector);
  MlirValue s = binary(&b, "Div", scale, make_op(&b, "Sqrt", vector, 1, &sum, NULL), vector);
  MlirValue centred = mlirValueIsNull(p.bias) ? make_op(&b, "Neg", vector, 1, &mean, NULL)
                                              : binary(&b, "Sub", p.bias, mean, vector);
  MlirValue bias = binary(&b, "Add", binary(&b, "Mul", centred, s, vector), shift, vector);
  return replace_product(&p, op, rw, scale_weights(&b, &p, s), bias);
}

// Results that nobody uses, at the end of a BatchNormalization.
static MlirLogicalResult drop_statistics(MlirOperation op, MlirRewriterBase rw) {
  intptr_t n = mlirOperationGetNumResults(op);
  for (intptr_t i = 1; i < n; i++)
    if (!is_unused(result(op, i)))
      return failure();
  if (n == 1 || int_attr(op, "training_mode", 0))
    return failure();
  MlirValue operands[5];
  for (int i = 0; i < 5; i++)
    operands[i] = operand(op, i);
  onnx_builder b = builder_at(rw, op);
  onnx_named attrs[16];
  int count = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op) && count < 15; i++) {
    MlirNamedAttribute a = mlirOperationGetAttribute(op, i);
    attrs[count++] = (onnx_named){mlirIdentifierStr(a.name).data, a.attribute};
  }
  attrs[count] = (onnx_named){0};
  MlirValue y = make_op(&b, "BatchNormalization", type_of(result(op, 0)), 5, operands, attrs);
  mlirRewriterBaseReplaceAllUsesWith(rw, result(op, 0), y);
  mlirRewriterBaseEraseOp(rw, op);
  return success();
}

// A constant that has one value a channel of `like`, or one value: as tensor<channels>.
static bool per_channel(onnx_builder *b, MlirValue c, const product *p, MlirValue like,
                        MlirValue *out) {
  int64_t rank = rank_of(like), own = rank_of(c), elements = 1;
  if (own < 0 || own > rank || rank < 2 || !is_constant(c) || elem_of(c) != elem_of(p->weights))
    return false;
  for (int64_t i = 0; i < own; i++) {
    int64_t size = size_of(c, i);
    if (size != 1 && (size != p->channels || i + rank - own != 1))
      return false;
    elements *= size;
  }
  MlirType vector = tensor_type(elem_type(c), 1, &p->channels),
           one = tensor_type(elem_type(c), 1, &elements);
  *out = binary(b, "Reshape", c, make_ints(b, 1, &elements), one);
  if (elements != p->channels)
    *out = binary(b, "Expand", *out, make_ints(b, 1, &p->channels), vector);
  return true;
}

// Conv + constant, Conv * constant with one value a channel.
static MlirLogicalResult channel_arithmetic(MlirOperation op, MlirRewriterBase rw) {
  bool add = onnx_is(op, "Add");
  for (int side = 0; side < 2; side++) {
    product p;
    MlirValue x = operand(op, side), factor;
    if (!find_product(x, &p) || !same_type(x, result(op, 0)) || !is_constant(operand(op, 1 - side)))
      continue;
    onnx_builder b = builder_at(rw, op);
    if (!per_channel(&b, operand(op, 1 - side), &p, x, &factor))
      return failure();
    if (add)
      return replace_product(
          &p, op, rw, p.weights,
          mlirValueIsNull(p.bias) ? factor : binary(&b, "Add", p.bias, factor, type_of(factor)));
    MlirValue bias = mlirValueIsNull(p.bias) ? make_none(&b)
                                             : binary(&b, "Mul", p.bias, factor, type_of(factor));
    return replace_product(&p, op, rw, scale_weights(&b, &p, factor), bias);
  }
  return failure();
}

// Pad (25) with zeros before a Conv that names its own padding.
static MlirLogicalResult pad_into_conv(MlirOperation op, MlirRewriterBase rw) {
  MlirOperation pad = defined_by(operand(op, 0), "Pad");
  if (mlirOperationIsNull(pad) || !string_attr_is(pad, "mode", "constant", "constant") ||
      !string_attr_is(op, "auto_pad", "NOTSET", "NOTSET") ||
      !mlirValueIsNull(onnx_operand_or_null(pad, 3)))
    return failure();
  double value = 0;
  MlirValue fill = onnx_operand_or_null(pad, 2), x = operand(pad, 0);
  if (!mlirValueIsNull(fill) && (!constant_splat(fill, &value) || value != 0))
    return failure();
  int64_t rank = rank_of(x), amounts[ONYX_MAX_RANK * 2], pads[ONYX_MAX_RANK * 2] = {0};
  if (rank < 3 || constant_ints(operand(pad, 1), amounts, ONYX_MAX_RANK * 2) != 2 * rank)
    return failure();
  int spatial = (int)rank - 2;
  if (amounts[0] || amounts[1] || amounts[rank] || amounts[rank + 1])
    return failure();
  int given = ints_attr(op, "pads", pads, ONYX_MAX_RANK * 2);
  if (given >= 0 && given != 2 * spatial)
    return failure();
  for (int i = 0; i < spatial; i++) {
    pads[i] += amounts[2 + i];
    pads[spatial + i] += amounts[rank + 2 + i];
    if (amounts[2 + i] < 0 || amounts[rank + 2 + i] < 0)
      return failure();
  }
  mlirRewriterBaseStartOpModification(rw, op);
  mlirOperationSetOperand(op, 0, x);
  mlirOperationSetAttributeByName(op, str("pads"),
                                  ints_array(mlirOperationGetContext(op), 2 * spatial, pads));
  mlirRewriterBaseFinalizeOpModification(rw, op);
  return success();
}

const onnx_rule onnx_rules_conv[] = {
    {"BatchNormalization", "drop-statistics", drop_statistics},
    {"BatchNormalization", "batch-normalization-into-weights", batch_normalization},
    {"Add", "add-into-bias", channel_arithmetic},
    {"Mul", "multiply-into-weights", channel_arithmetic},
    {"Conv", "pad-into-conv", pad_into_conv},
    {0}};
