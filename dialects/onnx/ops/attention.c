// Attention, RotaryEmbedding.
#include "dialects/onnx/ops/op.h"
#include "dialects/onnx/ops/scalar.h"
#include <inttypes.h>
#include <math.h>

static const expr *both(comprehension *c, const expr *a, const expr *b) {
  return !a ? b : !b ? a : expr_binary(c, EXPR_AND, a, b);
}

// --- Attention: Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, NONPAD };

typedef struct attention {
  bool known;  // ranks of Q, K and V are
  bool packed; // rank 3: heads are packed into the last dim
  const dim *batch, *q_heads, *kv_heads, *q_len, *kv_len;
  const dim *head, *v_head; // head sizes
  const dim *past, *total;  // keys in the cache, keys altogether
} attention;

// Heads and head size of a packed operand; the attribute `heads` is required there.
static bool packed_heads(op_view *v, int operand, const char *attr, const dim **heads,
                         const dim **head) {
  int64_t n = view_int(v, attr), size;
  const dim *last = view_dim(v, operand, 2);
  if (n < 1)
    return view_error(v, "%s: expected at least 1 for operands of rank 3, found %" PRId64, attr, n);
  if (dim_is_const(last, &size) && size % n)
    return view_error(v,
                      "operand %d: the last dim (%" PRId64 ") is no multiple of %s (%" PRId64 ")",
                      operand, size, attr, n);
  *heads = dim_const(v->dims, n);
  *head = dim_floordiv(v->dims, last, *heads);
  return true;
}

static bool attention_ranks(op_view *v, attention *a) {
  a->known = true;
  int rank = -1;
  for (int i = Q; i <= V; i++) {
    int r = view_rank(v, i);
    a->known &= r >= 0;
    if (r >= 0 && r != 3 && r != 4)
      return view_error(v, "operand %d: expected rank 3 or 4, found rank %d", i, r);
    if (r >= 0 && rank >= 0 && r != rank)
      return view_error(v, "operand %d: expected rank %d as operand 0, found rank %d", i, rank, r);
    rank = r >= 0 ? r : rank;
  }
  a->packed = rank == 3;
  for (int i = PAST_KEY; i <= PAST_VALUE; i++)
    if (view_rank(v, i) >= 0 && view_rank(v, i) != 4)
      return view_error(v, "operand %d: expected rank 4, found rank %d", i, view_rank(v, i));
  if (view_has(v, PAST_KEY) != view_has(v, PAST_VALUE))
    return view_error(v, "operands 4 ('past_key') and 5 ('past_value'): expected both or none");
  if (view_has(v, PAST_KEY) && (view_rank(v, PAST_KEY) < 0 || view_rank(v, PAST_VALUE) < 0))
    a->known = false;
  if (view_has(v, MASK) && view_rank(v, MASK) > 4)
    return view_error(v, "operand 3 ('attn_mask'): expected at most rank 4, found rank %d",
                      view_rank(v, MASK));
  return true;
}

static bool attention_heads(op_view *v, attention *a) {
  if (a->packed) {
    const dim *k_head, *v_heads;
    return packed_heads(v, Q, "q_num_heads", &a->q_heads, &a->head) &&
           packed_heads(v, K, "kv_num_heads", &a->kv_heads, &k_head) &&
           packed_heads(v, V, "kv_num_heads", &v_heads, &a->v_head);
  }
  a->q_heads = view_dim(v, Q, 1);
  a->kv_heads = view_dim(v, K, 1);
  a->head = view_dim(v, Q, 3);
  a->v_head = view_dim(v, V, 3);
  return true;
}

static bool attention_of(op_view *v, attention *a) {
  if (!attention_ranks(v, a) || !a->known)
    return v->error == NULL;
  if (!attention_heads(v, a))
    return false;
  int64_t q_heads, kv_heads;
  if (dim_is_const(a->q_heads, &q_heads) && dim_is_const(a->kv_heads, &kv_heads) &&
      (kv_heads < 1 || q_heads % kv_heads))
    return view_error(
        v, "operands 0 and 1: %" PRId64 " query heads are no multiple of %" PRId64 " key heads",
        q_heads, kv_heads);
  int seq = a->packed ? 1 : 2;
  a->batch = view_dim(v, Q, 0);
  a->q_len = view_dim(v, Q, seq);
  a->kv_len = view_dim(v, K, seq);
  a->past = view_has(v, PAST_KEY) ? view_dim(v, PAST_KEY, 2) : dim_const(v->dims, 0);
  a->total = dim_add(v->dims, a->past, a->kv_len);
  return true;
}

