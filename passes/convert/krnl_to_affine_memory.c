//===- krnl_to_affine_memory.c - Loads, stores, fills, copies and globals
//----------------------===//
#include "dialects/onnx/onnx.h"
#include "passes/convert/krnl_to_affine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

// The indices as one map; false if any is not affine there.
static bool affine_indices(MlirOperation op, intptr_t first, struct affine_list *list) {
  *list = (struct affine_list){.ctx = mlirOperationGetContext(op), .at = op};
  for (intptr_t i = first; i < mlirOperationGetNumOperands(op); ++i)
    if (!affine_list_add_value(list, mlirOperationGetOperand(op, i)))
      return false;
  return true;
}

static MlirValue *operands_from(MlirOperation op, intptr_t first) {
  intptr_t n = mlirOperationGetNumOperands(op) - first;
  MlirValue *values = malloc(sizeof(*values) * (size_t)(n + 1));
  for (intptr_t i = 0; i < n; ++i)
    values[i] = mlirOperationGetOperand(op, first + i);
  return values;
}

// The vectors of a krnl.vector_type_cast are read and written as such: the memref below, with the
// last index in elements.
static bool is_vector_cast(MlirValue memref) {
  return mlirValueIsAOpResult(memref) &&
         mlirxIsA(mlirOpResultGetOwner(memref), &krnl_vector_type_cast);
}

static void lower_vector_access(MlirOperation op, intptr_t first) {
  struct ir ir = ir_before(op);
  MlirValue memref = mlirOperationGetOperand(op, first - 1);
  MlirType vector = mlirShapedTypeGetElementType(mlirValueGetType(memref));
  intptr_t n = mlirOperationGetNumOperands(op) - first;
  MlirValue *operands = malloc(sizeof(*operands) * (size_t)(n + 3)), *indices = operands + first;
  operands[0] = mlirOperationGetOperand(op, 0);
  operands[first - 1] = mlirOperationGetOperand(mlirOpResultGetOwner(memref), 0);
  for (intptr_t i = 0; i < n; ++i)
    indices[i] = mlirOperationGetOperand(op, first + i);
  MlirValue lanes = ir_index(&ir, mlirShapedTypeGetDimSize(vector, 0));
  indices[n - 1] = ir_binary(&ir, "arith.muli", indices[n - 1], lanes);
  if (first == 1) {
    MlirOperation load = ir_op(&ir, "vector.load", n + 1, operands, 1, &vector, 0, NULL, 0, NULL);
    mlirValueReplaceAllUsesOfWith(ir_result(op, 0), ir_result(load, 0));
  } else {
    ir_op(&ir, "vector.store", n + 2, operands, 0, NULL, 0, NULL, 0, NULL);
  }
  free(operands);
  mlirOperationDestroy(op);
}

static void lower_access(MlirOperation op, intptr_t first) {
  MlirValue memref = mlirOperationGetOperand(op, first - 1);
  if (is_vector_cast(memref)) {
    lower_vector_access(op, first);
    return;
  }
  struct ir ir = ir_before(op);
  struct affine_list list;
  bool is_load = first == 1, affine = affine_indices(op, first, &list);
  MlirValue *operands = affine ? affine_list_operands(&list) : operands_from(op, first);
  intptr_t n = affine ? affine_list_num_operands(&list) : mlirOperationGetNumOperands(op) - first;
  MlirValue result = {NULL};
  if (is_load && affine)
    result = ir_affine_load(&ir, memref, affine_list_map(&list), n, operands);
  else if (is_load)
    result = ir_load(&ir, memref, n, operands);
  else if (affine)
    ir_affine_store(&ir, mlirOperationGetOperand(op, 0), memref, affine_list_map(&list), n,
                    operands);
  else
    ir_store(&ir, mlirOperationGetOperand(op, 0), memref, n, operands);
  free(operands);
  affine_list_free(&list);
  if (is_load)
    mlirValueReplaceAllUsesOfWith(ir_result(op, 0), result);
  mlirOperationDestroy(op);
}

void lower_access_op(MlirOperation op) {
  lower_access(op, mlirxIsA(op, &krnl_load) ? 1 : 2);
}

