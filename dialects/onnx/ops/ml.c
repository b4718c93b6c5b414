// ai.onnx.ml without models: Binarizer, Scaler, Normalizer, Imputer, encoders, feature plumbing.
#include "dialects/onnx/ops/ml_util.h"
#include "dialects/onnx/ops/op.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const expr *read_point(comprehension *c) {
  const expr *at[ONYX_MAX_RANK];
  int rank = view_rank(c->view, 0);
  for (int i = 0; i < rank; i++)
    at[i] = expr_loop(c, i);
  return expr_read(c, 0, rank, at);
}

static bool known_rank(op_view *v, int operand) {
  return view_rank(v, operand) >= 0 || view_error(v, "operand %d: the rank is not known", operand);
}

static bool shape_same(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return true;
}

// --- Binarizer: x > threshold

static bool comp_binarizer(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  if (!known_rank(v, 0))
    return false;
  onyx_elem elem = view_elem(v, 0);
  int y = comp_result(c, 0), type = onyx_elem_is_float(elem) ? elem : ONYX_F64;
  comp_stage *s = comp_stage_over(c, y);
  const expr *above = expr_compare(c, EXPR_GT, expr_cast(c, read_point(c), type),
                                   expr_float(c, type, view_float(v, "threshold")));
  comp_write_point(c, s, y, expr_cast(c, above, elem));
  return true;
}

// --- Scaler: (x - offset) * scale along the last dim, one entry or one a feature

static bool feature_values(op_view *v, const char *name, int64_t n) {
  int64_t features;
  int rank = view_rank(v, 0);
  if (n > 1 && rank > 0 && dim_is_const(view_dim(v, 0, rank - 1), &features) && n != features)
    return view_error(v, "%s: expected 1 or %" PRId64 " entries, one a feature, found %" PRId64,
                      name, features, n);
  return true;
}

static bool verify_scaler(op_view *v) {
  return feature_values(v, "offset", view_attr(v, "offset")->n) &&
         feature_values(v, "scale", view_attr(v, "scale")->n);
}

static bool shape_scaler(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return verify_scaler(v);
}

// The attribute's entry for this element's feature; NULL when the attribute is absent.
static const expr *feature_value(comprehension *c, int type, const char *name) {
  const onnx_attr *a = view_attr(c->view, name);
  int table = ml_float_table(c, type, a), rank = view_rank(c->view, 0);
  if (table < 0)
    return NULL;
  return ml_at(c, table, a->n == 1 || rank == 0 ? expr_index(c, 0) : expr_loop(c, rank - 1));
}

static bool comp_scaler(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  if (!known_rank(v, 0))
    return false;
  int type = ml_compute_type(view_elem(v, 0)), y = comp_result(c, 0);
  const expr *offset = feature_value(c, type, "offset"), *scale = feature_value(c, type, "scale");
  comp_stage *s = comp_stage_over(c, y);
  const expr *x = expr_cast(c, read_point(c), type);
  x = offset ? expr_binary(c, EXPR_SUB, x, offset) : x;
  x = scale ? expr_binary(c, EXPR_MUL, x, scale) : x;
  comp_write_point(c, s, y, expr_cast(c, x, ONYX_F32));
  return true;
}

// --- Normalizer: rows by their MAX, L1 or L2 norm; the last dim of a vector or a matrix

static bool verify_normalizer(op_view *v) {
  const char *norm = view_string(v, "norm");
  if (strcmp(norm, "MAX") && strcmp(norm, "L1") && strcmp(norm, "L2"))
    return view_error(v, "norm: expected MAX, L1 or L2, found '%s'", norm);
  int rank = view_rank(v, 0);
  return rank < 0 || rank == 1 || rank == 2 ||
         view_error(v, "operand 0 ('X'): expected rank 1 or 2, found rank %d", rank);
}

