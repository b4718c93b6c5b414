// Shape operators: what were attributes are operands.
#include "importer/upgrade/upgrade.h"

// Squeeze and Unsqueeze to 11.
static void axes(upgrader *u, node *n) {
  up_ints_to_operand(u, n, "axes", 1);
}

// Reshape-1.
static void reshape(upgrader *u, node *n) {
  attr_remove(n, "consumed_inputs");
  if (!attr_find(n, "shape"))
    attr_set_ints(u->im, n, "shape", 0, NULL);
  up_ints_to_operand(u, n, "shape", 1);
}

// Split-1 may take the lengths as an operand of the data's type; its axis has no default in the
// table of facts, and the first one is meant.
static void split_first(upgrader *u, node *n) {
  value *lengths = node_in(n, 1);
  if (!attr_find(n, "axis"))
    attr_set_int(u->im, n, "axis", 0);
  if (!lengths)
    return;
  node *cast = up_node(u, n, "Cast", 1, &lengths);
  attr_set_int(u->im, cast, "to", ONYX_I64);
  up_set_operand(u, n, 1, up_emit(u, n, cast));
}

// Split-11: lengths become an operand.
static void split_attr(upgrader *u, node *n) {
  up_ints_to_operand(u, n, "split", 1);
}

// Split-13 splits evenly without lengths; since 18 the number of parts is said.
static void split_parts(upgrader *u, node *n) {
  if (!node_in(n, 1))
    attr_set_int(u->im, n, "num_outputs", n->num_out);
}

// Slice-1.
static void slice(upgrader *u, node *n) {
  up_ints_to_operand(u, n, "starts", 1);
  up_ints_to_operand(u, n, "ends", 2);
  up_ints_to_operand(u, n, "axes", 3);
}

static void pad_name(upgrader *u, node *n) {
  (void)u;
  attr_rename(n, "paddings", "pads");
}

// Pad-2: pads and value become operands; the value is 0 where it is absent, then and now.
static void pad_operands(upgrader *u, node *n) {
  up_ints_to_operand(u, n, "pads", 1);
  if (attr_find(n, "value"))
    up_float_to_operand(u, n, "value", 2, 0);
}

static void concat(upgrader *u, node *n) {
  if (!attr_find(n, "axis"))
    attr_set_int(u->im, n, "axis", 1);
}

static value *as_i64_vector(upgrader *u, node *n, value *v) {
  node *cast = up_node(u, n, "Cast", 1, &v);
  attr_set_int(u->im, cast, "to", ONYX_I64);
  value *in[] = {up_emit(u, n, cast), up_int(u, n, 1)};
  return up_op(u, n, "Reshape", 2, in);
}

// Tile-1 repeats one axis: all repeats are 1 but that axis's.
static void tile(upgrader *u, node *n) {
  value *x = n->in[0];
  value *shape = up_op(u, n, "Shape", 1, &x), *rank = up_op(u, n, "Shape", 1, &shape);
  node *ones = up_node(u, n, "ConstantOfShape", 1, &rank);
  attr *fill = attr_add(u->im, ones, "value", ONYX_ATTR_TENSOR);
  int64_t *one = NEW(u->im, int64_t), dims[] = {1};
  *one = 1;
  const tensor **list = NEW(u->im, const tensor *);
  *list = tensor_new(u->im, ONYX_I64, 1, dims, one);
  fill->tensors = list;
  fill->count = 1;
  value *in[] = {up_emit(u, n, ones), as_i64_vector(u, n, node_in(n, 2)),
                 as_i64_vector(u, n, node_in(n, 1))};
  node *scatter = up_node(u, n, "ScatterElements", 3, in);
  value *tiled[] = {x, up_emit(u, n, scatter)};
  up_become(u, n, "Tile", 2, tiled);
}

// Steps of one operator stand together, oldest first.
static const upgrade_step steps[] = {
    {"Concat", 1, concat},     {"Pad", 1, pad_name},       {"Pad", 2, pad_operands},
    {"Reshape", 1, reshape},   {"Slice", 1, slice},        {"Split", 1, split_first},
    {"Split", 11, split_attr}, {"Split", 13, split_parts}, {"Squeeze", 11, axes},
    {"Tile", 1, tile},         {"Unsqueeze", 11, axes},
};
const upgrade_family upgrade_shape = {steps, sizeof steps / sizeof *steps};
