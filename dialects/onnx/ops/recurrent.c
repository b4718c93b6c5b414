// RNN, GRU, LSTM. The state of every step is kept: temporaries [steps + 1, directions, batch,
// hidden] whose row 0 is the initial state, so that a step reads row t and writes row t + 1. Steps
// are counted in processing order: a reversed direction starts at the last element of each
// sequence.
#include "dialects/onnx/ops/op.h"
#include "dialects/onnx/ops/scalar.h"
#include <inttypes.h>
#include <string.h>
#include <strings.h>

typedef struct activation {
  const char *name;
  double alpha, beta;
} activation;

// name, alpha used, beta used, their defaults (the standard's table in RNN, GRU, LSTM)
static const struct {
  const char *name;
  bool takes_alpha, takes_beta;
  double alpha, beta;
} known_activations[] = {
    {"Affine", true, true, 1, 0},           {"Elu", true, false, 1, 0},
    {"HardSigmoid", true, true, 0.2, 0.5},  {"LeakyRelu", true, false, 0.01, 0},
    {"Relu", false, false, 0, 0},           {"ScaledTanh", true, true, 1, 1},
    {"Sigmoid", false, false, 0, 0},        {"Softplus", false, false, 0, 0},
    {"Softsign", false, false, 0, 0},       {"Tanh", false, false, 0, 0},
    {"ThresholdedRelu", true, false, 1, 0},
};

enum { MAX_ACTIVATIONS = 6 };

typedef struct recurrent {
  bool known; // the ranks of X, W and R are
  int gates, functions;
  int directions;
  bool reverse; // the only direction runs backwards
  bool batch_first;
  const dim *steps, *batch, *inputs, *hidden;
  activation act[MAX_ACTIVATIONS]; // [direction][function]
  double clip;                     // 0: none
  // while building
  comprehension *c;
  int type;
  int projected; // temporary [steps, directions, batch, gates * hidden]: X * W + biases
  int state;     // H
} recurrent;

// --- attributes and shapes

static bool pick_activation(op_view *v, const char *name, int64_t *alpha_at, int64_t *beta_at,
                            activation *out) {
  const onnx_attr *alpha = view_attr(v, "activation_alpha"),
                  *beta = view_attr(v, "activation_beta");
  for (size_t i = 0; i < sizeof known_activations / sizeof known_activations[0]; i++) {
    if (strcasecmp(name, known_activations[i].name))
      continue;
    *out = (activation){known_activations[i].name, known_activations[i].alpha,
                        known_activations[i].beta};
    if (known_activations[i].takes_alpha && *alpha_at < alpha->n)
      out->alpha = alpha->floats[(*alpha_at)++];
    if (known_activations[i].takes_beta && *beta_at < beta->n)
      out->beta = beta->floats[(*beta_at)++];
    return true;
  }
  return view_error(v, "activations: '%s' is no activation of the standard", name);
}

static bool read_activations(op_view *v, recurrent *r, const char *const *defaults) {
  const onnx_attr *names = view_attr(v, "activations");
  int need = r->functions * r->directions;
  // RNN's default has an entry for two directions whatever the direction is.
  if (names->present && names->n != need)
    return view_error(v, "activations: expected %d entries, found %" PRId64, need, names->n);
  int64_t alpha_at = 0, beta_at = 0;
  for (int i = 0; i < need; i++) {
    const char *name = names->present ? names->strings[i] : defaults[i % r->functions];
    if (!pick_activation(v, name, &alpha_at, &beta_at, &r->act[i]))
      return false;
  }
  return true;
}

// Operand's dim `axis` against what it must be; constant disagreements are errors.
static bool expect_dim(op_view *v, int operand, int axis, const dim *want, const char *what) {
  int64_t have, need;
  if (dim_is_const(view_dim(v, operand, axis), &have) && dim_is_const(want, &need) && have != need)
    return view_error(v, "operand %d: dim %d (%s): expected %" PRId64 ", found %" PRId64, operand,
                      axis, what, need, have);
  return true;
}

