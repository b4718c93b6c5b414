// Optimizer steps of ai.onnx.preview.training: Adagrad, Adam, Momentum. Operands R, T, then groups
// of tensors: all X, all gradients G, all of each state; results: all new X, then each new state.
#include "dialects/onnx/ops/op.h"
#include <string.h>

static bool groups_of(op_view *v, int states, int *n) {
  int tensors = v->num_operands - 2;
  if (tensors < 1 || tensors % (2 + states))
    return view_error(v, "expected R, T and %d tensors for each optimized one, found %d operands",
                      2 + states, v->num_operands);
  *n = tensors / (2 + states);
  if (v->num_results != *n * (1 + states))
    return view_error(v, "expected %d results for %d optimized tensors, found %d",
                      *n * (1 + states), *n, v->num_results);
  for (int i = 0; i < 2; i++)
    if (view_rank(v, i) > 0)
      return view_error(v, "operand %d: expected a scalar, found rank %d", i, view_rank(v, i));
  return true;
}

static bool shape_step(op_view *v, shape_result *results, int states) {
  int n;
  if (!groups_of(v, states, &n))
    return false;
  for (int r = 0; r < v->num_results; r++) {
    int from = 2 + r + (r >= n ? n : 0); // states follow the gradients
    results[r].type.elem = view_elem(v, from);
    shape_like(v, results, r, from);
  }
  return true;
}

// Scalars and attributes, in the element type of the tensor at hand.
typedef struct step {
  comprehension *c;
  int type, rank;
  const expr *r, *t; // rate, and count as a number of `type`
  const expr *x, *g; // g regularized
} step;

static const expr *number(const step *s, const char *name) {
  return expr_float(s->c, s->type, view_float(s->c->view, name));
}
static const expr *add(const step *s, const expr *a, const expr *b) {
  return expr_binary(s->c, EXPR_ADD, a, b);
}
static const expr *sub(const step *s, const expr *a, const expr *b) {
  return expr_binary(s->c, EXPR_SUB, a, b);
}
static const expr *mul(const step *s, const expr *a, const expr *b) {
  return expr_binary(s->c, EXPR_MUL, a, b);
}
static const expr *divide(const step *s, const expr *a, const expr *b) {
  return expr_binary(s->c, EXPR_DIV, a, b);
}
static const expr *root(const step *s, const expr *a) {
  return expr_unary(s->c, EXPR_SQRT, a);
}

static const expr *point(const step *s, int buffer) {
  const expr *at[ONYX_MAX_RANK];
  for (int i = 0; i < s->rank; i++)
    at[i] = expr_loop(s->c, i);
  return expr_read(s->c, buffer, s->rank, at);
}

static const expr *updated(const step *s) { // T > 0
  return expr_compare(s->c, EXPR_GT, s->t, expr_zero(s->c, s->type));
}

static comp_stage *step_begin(comprehension *c, step *s, int n, int i) {
  op_view *v = c->view;
  *s = (step){.c = c, .type = view_elem(v, 2 + i), .rank = view_rank(v, 2 + i)};
  comp_stage *stage = comp_stage_over(c, comp_result(c, i));
  s->r = expr_cast(c, expr_read(c, 0, 0, NULL), s->type);
  s->t = expr_cast(c, expr_read(c, 1, 0, NULL), s->type);
  s->x = point(s, 2 + i);
  s->g = add(s, mul(s, number(s, "norm_coefficient"), s->x), point(s, 2 + n + i));
  return stage;
}

typedef void (*rule)(const step *s, comp_stage *stage, int n, int i);

static bool comp_step(op_view *v, comprehension *c, int states, rule apply) {
  int n;
  if (!groups_of(v, states, &n))
    return false;
  for (int i = 0; i < v->num_operands; i++)
    if (view_rank(v, i) < 0)
      return view_error(v, "operand %d: the rank is not known", i);
  for (int i = 0; i < n; i++) {
    step s;
    comp_stage *stage = step_begin(c, &s, n, i);
    apply(&s, stage, n, i);
  }
  return true;
}

