// Reductions: Reduce*, ArgMax, ArgMin, CumSum, CumProd.
#include "dialects/onnx/ops/axes.h"
#include "dialects/onnx/ops/op.h"
#include <string.h>

// --- Reduce*: data, axes (optional, may be known at run time only)

typedef struct reduction {
  int rank;
  bool known; // the mask below is set
  int count;  // reduced axes, -1 unknown
  bool keepdims;
  const dim *mask[ONYX_MAX_RANK]; // 1: reduced
} reduction;

static bool reduction_of(op_view *v, reduction *r) {
  r->rank = view_rank(v, 0);
  r->keepdims = view_int(v, "keepdims") != 0;
  r->known = false;
  if (r->rank < 0)
    return true;
  return axes_mask(v, 1, r->rank, view_int(v, "noop_with_empty_axes") == 0, r->mask, &r->count,
                   &r->known);
}

static bool verify_reduce(op_view *v) {
  int axes_rank = view_rank(v, 1);
  if (axes_rank > 1)
    return view_error(v, "operand 1 ('axes'): expected rank 1, found rank %d", axes_rank);
  reduction r;
  return reduction_of(v, &r);
}

// Number of kept axes below i: where axis i goes when reduced axes are dropped.
static const dim *kept_before(op_view *v, const reduction *r, int i) {
  const dim *n = dim_const(v->dims, i);
  for (int k = 0; k < i; k++)
    n = dim_sub(v->dims, n, r->mask[k]);
  return n;
}

// Extent of result dim j when reduced axes are dropped: that of the kept axis with j kept before
// it.
static const dim *dropped_dim(op_view *v, const reduction *r, int j) {
  dim_context *d = v->dims;
  const dim *extent = dim_const(d, 1);
  for (int i = r->rank - 1; i >= 0; i--) {
    const dim *here = dim_eq(d, kept_before(v, r, i), dim_const(d, j));
    const dim *kept = dim_select(d, r->mask[i], dim_const(d, 0), here);
    extent = dim_select(d, kept, view_dim(v, 0, i), extent);
  }
  return extent;
}

static bool shape_reduce(op_view *v, shape_result *results) {
  reduction r;
  if (!reduction_of(v, &r))
    return false;
  if (r.rank < 0)
    return true;
  dim_context *d = v->dims;
  const dim *dims[ONYX_MAX_RANK];
  if (!r.known) {
    int rank = r.keepdims ? r.rank : r.count < 0 ? -1 : r.rank - r.count;
    if (rank < 0)
      return true;
    for (int i = 0; i < rank; i++)
      dims[i] = dim_unknown(d);
    shape_set(v, results, 0, rank, dims);
    return true;
  }
  if (r.keepdims) {
    for (int i = 0; i < r.rank; i++)
      dims[i] = dim_select(d, r.mask[i], dim_const(d, 1), view_dim(v, 0, i));
    shape_set(v, results, 0, r.rank, dims);
    return true;
  }
  for (int j = 0; j < r.rank - r.count; j++)
    dims[j] = dropped_dim(v, &r, j);
  shape_set(v, results, 0, r.rank - r.count, dims);
  return true;
}

// The nest of a reduction: which loop runs over the kept and which over the reduced part of each
// axis (an axis whose fate is known at run time has both, one of them with one iteration).
typedef struct reduce_nest {
  comp_loop loops[2 * ONYX_MAX_RANK];
  int num_loops;
  const expr *index[ONYX_MAX_RANK];  // of the operand
  const expr *result[ONYX_MAX_RANK]; // of the result
  int result_rank;
  const dim *count; // elements reduced into one
} reduce_nest;

