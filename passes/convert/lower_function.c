//===- lower_function.c - Functions on memrefs, and the init function ----------------===//
#include "passes/convert/lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

static MlirAttribute unit(MlirContext ctx) {
  return mlirUnitAttrGet(ctx);
}

static MlirNamedAttribute named(MlirContext ctx, const char *name, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(ctx, ir_str(name)), value);
}

// Hidden arguments: status, the weights files, the constants block where there is one.
struct signature {
  MlirType *types;
  MlirAttribute *attrs; // a dictionary each
  intptr_t n;
};

static void add_argument(struct signature *s, MlirType type, MlirAttribute attrs) {
  s->types[s->n] = type;
  s->attrs[s->n++] = attrs;
}

static MlirAttribute one_attr(MlirContext ctx, const char *name, MlirAttribute value) {
  MlirNamedAttribute a = named(ctx, name, value);
  return mlirDictionaryAttrGet(ctx, 1, &a);
}

static void add_hidden(struct lower *l, struct signature *s) {
  MlirContext ctx = l->ctx;
  int64_t four = 4, dynamic = ir_dynamic();
  MlirType bytes = ir_memref(mlirIntegerTypeGet(ctx, 8), 1, &dynamic);
  add_argument(s, ir_memref(mlirIntegerTypeGet(ctx, 64), 1, &four),
               one_attr(ctx, "krnl.status", unit(ctx)));
  for (int i = 0; i < l->num_weights; ++i)
    add_argument(s, bytes, one_attr(ctx, "krnl.weights", ir_i64_attr(ctx, i)));
  if (l->constants_bytes)
    add_argument(s, bytes, one_attr(ctx, "krnl.constants", unit(ctx)));
}

static MlirAttribute old_slot(MlirOperation op, const char *list, intptr_t i) {
  MlirContext ctx = mlirOperationGetContext(op);
  MlirAttribute all = mlirOperationGetAttributeByName(op, ir_str(list));
  if (mlirAttributeIsNull(all) || i >= mlirArrayAttrGetNumElements(all))
    return mlirDictionaryAttrGet(ctx, 0, NULL);
  return mlirArrayAttrGetElement(all, i);
}

// Attributes of the old function but for those that the new one has of its own.
static void copy_attributes(MlirOperation from, MlirOperation to) {
  for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(from); ++i) {
    MlirNamedAttribute a = mlirOperationGetDiscardableAttribute(from, i);
    mlirOperationSetDiscardableAttributeByName(to, mlirIdentifierStr(a.name), a.attribute);
  }
}

static MlirOperation make_func(struct lower *l, MlirOperation old, const char *name,
                               const struct signature *in, intptr_t num_results,
                               const MlirType *results, const MlirAttribute *result_attrs,
                               MlirBlock *entry) {
  MlirContext ctx = l->ctx;
  struct ir ir = ir_before(old);
  MlirLocation *locs = malloc(sizeof(MlirLocation) * (size_t)(in->n + 1));
  for (intptr_t i = 0; i < in->n; ++i)
    locs[i] = ir.loc;
  *entry = mlirBlockCreate(in->n, in->types, locs);
  free(locs);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, *entry);
  MlirAttribute visibility = mlirOperationGetAttributeByName(old, ir_str("sym_visibility"));
  struct ir_attr attrs[] = {{"sym_name", ir_string_attr(ctx, name)},
                            {"function_type", mlirTypeAttrGet(mlirFunctionTypeGet(
                                                  ctx, in->n, in->types, num_results, results))},
                            {"arg_attrs", mlirArrayAttrGet(ctx, in->n, in->attrs)},
                            {"res_attrs", mlirArrayAttrGet(ctx, num_results, result_attrs)},
                            {"sym_visibility", visibility}};
  int n = mlirAttributeIsNull(visibility) || num_results == 0 ? 4 : 5;
  if (!num_results)
    attrs[3] = attrs[2];
  return ir_op(&ir, "func.func", 0, NULL, 0, NULL, num_results ? n : 3, attrs, 1, &region);
}

static void bind_hidden(struct lower *l, struct lower_function *f, MlirBlock entry,
                        intptr_t first) {
  f->status = mlirBlockGetArgument(entry, first++);
  f->weights = lower_alloc(l, sizeof(MlirValue) * (size_t)(l->num_weights + 1));
  for (int i = 0; i < l->num_weights; ++i)
    f->weights[i] = mlirBlockGetArgument(entry, first++);
  if (l->constants_bytes)
    f->constants = mlirBlockGetArgument(entry, first);
}

