// Resize: separable interpolation. An axis has two small tables, made once: where its window of
// taps begins, and the weights of the taps. A pass over one axis is then a reduction over the taps.
//
// At x (in input coordinates) with n taps the window begins at ceil(x) - n/2, and tap i weighs K((i
// - x) * s), with K the triangle or Keys' cubic; s = min(scale, 1) stretches K for antialiasing,
// else s = 1. Taps outside read the edge, or are left out (exclude_outside).
#include "dialects/onnx/ops/axes.h"
#include "dialects/onnx/ops/convert.h"
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef enum resize_mode { NEAREST, LINEAR, CUBIC } resize_mode;

typedef struct resize_axis {
  const dim *in, *out;
  const dim *num, *den; // scale = num / den; NULL: it is a float that is known at run time
  int slot;             // entry of scales or sizes; -1: the axis is not resized
  const dim *taps;      // of the antialiasing kernel, where the scale is a float that is data
} resize_axis;

typedef struct resize {
  int rank, entries;
  resize_mode mode;
  bool crop; // tf_crop_and_resize
  resize_axis axis[ONYX_MAX_RANK];
} resize;

static bool resize_mode_of(op_view *v, resize *r) {
  static const char *const names[] = {"nearest", "linear", "cubic"};
  const char *mode = view_string(v, "mode");
  r->crop = strcmp(view_string(v, "coordinate_transformation_mode"), "tf_crop_and_resize") == 0;
  for (int k = 0; k < 3; k++)
    if (strcmp(mode, names[k]) == 0) {
      r->mode = (resize_mode)k;
      return true;
    }
  return view_error(v, "mode: expected nearest, linear or cubic, found '%s'", mode);
}

// A float is p / 2^k exactly; false when p or k is out of hand.
static bool rational(double scale, int64_t *p, int64_t *q) {
  *q = 1;
  for (int k = 0; k < 40 && scale != floor(scale); k++) {
    scale *= 2;
    *q *= 2;
  }
  bool exact = scale == floor(scale) && scale > 0 && scale < 9e12;
  *p = exact ? (int64_t)scale : 0;
  return exact;
}

static bool axis_scale(op_view *v, resize_axis *a) {
  dim_context *d = v->dims;
  const onnx_operand *scales = view_operand(v, 2);
  int64_t p, q;
  if (scales->data && a->slot < scales->num_elements) {
    double scale = onyx_element_to_double(scales->type.elem, scales->data, a->slot);
    if (!(scale > 0))
      return view_error(v, "operand 2 ('scales'): expected scales above 0, found %g", scale);
    if (rational(scale, &p, &q)) {
      a->num = dim_const(d, p);
      a->den = dim_const(d, q);
      a->out = dim_floordiv(d, dim_mul(d, a->in, a->num), a->den);
      return true;
    }
  }
  a->out = dim_unknown_extent(d);
  return true;
}

// The scale that keeps the aspect ratio: the least or the greatest of sizes[i] / in[i].
static void keep_ratio(op_view *v, resize *r, bool least) {
  dim_context *d = v->dims;
  const dim *num = NULL, *den = NULL;
  for (int k = 0; k < r->rank; k++) {
    resize_axis *a = &r->axis[k];
    if (a->slot < 0)
      continue;
    if (!num) {
      num = a->num, den = a->den;
      continue;
    }
    const dim *own = dim_mul(d, a->num, den), *best = dim_mul(d, num, a->den);
    const dim *better = least ? dim_lt(d, own, best) : dim_lt(d, best, own);
    num = dim_select(d, better, a->num, num);
    den = dim_select(d, better, a->den, den);
  }
  const dim *two = dim_const(d, 2);
  for (int k = 0; k < r->rank && num; k++) {
    resize_axis *a = &r->axis[k];
    if (a->slot < 0)
      continue;
    a->num = num;
    a->den = den;
    const dim *doubled = dim_add(d, dim_mul(d, two, dim_mul(d, num, a->in)), den); // halves go up
    a->out = dim_floordiv(d, doubled, dim_mul(d, two, den));
  }
}

