// Convolutions: Conv, ConvInteger, ConvTranspose, DeformConv.
#include "dialects/onnx/ops/op.h"
#include "dialects/onnx/ops/window.h"
#include <inttypes.h>
#include <string.h>

// Loops of every nest here: n, [g], m, output positions; then c, taps. The group loop is left out
// when there is one group, so that m indexes filters directly.
typedef struct conv_nest {
  comp_loop loops[2 * ONYX_MAX_RANK + 4];
  int num_loops;
  int n, g, m, c; // loop numbers; g is -1 without groups
  int out[ONYX_MAX_RANK], tap[ONYX_MAX_RANK];
  const expr *filter;  // index of the output channel over all groups
  const expr *channel; // index of the input channel over all groups
} conv_nest;

static int add_loop(conv_nest *n, loop_kind kind, const dim *extent) {
  n->loops[n->num_loops] = (comp_loop){kind, extent};
  return n->num_loops++;
}

// index = g * per_group + within
static const expr *group_index(comprehension *c, int g, const dim *per_group, int within) {
  const expr *i = expr_loop(c, within);
  if (g < 0)
    return i;
  const expr *base = expr_binary(c, EXPR_MUL, expr_loop(c, g), expr_dim(c, per_group));
  return expr_binary(c, EXPR_ADD, base, i);
}

static void conv_loops(comprehension *c, conv_nest *n, int64_t groups, const dim *filters_per_group,
                       const dim *channels_per_group, const window *w) {
  op_view *v = c->view;
  n->num_loops = 0;
  n->n = add_loop(n, LOOP_PARALLEL, view_dim(v, 0, 0));
  n->g = groups == 1 ? -1 : add_loop(n, LOOP_PARALLEL, dim_const(v->dims, groups));
  n->m = add_loop(n, LOOP_PARALLEL, filters_per_group);
  for (int i = 0; i < w->spatial; i++)
    n->out[i] = add_loop(n, LOOP_PARALLEL, w->axis[i].out);
  n->c = add_loop(n, LOOP_REDUCTION, channels_per_group);
  for (int i = 0; i < w->spatial; i++)
    n->tap[i] = add_loop(n, LOOP_REDUCTION, w->axis[i].kernel);
  n->filter = group_index(c, n->g, filters_per_group, n->m);
  n->channel = group_index(c, n->g, channels_per_group, n->c);
}

// --- what the schema cannot say

typedef struct conv {
  bool known; // the ranks of X and W are, the window is set
  int spatial;
  int64_t groups;
  window w;
} conv;

// Ranks, group divisibility, kernel_shape against W, bias length. W's dim `filters_axis` counts
// output channels (per group if transposed); the other of its first two dims input channels.
static bool conv_operands(op_view *v, conv *k, bool transposed) {
  int x = view_rank(v, 0), w = view_rank(v, 1);
  k->groups = view_int(v, "group");
  k->known = x >= 0 && w >= 0;
  if (k->groups < 1)
    return view_error(v, "group: expected at least 1, found %" PRId64, k->groups);
  if ((x >= 0 && x < 3) || (w >= 0 && w < 3) || (k->known && x != w))
    return view_error(v,
                      "operands 0 ('X') and 1 ('W'): expected equal ranks of 3 or more, found %d "
                      "and %d",
                      x, w);
  if (!k->known)
    return true;
  k->spatial = x - 2;
  int64_t channels, wide, filters;
  bool c_known = dim_is_const(view_dim(v, 0, 1), &channels);
  if (c_known && dim_is_const(view_dim(v, 1, transposed ? 0 : 1), &wide) &&
      channels != (transposed ? wide : wide * k->groups))
    return view_error(v, "operand 1 ('W'): expected %" PRId64 " input channels%s, found %" PRId64,
                      transposed ? channels : channels / k->groups,
                      transposed || k->groups == 1 ? "" : " in each group", wide);
  if (dim_is_const(view_dim(v, 1, transposed ? 0 : 0), &filters) && filters % k->groups)
    return view_error(v,
                      "operand 1 ('W'): dim 0 (%" PRId64 ") is no multiple of group (%" PRId64 ")",
                      filters, k->groups);
  return true;
}

