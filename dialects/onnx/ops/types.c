#include "dialects/onnx/ops/types.h"

onnx_type type_of_elem(onyx_elem elem) {
  return (onnx_type){.kind = ONYX_TYPE_TENSOR, .elem = elem, .rank = -1};
}

onnx_type type_wrapping(op_view *v, onyx_type_kind kind, const onnx_type *of) {
  onnx_type *copy = ONYX_NEW(v->arena, onnx_type);
  *copy = *of;
  return (onnx_type){.kind = kind, .of = copy, .rank = -1};
}

bool type_agrees(const onnx_type *a, const onnx_type *b) {
  if (!a || !b || a->kind == ONYX_TYPE_NONE || b->kind == ONYX_TYPE_NONE)
    return true;
  if (a->kind != b->kind)
    return false;
  if (a->kind == ONYX_TYPE_SEQ || a->kind == ONYX_TYPE_OPT)
    return type_agrees(a->of, b->of);
  return a->elem == b->elem || a->elem == ONYX_ELEM_UNDEFINED || b->elem == ONYX_ELEM_UNDEFINED;
}

onnx_type type_join(op_view *v, const onnx_type *a, const onnx_type *b) {
  if (a->kind == ONYX_TYPE_NONE)
    return *b;
  if (b->kind == ONYX_TYPE_NONE)
    return *a;
  onnx_type t = *a;
  if (a->of && b->of) {
    onnx_type of = type_join(v, a->of, b->of);
    return type_wrapping(v, a->kind, &of);
  }
  if (t.elem == ONYX_ELEM_UNDEFINED)
    t.elem = b->elem;
  t.dims = NULL;
  t.rank = a->rank == b->rank ? a->rank : -1;
  if (t.rank < 0)
    return t;
  t.dims = ONYX_NEW_ARRAY(v->arena, const dim *, t.rank + 1);
  for (int k = 0; k < t.rank; k++)
    t.dims[k] = a->dims[k] == b->dims[k] ? a->dims[k] : dim_unknown_extent(v->dims);
  return t;
}
