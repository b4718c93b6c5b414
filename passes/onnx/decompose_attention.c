// com.microsoft: Attention, MultiHeadAttention, RotaryEmbedding.
//
// Written as products, a softmax and masks, so that each part is scheduled by what is known of it.
// B: batch, S: queries, T: keys, N: heads, D: size of a head.
#include "passes/onnx/decompose.h"

static MlirLogicalResult one_result(composite *c, MlirValue v) {
  return replace_results(c, 1, &v);
}

// [B, S, N * D] to [B, N, S, D]
static MlirValue split_heads(composite *c, MlirValue x, int64_t heads) {
  const int64_t shape[] = {0, 0, heads, -1}, perm[] = {0, 2, 1, 3};
  return transpose(c, reshape(c, x, 4, shape), 4, perm);
}

// [B, N, S, D] to [B, S, N * D]
static MlirValue merge_heads(composite *c, MlirValue x) {
  const int64_t shape[] = {0, 0, -1}, perm[] = {0, 2, 1, 3};
  return reshape(c, transpose(c, x, 4, perm), 3, shape);
}

static MlirValue range(composite *c, MlirValue from, MlirValue to) {
  MlirValue operands[] = {from, to, scalar_int(c, i64_of(c), 1)};
  return call(c, "Range", i64_of(c), 3, operands, NULL);
}

// Which keys [T] a query [S, 1] may look at, when those of the past come first: k <= q + T - S.
static MlirValue causal(composite *c, MlirValue queries, MlirValue keys) {
  MlirValue s = squeeze(c, sizes(c, queries, 2, 3), 0), t = squeeze(c, sizes(c, keys, 2, 3), 0);
  const int64_t column = 1;
  MlirValue q = unsqueeze(c, range(c, binary(c, "Sub", t, s), t), 1, &column);
  return compare(c, "LessOrEqual", range(c, scalar_int(c, i64_of(c), 0), t), q);
}

// Is it one of the masks that `allowed` reads? A list of 2 B or 3 B + 2 entries means something
// else, four axes are a triangle of the longest sequence.
static bool is_mask(MlirValue mask, MlirValue input) {
  int64_t rank = rank_of(mask);
  return rank == 2 || rank == 3 ||
         (rank == 1 && size_of(mask, 0) > 0 && size_of(mask, 0) == size_of(input, 0));
}

// A mask of keys that count (1) and those that do not (0) as [B, 1, 1 or S, T] of bool: [B, T], [B,
// S, T], or [B] lengths.
static MlirValue allowed(composite *c, MlirValue mask, MlirValue keys) {
  const int64_t one[] = {1}, two[] = {1, 2}, three[] = {1, 2, 3};
  MlirValue zero = scalar_int(c, elem_type(mask), 0);
  switch (rank_of(mask)) {
  case 1: {
    MlirValue t = squeeze(c, sizes(c, keys, 2, 3), 0), lengths = cast(c, mask, i64_of(c));
    return compare(c, "Less", range(c, scalar_int(c, i64_of(c), 0), t),
                   unsqueeze(c, lengths, 3, three));
  }
  case 2:
    return unsqueeze(c, compare(c, "Greater", mask, zero), 2, two);
  default:
    return unsqueeze(c, compare(c, "Greater", mask, zero), 1, one);
  }
}

typedef struct heads {
  MlirValue q, k, v; // [B, N, S, D], [B, N, T, D], [B, N, T, Dv]
  MlirValue mask;    // bool, broadcasts to [B, N, S, T]; or null
  MlirValue bias;    // added to the scores; or null
  double scale, filter;
} heads;

// softmax(q * k' * scale + bias, masked) * v as [B, S, N * Dv]
static MlirValue attend(composite *c, const heads *h) {
  const int64_t perm[] = {0, 1, 3, 2};
  const onnx_named last[] = {{"axis", int_value(c, -1)}, {0}};
  MlirType elem = elem_type(h->q);
  MlirValue scores = binary(c, "MatMul", h->q, transpose(c, h->k, 4, perm));
  scores = binary(c, "Mul", scores, number(c, elem, h->scale));
  if (!mlirValueIsNull(h->bias))
    scores = binary(c, "Add", scores, h->bias);
  if (!mlirValueIsNull(h->mask)) {
    // Filtered scores are lowered, not replaced: a row where nothing is allowed stays a
    // distribution.
    MlirValue low = number(c, elem, h->filter), zero = number(c, elem, 0);
    scores = binary(c, "Add", scores, choose(c, h->mask, zero, low));
  }
  return merge_heads(c, binary(c, "MatMul", call(c, "Softmax", elem, 1, &scores, last), h->v));
}

static MlirValue both(composite *c, MlirValue a, MlirValue b) {
  if (mlirValueIsNull(a) || mlirValueIsNull(b))
    return mlirValueIsNull(a) ? b : a;
  return compare(c, "And", a, b);
}

// f16 has no value as low as the usual filter.
static double filter_of(const composite *c, MlirValue x) {
  double filter = float_attr(c->op, "mask_filter_value", -10000.0);
  return elem_of(x) == ONYX_F16 && filter < -65504.0 ? -65504.0 : filter;
}

// 1 / sqrt(D), where the op does not say. D is known from a static size only.
static bool scale_of(const composite *c, int64_t head_size, double *scale) {
  *scale = float_attr(c->op, "scale", 0.0);
  if (*scale == 0.0 && head_size > 0)
    *scale = 1.0 / __builtin_sqrt((double)head_size);
  return *scale != 0.0;
}