static bool check_dims(op_view *v, const recurrent *r) {
  dim_context *d = v->dims;
  const dim *gates = dim_mul(d, dim_const(d, r->gates), r->hidden);
  const dim *directions = dim_const(d, r->directions);
  if (!expect_dim(v, 1, 0, directions, "directions") ||
      !expect_dim(v, 1, 1, gates, "gates * hidden") ||
      !expect_dim(v, 1, 2, r->inputs, "input size") ||
      !expect_dim(v, 2, 0, directions, "directions") ||
      !expect_dim(v, 2, 1, gates, "gates * hidden"))
    return false;
  if (view_rank(v, 3) == 2 &&
      (!expect_dim(v, 3, 0, directions, "directions") ||
       !expect_dim(v, 3, 1, dim_mul(d, dim_const(d, 2), gates), "2 * gates * hidden")))
    return false;
  return view_rank(v, 4) != 1 || expect_dim(v, 4, 0, r->batch, "batch");
}

static bool recurrent_of(op_view *v, recurrent *r, int gates, int functions,
                         const char *const *defaults) {
  *r = (recurrent){.gates = gates, .functions = functions};
  const char *direction = view_string(v, "direction");
  bool both = !strcmp(direction, "bidirectional");
  r->reverse = !strcmp(direction, "reverse");
  if (!both && !r->reverse && strcmp(direction, "forward"))
    return view_error(v, "direction: expected forward, reverse or bidirectional, found '%s'",
                      direction);
  r->directions = both ? 2 : 1;
  r->batch_first = view_int(v, "layout") != 0;
  r->clip = view_attr(v, "clip")->kind ? view_float(v, "clip") : 0;
  static const int ranks[] = {3, 3, 3, 2, 1, 3, 3, 2};
  for (int i = 0; i < 8; i++)
    if (!expect_rank(v, i, ranks[i]))
      return false;
  if (!read_activations(v, r, defaults))
    return false;
  r->known = view_rank(v, 0) == 3 && view_rank(v, 1) == 3 && view_rank(v, 2) == 3;
  if (!r->known)
    return true;
  r->steps = view_dim(v, 0, r->batch_first ? 1 : 0);
  r->batch = view_dim(v, 0, r->batch_first ? 0 : 1);
  r->inputs = view_dim(v, 0, 2);
  r->hidden = view_dim(v, 2, 2);
  const onnx_attr *size = view_attr(v, "hidden_size");
  if (size->present) {
    const dim *stated = dim_const(v->dims, size->i);
    if (!expect_dim(v, 2, 2, stated, "hidden_size"))
      return false;
    r->hidden = stated;
  }
  return check_dims(v, r);
}

static const char *const rnn_defaults[] = {"Tanh"};
static const char *const gru_defaults[] = {"Sigmoid", "Tanh"};
static const char *const lstm_defaults[] = {"Sigmoid", "Tanh", "Tanh"};

static bool rnn_of(op_view *v, recurrent *r) {
  return recurrent_of(v, r, 1, 1, rnn_defaults);
}
static bool gru_of(op_view *v, recurrent *r) {
  return recurrent_of(v, r, 3, 2, gru_defaults);
}
static bool lstm_of(op_view *v, recurrent *r) {
  return recurrent_of(v, r, 4, 3, lstm_defaults);
}

typedef bool (*reader)(op_view *, recurrent *);

static bool shape_recurrent(op_view *v, shape_result *results, reader read) {
  recurrent r;
  if (!read(v, &r))
    return false;
  for (int i = 0; i < v->num_results; i++)
    if (results[i].type.kind == ONYX_TYPE_TENSOR)
      results[i].type.elem = view_elem(v, 0);
  if (!r.known)
    return true;
  const dim *dirs = dim_const(v->dims, r.directions);
  const dim *y[2][4] = {{r.steps, dirs, r.batch, r.hidden}, {r.batch, r.steps, dirs, r.hidden}};
  const dim *last[2][3] = {{dirs, r.batch, r.hidden}, {r.batch, dirs, r.hidden}};
  shape_set(v, results, 0, 4, y[r.batch_first]);
  for (int i = 1; i < v->num_results; i++)
    shape_set(v, results, i, 3, last[r.batch_first]);
  return true;
}

// --- building blocks. Loops of a step are t, d, b, h (numbers 0 .. 3).

static const expr *add(comprehension *c, const expr *a, const expr *b) {
  return !a ? b : !b ? a : expr_binary(c, EXPR_ADD, a, b);
}

static const expr *read_at(const recurrent *r, int buffer, int n, const expr *const *index) {
  return expr_cast(r->c, expr_read(r->c, buffer, n, index), r->type);
}

