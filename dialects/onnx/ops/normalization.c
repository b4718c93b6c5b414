// Normalizations: Batch, Instance, Layer, Group, RMS, Lp, MeanVariance, LRN.
#include "dialects/onnx/ops/axes.h"
#include "dialects/onnx/ops/op.h"
#include "dialects/onnx/ops/slices.h"
#include <inttypes.h>

static bool known_rank(op_view *v, int operand) {
  return view_rank(v, operand) >= 0 || view_error(v, "operand %d: the rank is not known", operand);
}

// A vector operand with one element for each channel (dim 1) of operand 0.
static bool channel_vector(op_view *v, int operand) {
  int rank = view_rank(v, operand), x = view_rank(v, 0);
  int64_t have, want;
  if (rank < 0)
    return true;
  if (rank != 1)
    return view_error(v, "operand %d: expected rank 1, found rank %d", operand, rank);
  if (x >= 2 && dim_is_const(view_dim(v, operand, 0), &have) &&
      dim_is_const(view_dim(v, 0, 1), &want) && have != want)
    return view_error(v, "operand %d: expected %" PRId64 " elements, one a channel, found %" PRId64,
                      operand, want, have);
  return true;
}

static bool at_least_rank(op_view *v, int least) {
  int rank = view_rank(v, 0);
  return rank < 0 || rank >= least ||
         view_error(v, "operand 0: expected rank %d or more, found rank %d", least, rank);
}

// Operand 0 at the element of a stage over all of them.
static const expr *read_x(comprehension *c, int type) {
  const expr *at[ONYX_MAX_RANK];
  int rank = view_rank(c->view, 0);
  for (int i = 0; i < rank; i++)
    at[i] = expr_loop(c, i);
  return expr_cast(c, expr_read(c, 0, rank, at), type);
}

// A vector at the channel of the element (loop 1; the only channel of a vector X).
static const expr *read_channel(comprehension *c, int buffer, int type) {
  const expr *at = view_rank(c->view, 0) > 1 ? expr_loop(c, 1) : expr_index(c, 0);
  return expr_cast(c, expr_read(c, buffer, 1, &at), type);
}

static const expr *inverse_root(comprehension *c, const expr *variance, double epsilon) {
  const expr *e = expr_float(c, variance->type, epsilon);
  const expr *root = expr_unary(c, EXPR_SQRT, expr_binary(c, EXPR_ADD, variance, e));
  return expr_binary(c, EXPR_DIV, expr_one(c, variance->type), root);
}

// (x - mean) * inverse * scale + bias; scale and bias may be NULL.
static const expr *normalized(comprehension *c, const expr *x, const expr *mean,
                              const expr *inverse, const expr *scale, const expr *bias) {
  const expr *y = mean ? expr_binary(c, EXPR_SUB, x, mean) : x;
  y = expr_binary(c, EXPR_MUL, y, inverse);
  y = scale ? expr_binary(c, EXPR_MUL, y, scale) : y;
  return bias ? expr_binary(c, EXPR_ADD, y, bias) : y;
}

static bool shape_same(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return true;
}

// --- BatchNormalization: X, scale, B, mean, var

static bool verify_batch(op_view *v) {
  bool training = view_int(v, "training_mode") != 0;
  for (int i = 1; i < 5; i++)
    if (!channel_vector(v, i))
      return false;
  for (int r = 1; r < v->num_results && !training; r++)
    if (v->wanted[r])
      return view_error(v, "result %d: only there with training_mode = 1", r);
  return at_least_rank(v, 1);
}

static bool shape_batch(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  for (int r = 1; r < v->num_results; r++)
    shape_like(v, results, r, 2 + r);
  return verify_batch(v);
}

// new = old * momentum + batch * (1 - momentum)
static void write_running(comprehension *c, int result, int operand, int batch, int type) {
  op_view *v = c->view;
  if (result >= v->num_results || !v->wanted[result])
    return;
  double momentum = view_float(v, "momentum");
  int y = comp_result(c, result);
  comp_stage *s = comp_stage_over(c, y);
  const expr *at = expr_loop(c, 0);
  const expr *old = expr_cast(c, expr_read(c, operand, 1, &at), type);
  const expr *sum = expr_binary(
      c, EXPR_ADD, expr_binary(c, EXPR_MUL, old, expr_float(c, type, momentum)),
      expr_binary(c, EXPR_MUL, expr_read(c, batch, 1, &at), expr_float(c, type, 1 - momentum)));
  comp_write_point(c, s, y, expr_cast(c, sum, view_elem(v, operand)));
}

