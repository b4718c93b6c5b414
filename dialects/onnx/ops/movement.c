// Ops that move elements: Transpose, Concat, Split, Slice, Pad, Tile, Expand, ...
#include "dialects/onnx/ops/axes.h"
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>
#include <string.h>

static bool is_one_of(const char *s, const char *const *names) {
  for (; *names; names++)
    if (strcmp(s, *names) == 0)
      return true;
  return false;
}

// --- Transpose

// perm, or the axes reversed.
static bool permutation(op_view *v, int rank, int *perm) {
  const onnx_attr *a = view_attr(v, "perm");
  if (!a->present) {
    for (int i = 0; i < rank; i++)
      perm[i] = rank - 1 - i;
    return true;
  }
  if (a->n != rank)
    return view_error(v, "perm: expected %d entries, the rank of operand 0, found %" PRId64, rank,
                      a->n);
  bool seen[ONYX_MAX_RANK] = {false};
  for (int i = 0; i < rank; i++) {
    if (a->ints[i] < 0 || a->ints[i] >= rank || seen[a->ints[i]])
      return view_error(v,
                        "perm: expected a permutation of 0 to %d, found %" PRId64 " at position %d",
                        rank - 1, a->ints[i], i);
    seen[a->ints[i]] = true;
    perm[i] = (int)a->ints[i];
  }
  return true;
}

static bool verify_transpose(op_view *v) {
  int perm[ONYX_MAX_RANK], rank = view_rank(v, 0);
  return rank < 0 || permutation(v, rank, perm);
}

// Shape data in the permuted order: exporters transpose lists of pads.
static void transpose_values(op_view *v, shape_result *results, int rank, const int *perm) {
  const onnx_operand *x = view_operand(v, 0);
  int64_t n = shape_data_size(&results[0]), extent[ONYX_MAX_RANK], stride[ONYX_MAX_RANK], step = 1;
  if (!x->values || n != x->num_values)
    return;
  for (int i = rank - 1; i >= 0; i--) {
    stride[i] = step;
    step *= view_dim(v, 0, i)->value;
  }
  for (int i = 0; i < rank; i++)
    extent[i] = results[0].type.dims[i]->value;
  const dim **values = shape_data(v, results, 0, n);
  for (int64_t k = 0; k < n; k++) {
    int64_t from = 0, rest = k;
    for (int i = rank - 1; i >= 0; i--) {
      from += rest % extent[i] * stride[perm[i]];
      rest /= extent[i];
    }
    values[k] = x->values[from];
  }
}

static bool shape_transpose(op_view *v, shape_result *results) {
  int perm[ONYX_MAX_RANK], rank = view_rank(v, 0);
  const dim *dims[ONYX_MAX_RANK];
  if (rank < 0) {
    const onnx_attr *a = view_attr(v, "perm");
    if (!a->present || a->n > ONYX_MAX_RANK)
      return true;
    for (int i = 0; i < a->n; i++)
      dims[i] = dim_unknown_extent(v->dims);
    shape_set(v, results, 0, (int)a->n, dims);
    return true;
  }
  if (!permutation(v, rank, perm))
    return false;
  for (int i = 0; i < rank; i++)
    dims[i] = view_dim(v, 0, perm[i]);
  shape_set(v, results, 0, rank, dims);
  transpose_values(v, results, rank, perm);
  return true;
}

static bool comp_transpose(op_view *v, const shape_result *results, comprehension *c) {
  int perm[ONYX_MAX_RANK], rank = view_rank(v, 0), out = comp_result(c, 0);
  const expr *in[ONYX_MAX_RANK];
  (void)results;
  if (!need_rank(v, 0) || !permutation(v, rank, perm))
    return false;
  for (int i = 0; i < rank; i++)
    in[perm[i]] = expr_loop(c, i);
  comp_write_point(c, comp_stage_over(c, out), out, expr_read(c, 0, rank, in));
  return true;
}

// --- Concat

static bool concat_rank(op_view *v, int *rank, int *axis) {
  *rank = -1;
  for (int i = 0; i < v->num_operands; i++) {
    int r = view_rank(v, i);
    if (r < 0)
      continue;
    if (*rank >= 0 && r != *rank)
      return view_error(v, "operand %d: expected rank %d, as operand 0 has, found rank %d", i,
                        *rank, r);
    *rank = r;
  }
  return *rank < 0 || axis_attr(v, "axis", *rank, axis);
}

static bool verify_concat(op_view *v) {
  int rank, axis;
  if (!concat_rank(v, &rank, &axis))
    return false;
  for (int k = 0; k < rank; k++) {
    int64_t want = -1, have;
    for (int i = 0; i < v->num_operands && k != axis; i++) {
      if (view_rank(v, i) < 0 || !dim_is_const(view_dim(v, i, k), &have))
        continue;
      if (want >= 0 && want != have)
        return view_error(v,
                          "operand %d: expected size %" PRId64 " in dimension %d, found %" PRId64,
                          i, want, k, have);
      want = have;
    }
  }
  return true;
}

static void concat_values(op_view *v, shape_result *results) {
  int64_t n = shape_data_size(&results[0]), at = 0;
  if (n < 0 || results[0].type.rank != 1)
    return;
  const dim **values = shape_data(v, results, 0, n);
  for (int i = 0; i < v->num_operands; i++) {
    int64_t count = view_dim(v, i, 0)->value;
    for (int64_t k = 0; k < count && at < n; k++)
      values[at++] = list_value(v, i, (int)k);
  }
}

