// TopK, Unique, NonMaxSuppression: orders made by comparing all pairs, which any loop order and
// thread count can do; ties go to the lower index. NaN counts as the greatest number, as in NumPy's
// sort.
#include "dialects/onnx/ops/axes.h"
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>

// a before b in ascending order, values alone.
static const expr *x_before(comprehension *c, const expr *a, const expr *b) {
  const expr *less = x_lt(c, a, b);
  if (a->type == ONYX_INDEX || !onyx_elem_is_float((onyx_elem)a->type))
    return less;
  const expr *number = expr_unary(c, EXPR_NOT, expr_unary(c, EXPR_ISNAN, a));
  return x_or(c, less, x_and(c, number, expr_unary(c, EXPR_ISNAN, b)));
}

static const expr *x_same(comprehension *c, const expr *a, const expr *b) {
  const expr *equal = x_eq(c, a, b);
  if (!onyx_elem_is_float((onyx_elem)a->type))
    return equal;
  return x_or(c, equal, x_and(c, expr_unary(c, EXPR_ISNAN, a), expr_unary(c, EXPR_ISNAN, b)));
}

// --- TopK: X, K

static bool top_axis(op_view *v, int *axis) {
  int rank = view_rank(v, 0);
  if (rank == 0)
    return view_error(v, "operand 0 ('X'): expected rank 1 or more, found rank 0");
  return rank < 0 || axis_attr(v, "axis", rank, axis);
}

static bool verify_top_k(op_view *v) {
  int axis;
  int64_t k, extent;
  const dim *count = view_value(v, 1, 0);
  if (!top_axis(v, &axis))
    return false;
  if (count && dim_is_const(count, &k)) {
    if (k < 0)
      return view_error(v, "operand 1 ('K'): expected a count >= 0, found %" PRId64, k);
    if (view_rank(v, 0) > 0 && dim_is_const(view_dim(v, 0, axis), &extent) && k > extent)
      return view_error(
          v, "operand 1 ('K'): expected at most %" PRId64 ", the size of axis %d, found %" PRId64,
          extent, axis, k);
  }
  return true;
}

static bool shape_top_k(op_view *v, shape_result *results) {
  int axis, rank = view_rank(v, 0);
  const dim *dims[ONYX_MAX_RANK];
  if (v->num_results > 1)
    results[1].type.elem = ONYX_I64;
  if (!verify_top_k(v) || !top_axis(v, &axis))
    return false;
  if (rank < 0)
    return true;
  const dim *count = list_value(v, 1, 0);
  for (int k = 0; k < rank; k++)
    dims[k] = k != axis ? view_dim(v, 0, k)
              : dim_has_unknown(count)
                  ? dim_unknown_extent(v->dims)
                  : dim_clamp(v->dims, count, dim_const(v->dims, 0), view_dim(v, 0, axis));
  for (int r = 0; r < v->num_results && r < 2; r++)
    shape_set(v, results, r, rank, dims);
  return true;
}

static const expr *x_precedes(comprehension *c, bool largest, const expr *x, const expr *i,
                              const expr *y, const expr *j) {
  const expr *before = largest ? x_before(c, y, x) : x_before(c, x, y);
  return x_or(c, before, x_and(c, x_same(c, x, y), x_lt(c, i, j)));
}

// Many of the elements: element i takes place p where p others precede it, and is written if p < K.
static void rank_all(comprehension *c, int axis, bool largest, const dim *count) {
  op_view *v = c->view;
  int rank = view_rank(v, 0);
  comp_loop loops[ONYX_MAX_RANK + 1];
  const expr *own[ONYX_MAX_RANK], *other[ONYX_MAX_RANK], *to[ONYX_MAX_RANK];
  x_loops(c, rank, own);
  for (int d = 0; d < rank; d++) {
    loops[d] = (comp_loop){LOOP_PARALLEL, view_dim(v, 0, d)};
    other[d] = to[d] = own[d];
  }
  loops[rank] = (comp_loop){LOOP_REDUCTION, view_dim(v, 0, axis)};
  const expr *i = own[axis], *j = expr_loop(c, rank);
  other[axis] = j;
  const expr *x = expr_read(c, 0, rank, own), *y = expr_read(c, 0, rank, other);
  comp_stage *s = comp_stage_begin(c, rank + 1, loops);
  comp_acc_combine(c, s, ACC_ADD, ONYX_INDEX,
                   expr_cast(c, x_precedes(c, largest, y, j, x, i), ONYX_INDEX), NULL);
  to[axis] = expr_acc(c, 0, ONYX_INDEX);
  const expr *taken = x_lt(c, to[axis], expr_dim(c, count));
  if (view_wants(v, 0))
    comp_write_at(c, s, comp_result(c, 0), rank, to, x, taken);
  if (view_wants(v, 1))
    comp_write_at(c, s, comp_result(c, 1), rank, to, expr_cast(c, i, ONYX_I64), taken);
}