static void lower_prefetch(MlirOperation op) {
  struct ir ir = ir_before(op);
  struct affine_list list;
  bool affine = affine_indices(op, 1, &list);
  intptr_t n = affine ? affine_list_num_operands(&list) : mlirOperationGetNumOperands(op) - 1;
  MlirValue *indices = affine ? affine_list_operands(&list) : operands_from(op, 1);
  MlirValue *operands = malloc(sizeof(*operands) * (size_t)(n + 1));
  operands[0] = mlirOperationGetOperand(op, 0);
  for (intptr_t i = 0; i < n; ++i)
    operands[i + 1] = indices[i];
  const char *const names[] = {"isWrite", "localityHint", "isDataCache"};
  struct ir_attr attrs[4];
  for (int i = 0; i < 3; ++i)
    attrs[i] = (struct ir_attr){names[i], mlirOperationGetAttributeByName(op, ir_str(names[i]))};
  attrs[3] = (struct ir_attr){"map", affine ? mlirAffineMapAttrGet(affine_list_map(&list))
                                            : attrs[0].value};
  ir_op(&ir, affine ? "affine.prefetch" : "memref.prefetch", n + 1, operands, 0, NULL,
        affine ? 4 : 3, attrs, 0, NULL);
  free(indices);
  free(operands);
  affine_list_free(&list);
  mlirOperationDestroy(op);
}

//===----------------------------------------------------------------------===//
// Fills and copies
//===----------------------------------------------------------------------===//

// A loop from 0 to size; an affine.for where size may bound one.
static MlirValue open_loop(struct ir *ir, MlirValue size, MlirOperation at) {
  struct affine_list list = {.ctx = ir->ctx, .at = at};
  struct ir body;
  if (affine_list_add_value(&list, size)) {
    MlirValue *operands = affine_list_operands(&list);
    ir_affine_for(ir, mlirAffineMapConstantGet(ir->ctx, 0), 0, NULL, affine_list_map(&list),
                  affine_list_num_operands(&list), operands, 1, 0, NULL, &body);
    free(operands);
  } else {
    MlirValue zero = ir_index(ir, 0), one = ir_index(ir, 1);
    ir_for(ir, zero, size, one, 0, NULL, &body);
  }
  affine_list_free(&list);
  *ir = body;
  return ir_arg(&body, 0);
}

static void lower_memset(MlirOperation op) {
  struct ir ir = ir_before(op);
  MlirValue memref = mlirOperationGetOperand(op, 0), value = mlirOperationGetOperand(op, 1);
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(memref));
  MlirValue *indices = malloc(sizeof(*indices) * (size_t)(2 * rank + 1)), *sizes = indices + rank;
  for (intptr_t i = 0; i < rank; ++i)
    sizes[i] = ir_dim(&ir, memref, i);
  for (intptr_t i = 0; i < rank; ++i)
    indices[i] = open_loop(&ir, sizes[i], op);
  MlirValue *operands = malloc(sizeof(*operands) * (size_t)(rank + 2));
  operands[0] = value;
  operands[1] = memref;
  for (intptr_t i = 0; i < rank; ++i)
    operands[i + 2] = indices[i];
  MlirOperation store = ir_op(&ir, krnl_store.name, rank + 2, operands, 0, NULL, 0, NULL, 0, NULL);
  lower_access(store, 2);
  free(operands);
  free(indices);
  mlirOperationDestroy(op);
}

static MlirValue num_elements(struct ir *ir, MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  int64_t known = 1;
  MlirValue product = {NULL};
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i) {
    if (!mlirShapedTypeIsDynamicDim(type, i)) {
      known *= mlirShapedTypeGetDimSize(type, i);
      continue;
    }
    MlirValue size = ir_dim(ir, memref, i);
    product = product.ptr ? ir_binary(ir, "arith.muli", product, size) : size;
  }
  if (!product.ptr)
    return ir_index(ir, known);
  return known == 1 ? product : ir_binary(ir, "arith.muli", product, ir_index(ir, known));
}