static bool resize_slots(op_view *v, resize *r) {
  const onnx_attr *axes = view_attr(v, "axes");
  r->entries = axes->present ? (int)axes->n : r->rank;
  for (int k = 0; k < r->rank; k++)
    r->axis[k] = (resize_axis){
        view_dim(v, 0, k), view_dim(v, 0, k), NULL, NULL, axes->present ? -1 : k, NULL};
  for (int k = 0; axes->present && k < axes->n; k++) {
    int at;
    if (!axis_normalize(v, "axes", axes->ints[k], r->rank, &at))
      return false;
    if (r->axis[at].slot >= 0)
      return view_error(v, "axes: axis %d is listed twice", at);
    r->axis[at].slot = k;
  }
  return true;
}

static bool has_entries(const op_view *v, int i) {
  return view_has(v, i) && list_count(v, i) != 0;
}

// rank -1: not known.
static bool resize_of(op_view *v, resize *r) {
  r->rank = view_rank(v, 0);
  if (!resize_mode_of(v, r))
    return false;
  bool scales = has_entries(v, 2), sizes = has_entries(v, 3);
  if (scales == sizes)
    return view_error(v, "expected one of operands 2 ('scales') and 3 ('sizes'), found %s",
                      scales ? "both" : "neither");
  if (r->rank < 0)
    return true;
  if (!resize_slots(v, r))
    return false;
  int operand = scales ? 2 : 3, count = list_count(v, operand);
  if (count >= 0 && count != r->entries)
    return view_error(v, "operand %d ('%s'): expected %d entries, found %d", operand,
                      view_name(v, operand), r->entries, count);
  for (int k = 0; k < r->rank; k++) {
    resize_axis *a = &r->axis[k];
    if (a->slot < 0)
      continue;
    if (scales && !axis_scale(v, a))
      return false;
    if (sizes) {
      a->num = a->out = list_value(v, 3, a->slot);
      if (dim_has_unknown(a->out))
        a->num = a->out = dim_unknown_extent(v->dims);
      a->den = a->in;
      if (a->out->op == DIM_CONST && a->out->value < 0)
        return view_error(v, "operand 3 ('sizes'): expected sizes >= 0, found %" PRId64,
                          a->out->value);
    }
  }
  const char *policy = view_string(v, "keep_aspect_ratio_policy");
  if (sizes && strcmp(policy, "stretch") != 0)
    keep_ratio(v, r, strcmp(policy, "not_larger") == 0);
  return true;
}

static bool one_of(op_view *v, const char *attr, const char *const *names) {
  const char *s = view_string(v, attr);
  for (; *names; names++)
    if (strcmp(s, *names) == 0)
      return true;
  return view_error(v, "%s: '%s' is not known", attr, s);
}

static bool verify_resize(op_view *v) {
  static const char *const transformations[] = {"half_pixel",
                                                "half_pixel_symmetric",
                                                "pytorch_half_pixel",
                                                "align_corners",
                                                "asymmetric",
                                                "tf_crop_and_resize",
                                                NULL};
  static const char *const nearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil",
                                        NULL};
  static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
  resize r;
  if (!one_of(v, "coordinate_transformation_mode", transformations) ||
      !one_of(v, "nearest_mode", nearest) || !one_of(v, "keep_aspect_ratio_policy", policies) ||
      !resize_of(v, &r))
    return false;
  if (r.mode == NEAREST && view_int(v, "antialias"))
    return view_error(v, "antialias: expected 0 in mode nearest, found 1");
  return !r.crop || has_entries(v, 1) ||
         view_error(v, "operand 1 ('roi'): expected one in mode tf_crop_and_resize");
}

static bool shape_resize(op_view *v, shape_result *results) {
  resize r;
  const dim *dims[ONYX_MAX_RANK];
  if (!resize_of(v, &r))
    return false;
  if (r.rank < 0)
    return true;
  for (int k = 0; k < r.rank; k++) {
    dims[k] = r.axis[k].out;
    if (dim_has_unknown(dims[k]))
      dims[k] = dim_unknown_extent(v->dims);
    else if (dims[k]->op != DIM_CONST)
      dims[k] = dim_max(v->dims, dims[k], dim_const(v->dims, 0));
  }
  shape_set(v, results, 0, r.rank, dims);
  return true;
}