static bool comp_batch(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  if (!known_rank(v, 0))
    return false;
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem), mean = 3, variance = 4, y = comp_result(c, 0);
  if (view_int(v, "training_mode")) {
    if (view_rank(v, 0) < 2)
      return view_error(v, "operand 0 ('X'): expected rank 2 or more, found rank %d",
                        view_rank(v, 0));
    slices s = {0};
    for (int i = 0; i < view_rank(v, 0); i++)
      s.along[i] = i != 1;
    slices_init(c, &s, 0);
    mean = slices_mean(c, &s, type);
    variance = slices_variance(c, &s, mean, type);
    write_running(c, 1, 3, mean, type);
    write_running(c, 2, 4, variance, type);
  }
  comp_stage *st = comp_stage_over(c, y);
  const expr *inverse = inverse_root(c, read_channel(c, variance, type), view_float(v, "epsilon"));
  const expr *value = normalized(c, read_x(c, type), read_channel(c, mean, type), inverse,
                                 read_channel(c, 1, type), read_channel(c, 2, type));
  comp_write_point(c, st, y, expr_cast(c, value, elem));
  return true;
}

// --- InstanceNormalization: input, scale, B; a slice is a channel of a batch element

static bool verify_instance(op_view *v) {
  return at_least_rank(v, 3) && channel_vector(v, 1) && channel_vector(v, 2);
}

static bool shape_instance(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return verify_instance(v);
}

static bool comp_instance(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  if (!known_rank(v, 0))
    return false;
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem), y = comp_result(c, 0);
  slices s = {0};
  for (int i = 2; i < view_rank(v, 0); i++)
    s.along[i] = true;
  slices_init(c, &s, 0);
  int mean = slices_mean(c, &s, type), variance = slices_variance(c, &s, mean, type);
  comp_stage *st = comp_stage_over(c, y);
  const expr *inverse = inverse_root(c, slices_read(c, &s, variance), view_float(v, "epsilon"));
  const expr *value = normalized(c, read_x(c, type), slices_read(c, &s, mean), inverse,
                                 read_channel(c, 1, type), read_channel(c, 2, type));
  comp_write_point(c, st, y, expr_cast(c, value, elem));
  return true;
}

// --- LayerNormalization and RMSNormalization: slices are the axes from `axis` on

// Scale and bias broadcast in one direction, to X.
static bool broadcasts_to_x(op_view *v, int operand) {
  int rank = view_rank(v, operand), x = view_rank(v, 0);
  if (rank < 0 || x < 0)
    return true;
  if (rank > x)
    return view_error(v, "operand %d: expected at most rank %d, found rank %d", operand, x, rank);
  for (int i = 0; i < rank; i++) {
    int64_t have, want;
    if (dim_is_const(view_dim(v, operand, i), &have) &&
        dim_is_const(view_dim(v, 0, x - rank + i), &want) && have != want && have != 1)
      return view_error(v, "operand %d: dim %d is %" PRId64 ", expected 1 or %" PRId64, operand, i,
                        have, want);
  }
  return true;
}

static bool verify_layer(op_view *v) {
  int axis, rank = view_rank(v, 0);
  if (rank >= 0 && !axis_attr(v, "axis", rank, &axis))
    return false;
  return broadcasts_to_x(v, 1) && broadcasts_to_x(v, 2);
}

static bool verify_rms(op_view *v) {
  int axis, rank = view_rank(v, 0);
  return (rank < 0 || axis_attr(v, "axis", rank, &axis)) && broadcasts_to_x(v, 1);
}

static bool shape_layer(op_view *v, shape_result *results) {
  int axis, rank = view_rank(v, 0);
  shape_like(v, results, 0, 0);
  if (!verify_layer(v))
    return false;
  const dim *dims[ONYX_MAX_RANK];
  if (rank >= 0 && !axis_attr(v, "axis", rank, &axis))
    return false;
  for (int i = 0; i < rank; i++)
    dims[i] = i < axis ? view_dim(v, 0, i) : dim_const(v->dims, 1);
  for (int r = 1; r < v->num_results; r++) {
    if (results[r].type.elem == ONYX_ELEM_UNDEFINED)
      results[r].type.elem = view_int(v, "stash_type") == ONYX_BF16 ? ONYX_BF16 : ONYX_F32;
    if (rank >= 0)
      shape_set(v, results, r, rank, dims);
  }
  return true;
}

static bool shape_rms(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return verify_rms(v);
}