static bool verify_attention(op_view *v) {
  attention a;
  return attention_of(v, &a);
}

static bool shape_attention(op_view *v, shape_result *results) {
  attention a;
  if (!attention_of(v, &a))
    return false;
  if (!a.known)
    return true;
  const dim *packed[] = {a.batch, a.q_len, dim_mul(v->dims, a.q_heads, a.v_head)};
  const dim *y[] = {a.batch, a.q_heads, a.q_len, a.v_head};
  shape_set(v, results, 0, a.packed ? 3 : 4, a.packed ? packed : y);
  const dim *more[3][4] = {{a.batch, a.kv_heads, a.total, a.head},
                           {a.batch, a.kv_heads, a.total, a.v_head},
                           {a.batch, a.q_heads, a.q_len, a.total}};
  for (int r = 1; r < v->num_results && r < 4; r++)
    shape_set(v, results, r, 4, more[r - 1]);
  return true;
}

// Element (b, h, s, d) of an operand whose heads may be packed.
static const expr *read_heads(comprehension *c, const attention *a, int operand, const dim *head,
                              const expr *b, const expr *h, const expr *s, const expr *d) {
  if (!a->packed) {
    const expr *at[] = {b, h, s, d};
    return expr_read(c, operand, 4, at);
  }
  const expr *at[] = {b, s, x_add(c, x_mul(c, h, expr_dim(c, head)), d)};
  return expr_read(c, operand, 3, at);
}

// A buffer with the cache and the new keys (values) behind it: a result if it is wanted, else a
// temporary.
static int present(comprehension *c, const attention *a, int result, int past, int fresh,
                   const dim *head) {
  op_view *v = c->view;
  const dim *shape[] = {a->batch, a->kv_heads, a->total, head};
  bool wanted = result < v->num_results && v->wanted[result];
  int buffer = wanted ? comp_result(c, result) : comp_temp(c, view_elem(v, fresh), 4, shape);
  comp_loop loops[4];
  const expr *at[4];
  for (int i = 0; i < 4; i++) {
    loops[i] = (comp_loop){LOOP_PARALLEL, shape[i]};
    at[i] = expr_loop(c, i);
  }
  if (view_has(v, past)) {
    loops[2].extent = a->past;
    comp_stage *s = comp_stage_begin(c, 4, loops);
    comp_write_at(c, s, buffer, 4, at, expr_read(c, past, 4, at), NULL);
  }
  loops[2].extent = a->kv_len;
  comp_stage *s = comp_stage_begin(c, 4, loops);
  const expr *value = read_heads(c, a, fresh, head, at[0], at[1], at[2], at[3]);
  const expr *to[] = {at[0], at[1], x_add(c, at[2], expr_dim(c, a->past)), at[3]};
  comp_write_at(c, s, buffer, 4, to, value, NULL);
  return buffer;
}

// The mask at (b, h, s, t) as a term of the logits; keys past its end are masked.
static const expr *mask_bias(comprehension *c, int type) {
  op_view *v = c->view;
  int rank = view_rank(v, MASK);
  const expr *at[4];
  for (int i = 0; i < rank; i++) {
    const expr *l = expr_loop(c, 4 - rank + i);
    const dim *own = view_dim(v, MASK, i);
    if (i == rank - 1)
      at[i] = l;
    else if (own->op == DIM_CONST)
      at[i] = dim_is(own, 1) ? expr_index(c, 0) : l;
    else
      at[i] = expr_select(c, expr_compare(c, EXPR_EQ, expr_dim(c, own), expr_index(c, 1)),
                          expr_index(c, 0), l);
  }
  const expr *none = expr_lowest(c, type);
  if (view_elem(v, MASK) == ONYX_BOOL) {
    const expr *keep = expr_read_padded(c, MASK, rank, at, expr_int(c, ONYX_BOOL, 0));
    return expr_select(c, keep, expr_zero(c, type), none);
  }
  onyx_elem elem = view_elem(v, MASK);
  const expr *pad =
      onyx_elem_is_float(elem) ? expr_float(c, elem, -INFINITY) : expr_lowest(c, elem);
  return expr_cast(c, expr_read_padded(c, MASK, rank, at, pad), type);
}

