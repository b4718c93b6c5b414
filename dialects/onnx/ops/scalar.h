// Ops that map elements to elements: broadcasting, shape data, and the stage that computes them.
#ifndef ONYX_SCALAR_H
#define ONYX_SCALAR_H

#include "dialects/onnx/ops/op.h"

// Name of operand i in the schema, for messages.
const char *view_name(const op_view *v, int i);
// Refuses a rank that is known and is not `rank`.
bool expect_rank(op_view *v, int i, int rank);
// Refuses an unknown rank of operand i: what most comprehensions need.
bool need_rank(op_view *v, int i);
// Whether result r is asked for.
static inline bool view_wants(const op_view *v, int r) {
  return r < v->num_results && (!v->wanted || v->wanted[r]);
}

// Result r is the broadcast (NumPy's rule) of these operands; stays unranked when one of them is.
bool shape_broadcast(op_view *v, shape_result *results, int r, int n, const int *operands);
// The same of all operands into result 0.
bool shape_broadcast_all(op_view *v, shape_result *results);
// Whether the operands broadcast, as far as known.
bool verify_broadcast(op_view *v, int n, const int *operands);

// Number of elements of a result of static shape if it may be shape data, else -1.
int64_t shape_data_size(const shape_result *result);
// Number of elements of a rank-1 operand that lists things (axes, sizes), -1 when not known.
int list_count(const op_view *v, int i);
// Element k of such an operand; a new unknown where it has no name.
const dim *list_value(op_view *v, int i, int k);
// Whether the k-th listed axis is axis i of `rank`: 1, 0, or an expression. Operand absent: k == i.
const dim *list_axis_is(op_view *v, int operand, int k, int i, int rank);
// Refuses constant axes of such an operand that are out of range or listed twice.
bool verify_axes(op_view *v, int operand, int rank);
// Refuses results whose size a comprehension cannot know: dims with DIM_UNKNOWN.
bool need_sizes(op_view *v, const shape_result *result);
// Gives result r `n` entries of shape data to be filled.
const dim **shape_data(op_view *v, shape_result *results, int r, int64_t n);
// Element k (of the result's row-major order) of operand i that is broadcast to result r; NULL when
// unknown.
const dim *shape_data_broadcast(const op_view *v, const shape_result *result, int i, int64_t k);

// One element of the result from one of each operand. Attributes through c->view.
typedef const expr *(*scalar_fn)(comprehension *c, const expr *const *x);

// result 0 = fn(operands 0 .. n-1 broadcast), each cast to the type it is computed in; the value is
// cast to the result's type.
bool comp_map(op_view *v, const shape_result *results, comprehension *c, int n, scalar_fn fn);

// x < 0 ? ... building blocks
static inline const expr *x_add(comprehension *c, const expr *a, const expr *b) {
  return expr_binary(c, EXPR_ADD, a, b);
}
static inline const expr *x_sub(comprehension *c, const expr *a, const expr *b) {
  return expr_binary(c, EXPR_SUB, a, b);
}
static inline const expr *x_mul(comprehension *c, const expr *a, const expr *b) {
  return expr_binary(c, EXPR_MUL, a, b);
}
static inline const expr *x_div(comprehension *c, const expr *a, const expr *b) {
  return expr_binary(c, EXPR_DIV, a, b);
}
static inline const expr *x_min(comprehension *c, const expr *a, const expr *b) {
  return expr_binary(c, EXPR_MIN, a, b);
}
static inline const expr *x_max(comprehension *c, const expr *a, const expr *b) {
  return expr_binary(c, EXPR_MAX, a, b);
}
static inline const expr *x_and(comprehension *c, const expr *a, const expr *b) {
  return expr_binary(c, EXPR_AND, a, b);
}
static inline const expr *x_or(comprehension *c, const expr *a, const expr *b) {
  return expr_binary(c, EXPR_OR, a, b);
}
static inline const expr *x_lt(comprehension *c, const expr *a, const expr *b) {
  return expr_compare(c, EXPR_LT, a, b);
}
static inline const expr *x_ge(comprehension *c, const expr *a, const expr *b) {
  return expr_compare(c, EXPR_GE, a, b);
}
static inline const expr *x_eq(comprehension *c, const expr *a, const expr *b) {
  return expr_compare(c, EXPR_EQ, a, b);
}
// A constant of the type of x.
static inline const expr *x_num(comprehension *c, const expr *x, double value) {
  return expr_float(c, x->type, value);
}
// An attribute as a constant of the type of x.
static inline const expr *x_attr(comprehension *c, const expr *x, const char *name) {
  return expr_float(c, x->type, view_float(c->view, name));
}
const expr *x_clamp(comprehension *c, const expr *v, const expr *lo, const expr *hi);
// An index in [-extent, extent) made non-negative; outside it an error (code 1) and clamped.
const expr *x_checked_index(comprehension *c, const expr *index, const expr *extent);
// The first element of an operand that holds one, in its type.
const expr *x_scalar(comprehension *c, int operand);
// The loops 0 .. n-1 as indices.
void x_loops(comprehension *c, int n, const expr **out);
// A read that gives zero where an extent of the buffer may be too small; plain where `safe`.
const expr *x_read(comprehension *c, int buffer, const expr *const *index, bool safe);
// A number in [0, 1) of 24 random bits (f32), a function of the op's seed (its name where it has
// none), the stream and the counter (index).
const expr *x_random(comprehension *c, const expr *counter, uint64_t stream);
// Row-major number of the point of loops 0 .. rank-1.
const expr *x_flat_index(comprehension *c, int rank, const dim *const *dims);
const expr *x_sigmoid(comprehension *c, const expr *x);
const expr *x_softplus(comprehension *c, const expr *x);

#endif
