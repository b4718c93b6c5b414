// FlexAttention of the preview domain: Q, K, V of rank 4. With a modifier subgraph it is no loop
// nest.
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>

enum { Q, K, V };

static bool same(op_view *v, int i, int axis, int j, int other) {
  int64_t a, b;
  return view_rank(v, i) != 4 || view_rank(v, j) != 4 || !dim_is_const(view_dim(v, i, axis), &a) ||
         !dim_is_const(view_dim(v, j, other), &b) || a == b ||
         view_error(v,
                    "operand %d ('%s'): expected size %" PRId64
                    " in dimension %d, as operand %d ('%s') has, found %" PRId64,
                    j, view_name(v, j), a, other, i, view_name(v, i), b);
}

static bool verify_flex(op_view *v) {
  int64_t heads, groups;
  for (int i = Q; i <= V; i++)
    if (!expect_rank(v, i, 4))
      return false;
  if (view_rank(v, Q) == 4 && view_rank(v, K) == 4 && dim_is_const(view_dim(v, Q, 1), &heads) &&
      dim_is_const(view_dim(v, K, 1), &groups) && (groups < 1 || heads % groups))
    return view_error(v,
                      "operand 0 ('Q'): expected a multiple of %" PRId64 " heads, found %" PRId64,
                      groups, heads);
  return same(v, Q, 0, K, 0) && same(v, Q, 0, V, 0) && same(v, Q, 3, K, 3) && same(v, K, 1, V, 1) &&
         same(v, K, 2, V, 2);
}

static bool shape_flex(op_view *v, shape_result *results) {
  const dim *dims[4];
  if (!verify_flex(v))
    return false;
  for (int k = 0; k < 4; k++) {
    int from = k == 3 ? V : Q;
    dims[k] = view_rank(v, from) == 4 ? view_dim(v, from, k) : dim_unknown_extent(v->dims);
  }
  shape_set(v, results, 0, 4, dims);
  return true;
}

// Key (value) head of query head h: heads share them in order.
static const expr *shared_head(comprehension *c, const expr *h) {
  op_view *v = c->view;
  if (view_dim(v, Q, 1) == view_dim(v, K, 1))
    return h;
  return expr_binary(c, EXPR_FLOORDIV, h,
                     expr_dim(c, dim_floordiv(v->dims, view_dim(v, Q, 1), view_dim(v, K, 1))));
}

static const expr *scale_of(comprehension *c, int type) {
  const onnx_attr *scale = view_attr(c->view, "scale");
  if (scale->present)
    return expr_float(c, type, scale->f);
  const expr *size = expr_cast(c, expr_dim(c, view_dim(c->view, Q, 3)), type);
  return x_div(c, expr_one(c, type), expr_unary(c, EXPR_SQRT, size));
}

static bool comp_flex(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  if (v->num_regions)
    return view_error(v, "a modifier subgraph is no loop nest");
  for (int i = Q; i <= V; i++)
    if (!need_rank(v, i))
      return false;
  onyx_elem elem = view_elem(v, Q);
  int64_t stated = view_int(v, "softmax_precision");
  int type = elem == ONYX_F64 || stated == ONYX_F64 ? ONYX_F64 : ONYX_F32;
  const dim *dims[4] = {view_dim(v, Q, 0), view_dim(v, Q, 1), view_dim(v, Q, 2), view_dim(v, K, 2)};
  int scores = comp_temp(c, (onyx_elem)type, 4, dims), top = comp_temp(c, (onyx_elem)type, 3, dims);
  int sum = comp_temp(c, (onyx_elem)type, 3, dims), out = comp_result(c, 0);
  comp_loop loops[5];
  const expr *at[5];
  x_loops(c, 5, at);
  for (int k = 0; k < 4; k++)
    loops[k] = (comp_loop){LOOP_PARALLEL, dims[k]};
  loops[4] = (comp_loop){LOOP_REDUCTION, view_dim(v, Q, 3)};
  const expr *q[4] = {at[0], at[1], at[2], at[4]},
             *k[4] = {at[0], shared_head(c, at[1]), at[3], at[4]};
  const expr *product = x_mul(c, expr_cast(c, expr_read(c, Q, 4, q), type),
                              expr_cast(c, expr_read(c, K, 4, k), type));
  comp_stage *s = comp_stage_begin(c, 5, loops);
  comp_acc_combine(c, s, ACC_ADD, type, product, NULL);
  comp_write_at(c, s, scores, 4, at, x_mul(c, expr_acc(c, 0, type), scale_of(c, type)), NULL);

  loops[3].kind = LOOP_REDUCTION;
  const expr *score = expr_read(c, scores, 4, at), *max = expr_read(c, top, 3, at);
  s = comp_stage_begin(c, 4, loops);
  comp_acc_combine(c, s, ACC_MAX, type, score, NULL);
  comp_write_at(c, s, top, 3, at, expr_acc(c, 0, type), NULL);
  s = comp_stage_begin(c, 4, loops);
  comp_acc_combine(c, s, ACC_ADD, type, expr_unary(c, EXPR_EXP, x_sub(c, score, max)), NULL);
  comp_write_at(c, s, sum, 3, at, expr_acc(c, 0, type), NULL);

  loops[3] = (comp_loop){LOOP_PARALLEL, view_dim(v, V, 3)};
  loops[4] = (comp_loop){LOOP_REDUCTION, dims[3]};
  const expr *cell[4] = {at[0], at[1], at[2], at[4]},
             *value[4] = {at[0], shared_head(c, at[1]), at[4], at[3]};
  const expr *e = expr_unary(c, EXPR_EXP, x_sub(c, expr_read(c, scores, 4, cell), max));
  const expr *p = x_div(c, e, expr_read(c, sum, 3, at));
  s = comp_stage_begin(c, 5, loops);
  comp_acc_combine(c, s, ACC_ADD, type, x_mul(c, p, expr_cast(c, expr_read(c, V, 4, value), type)),
                   NULL);
  comp_write_point(c, s, out, expr_cast(c, expr_acc(c, 0, type), elem));
  return true;
}

const op_def ops_flex_attention[] = {
    {"FlexAttention", verify_flex, shape_flex, comp_flex},
};
const int num_ops_flex_attention = sizeof ops_flex_attention / sizeof ops_flex_attention[0];
