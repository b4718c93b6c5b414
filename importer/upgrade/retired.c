// Operators that the standard tried and dropped before opset 10, where their meaning is clear.
#include "importer/upgrade/upgrade.h"

static value *scalar_like(upgrader *u, node *n, double v) {
  return up_scalar(u, n, value_elem(n->in[0]), v);
}

static void need_operands(upgrader *u, node *n, int count) {
  for (int i = 0; i < count; i++)
    if (!node_in(n, i))
      up_fail(u, n, "lacks an operand");
}

// y = alpha * x + beta
static void affine(upgrader *u, node *n) {
  need_operands(u, n, 1);
  double beta = attr_float(n, "beta", 0);
  value *in[] = {n->in[0], scalar_like(u, n, attr_float(n, "alpha", 1))};
  value *sum[] = {up_op(u, n, "Mul", 2, in), scalar_like(u, n, beta)};
  up_become(u, n, "Add", 2, sum);
}

// y = scale * x
static void scale(upgrader *u, node *n) {
  need_operands(u, n, 1);
  value *in[] = {n->in[0], scalar_like(u, n, attr_float(n, "scale", 1))};
  up_become(u, n, "Mul", 2, in);
}

// y = alpha * tanh(beta * x)
static void scaled_tanh(upgrader *u, node *n) {
  need_operands(u, n, 1);
  value *alpha = scalar_like(u, n, attr_float(n, "alpha", 1));
  value *in[] = {n->in[0], scalar_like(u, n, attr_float(n, "beta", 1))};
  value *scaled = up_op(u, n, "Mul", 2, in);
  value *last[] = {alpha, up_op(u, n, "Tanh", 1, &scaled)};
  up_become(u, n, "Mul", 2, last);
}

// y = alpha * log(exp(beta * x) + 1)
static void parametric_softplus(upgrader *u, node *n) {
  need_operands(u, n, 1);
  value *alpha = scalar_like(u, n, attr_float(n, "alpha", 1));
  value *in[] = {n->in[0], scalar_like(u, n, attr_float(n, "beta", 1))};
  value *scaled = up_op(u, n, "Mul", 2, in);
  value *last[] = {alpha, up_op(u, n, "Softplus", 1, &scaled)};
  up_become(u, n, "Mul", 2, last);
}

// Of NCHW: y = scale * x + bias[c]
static void image_scaler(upgrader *u, node *n) {
  need_operands(u, n, 1);
  const attr *bias = attr_find(n, "bias");
  value *in[] = {n->in[0], scalar_like(u, n, attr_float(n, "scale", 1))};
  value *scaled = up_op(u, n, "Mul", 2, in);
  if (!bias) {
    up_become(u, n, "Identity", 1, &scaled);
    return;
  }
  int64_t shape[] = {bias->count, 1, 1};
  value *reshape[] = {up_floats(u, n, bias->count, bias->floats), up_ints(u, n, 3, shape)};
  value *like[] = {up_op(u, n, "Reshape", 2, reshape), n->in[0]};
  value *sum[] = {scaled, up_op(u, n, "CastLike", 2, like)};
  up_become(u, n, "Add", 2, sum);
}

// Cuts border = (left, top, right, bottom), or takes scale = (height, width) from (left, top), of
// NCHW.
static void crop(upgrader *u, node *n) {
  need_operands(u, n, 1);
  const attr *border = attr_find(n, "border"), *size = attr_find(n, "scale");
  if (!border || border->count != 4 || (size && size->count != 2))
    up_fail(u, n, "needs a border of four numbers and a scale of two or none");
  int64_t left = border->ints[0], top = border->ints[1];
  int64_t starts[] = {top, left}, axes[] = {2, 3};
  value *ends;
  if (size) {
    int64_t last[] = {top + size->ints[0], left + size->ints[1]};
    ends = up_ints(u, n, 2, last);
  } else {
    int64_t cut[] = {border->ints[3], border->ints[2]};
    node *shape = up_node(u, n, "Shape", 1, n->in);
    attr_set_int(u->im, shape, "start", 2);
    attr_set_int(u->im, shape, "end", 4);
    value *in[] = {up_emit(u, n, shape), up_ints(u, n, 2, cut)};
    ends = up_op(u, n, "Sub", 2, in);
  }
  value *in[] = {n->in[0], up_ints(u, n, 2, starts), ends, up_ints(u, n, 2, axes)};
  up_become(u, n, "Slice", 4, in);
}

// Slice whose bounds are operands, before Slice-10 had them.
static void dynamic_slice(upgrader *u, node *n) {
  need_operands(u, n, 3);
  up_become(u, n, "Slice", n->num_in, n->in);
}

// ConstantFill and GivenTensorFill say the shape by an attribute or an operand.
static void constant_fill(upgrader *u, node *n) {
  const attr *shape = attr_find(n, "shape");
  int64_t dtype = attr_int(n, "dtype", ONYX_F32);
  if (attr_find(n, "extra_shape") || (!shape && !attr_int(n, "input_as_shape", 0)))
    up_fail(u, n, "is understood with a shape or input_as_shape only");
  if (dtype <= 0 || dtype >= ONYX_ELEM_COUNT || dtype == ONYX_STRING)
    up_fail(u, n, "fills with an unknown type");
  if (!shape)
    need_operands(u, n, 1);
  value *v = up_scalar(u, n, (onyx_elem)dtype, attr_float(n, "value", 0));
  value *in[] = {v, shape ? up_ints(u, n, shape->count, shape->ints) : n->in[0]};
  up_become(u, n, "Expand", 2, in);
}

// ThresholdedRelu-1 and the like were tried before they came to stay, with the same form.
static void unchanged(upgrader *u, node *n) {
  up_become(u, n, n->op.p, n->num_in, n->in);
  (void)u;
}

static void thresholded_relu(upgrader *u, node *n) {
  float alpha = attr_float(n, "alpha", 1);
  unchanged(u, n);
  attr_set_float(u->im, n, "alpha", alpha);
}

// MeanVarianceNormalization-1 of NCHW: over an image, or over images and channels together.
static void mean_variance(upgrader *u, node *n) {
  need_operands(u, n, 1);
  int64_t apart[] = {0, 2, 3}, across[] = {0, 1, 2, 3};
  bool together = attr_int(n, "across_channels", 0) != 0;
  if (!attr_int(n, "normalize_variance", 1)) {
    value *axes = up_ints(u, n, together ? 4 : 3, together ? across : apart);
    value *mean_in[] = {n->in[0], axes};
    value *in[] = {n->in[0], up_op(u, n, "ReduceMean", 2, mean_in)};
    up_become(u, n, "Sub", 2, in);
    return;
  }
  unchanged(u, n);
  attr_set_ints(u->im, n, "axes", together ? 4 : 3, together ? across : apart);
}

// The number is the last opset that had the operator in this form.
static const upgrade_step steps[] = {
    {"Affine", 9, affine},
    {"ConstantFill", 9, constant_fill},
    {"Crop", 9, crop},
    {"DynamicSlice", 9, dynamic_slice},
    {"ImageScaler", 9, image_scaler},
    {"MeanVarianceNormalization", 8, mean_variance},
    {"ParametricSoftplus", 9, parametric_softplus},
    {"Scale", 9, scale},
    {"ScaledTanh", 9, scaled_tanh},
    {"ThresholdedRelu", 9, thresholded_relu},
};
const upgrade_family upgrade_retired = {steps, sizeof steps / sizeof *steps};
