// The standard's own composites, taken apart where target= names them: for lowerings that have the
// parts only, and to compare both ways.
#include "passes/onnx/decompose.h"

static MlirLogicalResult one_result(composite *c, MlirValue v) {
  return replace_results(c, 1, &v);
}

// Gelu (20): x / 2 * (1 + erf(x / sqrt 2)), or the tanh form 1 + tanh(sqrt(2 / pi) * (x + 0.044715
// x^3))
static MlirLogicalResult gelu(composite *c) {
  MlirValue x = in(c, 0), inner;
  MlirType elem = elem_type(x);
  if (string_attr_is(c->op, "approximate", "tanh", "none")) {
    MlirValue cube = binary(c, "Mul", binary(c, "Mul", x, x), x);
    inner = binary(c, "Add", x, binary(c, "Mul", cube, number(c, elem, 0.044715)));
    inner = unary(c, "Tanh", binary(c, "Mul", inner, number(c, elem, 0.7978845608028654)));
  } else {
    inner = unary(c, "Erf", binary(c, "Mul", x, number(c, elem, 0.7071067811865476)));
  }
  MlirValue half = binary(c, "Mul", x, number(c, elem, 0.5));
  return one_result(c, binary(c, "Mul", half, binary(c, "Add", inner, number(c, elem, 1.0))));
}

// HardSwish (22): x * max(0, min(1, x / 6 + 1 / 2))
static MlirLogicalResult hard_swish(composite *c) {
  MlirValue x = in(c, 0);
  const onnx_named line[] = {
      {"alpha", float_value(c, 1.0 / 6.0)}, {"beta", float_value(c, 0.5)}, {0}};
  return one_result(c, binary(c, "Mul", x, call(c, "HardSigmoid", elem_type(x), 1, &x, line)));
}

// Swish (24): x * sigmoid(alpha * x)
static MlirLogicalResult swish(composite *c) {
  MlirValue x = in(c, 0),
            scaled = binary(c, "Mul", x, number(c, elem_type(x), float_attr(c->op, "alpha", 1.0)));
  return one_result(c, binary(c, "Mul", x, unary(c, "Sigmoid", scaled)));
}

// Mish (22): x * tanh(softplus(x))
static MlirLogicalResult mish(composite *c) {
  MlirValue x = in(c, 0);
  return one_result(c, binary(c, "Mul", x, unary(c, "Tanh", unary(c, "Softplus", x))));
}

// Axes axis .. rank - 1; 0 where the rank is not known.
static int axes_from(const composite *c, int64_t axis, int64_t *axes) {
  int64_t rank = rank_of(in(c, 0));
  int n = 0;
  if (axis < 0)
    axis += rank;
  for (int64_t i = axis; i >= 0 && i < rank; i++)
    axes[n++] = i;
  return rank < 1 ? 0 : n;
}

static MlirValue mean(composite *c, MlirValue x, int n, const int64_t *axes) {
  MlirValue operands[] = {x, ints(c, n, axes)};
  return call(c, "ReduceMean", elem_type(x), 2, operands, NULL);
}

// In the stash type, f32: x - mean over the root of the variance
static MlirLogicalResult layer_normalization(composite *c) {
  int64_t axes[ONYX_MAX_RANK];
  int n = axes_from(c, int_attr(c->op, "axis", -1), axes);
  MlirType elem = elem_type(in(c, 0)), f32 = mlirF32TypeGet(c->b.ctx);
  if (n == 0 || int_attr(c->op, "stash_type", 1) != ONYX_F32 || elem_of(in(c, 0)) == ONYX_F64)
    return failure();
  MlirValue x = cast(c, in(c, 0), f32), middle = mean(c, x, n, axes),
            off = binary(c, "Sub", x, middle);
  MlirValue variance = mean(c, binary(c, "Mul", off, off), n, axes);
  MlirValue root = unary(
      c, "Sqrt", binary(c, "Add", variance, number(c, f32, float_attr(c->op, "epsilon", 1e-5))));
  MlirValue inverse = unary(c, "Reciprocal", root);
  MlirValue y = binary(c, "Mul", cast(c, binary(c, "Mul", off, inverse), elem), in(c, 1));
  MlirValue results[] = {has(c, 2) ? binary(c, "Add", y, in(c, 2)) : y, middle, inverse};
  return replace_results(c, 3, results);
}

// RMSNormalization (23)
static MlirLogicalResult rms_normalization(composite *c) {
  int64_t axes[ONYX_MAX_RANK];
  int n = axes_from(c, int_attr(c->op, "axis", -1), axes);
  MlirType elem = elem_type(in(c, 0)), f32 = mlirF32TypeGet(c->b.ctx);
  if (n == 0 || int_attr(c->op, "stash_type", 1) != ONYX_F32 || elem_of(in(c, 0)) == ONYX_F64)
    return failure();
  MlirValue x = cast(c, in(c, 0), f32), square = mean(c, binary(c, "Mul", x, x), n, axes);
  MlirValue root = unary(
      c, "Sqrt", binary(c, "Add", square, number(c, f32, float_attr(c->op, "epsilon", 1e-5))));
  return one_result(c, binary(c, "Mul", cast(c, binary(c, "Div", x, root), elem), in(c, 1)));
}

// LogSoftmax (13): x - max, less the logarithm of the sum of its exponentials
static MlirLogicalResult log_softmax(composite *c) {
  const int64_t axis = int_attr(c->op, "axis", -1);
  MlirValue x = in(c, 0), axes = ints(c, 1, &axis);
  MlirValue top = call(c, "ReduceMax", elem_type(x), 2, (MlirValue[]){x, axes}, NULL);
  MlirValue off = binary(c, "Sub", x, top), all = unary(c, "Exp", off);
  MlirValue sum = call(c, "ReduceSum", elem_type(x), 2, (MlirValue[]){all, axes}, NULL);
  return one_result(c, binary(c, "Sub", off, unary(c, "Log", sum)));
}

// Softmax (13)
static MlirLogicalResult softmax(composite *c) {
  const int64_t axis = int_attr(c->op, "axis", -1);
  MlirValue x = in(c, 0), axes = ints(c, 1, &axis);
  MlirValue top = call(c, "ReduceMax", elem_type(x), 2, (MlirValue[]){x, axes}, NULL);
  MlirValue all = unary(c, "Exp", binary(c, "Sub", x, top));
  MlirValue sum = call(c, "ReduceSum", elem_type(x), 2, (MlirValue[]){all, axes}, NULL);
  return one_result(c, binary(c, "Div", all, sum));
}

const decompose_rule decompose_rules_standard[] = {{"", "Gelu", gelu},
                                                   {"", "HardSwish", hard_swish},
                                                   {"", "LayerNormalization", layer_normalization},
                                                   {"", "LogSoftmax", log_softmax},
                                                   {"", "Mish", mish},
                                                   {"", "RMSNormalization", rms_normalization},
                                                   {"", "Softmax", softmax},
                                                   {"", "Swish", swish},
                                                   {0}};
