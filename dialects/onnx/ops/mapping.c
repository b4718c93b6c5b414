// Ops of ai.onnx.ml that take or give maps: CastMap, DictVectorizer, ZipMap. Their shapes.
#include "dialects/onnx/ops/scalar.h"
#include "dialects/onnx/ops/types.h"

#include <inttypes.h>
#include <string.h>

// --- ZipMap: a row of scores becomes a map from labels

static bool labels_of(op_view *v, onyx_elem *key, int64_t *count) {
  const onnx_attr *strings = view_attr(v, "classlabels_strings"),
                  *ints = view_attr(v, "classlabels_int64s");
  if ((strings->n > 0) == (ints->n > 0))
    return view_error(v, "expected one of classlabels_strings and classlabels_int64s, found %s",
                      strings->n ? "both" : "neither");
  *key = strings->n ? ONYX_STRING : ONYX_I64;
  *count = strings->n ? strings->n : ints->n;
  return true;
}

static bool verify_zip_map(op_view *v) {
  onyx_elem key;
  int64_t count, columns;
  int rank = view_rank(v, 0);
  if (!labels_of(v, &key, &count))
    return false;
  if (rank == 0 || rank > 2)
    return view_error(v, "operand 0 ('X'): expected rank 1 or 2, found rank %d", rank);
  return rank < 0 || !dim_is_const(view_dim(v, 0, rank - 1), &columns) || columns == count ||
         view_error(
             v, "operand 0 ('X'): expected %" PRId64 " columns, one for each label, found %" PRId64,
             count, columns);
}

static bool shape_zip_map(op_view *v, shape_result *results) {
  onyx_elem key;
  int64_t count;
  if (!verify_zip_map(v) || !labels_of(v, &key, &count))
    return false;
  onnx_type map = {.kind = ONYX_TYPE_MAP, .elem = ONYX_F32, .key = key, .rank = -1};
  results[0].type = type_wrapping(v, ONYX_TYPE_SEQ, &map);
  return true;
}

// --- CastMap: the values of a map in order of the keys, or each at the place its key names

static bool verify_cast_map(op_view *v) {
  static const char *const types[] = {"TO_FLOAT", "TO_STRING", "TO_INT64"};
  const char *to = view_string(v, "cast_to"), *form = view_string(v, "map_form");
  bool known = false;
  for (size_t k = 0; k < 3; k++)
    known |= strcmp(to, types[k]) == 0;
  if (!known)
    return view_error(v, "cast_to: expected TO_FLOAT, TO_STRING or TO_INT64, found '%s'", to);
  if (strcmp(form, "DENSE") != 0 && strcmp(form, "SPARSE") != 0)
    return view_error(v, "map_form: expected DENSE or SPARSE, found '%s'", form);
  return strcmp(form, "SPARSE") != 0 || view_int(v, "max_map") > 0 ||
         view_error(v, "max_map: expected at least 1, found %" PRId64, view_int(v, "max_map"));
}

static bool shape_cast_map(op_view *v, shape_result *results) {
  if (!verify_cast_map(v))
    return false;
  const char *to = view_string(v, "cast_to");
  results[0].type = type_of_elem(strcmp(to, "TO_FLOAT") == 0    ? ONYX_F32
                                 : strcmp(to, "TO_STRING") == 0 ? ONYX_STRING
                                                                : ONYX_I64);
  bool sparse = strcmp(view_string(v, "map_form"), "SPARSE") == 0;
  const dim *columns =
      sparse ? dim_const(v->dims, view_int(v, "max_map")) : dim_unknown_extent(v->dims);
  shape_set(v, results, 0, 2, (const dim *[]){dim_const(v->dims, 1), columns});
  return true;
}

// --- DictVectorizer

static bool vocabulary_size(op_view *v, int64_t *size) {
  const onnx_attr *strings = view_attr(v, "string_vocabulary"),
                  *ints = view_attr(v, "int64_vocabulary");
  *size = strings->present ? strings->n : ints->n;
  return strings->present != ints->present ||
         view_error(v, "expected one of string_vocabulary and int64_vocabulary, found %s",
                    ints->present ? "both" : "neither");
}

static bool verify_dict(op_view *v) {
  int64_t size;
  return vocabulary_size(v, &size);
}

static bool shape_dict(op_view *v, shape_result *results) {
  const onnx_operand *x = view_operand(v, 0);
  int64_t size;
  if (!vocabulary_size(v, &size))
    return false;
  if (x && x->type.kind == ONYX_TYPE_MAP)
    results[0].type = type_of_elem(x->type.elem);
  shape_set(v, results, 0, 2, (const dim *[]){dim_const(v->dims, 1), dim_const(v->dims, size)});
  return true;
}

const op_def ops_mapping[] = {
    {"CastMap", verify_cast_map, shape_cast_map, NULL},
    {"DictVectorizer", verify_dict, shape_dict, NULL},
    {"ZipMap", verify_zip_map, shape_zip_map, NULL},
};
const int num_ops_mapping = sizeof ops_mapping / sizeof ops_mapping[0];
