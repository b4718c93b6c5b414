//===- ir_build.c - Making ops of stock dialects from C ---------------------------===//
#include "passes/ir_build.h"

#include <stdlib.h>
#include <string.h>

struct ir ir_before(MlirOperation op) {
  return (struct ir){mlirOperationGetContext(op), mlirOperationGetLocation(op),
                     mlirOperationGetBlock(op), op};
}

struct ir ir_after(MlirOperation op) {
  return (struct ir){mlirOperationGetContext(op), mlirOperationGetLocation(op),
                     mlirOperationGetBlock(op), mlirOperationGetNextInBlock(op)};
}

struct ir ir_at_start(MlirBlock block, MlirLocation loc) {
  return (struct ir){mlirLocationGetContext(loc), loc, block, mlirBlockGetFirstOperation(block)};
}

struct ir ir_at_end(MlirBlock block, MlirLocation loc) {
  return (struct ir){mlirLocationGetContext(loc), loc, block, (MlirOperation){NULL}};
}

bool ir_is(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), ir_str(name));
}

MlirValue ir_result(MlirOperation op, intptr_t i) {
  return mlirOperationGetResult(op, i);
}

void ir_insert(struct ir *ir, MlirOperation op) {
  if (mlirOperationIsNull(ir->before))
    mlirBlockAppendOwnedOperation(ir->block, op);
  else
    mlirBlockInsertOwnedOperationBefore(ir->block, ir->before, op);
}