static bool trailing_slices(comprehension *c, slices *s) {
  op_view *v = c->view;
  int axis;
  if (!known_rank(v, 0) || !axis_attr(v, "axis", view_rank(v, 0), &axis))
    return false;
  *s = (slices){0};
  for (int i = axis; i < view_rank(v, 0); i++)
    s->along[i] = true;
  slices_init(c, s, 0);
  return true;
}

static const expr *read_affine(comprehension *c, int operand, int type) {
  if (!view_has(c->view, operand))
    return NULL;
  return expr_cast(c, comp_read_broadcast(c, operand, view_rank(c->view, 0)), type);
}

// Mean and inverse deviation of each slice as results 1 and 2 of shape [kept..., 1...].
static void write_statistics(comprehension *c, const slices *s, int mean, int variance) {
  op_view *v = c->view;
  for (int r = 1; r < v->num_results; r++) {
    if (!v->wanted[r])
      continue;
    int y = comp_result(c, r);
    comp_stage *st = comp_stage_over(c, y);
    const expr *value =
        r == 1 ? slices_read(c, s, mean)
               : inverse_root(c, slices_read(c, s, variance), view_float(v, "epsilon"));
    comp_write_point(c, st, y, expr_cast(c, value, c->buffers[y].elem));
  }
}

static bool comp_layer(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  slices s;
  if (!trailing_slices(c, &s))
    return false;
  for (int i = 1; i < 3; i++)
    if (view_has(v, i) && !known_rank(v, i))
      return false;
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem), y = comp_result(c, 0);
  int mean = slices_mean(c, &s, type), variance = slices_variance(c, &s, mean, type);
  write_statistics(c, &s, mean, variance);
  comp_stage *st = comp_stage_over(c, y);
  const expr *inverse = inverse_root(c, slices_read(c, &s, variance), view_float(v, "epsilon"));
  const expr *value = normalized(c, read_x(c, type), slices_read(c, &s, mean), inverse,
                                 read_affine(c, 1, type), read_affine(c, 2, type));
  comp_write_point(c, st, y, expr_cast(c, value, elem));
  return true;
}

// Temporary of mean(|x|^p) (divide) or sum(|x|^p) of each slice, p being 1 or 2.
static int slice_norm(comprehension *c, const slices *s, int type, int p, bool divide) {
  const expr *in[ONYX_MAX_RANK], *out[ONYX_MAX_RANK];
  int temp = slices_temp(c, s, type);
  comp_stage *st = slices_reduce(c, s, in, out);
  const expr *x = expr_cast(c, expr_read(c, s->buffer, s->rank, in), type);
  x = p == 2 ? expr_binary(c, EXPR_MUL, x, x) : expr_unary(c, EXPR_ABS, x);
  const expr *sum = expr_acc(c, comp_acc_combine(c, st, ACC_ADD, type, x, NULL), type);
  if (divide)
    sum = expr_binary(c, EXPR_DIV, sum, expr_cast(c, expr_dim(c, s->count), type));
  comp_write_at(c, st, temp, s->num_kept, out, sum, NULL);
  return temp;
}

static bool comp_rms(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  slices s;
  if (!trailing_slices(c, &s) || !known_rank(v, 1))
    return false;
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem), y = comp_result(c, 0);
  int square = slice_norm(c, &s, type, 2, true);
  comp_stage *st = comp_stage_over(c, y);
  const expr *inverse = inverse_root(c, slices_read(c, &s, square), view_float(v, "epsilon"));
  const expr *value = normalized(c, read_x(c, type), NULL, inverse, NULL, NULL);
  // The standard rounds to X's type before it scales.
  value = expr_cast(c, expr_cast(c, value, elem), type);
  value = expr_binary(c, EXPR_MUL, value, read_affine(c, 1, type));
  comp_write_point(c, st, y, expr_cast(c, value, c->buffers[y].elem));
  return true;
}

// --- GroupNormalization: a slice is a group of channels with all of its positions

static bool verify_group(op_view *v) {
  int64_t groups = view_int(v, "num_groups"), channels;
  if (!at_least_rank(v, 2) || !channel_vector(v, 1) || !channel_vector(v, 2))
    return false;
  if (groups < 1)
    return view_error(v, "num_groups: expected at least 1, found %" PRId64, groups);
  if (view_rank(v, 0) >= 2 && dim_is_const(view_dim(v, 0, 1), &channels) && channels % groups)
    return view_error(v, "num_groups: %" PRId64 " does not divide the %" PRId64 " channels", groups,
                      channels);
  return true;
}

