// Sampling of images at computed places: GridSample, AffineGrid, RoiAlign, MaxRoiPool.
#include "dialects/onnx/ops/op.h"
#include "dialects/onnx/ops/scalar.h"
#include <inttypes.h>
#include <string.h>

static const expr *clamp(comprehension *c, const expr *x, const expr *lo, const expr *hi) {
  return expr_binary(c, EXPR_MIN, expr_binary(c, EXPR_MAX, x, lo), hi);
}

// Half away from zero, as C's round.
static const expr *round_away(comprehension *c, const expr *x) {
  const expr *half = expr_float(c, x->type, 0.5);
  return expr_select(c, expr_compare(c, EXPR_GE, x, expr_zero(c, x->type)),
                     expr_unary(c, EXPR_FLOOR, x_add(c, x, half)),
                     expr_unary(c, EXPR_CEIL, x_sub(c, x, half)));
}

// --- GridSample: X [N, C, d...], grid [N, o..., number of d]

typedef enum sample_mode { NEAREST, LINEAR, CUBIC } sample_mode;
typedef enum padding { ZEROS, BORDER, REFLECTION } padding;

typedef struct grid {
  bool known;
  int spatial;
  sample_mode mode;
  padding padding;
  bool align;
  int type; // of coordinates and weights
} grid;

static bool grid_modes(op_view *v, grid *g) {
  const char *mode = view_string(v, "mode"), *padding = view_string(v, "padding_mode");
  g->mode = !strcmp(mode, "nearest") ? NEAREST : !strcmp(mode, "cubic") ? CUBIC : LINEAR;
  if (g->mode == LINEAR && strcmp(mode, "linear"))
    return view_error(v, "mode: expected linear, nearest or cubic, found '%s'", mode);
  g->padding = !strcmp(padding, "border")       ? BORDER
               : !strcmp(padding, "reflection") ? REFLECTION
                                                : ZEROS;
  if (g->padding == ZEROS && strcmp(padding, "zeros"))
    return view_error(v, "padding_mode: expected zeros, border or reflection, found '%s'", padding);
  g->align = view_int(v, "align_corners") != 0;
  return true;
}

static bool grid_of(op_view *v, grid *g) {
  if (!grid_modes(v, g))
    return false;
  int x = view_rank(v, 0), at = view_rank(v, 1);
  if ((x >= 0 && x < 3) || (at >= 0 && at < 3) || (x >= 0 && at >= 0 && x != at))
    return view_error(
        v,
        "operands 0 ('X') and 1 ('grid'): expected equal ranks of 3 or more, found %d "
        "and %d",
        x, at);
  g->known = x >= 0 && at >= 0;
  g->spatial = x - 2;
  int64_t last;
  if (g->known && dim_is_const(view_dim(v, 1, at - 1), &last) && last != g->spatial)
    return view_error(v, "operand 1 ('grid'): the last dim: expected %d, found %" PRId64,
                      g->spatial, last);
  return true;
}

static bool verify_grid_sample(op_view *v) {
  grid g;
  return grid_of(v, &g);
}

static bool shape_grid_sample(op_view *v, shape_result *results) {
  grid g;
  if (!grid_of(v, &g))
    return false;
  if (!g.known)
    return true;
  const dim *dims[ONYX_MAX_RANK] = {view_dim(v, 0, 0), view_dim(v, 0, 1)};
  for (int i = 0; i < g.spatial; i++)
    dims[2 + i] = view_dim(v, 1, 1 + i);
  shape_set(v, results, 0, g.spatial + 2, dims);
  return true;
}

static const expr *extent_of(comprehension *c, const grid *g, int axis) {
  return expr_cast(c, expr_dim(c, view_dim(c->view, 0, 2 + axis)), g->type);
}

// Borders of an axis: [0, n - 1] with aligned corners, else [-0.5, n - 0.5].
static const expr *border(comprehension *c, const grid *g, int axis, bool high) {
  double inset = g->align ? 0 : 0.5;
  if (!high)
    return expr_float(c, g->type, -inset);
  return x_sub(c, extent_of(c, g, axis), expr_float(c, g->type, 1 - inset));
}

