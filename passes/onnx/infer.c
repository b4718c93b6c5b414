// The forward walk behind shape-inference, constant folding and the dimension analysis.
#include "passes/onnx/infer.h"

#include <stdlib.h>

static bool failed(MlirLogicalResult r) {
  return mlirLogicalResultIsFailure(r);
}
static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static MlirLogicalResult walk_block(view_scope *s, MlirBlock block);

//===----------------------------------------------------------------------===//
// Facts of block arguments
//===----------------------------------------------------------------------===//

static MlirBlock body_of(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

// `incoming`, with what the argument's type as written adds to it.
static void enter_argument(view_scope *s, MlirValue argument, const onnx_operand *incoming) {
  onnx_operand fact = *incoming;
  onnx_type written;
  onyx_arena *arena = view_scope_arena(s);
  fact.data = NULL; // a constant outside is no constant of the body's own
  fact.strings = NULL;
  if (!onnx_type_from_mlir(arena, view_scope_dims(s), mlirValueGetType(argument), NULL, NULL,
                           &written))
    return;
  onnx_type *t = &fact.type;
  if (t->kind == ONYX_TYPE_TENSOR && written.kind == ONYX_TYPE_TENSOR && written.rank >= 0) {
    if (t->rank < 0) {
      fact = *view_fact(s, argument);
    } else if (t->rank == written.rank) {
      const dim **dims = ONYX_NEW_ARRAY(arena, const dim *, t->rank);
      for (int i = 0; i < t->rank; i++)
        dims[i] = t->dims[i]->op != DIM_CONST && written.dims[i]->op == DIM_CONST ? written.dims[i]
                                                                                  : t->dims[i];
      t->dims = dims;
    }
  }
  view_set_fact(s, argument, &fact);
}

// What a loop's next round takes in, joined with what this round took in. What differs becomes an
// unknown of its own, which stands for any value: each dim changes once.
typedef struct widening {
  view_scope *scope;
  unsigned first_id; // unknowns from here on were made by widening
  bool changed;
} widening;

static const dim *join_dim(widening *w, const dim *now, const dim *next, bool extent) {
  if (now == next || (now->op == DIM_UNKNOWN && now->id >= w->first_id))
    return now;
  w->changed = true;
  dim_context *dims = view_scope_dims(w->scope);
  return extent ? dim_unknown_extent(dims) : dim_unknown(dims);
}

static onnx_type join_type(widening *w, const onnx_type *now, const onnx_type *next) {
  onnx_type joined = *now;
  if ((now->kind == ONYX_TYPE_SEQ || now->kind == ONYX_TYPE_OPT) && now->of && next->of) {
    onnx_type *of = ONYX_NEW(view_scope_arena(w->scope), onnx_type);
    *of = join_type(w, now->of, next->of);
    joined.of = of;
  }
  if (now->kind != ONYX_TYPE_TENSOR || now->rank < 0)
    return joined;
  if (now->rank != next->rank) {
    joined.rank = -1;
    joined.dims = NULL;
    w->changed = true;
    return joined;
  }
  joined.dims = ONYX_NEW_ARRAY(view_scope_arena(w->scope), const dim *, now->rank);
  for (int i = 0; i < now->rank; i++)
    joined.dims[i] = join_dim(w, now->dims[i], next->dims[i], true);
  return joined;
}

static void widen(widening *w, MlirValue argument, const onnx_operand *next) {
  const onnx_operand *now = view_fact(w->scope, argument);
  onnx_operand fact = {.type = join_type(w, &now->type, &next->type)};
  if (now->values && fact.type.rank >= 0) {
    bool known = next->values && next->num_values == now->num_values;
    fact.num_values = now->num_values;
    fact.values = ONYX_NEW_ARRAY(view_scope_arena(w->scope), const dim *, now->num_values);
    for (int64_t i = 0; i < now->num_values; i++)
      fact.values[i] = join_dim(w, now->values[i], known ? next->values[i] : NULL, false);
  }
  view_set_fact(w->scope, argument, &fact);
}

//===----------------------------------------------------------------------===//
// Operators with regions
//===----------------------------------------------------------------------===//

// Walks the body until the carried arguments [first, first + n) take in what `yields` from
// `first_yield` on give out.
static MlirLogicalResult walk_loop(view_scope *s, MlirBlock body, intptr_t first, intptr_t n,
                                   intptr_t first_yield) {
  widening w = {.scope = s, .first_id = dim_count(view_scope_dims(s))};
  do {
    if (failed(walk_block(s, body)))
      return mlirLogicalResultFailure();
    MlirOperation yield = mlirBlockGetTerminator(body);
    w.changed = false;
    for (intptr_t i = 0; i < n; i++)
      widen(&w, mlirBlockGetArgument(body, first + i),
            view_fact(s, mlirOperationGetOperand(yield, first_yield + i)));
  } while (w.changed);
  return mlirLogicalResultSuccess();
}

// Loop (ONNX 25): arguments are the iteration number, the condition, and the carried values.
// A condition that comes in true and is handed on stays true: the loop runs M times.
static void enter_condition(view_scope *s, MlirOperation op, MlirValue argument) {
  onnx_operand fact = *view_fact(s, argument);
  const onnx_operand *given = view_fact(s, mlirOperationGetOperand(op, 1));
  fact.num_values = 1;
  fact.values = ONYX_NEW_ARRAY(view_scope_arena(s), const dim *, 1);
  fact.values[0] = given->type.kind == ONYX_TYPE_NONE ? dim_const(view_scope_dims(s), 1)
                   : given->num_values == 1 && given->values && given->values[0]
                       ? given->values[0]
                       : dim_unknown(view_scope_dims(s));
  view_set_fact(s, argument, &fact);
}

static MlirLogicalResult walk_loop_op(view_scope *s, MlirOperation op) {
  MlirBlock body = body_of(op, 0);
  enter_condition(s, op, mlirBlockGetArgument(body, 1));
  intptr_t carried = mlirOperationGetNumOperands(op) - 2;
  for (intptr_t i = 0; i < carried; i++)
    enter_argument(s, mlirBlockGetArgument(body, 2 + i),
                   view_fact(s, mlirOperationGetOperand(op, 2 + i)));
  return walk_loop(s, body, 1, carried + 1, 0);
}

static int64_t scan_axis(const op_view *v, int64_t k, int rank) {
  const onnx_attr *axes = view_attr(v, "scan_input_axes");
  int64_t axis = k < axes->n ? axes->ints[k] : 0;
  return axis < 0 ? axis + rank : axis;
}

// The argument for scan input k: a slice of the operand without the scan axis.
static void enter_slice(view_scope *s, const op_view *v, MlirValue argument,
                        const onnx_operand *operand, int64_t k) {
  onnx_operand slice = {.type = operand->type};
  int rank = operand->type.rank;
  slice.type.dims = NULL;
  slice.type.rank = -1;
  int64_t axis = scan_axis(v, k, rank);
  if (rank > 0 && axis >= 0 && axis < rank) {
    slice.type.rank = rank - 1;
    slice.type.dims = ONYX_NEW_ARRAY(view_scope_arena(s), const dim *, rank);
    for (int i = 0, n = 0; i < rank; i++)
      if (i != axis)
        slice.type.dims[n++] = operand->type.dims[i];
  }
  enter_argument(s, argument, &slice);
}

// Scan (ONNX 25): N carried values, then num_scan_inputs tensors of which the body sees slices.
static MlirLogicalResult walk_scan(view_scope *s, MlirOperation op) {
  MlirBlock body = body_of(op, 0);
  op_view *v = view_from_op(s, op);
  if (!v)
    return mlirLogicalResultFailure();
  intptr_t n = mlirOperationGetNumOperands(op);
  int64_t scanned = view_int(v, "num_scan_inputs");
  if (scanned < 0 || scanned > n)
    return onnx_error(op, "attribute 'num_scan_inputs': expected 0 to %d, found %lld", (int)n,
                      (long long)scanned);
  intptr_t carried = n - (intptr_t)scanned;
  if (mlirOperationGetNumResults(op) < carried)
    return onnx_error(op, "expected at least %d results, one for each state variable, found %d",
                      (int)carried, (int)mlirOperationGetNumResults(op));
  for (intptr_t i = 0; i < n; i++) {
    MlirValue argument = mlirBlockGetArgument(body, i);
    const onnx_operand *operand = view_fact(s, mlirOperationGetOperand(op, i));
    if (i < carried)
      enter_argument(s, argument, operand);
    else
      enter_slice(s, v, argument, operand, i - carried);
  }
  return walk_loop(s, body, 0, carried, 0);
}

// SequenceMap (ONNX 17): the body sees a member of each sequence, tensors as they are.
static MlirLogicalResult walk_sequence_map(view_scope *s, MlirOperation op) {
  MlirBlock body = body_of(op, 0);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    const onnx_operand *operand = view_fact(s, mlirOperationGetOperand(op, i));
    onnx_operand member = *operand;
    if (operand->type.kind == ONYX_TYPE_SEQ && operand->type.of)
      member = (onnx_operand){.type = *operand->type.of};
    enter_argument(s, mlirBlockGetArgument(body, i), &member);
  }
  return walk_block(s, body);
}