// Whether key t may be seen by query s at all; NULL: always.
static const expr *visible(comprehension *c, const attention *a) {
  op_view *v = c->view;
  const expr *b = expr_loop(c, 0), *s = expr_loop(c, 2), *t = expr_loop(c, 3), *ok = NULL;
  const expr *valid = NULL;
  if (view_has(v, NONPAD))
    valid = expr_cast(c, expr_read(c, NONPAD, 1, &b), ONYX_INDEX);
  // Place of the query among all keys: behind the cache, or at the end of the valid ones.
  const expr *place = x_add(c, s, expr_dim(c, a->past));
  if (valid && !view_has(v, PAST_KEY))
    place = x_add(c, s, x_sub(c, valid, expr_dim(c, a->q_len)));
  int64_t left = view_int(v, "left_window_size"), right = view_int(v, "right_window_size");
  if (view_int(v, "is_causal"))
    ok = expr_compare(c, EXPR_LE, t, place);
  if (left >= 0)
    ok = both(c, ok, expr_compare(c, EXPR_GE, t, x_sub(c, place, expr_index(c, left))));
  if (right >= 0)
    ok = both(c, ok, expr_compare(c, EXPR_LE, t, x_add(c, place, expr_index(c, right))));
  return valid ? both(c, ok, expr_compare(c, EXPR_LT, t, valid)) : ok;
}

static const expr *attention_bias(comprehension *c, const attention *a, int type) {
  const expr *bias = view_has(c->view, MASK) ? mask_bias(c, type) : NULL;
  const expr *ok = visible(c, a);
  if (!ok)
    return bias;
  bias = bias ? bias : expr_zero(c, type);
  return expr_select(c, ok, bias, expr_lowest(c, type));
}

static const expr *capped(comprehension *c, const expr *x) {
  double cap = view_float(c->view, "softcap");
  if (cap <= 0)
    return x;
  const expr *limit = expr_float(c, x->type, cap);
  return x_mul(c, expr_unary(c, EXPR_TANH, expr_binary(c, EXPR_DIV, x, limit)), limit);
}

static const expr *attention_scale(comprehension *c, const attention *a, int type) {
  const onnx_attr *scale = view_attr(c->view, "scale");
  if (scale->kind)
    return expr_float(c, type, scale->f);
  const expr *head = expr_cast(c, expr_dim(c, a->head), type);
  return expr_binary(c, EXPR_DIV, expr_one(c, type), expr_unary(c, EXPR_SQRT, head));
}

// Buffers of shape [batch, heads, queries, keys] (rows: [batch, heads, queries]).
typedef struct scores {
  int type;
  int logits;      // with bias
  int max, masked; // rows: maximum of the logits, maximum of the bias
  int sum;         // rows: sum of exp(logit - max)
  bool has_bias;
} scores;

static void square_loops(const attention *a, comp_loop *loops, loop_kind keys) {
  const dim *shape[] = {a->batch, a->q_heads, a->q_len, a->total};
  for (int i = 0; i < 4; i++)
    loops[i] = (comp_loop){i == 3 ? keys : LOOP_PARALLEL, shape[i]};
}

// Writes the result qk_matmul_output when this is the value that its mode asks for.
static void expose(comprehension *c, comp_stage *s, int mode, const expr *value) {
  op_view *v = c->view;
  if (v->num_results < 4 || !v->wanted[3] || view_int(v, "qk_matmul_output_mode") != mode)
    return;
  const expr *at[] = {expr_loop(c, 0), expr_loop(c, 1), expr_loop(c, 2), expr_loop(c, 3)};
  comp_write_at(c, s, comp_result(c, 3), 4, at, expr_cast(c, value, view_elem(v, Q)), NULL);
}

static const expr *kv_head(comprehension *c, const attention *a, const expr *h) {
  if (a->q_heads == a->kv_heads)
    return h;
  const dim *group = dim_floordiv(c->view->dims, a->q_heads, a->kv_heads);
  return expr_binary(c, EXPR_FLOORDIV, h, expr_dim(c, group));
}

