// Random ops. Numbers are a function of (seed, element), so that any loop order gives the same;
// without a seed the node's name takes its place.
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>

static onyx_elem type_attr(const op_view *v, const char *name, onyx_elem fallback) {
  int64_t e = view_int(v, name);
  return e > 0 && e < ONYX_ELEM_COUNT ? (onyx_elem)e : fallback;
}

static bool shape_random(op_view *v, shape_result *results) {
  const onnx_attr *shape = view_attr(v, "shape");
  const dim *dims[ONYX_MAX_RANK];
  results[0].type.elem = type_attr(v, "dtype", ONYX_F32);
  if (shape->n > ONYX_MAX_RANK)
    return view_error(v, "shape: expected %d sizes at most, found %" PRId64, ONYX_MAX_RANK,
                      shape->n);
  for (int k = 0; k < shape->n; k++)
    dims[k] = dim_const(v->dims, shape->ints[k]);
  shape_set(v, results, 0, (int)shape->n, dims);
  return true;
}

static bool shape_random_like(op_view *v, shape_result *results) {
  results[0].type.elem = type_attr(v, "dtype", view_elem(v, 0));
  shape_like(v, results, 0, 0);
  return true;
}

static bool write_random(op_view *v, const shape_result *results, comprehension *c, bool normal) {
  int out = comp_result(c, 0), elem = results[0].type.elem, rank = results[0].type.rank;
  if (!need_sizes(v, &results[0]))
    return false;
  const expr *at = x_flat_index(c, rank, results[0].type.dims), *u = x_random(c, at, 1), *y;
  if (normal) { // Box and Muller; 1 - u is never 0
    const expr *one = x_num(c, u, 1), *log = expr_unary(c, EXPR_LOG, x_sub(c, one, u));
    const expr *radius = expr_unary(c, EXPR_SQRT, x_mul(c, x_num(c, u, -2), log));
    const expr *angle = x_mul(c, x_num(c, u, 6.283185307179586477), x_random(c, at, 2));
    y = x_add(c, x_mul(c, x_mul(c, radius, expr_unary(c, EXPR_COS, angle)), x_attr(c, u, "scale")),
              x_attr(c, u, "mean"));
  } else {
    const expr *low = x_attr(c, u, "low"), *high = x_attr(c, u, "high");
    y = x_add(c, low, x_mul(c, u, x_sub(c, high, low)));
  }
  comp_write_point(c, comp_stage_over(c, out), out, expr_cast(c, y, elem));
  return true;
}
static bool comp_uniform(op_view *v, const shape_result *results, comprehension *c) {
  return write_random(v, results, c, false);
}
static bool comp_normal(op_view *v, const shape_result *results, comprehension *c) {
  return write_random(v, results, c, true);
}

// --- Bernoulli: true with the probability that the element says

static bool comp_bernoulli(op_view *v, const shape_result *results, comprehension *c) {
  int out = comp_result(c, 0), elem = results[0].type.elem, rank = results[0].type.rank;
  const expr *at[ONYX_MAX_RANK];
  if (!need_rank(v, 0))
    return false;
  x_loops(c, rank, at);
  const expr *p = expr_cast(c, expr_read(c, 0, rank, at), ONYX_F64);
  const expr *u =
      expr_cast(c, x_random(c, x_flat_index(c, rank, results[0].type.dims), 3), ONYX_F64);
  const expr *value = expr_select(c, x_lt(c, u, p), expr_one(c, elem), expr_zero(c, elem));
  comp_write_point(c, comp_stage_over(c, out), out, value);
  return true;
}

// --- Multinomial: input [batch, classes] of unnormalised log-probabilities

static bool verify_multinomial(op_view *v) {
  int64_t n = view_int(v, "sample_size");
  return expect_rank(v, 0, 2) &&
         (n > 0 || view_error(v, "sample_size: expected at least 1, found %" PRId64, n));
}

