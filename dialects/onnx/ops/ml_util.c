#include "dialects/onnx/ops/ml_util.h"
#include "dialects/onnx/ops/slices.h"
#include <math.h>
#include <string.h>

int ml_compute_type(onyx_elem elem) {
  return elem == ONYX_F64 ? ONYX_F64 : ONYX_F32;
}

int ml_float_table(comprehension *c, int type, const onnx_attr *values) {
  if (values->n == 0)
    return -1;
  if (type == ONYX_F64)
    return comp_table(c, ONYX_F64, values->n, values->floats);
  float *narrow = ONYX_NEW_ARRAY(c->view->arena, float, values->n);
  for (int64_t i = 0; i < values->n; i++)
    narrow[i] = (float)values->floats[i];
  return comp_table(c, ONYX_F32, values->n, narrow);
}

int ml_int_table(comprehension *c, const onnx_attr *values) {
  return values->n == 0 ? -1 : comp_table(c, ONYX_I64, values->n, values->ints);
}

const expr *ml_at(comprehension *c, int buffer, const expr *at) {
  return expr_read(c, buffer, 1, &at);
}

bool ml_transform_of(op_view *v, ml_transform *out) {
  static const char *const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const char *name = view_string(v, "post_transform");
  for (int i = 0; i < 5; i++) {
    *out = (ml_transform)i;
    if (!strcmp(name, names[i]))
      return true;
  }
  return view_error(
      v, "post_transform: expected NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT, found '%s'",
      name);
}

static const expr *logistic(comprehension *c, const expr *x) {
  const expr *one = expr_one(c, x->type);
  const expr *e = expr_unary(c, EXPR_EXP, expr_unary(c, EXPR_NEG, x));
  return expr_binary(c, EXPR_DIV, one, expr_binary(c, EXPR_ADD, one, e));
}

// sqrt(2) * erfinv(2 x - 1), with Winitzki's approximation of the inverse error function (a =
// 0.147), the one that the operator's implementations use.
static const expr *probit(comprehension *c, const expr *x) {
  int t = x->type;
  const expr *one = expr_one(c, t), *zero = expr_zero(c, t);
  const expr *y = expr_binary(c, EXPR_SUB, expr_binary(c, EXPR_MUL, expr_float(c, t, 2), x), one);
  const expr *log = expr_unary(
      c, EXPR_LOG,
      expr_binary(c, EXPR_MUL, expr_binary(c, EXPR_SUB, one, y), expr_binary(c, EXPR_ADD, one, y)));
  const expr *v = expr_binary(c, EXPR_ADD, expr_float(c, t, 2 / (M_PI * 0.147)),
                              expr_binary(c, EXPR_MUL, expr_float(c, t, 0.5), log));
  const expr *w = expr_binary(c, EXPR_MUL, expr_float(c, t, 1 / 0.147), log);
  const expr *root =
      expr_unary(c, EXPR_SQRT, expr_binary(c, EXPR_SUB, expr_binary(c, EXPR_MUL, v, v), w));
  const expr *size = expr_unary(c, EXPR_SQRT, expr_binary(c, EXPR_SUB, root, v));
  const expr *signed_size =
      expr_select(c, expr_compare(c, EXPR_LT, y, zero), expr_unary(c, EXPR_NEG, size), size);
  return expr_binary(c, EXPR_MUL, expr_float(c, t, M_SQRT2), signed_size);
}

// exp(x - max); SOFTMAX_ZERO leaves scores near 0 near 0.
static const expr *soft_term(comprehension *c, bool zero, const expr *x, const expr *max) {
  const expr *e = expr_unary(c, EXPR_EXP, expr_binary(c, EXPR_SUB, x, max));
  if (!zero)
    return e;
  const expr *small =
      expr_binary(c, EXPR_MUL, x, expr_unary(c, EXPR_EXP, expr_unary(c, EXPR_NEG, max)));
  const expr *is_small =
      expr_compare(c, EXPR_LE, expr_unary(c, EXPR_ABS, x), expr_float(c, x->type, 1e-7));
  return expr_select(c, is_small, small, e);
}

static void soft_rows(comprehension *c, bool zero, int scores, int result) {
  int type = c->buffers[scores].elem;
  slices s = {0};
  s.along[1] = true;
  slices_init(c, &s, scores);
  const expr *in[2], *row[2], *at[] = {expr_loop(c, 0), expr_loop(c, 1)};
  int max = slices_temp(c, &s, type), sum = slices_temp(c, &s, type);
  comp_stage *st = slices_reduce(c, &s, in, row);
  int acc = comp_acc_combine(c, st, ACC_MAX, type, expr_read(c, scores, 2, in), NULL);
  comp_write_at(c, st, max, 1, row, expr_acc(c, acc, type), NULL);
  st = slices_reduce(c, &s, in, row);
  const expr *term = soft_term(c, zero, expr_read(c, scores, 2, in), expr_read(c, max, 1, row));
  acc = comp_acc_combine(c, st, ACC_ADD, type, term, NULL);
  comp_write_at(c, st, sum, 1, row, expr_acc(c, acc, type), NULL);
  st = comp_stage_over(c, result);
  term = soft_term(c, zero, expr_read(c, scores, 2, at), expr_read(c, max, 1, at));
  const expr *y = expr_binary(c, EXPR_DIV, term, expr_read(c, sum, 1, at));
  comp_write_point(c, st, result, expr_cast(c, y, c->buffers[result].elem));
}

void ml_post_transform(comprehension *c, ml_transform transform, int scores, int result) {
  if (transform == ML_SOFTMAX || transform == ML_SOFTMAX_ZERO) {
    soft_rows(c, transform == ML_SOFTMAX_ZERO, scores, result);
    return;
  }
  const expr *at[] = {expr_loop(c, 0), expr_loop(c, 1)};
  comp_stage *s = comp_stage_over(c, result);
  const expr *y = expr_read(c, scores, 2, at);
  y = transform == ML_LOGISTIC ? logistic(c, y) : transform == ML_PROBIT ? probit(c, y) : y;
  comp_write_point(c, s, result, expr_cast(c, y, c->buffers[result].elem));
}
