// Softmax, LogSoftmax, Hardmax before 13: the operand is flattened to a matrix at `axis` (default
// 1) and the operator works on its rows.
#include "importer/upgrade/upgrade.h"

static void over_last_axis(upgrader *u, node *n, int64_t axis) {
  attr_set_int(u->im, n, "axis", axis);
}

static void coerced(upgrader *u, node *n) {
  int64_t axis = attr_int(n, "axis", 1);
  int rank = value_rank(n->in[0]);
  if (axis == -1 || (rank > 0 && axis == rank - 1)) {
    over_last_axis(u, n, -1); // the rows are the last dimension
    return;
  }
  if (rank >= 0 && (axis < -rank || axis > rank))
    up_fail(u, n, "axis is outside the operand's dimensions");
  value *x = n->in[0], *matrix = up_op_axis(u, n, "Flatten", x, axis);
  value *rows = up_op_axis(u, n, n->op.p, matrix, -1);
  value *in[] = {rows, up_op(u, n, "Shape", 1, &x)};
  up_become(u, n, "Reshape", 2, in);
}

static const upgrade_step steps[] = {
    {"Hardmax", 11, coerced},
    {"LogSoftmax", 11, coerced},
    {"Softmax", 11, coerced},
};
const upgrade_family upgrade_softmax = {steps, sizeof steps / sizeof *steps};
