// What the operators of ai.onnx.ml share: tables from attributes, post-transforms.
#ifndef ONYX_ML_UTIL_H
#define ONYX_ML_UTIL_H

#include "dialects/onnx/ops/comprehension.h"

// f64 for f64 operands, else f32.
int ml_compute_type(onyx_elem elem);
// Tables of an attribute's values; -1 when it has none.
int ml_float_table(comprehension *c, int type, const onnx_attr *values);
int ml_int_table(comprehension *c, const onnx_attr *values);
// Element `at` of a one-dimensional buffer.
const expr *ml_at(comprehension *c, int buffer, const expr *at);

typedef enum ml_transform {
  ML_NONE,
  ML_SOFTMAX,
  ML_LOGISTIC,
  ML_SOFTMAX_ZERO,
  ML_PROBIT
} ml_transform;
// By the name in attribute post_transform.
bool ml_transform_of(op_view *v, ml_transform *out);
// result[n, k] = transform(scores[n, k]) over the rows of the temporary `scores`.
void ml_post_transform(comprehension *c, ml_transform transform, int scores, int result);

#endif
