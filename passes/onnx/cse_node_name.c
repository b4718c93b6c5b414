// onnx-cse-with-node-name: common subexpressions, whatever the nodes are called.
//
// Stock cse compares attributes, so that two nodes that differ in onnx_node_name alone stay two.
// Here the first that dominates serves both, under its own name.
#include "dialects/onnx/onnx.h"
#include "dialects/onnx/ptr_map.h"
#include "passes/onnx/passes.h"
#include "passes/onnx/rewrite.h"

struct seen { // ops of one hash, latest first
  struct seen *next;
  MlirOperation op;
};

struct cse {
  MlirxPass pass;
  onyx_arena *arena;
  ptr_map table; // hash -> struct seen
};

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static bool is_name(MlirNamedAttribute a) {
  return mlirStringRefEqual(mlirIdentifierStr(a.name), str("onnx_node_name"));
}

static uintptr_t mix(uintptr_t h, const void *p) {
  h = (h ^ (uintptr_t)p) * (uintptr_t)0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

// Attributes are unique in their context: the same value is the same pointer. A dictionary is
// sorted by name.
static uintptr_t hash_of(MlirOperation op) {
  uintptr_t h = mix(1, mlirOperationGetTypeID(op).ptr);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    h = mix(h, mlirOperationGetOperand(op, i).ptr);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    h = mix(h, mlirValueGetType(mlirOperationGetResult(op, i)).ptr);
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); i++) {
    MlirNamedAttribute a = mlirOperationGetAttribute(op, i);
    if (!is_name(a))
      h = mix(h, a.attribute.ptr);
  }
  return h | 1; // a key of the table is not null
}

static intptr_t count_attributes(MlirOperation op) {
  intptr_t n = mlirOperationGetNumAttributes(op), names = 0;
  for (intptr_t i = 0; i < n; i++)
    names += is_name(mlirOperationGetAttribute(op, i));
  return n - names;
}

static bool same(MlirOperation a, MlirOperation b) {
  if (mlirOperationGetTypeID(a).ptr != mlirOperationGetTypeID(b).ptr ||
      mlirOperationGetNumOperands(a) != mlirOperationGetNumOperands(b) ||
      mlirOperationGetNumResults(a) != mlirOperationGetNumResults(b) ||
      count_attributes(a) != count_attributes(b))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(a); i++)
    if (!mlirValueEqual(mlirOperationGetOperand(a, i), mlirOperationGetOperand(b, i)))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(a); i++)
    if (!mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(a, i)),
                       mlirValueGetType(mlirOperationGetResult(b, i))))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(a); i++) {
    MlirNamedAttribute x = mlirOperationGetAttribute(a, i);
    if (!is_name(x) && !mlirAttributeEqual(x.attribute, mlirOperationGetAttributeByName(
                                                            b, mlirIdentifierStr(x.name))))
      return false;
  }
  return true;
}

static void replace(struct cse *c, MlirOperation op, MlirOperation by) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), mlirOperationGetResult(by, i));
  mlirxReportHit(c->pass, "common-subexpression");
}

static MlirLogicalResult visit(MlirOperation op, void *user) {
  struct cse *c = user;
  if (!onnx_is_onnx(op) || mlirOperationGetNumResults(op) == 0 || mlirOperationGetNumRegions(op) ||
      !mlirxIsPure(op))
    return mlirLogicalResultSuccess();
  const void *key = (const void *)hash_of(op);
  struct seen *first = ptr_map_get(&c->table, key);
  for (struct seen *s = first; s; s = s->next)
    if (same(s->op, op) && mlirxProperlyDominates(mlirOperationGetResult(s->op, 0), op)) {
      replace(c, op, s->op);
      return mlirLogicalResultSuccess();
    }
  struct seen *s = ONYX_NEW(c->arena, struct seen);
  *s = (struct seen){first, op};
  ptr_map_set(&c->table, key, s);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  struct cse c = {.pass = pass, .arena = onyx_arena_create()};
  if (!c.arena)
    return mlirxEmitError(op, "out of memory");
  walk_ops(op, visit, &c);
  erase_dead_ops(op);
  ptr_map_free(&c.table);
  onyx_arena_destroy(c.arena);
  return mlirLogicalResultSuccess();
}

const MlirxPassDescriptor onnx_cse_node_name_pass = {
    .argument = "onnx-cse-with-node-name",
    .description = "Merge equal operators, whatever their nodes' names",
    .report = true,
    .run = run};
