// Ops that read or write where indices say.
#include "dialects/onnx/ops/axes.h"
#include "dialects/onnx/ops/convert.h"
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>
#include <string.h>

// Whether an extent is known to be positive: a clamped index is then in bounds.
static bool is_positive(op_view *v, const dim *extent) {
  int64_t lo, hi;
  dim_bounds(v->dims, extent, &lo, &hi);
  return lo > 0;
}

// Constant indices that are out of range of a constant extent.
static bool verify_indices(op_view *v, int operand, const dim *extent) {
  const onnx_operand *o = view_operand(v, operand);
  int64_t size;
  if (!o || !o->data || !onyx_elem_is_int(o->type.elem) || !dim_is_const(extent, &size))
    return true;
  for (int64_t k = 0; k < o->num_elements; k++) {
    int64_t i = onyx_element_to_int(o->type.elem, o->data, k);
    if (i < -size || i >= size)
      return view_error(
          v, "operand %d ('%s'): expected indices in [-%" PRId64 ", %" PRId64 "), found %" PRId64,
          operand, view_name(v, operand), size, size, i);
  }
  return true;
}

// An index read from an operand, made non-negative and checked against the extent.
static const expr *read_index(comprehension *c, int operand, const expr *const *at,
                              const dim *extent) {
  const onnx_operand *o = &c->view->operands[operand];
  const expr *i = expr_cast(c, expr_read(c, operand, c->buffers[operand].rank, at), ONYX_INDEX);
  const expr *size = expr_dim(c, extent);
  if (o->data && extent->op == DIM_CONST) // verified to be in range
    return expr_select(c, x_lt(c, i, expr_index(c, 0)), x_add(c, i, size), i);
  return x_checked_index(c, i, size);
}

// --- Gather

static bool verify_gather(op_view *v) {
  int axis, rank = view_rank(v, 0);
  if (rank < 0)
    return true;
  if (rank == 0)
    return view_error(v, "operand 0 ('data'): expected rank 1 or more, found rank 0");
  return axis_attr(v, "axis", rank, &axis) && verify_indices(v, 1, view_dim(v, 0, axis));
}

static void gather_values(op_view *v, shape_result *results) {
  const onnx_operand *x = view_operand(v, 0), *at = view_operand(v, 1);
  int64_t n = shape_data_size(&results[0]);
  if (n < 0 || x->type.rank != 1 || !x->values || !at->values || at->num_values != n)
    return;
  const dim **values = shape_data(v, results, 0, n);
  for (int64_t k = 0; k < n; k++) {
    int64_t i;
    values[k] = NULL;
    if (dim_is_const(at->values[k], &i)) {
      i = i < 0 ? i + x->num_values : i;
      if (i >= 0 && i < x->num_values)
        values[k] = x->values[i];
    }
    values[k] = values[k] ? values[k] : dim_unknown(v->dims);
  }
}

static bool shape_gather(op_view *v, shape_result *results) {
  int axis, rank = view_rank(v, 0), picks = view_rank(v, 1), n = 0;
  const dim *dims[2 * ONYX_MAX_RANK];
  if (!verify_gather(v))
    return false;
  if (rank < 0 || picks < 0)
    return true;
  if (!axis_attr(v, "axis", rank, &axis))
    return false;
  for (int k = 0; k < rank; k++) {
    if (k != axis) {
      dims[n++] = view_dim(v, 0, k);
      continue;
    }
    for (int j = 0; j < picks; j++)
      dims[n++] = view_dim(v, 1, j);
  }
  shape_set(v, results, 0, n, dims);
  gather_values(v, results);
  return true;
}

static bool comp_gather(op_view *v, const shape_result *results, comprehension *c) {
  int axis, rank = view_rank(v, 0), picks = view_rank(v, 1), out = comp_result(c, 0);
  const expr *in[ONYX_MAX_RANK], *at[ONYX_MAX_RANK];
  (void)results;
  if (!need_rank(v, 0) || !need_rank(v, 1) || !axis_attr(v, "axis", rank, &axis))
    return false;
  for (int j = 0; j < picks; j++)
    at[j] = expr_loop(c, axis + j);
  for (int k = 0; k < rank; k++)
    in[k] = k < axis   ? expr_loop(c, k)
            : k > axis ? expr_loop(c, k + picks - 1)
                       : read_index(c, 1, at, view_dim(v, 0, axis));
  comp_write_point(c, comp_stage_over(c, out), out,
                   x_read(c, 0, in, is_positive(v, view_dim(v, 0, axis))));
  return true;
}