static bool shape_group(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return verify_group(v);
}

// Temporary [batch, group] of the mean of x, or of (x - mean)^2 with `mean` a temporary.
static int group_mean(comprehension *c, const dim *per_group, int mean, int type) {
  op_view *v = c->view;
  int rank = view_rank(v, 0);
  const dim *shape[] = {view_dim(v, 0, 0), dim_const(v->dims, view_int(v, "num_groups"))};
  int temp = comp_temp(c, (onyx_elem)type, 2, shape);
  comp_loop loops[ONYX_MAX_RANK + 1] = {
      {LOOP_PARALLEL, shape[0]}, {LOOP_PARALLEL, shape[1]}, {LOOP_REDUCTION, per_group}};
  const expr *out[] = {expr_loop(c, 0), expr_loop(c, 1)}, *in[ONYX_MAX_RANK];
  const expr *base = expr_binary(c, EXPR_MUL, out[1], expr_dim(c, per_group));
  in[0] = out[0];
  in[1] = expr_binary(c, EXPR_ADD, base, expr_loop(c, 2));
  const dim *count = per_group;
  for (int i = 2; i < rank; i++) {
    loops[i + 1] = (comp_loop){LOOP_REDUCTION, view_dim(v, 0, i)};
    in[i] = expr_loop(c, i + 1);
    count = dim_mul(v->dims, count, view_dim(v, 0, i));
  }
  comp_stage *s = comp_stage_begin(c, rank + 1, loops);
  const expr *x = expr_cast(c, expr_read(c, 0, rank, in), type);
  if (mean >= 0) {
    x = expr_binary(c, EXPR_SUB, x, expr_read(c, mean, 2, out));
    x = expr_binary(c, EXPR_MUL, x, x);
  }
  const expr *sum = expr_acc(c, comp_acc_combine(c, s, ACC_ADD, type, x, NULL), type);
  sum = expr_binary(c, EXPR_DIV, sum, expr_cast(c, expr_dim(c, count), type));
  comp_write_at(c, s, temp, 2, out, sum, NULL);
  return temp;
}

static bool comp_group(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  if (!known_rank(v, 0))
    return false;
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem), y = comp_result(c, 0);
  const dim *per_group =
      dim_floordiv(v->dims, view_dim(v, 0, 1), dim_const(v->dims, view_int(v, "num_groups")));
  int mean = group_mean(c, per_group, -1, type), variance = group_mean(c, per_group, mean, type);
  comp_stage *st = comp_stage_over(c, y);
  const expr *at[] = {expr_loop(c, 0),
                      expr_binary(c, EXPR_FLOORDIV, expr_loop(c, 1), expr_dim(c, per_group))};
  const expr *inverse = inverse_root(c, expr_read(c, variance, 2, at), view_float(v, "epsilon"));
  const expr *value = normalized(c, read_x(c, type), expr_read(c, mean, 2, at), inverse,
                                 read_channel(c, 1, type), read_channel(c, 2, type));
  comp_write_point(c, st, y, expr_cast(c, value, elem));
  return true;
}

// --- LpNormalization: x / ||x||_p along an axis, 0 where the norm is 0

static bool verify_lp(op_view *v) {
  int axis, rank = view_rank(v, 0);
  int64_t p = view_int(v, "p");
  if (p != 1 && p != 2)
    return view_error(v, "p: expected 1 or 2, found %" PRId64, p);
  return rank < 0 || axis_attr(v, "axis", rank, &axis);
}

static bool shape_lp(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return verify_lp(v);
}

static bool comp_lp(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  int axis;
  if (!known_rank(v, 0) || !axis_attr(v, "axis", view_rank(v, 0), &axis))
    return false;
  slices s = {0};
  s.along[axis] = true;
  slices_init(c, &s, 0);
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem), y = comp_result(c, 0), p = (int)view_int(v, "p");
  int sum = slice_norm(c, &s, type, p, false);
  comp_stage *st = comp_stage_over(c, y);
  const expr *norm = slices_read(c, &s, sum), *zero = expr_zero(c, type);
  norm = p == 2 ? expr_unary(c, EXPR_SQRT, norm) : norm;
  const expr *value = expr_select(c, expr_compare(c, EXPR_EQ, norm, zero), zero,
                                  expr_binary(c, EXPR_DIV, read_x(c, type), norm));
  comp_write_point(c, st, y, expr_cast(c, value, elem));
  return true;
}

