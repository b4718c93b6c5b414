//===- onnx.h - The ONNX dialect ---------------------------------------------------===//
//
// Every operator of the standard is an op at its newest version, made from the schema table at
// start-up; a few helper ops stand beside them. docs/onnx.md tells the text forms.
//
//===----------------------------------------------------------------------===//
#ifndef ONYX_DIALECTS_ONNX_ONNX_H
#define ONYX_DIALECTS_ONNX_ONNX_H

#include "dialects/onnx/ops/view.h"
#include "mlirx/mlirx.h"

extern MlirxDialect onnx_dialect;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

// Helper ops, which the standard does not have.
extern const MlirxOp onnx_no_value, onnx_return, onnx_yield, onnx_entry_point, onnx_custom,
    onnx_fused, onnx_layout_transform, onnx_dim, onnx_dim_group;

// Descriptor of the standard's operator; row as in onyx_schema_newest_rows.
const MlirxOp *onnx_op(const onyx_schema *row);
// By the standard's name ("Conv"); NULL when there is none.
const MlirxOp *onnx_op_by_name(const char *name);
// Schema row of an op; NULL for helper ops and ops of other dialects. onnx.MaxPoolSingleOut and
// onnx.BatchNormalizationInferenceMode give the row of the operator that they are a form of.
const onyx_schema *onnx_schema_of(MlirOperation op);
// Place of the op's row in onyx_schema_newest_rows, for tables indexed by operator; -1: none.
int onnx_operator_index(MlirOperation op);
// Is op the standard's operator of this name?
bool onnx_is(MlirOperation op, const char *name);
// Any op of the dialect?
bool onnx_is_onnx(MlirOperation op);

// The ONNX node's name: onnx_node_name, else a name location, else "". Not NUL-terminated.
MlirStringRef onnx_node_name(MlirOperation op);
// The same percent-free copy for messages, in `arena`.
const char *onnx_node_name_text(onyx_arena *arena, MlirOperation op);
// Error at op, "'onnx.Conv' op (node "conv1"): ..."; returns failure.
MlirLogicalResult onnx_error(MlirOperation op, const char *fmt, ...) MLIRX_PRINTF(2, 3);

// Operand i, or a null value where it is missing or `none`.
MlirValue onnx_operand_or_null(MlirOperation op, intptr_t i);
bool onnx_is_none(MlirValue v); // of type none

// The value of onnx.Constant as an elements attribute whose type is the constant's tensor type
// (dense, #onnx.file, or made from value_int and the other forms); null if op is none or has a
// sparse value.
MlirAttribute onnx_constant_value(MlirOperation op);
// The same of the op that defines v.
MlirAttribute onnx_value_constant(MlirValue v);

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

extern const MlirxType onnx_seq_type, onnx_opt_type, onnx_map_type, onnx_string_type;

MlirType onnx_seq_get(MlirContext ctx, MlirType of);
MlirType onnx_opt_get(MlirContext ctx, MlirType of);
MlirType onnx_map_get(MlirContext ctx, MlirType key, MlirType value); // element types
MlirType onnx_string_get(MlirContext ctx);

// Element types: of the table <-> of MLIR. UNDEFINED (null type) when the other side has none.
onyx_elem onnx_elem_from_mlir(MlirType type);
MlirType onnx_elem_to_mlir(MlirContext ctx, onyx_elem elem);

// What an onnx_type's dims become for a `?`.
typedef const dim *(*onnx_dynamic_dim)(void *user, int64_t axis);
// From tensor, sequence, optional, map or none; false for any other type. `dynamic` NULL:
// dim_unknown.
bool onnx_type_from_mlir(onyx_arena *arena, dim_context *dims, MlirType type,
                         onnx_dynamic_dim dynamic, void *user, onnx_type *out);
// Constant dims stay, others become `?`. Null if an element type is undefined. `encoding` (may be
// null) goes on a ranked tensor.
MlirType onnx_type_to_mlir(MlirContext ctx, const onnx_type *type, MlirAttribute encoding);
// Row of onyx_schema_types that a type matches; -1 when there is none.
int onnx_schema_type_index(MlirType type);

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

extern const MlirxAttr onnx_file_attr, onnx_layout_attr;

// #onnx.file<"name", offset, bytes> : type
struct onnx_file {
  MlirStringRef name;
  uint64_t offset, bytes;
  MlirType type; // ranked static tensor
};
MlirAttribute onnx_file_get(MlirContext ctx, struct onnx_file file);
bool onnx_file_read(MlirAttribute attr, struct onnx_file *out); // false if it is no #onnx.file
// dataLayout of a tensor type's #onnx.layout encoding; empty when it has none.
MlirStringRef onnx_layout_of(MlirType type);

#endif // ONYX_DIALECTS_ONNX_ONNX_H