// Mirrors x at the borders until it is between them.
static const expr *reflected(comprehension *c, const grid *g, int axis, const expr *x) {
  const expr *lo = border(c, g, axis, false), *hi = border(c, g, axis, true);
  const expr *range = x_sub(c, hi, lo), *zero = expr_zero(c, g->type), *one = expr_one(c, g->type);
  const expr *below = expr_compare(c, EXPR_LT, x, lo), *above = expr_compare(c, EXPR_GT, x, hi);
  const expr *over = expr_select(c, below, x_sub(c, lo, x), x_sub(c, x, hi));
  const expr *empty = expr_compare(c, EXPR_LE, range, zero);
  const expr *divisor = expr_select(c, empty, one, range);
  const expr *turns = expr_unary(c, EXPR_TRUNC, x_div(c, over, divisor));
  const expr *rest = x_sub(c, over, x_mul(c, turns, divisor)), *two = expr_float(c, g->type, 2);
  const expr *odd = expr_compare(c, EXPR_NE, expr_binary(c, EXPR_REM, turns, two), zero);
  const expr *from_low = expr_binary(c, EXPR_XOR, below, odd); // counted from the low border
  const expr *y = expr_select(c, from_low, x_add(c, lo, rest), x_sub(c, hi, rest));
  y = expr_select(c, empty, lo, y);
  return expr_select(c, expr_binary(c, EXPR_OR, below, above), y, x);
}

// Place on an axis in elements of X, borders respected as the padding mode asks.
static const expr *place_on(comprehension *c, const grid *g, int axis) {
  const expr *at[ONYX_MAX_RANK] = {expr_loop(c, 0)};
  for (int i = 0; i < g->spatial; i++)
    at[1 + i] = expr_loop(c, 2 + i);
  at[1 + g->spatial] = expr_index(c, g->spatial - 1 - axis); // the grid counts axes backwards
  const expr *n = expr_cast(c, expr_read(c, 1, g->spatial + 2, at), g->type);
  const expr *one = expr_one(c, g->type), *two = expr_float(c, g->type, 2), *x;
  n = x_add(c, n, one);
  if (g->align)
    x = x_mul(c, x_div(c, n, two), x_sub(c, extent_of(c, g, axis), one));
  else
    x = x_div(c, x_sub(c, x_mul(c, n, extent_of(c, g, axis)), one), two);
  if (g->mode == NEAREST)
    x = expr_unary(c, EXPR_ROUND, x);
  const expr *lo = border(c, g, axis, false), *hi = border(c, g, axis, true);
  if (g->padding == BORDER) {
    const expr *out =
        expr_binary(c, EXPR_OR, expr_compare(c, EXPR_LT, x, lo), expr_compare(c, EXPR_GT, x, hi));
    const expr *last = x_sub(c, extent_of(c, g, axis), one);
    x = expr_select(c, out, clamp(c, x, expr_zero(c, g->type), last), x);
  }
  return g->padding == REFLECTION ? reflected(c, g, axis, x) : x;
}

// Index of a tap, made legal as the padding mode asks (zeros: the read pads).
static const expr *tap_index(comprehension *c, const grid *g, int axis, const expr *i) {
  if (g->padding == ZEROS)
    return i;
  if (g->padding == REFLECTION)
    i = expr_cast(c, reflected(c, g, axis, expr_cast(c, i, g->type)), ONYX_INDEX);
  const expr *last = x_sub(c, expr_dim(c, view_dim(c->view, 0, 2 + axis)), expr_index(c, 1));
  return clamp(c, i, expr_index(c, 0), last);
}

// Keys' cubic convolution with a = -0.75: weight of tap t in 0..3 at distance x from tap 1.
static const expr *cubic_weight(comprehension *c, const expr *x, int t) {
  const expr *a = expr_float(c, x->type, -0.75), *one = expr_one(c, x->type);
  const expr *d = t == 0   ? x_add(c, x, one)
                  : t == 1 ? x
                           : x_sub(c, expr_float(c, x->type, t - 1), x);
  if (t == 1 || t == 2) { // ((a + 2) d - (a + 3)) d^2 + 1
    const expr *inner =
        x_sub(c, x_mul(c, expr_float(c, x->type, 1.25), d), expr_float(c, x->type, 2.25));
    return x_add(c, x_mul(c, x_mul(c, inner, d), d), one);
  }
  const expr *y = x_sub(c, d, expr_float(c, x->type, 5)); // a (((d - 5) d + 8) d - 4)
  y = x_add(c, x_mul(c, y, d), expr_float(c, x->type, 8));
  return x_mul(c, a, x_sub(c, x_mul(c, y, d), expr_float(c, x->type, 4)));
}