// Length of the sequence of batch element b; bad data sets the status and is clamped.
static const expr *length_of(const recurrent *r, const expr *b) {
  comprehension *c = r->c;
  const expr *steps = expr_dim(c, r->steps), *zero = expr_index(c, 0);
  if (!view_has(c->view, 4))
    return steps;
  const expr *n = expr_cast(c, expr_read(c, 4, 1, &b), ONYX_INDEX);
  const expr *ok = expr_binary(c, EXPR_AND, expr_compare(c, EXPR_GE, n, zero),
                               expr_compare(c, EXPR_LE, n, steps));
  const expr *clamped = expr_binary(c, EXPR_MAX, zero, expr_binary(c, EXPR_MIN, n, steps));
  return expr_check(c, clamped, ok, 6, n, steps);
}

// Step t of direction d in processing order <-> its place in time (the map is its own inverse).
// Places past the sequence's end give 0 in a reversed direction; their values are not used.
static const expr *place_of(const recurrent *r, const expr *t, const expr *d, const expr *b) {
  comprehension *c = r->c;
  if (r->directions == 1 && !r->reverse)
    return t;
  const expr *back = x_sub(c, x_sub(c, length_of(r, b), expr_index(c, 1)), t);
  back = expr_binary(c, EXPR_MAX, back, expr_index(c, 0));
  if (r->directions == 1)
    return back;
  return expr_select(c, expr_compare(c, EXPR_EQ, d, expr_index(c, 1)), back, t);
}

// Row gate * hidden + h of W, R or B.
static const expr *gate_row(const recurrent *r, int gate, const expr *h) {
  if (gate == 0)
    return h;
  const dim *base = dim_mul(r->c->view->dims, dim_const(r->c->view->dims, gate), r->hidden);
  return expr_binary(r->c, EXPR_ADD, expr_dim(r->c, base), h);
}

// Bias of a gate: its W part (part 0) or R part (part 1); NULL when there is none.
static const expr *bias_of(const recurrent *r, int part, int gate, const expr *d, const expr *h) {
  if (!view_has(r->c->view, 3))
    return NULL;
  const expr *at[] = {d, gate_row(r, part * r->gates + gate, h)};
  return read_at(r, 3, 2, at);
}

// Temporary of X * W for all steps at once: no step depends on another there.
static void project_inputs(recurrent *r) {
  comprehension *c = r->c;
  dim_context *dc = c->view->dims;
  const dim *rows = dim_mul(dc, dim_const(dc, r->gates), r->hidden);
  const dim *dirs = dim_const(dc, r->directions);
  const dim *shape[] = {r->steps, dirs, r->batch, rows};
  r->projected = comp_temp(c, (onyx_elem)r->type, 4, shape);
  const comp_loop loops[] = {{LOOP_PARALLEL, r->steps},
                             {LOOP_PARALLEL, dirs},
                             {LOOP_PARALLEL, r->batch},
                             {LOOP_PARALLEL, rows},
                             {LOOP_REDUCTION, r->inputs}};
  const expr *t = expr_loop(c, 0), *d = expr_loop(c, 1), *b = expr_loop(c, 2),
             *row = expr_loop(c, 3);
  const expr *k = expr_loop(c, 4), *place = place_of(r, t, d, b);
  const expr *x[] = {r->batch_first ? b : place, r->batch_first ? place : b, k};
  const expr *w[] = {d, row, k}, *out[] = {t, d, b, row};
  comp_stage *s = comp_stage_begin(c, 5, loops);
  int acc = comp_acc_combine(c, s, ACC_ADD, r->type,
                             x_mul(c, read_at(r, 0, 3, x), read_at(r, 1, 3, w)), NULL);
  comp_write_at(c, s, r->projected, 4, out, expr_acc(c, acc, r->type), NULL);
}

// A temporary [steps + 1, directions, batch, hidden] with row 0 from `initial` (zeros when absent).
static int state_buffer(recurrent *r, int initial) {
  comprehension *c = r->c;
  dim_context *dc = c->view->dims;
  const dim *dirs = dim_const(dc, r->directions);
  const dim *shape[] = {dim_add(dc, r->steps, dim_const(dc, 1)), dirs, r->batch, r->hidden};
  int buffer = comp_temp(c, (onyx_elem)r->type, 4, shape);
  const comp_loop loops[] = {
      {LOOP_PARALLEL, dirs}, {LOOP_PARALLEL, r->batch}, {LOOP_PARALLEL, r->hidden}};
  const expr *d = expr_loop(c, 0), *b = expr_loop(c, 1), *h = expr_loop(c, 2);
  const expr *out[] = {expr_index(c, 0), d, b, h};
  const expr *in[] = {r->batch_first ? b : d, r->batch_first ? d : b, h};
  const expr *value =
      view_has(c->view, initial) ? read_at(r, initial, 3, in) : expr_zero(c, r->type);
  comp_stage *s = comp_stage_begin(c, 3, loops);
  comp_write_at(c, s, buffer, 4, out, value, NULL);
  return buffer;
}

