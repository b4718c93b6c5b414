// If, Loop, Scan: shapes of what regions give. Their lowering is direct: they are no loop nests.
#include "dialects/onnx/ops/op.h"

// What two values that may take each other's place have in common: dims that differ are unknown.
static onnx_type join(op_view *v, const onnx_type *a, const onnx_type *b) {
  onnx_type t = *a;
  if (a->kind != b->kind) { // a tensor in one branch, an optional in the other: the schema decides
    t.kind = ONYX_TYPE_NONE;
    return t;
  }
  if ((a->kind == ONYX_TYPE_SEQ || a->kind == ONYX_TYPE_OPT) && a->of && b->of) {
    onnx_type *of = ONYX_NEW(v->arena, onnx_type);
    *of = join(v, a->of, b->of);
    t.of = of;
    return t;
  }
  if (a->kind != ONYX_TYPE_TENSOR || a->rank < 0 || a->rank != b->rank) {
    t.rank = -1;
    t.dims = NULL;
    return t;
  }
  t.dims = ONYX_NEW_ARRAY(v->arena, const dim *, a->rank);
  for (int k = 0; k < a->rank; k++)
    t.dims[k] = a->dims[k] == b->dims[k] ? a->dims[k] : dim_unknown_extent(v->dims);
  return t;
}

static bool check_elem(op_view *v, int r, const onnx_type *a, const onnx_type *b,
                       const char *where) {
  if (a->kind == ONYX_TYPE_TENSOR && b->kind == ONYX_TYPE_TENSOR && a->elem != b->elem)
    return view_error(v, "result %d: expected elements of %s in %s, found %s", r,
                      onyx_elem_mlir_name(a->elem), where, onyx_elem_mlir_name(b->elem));
  return true;
}

// Elements that both are known to have.
static void join_values(op_view *v, shape_result *result, const onnx_operand *a,
                        const onnx_operand *b) {
  if (!a->values || !b->values || a->num_values != b->num_values)
    return;
  result->values = ONYX_NEW_ARRAY(v->arena, const dim *, a->num_values);
  result->num_values = a->num_values;
  for (int64_t k = 0; k < a->num_values; k++)
    result->values[k] = a->values[k] == b->values[k] ? a->values[k] : dim_unknown(v->dims);
}

static bool shape_if(op_view *v, shape_result *results) {
  if (v->num_regions != 2 || v->num_region_results[0] < v->num_results ||
      v->num_region_results[1] < v->num_results)
    return true;
  int64_t condition;
  const dim *known = view_value(v, 0, 0);
  bool decided = known && dim_is_const(known, &condition);
  for (int r = 0; r < v->num_results; r++) {
    const onnx_operand *a = &v->region_results[0][r], *b = &v->region_results[1][r];
    if (decided) { // the other branch never runs: what it would give says nothing
      const onnx_operand *taken = condition ? a : b;
      results[r].type = taken->type;
      results[r].values = taken->values;
      results[r].num_values = taken->num_values;
      continue;
    }
    if (!check_elem(v, r, &a->type, &b->type, "else_branch"))
      return false;
    results[r].type = join(v, &a->type, &b->type);
    join_values(v, &results[r], a, b);
  }
  return true;
}

// A scan output: the body's value with one more axis, as long as the loop runs.
static void stack(op_view *v, shape_result *result, const onnx_type *each, int axis,
                  const dim *length) {
  result->type = *each;
  if (each->kind != ONYX_TYPE_TENSOR || each->rank < 0 || each->rank >= ONYX_MAX_RANK) {
    result->type.rank = -1;
    result->type.dims = NULL;
    return;
  }
  int rank = each->rank + 1;
  result->type.rank = rank;
  result->type.dims = ONYX_NEW_ARRAY(v->arena, const dim *, rank);
  for (int k = 0, from = 0; k < rank; k++)
    result->type.dims[k] = k == axis ? length : each->dims[from++];
}

static bool verify_loop(op_view *v) {
  for (int i = 0; i < 2; i++) {
    const onnx_operand *o = view_operand(v, i);
    int64_t n = 1, size;
    for (int k = 0; o && k < o->type.rank; k++)
      n *= dim_is_const(o->type.dims[k], &size) ? size : 1;
    if (o && o->type.rank >= 0 && n != 1)
      return view_error(v, "operand %d '%s': expected one element, found %lld", i, i ? "cond" : "M",
                        (long long)n);
  }
  return true;
}

