//===- onnx_to_linalg.c - The pass convert-onnx-to-linalg ----------------------------===//
//
// The same comprehensions as convert-onnx-to-krnl, on tensors: a stage becomes one linalg.generic,
// or with accumulators three: their initial values, the reduction, and what the writes make of the
// results. A read at affine indices that are in bounds is an operand with its indexing map; any
// other is a tensor.extract.
//
// linalg writes each element of a result once, at the place of the parallel loops: stages that
// scatter, or whose loops run in order, are refused. Checks (EXPR_CHECK) need a status, which
// tensors do not have: they are left out, and values are clamped all the same.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/convert.h"
#include "passes/convert/lower.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LOOPS = 2 * ONYX_MAX_RANK, MAX_READS = 32, MAX_ACCS = 8 };

struct linalg {
  struct lower *l;
  struct ir ir;
  struct emit_dims dims;
  ptr_map values; // old MlirValue -> new MlirValue's pointer
};

static MlirValue tensor_of(struct linalg *g, MlirValue old) {
  return (MlirValue){ptr_map_get(&g->values, old.ptr)};
}

static MlirType tensor_type(MlirContext ctx, int elem, int rank, const dim *const *dims) {
  MlirType memref = emit_memref_type(ctx, ONYX_F32, rank, dims);
  int64_t shape[MAX_LOOPS];
  for (int i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(memref, i);
  return mlirRankedTensorTypeGet(rank, shape, emit_type(ctx, elem), mlirAttributeGetNull());
}

static MlirType signless(struct lower *l, MlirType tensor) {
  MlirType memref = lower_type(l, tensor);
  int64_t shape[ONYX_MAX_RANK];
  if (mlirTypeIsNull(memref))
    return memref;
  intptr_t rank = mlirShapedTypeGetRank(memref);
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(memref, i);
  return mlirRankedTensorTypeGet(rank, shape, mlirShapedTypeGetElementType(memref),
                                 mlirAttributeGetNull());
}

static MlirValue tensor_dim(struct ir *ir, MlirValue tensor, int64_t axis) {
  MlirType type = mlirValueGetType(tensor), index = ir_index_type(ir);
  if (!mlirShapedTypeIsDynamicDim(type, axis))
    return ir_index(ir, mlirShapedTypeGetDimSize(type, axis));
  MlirValue operands[] = {tensor, ir_index(ir, axis)};
  return ir_result(ir_op(ir, "tensor.dim", 2, operands, 1, &index, 0, NULL, 0, NULL), 0);
}

static MlirValue tensor_extract(struct ir *ir, MlirValue tensor, intptr_t n,
                                const MlirValue *index) {
  MlirValue operands[ONYX_MAX_RANK + 1] = {tensor};
  for (intptr_t i = 0; i < n; ++i)
    operands[1 + i] = index[i];
  MlirType type = mlirShapedTypeGetElementType(mlirValueGetType(tensor));
  return ir_result(ir_op(ir, "tensor.extract", n + 1, operands, 1, &type, 0, NULL, 0, NULL), 0);
}

static MlirValue dim_symbol(struct emit_dims *dims, int64_t symbol) {
  struct linalg *g = dims->user;
  view_symbol s;
  MlirValue none = {NULL};
  if (!view_symbol_get(g->l->views, symbol, &s))
    return none;
  MlirValue tensor = tensor_of(g, s.value);
  if (mlirValueIsNull(tensor))
    return none;
  if (!s.element)
    return tensor_dim(dims->ir, tensor, s.index);
  if (mlirShapedTypeGetRank(mlirValueGetType(tensor)) > 1)
    return none;
  MlirValue index = ir_index(dims->ir, s.index);
  onyx_elem elem = onnx_elem_from_mlir(mlirShapedTypeGetElementType(mlirValueGetType(s.value)));
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(tensor));
  return emit_cast(dims->ir, tensor_extract(dims->ir, tensor, rank, &index), (int)elem, ONYX_INDEX,
                   false);
}

//===----------------------------------------------------------------------===//
// One linalg.generic
//===----------------------------------------------------------------------===//