// Few of them: each pick is the first of those that the pick before it precedes.
static void pick_each(comprehension *c, int axis, bool largest, const dim *count) {
  op_view *v = c->view;
  int rank = view_rank(v, 0), type = view_elem(v, 0);
  const dim *dims[ONYX_MAX_RANK];
  comp_loop loops[ONYX_MAX_RANK + 1];
  const expr *at[ONYX_MAX_RANK], *from[ONYX_MAX_RANK], *last[ONYX_MAX_RANK];
  x_loops(c, rank, at);
  for (int d = 0; d < rank; d++) {
    dims[d] = d == axis ? count : view_dim(v, 0, d);
    loops[d] = (comp_loop){d == axis ? LOOP_ORDERED : LOOP_PARALLEL, dims[d]};
    from[d] = last[d] = at[d];
  }
  loops[rank] = (comp_loop){LOOP_REDUCTION, view_dim(v, 0, axis)};
  int indices = view_wants(v, 1) ? comp_result(c, 1) : comp_temp(c, ONYX_I64, rank, dims);
  const expr *k = at[axis], *j = expr_loop(c, rank), *zero = expr_index(c, 0),
             *one = expr_index(c, 1);
  last[axis] = x_max(c, x_sub(c, k, one), zero);
  const expr *size = expr_dim(c, view_dim(v, 0, axis));
  const expr *i = expr_cast(c, expr_read(c, indices, rank, last),
                            ONYX_INDEX); // of the pick before; any number at first
  i = x_clamp(c, i, zero, x_sub(c, size, one));
  from[axis] = i;
  const expr *x = expr_read(c, 0, rank, from);
  from[axis] = j;
  const expr *y = expr_read(c, 0, rank, from), *best = expr_acc(c, 1, type),
             *found = expr_acc(c, 0, ONYX_BOOL);
  const expr *open = x_or(c, x_eq(c, k, zero), x_precedes(c, largest, x, i, y, j));
  const expr *better = largest ? x_before(c, best, y) : x_before(c, y, best);
  const expr *take = x_and(c, open, x_or(c, expr_unary(c, EXPR_NOT, found), better));
  comp_stage *s = comp_stage_begin(c, rank + 1, loops);
  comp_acc_general(c, s, ONYX_BOOL, expr_int(c, ONYX_BOOL, 0), x_or(c, found, open));
  comp_acc_general(c, s, type, expr_zero(c, type), expr_select(c, take, y, best));
  comp_acc_general(c, s, ONYX_INDEX, zero, expr_select(c, take, j, expr_acc(c, 2, ONYX_INDEX)));
  comp_write_at(c, s, indices, rank, at, expr_cast(c, expr_acc(c, 2, ONYX_INDEX), ONYX_I64), NULL);
  if (view_wants(v, 0))
    comp_write_at(c, s, comp_result(c, 0), rank, at, expr_acc(c, 1, type), NULL);
}

// `sorted` = 0 leaves the order open: this one is as good.
static bool comp_top_k(op_view *v, const shape_result *results, comprehension *c) {
  int axis, any = view_wants(v, 0) ? 0 : 1;
  if (!need_rank(v, 0) || !top_axis(v, &axis) || !need_sizes(v, &results[any]))
    return false;
  const dim *asked = list_value(v, 1, 0), *extent = view_dim(v, 0, axis),
            *count = results[any].type.dims[axis];
  const expr *k = expr_dim(c, asked), *size = expr_dim(c, extent);
  if (asked->op != DIM_CONST || extent->op != DIM_CONST)
    comp_require(c, x_and(c, x_ge(c, k, expr_index(c, 0)), expr_compare(c, EXPR_LE, k, size)), 6, k,
                 size);
  int64_t some, all;
  bool many = dim_is_const(count, &some) && dim_is_const(extent, &all) && some > all / 2;
  (many ? rank_all : pick_each)(c, axis, view_int(v, "largest") != 0, count);
  return true;
}

// --- Unique: Y, indices, inverse_indices, counts