// --- coordinates, in f64

static const expr *f64_dim(comprehension *c, const dim *d) {
  return expr_cast(c, expr_dim(c, d), ONYX_F64);
}
static const expr *f64(comprehension *c, double value) {
  return expr_float(c, ONYX_F64, value);
}

static const expr *scale_of(comprehension *c, const resize_axis *a) {
  if (!a->num) {
    const expr *at = expr_index(c, a->slot);
    return expr_cast(c, expr_read(c, 2, 1, &at), ONYX_F64);
  }
  int64_t p, q;
  if (dim_is_const(a->num, &p) && dim_is_const(a->den, &q) && q)
    return f64(c, (double)p / (double)q);
  return x_div(c, f64_dim(c, a->num), f64_dim(c, a->den));
}

// The output's width before it became an integer.
static const expr *width_of(comprehension *c, const resize_axis *a) {
  if (a->num == a->out)
    return f64_dim(c, a->out);
  return x_mul(c, scale_of(c, a), f64_dim(c, a->in));
}

static const expr *roi_entry(comprehension *c, int slot) {
  const expr *at = expr_index(c, slot);
  return expr_cast(c, expr_read(c, 1, 1, &at), ONYX_F64);
}

// Where output position i lies in the input.
static const expr *coordinate(comprehension *c, const resize *r, const resize_axis *a,
                              const expr *i) {
  const char *how = view_string(c->view, "coordinate_transformation_mode");
  const expr *x = expr_cast(c, i, ONYX_F64), *half = f64(c, 0.5), *one = f64(c, 1),
             *zero = f64(c, 0);
  const expr *last = x_sub(c, f64_dim(c, a->in), one), *width = width_of(c, a),
             *single = x_eq(c, width, one);
  if (strcmp(how, "asymmetric") == 0)
    return x_div(c, x, scale_of(c, a));
  if (strcmp(how, "align_corners") == 0)
    return expr_select(c, single, zero, x_div(c, x_mul(c, x, last), x_sub(c, width, one)));
  if (r->crop) {
    const expr *start = roi_entry(c, a->slot),
               *span = x_sub(c, roi_entry(c, r->entries + a->slot), start);
    const expr *wide = x_mul(c, span, last);
    const expr *offset = expr_select(c, single, x_mul(c, wide, half),
                                     x_div(c, x_mul(c, x, wide), x_sub(c, width, one)));
    return x_add(c, offset, x_mul(c, start, last));
  }
  const expr *centre = x_sub(c, x_div(c, x_add(c, x, half), scale_of(c, a)), half);
  if (strcmp(how, "pytorch_half_pixel") == 0)
    return expr_select(c, single, f64(c, -0.5), centre);
  if (strcmp(how, "half_pixel_symmetric") == 0) {
    const expr *adjustment = x_div(c, f64_dim(c, a->out), width);
    const expr *offset = x_mul(c, x_mul(c, f64_dim(c, a->in), half), x_sub(c, one, adjustment));
    return x_add(c, offset, centre);
  }
  return centre;
}

static const expr *nearest_index(comprehension *c, const resize *r, const resize_axis *a,
                                 const expr *i) {
  const char *how = view_string(c->view, "nearest_mode");
  const expr *x = coordinate(c, r, a, i), *half = f64(c, 0.5), *y;
  if (strcmp(how, "floor") == 0)
    y = expr_unary(c, EXPR_FLOOR, x);
  else if (strcmp(how, "ceil") == 0)
    y = expr_unary(c, EXPR_CEIL, x);
  else if (strcmp(how, "round_prefer_ceil") == 0)
    y = expr_unary(c, EXPR_FLOOR, x_add(c, x, half));
  else
    y = expr_unary(c, EXPR_CEIL, x_sub(c, x, half));
  const expr *last = x_sub(c, expr_dim(c, a->in), expr_index(c, 1));
  return x_clamp(c, expr_cast(c, y, ONYX_INDEX), expr_index(c, 0), last);
}