// Attention(input, weights, bias?, mask_index?, past?, attention_bias?): results output, present
static MlirLogicalResult attention(composite *c) {
  MlirValue x = in(c, 0), weights = in(c, 1);
  int64_t n = int_attr(c->op, "num_heads", 0), hidden[3], total = size_of(weights, 1),
          bounds[4] = {0};
  int given = ints_attr(c->op, "qkv_hidden_sizes", hidden, 3);
  if (n <= 0 || total <= 0 || (given < 0 && total % 3) || int_attr(c->op, "do_rotary", 0) ||
      int_attr(c->op, "past_present_share_buffer", 0) || (given >= 0 && given != 3))
    return failure();
  for (int i = 0; i < 3; i++)
    bounds[i + 1] = bounds[i] + (given == 3 ? hidden[i] : total / 3);
  heads h = {.filter = filter_of(c, x)};
  if (bounds[3] != total || bounds[1] % n || !scale_of(c, bounds[1] / n, &h.scale) ||
      (has(c, 3) && !is_mask(in(c, 3), x)))
    return failure();
  MlirValue all = binary(c, "MatMul", x, weights);
  if (has(c, 2))
    all = binary(c, "Add", all, in(c, 2));
  h.q = split_heads(c, slice(c, all, 2, bounds[0], bounds[1]), n);
  h.k = split_heads(c, slice(c, all, 2, bounds[1], bounds[2]), n);
  h.v = split_heads(c, slice(c, all, 2, bounds[2], bounds[3]), n);
  if (has(c, 4)) { // [2, B, N, P, D]: keys, then values
    h.k = concat(c, 2, (MlirValue[]){take(c, in(c, 4), 0, 0), h.k}, 2);
    h.v = concat(c, 2, (MlirValue[]){take(c, in(c, 4), 1, 0), h.v}, 2);
  }
  if (has(c, 3))
    h.mask = allowed(c, in(c, 3), h.k);
  if (int_attr(c->op, "unidirectional", 0))
    h.mask = both(c, h.mask, causal(c, h.q, h.k));
  h.bias = in(c, 5);
  const int64_t front = 0;
  MlirValue results[2] = {attend(c, &h), {0}};
  if (wanted(c, 1))
    results[1] =
        concat(c, 2, (MlirValue[]){unsqueeze(c, h.k, 1, &front), unsqueeze(c, h.v, 1, &front)}, 0);
  return replace_results(c, 2, results);
}

// MultiHeadAttention(query, key?, value?, bias?, key_padding_mask?, attention_bias?, past_key?,
// past_value?): results output, present_key, present_value. Keys and values may come with their
// heads split already.
static MlirLogicalResult multi_head_attention(composite *c) {
  int64_t n = int_attr(c->op, "num_heads", 0), hidden = size_of(in(c, 0), 2);
  if (n <= 0 || rank_of(in(c, 0)) != 3 || hidden <= 0 || hidden % n || !has(c, 1) || !has(c, 2) ||
      rank_of(in(c, 1)) < 3 || rank_of(in(c, 2)) < 3 || has(c, 8) || has(c, 9) ||
      rank_of(in(c, 1)) > 4 || rank_of(in(c, 2)) > 4 || (has(c, 4) && !is_mask(in(c, 4), in(c, 0))))
    return failure();
  heads h = {.filter = filter_of(c, in(c, 0))};
  if (!scale_of(c, hidden / n, &h.scale))
    return failure();
  MlirValue parts[] = {in(c, 0), in(c, 1), in(c, 2)};
  int64_t end = has(c, 3) ? size_of(in(c, 3), 0) : 0;
  if (has(c, 3) && end <= 2 * hidden)
    return failure();
  for (int i = 0; i < 3; i++) {
    if (rank_of(parts[i]) == 4)
      continue;
    if (has(c, 3))
      parts[i] = binary(c, "Add", parts[i],
                        slice(c, in(c, 3), 0, i * hidden, i == 2 ? end : (i + 1) * hidden));
    parts[i] = split_heads(c, parts[i], n);
  }
  h.q = parts[0];
  h.k = has(c, 6) ? concat(c, 2, (MlirValue[]){in(c, 6), parts[1]}, 2) : parts[1];
  h.v = has(c, 7) ? concat(c, 2, (MlirValue[]){in(c, 7), parts[2]}, 2) : parts[2];
  if (has(c, 4))
    h.mask = allowed(c, in(c, 4), h.k);
  if (int_attr(c->op, "unidirectional", 0))
    h.mask = both(c, h.mask, causal(c, h.q, h.k));
  h.bias = in(c, 5);
  MlirValue results[] = {attend(c, &h), h.k, h.v};
  return replace_results(c, 3, results);
}

// RotaryEmbedding(input, position_ids, cos_cache, sin_cache): the standard's (23) has the caches
// first
static MlirLogicalResult rotary_embedding(composite *c) {
  MlirValue ids = in(c, 1);
  if (rank_of(ids) != 2 || float_attr(c->op, "scale", 1.0) != 1.0 ||
      int_attr(c->op, "is_packed_batching", 0))
    return failure();
  MlirValue operands[] = {in(c, 0), in(c, 2), in(c, 3), cast(c, ids, i64_of(c))};
  const onnx_named attrs[] = {
      {"interleaved", int_value(c, int_attr(c->op, "interleaved", 0))},
      {"num_heads", int_value(c, int_attr(c->op, "num_heads", 0))},
      {"rotary_embedding_dim", int_value(c, int_attr(c->op, "rotary_embedding_dim", 0))},
      {0}};
  return one_result(c, call(c, "RotaryEmbedding", elem_type(in(c, 0)), 4, operands, attrs));
}

const decompose_rule decompose_rules_attention[] = {
    {MICROSOFT, "Attention", attention},
    {MICROSOFT, "MultiHeadAttention", multi_head_attention},
    {MICROSOFT, "RotaryEmbedding", rotary_embedding},
    {0}};
