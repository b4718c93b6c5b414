#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>
#include <string.h>

const char *view_name(const op_view *v, int i) {
  const onyx_schema_param *p = onyx_schema_input(v->schema, i);
  return p ? p->name : "";
}

bool expect_rank(op_view *v, int i, int rank) {
  int found = view_rank(v, i);
  return found < 0 || found == rank ||
         view_error(v, "operand %d ('%s'): expected rank %d, found rank %d", i, view_name(v, i),
                    rank, found);
}

bool need_rank(op_view *v, int i) {
  return view_rank(v, i) >= 0 ||
         view_error(v, "operand %d ('%s'): the rank is not known", i, view_name(v, i));
}

// --- broadcasting

// Joins operand i into dims[0 .. rank-1], aligned at the right.
static bool join_operand(op_view *v, int i, int rank, const dim **dims, int *owner) {
  int r = view_rank(v, i);
  for (int k = 0; k < r; k++) {
    int at = rank - r + k;
    const dim *d = view_dim(v, i, k);
    int64_t have, want;
    if (dims[at] && dim_is_const(d, &have) && dim_is_const(dims[at], &want) && have != want &&
        have != 1 && want != 1)
      return view_error(v,
                        "operand %d ('%s'): expected 1 or %" PRId64
                        " in dimension %d, to broadcast with operand "
                        "%d ('%s'), found %" PRId64,
                        i, view_name(v, i), want, k, owner[at], view_name(v, owner[at]), have);
    const dim *joined = dims[at] ? dim_broadcast(v->dims, dims[at], d) : d;
    if (joined != dims[at] && joined == d)
      owner[at] = i;
    dims[at] = joined;
  }
  return true;
}

// rank -1: an operand is unranked.
static bool broadcast_of(op_view *v, int n, const int *operands, int *rank, const dim **dims) {
  int owner[ONYX_MAX_RANK] = {0};
  *rank = 0;
  for (int k = 0; k < n; k++) {
    int r = view_rank(v, operands[k]);
    if (r < 0)
      *rank = -1;
    if (*rank >= 0 && r > *rank)
      *rank = r;
  }
  if (*rank < 0)
    return true;
  for (int k = 0; k < *rank; k++)
    dims[k] = NULL;
  for (int k = 0; k < n; k++)
    if (!join_operand(v, operands[k], *rank, dims, owner))
      return false;
  return true;
}

bool verify_broadcast(op_view *v, int n, const int *operands) {
  int rank;
  const dim *dims[ONYX_MAX_RANK];
  return broadcast_of(v, n, operands, &rank, dims);
}

bool shape_broadcast(op_view *v, shape_result *results, int r, int n, const int *operands) {
  int rank;
  const dim *dims[ONYX_MAX_RANK];
  if (!broadcast_of(v, n, operands, &rank, dims))
    return false;
  if (rank >= 0)
    shape_set(v, results, r, rank, dims);
  return true;
}

bool shape_broadcast_all(op_view *v, shape_result *results) {
  int *operands = ONYX_NEW_ARRAY(v->arena, int, v->num_operands + 1), n = 0;
  for (int i = 0; i < v->num_operands; i++)
    if (view_has(v, i))
      operands[n++] = i;
  return shape_broadcast(v, results, 0, n, operands);
}

// --- shape data

static int64_t static_size(const onnx_type *t) {
  int64_t n = 1, extent;
  if (t->rank < 0)
    return -1;
  for (int k = 0; k < t->rank; k++)
    if (!dim_is_const(t->dims[k], &extent) || extent < 0 || __builtin_mul_overflow(n, extent, &n))
      return -1;
  return n;
}

int64_t shape_data_size(const shape_result *result) {
  onyx_elem e = result->type.elem;
  if (e != ONYX_BOOL && e != ONYX_I64 && e != ONYX_I32)
    return -1;
  int64_t n = static_size(&result->type);
  return n <= ONYX_MAX_SHAPE_DATA ? n : -1;
}

const dim **shape_data(op_view *v, shape_result *results, int r, int64_t n) {
  results[r].values = ONYX_NEW_ARRAY(v->arena, const dim *, n > 0 ? n : 1);
  results[r].num_values = n;
  return results[r].values;
}

