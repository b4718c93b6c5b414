// Linear quantization: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, QLinearMatMul,
// QLinearConv.
#include "dialects/onnx/ops/axes.h"
#include "dialects/onnx/ops/scalar.h"
#include "dialects/onnx/ops/window.h"

#include <inttypes.h>
#include <string.h>

// --- parameters: one for the tensor, one a slice of an axis, or one a block along it

typedef struct granularity {
  int axis;
  int64_t block; // 0: not blocked
} granularity;

static bool granularity_of(op_view *v, int scale, granularity *g) {
  int rank = view_rank(v, 0), params = view_rank(v, scale);
  *g = (granularity){0, view_int(v, "block_size")};
  if (g->block < 0)
    return view_error(v, "block_size: expected 0 or more, found %" PRId64, g->block);
  if (rank < 0 || params <= 0 || (params == 1 && g->block == 0 && dim_is(view_dim(v, scale, 0), 1)))
    return true;
  if (!axis_attr(v, "axis", rank, &g->axis))
    return false;
  if (params != (g->block ? rank : 1))
    return view_error(v, "operand %d ('%s'): expected rank %d, found rank %d", scale,
                      view_name(v, scale), g->block ? rank : 1, params);
  int64_t have, want;
  const dim *own = view_dim(v, scale, g->block ? g->axis : 0), *extent = view_dim(v, 0, g->axis);
  if (g->block)
    extent = dim_ceildiv(v->dims, extent, dim_const(v->dims, g->block));
  if (dim_is_const(own, &have) && dim_is_const(extent, &want) && have != want)
    return view_error(
        v, "operand %d ('%s'): expected %" PRId64 " elements along axis %d, found %" PRId64, scale,
        view_name(v, scale), want, g->axis, have);
  return true;
}

// The parameter of the element at loops 0 .. rank-1.
static const expr *read_param(comprehension *c, int operand, const granularity *g) {
  comp_buffer b = c->buffers[operand];
  const expr *at[ONYX_MAX_RANK];
  if (b.rank == 0 || (b.rank == 1 && !g->block && dim_is(b.dims[0], 1)))
    return x_scalar(c, operand);
  bool safe = true;
  for (int k = 0; k < b.rank; k++) {
    const dim *own = b.dims[k], *extent = view_dim(c->view, 0, g->block ? k : g->axis);
    at[k] = expr_loop(c, g->block ? k : g->axis);
    if (g->block && k == g->axis)
      at[k] = expr_binary(c, EXPR_FLOORDIV, at[k], expr_index(c, g->block));
    else
      safe &= own == extent;
    safe &= own->op == DIM_CONST || own == extent;
    if (b.rank == 1 && own->op != DIM_CONST) // one for the tensor, or one a slice
      at[k] = expr_select(c, x_eq(c, expr_dim(c, own), expr_index(c, 1)), expr_index(c, 0), at[k]);
  }
  return x_read(c, operand, at, safe);
}

// --- QuantizeLinear: x, y_scale, y_zero_point

static onyx_elem quantized_type(const op_view *v) {
  int64_t wanted = view_int(v, "output_dtype");
  if (view_has(v, 2))
    return view_elem(v, 2);
  return wanted > 0 && wanted < ONYX_ELEM_COUNT ? (onyx_elem)wanted : ONYX_U8;
}

static bool verify_quantize(op_view *v) {
  granularity g;
  int64_t wanted = view_int(v, "output_dtype");
  if (wanted && view_has(v, 2) && (onyx_elem)wanted != view_elem(v, 2))
    return view_error(v, "output_dtype: expected %s, the type of operand 2 ('%s'), found %" PRId64,
                      onyx_elem_onnx_name(view_elem(v, 2)), view_name(v, 2), wanted);
  return granularity_of(v, 1, &g);
}

