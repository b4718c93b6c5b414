//===- krnl.h - The loop dialect ---------------------------------------------------===//
//
// Loops are values of type !krnl.loop that krnl.define_loops makes, schedule ops transform and
// krnl.iterate runs. docs/krnl.md tells what each op means. To make ops: passes/krnl_build.h.
//
//===----------------------------------------------------------------------===//
#ifndef ONYX_DIALECTS_KRNL_KRNL_H
#define ONYX_DIALECTS_KRNL_KRNL_H

#include "mlirx/mlirx.h"

extern MlirxDialect krnl_dialect;
extern const MlirxType krnl_loop_type; // !krnl.loop
MlirType krnl_loop_get(MlirContext ctx);
static inline bool krnl_is_loop(MlirType t) {
  return mlirxTypeIsA(t, &krnl_loop_type);
}

// Loops and their schedule.
extern const MlirxOp krnl_define_loops, krnl_block, krnl_permute, krnl_skew, krnl_unroll,
    krnl_vectorize, krnl_parallel, krnl_get_induction_var_value, krnl_iterate, krnl_yield,
    krnl_region;
// Memory.
extern const MlirxOp krnl_load, krnl_store, krnl_prefetch, krnl_memset, krnl_memcpy, krnl_global,
    krnl_get_linear_offset_index, krnl_vector_type_cast, krnl_copy_to_tile_buffer,
    krnl_copy_from_tile_buffer, krnl_matmul;
// Whole functions and what the runtime does.
extern const MlirxOp krnl_entry_point, krnl_call, krnl_no_value, krnl_isinf, krnl_isnan;
// "math.erf" of krnl.erf and so on; NULL for what is no scalar function of that kind.
const char *krnl_math_name(MlirOperation op);

// krnl.iterate, read apart. Operands: optimised loops; per original loop the loop, its lower
// bound's operands, its upper bound's operands; the inits.
struct krnl_iterate_view {
  MlirOperation op;
  intptr_t num_optimized, num_loops, num_inits;
  intptr_t first_init;
  MlirBlock body;
};
struct krnl_iterate_view krnl_iterate_read(MlirOperation op);
MlirValue krnl_iterate_optimized(const struct krnl_iterate_view *it, intptr_t i);
// The loop, the bound maps and the first of each bound's operands of original loop i.
struct krnl_iterate_bounds {
  MlirValue loop;
  MlirAffineMap lower, upper;
  intptr_t lower_first, upper_first; // operand numbers
};
// out[0..num_loops); one pass over the operands.
void krnl_iterate_read_bounds(const struct krnl_iterate_view *it, struct krnl_iterate_bounds *out);

// Integer attribute of an op, or `otherwise`.
int64_t krnl_int_attr(MlirOperation op, const char *name, int64_t otherwise);
bool krnl_has_attr(MlirOperation op, const char *name);

#endif // ONYX_DIALECTS_KRNL_KRNL_H