// Loop (25): carried values may be the initial ones (no trip at all) or the body's; scan outputs
// are as long as the loop runs, which a condition makes unknown.
static bool shape_loop(op_view *v, shape_result *results) {
  int carried = v->num_operands - 2;
  if (v->num_regions != 1 || v->num_region_results[0] != v->num_results + 1 || carried < 0 ||
      carried > v->num_results)
    return true;
  const onnx_operand *yield = v->region_results[0] + 1;
  for (int r = 0; r < carried; r++) {
    const onnx_operand *initial = &v->operands[2 + r];
    if (!check_elem(v, r, &initial->type, &yield[r].type, "the body"))
      return false;
    results[r].type = join(v, &initial->type, &yield[r].type);
    join_values(v, &results[r], initial, &yield[r]);
  }
  // The condition stays true if the body yields a constant true and none, or true, comes in.
  const dim *trips = view_value(v, 0, 0), *first = view_value(v, 1, 0);
  bool stays = v->region_results[0][0].num_values == 1 &&
               dim_is(v->region_results[0][0].values[0], 1) &&
               (!view_has(v, 1) || (first && dim_is(first, 1)));
  const dim *length =
      stays && trips ? dim_max(v->dims, trips, dim_const(v->dims, 0)) : dim_unknown_extent(v->dims);
  for (int r = carried; r < v->num_results; r++)
    stack(v, &results[r], &yield[r].type, 0, length);
  return true;
}

// Element k of an axis attribute; 0 is the default. Negative ones count from the end of `rank`.
static int64_t axis_of(const op_view *v, const char *name, int k, int rank) {
  const onnx_attr *a = view_attr(v, name);
  int64_t axis = k < a->n ? a->ints[k] : 0;
  return axis < 0 ? axis + rank : axis;
}

static bool verify_scan(op_view *v) {
  int64_t scanned = view_int(v, "num_scan_inputs");
  if (scanned < 1 || scanned > v->num_operands)
    return view_error(v, "num_scan_inputs: expected 1 to %d, found %lld", v->num_operands,
                      (long long)scanned);
  int states = v->num_operands - (int)scanned;
  for (int k = 0; k < scanned; k++) {
    int rank = view_rank(v, states + k);
    int64_t axis = axis_of(v, "scan_input_axes", k, rank);
    if (rank == 0 || (rank > 0 && (axis < 0 || axis >= rank)))
      return view_error(v, "scan_input_axes: expected an axis of operand %d of rank %d, found %lld",
                        states + k, rank, (long long)axis);
  }
  if (states > v->num_results)
    return view_error(v, "expected at least %d results, one for each state, found %d", states,
                      v->num_results);
  return true;
}

// The length all scan inputs have; an error when two are known to differ.
static const dim *scan_length(op_view *v, int states) {
  const dim *length = NULL;
  for (int i = states; i < v->num_operands; i++) {
    int rank = view_rank(v, i);
    if (rank <= 0)
      continue;
    int64_t axis = axis_of(v, "scan_input_axes", i - states, rank), a, b;
    if (axis < 0 || axis >= rank)
      continue;
    const dim *here = view_dim(v, i, (int)axis);
    if (length && dim_is_const(length, &a) && dim_is_const(here, &b) && a != b) {
      view_error(
          v, "operand %d: expected %lld elements on its scan axis as the others have, found %lld",
          i, (long long)a, (long long)b);
      return NULL;
    }
    if (!length || here->op == DIM_CONST)
      length = here;
  }
  return length ? length : dim_unknown_extent(v->dims);
}

// Scan (25): states keep the body's shape, outputs are stacked along their axis.
static bool shape_scan(op_view *v, shape_result *results) {
  if (!verify_scan(v))
    return false;
  int states = v->num_operands - (int)view_int(v, "num_scan_inputs");
  const dim *length = scan_length(v, states);
  if (!length)
    return false;
  if (v->num_regions != 1 || v->num_region_results[0] != v->num_results)
    return true;
  const onnx_operand *yield = v->region_results[0];
  for (int r = 0; r < states; r++) {
    if (!check_elem(v, r, &v->operands[r].type, &yield[r].type, "the body"))
      return false;
    results[r].type = join(v, &v->operands[r].type, &yield[r].type);
  }
  for (int r = states; r < v->num_results; r++) {
    int rank = yield[r].type.rank + 1;
    int64_t axis = axis_of(v, "scan_output_axes", r - states, rank);
    if (yield[r].type.rank >= 0 && (axis < 0 || axis >= rank))
      return view_error(v, "scan_output_axes: expected an axis of rank %d, found %lld", rank,
                        (long long)axis);
    stack(v, &results[r], &yield[r].type, (int)axis, length);
  }
  return true;
}

const op_def ops_control[] = {
    {"If", NULL, shape_if, NULL},
    {"Loop", verify_loop, shape_loop, NULL},
    {"Scan", verify_scan, shape_scan, NULL},
};
const int num_ops_control = sizeof ops_control / sizeof ops_control[0];