static bool shape_quantize(op_view *v, shape_result *results) {
  if (!verify_quantize(v))
    return false;
  results[0].type.elem = quantized_type(v);
  shape_like(v, results, 0, 0);
  return true;
}

// Rounded, moved by the zero point, clamped. The clamp is done before the cast, where nothing
// overflows.
static const expr *to_quantized(comprehension *c, const expr *q, const expr *zero_point,
                                onyx_elem to) {
  const expr *zero = expr_int(c, ONYX_I32, 0);
  const expr *zp = zero_point ? expr_cast(c, zero_point, ONYX_I32) : zero;
  const expr *shift = expr_cast(c, zp, q->type);
  const expr *low =
      x_sub(c, expr_cast(c, expr_cast(c, expr_lowest(c, to), ONYX_I32), q->type), shift);
  const expr *high =
      x_sub(c, expr_cast(c, expr_cast(c, expr_highest(c, to), ONYX_I32), q->type), shift);
  const expr *r = x_clamp(c, expr_unary(c, EXPR_ROUND, q), low, high);
  return expr_cast(c, x_add(c, expr_cast(c, r, ONYX_I32), zp), to);
}

static bool comp_quantize(op_view *v, const shape_result *results, comprehension *c) {
  granularity g;
  onyx_elem to = results[0].type.elem;
  int out = comp_result(c, 0), rank = view_rank(v, 0);
  if (!need_rank(v, 0) || !need_rank(v, 1) || !granularity_of(v, 1, &g))
    return false;
  // The division's precision: the attribute's, else the scale's.
  int64_t stated = view_int(v, "precision");
  onyx_elem precision =
      stated > 0 && stated < ONYX_ELEM_COUNT ? (onyx_elem)stated : view_elem(v, 1);
  if (!onyx_elem_is_float(precision) || onyx_elem_bits(precision) < 16)
    precision = ONYX_F32;
  int type = expr_compute_type(precision);
  const expr *at[ONYX_MAX_RANK];
  x_loops(c, rank, at);
  const expr *x = expr_cast(c, expr_cast(c, expr_read(c, 0, rank, at), precision), type);
  const expr *scale = expr_cast(c, expr_cast(c, read_param(c, 1, &g), precision), type);
  const expr *q = expr_cast(c, expr_cast(c, x_div(c, x, scale), precision), type);
  const expr *zp = view_has(v, 2) ? read_param(c, 2, &g) : NULL, *y;
  comp_stage *s = comp_stage_over(c, out);
  if (onyx_elem_is_int(to))
    y = to_quantized(c, q, zp, to);
  else
    y = expr_cast_saturate(c, q, to, view_int(v, "saturate") != 0 && onyx_elem_bits(to) == 8);
  comp_write_point(c, s, out, y);
  return true;
}

// --- DequantizeLinear: x, x_scale, x_zero_point

static bool verify_dequantize(op_view *v) {
  granularity g;
  return granularity_of(v, 1, &g);
}

static bool shape_dequantize(op_view *v, shape_result *results) {
  int64_t wanted = view_int(v, "output_dtype");
  if (!verify_dequantize(v))
    return false;
  results[0].type.elem =
      wanted > 0 && wanted < ONYX_ELEM_COUNT ? (onyx_elem)wanted : view_elem(v, 1);
  shape_like(v, results, 0, 0);
  return true;
}

static bool comp_dequantize(op_view *v, const shape_result *results, comprehension *c) {
  granularity g;
  int out = comp_result(c, 0), rank = view_rank(v, 0);
  if (!need_rank(v, 0) || !need_rank(v, 1) || !granularity_of(v, 1, &g))
    return false;
  const expr *at[ONYX_MAX_RANK];
  x_loops(c, rank, at);
  const expr *x = expr_read(c, 0, rank, at);
  if (onyx_elem_is_int((onyx_elem)x->type)) {
    x = expr_cast(c, x, ONYX_I32);
    if (view_has(v, 2))
      x = x_sub(c, x, expr_cast(c, read_param(c, 2, &g), ONYX_I32));
  }
  int type = view_elem(v, 1) == ONYX_F64 ? ONYX_F64 : ONYX_F32;
  const expr *y = x_mul(c, expr_cast(c, x, type), expr_cast(c, read_param(c, 1, &g), type));
  comp_write_point(c, comp_stage_over(c, out), out, expr_cast(c, y, results[0].type.elem));
  return true;
}