static void write(const step *s, comp_stage *stage, int result, const expr *value) {
  comp_write_point(s->c, stage, comp_result(s->c, result), value);
}

static void adagrad(const step *s, comp_stage *stage, int n, int i) {
  const expr *decay = add(s, expr_one(s->c, s->type), mul(s, s->t, number(s, "decay_factor")));
  const expr *rate = divide(s, s->r, decay);
  const expr *h = add(s, point(s, 2 + 2 * n + i), mul(s, s->g, s->g));
  const expr *adaptive = add(s, root(s, h), number(s, "epsilon"));
  write(s, stage, i, sub(s, s->x, divide(s, mul(s, rate, s->g), adaptive)));
  write(s, stage, n + i, h);
}

// a * old + (1 - a) * fresh
static const expr *average(const step *s, const expr *a, const expr *old, const expr *fresh) {
  return add(s, mul(s, a, old), mul(s, sub(s, expr_one(s->c, s->type), a), fresh));
}

static void adam(const step *s, comp_stage *stage, int n, int i) {
  const expr *alpha = number(s, "alpha"), *beta = number(s, "beta"), *one = expr_one(s->c, s->type);
  const expr *v = average(s, alpha, point(s, 2 + 2 * n + i), s->g);
  const expr *h = average(s, beta, point(s, 2 + 3 * n + i), mul(s, s->g, s->g));
  const expr *scale = expr_binary(s->c, EXPR_POW, beta, s->t);
  const expr *damp = sub(s, one, expr_binary(s->c, EXPR_POW, alpha, s->t));
  const expr *rate = divide(s, mul(s, s->r, root(s, sub(s, one, scale))), damp);
  rate = expr_select(s->c, updated(s), rate, s->r);
  const expr *x =
      sub(s, s->x, divide(s, mul(s, rate, v), add(s, root(s, h), number(s, "epsilon"))));
  write(s, stage, i, mul(s, sub(s, one, number(s, "norm_coefficient_post")), x));
  write(s, stage, n + i, v);
  write(s, stage, 2 * n + i, h);
}

static void momentum(const step *s, comp_stage *stage, int n, int i) {
  const expr *alpha = number(s, "alpha");
  const expr *beta = expr_select(s->c, updated(s), number(s, "beta"), expr_one(s->c, s->type));
  const expr *v = add(s, mul(s, alpha, point(s, 2 + 2 * n + i)), mul(s, beta, s->g));
  bool nesterov = !strcmp(view_string(s->c->view, "mode"), "nesterov");
  const expr *direction = nesterov ? add(s, s->g, mul(s, alpha, v)) : v;
  write(s, stage, i, sub(s, s->x, mul(s, s->r, direction)));
  write(s, stage, n + i, v);
}

static bool verify_one_state(op_view *v) {
  int n;
  return groups_of(v, 1, &n);
}
static bool verify_two_states(op_view *v) {
  int n;
  return groups_of(v, 2, &n);
}
static bool verify_momentum(op_view *v) {
  const char *mode = view_string(v, "mode");
  if (strcmp(mode, "nesterov") && strcmp(mode, "standard"))
    return view_error(v, "mode: expected standard or nesterov, found '%s'", mode);
  return verify_one_state(v);
}
static bool shape_one_state(op_view *v, shape_result *results) {
  return shape_step(v, results, 1);
}
static bool shape_two_states(op_view *v, shape_result *results) {
  return shape_step(v, results, 2);
}

static bool comp_adagrad(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  return comp_step(v, c, 1, adagrad);
}
static bool comp_adam(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  return comp_step(v, c, 2, adam);
}
static bool comp_momentum(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  return comp_step(v, c, 1, momentum);
}

const op_def ops_training[] = {
    {"Adagrad", verify_one_state, shape_one_state, comp_adagrad},
    {"Adam", verify_two_states, shape_two_states, comp_adam},
    {"Momentum", verify_momentum, shape_one_state, comp_momentum},
};
const int num_ops_training = sizeof ops_training / sizeof ops_training[0];
