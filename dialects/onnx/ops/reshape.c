// Ops that keep the elements and their order: Reshape, Flatten, Squeeze, Unsqueeze, Identity,
// Dropout.
#include "dialects/onnx/ops/axes.h"
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>
#include <string.h>

static const dim *product_of(op_view *v, int n, const dim *const *dims) {
  const dim *p = dim_const(v->dims, 1);
  for (int k = 0; k < n; k++)
    p = dim_mul(v->dims, p, dims[k]);
  return p;
}

// Shape data goes through: the elements are the same.
static void keep_values(op_view *v, shape_result *results) {
  const onnx_operand *x = view_operand(v, 0);
  int64_t n = shape_data_size(&results[0]);
  if (!x->values || n != x->num_values)
    return;
  const dim **values = shape_data(v, results, 0, n);
  memcpy(values, x->values, (size_t)n * sizeof *values);
}

// --- Reshape

#define MAX_FACTORS 64

typedef struct factors {
  int n;
  const dim *factor[MAX_FACTORS];
  int64_t constant;
  bool full;
} factors;

static void add_factors(factors *f, const dim *d) {
  if (d->op == DIM_CONST) {
    f->full |= __builtin_mul_overflow(f->constant, d->value, &f->constant);
  } else if (d->op == DIM_MUL) {
    add_factors(f, d->a);
    add_factors(f, d->b);
  } else if (f->n == MAX_FACTORS) {
    f->full = true;
  } else {
    f->factor[f->n++] = d;
  }
}

// total / part, with common factors cancelled: a size that is 0 at run time makes the inferred one
// ambiguous, so a factor that is cancelled may count as non-zero (the standard, Reshape's -1).
static const dim *divide_sizes(op_view *v, const dim *total, const dim *part) {
  factors a = {.constant = 1}, b = {.constant = 1};
  add_factors(&a, total);
  add_factors(&b, part);
  if (a.full || b.full || b.constant == 0)
    return dim_floordiv(v->dims, total, part);
  for (int i = 0; i < b.n; i++)
    for (int k = 0; k < a.n; k++)
      if (b.factor[i] == a.factor[k]) {
        a.factor[k] = a.factor[--a.n];
        b.factor[i--] = b.factor[--b.n];
        break;
      }
  const dim *top = dim_const(v->dims, a.constant), *bottom = dim_const(v->dims, b.constant);
  if (a.constant % b.constant == 0) {
    top = dim_const(v->dims, a.constant / b.constant);
    bottom = dim_const(v->dims, 1);
  }
  for (int k = 0; k < a.n; k++)
    top = dim_mul(v->dims, top, a.factor[k]);
  for (int k = 0; k < b.n; k++)
    bottom = dim_mul(v->dims, bottom, b.factor[k]);
  return dim_floordiv(v->dims, top, bottom);
}

// Entry k with 0 replaced by the operand's size. A size that is computed from extents does not mean
// "copy" when it comes out as 0: only a constant, or data that says nothing of its sign, may.
static const dim *copied_size(op_view *v, int k, const dim *size) {
  int64_t lo, hi;
  dim_bounds(v->dims, size, &lo, &hi);
  if (view_int(v, "allowzero") || (size->op != DIM_CONST && lo >= 0) || lo > 0)
    return size;
  const dim *is_zero = dim_eq(v->dims, size, dim_const(v->dims, 0));
  const dim *own = k < view_rank(v, 0) ? view_dim(v, 0, k) : dim_const(v->dims, 0);
  return dim_select(v->dims, is_zero, own, size);
}

