// Activations. Formulas are the standard's function bodies, in forms that do not overflow.
#include "dialects/onnx/ops/scalar.h"

#include <string.h>

static bool shape_unary(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return true;
}

static const expr *negative_part(comprehension *c, const expr *x, const expr *below) {
  return expr_select(c, x_lt(c, x, expr_zero(c, x->type)), below, x);
}

static const expr *build_relu(comprehension *c, const expr *const *x) {
  return x_max(c, x[0], expr_zero(c, x[0]->type));
}
static const expr *build_leaky_relu(comprehension *c, const expr *const *x) {
  return negative_part(c, x[0], x_mul(c, x_attr(c, x[0], "alpha"), x[0]));
}
static const expr *build_prelu(comprehension *c, const expr *const *x) {
  return negative_part(c, x[0], x_mul(c, x[1], x[0]));
}
static const expr *build_elu(comprehension *c, const expr *const *x) {
  return negative_part(c, x[0],
                       x_mul(c, x_attr(c, x[0], "alpha"), expr_unary(c, EXPR_EXPM1, x[0])));
}
static const expr *build_selu(comprehension *c, const expr *const *x) {
  const expr *below = x_mul(c, x_attr(c, x[0], "alpha"), expr_unary(c, EXPR_EXPM1, x[0]));
  return x_mul(c, x_attr(c, x[0], "gamma"), negative_part(c, x[0], below));
}
// max(0, x) + min(0, alpha * (exp(x / alpha) - 1))
static const expr *build_celu(comprehension *c, const expr *const *x) {
  const expr *alpha = x_attr(c, x[0], "alpha"), *zero = x_num(c, x[0], 0);
  const expr *below = x_mul(c, alpha, expr_unary(c, EXPR_EXPM1, x_div(c, x[0], alpha)));
  return x_add(c, x_max(c, x[0], zero), x_min(c, zero, below));
}
static const expr *build_thresholded_relu(comprehension *c, const expr *const *x) {
  return expr_select(c, x_lt(c, x_attr(c, x[0], "alpha"), x[0]), x[0], x_num(c, x[0], 0));
}
static const expr *build_hard_sigmoid(comprehension *c, const expr *const *x) {
  const expr *line = x_add(c, x_mul(c, x_attr(c, x[0], "alpha"), x[0]), x_attr(c, x[0], "beta"));
  return x_clamp(c, line, x_num(c, x[0], 0), x_num(c, x[0], 1));
}
static const expr *build_hard_swish(comprehension *c, const expr *const *x) {
  const expr *line = x_add(c, x_mul(c, x_num(c, x[0], 1.0 / 6), x[0]), x_num(c, x[0], 0.5));
  return x_mul(c, x[0], x_clamp(c, line, x_num(c, x[0], 0), x_num(c, x[0], 1)));
}
static const expr *build_sigmoid(comprehension *c, const expr *const *x) {
  return x_sigmoid(c, x[0]);
}
static const expr *build_softplus(comprehension *c, const expr *const *x) {
  return x_softplus(c, x[0]);
}
static const expr *build_softsign(comprehension *c, const expr *const *x) {
  return x_div(c, x[0], x_add(c, x_num(c, x[0], 1), expr_unary(c, EXPR_ABS, x[0])));
}
static const expr *build_mish(comprehension *c, const expr *const *x) {
  return x_mul(c, x[0], expr_unary(c, EXPR_TANH, x_softplus(c, x[0])));
}
static const expr *build_swish(comprehension *c, const expr *const *x) {
  return x_mul(c, x[0], x_sigmoid(c, x_mul(c, x_attr(c, x[0], "alpha"), x[0])));
}
static const expr *build_swiglu(comprehension *c, const expr *const *x) {
  return x_mul(c, build_swish(c, x), x[1]);
}

