//===- krnl_build.c - Making krnl ops from C ------------------------------------------===//
#include "passes/krnl_build.h"

#include <stdlib.h>

struct krnl_bound krnl_bound_constant(MlirContext ctx, int64_t value) {
  return (struct krnl_bound){mlirAffineMapConstantGet(ctx, value), 0, NULL};
}

struct krnl_bound krnl_bound_value(MlirContext ctx, const MlirValue *value) {
  MlirAffineExpr s0 = mlirAffineSymbolExprGet(ctx, 0);
  return (struct krnl_bound){mlirAffineMapGet(ctx, 0, 1, 1, &s0), 1, value};
}

struct krnl_bound krnl_bound_map(MlirAffineMap map, intptr_t n, const MlirValue *operands) {
  return (struct krnl_bound){map, n, operands};
}

static MlirAttribute strings(MlirContext ctx, intptr_t n, const char *const *texts) {
  MlirAttribute *list = malloc(sizeof(*list) * (size_t)(n + 1));
  for (intptr_t i = 0; i < n; ++i)
    list[i] = ir_string_attr(ctx, texts[i]);
  MlirAttribute array = mlirArrayAttrGet(ctx, n, list);
  free(list);
  return array;
}

MlirOperation krnl_build_define_loops(struct ir *ir, intptr_t n, MlirValue *loops, const char *nest,
                                      const char *const *labels) {
  struct ir_attr attrs[3] = {{"num_loops", ir_i64_attr(ir->ctx, n)}};
  intptr_t num_attrs = 1;
  if (nest)
    attrs[num_attrs++] = (struct ir_attr){"nest", ir_string_attr(ir->ctx, nest)};
  if (labels)
    attrs[num_attrs++] = (struct ir_attr){"labels", strings(ir->ctx, n, labels)};
  MlirType *types = malloc(sizeof(*types) * (size_t)(n + 1));
  for (intptr_t i = 0; i < n; ++i)
    types[i] = krnl_loop_get(ir->ctx);
  MlirOperation op =
      ir_op(ir, krnl_define_loops.name, 0, NULL, n, types, num_attrs, attrs, 0, NULL);
  free(types);
  for (intptr_t i = 0; i < n; ++i)
    loops[i] = ir_result(op, i);
  return op;
}

// Operands in the op's order and the `bounds` attribute.
static MlirOperation make_iterate(struct ir *ir, intptr_t num_optimized, const MlirValue *optimized,
                                  intptr_t n, const MlirValue *loops,
                                  const struct krnl_bound *lower, const struct krnl_bound *upper,
                                  intptr_t num_inits, const MlirValue *inits, MlirRegion region) {
  intptr_t count = num_optimized + n + num_inits, next = 0;
  for (intptr_t i = 0; i < n; ++i)
    count += lower[i].n + upper[i].n;
  MlirValue *operands = malloc(sizeof(*operands) * (size_t)(count + 1));
  MlirAttribute *maps = malloc(sizeof(*maps) * (size_t)(2 * n + 1));
  MlirType *types = malloc(sizeof(*types) * (size_t)(num_inits + 1));
  for (intptr_t i = 0; i < num_optimized; ++i)
    operands[next++] = optimized[i];
  for (intptr_t i = 0; i < n; ++i) {
    operands[next++] = loops[i];
    for (intptr_t j = 0; j < lower[i].n; ++j)
      operands[next++] = lower[i].operands[j];
    for (intptr_t j = 0; j < upper[i].n; ++j)
      operands[next++] = upper[i].operands[j];
    maps[2 * i] = mlirAffineMapAttrGet(lower[i].map);
    maps[2 * i + 1] = mlirAffineMapAttrGet(upper[i].map);
  }
  for (intptr_t i = 0; i < num_inits; ++i) {
    operands[next++] = inits[i];
    types[i] = mlirValueGetType(inits[i]);
  }
  struct ir_attr attrs[] = {{"bounds", mlirArrayAttrGet(ir->ctx, 2 * n, maps)},
                            {"num_optimized_loops", ir_i64_attr(ir->ctx, num_optimized)}};
  MlirOperation op =
      ir_op(ir, krnl_iterate.name, count, operands, num_inits, types, 2, attrs, 1, &region);
  free(operands);
  free(maps);
  free(types);
  return op;
}

MlirOperation krnl_build_scheduled_iterate(struct ir *ir, intptr_t num_optimized,
                                           const MlirValue *optimized, intptr_t n,
                                           const MlirValue *loops, const struct krnl_bound *lower,
                                           const struct krnl_bound *upper, intptr_t num_inits,
                                           const MlirValue *inits, struct ir *body) {
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  for (intptr_t i = 0; i < n; ++i)
    mlirBlockAddArgument(block, ir_index_type(ir), ir->loc);
  for (intptr_t i = 0; i < num_inits; ++i)
    mlirBlockAddArgument(block, mlirValueGetType(inits[i]), ir->loc);
  mlirRegionAppendOwnedBlock(region, block);
  MlirOperation op =
      make_iterate(ir, num_optimized, optimized, n, loops, lower, upper, num_inits, inits, region);
  struct ir at = ir_at_end(block, ir->loc);
  if (!num_inits)
    at.before = ir_op(&at, krnl_yield.name, 0, NULL, 0, NULL, 0, NULL, 0, NULL);
  *body = at;
  return op;
}

