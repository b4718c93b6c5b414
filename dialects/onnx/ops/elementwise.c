// Arithmetic on elements, with NumPy's broadcasting.
#include "dialects/onnx/ops/convert.h"
#include "dialects/onnx/ops/scalar.h"

#include <string.h>

static bool shape_unary(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return true;
}

// --- unary

#define PLAIN_UNARY(X)                                                                             \
  X(floor, EXPR_FLOOR)                                                                             \
  X(ceil, EXPR_CEIL)                                                                               \
  X(round, EXPR_ROUND) X(sqrt, EXPR_SQRT) X(exp, EXPR_EXP) X(log, EXPR_LOG) X(sin, EXPR_SIN)       \
      X(cos, EXPR_COS) X(tan, EXPR_TAN) X(asin, EXPR_ASIN) X(acos, EXPR_ACOS) X(atan, EXPR_ATAN)   \
          X(sinh, EXPR_SINH) X(cosh, EXPR_COSH) X(tanh, EXPR_TANH) X(asinh, EXPR_ASINH)            \
              X(acosh, EXPR_ACOSH) X(atanh, EXPR_ATANH) X(erf, EXPR_ERF) X(bitwise_not, EXPR_NOT)  \
                  X(neg, EXPR_NEG) X(abs, EXPR_ABS)

#define X(name, op)                                                                                \
  static const expr *build_##name(comprehension *c, const expr *const *x) {                        \
    return expr_unary(c, op, x[0]);                                                                \
  }                                                                                                \
  static bool comp_##name(op_view *v, const shape_result *results, comprehension *c) {             \
    return comp_map(v, results, c, 1, build_##name);                                               \
  }
PLAIN_UNARY(X)
#undef X

static bool shape_neg(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  int64_t n = shape_data_size(&results[0]);
  if (n >= 0 && v->operands[0].values && v->operands[0].num_values == n) {
    const dim **values = shape_data(v, results, 0, n);
    for (int64_t k = 0; k < n; k++)
      values[k] = dim_sub(v->dims, dim_const(v->dims, 0), v->operands[0].values[k]);
  }
  return true;
}

static bool shape_abs(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  int64_t n = shape_data_size(&results[0]);
  if (n >= 0 && v->operands[0].values && v->operands[0].num_values == n) {
    const dim **values = shape_data(v, results, 0, n);
    for (int64_t k = 0; k < n; k++) {
      const dim *x = v->operands[0].values[k];
      values[k] = dim_max(v->dims, x, dim_sub(v->dims, dim_const(v->dims, 0), x));
    }
  }
  return true;
}

static const expr *build_reciprocal(comprehension *c, const expr *const *x) {
  return x_div(c, x_num(c, x[0], 1), x[0]);
}
static bool comp_reciprocal(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, 1, build_reciprocal);
}

// NaN stays NaN, as numpy.sign has it.
static const expr *build_sign(comprehension *c, const expr *const *x) {
  const expr *zero = expr_zero(c, x[0]->type), *one = expr_one(c, x[0]->type);
  const expr *positive = x_lt(c, zero, x[0]);
  if (onyx_elem_is_unsigned((onyx_elem)x[0]->type))
    return expr_select(c, positive, one, zero);
  return expr_select(c, positive, one,
                     expr_select(c, x_lt(c, x[0], zero), expr_unary(c, EXPR_NEG, one), x[0]));
}
static bool comp_sign(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, 1, build_sign);
}

static const expr *build_is_nan(comprehension *c, const expr *const *x) {
  return expr_unary(c, EXPR_ISNAN, x[0]);
}
static bool comp_is_nan(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, 1, build_is_nan);
}

static const expr *build_is_inf(comprehension *c, const expr *const *x) {
  const expr *inf = expr_unary(c, EXPR_ISINF, x[0]), *zero = expr_zero(c, x[0]->type);
  bool negative = view_int(c->view, "detect_negative"),
       positive = view_int(c->view, "detect_positive");
  if (negative && positive)
    return inf;
  if (!negative && !positive)
    return expr_int(c, ONYX_BOOL, 0);
  return x_and(c, inf, expr_compare(c, positive ? EXPR_GT : EXPR_LT, x[0], zero));
}
static bool comp_is_inf(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, 1, build_is_inf);
}

// --- binary

typedef const dim *(*dim_fn)(dim_context *ctx, const dim *a, const dim *b);

