//===- lower_plan.c - What each op becomes, before anything is emitted --------------===//
#include "passes/convert/lower.h"
#include "passes/onnx/infer.h"
#include "passes/onnx/passes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *lower_alloc(struct lower *l, size_t size) {
  return onyx_arena_alloc(l->arena, size);
}

void lower_error(struct lower *l, MlirOperation op, const char *fmt, ...) {
  char text[1024];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  onnx_error(op, "%s", text);
  l->failed = true;
}

struct op_plan *lower_plan_of(struct lower *l, MlirOperation op) {
  return ptr_map_get(&l->plans, op.ptr);
}

static struct op_plan *add_plan(struct lower *l, MlirOperation op, enum lower_kind kind) {
  struct op_plan *p = lower_alloc(l, sizeof *p);
  *p = (struct op_plan){.op = op, .kind = kind, .node = l->num_plans};
  intptr_t n = mlirOperationGetNumResults(op);
  p->offsets = lower_alloc(l, sizeof(int64_t) * (size_t)(n + 1));
  for (intptr_t i = 0; i < n; ++i)
    p->offsets[i] = -1;
  if (l->num_plans == l->cap_plans) {
    l->cap_plans = l->cap_plans ? l->cap_plans * 2 : 64;
    l->list = realloc(l->list, sizeof(*l->list) * (size_t)l->cap_plans);
  }
  l->list[l->num_plans++] = p;
  ptr_map_set(&l->plans, op.ptr, p);
  return p;
}

