// NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
#include "dialects/onnx/ops/op.h"
#include "dialects/onnx/ops/slices.h"
#include <inttypes.h>
#include <string.h>

typedef enum reduction { NONE, MEAN, SUM } reduction;

typedef struct loss {
  int rank; // of the input [N, C, d1, ...]; -1 unknown
  reduction reduce;
} loss;

static bool loss_of(op_view *v, loss *l) {
  const char *r = view_string(v, "reduction");
  l->reduce = !strcmp(r, "none") ? NONE : !strcmp(r, "mean") ? MEAN : SUM;
  if (l->reduce == SUM && strcmp(r, "sum"))
    return view_error(v, "reduction: expected none, mean or sum, found '%s'", r);
  l->rank = view_rank(v, 0);
  if (l->rank >= 0 && l->rank < 2)
    return view_error(v, "operand 0: expected rank 2 or more, found rank %d", l->rank);
  if (l->rank < 0)
    return true;
  if (view_rank(v, 1) >= 0 && view_rank(v, 1) != l->rank - 1)
    return view_error(v, "operand 1: expected rank %d, found rank %d", l->rank - 1,
                      view_rank(v, 1));
  if (view_has(v, 2) && view_rank(v, 2) >= 0 && view_rank(v, 2) != 1)
    return view_error(v, "operand 2: expected rank 1, found rank %d", view_rank(v, 2));
  for (int i = 0; view_rank(v, 1) >= 0 && i < l->rank - 1; i++) {
    int64_t want, have;
    if (dim_is_const(view_dim(v, 0, i ? i + 1 : 0), &want) &&
        dim_is_const(view_dim(v, 1, i), &have) && want != have)
      return view_error(v, "operand 1: dim %d: expected %" PRId64 ", found %" PRId64, i, want,
                        have);
  }
  return true;
}

static bool verify_loss(op_view *v) {
  loss l;
  return loss_of(v, &l);
}

static bool shape_loss(op_view *v, shape_result *results) {
  loss l;
  if (!loss_of(v, &l))
    return false;
  if (v->num_results > 1)
    shape_like(v, results, 1, 0);
  if (l.reduce != NONE) {
    shape_set(v, results, 0, 0, NULL);
    return true;
  }
  if (l.rank < 0)
    return true;
  const dim *dims[ONYX_MAX_RANK];
  for (int i = 0; i < l.rank - 1; i++)
    dims[i] = view_dim(v, 0, i ? i + 1 : 0);
  shape_set(v, results, 0, l.rank - 1, dims);
  return true;
}

// Log-probability of class `cls` at the sample of loops 0 .. rank - 2.
typedef const expr *(*log_prob)(comprehension *c, const void *data, const expr *const *at,
                                int type);

static const expr *plain_log_prob(comprehension *c, const void *data, const expr *const *at,
                                  int type) {
  (void)data;
  return expr_cast(c, expr_read(c, 0, view_rank(c->view, 0), at), type);
}

typedef struct softmax {
  slices s;
  int max, sum; // temporaries of the slices along dim 1
} softmax;

static const expr *softmax_log_prob(comprehension *c, const void *data, const expr *const *at,
                                    int type) {
  const softmax *x = data;
  const expr *kept[ONYX_MAX_RANK];
  for (int i = 0, n = 0; i < x->s.rank; i++)
    if (i != 1)
      kept[n++] = at[i];
  const expr *shifted = expr_binary(c, EXPR_SUB, plain_log_prob(c, NULL, at, type),
                                    expr_read(c, x->max, x->s.num_kept, kept));
  const expr *log = expr_unary(c, EXPR_LOG, expr_read(c, x->sum, x->s.num_kept, kept));
  return expr_binary(c, EXPR_SUB, shifted, log);
}

// Weight and weighted loss of the sample; both 0 where the target is ignore_index. A target out of
// range sets the status.
static void sample_loss(comprehension *c, const loss *l, log_prob prob, const void *data, int type,
                        const expr **weight, const expr **value) {
  op_view *v = c->view;
  const expr *at[ONYX_MAX_RANK], *target_at[ONYX_MAX_RANK];
  for (int i = 0; i < l->rank - 1; i++)
    at[i ? i + 1 : 0] = target_at[i] = expr_loop(c, i);
  const expr *target = expr_cast(c, expr_read(c, 1, l->rank - 1, target_at), ONYX_INDEX);
  const expr *classes = expr_dim(c, view_dim(v, 0, 1)), *zero = expr_index(c, 0);
  const expr *ok = expr_binary(c, EXPR_AND, expr_compare(c, EXPR_GE, target, zero),
                               expr_compare(c, EXPR_LT, target, classes));
  const onnx_attr *ignore = view_attr(v, "ignore_index");
  const expr *ignored =
      ignore->kind ? expr_compare(c, EXPR_EQ, target, expr_index(c, ignore->i)) : NULL;
  if (ignored)
    ok = expr_binary(c, EXPR_OR, ok, ignored);
  const expr *last = expr_binary(c, EXPR_SUB, classes, expr_index(c, 1));
  const expr *cls = expr_binary(c, EXPR_MAX, zero, expr_binary(c, EXPR_MIN, target, last));
  at[1] = expr_check(c, cls, ok, 1, target, classes);
  *weight = view_has(v, 2) ? expr_cast(c, expr_read(c, 2, 1, &at[1]), type) : expr_one(c, type);
  *value = expr_unary(c, EXPR_NEG, expr_binary(c, EXPR_MUL, prob(c, data, at, type), *weight));
  if (!ignored)
    return;
  *weight = expr_select(c, ignored, expr_zero(c, type), *weight);
  *value = expr_select(c, ignored, expr_zero(c, type), *value);
}

