// The dim algebra: integer expressions over operand dims and operand values.
//
// A dim is a node of a hash-consed graph: equal expressions are the same pointer. Building one
// folds constants and simplifies, so an inferred shape is static exactly where `op == DIM_CONST`.
// Readers walk the graph: inference looks for constants, the emitters turn nodes into SSA values,
// the dimension analysis compares pointers. All arithmetic is on int64; builders never overflow
// silently: an overflow gives DIM_UNKNOWN.
#ifndef ONYX_DIM_H
#define ONYX_DIM_H

#include "dialects/onnx/ops/arena.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dim_op {
  DIM_CONST,    // value
  DIM_SYM,      // leaf: symbol `value`; the reader knows what it stands for (see view.h)
  DIM_UNKNOWN,  // leaf: depends on data no reader can size before run; `value` makes it unique
  DIM_ADD,      // a + b
  DIM_SUB,      // a - b
  DIM_MUL,      // a * b
  DIM_FLOORDIV, // floor(a / b); b = 0 gives 0
  DIM_CEILDIV,  // ceil(a / b); b = 0 gives 0
  DIM_MOD,      // a - b * floordiv(a, b)
  DIM_MIN,
  DIM_MAX,
  DIM_EQ,    // a == b ? 1 : 0
  DIM_LT,    // a < b ? 1 : 0
  DIM_SELECT // a != 0 ? b : c
} dim_op;

typedef struct dim {
  dim_op op;
  int64_t value; // CONST, SYM, UNKNOWN
  const struct dim *a, *b, *c;
  unsigned id;  // dense, in order of creation: operands before users
  bool unknown; // a DIM_UNKNOWN occurs in it
} dim;

typedef struct dim_context dim_context;
dim_context *dim_context_create(onyx_arena *arena); // lives in the arena
onyx_arena *dim_arena(dim_context *ctx);
unsigned dim_count(const dim_context *ctx); // ids are below this

const dim *dim_const(dim_context *ctx, int64_t value);
const dim *dim_sym(dim_context *ctx, int64_t symbol);
const dim *dim_unknown(dim_context *ctx); // a new one each time
// The same for what is known to be >= 0: a tensor's extent. An adapter makes the symbols of extents
// by this before anything else uses them, so that clamps of them fold.
const dim *dim_sym_extent(dim_context *ctx, int64_t symbol);
const dim *dim_unknown_extent(dim_context *ctx);
// A symbol that no adapter made: it stands for a size that a comprehension computes (see
// comp_late_size). Its number is below DIM_LATE.
#define DIM_LATE (INT64_MIN / 2)
const dim *dim_late_symbol(dim_context *ctx);
// An interval that d lies in; INT64_MIN and INT64_MAX where an end is not known.
void dim_bounds(const dim_context *ctx, const dim *d, int64_t *lo, int64_t *hi);
const dim *dim_add(dim_context *ctx, const dim *a, const dim *b);
const dim *dim_sub(dim_context *ctx, const dim *a, const dim *b);
const dim *dim_mul(dim_context *ctx, const dim *a, const dim *b);
const dim *dim_floordiv(dim_context *ctx, const dim *a, const dim *b);
const dim *dim_ceildiv(dim_context *ctx, const dim *a, const dim *b);
const dim *dim_mod(dim_context *ctx, const dim *a, const dim *b);
const dim *dim_min(dim_context *ctx, const dim *a, const dim *b);
const dim *dim_max(dim_context *ctx, const dim *a, const dim *b);
const dim *dim_eq(dim_context *ctx, const dim *a, const dim *b);
const dim *dim_lt(dim_context *ctx, const dim *a, const dim *b);
const dim *dim_select(dim_context *ctx, const dim *c, const dim *t, const dim *f);
// Extent of a broadcast of two: b where a is 1, else a. (A disagreement is the verifier's affair
// or, at run time, a check.)
const dim *dim_broadcast(dim_context *ctx, const dim *a, const dim *b);
// Index in [-extent, extent) made non-negative.
const dim *dim_wrap(dim_context *ctx, const dim *index, const dim *extent);
const dim *dim_clamp(dim_context *ctx, const dim *v, const dim *lo, const dim *hi);

static inline bool dim_is_const(const dim *d, int64_t *value) {
  if (d->op == DIM_CONST && value)
    *value = d->value;
  return d->op == DIM_CONST;
}
static inline bool dim_is(const dim *d, int64_t value) {
  return d->op == DIM_CONST && d->value == value;
}
// Whether any DIM_UNKNOWN occurs in d.
static inline bool dim_has_unknown(const dim *d) {
  return d->unknown;
}
// Value under an assignment of the symbols; false when an unknown occurs, arithmetic overflows, or
// shared subexpressions make it take too long.
bool dim_eval(const dim *d, int64_t (*symbol)(int64_t sym, void *user), void *user, int64_t *value);
// "N0 * 2 + 1": text for diagnostics and onnx-dim-analysis; symbol names by callback (may be NULL).
char *dim_text(onyx_arena *arena, const dim *d, const char *(*name)(int64_t sym, void *user),
               void *user);

#ifdef __cplusplus
}
#endif
#endif
