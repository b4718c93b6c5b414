// Comparisons, logic and choice.
#include "dialects/onnx/ops/scalar.h"

typedef const dim *(*dim_fn)(dim_context *ctx, const dim *a, const dim *b);

static bool verify_binary(op_view *v) {
  return verify_broadcast(v, 2, (int[]){0, 1});
}

static bool shape_with(op_view *v, shape_result *results, dim_fn fn) {
  if (!shape_broadcast(v, results, 0, 2, (int[]){0, 1}))
    return false;
  int64_t n = shape_data_size(&results[0]);
  if (n < 0 || !fn || !v->operands[0].values || !v->operands[1].values)
    return true;
  const dim **values = shape_data(v, results, 0, n);
  for (int64_t k = 0; k < n; k++) {
    const dim *a = shape_data_broadcast(v, &results[0], 0, k),
              *b = shape_data_broadcast(v, &results[0], 1, k);
    values[k] = a && b ? fn(v->dims, a, b) : dim_unknown(v->dims);
  }
  return true;
}

static const dim *dim_gt(dim_context *ctx, const dim *a, const dim *b) {
  return dim_lt(ctx, b, a);
}
static const dim *dim_not(dim_context *ctx, const dim *a) {
  return dim_sub(ctx, dim_const(ctx, 1), a);
}
static const dim *dim_le(dim_context *ctx, const dim *a, const dim *b) {
  return dim_not(ctx, dim_lt(ctx, b, a));
}
static const dim *dim_ge(dim_context *ctx, const dim *a, const dim *b) {
  return dim_not(ctx, dim_lt(ctx, a, b));
}
static const dim *dim_and(dim_context *ctx, const dim *a, const dim *b) {
  return dim_mul(ctx, a, b);
}
static const dim *dim_or(dim_context *ctx, const dim *a, const dim *b) {
  return dim_max(ctx, a, b);
}

// name, expression, shape data
#define BINARY(X)                                                                                  \
  X(and, EXPR_AND, dim_and)                                                                        \
  X(or, EXPR_OR, dim_or)                                                                           \
  X(xor, EXPR_XOR, NULL) X(equal, EXPR_EQ, dim_eq) X(greater, EXPR_GT, dim_gt)                     \
      X(greater_or_equal, EXPR_GE, dim_ge) X(less, EXPR_LT, dim_lt)                                \
          X(less_or_equal, EXPR_LE, dim_le)

#define X(name, op, fn)                                                                            \
  static bool shape_##name(op_view *v, shape_result *results) {                                    \
    return shape_with(v, results, fn);                                                             \
  }                                                                                                \
  static const expr *build_##name(comprehension *c, const expr *const *x) {                        \
    return op >= EXPR_EQ && op <= EXPR_GE ? expr_compare(c, op, x[0], x[1])                        \
                                          : expr_binary(c, op, x[0], x[1]);                        \
  }                                                                                                \
  static bool comp_##name(op_view *v, const shape_result *results, comprehension *c) {             \
    return comp_map(v, results, c, 2, build_##name);                                               \
  }
BINARY(X)
#undef X

static bool shape_not(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  int64_t n = shape_data_size(&results[0]);
  if (n >= 0 && v->operands[0].values && v->operands[0].num_values == n) {
    const dim **values = shape_data(v, results, 0, n);
    for (int64_t k = 0; k < n; k++)
      values[k] = dim_not(v->dims, v->operands[0].values[k]);
  }
  return true;
}
static const expr *build_not(comprehension *c, const expr *const *x) {
  return expr_unary(c, EXPR_NOT, x[0]);
}
static bool comp_not(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, 1, build_not);
}

// --- Where

static bool verify_where(op_view *v) {
  return verify_broadcast(v, 3, (int[]){0, 1, 2});
}

static bool shape_where(op_view *v, shape_result *results) {
  if (!shape_broadcast(v, results, 0, 3, (int[]){0, 1, 2}))
    return false;
  int64_t n = shape_data_size(&results[0]);
  if (n < 0 || !v->operands[0].values || !v->operands[1].values || !v->operands[2].values)
    return true;
  const dim **values = shape_data(v, results, 0, n);
  for (int64_t k = 0; k < n; k++) {
    const dim *c = shape_data_broadcast(v, &results[0], 0, k),
              *x = shape_data_broadcast(v, &results[0], 1, k),
              *y = shape_data_broadcast(v, &results[0], 2, k);
    values[k] = c && x && y ? dim_select(v->dims, c, x, y) : dim_unknown(v->dims);
  }
  return true;
}

// The values are moved, not computed with: they keep their type.
static bool comp_where(op_view *v, const shape_result *results, comprehension *c) {
  for (int i = 0; i < 3; i++)
    if (!need_rank(v, i))
      return false;
  comp_require_broadcast(c, 3, (int[]){0, 1, 2});
  int rank = results[0].type.rank, out = comp_result(c, 0);
  const expr *value = expr_select(c, comp_read_broadcast(c, 0, rank),
                                  comp_read_broadcast(c, 1, rank), comp_read_broadcast(c, 2, rank));
  comp_write_point(c, comp_stage_over(c, out), out, value);
  return true;
}

const op_def ops_logical[] = {
    {"And", verify_binary, shape_and, comp_and},
    {"Equal", verify_binary, shape_equal, comp_equal},
    {"Greater", verify_binary, shape_greater, comp_greater},
    {"GreaterOrEqual", verify_binary, shape_greater_or_equal, comp_greater_or_equal},
    {"Less", verify_binary, shape_less, comp_less},
    {"LessOrEqual", verify_binary, shape_less_or_equal, comp_less_or_equal},
    {"Not", NULL, shape_not, comp_not},
    {"Or", verify_binary, shape_or, comp_or},
    {"Where", verify_where, shape_where, comp_where},
    {"Xor", verify_binary, shape_xor, comp_xor},
};
const int num_ops_logical = sizeof ops_logical / sizeof ops_logical[0];
