// Axes of operators: attributes and operands, negative ones, ones known only at run time.
#ifndef ONYX_AXES_H
#define ONYX_AXES_H

#include "dialects/onnx/ops/view.h"

// Makes `axis` non-negative for a tensor of this rank; an error that names `what` when out of
// range.
bool axis_normalize(op_view *v, const char *what, int64_t axis, int rank, int *out);
// The INT attribute `name` as a non-negative axis.
bool axis_attr(op_view *v, const char *name, int rank, int *out);

// For each of `rank` axes a dim that is 1 where the integer operand lists it and 0 elsewhere;
// constants where the operand is constant, expressions over its elements otherwise. An absent or
// empty operand gives `all_when_empty` everywhere. *count: how many are listed, -1 when that is not
// known (then, and when the elements have no names, *known is false and mask is not set).
// Fails on a constant axis that is out of range or listed twice.
bool axes_mask(op_view *v, int operand, int rank, bool all_when_empty, const dim **mask, int *count,
               bool *known);

#endif