struct lower_function *lower_function_create(struct lower *l, MlirOperation old,
                                             const char *init_name) {
  struct lower_function *f = lower_alloc(l, sizeof *f);
  *f = (struct lower_function){.lower = l, .old = old, .is_init = init_name != NULL};
  MlirType type =
      mlirTypeAttrGetValue(mlirOperationGetAttributeByName(old, ir_str("function_type")));
  intptr_t num_in = f->is_init ? 0 : mlirFunctionTypeGetNumInputs(type);
  intptr_t num_results = f->is_init ? 0 : mlirFunctionTypeGetNumResults(type), num_out = 0;
  size_t room = (size_t)(num_in * LOWER_MAX_PARTS + l->num_weights + 2);
  struct signature in = {malloc(sizeof(MlirType) * room), malloc(sizeof(MlirAttribute) * room), 0};
  MlirType *results = malloc(sizeof(MlirType) * (size_t)(num_results * LOWER_MAX_PARTS + 1));
  MlirAttribute *result_attrs =
      malloc(sizeof(MlirAttribute) * (size_t)(num_results * LOWER_MAX_PARTS + 1));
  MlirAttribute nothing = mlirDictionaryAttrGet(l->ctx, 0, NULL);
  MlirType parts[LOWER_MAX_PARTS];
  for (intptr_t i = 0; i < num_in; ++i)
    for (int k = 0, n = lower_parts(l, mlirFunctionTypeGetInput(type, i), parts); k < n; ++k)
      add_argument(&in, parts[k], k ? nothing : old_slot(old, "arg_attrs", i));
  for (intptr_t i = 0; i < num_results; ++i)
    for (int k = 0, n = lower_parts(l, mlirFunctionTypeGetResult(type, i), parts); k < n;
         ++k, ++num_out) {
      results[num_out] = parts[k];
      result_attrs[num_out] = k ? nothing : old_slot(old, "res_attrs", i);
    }
  f->first_hidden = in.n;
  add_hidden(l, &in);
  char *name = NULL;
  if (!f->is_init) {
    MlirStringRef s =
        mlirStringAttrGetValue(mlirOperationGetAttributeByName(old, ir_str("sym_name")));
    name = onyx_arena_printf(l->arena, "%.*s", (int)s.length, s.data);
  }
  MlirBlock entry;
  f->func =
      make_func(l, old, f->is_init ? init_name : name, &in, num_out, results, result_attrs, &entry);
  if (!f->is_init)
    copy_attributes(old, f->func);
  if (l->constants_bytes)
    mlirOperationSetDiscardableAttributeByName(f->func, ir_str("krnl.constants_bytes"),
                                               ir_i64_attr(l->ctx, l->constants_bytes));
  f->num_inputs = (int)num_in;
  bind_hidden(l, f, entry, f->first_hidden);
  free(in.types);
  free(in.attrs);
  free(results);
  free(result_attrs);
  return f;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

intptr_t lower_define_results(struct lower_block *b, MlirOperation op, MlirOperation made,
                              intptr_t first) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirType types[LOWER_MAX_PARTS];
    MlirValue parts[LOWER_MAX_PARTS];
    int n = lower_parts(b->function->lower, mlirValueGetType(mlirOperationGetResult(op, i)), types);
    for (int k = 0; k < n; ++k)
      parts[k] = ir_result(made, first++);
    lower_define_owned(b, mlirOperationGetResult(op, i), n, parts);
  }
  return first;
}