static const expr *tap_weight(comprehension *c, const grid *g, const expr *part, int t) {
  if (g->mode == CUBIC)
    return cubic_weight(c, part, t);
  return t ? part : x_sub(c, expr_one(c, g->type), part);
}

static const expr *read_tap(comprehension *c, const grid *g, const expr *const *index) {
  const expr *at[ONYX_MAX_RANK] = {expr_loop(c, 0), expr_loop(c, 1)};
  for (int i = 0; i < g->spatial; i++)
    at[2 + i] = tap_index(c, g, i, index[i]);
  if (g->padding != ZEROS)
    return expr_read(c, 0, g->spatial + 2, at);
  return expr_read_padded(c, 0, g->spatial + 2, at, expr_zero(c, view_elem(c->view, 0)));
}

// Sum over taps of all axes, the last axis fastest.
static const expr *weighted_taps(comprehension *c, const grid *g, const expr *const *place) {
  int taps = g->mode == CUBIC ? 4 : 2, first = g->mode == CUBIC ? -1 : 0, count = 1;
  const expr *low[ONYX_MAX_RANK], *part[ONYX_MAX_RANK], *sum = NULL;
  for (int i = 0; i < g->spatial; i++) {
    const expr *floor = expr_unary(c, EXPR_FLOOR, place[i]);
    low[i] = expr_cast(c, floor, ONYX_INDEX);
    part[i] = x_sub(c, place[i], floor);
    count *= taps;
  }
  for (int n = 0; n < count; n++) {
    const expr *index[ONYX_MAX_RANK], *weight = NULL;
    for (int i = g->spatial - 1, rest = n; i >= 0; i--, rest /= taps) {
      int t = rest % taps;
      const expr *w = tap_weight(c, g, part[i], t);
      index[i] = t + first ? x_add(c, low[i], expr_index(c, t + first)) : low[i];
      weight = weight ? x_mul(c, weight, w) : w;
    }
    const expr *term = x_mul(c, weight, expr_cast(c, read_tap(c, g, index), g->type));
    sum = sum ? x_add(c, sum, term) : term;
  }
  return sum;
}

static bool comp_grid_sample(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  grid g;
  if (!grid_of(v, &g))
    return false;
  if (!g.known)
    return view_error(v, "operand %d: the rank is not known", view_rank(v, 0) < 0 ? 0 : 1);
  onyx_elem elem = view_elem(v, 0);
  if (g.mode != NEAREST && !onyx_elem_is_float(elem) && !onyx_elem_is_int(elem))
    return view_error(v, "mode: linear and cubic interpolation take numbers");
  if (g.spatial > 4 || (g.spatial > 3 && g.mode == CUBIC))
    return view_error(v, "operand 0 ('X'): %d spatial dims are too many to interpolate", g.spatial);
  g.type = expr_compute_type(view_elem(v, 1));
  if (elem == ONYX_F64)
    g.type = ONYX_F64;
  int y = comp_result(c, 0);
  comp_stage *s = comp_stage_over(c, y);
  const expr *place[ONYX_MAX_RANK];
  for (int i = 0; i < g.spatial; i++)
    place[i] = place_on(c, &g, i);
  if (g.mode != NEAREST) {
    comp_write_point(c, s, y, expr_cast(c, weighted_taps(c, &g, place), elem));
    return true;
  }
  for (int i = 0; i < g.spatial; i++)
    place[i] = expr_cast(c, place[i], ONYX_INDEX);
  comp_write_point(c, s, y, read_tap(c, &g, place));
  return true;
}

// --- AffineGrid: theta [N, n, n + 1], size (N, C, d...)

static bool affine_of(op_view *v, int *spatial) {
  *spatial = -1;
  const onnx_operand *size = view_operand(v, 1);
  int64_t n, rows;
  if (view_rank(v, 0) >= 0 && view_rank(v, 0) != 3)
    return view_error(v, "operand 0 ('theta'): expected rank 3, found rank %d", view_rank(v, 0));
  if (size && size->values)
    *spatial = (int)size->num_values - 2;
  else if (view_rank(v, 1) == 1 && dim_is_const(view_dim(v, 1, 0), &n))
    *spatial = (int)n - 2;
  else if (view_rank(v, 0) == 3 && dim_is_const(view_dim(v, 0, 1), &n))
    *spatial = (int)n;
  if (*spatial != -1 && *spatial != 2 && *spatial != 3)
    return view_error(v, "operand 1 ('size'): expected 4 or 5 entries, found %d", *spatial + 2);
  if (*spatial > 0 && view_rank(v, 0) == 3 && dim_is_const(view_dim(v, 0, 1), &rows) &&
      rows != *spatial)
    return view_error(v, "operand 0 ('theta'): dim 1: expected %d, found %" PRId64, *spatial, rows);
  return true;
}