static bool unique_axis(op_view *v, int *axis) {
  *axis = -1;
  return !view_attr(v, "axis")->present || view_rank(v, 0) < 0 ||
         axis_attr(v, "axis", view_rank(v, 0), axis);
}

static bool verify_unique(op_view *v) {
  int axis;
  return unique_axis(v, &axis);
}

static bool shape_unique(op_view *v, shape_result *results) {
  int axis, rank = view_rank(v, 0);
  const dim *dims[ONYX_MAX_RANK], *count = dim_unknown_extent(v->dims);
  if (!unique_axis(v, &axis))
    return false;
  bool flat = !view_attr(v, "axis")->present;
  if (flat)
    shape_set(v, results, 0, 1, &count);
  else if (rank >= 0) {
    for (int k = 0; k < rank; k++)
      dims[k] = k == axis ? count : view_dim(v, 0, k);
    shape_set(v, results, 0, rank, dims);
  }
  const dim *all = flat ? view_numel(v, 0) : rank >= 0 ? view_dim(v, 0, axis) : NULL;
  shape_set(v, results, 1, 1, &count);
  shape_set(v, results, 2, 1, all ? &all : (const dim *[]){dim_unknown_extent(v->dims)});
  shape_set(v, results, 3, 1, &count);
  return true;
}

// What is compared: elements of the flattened operand, or its slices along an axis.
typedef struct items {
  int rank, axis; // axis -1: elements
  const dim *count;
  int order; // slices: temporary [count, count], -1, 0 or 1 as item i compares with j
} items;

static void split_index(comprehension *c, const expr *flat, int rank, const dim *const *dims,
                        const expr **out) {
  for (int k = rank - 1; k >= 0; k--) {
    out[k] = k ? expr_binary(c, EXPR_MOD, flat, expr_dim(c, dims[k])) : flat;
    flat = k ? expr_binary(c, EXPR_FLOORDIV, flat, expr_dim(c, dims[k])) : flat;
  }
}

static const expr *read_item(comprehension *c, const items *it, const expr *i) {
  const expr *at[ONYX_MAX_RANK];
  split_index(c, i, it->rank, c->buffers[0].dims, at);
  return expr_read(c, 0, it->rank, at);
}

// Slices compare like words: by the first element in which they differ.
static void compare_slices(comprehension *c, items *it) {
  op_view *v = c->view;
  comp_loop loops[ONYX_MAX_RANK + 2] = {{LOOP_PARALLEL, it->count}, {LOOP_PARALLEL, it->count}};
  const expr *a[ONYX_MAX_RANK], *b[ONYX_MAX_RANK], *to[2] = {expr_loop(c, 0), expr_loop(c, 1)};
  int n = 2;
  for (int k = 0; k < it->rank; k++) {
    if (k == it->axis) {
      a[k] = to[0];
      b[k] = to[1];
      continue;
    }
    a[k] = b[k] = expr_loop(c, n);
    loops[n++] = (comp_loop){LOOP_REDUCTION, view_dim(v, 0, k)};
  }
  it->order = comp_temp(c, ONYX_I32, 2, (const dim *[]){it->count, it->count});
  const expr *x = expr_read(c, 0, it->rank, a), *y = expr_read(c, 0, it->rank, b),
             *zero = expr_int(c, ONYX_I32, 0);
  const expr *sign = expr_select(c, x_before(c, x, y), expr_int(c, ONYX_I32, -1),
                                 expr_select(c, x_before(c, y, x), expr_int(c, ONYX_I32, 1), zero));
  const expr *so_far = expr_acc(c, 0, ONYX_I32);
  comp_stage *s = comp_stage_begin(c, n, loops);
  comp_acc_general(c, s, ONYX_I32, zero, expr_select(c, x_eq(c, so_far, zero), sign, so_far));
  comp_write_at(c, s, it->order, 2, to, expr_acc(c, 0, ONYX_I32), NULL);
}

static const expr *item_compare(comprehension *c, const items *it, expr_op op, const expr *i,
                                const expr *j) {
  if (it->axis >= 0) {
    const expr *at[2] = {i, j};
    return expr_compare(c, op, expr_read(c, it->order, 2, at), expr_int(c, ONYX_I32, 0));
  }
  const expr *x = read_item(c, it, i), *y = read_item(c, it, j);
  return op == EXPR_EQ ? x_same(c, x, y) : x_before(c, x, y);
}