static const expr *clipped(const recurrent *r, const expr *x) {
  if (r->clip <= 0)
    return x;
  x = expr_binary(r->c, EXPR_MIN, x, expr_float(r->c, r->type, r->clip));
  return expr_binary(r->c, EXPR_MAX, x, expr_float(r->c, r->type, -r->clip));
}

static const expr *sigmoid(comprehension *c, const expr *x) {
  const expr *one = expr_one(c, x->type);
  const expr *e = expr_unary(c, EXPR_EXP, expr_unary(c, EXPR_NEG, x));
  return expr_binary(c, EXPR_DIV, one, add(c, one, e));
}

// max(x, 0) + log1p(exp(-|x|)): log(1 + exp(x)) without overflow.
static const expr *softplus(comprehension *c, const expr *x) {
  const expr *low = expr_unary(c, EXPR_NEG, expr_unary(c, EXPR_ABS, x));
  const expr *tail = expr_unary(c, EXPR_LOG1P, expr_unary(c, EXPR_EXP, low));
  return add(c, expr_binary(c, EXPR_MAX, x, expr_zero(c, x->type)), tail);
}

static const expr *apply(comprehension *c, const activation *a, const expr *x) {
  int type = x->type;
  const expr *alpha = expr_float(c, type, a->alpha), *beta = expr_float(c, type, a->beta);
  const expr *zero = expr_zero(c, type), *one = expr_one(c, type);
  const expr *positive = expr_compare(c, EXPR_GE, x, zero);
  if (!strcmp(a->name, "Sigmoid"))
    return sigmoid(c, x);
  if (!strcmp(a->name, "Tanh"))
    return expr_unary(c, EXPR_TANH, x);
  if (!strcmp(a->name, "Relu"))
    return expr_binary(c, EXPR_MAX, x, zero);
  if (!strcmp(a->name, "Affine"))
    return add(c, x_mul(c, alpha, x), beta);
  if (!strcmp(a->name, "LeakyRelu"))
    return expr_select(c, positive, x, x_mul(c, alpha, x));
  if (!strcmp(a->name, "ThresholdedRelu"))
    return expr_select(c, expr_compare(c, EXPR_GT, x, alpha), x, zero);
  if (!strcmp(a->name, "ScaledTanh"))
    return x_mul(c, alpha, expr_unary(c, EXPR_TANH, x_mul(c, beta, x)));
  if (!strcmp(a->name, "HardSigmoid")) {
    const expr *y = expr_binary(c, EXPR_MIN, add(c, x_mul(c, alpha, x), beta), one);
    return expr_binary(c, EXPR_MAX, y, zero);
  }
  if (!strcmp(a->name, "Elu"))
    return expr_select(c, positive, x, x_mul(c, alpha, expr_unary(c, EXPR_EXPM1, x)));
  if (!strcmp(a->name, "Softsign"))
    return expr_binary(c, EXPR_DIV, x, add(c, one, expr_unary(c, EXPR_ABS, x)));
  return softplus(c, x);
}

// Function f of this step's direction; two directions with different functions give a select.
static const expr *activated(const recurrent *r, int f, const expr *d, const expr *x) {
  comprehension *c = r->c;
  const activation *first = &r->act[f], *second = &r->act[r->functions + f];
  x = clipped(r, x);
  const expr *y = apply(c, first, x);
  if (r->directions == 1 ||
      (first->name == second->name && first->alpha == second->alpha && first->beta == second->beta))
    return y;
  const expr *is_first = expr_compare(c, EXPR_EQ, d, expr_index(c, 0));
  return expr_select(c, is_first, y, apply(c, second, x));
}

// One step of all directions, batch elements and hidden units: t, d, b, h and the reduction j.
typedef struct step {
  const expr *t, *d, *b, *h, *j;
  const expr *next; // t + 1
  const expr *runs; // t is inside the sequence
  comp_stage *stage;
} step;