// The memref's elements in one row; null after a diagnostic.
static MlirValue flatten(struct ir *ir, MlirOperation op, MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  if (!mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type))) {
    mlirxEmitError(op, "expected memrefs of identity layout");
    return (MlirValue){NULL};
  }
  if (mlirShapedTypeGetRank(type) == 1)
    return memref;
  MlirValue size = num_elements(ir, memref);
  int64_t shape, known;
  shape = ir_constant_int(size, &known) ? known : ir_dynamic();
  MlirType flat = mlirMemRefTypeContiguousGet(mlirShapedTypeGetElementType(type), 1, &shape,
                                              mlirMemRefTypeGetMemorySpace(type));
  return ir_reinterpret(ir, memref, flat, &size);
}

static bool lower_memcpy(MlirOperation op) {
  struct ir ir = ir_before(op);
  MlirValue to = flatten(&ir, op, mlirOperationGetOperand(op, 0));
  MlirValue from = flatten(&ir, op, mlirOperationGetOperand(op, 1));
  if (!to.ptr || !from.ptr)
    return false;
  int64_t count;
  MlirValue size = mlirOperationGetOperand(op, 2);
  size = ir_constant_int(size, &count) ? ir_index(&ir, count) : ir_to_index(&ir, size);
  MlirValue i = open_loop(&ir, size, op);
  MlirValue at_to = ir_binary(&ir, "arith.addi", mlirOperationGetOperand(op, 3), i);
  MlirValue at_from = ir_binary(&ir, "arith.addi", mlirOperationGetOperand(op, 4), i);
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(from));
  MlirOperation load =
      ir_op(&ir, krnl_load.name, 2, (MlirValue[]){from, at_from}, 1, &element, 0, NULL, 0, NULL);
  MlirOperation store = ir_op(&ir, krnl_store.name, 3, (MlirValue[]){ir_result(load, 0), to, at_to},
                              0, NULL, 0, NULL, 0, NULL);
  lower_access(load, 1);
  lower_access(store, 2);
  mlirOperationDestroy(op);
  return true;
}

static void lower_linear_offset(MlirOperation op) {
  struct ir ir = ir_before(op);
  MlirValue memref = mlirOperationGetOperand(op, 0), offset = {NULL};
  intptr_t rank = mlirOperationGetNumOperands(op) - 1;
  for (intptr_t i = 0; i < rank; ++i) {
    MlirValue index = mlirOperationGetOperand(op, 1 + i);
    if (offset.ptr) {
      offset = ir_binary(&ir, "arith.muli", offset, ir_dim(&ir, memref, i));
      offset = ir_binary(&ir, "arith.addi", offset, index);
    } else {
      offset = index;
    }
  }
  if (!offset.ptr)
    offset = ir_index(&ir, 0);
  mlirValueReplaceAllUsesOfWith(ir_result(op, 0), offset);
  mlirOperationDestroy(op);
}

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

struct globals { // of a module: symbols by name
  MlirOperation module;
  MlirOperation *table;
  size_t size, used;
  size_t counter;
};

static uint64_t hash_of(MlirStringRef s) {
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < s.length; ++i)
    h = (h ^ (unsigned char)s.data[i]) * 1099511628211u;
  return h ^ (h >> 29);
}

static MlirStringRef symbol_name(MlirOperation op) {
  MlirAttribute name = mlirOperationGetAttributeByName(op, ir_str("sym_name"));
  return mlirAttributeIsNull(name) || !mlirAttributeIsAString(name) ? (MlirStringRef){NULL, 0}
                                                                    : mlirStringAttrGetValue(name);
}

static MlirOperation *find_symbol(struct globals *g, MlirStringRef name) {
  size_t i = hash_of(name) & (g->size - 1);
  while (g->table[i].ptr && !mlirStringRefEqual(symbol_name(g->table[i]), name))
    i = (i + 1) & (g->size - 1);
  return &g->table[i];
}

static void add_symbol(struct globals *g, MlirOperation op) {
  if (2 * ++g->used > g->size) {
    size_t old = g->size;
    MlirOperation *table = g->table;
    g->size = old ? 2 * old : 64;
    g->table = calloc(g->size, sizeof(*g->table));
    for (size_t i = 0; i < old; ++i)
      if (table[i].ptr)
        *find_symbol(g, symbol_name(table[i])) = table[i];
    free(table);
  }
  *find_symbol(g, symbol_name(op)) = op;
}

static void read_symbols(struct globals *g) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(g->module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (symbol_name(op).data)
      add_symbol(g, op);
}

