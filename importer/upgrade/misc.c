// Gemm, DFT, LabelEncoder.
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

// LabelEncoder-1 numbers a list of strings, either way by the operand's type.
static void label_encoder(upgrader *u, node *n) {
  const attr *classes = attr_find(n, "classes_strings");
  if (!classes || classes->kind != ONYX_ATTR_STRINGS)
    up_fail(u, n, "lacks attribute 'classes_strings'");
  int count = classes->count;
  const str *strings = classes->strings;
  int64_t *numbers = NEW_ARRAY(u->im, int64_t, (size_t)count + 1);
  for (int i = 0; i < count; i++)
    numbers[i] = i;
  bool from_strings = value_elem(node_in(n, 0)) == ONYX_STRING;
  int64_t default_int = attr_int(n, "default_int64", -1);
  str default_string = attr_str(n, "default_string", "_Unused");
  n->num_attrs = 0;
  attr_set_ints(u->im, n, from_strings ? "values_int64s" : "keys_int64s", count, numbers);
  attr *a = attr_add(u->im, n, from_strings ? "keys_strings" : "values_strings", ONYX_ATTR_STRINGS);
  a->strings = strings;
  a->count = count;
  if (from_strings)
    attr_set_int(u->im, n, "default_int64", default_int);
  else
    attr_add(u->im, n, "default_string", ONYX_ATTR_STRING)->s = default_string;
}

static const upgrade_step steps[] = {
    {"DFT", 17, dft},
    {"Gemm", 6, gemm},
    {"LabelEncoder", 1, label_encoder},
};
const upgrade_family upgrade_misc = {steps, sizeof steps / sizeof *steps};