static void step_exprs(const recurrent *r, step *s, int t, int d, int j) {
  comprehension *c = r->c;
  s->t = expr_loop(c, t);
  s->d = expr_loop(c, d);
  s->b = expr_loop(c, d + 1);
  s->h = expr_loop(c, d + 2);
  s->j = expr_loop(c, j);
  s->next = expr_binary(c, EXPR_ADD, s->t, expr_index(c, 1));
  s->runs = view_has(c->view, 4) ? expr_compare(c, EXPR_LT, s->t, length_of(r, s->b)) : NULL;
}

static void step_begin(recurrent *r, step *s) {
  comprehension *c = r->c;
  const dim *dirs = dim_const(c->view->dims, r->directions);
  const comp_loop loops[] = {{LOOP_ORDERED, r->steps},
                             {LOOP_PARALLEL, dirs},
                             {LOOP_PARALLEL, r->batch},
                             {LOOP_PARALLEL, r->hidden},
                             {LOOP_REDUCTION, r->hidden}};
  step_exprs(r, s, 0, 1, 4);
  s->stage = comp_stage_begin(c, 5, loops);
}

static const expr *read_state(const recurrent *r, int buffer, const expr *t, const step *s,
                              const expr *unit) {
  const expr *at[] = {t, s->d, s->b, unit};
  return expr_read(r->c, buffer, 4, at);
}

static const expr *read_projected(const recurrent *r, const step *s, int gate) {
  return read_state(r, r->projected, s->t, s, gate_row(r, gate, s->h));
}

// Sum over j of state[j] * R[gate * hidden + h, j]
static const expr *recurrent_sum(const recurrent *r, const step *s, int gate) {
  const expr *w[] = {s->d, gate_row(r, gate, s->h), s->j};
  const expr *term = x_mul(r->c, read_state(r, r->state, s->t, s, s->j), read_at(r, 2, 3, w));
  int acc = comp_acc_combine(r->c, s->stage, ACC_ADD, r->type, term, NULL);
  return expr_acc(r->c, acc, r->type);
}

// X * W + H * R + both biases
static const expr *gate_input(const recurrent *r, const step *s, int gate) {
  comprehension *c = r->c;
  const expr *x = add(c, read_projected(r, s, gate), recurrent_sum(r, s, gate));
  x = add(c, x, bias_of(r, 0, gate, s->d, s->h));
  return add(c, x, bias_of(r, 1, gate, s->d, s->h));
}

// Writes row t + 1: the new value while the sequence runs, the old one after its end.
static void write_state(const recurrent *r, const step *s, int buffer, const expr *value,
                        const expr *guard) {
  comprehension *c = r->c;
  if (s->runs)
    value = expr_select(c, s->runs, value, read_state(r, buffer, s->t, s, s->h));
  const expr *at[] = {s->next, s->d, s->b, s->h};
  comp_write_at(c, s->stage, buffer, 4, at, value, guard);
}

// --- results

static void write_sequence(const recurrent *r) {
  comprehension *c = r->c;
  op_view *v = c->view;
  if (v->num_results < 1 || !v->wanted[0])
    return;
  int y = comp_result(c, 0);
  const dim *dirs = dim_const(v->dims, r->directions);
  const comp_loop loops[] = {{LOOP_PARALLEL, r->steps},
                             {LOOP_PARALLEL, dirs},
                             {LOOP_PARALLEL, r->batch},
                             {LOOP_PARALLEL, r->hidden}};
  const expr *t = expr_loop(c, 0), *d = expr_loop(c, 1), *b = expr_loop(c, 2), *h = expr_loop(c, 3);
  const expr *processed = place_of(r, t, d, b);
  const expr *in[] = {expr_binary(c, EXPR_ADD, processed, expr_index(c, 1)), d, b, h};
  const expr *value = expr_read(c, r->state, 4, in);
  if (view_has(v, 4)) // zeros past the end of a sequence
    value =
        expr_select(c, expr_compare(c, EXPR_LT, t, length_of(r, b)), value, expr_zero(c, r->type));
  const expr *out[] = {t, d, b, h}, *out_batch_first[] = {b, t, d, h};
  comp_stage *s = comp_stage_begin(c, 4, loops);
  comp_write_at(c, s, y, 4, r->batch_first ? out_batch_first : out,
                expr_cast(c, value, view_elem(v, 0)), NULL);
}

