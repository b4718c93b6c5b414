//===- emit.h - From comprehensions to scalar code ---------------------------------===//
//
// One emitter of scalar expressions serves every lowering. A comprehension's expression becomes ops
// of arith, math, affine and scf; each is made once, in the outermost scope where its operands
// exist:
//
//   level 0  before the nest: no loop is involved
//   level 1  in the body of the parallel and ordered loops
//   level 2  in the body of the reduction loops
//
// Integers are signless in MLIR: the expression's type says how they are read. Types of 4 and 2
// bits are i8 and hold the value; f8 and f4 types are i8 and hold the code.
//
//===----------------------------------------------------------------------===//
#ifndef ONYX_PASSES_CONVERT_EMIT_H
#define ONYX_PASSES_CONVERT_EMIT_H

#include "dialects/onnx/ops/comprehension.h"
#include "passes/ir_build.h"

// --- types (emit_type.c)

// MLIR type of a scalar of an onyx_elem or ONYX_INDEX; null for strings.
MlirType emit_type(MlirContext ctx, int type);
// f8 and f4 types, which are i8 codes in MLIR.
bool emit_is_code(int type);
// f16 and smaller: computed in f32.
bool emit_is_small_float(int type);
bool emit_is_signed(int type);  // of integers; index counts as signed
bool emit_is_integer(int type); // integers and index, not bool
unsigned emit_bits(int type);   // of one value; index: 64, bool: 1
// memref of a type: `?` where a dim is no constant.
MlirType emit_memref_type(MlirContext ctx, onyx_elem elem, int rank, const dim *const *dims);
// Bytes of one element inside a compiled model.
int64_t emit_elem_bytes(onyx_elem elem);
// Dense elements over `shape` from bytes in memory form (see view.h), of the signless element type.
MlirAttribute emit_dense(MlirContext ctx, onyx_elem elem, intptr_t rank, const int64_t *shape,
                         const void *data);
MlirValue emit_const_int(struct ir *ir, int type, int64_t value);
MlirValue emit_const_float(struct ir *ir, int type, double value);

// --- scalars (emit_arith.c, emit_cast.c)

MlirValue emit_unary(struct ir *ir, expr_op op, int type, MlirValue a);
MlirValue emit_binary(struct ir *ir, expr_op op, int type, MlirValue a, MlirValue b);
MlirValue emit_compare(struct ir *ir, expr_op op, int type, MlirValue a, MlirValue b);
MlirValue emit_cast(struct ir *ir, MlirValue a, int from, int to, bool saturate);
MlirValue emit_bitcast(struct ir *ir, MlirValue a, int from, int to);
// Code of the nearest value of an f8 or f4 type.
int64_t emit_code_of(int type, double value);
// Where the builder stands, upwards: the module.
MlirOperation emit_module_of(const struct ir *ir);
// A call of a C function without side effects; its declaration is made when the module has none.
MlirValue emit_call(struct ir *ir, const char *callee, intptr_t n, const MlirValue *args,
                    MlirType result);

// Where `ok` (i1) is false the sticky status (memref<4xi64>) becomes code, node, found, limit
// (index values). The function that does it is made when the module has none (emit_fail.c).
void emit_fail_unless(struct ir *ir, MlirValue status, MlirValue ok, int64_t code, int64_t node,
                      MlirValue found, MlirValue limit);

// --- dims (emit_dim.c)

// What the symbols of a view stand for, as index values made at `ir`.
struct emit_dims {
  struct ir *ir; // where dims are made: outside all loops
  MlirValue (*symbol)(struct emit_dims *dims, int64_t symbol); // null value: cannot be known
  void *user;
  MlirValue *memo; // by dim id
  unsigned num_memo;
};
void emit_dims_init(struct emit_dims *dims, struct ir *ir,
                    MlirValue (*symbol)(struct emit_dims *, int64_t), void *user);
void emit_dims_free(struct emit_dims *dims);
// Null when d depends on something unknown.
MlirValue emit_dim(struct emit_dims *dims, const dim *d);
// Gives a symbol its value.
void emit_dim_set(struct emit_dims *dims, const dim *symbol, MlirValue value);

// --- expressions (emit_expr.c)

struct emit {
  const comprehension *c;
  const comp_stage *stage;
  struct emit_dims *dims;
  MlirContext ctx;
  struct ir at[3]; // by level
  bool
      loops_outside; // there are loops of level 1: what level 0 holds may run although no body does
  bool in_reduction; // ACC is the running value
  MlirValue *loop_values; // by loop
  MlirValue *acc_values;  // by accumulator
  MlirValue status;       // memref<4xi64>; null: checks are left out
  int64_t node;           // ID for the status
  // A read at indices made by the emitter; without bounds checks. `at`: where it goes.
  MlirValue (*read)(struct emit *e, struct ir *at, const expr *x, const MlirValue *index);
  // Extent of a buffer's axis as an index value.
  MlirValue (*extent)(struct emit *e, struct ir *at, int buffer, int axis);
  // May stand in for a read as a whole (linalg: a block argument); NULL or a null result: no.
  MlirValue (*whole_read)(struct emit *e, const expr *x);
  void *user;
  // Private to the emitter, by expression id.
  MlirValue *memo;
  signed char *level;
  signed char *volatile_; // depends on a buffer that this stage writes
};

// Starts e for a stage of c: all loops' values null, nothing made.
void emit_begin(struct emit *e, const comprehension *c, const comp_stage *stage);
void emit_end(struct emit *e);
MlirValue emit_expr(struct emit *e, const expr *x);
// The reductions are done: accumulators have their final values, what was made inside is out of
// reach.
void emit_leave_reduction(struct emit *e);
// A store was made: values read from buffers of this stage are stale.
void emit_wrote(struct emit *e);
// x as an affine expression of the loops (dim i is loop i) and symbols; operands of symbols are
// appended to `symbols` (room for max). Null when it is not affine or no room is left.
MlirAffineExpr emit_affine(struct emit *e, const expr *x, MlirValue *symbols, int *num_symbols,
                           int max);

#endif // ONYX_PASSES_CONVERT_EMIT_H