static bool shape_concat(op_view *v, shape_result *results) {
  int rank, axis;
  if (!verify_concat(v) || !concat_rank(v, &rank, &axis))
    return false;
  if (rank < 0)
    return true;
  const dim *dims[ONYX_MAX_RANK] = {NULL};
  bool ranked = true;
  for (int i = 0; i < v->num_operands; i++) {
    if (view_rank(v, i) < 0) {
      ranked = false;
      continue;
    }
    for (int k = 0; k < rank; k++) {
      const dim *d = view_dim(v, i, k);
      if (!dims[k])
        dims[k] = d;
      else if (k == axis)
        dims[k] = dim_add(v->dims, dims[k], d);
      else if (dims[k]->op != DIM_CONST && (d->op == DIM_CONST || dim_has_unknown(dims[k])))
        dims[k] = d; // they agree; the more that is known the better
    }
  }
  if (!ranked)
    dims[axis] = dim_unknown_extent(v->dims);
  shape_set(v, results, 0, rank, dims);
  if (ranked)
    concat_values(v, results);
  return true;
}

static bool comp_concat(op_view *v, const shape_result *results, comprehension *c) {
  int rank, axis, out = comp_result(c, 0);
  if (!concat_rank(v, &rank, &axis))
    return false;
  const dim *offset = dim_const(v->dims, 0);
  for (int i = 0; i < v->num_operands; i++) {
    if (!need_rank(v, i))
      return false;
    comp_loop loops[ONYX_MAX_RANK];
    const expr *from[ONYX_MAX_RANK], *to[ONYX_MAX_RANK];
    bool agrees = true;
    for (int k = 0; k < rank; k++) {
      const dim *own = view_dim(v, i, k), *extent = k == axis ? own : results[0].type.dims[k];
      loops[k] = (comp_loop){LOOP_PARALLEL, extent};
      from[k] = to[k] = expr_loop(c, k);
      if (own != extent) {
        comp_require(c, x_eq(c, expr_dim(c, own), expr_dim(c, extent)), 3, expr_dim(c, own),
                     expr_dim(c, extent));
        agrees = false;
      }
    }
    to[axis] = x_add(c, from[axis], expr_dim(c, offset));
    comp_stage *s = comp_stage_begin(c, rank, loops);
    comp_write_at(c, s, out, rank, to, x_read(c, i, from, agrees), NULL);
    offset = dim_add(v->dims, offset, view_dim(v, i, axis));
  }
  return true;
}

// --- Split: sizes from an operand, or equal parts of which the last may be smaller

static bool split_sizes(op_view *v, int axis, const dim **sizes) {
  dim_context *d = v->dims;
  int n = v->num_results;
  const dim *extent = view_dim(v, 0, axis), *zero = dim_const(d, 0);
  if (!view_has(v, 1)) {
    const dim *part = dim_ceildiv(d, extent, dim_const(d, n));
    for (int r = 0; r < n; r++) {
      const dim *rest = dim_max(d, dim_sub(d, extent, dim_mul(d, part, dim_const(d, r))), zero);
      sizes[r] = dim_min(d, part, rest);
    }
    return true;
  }
  int count = list_count(v, 1);
  if (count >= 0 && count != n)
    return view_error(v, "operand 1 ('split'): expected %d sizes, one a result, found %d", n,
                      count);
  int64_t sum = 0, size, whole;
  bool known = dim_is_const(extent, &whole);
  for (int r = 0; r < n; r++) {
    sizes[r] = list_value(v, 1, r);
    if (!dim_is_const(sizes[r], &size)) {
      known = false;
      sizes[r] = dim_max(d, sizes[r], zero);
    } else {
      if (size < 0)
        return view_error(v, "operand 1 ('split'): expected sizes >= 0, found %" PRId64, size);
      if (__builtin_add_overflow(sum, size, &sum))
        return view_error(v, "operand 1 ('split'): the sum of the sizes is beyond 64 bits");
    }
  }
  return !known || sum == whole ||
         view_error(v,
                    "operand 1 ('split'): expected a sum of %" PRId64
                    ", the size of dimension %d, found %" PRId64,
                    whole, axis, sum);
}

static bool verify_split(op_view *v) {
  const onnx_attr *n = view_attr(v, "num_outputs");
  if (n->present && view_has(v, 1))
    return view_error(v, "num_outputs and operand 1 ('split'): expected one of them, found both");
  if (n->present && n->i != v->num_results)
    return view_error(v, "num_outputs: expected %d, the number of results, found %" PRId64,
                      v->num_results, n->i);
  int axis, rank = view_rank(v, 0);
  const dim **sizes = ONYX_NEW_ARRAY(v->arena, const dim *, v->num_results + 1);
  return rank < 0 || (axis_attr(v, "axis", rank, &axis) && split_sizes(v, axis, sizes));
}

static bool shape_split(op_view *v, shape_result *results) {
  int axis, rank = view_rank(v, 0);
  const dim *dims[ONYX_MAX_RANK],
      **sizes = ONYX_NEW_ARRAY(v->arena, const dim *, v->num_results + 1);
  if (rank < 0)
    return true;
  if (!axis_attr(v, "axis", rank, &axis) || !split_sizes(v, axis, sizes))
    return false;
  const dim *offset = dim_const(v->dims, 0);
  for (int r = 0; r < v->num_results; r++) {
    for (int k = 0; k < rank; k++)
      dims[k] = k == axis ? sizes[r] : view_dim(v, 0, k);
    shape_set(v, results, r, rank, dims);
    int64_t n = shape_data_size(&results[r]), start;
    if (n >= 0 && rank == 1 && v->operands[0].values && dim_is_const(offset, &start)) {
      const dim **values = shape_data(v, results, r, n);
      for (int64_t k = 0; k < n; k++)
        values[k] = list_value(v, 0, (int)(start + k));
    }
    offset = dim_add(v->dims, offset, sizes[r]);
  }
  return true;
}