static void write_last(const recurrent *r, int result, int buffer) {
  comprehension *c = r->c;
  op_view *v = c->view;
  if (result >= v->num_results || !v->wanted[result])
    return;
  const dim *dirs = dim_const(v->dims, r->directions);
  const comp_loop loops[] = {
      {LOOP_PARALLEL, dirs}, {LOOP_PARALLEL, r->batch}, {LOOP_PARALLEL, r->hidden}};
  const expr *d = expr_loop(c, 0), *b = expr_loop(c, 1), *h = expr_loop(c, 2);
  const expr *in[] = {expr_dim(c, r->steps), d, b, h};
  const expr *out[] = {r->batch_first ? b : d, r->batch_first ? d : b, h};
  comp_stage *s = comp_stage_begin(c, 3, loops);
  comp_write_at(c, s, comp_result(c, result), 3, out,
                expr_cast(c, expr_read(c, buffer, 4, in), view_elem(v, 0)), NULL);
}

static bool begin(op_view *v, comprehension *c, recurrent *r, reader read) {
  if (!read(v, r))
    return false;
  if (!r->known)
    return view_error(v, "the rank of operand 0, 1 or 2 is not known");
  r->c = c;
  r->type = expr_compute_type(view_elem(v, 0));
  project_inputs(r);
  r->state = state_buffer(r, 5);
  return true;
}

// --- RNN: H' = f(X * W + H * R + Wb + Rb)

static bool verify_rnn(op_view *v) {
  recurrent r;
  return rnn_of(v, &r);
}
static bool shape_rnn(op_view *v, shape_result *results) {
  return shape_recurrent(v, results, rnn_of);
}
static bool comp_rnn(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  recurrent r;
  step s;
  if (!begin(v, c, &r, rnn_of))
    return false;
  step_begin(&r, &s);
  write_state(&r, &s, r.state, activated(&r, 0, s.d, gate_input(&r, &s, 0)), NULL);
  write_sequence(&r);
  write_last(&r, 1, r.state);
  return true;
}

// --- GRU: gates z, r, h

static bool verify_gru(op_view *v) {
  recurrent r;
  return gru_of(v, &r);
}
static bool shape_gru(op_view *v, shape_result *results) {
  return shape_recurrent(v, results, gru_of);
}

// H' = (1 - z) * n + z * H
static const expr *gru_mix(const recurrent *r, const step *s, const expr *z, const expr *n) {
  comprehension *c = r->c;
  const expr *keep = x_mul(c, z, read_state(r, r->state, s->t, s, s->h));
  return add(c, x_mul(c, x_sub(c, expr_one(c, r->type), z), n), keep);
}

// linear_before_reset: n = g(X * Wh + r * (H * Rh + Rbh) + Wbh)
static void gru_linear_first(recurrent *r) {
  comprehension *c = r->c;
  step s;
  step_begin(r, &s);
  const expr *z = activated(r, 0, s.d, gate_input(r, &s, 0));
  const expr *reset = activated(r, 0, s.d, gate_input(r, &s, 1));
  const expr *linear = add(c, recurrent_sum(r, &s, 2), bias_of(r, 1, 2, s.d, s.h));
  const expr *n = add(c, read_projected(r, &s, 2), x_mul(c, reset, linear));
  n = activated(r, 1, s.d, add(c, n, bias_of(r, 0, 2, s.d, s.h)));
  write_state(r, &s, r->state, gru_mix(r, &s, z, n), NULL);
}

