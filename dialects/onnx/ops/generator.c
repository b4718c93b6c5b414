// Ops that make tensors from attributes and scalars.
#include "dialects/onnx/ops/convert.h"
#include "dialects/onnx/ops/scalar.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// --- Constant

static bool shape_constant(op_view *v, shape_result *results) {
  const onnx_attr *value = view_attr(v, "value");
  const onnx_attr *sparse = view_attr(v, "sparse_value");
  const onnx_operand *tensor = value->tensor ? value->tensor : sparse->tensor;
  if (tensor) {
    results[0].type = tensor->type;
    results[0].values = tensor->values;
    results[0].num_values = tensor->num_values;
    int64_t n = shape_data_size(&results[0]);
    if (!tensor->values && tensor->data && n >= 0) {
      const dim **values = shape_data(v, results, 0, n);
      for (int64_t k = 0; k < n; k++)
        values[k] = dim_const(v->dims, onyx_element_to_int(tensor->type.elem, tensor->data, k));
    }
    return true;
  }
  static const struct {
    const char *name;
    onyx_elem elem;
    bool list;
  } forms[] = {{"value_float", ONYX_F32, false},     {"value_floats", ONYX_F32, true},
               {"value_int", ONYX_I64, false},       {"value_ints", ONYX_I64, true},
               {"value_string", ONYX_STRING, false}, {"value_strings", ONYX_STRING, true}};
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    const onnx_attr *a = view_attr(v, forms[f].name);
    if (!a->present)
      continue;
    results[0].type.elem = forms[f].elem;
    shape_set(v, results, 0, forms[f].list, (const dim *[]){dim_const(v->dims, a->n)});
    int64_t n = shape_data_size(&results[0]);
    if (n >= 0) {
      const dim **values = shape_data(v, results, 0, n);
      for (int64_t k = 0; k < n; k++)
        values[k] = dim_const(v->dims, forms[f].list ? a->ints[k] : a->i);
    }
    return true;
  }
  return true;
}

static bool verify_constant(op_view *v) {
  int given = 0;
  for (int k = 0; k < v->schema->num_attrs; k++)
    given += v->attrs[k].present;
  return given == 1 || view_error(v, "expected exactly one value attribute, found %d", given);
}

// --- ConstantOfShape

static bool verify_constant_of_shape(op_view *v) {
  const onnx_operand *value = view_attr(v, "value")->tensor;
  int n = list_count(v, 0);
  if (value && value->data && value->num_elements != 1)
    return view_error(v, "value: expected one element, found %" PRId64, value->num_elements);
  if (!expect_rank(v, 0, 1))
    return false;
  if (n > ONYX_MAX_RANK)
    return view_error(v, "operand 0 ('input'): expected %d sizes at most, found %d", ONYX_MAX_RANK,
                      n);
  for (int k = 0; k < n; k++) {
    const dim *d = view_value(v, 0, k);
    if (d && d->op == DIM_CONST && d->value < 0)
      return view_error(v, "operand 0 ('input'): expected sizes >= 0, found %" PRId64, d->value);
  }
  return true;
}

static bool shape_constant_of_shape(op_view *v, shape_result *results) {
  const onnx_operand *value = view_attr(v, "value")->tensor;
  const dim *dims[ONYX_MAX_RANK];
  int rank = list_count(v, 0);
  if (!verify_constant_of_shape(v))
    return false;
  results[0].type.elem = value ? value->type.elem : ONYX_F32;
  if (rank < 0)
    return true;
  for (int k = 0; k < rank; k++) {
    const dim *d = list_value(v, 0, k);
    dims[k] = dim_has_unknown(d)   ? dim_unknown_extent(v->dims)
              : d->op == DIM_CONST ? d
                                   : dim_max(v->dims, d, dim_const(v->dims, 0));
  }
  shape_set(v, results, 0, rank, dims);
  int64_t n = shape_data_size(&results[0]);
  if (n >= 0 && (!value || value->data)) {
    const dim **values = shape_data(v, results, 0, n);
    const dim *one =
        dim_const(v->dims, value ? onyx_element_to_int(value->type.elem, value->data, 0) : 0);
    for (int64_t k = 0; k < n; k++)
      values[k] = one;
  }
  return true;
}