static bool comp_split(op_view *v, const shape_result *results, comprehension *c) {
  int axis, rank = view_rank(v, 0);
  const dim **sizes = ONYX_NEW_ARRAY(v->arena, const dim *, v->num_results + 1);
  if (!need_rank(v, 0) || !axis_attr(v, "axis", rank, &axis) || !split_sizes(v, axis, sizes))
    return false;
  bool given = view_has(v, 1);
  const dim *offset = dim_const(v->dims, 0), *extent = view_dim(v, 0, axis);
  for (int r = 0; r < v->num_results; r++) {
    if (view_wants(v, r)) {
      const expr *in[ONYX_MAX_RANK];
      int out = comp_result(c, r);
      if (!need_sizes(v, &results[r]))
        return false;
      x_loops(c, rank, in);
      in[axis] = x_add(c, in[axis], expr_dim(c, offset));
      bool safe = !given ||
                  (offset->op == DIM_CONST && sizes[r]->op == DIM_CONST && extent->op == DIM_CONST);
      comp_write_point(c, comp_stage_over(c, out), out, x_read(c, 0, in, safe));
    }
    offset = dim_add(v->dims, offset, sizes[r]);
  }
  if (given)
    comp_require(c, x_eq(c, expr_dim(c, offset), expr_dim(c, extent)), 6, expr_dim(c, offset),
                 expr_dim(c, extent));
  return true;
}

// --- Slice

typedef struct slice_axis {
  const dim *start, *step, *size; // start is that of the first element, in bounds
  bool untouched;
} slice_axis;

// The standard's clamping: [0, D] going up, [0, D - 1] and [-1, D - 1] going down.
static void slice_of_axis(op_view *v, const dim *extent, const dim *start, const dim *end,
                          const dim *step, slice_axis *out) {
  dim_context *d = v->dims;
  const dim *zero = dim_const(d, 0), *minus = dim_const(d, -1),
            *last = dim_sub(d, extent, dim_const(d, 1));
  const dim *down = dim_lt(d, step, zero);
  start = dim_wrap(d, start, extent);
  end = dim_wrap(d, end, extent);
  out->start =
      dim_select(d, down, dim_clamp(d, start, zero, last), dim_clamp(d, start, zero, extent));
  end = dim_select(d, down, dim_clamp(d, end, minus, last), dim_clamp(d, end, zero, extent));
  out->step = step;
  out->size = dim_max(d, dim_ceildiv(d, dim_sub(d, end, out->start), step), zero);
}

// The slices of all axes; *known false when it is not known how many starts there are.
static bool slices_of(op_view *v, slice_axis *axes, bool *known) {
  dim_context *d = v->dims;
  int rank = view_rank(v, 0), n = list_count(v, 1);
  *known = n >= 0;
  if (n < 0)
    return true;
  for (int i = 2; i <= 4; i++) {
    int count = list_count(v, i);
    if (count >= 0 && count != n)
      return view_error(v, "operand %d ('%s'): expected %d entries, as 'starts' has, found %d", i,
                        view_name(v, i), n, count);
  }
  if (n > rank)
    return view_error(v, "operand 1 ('starts'): expected %d entries at most, found %d", rank, n);
  if (!verify_axes(v, 3, rank))
    return false;
  for (int i = 0; i < rank; i++) {
    const dim *extent = view_dim(v, 0, i);
    axes[i] = (slice_axis){dim_const(d, 0), dim_const(d, 1), extent, true};
    for (int k = 0; k < n; k++) {
      const dim *here = list_axis_is(v, 3, k, i, rank);
      if (dim_is(here, 0))
        continue;
      const dim *step = view_has(v, 4) ? list_value(v, 4, k) : dim_const(d, 1);
      if (dim_is(step, 0))
        return view_error(
            v, "operand 4 ('steps'): expected steps other than 0, found 0 for axis %d", i);
      slice_axis s;
      slice_of_axis(v, extent, list_value(v, 1, k), list_value(v, 2, k), step, &s);
      axes[i] = (slice_axis){dim_select(d, here, s.start, axes[i].start),
                             dim_select(d, here, s.step, axes[i].step),
                             dim_select(d, here, s.size, axes[i].size), false};
    }
  }
  return true;
}

static bool verify_slice(op_view *v) {
  slice_axis axes[ONYX_MAX_RANK];
  bool known;
  return view_rank(v, 0) < 0 || slices_of(v, axes, &known);
}

// Shape data of the slice, of any rank (exporters reverse pairs of pads), where starts and steps
// are known.
static void slice_values(op_view *v, shape_result *results, const slice_axis *axis) {
  const onnx_operand *x = view_operand(v, 0);
  int64_t n = shape_data_size(&results[0]), start[ONYX_MAX_RANK], step[ONYX_MAX_RANK],
          stride[ONYX_MAX_RANK];
  int rank = view_rank(v, 0);
  int64_t elements = 1;
  if (n < 0 || !x->values)
    return;
  for (int i = rank - 1; i >= 0; i--) {
    int64_t extent;
    if (!dim_is_const(axis[i].start, &start[i]) || !dim_is_const(axis[i].step, &step[i]) ||
        !dim_is_const(view_dim(v, 0, i), &extent))
      return;
    stride[i] = elements;
    elements *= extent;
  }
  const dim **values = shape_data(v, results, 0, n);
  for (int64_t k = 0; k < n; k++) {
    int64_t from = 0, rest = k;
    for (int i = rank - 1; i >= 0; i--) {
      int64_t size = results[0].type.dims[i]->value;
      from += (start[i] + rest % size * step[i]) * stride[i];
      rest /= size;
    }
    values[k] = from >= 0 && from < x->num_values ? x->values[from] : dim_unknown(v->dims);
  }
}

static bool shape_slice(op_view *v, shape_result *results) {
  slice_axis axes[ONYX_MAX_RANK];
  const dim *dims[ONYX_MAX_RANK];
  int rank = view_rank(v, 0);
  bool known;
  if (rank < 0)
    return true;
  if (!slices_of(v, axes, &known))
    return false;
  for (int i = 0; i < rank; i++)
    dims[i] = !known || dim_has_unknown(axes[i].size) ? dim_unknown_extent(v->dims) : axes[i].size;
  shape_set(v, results, 0, rank, dims);
  if (known)
    slice_values(v, results, axes);
  return true;
}