static void nest_axis_loops(comprehension *c, const reduction *r, reduce_nest *n,
                            const expr **kept) {
  op_view *v = c->view;
  dim_context *d = v->dims;
  for (int i = 0; i < r->rank; i++) {
    kept[i] = expr_index(c, 0);
    if (dim_is(r->mask[i], 1))
      continue;
    kept[i] = expr_loop(c, n->num_loops);
    const dim *extent = dim_select(d, r->mask[i], dim_const(d, 1), view_dim(v, 0, i));
    n->loops[n->num_loops++] = (comp_loop){LOOP_PARALLEL, extent};
  }
  n->count = dim_const(d, 1);
  for (int i = 0; i < r->rank; i++) {
    n->index[i] = kept[i];
    if (dim_is(r->mask[i], 0))
      continue;
    const expr *loop = expr_loop(c, n->num_loops);
    const dim *extent = dim_select(d, r->mask[i], view_dim(v, 0, i), dim_const(d, 1));
    n->loops[n->num_loops++] = (comp_loop){LOOP_REDUCTION, extent};
    n->index[i] = dim_is(r->mask[i], 1) ? loop : expr_binary(c, EXPR_ADD, kept[i], loop);
    n->count = dim_mul(d, n->count, extent);
  }
}

static void nest_of(comprehension *c, const reduction *r, reduce_nest *n) {
  op_view *v = c->view;
  dim_context *d = v->dims;
  const expr *kept[ONYX_MAX_RANK];
  n->num_loops = 0;
  nest_axis_loops(c, r, n, kept);
  if (r->keepdims) {
    n->result_rank = r->rank;
    memcpy(n->result, kept, sizeof kept);
    return;
  }
  n->result_rank = r->rank - r->count;
  for (int j = 0; j < n->result_rank; j++) {
    n->result[j] = NULL;
    for (int i = 0; i < r->rank; i++) {
      const dim *here = dim_select(d, r->mask[i], dim_const(d, 0),
                                   dim_eq(d, kept_before(v, r, i), dim_const(d, j)));
      if (dim_is(here, 0))
        continue;
      const expr *term =
          dim_is(here, 1) ? kept[i] : expr_binary(c, EXPR_MUL, kept[i], expr_dim(c, here));
      n->result[j] = n->result[j] ? expr_binary(c, EXPR_ADD, n->result[j], term) : term;
    }
    if (!n->result[j])
      n->result[j] = expr_index(c, 0);
  }
}

typedef enum reduce_op {
  R_SUM,
  R_MEAN,
  R_MAX,
  R_MIN,
  R_PROD,
  R_L1,
  R_L2,
  R_SUM_SQUARE,
  R_LOG_SUM,
  R_LOG_SUM_EXP
} reduce_op;

// What one element contributes.
static const expr *reduce_value(comprehension *c, reduce_op op, const expr *x) {
  switch (op) {
  case R_L1:
    return expr_unary(c, EXPR_ABS, x);
  case R_L2:
  case R_SUM_SQUARE:
    return expr_binary(c, EXPR_MUL, x, x);
  default:
    return x;
  }
}

static acc_kind reduce_kind(reduce_op op, int type) {
  switch (op) {
  case R_MAX:
    return type == ONYX_BOOL ? ACC_OR : ACC_MAX;
  case R_MIN:
    return type == ONYX_BOOL ? ACC_AND : ACC_MIN;
  case R_PROD:
    return ACC_MUL;
  default:
    return ACC_ADD;
  }
}

// sqrt and log of integers go through f64, as NumPy does.
static const expr *through_float(comprehension *c, expr_op op, const expr *x) {
  bool is_float = x->type != ONYX_INDEX && onyx_elem_is_float((onyx_elem)x->type);
  const expr *y = expr_unary(c, op, is_float ? x : expr_cast(c, x, ONYX_F64));
  return expr_cast(c, y, x->type);
}

// What becomes of the accumulated value.
static const expr *reduce_finish(comprehension *c, reduce_op op, const expr *acc,
                                 const dim *count) {
  switch (op) {
  case R_MEAN:
    return expr_binary(c, EXPR_DIV, acc, expr_cast(c, expr_dim(c, count), acc->type));
  case R_L2:
    return through_float(c, EXPR_SQRT, acc);
  case R_LOG_SUM:
    return through_float(c, EXPR_LOG, acc);
  default:
    return acc;
  }
}

