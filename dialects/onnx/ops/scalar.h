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
// Gives result r `n` entries of shape data to be filled.
const dim **shape_data(op_view *v, shape_result *results, int r, int64_t n);
// Element k (of the result's row-major order) of operand i that is broadcast to result r; NULL when unknown.
const dim *shape_data_broadcast(const op_view *v, const shape_result *result, int i, int64_t k);

// One element of the result from one of each operand. Attributes through c->view.
typedef const expr *(*scalar_fn)(comprehension *c, const expr *const *x);

// result 0 = fn(operands 0 .. n-1 broadcast), each cast to the type it is computed in; the value is cast
// to the result's type.
bool comp_map(op_view *v, const shape_result *results, comprehension *c, int n, scalar_fn fn);

// x < 0 ? ... building blocks
static inline const expr *x_add(comprehension *c, const expr *a, const expr *b) { return expr_binary(c, EXPR_ADD, a, b); }
static inline const expr *x_sub(comprehension *c, const expr *a, const expr *b) { return expr_binary(c, EXPR_SUB, a, b); }
static inline const expr *x_mul(comprehension *c, const expr *a, const expr *b) { return expr_binary(c, EXPR_MUL, a, b); }
static inline const expr *x_div(comprehension *c, const expr *a, const expr *b) { return expr_binary(c, EXPR_DIV, a, b); }
static inline const expr *x_min(comprehension *c, const expr *a, const expr *b) { return expr_binary(c, EXPR_MIN, a, b); }
static inline const expr *x_max(comprehension *c, const expr *a, const expr *b) { return expr_binary(c, EXPR_MAX, a, b); }
static inline const expr *x_and(comprehension *c, const expr *a, const expr *b) { return expr_binary(c, EXPR_AND, a, b); }
static inline const expr *x_or(comprehension *c, const expr *a, const expr *b) { return expr_binary(c, EXPR_OR, a, b); }
static inline const expr *x_lt(comprehension *c, const expr *a, const expr *b) { return expr_compare(c, EXPR_LT, a, b); }
static inline const expr *x_ge(comprehension *c, const expr *a, const expr *b) { return expr_compare(c, EXPR_GE, a, b); }
static inline const expr *x_eq(comprehension *c, const expr *a, const expr *b) { return expr_compare(c, EXPR_EQ, a, b); }
// A constant of the type of x.
static inline const expr *x_num(comprehension *c, const expr *x, double value) { return expr_float(c, x->type, value); }
// An attribute as a constant of the type of x.
static inline const expr *x_attr(comprehension *c, const expr *x, const char *name) {
  return expr_float(c, x->type, view_float(c->view, name));
}
const expr *x_clamp(comprehension *c, const expr *v, const expr *lo, const expr *hi);
// An index in [-extent, extent) made non-negative; outside it an error (code 1) and clamped.
const expr *x_checked_index(comprehension *c, const expr *index, const expr *extent);
const expr *x_sigmoid(comprehension *c, const expr *x);
const expr *x_softplus(comprehension *c, const expr *x);

#endif