static bool comp_normalizer(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  if (!known_rank(v, 0))
    return false;
  int rank = view_rank(v, 0), type = ml_compute_type(view_elem(v, 0)), y = comp_result(c, 0);
  const char *norm = view_string(v, "norm");
  bool max = !strcmp(norm, "MAX"), square = !strcmp(norm, "L2");
  int temp = comp_temp(c, (onyx_elem)type, rank - 1, c->buffers[0].dims);
  comp_loop loops[2];
  const expr *at[] = {expr_loop(c, 0), expr_loop(c, 1)};
  for (int i = 0; i < rank; i++)
    loops[i] = (comp_loop){i == rank - 1 ? LOOP_REDUCTION : LOOP_PARALLEL, view_dim(v, 0, i)};
  comp_stage *s = comp_stage_begin(c, rank, loops);
  const expr *x = expr_cast(c, expr_read(c, 0, rank, at), type);
  x = square ? expr_binary(c, EXPR_MUL, x, x) : expr_unary(c, EXPR_ABS, x);
  const expr *size =
      expr_acc(c, comp_acc_combine(c, s, max ? ACC_MAX : ACC_ADD, type, x, NULL), type);
  size = square ? expr_unary(c, EXPR_SQRT, size) : size;
  comp_write_at(c, s, temp, rank - 1, at, size, NULL);
  s = comp_stage_over(c, y);
  const expr *divisor =
      expr_binary(c, EXPR_MAX, expr_read(c, temp, rank - 1, at), expr_float(c, type, 1e-30));
  const expr *q = expr_binary(c, EXPR_DIV, expr_cast(c, expr_read(c, 0, rank, at), type), divisor);
  comp_write_point(c, s, y, expr_cast(c, q, ONYX_F32));
  return true;
}

// --- Imputer: replaces one value (or NaN) by the feature's imputed value

static bool verify_imputer(op_view *v) {
  const onnx_attr *floats = view_attr(v, "imputed_value_floats"),
                  *ints = view_attr(v, "imputed_value_int64s");
  onyx_elem elem = view_elem(v, 0);
  const onnx_attr *used = onyx_elem_is_float(elem) ? floats : ints;
  if (!used->n)
    return view_error(v, "%s: expected 1 entry or one a feature, found none",
                      used == floats ? "imputed_value_floats" : "imputed_value_int64s");
  return feature_values(v, used == floats ? "imputed_value_floats" : "imputed_value_int64s",
                        used->n);
}

static bool shape_imputer(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  return verify_imputer(v);
}

static bool comp_imputer(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  if (!known_rank(v, 0) || !verify_imputer(v))
    return false;
  onyx_elem elem = view_elem(v, 0);
  bool is_float = onyx_elem_is_float(elem);
  int rank = view_rank(v, 0), y = comp_result(c, 0);
  const onnx_attr *a = view_attr(v, is_float ? "imputed_value_floats" : "imputed_value_int64s");
  int table = is_float ? ml_float_table(c, elem, a) : ml_int_table(c, a);
  comp_stage *s = comp_stage_over(c, y);
  const expr *x = read_point(c);
  const expr *value =
      ml_at(c, table, a->n == 1 || rank == 0 ? expr_index(c, 0) : expr_loop(c, rank - 1));
  double target = view_float(v, "replaced_value_float");
  const expr *hit = !is_float
                        ? expr_compare(c, EXPR_EQ, expr_cast(c, x, ONYX_I64),
                                       expr_int(c, ONYX_I64, view_int(v, "replaced_value_int64")))
                    : isnan(target) ? expr_unary(c, EXPR_ISNAN, x)
                                    : expr_compare(c, EXPR_EQ, x, expr_float(c, elem, target));
  comp_write_point(c, s, y, expr_select(c, hit, expr_cast(c, value, elem), x));
  return true;
}

// --- ArrayFeatureExtractor: columns of X by number; a vector counts as one row

static bool shape_array_feature(op_view *v, shape_result *results) {
  int rank = view_rank(v, 0);
  const dim *n = view_numel(v, 1);
  if (rank == 0)
    return view_error(v, "operand 0 ('X'): expected rank 1 or more, found a scalar");
  if (rank < 0)
    return true;
  const dim *dims[ONYX_MAX_RANK] = {dim_const(v->dims, 1)};
  for (int i = 0; i < rank - 1; i++)
    dims[i] = view_dim(v, 0, i);
  int out = rank == 1 ? 2 : rank;
  dims[out - 1] = n ? n : dim_unknown(v->dims);
  shape_set(v, results, 0, out, dims);
  return true;
}