static void make_logits(comprehension *c, const attention *a, scores *x, int keys) {
  const dim *shape[] = {a->batch, a->q_heads, a->q_len, a->total};
  x->logits = comp_temp(c, (onyx_elem)x->type, 4, shape);
  comp_loop loops[5];
  square_loops(a, loops, LOOP_PARALLEL);
  loops[4] = (comp_loop){LOOP_REDUCTION, a->head};
  const expr *at[5];
  for (int i = 0; i < 5; i++)
    at[i] = expr_loop(c, i);
  const expr *q = read_heads(c, a, Q, a->head, at[0], at[1], at[2], at[4]);
  const expr *hk = kv_head(c, a, at[1]);
  const expr *kt[] = {at[0], hk, at[3], at[4]};
  const expr *k =
      keys >= 0 ? expr_read(c, keys, 4, kt) : read_heads(c, a, K, a->head, at[0], hk, at[3], at[4]);
  comp_stage *s = comp_stage_begin(c, 5, loops);
  const expr *term = x_mul(c, expr_cast(c, q, x->type), expr_cast(c, k, x->type));
  const expr *raw = expr_acc(c, comp_acc_combine(c, s, ACC_ADD, x->type, term, NULL), x->type);
  raw = x_mul(c, raw, attention_scale(c, a, x->type));
  const expr *logit = capped(c, raw), *bias = attention_bias(c, a, x->type);
  expose(c, s, 0, raw);
  expose(c, s, 1, logit);
  logit = bias ? x_add(c, logit, bias) : logit;
  expose(c, s, 2, logit);
  comp_write_at(c, s, x->logits, 4, at, logit, NULL);
  x->has_bias = bias != NULL;
}

static void make_rows(comprehension *c, const attention *a, scores *x) {
  const dim *shape[] = {a->batch, a->q_heads, a->q_len};
  x->max = comp_temp(c, (onyx_elem)x->type, 3, shape);
  x->masked = comp_temp(c, (onyx_elem)x->type, 3, shape);
  x->sum = comp_temp(c, (onyx_elem)x->type, 3, shape);
  comp_loop loops[4];
  square_loops(a, loops, LOOP_REDUCTION);
  const expr *at[] = {expr_loop(c, 0), expr_loop(c, 1), expr_loop(c, 2), expr_loop(c, 3)};
  comp_stage *s = comp_stage_begin(c, 4, loops);
  int m = comp_acc_combine(c, s, ACC_MAX, x->type, expr_read(c, x->logits, 4, at), NULL);
  comp_write_at(c, s, x->max, 3, at, expr_acc(c, m, x->type), NULL);
  if (x->has_bias) {
    int b = comp_acc_combine(c, s, ACC_MAX, x->type, attention_bias(c, a, x->type), NULL);
    comp_write_at(c, s, x->masked, 3, at, expr_acc(c, b, x->type), NULL);
  }
  s = comp_stage_begin(c, 4, loops);
  const expr *e = expr_unary(c, EXPR_EXP,
                             x_sub(c, expr_read(c, x->logits, 4, at), expr_read(c, x->max, 3, at)));
  int sum = comp_acc_combine(c, s, ACC_ADD, x->type, e, NULL);
  comp_write_at(c, s, x->sum, 3, at, expr_acc(c, sum, x->type), NULL);
}

// Turns logits into probabilities in place; a row with every key masked becomes zeros.
static void make_probabilities(comprehension *c, const attention *a, const scores *x) {
  comp_loop loops[4];
  square_loops(a, loops, LOOP_PARALLEL);
  const expr *at[] = {expr_loop(c, 0), expr_loop(c, 1), expr_loop(c, 2), expr_loop(c, 3)};
  comp_stage *s = comp_stage_begin(c, 4, loops);
  const expr *e = expr_unary(c, EXPR_EXP,
                             x_sub(c, expr_read(c, x->logits, 4, at), expr_read(c, x->max, 3, at)));
  const expr *p = expr_binary(c, EXPR_DIV, e, expr_read(c, x->sum, 3, at));
  if (x->has_bias) {
    const expr *none =
        expr_compare(c, EXPR_EQ, expr_read(c, x->masked, 3, at), expr_lowest(c, x->type));
    p = expr_select(c, none, expr_zero(c, x->type), p);
  }
  expose(c, s, 3, p);
  comp_write_at(c, s, x->logits, 4, at, p, NULL);
}