static const expr *read_as(comprehension *c, int buffer, int n, const expr *const *index,
                           int type) {
  return expr_cast(c, expr_read(c, buffer, n, index), type);
}

// log(sum(exp(x - m))) + m with m = max(x) keeps exp in range; m that is not finite counts as 0.
static void reduce_log_sum_exp(comprehension *c, const reduction *r, const shape_result *result) {
  onyx_elem elem = view_elem(c->view, 0);
  int type = onyx_elem_is_float(elem) ? expr_compute_type(elem) : ONYX_F64;
  int shift = comp_temp(c, (onyx_elem)type, result->type.rank, result->type.dims);
  reduce_nest n;
  nest_of(c, r, &n);
  comp_stage *s = comp_stage_begin(c, n.num_loops, n.loops);
  int m = comp_acc_combine(c, s, ACC_MAX, type, read_as(c, 0, r->rank, n.index, type), NULL);
  const expr *max = expr_acc(c, m, type);
  const expr *finite =
      expr_compare(c, EXPR_EQ, expr_binary(c, EXPR_SUB, max, max), expr_zero(c, type));
  comp_write_at(c, s, shift, n.result_rank, n.result,
                expr_select(c, finite, max, expr_zero(c, type)), NULL);

  s = comp_stage_begin(c, n.num_loops, n.loops);
  const expr *offset = expr_read(c, shift, n.result_rank, n.result);
  const expr *x = expr_binary(c, EXPR_SUB, read_as(c, 0, r->rank, n.index, type), offset);
  int sum = comp_acc_combine(c, s, ACC_ADD, type, expr_unary(c, EXPR_EXP, x), NULL);
  const expr *y = expr_unary(c, EXPR_LOG, expr_acc(c, sum, type));
  comp_write_at(c, s, comp_result(c, 0), n.result_rank, n.result,
                expr_cast(c, expr_binary(c, EXPR_ADD, y, offset), elem), NULL);
}

static bool comp_reduce(op_view *v, const shape_result *results, comprehension *c, reduce_op op) {
  reduction r;
  if (!reduction_of(v, &r))
    return false;
  if (r.rank < 0)
    return view_error(v, "operand 0 ('data'): the rank is not known");
  if (!r.known)
    return view_error(v, "operand 1 ('axes'): how many axes it lists is not known");
  if (op == R_LOG_SUM_EXP) {
    reduce_log_sum_exp(c, &r, results);
    return true;
  }
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  reduce_nest n;
  nest_of(c, &r, &n);
  comp_stage *s = comp_stage_begin(c, n.num_loops, n.loops);
  const expr *x = reduce_value(c, op, read_as(c, 0, r.rank, n.index, type));
  int acc = comp_acc_combine(c, s, reduce_kind(op, type), type, x, NULL);
  const expr *y = reduce_finish(c, op, expr_acc(c, acc, type), n.count);
  comp_write_at(c, s, comp_result(c, 0), n.result_rank, n.result, expr_cast(c, y, elem), NULL);
  return true;
}

#define REDUCE(name, op)                                                                           \
  static bool comp_##name(op_view *v, const shape_result *results, comprehension *c) {             \
    return comp_reduce(v, results, c, op);                                                         \
  }
REDUCE(sum, R_SUM)
REDUCE(mean, R_MEAN)
REDUCE(max, R_MAX)
REDUCE(min, R_MIN)
REDUCE(prod, R_PROD)
REDUCE(l1, R_L1)
REDUCE(l2, R_L2)
REDUCE(sum_square, R_SUM_SQUARE)
REDUCE(log_sum, R_LOG_SUM)
REDUCE(log_sum_exp, R_LOG_SUM_EXP)

// --- ArgMax, ArgMin

static bool arg_axis(op_view *v, int *axis) {
  int rank = view_rank(v, 0);
  *axis = 0;
  return rank < 0 || axis_attr(v, "axis", rank, axis);
}