// --- GatherElements

static bool verify_gather_elements(op_view *v) {
  int axis, rank = view_rank(v, 0), other = view_rank(v, 1);
  if (rank < 0)
    return true;
  if (rank == 0)
    return view_error(v, "operand 0 ('data'): expected rank 1 or more, found rank 0");
  if (other >= 0 && other != rank)
    return view_error(v, "operand 1 ('indices'): expected rank %d, found rank %d", rank, other);
  if (!axis_attr(v, "axis", rank, &axis))
    return false;
  for (int k = 0; k < other; k++) {
    int64_t have, limit;
    if (k != axis && dim_is_const(view_dim(v, 1, k), &have) &&
        dim_is_const(view_dim(v, 0, k), &limit) && have > limit)
      return view_error(v,
                        "operand 1 ('indices'): expected size %" PRId64
                        " at most in dimension %d, found %" PRId64,
                        limit, k, have);
  }
  return verify_indices(v, 1, view_dim(v, 0, axis));
}

static bool shape_gather_elements(op_view *v, shape_result *results) {
  if (!verify_gather_elements(v))
    return false;
  shape_like(v, results, 0, 1);
  return true;
}

static bool comp_gather_elements(op_view *v, const shape_result *results, comprehension *c) {
  int axis, rank = view_rank(v, 0), out = comp_result(c, 0);
  const expr *in[ONYX_MAX_RANK], *at[ONYX_MAX_RANK];
  (void)results;
  if (!need_rank(v, 0) || !need_rank(v, 1) || !axis_attr(v, "axis", rank, &axis))
    return false;
  x_loops(c, rank, at);
  bool safe = is_positive(v, view_dim(v, 0, axis));
  for (int k = 0; k < rank; k++) {
    in[k] = k == axis ? read_index(c, 1, at, view_dim(v, 0, axis)) : at[k];
    const dim *own = view_dim(v, 0, k), *asked = view_dim(v, 1, k);
    if (k == axis || own == asked || (own->op == DIM_CONST && asked->op == DIM_CONST))
      continue;
    comp_require(c, expr_compare(c, EXPR_LE, expr_dim(c, asked), expr_dim(c, own)), 3,
                 expr_dim(c, asked), expr_dim(c, own));
    safe = false;
  }
  comp_write_point(c, comp_stage_over(c, out), out, x_read(c, 0, in, safe));
  return true;
}

// --- GatherND and ScatterND: the last dim of indices says how many axes an index tuple names

// *tuple -1: not known.
static bool tuple_of(op_view *v, int batch, int *tuple) {
  int rank = view_rank(v, 0), picks = view_rank(v, 1);
  int64_t n;
  *tuple = -1;
  if (picks == 0)
    return view_error(v, "operand 1 ('indices'): expected rank 1 or more, found rank 0");
  if (picks < 0 || !dim_is_const(view_dim(v, 1, picks - 1), &n))
    return true;
  if (rank >= 0 && n > rank - batch)
    return view_error(
        v, "operand 1 ('indices'): expected %d at most in the last dimension, found %" PRId64,
        rank - batch, n);
  *tuple = (int)n;
  return true;
}

static bool verify_gather_nd(op_view *v) {
  int64_t batch = view_int(v, "batch_dims");
  int rank = view_rank(v, 0), picks = view_rank(v, 1), tuple;
  if (batch < 0 || (rank >= 0 && batch >= rank) || (picks >= 0 && batch >= picks))
    return view_error(
        v, "batch_dims: expected less than the ranks %d and %d of the operands, found %" PRId64,
        rank, picks, batch);
  return tuple_of(v, (int)batch, &tuple);
}

static bool shape_gather_nd(op_view *v, shape_result *results) {
  int batch = (int)view_int(v, "batch_dims"), rank = view_rank(v, 0), picks = view_rank(v, 1),
      tuple, n = 0;
  const dim *dims[2 * ONYX_MAX_RANK];
  if (!verify_gather_nd(v) || !tuple_of(v, batch, &tuple))
    return false;
  if (rank < 0 || picks < 0 || tuple < 0)
    return true;
  for (int k = 0; k < picks - 1; k++)
    dims[n++] = view_dim(v, 1, k);
  for (int k = batch + tuple; k < rank; k++)
    dims[n++] = view_dim(v, 0, k);
  shape_set(v, results, 0, n, dims);
  return true;
}