struct generic {
  struct linalg *g;
  struct op_plan *plan;
  const comp_stage *stage;
  MlirValue *buffers;
  int num_loops, num_outer; // all of the stage's, or the outer ones only
  int num_operands;
  MlirValue operands[MAX_READS + MAX_ACCS + 1];
  MlirAffineMap maps[MAX_READS + MAX_ACCS + 1];
  const expr *reads[MAX_READS]; // operand i is this read
  int num_reads;
};

static bool refuse(struct generic *x, const char *why) {
  lower_error(x->g->l, x->plan->op, "linalg cannot hold it: %s", why);
  return false;
}

static void add_operand(struct generic *x, MlirValue v, MlirAffineMap map) {
  x->operands[x->num_operands] = v;
  x->maps[x->num_operands++] = map;
}

// Map of a read whose indices are affine in the loops and in bounds by construction; null
// otherwise.
static MlirAffineMap read_map(struct generic *x, struct emit *e, const expr *r) {
  MlirAffineExpr results[ONYX_MAX_RANK];
  MlirAffineMap none = {NULL};
  if (r->pad)
    return none;
  for (int i = 0; i < r->num_args; ++i) {
    int num_symbols = 0;
    if (r->args[i]->op == EXPR_READ || r->args[i]->op == EXPR_CAST)
      return none;
    results[i] = emit_affine(e, r->args[i], NULL, &num_symbols, 0);
    if (mlirAffineExprIsNull(results[i]))
      return none;
    for (int k = x->num_loops; k < x->stage->num_loops; ++k)
      if (mlirAffineExprIsFunctionOfDim(results[i], k))
        return none;
  }
  return mlirAffineMapGet(e->ctx, x->num_loops, 0, r->num_args, results);
}

// Finds the reads below an expression that become operands.
static void collect_reads(struct generic *x, struct emit *e, const expr *v, bool *seen) {
  if (seen[v->id])
    return;
  seen[v->id] = true;
  if (v->op == EXPR_READ && x->num_reads < MAX_READS) {
    MlirAffineMap map = read_map(x, e, v);
    if (!mlirAffineMapIsNull(map)) {
      x->reads[x->num_reads++] = v;
      add_operand(x, x->buffers[v->i], map);
      return;
    }
  }
  for (int i = 0; i < v->num_args; ++i)
    collect_reads(x, e, v->args[i], seen);
  if (v->pad)
    collect_reads(x, e, v->pad, seen);
}

static MlirValue generic_whole_read(struct emit *e, const expr *r) {
  struct generic *x = e->user;
  for (int i = 0; i < x->num_reads; ++i)
    if (x->reads[i] == r)
      return ir_arg(&e->at[1], i);
  return (MlirValue){NULL};
}

static MlirValue generic_read(struct emit *e, struct ir *at, const expr *r,
                              const MlirValue *index) {
  struct generic *x = e->user;
  return tensor_extract(at, x->buffers[r->i], r->num_args, index);
}

static MlirValue generic_extent(struct emit *e, struct ir *at, int buffer, int axis) {
  struct generic *x = e->user;
  return tensor_dim(at, x->buffers[buffer], axis);
}

static MlirValue empty(struct linalg *g, int elem, int rank, const dim *const *dims) {
  MlirValue sizes[MAX_LOOPS], none = {NULL};
  intptr_t n = 0;
  for (int i = 0; i < rank; ++i) {
    if (dims[i]->op == DIM_CONST)
      continue;
    sizes[n] = emit_dim(&g->dims, dims[i]);
    if (mlirValueIsNull(sizes[n++]))
      return none;
  }
  MlirType type = tensor_type(g->l->ctx, elem, rank, dims);
  return ir_result(ir_op(&g->ir, "tensor.empty", n, sizes, 1, &type, 0, NULL, 0, NULL), 0);
}

static MlirAttribute iterator(MlirContext ctx, bool reduction) {
  return mlirAttributeParseGet(ctx, ir_str(reduction ? "#linalg.iterator_type<reduction>"
                                                     : "#linalg.iterator_type<parallel>"));
}