static bool verify_gelu(op_view *v) {
  const char *form = view_string(v, "approximate");
  return strcmp(form, "none") == 0 || strcmp(form, "tanh") == 0 ||
         view_error(v, "approximate: expected none or tanh, found '%s'", form);
}
static const expr *build_gelu(comprehension *c, const expr *const *x) {
  const expr *one = x_num(c, x[0], 1), *inner;
  if (strcmp(view_string(c->view, "approximate"), "tanh") == 0) {
    const expr *cube = x_mul(c, x_mul(c, x[0], x[0]), x[0]);
    const expr *sum = x_add(c, x[0], x_mul(c, x_num(c, x[0], 0.044715), cube));
    inner = expr_unary(c, EXPR_TANH,
                       x_mul(c, x_num(c, x[0], 0.79788456080286535588), sum)); // sqrt(2 / pi)
  } else {
    inner = expr_unary(c, EXPR_ERF,
                       x_mul(c, x_num(c, x[0], 0.70710678118654752440), x[0])); // 1 / sqrt(2)
  }
  return x_mul(c, x_mul(c, x_num(c, x[0], 0.5), x[0]), x_add(c, one, inner));
}

// Integers too: computed in f32 and cast back, as the reference does.
static const expr *build_shrink(comprehension *c, const expr *const *x) {
  const expr *y = onyx_elem_is_float((onyx_elem)x[0]->type) ? x[0] : expr_cast(c, x[0], ONYX_F64);
  const expr *bias = x_attr(c, y, "bias"), *lambd = x_attr(c, y, "lambd");
  const expr *above = expr_select(c, x_lt(c, lambd, y), x_sub(c, y, bias), x_num(c, y, 0));
  return expr_select(c, x_lt(c, y, expr_unary(c, EXPR_NEG, lambd)), x_add(c, y, bias), above);
}

// slope broadcasts to X, not the other way round
static bool verify_prelu(op_view *v) {
  int x = view_rank(v, 0), slope = view_rank(v, 1);
  if (x >= 0 && slope > x)
    return view_error(v, "operand 1 ('slope'): expected rank %d at most, found rank %d", x, slope);
  for (int k = 0; x >= 0 && k < slope; k++) {
    int64_t have, want;
    if (dim_is_const(view_dim(v, 1, k), &have) &&
        dim_is_const(view_dim(v, 0, x - slope + k), &want) && have != 1 && have != want)
      return view_error(v, "operand 1 ('slope'): expected 1 or %lld in dimension %d, found %lld",
                        (long long)want, k, (long long)have);
  }
  return true;
}

static bool verify_swiglu(op_view *v) {
  return verify_broadcast(v, 2, (int[]){0, 1});
}
static bool shape_swiglu(op_view *v, shape_result *results) {
  return shape_broadcast(v, results, 0, 2, (int[]){0, 1});
}

#define ALL(X)                                                                                     \
  X(relu, 1)                                                                                       \
  X(leaky_relu, 1)                                                                                 \
  X(prelu, 2) X(elu, 1) X(selu, 1) X(celu, 1) X(thresholded_relu, 1) X(hard_sigmoid, 1)            \
      X(hard_swish, 1) X(sigmoid, 1) X(softplus, 1) X(softsign, 1) X(mish, 1) X(swish, 1)          \
          X(swiglu, 2) X(gelu, 1) X(shrink, 1)
#define X(name, n)                                                                                 \
  static bool comp_##name(op_view *v, const shape_result *results, comprehension *c) {             \
    return comp_map(v, results, c, n, build_##name);                                               \
  }
ALL(X)
#undef X

const op_def ops_activation[] = {
    {"Celu", NULL, shape_unary, comp_celu},
    {"Elu", NULL, shape_unary, comp_elu},
    {"Gelu", verify_gelu, shape_unary, comp_gelu},
    {"HardSigmoid", NULL, shape_unary, comp_hard_sigmoid},
    {"HardSwish", NULL, shape_unary, comp_hard_swish},
    {"LeakyRelu", NULL, shape_unary, comp_leaky_relu},
    {"Mish", NULL, shape_unary, comp_mish},
    {"PRelu", verify_prelu, shape_unary, comp_prelu},
    {"Relu", NULL, shape_unary, comp_relu},
    {"Selu", NULL, shape_unary, comp_selu},
    {"Shrink", NULL, shape_unary, comp_shrink},
    {"Sigmoid", NULL, shape_unary, comp_sigmoid},
    {"Softplus", NULL, shape_unary, comp_softplus},
    {"Softsign", NULL, shape_unary, comp_softsign},
    {"SwiGLU", verify_swiglu, shape_swiglu, comp_swiglu},
    {"Swish", NULL, shape_unary, comp_swish},
    {"ThresholdedRelu", NULL, shape_unary, comp_thresholded_relu},
};
const int num_ops_activation = sizeof ops_activation / sizeof ops_activation[0];
