// Ops on strings, and ImageDecoder: what runtime functions compute. Their shapes.
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>
#include <string.h>

static bool verify_concat(op_view *v) {
  return verify_broadcast(v, 2, (int[]){0, 1});
}
static bool shape_concat(op_view *v, shape_result *results) {
  return shape_broadcast(v, results, 0, 2, (int[]){0, 1});
}

static bool one_of(op_view *v, const char *attr, const char *const *names) {
  const char *s = view_string(v, attr);
  for (const char *const *n = names; *n; n++)
    if (strcmp(s, *n) == 0)
      return true;
  return view_error(v, "%s: '%s' is not known", attr, s);
}

// --- StringNormalizer: [C] or [1, C]; words may be left out

static bool verify_normalizer(op_view *v) {
  static const char *const actions[] = {"LOWER", "UPPER", "NONE", NULL};
  int rank = view_rank(v, 0);
  int64_t rows;
  if (!one_of(v, "case_change_action", actions))
    return false;
  if (rank >= 0 && rank != 1 && rank != 2)
    return view_error(v, "operand 0 ('X'): expected rank 1 or 2, found rank %d", rank);
  return rank != 2 || !dim_is_const(view_dim(v, 0, 0), &rows) || rows == 1 ||
         view_error(v, "operand 0 ('X'): expected size 1 in dimension 0, found %" PRId64, rows);
}

static bool shape_normalizer(op_view *v, shape_result *results) {
  int rank = view_rank(v, 0);
  const dim *dims[2] = {dim_const(v->dims, 1), dim_unknown_extent(v->dims)};
  if (!verify_normalizer(v))
    return false;
  if (rank < 0)
    return true;
  // An empty result keeps one empty string.
  if (view_attr(v, "stopwords")->n == 0)
    dims[1] = dim_max(v->dims, view_dim(v, 0, rank - 1), dims[0]);
  shape_set(v, results, 0, rank, rank == 1 ? dims + 1 : dims);
  return true;
}

// --- StringSplit: substrings in a new last dimension, and how many each string has

static bool shape_split(op_view *v, shape_result *results) {
  const dim *dims[ONYX_MAX_RANK + 1];
  int rank = view_rank(v, 0);
  results[0].type.elem = ONYX_STRING;
  if (v->num_results > 1)
    results[1].type.elem = ONYX_I64;
  shape_like(v, results, 1, 0);
  if (rank < 0 || rank >= ONYX_MAX_RANK)
    return true;
  for (int k = 0; k < rank; k++)
    dims[k] = view_dim(v, 0, k);
  dims[rank] = dim_unknown_extent(v->dims);
  shape_set(v, results, 0, rank + 1, dims);
  return true;
}

static bool shape_full_match(op_view *v, shape_result *results) {
  results[0].type.elem = ONYX_BOOL;
  shape_like(v, results, 0, 0);
  return true;
}

// --- ImageDecoder: height, width, channels

static bool verify_image(op_view *v) {
  static const char *const formats[] = {"RGB", "BGR", "Grayscale", NULL};
  return one_of(v, "pixel_format", formats) && expect_rank(v, 0, 1);
}

static bool shape_image(op_view *v, shape_result *results) {
  if (!verify_image(v))
    return false;
  // A stream that cannot be decoded gives an empty image, so no size is certain.
  const dim *dims[3];
  for (int k = 0; k < 3; k++)
    dims[k] = dim_unknown_extent(v->dims);
  shape_set(v, results, 0, 3, dims);
  return true;
}

const op_def ops_strings[] = {
    {"ImageDecoder", verify_image, shape_image, NULL},
    {"RegexFullMatch", NULL, shape_full_match, NULL},
    {"StringConcat", verify_concat, shape_concat, NULL},
    {"StringNormalizer", verify_normalizer, shape_normalizer, NULL},
    {"StringSplit", NULL, shape_split, NULL},
};
const int num_ops_strings = sizeof ops_strings / sizeof ops_strings[0];