static bool verify_binary(op_view *v) {
  return verify_broadcast(v, 2, (int[]){0, 1});
}

static bool shape_binary(op_view *v, shape_result *results, dim_fn fn) {
  if (!shape_broadcast(v, results, 0, 2, (int[]){0, 1}))
    return false;
  int64_t n = shape_data_size(&results[0]);
  if (n < 0 || !fn || view_elem(v, 0) != results[0].type.elem || !v->operands[0].values ||
      !v->operands[1].values)
    return true;
  const dim **values = shape_data(v, results, 0, n);
  for (int64_t k = 0; k < n; k++) {
    const dim *a = shape_data_broadcast(v, &results[0], 0, k),
              *b = shape_data_broadcast(v, &results[0], 1, k);
    values[k] = a && b ? fn(v->dims, a, b) : dim_unknown(v->dims);
  }
  return true;
}

static const dim *dim_truncdiv(dim_context *ctx, const dim *a, const dim *b) {
  int64_t alo, ahi, blo, bhi;
  dim_bounds(ctx, a, &alo, &ahi);
  dim_bounds(ctx, b, &blo, &bhi);
  if (alo >= 0 && blo > 0)
    return dim_floordiv(ctx, a, b);
  // Towards zero: floor where the signs agree, ceiling where they differ.
  const dim *zero = dim_const(ctx, 0);
  const dim *differ = dim_sub(ctx, dim_lt(ctx, a, zero), dim_lt(ctx, b, zero));
  return dim_select(ctx, differ, dim_ceildiv(ctx, a, b), dim_floordiv(ctx, a, b));
}

static bool shape_add(op_view *v, shape_result *results) {
  return shape_binary(v, results, dim_add);
}
static bool shape_sub(op_view *v, shape_result *results) {
  return shape_binary(v, results, dim_sub);
}
static bool shape_mul(op_view *v, shape_result *results) {
  return shape_binary(v, results, dim_mul);
}
static bool shape_div(op_view *v, shape_result *results) {
  return shape_binary(v, results, dim_truncdiv);
}
static bool shape_mod(op_view *v, shape_result *results) {
  return shape_binary(v, results, view_int(v, "fmod") ? NULL : dim_mod);
}
static bool shape_plain(op_view *v, shape_result *results) {
  return shape_binary(v, results, NULL);
}

#define PLAIN_BINARY(X)                                                                            \
  X(add, EXPR_ADD)                                                                                 \
  X(sub, EXPR_SUB)                                                                                 \
  X(mul, EXPR_MUL) X(bitwise_and, EXPR_AND) X(bitwise_or, EXPR_OR) X(bitwise_xor, EXPR_XOR)

#define X(name, op)                                                                                \
  static const expr *build_##name(comprehension *c, const expr *const *x) {                        \
    return expr_binary(c, op, x[0], x[1]);                                                         \
  }                                                                                                \
  static bool comp_##name(op_view *v, const shape_result *results, comprehension *c) {             \
    return comp_map(v, results, c, 2, build_##name);                                               \
  }
PLAIN_BINARY(X)
#undef X

// Whether operand i is known to hold no zero.
static bool never_zero(const op_view *v, int i) {
  const onnx_operand *o = view_operand(v, i);
  if (o->data) {
    for (int64_t k = 0; k < o->num_elements; k++)
      if (onyx_element_to_int(o->type.elem, o->data, k) == 0)
        return false;
    return true;
  }
  return false;
}

// An integer divisor, with the check that it is not 0.
static const expr *divisor(comprehension *c, const expr *x, int operand) {
  if (onyx_elem_is_float((onyx_elem)x->type) || never_zero(c->view, operand))
    return x;
  const expr *zero = expr_zero(c, x->type);
  return expr_check(c, x, expr_compare(c, EXPR_NE, x, zero), 2, expr_index(c, 0), expr_index(c, 0));
}

static const expr *build_div(comprehension *c, const expr *const *x) {
  return x_div(c, x[0], divisor(c, x[1], 1));
}
static bool comp_div(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, 2, build_div);
}

static bool verify_mod(op_view *v) {
  if (onyx_elem_is_float(view_elem(v, 0)) && view_int(v, "fmod") != 1)
    return view_error(v, "fmod: expected 1 for floating-point operands, found %lld",
                      (long long)view_int(v, "fmod"));
  return verify_binary(v);
}
static const expr *build_mod(comprehension *c, const expr *const *x) {
  return expr_binary(c, view_int(c->view, "fmod") ? EXPR_REM : EXPR_MOD, x[0], divisor(c, x[1], 1));
}
static bool comp_mod(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, 2, build_mod);
}