static bool verify_affine(op_view *v) {
  int spatial;
  return affine_of(v, &spatial);
}

static bool shape_affine(op_view *v, shape_result *results) {
  int spatial;
  if (!affine_of(v, &spatial))
    return false;
  if (spatial < 0)
    return true;
  const dim *dims[5];
  for (int i = 0; i <= spatial; i++) {
    const dim *n = view_value(v, 1, i ? i + 1 : 0);
    dims[i] = n ? n : dim_unknown(v->dims);
  }
  if (view_rank(v, 0) == 3 && dims[0]->op != DIM_CONST)
    dims[0] = view_dim(v, 0, 0);
  dims[spatial + 1] = dim_const(v->dims, spatial);
  shape_set(v, results, 0, spatial + 2, dims);
  return true;
}

// Coordinate in [-1, 1] of position `loop` on an axis of n positions.
static const expr *unit_coordinate(comprehension *c, int loop, const dim *n, bool align, int type) {
  const expr *i = expr_cast(c, expr_loop(c, loop), type),
             *count = expr_cast(c, expr_dim(c, n), type);
  const expr *one = expr_one(c, type), *two = expr_float(c, type, 2);
  if (!align)
    return x_sub(c, x_div(c, x_add(c, x_mul(c, two, i), one), count), one);
  const expr *x = x_sub(c, x_div(c, x_mul(c, two, i), x_sub(c, count, one)), one);
  return expr_select(c, expr_compare(c, EXPR_EQ, count, one), expr_zero(c, type), x);
}

static bool comp_affine(op_view *v, const shape_result *results, comprehension *c) {
  int spatial;
  if (!affine_of(v, &spatial))
    return false;
  if (spatial < 0 || view_rank(v, 0) < 0)
    return view_error(v, "operand %d: its shape is not known", spatial < 0 ? 1 : 0);
  for (int i = 0; i <= spatial; i++)
    if (dim_has_unknown(results[0].type.dims[i]))
      return view_error(v, "operand 1 ('size'): the values are not known");
  int type = expr_compute_type(view_elem(v, 0)), y = comp_result(c, 0);
  bool align = view_int(v, "align_corners") != 0;
  comp_stage *s = comp_stage_over(c, y);
  const expr *n = expr_loop(c, 0), *row = expr_loop(c, spatial + 1), *sum = NULL;
  for (int k = 0; k <= spatial; k++) { // columns: x (the last axis) first, then the constant
    const expr *at[] = {n, row, expr_index(c, k)};
    const expr *term = expr_cast(c, expr_read(c, 0, 3, at), type);
    int axis = spatial - 1 - k;
    if (k < spatial)
      term =
          x_mul(c, term, unit_coordinate(c, 1 + axis, results[0].type.dims[1 + axis], align, type));
    sum = sum ? x_add(c, sum, term) : term;
  }
  comp_write_point(c, s, y, expr_cast(c, sum, view_elem(v, 0)));
  return true;
}

// --- RoiAlign: X [N, C, H, W], rois [R, 4], batch_indices [R]

static bool roi_ranks(op_view *v, int64_t columns) {
  int64_t n;
  if (view_rank(v, 0) >= 0 && view_rank(v, 0) != 4)
    return view_error(v, "operand 0 ('X'): expected rank 4, found rank %d", view_rank(v, 0));
  if (view_rank(v, 1) >= 0 && view_rank(v, 1) != 2)
    return view_error(v, "operand 1 ('rois'): expected rank 2, found rank %d", view_rank(v, 1));
  if (view_rank(v, 1) == 2 && dim_is_const(view_dim(v, 1, 1), &n) && n != columns)
    return view_error(v, "operand 1 ('rois'): dim 1: expected %" PRId64 ", found %" PRId64, columns,
                      n);
  return true;
}