MlirType lower_type(struct lower *l, MlirType tensor) {
  if (!mlirTypeIsARankedTensor(tensor))
    return (MlirType){NULL};
  onyx_elem elem = onnx_elem_from_mlir(mlirShapedTypeGetElementType(tensor));
  MlirType element = elem == ONYX_ELEM_UNDEFINED ? (MlirType){NULL} : emit_type(l->ctx, (int)elem);
  int64_t shape[ONYX_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(tensor);
  if (mlirTypeIsNull(element) || rank > ONYX_MAX_RANK)
    return (MlirType){NULL};
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(tensor, i);
  return ir_memref(element, rank, shape);
}

static MlirType bytes_of(MlirContext ctx, MlirType element_tensor) {
  int64_t dynamic = ir_dynamic();
  onyx_elem elem = onnx_elem_from_mlir(mlirShapedTypeGetElementType(element_tensor));
  MlirType element = elem == ONYX_ELEM_UNDEFINED ? (MlirType){NULL} : emit_type(ctx, (int)elem);
  return mlirTypeIsNull(element) ? element : ir_memref(element, 1, &dynamic);
}

static MlirType vector_of(MlirContext ctx, MlirType scalar) {
  int64_t one = 1;
  MlirType tensor = mlirRankedTensorTypeGet(1, &one, scalar, mlirAttributeGetNull());
  return bytes_of(ctx, tensor);
}

static int map_parts(MlirContext ctx, MlirType map, MlirType *parts) {
  for (int i = 0; i < 2; ++i)
    parts[i] = vector_of(ctx, mlirTypeAttrGetValue(mlirxTypeGetParam(map, i)));
  return mlirTypeIsNull(parts[0]) || mlirTypeIsNull(parts[1]) ? 0 : 2;
}

static int sequence_parts(MlirContext ctx, MlirType of, MlirType *parts) {
  bool map = mlirxTypeIsA(of, &onnx_map_type);
  int64_t shape[] = {ir_dynamic(), map ? 2 : LOWER_TABLE_WIDTH};
  int n = 1;
  if (map)
    n = map_parts(ctx, of, parts);
  else if (mlirTypeIsATensor(of))
    parts[0] = bytes_of(ctx, of);
  else
    return 0;
  if (!n || mlirTypeIsNull(parts[0]))
    return 0;
  parts[n] = ir_memref(mlirIntegerTypeGet(ctx, 64), 2, shape);
  return n + 1;
}

int lower_parts(struct lower *l, MlirType type, MlirType parts[LOWER_MAX_PARTS]) {
  if (mlirxTypeIsA(type, &onnx_seq_type))
    return sequence_parts(l->ctx, mlirTypeAttrGetValue(mlirxTypeGetParam(type, 0)), parts);
  if (mlirxTypeIsA(type, &onnx_map_type))
    return map_parts(l->ctx, type, parts);
  if (mlirxTypeIsA(type, &onnx_opt_type)) {
    MlirType of = mlirTypeAttrGetValue(mlirxTypeGetParam(type, 0));
    parts[0] = ir_memref(mlirIntegerTypeGet(l->ctx, 1), 0, NULL);
    int n = mlirxTypeIsA(of, &onnx_opt_type) ? 0 : lower_parts(l, of, parts + 1);
    return n ? n + 1 : 0;
  }
  parts[0] = lower_type(l, type);
  return mlirTypeIsNull(parts[0]) ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

bool lower_is_constant(struct lower *l, MlirValue v) {
  if (!mlirValueIsAOpResult(v))
    return false;
  MlirOperation op = mlirOpResultGetOwner(v);
  struct op_plan *p = lower_plan_of(l, op);
  if (p && (p->hoisted || p->constant_alias))
    return true;
  return !mlirAttributeIsNull(onnx_constant_value(op));
}

static int64_t reserve(struct lower *l, int64_t bytes) {
  int64_t offset = (l->constants_bytes + 63) & ~(int64_t)63;
  l->constants_bytes = offset + (bytes > 0 ? bytes : 1);
  return offset;
}

static int64_t num_elements(MlirType type) {
  int64_t n = 1;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    n *= mlirShapedTypeGetDimSize(type, i);
  return n;
}

// A range that starts at no multiple of its element's size, or holds packed elements, is copied by
// init.
static void plan_constant(struct lower *l, MlirOperation op) {
  MlirAttribute value = onnx_constant_value(op);
  struct onnx_file file;
  if (mlirAttributeIsNull(value)) {
    lower_error(l, op, "a sparse constant is not supported");
    return;
  }
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  onyx_elem elem = mlirTypeIsAShaped(type) ? onnx_elem_from_mlir(mlirShapedTypeGetElementType(type))
                                           : ONYX_ELEM_UNDEFINED;
  if (elem == ONYX_ELEM_UNDEFINED) {
    lower_error(l, op, "a constant of this type has no lowering");
    return;
  }
  if (!onnx_file_read(value, &file))
    return;
  int64_t bytes = emit_elem_bytes(elem);
  if (onyx_elem_bits(elem) >= 8 && file.offset % (uint64_t)bytes == 0)
    return;
  struct copied_constant *c = lower_alloc(l, sizeof *c);
  *c = (struct copied_constant){op, file, elem, reserve(l, num_elements(file.type) * bytes)};
  if (l->num_copies == l->cap_copies) {
    l->cap_copies = l->cap_copies ? l->cap_copies * 2 : 16;
    l->copies = realloc(l->copies, sizeof(*l->copies) * (size_t)l->cap_copies);
  }
  l->copies[l->num_copies++] = c;
  ptr_map_set(&l->copied, op.ptr, c);
}

//===----------------------------------------------------------------------===//
// Hoisting
//===----------------------------------------------------------------------===//

static bool static_results(const struct op_plan *p) {
  for (int r = 0; r < p->view->num_results; ++r) {
    if (!p->view->wanted[r])
      continue;
    for (int i = 0; i < p->results[r].type.rank; ++i)
      if (p->results[r].type.dims[i]->op != DIM_CONST)
        return false;
  }
  return true;
}

// An alias of a constant is made where it is used. What else is made by constants goes to the init
// function if its op says so, see onnx-hoist-constants.
static void mark_hoisted(struct lower *l, struct op_plan *p) {
  bool marked = !mlirAttributeIsNull(mlirOperationGetAttributeByName(p->op, ir_str(ONYX_INIT)));
  bool any = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(p->op); ++i) {
    MlirValue v = mlirOperationGetOperand(p->op, i);
    if (onnx_is_none(v))
      continue;
    if (!lower_is_constant(l, v)) {
      if (marked)
        lower_error(l, p->op,
                    "is marked " ONYX_INIT ", but operand %d is not known when the model is loaded",
                    (int)i);
      return;
    }
    any = true;
  }
  bool possible =
      any && static_results(p) && ir_is(mlirOperationGetParentOperation(p->op), "func.func");
  p->constant_alias = possible && p->c->alias_of >= 0;
  p->hoisted = possible && marked && !p->constant_alias;
  if (marked && !possible)
    lower_error(l, p->op,
                "is marked " ONYX_INIT
                ", but is no operator over constants with results of static shape "
                "in the body of a function");
}

static bool needed_outside(struct lower *l, MlirValue v) {
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    struct op_plan *p = lower_plan_of(l, user);
    if (p && p->constant_alias ? needed_outside(l, mlirOperationGetResult(user, 0))
                               : !(p && p->hoisted))
      return true;
  }
  return false;
}