// first[i]: the first item equal to i. place[i]: how many different ones come before it.
static bool comp_unique(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  items it = {.rank = view_rank(v, 0)};
  if (!need_rank(v, 0) || !unique_axis(v, &it.axis))
    return false;
  it.count = it.axis < 0 ? view_numel(v, 0) : view_dim(v, 0, it.axis);
  bool sorted = view_int(v, "sorted") != 0;
  if (it.axis >= 0)
    compare_slices(c, &it);
  int first = comp_temp(c, ONYX_I64, 1, &it.count), place = comp_temp(c, ONYX_I64, 1, &it.count);
  int total = comp_temp(c, ONYX_I64, 0, NULL);
  comp_loop loops[2] = {{LOOP_PARALLEL, it.count}, {LOOP_REDUCTION, it.count}};
  const expr *i = expr_loop(c, 0), *j = expr_loop(c, 1), *none = expr_dim(c, it.count);
  comp_stage *s = comp_stage_begin(c, 2, loops);
  comp_acc_combine(c, s, ACC_MIN, ONYX_INDEX,
                   expr_select(c, item_compare(c, &it, EXPR_EQ, i, j), j, none), none);
  comp_write_at(c, s, first, 1, &i, expr_cast(c, expr_acc(c, 0, ONYX_INDEX), ONYX_I64), NULL);

  const expr *first_i = expr_cast(c, expr_read(c, first, 1, &i), ONYX_INDEX);
  const expr *first_j = expr_cast(c, expr_read(c, first, 1, &j), ONYX_INDEX);
  const expr *earlier = sorted ? item_compare(c, &it, EXPR_LT, j, i) : x_lt(c, j, first_i);
  earlier = x_and(c, x_eq(c, first_j, j), earlier);
  s = comp_stage_begin(c, 2, loops);
  comp_acc_combine(c, s, ACC_ADD, ONYX_I64, expr_cast(c, earlier, ONYX_I64), NULL);
  comp_write_at(c, s, place, 1, &i, expr_acc(c, 0, ONYX_I64), NULL);

  comp_loop each = {LOOP_REDUCTION, it.count};
  s = comp_stage_begin(c, 1, &each);
  comp_acc_combine(c, s, ACC_ADD, ONYX_I64, expr_cast(c, x_eq(c, first_i, i), ONYX_I64), NULL);
  comp_write_at(c, s, total, 0, NULL, expr_acc(c, 0, ONYX_I64), NULL);
  const dim *count = comp_late_size(c, total);
  for (int r = 0; r < 4; r++)
    if (view_wants(v, r) && r != 2)
      comp_set_extent(c, r, r || it.axis < 0 ? 0 : it.axis, count);

  // counts, then what the representatives write
  const expr *is_first = x_eq(c, first_i, i),
             *slot = expr_cast(c, expr_read(c, place, 1, &i), ONYX_INDEX);
  s = comp_stage_begin(c, 2, loops);
  comp_acc_combine(c, s, ACC_ADD, ONYX_I64, expr_cast(c, x_eq(c, first_j, i), ONYX_I64), NULL);
  if (view_wants(v, 3))
    comp_write_at(c, s, comp_result(c, 3), 1, &slot, expr_acc(c, 0, ONYX_I64), is_first);
  if (view_wants(v, 1))
    comp_write_at(c, s, comp_result(c, 1), 1, &slot, expr_cast(c, i, ONYX_I64), is_first);
  if (view_wants(v, 2))
    comp_write_at(c, s, comp_result(c, 2), 1, &i, expr_cast(c, slot, ONYX_I64), NULL);
  if (!view_wants(v, 0))
    return true;
  if (it.axis < 0) {
    comp_write_at(c, s, comp_result(c, 0), 1, &slot, read_item(c, &it, i), is_first);
    return true;
  }
  comp_loop all[ONYX_MAX_RANK];
  const expr *from[ONYX_MAX_RANK], *to[ONYX_MAX_RANK];
  x_loops(c, it.rank, from);
  for (int k = 0; k < it.rank; k++) {
    all[k] = (comp_loop){LOOP_PARALLEL, view_dim(v, 0, k)};
    to[k] = from[k];
  }
  const expr *row = from[it.axis];
  to[it.axis] = expr_cast(c, expr_read(c, place, 1, &row), ONYX_INDEX);
  is_first = x_eq(c, expr_cast(c, expr_read(c, first, 1, &row), ONYX_INDEX), row);
  s = comp_stage_begin(c, it.rank, all);
  comp_write_at(c, s, comp_result(c, 0), it.rank, to, expr_read(c, 0, it.rank, from), is_first);
  return true;
}