// Whether the position lies outside the input: tf_crop_and_resize gives extrapolation_value there.
static const expr *is_outside(comprehension *c, const resize *r, const resize_axis *a,
                              const expr *i) {
  const expr *x = coordinate(c, r, a, i), *last = x_sub(c, f64_dim(c, a->in), f64(c, 1));
  return x_or(c, x_lt(c, x, f64(c, 0)), x_lt(c, last, x));
}

// --- nearest: one pass that reads where the tables say

static bool axis_stays(const resize *r, const resize_axis *a) {
  return a->slot < 0 || (a->in == a->out && !r->crop);
}

static void comp_nearest(comprehension *c, const resize *r, const shape_result *results) {
  int out = comp_result(c, 0), table[ONYX_MAX_RANK];
  onyx_elem elem = results[0].type.elem;
  const expr *i = expr_loop(c, 0);
  for (int k = 0; k < r->rank; k++) {
    if (axis_stays(r, &r->axis[k]))
      continue;
    table[k] = comp_temp(c, ONYX_I64, 1, &c->buffers[out].dims[k]);
    comp_stage *s = comp_stage_over(c, table[k]);
    comp_write_point(c, s, table[k], expr_cast(c, nearest_index(c, r, &r->axis[k], i), ONYX_I64));
  }
  const expr *in[ONYX_MAX_RANK], *outside = expr_int(c, ONYX_BOOL, 0);
  for (int k = 0; k < r->rank; k++) {
    in[k] = expr_loop(c, k);
    if (axis_stays(r, &r->axis[k]))
      continue;
    if (r->crop)
      outside = x_or(c, outside, is_outside(c, r, &r->axis[k], in[k]));
    in[k] = expr_cast(c, expr_read(c, table[k], 1, &in[k]), ONYX_INDEX);
  }
  const expr *x = expr_read(c, 0, r->rank, in);
  if (r->crop)
    x = expr_select(
        c, outside,
        expr_cast(c, expr_float(c, ONYX_F32, view_float(c->view, "extrapolation_value")), elem), x);
  comp_write_point(c, comp_stage_over(c, out), out, x);
}

// --- linear and cubic

// Taps of the window: 2 or 4, or as many as the stretched kernel spans.
static const dim *taps_of(op_view *v, const resize *r, const resize_axis *a) {
  dim_context *d = v->dims;
  int64_t reach = r->mode == LINEAR ? 1 : 2;
  if (a->taps)
    return a->taps;
  if (!view_int(v, "antialias"))
    return dim_const(d, 2 * reach);
  // first = floor(-reach / min(scale, 1)) + 1; taps = 2 - 2 * first
  const dim *num = dim_min(d, a->num, a->den);
  const dim *first =
      dim_add(d, dim_floordiv(d, dim_mul(d, dim_const(d, -reach), a->den), num), dim_const(d, 1));
  return dim_sub(d, dim_const(d, 2), dim_mul(d, dim_const(d, 2), first));
}

static const expr *kernel(comprehension *c, resize_mode mode, const expr *t) {
  const expr *d = expr_unary(c, EXPR_ABS, t), *one = f64(c, 1), *zero = f64(c, 0);
  if (mode == LINEAR)
    return x_max(c, x_sub(c, one, d), zero);
  double a = (double)(float)view_float(c->view, "cubic_coeff_a");
  const expr *square = x_mul(c, d, d), *cube = x_mul(c, square, d);
  const expr *near = x_sub(c, x_mul(c, f64(c, a + 2), cube), x_mul(c, f64(c, a + 3), square));
  near = x_add(c, near, one);
  const expr *far = x_sub(c, x_mul(c, f64(c, a), cube), x_mul(c, f64(c, 5 * a), square));
  far = x_sub(c, x_add(c, far, x_mul(c, f64(c, 8 * a), d)), f64(c, 4 * a));
  return expr_select(c, expr_compare(c, EXPR_LE, d, one), near,
                     expr_select(c, x_lt(c, d, f64(c, 2)), far, zero));
}

typedef struct axis_tables {
  int start, weights; // [out], [out, taps]
  const dim *taps;
} axis_tables;

