// LinearRegressor, LinearClassifier, SVMRegressor.
#include "dialects/onnx/ops/ml_util.h"
#include "dialects/onnx/ops/op.h"
#include <inttypes.h>
#include <string.h>

static bool matrix(op_view *v) {
  int rank = view_rank(v, 0);
  return rank < 0 || rank == 1 || rank == 2 ||
         view_error(v, "operand 0 ('X'): expected rank 1 or 2, found rank %d", rank);
}

// Rows of X; a vector is one row.
static const dim *rows_of(op_view *v) {
  int rank = view_rank(v, 0);
  return rank < 0 ? dim_unknown(v->dims) : rank == 2 ? view_dim(v, 0, 0) : dim_const(v->dims, 1);
}
static const dim *features_of(op_view *v) {
  return view_dim(v, 0, view_rank(v, 0) - 1);
}

static const expr *read_feature(comprehension *c, const expr *row, const expr *k, int type) {
  const expr *at[] = {row, k};
  int rank = view_rank(c->view, 0);
  return expr_cast(c, expr_read(c, 0, rank, rank == 2 ? at : at + 1), type);
}

// scores[n, e] = sum over k of x[n, k] * coefficients[e, k], + intercepts[e]
static void linear_scores(comprehension *c, int scores, int64_t outputs, int type) {
  op_view *v = c->view;
  const onnx_attr *intercepts = view_attr(v, "intercepts");
  int weights = ml_float_table(c, type, view_attr(v, "coefficients"));
  int offsets = intercepts->n ? ml_float_table(c, type, intercepts) : -1;
  const comp_loop loops[] = {{LOOP_PARALLEL, rows_of(v)},
                             {LOOP_PARALLEL, dim_const(v->dims, outputs)},
                             {LOOP_REDUCTION, features_of(v)}};
  comp_stage *s = comp_stage_begin(c, 3, loops);
  const expr *n = expr_loop(c, 0), *e = expr_loop(c, 1), *k = expr_loop(c, 2), *at[] = {n, e};
  const expr *w =
      expr_binary(c, EXPR_ADD, expr_binary(c, EXPR_MUL, e, expr_dim(c, features_of(v))), k);
  const expr *term = expr_binary(c, EXPR_MUL, read_feature(c, n, k, type), ml_at(c, weights, w));
  const expr *y = expr_acc(c, comp_acc_combine(c, s, ACC_ADD, type, term, NULL), type);
  if (offsets >= 0)
    y = expr_binary(c, EXPR_ADD, y, ml_at(c, offsets, e));
  comp_write_at(c, s, scores, 2, at, y, NULL);
}

// Every output has a coefficient for each feature, and an intercept if there are any.
static bool check_linear(op_view *v, int64_t outputs) {
  int64_t features, n = view_attr(v, "coefficients")->n, offsets = view_attr(v, "intercepts")->n;
  if (outputs < 1 || n < 1 || n % outputs)
    return view_error(v, "coefficients: %" PRId64 " of them for %" PRId64 " outputs", n, outputs);
  if (offsets && offsets != outputs)
    return view_error(v, "intercepts: expected %" PRId64 " entries, found %" PRId64, outputs,
                      offsets);
  if (view_rank(v, 0) > 0 && dim_is_const(features_of(v), &features) && features * outputs != n)
    return view_error(
        v, "coefficients: expected %" PRId64 " for each of %" PRId64 " outputs, found %" PRId64,
        features, outputs, n);
  return true;
}

static bool constant_features(op_view *v, int64_t outputs) {
  int64_t features;
  if (view_rank(v, 0) < 0)
    return view_error(v, "operand 0 ('X'): the rank is not known");
  if (!check_linear(v, outputs))
    return false;
  return dim_is_const(features_of(v), &features) ||
         view_error(v, "operand 0 ('X'): the number of features is not known");
}

// --- LinearRegressor

static bool verify_regressor(op_view *v) {
  ml_transform t;
  return matrix(v) && ml_transform_of(v, &t) && check_linear(v, view_int(v, "targets"));
}

static bool shape_regressor(op_view *v, shape_result *results) {
  const dim *dims[] = {rows_of(v), dim_const(v->dims, view_int(v, "targets"))};
  shape_set(v, results, 0, 2, dims);
  return verify_regressor(v);
}

