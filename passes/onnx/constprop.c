// constprop-onnx: operators over constants become constants, by evaluating their comprehension.
//
// Shape data counts as constant wherever inference knows it. What would be larger than max-elements
// is left alone: it is computed once when the model is loaded, and the text stays small.
#include "passes/onnx/infer.h"
#include "passes/onnx/passes.h"
#include "passes/onnx/rewrite.h"

#include "dialects/onnx/ops/comprehension.h"
#include "dialects/onnx/ops/convert.h"

enum option { OPT_WEIGHTS_ROOT, OPT_MAX_ELEMENTS, OPT_MAX_STEPS };

struct folding {
  MlirxPass pass;
  view_scope *scope;
  int64_t max_elements, max_steps;
};

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

// Number of elements of a static type; -1 when it is not static or larger than max.
static int64_t static_elements(const onnx_type *t, int64_t max) {
  if (t->kind != ONYX_TYPE_TENSOR || t->rank < 0)
    return -1;
  int64_t n = 1, size;
  for (int i = 0; i < t->rank; i++) {
    if (!dim_is_const(t->dims[i], &size) || __builtin_mul_overflow(n, size, &n))
      return -1;
  }
  return n <= max ? n : -1;
}

// Bytes of a result whose elements inference knows; NULL when it does not.
static const void *known_elements(struct folding *f, const onnx_operand *fact) {
  int64_t n = static_elements(&fact->type, f->max_elements), value;
  onyx_elem elem = fact->type.elem;
  if (n < 0 || !fact->values || fact->num_values != n ||
      !(onyx_elem_is_int(elem) || elem == ONYX_BOOL))
    return NULL;
  void *data =
      onyx_arena_alloc(view_scope_arena(f->scope), (size_t)(n + 1) * (size_t)onyx_elem_bytes(elem));
  for (int64_t i = 0; i < n; i++) {
    // A value that the type does not hold has wrapped somewhere on its way: run time knows how.
    if (!fact->values[i] || !dim_is_const(fact->values[i], &value) ||
        onyx_int_wrap(elem, value) != value)
      return NULL;
    onyx_element_from_int(elem, data, i, value);
  }
  return data;
}

// Replaces result r by a constant before op.
static void replace_by_constant(struct folding *f, MlirOperation op, intptr_t r,
                                const onnx_type *type, const void *data) {
  MlirContext ctx = mlirOperationGetContext(op);
  MlirValue old = mlirOperationGetResult(op, r);
  MlirType tensor = onnx_type_to_mlir(ctx, type, (MlirAttribute){0});
  MlirOperationState state =
      mlirOperationStateGet(str("onnx.Constant"), mlirOperationGetLocation(op));
  MlirNamedAttribute value =
      mlirNamedAttributeGet(mlirIdentifierGet(ctx, str("value")), view_dense(tensor, data));
  mlirOperationStateAddAttributes(&state, 1, &value);
  MlirType seen = mlirValueGetType(old);
  mlirOperationStateAddResults(&state, 1, &seen);
  MlirOperation constant = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, constant);
  mlirValueReplaceAllUsesOfWith(old, mlirOperationGetResult(constant, 0));
  mlirxReportHit(f->pass, onnx_schema_of(op)->name);
}

static bool has_uses(MlirValue v) {
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(v));
}

// Results that are shape data.
static void fold_known(struct folding *f, MlirOperation op) {
  for (intptr_t r = 0; r < mlirOperationGetNumResults(op); r++) {
    MlirValue result = mlirOperationGetResult(op, r);
    if (!has_uses(result))
      continue;
    const onnx_operand *fact = view_fact(f->scope, result);
    const void *data = known_elements(f, fact);
    if (data)
      replace_by_constant(f, op, r, &fact->type, data);
  }
}

static bool constant_operands(const op_view *v) {
  for (int i = 0; i < v->num_operands; i++)
    if (v->operands[i].type.kind != ONYX_TYPE_NONE && !v->operands[i].data)
      return false;
  return true;
}

