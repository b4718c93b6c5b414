// LinearAttention and CausalConvWithState: attention and convolution with a state carried along.
#include "dialects/onnx/ops/op.h"
#include "dialects/onnx/ops/scalar.h"
#include <inttypes.h>
#include <string.h>

// --- LinearAttention: query, key, value, past_state, decay, beta

enum { QUERY, KEY, VALUE, PAST, DECAY, BETA };

typedef struct linear {
  bool known;
  bool gated, delta;
  const dim *batch, *steps, *q_heads, *kv_heads, *k_size, *v_size;
  int64_t group; // query heads that share a key head
} linear;

static bool linear_rule(op_view *v, linear *l) {
  const char *rule = view_string(v, "update_rule");
  l->gated = !strcmp(rule, "gated") || !strcmp(rule, "gated_delta");
  l->delta = !strcmp(rule, "delta") || !strcmp(rule, "gated_delta");
  if (!l->gated && !l->delta && strcmp(rule, "linear"))
    return view_error(v, "update_rule: expected linear, gated, delta or gated_delta, found '%s'",
                      rule);
  if (view_has(v, DECAY) != l->gated)
    return view_error(v, "operand 4 ('decay'): update_rule '%s' %s it", rule,
                      l->gated ? "needs" : "does not take");
  if (view_has(v, BETA) != l->delta)
    return view_error(v, "operand 5 ('beta'): update_rule '%s' %s it", rule,
                      l->delta ? "needs" : "does not take");
  return true;
}

static bool linear_of(op_view *v, linear *l) {
  *l = (linear){0};
  int64_t q = view_int(v, "q_num_heads"), kv = view_int(v, "kv_num_heads");
  if (q < 1 || kv < 1 || q % kv)
    return view_error(v, "q_num_heads (%" PRId64 ") is no multiple of kv_num_heads (%" PRId64 ")",
                      q, kv);
  l->group = q / kv;
  if (!linear_rule(v, l))
    return false;
  l->known = true;
  for (int i = QUERY; i <= BETA; i++) {
    int want = i == PAST ? 4 : 3, rank = view_rank(v, i);
    if (rank >= 0 && rank != want)
      return view_error(v, "operand %d: expected rank %d, found rank %d", i, want, rank);
    l->known &= rank >= 0 || !view_has(v, i);
  }
  if (!l->known)
    return true;
  dim_context *d = v->dims;
  l->batch = view_dim(v, QUERY, 0);
  l->steps = view_dim(v, QUERY, 1);
  l->q_heads = dim_const(d, q);
  l->kv_heads = dim_const(d, kv);
  l->k_size = dim_floordiv(d, view_dim(v, QUERY, 2), l->q_heads);
  l->v_size = dim_floordiv(d, view_dim(v, VALUE, 2), l->kv_heads);
  return true;
}

static bool verify_linear(op_view *v) {
  linear l;
  return linear_of(v, &l);
}

static bool shape_linear(op_view *v, shape_result *results) {
  linear l;
  if (!linear_of(v, &l))
    return false;
  if (v->num_results > 1)
    results[1].type.elem = view_has(v, PAST) ? view_elem(v, PAST) : view_elem(v, QUERY);
  if (!l.known)
    return true;
  const dim *y[] = {l.batch, l.steps, dim_mul(v->dims, l.q_heads, l.v_size)};
  const dim *state[] = {l.batch, l.kv_heads, l.k_size, l.v_size};
  shape_set(v, results, 0, 3, y);
  if (v->num_results > 1)
    shape_set(v, results, 1, 4, state);
  return true;
}

// The recurrence of one query head's copy of the state, for each column m of the value:
//   e in [0, dk):      r  += exp(g) * S[e, m] * k[e]
//   e in [dk, 2 dk):   S' = exp(g) * S[e - dk, m] + k * v'  with v' = beta * (v - r), o += q * S'
// one ordered loop e of both halves, so that a step reads what its first half has summed.
typedef struct recurrence {
  const linear *l;
  const expr *t, *b, *h, *m, *e, *row; // row: e without the half
  const expr *kv;                      // key head
  const expr *second;                  // in the second half
} recurrence;

static const expr *read_packed(comprehension *c, const recurrence *r, int operand, const expr *head,
                               const dim *size, const expr *at) {
  const expr *index[] = {r->b, r->t, x_add(c, x_mul(c, head, expr_dim(c, size)), at)};
  return expr_cast(c, expr_read(c, operand, 3, index), ONYX_F32);
}