// --- NonMaxSuppression: boxes [B, N, 4], scores [B, C, N], limits

static bool verify_nms(op_view *v) {
  int64_t four;
  if (!expect_rank(v, 0, 3) || !expect_rank(v, 1, 3))
    return false;
  if (view_rank(v, 0) == 3 && dim_is_const(view_dim(v, 0, 2), &four) && four != 4)
    return view_error(v, "operand 0 ('boxes'): expected size 4 in dimension 2, found %" PRId64,
                      four);
  for (int k = 0; k < 2 && view_rank(v, 0) == 3 && view_rank(v, 1) == 3; k++) {
    int64_t a, b;
    if (dim_is_const(view_dim(v, 0, k), &a) && dim_is_const(view_dim(v, 1, k ? 2 : 0), &b) &&
        a != b)
      return view_error(
          v, "operand 1 ('scores'): expected size %" PRId64 " in dimension %d, found %" PRId64, a,
          k ? 2 : 0, b);
  }
  return true;
}

static bool shape_nms(op_view *v, shape_result *results) {
  if (!verify_nms(v))
    return false;
  shape_set(v, results, 0, 2, (const dim *[]){dim_unknown_extent(v->dims), dim_const(v->dims, 3)});
  return true;
}

// low and high of a box along y (0) or x (1)
static void box_side(comprehension *c, const expr *batch, const expr *box, int side,
                     const expr **low, const expr **high) {
  bool centre = view_int(c->view, "center_point_box") != 0;
  // corners y1, x1, y2, x2; or centre x, y, width, height
  const expr *at[3] = {batch, box, expr_index(c, centre ? 1 - side : side)};
  const expr *a = expr_read(c, 0, 3, at);
  at[2] = expr_index(c, centre ? 3 - side : 2 + side);
  const expr *b = expr_read(c, 0, 3, at);
  const expr *half = x_mul(c, b, x_num(c, b, 0.5));
  *low = centre ? x_sub(c, a, half) : x_min(c, a, b);
  *high = centre ? x_add(c, a, half) : x_max(c, a, b);
}

// Intersection over union of two boxes; 0 where either is empty.
static const expr *overlap(comprehension *c, const expr *batch, const expr *p, const expr *q) {
  const expr *shared = NULL, *area_p = NULL, *area_q = NULL, *zero = expr_float(c, ONYX_F32, 0);
  for (int side = 0; side < 2; side++) {
    const expr *lp, *hp, *lq, *hq;
    box_side(c, batch, p, side, &lp, &hp);
    box_side(c, batch, q, side, &lq, &hq);
    const expr *both = x_max(c, x_sub(c, x_min(c, hp, hq), x_max(c, lp, lq)), zero);
    shared = shared ? x_mul(c, shared, both) : both;
    area_p = area_p ? x_mul(c, area_p, x_sub(c, hp, lp)) : x_sub(c, hp, lp);
    area_q = area_q ? x_mul(c, area_q, x_sub(c, hq, lq)) : x_sub(c, hq, lq);
  }
  const expr *all = x_sub(c, x_add(c, area_p, area_q), shared);
  return expr_select(c, x_lt(c, zero, all), x_div(c, shared, all), zero);
}

static const expr *limit_of(comprehension *c, int operand, const expr *absent) {
  return view_has(c->view, operand) ? x_scalar(c, operand) : absent;
}