static bool lower_call(struct lower_block *b, struct op_plan *p) {
  struct lower_function *f = b->function;
  struct lower *l = f->lower;
  MlirAttribute callee = mlirOperationGetAttributeByName(p->op, ir_str("callee"));
  MlirOperation old = ir_lookup_symbol(l->module, mlirFlatSymbolRefAttrGetValue(callee));
  struct lower_function *to = mlirOperationIsNull(old) ? NULL : ptr_map_get(&l->functions, old.ptr);
  for (struct lower_function *g;
       !to && !mlirOperationIsNull(old);) { // the new function may be found first
    old = mlirOperationGetNextInBlock(old);
    if (!mlirOperationIsNull(old) && (g = ptr_map_get(&l->functions, old.ptr)))
      to = g;
  }
  if (!to)
    return lower_error(l, p->op, "the callee has no body"), false;
  MlirType type =
      mlirTypeAttrGetValue(mlirOperationGetAttributeByName(to->func, ir_str("function_type")));
  intptr_t n = mlirFunctionTypeGetNumInputs(type),
           num_results = mlirFunctionTypeGetNumResults(type);
  MlirValue *args = lower_alloc(l, sizeof(MlirValue) * (size_t)n);
  MlirType *types = lower_alloc(l, sizeof(MlirType) * (size_t)(num_results + 1));
  intptr_t given = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(p->op); ++i) {
    MlirValue parts[LOWER_MAX_PARTS];
    int num_parts = lower_value_parts(b, mlirOperationGetOperand(p->op, i), parts);
    for (int k = 0; k < num_parts; ++k, ++given)
      args[given] = ir_memref_cast(&b->ir, parts[k], mlirFunctionTypeGetInput(type, given));
    if (!num_parts)
      return false;
  }
  args[given++] = f->status;
  for (int i = 0; i < l->num_weights; ++i)
    args[given++] = f->weights[i];
  if (l->constants_bytes)
    args[given++] = f->constants;
  for (intptr_t i = 0; i < num_results; ++i)
    types[i] = mlirFunctionTypeGetResult(type, i);
  char name[256];
  MlirStringRef s = mlirFlatSymbolRefAttrGetValue(callee);
  snprintf(name, sizeof name, "%.*s", (int)s.length, s.data);
  MlirOperation call = ir_call(&b->ir, name, n, args, num_results, types);
  lower_define_results(b, p->op, call, 0);
  return true;
}

static bool lower_op(struct lower_block *b, MlirOperation op) {
  struct op_plan *p = lower_plan_of(b->function->lower, op);
  if (!p || p->hoisted || p->constant_alias)
    return true;
  b->ir.loc = mlirOperationGetLocation(op);
  switch (p->kind) {
  case LOWER_NOTHING:
    return true;
  case LOWER_COMPREHENSION:
    return lower_comprehension(b, p);
  case LOWER_DIRECT:
    return p->direct->emit(b, p);
  case LOWER_CALL:
    return lower_call(b, p);
  }
  return true;
}

bool lower_ops(struct lower_block *b, MlirBlock old) {
  bool ok = true;
  b->position = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(old); ok && !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    ok = lower_op(b, op);
    if (!mlirOperationIsNull(mlirOperationGetNextInBlock(op))) // the terminator frees what is left
      lower_free_dead(b);
    b->position++;
  }
  return ok;
}

void lower_function_emit(struct lower_function *f) {
  struct lower *l = f->lower;
  MlirBlock old = mlirRegionGetFirstBlock(mlirOperationGetRegion(f->old, 0));
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(f->func, 0));
  struct lower_block b;
  lower_block_begin(&b, f, NULL, ir_at_end(entry, mlirOperationGetLocation(f->old)), old);
  f->top = &b;
  intptr_t next = 0;
  for (int i = 0; i < f->num_inputs; ++i) {
    MlirType types[LOWER_MAX_PARTS];
    MlirValue parts[LOWER_MAX_PARTS];
    static struct storage *const nobodys[LOWER_MAX_PARTS] = {NULL};
    int n = lower_parts(l, mlirValueGetType(mlirBlockGetArgument(old, i)), types);
    for (int k = 0; k < n; ++k)
      parts[k] = mlirBlockGetArgument(entry, next++);
    lower_define_parts(&b, mlirBlockGetArgument(old, i), n, parts, nobodys);
  }
  if (lower_ops(&b, old)) {
    MlirOperation end = mlirBlockGetTerminator(old);
    intptr_t n = mlirOperationGetNumOperands(end);
    MlirType type =
        mlirTypeAttrGetValue(mlirOperationGetAttributeByName(f->func, ir_str("function_type")));
    MlirValue *values = lower_alloc(l, sizeof(MlirValue) * (size_t)(n + 1));
    intptr_t num_out = mlirFunctionTypeGetNumResults(type);
    MlirValue *out = lower_alloc(l, sizeof(MlirValue) * (size_t)(num_out + 1));
    MlirType *types = lower_alloc(l, sizeof(MlirType) * (size_t)(num_out + 1));
    for (intptr_t i = 0; i < n; ++i)
      values[i] = mlirOperationGetOperand(end, i);
    for (intptr_t i = 0; i < num_out; ++i)
      types[i] = mlirFunctionTypeGetResult(type, i);
    lower_give(&b, n, values, types, out);
    if (!l->failed)
      ir_op(&b.ir, "func.return", num_out, out, 0, NULL, 0, NULL, 0, NULL);
  }
  f->top = NULL;
  lower_block_end(&b);
}

//===----------------------------------------------------------------------===//
// Init
//===----------------------------------------------------------------------===//

