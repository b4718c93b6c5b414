#include "dialects/onnx/ops/window.h"
#include <inttypes.h>
#include <string.h>

bool window_ints(op_view *v, const char *name, int count, int64_t minimum, int64_t fallback,
                 int64_t *out) {
  const onnx_attr *a = onyx_schema_attr_find(v->schema, name) ? view_attr(v, name) : NULL;
  bool set = a && a->n > 0;
  if (set && a->n != count)
    return view_error(v, "%s: expected %d entries, found %" PRId64, name, count, a->n);
  for (int i = 0; i < count; i++) {
    out[i] = set ? a->ints[i] : fallback;
    if (out[i] < minimum || out[i] > INT32_MAX)
      return view_error(v, "%s: expected at least %" PRId64 ", found %" PRId64, name, minimum,
                        out[i]);
  }
  return true;
}

bool window_kernel_attr(op_view *v, int spatial, const dim **kernel) {
  int64_t k[ONYX_MAX_RANK];
  if (!window_ints(v, "kernel_shape", spatial, 1, 1, k))
    return false;
  for (int i = 0; i < spatial; i++)
    kernel[i] = dim_const(v->dims, k[i]);
  return true;
}

// SAME_*: as many positions as ceil(in / stride), padding split in halves, the odd one at the end
// (UPPER) or at the beginning (LOWER).
static void axis_same(op_view *v, window_axis *a, const dim *reach, bool upper) {
  dim_context *d = v->dims;
  const dim *stride = dim_const(d, a->stride), *one = dim_const(d, 1), *two = dim_const(d, 2);
  a->out = dim_ceildiv(d, a->in, stride);
  const dim *needed = dim_add(d, dim_mul(d, dim_sub(d, a->out, one), stride), reach);
  const dim *total = dim_max(d, dim_sub(d, needed, a->in), dim_const(d, 0));
  a->pad_begin = upper ? dim_floordiv(d, total, two) : dim_ceildiv(d, total, two);
  a->pad_end = dim_sub(d, total, a->pad_begin);
}

// Explicit padding; with ceil_mode the last window may hang over the end, but one that would start
// in the end's padding is dropped.
static bool axis_explicit(op_view *v, window_axis *a, const dim *reach, bool ceil_mode, int i) {
  dim_context *d = v->dims;
  const dim *stride = dim_const(d, a->stride), *one = dim_const(d, 1);
  const dim *before = dim_add(d, a->in, a->pad_begin);
  const dim *span = dim_sub(d, dim_add(d, before, a->pad_end), reach);
  int64_t value;
  if (dim_is_const(span, &value) && value < -1)
    return view_error(v,
                      "spatial dim %d: the window reaches over %" PRId64
                      " elements more than the padded input has",
                      i, -value);
  if (!ceil_mode) {
    a->out = dim_add(d, dim_floordiv(d, span, stride), one);
  } else {
    const dim *n = dim_add(d, dim_ceildiv(d, span, stride), one);
    const dim *last = dim_mul(d, dim_sub(d, n, one), stride);
    const dim *starts_inside = dim_lt(d, last, before);
    a->out = dim_select(d, starts_inside, n, dim_sub(d, n, one));
  }
  if (a->out->op != DIM_CONST || a->out->value < 0)
    a->out = dim_max(d, a->out, dim_const(d, 0));
  a->inside = !ceil_mode && dim_is(a->pad_begin, 0) && dim_is(a->pad_end, 0);
  return true;
}

bool window_of(op_view *v, int spatial, const dim *const *kernel, window *w) {
  int64_t strides[ONYX_MAX_RANK], dilations[ONYX_MAX_RANK], pads[2 * ONYX_MAX_RANK];
  if (!window_ints(v, "strides", spatial, 1, 1, strides) ||
      !window_ints(v, "dilations", spatial, 1, 1, dilations) ||
      !window_ints(v, "pads", 2 * spatial, 0, 0, pads))
    return false;
  bool ceil_mode = onyx_schema_attr_find(v->schema, "ceil_mode") && view_int(v, "ceil_mode") != 0;
  const char *mode = onyx_schema_attr_find(v->schema, "auto_pad") ? view_string(v, "auto_pad") : "";
  bool upper = !strcmp(mode, "SAME_UPPER"), lower = !strcmp(mode, "SAME_LOWER");
  bool valid = !strcmp(mode, "VALID");
  if (!upper && !lower && !valid && *mode && strcmp(mode, "NOTSET"))
    return view_error(v, "auto_pad: expected NOTSET, VALID, SAME_UPPER or SAME_LOWER, found '%s'",
                      mode);
  dim_context *d = v->dims;
  w->spatial = spatial;
  for (int i = 0; i < spatial; i++) {
    window_axis *a = &w->axis[i];
    *a = (window_axis){.in = view_dim(v, 0, 2 + i),
                       .kernel = kernel[i],
                       .stride = strides[i],
                       .dilation = dilations[i],
                       .pad_begin = dim_const(d, valid ? 0 : pads[i]),
                       .pad_end = dim_const(d, valid ? 0 : pads[spatial + i])};
    const dim *one = dim_const(d, 1);
    const dim *reach =
        dim_add(d, dim_mul(d, dim_sub(d, kernel[i], one), dim_const(d, dilations[i])), one);
    if (upper || lower)
      axis_same(v, a, reach, upper);
    else if (!axis_explicit(v, a, reach, ceil_mode && !valid, i))
      return false;
  }
  return true;
}

const expr *window_tap(comprehension *c, const window_axis *a, int position, int tap) {
  const expr *o = expr_loop(c, position), *k = expr_loop(c, tap);
  if (a->stride != 1)
    o = expr_binary(c, EXPR_MUL, o, expr_index(c, a->stride));
  if (a->dilation != 1)
    k = expr_binary(c, EXPR_MUL, k, expr_index(c, a->dilation));
  const expr *at = expr_binary(c, EXPR_ADD, o, k);
  return dim_is(a->pad_begin, 0) ? at : expr_binary(c, EXPR_SUB, at, expr_dim(c, a->pad_begin));
}

bool window_pads(const window *w) {
  for (int i = 0; i < w->spatial; i++)
    if (!w->axis[i].inside)
      return true;
  return false;
}