static bool verify_array_feature(op_view *v) {
  return view_rank(v, 0) != 0 ||
         view_error(v, "operand 0 ('X'): expected rank 1 or more, found a scalar");
}

// Index of element k of a tensor of any rank, row-major.
static void split_flat(comprehension *c, int operand, const expr *k, const expr **at) {
  for (int i = view_rank(c->view, operand) - 1; i >= 0; i--) {
    const expr *n = expr_dim(c, view_dim(c->view, operand, i));
    at[i] = i ? expr_binary(c, EXPR_MOD, k, n) : k;
    k = i ? expr_binary(c, EXPR_FLOORDIV, k, n) : k;
  }
}

static bool comp_array_feature(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  if (!known_rank(v, 0) || !known_rank(v, 1))
    return false;
  int rank = view_rank(v, 0), y = comp_result(c, 0), out = rank == 1 ? 2 : rank;
  comp_stage *s = comp_stage_over(c, y);
  const expr *which[ONYX_MAX_RANK], *at[ONYX_MAX_RANK];
  split_flat(c, 1, expr_loop(c, out - 1), which);
  const expr *column = expr_cast(c, expr_read(c, 1, view_rank(v, 1), which), ONYX_INDEX);
  const expr *n = expr_dim(c, view_dim(v, 0, rank - 1)), *zero = expr_index(c, 0);
  const expr *ok = expr_binary(c, EXPR_AND, expr_compare(c, EXPR_GE, column, zero),
                               expr_compare(c, EXPR_LT, column, n));
  const expr *last = expr_binary(c, EXPR_SUB, n, expr_index(c, 1));
  const expr *safe = expr_binary(c, EXPR_MAX, zero, expr_binary(c, EXPR_MIN, column, last));
  for (int i = 0; i < rank - 1; i++)
    at[i] = expr_loop(c, i);
  at[rank - 1] = expr_check(c, safe, ok, 1, column, n);
  comp_write_point(c, s, y, expr_read(c, 0, rank, at));
  return true;
}

// --- FeatureVectorizer: columns side by side, as floats; inputdimensions bounds each

static bool shape_feature_vectorizer(op_view *v, shape_result *results) {
  dim_context *d = v->dims;
  const dim *rows = dim_unknown(d), *columns = dim_const(d, 0);
  for (int i = 0; i < v->num_operands; i++) {
    int rank = view_rank(v, i);
    if (rank > 2 || rank == 0)
      return view_error(v, "operand %d: expected rank 1 or 2, found rank %d", i, rank);
    if (rank < 0)
      return true;
    rows = rank == 2 ? view_dim(v, i, 0) : dim_const(d, 1);
    columns = dim_add(d, columns, view_dim(v, i, rank - 1));
  }
  const dim *dims[] = {rows, columns};
  shape_set(v, results, 0, 2, dims);
  return true;
}

static bool verify_feature_vectorizer(op_view *v) {
  const onnx_attr *sizes = view_attr(v, "inputdimensions");
  for (int i = 0; i < v->num_operands; i++) {
    int64_t n;
    int rank = view_rank(v, i);
    if (rank > 2 || rank == 0)
      return view_error(v, "operand %d: expected rank 1 or 2, found rank %d", i, rank);
    if (i < sizes->n && rank > 0 && dim_is_const(view_dim(v, i, rank - 1), &n) &&
        n != sizes->ints[i])
      return view_error(v, "operand %d: inputdimensions says %" PRId64 " features, found %" PRId64,
                        i, sizes->ints[i], n);
  }
  return true;
}

static bool comp_feature_vectorizer(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  const dim *before = dim_const(v->dims, 0);
  for (int i = 0; i < v->num_operands; i++) {
    if (!known_rank(v, i))
      return false;
    int rank = view_rank(v, i);
    const dim *n = view_dim(v, i, rank - 1),
              *rows = rank == 2 ? view_dim(v, i, 0) : dim_const(v->dims, 1);
    const comp_loop loops[] = {{LOOP_PARALLEL, rows}, {LOOP_PARALLEL, n}};
    comp_stage *s = comp_stage_begin(c, 2, loops);
    const expr *in[] = {expr_loop(c, 0), expr_loop(c, 1)};
    const expr *to[] = {in[0], expr_binary(c, EXPR_ADD, in[1], expr_dim(c, before))};
    const expr *x = expr_read(c, i, rank, rank == 2 ? in : in + 1);
    comp_write_at(c, s, comp_result(c, 0), 2, to, expr_cast(c, x, ONYX_F32), NULL);
    before = dim_add(v->dims, before, n);
  }
  return true;
}