// order[b, c, p]: the box at place p by score. keep[b, c, p]: it is above the threshold, no kept
// box before it overlaps it too much, and fewer than the maximum were kept.
static bool comp_nms(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  for (int i = 0; i < 5; i++)
    if (view_has(v, i) && !need_rank(v, i))
      return false;
  const dim *batches = view_dim(v, 1, 0), *classes = view_dim(v, 1, 1);
  const dim *boxes = dim_min(v->dims, view_dim(v, 1, 2), view_dim(v, 0, 1));
  const dim *dims[3] = {batches, classes, boxes};
  int order = comp_temp(c, ONYX_I64, 3, dims), keep = comp_temp(c, ONYX_I64, 3, dims);
  int total = comp_temp(c, ONYX_I64, 0, NULL), next = comp_temp(c, ONYX_I64, 0, NULL),
      out = comp_result(c, 0);
  comp_loop loops[4] = {{LOOP_PARALLEL, batches},
                        {LOOP_PARALLEL, classes},
                        {LOOP_PARALLEL, boxes},
                        {LOOP_REDUCTION, boxes}};
  const expr *at[3], *b = expr_loop(c, 0), *k = expr_loop(c, 1), *i = expr_loop(c, 2),
                     *j = expr_loop(c, 3);
  x_loops(c, 3, at);
  const expr *other[3] = {b, k, j};
  const expr *x = expr_read(c, 1, 3, at), *y = expr_read(c, 1, 3, other);
  const expr *before = x_or(c, x_lt(c, x, y), x_and(c, x_eq(c, x, y), x_lt(c, j, i)));
  comp_stage *s = comp_stage_begin(c, 4, loops);
  comp_acc_combine(c, s, ACC_ADD, ONYX_INDEX, expr_cast(c, before, ONYX_INDEX), NULL);
  const expr *to[3] = {b, k, expr_acc(c, 0, ONYX_INDEX)};
  comp_write_at(c, s, order, 3, to, expr_cast(c, i, ONYX_I64), NULL);

  loops[2].kind = LOOP_ORDERED;
  loops[3].extent = boxes;
  const expr *zero = expr_index(c, 0), *earlier = x_lt(c, j, i),
             *last = x_sub(c, expr_dim(c, boxes), expr_index(c, 1));
  const expr *p = expr_cast(c, expr_read(c, order, 3, at), ONYX_INDEX),
             *q = expr_cast(c, expr_read(c, order, 3, other), ONYX_INDEX);
  p = x_clamp(c, p, zero, last); // NaN scores leave places empty
  q = x_clamp(c, q, zero, last);
  const expr *kept =
      expr_compare(c, EXPR_NE, expr_read(c, keep, 3, other), expr_int(c, ONYX_I64, 0));
  const expr *threshold = limit_of(c, 3, expr_float(c, ONYX_F32, 0));
  const expr *hit = x_and(c, x_and(c, earlier, kept), x_lt(c, threshold, overlap(c, b, p, q)));
  s = comp_stage_begin(c, 4, loops);
  comp_acc_combine(c, s, ACC_OR, ONYX_BOOL, hit, NULL);
  comp_acc_combine(c, s, ACC_ADD, ONYX_I64, expr_cast(c, x_and(c, earlier, kept), ONYX_I64), NULL);
  const expr *most = limit_of(c, 2, expr_int(c, ONYX_I64, 0)), *best[3] = {b, k, p};
  const expr *good = x_and(c, expr_unary(c, EXPR_NOT, expr_acc(c, 0, ONYX_BOOL)),
                           x_lt(c, expr_acc(c, 1, ONYX_I64), most));
  if (view_has(v, 4))
    good = x_and(c, good, x_lt(c, x_scalar(c, 4), expr_read(c, 1, 3, best)));
  comp_write_at(c, s, keep, 3, at, expr_cast(c, good, ONYX_I64), NULL);

  for (int d = 0; d < 3; d++)
    loops[d].kind = LOOP_REDUCTION;
  s = comp_stage_begin(c, 3, loops);
  comp_acc_combine(c, s, ACC_ADD, ONYX_I64, expr_read(c, keep, 3, at), NULL);
  comp_write_at(c, s, total, 0, NULL, expr_acc(c, 0, ONYX_I64), NULL);
  comp_set_extent(c, 0, 0, comp_late_size(c, total));

  s = comp_stage_begin(c, 0, NULL);
  comp_write_at(c, s, next, 0, NULL, expr_int(c, ONYX_I64, 0), NULL);
  for (int d = 0; d < 3; d++)
    loops[d].kind = LOOP_ORDERED;
  s = comp_stage_begin(c, 3, loops);
  const expr *taken = expr_compare(c, EXPR_NE, expr_read(c, keep, 3, at), expr_int(c, ONYX_I64, 0));
  const expr *n = expr_read(c, next, 0, NULL), *row[3] = {b, k, p};
  for (int d = 0; d < 3; d++) {
    const expr *cell[2] = {expr_cast(c, n, ONYX_INDEX), expr_index(c, d)};
    comp_write_at(c, s, out, 2, cell, expr_cast(c, row[d], ONYX_I64), taken);
  }
  comp_write_at(c, s, next, 0, NULL, x_add(c, n, expr_int(c, ONYX_I64, 1)), taken);
  return true;
}

const op_def ops_sort[] = {
    {"NonMaxSuppression", verify_nms, shape_nms, comp_nms},
    {"TopK", verify_top_k, shape_top_k, comp_top_k},
    {"Unique", verify_unique, shape_unique, comp_unique},
};
const int num_ops_sort = sizeof ops_sort / sizeof ops_sort[0];