// The value as dense elements of the memref's shape and element type (signedness lives in
// operators).
static MlirAttribute initial_value(MlirOperation op, MlirAttribute value, MlirType memref) {
  intptr_t rank = mlirShapedTypeGetRank(memref);
  int64_t *shape = malloc(sizeof(*shape) * (size_t)(rank + 1));
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(memref, i);
  MlirType from = mlirShapedTypeGetElementType(mlirAttributeGetType(value));
  MlirType to = mlirShapedTypeGetElementType(memref);
  MlirType tensor = mlirRankedTensorTypeGet(rank, shape, to, mlirAttributeGetNull());
  MlirType same = mlirRankedTensorTypeGet(rank, shape, from, mlirAttributeGetNull());
  free(shape);
  MlirAttribute reshaped = mlirDenseElementsAttrReshapeGet(value, same);
  if (mlirTypeEqual(from, to))
    return reshaped;
  if (!mlirTypeIsAInteger(from) || !mlirTypeIsAInteger(to) ||
      mlirIntegerTypeGetWidth(from) != mlirIntegerTypeGetWidth(to)) {
    mlirxEmitError(op, "value: elements do not have the result's type");
    return mlirAttributeGetNull();
  }
  if (mlirDenseElementsAttrIsSplat(reshaped)) {
    MlirAttribute one = mlirDenseElementsAttrGetSplatValue(reshaped);
    uint64_t bits = mlirIntegerTypeIsUnsigned(from) ? mlirIntegerAttrGetValueUInt(one)
                                                    : (uint64_t)mlirIntegerAttrGetValueSInt(one);
    return mlirDenseElementsAttrSplatGet(tensor, mlirIntegerAttrGet(to, (int64_t)bits));
  }
  int64_t n = mlirElementsAttrGetNumElements(reshaped);
  size_t bytes = (size_t)n * ((mlirIntegerTypeGetWidth(to) + 7) / 8);
  return mlirDenseElementsAttrRawBufferGet(tensor, bytes,
                                           mlirDenseElementsAttrGetRawData(reshaped));
}

static MlirOperation make_global(struct globals *g, MlirOperation op, const char *name,
                                 MlirAttribute value) {
  MlirContext ctx = mlirOperationGetContext(op);
  struct ir ir = ir_at_start(mlirRegionGetFirstBlock(mlirOperationGetRegion(g->module, 0)),
                             mlirOperationGetLocation(op));
  MlirAttribute alignment = mlirOperationGetAttributeByName(op, ir_str("alignment"));
  struct ir_attr attrs[] = {
      {"sym_name", ir_string_attr(ctx, name)},
      {"sym_visibility", ir_string_attr(ctx, "private")},
      {"type", mlirTypeAttrGet(mlirValueGetType(ir_result(op, 0)))},
      {"initial_value", value},
      {"constant", mlirUnitAttrGet(ctx)},
      {"alignment", mlirAttributeIsNull(alignment)
                        ? ir_i64_attr(ctx, 64)
                        : ir_i64_attr(ctx, mlirIntegerAttrGetValueInt(alignment))}};
  MlirOperation global = ir_op(&ir, "memref.global", 0, NULL, 0, NULL, 6, attrs, 0, NULL);
  add_symbol(g, global);
  return global;
}

static bool same_global(MlirOperation global, MlirType type, MlirAttribute value) {
  return ir_is(global, "memref.global") &&
         mlirAttributeEqual(mlirOperationGetAttributeByName(global, ir_str("initial_value")),
                            value) &&
         mlirAttributeEqual(mlirOperationGetAttributeByName(global, ir_str("type")),
                            mlirTypeAttrGet(type));
}

static bool lower_dense_global(struct globals *g, MlirOperation op, MlirAttribute value) {
  MlirType type = mlirValueGetType(ir_result(op, 0));
  if (!(value = initial_value(op, value, type)).ptr)
    return false;
  MlirStringRef wanted =
      mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, ir_str("name")));
  size_t room = wanted.length + 32;
  char *name = malloc(room);
  snprintf(name, room, "%.*s", (int)wanted.length, wanted.data);
  MlirOperation found;
  while ((found = *find_symbol(g, ir_str(name))).ptr && !same_global(found, type, value))
    snprintf(name, room, "%.*s_%zu", (int)wanted.length, wanted.data, g->counter++);
  if (!found.ptr)
    make_global(g, op, name, value);
  struct ir ir = ir_before(op);
  mlirValueReplaceAllUsesOfWith(ir_result(op, 0), ir_get_global(&ir, name, type));
  free(name);
  mlirOperationDestroy(op);
  return true;
}