static bool comp_slice(op_view *v, const shape_result *results, comprehension *c) {
  slice_axis axes[ONYX_MAX_RANK];
  const expr *in[ONYX_MAX_RANK];
  int rank = view_rank(v, 0), out = comp_result(c, 0);
  bool known;
  if (!need_rank(v, 0) || !slices_of(v, axes, &known) || !need_sizes(v, &results[0]))
    return false;
  if (!known)
    return view_error(v, "operand 1 ('starts'): the number of entries is not known");
  for (int i = 0; i < rank; i++) {
    in[i] = expr_loop(c, i);
    if (axes[i].untouched)
      continue;
    if (axes[i].step->op != DIM_CONST) // no elements are taken then
      comp_require(c, expr_compare(c, EXPR_NE, expr_dim(c, axes[i].step), expr_index(c, 0)), 6,
                   expr_index(c, 0), expr_index(c, 1));
    in[i] = x_add(c, x_mul(c, in[i], expr_dim(c, axes[i].step)), expr_dim(c, axes[i].start));
  }
  comp_write_point(c, comp_stage_over(c, out), out, expr_read(c, 0, rank, in));
  return true;
}

// --- Pad

static bool pads_of(op_view *v, const dim **begin, const dim **end, bool *known) {
  dim_context *d = v->dims;
  int rank = view_rank(v, 0), n = list_count(v, 1);
  int axes = view_has(v, 3) ? list_count(v, 3) : rank;
  *known = n >= 0 && axes >= 0;
  if (!*known)
    return true;
  if (n != 2 * axes)
    return view_error(
        v, "operand 1 ('pads'): expected %d entries, a begin and an end for each axis, found %d",
        2 * axes, n);
  if (!verify_axes(v, 3, rank))
    return false;
  for (int i = 0; i < rank; i++) {
    begin[i] = end[i] = dim_const(d, 0);
    for (int k = 0; k < axes; k++) {
      const dim *here = list_axis_is(v, 3, k, i, rank);
      if (dim_is(here, 0))
        continue;
      begin[i] = dim_select(d, here, list_value(v, 1, k), begin[i]);
      end[i] = dim_select(d, here, list_value(v, 1, axes + k), end[i]);
    }
  }
  return true;
}

static bool verify_pad(op_view *v) {
  static const char *const modes[] = {"constant", "reflect", "edge", "wrap", NULL};
  const dim *begin[ONYX_MAX_RANK], *end[ONYX_MAX_RANK];
  bool known;
  if (!is_one_of(view_string(v, "mode"), modes))
    return view_error(v, "mode: expected constant, reflect, edge or wrap, found '%s'",
                      view_string(v, "mode"));
  return view_rank(v, 0) < 0 || pads_of(v, begin, end, &known);
}

static bool shape_pad(op_view *v, shape_result *results) {
  const dim *begin[ONYX_MAX_RANK], *end[ONYX_MAX_RANK], *dims[ONYX_MAX_RANK];
  int rank = view_rank(v, 0);
  bool known;
  if (rank < 0)
    return true;
  if (!pads_of(v, begin, end, &known))
    return false;
  for (int i = 0; i < rank; i++) {
    dims[i] = dim_unknown_extent(v->dims);
    if (known && !dim_has_unknown(begin[i]) && !dim_has_unknown(end[i])) {
      dims[i] = dim_add(v->dims, view_dim(v, 0, i), dim_add(v->dims, begin[i], end[i]));
      if (dims[i]->op != DIM_CONST)
        dims[i] = dim_max(v->dims, dims[i], dim_const(v->dims, 0));
    }
  }
  shape_set(v, results, 0, rank, dims);
  return true;
}

// Where position j of an axis of this extent is taken from; modes but constant.
static const expr *pad_source(comprehension *c, const char *mode, const expr *j,
                              const expr *extent) {
  const expr *last = x_sub(c, extent, expr_index(c, 1));
  if (strcmp(mode, "edge") == 0)
    return x_clamp(c, j, expr_index(c, 0), last);
  if (strcmp(mode, "wrap") == 0)
    return expr_binary(c, EXPR_MOD, j, extent);
  const expr *period = x_mul(c, last, expr_index(c, 2)); // reflect: the edge is not repeated
  const expr *at = expr_binary(c, EXPR_MOD, j, period);
  return x_min(c, at, x_sub(c, period, at));
}

static bool comp_pad(op_view *v, const shape_result *results, comprehension *c) {
  const dim *begin[ONYX_MAX_RANK], *end[ONYX_MAX_RANK];
  const expr *in[ONYX_MAX_RANK];
  int rank = view_rank(v, 0), out = comp_result(c, 0);
  const char *mode = view_string(v, "mode");
  bool known, constant = strcmp(mode, "constant") == 0, safe = true;
  if (!need_rank(v, 0) || !pads_of(v, begin, end, &known) || !need_sizes(v, &results[0]))
    return false;
  if (!known)
    return view_error(v, "operand 1 ('pads'): the number of entries is not known");
  for (int i = 0; i < rank; i++) {
    const dim *extent = view_dim(v, 0, i);
    in[i] = x_sub(c, expr_loop(c, i), expr_dim(c, begin[i]));
    if (dim_is(begin[i], 0) && dim_is(end[i], 0))
      continue;
    if (!constant)
      in[i] = pad_source(c, mode, in[i], expr_dim(c, extent));
    int64_t lo, hi;
    dim_bounds(v->dims, extent, &lo, &hi);
    safe &= !constant && lo > 0;
  }
  const expr *pad = expr_zero(c, view_elem(v, 0));
  if (constant && view_has(v, 2) && need_rank(v, 2))
    pad = x_scalar(c, 2);
  const expr *value = safe ? expr_read(c, 0, rank, in) : expr_read_padded(c, 0, rank, in, pad);
  comp_write_point(c, comp_stage_over(c, out), out, value);
  return true;
}

// --- Tile

