// A comprehension: what an operator computes, as data.
//
// A list of stages over numbered buffers. A stage is one loop nest: loops with extents in the dim
// algebra, accumulators, and values written at computed indices. Its scalar code is a typed
// expression graph. Readers: the krnl emitter, the linalg emitter, the evaluator (constant
// folding), the FLOP counter. Nothing here knows MLIR.
//
//   for parallel/ordered loops:
//     acc[k] = init[k]
//     for reduction loops (innermost, in order):
//       acc[k] = step[k](acc...)          all steps see the accumulators before the step
//     out[w.buffer][w.index...] = w.value  for each write, in order, where w.guard holds
//
// Buffers: 0 .. num_operands-1 are the op's operands, then its results, then temporaries.
#ifndef ONYX_COMPREHENSION_H
#define ONYX_COMPREHENSION_H

#include "dialects/onnx/ops/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum loop_kind {
  LOOP_PARALLEL, // iterations are independent
  LOOP_ORDERED,  // iterations run in order and may read what earlier ones wrote (CumSum, scatter)
  LOOP_REDUCTION // feeds the accumulators; these come last
} loop_kind;

typedef struct comp_loop {
  loop_kind kind;
  const dim *extent; // runs from 0 to extent - 1; an extent <= 0 runs never
} comp_loop;

typedef enum expr_op {
  EXPR_CONST, // .f for floats (f64 value), .i for integers, bool and index
  EXPR_LOOP,  // induction variable of loop .i; type index
  EXPR_DIM,   // .dim as an index value
  EXPR_ACC,   // accumulator .i: in steps the running value, in writes the final one
  EXPR_READ,  // buffer .i at indices args[0 .. n-1] (type index), see `pad`
  // Arithmetic, both operands and result of one type. Integers wrap (two's complement or modulo).
  EXPR_ADD,
  EXPR_SUB,
  EXPR_MUL,
  EXPR_DIV,      // floats: IEEE. Integers: truncates; x / 0 = 0, MIN / -1 = MIN (wrap), no status:
                 // where the standard calls it an error use expr_check
  EXPR_FLOORDIV, // integers and index: rounds down; by 0 gives 0
  EXPR_MOD, // integers and index: sign of the divisor (Python); by 0 gives 0. Floats: same rule
  EXPR_REM, // C: sign of the dividend (fmod for floats); integers by 0 give 0
  EXPR_MIN,
  EXPR_MAX, // floats: NaN if either is NaN; -0 and +0 not told apart
  EXPR_POW, // floats: C pow; integers: wraps, negative exponents truncate towards 0
  EXPR_AND,
  EXPR_OR,
  EXPR_XOR, // bool and integers, bitwise
  EXPR_SHL,
  EXPR_SHR, // unsigned integers; a shift >= width gives 0
  EXPR_ATAN2,
  // Unary, result of the operand's type
  EXPR_NEG,
  EXPR_ABS,
  EXPR_NOT /* bool: logical; integers: bitwise */,
  EXPR_FLOOR,
  EXPR_CEIL,
  EXPR_ROUND /* half to even */,
  EXPR_TRUNC,
  EXPR_SQRT,
  EXPR_EXP,
  EXPR_LOG,
  EXPR_LOG1P,
  EXPR_EXPM1,
  EXPR_SIN,
  EXPR_COS,
  EXPR_TAN,
  EXPR_ASIN,
  EXPR_ACOS,
  EXPR_ATAN,
  EXPR_SINH,
  EXPR_COSH,
  EXPR_TANH,
  EXPR_ASINH,
  EXPR_ACOSH,
  EXPR_ATANH,
  EXPR_ERF,
  // Comparison, result bool. With NaN every one is false but NE.
  EXPR_EQ,
  EXPR_NE,
  EXPR_LT,
  EXPR_LE,
  EXPR_GT,
  EXPR_GE,
  EXPR_ISNAN,
  EXPR_ISINF,
  EXPR_SELECT,  // args[0] bool ? args[1] : args[2]; both sides may be evaluated
  EXPR_CAST,    // args[0] to `type`; index counts as i64. See expr_cast for the rules
  EXPR_BITCAST, // same width, bits kept
  // args[0], and where args[1] (bool) is false the sticky status becomes (.i = code, found args[2],
  // limit args[3]; both index). The value is args[0] all the same: clamp it first.
  EXPR_CHECK
} expr_op;

#define ONYX_INDEX ONYX_ELEM_COUNT // type of loop variables, indices, dims: a signed 64-bit integer