static bool conv_kernel(op_view *v, const conv *k, const dim **kernel) {
  for (int i = 0; i < k->spatial; i++)
    kernel[i] = view_dim(v, 1, 2 + i);
  const onnx_attr *shape = view_attr(v, "kernel_shape");
  if (!shape->n)
    return true;
  const dim *stated[ONYX_MAX_RANK];
  if (!window_kernel_attr(v, k->spatial, stated))
    return false;
  for (int i = 0; i < k->spatial; i++) {
    int64_t x, y;
    if (dim_is_const(kernel[i], &x) && dim_is_const(stated[i], &y) && x != y)
      return view_error(
          v, "kernel_shape: entry %d is %" PRId64 ", but operand 1 ('W') has %" PRId64, i, y, x);
    if (kernel[i]->op != DIM_CONST)
      kernel[i] = stated[i];
  }
  return true;
}

static bool conv_bias(op_view *v, int operand, const dim *filters) {
  int rank = view_rank(v, operand);
  if (rank < 0)
    return true;
  int64_t x, y;
  if (rank != 1)
    return view_error(v, "operand %d ('B'): expected rank 1, found rank %d", operand, rank);
  if (dim_is_const(view_dim(v, operand, 0), &x) && dim_is_const(filters, &y) && x != y)
    return view_error(v, "operand %d ('B'): expected %" PRId64 " elements, found %" PRId64, operand,
                      y, x);
  return true;
}

static bool conv_of(op_view *v, conv *k) {
  const dim *kernel[ONYX_MAX_RANK];
  if (!conv_operands(v, k, false))
    return false;
  return !k->known || (conv_kernel(v, k, kernel) && window_of(v, k->spatial, kernel, &k->w));
}

static bool known_ranks(op_view *v, const conv *k) {
  return k->known ||
         view_error(v, "operand %d: the rank is not known", view_rank(v, 0) < 0 ? 0 : 1);
}

// --- Conv

static bool verify_conv(op_view *v) {
  conv k;
  return conv_of(v, &k) && (!k.known || conv_bias(v, 2, view_dim(v, 1, 0)));
}

static bool shape_conv(op_view *v, shape_result *results) {
  conv k;
  if (!conv_of(v, &k))
    return false;
  if (!k.known)
    return true;
  const dim *dims[ONYX_MAX_RANK] = {view_dim(v, 0, 0), view_dim(v, 1, 0)};
  for (int i = 0; i < k.spatial; i++)
    dims[2 + i] = k.w.axis[i].out;
  shape_set(v, results, 0, 2 + k.spatial, dims);
  return true;
}

static void conv_nest_of(comprehension *c, const conv *k, conv_nest *n) {
  op_view *v = c->view;
  const dim *per_group = dim_floordiv(v->dims, view_dim(v, 1, 0), dim_const(v->dims, k->groups));
  conv_loops(c, n, k->groups, per_group, view_dim(v, 1, 1), &k->w);
}

// X at the tap, `pad` outside.
static const expr *read_tap(comprehension *c, const conv *k, const conv_nest *n, const expr *pad) {
  const expr *at[ONYX_MAX_RANK] = {expr_loop(c, n->n), n->channel};
  for (int i = 0; i < k->spatial; i++)
    at[2 + i] = window_tap(c, &k->w.axis[i], n->out[i], n->tap[i]);
  return window_pads(&k->w) ? expr_read_padded(c, 0, 2 + k->spatial, at, pad)
                            : expr_read(c, 0, 2 + k->spatial, at);
}

static const expr *read_filter(comprehension *c, const conv *k, const conv_nest *n) {
  const expr *at[ONYX_MAX_RANK] = {n->filter, expr_loop(c, n->c)};
  for (int i = 0; i < k->spatial; i++)
    at[2 + i] = expr_loop(c, n->tap[i]);
  return expr_read(c, 1, 2 + k->spatial, at);
}

static void write_position(comprehension *c, comp_stage *s, const conv *k, const conv_nest *n,
                           const expr *value) {
  const expr *at[ONYX_MAX_RANK] = {expr_loop(c, n->n), n->filter};
  for (int i = 0; i < k->spatial; i++)
    at[2 + i] = expr_loop(c, n->out[i]);
  comp_write_at(c, s, comp_result(c, 0), 2 + k->spatial, at, value, NULL);
}