static bool verify_tile(op_view *v) {
  int rank = view_rank(v, 0), n = list_count(v, 1);
  if (rank >= 0 && n >= 0 && n != rank)
    return view_error(
        v, "operand 1 ('repeats'): expected %d entries, the rank of operand 0, found %d", rank, n);
  for (int k = 0; k < n; k++) {
    int64_t times;
    const dim *d = view_value(v, 1, k);
    if (d && dim_is_const(d, &times) && times < 0)
      return view_error(v, "operand 1 ('repeats'): expected entries >= 0, found %" PRId64, times);
  }
  return true;
}

static bool shape_tile(op_view *v, shape_result *results) {
  const dim *dims[ONYX_MAX_RANK];
  int rank = view_rank(v, 0);
  if (!verify_tile(v))
    return false;
  for (int k = 0; k < rank; k++) {
    const dim *times = list_value(v, 1, k);
    dims[k] = dim_has_unknown(times) ? dim_unknown_extent(v->dims)
                                     : dim_mul(v->dims, view_dim(v, 0, k),
                                               dim_max(v->dims, times, dim_const(v->dims, 0)));
  }
  if (rank >= 0)
    shape_set(v, results, 0, rank, dims);
  return true;
}

static bool comp_tile(op_view *v, const shape_result *results, comprehension *c) {
  const expr *in[ONYX_MAX_RANK];
  int rank = view_rank(v, 0), out = comp_result(c, 0);
  if (!need_rank(v, 0) || !need_sizes(v, &results[0]))
    return false;
  for (int k = 0; k < rank; k++) {
    const dim *times = list_value(v, 1, k);
    in[k] = expr_loop(c, k);
    if (dim_is(times, 1))
      continue;
    const expr *n = expr_dim(c, times);
    comp_require(c, x_ge(c, n, expr_index(c, 0)), 6, n, expr_index(c, 0));
    in[k] = expr_binary(c, EXPR_MOD, in[k], expr_dim(c, view_dim(v, 0, k)));
  }
  comp_write_point(c, comp_stage_over(c, out), out, expr_read(c, 0, rank, in));
  return true;
}

// --- Expand

static bool expand_dims(op_view *v, int *rank, const dim **dims) {
  int own = view_rank(v, 0), n = list_count(v, 1);
  *rank = own < 0 || n < 0 ? -1 : own > n ? own : n;
  if (*rank > ONYX_MAX_RANK)
    return view_error(v, "operand 1 ('shape'): expected %d entries at most, found %d",
                      ONYX_MAX_RANK, n);
  for (int k = 0; k < *rank; k++) {
    int from = k - (*rank - own), asked = k - (*rank - n);
    const dim *d = from >= 0 ? view_dim(v, 0, from) : NULL;
    const dim *s = asked >= 0 ? list_value(v, 1, asked) : NULL;
    int64_t have, want;
    if (s && dim_is_const(s, &want) && want < 0)
      return view_error(v, "operand 1 ('shape'): expected sizes >= 0, found %" PRId64, want);
    if (d && s && dim_is_const(d, &have) && dim_is_const(s, &want) && have != want && have != 1 &&
        want != 1)
      return view_error(v,
                        "operand 1 ('shape'): expected 1 or %" PRId64
                        " for dimension %d of operand 0, found %" PRId64,
                        have, from, want);
    if (!d)
      dims[k] = dim_has_unknown(s) ? dim_unknown_extent(v->dims)
                                   : dim_max(v->dims, s, dim_const(v->dims, 0));
    else if (!s || (d->op == DIM_CONST && d->value != 1))
      dims[k] = d;
    else if (dim_has_unknown(s))
      dims[k] = dim_unknown_extent(v->dims);
    else
      dims[k] = dim_max(v->dims, dim_broadcast(v->dims, d, s), dim_const(v->dims, 0));
  }
  return true;
}

static bool verify_expand(op_view *v) {
  int rank;
  const dim *dims[ONYX_MAX_RANK];
  return expand_dims(v, &rank, dims);
}

static bool shape_expand(op_view *v, shape_result *results) {
  int rank;
  const dim *dims[ONYX_MAX_RANK];
  if (!expand_dims(v, &rank, dims))
    return false;
  if (rank < 0)
    return true;
  shape_set(v, results, 0, rank, dims);
  int64_t n = shape_data_size(&results[0]);
  if (n >= 0 && v->operands[0].values) {
    const dim **values = shape_data(v, results, 0, n);
    for (int64_t k = 0; k < n; k++) {
      const dim *x = shape_data_broadcast(v, &results[0], 0, k);
      values[k] = x ? x : dim_unknown(v->dims);
    }
  }
  return true;
}

static bool comp_expand(op_view *v, const shape_result *results, comprehension *c) {
  int out = comp_result(c, 0), rank = results[0].type.rank, n = list_count(v, 1);
  if (!need_rank(v, 0) || !need_sizes(v, &results[0]))
    return false;
  comp_require_broadcast(c, 1, (int[]){0});
  for (int k = 0; k < n; k++) {
    const dim *asked = list_value(v, 1, k), *extent = results[0].type.dims[rank - n + k];
    if (asked == extent || dim_is(asked, 1))
      continue;
    const expr *a = expr_dim(c, asked), *e = expr_dim(c, extent);
    comp_require(c, x_or(c, x_eq(c, a, expr_index(c, 1)), x_eq(c, a, e)), 3, a, e);
  }
  comp_write_point(c, comp_stage_over(c, out), out, comp_read_broadcast(c, 0, rank));
  return true;
}

// --- DepthToSpace, SpaceToDepth

static bool block_size(op_view *v, int64_t *block) {
  *block = view_int(v, "blocksize");
  if (*block < 1)
    return view_error(v, "blocksize: expected at least 1, found %" PRId64, *block);
  return expect_rank(v, 0, 4);
}