static bool comp_constant_of_shape(op_view *v, const shape_result *results, comprehension *c) {
  const onnx_operand *value = view_attr(v, "value")->tensor;
  int out = comp_result(c, 0);
  if (!need_sizes(v, &results[0]))
    return false;
  onyx_elem elem = results[0].type.elem;
  const expr *x = expr_zero(c, elem);
  if (value && !value->data)
    return view_error(v, "value: its element is not known");
  if (value)
    x = onyx_elem_is_float(elem) ? expr_float(c, elem, onyx_element_to_double(elem, value->data, 0))
                                 : expr_int(c, elem, onyx_element_to_int(elem, value->data, 0));
  for (int k = 0; k < results[0].type.rank; k++) {
    const expr *asked = expr_dim(c, list_value(v, 0, k));
    comp_require(c, x_ge(c, asked, expr_index(c, 0)), 6, asked, expr_index(c, 0));
  }
  comp_write_point(c, comp_stage_over(c, out), out, x);
  return true;
}

// --- Range: start, limit, delta

static const dim *range_count(op_view *v) {
  double start, limit, delta;
  dim_context *d = v->dims;
  const dim *a = view_value(v, 0, 0), *b = view_value(v, 1, 0), *step = view_value(v, 2, 0);
  if (a && b && step && onyx_elem_is_int(view_elem(v, 0)))
    return dim_max(d, dim_ceildiv(d, dim_sub(d, b, a), step), dim_const(d, 0));
  if (view_scalar(v, 0, &start) && view_scalar(v, 1, &limit) && view_scalar(v, 2, &delta) &&
      delta != 0) {
    double n = ceil((limit - start) / delta);
    if (n < 9e15)
      return dim_const(d, n > 0 ? (int64_t)n : 0);
  }
  return dim_unknown_extent(d);
}

static bool verify_range(op_view *v) {
  double delta;
  for (int i = 0; i < 3; i++)
    if (view_rank(v, i) > 1)
      return view_error(v, "operand %d ('%s'): expected a scalar, found rank %d", i,
                        view_name(v, i), view_rank(v, i));
  return !view_scalar(v, 2, &delta) || delta != 0 ||
         view_error(v, "operand 2 ('delta'): expected a step other than 0");
}

static bool shape_range_op(op_view *v, shape_result *results) {
  if (!verify_range(v))
    return false;
  const dim *count = range_count(v);
  if (dim_has_unknown(count))
    count = dim_unknown_extent(v->dims);
  shape_set(v, results, 0, 1, &count);
  int64_t n = shape_data_size(&results[0]);
  const dim *start = view_value(v, 0, 0), *step = view_value(v, 2, 0);
  if (n >= 0 && start && step) {
    const dim **values = shape_data(v, results, 0, n);
    for (int64_t k = 0; k < n; k++)
      values[k] = dim_add(v->dims, start, dim_mul(v->dims, step, dim_const(v->dims, k)));
  }
  return true;
}

// The count where it is data: max(0, ceil((limit - start) / delta)), in f64 as NumPy has it.
static const dim *range_late_count(comprehension *c) {
  const expr *x[3];
  for (int i = 0; i < 3; i++)
    x[i] = expr_cast(c, x_scalar(c, i), ONYX_F64);
  const expr *zero = expr_float(c, ONYX_F64, 0), *one = expr_float(c, ONYX_F64, 1);
  const expr *valid = expr_compare(c, EXPR_NE, x[2], zero);
  const expr *delta =
      expr_check(c, expr_select(c, valid, x[2], one), valid, 6, expr_index(c, 0), expr_index(c, 1));
  const expr *n = expr_unary(c, EXPR_CEIL, x_div(c, x_sub(c, x[1], x[0]), delta));
  int count = comp_temp(c, ONYX_I64, 0, NULL);
  comp_stage *s = comp_stage_begin(c, 0, NULL);
  comp_write_at(c, s, count, 0, NULL, expr_cast(c, x_max(c, n, zero), ONYX_I64), NULL);
  return comp_late_size(c, count);
}

static bool comp_range(op_view *v, const shape_result *results, comprehension *c) {
  onyx_elem elem = results[0].type.elem;
  int out = comp_result(c, 0), type = expr_compute_type(elem);
  for (int i = 0; i < 3; i++)
    if (!need_rank(v, i))
      return false;
  if (dim_has_unknown(results[0].type.dims[0]))
    comp_set_extent(c, 0, 0, range_late_count(c));
  if (type == ONYX_F32 && elem != ONYX_F32 && view_int(v, "stash_type") == ONYX_F64)
    type = ONYX_F64;
  const expr *start = expr_cast(c, x_scalar(c, 0), type),
             *delta = expr_cast(c, x_scalar(c, 2), type);
  const expr *value = x_add(c, start, x_mul(c, expr_cast(c, expr_loop(c, 0), type), delta));
  comp_write_point(c, comp_stage_over(c, out), out, expr_cast(c, value, elem));
  return true;
}

