//===- lower_block.c - Values, buffers and their lives ------------------------------===//
#include "passes/convert/lower_sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static void note_uses(struct lower_block *b, MlirOperation op, intptr_t place) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    ptr_map_set(&b->last_use, mlirOperationGetOperand(op, i).ptr, (void *)(place + 1));
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (MlirOperation inner = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(inner);
           inner = mlirOperationGetNextInBlock(inner))
        note_uses(b, inner, place);
}

static MlirValue dim_symbol(struct emit_dims *dims, int64_t symbol);

void lower_block_begin(struct lower_block *b, struct lower_function *f, struct lower_block *parent,
                       struct ir ir, MlirBlock old) {
  *b = (struct lower_block){.function = f, .parent = parent, .ir = ir};
  emit_dims_init(&b->dims, &b->ir, dim_symbol, b);
  intptr_t place = 0;
  if (!mlirBlockIsNull(old))
    for (MlirOperation op = mlirBlockGetFirstOperation(old); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
      note_uses(b, op, place++);
}

void lower_block_end(struct lower_block *b) {
  emit_dims_free(&b->dims);
  ptr_map_free(&b->values);
  ptr_map_free(&b->last_use);
  free(b->storages);
}

static intptr_t last_use(const struct lower_block *b, MlirValue v) {
  return (intptr_t)ptr_map_get(&b->last_use, v.ptr) - 1;
}

struct ir lower_top(struct lower_function *f) {
  return mlirOperationIsNull(f->outermost) ? f->top->ir : ir_before(f->outermost);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static MlirValue constants_view(struct lower_function *f, int64_t offset, MlirType type) {
  struct ir ir = lower_top(f);
  return ir_view(&ir, f->constants, ir_index(&ir, offset), type, 0, NULL);
}

static MlirValue make_global(struct lower_function *f, MlirOperation op, MlirAttribute value,
                             MlirType type) {
  struct lower *l = f->lower;
  struct ir ir = lower_top(f);
  ir.loc = mlirOperationGetLocation(op);
  char name[32];
  snprintf(name, sizeof name, "constant_%d", l->num_globals++);
  return krnl_build_global(&ir, name, type, value);
}

MlirValue lower_table(struct lower_block *b, MlirOperation op, const comp_buffer *table) {
  MlirContext ctx = b->function->lower->ctx;
  int64_t n = table->dims[0]->value;
  MlirType type = emit_memref_type(ctx, table->elem, 1, table->dims);
  return make_global(b->function, op, emit_dense(ctx, table->elem, 1, &n, table->data), type);
}

static MlirValue string_constant(struct lower_function *f, MlirOperation op, MlirAttribute value) {
  struct lower *l = f->lower;
  onnx_operand operand = {0};
  MlirType type = lower_type(l, mlirAttributeGetType(value));
  if (!view_constant(l->views, op, value, &operand) || (!operand.strings && operand.num_elements)) {
    lower_error(l, op, "the constant's strings cannot be read");
    return (MlirValue){NULL};
  }
  MlirValue flat = lower_strings(f, operand.num_elements, operand.strings), sizes[ONYX_MAX_RANK];
  struct ir ir = lower_top(f);
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    sizes[i] = ir_index(&ir, mlirShapedTypeGetDimSize(type, i));
  return ir_reinterpret(&ir, flat, type, sizes);
}

static MlirValue lower_constant(struct lower_function *f, MlirOperation op) {
  struct lower *l = f->lower;
  MlirValue none = {NULL};
  MlirAttribute value = onnx_constant_value(op);
  struct copied_constant *copied = ptr_map_get(&l->copied, op.ptr);
  struct onnx_file file;
  if (copied)
    return constants_view(f, copied->offset, lower_type(l, copied->file.type));
  if (onnx_file_read(value, &file))
    return make_global(f, op, value, lower_type(l, file.type));
  onnx_operand operand = {0};
  MlirType tensor = mlirAttributeGetType(value);
  if (onnx_elem_from_mlir(mlirShapedTypeGetElementType(tensor)) == ONYX_STRING)
    return string_constant(f, op, value);
  if (!view_constant(l->views, op, value, &operand) || (!operand.data && operand.num_elements)) {
    lower_error(l, op, "the constant's value cannot be read");
    return none;
  }
  MlirType type = lower_type(l, mlirAttributeGetType(value));
  int64_t shape[ONYX_MAX_RANK];
  for (int i = 0; i < operand.type.rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(type, i);
  return make_global(
      f, op, emit_dense(l->ctx, operand.type.elem, operand.type.rank, shape, operand.data), type);
}

// A constant, a hoisted result or an alias of one, made at the top of the function.
static MlirValue make_constant(struct lower_function *f, MlirValue v) {
  MlirOperation op = mlirOpResultGetOwner(v);
  struct op_plan *p = lower_plan_of(f->lower, op);
  if (!p)
    return lower_constant(f, op);
  intptr_t r = mlirOpResultGetResultNumber(v);
  const onnx_type *t = &p->results[r].type;
  MlirType type = emit_memref_type(f->lower->ctx, t->elem, t->rank, t->dims);
  if (p->hoisted)
    return constants_view(f, p->offsets[r], type);
  MlirValue of = lower_value(f->top, mlirOperationGetOperand(op, p->c->alias_of));
  if (mlirValueIsNull(of) || mlirTypeEqual(mlirValueGetType(of), type))
    return of;
  struct ir ir = lower_top(f);
  MlirValue sizes[ONYX_MAX_RANK];
  for (int i = 0; i < t->rank; ++i)
    sizes[i] = ir_index(&ir, t->dims[i]->value);
  return ir_reinterpret(&ir, of, type, sizes);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

struct lowered *lower_find(struct lower_block *b, MlirValue v) {
  for (struct lower_block *at = b; at; at = at->parent) {
    struct lowered *found = ptr_map_get(&at->values, v.ptr);
    if (found)
      return found;
  }
  return NULL;
}

MlirValue lower_value(struct lower_block *b, MlirValue v) {
  struct lowered *found = lower_find(b, v);
  if (found)
    return found->memref;
  struct lower_function *f = b->function;
  if (!lower_is_constant(f->lower, v)) {
    mlirxEmitErrorAt(mlirLocationUnknownGet(f->lower->ctx),
                     "a value is used before it is computed");
    f->lower->failed = true;
    return (MlirValue){NULL};
  }
  MlirValue memref = make_constant(f, v);
  if (!mlirValueIsNull(memref))
    lower_define(f->top, v, memref, NULL);
  return memref;
}

void lower_define_parts(struct lower_block *b, MlirValue v, int n, const MlirValue *parts,
                        struct storage *const *storages) {
  struct lowered *made = lower_alloc(b->function->lower, sizeof *made);
  *made = (struct lowered){.n = n, .memref = parts[0], .storage = storages[0]};
  ptr_map_set(&b->values, v.ptr, made);
  for (int i = 0; i < n; ++i) {
    struct storage *s = made->stores[i] = storages[i];
    made->part[i] = parts[i];
    intptr_t last = s ? last_use(s->home, v) : 0;
    if (s && last > s->last)
      s->last = last;
  }
}

void lower_define(struct lower_block *b, MlirValue v, MlirValue memref, struct storage *storage) {
  lower_define_parts(b, v, 1, &memref, &storage);
}

void lower_define_owned(struct lower_block *b, MlirValue v, int n, const MlirValue *parts) {
  struct storage *storages[LOWER_MAX_PARTS];
  for (int i = 0; i < n; ++i)
    storages[i] = lower_adopt(b, parts[i]);
  lower_define_parts(b, v, n, parts, storages);
}

int lower_value_parts(struct lower_block *b, MlirValue v, MlirValue parts[LOWER_MAX_PARTS]) {
  if (mlirValueIsNull(lower_value(b, v)))
    return 0;
  const struct lowered *found = lower_find(b, v);
  memcpy(parts, found->part, sizeof(MlirValue) * (size_t)found->n);
  return found->n;
}

// What a symbol of the dims stands for: the size of an axis, or an element of a small integer
// tensor.
static MlirValue dim_symbol(struct emit_dims *dims, int64_t symbol) {
  struct lower_block *b = dims->user;
  struct lower *l = b->function->lower;
  view_symbol s;
  MlirValue memref = {NULL};
  if (!view_symbol_get(l->views, symbol, &s))
    return memref;
  memref = lower_value(b, s.value);
  if (mlirValueIsNull(memref))
    return memref;
  if (!s.element)
    return ir_dim(dims->ir, memref, s.index);
  MlirType type = mlirValueGetType(memref);
  intptr_t rank = mlirShapedTypeGetRank(type);
  MlirValue index[ONYX_MAX_RANK];
  int64_t rest = s.index;
  for (intptr_t i = rank - 1; i >= 0; --i) {
    int64_t size = mlirShapedTypeIsDynamicDim(type, i) ? 0 : mlirShapedTypeGetDimSize(type, i);
    index[i] = ir_index(dims->ir, size > 0 && i ? rest % size : rest);
    rest = size > 0 ? rest / size : 0;
  }
  onyx_elem elem = onnx_elem_from_mlir(mlirShapedTypeGetElementType(mlirValueGetType(s.value)));
  MlirValue loaded = krnl_build_load(dims->ir, memref, rank, index);
  return emit_cast(dims->ir, loaded, (int)elem, ONYX_INDEX, false);
}

MlirValue lower_size(struct lower_block *b, const dim *d) {
  MlirValue size = emit_dim(&b->dims, d);
  if (mlirValueIsNull(size) || d->op == DIM_SYM || d->op == DIM_CONST)
    return size;
  return ir_binary(&b->ir, "arith.maxsi", size, ir_index(&b->ir, 0));
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

struct storage *lower_adopt(struct lower_block *b, MlirValue memref) {
  struct storage *s = lower_alloc(b->function->lower, sizeof *s);
  *s = (struct storage){.memref = memref, .home = b, .last = b->position};
  if (b->num_storages == b->cap_storages) {
    b->cap_storages = b->cap_storages ? b->cap_storages * 2 : 32;
    b->storages = realloc(b->storages, sizeof(*b->storages) * (size_t)b->cap_storages);
  }
  b->storages[b->num_storages++] = s;
  return s;
}

MlirValue lower_alloc_buffer(struct lower_block *b, MlirType type, intptr_t n,
                             const MlirValue *sizes, struct storage **storage) {
  MlirValue memref = ir_alloc(&b->ir, type, n, sizes, 64);
  struct storage *s = lower_adopt(b, memref);
  if (storage)
    *storage = s;
  return memref;
}

MlirValue lower_alloc_dims(struct lower_block *b, onyx_elem elem, int rank, const dim *const *dims,
                           struct storage **storage) {
  MlirValue sizes[ONYX_MAX_RANK];
  intptr_t n = 0;
  for (int i = 0; i < rank; ++i) {
    if (dims[i]->op == DIM_CONST)
      continue;
    sizes[n] = lower_size(b, dims[i]);
    if (mlirValueIsNull(sizes[n++]))
      return (MlirValue){NULL};
  }
  MlirType type = emit_memref_type(b->function->lower->ctx, elem, rank, dims);
  return lower_alloc_buffer(b, type, n, sizes, storage);
}

void lower_free(struct lower_block *b, struct storage *s) {
  if (!s->gone)
    ir_dealloc(&b->ir, s->memref);
  s->gone = true;
}

void lower_free_dead(struct lower_block *b) {
  intptr_t kept = 0;
  for (intptr_t i = 0; i < b->num_storages; ++i) {
    struct storage *s = b->storages[i];
    if (!b->keep && s->last <= b->position)
      lower_free(b, s);
    if (!s->gone)
      b->storages[kept++] = s;
  }
  b->num_storages = kept;
}

static bool same_rank(MlirType a, MlirType b) {
  return mlirShapedTypeGetRank(a) == mlirShapedTypeGetRank(b);
}

static MlirValue copy_of(struct lower_block *b, MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  MlirValue sizes[ONYX_MAX_RANK];
  intptr_t n = 0;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    if (mlirShapedTypeIsDynamicDim(type, i))
      sizes[n++] = ir_dim(&b->ir, memref, i);
  MlirValue copy = ir_alloc(&b->ir, type, n, sizes, 64);
  lower_copy_all(&b->ir, memref, copy);
  return copy;
}

// A size that the type promises and the computed value may not have: code 3.
static void check_promise(struct lower_block *b, MlirValue memref, MlirType to) {
  MlirType from = mlirValueGetType(memref);
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(from); ++i) {
    if (!mlirShapedTypeIsDynamicDim(from, i) || mlirShapedTypeIsDynamicDim(to, i))
      continue;
    MlirValue found = ir_dim(&b->ir, memref, i);
    MlirValue limit = ir_index(&b->ir, mlirShapedTypeGetDimSize(to, i));
    MlirValue ok = ir_cmpi(&b->ir, IR_EQ, found, limit);
    emit_fail_unless(&b->ir, b->function->status, ok, 3, -1, found, limit);
  }
}

// One part: the block's own buffer, or a copy of someone else's.
static MlirValue give_part(struct lower_block *b, MlirValue memref, struct storage *s,
                           MlirType type, intptr_t i) {
  if (!same_rank(mlirValueGetType(memref), type)) {
    mlirxEmitErrorAt(b->ir.loc, "result %d: its rank is not the declared one", (int)i);
    b->function->lower->failed = true;
    return (MlirValue){NULL};
  }
  if (!s || s->gone || s->home != b)
    memref = copy_of(b, memref);
  else
    s->gone = true;
  check_promise(b, memref, type);
  return ir_memref_cast(&b->ir, memref, type);
}

intptr_t lower_give(struct lower_block *b, intptr_t n, const MlirValue *values,
                    const MlirType *types, MlirValue *out) {
  intptr_t given = 0;
  for (intptr_t i = 0; i < n; ++i) {
    MlirValue parts[LOWER_MAX_PARTS];
    int num_parts = lower_value_parts(b, values[i], parts);
    const struct lowered *from = lower_find(b, values[i]);
    for (int k = 0; k < num_parts; ++k, ++given)
      out[given] = give_part(b, parts[k], from->stores[k], types[given], i);
  }
  b->keep = false;
  b->position = INTPTR_MAX;
  lower_free_dead(b);
  return given;
}