static bool expect_multiple(op_view *v, int axis, int64_t of) {
  int64_t extent;
  return view_rank(v, 0) != 4 || !dim_is_const(view_dim(v, 0, axis), &extent) || extent % of == 0 ||
         view_error(v,
                    "operand 0 ('input'): expected a multiple of %" PRId64
                    " in dimension %d, found %" PRId64,
                    of, axis, extent);
}

static bool verify_depth_to_space(op_view *v) {
  static const char *const modes[] = {"DCR", "CRD", NULL};
  int64_t block;
  if (!is_one_of(view_string(v, "mode"), modes))
    return view_error(v, "mode: expected DCR or CRD, found '%s'", view_string(v, "mode"));
  return block_size(v, &block) && expect_multiple(v, 1, block * block);
}

static bool verify_space_to_depth(op_view *v) {
  int64_t block;
  return block_size(v, &block) && expect_multiple(v, 2, block) && expect_multiple(v, 3, block);
}

static bool shape_depth_to_space(op_view *v, shape_result *results) {
  int64_t block;
  if (!verify_depth_to_space(v) || !block_size(v, &block))
    return false;
  if (view_rank(v, 0) < 0)
    return true;
  dim_context *d = v->dims;
  const dim *b = dim_const(d, block);
  shape_set(v, results, 0, 4,
            (const dim *[]){view_dim(v, 0, 0),
                            dim_floordiv(d, view_dim(v, 0, 1), dim_const(d, block * block)),
                            dim_mul(d, view_dim(v, 0, 2), b), dim_mul(d, view_dim(v, 0, 3), b)});
  return true;
}

static bool shape_space_to_depth(op_view *v, shape_result *results) {
  int64_t block;
  if (!verify_space_to_depth(v) || !block_size(v, &block))
    return false;
  if (view_rank(v, 0) < 0)
    return true;
  dim_context *d = v->dims;
  const dim *b = dim_const(d, block);
  shape_set(v, results, 0, 4,
            (const dim *[]){
                view_dim(v, 0, 0), dim_mul(d, view_dim(v, 0, 1), dim_const(d, block * block)),
                dim_floordiv(d, view_dim(v, 0, 2), b), dim_floordiv(d, view_dim(v, 0, 3), b)});
  return true;
}

static bool comp_depth_to_space(op_view *v, const shape_result *results, comprehension *c) {
  int out = comp_result(c, 0);
  if (!need_rank(v, 0))
    return false;
  const expr *i[4], *b = expr_index(c, view_int(v, "blocksize"));
  x_loops(c, 4, i);
  const expr *y = expr_binary(c, EXPR_MOD, i[2], b), *x = expr_binary(c, EXPR_MOD, i[3], b);
  const expr *part = x_add(c, x_mul(c, y, b), x), *channel;
  if (strcmp(view_string(v, "mode"), "DCR") == 0)
    channel = x_add(c, x_mul(c, part, expr_dim(c, results[0].type.dims[1])), i[1]);
  else
    channel = x_add(c, x_mul(c, i[1], x_mul(c, b, b)), part);
  const expr *in[4] = {i[0], channel, expr_binary(c, EXPR_FLOORDIV, i[2], b),
                       expr_binary(c, EXPR_FLOORDIV, i[3], b)};
  comp_write_point(c, comp_stage_over(c, out), out, expr_read(c, 0, 4, in));
  return true;
}

static bool comp_space_to_depth(op_view *v, const shape_result *results, comprehension *c) {
  int out = comp_result(c, 0);
  (void)results;
  if (!need_rank(v, 0))
    return false;
  const expr *i[4], *b = expr_index(c, view_int(v, "blocksize")),
                    *channels = expr_dim(c, view_dim(v, 0, 1));
  x_loops(c, 4, i);
  const expr *part = expr_binary(c, EXPR_FLOORDIV, i[1], channels);
  const expr *in[4] = {i[0], expr_binary(c, EXPR_MOD, i[1], channels),
                       x_add(c, x_mul(c, i[2], b), expr_binary(c, EXPR_FLOORDIV, part, b)),
                       x_add(c, x_mul(c, i[3], b), expr_binary(c, EXPR_MOD, part, b))};
  comp_write_point(c, comp_stage_over(c, out), out, expr_read(c, 0, 4, in));
  return true;
}

// --- ReverseSequence

static bool verify_reverse_sequence(op_view *v) {
  int64_t batch = view_int(v, "batch_axis"), time = view_int(v, "time_axis");
  int rank = view_rank(v, 0);
  if (rank >= 0 && rank < 2)
    return view_error(v, "operand 0 ('input'): expected rank 2 or more, found rank %d", rank);
  if (batch == time || batch < 0 || batch > 1 || time < 0 || time > 1)
    return view_error(v,
                      "batch_axis and time_axis: expected 0 and 1 in some order, found %" PRId64
                      " and %" PRId64,
                      batch, time);
  return expect_rank(v, 1, 1);
}

static bool shape_data_like(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return true;
}

static bool comp_reverse_sequence(op_view *v, const shape_result *results, comprehension *c) {
  int rank = view_rank(v, 0), out = comp_result(c, 0);
  int batch = (int)view_int(v, "batch_axis"), time = (int)view_int(v, "time_axis");
  const expr *in[ONYX_MAX_RANK];
  (void)results;
  if (!need_rank(v, 0) || !need_rank(v, 1))
    return false;
  x_loops(c, rank, in);
  const dim *batches = view_dim(v, 0, batch), *lens = view_dim(v, 1, 0);
  const expr *steps = expr_dim(c, view_dim(v, 0, time)), *zero = expr_index(c, 0), *t = in[time];
  if (lens != batches)
    comp_require(c, x_eq(c, expr_dim(c, lens), expr_dim(c, batches)), 3, expr_dim(c, lens),
                 expr_dim(c, batches));
  const expr *n = expr_cast(c, x_read(c, 1, &in[batch], lens == batches), ONYX_INDEX);
  const expr *fits = x_and(c, x_ge(c, n, zero), expr_compare(c, EXPR_LE, n, steps));
  n = expr_check(c, x_clamp(c, n, zero, steps), fits, 6, n, steps);
  in[time] = expr_select(c, x_lt(c, t, n), x_sub(c, x_sub(c, n, t), expr_index(c, 1)), t);
  comp_write_point(c, comp_stage_over(c, out), out, expr_read(c, 0, rank, in));
  return true;
}

