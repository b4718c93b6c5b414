// Normalisations and Dropout.
#include "importer/upgrade/upgrade.h"

// Statistics for each activation, not for each channel (spatial = 0, before version 9): scale,
// bias, mean and variance have the shape of one sample and broadcast against the batch.
static void per_activation(upgrader *u, node *n) {
  value *x = n->in[0];
  onyx_elem elem = value_elem(x);
  value *eps = up_scalar(u, n, elem, attr_float(n, "epsilon", 1e-5f));
  value *in[] = {x, node_in(n, 3)};
  value *centered = up_op(u, n, "Sub", 2, in);
  value *sum_in[] = {node_in(n, 4), eps};
  value *sum = up_op(u, n, "Add", 2, sum_in);
  value *quotient_in[] = {centered, up_op(u, n, "Sqrt", 1, &sum)};
  value *scaled_in[] = {up_op(u, n, "Div", 2, quotient_in), node_in(n, 1)};
  value *last[] = {up_op(u, n, "Mul", 2, scaled_in), node_in(n, 2)};
  n->num_out = 1;
  up_become(u, n, "Add", 2, last);
}

// Before 14 the number of results tells training from inference (is_test before 7).
static void batch_norm(upgrader *u, node *n) {
  bool has_stats = false;
  for (int i = 1; i < n->num_out; i++)
    has_stats |= n->out[i] != NULL;
  bool training = n->row && n->row->since < 7 ? !attr_int(n, "is_test", 0) : has_stats;
  if (node_has_out(n, 3) || node_has_out(n, 4))
    up_fail(u, n, "saved_mean and saved_var have no counterpart since version 14");
  if (!attr_int(n, "spatial", 1)) {
    if (training)
      up_fail(u, n, "training with spatial = 0 has no counterpart since version 9");
    per_activation(u, n);
    return;
  }
  if (n->num_out > 3)
    n->num_out = 3;
  attr_remove(n, "consumed_inputs");
  attr_remove(n, "is_test");
  attr_remove(n, "spatial");
  if (training)
    attr_set_int(u->im, n, "training_mode", 1);
}

static void drop_consumed(upgrader *u, node *n) {
  (void)u;
  attr_remove(n, "consumed_inputs");
}

// Dropout-10 and older: the ratio is an attribute, training is never (since 7) or unless is_test.
// The mask has the data's type before 10.
static void dropout(upgrader *u, node *n) {
  int since = n->row ? n->row->since : 1;
  bool training = since < 7 && !attr_int(n, "is_test", 0);
  value *in[3] = {n->in[0]};
  if (training) {
    unsigned char *yes = NEW(u->im, unsigned char);
    *yes = 1;
    in[1] = up_scalar(u, n, ONYX_F32, attr_float(n, "ratio", 0.5f));
    in[2] = up_constant(u, n, tensor_new(u->im, ONYX_BOOL, 0, NULL, yes));
  }
  if (since < 10 && node_has_out(n, 1)) {
    // Two operators with one mask: the data's result comes from a helper, the node casts the mask.
    onyx_elem elem = value_elem(n->in[0]);
    node *helper = up_node(u, n, "Dropout", 3, in);
    node_set_inputs(u->im, helper, 3, in);
    helper->num_out = 2;
    value *out[] = {n->out[0], value_new(u->im, str_of(""), NULL)};
    helper->out = NEW_ARRAY(u->im, value *, 3);
    helper->out[0] = out[0] ? out[0] : value_new(u->im, str_of(""), NULL);
    helper->out[1] = out[1];
    helper->declared = NEW_ARRAY(u->im, const type *, 3);
    up_emit(u, n, helper);
    n->out[0] = n->out[1];
    n->declared[0] = n->declared[1];
    n->num_out = 1;
    up_become(u, n, "Cast", 1, &out[1]);
    attr_set_int(u->im, n, "to", elem);
    return;
  }
  n->num_attrs = 0;
  node_set_inputs(u->im, n, 3, in);
}

// GroupNormalization-18 has a scale and bias for each group, 21 for each channel: each is repeated
// for the channels of its group.
static value *repeat_for_channels(upgrader *u, node *n, value *v, value *channels, int64_t groups) {
  value *column_in[] = {v, up_int(u, n, 1)};
  value *column = up_op(u, n, "Unsqueeze", 2, column_in);
  value *share_in[] = {channels, up_int(u, n, groups)};
  value *shape_parts[] = {up_int(u, n, groups), up_op(u, n, "Div", 2, share_in)};
  node *shape = up_node(u, n, "Concat", 2, shape_parts);
  attr_set_int(u->im, shape, "axis", 0);
  value *expand_in[] = {column, up_emit(u, n, shape)};
  value *flat_in[] = {up_op(u, n, "Expand", 2, expand_in), up_int(u, n, -1)};
  return up_op(u, n, "Reshape", 2, flat_in);
}

static void group_norm(upgrader *u, node *n) {
  int64_t groups = attr_int(n, "num_groups", 0);
  if (n->num_in != 3 || groups <= 0)
    up_fail(u, n, "needs three operands and a positive num_groups");
  node *shape = up_node(u, n, "Shape", 1, n->in);
  attr_set_int(u->im, shape, "start", 1);
  attr_set_int(u->im, shape, "end", 2);
  value *channels = up_emit(u, n, shape);
  value *in[] = {n->in[0], repeat_for_channels(u, n, n->in[1], channels, groups),
                 repeat_for_channels(u, n, n->in[2], channels, groups)};
  node_set_inputs(u->im, n, 3, in);
}

// Steps of one operator stand together, oldest first.
static const upgrade_step steps[] = {
    {"BatchNormalization", 9, batch_norm},
    {"Dropout", 10, dropout},
    {"GroupNormalization", 18, group_norm},
    {"InstanceNormalization", 1, drop_consumed},
};
const upgrade_family upgrade_normalize = {steps, sizeof steps / sizeof *steps};