// --- DynamicQuantizeLinear: the range of x, with 0 in it, onto 0 .. 255

static bool shape_dynamic_quantize(op_view *v, shape_result *results) {
  shape_like(v, results, 0, 0);
  results[0].type.elem = ONYX_U8;
  if (v->num_results > 1) {
    results[1].type.elem = ONYX_F32;
    shape_set(v, results, 1, 0, NULL);
  }
  if (v->num_results > 2) {
    results[2].type.elem = ONYX_U8;
    shape_set(v, results, 2, 0, NULL);
  }
  return true;
}

static bool comp_dynamic_quantize(op_view *v, const shape_result *results, comprehension *c) {
  int rank = view_rank(v, 0), type = ONYX_F32;
  if (!need_rank(v, 0))
    return false;
  int scale = view_wants(v, 1) ? comp_result(c, 1) : comp_temp(c, ONYX_F32, 0, NULL);
  int zero_point = view_wants(v, 2) ? comp_result(c, 2) : comp_temp(c, ONYX_U8, 0, NULL);
  comp_loop loops[ONYX_MAX_RANK];
  const expr *at[ONYX_MAX_RANK];
  x_loops(c, rank, at);
  for (int k = 0; k < rank; k++)
    loops[k] = (comp_loop){LOOP_REDUCTION, view_dim(v, 0, k)};
  comp_stage *s = comp_stage_begin(c, rank, loops);
  const expr *x = expr_read(c, 0, rank, at), *zero = expr_zero(c, type);
  comp_acc_combine(c, s, ACC_MIN, type, x, zero);
  comp_acc_combine(c, s, ACC_MAX, type, x, zero);
  const expr *low = expr_acc(c, 0, type), *high = expr_acc(c, 1, type);
  const expr *width = expr_select(c, x_eq(c, low, high), expr_one(c, type), x_sub(c, high, low));
  const expr *step = x_div(c, width, expr_float(c, type, 255));
  const expr *zp = x_clamp(c, x_sub(c, zero, x_div(c, low, step)), zero, expr_float(c, type, 255));
  comp_write_at(c, s, scale, 0, NULL, step, NULL);
  comp_write_at(c, s, zero_point, 0, NULL, expr_cast(c, expr_unary(c, EXPR_ROUND, zp), ONYX_U8),
                NULL);

  s = comp_stage_over(c, comp_result(c, 0));
  const expr *q = x_div(c, x, expr_read(c, scale, 0, NULL));
  comp_write_point(c, s, comp_result(c, 0),
                   to_quantized(c, q, expr_read(c, zero_point, 0, NULL), results[0].type.elem));
  return true;
}

// --- QLinearMatMul: a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point

