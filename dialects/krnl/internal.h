//===- internal.h - What the files of the loop dialect share ------------------------===//
#ifndef ONYX_DIALECTS_KRNL_INTERNAL_H
#define ONYX_DIALECTS_KRNL_INTERNAL_H

#include "dialects/krnl/krnl.h"

static inline MlirLogicalResult ok(void) {
  return mlirLogicalResultSuccess();
}
static inline MlirLogicalResult fail(void) {
  return mlirLogicalResultFailure();
}
static inline bool failed(MlirLogicalResult r) {
  return mlirLogicalResultIsFailure(r);
}
static inline MlirStringRef str(const char *s) {
  return mlirStringRefCreateFromCString(s);
}
static inline MlirAttribute attr(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, str(name));
}

#define TRY(expr)                                                                                  \
  do {                                                                                             \
    if (failed(expr))                                                                              \
      return fail();                                                                               \
  } while (0)

// A type's or attribute's text for a message; a ring of a few buffers, so several may stand in one.
const char *krnl_type_text(MlirType t);

// Ordinal operand checks; each names the operand, what was expected and what was found.
MlirLogicalResult krnl_check_counts(MlirOperation op, intptr_t operands, intptr_t results);
MlirLogicalResult krnl_check_loops(MlirOperation op, intptr_t first, intptr_t count);
MlirLogicalResult krnl_check_indices(MlirOperation op, intptr_t first, intptr_t count);
MlirLogicalResult krnl_check_memref(MlirOperation op, intptr_t operand);
MlirLogicalResult krnl_check_positive(MlirOperation op, const char *name, int64_t *value);
// An array of `n` positive integers (n < 0: any number); values are not returned.
MlirLogicalResult krnl_check_int_array(MlirOperation op, const char *name, intptr_t n,
                                       bool required, int64_t least);

// "%a, %b" with every operand kept under consecutive parser indices from *first; *count of them.
MlirLogicalResult krnl_parse_operands(MlirxAsmParser p, MlirxPunct open, MlirxPunct close,
                                      intptr_t *first, intptr_t *count);
MlirLogicalResult krnl_resolve_range(MlirxAsmParser p, intptr_t first, intptr_t count,
                                     MlirType type);
void krnl_print_operands(MlirxAsmPrinter p, MlirOperation op, intptr_t first, intptr_t count);
void krnl_print_types(MlirxAsmPrinter p, MlirOperation op, intptr_t first, intptr_t count);
// ": !krnl.loop, ..": exactly `count` types that must be !krnl.loop.
MlirLogicalResult krnl_parse_loop_types(MlirxAsmParser p, intptr_t count);

extern const MlirxOp *const krnl_loop_ops[];    // loops.c, NULL-terminated
extern const MlirxOp *const krnl_memory_ops[];  // memory.c
extern const MlirxOp *const krnl_tile_ops[];    // tiles.c
extern const MlirxOp *const krnl_runtime_ops[]; // runtime.c

#endif // ONYX_DIALECTS_KRNL_INTERNAL_H