static void write_loss(comprehension *c, const loss *l, log_prob prob, const void *data, int type) {
  op_view *v = c->view;
  comp_loop loops[ONYX_MAX_RANK];
  const expr *at[ONYX_MAX_RANK], *weight, *value;
  for (int i = 0; i < l->rank - 1; i++) {
    loops[i] = (comp_loop){l->reduce == NONE ? LOOP_PARALLEL : LOOP_REDUCTION,
                           view_dim(v, 0, i ? i + 1 : 0)};
    at[i] = expr_loop(c, i);
  }
  comp_stage *s = comp_stage_begin(c, l->rank - 1, loops);
  sample_loss(c, l, prob, data, type, &weight, &value);
  if (l->reduce == NONE) {
    comp_write_at(c, s, comp_result(c, 0), l->rank - 1, at, expr_cast(c, value, view_elem(v, 0)),
                  NULL);
    return;
  }
  const expr *total = expr_acc(c, comp_acc_combine(c, s, ACC_ADD, type, value, NULL), type);
  if (l->reduce == MEAN) {
    int weights = comp_acc_combine(c, s, ACC_ADD, type, weight, NULL);
    total = expr_binary(c, EXPR_DIV, total, expr_acc(c, weights, type));
  }
  comp_write_at(c, s, comp_result(c, 0), 0, NULL, expr_cast(c, total, view_elem(v, 0)), NULL);
}

static bool known(op_view *v, const loss *l) {
  if (l->rank < 0 || view_rank(v, 1) < 0)
    return view_error(v, "operand %d: the rank is not known", l->rank < 0 ? 0 : 1);
  return true;
}

static bool comp_nll(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  loss l;
  if (!loss_of(v, &l) || !known(v, &l))
    return false;
  write_loss(c, &l, plain_log_prob, NULL, expr_compute_type(view_elem(v, 0)));
  return true;
}

static void softmax_stages(comprehension *c, softmax *x, int type) {
  *x = (softmax){0};
  x->s.along[1] = true;
  slices_init(c, &x->s, 0);
  const expr *in[ONYX_MAX_RANK], *out[ONYX_MAX_RANK];
  x->max = slices_temp(c, &x->s, type);
  comp_stage *s = slices_reduce(c, &x->s, in, out);
  int acc = comp_acc_combine(c, s, ACC_MAX, type, plain_log_prob(c, NULL, in, type), NULL);
  comp_write_at(c, s, x->max, x->s.num_kept, out, expr_acc(c, acc, type), NULL);
  x->sum = slices_temp(c, &x->s, type);
  s = slices_reduce(c, &x->s, in, out);
  const expr *shifted = expr_binary(c, EXPR_SUB, plain_log_prob(c, NULL, in, type),
                                    expr_read(c, x->max, x->s.num_kept, out));
  acc = comp_acc_combine(c, s, ACC_ADD, type, expr_unary(c, EXPR_EXP, shifted), NULL);
  comp_write_at(c, s, x->sum, x->s.num_kept, out, expr_acc(c, acc, type), NULL);
}

static bool comp_cross_entropy(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  loss l;
  softmax x;
  if (!loss_of(v, &l) || !known(v, &l))
    return false;
  int type = expr_compute_type(view_elem(v, 0));
  softmax_stages(c, &x, type);
  write_loss(c, &l, softmax_log_prob, &x, type);
  if (v->num_results < 2 || !v->wanted[1])
    return true;
  int y = comp_result(c, 1);
  comp_stage *s = comp_stage_over(c, y);
  const expr *at[ONYX_MAX_RANK];
  for (int i = 0; i < l.rank; i++)
    at[i] = expr_loop(c, i);
  comp_write_point(c, s, y, expr_cast(c, softmax_log_prob(c, &x, at, type), view_elem(v, 0)));
  return true;
}

const op_def ops_loss[] = {
    {"NegativeLogLikelihoodLoss", verify_loss, shape_loss, comp_nll},
    {"SoftmaxCrossEntropyLoss", verify_loss, shape_loss, comp_cross_entropy},
};
const int num_ops_loss = sizeof ops_loss / sizeof ops_loss[0];
