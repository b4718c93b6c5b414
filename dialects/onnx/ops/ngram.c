// TfIdfVectorizer: counts of the n-grams of a pool, with gaps between their tokens.
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>
#include <string.h>

typedef struct pool {
  int64_t grams, longest, outputs; // n-grams that count, their greatest length, elements of a row
  int64_t *tokens;                 // [grams, longest], padded
  int64_t *length, *output;
  float *weight;
} pool;

// Entry `length - 1` of ngram_counts is where the n-grams of that length begin in the pool.
static bool pool_bounds(op_view *v, int64_t length, int64_t size, int64_t *begin, int64_t *end) {
  const onnx_attr *counts = view_attr(v, "ngram_counts");
  *begin = length <= counts->n ? counts->ints[length - 1] : size;
  *end = length < counts->n ? counts->ints[length] : size;
  if (*begin < 0 || *end < *begin || *end > size || (*end - *begin) % length)
    return view_error(v,
                      "ngram_counts: the %" PRId64 "-grams from %" PRId64 " to %" PRId64
                      " do not fit a pool of %" PRId64,
                      length, *begin, *end, size);
  return true;
}

static bool pool_of(op_view *v, pool *p) {
  const onnx_attr *numbers = view_attr(v, "pool_int64s"), *words = view_attr(v, "pool_strings");
  const onnx_attr *indexes = view_attr(v, "ngram_indexes"), *weights = view_attr(v, "weights");
  int64_t size = numbers->present ? numbers->n : words->n, gram = 0;
  int64_t shortest = view_int(v, "min_gram_length");
  *p = (pool){.longest = view_int(v, "max_gram_length")};
  if (shortest < 1 || p->longest < shortest || p->longest > 64)
    return view_error(
        v,
        "min_gram_length and max_gram_length: expected 1 <= min <= max <= 64, found %" PRId64
        " and %" PRId64,
        shortest, p->longest);
  for (int64_t k = 0; k < indexes->n; k++) {
    if (indexes->ints[k] < 0)
      return view_error(v, "ngram_indexes: expected values >= 0, found %" PRId64, indexes->ints[k]);
    p->outputs = indexes->ints[k] >= p->outputs ? indexes->ints[k] + 1 : p->outputs;
  }
  p->tokens = ONYX_NEW_ARRAY(v->arena, int64_t, indexes->n * p->longest + 1);
  p->length = ONYX_NEW_ARRAY(v->arena, int64_t, indexes->n + 1);
  p->output = ONYX_NEW_ARRAY(v->arena, int64_t, indexes->n + 1);
  p->weight = ONYX_NEW_ARRAY(v->arena, float, indexes->n + 1);
  for (int64_t length = 1; length <= p->longest; length++) {
    int64_t begin, end;
    if (!pool_bounds(v, length, size, &begin, &end))
      return false;
    for (int64_t at = begin; at < end; at += length, gram++) {
      if (gram >= indexes->n)
        return view_error(
            v, "ngram_indexes: expected an entry for each n-gram of the pool, found %" PRId64,
            indexes->n);
      if (length < shortest)
        continue;
      for (int64_t k = 0; k < length && numbers->present; k++)
        p->tokens[p->grams * p->longest + k] = numbers->ints[at + k];
      p->length[p->grams] = length;
      p->output[p->grams] = indexes->ints[gram];
      p->weight[p->grams++] = gram < weights->n ? (float)weights->floats[gram] : 1.0f;
    }
  }
  return true;
}

static bool verify_tfidf(op_view *v) {
  const char *mode = view_string(v, "mode");
  pool p;
  int rank = view_rank(v, 0);
  if (strcmp(mode, "TF") != 0 && strcmp(mode, "IDF") != 0 && strcmp(mode, "TFIDF") != 0)
    return view_error(v, "mode: expected TF, IDF or TFIDF, found '%s'", mode);
  if (rank > 2)
    return view_error(v, "operand 0 ('X'): expected rank 1 or 2, found rank %d", rank);
  return pool_of(v, &p);
}

static bool shape_tfidf(op_view *v, shape_result *results) {
  pool p;
  int rank = view_rank(v, 0);
  if (!verify_tfidf(v) || !pool_of(v, &p))
    return false;
  results[0].type.elem = ONYX_F32;
  if (rank < 0)
    return true;
  const dim *width = dim_const(v->dims, p.outputs);
  shape_set(v, results, 0, rank == 2 ? 2 : 1,
            rank == 2 ? (const dim *[]){view_dim(v, 0, 0), width} : &width);
  return true;
}