// --- MeanVarianceNormalization: (x - mean) / (deviation + 1e-9) over `axes`

static bool mvn_axes(op_view *v, bool *along) {
  const onnx_attr *axes = view_attr(v, "axes");
  int rank = view_rank(v, 0), axis;
  for (int64_t i = 0; rank >= 0 && i < axes->n; i++) {
    if (!axis_normalize(v, "axes", axes->ints[i], rank, &axis))
      return false;
    along[axis] = true;
  }
  return true;
}

static bool verify_mvn(op_view *v) {
  bool along[ONYX_MAX_RANK] = {0};
  return mvn_axes(v, along);
}

static bool comp_mvn(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  slices s = {0};
  if (!known_rank(v, 0) || !mvn_axes(v, s.along))
    return false;
  slices_init(c, &s, 0);
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem), y = comp_result(c, 0);
  int mean = slices_mean(c, &s, type), variance = slices_variance(c, &s, mean, type);
  comp_stage *st = comp_stage_over(c, y);
  const expr *deviation = expr_unary(c, EXPR_SQRT, slices_read(c, &s, variance));
  const expr *value =
      expr_binary(c, EXPR_DIV, expr_binary(c, EXPR_SUB, read_x(c, type), slices_read(c, &s, mean)),
                  expr_binary(c, EXPR_ADD, deviation, expr_float(c, type, 1e-9)));
  comp_write_point(c, st, y, expr_cast(c, value, elem));
  return true;
}

// --- LRN: x / (bias + alpha / size * sum of squares over `size` channels around)^beta

static bool verify_lrn(op_view *v) {
  int64_t size = view_int(v, "size");
  if (size < 1)
    return view_error(v, "size: expected at least 1, found %" PRId64, size);
  return at_least_rank(v, 2);
}

static bool shape_lrn(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return verify_lrn(v);
}

static bool comp_lrn(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  if (!known_rank(v, 0))
    return false;
  int rank = view_rank(v, 0);
  int64_t size = view_int(v, "size");
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  comp_loop loops[ONYX_MAX_RANK + 1];
  const expr *at[ONYX_MAX_RANK], *near[ONYX_MAX_RANK];
  for (int i = 0; i < rank; i++) {
    loops[i] = (comp_loop){LOOP_PARALLEL, view_dim(v, 0, i)};
    at[i] = near[i] = expr_loop(c, i);
  }
  loops[rank] = (comp_loop){LOOP_REDUCTION, dim_const(v->dims, size)};
  // channels c - floor((size - 1) / 2) to c + ceil((size - 1) / 2)
  const expr *first = expr_binary(c, EXPR_SUB, at[1], expr_index(c, (size - 1) / 2));
  near[1] = expr_binary(c, EXPR_ADD, first, expr_loop(c, rank));
  comp_stage *s = comp_stage_begin(c, rank + 1, loops);
  const expr *x = expr_cast(c, expr_read_padded(c, 0, rank, near, expr_zero(c, elem)), type);
  int acc = comp_acc_combine(c, s, ACC_ADD, type, expr_binary(c, EXPR_MUL, x, x), NULL);
  const expr *factor = expr_float(c, type, view_float(v, "alpha") / (double)size);
  const expr *base = expr_binary(c, EXPR_ADD, expr_float(c, type, view_float(v, "bias")),
                                 expr_binary(c, EXPR_MUL, factor, expr_acc(c, acc, type)));
  const expr *power = expr_binary(c, EXPR_POW, base, expr_float(c, type, view_float(v, "beta")));
  const expr *here = expr_cast(c, expr_read(c, 0, rank, at), type);
  const expr *y = expr_binary(c, EXPR_DIV, here, power);
  comp_write_at(c, s, comp_result(c, 0), rank, at, expr_cast(c, y, elem), NULL);
  return true;
}

const op_def ops_normalization[] = {
    {"BatchNormalization", verify_batch, shape_batch, comp_batch},
    {"GroupNormalization", verify_group, shape_group, comp_group},
    {"InstanceNormalization", verify_instance, shape_instance, comp_instance},
    {"LRN", verify_lrn, shape_lrn, comp_lrn},
    {"LayerNormalization", verify_layer, shape_layer, comp_layer},
    {"LpNormalization", verify_lp, shape_lp, comp_lp},
    {"MeanVarianceNormalization", verify_mvn, shape_same, comp_mvn},
    {"RMSNormalization", verify_rms, shape_rms, comp_rms},
};
const int num_ops_normalization = sizeof ops_normalization / sizeof ops_normalization[0];