// The argument of the function around `op` that holds weights file `index`; null if there is none.
static MlirValue weights_argument(MlirOperation op, int64_t index) {
  MlirOperation function = op;
  while (!mlirOperationIsNull(function) && !ir_is(function, "func.func"))
    function = mlirOperationGetParentOperation(function);
  if (mlirOperationIsNull(function))
    return (MlirValue){NULL};
  MlirAttribute all = mlirOperationGetAttributeByName(function, ir_str("arg_attrs"));
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  for (intptr_t i = 0; !mlirAttributeIsNull(all) && i < mlirArrayAttrGetNumElements(all); ++i) {
    MlirAttribute mark =
        mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, i), ir_str("krnl.weights"));
    if (!mlirAttributeIsNull(mark) && mlirIntegerAttrGetValueInt(mark) == index)
      return mlirBlockGetArgument(entry, i);
  }
  return (MlirValue){NULL};
}

static int64_t weights_index(MlirOperation module, MlirStringRef name) {
  MlirAttribute files = mlirOperationGetAttributeByName(module, ir_str("onnx.weights_files"));
  if (mlirAttributeIsNull(files) || !mlirAttributeIsAArray(files))
    return -1;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(files); ++i) {
    MlirAttribute file = mlirArrayAttrGetElement(files, i);
    MlirAttribute n = mlirAttributeIsADictionary(file)
                          ? mlirDictionaryAttrGetElementByName(file, ir_str("name"))
                          : mlirAttributeGetNull();
    if (!mlirAttributeIsNull(n) && mlirAttributeIsAString(n) &&
        mlirStringRefEqual(mlirStringAttrGetValue(n), name))
      return i;
  }
  return -1;
}

static int64_t element_bytes(MlirType memref) {
  MlirType e = mlirShapedTypeGetElementType(memref);
  if (mlirTypeIsAInteger(e))
    return (mlirIntegerTypeGetWidth(e) + 7) / 8;
  if (mlirTypeIsAFloat(e))
    return (mlirFloatTypeGetWidth(e) + 7) / 8;
  if (mlirTypeIsAComplex(e))
    return mlirFloatTypeGetWidth(mlirComplexTypeGetElementType(e)) / 4;
  return 0;
}

static bool lower_file_global(MlirOperation op, MlirOperation module,
                              const struct onnx_file *file) {
  MlirType type = mlirValueGetType(ir_result(op, 0));
  int64_t size = element_bytes(type), bytes = size, index = weights_index(module, file->name);
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    bytes *= mlirShapedTypeGetDimSize(type, i);
  MlirValue argument = index < 0 ? (MlirValue){NULL} : weights_argument(op, index);
  if (!argument.ptr) {
    mlirxEmitError(
        op,
        "value: expected a file of onnx.weights_files that an argument of the function holds "
        "(krnl.weights), found \"%.*s\"",
        (int)file->name.length, file->name.data);
    return false;
  }
  if (!size || (uint64_t)bytes != file->bytes) {
    mlirxEmitError(op, "value: expected %lld bytes, found %llu", (long long)bytes,
                   (unsigned long long)file->bytes);
    return false;
  }
  if (file->offset % (uint64_t)size) {
    mlirxEmitError(
        op,
        "value: offset %llu is no multiple of the element's %lld bytes; such a constant is copied "
        "by the init function",
        (unsigned long long)file->offset, (long long)size);
    return false;
  }
  struct ir ir = ir_before(op);
  MlirValue offset = ir_index(&ir, (int64_t)file->offset);
  mlirValueReplaceAllUsesOfWith(ir_result(op, 0), ir_view(&ir, argument, offset, type, 0, NULL));
  mlirOperationDestroy(op);
  return true;
}