// Makes the op with its last `num_outs` operands as outputs; `body` is its block, still without
// terminator.
static MlirOperation make_generic(struct generic *x, int num_outs, struct ir *body) {
  struct ir *ir = &x->g->ir;
  MlirContext ctx = ir->ctx;
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  MlirAttribute maps[MAX_READS + MAX_ACCS + 1], iterators[MAX_LOOPS];
  MlirType types[MAX_ACCS];
  for (int i = 0; i < x->num_operands; ++i) {
    MlirType type = mlirValueGetType(x->operands[i]);
    mlirBlockAddArgument(block, mlirShapedTypeGetElementType(type), ir->loc);
    maps[i] = mlirAffineMapAttrGet(x->maps[i]);
  }
  for (int i = 0; i < num_outs; ++i)
    types[i] = mlirValueGetType(x->operands[x->num_operands - num_outs + i]);
  for (int i = 0; i < x->num_loops; ++i)
    iterators[i] = iterator(ctx, i >= x->num_outer);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  int32_t segments[] = {x->num_operands - num_outs, num_outs};
  struct ir_attr attrs[] = {{"indexing_maps", mlirArrayAttrGet(ctx, x->num_operands, maps)},
                            {"iterator_types", mlirArrayAttrGet(ctx, x->num_loops, iterators)},
                            {"operandSegmentSizes", mlirDenseI32ArrayGet(ctx, 2, segments)}};
  MlirOperation op = ir_op(ir, "linalg.generic", x->num_operands, x->operands, num_outs, types, 3,
                           attrs, 1, &region);
  *body = ir_at_end(block, ir->loc);
  return op;
}

static void begin(struct generic *x, struct emit *e) {
  *e = (struct emit){.dims = &x->g->dims,
                     .ctx = x->g->l->ctx,
                     .loops_outside = x->num_loops > 0,
                     .node = -1,
                     .read = generic_read,
                     .extent = generic_extent,
                     .whole_read = generic_whole_read,
                     .user = x};
  emit_begin(e, x->plan->c, x->stage);
  e->at[0] = e->at[1] = e->at[2] = x->g->ir;
}

static void enter_body(struct generic *x, struct emit *e, MlirOperation op, struct ir body) {
  e->at[0] = x->g->ir;
  e->at[0].before = op;
  x->g->dims.ir = &e->at[0];
  MlirType index = ir_index_type(&body);
  for (int i = 0; i < x->num_loops; ++i) {
    struct ir_attr attr = {"dim", ir_i64_attr(body.ctx, i)};
    e->loop_values[i] =
        ir_result(ir_op(&body, "linalg.index", 0, NULL, 1, &index, 1, &attr, 0, NULL), 0);
  }
  e->at[1] = e->at[2] = body;
}

static bool leave_body(struct generic *x, struct emit *e, int n, const MlirValue *values) {
  bool ok = true;
  for (int i = 0; i < n; ++i)
    ok &= !mlirValueIsNull(values[i]);
  if (ok)
    ir_yield(&e->at[1], "linalg.yield", n, values);
  x->g->dims.ir = &x->g->ir;
  return ok || refuse(x, "an expression has no lowering");
}

static MlirAffineMap outer_map(struct generic *x) {
  MlirAffineExpr dims[MAX_LOOPS];
  for (int i = 0; i < x->num_outer; ++i)
    dims[i] = mlirAffineDimExprGet(x->g->l->ctx, i);
  return mlirAffineMapGet(x->g->l->ctx, x->num_loops, 0, x->num_outer, dims);
}