static bool shape_multinomial(op_view *v, shape_result *results) {
  if (!verify_multinomial(v))
    return false;
  results[0].type.elem = type_attr(v, "dtype", ONYX_I32);
  const dim *batch = view_rank(v, 0) == 2 ? view_dim(v, 0, 0) : dim_unknown_extent(v->dims);
  shape_set(v, results, 0, 2,
            (const dim *[]){batch, dim_const(v->dims, view_int(v, "sample_size"))});
  return true;
}

// The sample is the number of classes whose cumulated probability is at most u.
static bool comp_multinomial(op_view *v, const shape_result *results, comprehension *c) {
  int out = comp_result(c, 0), elem = results[0].type.elem, type = ONYX_F64;
  if (!need_rank(v, 0))
    return false;
  const dim *batch = view_dim(v, 0, 0), *classes = view_dim(v, 0, 1);
  int top = comp_temp(c, ONYX_F64, 1, &batch), total = comp_temp(c, ONYX_F64, 1, &batch);
  comp_loop loops[3] = {{LOOP_PARALLEL, batch}, {LOOP_REDUCTION, classes}};
  const expr *at[2] = {expr_loop(c, 0), expr_loop(c, 1)};
  comp_stage *s = comp_stage_begin(c, 2, loops);
  comp_acc_combine(c, s, ACC_MAX, type, expr_cast(c, expr_read(c, 0, 2, at), type), NULL);
  comp_write_at(c, s, top, 1, at, expr_acc(c, 0, type), NULL);

  const expr *max = expr_read(c, top, 1, at);
  s = comp_stage_begin(c, 2, loops);
  const expr *p =
      expr_unary(c, EXPR_EXP, x_sub(c, expr_cast(c, expr_read(c, 0, 2, at), type), max));
  comp_acc_combine(c, s, ACC_ADD, type, p, NULL);
  comp_write_at(c, s, total, 1, at, expr_acc(c, 0, type), NULL);

  loops[1] = (comp_loop){LOOP_PARALLEL, results[0].type.dims[1]};
  loops[2] = (comp_loop){LOOP_REDUCTION, classes};
  const expr *in[2] = {expr_loop(c, 0), expr_loop(c, 2)};
  s = comp_stage_begin(c, 3, loops);
  const expr *u = expr_cast(c, x_random(c, x_flat_index(c, 2, results[0].type.dims), 4), type);
  const expr *limit = x_mul(c, u, expr_read(c, total, 1, at));
  p = expr_unary(c, EXPR_EXP,
                 x_sub(c, expr_cast(c, expr_read(c, 0, 2, in), type), expr_read(c, top, 1, at)));
  const expr *sum = expr_acc(c, 0, type), *below = x_add(c, sum, p),
             *count = expr_acc(c, 1, ONYX_INDEX);
  comp_acc_general(c, s, type, expr_zero(c, type), below);
  const expr *passed = expr_compare(c, EXPR_LE, below, limit);
  comp_acc_general(c, s, ONYX_INDEX, expr_index(c, 0),
                   expr_select(c, passed, x_add(c, count, expr_index(c, 1)), count));
  const expr *last = x_sub(c, expr_dim(c, classes), expr_index(c, 1)); // rounding may pass them all
  comp_write_point(c, s, out, expr_cast(c, x_min(c, count, last), elem));
  return true;
}

const op_def ops_random[] = {
    {"Bernoulli", NULL, shape_random_like, comp_bernoulli},
    {"Multinomial", verify_multinomial, shape_multinomial, comp_multinomial},
    {"RandomNormal", NULL, shape_random, comp_normal},
    {"RandomNormalLike", NULL, shape_random_like, comp_normal},
    {"RandomUniform", NULL, shape_random, comp_uniform},
    {"RandomUniformLike", NULL, shape_random_like, comp_uniform},
};
const int num_ops_random = sizeof ops_random / sizeof ops_random[0];