static bool verify_roi_align(op_view *v) {
  const char *mode = view_string(v, "mode");
  if (strcmp(mode, "avg") && strcmp(mode, "max"))
    return view_error(v, "mode: expected avg or max, found '%s'", mode);
  if (view_int(v, "output_height") < 1 || view_int(v, "output_width") < 1)
    return view_error(v, "output_height and output_width: expected at least 1");
  return roi_ranks(v, 4);
}

static bool shape_roi_align(op_view *v, shape_result *results) {
  if (!verify_roi_align(v))
    return false;
  dim_context *d = v->dims;
  const dim *dims[] = {view_rank(v, 1) == 2   ? view_dim(v, 1, 0)
                       : view_rank(v, 2) == 1 ? view_dim(v, 2, 0)
                                              : dim_unknown(d),
                       view_rank(v, 0) == 4 ? view_dim(v, 0, 1) : dim_unknown(d),
                       dim_const(d, view_int(v, "output_height")),
                       dim_const(d, view_int(v, "output_width"))};
  shape_set(v, results, 0, 4, dims);
  return true;
}

// One axis of a region: 0 is y (columns 1, 3 of rois), 1 is x (columns 0, 2).
typedef struct roi_axis {
  const expr *start, *bin; // first place, size of an output bin
  const expr *samples;     // in a bin; index
} roi_axis;

static roi_axis roi_axis_of(comprehension *c, int axis, int type) {
  op_view *v = c->view;
  const expr *edge[2];
  bool half = !strcmp(view_string(v, "coordinate_transformation_mode"), "half_pixel");
  for (int k = 0; k < 2; k++) {
    const expr *at[] = {expr_loop(c, 0), expr_index(c, 2 * k + 1 - axis)};
    edge[k] = x_mul(c, expr_cast(c, expr_read(c, 1, 2, at), type),
                    expr_float(c, type, view_float(v, "spatial_scale")));
    if (half)
      edge[k] = x_sub(c, edge[k], expr_float(c, type, 0.5));
  }
  const expr *size = x_sub(c, edge[1], edge[0]);
  if (!half) // malformed regions count as one element
    size = expr_binary(c, EXPR_MAX, size, expr_one(c, type));
  double bins = (double)view_int(v, axis ? "output_width" : "output_height");
  roi_axis a = {edge[0], x_div(c, size, expr_float(c, type, bins)), NULL};
  int64_t ratio = view_int(v, "sampling_ratio");
  a.samples =
      ratio > 0 ? expr_index(c, ratio) : expr_cast(c, expr_unary(c, EXPR_CEIL, a.bin), ONYX_INDEX);
  return a;
}

// A sample's two taps on an axis, and the weight of the second; *inside is cleared outside of X.
static void roi_taps(comprehension *c, const roi_axis *a, int axis, int type, const expr **low,
                     const expr **high, const expr **part, const expr **inside) {
  const dim *n = view_dim(c->view, 0, 2 + axis);
  const expr *bin = expr_cast(c, expr_loop(c, 2 + axis), type);
  const expr *k = x_add(c, expr_cast(c, expr_loop(c, 4 + axis), type), expr_float(c, type, 0.5));
  const expr *step = x_div(c, x_mul(c, k, a->bin), expr_cast(c, a->samples, type));
  const expr *at = x_add(c, x_add(c, a->start, x_mul(c, bin, a->bin)), step);
  const expr *size = expr_cast(c, expr_dim(c, n), type), *zero = expr_zero(c, type);
  const expr *ok = expr_binary(c, EXPR_AND, expr_compare(c, EXPR_GE, at, expr_float(c, type, -1)),
                               expr_compare(c, EXPR_LE, at, size));
  *inside = *inside ? expr_binary(c, EXPR_AND, *inside, ok) : ok;
  at = expr_binary(c, EXPR_MAX, at, zero);
  const expr *last = x_sub(c, expr_dim(c, n), expr_index(c, 1));
  const expr *floor = expr_cast(c, expr_unary(c, EXPR_FLOOR, at), ONYX_INDEX);
  const expr *at_end = expr_compare(c, EXPR_GE, floor, last);
  *low = clamp(c, floor, expr_index(c, 0), last);
  *high = clamp(c, x_add(c, floor, expr_index(c, 1)), expr_index(c, 0), last);
  *part = expr_select(c, at_end, zero, x_sub(c, at, expr_unary(c, EXPR_FLOOR, at)));
}

