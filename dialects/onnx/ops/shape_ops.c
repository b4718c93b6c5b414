// Ops whose result is about a shape or about where data is: Shape, Size, NonZero.
#include "dialects/onnx/ops/convert.h"
#include "dialects/onnx/ops/scalar.h"

#include <math.h>

// --- Shape: start and end count like Python's slices

static void shape_range(const op_view *v, int rank, int *start, int *end) {
  const onnx_attr *stop = view_attr(v, "end");
  int64_t from = view_int(v, "start"), to = stop->present ? stop->i : rank;
  from = from < 0 ? from + rank : from;
  to = to < 0 ? to + rank : to;
  *start = (int)(from < 0 ? 0 : from > rank ? rank : from);
  *end = (int)(to < 0 ? 0 : to > rank ? rank : to);
  if (*end < *start)
    *end = *start;
}

static bool shape_shape(op_view *v, shape_result *results) {
  int rank = view_rank(v, 0), start, end;
  if (rank < 0) {
    shape_set(v, results, 0, 1, (const dim *[]){dim_unknown_extent(v->dims)});
    return true;
  }
  shape_range(v, rank, &start, &end);
  shape_set(v, results, 0, 1, (const dim *[]){dim_const(v->dims, end - start)});
  const dim **values = shape_data(v, results, 0, end - start);
  for (int k = start; k < end; k++)
    values[k - start] = view_dim(v, 0, k);
  return true;
}

static bool comp_shape(op_view *v, const shape_result *results, comprehension *c) {
  int rank = view_rank(v, 0), start, end, out = comp_result(c, 0);
  (void)results;
  if (!need_rank(v, 0))
    return false;
  shape_range(v, rank, &start, &end);
  comp_stage *s = comp_stage_begin(c, 0, NULL);
  for (int k = start; k < end; k++) {
    const expr *at = expr_index(c, k - start);
    comp_write_at(c, s, out, 1, &at, expr_cast(c, expr_dim(c, view_dim(v, 0, k)), ONYX_I64), NULL);
  }
  return true;
}

// --- Size

static bool shape_size(op_view *v, shape_result *results) {
  shape_set(v, results, 0, 0, NULL);
  const dim *n = view_numel(v, 0);
  if (n)
    shape_data(v, results, 0, 1)[0] = n;
  return true;
}

static bool comp_size(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  if (!need_rank(v, 0))
    return false;
  comp_stage *s = comp_stage_begin(c, 0, NULL);
  comp_write_at(c, s, comp_result(c, 0), 0, NULL,
                expr_cast(c, expr_dim(c, view_numel(v, 0)), ONYX_I64), NULL);
  return true;
}

// --- NonZero: one row a dimension, one column an element that is not zero; none for a scalar's
// rank

static bool shape_non_zero(op_view *v, shape_result *results) {
  const onnx_operand *x = view_operand(v, 0);
  int rank = view_rank(v, 0);
  const dim *count = dim_unknown_extent(v->dims);
  if (x && x->data && rank >= 0) {
    int64_t n = 0;
    for (int64_t k = 0; k < x->num_elements; k++) {
      double value = onyx_element_to_double(x->type.elem, x->data, k);
      n += value != 0 || isnan(value);
    }
    count = dim_const(v->dims, n);
  }
  const dim *rows = rank >= 0 ? dim_const(v->dims, rank) : dim_unknown_extent(v->dims);
  shape_set(v, results, 0, 2, (const dim *[]){rows, count});
  return true;
}

// The elements are counted, then listed in row-major order.
static bool comp_non_zero(op_view *v, const shape_result *results, comprehension *c) {
  int rank = view_rank(v, 0), out = comp_result(c, 0);
  if (!need_rank(v, 0))
    return false;
  comp_loop loops[ONYX_MAX_RANK];
  const expr *at[ONYX_MAX_RANK];
  x_loops(c, rank, at);
  const expr *x = expr_read(c, 0, rank, at);
  const expr *set = x->type == ONYX_BOOL ? x : expr_compare(c, EXPR_NE, x, expr_zero(c, x->type));
  int count = comp_temp(c, ONYX_I64, 0, NULL);
  if (dim_has_unknown(results[0].type.dims[1])) {
    for (int k = 0; k < rank; k++)
      loops[k] = (comp_loop){LOOP_REDUCTION, view_dim(v, 0, k)};
    comp_stage *s = comp_stage_begin(c, rank, loops);
    comp_acc_combine(c, s, ACC_ADD, ONYX_I64, expr_cast(c, set, ONYX_I64), NULL);
    comp_write_at(c, s, count, 0, NULL, expr_acc(c, 0, ONYX_I64), NULL);
    comp_set_extent(c, 0, 1, comp_late_size(c, count));
  }
  int next = comp_temp(c, ONYX_I64, 0, NULL);
  comp_stage *s = comp_stage_begin(c, 0, NULL);
  comp_write_at(c, s, next, 0, NULL, expr_int(c, ONYX_I64, 0), NULL);
  for (int k = 0; k < rank; k++)
    loops[k] = (comp_loop){LOOP_ORDERED, view_dim(v, 0, k)};
  const expr *n = expr_read(c, next, 0, NULL);
  s = comp_stage_begin(c, rank, loops);
  for (int k = 0; k < rank; k++) {
    const expr *to[2] = {expr_index(c, k), expr_cast(c, n, ONYX_INDEX)};
    comp_write_at(c, s, out, 2, to, expr_cast(c, at[k], ONYX_I64), set);
  }
  comp_write_at(c, s, next, 0, NULL, x_add(c, n, expr_one(c, ONYX_I64)), set);
  return true;
}

const op_def ops_shape_ops[] = {
    {"NonZero", NULL, shape_non_zero, comp_non_zero},
    {"Shape", NULL, shape_shape, comp_shape},
    {"Size", NULL, shape_size, comp_size},
};
const int num_ops_shape_ops = sizeof ops_shape_ops / sizeof ops_shape_ops[0];
