//===- view_mlir.h - Views of operations, for the operators' files ------------------===//
//
// A scope holds what views of one function (or module) share: memory, dims, symbols, mapped weights
// and, while inferring, what is known of each value.
//
//===----------------------------------------------------------------------===//
#ifndef ONYX_DIALECTS_ONNX_VIEW_MLIR_H
#define ONYX_DIALECTS_ONNX_VIEW_MLIR_H

#include "dialects/onnx/onnx.h"
#include "dialects/onnx/ops/op.h"

typedef enum view_mode {
  // Facts are those of types and constants, or better ones that view_set_fact gave (shape data,
  // dims
  // over the function's symbols). Dims that nothing is known of are symbols of (value, axis).
  VIEW_INFER,
  // Every `?` is a symbol (value, axis); every element of a small integer or bool operand that is
  // no
  // constant is a symbol (value, element): code can compute both.
  VIEW_CODE,
  // For the verifier: as VIEW_INFER, but no file is opened.
  VIEW_VERIFY
} view_mode;

typedef struct view_scope view_scope;

// root: any op inside the module. weights_root: folder of #onnx.file names; empty: the module's
// onnx.weights_root, else the working directory. Destroy frees all views, facts and mappings.
view_scope *view_scope_create(MlirOperation root, view_mode mode, MlirStringRef weights_root);
void view_scope_destroy(view_scope *scope);
onyx_arena *view_scope_arena(view_scope *scope);
dim_context *view_scope_dims(view_scope *scope);
// Constants that have no bytes in memory form (splats, packed 2- and 4-bit files) are expanded up
// to this many elements; default 65536.
void view_scope_set_expand(view_scope *scope, int64_t max_elements);
// Whether #onnx.file constants of any size are mapped, so that views show their data. Default: only
// those of at most ONYX_MAX_SHAPE_DATA elements, which may decide shapes.
void view_scope_map_files(view_scope *scope, bool all);
// Whether a constant could not be read so far; the error has been emitted.
bool view_scope_failed(const view_scope *scope);

// A view of op, which onnx_schema_of knows; lives as long as the scope. NULL after an emitted error
// (an attribute or type that the verifier would have refused).
op_view *view_from_op(view_scope *scope, MlirOperation op);
// Shapes of op's results by its shape function, one entry a result (in the scope's memory), each
// met with the result's type as it stands: a dim that the type knows is a constant, a rank that
// only the type knows is taken from there. NULL after an emitted error, also where the two
// contradict.
shape_result *view_infer(view_scope *scope, MlirOperation op, op_view *v);
// op_def->verify. Emits the error.
MlirLogicalResult view_verify(view_scope *scope, MlirOperation op, op_view *v);
// v->error at op, as onnx_error has it; returns failure.
MlirLogicalResult view_emit_error(MlirOperation op, const op_view *v);

// What a DIM_SYM stands for.
typedef struct view_symbol {
  MlirValue value;
  bool element;  // element `index` of value in row-major order (an integer or bool tensor), as i64
  int64_t index; // else: the size of axis `index`
  const char *name; // dim_params name, or NULL
} view_symbol;
// False for a symbol that this scope did not make.
bool view_symbol_get(const view_scope *scope, int64_t symbol, view_symbol *out);
const dim *view_symbol_dim(view_scope *scope, MlirValue value, int64_t axis);
const dim *view_symbol_element(view_scope *scope, MlirValue value, int64_t element);
// Name of a symbol for dim_text (user: the scope); NULL when it has none.
const char *view_symbol_name(int64_t symbol, void *scope);
// Makes all symbols that are named alike (onnx.dim_params of function arguments) one symbol.
// Called before any view is made.
void view_scope_name_arguments(view_scope *scope, MlirOperation function);

// Facts. An operand as views show it, made from the value's type and defining constant on first
// use.
const onnx_operand *view_fact(view_scope *scope, MlirValue value);
void view_set_fact(view_scope *scope, MlirValue value, const onnx_operand *fact);
// Any fact at all that was set or made?
bool view_has_fact(const view_scope *scope, MlirValue value);

// Lets the views of a VIEW_CODE scope use what a VIEW_INFER scope found about the same IR (by
// infer_function of passes/onnx/infer.h): dims of one op's operands that are equal there are one
// symbol here, so that no code compares them. `known` has to outlive `code`; NULL ends it.
void view_scope_use(view_scope *code, view_scope *known);

// Constant data of an elements attribute (dense, splat, #onnx.file, sparse is refused) as an
// operand: type, data or strings, values if it is small and integer. False after an error at `op`
// (a file that is missing, too short or not the listed one). data stays NULL for what is too large
// to expand.
bool view_constant(view_scope *scope, MlirOperation op, MlirAttribute attr, onnx_operand *out);

// Memory form (view.h) to an inline elements attribute of `type` (static shape). Strings: NULL.
MlirAttribute view_dense(MlirType type, const void *data);

#endif // ONYX_DIALECTS_ONNX_VIEW_MLIR_H