static void weigh_values(comprehension *c, const attention *a, const scores *x, int values) {
  op_view *v = c->view;
  const comp_loop loops[] = {{LOOP_PARALLEL, a->batch},
                             {LOOP_PARALLEL, a->q_heads},
                             {LOOP_PARALLEL, a->q_len},
                             {LOOP_PARALLEL, a->v_head},
                             {LOOP_REDUCTION, a->total}};
  const expr *at[5];
  for (int i = 0; i < 5; i++)
    at[i] = expr_loop(c, i);
  const expr *hk = kv_head(c, a, at[1]);
  const expr *pt[] = {at[0], at[1], at[2], at[4]}, *vt[] = {at[0], hk, at[4], at[3]};
  const expr *value = values >= 0 ? expr_read(c, values, 4, vt)
                                  : read_heads(c, a, V, a->v_head, at[0], hk, at[4], at[3]);
  comp_stage *s = comp_stage_begin(c, 5, loops);
  const expr *term = x_mul(c, expr_read(c, x->logits, 4, pt), expr_cast(c, value, x->type));
  int acc = comp_acc_combine(c, s, ACC_ADD, x->type, term, NULL);
  const expr *y = expr_cast(c, expr_acc(c, acc, x->type), view_elem(v, Q));
  const expr *packed[] = {at[0], at[2], x_add(c, x_mul(c, at[1], expr_dim(c, a->v_head)), at[3])};
  comp_write_at(c, s, comp_result(c, 0), a->packed ? 3 : 4, a->packed ? packed : at, y, NULL);
}

static bool comp_attention(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  attention a;
  if (!attention_of(v, &a))
    return false;
  if (!a.known || (view_has(v, MASK) && view_rank(v, MASK) < 0))
    return view_error(v, "the rank of an operand is not known");
  bool wants_key = v->num_results > 1 && v->wanted[1],
       wants_value = v->num_results > 2 && v->wanted[2];
  bool cached = view_has(v, PAST_KEY);
  int keys = cached || wants_key ? present(c, &a, 1, PAST_KEY, K, a.head) : -1;
  int values = cached || wants_value ? present(c, &a, 2, PAST_VALUE, V, a.v_head) : -1;
  scores x = {.type = expr_compute_type(view_elem(v, Q))};
  make_logits(c, &a, &x, keys);
  make_rows(c, &a, &x);
  make_probabilities(c, &a, &x);
  weigh_values(c, &a, &x, values);
  return true;
}

// --- RotaryEmbedding: X, cos_cache, sin_cache, position_ids

typedef struct rotary {
  int rank;
  const dim *batch, *heads, *length, *head, *half; // half: pairs that are turned
  const dim *rest;                                 // elements behind them, copied
} rotary;

static bool rotary_of(op_view *v, rotary *r) {
  r->rank = view_rank(v, 0);
  if (r->rank < 0)
    return true;
  if (r->rank != 3 && r->rank != 4)
    return view_error(v, "operand 0 ('X'): expected rank 3 or 4, found rank %d", r->rank);
  int caches = view_has(v, 3) ? 2 : 3;
  for (int i = 1; i < 3; i++)
    if (view_rank(v, i) >= 0 && view_rank(v, i) != caches)
      return view_error(v, "operand %d: expected rank %d %s position_ids, found rank %d", i, caches,
                        caches == 2 ? "with" : "without", view_rank(v, i));
  r->batch = view_dim(v, 0, 0);
  r->length = view_dim(v, 0, r->rank == 3 ? 1 : 2);
  if (r->rank == 4) {
    r->heads = view_dim(v, 0, 1);
    r->head = view_dim(v, 0, 3);
  } else if (!packed_heads(v, 0, "num_heads", &r->heads, &r->head)) {
    return false;
  }
  dim_context *d = v->dims;
  int64_t turned = view_int(v, "rotary_embedding_dim"), head;
  if (turned < 0 || turned % 2 || (dim_is_const(r->head, &head) && turned > head))
    return view_error(
        v, "rotary_embedding_dim: expected an even number up to the head size, found %" PRId64,
        turned);
  const dim *all = turned ? dim_const(d, turned) : r->head;
  r->half = dim_floordiv(d, all, dim_const(d, 2));
  r->rest = dim_sub(d, r->head, dim_mul(d, r->half, dim_const(d, 2)));
  return true;
}

