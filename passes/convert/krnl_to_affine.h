//===- krnl_to_affine.h - What the parts of convert-krnl-to-affine share -----------------===//
#ifndef ONYX_PASSES_CONVERT_KRNL_TO_AFFINE_H
#define ONYX_PASSES_CONVERT_KRNL_TO_AFFINE_H

#include "dialects/krnl/krnl.h"
#include "passes/ir_build.h"

//===----------------------------------------------------------------------===//
// Affine expressions over values (krnl_to_affine_expr.c)
//===----------------------------------------------------------------------===//

// Results of a map under construction, and the dims and symbols that they are over. Zero it before
// use; affine_list_free after.
struct affine_list {
  MlirContext ctx;
  MlirOperation at; // where the map's op will stand: decides what is a dim and what a symbol
  MlirValue *dims, *symbols;
  MlirAffineExpr *exprs;
  intptr_t num_dims, num_symbols, num_exprs, room[3];
};
void affine_list_free(struct affine_list *list);
// The value as an expression; looks through arith and affine.apply. False if it is not affine.
bool affine_list_value(struct affine_list *list, MlirValue value, MlirAffineExpr *out);
// Appends the value, or every result of map(operands). False if that is not affine; the list is
// then of no use.
bool affine_list_add_value(struct affine_list *list, MlirValue value);
bool affine_list_add_map(struct affine_list *list, MlirAffineMap map, const MlirValue *operands);
MlirAffineMap affine_list_map(const struct affine_list *list);
// Dims, then symbols, in a new array that the caller frees.
MlirValue *affine_list_operands(const struct affine_list *list);
static inline intptr_t affine_list_num_operands(const struct affine_list *list) {
  return list->num_dims + list->num_symbols;
}
// Result `i` of map(operands) in arith ops, for where affine ops may not stand.
MlirValue affine_expand(struct ir *ir, MlirAffineMap map, intptr_t i, const MlirValue *operands);

//===----------------------------------------------------------------------===//
// Loops and what the schedule does with them
//===----------------------------------------------------------------------===//

struct bound { // a map over its operands; these belong to the lowering's arena
  MlirAffineMap map;
  MlirValue *operands;
  intptr_t n;
};

enum loop_kind { LOOP_ORIGINAL, LOOP_BLOCK, LOOP_TILE, LOOP_SKEW_FIRST, LOOP_SKEW_SECOND };

struct loop {
  MlirValue value;
  MlirOperation made_by; // define_loops, block or skew
  enum loop_kind kind;
  struct loop *from;                      // what was blocked or skewed
  struct loop *partner;                   // a tile's block loop; the skewed second loop's first
  struct loop *outer_child, *inner_child; // what block or skew made of it
  int64_t factor;                         // tile size or skew factor
  struct loop *next;                      // of all loops, in order of definition

  MlirOperation consumed_by; // the block or skew op that took it; null: may be iterated
  MlirOperation permute, unroll, vectorize, parallel;
  int64_t position; // in the permutation
  int64_t stride;   // of an original loop in a lowering without schedule; 0: single steps
  bool is_parallel; // its iterations are known not to depend on each other

  // An original loop inside the iterate that gives its bounds.
  MlirOperation bounded_by;
  struct bound lower, upper;

  // While it runs.
  MlirValue variable;
  MlirValue placeholder; // stands for the variable of an original loop that does not run yet
};

struct lowering {
  MlirContext ctx;
  MlirOperation root; // the function
  struct loop *first, **last;
  struct loop **table; // by value, open addressing
  size_t table_size, num_loops;
  MlirOperation *schedule; // define_loops and schedule ops, in order
  size_t num_schedule, schedule_room;
  struct loop **running; // from outside in
  size_t num_running, running_room;
  struct block *arena; // freed at the end
  bool failed;

  // Loops that are to become parallel or vectors once their accesses are lowered carry the
  // attribute krnl.mark, an index into this.
  struct loop **marks;
  size_t num_marks, marks_room;

  // Set in a lowering without schedule (krnl_to_affine_legal.c): the one that has it. Each iterate
  // then runs its original loops in the order of `with`.
  struct lowering *scheduled;
  MlirOperation outermost; // the first loop that such a lowering opens
  const int64_t *strides;  // of the outermost iterate's loops there
};
void *lowering_alloc(struct lowering *l, size_t size);           // zeroed
struct loop *lowering_find(struct lowering *l, MlirValue value); // NULL: no loop that is known

// Reads define_loops and schedule ops below root. Diagnostics at illegal ones.
void lowering_collect(struct lowering *l);
void lowering_push_op(struct lowering *l, MlirOperation op); // to `schedule`
void lowering_iterate(struct lowering *l, MlirOperation iterate);
// Lowers the iterates in a block and below.
void lowering_block(struct lowering *l, MlirBlock block);
void lowering_free(struct lowering *l);

