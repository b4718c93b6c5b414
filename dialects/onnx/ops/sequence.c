// Sequences and optionals. A sequence's type holds what its members have in common.
#include "dialects/onnx/ops/axes.h"
#include "dialects/onnx/ops/scalar.h"
#include "dialects/onnx/ops/types.h"

#include <inttypes.h>

// The type of the members of sequence operand i; NULL when it says nothing.
static const onnx_type *members(const op_view *v, int i) {
  const onnx_operand *o = view_operand(v, i);
  return o && o->type.kind == ONYX_TYPE_SEQ ? o->type.of : NULL;
}

static bool scalar_position(op_view *v, int i) {
  return !view_has(v, i) || view_rank(v, i) <= 1 ||
         view_error(v, "operand %d ('%s'): expected a scalar, found rank %d", i, view_name(v, i),
                    view_rank(v, i));
}

static bool shape_construct(op_view *v, shape_result *results) {
  onnx_type join = {.rank = -1};
  for (int i = 0; i < v->num_operands; i++)
    if (view_has(v, i))
      join = type_join(v, &join, &v->operands[i].type);
  results[0].type = type_wrapping(v, ONYX_TYPE_SEQ, &join);
  return true;
}

static bool shape_empty(op_view *v, shape_result *results) {
  int64_t dtype = view_int(v, "dtype");
  onnx_type member =
      type_of_elem(dtype > 0 && dtype < ONYX_ELEM_COUNT ? (onyx_elem)dtype : ONYX_F32);
  results[0].type = type_wrapping(v, ONYX_TYPE_SEQ, &member);
  return true;
}

static bool verify_at(op_view *v) {
  return scalar_position(v, 1);
}

static bool shape_at(op_view *v, shape_result *results) {
  const onnx_type *m = members(v, 0);
  if (m)
    results[0].type = *m;
  return verify_at(v);
}

static bool verify_insert(op_view *v) {
  const onnx_type *m = members(v, 0);
  if (m && view_has(v, 1) && !type_agrees(m, &v->operands[1].type))
    return view_error(v, "operand 1 ('tensor'): expected the sequence's element type, found %s",
                      onyx_elem_onnx_name(view_elem(v, 1)));
  return scalar_position(v, 2);
}

static bool shape_insert(op_view *v, shape_result *results) {
  const onnx_type *m = members(v, 0);
  if (!verify_insert(v))
    return false;
  // Nothing tells an empty sequence: a member type without a rank may come from none, and stays.
  if (m && view_has(v, 1)) {
    onnx_type join = type_join(v, m, &v->operands[1].type);
    results[0].type = type_wrapping(v, ONYX_TYPE_SEQ, &join);
  }
  return true;
}

static bool verify_erase(op_view *v) {
  return scalar_position(v, 1);
}

static bool shape_erase(op_view *v, shape_result *results) {
  if (members(v, 0))
    results[0].type = v->operands[0].type;
  return verify_erase(v);
}

static bool shape_length(op_view *v, shape_result *results) {
  results[0].type.elem = ONYX_I64;
  shape_set(v, results, 0, 0, NULL);
  return true;
}

// --- SplitToSequence

static bool verify_split_to(op_view *v) {
  int axis, rank = view_rank(v, 0);
  if (rank >= 0 && !axis_attr(v, "axis", rank, &axis))
    return false;
  if (view_rank(v, 1) > 1)
    return view_error(v, "operand 1 ('split'): expected rank 0 or 1, found rank %d",
                      view_rank(v, 1));
  int64_t sum = 0, size, extent;
  int n = list_count(v, 1);
  bool known = n >= 0;
  for (int k = 0; k < n; k++) {
    const dim *d = view_value(v, 1, k);
    known &= d && dim_is_const(d, &size);
    if (!known)
      break;
    if (size < 0)
      return view_error(v, "operand 1 ('split'): expected sizes >= 0, found %" PRId64, size);
    sum += size;
  }
  if (known && view_rank(v, 1) == 1 && rank >= 0 && dim_is_const(view_dim(v, 0, axis), &extent) &&
      sum != extent)
    return view_error(v,
                      "operand 1 ('split'): expected a sum of %" PRId64
                      ", the size of dimension %d, found %" PRId64,
                      extent, axis, sum);
  return true;
}

// The size that all parts share, or an unknown one.
static const dim *part_size(op_view *v, int axis) {
  dim_context *d = v->dims;
  if (!view_has(v, 1))
    return dim_const(d, 1);
  int n = list_count(v, 1);
  const dim *size = n > 0 ? view_value(v, 1, 0) : NULL;
  if (!size || dim_has_unknown(size))
    return dim_unknown_extent(d);
  if (view_rank(v, 1) == 0) // the last part may be smaller
    return dim_is(dim_mod(d, view_dim(v, 0, axis), size), 0) ? size : dim_unknown_extent(d);
  for (int k = 1; k < n; k++)
    if (view_value(v, 1, k) != size)
      return dim_unknown_extent(d);
  return size;
}