// exp(decay): one factor a head, or one for each row of the state.
static const expr *decay_of(comprehension *c, const recurrence *r) {
  const dim *last = view_dim(c->view, DECAY, 2);
  const expr *each = read_packed(c, r, DECAY, r->kv, r->l->k_size, r->row);
  const expr *index[] = {r->b, r->t, r->kv};
  const expr *one = expr_cast(c, expr_read(c, DECAY, 3, index), ONYX_F32);
  if (last == r->l->kv_heads)
    return expr_unary(c, EXPR_EXP, one);
  if (last->op == DIM_CONST)
    return expr_unary(c, EXPR_EXP, each);
  const expr *a_head = expr_compare(c, EXPR_EQ, expr_dim(c, last), expr_dim(c, r->l->kv_heads));
  return expr_unary(c, EXPR_EXP, expr_select(c, a_head, one, each));
}

static const expr *beta_of(comprehension *c, const recurrence *r) {
  const dim *last = view_dim(c->view, BETA, 2);
  const expr *index[] = {r->b, r->t, r->kv};
  if (dim_is(last, 1) && !dim_is(r->l->kv_heads, 1))
    index[2] = expr_index(c, 0);
  else if (last->op != DIM_CONST)
    index[2] = expr_binary(c, EXPR_MIN, r->kv,
                           expr_dim(c, dim_sub(c->view->dims, last, dim_const(c->view->dims, 1))));
  return expr_cast(c, expr_read(c, BETA, 3, index), ONYX_F32);
}

// Two states, [2, batch, q_heads, dk, dv]: step t reads t mod 2 and writes the other.
static int start_state(comprehension *c, const linear *l) {
  dim_context *d = c->view->dims;
  const dim *shape[] = {dim_const(d, 2), l->batch, l->q_heads, l->k_size, l->v_size};
  int states = comp_temp(c, ONYX_F32, 5, shape);
  comp_loop loops[4];
  for (int i = 0; i < 4; i++)
    loops[i] = (comp_loop){LOOP_PARALLEL, shape[i + 1]};
  const expr *b = expr_loop(c, 0), *h = expr_loop(c, 1), *k = expr_loop(c, 2), *m = expr_loop(c, 3);
  const expr *kv = expr_binary(c, EXPR_FLOORDIV, h, expr_index(c, l->group));
  const expr *past[] = {b, kv, k, m}, *to[] = {expr_index(c, 0), b, h, k, m};
  const expr *value = view_has(c->view, PAST) ? expr_cast(c, expr_read(c, PAST, 4, past), ONYX_F32)
                                              : expr_zero(c, ONYX_F32);
  comp_stage *s = comp_stage_begin(c, 4, loops);
  comp_write_at(c, s, states, 5, to, value, NULL);
  return states;
}