// The bytes of a range of a weights file.
static MlirValue file_bytes(struct lower_block *b, const struct copied_constant *c) {
  struct lower *l = b->function->lower;
  int64_t n = (int64_t)c->file.bytes;
  MlirType i8 = mlirIntegerTypeGet(l->ctx, 8);
  struct onnx_file bytes = c->file;
  bytes.type = mlirRankedTensorTypeGet(1, &n, i8, mlirAttributeGetNull());
  return krnl_build_global(&b->ir, onyx_arena_printf(l->arena, "bytes_%d", l->num_globals++),
                           ir_memref(i8, 1, &n), onnx_file_get(l->ctx, bytes));
}

static void copy_bytes(struct lower_block *b, const struct copied_constant *c) {
  int64_t n = (int64_t)c->file.bytes;
  MlirValue from = file_bytes(b, c);
  MlirValue to = ir_view(&b->ir, b->function->constants, ir_index(&b->ir, c->offset),
                         mlirValueGetType(from), 0, NULL);
  struct ir body;
  krnl_build_nest(&b->ir, 1, &n, NULL, 0, NULL, NULL, &body);
  MlirValue i = ir_arg(&body, 0);
  krnl_build_store(&body, krnl_build_load(&body, from, 1, &i), to, 1, &i);
}

// ONNX packs elements of 4 and 2 bits from the low bits up.
static void unpack(struct lower_block *b, const struct copied_constant *c) {
  unsigned bits = (unsigned)onyx_elem_bits(c->elem);
  int64_t n = 1, per_byte = 8 / bits;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(c->file.type); ++i)
    n *= mlirShapedTypeGetDimSize(c->file.type, i);
  MlirType i8 = mlirIntegerTypeGet(b->ir.ctx, 8);
  MlirValue from = file_bytes(b, c);
  MlirValue to = ir_view(&b->ir, b->function->constants, ir_index(&b->ir, c->offset),
                         ir_memref(i8, 1, &n), 0, NULL);
  struct ir body;
  krnl_build_nest(&b->ir, 1, &n, NULL, 0, NULL, NULL, &body);
  MlirValue i = ir_arg(&body, 0);
  MlirAffineExpr d0 = mlirAffineDimExprGet(b->ir.ctx, 0);
  MlirAffineExpr k = mlirAffineConstantExprGet(b->ir.ctx, per_byte);
  MlirAffineExpr div = mlirAffineFloorDivExprGet(d0, k), mod = mlirAffineModExprGet(d0, k);
  MlirValue at = ir_apply(&body, mlirAffineMapGet(b->ir.ctx, 1, 0, 1, &div), 1, &i);
  MlirValue part = ir_apply(&body, mlirAffineMapGet(b->ir.ctx, 1, 0, 1, &mod), 1, &i);
  MlirValue byte = krnl_build_load(&body, from, 1, &at);
  // The element moved to the byte's top, then down with its sign or zeros.
  MlirValue low =
      ir_binary(&body, "arith.muli", ir_from_index(&body, part, i8), ir_int(&body, i8, bits));
  MlirValue up = ir_binary(&body, "arith.subi", ir_int(&body, i8, 8 - bits), low);
  MlirValue top = ir_binary(&body, "arith.shli", byte, up);
  const char *shift = onyx_elem_is_signed(c->elem) ? "arith.shrsi" : "arith.shrui";
  krnl_build_store(&body, ir_binary(&body, shift, top, ir_int(&body, i8, 8 - bits)), to, 1, &i);
}

void lower_init_emit(struct lower *l, struct lower_function *f) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(f->func, 0));
  struct lower_block b;
  lower_block_begin(&b, f, NULL, ir_at_end(entry, mlirOperationGetLocation(f->old)),
                    (MlirBlock){NULL});
  b.keep = true; // temporaries die together at the end
  f->top = &b;
  for (intptr_t i = 0; i < l->num_copies; ++i) {
    if (onyx_elem_bits(l->copies[i]->elem) < 8)
      unpack(&b, l->copies[i]);
    else
      copy_bytes(&b, l->copies[i]);
  }
  bool ok = true;
  for (intptr_t i = 0; ok && i < l->num_plans; ++i) {
    if (!l->list[i]->hoisted)
      continue;
    b.ir.loc = mlirOperationGetLocation(l->list[i]->op);
    ok = lower_comprehension(&b, l->list[i]);
  }
  b.keep = false;
  b.position = INTPTR_MAX;
  lower_free_dead(&b);
  if (ok)
    ir_op(&b.ir, "func.return", 0, NULL, 0, NULL, 0, NULL, 0, NULL);
  f->top = NULL;
  lower_block_end(&b);
}
