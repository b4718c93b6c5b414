// Pools: MaxPool, AveragePool, LpPool, their global forms, MaxUnpool.
#include "dialects/onnx/ops/op.h"
#include "dialects/onnx/ops/window.h"
#include <inttypes.h>

typedef struct pool {
  int rank, spatial; // rank -1: not known, the window is not set
  window w;
} pool;

static bool pool_of(op_view *v, pool *p) {
  const dim *kernel[ONYX_MAX_RANK];
  p->rank = view_rank(v, 0);
  if (p->rank >= 0 && p->rank < 3)
    return view_error(v, "operand 0 ('X'): expected rank 3 or more, found rank %d", p->rank);
  if (p->rank < 0)
    return true;
  p->spatial = p->rank - 2;
  return window_kernel_attr(v, p->spatial, kernel) && window_of(v, p->spatial, kernel, &p->w);
}

static bool verify_pool(op_view *v) {
  pool p;
  return pool_of(v, &p);
}

static bool shape_pool(op_view *v, shape_result *results) {
  pool p;
  if (!pool_of(v, &p))
    return false;
  if (p.rank < 0)
    return true;
  const dim *dims[ONYX_MAX_RANK] = {view_dim(v, 0, 0), view_dim(v, 0, 1)};
  for (int i = 0; i < p.spatial; i++)
    dims[2 + i] = p.w.axis[i].out;
  shape_set(v, results, 0, p.rank, dims);
  return true;
}

static bool shape_max_pool(op_view *v, shape_result *results) {
  if (!shape_pool(v, results))
    return false;
  if (v->num_results > 1 && results[0].type.rank >= 0) {
    results[1].type.elem = ONYX_I64;
    shape_set(v, results, 1, results[0].type.rank, results[0].type.dims);
  }
  return true;
}

// Loops n, c, positions, taps; the operand's index at the tap and the result's.
typedef struct pool_nest {
  comp_loop loops[2 * ONYX_MAX_RANK];
  int num_loops;
  const expr *in[ONYX_MAX_RANK], *out[ONYX_MAX_RANK];
} pool_nest;

static bool pool_nest_of(comprehension *c, pool *p, pool_nest *n) {
  op_view *v = c->view;
  if (!pool_of(v, p))
    return false;
  if (p->rank < 0)
    return view_error(v, "operand 0 ('X'): the rank is not known");
  for (int i = 0; i < p->rank; i++) {
    n->loops[i] = (comp_loop){LOOP_PARALLEL, i < 2 ? view_dim(v, 0, i) : p->w.axis[i - 2].out};
    n->in[i] = n->out[i] = expr_loop(c, i);
  }
  n->num_loops = p->rank;
  for (int i = 0; i < p->spatial; i++) {
    n->in[2 + i] = window_tap(c, &p->w.axis[i], 2 + i, n->num_loops);
    n->loops[n->num_loops++] = (comp_loop){LOOP_REDUCTION, p->w.axis[i].kernel};
  }
  return true;
}

static const expr *pool_read(comprehension *c, const pool *p, const pool_nest *n, const expr *pad) {
  return window_pads(&p->w) ? expr_read_padded(c, 0, p->rank, n->in, pad)
                            : expr_read(c, 0, p->rank, n->in);
}

// --- MaxPool

// Whether the tap is inside the input.
static const expr *tap_inside(comprehension *c, const pool *p, const pool_nest *n) {
  const expr *inside = expr_int(c, ONYX_BOOL, 1);
  for (int i = 0; i < p->spatial; i++) {
    const expr *at = n->in[2 + i];
    const expr *low = expr_compare(c, EXPR_GE, at, expr_index(c, 0));
    const expr *high = expr_compare(c, EXPR_LT, at, expr_dim(c, p->w.axis[i].in));
    inside = expr_binary(c, EXPR_AND, inside, expr_binary(c, EXPR_AND, low, high));
  }
  return inside;
}