// --- Trilu

static bool verify_trilu(op_view *v) {
  int rank = view_rank(v, 0);
  return rank < 0 || rank >= 2 ||
         view_error(v, "operand 0 ('input'): expected rank 2 or more, found rank %d", rank);
}

static bool comp_trilu(op_view *v, const shape_result *results, comprehension *c) {
  int rank = view_rank(v, 0), out = comp_result(c, 0);
  const expr *in[ONYX_MAX_RANK];
  (void)results;
  if (!need_rank(v, 0) || (view_has(v, 1) && !need_rank(v, 1)))
    return false;
  x_loops(c, rank, in);
  int64_t k;
  const dim *known = view_value(v, 1, 0);
  const expr *diagonal = expr_index(c, 0);
  if (known && dim_is_const(known, &k))
    diagonal = expr_index(c, k);
  else if (view_has(v, 1))
    diagonal = expr_cast(c, x_scalar(c, 1), ONYX_INDEX);
  const expr *offset = x_sub(c, in[rank - 1], in[rank - 2]);
  const expr *kept = expr_compare(c, view_int(v, "upper") ? EXPR_GE : EXPR_LE, offset, diagonal);
  const expr *value =
      expr_select(c, kept, expr_read(c, 0, rank, in), expr_zero(c, view_elem(v, 0)));
  comp_write_point(c, comp_stage_over(c, out), out, value);
  return true;
}

// --- CenterCropPad

// The size asked for each axis; the operand's own where none is.
static bool crop_sizes(op_view *v, const dim **sizes) {
  int rank = view_rank(v, 0), n = list_count(v, 1);
  const onnx_attr *axes = view_attr(v, "axes");
  int64_t want = axes->present ? axes->n : rank;
  if (n >= 0 && n != want)
    return view_error(v, "operand 1 ('shape'): expected %" PRId64 " entries, found %d", want, n);
  for (int k = 0; k < rank; k++)
    sizes[k] = view_dim(v, 0, k);
  for (int k = 0; k < want; k++) {
    int axis = k;
    if (axes->present && !axis_normalize(v, "axes", axes->ints[k], rank, &axis))
      return false;
    const dim *size = list_value(v, 1, k);
    sizes[axis] = dim_has_unknown(size)   ? dim_unknown_extent(v->dims)
                  : size->op == DIM_CONST ? size
                                          : dim_max(v->dims, size, dim_const(v->dims, 0));
  }
  return true;
}

static bool verify_center_crop_pad(op_view *v) {
  const dim *sizes[ONYX_MAX_RANK];
  return view_rank(v, 0) < 0 || crop_sizes(v, sizes);
}

static bool shape_center_crop_pad(op_view *v, shape_result *results) {
  const dim *sizes[ONYX_MAX_RANK];
  if (view_rank(v, 0) < 0)
    return true;
  if (!crop_sizes(v, sizes))
    return false;
  shape_set(v, results, 0, view_rank(v, 0), sizes);
  return true;
}

static bool comp_center_crop_pad(op_view *v, const shape_result *results, comprehension *c) {
  const dim *sizes[ONYX_MAX_RANK];
  const expr *in[ONYX_MAX_RANK];
  int rank = view_rank(v, 0), out = comp_result(c, 0);
  dim_context *d = v->dims;
  bool safe = true;
  if (!need_rank(v, 0) || !crop_sizes(v, sizes) || !need_sizes(v, &results[0]))
    return false;
  for (int k = 0; k < rank; k++) {
    const dim *extent = view_dim(v, 0, k), *two = dim_const(d, 2);
    in[k] = expr_loop(c, k);
    if (sizes[k] == extent)
      continue;
    const dim *cut =
        dim_floordiv(d, dim_sub(d, extent, sizes[k]), two); // halves are rounded down either way
    const dim *pad = dim_floordiv(d, dim_sub(d, sizes[k], extent), two);
    const dim *offset =
        dim_select(d, dim_lt(d, sizes[k], extent), cut, dim_sub(d, dim_const(d, 0), pad));
    in[k] = x_add(c, in[k], expr_dim(c, offset));
    safe = false;
  }
  comp_write_point(c, comp_stage_over(c, out), out, x_read(c, 0, in, safe));
  return true;
}

// --- Col2Im: input [N, C * prod(block), L], image_shape, block_shape

typedef struct columns {
  int spatial;
  const dim *image[ONYX_MAX_RANK], *block[ONYX_MAX_RANK], *positions[ONYX_MAX_RANK];
  int64_t stride[ONYX_MAX_RANK], dilation[ONYX_MAX_RANK], pad[ONYX_MAX_RANK],
      pad_end[ONYX_MAX_RANK];
  const dim *channels;
} columns;

static bool columns_ints(op_view *v, const char *name, int n, int first, int64_t fallback,
                         int64_t *out, int count) {
  const onnx_attr *a = view_attr(v, name);
  if (a->present && a->n != n)
    return view_error(v, "%s: expected %d entries, found %" PRId64, name, n, a->n);
  for (int i = 0; i < count; i++)
    out[i] = a->present ? a->ints[first + i] : fallback;
  return true;
}

