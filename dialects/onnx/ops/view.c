// Questions that operator files ask of a view.
#include "dialects/onnx/ops/view.h"

#include "dialects/onnx/ops/convert.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool view_error(op_view *v, const char *fmt, ...) {
  if (v->error)
    return false;
  char text[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  v->error = onyx_arena_printf(v->arena, "%s", text);
  return false;
}

const onnx_attr *view_attr(const op_view *v, const char *name) {
  static const onnx_attr absent;
  const onyx_schema_attr *a = onyx_schema_attr_find(v->schema, name);
  return a ? &v->attrs[a - v->schema->attrs] : &absent;
}

const char *view_string(const op_view *v, const char *name) {
  const char *s = view_attr(v, name)->s;
  return s ? s : "";
}

bool view_const_values(const op_view *v, int i, int64_t *out) {
  const onnx_operand *o = view_operand(v, i);
  if (!o || !o->values)
    return false;
  for (int64_t k = 0; k < o->num_values; k++)
    if (!dim_is_const(o->values[k], &out[k]))
      return false;
  return true;
}

const dim *view_numel(op_view *v, int i) {
  int rank = view_rank(v, i);
  if (rank < 0)
    return NULL;
  const dim *n = dim_const(v->dims, 1);
  for (int k = 0; k < rank; k++)
    n = dim_mul(v->dims, n, view_dim(v, i, k));
  return n;
}

bool view_scalar(const op_view *v, int i, double *out) {
  const onnx_operand *o = view_operand(v, i);
  if (!o)
    return false;
  if (o->data && o->num_elements == 1) {
    *out = onyx_element_to_double(o->type.elem, o->data, 0);
    return true;
  }
  int64_t value;
  if (o->values && o->num_values == 1 && dim_is_const(o->values[0], &value)) {
    *out = (double)value;
    return true;
  }
  return false;
}

void shape_set(op_view *v, shape_result *results, int r, int rank, const dim *const *dims) {
  if (r >= v->num_results)
    return;
  onnx_type *t = &results[r].type;
  t->kind = ONYX_TYPE_TENSOR;
  t->rank = rank;
  t->dims = ONYX_NEW_ARRAY(v->arena, const dim *, rank > 0 ? rank : 1);
  for (int k = 0; k < rank; k++)
    t->dims[k] = dims[k];
}

void shape_like(op_view *v, shape_result *results, int r, int i) {
  int rank = view_rank(v, i);
  if (rank >= 0)
    shape_set(v, results, r, rank, v->operands[i].type.dims);
}