// Number of an input element: batch and channel row-major, spatial dims row-major or column-major.
static const expr *flat_index(comprehension *c, const pool *p, const pool_nest *n,
                              bool column_major) {
  op_view *v = c->view;
  const expr *flat = expr_index(c, 0);
  for (int i = 0; i < p->rank; i++) {
    int axis = i < 2 || !column_major ? i : p->rank + 1 - i;
    flat = expr_binary(c, EXPR_MUL, flat, expr_dim(c, view_dim(v, 0, axis)));
    flat = expr_binary(c, EXPR_ADD, flat, n->in[axis]);
  }
  return flat;
}

static void max_pool_indices(comprehension *c, comp_stage *s, const pool *p, const pool_nest *n,
                             const expr *x, int type) {
  const expr *best = expr_acc(c, 0, type), *at = expr_acc(c, 1, ONYX_INDEX);
  const expr *first =
      expr_binary(c, EXPR_AND, tap_inside(c, p, n), expr_compare(c, EXPR_LT, at, expr_index(c, 0)));
  const expr *beats = expr_binary(c, EXPR_OR, expr_compare(c, EXPR_GT, x, best), first);
  const expr *flat = flat_index(c, p, n, view_int(c->view, "storage_order") != 0);
  comp_acc_general(c, s, type, expr_lowest(c, type), expr_select(c, beats, x, best));
  comp_acc_general(c, s, ONYX_INDEX, expr_index(c, -1), expr_select(c, beats, flat, at));
  comp_write_at(c, s, comp_result(c, 1), p->rank, n->out, expr_cast(c, at, ONYX_I64), NULL);
}

static bool comp_max_pool(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  pool p;
  pool_nest n;
  if (!pool_nest_of(c, &p, &n))
    return false;
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  comp_stage *s = comp_stage_begin(c, n.num_loops, n.loops);
  const expr *x = expr_cast(c, pool_read(c, &p, &n, expr_lowest(c, elem)), type);
  if (v->num_results > 1 && v->wanted[1])
    max_pool_indices(c, s, &p, &n, x, type);
  else
    comp_acc_combine(c, s, ACC_MAX, type, x, NULL);
  comp_write_at(c, s, comp_result(c, 0), p.rank, n.out, expr_cast(c, expr_acc(c, 0, type), elem),
                NULL);
  return true;
}

// --- AveragePool

// ceil(a / d) clamped to [0, taps]: the first tap of which all later ones are at or past a.
static const expr *taps_before(comprehension *c, const expr *a, int64_t dilation, const dim *taps) {
  if (dilation != 1) {
    a = expr_binary(c, EXPR_ADD, a, expr_index(c, dilation - 1));
    a = expr_binary(c, EXPR_FLOORDIV, a, expr_index(c, dilation));
  }
  a = expr_binary(c, EXPR_MAX, a, expr_index(c, 0));
  return expr_binary(c, EXPR_MIN, a, expr_dim(c, taps));
}

// How many taps at this position count: those inside the input or, with count_include_pad, inside
// the padded input (a window that hangs over the end in ceil_mode counts no more than that).
static const expr *counted_taps(comprehension *c, const pool *p, bool include_pad) {
  dim_context *d = c->view->dims;
  const expr *count = expr_index(c, 1);
  for (int i = 0; i < p->spatial; i++) {
    const window_axis *a = &p->w.axis[i];
    if (a->inside) {
      count = expr_binary(c, EXPR_MUL, count, expr_dim(c, a->kernel));
      continue;
    }
    const expr *start = expr_binary(c, EXPR_MUL, expr_loop(c, 2 + i), expr_index(c, a->stride));
    const dim *end = dim_add(d, a->in, a->pad_begin);
    if (include_pad)
      end = dim_add(d, end, a->pad_end);
    const expr *last = expr_binary(c, EXPR_SUB, expr_dim(c, end), start);
    const expr *first = expr_binary(c, EXPR_SUB, expr_dim(c, a->pad_begin), start);
    const expr *taps = taps_before(c, last, a->dilation, a->kernel);
    if (!include_pad)
      taps = expr_binary(c, EXPR_SUB, taps, taps_before(c, first, a->dilation, a->kernel));
    count = expr_binary(c, EXPR_MUL, count, taps);
  }
  return count;
}

