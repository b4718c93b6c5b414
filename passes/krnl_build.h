//===- krnl_build.h - Making krnl ops from C ---------------------------------------===//
#ifndef ONYX_PASSES_KRNL_BUILD_H
#define ONYX_PASSES_KRNL_BUILD_H

#include "dialects/krnl/krnl.h"
#include "passes/ir_build.h"

// A bound of a loop: an affine map over its operands (dims, then symbols); several results mean max
// for a lower bound and min for an upper one. The operands array must live until the iterate is
// made.
struct krnl_bound {
  MlirAffineMap map;
  intptr_t n;
  const MlirValue *operands;
};
struct krnl_bound krnl_bound_constant(MlirContext ctx, int64_t value);
struct krnl_bound krnl_bound_value(MlirContext ctx, const MlirValue *value); // ()[s0] -> (s0)
struct krnl_bound krnl_bound_map(MlirAffineMap map, intptr_t n, const MlirValue *operands);

// loops[0..n) are set. `nest` (may be NULL) names the nest for krnl-schedule; `labels` (may be
// NULL) one a loop.
MlirOperation krnl_build_define_loops(struct ir *ir, intptr_t n, MlirValue *loops, const char *nest,
                                      const char *const *labels);
// Iterates over n loops, unscheduled: optimised and original loops are the same. Body arguments:
// one index a loop, then the iter_args (ir_arg(body, i)). Without inits the krnl.yield is there
// already and `body` stands before it; with inits the caller ends the body by krnl_build_yield.
// Operand order is taken care of here.
MlirOperation krnl_build_iterate(struct ir *ir, intptr_t n, const MlirValue *loops,
                                 const struct krnl_bound *lower, const struct krnl_bound *upper,
                                 intptr_t num_inits, const MlirValue *inits, struct ir *body);
// The same with optimised loops that a schedule (block, permute) made of the originals.
MlirOperation krnl_build_scheduled_iterate(struct ir *ir, intptr_t num_optimized,
                                           const MlirValue *optimized, intptr_t n,
                                           const MlirValue *loops, const struct krnl_bound *lower,
                                           const struct krnl_bound *upper, intptr_t num_inits,
                                           const MlirValue *inits, struct ir *body);
void krnl_build_yield(struct ir *ir, intptr_t n, const MlirValue *values);

// define_loops and iterate over a box [0, sizes[i]) in one: sizes[i] < 0 takes the next of
// `dynamic` (index values). Rank 0 is legal: the body runs once.
MlirOperation krnl_build_nest(struct ir *ir, intptr_t n, const int64_t *sizes,
                              const MlirValue *dynamic, intptr_t num_inits, const MlirValue *inits,
                              const char *nest, struct ir *body);

void krnl_build_block(struct ir *ir, MlirValue loop, int64_t tile, MlirValue *outer,
                      MlirValue *inner);
void krnl_build_permute(struct ir *ir, intptr_t n, const MlirValue *loops, const int64_t *map);
void krnl_build_parallel(struct ir *ir, intptr_t n, const MlirValue *loops);
void krnl_build_unroll(struct ir *ir, MlirValue loop);

MlirValue krnl_build_load(struct ir *ir, MlirValue memref, intptr_t n, const MlirValue *indices);
void krnl_build_store(struct ir *ir, MlirValue value, MlirValue memref, intptr_t n,
                      const MlirValue *indices);
void krnl_build_memset(struct ir *ir, MlirValue memref, MlirValue value);
// count, offsets in elements; count : i64, offsets : index.
void krnl_build_memcpy(struct ir *ir, MlirValue to, MlirValue from, MlirValue count,
                       MlirValue to_offset, MlirValue from_offset);
// value: a dense elements attribute or #onnx.file<...>; type: a static memref.
MlirValue krnl_build_global(struct ir *ir, const char *name, MlirType type, MlirAttribute value);
// A scope for bounds that are computed inside a loop; `body` is its block.
MlirOperation krnl_build_region(struct ir *ir, struct ir *body);

#endif // ONYX_PASSES_KRNL_BUILD_H