// For a row and an n-gram: loops over the gap, the first token's place, and the tokens. A match is
// a run of equal tokens up to the last one.
static bool comp_tfidf(op_view *v, const shape_result *results, comprehension *c) {
  pool p;
  int rank = view_rank(v, 0), out = comp_result(c, 0);
  if (!need_rank(v, 0) || !pool_of(v, &p))
    return false;
  if (view_elem(v, 0) == ONYX_STRING)
    return view_error(v, "strings are compared at run time");
  dim_context *d = v->dims;
  const char *mode = view_string(v, "mode");
  comp_stage *s = comp_stage_over(c, out);
  comp_write_point(c, s, out, expr_float(c, ONYX_F32, 0));
  if (p.grams == 0)
    return true;
  int tokens = comp_table(c, ONYX_I64, p.grams * p.longest, p.tokens),
      lengths = comp_table(c, ONYX_I64, p.grams, p.length);
  int outputs = comp_table(c, ONYX_I64, p.grams, p.output),
      weights = comp_table(c, ONYX_F32, p.grams, p.weight);
  const dim *words = rank ? view_dim(v, 0, rank - 1) : dim_const(d, 1);
  comp_loop loops[5];
  int n = 0;
  if (rank == 2)
    loops[n++] = (comp_loop){LOOP_PARALLEL, view_dim(v, 0, 0)};
  const expr *row = expr_loop(c, 0), *g = expr_loop(c, n), *gap = expr_loop(c, n + 1),
             *first = expr_loop(c, n + 2), *k = expr_loop(c, n + 3);
  loops[n++] = (comp_loop){LOOP_ORDERED, dim_const(d, p.grams)};
  loops[n++] = (comp_loop){LOOP_REDUCTION, dim_const(d, view_int(v, "max_skip_count") + 1)};
  loops[n++] = (comp_loop){LOOP_REDUCTION, words};
  loops[n++] = (comp_loop){LOOP_REDUCTION, dim_const(d, p.longest)};
  const expr *zero = expr_index(c, 0), *one = expr_index(c, 1), *yes = expr_int(c, ONYX_BOOL, 1);
  const expr *length = expr_cast(c, expr_read(c, lengths, 1, &g), ONYX_INDEX);
  const expr *slot = expr_cast(c, expr_read(c, outputs, 1, &g), ONYX_INDEX);
  const expr *token_at = x_add(c, x_mul(c, g, expr_index(c, p.longest)), k);
  const expr *want = expr_read(c, tokens, 1, &token_at);
  const expr *place = x_add(c, first, x_mul(c, k, x_add(c, gap, one))),
             *inside = x_lt(c, place, expr_dim(c, words));
  const expr *at[2] = {row, place};
  const expr *found =
      expr_read_padded(c, 0, rank, rank == 2 ? at : &place, expr_zero(c, view_elem(v, 0)));
  const expr *equal = x_and(c, inside, x_eq(c, expr_cast(c, found, ONYX_I64), want));
  // A single token has no gaps to vary.
  const expr *counts = x_or(c, x_lt(c, one, length), x_eq(c, gap, zero));
  equal = x_and(c, counts, x_or(c, x_ge(c, k, length), equal));
  const expr *match = expr_acc(c, 0, ONYX_BOOL), *total = expr_acc(c, 1, ONYX_I64);
  const expr *so_far = x_and(c, equal, x_or(c, x_eq(c, k, zero), match));
  const expr *done = x_and(c, so_far, x_eq(c, k, expr_index(c, p.longest - 1)));
  s = comp_stage_begin(c, n, loops);
  comp_acc_general(c, s, ONYX_BOOL, yes, so_far);
  comp_acc_general(c, s, ONYX_I64, expr_zero(c, ONYX_I64),
                   x_add(c, total, expr_cast(c, done, ONYX_I64)));
  const expr *y = expr_cast(c, expr_acc(c, 1, ONYX_I64), ONYX_F32),
             *w = expr_read(c, weights, 1, &g);
  if (strcmp(mode, "IDF") == 0)
    y = x_min(c, y, expr_float(c, ONYX_F32, 1));
  if (strcmp(mode, "TF") != 0)
    y = x_mul(c, y, w);
  const expr *to[2] = {row, slot};
  int cells = results[0].type.rank;
  const expr *old = expr_read(c, out, cells, cells == 2 ? to : &slot);
  comp_write_at(c, s, out, cells, cells == 2 ? to : &slot, x_add(c, old, y), NULL);
  return true;
}

const op_def ops_ngram[] = {
    {"TfIdfVectorizer", verify_tfidf, shape_tfidf, comp_tfidf},
};
const int num_ops_ngram = sizeof ops_ngram / sizeof ops_ngram[0];
