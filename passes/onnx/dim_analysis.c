// onnx-dim-analysis and remove-same-onnx-dim: which `?` are equal, by the facts of the forward
// walk.
#include "dialects/onnx/ptr_map.h"
#include "passes/onnx/infer.h"
#include "passes/onnx/passes.h"
#include "passes/onnx/rewrite.h"

#include <stdint.h>

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static MlirNamedAttribute named(MlirContext ctx, const char *name, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(ctx, str(name)), value);
}

static MlirAttribute si64(MlirContext ctx, int64_t value) {
  return mlirIntegerAttrGet(mlirIntegerTypeSignedGet(ctx, 64), value);
}

// --- onnx-dim-analysis: an onnx.DimGroup behind each value for each of its `?`. Equal group_id:
// equal at run time. `relation` is the dim in terms of the function's symbols, where it is more
// than one of them.

struct groups {
  view_scope *scope;
  ptr_map ids; // dim -> number + 1
  intptr_t count;
};

static int64_t group_of(struct groups *g, const dim *d) {
  intptr_t id = (intptr_t)ptr_map_get(&g->ids, d);
  if (!id) {
    id = ++g->count;
    ptr_map_set(&g->ids, d, (void *)id);
  }
  return id - 1;
}

static void show_value(struct groups *g, MlirValue v, MlirBlock block, MlirOperation before,
                       MlirLocation loc) {
  const onnx_operand *fact = mlirTypeIsATensor(mlirValueGetType(v)) ? view_fact(g->scope, v) : NULL;
  if (!fact || fact->type.kind != ONYX_TYPE_TENSOR)
    return;
  MlirContext ctx = mlirTypeGetContext(mlirValueGetType(v));
  for (int i = 0; i < fact->type.rank; i++) {
    const dim *d = fact->type.dims[i];
    if (d->op == DIM_CONST)
      continue;
    MlirNamedAttribute attrs[3] = {named(ctx, "axis", si64(ctx, i)),
                                   named(ctx, "group_id", si64(ctx, group_of(g, d)))};
    intptr_t n = 2;
    if (d->op != DIM_SYM && d->op != DIM_UNKNOWN && !dim_has_unknown(d))
      attrs[n++] = named(ctx, "relation",
                         mlirStringAttrGet(ctx, str(dim_text(view_scope_arena(g->scope), d,
                                                             view_symbol_name, g->scope))));
    MlirOperationState state = mlirOperationStateGet(str("onnx.DimGroup"), loc);
    mlirOperationStateAddOperands(&state, 1, &v);
    mlirOperationStateAddAttributes(&state, n, attrs);
    MlirOperation op = mlirOperationCreate(&state);
    if (mlirOperationIsNull(before))
      mlirBlockAppendOwnedOperation(block, op);
    else
      mlirBlockInsertOwnedOperationBefore(block, before, op);
  }
}

static void show_block(struct groups *g, MlirBlock block) {
  MlirOperation first = mlirBlockGetFirstOperation(block);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++)
    if (!mlirOperationIsNull(first))
      show_value(g, mlirBlockGetArgument(block, i), block, first, mlirOperationGetLocation(first));
  for (MlirOperation op = first, next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
      for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
           !mlirBlockIsNull(b); b = mlirBlockGetNextInRegion(b))
        show_block(g, b);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
      if (!onnx_is(op, "Constant"))
        show_value(g, mlirOperationGetResult(op, i), block, next, mlirOperationGetLocation(op));
  }
}

static MlirLogicalResult analyse(MlirOperation function, void *user) {
  struct groups g = {.scope = view_scope_create(function, VIEW_INFER, *(MlirStringRef *)user)};
  MlirLogicalResult ok = infer_function(g.scope, function);
  if (mlirLogicalResultIsSuccess(ok))
    show_block(&g, mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)));
  ptr_map_free(&g.ids);
  view_scope_destroy(g.scope);
  return ok;
}

static MlirLogicalResult run_analysis(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  MlirStringRef root = mlirxPassGetString(pass, 0);
  return for_each_function(op, analyse, &root);
}

// --- remove-same-onnx-dim: of several onnx.Dim that give one number the first stays

struct same {
  view_scope *scope;
  MlirxPass pass;
  MlirStringRef root;
  ptr_map first; // dim -> the onnx.Dim that gave it first
};

static MlirLogicalResult join_dim_op(MlirOperation op, void *user) {
  struct same *s = user;
  if (!mlirxIsA(op, &onnx_dim))
    return mlirLogicalResultSuccess();
  MlirValue v = mlirOperationGetResult(op, 0);
  const onnx_operand *fact = view_fact(s->scope, v);
  if (!fact || !fact->values || fact->num_values != 1)
    return mlirLogicalResultSuccess();
  MlirOperation first = {ptr_map_get(&s->first, fact->values[0])};
  if (mlirOperationIsNull(first)) {
    ptr_map_set(&s->first, fact->values[0], op.ptr);
    return mlirLogicalResultSuccess();
  }
  MlirValue kept = mlirOperationGetResult(first, 0);
  if (mlirxProperlyDominates(kept, op) &&
      mlirTypeEqual(mlirValueGetType(kept), mlirValueGetType(v))) {
    mlirValueReplaceAllUsesOfWith(v, kept);
    mlirxReportHit(s->pass, "same-dim");
  }
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult join(MlirOperation function, void *user) {
  struct same *s = user;
  s->scope = view_scope_create(function, VIEW_INFER, s->root);
  s->first = (ptr_map){0};
  MlirLogicalResult ok = infer_function(s->scope, function);
  if (mlirLogicalResultIsSuccess(ok))
    ok = walk_ops(function, join_dim_op, s);
  ptr_map_free(&s->first);
  view_scope_destroy(s->scope);
  erase_dead_ops(function);
  return ok;
}

static MlirLogicalResult run_same(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  struct same s = {.pass = pass, .root = mlirxPassGetString(pass, 0)};
  return for_each_function(op, join, &s);
}

static const MlirxOption options[] = {
    {"weights-root", MLIRX_OPT_STRING, NULL,
     "folder of #onnx.file names (else onnx.weights_root, else the working directory)"},
    {0}};

const MlirxPassDescriptor onnx_dim_analysis_pass = {
    .argument = "onnx-dim-analysis",
    .description = "Show which dynamic dims are equal, as onnx.DimGroup",
    .options = options,
    .run = run_analysis};

const MlirxPassDescriptor onnx_remove_same_dim_pass = {
    .argument = "remove-same-onnx-dim",
    .description = "Replace onnx.Dim by an earlier one that gives the same number",
    .options = options,
    .report = true,
    .run = run_same};