static const expr *checked_batch(comprehension *c, const expr *batch) {
  const expr *n = expr_dim(c, view_dim(c->view, 0, 0)), *zero = expr_index(c, 0);
  const expr *ok = expr_binary(c, EXPR_AND, expr_compare(c, EXPR_GE, batch, zero),
                               expr_compare(c, EXPR_LT, batch, n));
  return expr_check(c, clamp(c, batch, zero, x_sub(c, n, expr_index(c, 1))), ok, 1, batch, n);
}

// The four weighted taps of a sample: summed for avg, their maximum for max.
static const expr *roi_sample(comprehension *c, const roi_axis *y, const roi_axis *x, int type,
                              bool max) {
  const expr *low[2], *high[2], *part[2], *inside = NULL, *value = NULL;
  roi_taps(c, y, 0, type, &low[0], &high[0], &part[0], &inside);
  roi_taps(c, x, 1, type, &low[1], &high[1], &part[1], &inside);
  const expr *roi = expr_loop(c, 0), *one = expr_one(c, type);
  const expr *batch = checked_batch(c, expr_cast(c, expr_read(c, 2, 1, &roi), ONYX_INDEX));
  for (int k = 0; k < 4; k++) {
    const expr *at[] = {batch, expr_loop(c, 1), k & 2 ? high[0] : low[0], k & 1 ? high[1] : low[1]};
    const expr *wy = k & 2 ? part[0] : x_sub(c, one, part[0]);
    const expr *wx = k & 1 ? part[1] : x_sub(c, one, part[1]);
    const expr *term = x_mul(c, x_mul(c, wy, wx), expr_cast(c, expr_read(c, 0, 4, at), type));
    value = !value ? term : max ? expr_binary(c, EXPR_MAX, value, term) : x_add(c, value, term);
  }
  return expr_select(c, inside, value, expr_zero(c, type));
}

static bool comp_roi_align(op_view *v, const shape_result *results, comprehension *c) {
  if (view_rank(v, 0) != 4 || view_rank(v, 1) != 2 || view_rank(v, 2) != 1)
    return view_error(v, "the rank of an operand is not known");
  int type = expr_compute_type(view_elem(v, 0));
  bool max = !strcmp(view_string(v, "mode"), "max");
  roi_axis y = roi_axis_of(c, 0, type), x = roi_axis_of(c, 1, type);
  comp_loop loops[6];
  for (int i = 0; i < 4; i++)
    loops[i] = (comp_loop){LOOP_PARALLEL, results[0].type.dims[i]};
  loops[4] = loops[5] =
      (comp_loop){LOOP_REDUCTION, dim_const(v->dims, view_int(v, "sampling_ratio"))};
  comp_stage *s = comp_stage_begin(c, 6, loops);
  if (view_int(v, "sampling_ratio") <= 0) {
    comp_stage_bound(c, s, 4, y.samples);
    comp_stage_bound(c, s, 5, x.samples);
  }
  const expr *value = roi_sample(c, &y, &x, type, max), *none = expr_index(c, 0);
  int acc = comp_acc_combine(c, s, max ? ACC_MAX : ACC_ADD, type, value, NULL);
  const expr *count = x_mul(c, expr_binary(c, EXPR_MAX, y.samples, none),
                            expr_binary(c, EXPR_MAX, x.samples, none));
  const expr *out = expr_acc(c, acc, type);
  if (max)
    out = expr_select(c, expr_compare(c, EXPR_EQ, count, none), expr_zero(c, type), out);
  else
    out = x_div(c, out, expr_cast(c, expr_binary(c, EXPR_MAX, count, expr_index(c, 1)), type));
  const expr *at[] = {expr_loop(c, 0), expr_loop(c, 1), expr_loop(c, 2), expr_loop(c, 3)};
  comp_write_at(c, s, comp_result(c, 0), 4, at, expr_cast(c, out, view_elem(v, 0)), NULL);
  return true;
}

// --- MaxRoiPool: X [N, C, H, W], rois [R, 5] of batch number and corners

static bool verify_max_roi(op_view *v) {
  const onnx_attr *shape = view_attr(v, "pooled_shape");
  if (shape->n != 2 || shape->ints[0] < 1 || shape->ints[1] < 1)
    return view_error(v, "pooled_shape: expected two positive entries");
  return roi_ranks(v, 5);
}

