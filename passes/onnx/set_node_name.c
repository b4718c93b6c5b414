// set-onnx-node-name: every operator has a name of its own, for messages and for naming in
// pipelines.
#include "dialects/onnx/onnx.h"
#include "dialects/onnx/ptr_map.h"
#include "passes/onnx/infer.h"
#include "passes/onnx/passes.h"
#include "passes/onnx/rewrite.h"

#include <stdio.h>

struct naming {
  ptr_map taken; // names as attributes, which the context makes unique
  int64_t next;
};

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static bool is_node(MlirOperation op) {
  return (onnx_schema_of(op) && !onnx_is(op, "Constant")) || mlirxIsA(op, &onnx_custom);
}

// Claims a name; false when another op has it.
static bool claim(struct naming *n, MlirOperation op, MlirAttribute name) {
  void *owner = ptr_map_get(&n->taken, name.ptr);
  if (owner && owner != op.ptr)
    return false;
  ptr_map_set(&n->taken, name.ptr, op.ptr);
  return true;
}

// First all names that are there: a made-up name never takes one of them.
static MlirLogicalResult keep_name(MlirOperation op, void *user) {
  MlirStringRef name = is_node(op) ? onnx_node_name(op) : str("");
  if (name.length)
    claim(user, op, mlirStringAttrGet(mlirOperationGetContext(op), name));
  return mlirLogicalResultSuccess();
}

static MlirAttribute numbered(MlirContext ctx, MlirStringRef base, int64_t number) {
  char *text = NULL;
  if (asprintf(&text, "%.*s_%lld", (int)base.length, base.data, (long long)number) < 0)
    abort();
  MlirAttribute name = mlirStringAttrGet(ctx, str(text));
  free(text);
  return name;
}

static MlirLogicalResult give_name(MlirOperation op, void *user) {
  struct naming *n = user;
  if (!is_node(op))
    return mlirLogicalResultSuccess();
  MlirContext ctx = mlirOperationGetContext(op);
  MlirStringRef base = onnx_node_name(op);
  MlirAttribute name = base.length ? mlirStringAttrGet(ctx, base) : (MlirAttribute){0};
  if (!base.length)
    base = mlirIdentifierStr(mlirOperationGetName(op));
  while (mlirAttributeIsNull(name) || !claim(n, op, name))
    name = numbered(ctx, base, n->next++);
  mlirOperationSetAttributeByName(op, str("onnx_node_name"), name);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)pass, (void)state;
  struct naming n = {.next = 0};
  walk_ops(op, keep_name, &n);
  walk_ops(op, give_name, &n);
  ptr_map_free(&n.taken);
  return mlirLogicalResultSuccess();
}

const MlirxPassDescriptor onnx_set_node_name_pass = {
    .argument = "set-onnx-node-name",
    .description = "Give every ONNX operator an onnx_node_name of its own",
    .run = run};