const dim *shape_data_broadcast(const op_view *v, const shape_result *result, int i, int64_t k) {
  const onnx_operand *o = view_operand(v, i);
  if (!o || !o->values)
    return NULL;
  if (o->num_values == 1)
    return o->values[0];
  int64_t at = 0, stride = 1;
  for (int axis = 1; axis <= result->type.rank; axis++) {
    int64_t extent = result->type.dims[result->type.rank - axis]->value, own;
    int64_t index = k % extent;
    k /= extent;
    if (axis > o->type.rank)
      continue;
    if (!dim_is_const(o->type.dims[o->type.rank - axis], &own))
      return NULL;
    at += own == 1 ? 0 : index * stride;
    stride *= own;
  }
  return at < o->num_values ? o->values[at] : NULL;
}

// --- computing

bool comp_map(op_view *v, const shape_result *results, comprehension *c, int n, scalar_fn fn) {
  int *operands = ONYX_NEW_ARRAY(v->arena, int, n + 1), count = 0;
  const expr **x = ONYX_NEW_ARRAY(v->arena, const expr *, n + 1);
  for (int i = 0; i < n; i++) {
    if (!view_has(v, i))
      continue;
    if (!need_rank(v, i))
      return false;
    operands[count++] = i;
  }
  comp_require_broadcast(c, count, operands);
  int rank = results[0].type.rank, out = comp_result(c, 0);
  for (int i = 0; i < n; i++)
    if (view_has(v, i))
      x[i] = expr_cast(c, comp_read_broadcast(c, i, rank), expr_compute_type(view_elem(v, i)));
  comp_stage *s = comp_stage_over(c, out);
  comp_write_point(c, s, out, expr_cast(c, fn(c, x), results[0].type.elem));
  return true;
}

const expr *x_clamp(comprehension *c, const expr *v, const expr *lo, const expr *hi) {
  return x_min(c, x_max(c, v, lo), hi);
}

const expr *x_checked_index(comprehension *c, const expr *index, const expr *extent) {
  const expr *zero = expr_index(c, 0);
  const expr *wrapped = expr_select(c, x_lt(c, index, zero), x_add(c, index, extent), index);
  const expr *last = x_sub(c, extent, expr_index(c, 1));
  const expr *inside = x_and(c, x_ge(c, wrapped, zero), x_lt(c, wrapped, extent));
  return expr_check(c, x_max(c, x_min(c, wrapped, last), zero), inside, 1, index, extent);
}

const expr *x_sigmoid(comprehension *c, const expr *x) {
  const expr *one = x_num(c, x, 1);
  return x_div(c, one, x_add(c, one, expr_unary(c, EXPR_EXP, expr_unary(c, EXPR_NEG, x))));
}

// log(exp(x) + 1) without overflow
const expr *x_softplus(comprehension *c, const expr *x) {
  const expr *small = expr_unary(c, EXPR_EXP, expr_unary(c, EXPR_NEG, expr_unary(c, EXPR_ABS, x)));
  return x_add(c, x_max(c, x, x_num(c, x, 0)), expr_unary(c, EXPR_LOG1P, small));
}

const expr *x_scalar(comprehension *c, int operand) {
  const expr *zeros[ONYX_MAX_RANK];
  int rank = c->buffers[operand].rank;
  for (int k = 0; k < rank; k++)
    zeros[k] = expr_index(c, 0);
  return expr_read(c, operand, rank, zeros);
}

void x_loops(comprehension *c, int n, const expr **out) {
  for (int k = 0; k < n; k++)
    out[k] = expr_loop(c, k);
}

const expr *x_read(comprehension *c, int buffer, const expr *const *index, bool safe) {
  int rank = c->buffers[buffer].rank;
  return safe ? expr_read(c, buffer, rank, index)
              : expr_read_padded(c, buffer, rank, index, expr_zero(c, c->buffers[buffer].elem));
}

// --- lists

int list_count(const op_view *v, int i) {
  const onnx_operand *o = view_operand(v, i);
  int64_t n;
  if (!o)
    return -1;
  if (o->values)
    return (int)o->num_values;
  if (o->type.rank == 1 && dim_is_const(o->type.dims[0], &n) && n >= 0 && n <= INT32_MAX)
    return (int)n;
  return o->type.rank == 0 ? 1 : -1;
}

