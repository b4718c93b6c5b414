// One operator's meaning: verifier, shape function, comprehension. Written once, read by
// everything.
#ifndef ONYX_OP_H
#define ONYX_OP_H

#include "dialects/onnx/ops/comprehension.h"
#include "dialects/onnx/ops/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct op_def {
  const char *name; // as in the schema table
  // What the schema cannot say: ranks, axes, geometry. Runs on views whose shapes may be unknown
  // and refuses only what can be no good. NULL: nothing to check.
  bool (*verify)(op_view *v);
  // Fills `results`, one entry a result of the op. A rank it cannot know stays -1, a dim it cannot
  // know is dim_unknown. False after view_error: the operands contradict each other.
  bool (*shape)(op_view *v, shape_result *results);
  // Builds the loop nests that compute the op into `c` (see comprehension.h). `results` are the
  // result types and shapes. NULL: the op is no loop nest. False after view_error: not in this form
  // (the reason is given), e.g. a rank that is not known.
  bool (*comprehend)(op_view *v, const shape_result *results, comprehension *c);
} op_def;

// Each family file exports its table; ops/table.c joins them, sorted by name.
#define ONYX_OP_FAMILIES(X)                                                                        \
  X(activation)                                                                                    \
  X(attention)                                                                                     \
  X(cast)                                                                                          \
  X(control)                                                                                       \
  X(conv)                                                                                          \
  X(det)                                                                                           \
  X(einsum)                                                                                        \
  X(elementwise)                                                                                   \
  X(flex_attention)                                                                                \
  X(gather_scatter)                                                                                \
  X(generator)                                                                                     \
  X(linear_attention)                                                                              \
  X(logical)                                                                                       \
  X(loss)                                                                                          \
  X(mapping)                                                                                       \
  X(matmul)                                                                                        \
  X(ml)                                                                                            \
  X(ml_label)                                                                                      \
  X(ml_linear)                                                                                     \
  X(ml_svm)                                                                                        \
  X(ml_tree)                                                                                       \
  X(movement)                                                                                      \
  X(ngram)                                                                                         \
  X(normalization)                                                                                 \
  X(pool)                                                                                          \
  X(quantize)                                                                                      \
  X(random)                                                                                        \
  X(recurrent)                                                                                     \
  X(reduce)                                                                                        \
  X(reshape)                                                                                       \
  X(resize)                                                                                        \
  X(retired)                                                                                       \
  X(sample)                                                                                        \
  X(sequence)                                                                                      \
  X(shape_ops)                                                                                     \
  X(signal)                                                                                        \
  X(softmax)                                                                                       \
  X(sort)                                                                                          \
  X(strings)                                                                                       \
  X(training)

#define ONYX_DECLARE_FAMILY(f)                                                                     \
  extern const op_def ops_##f[];                                                                   \
  extern const int num_ops_##f;
ONYX_OP_FAMILIES(ONYX_DECLARE_FAMILY)
#undef ONYX_DECLARE_FAMILY

// Definition by operator name; NULL when there is none.
const op_def *op_def_find(const char *name);
// Definition i in order of names; NULL past the end. (Two of one name are a defect that a test
// finds.)
const op_def *op_def_at(int i);

// Runs the definition's shape function over v: presets kinds and element types through the schema's
// constraints (a result whose constraint is bound by an operand, or allows one type only), then
// shape(). v->def may be NULL: types only. False after an error.
bool op_infer(op_view *v, shape_result *results);

#ifdef __cplusplus
}
#endif
#endif