static bool comp_average_pool(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  pool p;
  pool_nest n;
  if (!pool_nest_of(c, &p, &n))
    return false;
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  comp_stage *s = comp_stage_begin(c, n.num_loops, n.loops);
  const expr *x = expr_cast(c, pool_read(c, &p, &n, expr_zero(c, elem)), type);
  int acc = comp_acc_combine(c, s, ACC_ADD, type, x, NULL);
  const expr *count = counted_taps(c, &p, view_int(v, "count_include_pad") != 0);
  const expr *y = expr_binary(c, EXPR_DIV, expr_acc(c, acc, type), expr_cast(c, count, type));
  comp_write_at(c, s, comp_result(c, 0), p.rank, n.out, expr_cast(c, y, elem), NULL);
  return true;
}

// --- Lp norms over a window

static bool norm_order(op_view *v, int64_t *order) {
  *order = view_int(v, "p");
  return *order >= 1 || view_error(v, "p: expected at least 1, found %" PRId64, *order);
}

static const expr *norm_term(comprehension *c, const expr *x, int64_t p) {
  if (p == 2)
    return expr_binary(c, EXPR_MUL, x, x);
  x = expr_unary(c, EXPR_ABS, x);
  return p == 1 ? x : expr_binary(c, EXPR_POW, x, expr_float(c, x->type, (double)p));
}

static const expr *norm_root(comprehension *c, const expr *sum, int64_t p) {
  if (p == 1)
    return sum;
  if (p == 2)
    return expr_unary(c, EXPR_SQRT, sum);
  return expr_binary(c, EXPR_POW, sum, expr_float(c, sum->type, 1.0 / (double)p));
}

static bool verify_lp_pool(op_view *v) {
  int64_t order;
  return norm_order(v, &order) && verify_pool(v);
}

static bool comp_lp_pool(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  pool p;
  pool_nest n;
  int64_t order;
  if (!norm_order(v, &order) || !pool_nest_of(c, &p, &n))
    return false;
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  comp_stage *s = comp_stage_begin(c, n.num_loops, n.loops);
  const expr *x = expr_cast(c, pool_read(c, &p, &n, expr_zero(c, elem)), type);
  int acc = comp_acc_combine(c, s, ACC_ADD, type, norm_term(c, x, order), NULL);
  const expr *y = norm_root(c, expr_acc(c, acc, type), order);
  comp_write_at(c, s, comp_result(c, 0), p.rank, n.out, expr_cast(c, y, elem), NULL);
  return true;
}

// --- global forms: one window over all of the spatial dims

static bool verify_global(op_view *v) {
  int rank = view_rank(v, 0);
  return rank < 0 || rank >= 2 ||
         view_error(v, "operand 0 ('X'): expected rank 2 or more, found rank %d", rank);
}

static bool verify_global_lp(op_view *v) {
  int64_t order;
  return norm_order(v, &order) && verify_global(v);
}

static bool shape_global(op_view *v, shape_result *results) {
  int rank = view_rank(v, 0);
  if (!verify_global(v))
    return false;
  if (rank < 0)
    return true;
  const dim *dims[ONYX_MAX_RANK];
  for (int i = 0; i < rank; i++)
    dims[i] = i < 2 ? view_dim(v, 0, i) : dim_const(v->dims, 1);
  shape_set(v, results, 0, rank, dims);
  return true;
}

typedef enum global_kind { GLOBAL_MAX, GLOBAL_AVERAGE, GLOBAL_LP } global_kind;

