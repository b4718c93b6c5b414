// Pooling: the p of the Lp norms was a float.
#include "importer/upgrade/upgrade.h"

#include <math.h>

static void whole_p(upgrader *u, node *n) {
  float p = attr_float(n, "p", 2);
  if (!(p >= 1 && p < 1e6f) || p != floorf(p))
    up_fail(u, n, "a p that is no whole number has no form since version 2");
  attr_set_int(u->im, n, "p", (int64_t)p);
}

static void lp_pool(upgrader *u, node *n) {
  if (!attr_find(n, "kernel_shape"))
    up_fail(u, n, "has no kernel_shape, which version 2 requires");
  whole_p(u, n);
}

static const upgrade_step steps[] = {
    {"GlobalLpPool", 1, whole_p},
    {"LpPool", 1, lp_pool},
};
const upgrade_family upgrade_pool = {steps, sizeof steps / sizeof *steps};
