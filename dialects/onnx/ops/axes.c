#include "dialects/onnx/ops/axes.h"
#include <inttypes.h>

bool axis_normalize(op_view *v, const char *what, int64_t axis, int rank, int *out) {
  if (axis < -(int64_t)rank || axis >= rank)
    return view_error(v, "%s: expected an axis in [-%d, %d), found %" PRId64, what, rank, rank,
                      axis);
  *out = (int)(axis < 0 ? axis + rank : axis);
  return true;
}

bool axis_attr(op_view *v, const char *name, int rank, int *out) {
  return axis_normalize(v, name, view_int(v, name), rank, out);
}

// Adds one listed axis to the mask; constant ones are checked.
static bool mask_add(op_view *v, const char *what, const dim *axis, int rank, const dim **mask) {
  dim_context *d = v->dims;
  int64_t value;
  if (dim_is_const(axis, &value)) {
    int at;
    if (!axis_normalize(v, what, value, rank, &at))
      return false;
    if (dim_is(mask[at], 1))
      return view_error(v, "%s: axis %d is listed twice", what, at);
    mask[at] = dim_const(d, 1);
    return true;
  }
  const dim *at = dim_wrap(d, axis, dim_const(d, rank));
  for (int i = 0; i < rank; i++)
    mask[i] = dim_select(d, dim_eq(d, at, dim_const(d, i)), dim_const(d, 1), mask[i]);
  return true;
}

bool axes_mask(op_view *v, int operand, int rank, bool all_when_empty, const dim **mask, int *count,
               bool *known) {
  const onnx_operand *axes = view_operand(v, operand);
  *known = true;
  *count = axes ? -1 : 0;
  if (axes && axes->values) {
    *count = (int)axes->num_values;
  } else if (axes && axes->type.rank == 1) {
    int64_t n;
    if (dim_is_const(axes->type.dims[0], &n))
      *count = (int)n;
  }
  if (*count != 0 && !(axes && axes->values)) {
    *known = false;
    return true;
  }
  if (*count > rank)
    return view_error(v, "axes: expected at most %d of them, found %d", rank, *count);
  for (int i = 0; i < rank; i++)
    mask[i] = dim_const(v->dims, *count == 0 && all_when_empty);
  for (int k = 0; k < *count; k++)
    if (!mask_add(v, "axes", axes->values[k], rank, mask))
      return false;
  if (*count == 0 && all_when_empty)
    *count = rank;
  return true;
}