static void run_steps(comprehension *c, const linear *l, int states, int retrieved, int out) {
  dim_context *d = c->view->dims;
  const comp_loop loops[] = {{LOOP_ORDERED, l->steps},
                             {LOOP_PARALLEL, l->batch},
                             {LOOP_PARALLEL, l->q_heads},
                             {LOOP_PARALLEL, l->v_size},
                             {LOOP_ORDERED, dim_mul(d, dim_const(d, 2), l->k_size)}};
  recurrence r = {l,
                  expr_loop(c, 0),
                  expr_loop(c, 1),
                  expr_loop(c, 2),
                  expr_loop(c, 3),
                  expr_loop(c, 4),
                  NULL,
                  NULL,
                  NULL};
  const expr *rows = expr_dim(c, l->k_size), *zero = expr_zero(c, ONYX_F32);
  r.second = expr_compare(c, EXPR_GE, r.e, rows);
  r.row = expr_select(c, r.second, x_sub(c, r.e, rows), r.e);
  r.kv = expr_binary(c, EXPR_FLOORDIV, r.h, expr_index(c, l->group));
  const expr *now = expr_binary(c, EXPR_MOD, r.t, expr_index(c, 2));
  const expr *next = x_sub(c, expr_index(c, 1), now);
  const expr *old[] = {now, r.b, r.h, r.row, r.m}, *fresh[] = {next, r.b, r.h, r.row, r.m};
  comp_stage *s = comp_stage_begin(c, 5, loops);
  const expr *state = expr_read(c, states, 5, old);
  if (l->gated)
    state = x_mul(c, state, decay_of(c, &r));
  const expr *k = read_packed(c, &r, KEY, r.kv, l->k_size, r.row);
  const expr *value = read_packed(c, &r, VALUE, r.kv, l->v_size, r.m);
  const expr *cell[] = {r.b, r.h, r.m};
  if (l->delta) {
    const expr *sum = expr_read(c, retrieved, 3, cell);
    const expr *first = expr_compare(c, EXPR_EQ, r.e, expr_index(c, 0));
    const expr *so_far = expr_select(c, first, zero, sum);
    value = x_mul(c, beta_of(c, &r), x_sub(c, value, sum));
    state = x_add(c, state, x_mul(c, k, expr_select(c, r.second, value, zero)));
    const expr *kept = expr_read(c, states, 5, old);
    kept = l->gated ? x_mul(c, kept, decay_of(c, &r)) : kept;
    comp_write_at(c, s, retrieved, 3, cell, x_add(c, so_far, x_mul(c, kept, k)),
                  expr_unary(c, EXPR_NOT, r.second));
  } else {
    state = x_add(c, state, x_mul(c, k, value));
  }
  comp_write_at(c, s, states, 5, fresh, state, r.second);
  const expr *q = read_packed(c, &r, QUERY, r.h, l->k_size, r.row);
  const expr *at[] = {r.b, r.t, x_add(c, x_mul(c, r.h, expr_dim(c, l->v_size)), r.m)};
  const expr *begins = expr_compare(c, EXPR_EQ, r.e, rows);
  const expr *o = expr_select(c, begins, zero, expr_read(c, out, 3, at));
  comp_write_at(c, s, out, 3, at, x_add(c, o, x_mul(c, q, state)), r.second);
}

static bool comp_linear(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  linear l;
  if (!linear_of(v, &l))
    return false;
  if (!l.known)
    return view_error(v, "the rank of an operand is not known");
  dim_context *d = v->dims;
  const dim *cells[] = {l.batch, l.q_heads, l.v_size};
  const dim *shape[] = {l.batch, l.steps, dim_mul(d, l.q_heads, l.v_size)};
  int states = start_state(c, &l);
  int retrieved = l.delta ? comp_temp(c, ONYX_F32, 3, cells) : -1;
  int out = comp_temp(c, ONYX_F32, 3, shape);
  run_steps(c, &l, states, retrieved, out);

  double factor = view_float(v, "scale");
  int y = comp_result(c, 0);
  comp_stage *s = comp_stage_over(c, y);
  const expr *at[] = {expr_loop(c, 0), expr_loop(c, 1), expr_loop(c, 2)};
  const expr *scale = expr_float(c, ONYX_F32, factor);
  if (factor == 0)
    scale = expr_binary(c, EXPR_DIV, expr_one(c, ONYX_F32),
                        expr_unary(c, EXPR_SQRT, expr_cast(c, expr_dim(c, l.k_size), ONYX_F32)));
  comp_write_point(c, s, y,
                   expr_cast(c, x_mul(c, scale, expr_read(c, out, 3, at)), view_elem(v, 0)));
  if (v->num_results < 2 || !v->wanted[1])
    return true;
  int last = comp_result(c, 1);
  s = comp_stage_over(c, last);
  const expr *parity = expr_dim(c, dim_mod(d, l.steps, dim_const(d, 2)));
  const expr *head = x_mul(c, expr_loop(c, 1), expr_index(c, l.group));
  const expr *from[] = {parity, expr_loop(c, 0), head, expr_loop(c, 2), expr_loop(c, 3)};
  comp_write_point(c, s, last, expr_cast(c, expr_read(c, states, 5, from), c->buffers[last].elem));
  return true;
}

// --- CausalConvWithState: input [B, C, L], weight [C, 1, K], bias [C], past_state [B, C, K - 1]

static bool causal_of(op_view *v, bool *known) {
  const char *activation = view_string(v, "activation");
  if (*activation && strcmp(activation, "none") && strcmp(activation, "silu") &&
      strcmp(activation, "swish"))
    return view_error(v, "activation: expected none, silu or swish, found '%s'", activation);
  static const int ranks[] = {3, 3, 1, 3};
  *known = true;
  for (int i = 0; i < 4; i++) {
    if (view_rank(v, i) >= 0 && view_rank(v, i) != ranks[i])
      return view_error(v, "operand %d: expected rank %d, found rank %d", i, ranks[i],
                        view_rank(v, i));
    *known &= view_rank(v, i) >= 0 || !view_has(v, i);
  }
  int64_t k;
  if (view_rank(v, 1) == 3 && dim_is_const(view_dim(v, 1, 2), &k) && k < 1)
    return view_error(v, "operand 1 ('weight'): the kernel is empty");
  return true;
}

