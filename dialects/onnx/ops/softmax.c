// Softmax, LogSoftmax, Hardmax along one axis.
#include "dialects/onnx/ops/axes.h"
#include "dialects/onnx/ops/op.h"
#include "dialects/onnx/ops/slices.h"

static bool verify_softmax(op_view *v) {
  int axis, rank = view_rank(v, 0);
  // A scalar is its own slice; its only axes are 0 and -1, which name nothing.
  return rank <= 0 || axis_attr(v, "axis", rank, &axis);
}

static bool shape_softmax(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return verify_softmax(v);
}

static bool softmax_slices(comprehension *c, slices *s) {
  op_view *v = c->view;
  int axis = 0, rank = view_rank(v, 0);
  if (rank < 0)
    return view_error(v, "operand 0 ('input'): the rank is not known");
  if (rank > 0 && !axis_attr(v, "axis", rank, &axis))
    return false;
  *s = (slices){0};
  if (rank > 0)
    s->along[axis] = true;
  slices_init(c, s, 0);
  return true;
}

// Temporary of the maximum of each slice.
static int slice_max(comprehension *c, const slices *s, int type) {
  const expr *in[ONYX_MAX_RANK], *out[ONYX_MAX_RANK];
  int temp = slices_temp(c, s, type);
  comp_stage *st = slices_reduce(c, s, in, out);
  const expr *x = expr_cast(c, expr_read(c, 0, s->rank, in), type);
  int acc = comp_acc_combine(c, st, ACC_MAX, type, x, NULL);
  comp_write_at(c, st, temp, s->num_kept, out, expr_acc(c, acc, type), NULL);
  return temp;
}

// Temporary of sum(exp(x - max)) of each slice.
static int slice_sum_exp(comprehension *c, const slices *s, int max, int type) {
  const expr *in[ONYX_MAX_RANK], *out[ONYX_MAX_RANK];
  int temp = slices_temp(c, s, type);
  comp_stage *st = slices_reduce(c, s, in, out);
  const expr *x = expr_cast(c, expr_read(c, 0, s->rank, in), type);
  x = expr_binary(c, EXPR_SUB, x, expr_read(c, max, s->num_kept, out));
  int acc = comp_acc_combine(c, st, ACC_ADD, type, expr_unary(c, EXPR_EXP, x), NULL);
  comp_write_at(c, st, temp, s->num_kept, out, expr_acc(c, acc, type), NULL);
  return temp;
}

static const expr *read_point(comprehension *c, int rank, int type) {
  const expr *at[ONYX_MAX_RANK];
  for (int i = 0; i < rank; i++)
    at[i] = expr_loop(c, i);
  return expr_cast(c, expr_read(c, 0, rank, at), type);
}

static bool comp_softmax_of(op_view *v, comprehension *c, bool log) {
  slices s;
  if (!softmax_slices(c, &s))
    return false;
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem), y = comp_result(c, 0);
  int max = slice_max(c, &s, type), sum = slice_sum_exp(c, &s, max, type);
  comp_stage *st = comp_stage_over(c, y);
  const expr *x = expr_binary(c, EXPR_SUB, read_point(c, s.rank, type), slices_read(c, &s, max));
  const expr *total = slices_read(c, &s, sum);
  x = log ? expr_binary(c, EXPR_SUB, x, expr_unary(c, EXPR_LOG, total))
          : expr_binary(c, EXPR_DIV, expr_unary(c, EXPR_EXP, x), total);
  comp_write_point(c, st, y, expr_cast(c, x, elem));
  return true;
}

static bool comp_softmax(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  return comp_softmax_of(v, c, false);
}
static bool comp_log_softmax(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  return comp_softmax_of(v, c, true);
}

// 1 at the first maximum of each slice, 0 elsewhere.
static bool comp_hardmax(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  slices s;
  if (!softmax_slices(c, &s))
    return false;
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem), y = comp_result(c, 0);
  const expr *in[ONYX_MAX_RANK], *out[ONYX_MAX_RANK];
  int first = slices_temp(c, &s, ONYX_I64);
  comp_stage *st = slices_reduce(c, &s, in, out);
  const expr *position = expr_index(c, 0), *here = expr_index(c, 0);
  for (int i = 0; i < s.rank; i++)
    if (s.along[i])
      position = in[i], here = expr_loop(c, i);
  const expr *x = expr_cast(c, expr_read(c, 0, s.rank, in), type);
  const expr *best = expr_acc(c, 0, type), *at = expr_acc(c, 1, ONYX_INDEX);
  const expr *beats = expr_compare(c, EXPR_GT, x, best);
  comp_acc_general(c, st, type, expr_lowest(c, type), expr_select(c, beats, x, best));
  comp_acc_general(c, st, ONYX_INDEX, expr_index(c, 0), expr_select(c, beats, position, at));
  comp_write_at(c, st, first, s.num_kept, out, expr_cast(c, at, ONYX_I64), NULL);

  st = comp_stage_over(c, y);
  const expr *chosen = expr_cast(c, slices_read(c, &s, first), ONYX_INDEX);
  const expr *is = expr_compare(c, EXPR_EQ, here, chosen);
  comp_write_point(c, st, y, expr_select(c, is, expr_one(c, elem), expr_zero(c, elem)));
  return true;
}

const op_def ops_softmax[] = {
    {"Hardmax", verify_softmax, shape_softmax, comp_hardmax},
    {"LogSoftmax", verify_softmax, shape_softmax, comp_log_softmax},
    {"Softmax", verify_softmax, shape_softmax, comp_softmax},
};
const int num_ops_softmax = sizeof ops_softmax / sizeof ops_softmax[0];
