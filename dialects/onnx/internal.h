// What the dialect's own files share.
#ifndef ONYX_DIALECTS_ONNX_INTERNAL_H
#define ONYX_DIALECTS_ONNX_INTERNAL_H

#include "dialects/onnx/onnx.h"

static inline bool failed(MlirLogicalResult r) {
  return mlirLogicalResultIsFailure(r);
}
static inline MlirLogicalResult success(void) {
  return mlirLogicalResultSuccess();
}
static inline MlirLogicalResult failure(void) {
  return mlirLogicalResultFailure();
}
static inline MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}
static inline MlirAttribute attribute(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, str(name));
}

// syntax.c: custom assembly.
MlirLogicalResult onnx_parse_constant(MlirxAsmParser p);
void onnx_print_constant(MlirOperation op, MlirxAsmPrinter p);
MlirLogicalResult onnx_parse_constant_of_shape(MlirxAsmParser p);
void onnx_print_constant_of_shape(MlirOperation op, MlirxAsmPrinter p);
MlirLogicalResult onnx_parse_return(MlirxAsmParser p);
void onnx_print_return(MlirOperation op, MlirxAsmPrinter p);

// verify.c: against the schema, then by the operator's own verifier.
MlirLogicalResult onnx_verify_operator(MlirOperation op);
MlirLogicalResult onnx_verify_operator_regions(MlirOperation op);
MlirLogicalResult onnx_verify_no_value(MlirOperation op);
MlirLogicalResult onnx_verify_return(MlirOperation op);
MlirLogicalResult onnx_verify_yield(MlirOperation op);
MlirLogicalResult onnx_verify_entry_point(MlirOperation op);
MlirLogicalResult onnx_verify_custom(MlirOperation op);
MlirLogicalResult onnx_verify_fused(MlirOperation op);
MlirLogicalResult onnx_verify_layout_transform(MlirOperation op);
MlirLogicalResult onnx_verify_dim(MlirOperation op);
MlirLogicalResult onnx_verify_dim_group(MlirOperation op);
MlirLogicalResult onnx_verify_attribute(MlirOperation op, intptr_t arg, MlirNamedAttribute attr);

// canonicalize.c: fold hook and patterns of an operator, NULL where it has none.
typedef MlirLogicalResult (*onnx_fold_hook)(MlirOperation op, intptr_t num_operands,
                                            const MlirAttribute *operands,
                                            MlirxFoldResult *results);
typedef void (*onnx_patterns_hook)(MlirRewritePatternSet set, MlirContext ctx);
onnx_fold_hook onnx_fold_of(const char *name);
onnx_patterns_hook onnx_patterns_of(const char *name);
// All canonicalization rules, for passes that run them with others.
void onnx_add_rules(MlirRewritePatternSet set, MlirContext ctx);

#endif // ONYX_DIALECTS_ONNX_INTERNAL_H