static bool small_results(struct folding *f, const op_view *v, const shape_result *results) {
  for (int r = 0; r < v->num_results; r++)
    if (v->wanted[r] && (static_elements(&results[r].type, f->max_elements) < 0 ||
                         onyx_elem_bits(results[r].type.elem) == 0))
      return false;
  return true;
}

static bool evaluate(struct folding *f, op_view *v, const shape_result *results, void **data) {
  comprehension c;
  comp_init(&c, v, results);
  if (!v->def->comprehend(v, results, &c) || v->error)
    return false;
  if (c.alias_of >= 0) {
    data[0] = (void *)(uintptr_t)v->operands[c.alias_of].data;
    return true;
  }
  return comp_evaluate(&c, view_scope_arena(f->scope), f->max_steps, data);
}

static void fold_by_evaluation(struct folding *f, MlirOperation op, op_view *v) {
  shape_result *results = ONYX_NEW_ARRAY(view_scope_arena(f->scope), shape_result, v->num_results);
  if (!op_infer(v, results) || !small_results(f, v, results))
    return;
  void **data = ONYX_NEW_ARRAY(view_scope_arena(f->scope), void *, v->num_results);
  if (!evaluate(f, v, results, data))
    return;
  for (int r = 0; r < v->num_results; r++)
    if (v->wanted[r] && data[r])
      replace_by_constant(f, op, r, &results[r].type, data[r]);
}

// Over constants the comprehension alone decides: what it cannot do (a check that fails, too many
// steps) stays, and the compiled model will say so. Else what inference knows counts.
static void fold_operator(struct folding *f, MlirOperation op) {
  op_view *v = view_from_op(f->scope, op);
  if (!v)
    return;
  if (v->def && v->def->comprehend && constant_operands(v))
    fold_by_evaluation(f, op, v);
  else
    fold_known(f, op);
}

static void fold_block(struct folding *f, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
      for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
           !mlirBlockIsNull(b); b = mlirBlockGetNextInRegion(b))
        fold_block(f, b);
    if (onnx_schema_of(op) && !onnx_is(op, "Constant") && mlirOperationGetNumRegions(op) == 0 &&
        mlirxIsPure(op))
      fold_operator(f, op);
    op = next;
  }
}

static MlirLogicalResult propagate(MlirOperation function, void *user) {
  MlirxPass pass = *(MlirxPass *)user;
  view_scope *scope =
      view_scope_create(function, VIEW_INFER, mlirxPassGetString(pass, OPT_WEIGHTS_ROOT));
  view_scope_map_files(scope, true);
  struct folding f = {pass, scope, mlirxPassGetInt(pass, OPT_MAX_ELEMENTS),
                      mlirxPassGetInt(pass, OPT_MAX_STEPS)};
  bool changed;
  MlirLogicalResult ok = infer_function(scope, function);
  // A constant has the type that its users see: the inferred one.
  if (mlirLogicalResultIsSuccess(ok))
    ok = infer_write(scope, function, &changed);
  if (mlirLogicalResultIsSuccess(ok)) {
    for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
         !mlirBlockIsNull(b); b = mlirBlockGetNextInRegion(b))
      fold_block(&f, b);
    erase_dead_ops(function);
  }
  view_scope_destroy(scope);
  return ok;
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  return for_each_function(op, propagate, &pass);
}

static const MlirxOption options[] = {
    [OPT_WEIGHTS_ROOT] = {"weights-root", MLIRX_OPT_STRING, NULL, "folder of #onnx.file names"},
    [OPT_MAX_ELEMENTS] = {"max-elements", MLIRX_OPT_INT, "1024",
                          "largest result that becomes a constant"},
    [OPT_MAX_STEPS] = {"max-steps", MLIRX_OPT_INT, "4000000",
                       "loop iterations that folding one operator may take"},
    {0}};
const MlirxPassDescriptor onnx_constprop_pass = {.argument = "constprop-onnx",
                                                 .description =
                                                     "Fold ONNX operators over constants",
                                                 .options = options,
                                                 .report = true,
                                                 .run = run};