static bool matmul_dims(op_view *v, int *rank, const dim **dims, const dim **inner) {
  int a = view_rank(v, 0), b = view_rank(v, 3), batch_a = a - 2, batch_b = b - 2;
  *rank = -1;
  if (a == 0 || b == 0)
    return view_error(v, "operand %d ('%s'): expected rank 1 or more, found rank 0", a ? 3 : 0,
                      a ? "b" : "a");
  if (a < 0 || b < 0)
    return true;
  const dim *left = view_dim(v, 0, a - 1), *right = view_dim(v, 3, b > 1 ? b - 2 : 0);
  int64_t x, y;
  if (dim_is_const(left, &x) && dim_is_const(right, &y) && x != y)
    return view_error(v,
                      "operand 3 ('b'): expected %" PRId64
                      " rows, the columns of operand 0 ('a'), found %" PRId64,
                      x, y);
  *inner = left->op == DIM_CONST ? left : right;
  int batch = batch_a > batch_b ? batch_a : batch_b, n = 0;
  for (int k = 0; k < batch; k++) {
    const dim *p =
        k - (batch - batch_a) >= 0 ? view_dim(v, 0, k - (batch - batch_a)) : dim_const(v->dims, 1);
    const dim *q =
        k - (batch - batch_b) >= 0 ? view_dim(v, 3, k - (batch - batch_b)) : dim_const(v->dims, 1);
    if (dim_is_const(p, &x) && dim_is_const(q, &y) && x != y && x != 1 && y != 1)
      return view_error(
          v, "operand 3 ('b'): batch sizes %" PRId64 " and %" PRId64 " do not broadcast", x, y);
    dims[n++] = dim_broadcast(v->dims, p, q);
  }
  if (a > 1)
    dims[n++] = view_dim(v, 0, a - 2);
  if (b > 1)
    dims[n++] = view_dim(v, 3, b - 1);
  *rank = n;
  return true;
}

static bool verify_qlinear_matmul(op_view *v) {
  int rank;
  const dim *dims[ONYX_MAX_RANK + 2], *inner;
  return matmul_dims(v, &rank, dims, &inner);
}

static bool shape_qlinear_matmul(op_view *v, shape_result *results) {
  int rank;
  const dim *dims[ONYX_MAX_RANK + 2], *inner;
  if (!matmul_dims(v, &rank, dims, &inner))
    return false;
  results[0].type.elem = view_elem(v, 7);
  if (rank >= 0)
    shape_set(v, results, 0, rank, dims);
  return true;
}

// A scalar, or one for each row (of a) or column (of b).
static const expr *matmul_param(comprehension *c, int operand, const expr *line) {
  int rank = c->buffers[operand].rank;
  if (rank != 1 || !line || dim_is(c->buffers[operand].dims[0], 1))
    return x_scalar(c, operand);
  const dim *count = c->buffers[operand].dims[0];
  if (count->op != DIM_CONST)
    line = expr_select(c, x_eq(c, expr_dim(c, count), expr_index(c, 1)), expr_index(c, 0), line);
  return x_read(c, operand, &line, count->op == DIM_CONST);
}

