// What canonicalization rules are made of: a rule looks at one op and rewrites it, or fails.
#ifndef ONYX_DIALECTS_ONNX_RULES_H
#define ONYX_DIALECTS_ONNX_RULES_H

#include "dialects/onnx/internal.h"
#include "mlir-c/Rewrite.h"

typedef struct onnx_rule {
  const char *root; // the standard's name of the op it starts at
  const char *name; // for reports
  MlirLogicalResult (*rewrite)(MlirOperation op, MlirRewriterBase rw);
} onnx_rule;

// Each file of rules exports its table, ended by a rule without root.
extern const onnx_rule onnx_rules_shape[], onnx_rules_math[], onnx_rules_conv[], onnx_rules_forms[];
extern const onnx_rule *const onnx_rule_tables[]; // all of them, NULL-terminated

// --- asking
static inline MlirValue operand(MlirOperation op, intptr_t i) {
  return mlirOperationGetOperand(op, i);
}
static inline MlirValue result(MlirOperation op, intptr_t i) {
  return mlirOperationGetResult(op, i);
}
static inline MlirType type_of(MlirValue v) {
  return mlirValueGetType(v);
}
static inline bool same_type(MlirValue a, MlirValue b) {
  return mlirTypeEqual(type_of(a), type_of(b));
}
// The op that defines v if it is the standard's operator `name`, else a null op.
MlirOperation defined_by(MlirValue v, const char *name);
// The op that defines v if it only renames storage: Reshape, Squeeze, Unsqueeze or Flatten.
MlirOperation defined_by_renaming(MlirValue v);
bool has_one_use(MlirValue v);
bool is_unused(MlirValue v);
static inline bool is_static(MlirType t) {
  return mlirTypeIsARankedTensor(t) && mlirShapedTypeHasStaticShape(t);
}
int64_t rank_of(MlirValue v);               // -1: not ranked
int64_t size_of(MlirValue v, int64_t axis); // -1: not static
onyx_elem elem_of(MlirValue v);
// onnx.Constant, in the text or in a file, or what pure operators make of constants: it folds, or
// is computed when the model is loaded.
bool is_constant(MlirValue v);
// Elements of a dense integer constant, at most max; -1 if v is none.
int constant_ints(MlirValue v, int64_t *out, int max);
// The one value of a dense float constant whose elements are all equal; false if v is none.
bool constant_splat(MlirValue v, double *out);
int64_t int_attr(MlirOperation op, const char *name, int64_t otherwise);
double float_attr(MlirOperation op, const char *name, double otherwise);
bool string_attr_is(MlirOperation op, const char *name, const char *text, const char *otherwise);
// Elements of an integer list attribute, at most max; -1 if it is absent.
int ints_attr(MlirOperation op, const char *name, int64_t *out, int max);

// --- making; ops go before `at`, with its location
typedef struct onnx_builder {
  MlirRewriterBase rw;
  MlirOperation at;
  MlirContext ctx;
} onnx_builder;
onnx_builder builder_at(MlirRewriterBase rw, MlirOperation at);
typedef struct onnx_named {
  const char *name;
  MlirAttribute value;
} onnx_named;
// An op with one result. Attributes end with a NULL name; `attrs` may be NULL.
MlirValue make_op(onnx_builder *b, const char *name, MlirType type, int n,
                  const MlirValue *operands, const onnx_named *attrs);
MlirValue make_ints(onnx_builder *b, int n, const int64_t *values); // tensor<nxi64>
MlirValue make_float(onnx_builder *b, MlirType elem, double value); // tensor<1xelem>
MlirValue make_none(onnx_builder *b);
MlirType tensor_type(MlirType elem, int rank, const int64_t *shape);
MlirAttribute si64_attr(MlirContext ctx, int64_t value);
MlirAttribute ints_array(MlirContext ctx, int n, const int64_t *values);

// --- rewriting
// Another op of the same kind and attributes takes op's place: operands and name may differ.
MlirLogicalResult replace_by_op(MlirOperation op, MlirRewriterBase rw, const char *name, int n,
                                const MlirValue *operands, intptr_t results);
// v takes the place of op's first result; another type than the result's is hidden by an Identity,
// which goes when shape inference makes the types one.
MlirLogicalResult replace_by_value(MlirOperation op, MlirRewriterBase rw, MlirValue v);

#endif // ONYX_DIALECTS_ONNX_RULES_H