static bool comp_global(op_view *v, comprehension *c, global_kind kind) {
  int rank = view_rank(v, 0);
  if (rank < 0)
    return view_error(v, "operand 0 ('X'): the rank is not known");
  int64_t order = kind == GLOBAL_LP ? view_int(v, "p") : 1;
  comp_loop loops[ONYX_MAX_RANK];
  const expr *in[ONYX_MAX_RANK], *out[ONYX_MAX_RANK];
  const dim *count = dim_const(v->dims, 1);
  for (int i = 0; i < rank; i++) {
    loops[i] = (comp_loop){i < 2 ? LOOP_PARALLEL : LOOP_REDUCTION, view_dim(v, 0, i)};
    in[i] = expr_loop(c, i);
    out[i] = i < 2 ? in[i] : expr_index(c, 0);
    count = i < 2 ? count : dim_mul(v->dims, count, view_dim(v, 0, i));
  }
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  comp_stage *s = comp_stage_begin(c, rank, loops);
  const expr *x = expr_cast(c, expr_read(c, 0, rank, in), type);
  x = kind == GLOBAL_LP ? norm_term(c, x, order) : x;
  int acc = comp_acc_combine(c, s, kind == GLOBAL_MAX ? ACC_MAX : ACC_ADD, type, x, NULL);
  const expr *y = expr_acc(c, acc, type);
  if (kind == GLOBAL_AVERAGE)
    y = expr_binary(c, EXPR_DIV, y, expr_cast(c, expr_dim(c, count), type));
  if (kind == GLOBAL_LP)
    y = norm_root(c, y, order);
  comp_write_at(c, s, comp_result(c, 0), rank, out, expr_cast(c, y, elem), NULL);
  return true;
}

static bool comp_global_max(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  return comp_global(v, c, GLOBAL_MAX);
}
static bool comp_global_average(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  return comp_global(v, c, GLOBAL_AVERAGE);
}
static bool comp_global_lp(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  return comp_global(v, c, GLOBAL_LP);
}

// --- MaxUnpool: X, I (element numbers in the inferred result), output_shape

typedef struct unpool {
  int rank;
  const dim *inferred[ONYX_MAX_RANK]; // what the window's geometry says; I counts in this shape
  const dim *dims[ONYX_MAX_RANK];     // the result's
} unpool;

static bool unpool_of(op_view *v, unpool *u) {
  u->rank = view_rank(v, 0);
  if (u->rank < 0)
    return true;
  int n = u->rank - 2;
  if (n < 1)
    return view_error(v, "operand 0 ('X'): expected rank 3 or more, found rank %d", u->rank);
  if (view_rank(v, 1) >= 0 && view_rank(v, 1) != u->rank)
    return view_error(v, "operand 1 ('I'): expected rank %d, found rank %d", u->rank,
                      view_rank(v, 1));
  int64_t kernel[ONYX_MAX_RANK], strides[ONYX_MAX_RANK], pads[2 * ONYX_MAX_RANK];
  if (!window_ints(v, "kernel_shape", n, 1, 1, kernel) ||
      !window_ints(v, "strides", n, 1, 1, strides) || !window_ints(v, "pads", 2 * n, 0, 0, pads))
    return false;
  dim_context *d = v->dims;
  for (int i = 0; i < u->rank; i++) {
    u->inferred[i] = view_dim(v, 0, i);
    if (i >= 2) {
      const dim *steps = dim_sub(d, view_dim(v, 0, i), dim_const(d, 1));
      u->inferred[i] = dim_add(d, dim_mul(d, steps, dim_const(d, strides[i - 2])),
                               dim_const(d, kernel[i - 2] - pads[i - 2] - pads[n + i - 2]));
    }
    u->dims[i] = u->inferred[i];
    if (view_has(v, 2)) {
      const dim *stated = view_value(v, 2, i);
      u->dims[i] = stated ? stated : dim_unknown(d);
    }
  }
  return true;
}