// --- EyeLike

static onyx_elem type_attr(const op_view *v, const char *name, onyx_elem fallback) {
  int64_t e = view_int(v, name);
  return view_attr(v, name)->present && e > 0 && e < ONYX_ELEM_COUNT ? (onyx_elem)e : fallback;
}

static bool verify_eye(op_view *v) {
  return expect_rank(v, 0, 2);
}

static bool shape_eye(op_view *v, shape_result *results) {
  results[0].type.elem = type_attr(v, "dtype", view_elem(v, 0));
  shape_like(v, results, 0, 0);
  return true;
}

static bool comp_eye(op_view *v, const shape_result *results, comprehension *c) {
  int out = comp_result(c, 0), elem = results[0].type.elem;
  if (!need_rank(v, 0))
    return false;
  const expr *diagonal = x_add(c, expr_loop(c, 0), expr_index(c, view_int(v, "k")));
  const expr *value =
      expr_select(c, x_eq(c, diagonal, expr_loop(c, 1)), expr_one(c, elem), expr_zero(c, elem));
  comp_write_point(c, comp_stage_over(c, out), out, value);
  return true;
}

// --- windows: a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N)

static bool verify_window(op_view *v) {
  const dim *size = view_value(v, 0, 0);
  if (size && size->op == DIM_CONST && size->value < 0)
    return view_error(v, "operand 0 ('size'): expected a size >= 0, found %" PRId64, size->value);
  return expect_rank(v, 0, 0);
}

static bool shape_window(op_view *v, shape_result *results) {
  const dim *size = list_value(v, 0, 0);
  if (!verify_window(v))
    return false;
  results[0].type.elem = type_attr(v, "output_datatype", ONYX_F32);
  if (dim_has_unknown(size))
    size = dim_unknown_extent(v->dims);
  else if (size->op != DIM_CONST)
    size = dim_max(v->dims, size, dim_const(v->dims, 0));
  shape_set(v, results, 0, 1, &size);
  return true;
}

static bool comp_window(op_view *v, const shape_result *results, comprehension *c, double a0,
                        double a1, double a2) {
  int out = comp_result(c, 0), elem = results[0].type.elem;
  if (!need_sizes(v, &results[0]))
    return false;
  const expr *n = expr_cast(c, expr_loop(c, 0), ONYX_F64),
             *span = expr_dim(c, results[0].type.dims[0]);
  if (!view_int(v, "periodic"))
    span = x_sub(c, span, expr_index(c, 1));
  const expr *turn = expr_float(c, ONYX_F64, 6.283185307179586477);
  const expr *angle = x_div(c, x_mul(c, turn, n), expr_cast(c, span, ONYX_F64));
  const expr *y =
      x_sub(c, x_num(c, n, a0), x_mul(c, x_num(c, n, a1), expr_unary(c, EXPR_COS, angle)));
  if (a2 != 0)
    y = x_add(c, y,
              x_mul(c, x_num(c, n, a2), expr_unary(c, EXPR_COS, x_mul(c, x_num(c, n, 2), angle))));
  comp_write_point(c, comp_stage_over(c, out), out, expr_cast(c, y, elem));
  return true;
}
static bool comp_hann(op_view *v, const shape_result *results, comprehension *c) {
  return comp_window(v, results, c, 0.5, 0.5, 0);
}
static bool comp_hamming(op_view *v, const shape_result *results, comprehension *c) {
  return comp_window(v, results, c, 25.0 / 46, 1 - 25.0 / 46, 0);
}
static bool comp_blackman(op_view *v, const shape_result *results, comprehension *c) {
  return comp_window(v, results, c, 0.42, 0.5, 0.08);
}

const op_def ops_generator[] = {
    {"BlackmanWindow", verify_window, shape_window, comp_blackman},
    {"Constant", verify_constant, shape_constant, NULL},
    {"ConstantOfShape", verify_constant_of_shape, shape_constant_of_shape, comp_constant_of_shape},
    {"EyeLike", verify_eye, shape_eye, comp_eye},
    {"HammingWindow", verify_window, shape_window, comp_hamming},
    {"HannWindow", verify_window, shape_window, comp_hann},
    {"Range", verify_range, shape_range_op, comp_range},
};
const int num_ops_generator = sizeof ops_generator / sizeof ops_generator[0];