static bool comp_qlinear_matmul(op_view *v, const shape_result *results, comprehension *c) {
  int rank, a = view_rank(v, 0), b = view_rank(v, 3), out = comp_result(c, 0);
  const dim *dims[ONYX_MAX_RANK + 2], *inner;
  if (!need_rank(v, 0) || !need_rank(v, 3) || !matmul_dims(v, &rank, dims, &inner))
    return false;
  for (int i = 0; i < 8; i++)
    if (!need_rank(v, i))
      return false;
  int batch = rank - (a > 1) - (b > 1), row = a > 1 ? batch : -1, column = b > 1 ? rank - 1 : -1;
  comp_loop loops[ONYX_MAX_RANK + 3];
  for (int k = 0; k < rank; k++)
    loops[k] = (comp_loop){LOOP_PARALLEL, dims[k]};
  loops[rank] = (comp_loop){LOOP_REDUCTION, inner};
  const expr *left[ONYX_MAX_RANK], *right[ONYX_MAX_RANK], *k = expr_loop(c, rank);
  for (int i = 0; i < a - 2; i++) {
    int loop = batch - (a - 2) + i;
    left[i] = view_dim(v, 0, i) == dims[loop]
                  ? expr_loop(c, loop)
                  : expr_select(c, x_eq(c, expr_dim(c, view_dim(v, 0, i)), expr_dim(c, dims[loop])),
                                expr_loop(c, loop), expr_index(c, 0));
  }
  for (int i = 0; i < b - 2; i++) {
    int loop = batch - (b - 2) + i;
    right[i] =
        view_dim(v, 3, i) == dims[loop]
            ? expr_loop(c, loop)
            : expr_select(c, x_eq(c, expr_dim(c, view_dim(v, 3, i)), expr_dim(c, dims[loop])),
                          expr_loop(c, loop), expr_index(c, 0));
  }
  const expr *r = row >= 0 ? expr_loop(c, row) : NULL,
             *n = column >= 0 ? expr_loop(c, column) : NULL;
  if (a > 1)
    left[a - 2] = r;
  left[a - 1] = k;
  right[b > 1 ? b - 2 : 0] = k;
  if (b > 1)
    right[b - 1] = n;
  comp_stage *s = comp_stage_begin(c, rank + 1, loops);
  bool agree = view_dim(v, 0, a - 1) == view_dim(v, 3, b > 1 ? b - 2 : 0) || inner->op == DIM_CONST;
  const expr *x = expr_cast(c, x_read(c, 0, left, agree), ONYX_I32),
             *y = expr_cast(c, x_read(c, 3, right, agree), ONYX_I32);
  x = x_sub(c, x, expr_cast(c, matmul_param(c, 2, r), ONYX_I32));
  y = x_sub(c, y, expr_cast(c, matmul_param(c, 5, n), ONYX_I32));
  comp_acc_combine(c, s, ACC_ADD, ONYX_I32, x_mul(c, x, y), NULL);
  const expr *scale = x_mul(c, expr_cast(c, matmul_param(c, 1, r), ONYX_F32),
                            expr_cast(c, matmul_param(c, 4, n), ONYX_F32));
  scale = x_div(c, scale, expr_cast(c, matmul_param(c, 6, NULL), ONYX_F32));
  const expr *q = x_mul(c, expr_cast(c, expr_acc(c, 0, ONYX_I32), ONYX_F32), scale);
  comp_write_point(c, s, out, to_quantized(c, q, matmul_param(c, 7, NULL), results[0].type.elem));
  return true;
}

// --- QLinearConv: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B

typedef struct qconv {
  int spatial;
  int64_t groups;
  window w;
} qconv;

// spatial -1: the ranks are not known.
static bool qconv_of(op_view *v, qconv *k) {
  int rank = view_rank(v, 0);
  *k = (qconv){.spatial = -1, .groups = view_int(v, "group")};
  if (k->groups < 1)
    return view_error(v, "group: expected at least 1, found %" PRId64, k->groups);
  if (rank < 0 || view_rank(v, 3) < 0)
    return true;
  if (rank < 3)
    return view_error(v, "operand 0 ('x'): expected rank 3 or more, found rank %d", rank);
  int64_t channels, wide;
  if (!expect_rank(v, 3, rank))
    return false;
  if (dim_is_const(view_dim(v, 0, 1), &channels) && dim_is_const(view_dim(v, 3, 1), &wide) &&
      channels != wide * k->groups)
    return view_error(v,
                      "operand 3 ('w'): expected %" PRId64 " input channels in each of %" PRId64
                      " groups, found %" PRId64,
                      channels / k->groups, k->groups, wide);
  const dim *kernel[ONYX_MAX_RANK];
  for (int i = 0; i < rank - 2; i++)
    kernel[i] = view_dim(v, 3, 2 + i);
  k->spatial = rank - 2;
  return window_of(v, k->spatial, kernel, &k->w);
}

static bool verify_qconv(op_view *v) {
  qconv k;
  return qconv_of(v, &k);
}

static bool shape_qconv(op_view *v, shape_result *results) {
  qconv k;
  const dim *dims[ONYX_MAX_RANK];
  if (!qconv_of(v, &k))
    return false;
  results[0].type.elem = view_elem(v, 7);
  if (k.spatial < 0)
    return true;
  dims[0] = view_dim(v, 0, 0);
  dims[1] = view_dim(v, 3, 0);
  for (int i = 0; i < k.spatial; i++)
    dims[2 + i] = k.w.axis[i].out;
  shape_set(v, results, 0, 2 + k.spatial, dims);
  return true;
}