// Base and exponent may differ in type; the result has the base's. Computed as NumPy promotes: in
// integers where both are, else in the wider float.
static const expr *build_pow(comprehension *c, const expr *const *x) {
  int base = x[0]->type, exponent = x[1]->type;
  bool base_float = onyx_elem_is_float((onyx_elem)base),
       exponent_float = onyx_elem_is_float((onyx_elem)exponent);
  int type = base;
  if (!base_float)
    type = exponent_float ? ONYX_F64 : onyx_elem_is_unsigned((onyx_elem)base) ? ONYX_U64 : ONYX_I64;
  else if (exponent == ONYX_F64)
    type = ONYX_F64;
  return expr_cast(c, expr_binary(c, EXPR_POW, expr_cast(c, x[0], type), expr_cast(c, x[1], type)),
                   base);
}
static bool comp_pow(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, 2, build_pow);
}

static bool verify_bit_shift(op_view *v) {
  const char *direction = view_string(v, "direction");
  if (strcmp(direction, "LEFT") != 0 && strcmp(direction, "RIGHT") != 0)
    return view_error(v, "direction: expected LEFT or RIGHT, found '%s'", direction);
  return verify_binary(v);
}
static const expr *build_bit_shift(comprehension *c, const expr *const *x) {
  bool left = strcmp(view_string(c->view, "direction"), "LEFT") == 0;
  return expr_binary(c, left ? EXPR_SHL : EXPR_SHR, x[0], x[1]);
}
static bool comp_bit_shift(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, 2, build_bit_shift);
}

// --- variadic: Max, Min, Sum, Mean

static bool verify_variadic(op_view *v) {
  shape_result scratch = {.type = {.rank = -1}};
  int wanted = v->num_results;
  v->num_results = 1;
  bool ok = shape_broadcast_all(v, &scratch);
  v->num_results = wanted;
  return ok;
}

static bool shape_variadic(op_view *v, shape_result *results, dim_fn fn) {
  if (!shape_broadcast_all(v, results))
    return false;
  int64_t n = shape_data_size(&results[0]);
  for (int i = 0; n >= 0 && i < v->num_operands; i++)
    if (!v->operands[i].values)
      n = -1;
  if (n < 0 || !fn || v->num_operands == 0)
    return true;
  const dim **values = shape_data(v, results, 0, n);
  for (int64_t k = 0; k < n; k++)
    for (int i = 0; i < v->num_operands; i++) {
      const dim *x = shape_data_broadcast(v, &results[0], i, k);
      x = x ? x : dim_unknown(v->dims);
      values[k] = i ? fn(v->dims, values[k], x) : x;
    }
  return true;
}
static bool shape_max(op_view *v, shape_result *results) {
  return shape_variadic(v, results, dim_max);
}
static bool shape_min(op_view *v, shape_result *results) {
  return shape_variadic(v, results, dim_min);
}
static bool shape_sum(op_view *v, shape_result *results) {
  return shape_variadic(v, results, NULL);
}

static const expr *fold_operands(comprehension *c, expr_op op, const expr *const *x) {
  const expr *y = x[0];
  for (int i = 1; i < c->view->num_operands; i++)
    y = expr_binary(c, op, y, x[i]);
  return y;
}
static const expr *build_max(comprehension *c, const expr *const *x) {
  return fold_operands(c, EXPR_MAX, x);
}
static const expr *build_min(comprehension *c, const expr *const *x) {
  return fold_operands(c, EXPR_MIN, x);
}
static const expr *build_sum(comprehension *c, const expr *const *x) {
  return fold_operands(c, EXPR_ADD, x);
}
static const expr *build_mean(comprehension *c, const expr *const *x) {
  return x_div(c, build_sum(c, x), x_num(c, x[0], c->view->num_operands));
}
static bool comp_max(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, v->num_operands, build_max);
}
static bool comp_min(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, v->num_operands, build_min);
}
static bool comp_sum(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, v->num_operands, build_sum);
}
static bool comp_mean(op_view *v, const shape_result *results, comprehension *c) {
  return comp_map(v, results, c, v->num_operands, build_mean);
}

// --- Clip: input, min, max (scalars)

