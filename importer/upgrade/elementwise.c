// Elementwise operators: broadcasts before opset 7, bounds of Clip, names in Cast-1.
#include "importer/upgrade/upgrade.h"

#include <string.h>

// consumed_inputs of the first versions allowed work in place; it means nothing for the result.
static void drop_consumed(upgrader *u, node *n) {
  (void)u;
  attr_remove(n, "consumed_inputs");
}

// Appends `ones` unit dimensions to v.
static value *append_ones(upgrader *u, node *n, value *v, int rank, int ones) {
  int64_t axes[64];
  if (ones > 64)
    up_fail(u, n, "broadcasts over more than 64 dimensions");
  for (int i = 0; i < ones; i++)
    axes[i] = rank + i;
  value *in[] = {v, up_ints(u, n, ones, axes)};
  return up_op(u, n, "Unsqueeze", 2, in);
}

// The same for ranks that only shape inference will know: the shape of v, then as many ones as
// rank(a) - axis - rank(v). Two Shape operators give a rank.
static value *append_ones_computed(upgrader *u, node *n, value *a, value *v, int64_t axis) {
  value *shape_a = up_op(u, n, "Shape", 1, &a), *shape_v = up_op(u, n, "Shape", 1, &v);
  value *ranks[] = {up_op(u, n, "Shape", 1, &shape_a), up_op(u, n, "Shape", 1, &shape_v)};
  value *rest[] = {up_op(u, n, "Sub", 2, ranks), up_int(u, n, axis)};
  value *count = up_op(u, n, "Sub", 2, rest);
  node *fill = up_node(u, n, "ConstantOfShape", 1, &count);
  attr *fill_value = attr_add(u->im, fill, "value", ONYX_ATTR_TENSOR);
  int64_t *one = NEW(u->im, int64_t), dims[] = {1};
  *one = 1;
  const tensor **list = NEW(u->im, const tensor *);
  *list = tensor_new(u->im, ONYX_I64, 1, dims, one);
  fill_value->tensors = list;
  fill_value->count = 1;
  value *parts[] = {shape_v, up_emit(u, n, fill)};
  node *concat = up_node(u, n, "Concat", 2, parts);
  attr_set_int(u->im, concat, "axis", 0);
  value *in[] = {v, up_emit(u, n, concat)};
  return up_op(u, n, "Reshape", 2, in);
}

// Aligns operand 1 with operand 0 from dimension `axis` on.
static void align(upgrader *u, node *n, int64_t axis) {
  value *a = node_in(n, 0), *b = node_in(n, 1);
  int rank_a = value_rank(a), rank_b = value_rank(b);
  if (rank_b == 0)
    return;
  if (axis < 0 && rank_a >= 0)
    axis += rank_a;
  if (axis < 0)
    up_fail(u, n, "broadcasts at a negative axis of an operand of unknown rank");
  if (rank_a < 0 || rank_b < 0) {
    up_set_operand(u, n, 1, append_ones_computed(u, n, a, b, axis));
    return;
  }
  int64_t ones = rank_a - axis - rank_b;
  if (ones < 0)
    up_fail(u, n, "broadcasts past the last dimension");
  if (ones)
    up_set_operand(u, n, 1, append_ones(u, n, b, rank_b, (int)ones));
}

// Add-6 and the like: without `axis` the shapes match from the right, as they do since version 7.
static void broadcast_axis(upgrader *u, node *n) {
  attr_remove(n, "consumed_inputs");
  const attr *axis = attr_find(n, "axis");
  int64_t at = axis ? axis->i : 0;
  if (axis && attr_int(n, "broadcast", 0))
    align(u, n, at);
  attr_remove(n, "axis");
  attr_remove(n, "broadcast");
}

// PRelu-6: a slope of one dimension belongs to the channels, which are dimension 1.
static void prelu(upgrader *u, node *n) {
  attr_remove(n, "consumed_inputs");
  value *slope = node_in(n, 1);
  bool single = slope && slope->type && slope->type->ranked && slope->type->rank == 1 &&
                slope->type->dims[0].size == 1;
  if (!single && value_rank(slope) == 1 && value_rank(node_in(n, 0)) != 1)
    align(u, n, 1);
}

// Clip-6: absent bounds are the type's limits, which since 11 is what an absent operand means.
static void clip(upgrader *u, node *n) {
  attr_remove(n, "consumed_inputs");
  bool has_min = attr_find(n, "min") != NULL, has_max = attr_find(n, "max") != NULL;
  if (has_min)
    up_float_to_operand(u, n, "min", 1, 0);
  if (has_max)
    up_float_to_operand(u, n, "max", 2, 0);
}

// Cast-1 names the type: "FLOAT", "INT64".
static void cast_name(upgrader *u, node *n) {
  static const char *const names[ONYX_ELEM_COUNT] = {
      "UNDEFINED", "FLOAT", "UINT8",   "INT8",   "UINT16", "INT16",  "INT32",     "INT64",
      "STRING",    "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64", "COMPLEX64", "COMPLEX128"};
  str to = attr_str(n, "to", "");
  for (int i = 1; i < ONYX_ELEM_COUNT && names[i]; i++)
    if (str_is(to, names[i])) {
      attr_set_int(u->im, n, "to", i);
      return;
    }
  node_fail(u->im, n, "casts to an unknown type '%s'", str_show(u->im, to));
}

// Selu-1 has fewer digits of alpha than Selu-6.
static void selu(upgrader *u, node *n) {
  attr_remove(n, "consumed_inputs");
  if (!attr_find(n, "alpha"))
    attr_set_float(u->im, n, "alpha", 1.6732f);
  if (!attr_find(n, "gamma"))
    attr_set_float(u->im, n, "gamma", 1.0507f);
}

// Steps of one operator stand together, oldest first.
static const upgrade_step steps[] = {
    {"Abs", 1, drop_consumed},
    {"Add", 6, broadcast_axis},
    {"And", 1, broadcast_axis},
    {"Cast", 1, cast_name},
    {"Ceil", 1, drop_consumed},
    {"Clip", 6, clip},
    {"Div", 6, broadcast_axis},
    {"Elu", 1, drop_consumed},
    {"Equal", 1, broadcast_axis},
    {"Exp", 1, drop_consumed},
    {"Floor", 1, drop_consumed},
    {"Greater", 1, broadcast_axis},
    {"HardSigmoid", 1, drop_consumed},
    {"LeakyRelu", 1, drop_consumed},
    {"Less", 1, broadcast_axis},
    {"Log", 1, drop_consumed},
    {"Max", 1, drop_consumed},
    {"Mean", 1, drop_consumed},
    {"Min", 1, drop_consumed},
    {"Mul", 6, broadcast_axis},
    {"Neg", 1, drop_consumed},
    {"Or", 1, broadcast_axis},
    {"PRelu", 6, prelu},
    {"Pow", 1, broadcast_axis},
    {"Reciprocal", 1, drop_consumed},
    {"Relu", 1, drop_consumed},
    {"Selu", 1, selu},
    {"Sigmoid", 1, drop_consumed},
    {"Sqrt", 1, drop_consumed},
    {"Sub", 6, broadcast_axis},
    {"Sum", 1, drop_consumed},
    {"Tanh", 1, drop_consumed},
    {"Xor", 1, broadcast_axis},
};
const upgrade_family upgrade_elementwise = {steps, sizeof steps / sizeof *steps};