// The branch of an If whose condition is known to choose the other. What it gives says
// nothing and is left as it is.
static bool never_runs(view_scope *s, MlirOperation op, intptr_t region) {
  if (!onnx_is(op, "If"))
    return false;
  const onnx_operand *condition = view_fact(s, mlirOperationGetOperand(op, 0));
  int64_t value;
  return condition->values && condition->num_values == 1 &&
         dim_is_const(condition->values[0], &value) && (value != 0) != (region == 0);
}

static MlirLogicalResult walk_regions(view_scope *s, MlirOperation op) {
  if (onnx_is(op, "Loop"))
    return walk_loop_op(s, op);
  if (onnx_is(op, "Scan"))
    return walk_scan(s, op);
  if (onnx_is(op, "SequenceMap"))
    return walk_sequence_map(s, op);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    if (!never_runs(s, op, r) && failed(walk_block(s, body_of(op, r))))
      return mlirLogicalResultFailure();
  return mlirLogicalResultSuccess();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static MlirLogicalResult walk_operator(view_scope *s, MlirOperation op) {
  if (mlirOperationGetNumRegions(op) && failed(walk_regions(s, op)))
    return mlirLogicalResultFailure();
  op_view *v = view_from_op(s, op);
  if (!v || failed(view_verify(s, op, v)))
    return mlirLogicalResultFailure();
  shape_result *results = view_infer(s, op, v);
  if (!results)
    return mlirLogicalResultFailure();
  for (int r = 0; r < v->num_results; r++) {
    onnx_operand fact = {
        .type = results[r].type, .values = results[r].values, .num_values = results[r].num_values};
    view_set_fact(s, mlirOperationGetResult(op, r), &fact);
  }
  return mlirLogicalResultSuccess();
}

// onnx.Fused: the body is walked with the operands' facts, the results are what it yields.
static MlirLogicalResult walk_fused(view_scope *s, MlirOperation op) {
  MlirBlock body = body_of(op, 0);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    enter_argument(s, mlirBlockGetArgument(body, i), view_fact(s, mlirOperationGetOperand(op, i)));
  if (failed(walk_block(s, body)))
    return mlirLogicalResultFailure();
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    view_set_fact(s, mlirOperationGetResult(op, i),
                  view_fact(s, mlirOperationGetOperand(yield, i)));
  return mlirLogicalResultSuccess();
}

// onnx.Dim: shape data, one axis of the operand.
static void walk_dim(view_scope *s, MlirOperation op) {
  const onnx_operand *x = view_fact(s, mlirOperationGetOperand(op, 0));
  MlirAttribute axis = mlirOperationGetAttributeByName(op, str("axis"));
  int64_t k = mlirTypeIsAInteger(mlirAttributeGetType(axis)) &&
                      mlirIntegerTypeIsSigned(mlirAttributeGetType(axis))
                  ? mlirIntegerAttrGetValueSInt(axis)
                  : mlirIntegerAttrGetValueInt(axis);
  if (x->type.kind != ONYX_TYPE_TENSOR || k >= x->type.rank)
    return;
  onnx_operand fact = *view_fact(s, mlirOperationGetResult(op, 0));
  fact.values = ONYX_NEW_ARRAY(view_scope_arena(s), const dim *, 1);
  fact.values[0] = x->type.dims[k];
  fact.num_values = 1;
  view_set_fact(s, mlirOperationGetResult(op, 0), &fact);
}

static MlirLogicalResult walk_op(view_scope *s, MlirOperation op) {
  if (onnx_is(op, "Constant")) {
    view_fact(s, mlirOperationGetResult(op, 0));
    return view_scope_failed(s) ? mlirLogicalResultFailure() : mlirLogicalResultSuccess();
  }
  if (onnx_schema_of(op))
    return walk_operator(s, op);
  if (mlirxIsA(op, &onnx_fused))
    return walk_fused(s, op);
  if (mlirxIsA(op, &onnx_dim))
    walk_dim(s, op);
  else if (mlirxIsA(op, &onnx_layout_transform))
    view_set_fact(s, mlirOperationGetResult(op, 0), view_fact(s, mlirOperationGetOperand(op, 0)));
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult walk_block(view_scope *s, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (failed(walk_op(s, op)))
      return mlirLogicalResultFailure();
  return mlirLogicalResultSuccess();
}

MlirLogicalResult infer_function(view_scope *s, MlirOperation function) {
  MlirBlock entry = body_of(function, 0);
  if (mlirBlockIsNull(entry))
    return mlirLogicalResultSuccess();
  view_scope_name_arguments(s, function);
  for (; !mlirBlockIsNull(entry); entry = mlirBlockGetNextInRegion(entry))
    if (failed(walk_block(s, entry)))
      return mlirLogicalResultFailure();
  return mlirLogicalResultSuccess();
}

//===----------------------------------------------------------------------===//
// Writing types
//===----------------------------------------------------------------------===//

static void write_value(view_scope *s, MlirValue value, bool *changed) {
  if (!view_has_fact(s, value))
    return;
  MlirType old = mlirValueGetType(value);
  MlirAttribute encoding = {0};
  if (mlirTypeIsARankedTensor(old))
    encoding = mlirRankedTensorTypeGetEncoding(old);
  const onnx_operand *fact = view_fact(s, value);
  if (fact->type.kind == ONYX_TYPE_NONE)
    return;
  MlirType type = onnx_type_to_mlir(mlirTypeGetContext(old), &fact->type, encoding);
  // A map's text can say more than its fact.
  if (mlirTypeIsNull(type) || mlirTypeEqual(type, old) || fact->type.kind == ONYX_TYPE_MAP)
    return;
  mlirValueSetType(value, type);
  *changed = true;
}

static void write_block(view_scope *s, MlirBlock block, bool arguments, bool *changed) {
  for (intptr_t i = 0; arguments && i < mlirBlockGetNumArguments(block); i++)
    write_value(s, mlirBlockGetArgument(block, i), changed);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (onnx_is_onnx(op))
      for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
        write_value(s, mlirOperationGetResult(op, i), changed);
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
      for (MlirBlock b = body_of(op, r); !mlirBlockIsNull(b); b = mlirBlockGetNextInRegion(b))
        write_block(s, b, onnx_is_onnx(op), changed);
  }
}

// Is `a` a type that `b` could have been written for: no static dim of one is another of the other?
static bool agree(MlirType a, MlirType b) {
  if (!mlirTypeIsARankedTensor(a) || !mlirTypeIsARankedTensor(b))
    return true;
  if (mlirShapedTypeGetRank(a) != mlirShapedTypeGetRank(b))
    return false;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(a); i++)
    if (!mlirShapedTypeIsDynamicDim(a, i) && !mlirShapedTypeIsDynamicDim(b, i) &&
        mlirShapedTypeGetDimSize(a, i) != mlirShapedTypeGetDimSize(b, i))
      return false;
  return true;
}