static bool verify_arg(op_view *v) {
  int axis;
  if (!arg_axis(v, &axis))
    return false;
  if (view_rank(v, 0) > 0 && dim_is(view_dim(v, 0, axis), 0))
    return view_error(v, "operand 0 ('data'): axis %d has no element to choose from", axis);
  return true;
}

static bool shape_arg(op_view *v, shape_result *results) {
  int axis, rank = view_rank(v, 0);
  if (!arg_axis(v, &axis))
    return false;
  results[0].type.elem = ONYX_I64;
  if (rank < 0)
    return true;
  bool keep = view_int(v, "keepdims") != 0;
  const dim *dims[ONYX_MAX_RANK];
  int n = 0;
  for (int i = 0; i < rank; i++) {
    if (i != axis)
      dims[n++] = view_dim(v, 0, i);
    else if (keep)
      dims[n++] = dim_const(v->dims, 1);
  }
  shape_set(v, results, 0, n, dims);
  return true;
}

// Whether x at a later index beats the best so far. NaN beats every number, as in NumPy.
static const expr *arg_beats(comprehension *c, const expr *x, const expr *best, bool max,
                             bool last) {
  expr_op op = max ? (last ? EXPR_GE : EXPR_GT) : (last ? EXPR_LE : EXPR_LT);
  const expr *beats = expr_compare(c, op, x, best);
  if (!onyx_elem_is_float((onyx_elem)x->type))
    return beats;
  const expr *nan = expr_unary(c, EXPR_ISNAN, x);
  if (!last)
    nan = expr_binary(c, EXPR_AND, nan, expr_unary(c, EXPR_NOT, expr_unary(c, EXPR_ISNAN, best)));
  return expr_binary(c, EXPR_OR, beats, nan);
}

static bool comp_arg(op_view *v, comprehension *c, bool max) {
  int axis, rank = view_rank(v, 0);
  if (rank < 0)
    return view_error(v, "operand 0 ('data'): the rank is not known");
  if (!arg_axis(v, &axis))
    return false;
  bool keep = view_int(v, "keepdims") != 0;
  comp_loop loops[ONYX_MAX_RANK];
  const expr *in[ONYX_MAX_RANK], *out[ONYX_MAX_RANK];
  int n = 0, m = 0;
  for (int i = 0; i < rank; i++) {
    if (i == axis) {
      if (keep)
        out[m++] = expr_index(c, 0);
      continue;
    }
    in[i] = out[m++] = expr_loop(c, n);
    loops[n++] = (comp_loop){LOOP_PARALLEL, view_dim(v, 0, i)};
  }
  in[axis] = expr_loop(c, n);
  loops[n++] = (comp_loop){LOOP_REDUCTION, view_dim(v, 0, axis)};
  comp_stage *s = comp_stage_begin(c, n, loops);
  int type = expr_compute_type(view_elem(v, 0));
  const expr *x = read_as(c, 0, rank, in, type);
  const expr *best = expr_acc(c, 0, type), *at = expr_acc(c, 1, ONYX_INDEX);
  const expr *beats = arg_beats(c, x, best, max, view_int(v, "select_last_index") != 0);
  comp_acc_general(c, s, type, max ? expr_lowest(c, type) : expr_highest(c, type),
                   expr_select(c, beats, x, best));
  comp_acc_general(c, s, ONYX_INDEX, expr_index(c, 0), expr_select(c, beats, in[axis], at));
  comp_write_at(c, s, comp_result(c, 0), m, out, expr_cast(c, at, ONYX_I64), NULL);
  return true;
}

static bool comp_arg_max(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  return comp_arg(v, c, true);
}
static bool comp_arg_min(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  return comp_arg(v, c, false);
}

// --- CumSum, CumProd: one ordered nest; the axis may be known at run time only

static bool verify_cumulative(op_view *v) {
  int at, rank = view_rank(v, 0);
  int64_t axis;
  if (rank < 0 || !view_value(v, 1, 0) || !dim_is_const(view_value(v, 1, 0), &axis))
    return true;
  return axis_normalize(v, "operand 1 ('axis')", axis, rank, &at);
}