static bool columns_of(op_view *v, columns *k) {
  dim_context *d = v->dims;
  int n = list_count(v, 1);
  k->spatial = n;
  if (n < 0)
    return true;
  if (n > 16)
    return view_error(v, "operand 1 ('image_shape'): expected 16 entries at most, found %d", n);
  if (list_count(v, 2) >= 0 && list_count(v, 2) != n)
    return view_error(v, "operand 2 ('block_shape'): expected %d entries, found %d", n,
                      list_count(v, 2));
  if (!columns_ints(v, "strides", n, 0, 1, k->stride, n) ||
      !columns_ints(v, "dilations", n, 0, 1, k->dilation, n) ||
      !columns_ints(v, "pads", 2 * n, 0, 0, k->pad, n) ||
      !columns_ints(v, "pads", 2 * n, n, 0, k->pad_end, n))
    return false;
  const dim *taps = dim_const(d, 1);
  for (int i = 0; i < n; i++) {
    if (k->stride[i] < 1)
      return view_error(v, "strides: expected at least 1, found %" PRId64, k->stride[i]);
    k->image[i] = list_value(v, 1, i);
    k->block[i] = list_value(v, 2, i);
    taps = dim_mul(d, taps, k->block[i]);
    const dim *reach =
        dim_mul(d, dim_sub(d, k->block[i], dim_const(d, 1)), dim_const(d, k->dilation[i]));
    const dim *room =
        dim_sub(d, dim_add(d, k->image[i], dim_const(d, k->pad[i] + k->pad_end[i] - 1)), reach);
    k->positions[i] =
        dim_add(d, dim_floordiv(d, room, dim_const(d, k->stride[i])), dim_const(d, 1));
  }
  k->channels =
      view_rank(v, 0) == 3 ? dim_floordiv(d, view_dim(v, 0, 1), taps) : dim_unknown_extent(d);
  return true;
}

static bool verify_col2im(op_view *v) {
  columns k;
  return expect_rank(v, 0, 3) && columns_of(v, &k);
}

static bool shape_col2im(op_view *v, shape_result *results) {
  columns k;
  const dim *dims[ONYX_MAX_RANK];
  if (!verify_col2im(v) || !columns_of(v, &k))
    return false;
  if (k.spatial < 0)
    return true;
  dims[0] = view_rank(v, 0) == 3 ? view_dim(v, 0, 0) : dim_unknown_extent(v->dims);
  dims[1] = dim_has_unknown(k.channels) ? dim_unknown_extent(v->dims) : k.channels;
  for (int i = 0; i < k.spatial; i++)
    dims[2 + i] = k.image[i];
  shape_set(v, results, 0, 2 + k.spatial, dims);
  return true;
}

// Each pixel gathers what the taps of the block that cover it hold.
static bool comp_col2im(op_view *v, const shape_result *results, comprehension *c) {
  columns k;
  if (!need_rank(v, 0) || !columns_of(v, &k) || !need_sizes(v, &results[0]))
    return false;
  comp_loop loops[2 + 2 * 16];
  int n = k.spatial, out = comp_result(c, 0), type = expr_compute_type(view_elem(v, 0));
  for (int i = 0; i < 2 + n; i++)
    loops[i] = (comp_loop){LOOP_PARALLEL, results[0].type.dims[i]};
  const expr *tap = expr_index(c, 0), *column = expr_index(c, 0),
             *covered = expr_int(c, ONYX_BOOL, 1);
  for (int i = 0; i < n; i++) {
    loops[2 + n + i] = (comp_loop){LOOP_REDUCTION, k.block[i]};
    const expr *at = expr_loop(c, 2 + n + i), *stride = expr_index(c, k.stride[i]);
    const expr *from = x_add(c, expr_loop(c, 2 + i), expr_index(c, k.pad[i]));
    from = x_sub(c, from, x_mul(c, at, expr_index(c, k.dilation[i])));
    const expr *position = expr_binary(c, EXPR_FLOORDIV, from, stride);
    covered = x_and(c, covered, x_eq(c, x_mul(c, position, stride), from));
    covered = x_and(c, covered, x_ge(c, position, expr_index(c, 0)));
    covered = x_and(c, covered, x_lt(c, position, expr_dim(c, k.positions[i])));
    tap = x_add(c, x_mul(c, tap, expr_dim(c, k.block[i])), at);
    column = x_add(c, x_mul(c, column, expr_dim(c, k.positions[i])), position);
  }
  const dim *taps = dim_const(v->dims, 1);
  for (int i = 0; i < n; i++)
    taps = dim_mul(v->dims, taps, k.block[i]);
  const expr *in[3] = {expr_loop(c, 0), x_add(c, x_mul(c, expr_loop(c, 1), expr_dim(c, taps)), tap),
                       expr_select(c, covered, column, expr_index(c, -1))};
  comp_stage *s = comp_stage_begin(c, 2 + 2 * n, loops);
  int acc =
      comp_acc_combine(c, s, ACC_ADD, type, expr_cast(c, x_read(c, 0, in, false), type), NULL);
  comp_write_point(c, s, out, expr_cast(c, expr_acc(c, acc, type), view_elem(v, 0)));
  return true;
}

const op_def ops_movement[] = {
    {"CenterCropPad", verify_center_crop_pad, shape_center_crop_pad, comp_center_crop_pad},
    {"Col2Im", verify_col2im, shape_col2im, comp_col2im},
    {"Concat", verify_concat, shape_concat, comp_concat},
    {"DepthToSpace", verify_depth_to_space, shape_depth_to_space, comp_depth_to_space},
    {"Expand", verify_expand, shape_expand, comp_expand},
    {"Pad", verify_pad, shape_pad, comp_pad},
    {"ReverseSequence", verify_reverse_sequence, shape_data_like, comp_reverse_sequence},
    {"Slice", verify_slice, shape_slice, comp_slice},
    {"SpaceToDepth", verify_space_to_depth, shape_space_to_depth, comp_space_to_depth},
    {"Split", verify_split, shape_split, comp_split},
    {"Tile", verify_tile, shape_tile, comp_tile},
    {"Transpose", verify_transpose, shape_transpose, comp_transpose},
    {"Trilu", verify_trilu, shape_data_like, comp_trilu},
};
const int num_ops_movement = sizeof ops_movement / sizeof ops_movement[0];