static bool verify_clip(op_view *v) {
  for (int i = 1; i <= 2; i++) {
    int rank = view_rank(v, i);
    if (rank > 1 ||
        (rank == 1 && view_dim(v, i, 0)->op == DIM_CONST && !dim_is(view_dim(v, i, 0), 1)))
      return view_error(v, "operand %d ('%s'): expected a scalar, found rank %d", i,
                        view_name(v, i), rank);
  }
  return true;
}

static const expr *clip_bound(comprehension *c, int operand, int type) {
  const expr *zero[1] = {expr_index(c, 0)};
  return expr_cast(c, expr_read(c, operand, view_rank(c->view, operand), zero), type);
}

// min above max gives max, as in the reference.
static bool comp_clip(op_view *v, const shape_result *results, comprehension *c) {
  for (int i = 0; i < 3; i++)
    if (view_has(v, i) && !need_rank(v, i))
      return false;
  int out = comp_result(c, 0), type = expr_compute_type(view_elem(v, 0));
  const expr *x = expr_cast(c, comp_read_broadcast(c, 0, results[0].type.rank), type);
  comp_stage *s = comp_stage_over(c, out);
  if (view_has(v, 1))
    x = x_max(c, x, clip_bound(c, 1, type));
  if (view_has(v, 2))
    x = x_min(c, x, clip_bound(c, 2, type));
  comp_write_point(c, s, out, expr_cast(c, x, results[0].type.elem));
  return true;
}

static bool shape_clip(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  int64_t n = shape_data_size(&results[0]);
  if (n < 0 || !v->operands[0].values)
    return true;
  const dim **values = shape_data(v, results, 0, n);
  for (int64_t k = 0; k < n; k++) {
    values[k] = v->operands[0].values[k];
    for (int i = 1; i <= 2; i++)
      if (view_has(v, i)) {
        const dim *bound = view_value(v, i, 0);
        values[k] = !bound   ? dim_unknown(v->dims)
                    : i == 1 ? dim_max(v->dims, values[k], bound)
                             : dim_min(v->dims, values[k], bound);
      }
  }
  return true;
}

#define UNARY(Name, name) {Name, NULL, shape_unary, comp_##name}
const op_def ops_elementwise[] = {
    {"Abs", NULL, shape_abs, comp_abs},
    UNARY("Acos", acos),
    UNARY("Acosh", acosh),
    {"Add", verify_binary, shape_add, comp_add},
    UNARY("Asin", asin),
    UNARY("Asinh", asinh),
    UNARY("Atan", atan),
    UNARY("Atanh", atanh),
    {"BitShift", verify_bit_shift, shape_plain, comp_bit_shift},
    {"BitwiseAnd", verify_binary, shape_plain, comp_bitwise_and},
    UNARY("BitwiseNot", bitwise_not),
    {"BitwiseOr", verify_binary, shape_plain, comp_bitwise_or},
    {"BitwiseXor", verify_binary, shape_plain, comp_bitwise_xor},
    UNARY("Ceil", ceil),
    {"Clip", verify_clip, shape_clip, comp_clip},
    UNARY("Cos", cos),
    UNARY("Cosh", cosh),
    {"Div", verify_binary, shape_div, comp_div},
    UNARY("Erf", erf),
    UNARY("Exp", exp),
    UNARY("Floor", floor),
    UNARY("IsInf", is_inf),
    UNARY("IsNaN", is_nan),
    UNARY("Log", log),
    {"Max", verify_variadic, shape_max, comp_max},
    {"Mean", verify_variadic, shape_sum, comp_mean},
    {"Min", verify_variadic, shape_min, comp_min},
    {"Mod", verify_mod, shape_mod, comp_mod},
    {"Mul", verify_binary, shape_mul, comp_mul},
    {"Neg", NULL, shape_neg, comp_neg},
    {"Pow", verify_binary, shape_plain, comp_pow},
    UNARY("Reciprocal", reciprocal),
    UNARY("Round", round),
    UNARY("Sign", sign),
    UNARY("Sin", sin),
    UNARY("Sinh", sinh),
    UNARY("Sqrt", sqrt),
    {"Sub", verify_binary, shape_sub, comp_sub},
    {"Sum", verify_variadic, shape_sum, comp_sum},
    UNARY("Tan", tan),
    UNARY("Tanh", tanh),
};
const int num_ops_elementwise = sizeof ops_elementwise / sizeof ops_elementwise[0];
