// Rewrites of nodes of older operator versions into the newest version's form.
//
// A step takes a node from one version to the next whose form or meaning differs. It may put helper
// nodes, already of the newest version, before it, and it may turn the node into another operator.
// Versions that only widen types have no step. docs/upgrades.md lists all of them.
#ifndef ONYX_IMPORTER_UPGRADE_H
#define ONYX_IMPORTER_UPGRADE_H

#include "importer/ir.h"

typedef struct upgrader {
  import *im;
  graph *into; // helpers are appended here
} upgrader;

typedef void upgrade_fn(upgrader *u, node *n);

typedef struct upgrade_step {
  const char *op;
  int since; // rewrites a node whose row is this version (or older, back to the step before)
  upgrade_fn *apply;
} upgrade_step;

typedef struct upgrade_family {
  const upgrade_step *steps; // of one operator: oldest first
  int count;
} upgrade_family;

// One family a file, named like the files in dialects/onnx/ops.
#define UPGRADE_FAMILIES(X)                                                                        \
  X(elementwise)                                                                                   \
  X(normalize)                                                                                     \
  X(softmax)                                                                                       \
  X(reduce) X(shape) X(pool) X(resize) X(index) X(recurrent) X(control) X(retired) X(trees)        \
      X(misc)
#define DECLARE(name) extern const upgrade_family upgrade_##name;
UPGRADE_FAMILIES(DECLARE)
#undef DECLARE

// Brings a node to the newest version of its operator, or of the one that replaced it.
void upgrade_node(import *im, graph *into, node *n);
// Whether the table maps an operator that the schema does not know, or knows as deprecated.
bool upgrade_knows(str op);
// Whether a step rewrites nodes of an operator at a version.
bool upgrade_has_step(const char *op, int version);

// Helpers for steps. Results have no name of their own; types are inferred.
value *up_emit(upgrader *u, const node *origin, node *helper); // appends it, gives result 0
value *up_op(upgrader *u, const node *origin, const char *op, int num_in, value *const *in);
value *up_op_axis(upgrader *u, const node *origin, const char *op, value *in, int64_t axis);
node *up_node(upgrader *u, const node *origin, const char *op, int num_in, value *const *in);
value *up_ints(upgrader *u, const node *origin, int count, const int64_t *v); // tensor<count x i64>
value *up_int(upgrader *u, const node *origin, int64_t v);                    // tensor<1xi64>
value *up_scalar(upgrader *u, const node *origin, onyx_elem elem, double v);  // tensor<elem>
value *up_floats(upgrader *u, const node *origin, int count, const float *v);
value *up_constant(upgrader *u, const node *origin, tensor *t);
// Turns n into another operator at its newest version; results and name stay, attributes go.
void up_become(upgrader *u, node *n, const char *op, int num_in, value *const *in);
// Moves an INTS attribute to operand i (a constant); nothing when the attribute is absent.
void up_ints_to_operand(upgrader *u, node *n, const char *attr_name, int i);
// Moves a FLOAT attribute to operand i as a scalar of the type of operand 0.
void up_float_to_operand(upgrader *u, node *n, const char *attr_name, int i, double fallback);
void up_set_operand(upgrader *u, node *n, int i, value *v);
// Gives result i a fresh value and returns the old one, for steps that compute it from the new.
value *up_take_result(upgrader *u, node *n, int i);
_Noreturn void up_fail(upgrader *u, const node *n, const char *why);

#endif
