// Reductions: axes became an operand (13 for ReduceSum, 18 for the others).
#include "importer/upgrade/upgrade.h"

// An empty list meant all axes, as an absent one does.
static void axes_to_operand(upgrader *u, node *n) {
  const attr *axes = attr_find(n, "axes");
  if (axes && axes->count == 0)
    attr_remove(n, "axes");
  up_ints_to_operand(u, n, "axes", 1);
}

static const upgrade_step steps[] = {
    {"ReduceL1", 13, axes_to_operand},     {"ReduceL2", 13, axes_to_operand},
    {"ReduceLogSum", 13, axes_to_operand}, {"ReduceLogSumExp", 13, axes_to_operand},
    {"ReduceMax", 13, axes_to_operand},    {"ReduceMean", 13, axes_to_operand},
    {"ReduceMin", 13, axes_to_operand},    {"ReduceProd", 13, axes_to_operand},
    {"ReduceSum", 11, axes_to_operand},    {"ReduceSumSquare", 13, axes_to_operand},
};
const upgrade_family upgrade_reduce = {steps, sizeof steps / sizeof *steps};
