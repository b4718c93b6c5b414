// Composite operators written as simpler ones: what the files of rules share.
#ifndef ONYX_PASSES_ONNX_DECOMPOSE_H
#define ONYX_PASSES_ONNX_DECOMPOSE_H

#include "dialects/onnx/rules.h"

// An operator that is taken apart. Intermediate results have an element type and no shape: shape
// inference runs after the pass.
typedef struct composite {
  onnx_builder b;
  MlirOperation op;
} composite;

#define MICROSOFT "com.microsoft"
#define ANY_DOMAIN "*" // an operator that the standard does not have, whatever its domain is called

typedef struct decompose_rule {
  const char *domain;   // "" is ai.onnx
  const char *function; // operator's name
  // Builds the parts and replaces the results; a failure comes before anything is built.
  MlirLogicalResult (*rewrite)(composite *c);
} decompose_rule;

// Ended by a rule without function.
extern const decompose_rule decompose_rules_contrib[], decompose_rules_attention[],
    decompose_rules_quantized[], decompose_rules_standard[];

// Which rules run, and the pass that counts their hits.
struct decompose_selection {
  MlirxPass pass;
  intptr_t num_targets; // of the pass's option 0, a list of operators' names; 0: all outside the
                        // standard
};
// `s` lives until the set has been applied.
void decompose_add_patterns(MlirRewritePatternSet set, MlirContext ctx,
                            struct decompose_selection *s);

// --- values; `elem` types are MLIR element types
static inline MlirValue in(const composite *c, int i) {
  return onnx_operand_or_null(c->op, i);
}
static inline bool has(const composite *c, int i) {
  return !mlirValueIsNull(in(c, i));
}
MlirType elem_type(MlirValue v);
MlirType i64_of(const composite *c);
MlirValue call(composite *c, const char *name, MlirType elem, int n, const MlirValue *operands,
               const onnx_named *attrs);
MlirValue unary(composite *c, const char *name, MlirValue x);
MlirValue binary(composite *c, const char *name, MlirValue x, MlirValue y); // of x's element type
MlirValue compare(composite *c, const char *name, MlirValue x, MlirValue y);
MlirValue choose(composite *c, MlirValue condition, MlirValue yes, MlirValue no);
MlirValue cast(composite *c, MlirValue x, MlirType elem);    // x itself where it is of that type
MlirValue number(composite *c, MlirType elem, double value); // tensor<1xelem>, float element types
MlirValue scalar_int(composite *c, MlirType elem,
                     int64_t value); // tensor<elem>, integer element types
MlirValue ints(composite *c, int n, const int64_t *values);
MlirValue none(composite *c);

// --- shapes
MlirValue sizes(composite *c, MlirValue x, int64_t start, int64_t end); // Shape with start and end
MlirValue reshape(composite *c, MlirValue x, int n,
                  const int64_t *shape); // 0 copies, -1 is the rest
MlirValue transpose(composite *c, MlirValue x, int n, const int64_t *perm);
MlirValue concat(composite *c, int n, const MlirValue *values, int64_t axis);
MlirValue slice(composite *c, MlirValue x, int64_t axis, int64_t start, int64_t end);
MlirValue unsqueeze(composite *c, MlirValue x, int n, const int64_t *axes);
MlirValue squeeze(composite *c, MlirValue x, int64_t axis);
MlirValue take(composite *c, MlirValue x, int64_t index, int64_t axis); // without the axis

// --- attributes
static inline MlirAttribute int_value(const composite *c, int64_t v) {
  return si64_attr(c->b.ctx, v);
}
static inline MlirAttribute float_value(const composite *c, double v) {
  return mlirFloatAttrDoubleGet(c->b.ctx, mlirF32TypeGet(c->b.ctx), v);
}
MlirAttribute string_value(const composite *c, const char *text);

// values[i] takes the place of result i; a null one is of a result that has no uses, else the op
// stays.
MlirLogicalResult replace_results(composite *c, int n, const MlirValue *values);
// Whether result i is asked for.
bool wanted(const composite *c, int i);

// An activation as contrib operators name it (an attribute, or null for none), asked before
// anything is built: a rewrite that fails has built nothing.
#define UNKNOWN_ACTIVATION (-2)
int activation_kind(MlirAttribute name);
MlirValue activation(composite *c, MlirValue x, int kind, double alpha, double beta);

#endif // ONYX_PASSES_ONNX_DECOMPOSE_H