// --- OneHotEncoder over numbers: a new last dim with 1 at the category

static bool shape_one_hot_encoder(op_view *v, shape_result *results) {
  int rank = view_rank(v, 0);
  const onnx_attr *ints = view_attr(v, "cats_int64s"), *strings = view_attr(v, "cats_strings");
  if (!ints->n && !strings->n)
    return view_error(v, "cats_int64s or cats_strings: expected at least one category");
  if (rank < 0)
    return true;
  const dim *dims[ONYX_MAX_RANK + 1];
  for (int i = 0; i < rank; i++)
    dims[i] = view_dim(v, 0, i);
  dims[rank] = dim_const(v->dims, ints->n ? ints->n : strings->n);
  shape_set(v, results, 0, rank + 1, dims);
  return true;
}

static bool comp_one_hot_encoder(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  if (!known_rank(v, 0))
    return false;
  if (view_elem(v, 0) == ONYX_STRING)
    return view_error(v, "operand 0 ('X'): strings are no numbers");
  const onnx_attr *cats = view_attr(v, "cats_int64s");
  if (!cats->n)
    return view_error(v, "cats_int64s: expected categories for an operand of numbers");
  int rank = view_rank(v, 0), y = comp_result(c, 0), table = ml_int_table(c, cats);
  if (!view_int(v, "zeros")) { // an element without a category is an error
    comp_loop loops[ONYX_MAX_RANK + 1];
    const expr *at[ONYX_MAX_RANK];
    for (int i = 0; i < rank; i++) {
      loops[i] = (comp_loop){LOOP_PARALLEL, view_dim(v, 0, i)};
      at[i] = expr_loop(c, i);
    }
    loops[rank] = (comp_loop){LOOP_REDUCTION, dim_const(v->dims, cats->n)};
    int seen = comp_temp(c, ONYX_BOOL, rank, c->buffers[0].dims);
    comp_stage *s = comp_stage_begin(c, rank + 1, loops);
    const expr *x = expr_cast(c, expr_read(c, 0, rank, at), ONYX_I64);
    const expr *is = expr_compare(c, EXPR_EQ, x, ml_at(c, table, expr_loop(c, rank)));
    const expr *any = expr_acc(c, comp_acc_combine(c, s, ACC_OR, ONYX_BOOL, is, NULL), ONYX_BOOL);
    const expr *found = expr_cast(c, x, ONYX_INDEX);
    comp_write_at(c, s, seen, rank, at, expr_check(c, any, any, 8, found, expr_index(c, cats->n)),
                  NULL);
  }
  comp_stage *s = comp_stage_over(c, y);
  const expr *x = expr_cast(c, read_point(c), ONYX_I64);
  const expr *is = expr_compare(c, EXPR_EQ, x, ml_at(c, table, expr_loop(c, rank)));
  comp_write_point(c, s, y, expr_cast(c, is, ONYX_F32));
  return true;
}

static bool verify_any(op_view *v) {
  (void)v;
  return true;
}

const op_def ops_ml[] = {
    {"ArrayFeatureExtractor", verify_array_feature, shape_array_feature, comp_array_feature},
    {"Binarizer", verify_any, shape_same, comp_binarizer},
    {"FeatureVectorizer", verify_feature_vectorizer, shape_feature_vectorizer,
     comp_feature_vectorizer},
    {"Imputer", verify_imputer, shape_imputer, comp_imputer},
    {"Normalizer", verify_normalizer, shape_same, comp_normalizer},
    {"OneHotEncoder", verify_any, shape_one_hot_encoder, comp_one_hot_encoder},
    {"Scaler", verify_scaler, shape_scaler, comp_scaler},
};
const int num_ops_ml = sizeof ops_ml / sizeof ops_ml[0];
