// Operators whose newest version only says that they are gone: the importer writes what replaced
// them. And Gradient, which asks for a program about a program.
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>
#include <string.h>

static bool verify_retired(op_view *v) {
  static const char *const replacements[][2] = {{"Scatter", "ScatterElements"},
                                                {"TreeEnsembleClassifier", "TreeEnsemble"},
                                                {"TreeEnsembleRegressor", "TreeEnsemble"},
                                                {"Upsample", "Resize"}};
  for (size_t k = 0; k < sizeof replacements / sizeof *replacements; k++)
    if (strcmp(v->schema->name, replacements[k][0]) == 0)
      return view_error(v, "%s was retired in version %d; expected %s", v->schema->name,
                        v->schema->since, replacements[k][1]);
  return view_error(v, "%s was retired", v->schema->name);
}

static bool shape_retired(op_view *v, shape_result *results) {
  (void)results;
  return verify_retired(v);
}

// --- Gradient: inputs are xs, then zs; outputs the derivatives of y by each of xs

static bool verify_gradient(op_view *v) {
  const onnx_attr *xs = view_attr(v, "xs"), *zs = view_attr(v, "zs");
  if (xs->n + zs->n != v->num_operands)
    return view_error(v, "expected %" PRId64 " operands, one for each name in xs and zs, found %d",
                      xs->n + zs->n, v->num_operands);
  return xs->n == v->num_results ||
         view_error(v, "expected %" PRId64 " results, one for each name in xs, found %d", xs->n,
                    v->num_results);
}

static bool shape_gradient(op_view *v, shape_result *results) {
  if (!verify_gradient(v))
    return false;
  for (int i = 0; i < v->num_results; i++) {
    results[i].type.elem = view_elem(v, i);
    shape_like(v, results, i, i);
  }
  return true;
}

const op_def ops_retired[] = {
    {"Gradient", verify_gradient, shape_gradient, NULL},
    {"Scatter", verify_retired, shape_retired, NULL},
    {"TreeEnsembleClassifier", verify_retired, shape_retired, NULL},
    {"TreeEnsembleRegressor", verify_retired, shape_retired, NULL},
    {"Upsample", verify_retired, shape_retired, NULL},
};
const int num_ops_retired = sizeof ops_retired / sizeof ops_retired[0];
