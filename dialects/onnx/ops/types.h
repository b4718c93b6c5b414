// What two types have in common: results of branches, loops and sequences.
#ifndef ONYX_TYPES_H
#define ONYX_TYPES_H

#include "dialects/onnx/ops/view.h"

// The type that values of both types have: dims on which they agree, else unknown ones; no rank
// where the ranks differ. A type of kind NONE says nothing and gives the other.
onnx_type type_join(op_view *v, const onnx_type *a, const onnx_type *b);
// Whether the two agree in all but shapes, as far as known.
bool type_agrees(const onnx_type *a, const onnx_type *b);
// A sequence (optional) of `of`, which is copied.
onnx_type type_wrapping(op_view *v, onyx_type_kind kind, const onnx_type *of);
// A tensor type of unknown rank.
onnx_type type_of_elem(onyx_elem elem);

#endif
