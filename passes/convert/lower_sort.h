//===- lower_sort.h - Sorting and selecting by loops ---------------------------------===//
#ifndef ONYX_PASSES_CONVERT_LOWER_SORT_H
#define ONYX_PASSES_CONVERT_LOWER_SORT_H

#include "passes/convert/lower.h"

// Should the item of number a stand before that of number b? Strictly: equal items keep their
// order.
typedef MlirValue (*sort_before)(struct ir *ir, MlirValue a, MlirValue b, void *user);

// Sorts the numbers in order[0, n) (memref<?xindex>) by merging; `scratch` is as long.
void emit_sort(struct ir *ir, MlirValue order, MlirValue scratch, MlirValue n, sort_before before,
               void *user);
// order[i] = i for i < n.
void emit_iota(struct ir *ir, MlirValue order, MlirValue n);
// a < b, with NaN after all numbers.
MlirValue emit_total_less(struct ir *ir, int elem, MlirValue a, MlirValue b);

// memref<?x element> of the elements of an identity-layout memref in row-major order.
MlirValue lower_flat(struct ir *ir, MlirValue memref, MlirValue *count);
// Copies all elements between identity-layout memrefs of one size. (memref.copy of layouts that are
// not static becomes a call of MLIR's runner library.)
void lower_copy_all(struct ir *ir, MlirValue from, MlirValue to);
MlirValue lower_numel(struct ir *ir, MlirValue memref);
// scf.for from 0 to n by 1 without results.
MlirValue emit_loop(struct ir *ir, MlirValue n, struct ir *body);
// Nested loops over [0, sizes[i]); the innermost body.
struct ir emit_loops(struct ir *ir, intptr_t n, const MlirValue *sizes, MlirValue *index);
MlirValue emit_scalar_load(struct ir *ir, MlirValue memref); // the first element

#endif // ONYX_PASSES_CONVERT_LOWER_SORT_H