typedef struct expr expr;
struct expr {
  expr_op op;
  int type; // onyx_elem or ONYX_INDEX
  int64_t i;
  double f;
  const dim *dim;
  int num_args;
  const expr **args;
  // READ: value where an index is out of the buffer's bounds (in any dimension); NULL: the indices
  // are in bounds by construction.
  const expr *pad;
  bool saturate; // CAST to f8/f4 types: out of range becomes the largest finite (attribute of Cast)
  unsigned id;   // dense within the comprehension, operands before users
};

typedef enum acc_kind { // how acc[k] = step is known to have the form combine(acc[k], value)
  ACC_GENERAL,          // only `step` says
  ACC_ADD,
  ACC_MUL,
  ACC_MIN,
  ACC_MAX,
  ACC_AND,
  ACC_OR
} acc_kind;

typedef struct comp_acc {
  int type;
  const expr *init; // no ACC, no reduction loops in it
  acc_kind kind;
  const expr *value; // what is combined (kind != GENERAL), else NULL
  const expr *step;  // the new value, always set
} comp_acc;

typedef struct comp_write {
  int buffer; // a result or temporary
  int num_indices;
  const expr **index; // in bounds where guard holds
  const expr *value;  // of the buffer's element type
  const expr *guard;  // bool; NULL: always
} comp_write;

typedef struct comp_stage {
  int num_loops;
  comp_loop *loops;
  // NULL, or an entry a loop: a reduction loop with an entry runs that many times (an index
  // computed from the outer loops) whatever its extent says. See comp_stage_bound.
  const expr **bounds;
  int num_accs;
  comp_acc *accs;
  int num_writes;
  comp_write *writes;
} comp_stage;

typedef struct comp_buffer {
  onyx_elem elem; // temporaries too are ONNX element types
  int rank;
  const dim **dims;
  const void *data; // a table of constants (see comp_table), row-major in memory form; else NULL
} comp_buffer;

// A size that is known when the first `stages` stages have run: element of the rank-0 i64 temporary
// `buffer`, made >= 0. `symbol` stands for it in the dims of buffers and loops that come after.
typedef struct comp_late {
  const dim *symbol;
  int buffer, stages;
} comp_late;

typedef struct comprehension {
  op_view *view;
  int num_operands, num_results;
  int num_buffers;
  comp_buffer *buffers;
  int num_stages;
  comp_stage *stages;
  unsigned num_exprs;
  int cap_buffers, cap_stages;
  // Alias: the op only renames storage: result 0 has the elements of operand `alias_of` in the same
  // order (Reshape, Squeeze, Identity, ...); no stages then. -1: none.
  int alias_of;
  // Data-dependent sizes (NonZero, Compress, Unique, ..). The dims of a result's buffer may then
  // differ from what inference says: where it says DIM_UNKNOWN they hold a late symbol. Such a
  // buffer is allocated when its sizes are known, and no earlier stage touches it.
  int num_late, cap_late;
  comp_late *late;
} comprehension;

// Starts c: operands and results of v as buffers.
void comp_init(comprehension *c, op_view *v, const shape_result *results);
static inline int comp_result(const comprehension *c, int r) {
  return c->num_operands + r;
}
// A temporary; returns its buffer number.
int comp_temp(comprehension *c, onyx_elem elem, int rank, const dim *const *dims);
// Makes the value that the stages so far leave in a rank-0 i64 temporary a size; returns its
// symbol.
const dim *comp_late_size(comprehension *c, int buffer);
// Sets the extent of a result's axis, which inference could not know.
void comp_set_extent(comprehension *c, int r, int axis, const dim *extent);
// A vector of n > 0 constants in memory form (copied), read like any buffer and never written: an
// operator's tables that come from attributes. Returns its buffer number.
int comp_table(comprehension *c, onyx_elem elem, int64_t n, const void *data);

// --- expressions; all live in the view's arena
const expr *expr_int(comprehension *c, int type, int64_t value);
const expr *expr_float(comprehension *c, int type, double value);
// 0, 1, lowest or highest value of a type (floats: -inf and +inf)
const expr *expr_zero(comprehension *c, int type);
const expr *expr_one(comprehension *c, int type);
const expr *expr_lowest(comprehension *c, int type);
const expr *expr_highest(comprehension *c, int type);
const expr *expr_index(comprehension *c, int64_t value);
const expr *expr_loop(comprehension *c, int loop);
const expr *expr_dim(comprehension *c, const dim *d);
const expr *expr_acc(comprehension *c, int acc, int type);
// Reads; the type is the buffer's element type.
const expr *expr_read(comprehension *c, int buffer, int n, const expr *const *index);
const expr *expr_read_padded(comprehension *c, int buffer, int n, const expr *const *index,
                             const expr *pad);