static bool comp_regressor(op_view *v, const shape_result *results, comprehension *c) {
  ml_transform t;
  int64_t targets = view_int(v, "targets");
  if (!ml_transform_of(v, &t) || !constant_features(v, targets))
    return false;
  int type = ml_compute_type(view_elem(v, 0));
  int scores = comp_temp(c, (onyx_elem)type, 2, results[0].type.dims);
  linear_scores(c, scores, targets, type);
  ml_post_transform(c, t, scores, comp_result(c, 0));
  return true;
}

// --- LinearClassifier: label and scores. One set of coefficients for two classes gives (-s, s).

typedef struct classifier {
  int64_t outputs, columns, classes;
  bool strings;
} classifier;

static bool classifier_of(op_view *v, classifier *k) {
  const onnx_attr *ints = view_attr(v, "classlabels_ints"),
                  *strings = view_attr(v, "classlabels_strings");
  k->strings = strings->n > 0;
  k->classes = ints->n > strings->n ? ints->n : strings->n;
  int64_t n = view_attr(v, "coefficients")->n, offsets = view_attr(v, "intercepts")->n, features;
  if (view_rank(v, 0) > 0 && dim_is_const(features_of(v), &features) && features > 0)
    k->outputs = n / features;
  else
    k->outputs = offsets ? offsets : k->classes > 2 ? k->classes : 1;
  k->columns = k->outputs == 1 && k->classes == 2 ? 2 : k->outputs;
  return check_linear(v, k->outputs);
}

static bool verify_classifier(op_view *v) {
  classifier k;
  ml_transform t;
  return matrix(v) && ml_transform_of(v, &t) && classifier_of(v, &k);
}

static bool shape_classifier(op_view *v, shape_result *results) {
  classifier k;
  if (!classifier_of(v, &k))
    return false;
  const dim *dims[] = {rows_of(v), dim_const(v->dims, k.columns)};
  results[0].type.elem = k.strings ? ONYX_STRING : ONYX_I64;
  shape_set(v, results, 0, 1, dims);
  if (v->num_results > 1)
    shape_set(v, results, 1, 2, dims);
  return true;
}

// (-s, s) from the one score.
static int two_columns(comprehension *c, int scores, int type) {
  op_view *v = c->view;
  const dim *shape[] = {rows_of(v), dim_const(v->dims, 2)};
  int both = comp_temp(c, (onyx_elem)type, 2, shape);
  const comp_loop loop = {LOOP_PARALLEL, shape[0]};
  const expr *n = expr_loop(c, 0), *zero = expr_index(c, 0), *from[] = {n, zero},
             *one[] = {n, expr_index(c, 1)};
  comp_stage *s = comp_stage_begin(c, 1, &loop);
  const expr *x = expr_read(c, scores, 2, from);
  comp_write_at(c, s, both, 2, from, expr_unary(c, EXPR_NEG, x), NULL);
  comp_write_at(c, s, both, 2, one, x, NULL);
  return both;
}

static const expr *label(comprehension *c, const expr *column) {
  const onnx_attr *ints = view_attr(c->view, "classlabels_ints");
  int table = ml_int_table(c, ints);
  if (table < 0)
    return expr_cast(c, column, ONYX_I64);
  const expr *last = expr_index(c, ints->n - 1);
  return ml_at(c, table, expr_binary(c, EXPR_MIN, column, last));
}

// The class of the greatest score (the first of equal ones); one column is compared with a
// threshold.
static void write_labels(comprehension *c, const classifier *k, ml_transform t, int probabilities) {
  op_view *v = c->view;
  int type = c->buffers[probabilities].elem, y = comp_result(c, 0);
  const expr *n = expr_loop(c, 0), *j = expr_loop(c, 1), *at[] = {n, j};
  if (k->columns == 1) {
    comp_stage *s = comp_stage_over(c, y);
    const expr *only[] = {n, expr_index(c, 0)};
    const expr *yes = expr_compare(c, EXPR_GE, expr_read(c, probabilities, 2, only),
                                   expr_float(c, type, t == ML_NONE ? 0 : 0.5));
    const expr *first =
        view_attr(v, "classlabels_ints")->n ? label(c, expr_index(c, 0)) : expr_int(c, ONYX_I64, 1);
    comp_write_point(c, s, y, expr_select(c, yes, first, expr_int(c, ONYX_I64, 0)));
    return;
  }
  const comp_loop loops[] = {{LOOP_PARALLEL, rows_of(v)},
                             {LOOP_REDUCTION, dim_const(v->dims, k->columns)}};
  comp_stage *s = comp_stage_begin(c, 2, loops);
  const expr *x = expr_read(c, probabilities, 2, at), *best = expr_acc(c, 0, type);
  const expr *which = expr_acc(c, 1, ONYX_INDEX), *beats = expr_compare(c, EXPR_GT, x, best);
  comp_acc_general(c, s, type, expr_lowest(c, type), expr_select(c, beats, x, best));
  comp_acc_general(c, s, ONYX_INDEX, expr_index(c, 0), expr_select(c, beats, j, which));
  comp_write_at(c, s, y, 1, &n, label(c, which), NULL);
}