static bool shape_cumulative(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return verify_cumulative(v);
}

static bool comp_cumulative(op_view *v, comprehension *c, expr_op op) {
  int rank = view_rank(v, 0);
  if (rank < 0)
    return view_error(v, "operand 0 ('x'): the rank is not known");
  const dim *axis = view_value(v, 1, 0);
  if (!axis)
    return view_error(v, "operand 1 ('axis'): expected one element");
  dim_context *d = v->dims;
  axis = dim_wrap(d, axis, dim_const(d, rank));
  bool reverse = view_int(v, "reverse") != 0, exclusive = view_int(v, "exclusive") != 0;
  comp_loop loops[ONYX_MAX_RANK];
  const expr *here[ONYX_MAX_RANK], *before[ONYX_MAX_RANK];
  for (int i = 0; i < rank; i++) {
    const dim *n = view_dim(v, 0, i), *along = dim_eq(d, axis, dim_const(d, i));
    loops[i] = (comp_loop){dim_is(along, 0) ? LOOP_PARALLEL : LOOP_ORDERED, n};
    const expr *l = expr_loop(c, i);
    here[i] = before[i] = l;
    if (dim_is(along, 0))
      continue;
    if (reverse) { // n - 1 - l along the axis
      const expr *mirrored =
          expr_binary(c, EXPR_SUB, expr_dim(c, dim_sub(d, n, dim_const(d, 1))), l);
      const expr *is = expr_compare(c, EXPR_NE, expr_dim(c, along), expr_index(c, 0));
      here[i] = dim_is(along, 1) ? mirrored : expr_select(c, is, mirrored, l);
    }
    before[i] = expr_binary(c, reverse ? EXPR_ADD : EXPR_SUB, here[i], expr_dim(c, along));
  }
  comp_stage *s = comp_stage_begin(c, rank, loops);
  onyx_elem elem = view_elem(v, 0);
  const expr *neutral = op == EXPR_ADD ? expr_zero(c, elem) : expr_one(c, elem);
  int out = comp_result(c, 0);
  const expr *sum = expr_read_padded(c, out, rank, before, neutral);
  const expr *x =
      exclusive ? expr_read_padded(c, 0, rank, before, neutral) : expr_read(c, 0, rank, here);
  comp_write_at(c, s, out, rank, here, expr_binary(c, op, sum, x), NULL);
  return true;
}

static bool comp_cum_sum(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  return comp_cumulative(v, c, EXPR_ADD);
}
static bool comp_cum_prod(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  return comp_cumulative(v, c, EXPR_MUL);
}

const op_def ops_reduce[] = {
    {"ArgMax", verify_arg, shape_arg, comp_arg_max},
    {"ArgMin", verify_arg, shape_arg, comp_arg_min},
    {"CumProd", verify_cumulative, shape_cumulative, comp_cum_prod},
    {"CumSum", verify_cumulative, shape_cumulative, comp_cum_sum},
    {"ReduceL1", verify_reduce, shape_reduce, comp_l1},
    {"ReduceL2", verify_reduce, shape_reduce, comp_l2},
    {"ReduceLogSum", verify_reduce, shape_reduce, comp_log_sum},
    {"ReduceLogSumExp", verify_reduce, shape_reduce, comp_log_sum_exp},
    {"ReduceMax", verify_reduce, shape_reduce, comp_max},
    {"ReduceMean", verify_reduce, shape_reduce, comp_mean},
    {"ReduceMin", verify_reduce, shape_reduce, comp_min},
    {"ReduceProd", verify_reduce, shape_reduce, comp_prod},
    {"ReduceSum", verify_reduce, shape_reduce, comp_sum},
    {"ReduceSumSquare", verify_reduce, shape_reduce, comp_sum_square},
};
const int num_ops_reduce = sizeof ops_reduce / sizeof ops_reduce[0];