static bool shape_split_to(op_view *v, shape_result *results) {
  int axis, rank = view_rank(v, 0);
  if (!verify_split_to(v))
    return false;
  onnx_type member = type_of_elem(view_elem(v, 0));
  if (rank >= 0) {
    if (!axis_attr(v, "axis", rank, &axis))
      return false;
    bool keep = view_has(v, 1) || view_int(v, "keepdims");
    member.dims = ONYX_NEW_ARRAY(v->arena, const dim *, rank + 1);
    member.rank = 0;
    for (int k = 0; k < rank; k++) {
      if (k != axis)
        member.dims[member.rank++] = view_dim(v, 0, k);
      else if (keep)
        member.dims[member.rank++] = part_size(v, axis);
    }
  }
  results[0].type = type_wrapping(v, ONYX_TYPE_SEQ, &member);
  return true;
}

// --- ConcatFromSequence

static bool concat_axis(op_view *v, int *rank, int *axis) {
  const onnx_type *m = members(v, 0);
  *rank = m && m->kind == ONYX_TYPE_TENSOR && m->rank >= 0
              ? m->rank + (view_int(v, "new_axis") != 0)
              : -1;
  return *rank < 0 || axis_attr(v, "axis", *rank, axis);
}

static bool verify_concat_from(op_view *v) {
  int rank, axis;
  int64_t fresh = view_int(v, "new_axis");
  if (fresh != 0 && fresh != 1)
    return view_error(v, "new_axis: expected 0 or 1, found %" PRId64, fresh);
  return concat_axis(v, &rank, &axis);
}

static bool shape_concat_from(op_view *v, shape_result *results) {
  const onnx_type *m = members(v, 0);
  const dim *dims[ONYX_MAX_RANK + 1];
  int rank, axis, n = 0;
  if (!verify_concat_from(v) || !concat_axis(v, &rank, &axis))
    return false;
  if (m && m->elem != ONYX_ELEM_UNDEFINED)
    results[0].type = type_of_elem(m->elem);
  if (rank < 0 || rank > ONYX_MAX_RANK)
    return true;
  bool fresh = view_int(v, "new_axis") != 0;
  for (int k = 0; k < rank; k++) {
    dims[k] = k == axis ? dim_unknown_extent(v->dims) : m->dims[n];
    n += k != axis || !fresh;
  }
  shape_set(v, results, 0, rank, dims);
  return true;
}

// --- optionals

static bool shape_optional(op_view *v, shape_result *results) {
  const onnx_attr *type = view_attr(v, "type");
  if (view_has(v, 0))
    results[0].type = type_wrapping(v, ONYX_TYPE_OPT, &v->operands[0].type);
  else if (type->type)
    results[0].type = type_wrapping(v, ONYX_TYPE_OPT, type->type);
  return true;
}

static bool verify_optional(op_view *v) {
  return view_has(v, 0) || view_attr(v, "type")->present ||
         view_error(v, "expected operand 0 ('input') or the attribute type, found neither");
}

static bool shape_get_element(op_view *v, shape_result *results) {
  const onnx_operand *o = view_operand(v, 0);
  if (!o)
    return true;
  if (o->type.kind == ONYX_TYPE_OPT && o->type.of)
    results[0].type = *o->type.of;
  else if (o->type.kind != ONYX_TYPE_OPT)
    results[0].type = o->type;
  return true;
}

static bool shape_has_element(op_view *v, shape_result *results) {
  const onnx_operand *o = view_operand(v, 0);
  results[0].type.elem = ONYX_BOOL;
  shape_set(v, results, 0, 0, NULL);
  if (!o || o->type.kind != ONYX_TYPE_OPT)
    shape_data(v, results, 0, 1)[0] = dim_const(v->dims, o != NULL);
  return true;
}

// --- SequenceMap: the body gives a member of each result; its sizes mean nothing outside of it

static bool verify_map(op_view *v) {
  return !v->num_regions || !v->num_region_results || v->num_region_results[0] == v->num_results ||
         view_error(v, "body: expected %d results, found %d", v->num_results,
                    v->num_region_results[0]);
}

static bool shape_map(op_view *v, shape_result *results) {
  if (!verify_map(v))
    return false;
  for (int i = 0; i < v->num_results && v->num_regions && v->region_results; i++) {
    onnx_type member = v->region_results[0][i].type;
    const dim *const *inner = (const dim *const *)member.dims;
    if (member.kind == ONYX_TYPE_TENSOR && member.rank >= 0) {
      member.dims = ONYX_NEW_ARRAY(v->arena, const dim *, member.rank + 1);
      for (int k = 0; k < member.rank; k++)
        member.dims[k] = inner[k]->op == DIM_CONST ? inner[k] : dim_unknown_extent(v->dims);
    }
    results[i].type = type_wrapping(v, ONYX_TYPE_SEQ, &member);
  }
  return true;
}

const op_def ops_sequence[] = {
    {"ConcatFromSequence", verify_concat_from, shape_concat_from, NULL},
    {"Optional", verify_optional, shape_optional, NULL},
    {"OptionalGetElement", NULL, shape_get_element, NULL},
    {"OptionalHasElement", NULL, shape_has_element, NULL},
    {"SequenceAt", verify_at, shape_at, NULL},
    {"SequenceConstruct", NULL, shape_construct, NULL},
    {"SequenceEmpty", NULL, shape_empty, NULL},
    {"SequenceErase", verify_erase, shape_erase, NULL},
    {"SequenceInsert", verify_insert, shape_insert, NULL},
    {"SequenceLength", NULL, shape_length, NULL},
    {"SequenceMap", verify_map, shape_map, NULL},
    {"SplitToSequence", verify_split_to, shape_split_to, NULL},
};
const int num_ops_sequence = sizeof ops_sequence / sizeof ops_sequence[0];