static bool need_tuple(op_view *v, int batch, int *tuple) {
  if (!need_rank(v, 0) || !need_rank(v, 1) || !tuple_of(v, batch, tuple))
    return false;
  return *tuple >= 0 ||
         view_error(v, "operand 1 ('indices'): the size of the last dimension is not known");
}

static bool comp_gather_nd(op_view *v, const shape_result *results, comprehension *c) {
  int batch = (int)view_int(v, "batch_dims"), rank = view_rank(v, 0), picks = view_rank(v, 1),
      tuple;
  int out = comp_result(c, 0);
  const expr *in[ONYX_MAX_RANK], *at[ONYX_MAX_RANK];
  (void)results;
  if (!need_tuple(v, batch, &tuple))
    return false;
  x_loops(c, picks, at);
  bool safe = true;
  for (int k = 0; k < rank; k++) {
    if (k < batch) {
      in[k] = expr_loop(c, k);
      safe &= view_dim(v, 0, k) == view_dim(v, 1, k);
    } else if (k < batch + tuple) {
      at[picks - 1] = expr_index(c, k - batch);
      const expr *i = expr_cast(c, expr_read(c, 1, picks, at), ONYX_INDEX);
      in[k] = x_checked_index(c, i, expr_dim(c, view_dim(v, 0, k)));
      safe &= is_positive(v, view_dim(v, 0, k));
    } else {
      in[k] = expr_loop(c, k - batch - tuple + picks - 1);
    }
  }
  comp_write_point(c, comp_stage_over(c, out), out, x_read(c, 0, in, safe));
  return true;
}

// --- Scatter*: a copy, then updates in order