static const dim **outer_dims(struct generic *x) {
  const dim **dims = lower_alloc(x->g->l, sizeof(dim *) * (size_t)(x->num_outer + 1));
  for (int i = 0; i < x->num_outer; ++i)
    dims[i] = x->stage->loops[i].extent;
  return dims;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

// An operand that only says how far the reduction loops run, as pooling in linalg has it.
static bool add_extents(struct generic *x) {
  int n = x->num_loops - x->num_outer;
  if (!n)
    return true;
  const dim *dims[MAX_LOOPS];
  MlirAffineExpr results[MAX_LOOPS];
  for (int i = 0; i < n; ++i) {
    dims[i] = x->stage->loops[x->num_outer + i].extent;
    results[i] = mlirAffineDimExprGet(x->g->l->ctx, x->num_outer + i);
  }
  MlirValue window = empty(x->g, ONYX_F32, n, dims);
  if (mlirValueIsNull(window))
    return refuse(x, "the extent of a loop depends on data");
  add_operand(x, window, mlirAffineMapGet(x->g->l->ctx, x->num_loops, 0, n, results));
  return true;
}

static bool make_inits(struct generic *x, MlirValue *accs) {
  const comp_stage *s = x->stage;
  struct generic init = *x;
  init.num_loops = x->num_outer;
  bool *seen = lower_alloc(x->g->l, x->plan->c->num_exprs + 1);
  struct emit e;
  begin(&init, &e);
  for (int i = 0; i < s->num_accs; ++i)
    collect_reads(&init, &e, s->accs[i].init, seen);
  MlirAffineMap map = outer_map(&init);
  for (int i = 0; i < s->num_accs; ++i) {
    MlirValue out = empty(x->g, s->accs[i].type, x->num_outer, outer_dims(x));
    if (mlirValueIsNull(out))
      return refuse(x, "the extent of a loop depends on data");
    add_operand(&init, out, map);
  }
  struct ir body;
  MlirOperation op = make_generic(&init, s->num_accs, &body);
  enter_body(&init, &e, op, body);
  MlirValue values[MAX_ACCS];
  e.in_reduction = true;
  for (int i = 0; i < s->num_accs; ++i) {
    values[i] = emit_expr(&e, s->accs[i].init);
    accs[i] = ir_result(op, i);
  }
  bool ok = leave_body(&init, &e, s->num_accs, values);
  emit_end(&e);
  return ok;
}

static bool make_reduction(struct generic *x, MlirValue *accs) {
  const comp_stage *s = x->stage;
  struct generic red = *x;
  bool *seen = lower_alloc(x->g->l, x->plan->c->num_exprs + 1);
  struct emit e;
  begin(&red, &e);
  for (int i = 0; i < s->num_accs; ++i)
    collect_reads(&red, &e, s->accs[i].step, seen);
  if (!add_extents(&red))
    return false;
  MlirAffineMap map = outer_map(&red);
  for (int i = 0; i < s->num_accs; ++i)
    add_operand(&red, accs[i], map);
  struct ir body;
  MlirOperation op = make_generic(&red, s->num_accs, &body);
  enter_body(&red, &e, op, body);
  e.in_reduction = true;
  MlirValue values[MAX_ACCS];
  for (int i = 0; i < s->num_accs; ++i)
    e.acc_values[i] = ir_arg(&e.at[1], red.num_operands - s->num_accs + i);
  for (int i = 0; i < s->num_accs; ++i) {
    values[i] = emit_expr(&e, s->accs[i].step);
    accs[i] = ir_result(op, i);
  }
  bool ok = leave_body(&red, &e, s->num_accs, values);
  emit_end(&e);
  return ok;
}

// The write's indices are the outer loops, each once, and no guard holds it back.
static bool write_map(struct generic *x, const comp_write *w, MlirAffineMap *map) {
  MlirAffineExpr results[ONYX_MAX_RANK];
  bool used[MAX_LOOPS] = {false};
  if (w->guard)
    return refuse(x, "a write under a condition");
  for (int i = 0; i < w->num_indices; ++i) {
    const expr *index = w->index[i];
    const dim *size = x->plan->c->buffers[w->buffer].dims[i];
    if (index->op == EXPR_CONST && index->i == 0 && dim_is(size, 1)) {
      results[i] = mlirAffineConstantExprGet(x->g->l->ctx, 0);
      continue;
    }
    if (index->op != EXPR_LOOP || index->i >= x->num_outer || used[index->i])
      return refuse(x, "a write that is not at the place of the loops");
    if (x->stage->loops[index->i].extent != size)
      return refuse(x, "a write of a part of the result");
    used[index->i] = true;
    results[i] = mlirAffineDimExprGet(x->g->l->ctx, (intptr_t)index->i);
  }
  for (int i = 0; i < x->num_outer; ++i)
    if (!used[i] && !dim_is(x->stage->loops[i].extent, 1))
      return refuse(x, "an element that is written more than once");
  *map = mlirAffineMapGet(x->g->l->ctx, x->num_loops, 0, w->num_indices, results);
  return true;
}

static bool is_plain_acc(struct generic *x, const comp_write *w) {
  if (w->value->op != EXPR_ACC || w->num_indices != x->num_outer || w->guard)
    return false;
  for (int i = 0; i < w->num_indices; ++i)
    if (w->index[i]->op != EXPR_LOOP || w->index[i]->i != i)
      return false;
  return true;
}

static bool make_writes(struct generic *x, const MlirValue *accs) {
  const comp_stage *s = x->stage;
  struct generic post = *x;
  post.num_loops = x->num_outer;
  bool *seen = lower_alloc(x->g->l, x->plan->c->num_exprs + 1);
  struct emit e;
  begin(&post, &e);
  for (int i = 0; i < s->num_writes; ++i)
    collect_reads(&post, &e, s->writes[i].value, seen);
  MlirAffineMap map = outer_map(&post);
  for (int i = 0; i < s->num_accs; ++i)
    add_operand(&post, accs[i], map);
  for (int i = 0; i < s->num_writes; ++i) {
    const comp_buffer *b = &x->plan->c->buffers[s->writes[i].buffer];
    if (!write_map(&post, &s->writes[i], &map))
      return false;
    MlirValue out = empty(x->g, (int)b->elem, b->rank, b->dims);
    if (mlirValueIsNull(out))
      return refuse(x, "the size of a result depends on data");
    add_operand(&post, out, map);
  }
  struct ir body;
  MlirOperation op = make_generic(&post, s->num_writes, &body);
  enter_body(&post, &e, op, body);
  MlirValue values[MAX_ACCS];
  for (int i = 0; i < s->num_accs; ++i)
    e.acc_values[i] = ir_arg(&e.at[1], post.num_reads + i);
  for (int i = 0; i < s->num_writes; ++i)
    values[i] = emit_expr(&e, s->writes[i].value);
  bool ok = leave_body(&post, &e, s->num_writes, values);
  emit_end(&e);
  for (int i = 0; i < s->num_writes; ++i)
    x->buffers[s->writes[i].buffer] = ir_result(op, i);
  return ok;
}

static bool convert_stage(struct linalg *g, struct op_plan *p, const comp_stage *s,
                          MlirValue *buffers) {
  struct generic x = {.g = g, .plan = p, .stage = s, .buffers = buffers, .num_loops = s->num_loops};
  if (s->num_loops > MAX_LOOPS || s->num_accs > MAX_ACCS || s->num_writes > MAX_ACCS)
    return refuse(&x, "too many loops, accumulators or writes");
  for (int i = 0; i < s->num_loops; ++i) {
    if (s->loops[i].kind == LOOP_ORDERED)
      return refuse(&x, "a loop that runs in order");
    x.num_outer += s->loops[i].kind == LOOP_PARALLEL;
  }
  for (int i = 0; i < s->num_writes; ++i)
    if (!mlirValueIsNull(buffers[s->writes[i].buffer]))
      return refuse(&x, "a result that several nests write");
  MlirValue accs[MAX_ACCS];
  if (s->num_accs && (!make_inits(&x, accs) || !make_reduction(&x, accs)))
    return false;
  if (s->num_writes == 1 && is_plain_acc(&x, &s->writes[0])) {
    buffers[s->writes[0].buffer] = accs[s->writes[0].value->i];
    return true;
  }
  return make_writes(&x, accs);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static void define(struct linalg *g, MlirValue old, MlirValue made) {
  ptr_map_set(&g->values, old.ptr, (void *)made.ptr);
}

static bool convert_alias(struct linalg *g, struct op_plan *p) {
  MlirValue of = tensor_of(g, mlirOperationGetOperand(p->op, p->c->alias_of));
  const onnx_type *t = &p->results[0].type;
  MlirType type = tensor_type(g->l->ctx, (int)t->elem, t->rank, t->dims);
  MlirValue sizes[ONYX_MAX_RANK];
  for (int i = 0; i < t->rank; ++i) {
    sizes[i] = emit_dim(&g->dims, t->dims[i]);
    if (mlirValueIsNull(sizes[i]))
      return lower_error(g->l, p->op, "the size of axis %d depends on data", i), false;
  }
  int64_t rank = t->rank;
  MlirType shape_type =
      mlirRankedTensorTypeGet(1, &rank, ir_index_type(&g->ir), mlirAttributeGetNull());
  MlirValue shape = ir_result(
      ir_op(&g->ir, "tensor.from_elements", rank, sizes, 1, &shape_type, 0, NULL, 0, NULL), 0);
  MlirValue operands[] = {of, shape};
  define(g, mlirOperationGetResult(p->op, 0),
         ir_result(ir_op(&g->ir, "tensor.reshape", 2, operands, 1, &type, 0, NULL, 0, NULL), 0));
  return true;
}

static bool convert_comprehension(struct linalg *g, struct op_plan *p) {
  comprehension *c = p->c;
  if (c->alias_of >= 0)
    return convert_alias(g, p);
  if (c->num_late)
    return lower_error(g->l, p->op,
                       "the size of its result depends on data: convert-onnx-to-krnl lowers it"),
           false;
  MlirValue *buffers = lower_alloc(g->l, sizeof(MlirValue) * (size_t)(c->num_buffers + 1));
  for (int i = 0; i < c->num_operands; ++i)
    if (view_has(p->view, i))
      buffers[i] = tensor_of(g, mlirOperationGetOperand(p->op, i));
  for (int i = 0; i < c->num_stages; ++i)
    if (!convert_stage(g, p, &c->stages[i], buffers))
      return false;
  for (int r = 0; r < c->num_results; ++r)
    if (!mlirValueIsNull(buffers[c->num_operands + r]))
      define(g, mlirOperationGetResult(p->op, r), buffers[c->num_operands + r]);
  return true;
}

static bool convert_constant(struct linalg *g, MlirOperation op) {
  MlirAttribute value = onnx_constant_value(op);
  onnx_operand operand = {0};
  if (mlirAttributeIsNull(value) || !view_constant(g->l->views, op, value, &operand) ||
      (!operand.data && operand.num_elements))
    return lower_error(g->l, op, "the constant's value cannot be read"), false;
  MlirType type = signless(g->l, mlirAttributeGetType(value));
  int64_t shape[ONYX_MAX_RANK];
  for (int i = 0; i < operand.type.rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(type, i);
  MlirAttribute dense =
      emit_dense(g->l->ctx, operand.type.elem, operand.type.rank, shape, operand.data);
  define(g, mlirOperationGetResult(op, 0), ir_constant(&g->ir, dense, type));
  return true;
}

static bool convert_op(struct linalg *g, MlirOperation op) {
  g->ir.loc = mlirOperationGetLocation(op);
  struct op_plan *p = lower_plan_of(g->l, op);
  if (!p)
    return !onnx_is(op, "Constant") || convert_constant(g, op);
  if (p->kind == LOWER_COMPREHENSION)
    return convert_comprehension(g, p);
  return lower_error(g->l, op, "it is no loop nest: convert-onnx-to-krnl lowers it"), false;
}

static MlirValue cast_to(struct ir *ir, MlirValue v, MlirType type) {
  return mlirTypeEqual(mlirValueGetType(v), type) ? v : ir_cast(ir, "tensor.cast", v, type);
}

static void convert_body(struct linalg *g, MlirOperation func, MlirOperation made, intptr_t num_out,
                         const MlirType *out) {
  MlirBlock old = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(made, 0));
  g->ir = ir_at_end(entry, mlirOperationGetLocation(func));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(old); ++i)
    define(g, mlirBlockGetArgument(old, i), mlirBlockGetArgument(entry, i));
  MlirOperation end = mlirBlockGetTerminator(old);
  bool ok = true;
  for (MlirOperation op = mlirBlockGetFirstOperation(old); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    bool ready = true; // what needs a value that was refused is not reported too
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
      MlirValue v = mlirOperationGetOperand(op, i);
      ready &= onnx_is_none(v) || !mlirValueIsNull(tensor_of(g, v));
    }
    ok &= ready && convert_op(g, op);
  }
  MlirValue *values = lower_alloc(g->l, sizeof(MlirValue) * (size_t)(num_out + 1));
  for (intptr_t i = 0; ok && i < num_out; ++i)
    values[i] = cast_to(&g->ir, tensor_of(g, mlirOperationGetOperand(end, i)), out[i]);
  if (ok)
    ir_op(&g->ir, "func.return", num_out, values, 0, NULL, 0, NULL, 0, NULL);
}