static bool lower_global(struct globals *g, MlirOperation op) {
  MlirAttribute value = mlirOperationGetAttributeByName(op, ir_str("value"));
  struct onnx_file file;
  MlirOperation module = g->module;
  if (mlirOperationIsNull(module)) // on one function only: what needs the module's symbols stays
    module = mlirOperationGetParentOperation(mlirOperationGetParentOperation(op));
  if (onnx_file_read(value, &file)) {
    while (!mlirOperationIsNull(module) && !ir_is(module, "builtin.module"))
      module = mlirOperationGetParentOperation(module);
    return lower_file_global(op, module, &file);
  }
  if (mlirOperationIsNull(g->module))
    return true;
  if (!mlirAttributeIsADenseElements(value)) {
    mlirxEmitError(op, "value: expected dense<..> or #onnx.file<..>");
    return false;
  }
  return lower_dense_global(g, op, value);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

// The declaration of what krnl.call names: a private function of the operands' types with a C
// interface.
static bool declare_callee(struct globals *g, MlirOperation op, MlirStringRef name, MlirType type) {
  MlirContext ctx = mlirOperationGetContext(op);
  MlirOperation found = *find_symbol(g, name);
  if (found.ptr) {
    MlirAttribute has = mlirOperationGetAttributeByName(found, ir_str("function_type"));
    if (ir_is(found, "func.func") && mlirAttributeEqual(has, mlirTypeAttrGet(type)))
      return true;
    mlirxEmitErrorWithNote(op, mlirOperationGetLocation(found), "declared here",
                           "funcName: @%.*s is there already, with another type", (int)name.length,
                           name.data);
    return false;
  }
  struct ir ir = ir_at_start(mlirRegionGetFirstBlock(mlirOperationGetRegion(g->module, 0)),
                             mlirOperationGetLocation(op));
  struct ir_attr attrs[] = {{"sym_name", mlirStringAttrGet(ctx, name)},
                            {"sym_visibility", ir_string_attr(ctx, "private")},
                            {"function_type", mlirTypeAttrGet(type)},
                            {"llvm.emit_c_interface", mlirUnitAttrGet(ctx)}};
  MlirRegion body = mlirRegionCreate();
  add_symbol(g, ir_op(&ir, "func.func", 0, NULL, 0, NULL, 4, attrs, 1, &body));
  return true;
}

// funcName(outputs.., inputs..) -> results; on one function only it stays, like a global.
static bool lower_call(struct globals *g, MlirOperation op) {
  if (mlirOperationIsNull(g->module))
    return true;
  intptr_t n = mlirOperationGetNumOperands(op), m = mlirOperationGetNumResults(op);
  MlirType *types = malloc(sizeof(*types) * (size_t)(n + m + 1));
  MlirValue *operands = operands_from(op, 0);
  for (intptr_t i = 0; i < n; ++i)
    types[i] = mlirValueGetType(operands[i]);
  for (intptr_t i = 0; i < m; ++i)
    types[n + i] = mlirValueGetType(ir_result(op, i));
  MlirType type = mlirFunctionTypeGet(mlirOperationGetContext(op), n, types, m, types + n);
  MlirStringRef name =
      mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, ir_str("funcName")));
  bool good = declare_callee(g, op, name, type);
  if (good) {
    struct ir ir = ir_before(op);
    struct ir_attr callee = {"callee", mlirFlatSymbolRefAttrGet(ir.ctx, name)};
    MlirOperation call = ir_op(&ir, "func.call", n, operands, m, types + n, 1, &callee, 0, NULL);
    for (intptr_t i = 0; i < m; ++i)
      mlirValueReplaceAllUsesOfWith(ir_result(op, i), ir_result(call, i));
    mlirOperationDestroy(op);
  }
  free(types);
  free(operands);
  return good;
}

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

static void lower_scalar(MlirOperation op, const char *name) {
  struct ir ir = ir_before(op);
  mlirValueReplaceAllUsesOfWith(ir_result(op, 0),
                                ir_unary(&ir, name, mlirOperationGetOperand(op, 0)));
  mlirOperationDestroy(op);
}