static const expr *plus_bias(comprehension *c, int operand, const expr *filter, const expr *y) {
  if (!view_has(c->view, operand))
    return y;
  return expr_binary(c, EXPR_ADD, y, expr_cast(c, expr_read(c, operand, 1, &filter), y->type));
}

static bool comp_conv(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  conv k;
  if (!conv_of(v, &k) || !known_ranks(v, &k))
    return false;
  conv_nest n;
  conv_nest_of(c, &k, &n);
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  comp_stage *s = comp_stage_begin(c, n.num_loops, n.loops);
  const expr *x = expr_cast(c, read_tap(c, &k, &n, expr_zero(c, elem)), type);
  const expr *w = expr_cast(c, read_filter(c, &k, &n), type);
  int acc = comp_acc_combine(c, s, ACC_ADD, type, expr_binary(c, EXPR_MUL, x, w), NULL);
  const expr *y = plus_bias(c, 2, n.filter, expr_acc(c, acc, type));
  write_position(c, s, &k, &n, expr_cast(c, y, elem));
  return true;
}

// --- ConvInteger: the padding stands for the zero point

static bool verify_conv_integer(op_view *v) {
  conv k;
  if (view_rank(v, 2) > 1 || view_rank(v, 3) > 1)
    return view_error(v, "operand %d: expected a scalar or a vector", view_rank(v, 2) > 1 ? 2 : 3);
  return conv_of(v, &k);
}

static bool shape_conv_integer(op_view *v, shape_result *results) {
  results[0].type.elem = ONYX_I32;
  return shape_conv(v, results);
}

// A scalar, a vector of one, or a vector with one entry a filter.
static bool conv_zero_point(comprehension *c, int operand, const expr *filter, const expr **out) {
  op_view *v = c->view;
  *out = expr_zero(c, view_elem(v, operand - 2));
  if (!view_has(v, operand))
    return true;
  int rank = view_rank(v, operand);
  if (rank < 0)
    return view_error(v, "operand %d: the rank is not known", operand);
  const expr *at = expr_index(c, 0);
  if (rank == 1 && filter && !dim_is(view_dim(v, operand, 0), 1)) {
    const expr *one =
        expr_compare(c, EXPR_EQ, expr_dim(c, view_dim(v, operand, 0)), expr_index(c, 1));
    at = view_dim(v, operand, 0)->op == DIM_CONST ? filter
                                                  : expr_select(c, one, expr_index(c, 0), filter);
  }
  *out = expr_read(c, operand, rank, &at);
  return true;
}

static bool comp_conv_integer(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  conv k;
  if (!conv_of(v, &k) || !known_ranks(v, &k))
    return false;
  conv_nest n;
  conv_nest_of(c, &k, &n);
  const expr *zx, *zw;
  if (!conv_zero_point(c, 2, NULL, &zx) || !conv_zero_point(c, 3, n.filter, &zw))
    return false;
  comp_stage *s = comp_stage_begin(c, n.num_loops, n.loops);
  const expr *x = expr_binary(c, EXPR_SUB, expr_cast(c, read_tap(c, &k, &n, zx), ONYX_I32),
                              expr_cast(c, zx, ONYX_I32));
  const expr *w = expr_binary(c, EXPR_SUB, expr_cast(c, read_filter(c, &k, &n), ONYX_I32),
                              expr_cast(c, zw, ONYX_I32));
  int acc = comp_acc_combine(c, s, ACC_ADD, ONYX_I32, expr_binary(c, EXPR_MUL, x, w), NULL);
  write_position(c, s, &k, &n, expr_acc(c, acc, ONYX_I32));
  return true;
}

// --- ConvTranspose, as a gather: the output position o takes tap t from input (o + pad - t * d) /
// s