static bool verify_max_unpool(op_view *v) {
  unpool u;
  return unpool_of(v, &u);
}

static bool shape_max_unpool(op_view *v, shape_result *results) {
  unpool u;
  if (!unpool_of(v, &u))
    return false;
  if (u.rank >= 0)
    shape_set(v, results, 0, u.rank, u.dims);
  return true;
}

// Splits an element number into indices of the inferred shape; the number itself is checked.
static void split_number(comprehension *c, const unpool *u, const expr *number,
                         const expr **index) {
  const dim *count = dim_const(c->view->dims, 1);
  for (int i = 0; i < u->rank; i++)
    count = dim_mul(c->view->dims, count, u->inferred[i]);
  const expr *n = expr_dim(c, count), *zero = expr_index(c, 0);
  const expr *ok = expr_binary(c, EXPR_AND, expr_compare(c, EXPR_GE, number, zero),
                               expr_compare(c, EXPR_LT, number, n));
  const expr *last = expr_binary(c, EXPR_SUB, n, expr_index(c, 1));
  const expr *rest = expr_binary(c, EXPR_MAX, zero, expr_binary(c, EXPR_MIN, number, last));
  rest = expr_check(c, rest, ok, 1, number, n);
  for (int i = u->rank - 1; i > 0; i--) {
    const expr *extent = expr_dim(c, u->inferred[i]);
    index[i] = expr_binary(c, EXPR_MOD, rest, extent);
    rest = expr_binary(c, EXPR_FLOORDIV, rest, extent);
  }
  index[0] = rest;
}

static bool comp_max_unpool(op_view *v, const shape_result *results, comprehension *c) {
  unpool u;
  if (!unpool_of(v, &u))
    return false;
  if (u.rank < 0)
    return view_error(v, "operand 0 ('X'): the rank is not known");
  for (int i = 0; i < u.rank; i++)
    if (dim_has_unknown(results[0].type.dims[i]))
      return view_error(v, "operand 2 ('output_shape'): its elements are not known");
  int y = comp_result(c, 0);
  comp_stage *s = comp_stage_over(c, y);
  comp_write_point(c, s, y, expr_zero(c, view_elem(v, 0)));

  comp_loop loops[ONYX_MAX_RANK];
  const expr *at[ONYX_MAX_RANK], *to[ONYX_MAX_RANK];
  for (int i = 0; i < u.rank; i++) {
    loops[i] = (comp_loop){LOOP_ORDERED, view_dim(v, 0, i)};
    at[i] = expr_loop(c, i);
  }
  s = comp_stage_begin(c, u.rank, loops);
  split_number(c, &u, expr_cast(c, expr_read(c, 1, u.rank, at), ONYX_INDEX), to);
  const expr *inside = expr_int(c, ONYX_BOOL, 1);
  for (int i = 0; i < u.rank; i++)
    inside =
        expr_binary(c, EXPR_AND, inside, expr_compare(c, EXPR_LT, to[i], expr_dim(c, u.dims[i])));
  comp_write_at(c, s, y, u.rank, to, expr_read(c, 0, u.rank, at), inside);
  return true;
}

const op_def ops_pool[] = {
    {"AveragePool", verify_pool, shape_pool, comp_average_pool},
    {"GlobalAveragePool", verify_global, shape_global, comp_global_average},
    {"GlobalLpPool", verify_global_lp, shape_global, comp_global_lp},
    {"GlobalMaxPool", verify_global, shape_global, comp_global_max},
    {"LpPool", verify_lp_pool, shape_pool, comp_lp_pool},
    {"MaxPool", verify_pool, shape_max_pool, comp_max_pool},
    {"MaxUnpool", verify_max_unpool, shape_max_unpool, comp_max_unpool},
};
const int num_ops_pool = sizeof ops_pool / sizeof ops_pool[0];