const expr *expr_unary(comprehension *c, expr_op op, const expr *a);
const expr *expr_binary(comprehension *c, expr_op op, const expr *a, const expr *b);
const expr *expr_compare(comprehension *c, expr_op op, const expr *a, const expr *b);
const expr *expr_select(comprehension *c, const expr *cond, const expr *t, const expr *f);
// Rules: float to integer truncates; NaN gives 0 and out of range saturates for every width
// (a defined result where C has none); to a narrower integer wraps; integer to float rounds to
// even; to f16/bf16/f32 overflows to infinity; to bool x != 0 (NaN is true); bool to number 0 or 1.
const expr *expr_cast(comprehension *c, const expr *a, int type);
const expr *expr_cast_saturate(comprehension *c, const expr *a, int type, bool saturate);
const expr *expr_bitcast(comprehension *c, const expr *a, int type);
const expr *expr_check(comprehension *c, const expr *value, const expr *cond, int code,
                       const expr *found, const expr *limit);

// --- stages
// Begins a stage with these loops; returns it (valid until the next stage begins: keep the number).
comp_stage *comp_stage_begin(comprehension *c, int num_loops, const comp_loop *loops);
// Lets a reduction loop run `count` times, a value computed from outer loops and data (RoiAlign's
// samples).
void comp_stage_bound(comprehension *c, comp_stage *s, int loop, const expr *count);
// Appends an accumulator acc = combine(acc, value); returns its number. init NULL: the neutral
// element.
int comp_acc_combine(comprehension *c, comp_stage *s, acc_kind kind, int type, const expr *value,
                     const expr *init);
int comp_acc_general(comprehension *c, comp_stage *s, int type, const expr *init, const expr *step);
void comp_write_at(comprehension *c, comp_stage *s, int buffer, int n, const expr *const *index,
                   const expr *value, const expr *guard);

// --- short forms for what most operators are
// Indices of a read of buffer b, broadcast (NumPy rule) against a nest whose first `rank` loops are
// result 0's dims: loop variable, or 0 where b's dim is 1. A dim that may or may not be 1 at run
// time gives a select on it. out has room for the buffer's rank; loops start at `first_loop`.
void comp_broadcast_index(comprehension *c, int buffer, int rank, int first_loop, const expr **out);
const expr *comp_read_broadcast(comprehension *c, int buffer, int rank);
// A stage of its own that only checks: where `cond` (of dims and constants) is false the sticky
// status becomes (code, found, limit). Nothing when cond is constantly true. For what holds or not
// for the whole op, such as two extents that must agree: loops then need no check, only indices
// that stay in bounds.
void comp_require(comprehension *c, const expr *cond, int code, const expr *found,
                  const expr *limit);
// comp_require that operands 0 .. n-1 of a variadic op broadcast (code 3), where dims leave it
// open.
void comp_require_broadcast(comprehension *c, int num_operands, const int *operands);
// A stage with one parallel loop for each dim of `buffer`.
comp_stage *comp_stage_over(comprehension *c, int buffer);
// The write buffer[loops 0..rank-1] = value of such a stage.
void comp_write_point(comprehension *c, comp_stage *s, int buffer, const expr *value);

// Type to compute in: f32 for f16, bf16 and smaller floats; the type itself otherwise.
int expr_compute_type(int type);

// --- readers without MLIR
// Evaluates over constant operands: every operand that a stage reads has data; results (rank known,
// dims constant) are allocated in `arena`, one entry a result, in memory form (see view.h). False
// when it cannot be evaluated (view->error says why: a dim not constant, more than max_steps steps,
// a check that fails).
bool comp_evaluate(const comprehension *c, onyx_arena *arena, int64_t max_steps, void **results);
// The same of a comprehension whose sizes are symbols and whose operands are no constants: their
// bytes (an entry an operand, in memory form, strings as const char *const *) and the symbols'
// values come from here. For tests of the form that code is made from.
typedef struct comp_inputs {
  const void *const *data;
  int64_t (*symbol)(int64_t sym, void *user);
  void *user;
  int64_t *
      *result_dims; // may be NULL; else an entry a result, filled with its extents (in the arena)
} comp_inputs;
bool comp_evaluate_with(const comprehension *c, onyx_arena *arena, int64_t max_steps,
                        const comp_inputs *inputs, void **results);
// Arithmetic operations of all stages as a dim (multiplication and addition count one each; casts,
// selects, index arithmetic none; a transcendental one).
const dim *comp_flops(const comprehension *c);
// Text for debugging and FileCheck tests.
char *comp_text(onyx_arena *arena, const comprehension *c);

#ifdef __cplusplus
}
#endif
#endif