static void convert_function(struct lower *l, MlirOperation func) {
  struct linalg g = {.l = l};
  emit_dims_init(&g.dims, &g.ir, dim_symbol, &g);
  MlirType type =
      mlirTypeAttrGetValue(mlirOperationGetAttributeByName(func, ir_str("function_type")));
  intptr_t num_in = mlirFunctionTypeGetNumInputs(type),
           num_out = mlirFunctionTypeGetNumResults(type);
  MlirType *in = lower_alloc(l, sizeof(MlirType) * (size_t)(num_in + 1));
  MlirType *out = lower_alloc(l, sizeof(MlirType) * (size_t)(num_out + 1));
  MlirLocation *locs = lower_alloc(l, sizeof(MlirLocation) * (size_t)(num_in + 1));
  struct ir ir = ir_before(func);
  for (intptr_t i = 0; i < num_in; ++i) {
    in[i] = signless(l, mlirFunctionTypeGetInput(type, i));
    locs[i] = ir.loc;
  }
  for (intptr_t i = 0; i < num_out; ++i)
    out[i] = signless(l, mlirFunctionTypeGetResult(type, i));
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, mlirBlockCreate(num_in, in, locs));
  MlirAttribute function_type =
      mlirTypeAttrGet(mlirFunctionTypeGet(l->ctx, num_in, in, num_out, out));
  static const char *const kept[] = {"sym_name", "arg_attrs", "res_attrs", "sym_visibility"};
  struct ir_attr attrs[5] = {{"function_type", function_type}};
  intptr_t n = 1;
  for (int i = 0; i < 4; ++i) {
    MlirAttribute a = mlirOperationGetAttributeByName(func, ir_str(kept[i]));
    if (!mlirAttributeIsNull(a))
      attrs[n++] = (struct ir_attr){kept[i], a};
  }
  MlirOperation made = ir_op(&ir, "func.func", 0, NULL, 0, NULL, n, attrs, 1, &region);
  for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(func); ++i) {
    MlirNamedAttribute a = mlirOperationGetDiscardableAttribute(func, i);
    mlirOperationSetDiscardableAttributeByName(made, mlirIdentifierStr(a.name), a.attribute);
  }
  convert_body(&g, func, made, num_out, out);
  ptr_map_free(&g.values);
  emit_dims_free(&g.dims);
}