// The dims asked for. An entry without a name leaves its dim, and any inferred one, unknown.
static bool reshape_dims(op_view *v, int n, const dim **dims) {
  dim_context *d = v->dims;
  const dim *zero = dim_const(d, 0), *one = dim_const(d, 1), *others = one,
            *inferred[ONYX_MAX_RANK];
  int constant_minus = -1;
  bool known = view_rank(v, 0) >= 0;
  for (int k = 0; k < n; k++) {
    dims[k] = list_value(v, 1, k);
    int64_t size;
    if (dim_is_const(dims[k], &size)) {
      if (size < -1)
        return view_error(v, "operand 1 ('shape'): expected sizes >= -1, found %" PRId64, size);
      if (size == 0 && !view_int(v, "allowzero") && view_rank(v, 0) >= 0 && k >= view_rank(v, 0))
        return view_error(v,
                          "operand 1 ('shape'): entry %d is 0, which copies a size that operand 0 "
                          "of rank %d lacks",
                          k, view_rank(v, 0));
      if (size == -1 && constant_minus >= 0)
        return view_error(v, "operand 1 ('shape'): expected one -1 at most, found it at %d and %d",
                          constant_minus, k);
      if (size == -1)
        constant_minus = k;
    }
    if (dim_has_unknown(dims[k]))
      known = false;
    else if (view_rank(v, 0) >= 0)
      dims[k] = copied_size(v, k, dims[k]);
    else if (dim_is(dims[k], 0) && !view_int(v, "allowzero"))
      dims[k] = dim_unknown_extent(d);
  }
  for (int k = 0; k < n; k++) {
    // With a constant -1 there is no other; else any entry that may be negative may be the one.
    inferred[k] =
        constant_minus >= 0 ? dim_const(d, k == constant_minus) : dim_lt(d, dims[k], zero);
    others = dim_mul(d, others, dim_select(d, inferred[k], one, dims[k]));
  }
  for (int k = 0; k < n; k++) {
    if (dim_has_unknown(dims[k]) || (!known && !dim_is(inferred[k], 0)))
      dims[k] = dim_unknown_extent(d);
    else if (!dim_is(inferred[k], 0))
      dims[k] = dim_select(d, inferred[k], divide_sizes(v, view_numel(v, 0), others), dims[k]);
  }
  return true;
}

static bool check_volume(op_view *v, int n, const dim *const *dims) {
  int64_t have, want;
  const dim *numel = view_numel(v, 0);
  return !numel || !dim_is_const(numel, &have) || !dim_is_const(product_of(v, n, dims), &want) ||
         have == want ||
         view_error(v,
                    "operand 1 ('shape'): expected a shape of %" PRId64
                    " elements, as operand 0 has, found %" PRId64,
                    have, want);
}

static bool shape_reshape(op_view *v, shape_result *results) {
  const dim *dims[ONYX_MAX_RANK];
  int n = list_count(v, 1);
  if (!expect_rank(v, 1, 1))
    return false;
  if (n < 0)
    return true;
  if (n > ONYX_MAX_RANK)
    return view_error(v, "operand 1 ('shape'): expected %d entries at most, found %d",
                      ONYX_MAX_RANK, n);
  if (!reshape_dims(v, n, dims) || !check_volume(v, n, dims))
    return false;
  shape_set(v, results, 0, n, dims);
  keep_values(v, results);
  return true;
}

static bool verify_reshape(op_view *v) {
  shape_result scratch[1] = {{.type = {.rank = -1}}};
  return shape_reshape(v, scratch);
}

// The elements of operand 0 in the result's shape; that the counts agree is checked where dims
// leave it open.
static bool comp_same_elements(op_view *v, const shape_result *results, comprehension *c) {
  if (v->operands[0].type.kind != ONYX_TYPE_TENSOR)
    return view_error(v, "operand 0 is no tensor");
  if (!need_rank(v, 0) || !need_sizes(v, &results[0]))
    return false;
  const dim *have = view_numel(v, 0),
            *want = product_of(v, results[0].type.rank, results[0].type.dims);
  if (have != want)
    comp_require(c, x_eq(c, expr_dim(c, have), expr_dim(c, want)), 4, expr_dim(c, want),
                 expr_dim(c, have));
  c->alias_of = 0;
  return true;
}

// --- Flatten

static bool flatten_axis(op_view *v, int *axis) {
  int rank = view_rank(v, 0);
  int64_t a = view_int(v, "axis");
  if (rank >= 0 && (a < -rank || a > rank))
    return view_error(v, "axis: expected a value in [-%d, %d], found %" PRId64, rank, rank, a);
  *axis = (int)(a < 0 ? a + rank : a);
  return true;
}

static bool verify_flatten(op_view *v) {
  int axis;
  return flatten_axis(v, &axis);
}