static bool transpose_axis(op_view *v, window_axis *a, int64_t output_padding, int64_t output_shape,
                           const char *mode) {
  dim_context *d = v->dims;
  const dim *one = dim_const(d, 1), *zero = dim_const(d, 0), *two = dim_const(d, 2);
  const dim *reach =
      dim_add(d, dim_mul(d, dim_sub(d, a->kernel, one), dim_const(d, a->dilation)), one);
  const dim *full = dim_add(d, dim_mul(d, dim_sub(d, a->in, one), dim_const(d, a->stride)),
                            dim_add(d, reach, dim_const(d, output_padding)));
  bool upper = !strcmp(mode, "SAME_UPPER"), same = upper || !strcmp(mode, "SAME_LOWER");
  if (output_shape < 0 && !same) {
    if (!strcmp(mode, "VALID"))
      a->pad_begin = a->pad_end = zero;
    a->out = dim_sub(d, full, dim_add(d, a->pad_begin, a->pad_end));
    int64_t out;
    if (dim_is_const(a->out, &out) && out < 0)
      return view_error(v, "pads: %" PRId64 " more than there is to crop", -out);
    if (a->out->op != DIM_CONST)
      a->out = dim_max(d, a->out, zero);
    return true;
  }
  a->out =
      output_shape >= 0 ? dim_const(d, output_shape) : dim_mul(d, a->in, dim_const(d, a->stride));
  const dim *total = dim_max(d, dim_sub(d, full, a->out), zero),
            *half = dim_floordiv(d, total, two);
  a->pad_begin = upper ? half : dim_sub(d, total, half);
  a->pad_end = dim_sub(d, total, a->pad_begin);
  return true;
}

static bool conv_transpose_of(op_view *v, conv *k) {
  const dim *kernel[ONYX_MAX_RANK];
  if (!conv_operands(v, k, true) || (k->known && !conv_kernel(v, k, kernel)))
    return false;
  if (!k->known)
    return true;
  int n = k->spatial;
  int64_t strides[ONYX_MAX_RANK], dilations[ONYX_MAX_RANK], pads[2 * ONYX_MAX_RANK];
  int64_t extra[ONYX_MAX_RANK], shape[2 * ONYX_MAX_RANK];
  const onnx_attr *stated = view_attr(v, "output_shape");
  int leading = stated->n == n + 2 ? 2 : 0; // some exporters write batch and channel as well
  if (!window_ints(v, "strides", n, 1, 1, strides) ||
      !window_ints(v, "dilations", n, 1, 1, dilations) ||
      !window_ints(v, "pads", 2 * n, 0, 0, pads) ||
      !window_ints(v, "output_padding", n, 0, 0, extra) ||
      !window_ints(v, "output_shape", n + leading, -1, -1, shape))
    return false;
  k->w.spatial = n;
  for (int i = 0; i < n; i++) {
    window_axis *a = &k->w.axis[i];
    *a = (window_axis){.in = view_dim(v, 0, 2 + i),
                       .kernel = kernel[i],
                       .stride = strides[i],
                       .dilation = dilations[i],
                       .pad_begin = dim_const(v->dims, pads[i]),
                       .pad_end = dim_const(v->dims, pads[n + i])};
    if (!transpose_axis(v, a, extra[i], shape[leading + i], view_string(v, "auto_pad")))
      return false;
  }
  return true;
}

static const dim *transpose_filters(op_view *v, const conv *k) {
  return dim_mul(v->dims, view_dim(v, 1, 1), dim_const(v->dims, k->groups));
}

static bool verify_conv_transpose(op_view *v) {
  conv k;
  return conv_transpose_of(v, &k) && (!k.known || conv_bias(v, 2, transpose_filters(v, &k)));
}

static bool shape_conv_transpose(op_view *v, shape_result *results) {
  conv k;
  if (!conv_transpose_of(v, &k))
    return false;
  if (!k.known)
    return true;
  const dim *dims[ONYX_MAX_RANK] = {view_dim(v, 0, 0), transpose_filters(v, &k)};
  for (int i = 0; i < k.spatial; i++)
    dims[2 + i] = k.w.axis[i].out;
  shape_set(v, results, 0, 2 + k.spatial, dims);
  return true;
}