// isnan: unordered with itself. isinf: equal to the infinities that are asked for (both by
// default).
static void lower_classification(MlirOperation op, bool is_nan) {
  struct ir ir = ir_before(op);
  MlirValue x = mlirOperationGetOperand(op, 0), result;
  if (is_nan) {
    result = ir_cmpf(&ir, IR_UNO, x, x);
  } else {
    MlirType type = mlirValueGetType(x);
    MlirValue positive = ir_cmpf(&ir, IR_OEQ, x, ir_float(&ir, type, __builtin_inf()));
    MlirValue negative = ir_cmpf(&ir, IR_OEQ, x, ir_float(&ir, type, -__builtin_inf()));
    bool up = krnl_int_attr(op, "detectPosInf", 1) != 0,
         down = krnl_int_attr(op, "detectNegInf", 1) != 0;
    if (up && down)
      result = ir_binary(&ir, "arith.ori", positive, negative);
    else
      result = up ? positive : down ? negative : ir_zero(&ir, ir_int_type(&ir, 1));
  }
  mlirValueReplaceAllUsesOfWith(ir_result(op, 0), result);
  mlirOperationDestroy(op);
}

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

struct gathered {
  MlirOperation *ops;
  size_t n, room;
};

static MlirWalkResult gather(MlirOperation op, void *user) {
  struct gathered *g = user;
  const MlirxOp *d = mlirxOperationGetDescriptor(op);
  if (!d || strncmp(d->name, "krnl.", 5))
    return MlirWalkResultAdvance;
  if (g->n == g->room) {
    g->room = g->room ? 2 * g->room : 64;
    g->ops = realloc(g->ops, sizeof(*g->ops) * g->room);
  }
  g->ops[g->n++] = op;
  return MlirWalkResultAdvance;
}

static bool lower_op(struct globals *globals, MlirOperation op) {
  const MlirxOp *d = mlirxOperationGetDescriptor(op);
  const char *math = krnl_math_name(op);
  if (math)
    lower_scalar(op, math);
  else if (d == &krnl_load)
    lower_access(op, 1);
  else if (d == &krnl_store)
    lower_access(op, 2);
  else if (d == &krnl_prefetch)
    lower_prefetch(op);
  else if (d == &krnl_memset)
    lower_memset(op);
  else if (d == &krnl_copy_to_tile_buffer)
    return lower_copy_to_tile(op);
  else if (d == &krnl_copy_from_tile_buffer)
    return lower_copy_from_tile(op);
  else if (d == &krnl_matmul)
    return lower_matmul(op);
  else if (d == &krnl_memcpy)
    return lower_memcpy(op);
  else if (d == &krnl_get_linear_offset_index)
    lower_linear_offset(op);
  else if (d == &krnl_global)
    return lower_global(globals, op);
  else if (d == &krnl_call)
    return lower_call(globals, op);
  else if (d == &krnl_no_value && mlirxIsTriviallyDead(op))
    mlirOperationDestroy(op);
  else if (d == &krnl_isnan)
    lower_classification(op, true);
  else if (d == &krnl_isinf)
    lower_classification(op, false);
  return true;
}

// Casts to vectors whose loads and stores are lowered must have no other use.
static bool drop_vector_cast(MlirOperation op) {
  MlirOpOperand use = mlirValueGetFirstUse(ir_result(op, 0));
  if (!mlirOpOperandIsNull(use)) {
    mlirxEmitErrorWithNote(op, mlirOperationGetLocation(mlirOpOperandGetOwner(use)), "the use",
                           "expected krnl.load and krnl.store to be its only users");
    return false;
  }
  mlirOperationDestroy(op);
  return true;
}

bool lower_memory_ops(MlirOperation root, MlirOperation module) {
  struct globals globals = {.module = module};
  struct gathered g = {0};
  bool good = true;
  if (!mlirOperationIsNull(module)) {
    globals.table = calloc(globals.size = 64, sizeof(*globals.table));
    read_symbols(&globals);
  }
  mlirOperationWalk(root, gather, &g, MlirWalkPreOrder);
  size_t kept = 0;
  for (size_t i = 0; i < g.n && good; ++i) {
    if (mlirxIsA(g.ops[i], &krnl_vector_type_cast))
      g.ops[kept++] = g.ops[i];
    else
      good = lower_op(&globals, g.ops[i]);
  }
  for (size_t i = 0; i < kept && good; ++i)
    good = drop_vector_cast(g.ops[i]);
  free(g.ops);
  free(globals.table);
  return good;
}