static bool comp_classifier(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  classifier k;
  ml_transform t;
  if (!ml_transform_of(v, &t) || !classifier_of(v, &k) || !constant_features(v, k.outputs))
    return false;
  if (k.strings)
    return view_error(v, "classlabels_strings: strings are no numbers");
  int type = ml_compute_type(view_elem(v, 0));
  const dim *shape[] = {rows_of(v), dim_const(v->dims, k.outputs)};
  const dim *wide[] = {shape[0], dim_const(v->dims, k.columns)};
  int scores = comp_temp(c, (onyx_elem)type, 2, shape);
  linear_scores(c, scores, k.outputs, type);
  if (k.columns != k.outputs)
    scores = two_columns(c, scores, type);
  bool wanted = v->num_results > 1 && v->wanted[1];
  int z = wanted ? comp_result(c, 1) : comp_temp(c, ONYX_F32, 2, wide);
  ml_post_transform(c, t, scores, z);
  write_labels(c, &k, t, z);
  return true;
}

// --- SVMRegressor

static bool svm_of(op_view *v, int64_t *supports) {
  int64_t n = view_attr(v, "support_vectors")->n, features;
  const char *kernel = view_string(v, "kernel_type");
  *supports = view_int(v, "n_supports");
  if (strcmp(kernel, "LINEAR") && strcmp(kernel, "POLY") && strcmp(kernel, "RBF") &&
      strcmp(kernel, "SIGMOID"))
    return view_error(v, "kernel_type: expected LINEAR, POLY, RBF or SIGMOID, found '%s'", kernel);
  if (strcmp(kernel, "LINEAR") && *supports && view_attr(v, "kernel_params")->n != 3)
    return view_error(v,
                      "kernel_params: expected gamma, coef0 and degree, found %" PRId64 " entries",
                      view_attr(v, "kernel_params")->n);
  if (view_attr(v, "rho")->n < 1)
    return view_error(v, "rho: expected at least one entry");
  if (*supports < 0 ||
      (*supports && (n % *supports || view_attr(v, "coefficients")->n < *supports)))
    return view_error(v, "n_supports: %" PRId64 " vectors do not fit %" PRId64 " numbers",
                      *supports, n);
  if (view_rank(v, 0) > 0 && dim_is_const(features_of(v), &features)) {
    int64_t have = *supports ? n / *supports : view_attr(v, "coefficients")->n;
    if (have != features)
      return view_error(v, "operand 0 ('X'): expected %" PRId64 " features, found %" PRId64, have,
                        features);
  }
  return matrix(v);
}

static bool verify_svm(op_view *v) {
  int64_t supports;
  ml_transform t;
  return ml_transform_of(v, &t) && svm_of(v, &supports);
}

static bool shape_svm(op_view *v, shape_result *results) {
  const dim *dims[] = {rows_of(v), dim_const(v->dims, 1)};
  shape_set(v, results, 0, 2, dims);
  return verify_svm(v);
}

