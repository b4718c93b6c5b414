// Det: Gauss elimination with row pivoting, two stages a column, for matrices of known size.
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>

#define MAX_ORDER 64 // two stages a column

static bool verify_det(op_view *v) {
  int rank = view_rank(v, 0);
  int64_t rows, columns;
  if (rank < 0)
    return true;
  if (rank < 2)
    return view_error(v, "operand 0 ('X'): expected rank 2 or more, found rank %d", rank);
  if (dim_is_const(view_dim(v, 0, rank - 2), &rows) &&
      dim_is_const(view_dim(v, 0, rank - 1), &columns) && rows != columns)
    return view_error(v, "operand 0 ('X'): expected square matrices, found %" PRId64 " by %" PRId64,
                      rows, columns);
  return true;
}

static bool shape_det(op_view *v, shape_result *results) {
  if (!verify_det(v))
    return false;
  if (view_rank(v, 0) >= 0)
    shape_set(v, results, 0, view_rank(v, 0) - 2, v->operands[0].type.dims);
  return true;
}

typedef struct elimination {
  int batch, n, type; // batch dims, order of the matrices
  int pivot;          // temporary [batch..]: the row chosen in the current column
} elimination;

static const expr *cell(comprehension *c, const elimination *e, int buffer, const expr *row,
                        const expr *column) {
  const expr *at[ONYX_MAX_RANK];
  x_loops(c, e->batch, at);
  at[e->batch] = row;
  at[e->batch + 1] = column;
  return expr_cast(c, expr_read(c, buffer, e->batch + 2, at), e->type);
}

// The row at or below k with the greatest magnitude in column k.
static void choose_pivot(comprehension *c, const elimination *e, int from, int k) {
  comp_loop loops[ONYX_MAX_RANK];
  const expr *at[ONYX_MAX_RANK];
  x_loops(c, e->batch, at);
  for (int i = 0; i < e->batch; i++)
    loops[i] = (comp_loop){LOOP_PARALLEL, view_dim(c->view, 0, i)};
  loops[e->batch] = (comp_loop){LOOP_REDUCTION, dim_const(c->view->dims, e->n - k)};
  const expr *row = x_add(c, expr_loop(c, e->batch), expr_index(c, k));
  const expr *size = expr_unary(c, EXPR_ABS, cell(c, e, from, row, expr_index(c, k)));
  comp_stage *s = comp_stage_begin(c, e->batch + 1, loops);
  const expr *better = x_lt(c, expr_acc(c, 0, e->type), size);
  comp_acc_general(c, s, e->type, expr_float(c, e->type, -1),
                   expr_select(c, better, size, expr_acc(c, 0, e->type)));
  comp_acc_general(c, s, ONYX_INDEX, expr_index(c, k),
                   expr_select(c, better, row, expr_acc(c, 1, ONYX_INDEX)));
  comp_write_at(c, s, e->pivot, e->batch, at, expr_cast(c, expr_acc(c, 1, ONYX_INDEX), ONYX_I64),
                NULL);
}

static const expr *pivot_row(comprehension *c, const elimination *e) {
  const expr *at[ONYX_MAX_RANK];
  x_loops(c, e->batch, at);
  return expr_cast(c, expr_read(c, e->pivot, e->batch, at), ONYX_INDEX);
}

// to = from with rows k and pivot exchanged and column k cleared below k.
static void eliminate(comprehension *c, const elimination *e, int from, int to, int k) {
  const expr *i = expr_loop(c, e->batch), *j = expr_loop(c, e->batch + 1), *at = expr_index(c, k),
             *p = pivot_row(c, e);
  const expr *row = expr_select(c, x_eq(c, i, at), p, expr_select(c, x_eq(c, i, p), at, i));
  const expr *top = cell(c, e, from, p, at), *zero = expr_float(c, e->type, 0);
  const expr *own = cell(c, e, from, row, j), *factor = x_div(c, cell(c, e, from, row, at), top);
  const expr *clears = x_and(c, x_lt(c, at, i), expr_compare(c, EXPR_NE, top, zero));
  const expr *value =
      expr_select(c, clears, x_sub(c, own, x_mul(c, factor, cell(c, e, from, p, j))), own);
  comp_stage *s = comp_stage_over(c, to);
  comp_write_point(c, s, to, value);
}

static bool comp_det(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  int64_t order;
  int rank = view_rank(v, 0), out = comp_result(c, 0);
  if (!need_rank(v, 0))
    return false;
  if (!dim_is_const(view_dim(v, 0, rank - 1), &order) &&
      !dim_is_const(view_dim(v, 0, rank - 2), &order))
    return view_error(v, "operand 0 ('X'): the order of the matrices is not known");
  if (order > MAX_ORDER)
    return view_error(v, "operand 0 ('X'): expected matrices of order %d at most, found %" PRId64,
                      MAX_ORDER, order);
  elimination e = {rank - 2, (int)order, expr_compute_type(view_elem(v, 0)), 0};
  e.pivot = comp_temp(c, ONYX_I64, e.batch, v->operands[0].type.dims);
  int matrix[2], from = 0;
  for (int k = 0; k < 2; k++)
    matrix[k] = comp_temp(c, (onyx_elem)e.type, rank, v->operands[0].type.dims);
  int det = comp_temp(c, (onyx_elem)e.type, e.batch, v->operands[0].type.dims);
  const expr *at[ONYX_MAX_RANK], *one = expr_float(c, e.type, 1);
  x_loops(c, e.batch, at);
  comp_write_point(c, comp_stage_over(c, det), det, one);
  for (int k = 0; k < e.n; k++) {
    choose_pivot(c, &e, from, k);
    const expr *p = pivot_row(c, &e), *column = expr_index(c, k);
    const expr *sign = expr_select(c, x_eq(c, p, column), one, expr_float(c, e.type, -1));
    comp_stage *s = comp_stage_over(c, det);
    const expr *product =
        x_mul(c, x_mul(c, expr_read(c, det, e.batch, at), sign), cell(c, &e, from, p, column));
    comp_write_point(c, s, det, product);
    eliminate(c, &e, from, matrix[k & 1], k);
    from = matrix[k & 1];
  }
  comp_write_point(c, comp_stage_over(c, out), out,
                   expr_cast(c, expr_read(c, det, e.batch, at), view_elem(v, 0)));
  return true;
}

const op_def ops_det[] = {
    {"Det", verify_det, shape_det, comp_det},
};
const int num_ops_det = sizeof ops_det / sizeof ops_det[0];