// Input position of a tap along one axis; *exact: whether the tap meets one (NULL: always).
static const expr *transpose_tap(comprehension *c, const window_axis *a, int position, int tap,
                                 const expr **exact) {
  const expr *k = expr_loop(c, tap);
  if (a->dilation != 1)
    k = expr_binary(c, EXPR_MUL, k, expr_index(c, a->dilation));
  const expr *t = expr_binary(c, EXPR_ADD, expr_loop(c, position), expr_dim(c, a->pad_begin));
  t = expr_binary(c, EXPR_SUB, t, k);
  *exact = NULL;
  if (a->stride == 1)
    return t;
  const expr *s = expr_index(c, a->stride);
  *exact = expr_compare(c, EXPR_EQ, expr_binary(c, EXPR_MOD, t, s), expr_index(c, 0));
  return expr_binary(c, EXPR_FLOORDIV, t, s);
}

static bool comp_conv_transpose(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  conv k;
  if (!conv_transpose_of(v, &k) || !known_ranks(v, &k))
    return false;
  dim_context *d = v->dims;
  conv_nest n;
  conv_loops(c, &n, k.groups, view_dim(v, 1, 1),
             dim_floordiv(d, view_dim(v, 0, 1), dim_const(d, k.groups)), &k.w);
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  comp_stage *s = comp_stage_begin(c, n.num_loops, n.loops);
  const expr *at[ONYX_MAX_RANK] = {expr_loop(c, n.n), n.channel};
  const expr *wt[ONYX_MAX_RANK] = {n.channel, expr_loop(c, n.m)};
  const expr *meets = NULL;
  for (int i = 0; i < k.spatial; i++) {
    const expr *exact;
    at[2 + i] = transpose_tap(c, &k.w.axis[i], n.out[i], n.tap[i], &exact);
    wt[2 + i] = expr_loop(c, n.tap[i]);
    if (exact)
      meets = meets ? expr_binary(c, EXPR_AND, meets, exact) : exact;
  }
  const expr *x = expr_read_padded(c, 0, 2 + k.spatial, at, expr_zero(c, elem));
  const expr *w = expr_read(c, 1, 2 + k.spatial, wt);
  const expr *term = expr_binary(c, EXPR_MUL, expr_cast(c, x, type), expr_cast(c, w, type));
  if (meets)
    term = expr_select(c, meets, term, expr_zero(c, type));
  int acc = comp_acc_combine(c, s, ACC_ADD, type, term, NULL);
  const expr *y = plus_bias(c, 2, n.filter, expr_acc(c, acc, type));
  write_position(c, s, &k, &n, expr_cast(c, y, elem));
  return true;
}

// --- DeformConv: X, W, offset, B, mask; taps move by learned offsets, read by linear interpolation

static bool deform_of(op_view *v, conv *k) {
  if (!conv_of(v, k))
    return false;
  int64_t groups = view_int(v, "offset_group"), channels;
  if (groups < 1)
    return view_error(v, "offset_group: expected at least 1, found %" PRId64, groups);
  if (k->known && dim_is_const(view_dim(v, 0, 1), &channels) && channels % groups)
    return view_error(v, "offset_group: %" PRId64 " does not divide the %" PRId64 " channels",
                      groups, channels);
  if (k->known && view_rank(v, 2) >= 0 && view_rank(v, 2) != k->spatial + 2)
    return view_error(v, "operand 2 ('offset'): expected rank %d, found rank %d", k->spatial + 2,
                      view_rank(v, 2));
  return true;
}

static bool verify_deform_conv(op_view *v) {
  conv k;
  return deform_of(v, &k) && (!k.known || conv_bias(v, 3, view_dim(v, 1, 0)));
}

// Number of this tap among all, row-major.
static const expr *tap_number(comprehension *c, const conv *k, const conv_nest *n) {
  const expr *t = expr_index(c, 0);
  for (int i = 0; i < k->spatial; i++) {
    t = expr_binary(c, EXPR_MUL, t, expr_dim(c, k->w.axis[i].kernel));
    t = expr_binary(c, EXPR_ADD, t, expr_loop(c, n->tap[i]));
  }
  return t;
}

// Element `channel` of offset or mask at this position.
static const expr *read_deform(comprehension *c, const conv *k, const conv_nest *n, int operand,
                               const expr *channel, int type) {
  const expr *at[ONYX_MAX_RANK] = {expr_loop(c, n->n), channel};
  for (int i = 0; i < k->spatial; i++)
    at[2 + i] = expr_loop(c, n->out[i]);
  return expr_cast(c, expr_read(c, operand, 2 + k->spatial, at), type);
}

