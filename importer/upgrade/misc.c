// Gemm, DFT.
#include "importer/upgrade/upgrade.h"

// Gemm-6 says whether C broadcasts; since 7 it always may.
static void gemm(upgrader *u, node *n) {
  (void)u;
  attr_remove(n, "broadcast");
}

// DFT-17: the axis becomes an operand; its default was 1 and is -2.
static void dft(upgrader *u, node *n) {
  int64_t *axis = NEW(u->im, int64_t);
  *axis = attr_int(n, "axis", 1);
  attr_remove(n, "axis");
  up_set_operand(u, n, 2, up_constant(u, n, tensor_new(u->im, ONYX_I64, 0, NULL, axis)));
}

static const upgrade_step steps[] = {
    {"DFT", 17, dft},
    {"Gemm", 6, gemm},
};
const upgrade_family upgrade_misc = {steps, sizeof steps / sizeof *steps};