// Steps of `loop` in units of its original.
int64_t loop_step(const struct loop *loop);
struct loop *loop_root(struct loop *loop);
// The variable of the innermost of its tiles that runs; null if none does.
MlirValue loop_variable(const struct loop *loop);

//===----------------------------------------------------------------------===//
// One loop (krnl_to_affine_nest.c)
//===----------------------------------------------------------------------===//

enum { MAX_BOUNDS = 64 };
struct nest_bounds { // of one loop: the greatest of the lower, the least of the upper ones
  struct bound lower[MAX_BOUNDS], upper[MAX_BOUNDS];
  int num_lower, num_upper;
};
void nest_plain_bounds(struct lowering *l, struct loop *loop, struct nest_bounds *out);
// Opens `loop` for `iterate` at `ir`: sets its variable and `body`. With inits, their arguments
// follow the variable and the caller ends the body (nest_yield). Null after a diagnostic.
MlirOperation nest_open(struct lowering *l, struct ir *ir, struct loop *loop, MlirOperation iterate,
                        const struct nest_bounds *bounds, intptr_t num_inits,
                        const MlirValue *inits, struct ir *body);
// A loop with any bounds: affine.for where they are affine at `at`, else scf.for; and one from a
// single lower to a single upper bound, into which *ir moves; returns its variable.
MlirOperation nest_loop(struct ir *ir, MlirOperation at, const struct bound *lower, int num_lower,
                        const struct bound *upper, int num_upper, int64_t step, intptr_t num_inits,
                        const MlirValue *inits, struct ir *body);
MlirValue nest_simple(struct ir *ir, MlirOperation at, const struct bound *lower,
                      const struct bound *upper);
void nest_yield(struct ir *body, MlirOperation loop_op, intptr_t n, const MlirValue *values);
// Replaces loop_op by copies of its body (factor 0: all; else a loop of `factor` bodies and a
// remainder). False after a diagnostic at the schedule op.
bool nest_unroll(struct lowering *l, MlirOperation loop_op, int64_t factor,
                 MlirOperation schedule_op);

struct affine_loop { // an affine.for, read apart
  MlirAffineMap lower, upper;
  MlirValue *lower_operands, *upper_operands; // freed by affine_loop_free
  intptr_t num_inits;
  int64_t step;
};
struct affine_loop read_affine_for(MlirOperation op);
void affine_loop_free(struct affine_loop *loop);
bool nest_constant_trip(MlirOperation op, const struct affine_loop *loop, int64_t *trip);

// An affine.for as a loop over vectors (krnl_to_affine_vector.c); false after a diagnostic at the
// krnl.vectorize.
bool nest_vectorize(MlirOperation loop_op, MlirOperation schedule_op);
// An affine.for or scf.for without results as affine.parallel or scf.parallel, with the clauses of
// krnl.parallel.
void nest_make_parallel(MlirOperation loop_op, MlirOperation schedule_op);

// Skewed loops (krnl_to_affine_skew.c).
bool nest_is_skewed(struct loop *const *loops, intptr_t n);
// Bounds of the loop at `level`, whose outer loops run; false after a diagnostic.
bool nest_skewed_bounds(struct lowering *l, struct loop *const *loops, intptr_t n, intptr_t level,
                        MlirOperation iterate, struct nest_bounds *out);
// The variable that `loop` would have, as far as its children run; makes index arithmetic at ir.
MlirValue nest_skewed_value(struct ir *ir, const struct loop *loop);

//===----------------------------------------------------------------------===//
// Legality (krnl_to_affine_legal.c). False after a diagnostic at the schedule op.
//===----------------------------------------------------------------------===//

// May the n loops of an iterate, in schedule order, run instead of its original loops?
bool legal_order(struct lowering *l, MlirOperation iterate, struct loop *const *loops, intptr_t n,
                 struct loop *const *with, intptr_t num_with, bool has_iter_args);
// Does no dependence run from one iteration of this affine.for to another?
bool legal_parallel(MlirOperation loop, MlirOperation blame, bool independent);
bool loop_is_independent(const struct loop *loop); // somebody vouches

//===----------------------------------------------------------------------===//
// Memory (krnl_to_affine_memory.c)
//===----------------------------------------------------------------------===//

void lower_access_op(MlirOperation op); // krnl.load or krnl.store
// Loads, stores, fills, copies, globals below root; false after a diagnostic. `globals` counts up.
bool lower_memory_ops(MlirOperation root, MlirOperation module);

// Tile buffers and products (krnl_to_affine_tiles.c); false after a diagnostic.
bool lower_copy_to_tile(MlirOperation op);
bool lower_copy_from_tile(MlirOperation op);
bool lower_matmul(MlirOperation op);

#endif // ONYX_PASSES_CONVERT_KRNL_TO_AFFINE_H