// Temporary [rows, supports] of the kernel of each row with each support vector.
static int kernels(comprehension *c, int64_t supports, int type) {
  op_view *v = c->view;
  const char *name = view_string(v, "kernel_type");
  const onnx_attr *params = view_attr(v, "kernel_params");
  double gamma = params->n ? params->floats[0] : 0, coef0 = params->n > 1 ? params->floats[1] : 0;
  double degree = params->n > 2 ? params->floats[2] : 0;
  int vectors = ml_float_table(c, type, view_attr(v, "support_vectors"));
  const dim *shape[] = {rows_of(v), dim_const(v->dims, supports)};
  int out = comp_temp(c, (onyx_elem)type, 2, shape);
  const comp_loop loops[] = {
      {LOOP_PARALLEL, shape[0]}, {LOOP_PARALLEL, shape[1]}, {LOOP_REDUCTION, features_of(v)}};
  comp_stage *s = comp_stage_begin(c, 3, loops);
  const expr *n = expr_loop(c, 0), *j = expr_loop(c, 1), *k = expr_loop(c, 2), *at[] = {n, j};
  const expr *flat =
      expr_binary(c, EXPR_ADD, expr_binary(c, EXPR_MUL, j, expr_dim(c, features_of(v))), k);
  const expr *x = read_feature(c, n, k, type), *y = ml_at(c, vectors, flat);
  bool rbf = !strcmp(name, "RBF");
  const expr *difference = expr_binary(c, EXPR_SUB, x, y);
  const expr *term =
      rbf ? expr_binary(c, EXPR_MUL, difference, difference) : expr_binary(c, EXPR_MUL, x, y);
  const expr *dot = expr_acc(c, comp_acc_combine(c, s, ACC_ADD, type, term, NULL), type);
  if (rbf) {
    dot = expr_unary(c, EXPR_EXP, expr_binary(c, EXPR_MUL, expr_float(c, type, -gamma), dot));
  } else if (strcmp(name, "LINEAR")) {
    dot = expr_binary(c, EXPR_ADD, expr_binary(c, EXPR_MUL, dot, expr_float(c, type, gamma)),
                      expr_float(c, type, coef0));
    dot = !strcmp(name, "SIGMOID")
              ? expr_unary(c, EXPR_TANH, dot)
              : expr_binary(c, EXPR_POW, dot, expr_float(c, type, (double)(int64_t)degree));
  }
  comp_write_at(c, s, out, 2, at, dot, NULL);
  return out;
}

static bool comp_svm(op_view *v, const shape_result *results, comprehension *c) {
  int64_t supports, features;
  ml_transform t;
  if (!ml_transform_of(v, &t) || !svm_of(v, &supports))
    return false;
  if (view_rank(v, 0) < 0 || !dim_is_const(features_of(v), &features))
    return view_error(v, "operand 0 ('X'): the number of features is not known");
  int type = ml_compute_type(view_elem(v, 0));
  int weights = ml_float_table(c, type, view_attr(v, "coefficients"));
  int kernel = supports ? kernels(c, supports, type) : -1;
  int scores = comp_temp(c, (onyx_elem)type, 2, results[0].type.dims);
  const comp_loop loops[] = {
      {LOOP_PARALLEL, rows_of(v)},
      {LOOP_REDUCTION, supports ? dim_const(v->dims, supports) : features_of(v)}};
  comp_stage *s = comp_stage_begin(c, 2, loops);
  const expr *n = expr_loop(c, 0), *k = expr_loop(c, 1), *at[] = {n, k},
             *out[] = {n, expr_index(c, 0)};
  const expr *x = supports ? expr_read(c, kernel, 2, at) : read_feature(c, n, k, type);
  int acc = comp_acc_combine(c, s, ACC_ADD, type, expr_binary(c, EXPR_MUL, x, ml_at(c, weights, k)),
                             NULL);
  const expr *y = expr_binary(c, EXPR_ADD, expr_acc(c, acc, type),
                              expr_float(c, type, view_attr(v, "rho")->floats[0]));
  if (view_int(v, "one_class"))
    y = expr_select(c, expr_compare(c, EXPR_GT, y, expr_zero(c, type)), expr_one(c, type),
                    expr_float(c, type, -1));
  comp_write_at(c, s, scores, 2, out, y, NULL);
  ml_post_transform(c, t, scores, comp_result(c, 0));
  return true;
}

const op_def ops_ml_linear[] = {
    {"LinearClassifier", verify_classifier, shape_classifier, comp_classifier},
    {"LinearRegressor", verify_regressor, shape_regressor, comp_regressor},
    {"SVMRegressor", verify_svm, shape_svm, comp_svm},
};
const int num_ops_ml_linear = sizeof ops_ml_linear / sizeof ops_ml_linear[0];
