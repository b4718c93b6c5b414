// Result types: what the schema's constraints decide, then the operator's shape function.
#include "dialects/onnx/ops/op.h"

#include <string.h>

// The one type that a set holds; -1 when it holds more.
static int only_type(const onyx_type_set *set) {
  int found = -1;
  for (int i = 0; i < onyx_schema_num_types; i++)
    if (onyx_type_set_has(set, i)) {
      if (found >= 0)
        return -1;
      found = i;
    }
  return found;
}

static bool all_tensors(const onyx_type_set *set) {
  for (int i = 0; i < onyx_schema_num_types; i++)
    if (onyx_type_set_has(set, i) && onyx_schema_types[i].kind != ONYX_TYPE_TENSOR)
      return false;
  return true;
}

// A schema type as a type of unknown shape.
static onnx_type type_of_schema(op_view *v, int index) {
  const onyx_schema_type *s = &onyx_schema_types[index];
  onnx_type t = {.kind = s->kind, .elem = s->elem, .key = s->key, .rank = -1};
  if (s->of >= 0) {
    onnx_type *of = ONYX_NEW(v->arena, onnx_type);
    *of = type_of_schema(v, s->of);
    t.of = of;
  }
  return t;
}

// The type without its shape, at every level: constrained types agree in elements, not in shapes.
static onnx_type without_shape(op_view *v, const onnx_type *from) {
  onnx_type t = *from;
  t.rank = -1;
  t.dims = NULL;
  if (from->of) {
    onnx_type *of = ONYX_NEW(v->arena, onnx_type);
    *of = without_shape(v, from->of);
    t.of = of;
  }
  return t;
}

// An operand whose parameter has this constraint and whose type is known.
static const onnx_operand *bound_by(const op_view *v, int constraint) {
  for (int i = 0; i < v->num_operands; i++) {
    const onyx_schema_param *p = onyx_schema_input(v->schema, i);
    if (!p || p->constraint != constraint || p->heterogeneous || !view_has(v, i))
      continue;
    const onnx_type *t = &v->operands[i].type;
    if (t->kind != ONYX_TYPE_TENSOR || t->elem != ONYX_ELEM_UNDEFINED)
      return &v->operands[i];
  }
  return NULL;
}

static onnx_type preset(op_view *v, int r) {
  onnx_type unknown = {.rank = -1};
  const onyx_schema_param *p = onyx_schema_output(v->schema, r);
  if (!p)
    return unknown;
  const onyx_type_set *set = &v->schema->constraints[p->constraint].types;
  int only = only_type(set);
  if (only >= 0)
    return type_of_schema(v, only);
  if (!p->heterogeneous) {
    const onnx_operand *o = bound_by(v, p->constraint);
    if (o)
      return without_shape(v, &o->type);
  }
  if (all_tensors(set))
    unknown.kind = ONYX_TYPE_TENSOR;
  return unknown;
}

static bool check_extents(op_view *v, const shape_result *results) {
  for (int r = 0; r < v->num_results; r++) {
    const onnx_type *t = &results[r].type;
    if (t->kind != ONYX_TYPE_TENSOR || t->rank < 0)
      continue;
    if (t->rank > ONYX_MAX_RANK)
      return view_error(v, "result %d has rank %d; at most %d is supported", r, t->rank,
                        ONYX_MAX_RANK);
    for (int k = 0; k < t->rank; k++) {
      int64_t extent;
      if (dim_is_const(t->dims[k], &extent) && extent < 0)
        return view_error(v, "result %d: expected a size >= 0 in dimension %d, found %lld", r, k,
                          (long long)extent);
    }
  }
  return true;
}

bool op_infer(op_view *v, shape_result *results) {
  memset(results, 0, sizeof *results * (size_t)v->num_results);
  for (int r = 0; r < v->num_results; r++)
    results[r].type = preset(v, r);
  if (v->def && v->def->shape && (!v->def->shape(v, results) || v->error))
    return false;
  if (!check_extents(v, results))
    return false;
  for (int r = 0; r < v->num_results; r++)
    if (v->wanted && !v->wanted[r])
      results[r] = (shape_result){.type = {.rank = -1}};
  return true;
}