static void place_hoisted(struct lower *l, intptr_t first) {
  for (intptr_t k = first; k < l->num_plans; ++k) {
    struct op_plan *p = l->list[k];
    for (intptr_t r = 0; p->hoisted && r < mlirOperationGetNumResults(p->op); ++r) {
      if (!p->view->wanted[r] || !needed_outside(l, mlirOperationGetResult(p->op, r)))
        continue;
      int64_t n = 1, d;
      for (int i = 0; i < p->results[r].type.rank; ++i)
        n *= dim_is_const(p->results[r].type.dims[i], &d) ? d : 0;
      p->offsets[r] = reserve(l, n * emit_elem_bytes(p->results[r].type.elem));
    }
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static bool is_tensor(const onnx_type *t) {
  return t->kind == ONYX_TYPE_TENSOR;
}

// Operands and wanted results are tensors of known rank.
static bool check_types(struct lower *l, struct op_plan *p) {
  for (int i = 0; i < p->view->num_operands; ++i) {
    const onnx_type *t = &p->view->operands[i].type;
    if (t->kind == ONYX_TYPE_NONE)
      continue;
    if (!is_tensor(t))
      return lower_error(l, p->op, "operand %d: no lowering for sequences, optionals and maps here",
                         i),
             false;
    if (t->rank < 0)
      return lower_error(l, p->op, "operand %d: the rank is not known (run shape-inference first)",
                         i),
             false;
  }
  for (int r = 0; r < p->view->num_results; ++r) {
    const onnx_type *t = &p->results[r].type;
    if (!p->view->wanted[r])
      continue;
    if (t->kind != ONYX_TYPE_NONE && !is_tensor(t))
      return lower_error(l, p->op, "result %d: no lowering for sequences, optionals and maps here",
                         r),
             false;
    if (t->rank < 0)
      return lower_error(l, p->op, "result %d: the rank is not known (run shape-inference first)",
                         r),
             false;
  }
  return true;
}

// Inference may leave sizes open that the comprehension computes: its buffers have the last word.
static bool check_sizes(struct lower *l, struct op_plan *p) {
  const comprehension *c = p->c;
  for (int r = 0; r < p->view->num_results; ++r)
    for (int i = 0; p->view->wanted[r] && i < p->results[r].type.rank; ++i)
      if (dim_has_unknown(c->alias_of >= 0 ? p->results[r].type.dims[i]
                                           : c->buffers[comp_result(c, r)].dims[i]))
        return lower_error(l, p->op, "result %d, axis %d: the size depends on the data", r, i),
               false;
  return true;
}

static void plan_comprehension(struct lower *l, struct op_plan *p) {
  if (!check_types(l, p))
    return;
  p->c = lower_alloc(l, sizeof *p->c);
  comp_init(p->c, p->view, p->results);
  if (!p->view->def->comprehend(p->view, p->results, p->c)) {
    view_emit_error(p->op, p->view);
    l->failed = true;
    return;
  }
  if (!check_sizes(l, p))
    return;
  p->kind = LOWER_COMPREHENSION;
  mark_hoisted(l, p);
}

static void plan_operator(struct lower *l, MlirOperation op, const onyx_schema *row) {
  struct op_plan *p = add_plan(l, op, LOWER_NOTHING);
  p->direct = lower_direct_find(row->name);
  p->view = view_from_op(l->views, op);
  p->results = p->view ? view_infer(l->views, op, p->view) : NULL;
  if (!p->results) {
    l->failed = true;
    return;
  }
  if (p->direct && p->direct->applies && !p->direct->applies(p))
    p->direct = NULL;
  bool comprehended = p->view->def && p->view->def->comprehend;
  // The init function is made of loop nests: there TopK is one too.
  if (p->direct && comprehended && !p->direct->applies &&
      !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, ir_str(ONYX_INIT))))
    p->direct = NULL;
  bool marked = !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, ir_str(ONYX_INIT)));
  if (p->direct && marked && comprehended)
    plan_comprehension(l, p); // the init function is made of loop nests
  else if (p->direct && (!p->direct->check || p->direct->check(l, p)))
    p->kind = LOWER_DIRECT;
  else if (p->direct)
    l->failed = true;
  else if (comprehended)
    plan_comprehension(l, p);
  else
    lower_error(l, op, "operator %s of domain '%s' has no lowering to loops", row->name,
                row->domain[0] ? row->domain : "ai.onnx");
}