static bool verify_reduction(op_view *v) {
  static const char *const names[] = {"none", "add", "mul", "max", "min"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (strcmp(view_string(v, "reduction"), names[k]) == 0)
      return true;
  return view_error(v, "reduction: expected none, add, mul, max or min, found '%s'",
                    view_string(v, "reduction"));
}

static bool shape_scatter(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return true;
}

static void copy_operand(comprehension *c, int operand, int out) {
  const expr *at[ONYX_MAX_RANK];
  int rank = c->buffers[operand].rank;
  x_loops(c, rank, at);
  comp_write_point(c, comp_stage_over(c, out), out, expr_read(c, operand, rank, at));
}

// What is there, combined with the update.
static const expr *scattered(comprehension *c, int out, int rank, const expr *const *at,
                             const expr *update) {
  const char *how = view_string(c->view, "reduction");
  if (strcmp(how, "none") == 0 || how[0] == '\0')
    return update;
  int type = expr_compute_type(update->type);
  const expr *old = expr_cast(c, expr_read(c, out, rank, at), type),
             *x = expr_cast(c, update, type);
  bool is_bool = type == ONYX_BOOL;
  expr_op op = strcmp(how, "add") == 0   ? (is_bool ? EXPR_OR : EXPR_ADD)
               : strcmp(how, "mul") == 0 ? (is_bool ? EXPR_AND : EXPR_MUL)
               : strcmp(how, "max") == 0 ? (is_bool ? EXPR_OR : EXPR_MAX)
                                         : (is_bool ? EXPR_AND : EXPR_MIN);
  return expr_cast(c, expr_binary(c, op, old, x), update->type);
}

// Writes only where every index was in range, so that a bad one changes nothing.
static const expr *all_inside(comprehension *c, const expr *inside, const expr *raw,
                              const dim *extent) {
  const expr *size = expr_dim(c, extent), *low = expr_unary(c, EXPR_NEG, size);
  return x_and(c, inside, x_and(c, x_ge(c, raw, low), x_lt(c, raw, size)));
}

static bool verify_scatter_elements(op_view *v) {
  int axis, rank = view_rank(v, 0);
  if (!verify_reduction(v))
    return false;
  for (int i = 1; i <= 2 && rank >= 0; i++)
    if (!expect_rank(v, i, rank))
      return false;
  int64_t have, want;
  for (int k = 0; k < view_rank(v, 1) && view_rank(v, 2) >= 0; k++)
    if (dim_is_const(view_dim(v, 1, k), &want) && dim_is_const(view_dim(v, 2, k), &have) &&
        have != want)
      return view_error(v,
                        "operand 2 ('updates'): expected size %" PRId64
                        " in dimension %d, as 'indices' has, found %" PRId64,
                        want, k, have);
  if (rank == 0)
    return view_error(v, "operand 0 ('data'): expected rank 1 or more, found rank 0");
  return rank < 0 ||
         (axis_attr(v, "axis", rank, &axis) && verify_indices(v, 1, view_dim(v, 0, axis)));
}

static bool comp_scatter_elements(op_view *v, const shape_result *results, comprehension *c) {
  int axis, rank = view_rank(v, 0), out = comp_result(c, 0);
  (void)results;
  if (!need_rank(v, 0) || !need_rank(v, 1) || !need_rank(v, 2) ||
      !axis_attr(v, "axis", rank, &axis))
    return false;
  copy_operand(c, 0, out);
  comp_loop loops[ONYX_MAX_RANK];
  const expr *at[ONYX_MAX_RANK], *to[ONYX_MAX_RANK];
  x_loops(c, rank, at);
  bool same = true;
  const expr *inside = expr_int(c, ONYX_BOOL, 1);
  for (int k = 0; k < rank; k++) {
    loops[k] = (comp_loop){LOOP_ORDERED, view_dim(v, 1, k)};
    const dim *updates = view_dim(v, 2, k), *picks = view_dim(v, 1, k);
    same &= updates == picks;
    to[k] = at[k];
    if (k != axis)
      inside = view_dim(v, 0, k) == picks
                   ? inside
                   : x_and(c, inside, x_lt(c, at[k], expr_dim(c, view_dim(v, 0, k))));
  }
  const expr *raw = expr_cast(c, expr_read(c, 1, rank, at), ONYX_INDEX);
  inside = all_inside(c, inside, raw, view_dim(v, 0, axis));
  to[axis] = x_checked_index(c, raw, expr_dim(c, view_dim(v, 0, axis)));
  const expr *update = x_read(c, 2, at, same);
  comp_stage *s = comp_stage_begin(c, rank, loops);
  for (int k = 0; k < rank;
       k++) // the read of what is there stays in bounds whether the guard holds or not
    if (k != axis && view_dim(v, 0, k) != view_dim(v, 1, k))
      to[k] = x_min(c, to[k], x_sub(c, expr_dim(c, view_dim(v, 0, k)), expr_index(c, 1)));
  comp_write_at(c, s, out, rank, to, scattered(c, out, rank, to, update), inside);
  return true;
}

static bool verify_scatter_nd(op_view *v) {
  int rank = view_rank(v, 0), picks = view_rank(v, 1), updates = view_rank(v, 2), tuple;
  if (!verify_reduction(v) || !tuple_of(v, 0, &tuple))
    return false;
  if (rank < 0 || picks < 0 || tuple < 0 || updates < 0)
    return true;
  int want = picks - 1 + rank - tuple;
  if (updates != want)
    return view_error(v, "operand 2 ('updates'): expected rank %d, found rank %d", want, updates);
  for (int k = 0; k < updates; k++) {
    const dim *d = k < picks - 1 ? view_dim(v, 1, k) : view_dim(v, 0, k - (picks - 1) + tuple);
    int64_t have, size;
    if (dim_is_const(d, &size) && dim_is_const(view_dim(v, 2, k), &have) && have != size)
      return view_error(
          v, "operand 2 ('updates'): expected size %" PRId64 " in dimension %d, found %" PRId64,
          size, k, have);
  }
  return true;
}

static bool comp_scatter_nd(op_view *v, const shape_result *results, comprehension *c) {
  int rank = view_rank(v, 0), picks = view_rank(v, 1), tuple, out = comp_result(c, 0), n = 0;
  (void)results;
  if (!need_tuple(v, 0, &tuple) || !need_rank(v, 2))
    return false;
  copy_operand(c, 0, out);
  comp_loop loops[2 * ONYX_MAX_RANK];
  const expr *at[2 * ONYX_MAX_RANK], *to[ONYX_MAX_RANK], *update[2 * ONYX_MAX_RANK];
  bool same = true;
  for (int k = 0; k < picks - 1; k++) {
    same &= view_dim(v, 1, k) == view_dim(v, 2, n);
    loops[n++] = (comp_loop){LOOP_ORDERED, view_dim(v, 1, k)};
  }
  for (int k = tuple; k < rank; k++) {
    same &= view_dim(v, 0, k) == view_dim(v, 2, n);
    loops[n++] = (comp_loop){LOOP_PARALLEL, view_dim(v, 0, k)};
  }
  x_loops(c, n, update);
  x_loops(c, picks, at);
  const expr *inside = expr_int(c, ONYX_BOOL, 1);
  for (int k = 0; k < rank; k++) {
    if (k >= tuple) {
      to[k] = expr_loop(c, picks - 1 + k - tuple);
      continue;
    }
    at[picks - 1] = expr_index(c, k);
    const expr *raw = expr_cast(c, expr_read(c, 1, picks, at), ONYX_INDEX);
    inside = all_inside(c, inside, raw, view_dim(v, 0, k));
    to[k] = x_checked_index(c, raw, expr_dim(c, view_dim(v, 0, k)));
  }
  const expr *value = x_read(c, 2, update, same);
  comp_stage *s = comp_stage_begin(c, n, loops);
  comp_write_at(c, s, out, rank, to, scattered(c, out, rank, to, value), inside);
  return true;
}

// --- OneHot: indices, depth, values [off, on]

// The depth as a dim; unknown when it is data.
static const dim *one_hot_depth(op_view *v) {
  double depth;
  if (view_scalar(v, 1, &depth) && depth >= 0 && depth < 9e15)
    return dim_const(v->dims, (int64_t)depth);
  const dim *value = view_value(v, 1, 0);
  return value ? dim_max(v->dims, value, dim_const(v->dims, 0)) : dim_unknown_extent(v->dims);
}

static bool one_hot_axis(op_view *v, int *axis) {
  int rank = view_rank(v, 0) + 1;
  return rank <= 0 || axis_attr(v, "axis", rank, axis);
}

static bool verify_one_hot(op_view *v) {
  int axis;
  double depth;
  if (view_scalar(v, 1, &depth) && depth < 0)
    return view_error(v, "operand 1 ('depth'): expected a value >= 0, found %g", depth);
  int64_t n;
  if (!expect_rank(v, 2, 1))
    return false;
  if (view_rank(v, 2) == 1 && dim_is_const(view_dim(v, 2, 0), &n) && n != 2)
    return view_error(v, "operand 2 ('values'): expected 2 elements, found %" PRId64, n);
  return one_hot_axis(v, &axis);
}

static bool shape_one_hot(op_view *v, shape_result *results) {
  const dim *dims[ONYX_MAX_RANK + 1];
  int rank = view_rank(v, 0), axis, n = 0;
  if (!verify_one_hot(v))
    return false;
  if (rank < 0 || !one_hot_axis(v, &axis))
    return true;
  const dim *depth = one_hot_depth(v);
  for (int k = 0; k <= rank; k++)
    dims[k] = k == axis ? (dim_has_unknown(depth) ? dim_unknown_extent(v->dims) : depth)
                        : view_dim(v, 0, n++);
  shape_set(v, results, 0, rank + 1, dims);
  return true;
}

static bool comp_one_hot(op_view *v, const shape_result *results, comprehension *c) {
  int rank = view_rank(v, 0), axis, n = 0, out = comp_result(c, 0);
  const expr *at[ONYX_MAX_RANK];
  if (!need_rank(v, 0) || !need_rank(v, 1) || !one_hot_axis(v, &axis))
    return false;
  const dim *classes = results[0].type.dims[axis];
  if (dim_has_unknown(classes)) {
    int size = comp_temp(c, ONYX_I64, 0, NULL);
    comp_stage *s = comp_stage_begin(c, 0, NULL);
    comp_write_at(c, s, size, 0, NULL, expr_cast(c, x_scalar(c, 1), ONYX_I64), NULL);
    classes = comp_late_size(c, size);
    comp_set_extent(c, 0, axis, classes);
  }
  for (int k = 0; k <= rank; k++)
    if (k != axis)
      at[n++] = expr_loop(c, k);
  const expr *depth = expr_dim(c, classes);
  const expr *i = expr_cast(c, expr_read(c, 0, rank, at), ONYX_INDEX);
  i = expr_select(c, x_lt(c, i, expr_index(c, 0)), x_add(c, i, depth), i);
  const expr *which[2] = {expr_index(c, 1), expr_index(c, 0)};
  const expr *on = expr_read(c, 2, 1, &which[0]), *off = expr_read(c, 2, 1, &which[1]);
  comp_write_point(c, comp_stage_over(c, out), out,
                   expr_select(c, x_eq(c, i, expr_loop(c, axis)), on, off));
  return true;
}

// --- Compress: what is kept is data; a size where the condition is a constant

static const dim *kept_count(op_view *v, const dim *extent) {
  const onnx_operand *o = view_operand(v, 1);
  int64_t limit, kept = 0;
  if (!o || !o->data || !dim_is_const(extent, &limit))
    return dim_unknown_extent(v->dims);
  for (int64_t k = 0; k < o->num_elements && k < limit; k++)
    kept += onyx_element_to_int(ONYX_BOOL, o->data, k) != 0;
  return dim_const(v->dims, kept);
}

static bool verify_compress(op_view *v) {
  int axis;
  return expect_rank(v, 1, 1) && (!view_attr(v, "axis")->present || view_rank(v, 0) < 0 ||
                                  axis_attr(v, "axis", view_rank(v, 0), &axis));
}

static bool shape_compress(op_view *v, shape_result *results) {
  const dim *dims[ONYX_MAX_RANK];
  int axis, rank = view_rank(v, 0);
  if (!verify_compress(v))
    return false;
  if (!view_attr(v, "axis")->present) {
    const dim *numel = view_numel(v, 0);
    dims[0] = kept_count(v, numel ? numel : dim_unknown_extent(v->dims));
    shape_set(v, results, 0, 1, dims);
    return true;
  }
  if (rank < 0 || !axis_attr(v, "axis", rank, &axis))
    return rank < 0;
  for (int k = 0; k < rank; k++)
    dims[k] = k == axis ? kept_count(v, view_dim(v, 0, k)) : view_dim(v, 0, k);
  shape_set(v, results, 0, rank, dims);
  return true;
}

// What is kept is counted, then listed, then moved.
static bool comp_compress(op_view *v, const shape_result *results, comprehension *c) {
  int axis = 0, rank = view_rank(v, 0), out = comp_result(c, 0);
  bool flat = !view_attr(v, "axis")->present;
  if (!need_rank(v, 0) || !need_rank(v, 1) || (!flat && !axis_attr(v, "axis", rank, &axis)))
    return false;
  const dim *extent = flat ? view_numel(v, 0) : view_dim(v, 0, axis),
            *kept = results[0].type.dims[axis];
  extent = dim_min(v->dims, extent, view_dim(v, 1, 0)); // the condition may be shorter
  if (dim_has_unknown(kept)) {
    int total = comp_temp(c, ONYX_I64, 0, NULL);
    comp_loop each = {LOOP_REDUCTION, extent};
    const expr *k = expr_loop(c, 0), *one = expr_cast(c, expr_read(c, 1, 1, &k), ONYX_I64);
    comp_stage *count_stage = comp_stage_begin(c, 1, &each);
    comp_acc_combine(c, count_stage, ACC_ADD, ONYX_I64, one, NULL);
    comp_write_at(c, count_stage, total, 0, NULL, expr_acc(c, 0, ONYX_I64), NULL);
    kept = comp_late_size(c, total);
    comp_set_extent(c, 0, axis, kept);
  }
  int list = comp_temp(c, ONYX_I64, 1, &kept), count = comp_temp(c, ONYX_I64, 0, NULL);
  comp_stage *s = comp_stage_begin(c, 0, NULL);
  comp_write_at(c, s, count, 0, NULL, expr_int(c, ONYX_I64, 0), NULL);

  comp_loop loop = {LOOP_ORDERED, extent};
  const expr *i = expr_loop(c, 0), *n = expr_read(c, count, 0, NULL),
             *keep = expr_read(c, 1, 1, &i);
  const expr *slot = expr_cast(c, n, ONYX_INDEX);
  s = comp_stage_begin(c, 1, &loop);
  comp_write_at(c, s, list, 1, &slot, expr_cast(c, i, ONYX_I64), keep);
  comp_write_at(c, s, count, 0, NULL, x_add(c, n, expr_one(c, ONYX_I64)), keep);

  const expr *in[ONYX_MAX_RANK], *at = expr_loop(c, axis);
  const expr *from = expr_cast(c, expr_read(c, list, 1, &at), ONYX_INDEX);
  for (int k = rank - 1; k >= 0; k--) {
    if (flat) {
      in[k] = k ? expr_binary(c, EXPR_MOD, from, expr_dim(c, view_dim(v, 0, k))) : from;
      from = k ? expr_binary(c, EXPR_FLOORDIV, from, expr_dim(c, view_dim(v, 0, k))) : from;
    } else {
      in[k] = k == axis ? from : expr_loop(c, k);
    }
  }
  comp_write_point(c, comp_stage_over(c, out), out, expr_read(c, 0, rank, in));
  return true;
}

// --- TensorScatter: past_cache, update [B, .., n, ..], write_indices [B]

static bool tensor_scatter_axis(op_view *v, int *axis) {
  int rank = view_rank(v, 0);
  if (rank >= 0 && !axis_attr(v, "axis", rank, axis))
    return false;
  return rank < 0 || *axis != 0 || view_error(v, "axis: expected an axis other than 0, the batch");
}

static bool verify_tensor_scatter(op_view *v) {
  int axis, rank = view_rank(v, 0);
  const char *mode = view_string(v, "mode");
  if (strcmp(mode, "linear") != 0 && strcmp(mode, "circular") != 0)
    return view_error(v, "mode: expected linear or circular, found '%s'", mode);
  return expect_rank(v, 2, 1) && (rank < 0 || expect_rank(v, 1, rank)) &&
         tensor_scatter_axis(v, &axis);
}

static bool comp_tensor_scatter(op_view *v, const shape_result *results, comprehension *c) {
  int axis, rank = view_rank(v, 0), out = comp_result(c, 0);
  bool circular = strcmp(view_string(v, "mode"), "circular") == 0;
  (void)results;
  if (!need_rank(v, 0) || !need_rank(v, 1) || !tensor_scatter_axis(v, &axis))
    return false;
  copy_operand(c, 0, out);
  comp_loop loops[ONYX_MAX_RANK];
  const expr *at[ONYX_MAX_RANK], *to[ONYX_MAX_RANK], *inside = expr_int(c, ONYX_BOOL, 1);
  x_loops(c, rank, at);
  for (int k = 0; k < rank; k++) {
    loops[k] = (comp_loop){k == axis ? LOOP_ORDERED : LOOP_PARALLEL, view_dim(v, 1, k)};
    to[k] = at[k];
    if (k != axis && view_dim(v, 1, k) != view_dim(v, 0, k))
      inside = x_and(c, inside, x_lt(c, at[k], expr_dim(c, view_dim(v, 0, k))));
  }
  const expr *size = expr_dim(c, view_dim(v, 0, axis)), *zero = expr_index(c, 0), *start = zero;
  if (view_has(v, 2))
    start = expr_cast(c, expr_read(c, 2, 1, &at[0]), ONYX_INDEX);
  const expr *place = x_add(c, start, at[axis]);
  if (circular) {
    to[axis] = expr_binary(c, EXPR_MOD, place, size);
  } else {
    const expr *fits = x_and(c, x_ge(c, place, zero), x_lt(c, place, size));
    const expr *clamped = x_max(c, x_min(c, place, x_sub(c, size, expr_index(c, 1))), zero);
    to[axis] = expr_check(c, clamped, fits, 1, place, size);
    inside = x_and(c, inside, fits);
  }
  const expr *value = expr_read(c, 1, rank, at);
  comp_stage *s = comp_stage_begin(c, rank, loops);
  comp_write_at(c, s, out, rank, to, value, inside->op == EXPR_CONST ? NULL : inside);
  return true;
}

const op_def ops_gather_scatter[] = {
    {"Compress", verify_compress, shape_compress, comp_compress},
    {"Gather", verify_gather, shape_gather, comp_gather},
    {"GatherElements", verify_gather_elements, shape_gather_elements, comp_gather_elements},
    {"GatherND", verify_gather_nd, shape_gather_nd, comp_gather_nd},
    {"OneHot", verify_one_hot, shape_one_hot, comp_one_hot},
    {"ScatterElements", verify_scatter_elements, shape_scatter, comp_scatter_elements},
    {"ScatterND", verify_scatter_nd, shape_scatter, comp_scatter_nd},
    {"TensorScatter", verify_tensor_scatter, shape_scatter, comp_tensor_scatter},
};
const int num_ops_gather_scatter = sizeof ops_gather_scatter / sizeof ops_gather_scatter[0];