const dim *list_value(op_view *v, int i, int k) {
  const dim *value = view_value(v, i, k);
  return value ? value : dim_unknown(v->dims);
}

const dim *list_axis_is(op_view *v, int operand, int k, int i, int rank) {
  if (!view_has(v, operand))
    return dim_const(v->dims, k == i);
  const dim *axis = list_value(v, operand, k);
  int64_t value;
  if (dim_is_const(axis, &value))
    return dim_const(v->dims, (value < 0 ? value + rank : value) == i);
  if (dim_has_unknown(axis))
    return dim_unknown(v->dims);
  return dim_eq(v->dims, dim_wrap(v->dims, axis, dim_const(v->dims, rank)), dim_const(v->dims, i));
}

bool verify_axes(op_view *v, int operand, int rank) {
  bool seen[ONYX_MAX_RANK] = {false};
  int n = list_count(v, operand);
  if (rank < 0 || rank > ONYX_MAX_RANK || n < 0)
    return true;
  for (int k = 0; k < n; k++) {
    const dim *axis = view_value(v, operand, k);
    int64_t value;
    if (!axis || !dim_is_const(axis, &value))
      continue;
    if (value < -rank || value >= rank)
      return view_error(v, "operand %d ('%s'): expected axes in [-%d, %d), found %" PRId64, operand,
                        view_name(v, operand), rank, rank, value);
    int at = (int)(value < 0 ? value + rank : value);
    if (seen[at])
      return view_error(v, "operand %d ('%s'): axis %d is listed twice", operand,
                        view_name(v, operand), at);
    seen[at] = true;
  }
  return true;
}

bool need_sizes(op_view *v, const shape_result *result) {
  if (result->type.rank < 0)
    return view_error(v, "the result's rank is not known");
  for (int k = 0; k < result->type.rank; k++)
    if (dim_has_unknown(result->type.dims[k]))
      return view_error(v, "the result's size in dimension %d depends on data that is not known",
                        k);
  return true;
}

// --- random numbers

// 64 well mixed bits of a counter (the finaliser of splitmix64), as u64.
static const expr *mixed_bits(comprehension *c, const expr *counter) {
  static const uint64_t multipliers[2] = {UINT64_C(0xbf58476d1ce4e5b9),
                                          UINT64_C(0x94d049bb133111eb)};
  static const int shifts[2] = {30, 27};
  const expr *x = counter;
  for (int k = 0; k < 2; k++) {
    x = expr_binary(c, EXPR_XOR, x, expr_binary(c, EXPR_SHR, x, expr_int(c, ONYX_U64, shifts[k])));
    x = x_mul(c, x, expr_int(c, ONYX_U64, (int64_t)multipliers[k]));
  }
  return expr_binary(c, EXPR_XOR, x, expr_binary(c, EXPR_SHR, x, expr_int(c, ONYX_U64, 31)));
}

const expr *x_random(comprehension *c, const expr *counter, uint64_t stream) {
  const onnx_attr *seed = view_attr(c->view, "seed");
  uint64_t key = stream * UINT64_C(0x9e3779b97f4a7c15) + 1;
  if (seed->present) {
    uint64_t bits = 0;
    double s = seed->kind == ONYX_ATTR_INT ? (double)seed->i : seed->f;
    memcpy(&bits, &s, sizeof s);
    key ^= bits;
  } else { // ops without a seed differ from each other
    for (const char *p = c->view->node_name; p && *p; p++)
      key = (key ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
  }
  const expr *at = expr_cast(c, counter, ONYX_U64);
  at = x_add(c, x_mul(c, at, expr_int(c, ONYX_U64, (int64_t)UINT64_C(0x9e3779b97f4a7c15))),
             expr_int(c, ONYX_U64, (int64_t)key));
  const expr *bits =
      expr_binary(c, EXPR_SHR, mixed_bits(c, mixed_bits(c, at)), expr_int(c, ONYX_U64, 40));
  return x_mul(c, expr_cast(c, bits, ONYX_F32), expr_float(c, ONYX_F32, 1.0 / 16777216));
}

const expr *x_flat_index(comprehension *c, int rank, const dim *const *dims) {
  const expr *flat = expr_index(c, 0);
  for (int k = 0; k < rank; k++)
    flat = x_add(c, x_mul(c, flat, expr_dim(c, dims[k])), expr_loop(c, k));
  return flat;
}
