// Every change of an operator's form that old files can show has an upgrade step: an attribute that
// went, became another kind or has another default, operands that came to be needed or went.
#include "dialects/onnx/schema/schema.h"
#include "importer/upgrade/upgrade.h"

#include <stdio.h>
#include <string.h>

// The table's text differs, or the new form takes the old one as it is.
static const struct {
  const char *op;
  int since;
} harmless[] = {
    {"Constant", 9},            // value may be absent since 11
    {"Resize", 11},             // roi and scales may be absent since 13; 18 has the step
    {"OptionalHasElement", 15}, // the operand may be absent since 18
};

static bool is_harmless(const onyx_schema *row) {
  for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
    if (strcmp(harmless[i].op, row->name) == 0 && harmless[i].since == row->since)
      return true;
  return false;
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *attrs_changed(const onyx_schema *old, const onyx_schema *new) {
  for (int i = 0; i < old->num_attrs; i++) {
    const onyx_schema_attr *a = &old->attrs[i], *b = onyx_schema_attr_find(new, a->name);
    if (!b || a->kind != b->kind || (b->required && !a->required))
      return a->name;
    if (a->has_default &&
        (!b->has_default || a->default_int != b->default_int ||
         a->default_float != b->default_float || !same_text(a->default_string, b->default_string)))
      return a->name;
  }
  for (int i = 0; i < new->num_attrs; i++)
    if (new->attrs[i].required && !onyx_schema_attr_find(old, new->attrs[i].name))
      return new->attrs[i].name;
  return NULL;
}

int main(void) {
  int failures = 0, changes = 0;
  for (int i = 0; i + 1 < onyx_num_schemas; i++) {
    const onyx_schema *old = &onyx_schemas[i], *new = old + 1;
    if (strcmp(old->name, new->name) != 0 || is_harmless(old))
      continue;
    const char *what = attrs_changed(old, new);
    if (!what && (new->min_inputs > old->min_inputs || new->deprecated ||
                  (new->max_inputs != ONYX_UNBOUNDED && new->max_inputs < old->max_inputs)))
      what = "operands";
    if (!what)
      continue;
    changes++;
    if (!upgrade_has_step(old->name, old->since)) {
      fprintf(stderr, "%s-%d to %d: no step, and %s changed\n", old->name, old->since, new->since,
              what);
      failures++;
    }
  }
  printf("%d changes of form\n", changes);
  return failures != 0 || changes == 0;
}