MlirOperation krnl_build_iterate(struct ir *ir, intptr_t n, const MlirValue *loops,
                                 const struct krnl_bound *lower, const struct krnl_bound *upper,
                                 intptr_t num_inits, const MlirValue *inits, struct ir *body) {
  return krnl_build_scheduled_iterate(ir, n, loops, n, loops, lower, upper, num_inits, inits, body);
}

void krnl_build_yield(struct ir *ir, intptr_t n, const MlirValue *values) {
  ir_yield(ir, krnl_yield.name, n, values);
}

MlirOperation krnl_build_nest(struct ir *ir, intptr_t n, const int64_t *sizes,
                              const MlirValue *dynamic, intptr_t num_inits, const MlirValue *inits,
                              const char *nest, struct ir *body) {
  MlirValue *loops = malloc(sizeof(*loops) * (size_t)(n + 1));
  struct krnl_bound *lower = malloc(sizeof(*lower) * (size_t)(2 * n + 1)), *upper = lower + n;
  krnl_build_define_loops(ir, n, loops, nest, NULL);
  for (intptr_t i = 0; i < n; ++i) {
    lower[i] = krnl_bound_constant(ir->ctx, 0);
    upper[i] = sizes[i] < 0 ? krnl_bound_value(ir->ctx, dynamic++)
                            : krnl_bound_constant(ir->ctx, sizes[i]);
  }
  MlirOperation op = krnl_build_iterate(ir, n, loops, lower, upper, num_inits, inits, body);
  free(loops);
  free(lower);
  return op;
}

void krnl_build_block(struct ir *ir, MlirValue loop, int64_t tile, MlirValue *outer,
                      MlirValue *inner) {
  MlirType types[] = {krnl_loop_get(ir->ctx), krnl_loop_get(ir->ctx)};
  struct ir_attr attr = {"tile_size", ir_i64_attr(ir->ctx, tile)};
  MlirOperation op = ir_op(ir, krnl_block.name, 1, &loop, 2, types, 1, &attr, 0, NULL);
  *outer = ir_result(op, 0);
  *inner = ir_result(op, 1);
}

void krnl_build_permute(struct ir *ir, intptr_t n, const MlirValue *loops, const int64_t *map) {
  struct ir_attr attr = {"map", ir_i64_array_attr(ir->ctx, n, map)};
  ir_op(ir, krnl_permute.name, n, loops, 0, NULL, 1, &attr, 0, NULL);
}

void krnl_build_parallel(struct ir *ir, intptr_t n, const MlirValue *loops) {
  ir_op(ir, krnl_parallel.name, n, loops, 0, NULL, 0, NULL, 0, NULL);
}

void krnl_build_unroll(struct ir *ir, MlirValue loop) {
  ir_op(ir, krnl_unroll.name, 1, &loop, 0, NULL, 0, NULL, 0, NULL);
}

MlirValue krnl_build_load(struct ir *ir, MlirValue memref, intptr_t n, const MlirValue *indices) {
  MlirValue *operands = malloc(sizeof(*operands) * (size_t)(n + 1));
  operands[0] = memref;
  for (intptr_t i = 0; i < n; ++i)
    operands[i + 1] = indices[i];
  MlirType type = mlirShapedTypeGetElementType(mlirValueGetType(memref));
  MlirOperation op = ir_op(ir, krnl_load.name, n + 1, operands, 1, &type, 0, NULL, 0, NULL);
  free(operands);
  return ir_result(op, 0);
}

void krnl_build_store(struct ir *ir, MlirValue value, MlirValue memref, intptr_t n,
                      const MlirValue *indices) {
  MlirValue *operands = malloc(sizeof(*operands) * (size_t)(n + 2));
  operands[0] = value;
  operands[1] = memref;
  for (intptr_t i = 0; i < n; ++i)
    operands[i + 2] = indices[i];
  ir_op(ir, krnl_store.name, n + 2, operands, 0, NULL, 0, NULL, 0, NULL);
  free(operands);
}

void krnl_build_memset(struct ir *ir, MlirValue memref, MlirValue value) {
  ir_op(ir, krnl_memset.name, 2, (MlirValue[]){memref, value}, 0, NULL, 0, NULL, 0, NULL);
}

void krnl_build_memcpy(struct ir *ir, MlirValue to, MlirValue from, MlirValue count,
                       MlirValue to_offset, MlirValue from_offset) {
  MlirValue operands[] = {to, from, count, to_offset, from_offset};
  ir_op(ir, krnl_memcpy.name, 5, operands, 0, NULL, 0, NULL, 0, NULL);
}

MlirValue krnl_build_global(struct ir *ir, const char *name, MlirType type, MlirAttribute value) {
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t *shape = malloc(sizeof(*shape) * (size_t)(rank + 1));
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(type, i);
  struct ir_attr attrs[] = {{"name", ir_string_attr(ir->ctx, name)},
                            {"shape", ir_i64_array_attr(ir->ctx, rank, shape)},
                            {"value", value}};
  free(shape);
  return ir_result(ir_op(ir, krnl_global.name, 0, NULL, 1, &type, 3, attrs, 0, NULL), 0);
}

MlirOperation krnl_build_region(struct ir *ir, struct ir *body) {
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, block);
  MlirOperation op = ir_op(ir, krnl_region.name, 0, NULL, 0, NULL, 0, NULL, 1, &region);
  *body = ir_at_end(block, ir->loc);
  return op;
}