static MlirOperation return_of(MlirOperation function) {
  MlirBlock entry = body_of(function, 0);
  MlirOperation end = mlirBlockIsNull(entry) ? (MlirOperation){0} : mlirBlockGetTerminator(entry);
  if (mlirOperationIsNull(end))
    return end;
  bool plain = mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(end)), str("func.return"));
  return plain || mlirxIsA(end, &onnx_return) ? end : (MlirOperation){0};
}

static MlirLogicalResult write_function_type(MlirOperation function, bool *changed) {
  MlirOperation end = return_of(function);
  MlirAttribute attr = mlirOperationGetAttributeByName(function, str("function_type"));
  if (mlirOperationIsNull(end) || mlirAttributeIsNull(attr))
    return mlirLogicalResultSuccess();
  MlirType old = mlirTypeAttrGetValue(attr);
  intptr_t n = mlirFunctionTypeGetNumResults(old), inputs = mlirFunctionTypeGetNumInputs(old);
  if (n != mlirOperationGetNumOperands(end))
    return mlirLogicalResultSuccess();
  MlirType *types = calloc((size_t)(n + inputs + 1), sizeof *types);
  if (!types)
    return mlirxEmitError(function, "out of memory");
  MlirLogicalResult ok = mlirLogicalResultSuccess();
  for (intptr_t i = 0; i < inputs; i++)
    types[i] = mlirFunctionTypeGetInput(old, i);
  for (intptr_t i = 0; i < n; i++) {
    types[inputs + i] = mlirValueGetType(mlirOperationGetOperand(end, i));
    if (!agree(types[inputs + i], mlirFunctionTypeGetResult(old, i)))
      ok = mlirxEmitError(
          end, "operand %d: its inferred shape contradicts the function's result type", (int)i);
  }
  MlirType type = mlirFunctionTypeGet(mlirTypeGetContext(old), inputs, types, n, types + inputs);
  free(types);
  if (!failed(ok) && !mlirTypeEqual(type, old)) {
    mlirOperationSetAttributeByName(function, str("function_type"), mlirTypeAttrGet(type));
    *changed = true;
  }
  return ok;
}

MlirLogicalResult infer_write(view_scope *s, MlirOperation function, bool *changed) {
  *changed = false;
  MlirBlock block = body_of(function, 0);
  if (mlirBlockIsNull(block))
    return mlirLogicalResultSuccess();
  for (; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
    write_block(s, block, false, changed);
  return write_function_type(function, changed);
}

MlirLogicalResult for_each_function(MlirOperation op,
                                    MlirLogicalResult (*visit)(MlirOperation, void *), void *user) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (mlirStringRefEqual(name, str("func.func")))
    return mlirRegionIsNull(mlirOperationGetFirstRegion(op)) || mlirBlockIsNull(body_of(op, 0))
               ? mlirLogicalResultSuccess()
               : visit(op, user);
  if (!mlirStringRefEqual(name, str("builtin.module")))
    return mlirLogicalResultSuccess();
  MlirBlock block = body_of(op, 0);
  for (MlirOperation inner = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(inner);) {
    MlirOperation next = mlirOperationGetNextInBlock(inner);
    if (failed(for_each_function(inner, visit, user)))
      return mlirLogicalResultFailure();
    inner = next;
  }
  return mlirLogicalResultSuccess();
}