static bool shape_max_roi(op_view *v, shape_result *results) {
  if (!verify_max_roi(v))
    return false;
  dim_context *d = v->dims;
  const onnx_attr *shape = view_attr(v, "pooled_shape");
  const dim *dims[] = {view_rank(v, 1) == 2 ? view_dim(v, 1, 0) : dim_unknown(d),
                       view_rank(v, 0) == 4 ? view_dim(v, 0, 1) : dim_unknown(d),
                       dim_const(d, shape->ints[0]), dim_const(d, shape->ints[1])};
  shape_set(v, results, 0, 4, dims);
  return true;
}

static const expr *roi_column(comprehension *c, int column, int type) {
  const expr *at[] = {expr_loop(c, 0), expr_index(c, column)};
  return expr_cast(c, expr_read(c, 1, 2, at), type);
}

// First element and count of elements of an output bin along an axis.
static void pool_bin(comprehension *c, int axis, int type, const expr **first, const expr **count) {
  op_view *v = c->view;
  const expr *scale = expr_float(c, type, view_float(v, "spatial_scale"));
  const expr *start = round_away(c, x_mul(c, roi_column(c, 2 - axis, type), scale));
  const expr *end = round_away(c, x_mul(c, roi_column(c, 4 - axis, type), scale));
  const expr *one = expr_one(c, type);
  const expr *size = expr_binary(c, EXPR_MAX, x_add(c, x_sub(c, end, start), one), one);
  const expr *bin =
      x_div(c, size, expr_float(c, type, (double)view_attr(v, "pooled_shape")->ints[axis]));
  const expr *k = expr_cast(c, expr_loop(c, 2 + axis), type);
  const expr *low = x_add(c, expr_unary(c, EXPR_FLOOR, x_mul(c, k, bin)), start);
  const expr *high = x_add(c, expr_unary(c, EXPR_CEIL, x_mul(c, x_add(c, k, one), bin)), start);
  const expr *zero = expr_index(c, 0), *n = expr_dim(c, view_dim(v, 0, 2 + axis));
  *first = clamp(c, expr_cast(c, low, ONYX_INDEX), zero, n);
  *count = x_sub(c, clamp(c, expr_cast(c, high, ONYX_INDEX), zero, n), *first);
}

static bool comp_max_roi(op_view *v, const shape_result *results, comprehension *c) {
  if (view_rank(v, 0) != 4 || view_rank(v, 1) != 2)
    return view_error(v, "the rank of an operand is not known");
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  const expr *first[2], *count[2];
  for (int axis = 0; axis < 2; axis++)
    pool_bin(c, axis, type, &first[axis], &count[axis]);
  comp_loop loops[6];
  for (int i = 0; i < 4; i++)
    loops[i] = (comp_loop){LOOP_PARALLEL, results[0].type.dims[i]};
  loops[4] = loops[5] = (comp_loop){LOOP_REDUCTION, dim_const(v->dims, 0)};
  comp_stage *s = comp_stage_begin(c, 6, loops);
  comp_stage_bound(c, s, 4, count[0]);
  comp_stage_bound(c, s, 5, count[1]);
  const expr *batch = checked_batch(c, expr_cast(c, roi_column(c, 0, type), ONYX_INDEX));
  const expr *in[] = {batch, expr_loop(c, 1), x_add(c, first[0], expr_loop(c, 4)),
                      x_add(c, first[1], expr_loop(c, 5))};
  int acc = comp_acc_combine(c, s, ACC_MAX, type, expr_cast(c, expr_read(c, 0, 4, in), type), NULL);
  const expr *none = expr_index(c, 0);
  const expr *empty = expr_binary(c, EXPR_OR, expr_compare(c, EXPR_LE, count[0], none),
                                  expr_compare(c, EXPR_LE, count[1], none));
  const expr *y = expr_select(c, empty, expr_zero(c, type), expr_acc(c, acc, type));
  const expr *at[] = {expr_loop(c, 0), expr_loop(c, 1), expr_loop(c, 2), expr_loop(c, 3)};
  comp_write_at(c, s, comp_result(c, 0), 4, at, expr_cast(c, y, elem), NULL);
  return true;
}

const op_def ops_sample[] = {
    {"AffineGrid", verify_affine, shape_affine, comp_affine},
    {"GridSample", verify_grid_sample, shape_grid_sample, comp_grid_sample},
    {"MaxRoiPool", verify_max_roi, shape_max_roi, comp_max_roi},
    {"RoiAlign", verify_roi_align, shape_roi_align, comp_roi_align},
};
const int num_ops_sample = sizeof ops_sample / sizeof ops_sample[0];