static void plan_block(struct lower *l, MlirBlock block);

static void plan_op(struct lower *l, MlirOperation op) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
         b = mlirBlockGetNextInRegion(b))
      plan_block(l, b);
  if (onnx_is(op, "Constant")) {
    plan_constant(l, op);
    return;
  }
  const onyx_schema *row = onnx_schema_of(op);
  if (row) {
    plan_operator(l, op, row);
    return;
  }
  if (mlirxIsA(op, &onnx_no_value) || mlirxIsA(op, &onnx_return) || mlirxIsA(op, &onnx_yield) ||
      mlirxIsA(op, &onnx_entry_point) || ir_is(op, "func.return"))
    return;
  if (ir_is(op, "func.call")) {
    add_plan(l, op, LOWER_CALL);
    return;
  }
  if (mlirxIsA(op, &onnx_dim)) {
    add_plan(l, op, LOWER_DIRECT)->direct = lower_direct_find("Dim");
    return;
  }
  if (mlirxIsA(op, &onnx_custom)) {
    MlirAttribute name = mlirOperationGetAttributeByName(op, ir_str("function_name"));
    MlirAttribute domain = mlirOperationGetAttributeByName(op, ir_str("domain_name"));
    MlirStringRef n = mlirAttributeIsNull(name) ? ir_str("?") : mlirStringAttrGetValue(name);
    MlirStringRef d = mlirAttributeIsNull(domain) ? ir_str("") : mlirStringAttrGetValue(domain);
    lower_error(l, op, "operator %.*s of domain '%.*s' has no lowering to loops", (int)n.length,
                n.data, (int)d.length, d.data);
    return;
  }
  lower_error(l, op, "this op has no lowering to loops");
}

static void plan_block(struct lower *l, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    plan_op(l, op);
}

static void check_signature(struct lower *l, MlirOperation func, MlirBlock block) {
  MlirType parts[LOWER_MAX_PARTS];
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
    if (!lower_parts(l, mlirValueGetType(mlirBlockGetArgument(block, i)), parts))
      lower_error(l, func,
                  "argument %d: no lowering for a value of this type, or a tensor of unknown rank",
                  (int)i);
  MlirType type =
      mlirTypeAttrGetValue(mlirOperationGetAttributeByName(func, ir_str("function_type")));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); ++i)
    if (!lower_parts(l, mlirFunctionTypeGetResult(type, i), parts))
      lower_error(l, func,
                  "result %d: no lowering for a value of this type, or a tensor of unknown rank",
                  (int)i);
}

void lower_plan_function(struct lower *l, MlirOperation func) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  check_signature(l, func, block);
  intptr_t first = l->num_plans;
  // Dims that are equal by what inference knows need no comparison in code.
  view_scope *known = view_scope_create(func, VIEW_INFER, mlirxPassGetString(l->pass, 0));
  l->failed |= mlirLogicalResultIsFailure(infer_function(known, func));
  view_scope_use(l->views, known);
  if (!l->failed)
    plan_block(l, block);
  view_scope_use(l->views, NULL);
  view_scope_destroy(known);
  if (!l->failed)
    place_hoisted(l, first);
}