MlirOperation ir_op(struct ir *ir, const char *name, intptr_t num_operands,
                    const MlirValue *operands, intptr_t num_types, const MlirType *types,
                    intptr_t num_attrs, const struct ir_attr *attrs, intptr_t num_regions,
                    const MlirRegion *regions) {
  MlirOperationState state = mlirOperationStateGet(ir_str(name), ir->loc);
  mlirOperationStateAddOperands(&state, num_operands, operands);
  mlirOperationStateAddResults(&state, num_types, types);
  for (intptr_t i = 0; i < num_attrs; ++i) {
    MlirNamedAttribute named =
        mlirNamedAttributeGet(mlirIdentifierGet(ir->ctx, ir_str(attrs[i].name)), attrs[i].value);
    mlirOperationStateAddAttributes(&state, 1, &named);
  }
  mlirOperationStateAddOwnedRegions(&state, num_regions, regions);
  MlirOperation op = mlirOperationCreate(&state);
  ir_insert(ir, op);
  return op;
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

MlirType ir_index_type(struct ir *ir) {
  return mlirIndexTypeGet(ir->ctx);
}
MlirType ir_int_type(struct ir *ir, unsigned width) {
  return mlirIntegerTypeGet(ir->ctx, width);
}
MlirType ir_f32_type(struct ir *ir) {
  return mlirF32TypeGet(ir->ctx);
}
int64_t ir_dynamic(void) {
  return mlirShapedTypeGetDynamicSize();
}

MlirType ir_memref(MlirType element, intptr_t rank, const int64_t *shape) {
  return mlirMemRefTypeContiguousGet(element, rank, shape, mlirAttributeGetNull());
}

MlirAttribute ir_i64_attr(MlirContext ctx, int64_t value) {
  return mlirIntegerAttrGet(mlirIntegerTypeGet(ctx, 64), value);
}

MlirAttribute ir_index_attr(MlirContext ctx, int64_t value) {
  return mlirIntegerAttrGet(mlirIndexTypeGet(ctx), value);
}

MlirAttribute ir_string_attr(MlirContext ctx, const char *text) {
  return mlirStringAttrGet(ctx, ir_str(text));
}

MlirAttribute ir_i64_array_attr(MlirContext ctx, intptr_t n, const int64_t *values) {
  MlirAttribute *list = malloc(sizeof(*list) * (size_t)(n ? n : 1));
  for (intptr_t i = 0; i < n; ++i)
    list[i] = ir_i64_attr(ctx, values[i]);
  MlirAttribute array = mlirArrayAttrGet(ctx, n, list);
  free(list);
  return array;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

MlirValue ir_constant(struct ir *ir, MlirAttribute value, MlirType type) {
  struct ir_attr attr = {"value", value};
  return ir_result(ir_op(ir, "arith.constant", 0, NULL, 1, &type, 1, &attr, 0, NULL), 0);
}

// A scalar attribute, or a splat of it when `type` is a vector.
static MlirValue splat_constant(struct ir *ir, MlirType type, MlirAttribute scalar) {
  if (mlirTypeIsAShaped(type))
    scalar = mlirDenseElementsAttrSplatGet(type, scalar);
  return ir_constant(ir, scalar, type);
}

static MlirType scalar_type(MlirType type) {
  return mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type;
}

MlirValue ir_index(struct ir *ir, int64_t value) {
  return ir_constant(ir, ir_index_attr(ir->ctx, value), ir_index_type(ir));
}

MlirValue ir_int(struct ir *ir, MlirType type, int64_t value) {
  return splat_constant(ir, type, mlirIntegerAttrGet(scalar_type(type), value));
}

MlirValue ir_float(struct ir *ir, MlirType type, double value) {
  return splat_constant(ir, type, mlirFloatAttrDoubleGet(ir->ctx, scalar_type(type), value));
}

MlirValue ir_zero(struct ir *ir, MlirType type) {
  return mlirTypeIsAFloat(scalar_type(type)) ? ir_float(ir, type, 0.0) : ir_int(ir, type, 0);
}

bool ir_constant_int(MlirValue v, int64_t *value) {
  if (!mlirValueIsAOpResult(v))
    return false;
  MlirOperation def = mlirOpResultGetOwner(v);
  if (!ir_is(def, "arith.constant"))
    return false;
  MlirAttribute attr = mlirOperationGetAttributeByName(def, ir_str("value"));
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAInteger(attr))
    return false;
  MlirType type = mlirAttributeGetType(attr);
  if (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) > 64)
    return false;
  *value = mlirIntegerAttrGetValueInt(attr);
  return true;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static MlirValue one_result(struct ir *ir, const char *name, intptr_t n, const MlirValue *operands,
                            MlirType type) {
  return ir_result(ir_op(ir, name, n, operands, 1, &type, 0, NULL, 0, NULL), 0);
}

MlirValue ir_unary(struct ir *ir, const char *name, MlirValue a) {
  return one_result(ir, name, 1, &a, mlirValueGetType(a));
}

MlirValue ir_binary(struct ir *ir, const char *name, MlirValue a, MlirValue b) {
  return one_result(ir, name, 2, (MlirValue[]){a, b}, mlirValueGetType(a));
}

MlirValue ir_ternary(struct ir *ir, const char *name, MlirValue a, MlirValue b, MlirValue c) {
  return one_result(ir, name, 3, (MlirValue[]){a, b, c}, mlirValueGetType(a));
}

MlirValue ir_cast(struct ir *ir, const char *name, MlirValue a, MlirType to) {
  return one_result(ir, name, 1, &a, to);
}

MlirValue ir_to_index(struct ir *ir, MlirValue v) {
  return mlirTypeIsAIndex(mlirValueGetType(v))
             ? v
             : ir_cast(ir, "arith.index_cast", v, ir_index_type(ir));
}

MlirValue ir_from_index(struct ir *ir, MlirValue v, MlirType to) {
  return mlirTypeEqual(mlirValueGetType(v), to) ? v : ir_cast(ir, "arith.index_cast", v, to);
}

// i1, or a vector of i1 of the operand's shape.
static MlirType comparison_type(struct ir *ir, MlirType operand) {
  MlirType i1 = ir_int_type(ir, 1);
  if (!mlirTypeIsAVector(operand))
    return i1;
  int64_t shape[8];
  intptr_t rank = mlirShapedTypeGetRank(operand);
  for (intptr_t i = 0; i < rank && i < 8; ++i)
    shape[i] = mlirShapedTypeGetDimSize(operand, i);
  return mlirVectorTypeGet(rank < 8 ? rank : 8, shape, i1);
}

static MlirValue compare(struct ir *ir, const char *name, int64_t predicate, MlirValue a,
                         MlirValue b) {
  MlirType type = comparison_type(ir, mlirValueGetType(a));
  struct ir_attr attr = {"predicate", ir_i64_attr(ir->ctx, predicate)};
  MlirValue operands[] = {a, b};
  return ir_result(ir_op(ir, name, 2, operands, 1, &type, 1, &attr, 0, NULL), 0);
}

MlirValue ir_cmpi(struct ir *ir, enum ir_cmpi predicate, MlirValue a, MlirValue b) {
  return compare(ir, "arith.cmpi", predicate, a, b);
}

MlirValue ir_cmpf(struct ir *ir, enum ir_cmpf predicate, MlirValue a, MlirValue b) {
  return compare(ir, "arith.cmpf", predicate, a, b);
}

MlirValue ir_select(struct ir *ir, MlirValue condition, MlirValue a, MlirValue b) {
  return one_result(ir, "arith.select", 3, (MlirValue[]){condition, a, b}, mlirValueGetType(a));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static MlirValue allocate(struct ir *ir, const char *name, MlirType type, intptr_t n,
                          const MlirValue *dynamic, int64_t alignment) {
  int32_t segments[] = {(int32_t)n, 0};
  struct ir_attr attrs[] = {
      {"operandSegmentSizes", mlirDenseI32ArrayGet(ir->ctx, 2, segments)},
      {"alignment", alignment ? ir_i64_attr(ir->ctx, alignment) : mlirAttributeGetNull()}};
  return ir_result(ir_op(ir, name, n, dynamic, 1, &type, alignment ? 2 : 1, attrs, 0, NULL), 0);
}

MlirValue ir_alloc(struct ir *ir, MlirType type, intptr_t n, const MlirValue *dynamic,
                   int64_t alignment) {
  return allocate(ir, "memref.alloc", type, n, dynamic, alignment);
}

MlirValue ir_alloca(struct ir *ir, MlirType type, intptr_t n, const MlirValue *dynamic) {
  return allocate(ir, "memref.alloca", type, n, dynamic, 0);
}

void ir_dealloc(struct ir *ir, MlirValue memref) {
  ir_op(ir, "memref.dealloc", 1, &memref, 0, NULL, 0, NULL, 0, NULL);
}

MlirValue ir_dim(struct ir *ir, MlirValue memref, int64_t axis) {
  MlirType type = mlirValueGetType(memref);
  if (!mlirShapedTypeIsDynamicDim(type, axis))
    return ir_index(ir, mlirShapedTypeGetDimSize(type, axis));
  MlirValue operands[] = {memref, ir_index(ir, axis)};
  return one_result(ir, "memref.dim", 2, operands, ir_index_type(ir));
}

// `first` operands, then `n` more, in one new array (caller frees).
static MlirValue *concat(intptr_t m, const MlirValue *first, intptr_t n, const MlirValue *rest) {
  MlirValue *all = malloc(sizeof(*all) * (size_t)(m + n + 1));
  for (intptr_t i = 0; i < m; ++i)
    all[i] = first[i];
  for (intptr_t i = 0; i < n; ++i)
    all[m + i] = rest[i];
  return all;
}

MlirValue ir_load(struct ir *ir, MlirValue memref, intptr_t n, const MlirValue *indices) {
  MlirValue *operands = concat(1, &memref, n, indices);
  MlirValue result = one_result(ir, "memref.load", n + 1, operands,
                                mlirShapedTypeGetElementType(mlirValueGetType(memref)));
  free(operands);
  return result;
}

void ir_store(struct ir *ir, MlirValue value, MlirValue memref, intptr_t n,
              const MlirValue *indices) {
  MlirValue *operands = concat(2, (MlirValue[]){value, memref}, n, indices);
  ir_op(ir, "memref.store", n + 2, operands, 0, NULL, 0, NULL, 0, NULL);
  free(operands);
}

MlirValue ir_view(struct ir *ir, MlirValue bytes, MlirValue byte_offset, MlirType type, intptr_t n,
                  const MlirValue *dynamic) {
  MlirValue *operands = concat(2, (MlirValue[]){bytes, byte_offset}, n, dynamic);
  MlirValue result = one_result(ir, "memref.view", n + 2, operands, type);
  free(operands);
  return result;
}

MlirValue ir_memref_cast(struct ir *ir, MlirValue memref, MlirType to) {
  return mlirTypeEqual(mlirValueGetType(memref), to) ? memref
                                                     : ir_cast(ir, "memref.cast", memref, to);
}

// Strides of an identity layout over `sizes`: suffix products; static where the type has static
// dims.
static MlirValue reinterpret_ranked(struct ir *ir, MlirValue memref, MlirType to,
                                    const MlirValue *sizes, intptr_t rank) {
  int64_t dynamic = ir_dynamic(), offset = 0, static_stride = 1;
  int64_t *static_sizes = malloc(sizeof(int64_t) * (size_t)(2 * rank + 1));
  int64_t *static_strides = static_sizes + rank;
  MlirValue *operands = malloc(sizeof(MlirValue) * (size_t)(2 * rank + 1));
  MlirValue *strides = malloc(sizeof(MlirValue) * (size_t)(rank + 1));
  intptr_t num_sizes = 0, num_strides = 0;
  MlirValue stride = {NULL};
  for (intptr_t i = rank - 1; i >= 0; --i) {
    int64_t size = mlirShapedTypeGetDimSize(to, i);
    bool is_dynamic = mlirShapedTypeIsDynamicSize(size);
    static_sizes[i] = is_dynamic ? dynamic : size;
    static_strides[i] = static_stride;
    strides[i] = stride;
    if (i == 0)
      break;
    if (static_stride != dynamic && !is_dynamic) {
      static_stride *= size;
      continue;
    }
    MlirValue so_far = static_stride == dynamic ? stride : ir_index(ir, static_stride);
    stride = ir_binary(ir, "arith.muli", so_far, is_dynamic ? sizes[i] : ir_index(ir, size));
    static_stride = dynamic;
  }
  operands[0] = memref;
  for (intptr_t i = 0; i < rank; ++i)
    if (static_sizes[i] == dynamic)
      operands[1 + num_sizes++] = sizes[i];
  for (intptr_t i = 0; i < rank; ++i)
    if (static_strides[i] == dynamic)
      operands[1 + num_sizes + num_strides++] = strides[i];
  int32_t segments[] = {1, 0, (int32_t)num_sizes, (int32_t)num_strides};
  struct ir_attr attrs[] = {
      {"operandSegmentSizes", mlirDenseI32ArrayGet(ir->ctx, 4, segments)},
      {"static_offsets", mlirDenseI64ArrayGet(ir->ctx, 1, &offset)},
      {"static_sizes", mlirDenseI64ArrayGet(ir->ctx, rank, static_sizes)},
      {"static_strides", mlirDenseI64ArrayGet(ir->ctx, rank, static_strides)}};
  // Dynamic strides give a strided layout first; the cast says that it is the identity.
  MlirType type = to;
  if (num_strides) {
    MlirAttribute layout = mlirStridedLayoutAttrGet(ir->ctx, 0, rank, static_strides);
    int64_t *shape = static_sizes;
    type = mlirMemRefTypeGet(mlirShapedTypeGetElementType(to), rank, shape, layout,
                             mlirAttributeGetNull());
  }
  MlirOperation op = ir_op(ir, "memref.reinterpret_cast", 1 + num_sizes + num_strides, operands, 1,
                           &type, 4, attrs, 0, NULL);
  free(static_sizes);
  free(operands);
  free(strides);
  return ir_memref_cast(ir, ir_result(op, 0), to);
}

MlirValue ir_reinterpret(struct ir *ir, MlirValue memref, MlirType to, const MlirValue *sizes) {
  return reinterpret_ranked(ir, memref, to, sizes, mlirShapedTypeGetRank(to));
}

MlirValue ir_get_global(struct ir *ir, const char *symbol, MlirType type) {
  struct ir_attr attr = {"name", mlirFlatSymbolRefAttrGet(ir->ctx, ir_str(symbol))};
  return ir_result(ir_op(ir, "memref.get_global", 0, NULL, 1, &type, 1, &attr, 0, NULL), 0);
}

void ir_copy(struct ir *ir, MlirValue from, MlirValue to) {
  ir_op(ir, "memref.copy", 2, (MlirValue[]){from, to}, 0, NULL, 0, NULL, 0, NULL);
}

//===----------------------------------------------------------------------===//
// Affine
//===----------------------------------------------------------------------===//

static MlirValue affine_index(struct ir *ir, const char *name, MlirAffineMap map, intptr_t n,
                              const MlirValue *operands) {
  MlirType type = ir_index_type(ir);
  struct ir_attr attr = {"map", mlirAffineMapAttrGet(map)};
  return ir_result(ir_op(ir, name, n, operands, 1, &type, 1, &attr, 0, NULL), 0);
}

MlirValue ir_apply(struct ir *ir, MlirAffineMap map, intptr_t n, const MlirValue *operands) {
  return affine_index(ir, "affine.apply", map, n, operands);
}

MlirValue ir_affine_min(struct ir *ir, MlirAffineMap map, intptr_t n, const MlirValue *operands) {
  return affine_index(ir, "affine.min", map, n, operands);
}

MlirValue ir_affine_max(struct ir *ir, MlirAffineMap map, intptr_t n, const MlirValue *operands) {
  return affine_index(ir, "affine.max", map, n, operands);
}

MlirValue ir_affine_load(struct ir *ir, MlirValue memref, MlirAffineMap map, intptr_t n,
                         const MlirValue *operands) {
  MlirValue *all = concat(1, &memref, n, operands);
  MlirType type = mlirShapedTypeGetElementType(mlirValueGetType(memref));
  struct ir_attr attr = {"map", mlirAffineMapAttrGet(map)};
  MlirValue result =
      ir_result(ir_op(ir, "affine.load", n + 1, all, 1, &type, 1, &attr, 0, NULL), 0);
  free(all);
  return result;
}

void ir_affine_store(struct ir *ir, MlirValue value, MlirValue memref, MlirAffineMap map,
                     intptr_t n, const MlirValue *operands) {
  MlirValue *all = concat(2, (MlirValue[]){value, memref}, n, operands);
  struct ir_attr attr = {"map", mlirAffineMapAttrGet(map)};
  ir_op(ir, "affine.store", n + 2, all, 0, NULL, 1, &attr, 0, NULL);
  free(all);
}

// A region of one block with arguments: `first` (unless null), then the types of the values.
static MlirRegion loop_region(struct ir *ir, MlirType first, intptr_t n, const MlirValue *values,
                              MlirBlock *block) {
  MlirRegion region = mlirRegionCreate();
  *block = mlirBlockCreate(0, NULL, NULL);
  if (!mlirTypeIsNull(first))
    mlirBlockAddArgument(*block, first, ir->loc);
  for (intptr_t i = 0; i < n; ++i)
    mlirBlockAddArgument(*block, mlirValueGetType(values[i]), ir->loc);
  mlirRegionAppendOwnedBlock(region, *block);
  return region;
}

// Sets `body`; without results the terminator is made now and body stands before it.
static void open_body(struct ir *ir, MlirBlock block, const char *terminator, bool has_results,
                      struct ir *body) {
  struct ir at = ir_at_end(block, ir->loc);
  if (!has_results)
    at.before = ir_op(&at, terminator, 0, NULL, 0, NULL, 0, NULL, 0, NULL);
  if (body)
    *body = at;
}

static MlirType *types_of(intptr_t n, const MlirValue *values) {
  MlirType *types = malloc(sizeof(*types) * (size_t)(n + 1));
  for (intptr_t i = 0; i < n; ++i)
    types[i] = mlirValueGetType(values[i]);
  return types;
}

MlirOperation ir_affine_for(struct ir *ir, MlirAffineMap lower, intptr_t num_lower,
                            const MlirValue *lower_operands, MlirAffineMap upper,
                            intptr_t num_upper, const MlirValue *upper_operands, int64_t step,
                            intptr_t num_inits, const MlirValue *inits, struct ir *body) {
  MlirValue *bounds = concat(num_lower, lower_operands, num_upper, upper_operands);
  MlirValue *operands = concat(num_lower + num_upper, bounds, num_inits, inits);
  MlirType *types = types_of(num_inits, inits);
  int32_t segments[] = {(int32_t)num_lower, (int32_t)num_upper, (int32_t)num_inits};
  struct ir_attr attrs[] = {{"lowerBoundMap", mlirAffineMapAttrGet(lower)},
                            {"upperBoundMap", mlirAffineMapAttrGet(upper)},
                            {"step", ir_index_attr(ir->ctx, step)},
                            {"operandSegmentSizes", mlirDenseI32ArrayGet(ir->ctx, 3, segments)}};
  MlirBlock block;
  MlirRegion region = loop_region(ir, ir_index_type(ir), num_inits, inits, &block);
  MlirOperation op = ir_op(ir, "affine.for", num_lower + num_upper + num_inits, operands, num_inits,
                           types, 4, attrs, 1, &region);
  open_body(ir, block, "affine.yield", num_inits > 0, body);
  free(bounds);
  free(operands);
  free(types);
  return op;
}

//===----------------------------------------------------------------------===//
// scf, func
//===----------------------------------------------------------------------===//

MlirOperation ir_for(struct ir *ir, MlirValue lower, MlirValue upper, MlirValue step,
                     intptr_t num_inits, const MlirValue *inits, struct ir *body) {
  MlirValue *operands = concat(3, (MlirValue[]){lower, upper, step}, num_inits, inits);
  MlirType *types = types_of(num_inits, inits);
  MlirBlock block;
  MlirRegion region = loop_region(ir, mlirValueGetType(lower), num_inits, inits, &block);
  MlirOperation op =
      ir_op(ir, "scf.for", 3 + num_inits, operands, num_inits, types, 0, NULL, 1, &region);
  open_body(ir, block, "scf.yield", num_inits > 0, body);
  free(operands);
  free(types);
  return op;
}

MlirOperation ir_if(struct ir *ir, MlirValue condition, intptr_t num_types, const MlirType *types,
                    struct ir *then, struct ir *otherwise) {
  MlirType none = {NULL};
  MlirBlock blocks[2];
  MlirRegion regions[2];
  regions[0] = loop_region(ir, none, 0, NULL, &blocks[0]);
  bool has_else = otherwise || num_types;
  if (has_else)
    regions[1] = loop_region(ir, none, 0, NULL, &blocks[1]);
  else
    regions[1] = mlirRegionCreate();
  MlirOperation op = ir_op(ir, "scf.if", 1, &condition, num_types, types, 0, NULL, 2, regions);
  open_body(ir, blocks[0], "scf.yield", num_types > 0, then);
  if (has_else)
    open_body(ir, blocks[1], "scf.yield", num_types > 0, otherwise);
  return op;
}

MlirOperation ir_while(struct ir *ir, intptr_t n, const MlirValue *inits, struct ir *before,
                       struct ir *after) {
  MlirType none = {NULL}, *types = types_of(n, inits);
  MlirBlock blocks[2];
  MlirRegion regions[2];
  for (int i = 0; i < 2; ++i)
    regions[i] = loop_region(ir, none, n, inits, &blocks[i]);
  MlirOperation op = ir_op(ir, "scf.while", n, inits, n, types, 0, NULL, 2, regions);
  *before = ir_at_end(blocks[0], ir->loc);
  *after = ir_at_end(blocks[1], ir->loc);
  free(types);
  return op;
}

void ir_yield(struct ir *ir, const char *name, intptr_t n, const MlirValue *values) {
  ir_op(ir, name, n, values, 0, NULL, 0, NULL, 0, NULL);
}

MlirValue ir_arg(const struct ir *body, intptr_t i) {
  return mlirBlockGetArgument(body->block, i);
}

MlirOperation ir_call(struct ir *ir, const char *callee, intptr_t n, const MlirValue *operands,
                      intptr_t num_types, const MlirType *types) {
  struct ir_attr attr = {"callee", mlirFlatSymbolRefAttrGet(ir->ctx, ir_str(callee))};
  return ir_op(ir, "func.call", n, operands, num_types, types, 1, &attr, 0, NULL);
}

MlirOperation ir_lookup_symbol(MlirOperation module, MlirStringRef name) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = mlirOperationGetAttributeByName(op, ir_str("sym_name"));
    if (!mlirAttributeIsNull(symbol) && mlirAttributeIsAString(symbol) &&
        mlirStringRefEqual(mlirStringAttrGetValue(symbol), name))
      return op;
  }
  return (MlirOperation){NULL};
}