static bool comp_qconv(op_view *v, const shape_result *results, comprehension *c) {
  qconv k;
  int out = comp_result(c, 0);
  if (!qconv_of(v, &k))
    return false;
  for (int i = 0; i < 8; i++)
    if (!need_rank(v, i))
      return false;
  int rank = k.spatial + 2;
  comp_loop loops[2 * ONYX_MAX_RANK];
  const expr *in[ONYX_MAX_RANK], *filter[ONYX_MAX_RANK], *m = expr_loop(c, 1),
                                                         *channel = expr_loop(c, rank);
  for (int i = 0; i < rank; i++)
    loops[i] = (comp_loop){LOOP_PARALLEL, results[0].type.dims[i]};
  loops[rank] = (comp_loop){LOOP_REDUCTION, view_dim(v, 3, 1)};
  in[0] = expr_loop(c, 0);
  in[1] = filter[1] = channel;
  filter[0] = m;
  if (k.groups > 1) {
    const dim *per_group = dim_floordiv(v->dims, view_dim(v, 3, 0), dim_const(v->dims, k.groups));
    const expr *group = expr_binary(c, EXPR_FLOORDIV, m, expr_dim(c, per_group));
    in[1] = x_add(c, x_mul(c, group, expr_dim(c, view_dim(v, 3, 1))), channel);
  }
  for (int i = 0; i < k.spatial; i++) {
    loops[rank + 1 + i] = (comp_loop){LOOP_REDUCTION, k.w.axis[i].kernel};
    in[2 + i] = window_tap(c, &k.w.axis[i], 2 + i, rank + 1 + i);
    filter[2 + i] = expr_loop(c, rank + 1 + i);
  }
  const expr *x_zp = x_scalar(c, 2); // outside the image x is 0, that is, the zero point
  const expr *x =
      window_pads(&k.w) ? expr_read_padded(c, 0, rank, in, x_zp) : expr_read(c, 0, rank, in);
  x = x_sub(c, expr_cast(c, x, ONYX_I32), expr_cast(c, x_zp, ONYX_I32));
  const expr *w = x_sub(c, expr_cast(c, expr_read(c, 3, rank, filter), ONYX_I32),
                        expr_cast(c, matmul_param(c, 5, m), ONYX_I32));
  const expr *bias = view_has(v, 8) ? expr_cast(c, expr_read(c, 8, 1, &m), ONYX_I32) : NULL;
  comp_stage *s = comp_stage_begin(c, rank + 1 + k.spatial, loops);
  comp_acc_combine(c, s, ACC_ADD, ONYX_I32, x_mul(c, x, w), NULL);
  const expr *sum = expr_acc(c, 0, ONYX_I32);
  if (bias)
    sum = x_add(c, sum, bias);
  const expr *scale = x_div(c, x_mul(c, x_scalar(c, 1), matmul_param(c, 4, m)), x_scalar(c, 6));
  const expr *q = x_mul(c, expr_cast(c, sum, ONYX_F32), scale);
  comp_write_point(c, s, out, to_quantized(c, q, x_scalar(c, 7), results[0].type.elem));
  return true;
}

const op_def ops_quantize[] = {
    {"DequantizeLinear", verify_dequantize, shape_dequantize, comp_dequantize},
    {"DynamicQuantizeLinear", NULL, shape_dynamic_quantize, comp_dynamic_quantize},
    {"QLinearConv", verify_qconv, shape_qconv, comp_qconv},
    {"QLinearMatMul", verify_qlinear_matmul, shape_qlinear_matmul, comp_qlinear_matmul},
    {"QuantizeLinear", verify_quantize, shape_quantize, comp_quantize},
};
const int num_ops_quantize = sizeof ops_quantize / sizeof ops_quantize[0];