// Sum over the 2^spatial neighbours of the moved position, zero outside of X.
static const expr *read_interpolated(comprehension *c, const conv *k, const conv_nest *n,
                                     const expr *const *position, int type) {
  const expr *sum = NULL;
  for (unsigned corner = 0; corner < 1u << k->spatial; corner++) {
    const expr *at[ONYX_MAX_RANK] = {expr_loop(c, n->n), n->channel}, *weight = NULL;
    for (int i = 0; i < k->spatial; i++) {
      const expr *low = expr_unary(c, EXPR_FLOOR, position[i]);
      const expr *part = expr_binary(c, EXPR_SUB, position[i], low);
      bool upper = corner >> i & 1;
      const expr *share = upper ? part : expr_binary(c, EXPR_SUB, expr_one(c, type), part);
      weight = weight ? expr_binary(c, EXPR_MUL, weight, share) : share;
      at[2 + i] = expr_cast(c, low, ONYX_INDEX);
      if (upper)
        at[2 + i] = expr_binary(c, EXPR_ADD, at[2 + i], expr_index(c, 1));
    }
    const expr *x = expr_read_padded(c, 0, 2 + k->spatial, at, expr_zero(c, view_elem(c->view, 0)));
    const expr *term = expr_binary(c, EXPR_MUL, weight, expr_cast(c, x, type));
    sum = sum ? expr_binary(c, EXPR_ADD, sum, term) : term;
  }
  return sum;
}

static bool comp_deform_conv(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  conv k;
  if (!deform_of(v, &k) || !known_ranks(v, &k))
    return false;
  if (k.spatial > 4)
    return view_error(v, "operand 0 ('X'): expected at most 4 spatial dims, found %d", k.spatial);
  conv_nest n;
  conv_nest_of(c, &k, &n);
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  comp_stage *s = comp_stage_begin(c, n.num_loops, n.loops);
  dim_context *d = v->dims;
  const dim *per_group =
      dim_floordiv(d, view_dim(v, 0, 1), dim_const(d, view_int(v, "offset_group")));
  const dim *taps = dim_const(d, 1);
  for (int i = 0; i < k.spatial; i++)
    taps = dim_mul(d, taps, k.w.axis[i].kernel);
  const expr *group = expr_binary(c, EXPR_FLOORDIV, n.channel, expr_dim(c, per_group));
  const expr *tap = expr_binary(c, EXPR_ADD, expr_binary(c, EXPR_MUL, group, expr_dim(c, taps)),
                                tap_number(c, &k, &n));
  const expr *position[ONYX_MAX_RANK];
  for (int i = 0; i < k.spatial; i++) {
    const expr *channel = expr_binary(
        c, EXPR_ADD, expr_binary(c, EXPR_MUL, tap, expr_index(c, k.spatial)), expr_index(c, i));
    const expr *base = expr_cast(c, window_tap(c, &k.w.axis[i], n.out[i], n.tap[i]), type);
    position[i] = expr_binary(c, EXPR_ADD, base, read_deform(c, &k, &n, 2, channel, type));
  }
  const expr *x = read_interpolated(c, &k, &n, position, type);
  if (view_has(v, 4))
    x = expr_binary(c, EXPR_MUL, x, read_deform(c, &k, &n, 4, tap, type));
  const expr *w = expr_cast(c, read_filter(c, &k, &n), type);
  int acc = comp_acc_combine(c, s, ACC_ADD, type, expr_binary(c, EXPR_MUL, x, w), NULL);
  const expr *y = plus_bias(c, 3, n.filter, expr_acc(c, acc, type));
  write_position(c, s, &k, &n, expr_cast(c, y, elem));
  return true;
}

const op_def ops_conv[] = {
    {"Conv", verify_conv, shape_conv, comp_conv},
    {"ConvInteger", verify_conv_integer, shape_conv_integer, comp_conv_integer},
    {"ConvTranspose", verify_conv_transpose, shape_conv_transpose, comp_conv_transpose},
    {"DeformConv", verify_deform_conv, shape_conv, comp_deform_conv},
};
const int num_ops_conv = sizeof ops_conv / sizeof ops_conv[0];