// A function of the conversion's: it holds an onnx op. Others (a test's main) stay as they are.
static bool concerns(MlirOperation op) {
  if (!ir_is(op, "func.func"))
    return false;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirBlockIsNull(block))
    return false;
  for (MlirOperation o = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(o);
       o = mlirOperationGetNextInBlock(o))
    if (onnx_is_onnx(o))
      return true;
  return false;
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation module, void *state) {
  (void)state;
  struct lower l = {.pass = pass, .module = module, .ctx = mlirOperationGetContext(module)};
  l.views = view_scope_create(module, VIEW_CODE, mlirxPassGetString(pass, 0));
  l.arena = view_scope_arena(l.views);
  view_scope_set_expand(l.views, (int64_t)1 << 28);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  MlirOperation next;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    bool entry = mlirxIsA(op, &onnx_entry_point);
    bool function = concerns(op);
    if (function) {
      lower_plan_function(&l, op);
      if (!l.failed)
        convert_function(&l, op);
    }
    if ((function || entry) && !l.failed)
      mlirOperationDestroy(op);
  }
  ptr_map_free(&l.plans);
  ptr_map_free(&l.copied);
  free(l.list);
  free(l.copies);
  view_scope_destroy(l.views);
  return l.failed ? mlirLogicalResultFailure() : mlirLogicalResultSuccess();
}

static const char *const anchors[] = {"builtin.module", NULL};
static const char *const dialects[] = {"affine", "arith", "complex", "func", "linalg",
                                       "math",   "scf",   "tensor",  NULL};
static const MlirxOption options[] = {
    {"weights-root", MLIRX_OPT_STRING, NULL, "folder of the files that #onnx.file names"},
    {NULL, MLIRX_OPT_BOOL, NULL, NULL}};

const MlirxPassDescriptor convert_onnx_to_linalg = {
    .argument = "convert-onnx-to-linalg",
    .description = "Lower ONNX operators to linalg.generic on tensors",
    .anchors = anchors,
    .dependentDialects = dialects,
    .options = options,
    .run = run};