static bool shape_flatten(op_view *v, shape_result *results) {
  int axis, rank = view_rank(v, 0);
  if (!flatten_axis(v, &axis))
    return false;
  const dim *dims[2] = {dim_unknown_extent(v->dims), dim_unknown_extent(v->dims)};
  if (rank >= 0) {
    dims[0] = product_of(v, axis, v->operands[0].type.dims);
    dims[1] = product_of(v, rank - axis, v->operands[0].type.dims + axis);
  }
  shape_set(v, results, 0, 2, dims);
  return true;
}

// --- Squeeze

static bool verify_squeeze(op_view *v) {
  int rank = view_rank(v, 0), n = list_count(v, 1);
  if (rank < 0 || !view_has(v, 1))
    return true;
  if (n > rank)
    return view_error(v, "operand 1 ('axes'): expected %d axes at most, found %d", rank, n);
  if (!verify_axes(v, 1, rank))
    return false;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < rank; i++) {
      int64_t size;
      if (dim_is(list_axis_is(v, 1, k, i, rank), 1) && dim_is_const(view_dim(v, 0, i), &size) &&
          size != 1)
        return view_error(v,
                          "operand 0 ('data'): expected size 1 in dimension %d, which is squeezed, "
                          "found %" PRId64,
                          i, size);
    }
  return true;
}

// 1 where axis i is among the n listed, 0 where not, an expression where that is known at run time.
static const dim *listed(op_view *v, int operand, int n, int i, int rank) {
  const dim *is = dim_const(v->dims, 0);
  for (int k = 0; k < n; k++)
    is = dim_max(v->dims, is, list_axis_is(v, operand, k, i, rank));
  return is;
}

static bool shape_squeeze(op_view *v, shape_result *results) {
  dim_context *d = v->dims;
  int rank = view_rank(v, 0), n = list_count(v, 1);
  const dim *dims[ONYX_MAX_RANK], *dropped[ONYX_MAX_RANK];
  if (!verify_squeeze(v))
    return false;
  if (rank < 0 || (view_has(v, 1) && n < 0))
    return true;
  int drops = view_has(v, 1) ? n : 0;
  for (int i = 0; i < rank; i++) {
    if (view_has(v, 1)) {
      dropped[i] = listed(v, 1, n, i, rank);
      continue;
    }
    if (view_dim(v, 0, i)->op != DIM_CONST)
      return true; // the rank depends on whether this size is 1
    dropped[i] = dim_const(d, dim_is(view_dim(v, 0, i), 1));
    drops += dim_is(view_dim(v, 0, i), 1);
  }
  for (int j = 0; j < rank - drops; j++) {
    // the kept axis with j kept ones before it
    const dim *kept_before = dim_const(d, rank), *size = dim_const(d, 1);
    for (int i = 0; i < rank; i++)
      kept_before = dim_sub(d, kept_before, dropped[i]);
    for (int i = rank - 1; i >= 0; i--) {
      kept_before = dim_sub(d, kept_before, dim_sub(d, dim_const(d, 1), dropped[i]));
      const dim *here = dim_eq(d, kept_before, dim_const(d, j));
      size =
          dim_select(d, dim_select(d, dropped[i], dim_const(d, 0), here), view_dim(v, 0, i), size);
    }
    dims[j] = dim_has_unknown(size) ? dim_unknown_extent(d) : size;
  }
  shape_set(v, results, 0, rank - drops, dims);
  keep_values(v, results);
  return true;
}

// --- Unsqueeze

static bool verify_unsqueeze(op_view *v) {
  int rank = view_rank(v, 0), n = list_count(v, 1);
  return rank < 0 || n < 0 || verify_axes(v, 1, rank + n);
}

static bool shape_unsqueeze(op_view *v, shape_result *results) {
  dim_context *d = v->dims;
  int own = view_rank(v, 0), n = list_count(v, 1), rank = own + n;
  const dim *dims[ONYX_MAX_RANK];
  if (!verify_unsqueeze(v))
    return false;
  if (own < 0 || n < 0)
    return true;
  if (rank > ONYX_MAX_RANK)
    return view_error(v, "operand 1 ('axes'): expected a result of rank %d at most, found %d",
                      ONYX_MAX_RANK, rank);
  const dim *taken = dim_const(d, 0); // dims of the operand that came before j
  for (int j = 0; j < rank; j++) {
    const dim *added = listed(v, 1, n, j, rank), *size = dim_const(d, 1);
    for (int i = own - 1; i >= 0; i--)
      size = dim_select(d, dim_eq(d, taken, dim_const(d, i)), view_dim(v, 0, i), size);
    dims[j] = dim_select(d, added, dim_const(d, 1), size);
    if (dim_has_unknown(dims[j]))
      dims[j] = dim_unknown_extent(d);
    taken = dim_add(d, taken, dim_sub(d, dim_const(d, 1), added));
  }
  shape_set(v, results, 0, rank, dims);
  keep_values(v, results);
  return true;
}