static bool verify_causal(op_view *v) {
  bool known;
  return causal_of(v, &known);
}

static bool shape_causal(op_view *v, shape_result *results) {
  bool known;
  if (!causal_of(v, &known))
    return false;
  shape_like(v, results, 0, 0);
  if (view_rank(v, 0) < 0 || view_rank(v, 1) < 0 || v->num_results < 2)
    return true;
  const dim *state[] = {view_dim(v, 0, 0), view_dim(v, 0, 1),
                        dim_sub(v->dims, view_dim(v, 1, 2), dim_const(v->dims, 1))};
  shape_set(v, results, 1, 3, state);
  return true;
}

// Element p of past_state followed by input.
static const expr *read_joined(comprehension *c, const dim *kept, const expr *p) {
  const expr *b = expr_loop(c, 0), *ch = expr_loop(c, 1);
  const expr *fresh[] = {b, ch, x_sub(c, p, expr_dim(c, kept))}, *old[] = {b, ch, p};
  const expr *zero = expr_zero(c, view_elem(c->view, 0));
  const expr *x = expr_read_padded(c, 0, 3, fresh, zero);
  if (!view_has(c->view, 3))
    return x;
  const expr *before = expr_compare(c, EXPR_LT, p, expr_dim(c, kept));
  return expr_select(c, before, expr_read_padded(c, 3, 3, old, zero), x);
}

static bool comp_causal(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  bool known;
  if (!causal_of(v, &known))
    return false;
  if (!known)
    return view_error(v, "the rank of an operand is not known");
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem), y = comp_result(c, 0);
  const dim *taps = view_dim(v, 1, 2), *kept = dim_sub(v->dims, taps, dim_const(v->dims, 1));
  const comp_loop loops[] = {{LOOP_PARALLEL, view_dim(v, 0, 0)},
                             {LOOP_PARALLEL, view_dim(v, 0, 1)},
                             {LOOP_PARALLEL, view_dim(v, 0, 2)},
                             {LOOP_REDUCTION, taps}};
  const expr *ch = expr_loop(c, 1), *k = expr_loop(c, 3);
  const expr *w[] = {ch, expr_index(c, 0), k};
  comp_stage *s = comp_stage_begin(c, 4, loops);
  const expr *x = read_joined(c, kept, x_add(c, expr_loop(c, 2), k));
  const expr *term = x_mul(c, expr_cast(c, x, type), expr_cast(c, expr_read(c, 1, 3, w), type));
  const expr *sum = expr_acc(c, comp_acc_combine(c, s, ACC_ADD, type, term, NULL), type);
  if (view_has(v, 2))
    sum = x_add(c, sum, expr_cast(c, expr_read(c, 2, 1, &ch), type));
  const char *activation = view_string(v, "activation");
  if (*activation && strcmp(activation, "none")) { // x / (1 + exp(-x))
    const expr *e = expr_unary(c, EXPR_EXP, expr_unary(c, EXPR_NEG, sum));
    sum = expr_binary(c, EXPR_DIV, sum, x_add(c, expr_one(c, type), e));
  }
  const expr *at[] = {expr_loop(c, 0), ch, expr_loop(c, 2)};
  comp_write_at(c, s, y, 3, at, expr_cast(c, sum, elem), NULL);
  if (v->num_results < 2 || !v->wanted[1])
    return true;
  int state = comp_result(c, 1);
  s = comp_stage_over(c, state);
  comp_write_point(c, s, state,
                   read_joined(c, kept, x_add(c, expr_loop(c, 2), expr_dim(c, view_dim(v, 0, 2)))));
  return true;
}

const op_def ops_linear_attention[] = {
    {"CausalConvWithState", verify_causal, shape_causal, comp_causal},
    {"LinearAttention", verify_linear, shape_linear, comp_linear},
};
const int num_ops_linear_attention = sizeof ops_linear_attention / sizeof ops_linear_attention[0];