static bool verify_rotary(op_view *v) {
  rotary r;
  return rotary_of(v, &r);
}

static bool shape_rotary(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return verify_rotary(v);
}

// Index of element d of the head at loops b, h, s (0, 1, 2).
static int rotary_index(comprehension *c, const rotary *r, const expr *d, const expr **at) {
  const expr *b = expr_loop(c, 0), *h = expr_loop(c, 1), *s = expr_loop(c, 2);
  at[0] = b;
  if (r->rank == 4) {
    at[1] = h;
    at[2] = s;
    at[3] = d;
    return 4;
  }
  at[1] = s;
  at[2] = x_add(c, x_mul(c, h, expr_dim(c, r->head)), d);
  return 3;
}

// Cache entry of pair j at this position.
static const expr *read_cache(comprehension *c, int cache, const expr *j, int type) {
  op_view *v = c->view;
  const expr *b = expr_loop(c, 0), *s = expr_loop(c, 2), *zero = expr_index(c, 0);
  if (!view_has(v, 3)) {
    const expr *at[] = {b, s, j};
    return expr_cast(c, expr_read(c, cache, 3, at), type);
  }
  const expr *where[] = {b, s}, *rows = expr_dim(c, view_dim(v, cache, 0));
  const expr *id = expr_cast(c, expr_read(c, 3, 2, where), ONYX_INDEX);
  const expr *ok = both(c, expr_compare(c, EXPR_GE, id, zero), expr_compare(c, EXPR_LT, id, rows));
  const expr *last = x_sub(c, rows, expr_index(c, 1));
  const expr *row = expr_binary(c, EXPR_MAX, zero, expr_binary(c, EXPR_MIN, id, last));
  const expr *at[] = {expr_check(c, row, ok, 1, id, rows), j};
  return expr_cast(c, expr_read(c, cache, 2, at), type);
}

static bool comp_rotary(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  rotary r;
  if (!rotary_of(v, &r))
    return false;
  if (r.rank < 0 || view_rank(v, 1) < 0 || view_rank(v, 2) < 0)
    return view_error(v, "the rank of operand 0, 1 or 2 is not known");
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem), y = comp_result(c, 0);
  comp_loop loops[] = {{LOOP_PARALLEL, r.batch},
                       {LOOP_PARALLEL, r.heads},
                       {LOOP_PARALLEL, r.length},
                       {LOOP_PARALLEL, r.half}};
  const expr *j = expr_loop(c, 3), *two = expr_index(c, 2), *one = expr_index(c, 1);
  bool interleaved = view_int(v, "interleaved") != 0;
  const expr *first = interleaved ? x_mul(c, j, two) : j;
  const expr *second = interleaved ? x_add(c, first, one) : x_add(c, j, expr_dim(c, r.half));
  const expr *at1[4], *at2[4];
  int n = rotary_index(c, &r, first, at1);
  rotary_index(c, &r, second, at2);
  comp_stage *s = comp_stage_begin(c, 4, loops);
  const expr *x1 = expr_cast(c, expr_read(c, 0, n, at1), type);
  const expr *x2 = expr_cast(c, expr_read(c, 0, n, at2), type);
  const expr *cosine = read_cache(c, 1, j, type), *sine = read_cache(c, 2, j, type);
  comp_write_at(c, s, y, n, at1,
                expr_cast(c, x_sub(c, x_mul(c, cosine, x1), x_mul(c, sine, x2)), elem), NULL);
  comp_write_at(c, s, y, n, at2,
                expr_cast(c, x_add(c, x_mul(c, sine, x1), x_mul(c, cosine, x2)), elem), NULL);
  if (dim_is(r.rest, 0))
    return true;
  loops[3].extent = r.rest;
  s = comp_stage_begin(c, 4, loops);
  const dim *turned = dim_mul(v->dims, r.half, dim_const(v->dims, 2));
  rotary_index(c, &r, x_add(c, expr_loop(c, 3), expr_dim(c, turned)), at1);
  comp_write_at(c, s, y, n, at1, expr_read(c, 0, n, at1), NULL);
  return true;
}

const op_def ops_attention[] = {
    {"Attention", verify_attention, shape_attention, comp_attention},
    {"RotaryEmbedding", verify_rotary, shape_rotary, comp_rotary},
};
const int num_ops_attention = sizeof ops_attention / sizeof ops_attention[0];