static const expr *first_tap(comprehension *c, const expr *x, const dim *taps) {
  const dim *half = dim_floordiv(c->view->dims, taps, dim_const(c->view->dims, 2));
  return x_sub(c, expr_cast(c, expr_unary(c, EXPR_CEIL, x), ONYX_INDEX), expr_dim(c, half));
}

// Weight of tap k at position i before it is normalised.
static const expr *raw_weight(comprehension *c, const resize *r, const resize_axis *a,
                              const dim *taps, const expr *i, const expr *k) {
  const expr *x = coordinate(c, r, a, i), *tap = x_add(c, first_tap(c, x, taps), k);
  const expr *t = x_sub(c, expr_cast(c, tap, ONYX_F64), x);
  if (view_int(c->view, "antialias"))
    t = x_mul(c, t, x_min(c, scale_of(c, a), f64(c, 1)));
  const expr *w = kernel(c, r->mode, t);
  if (!view_int(c->view, "exclude_outside"))
    return w;
  const expr *inside = x_and(c, x_ge(c, tap, expr_index(c, 0)), x_lt(c, tap, expr_dim(c, a->in)));
  return expr_select(c, inside, w, f64(c, 0));
}

static axis_tables make_tables(comprehension *c, const resize *r, const resize_axis *a,
                               const dim *out, int type) {
  op_view *v = c->view;
  axis_tables t = {.taps = taps_of(v, r, a)};
  const dim *dims[2] = {out, t.taps};
  const expr *i = expr_loop(c, 0), *k = expr_loop(c, 1), *at[2] = {i, k};
  t.start = comp_temp(c, ONYX_I64, 1, dims);
  t.weights = comp_temp(c, (onyx_elem)type, 2, dims);
  comp_stage *s = comp_stage_over(c, t.start);
  comp_write_point(c, s, t.start,
                   expr_cast(c, first_tap(c, coordinate(c, r, a, i), t.taps), ONYX_I64));
  const expr *w = raw_weight(c, r, a, t.taps, i, k);
  if (view_int(v, "antialias") || view_int(v, "exclude_outside")) {
    int sum = comp_temp(c, ONYX_F64, 1, dims);
    comp_loop loops[2] = {{LOOP_PARALLEL, out}, {LOOP_REDUCTION, t.taps}};
    s = comp_stage_begin(c, 2, loops);
    comp_acc_combine(c, s, ACC_ADD, ONYX_F64, w, NULL);
    comp_write_at(c, s, sum, 1, at, expr_acc(c, 0, ONYX_F64), NULL);
    const expr *total = expr_read(c, sum, 1, at); // 0 where every tap is outside
    total = expr_select(c, x_eq(c, total, f64(c, 0)), f64(c, 1), total);
    w = x_div(c, raw_weight(c, r, a, t.taps, i, k), total);
  }
  s = comp_stage_over(c, t.weights);
  comp_write_point(c, s, t.weights, expr_cast(c, w, type));
  return t;
}

// One axis of `from` resized into `to`.
static void resize_pass(comprehension *c, const resize *r, int axis, const axis_tables *t, int from,
                        int to, int type) {
  const resize_axis *a = &r->axis[axis];
  comp_loop loops[ONYX_MAX_RANK + 1];
  const expr *in[ONYX_MAX_RANK], *i = expr_loop(c, axis), *k = expr_loop(c, r->rank),
                                 *at[2] = {i, k};
  for (int d = 0; d < r->rank; d++)
    loops[d] = (comp_loop){LOOP_PARALLEL, c->buffers[to].dims[d]};
  loops[r->rank] = (comp_loop){LOOP_REDUCTION, t->taps};
  x_loops(c, r->rank, in);
  const expr *tap = x_add(c, expr_cast(c, expr_read(c, t->start, 1, &i), ONYX_INDEX), k);
  in[axis] = x_clamp(c, tap, expr_index(c, 0), x_sub(c, expr_dim(c, a->in), expr_index(c, 1)));
  const expr *x = expr_cast(c, expr_read(c, from, r->rank, in), type),
             *w = expr_read(c, t->weights, 2, at);
  comp_stage *s = comp_stage_begin(c, r->rank + 1, loops);
  comp_acc_combine(c, s, ACC_ADD, type, x_mul(c, w, x), NULL);
  const expr *y = expr_acc(c, 0, type);
  if (r->crop)
    y = expr_select(c, is_outside(c, r, a, i),
                    expr_float(c, type, view_float(c->view, "extrapolation_value")), y);
  comp_write_point(c, s, to, expr_cast(c, y, c->buffers[to].elem));
}