// Otherwise n = g(X * Wh + (r * H) * Rh + Rbh + Wbh), which needs r of all units: a step has two
// phases, an ordered loop of two iterations. Phase 0 stores z and r * H, phase 1 makes H'.
static void gru_reset_first(recurrent *r) {
  comprehension *c = r->c;
  dim_context *dc = c->view->dims;
  const dim *dirs = dim_const(dc, r->directions), *shape[] = {dirs, r->batch, r->hidden};
  int update = comp_temp(c, (onyx_elem)r->type, 3, shape);
  int gated = comp_temp(c, (onyx_elem)r->type, 3, shape);
  const comp_loop loops[] = {{LOOP_ORDERED, r->steps},   {LOOP_ORDERED, dim_const(dc, 2)},
                             {LOOP_PARALLEL, dirs},      {LOOP_PARALLEL, r->batch},
                             {LOOP_PARALLEL, r->hidden}, {LOOP_REDUCTION, r->hidden}};
  step s;
  step_exprs(r, &s, 0, 2, 5);
  s.stage = comp_stage_begin(c, 6, loops);
  const expr *second = expr_compare(c, EXPR_EQ, expr_loop(c, 1), expr_index(c, 1));
  const expr *first = expr_unary(c, EXPR_NOT, second);
  const expr *z = activated(r, 0, s.d, gate_input(r, &s, 0));
  const expr *reset = activated(r, 0, s.d, gate_input(r, &s, 1));
  const expr *here[] = {s.d, s.b, s.h}, *other[] = {s.d, s.b, s.j};
  const expr *w[] = {s.d, gate_row(r, 2, s.h), s.j};
  const expr *term = x_mul(c, expr_read(c, gated, 3, other), read_at(r, 2, 3, w));
  term = expr_select(c, second, term, expr_zero(c, r->type));
  int acc = comp_acc_combine(c, s.stage, ACC_ADD, r->type, term, NULL);
  const expr *n = add(c, read_projected(r, &s, 2), expr_acc(c, acc, r->type));
  n = add(c, add(c, n, bias_of(r, 0, 2, s.d, s.h)), bias_of(r, 1, 2, s.d, s.h));
  n = activated(r, 1, s.d, n);
  const expr *kept = expr_read(c, update, 3, here);
  write_state(r, &s, r->state, gru_mix(r, &s, kept, n), second);
  comp_write_at(c, s.stage, update, 3, here, z, first);
  comp_write_at(c, s.stage, gated, 3, here, x_mul(c, reset, read_state(r, r->state, s.t, &s, s.h)),
                first);
}

static bool comp_gru(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  recurrent r;
  if (!begin(v, c, &r, gru_of))
    return false;
  if (view_int(v, "linear_before_reset"))
    gru_linear_first(&r);
  else
    gru_reset_first(&r);
  write_sequence(&r);
  write_last(&r, 1, r.state);
  return true;
}

// --- LSTM: gates i, o, f, c; peepholes P in the order i, o, f

static bool verify_lstm(op_view *v) {
  recurrent r;
  return lstm_of(v, &r);
}
static bool shape_lstm(op_view *v, shape_result *results) {
  return shape_recurrent(v, results, lstm_of);
}

static const expr *peephole(const recurrent *r, const step *s, int gate, const expr *cell) {
  if (!view_has(r->c->view, 7))
    return NULL;
  const expr *at[] = {s->d, gate_row(r, gate, s->h)};
  return x_mul(r->c, read_at(r, 7, 2, at), cell);
}

static bool comp_lstm(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  recurrent r;
  step s;
  if (!begin(v, c, &r, lstm_of))
    return false;
  int cells = state_buffer(&r, 6);
  step_begin(&r, &s);
  const expr *old = read_state(&r, cells, s.t, &s, s.h);
  const expr *i = activated(&r, 0, s.d, add(c, gate_input(&r, &s, 0), peephole(&r, &s, 0, old)));
  const expr *f =
      view_int(v, "input_forget")
          ? x_sub(c, expr_one(c, r.type), i)
          : activated(&r, 0, s.d, add(c, gate_input(&r, &s, 2), peephole(&r, &s, 2, old)));
  const expr *candidate = activated(&r, 1, s.d, gate_input(&r, &s, 3));
  const expr *cell = add(c, x_mul(c, f, old), x_mul(c, i, candidate));
  const expr *o = activated(&r, 0, s.d, add(c, gate_input(&r, &s, 1), peephole(&r, &s, 1, cell)));
  // The cell is activated as it is: clip bounds what goes into the gates.
  recurrent unclipped = r;
  unclipped.clip = 0;
  write_state(&r, &s, r.state, x_mul(c, o, activated(&unclipped, 2, s.d, cell)), NULL);
  write_state(&r, &s, cells, cell, NULL);
  write_sequence(&r);
  write_last(&r, 1, r.state);
  write_last(&r, 2, cells);
  return true;
}

const op_def ops_recurrent[] = {
    {"GRU", verify_gru, shape_gru, comp_gru},
    {"LSTM", verify_lstm, shape_lstm, comp_lstm},
    {"RNN", verify_rnn, shape_rnn, comp_rnn},
};
const int num_ops_recurrent = sizeof ops_recurrent / sizeof ops_recurrent[0];