// --- Identity, Dropout

static bool shape_identity(op_view *v, shape_result *results) {
  const onnx_operand *x = view_operand(v, 0);
  if (!x)
    return true;
  results[0].type = x->type;
  results[0].values = x->values;
  results[0].num_values = x->num_values;
  return true;
}

static bool comp_identity(op_view *v, const shape_result *results, comprehension *c) {
  return comp_same_elements(v, results, c);
}

static bool verify_dropout(op_view *v) {
  double ratio;
  if (view_scalar(v, 1, &ratio) && !(ratio >= 0 && ratio < 1))
    return view_error(v, "operand 1 ('ratio'): expected a value in [0, 1), found %g", ratio);
  return true;
}

static bool shape_dropout(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  if (v->num_results > 1) {
    results[1].type.elem = ONYX_BOOL;
    shape_like(v, results, 1, 0);
  }
  return true;
}

// Inference, which is the rule: everything is kept. In training mode an element is kept with
// probability 1 - ratio and scaled by its inverse.
static bool comp_dropout(op_view *v, const shape_result *results, comprehension *c) {
  const onnx_operand *training = view_operand(v, 2);
  const dim *known = view_value(v, 2, 0);
  int64_t trains = 0;
  double ratio = 0.5;
  bool ratio_known = !view_has(v, 1) || view_scalar(v, 1, &ratio);
  bool inference = !training || (known && dim_is_const(known, &trains) && !trains) ||
                   (ratio_known && ratio == 0);
  if (!need_rank(v, 0))
    return false;
  if (inference && !view_wants(v, 1))
    return comp_same_elements(v, results, c);
  int rank = view_rank(v, 0), out = comp_result(c, 0);
  const expr *at[ONYX_MAX_RANK], *keep = expr_int(c, ONYX_BOOL, 1);
  x_loops(c, rank, at);
  const expr *x = expr_read(c, 0, rank, at);
  if (!inference) {
    int type = expr_compute_type(x->type);
    const expr *drop =
        view_has(v, 1) ? expr_cast(c, x_scalar(c, 1), ONYX_F32) : expr_float(c, ONYX_F32, 0.5);
    const expr *on = view_value(v, 2, 0) && trains ? keep : x_scalar(c, 2);
    const expr *u = x_random(c, x_flat_index(c, rank, results[0].type.dims), 0);
    keep = x_or(c, expr_unary(c, EXPR_NOT, on), x_ge(c, u, drop));
    const expr *scale = x_div(c, expr_one(c, ONYX_F32), x_sub(c, expr_one(c, ONYX_F32), drop));
    scale = expr_select(c, on, scale, expr_one(c, ONYX_F32));
    const expr *scaled = x_mul(c, expr_cast(c, x, type), expr_cast(c, scale, type));
    x = expr_cast(c, expr_select(c, keep, scaled, expr_zero(c, type)), x->type);
  }
  comp_stage *s = comp_stage_over(c, out);
  comp_write_point(c, s, out, x);
  if (view_wants(v, 1))
    comp_write_point(c, s, comp_result(c, 1), keep);
  return true;
}

const op_def ops_reshape[] = {
    {"Dropout", verify_dropout, shape_dropout, comp_dropout},
    {"Flatten", verify_flatten, shape_flatten, comp_same_elements},
    {"Identity", NULL, shape_identity, comp_identity},
    {"Reshape", verify_reshape, shape_reshape, comp_same_elements},
    {"Squeeze", verify_squeeze, shape_squeeze, comp_same_elements},
    {"Unsqueeze", verify_unsqueeze, shape_unsqueeze, comp_same_elements},
};
const int num_ops_reshape = sizeof ops_reshape / sizeof ops_reshape[0];
