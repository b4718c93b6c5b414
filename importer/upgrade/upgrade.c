#include "importer/upgrade/upgrade.h"
#include "importer/infer.h"

#include <string.h>

#define ENTRY(name) &upgrade_##name,
static const upgrade_family *const families[] = {UPGRADE_FAMILIES(ENTRY)};
#undef ENTRY

enum { STEPS_MAX = 32 }; // more rewrites of one node are a loop in the table

// The step for a node: the first of its operator that starts at or after the node's version.
static const upgrade_step *find_step(const node *n, int version) {
  for (size_t f = 0; f < sizeof families / sizeof *families; f++)
    for (int i = 0; i < families[f]->count; i++) {
      const upgrade_step *s = &families[f]->steps[i];
      if (version <= s->since && str_is(n->op, s->op))
        return s;
    }
  return NULL;
}

bool upgrade_knows(str op) {
  node probe = {.op = op};
  return find_step(&probe, 0) != NULL;
}

bool upgrade_has_step(const char *op, int version) {
  node probe = {.op = str_of(op)};
  return find_step(&probe, version) != NULL;
}

// A step leaves the node in the form of the version after `since`, or as another operator at that
// one's newest version.
void upgrade_node(import *im, graph *into, node *n) {
  upgrader u = {im, into};
  int version = n->row ? n->row->since : n->opset;
  const upgrade_step *s;
  for (int count = 0; (s = find_step(n, version)); count++) {
    if (count == STEPS_MAX)
      node_fail(im, n, "has no end of upgrades");
    str before = n->op;
    s->apply(&u, n);
    version = str_eq(before, n->op) ? s->since + 1 : n->row->since;
  }
  n->row = onyx_schema_newest(n->domain.p, n->op.p);
  if (n->row)
    n->opset = n->row->since;
}

node *up_node(upgrader *u, const node *origin, const char *op, int num_in, value *const *in) {
  node *n = node_new(u->im, origin->name, op, num_in, 1);
  for (int i = 0; i < num_in; i++)
    n->in[i] = in[i];
  n->out[0] = value_new(u->im, str_of(""), NULL);
  n->row = onyx_schema_by_name(op);
  n->domain = str_of(n->row->domain);
  n->opset = n->row->since;
  return n;
}

value *up_emit(upgrader *u, const node *origin, node *helper) {
  (void)origin;
  infer_types(u->im, helper);
  graph_append(u->into, helper);
  return helper->out[0];
}

value *up_op(upgrader *u, const node *origin, const char *op, int num_in, value *const *in) {
  return up_emit(u, origin, up_node(u, origin, op, num_in, in));
}

value *up_op_axis(upgrader *u, const node *origin, const char *op, value *in, int64_t axis) {
  node *n = up_node(u, origin, op, 1, &in);
  attr_set_int(u->im, n, "axis", axis);
  return up_emit(u, origin, n);
}

value *up_constant(upgrader *u, const node *origin, tensor *t) {
  node *n = node_new(u->im, origin->name, "Constant", 0, 1);
  n->row = onyx_schema_newest("", "Constant");
  n->out[0] = value_new(u->im, str_of(""), tensor_type(u->im, t));
  n->out[0]->data = t;
  n->helper = true;
  graph_append(u->into, n);
  return n->out[0];
}

value *up_ints(upgrader *u, const node *origin, int count, const int64_t *v) {
  int64_t *copy = NEW_ARRAY(u->im, int64_t, (size_t)count + 1), dims[] = {count};
  if (count)
    memcpy(copy, v, (size_t)count * sizeof *v);
  return up_constant(u, origin, tensor_new(u->im, ONYX_I64, 1, dims, copy));
}

value *up_int(upgrader *u, const node *origin, int64_t v) {
  return up_ints(u, origin, 1, &v);
}

value *up_floats(upgrader *u, const node *origin, int count, const float *v) {
  float *copy = NEW_ARRAY(u->im, float, (size_t)count + 1);
  int64_t dims[] = {count};
  if (count)
    memcpy(copy, v, (size_t)count * sizeof *v);
  return up_constant(u, origin, tensor_new(u->im, ONYX_F32, 1, dims, copy));
}

// Converted by a Cast where the type is none that C has.
value *up_scalar(upgrader *u, const node *origin, onyx_elem elem, double v) {
  void *bytes = NEW_ARRAY(u->im, char, 16);
  if (elem == ONYX_F64) {
    memcpy(bytes, &v, 8);
  } else if (onyx_elem_is_int(elem) && onyx_elem_bits(elem) >= 8) {
    int64_t whole = v >= 9223372036854775808.0 ? INT64_MAX : (int64_t)v;
    memcpy(bytes, &whole, 8);
  } else if (elem == ONYX_F32) {
    float single = (float)v;
    memcpy(bytes, &single, 4);
  } else {
    value *wide = up_scalar(u, origin, ONYX_F32, v);
    node *cast = up_node(u, origin, "Cast", 1, &wide);
    attr_set_int(u->im, cast, "to", elem);
    return up_emit(u, origin, cast);
  }
  return up_constant(u, origin, tensor_new(u->im, elem, 0, NULL, bytes));
}

void up_become(upgrader *u, node *n, const char *op, int num_in, value *const *in) {
  n->op = str_of(op);
  n->row = onyx_schema_by_name(op);
  n->domain = str_of(n->row->domain);
  n->opset = n->row->since;
  n->num_attrs = 0;
  node_set_inputs(u->im, n, num_in, in);
}

void up_set_operand(upgrader *u, node *n, int i, value *v) {
  int count = n->num_in > i + 1 ? n->num_in : i + 1;
  value **in = NEW_ARRAY(u->im, value *, (size_t)count + 1);
  for (int k = 0; k < n->num_in; k++)
    in[k] = n->in[k];
  in[i] = v;
  node_set_inputs(u->im, n, count, in);
}

void up_ints_to_operand(upgrader *u, node *n, const char *attr_name, int i) {
  const attr *a = attr_find(n, attr_name);
  if (!a)
    return;
  value *v = up_ints(u, n, a->count, a->ints);
  attr_remove(n, attr_name);
  up_set_operand(u, n, i, v);
}

void up_float_to_operand(upgrader *u, node *n, const char *attr_name, int i, double fallback) {
  double v = attr_find(n, attr_name) ? attr_float(n, attr_name, 0) : fallback;
  attr_remove(n, attr_name);
  up_set_operand(u, n, i, up_scalar(u, n, value_elem(n->in[0]), v));
}

value *up_take_result(upgrader *u, node *n, int i) {
  value *old = n->out[i];
  n->out[i] = value_new(u->im, str_of(""), NULL);
  return old;
}

void up_fail(upgrader *u, const node *n, const char *why) {
  node_fail(u->im, n, "%s", why);
}