// The number of taps that a stretched kernel spans: 2 - 2 * (floor(-reach / min(scale, 1)) + 1).
static const dim *late_taps(comprehension *c, const resize *r, const expr *scale) {
  const expr *reach = f64(c, r->mode == LINEAR ? -1 : -2), *one = f64(c, 1), *two = f64(c, 2);
  const expr *first =
      x_add(c, expr_unary(c, EXPR_FLOOR, x_div(c, reach, x_min(c, scale, one))), one);
  int taps = comp_temp(c, ONYX_I64, 0, NULL);
  comp_stage *s = comp_stage_begin(c, 0, NULL);
  comp_write_at(c, s, taps, 0, NULL, expr_cast(c, x_sub(c, two, x_mul(c, two, first)), ONYX_I64),
                NULL);
  return comp_late_size(c, taps);
}

// Sizes that follow from scales known at run time: floor(in * scale).
static void late_sizes(comprehension *c, resize *r) {
  int size[ONYX_MAX_RANK];
  for (int k = 0; k < r->rank; k++) {
    resize_axis *a = &r->axis[k];
    if (a->slot < 0 || a->num)
      continue;
    size[k] = comp_temp(c, ONYX_I64, 0, NULL);
    const expr *scale = scale_of(c, a), *positive = x_lt(c, f64(c, 0), scale);
    scale = expr_check(c, scale, positive, 6, expr_cast(c, scale, ONYX_INDEX), expr_index(c, 1));
    comp_stage *s = comp_stage_begin(c, 0, NULL);
    comp_write_at(c, s, size[k], 0, NULL,
                  expr_cast(c, x_mul(c, f64_dim(c, a->in), scale), ONYX_I64), NULL);
    a->out = comp_late_size(c, size[k]);
    comp_set_extent(c, 0, k, a->out);
    if (view_int(c->view, "antialias"))
      a->taps = late_taps(c, r, scale);
  }
}

static bool comp_resize(op_view *v, const shape_result *results, comprehension *c) {
  resize r;
  if (!need_rank(v, 0) || !resize_of(v, &r))
    return false;
  for (int k = 0; k < r.rank; k++)
    if (r.axis[k].num && dim_has_unknown(r.axis[k].out))
      return view_error(v, "operand 3 ('sizes'): its elements are not known");
  onyx_elem elem = results[0].type.elem;
  bool is_float = onyx_elem_is_float(elem);
  late_sizes(c, &r);
  if (r.mode == NEAREST) {
    comp_nearest(c, &r, results);
    return true;
  }
  if (!is_float && !onyx_elem_is_int(elem))
    return view_error(v, "mode '%s' does not interpolate %s", view_string(v, "mode"),
                      onyx_elem_onnx_name(elem));
  int type = is_float ? expr_compute_type(elem) : ONYX_F64, passes = 0, from = 0, last = -1;
  const dim *dims[ONYX_MAX_RANK];
  for (int k = 0; k < r.rank; k++) {
    dims[k] = r.axis[k].in;
    if (!axis_stays(&r, &r.axis[k]))
      last = k;
  }
  for (int k = 0; k < r.rank; k++) {
    if (axis_stays(&r, &r.axis[k]))
      continue;
    dims[k] = c->buffers[comp_result(c, 0)].dims[k];
    axis_tables t = make_tables(c, &r, &r.axis[k], dims[k], type);
    int to = k == last ? comp_result(c, 0) : comp_temp(c, (onyx_elem)type, r.rank, dims);
    resize_pass(c, &r, k, &t, from, to, type);
    from = to;
    passes++;
  }
  if (!passes)
    c->alias_of = 0;
  return true;
}

const op_def ops_resize[] = {
    {"Resize", verify_resize, shape_resize, comp_resize},
};
const int num_ops_resize = sizeof ops_resize / sizeof ops_resize[0];
