// SVMClassifier: which results it gives. Labels, and a score for each class or each pair of
// classes.
#include "dialects/onnx/ops/ml_util.h"
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>
#include <string.h>

typedef struct svm {
  bool strings;    // of labels
  int64_t classes; // at least 1
  int64_t vectors; // support vectors; 0: a linear model
  bool probabilities;
} svm;

static bool svm_of(op_view *v, svm *m) {
  const onnx_attr *ints = view_attr(v, "classlabels_ints"),
                  *strings = view_attr(v, "classlabels_strings");
  const onnx_attr *per_class = view_attr(v, "vectors_per_class"), *rho = view_attr(v, "rho");
  *m = (svm){.strings = strings->n > 0, .probabilities = view_attr(v, "prob_a")->n > 0};
  m->classes = ints->n > strings->n ? ints->n : strings->n;
  m->classes = m->classes ? m->classes : 1;
  if (ints->n && strings->n)
    return view_error(v, "expected one of classlabels_ints and classlabels_strings, found both");
  for (int64_t k = 0; k < per_class->n; k++) {
    if (per_class->ints[k] < 0)
      return view_error(v, "vectors_per_class: expected counts >= 0, found %" PRId64,
                        per_class->ints[k]);
    m->vectors += per_class->ints[k];
  }
  int64_t pairs = m->classes * (m->classes - 1) / 2, numbers = view_attr(v, "support_vectors")->n;
  if (m->vectors && (per_class->n != m->classes || numbers % m->vectors))
    return view_error(v,
                      "vectors_per_class: %" PRId64 " vectors of %" PRId64
                      " classes do not fit %" PRId64 " numbers",
                      m->vectors, m->classes, numbers);
  if (m->vectors && rho->n < pairs)
    return view_error(
        v, "rho: expected %" PRId64 " entries, one for each pair of classes, found %" PRId64, pairs,
        rho->n);
  if (m->probabilities && (view_attr(v, "prob_a")->n < pairs || view_attr(v, "prob_b")->n < pairs))
    return view_error(v,
                      "prob_a and prob_b: expected %" PRId64
                      " entries, one for each pair of classes, found %" PRId64 " and %" PRId64,
                      pairs, view_attr(v, "prob_a")->n, view_attr(v, "prob_b")->n);
  return true;
}

static bool verify_svm(op_view *v) {
  svm m;
  ml_transform t;
  int rank = view_rank(v, 0);
  if (rank == 0 || rank > 2)
    return view_error(v, "operand 0 ('X'): expected rank 1 or 2, found rank %d", rank);
  return ml_transform_of(v, &t) && svm_of(v, &m);
}

static bool shape_svm(op_view *v, shape_result *results) {
  svm m;
  int rank = view_rank(v, 0);
  if (!verify_svm(v) || !svm_of(v, &m))
    return false;
  // A linear model scores each class, a support vector machine each class if it knows
  // probabilities, else each pair; one score for two classes becomes two.
  int64_t scores = m.vectors && !m.probabilities ? m.classes * (m.classes - 1) / 2 : m.classes;
  scores = scores < 2 && m.classes == 2 ? 2 : scores;
  const dim *rows = rank == 2   ? view_dim(v, 0, 0)
                    : rank == 1 ? dim_const(v->dims, 1)
                                : dim_unknown_extent(v->dims);
  results[0].type.elem = m.strings ? ONYX_STRING : ONYX_I64;
  shape_set(v, results, 0, 1, &rows);
  shape_set(v, results, 1, 2, (const dim *[]){rows, dim_const(v->dims, scores)});
  return true;
}

const op_def ops_ml_svm[] = {
    {"SVMClassifier", verify_svm, shape_svm, NULL},
};
const int num_ops_ml_svm = sizeof ops_ml_svm / sizeof ops_ml_svm[0];
