// onnx-extract: the nodes that lie on a way from a `from` node to a `to` node (both included)
// become the only function of the module. What enters them becomes its inputs, in the order in
// which the values were made; the results of the `to` nodes, in the order in which these are named,
// its outputs. Constants and what only constants make come along.
#include "dialects/onnx/onnx.h"
#include "dialects/onnx/ptr_map.h"
#include "passes/onnx/passes.h"
#include "passes/onnx/rewrite.h"

#include <stdlib.h>

enum { OPTION_FROM, OPTION_TO };

// ops[user], or an op in its regions, reads a value of ops[def]; def -1: an argument of the block.
struct edge {
  intptr_t def, user;
  MlirValue value;
};

struct cut {
  MlirxPass pass;
  MlirOperation module, function;
  MlirBlock block;
  MlirOperation *ops;
  intptr_t num_ops, num_edges, cap_edges;
  struct edge *edges;
  ptr_map index;                     // op -> place in ops + 1
  bool *down, *up, *constant, *keep; // entry an op
  bool calls;
};

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static void *allocate(size_t n, size_t size) {
  void *p = calloc(n + 1, size);
  if (!p)
    abort();
  return p;
}

static bool is_function(MlirOperation op) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str("func.func")) &&
         !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

static MlirOperation first_in_module(MlirOperation module) {
  return mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)));
}

// --- which function, which nodes

// The node of this name at the top of the function: fails on a second one.
static MlirLogicalResult find_in(MlirOperation function, MlirStringRef name, MlirOperation *node) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!onnx_is_onnx(op) || onnx_is(op, "Constant") ||
        !mlirStringRefEqual(onnx_node_name(op), name))
      continue;
    if (!mlirOperationIsNull(*node))
      return onnx_error(op, "onnx-extract: several nodes are named '%.*s' (see set-onnx-node-name)",
                        (int)name.length, name.data);
    *node = op;
  }
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult find_node(struct cut *c, MlirStringRef name, MlirOperation *node) {
  *node = (MlirOperation){NULL};
  for (MlirOperation f = first_in_module(c->module); !mlirOperationIsNull(f);
       f = mlirOperationGetNextInBlock(f))
    if (is_function(f) && mlirLogicalResultIsFailure(find_in(f, name, node)))
      return mlirLogicalResultFailure();
  if (mlirOperationIsNull(*node))
    return onnx_error(c->module, "onnx-extract: no function has a node '%.*s' outside of bodies",
                      (int)name.length, name.data);
  MlirOperation function = mlirOperationGetParentOperation(*node);
  if (!mlirOperationIsNull(c->function) && !mlirOperationEqual(c->function, function))
    return onnx_error(*node, "onnx-extract: is not in the function of the other nodes");
  c->function = function;
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult find_nodes(struct cut *c, int option, MlirOperation *nodes) {
  for (intptr_t i = 0; i < mlirxPassGetListSize(c->pass, option); i++)
    if (mlirLogicalResultIsFailure(
            find_node(c, mlirxPassGetListString(c->pass, option, i), &nodes[i])))
      return mlirLogicalResultFailure();
  return mlirLogicalResultSuccess();
}

// --- who reads whom

static intptr_t place(struct cut *c, MlirOperation op) {
  return (intptr_t)ptr_map_get(&c->index, op.ptr) - 1;
}

struct reader {
  struct cut *c;
  intptr_t user;
};

static MlirLogicalResult add_edges(MlirOperation op, void *data) {
  struct reader *r = data;
  struct cut *c = r->c;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    bool argument = mlirValueIsABlockArgument(v);
    intptr_t def = argument ? -1 : place(c, mlirOpResultGetOwner(v));
    if (argument ? !mlirBlockEqual(mlirBlockArgumentGetOwner(v), c->block) : def < 0)
      continue; // of the op's own regions
    if (c->num_edges == c->cap_edges) {
      c->cap_edges = c->cap_edges ? 2 * c->cap_edges : 64;
      c->edges = realloc(c->edges, (size_t)c->cap_edges * sizeof *c->edges);
      if (!c->edges)
        abort();
    }
    c->edges[c->num_edges++] = (struct edge){def, r->user, v};
  }
  return mlirLogicalResultSuccess();
}

static void read_block(struct cut *c) {
  c->block = mlirRegionGetFirstBlock(mlirOperationGetRegion(c->function, 0));
  MlirOperation first = mlirBlockGetFirstOperation(c->block);
  for (MlirOperation op = first; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    c->num_ops++;
  size_t n = (size_t)c->num_ops;
  c->ops = allocate(n, sizeof *c->ops);
  c->down = allocate(n, 1), c->up = allocate(n, 1);
  c->constant = allocate(n, 1), c->keep = allocate(n, 1);
  intptr_t i = 0;
  for (MlirOperation op = first; !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op), i++) {
    c->ops[i] = op;
    ptr_map_set(&c->index, op.ptr, (void *)(i + 1));
    walk_ops(op, add_edges, &(struct reader){c, i});
  }
}

// --- the cut

static bool may_be_constant(MlirOperation op) {
  return mlirxIsA(op, &onnx_no_value) ||
         (onnx_schema_of(op) && mlirOperationGetNumRegions(op) == 0 && mlirxIsPure(op));
}

// Edges come in the order of their users, and a user comes behind what it reads.
static void choose(struct cut *c) {
  for (intptr_t i = 0; i < c->num_ops; i++)
    c->constant[i] = may_be_constant(c->ops[i]);
  for (intptr_t k = 0; k < c->num_edges; k++) {
    struct edge e = c->edges[k];
    c->down[e.user] |= e.def >= 0 && c->down[e.def];
    c->constant[e.user] &= e.def >= 0 && c->constant[e.def];
  }
  for (intptr_t k = c->num_edges; k-- > 0;)
    if (c->edges[k].def >= 0)
      c->up[c->edges[k].def] |= c->up[c->edges[k].user];
  for (intptr_t i = 0; i < c->num_ops; i++)
    c->keep[i] = c->up[i] && c->down[i];
  for (intptr_t k = c->num_edges; k-- > 0;)
    if (c->edges[k].def >= 0 && c->keep[c->edges[k].user])
      c->keep[c->edges[k].def] |= c->constant[c->edges[k].def];
}

static MlirLogicalResult mark(struct cut *c, const MlirOperation *from, intptr_t num_from,
                              const MlirOperation *to, intptr_t num_to) {
  for (intptr_t i = 0; i < c->num_ops; i++)
    c->down[i] = num_from == 0;
  for (intptr_t i = 0; i < num_from; i++)
    c->down[place(c, from[i])] = true;
  for (intptr_t i = 0; i < num_to; i++)
    c->up[place(c, to[i])] = true;
  choose(c);
  for (intptr_t i = 0; i < num_to; i++)
    if (!c->keep[place(c, to[i])])
      return onnx_error(to[i], "onnx-extract: the cut is empty: no way leads here from `from`");
  for (intptr_t i = 0; i < num_from; i++)
    if (!c->keep[place(c, from[i])])
      return onnx_error(from[i], "onnx-extract: the cut is empty: no way leads from here to `to`");
  return mlirLogicalResultSuccess();
}

// --- the new function

static MlirLogicalResult find_call(MlirOperation op, void *user) {
  *(bool *)user |=
      mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str("func.call"));
  return mlirLogicalResultSuccess();
}

static MlirAttribute no_attributes(MlirContext ctx) {
  return mlirDictionaryAttrGet(ctx, 0, NULL);
}

// Gives each value that enters an argument of its own, behind the old ones; returns their
// attributes.
static MlirAttribute add_inputs(struct cut *c) {
  MlirContext ctx = mlirOperationGetContext(c->function);
  ptr_map entering = {0};
  for (intptr_t k = 0; k < c->num_edges; k++)
    if (c->keep[c->edges[k].user] && (c->edges[k].def < 0 || !c->keep[c->edges[k].def]))
      ptr_map_set(&entering, c->edges[k].value.ptr, c);
  intptr_t old = mlirBlockGetNumArguments(c->block), n = 0;
  intptr_t most = old + c->num_edges;
  MlirAttribute *attrs = allocate((size_t)most, sizeof *attrs);
  MlirAttribute had = mlirOperationGetAttributeByName(c->function, str("arg_attrs"));
  for (intptr_t i = -1; i < c->num_ops; i++) {
    intptr_t count = i < 0 ? old : mlirOperationGetNumResults(c->ops[i]);
    for (intptr_t k = 0; k < count; k++) {
      MlirValue v =
          i < 0 ? mlirBlockGetArgument(c->block, k) : mlirOperationGetResult(c->ops[i], k);
      if (!ptr_map_get(&entering, v.ptr))
        continue;
      attrs[n++] =
          i < 0 && !mlirAttributeIsNull(had) ? mlirArrayAttrGetElement(had, k) : no_attributes(ctx);
      mlirValueReplaceAllUsesOfWith(
          v, mlirBlockAddArgument(c->block, mlirValueGetType(v),
                                  mlirOperationGetLocation(c->ops[i < 0 ? 0 : i])));
    }
  }
  MlirAttribute all = mlirArrayAttrGet(ctx, n, attrs);
  free(attrs);
  ptr_map_free(&entering);
  return all;
}

static void set_return(struct cut *c, const MlirOperation *to, intptr_t num_to) {
  MlirOperation end = mlirBlockGetTerminator(c->block);
  MlirOperationState state = mlirOperationStateGet(mlirIdentifierStr(mlirOperationGetName(end)),
                                                   mlirOperationGetLocation(end));
  for (intptr_t i = 0; i < num_to; i++)
    for (intptr_t k = 0; k < mlirOperationGetNumResults(to[i]); k++) {
      MlirValue v = mlirOperationGetResult(to[i], k);
      if (!onnx_is_none(v))
        mlirOperationStateAddOperands(&state, 1, &v);
    }
  mlirBlockAppendOwnedOperation(c->block, mlirOperationCreate(&state));
}

static void set_type(struct cut *c, MlirAttribute arg_attrs) {
  MlirOperation end = mlirBlockGetTerminator(c->block);
  intptr_t in = mlirBlockGetNumArguments(c->block), out = mlirOperationGetNumOperands(end);
  MlirType *types = allocate((size_t)(in + out), sizeof *types);
  for (intptr_t i = 0; i < in; i++)
    types[i] = mlirValueGetType(mlirBlockGetArgument(c->block, i));
  for (intptr_t i = 0; i < out; i++)
    types[in + i] = mlirValueGetType(mlirOperationGetOperand(end, i));
  MlirContext ctx = mlirOperationGetContext(c->function);
  MlirType type = mlirFunctionTypeGet(ctx, in, types, out, types + in);
  mlirOperationSetAttributeByName(c->function, str("function_type"), mlirTypeAttrGet(type));
  mlirOperationSetAttributeByName(c->function, str("arg_attrs"), arg_attrs);
  mlirOperationRemoveAttributeByName(c->function, str("res_attrs"));
  mlirOperationRemoveAttributeByName(c->function, str("sym_visibility"));
  free(types);
}

static void replace_function(struct cut *c, const MlirOperation *to, intptr_t num_to) {
  intptr_t old = mlirBlockGetNumArguments(c->block);
  MlirAttribute arg_attrs = add_inputs(c);
  set_return(c, to, num_to);
  for (intptr_t i = c->num_ops; i-- > 0;)
    if (c->keep[i])
      walk_ops(c->ops[i], find_call, &c->calls);
    else
      mlirOperationDestroy(c->ops[i]);
  for (intptr_t i = old; i-- > 0;)
    mlirBlockEraseArgument(c->block, (unsigned)i);
  set_type(c, arg_attrs);
}

// Other functions stay only where the cut calls functions.
static void replace_rest(struct cut *c) {
  for (MlirOperation op = first_in_module(c->module), next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (mlirxIsA(op, &onnx_entry_point) ||
        (is_function(op) && !c->calls && !mlirOperationEqual(op, c->function)))
      mlirOperationDestroy(op);
  }
  MlirContext ctx = mlirOperationGetContext(c->module);
  MlirStringRef name =
      mlirStringAttrGetValue(mlirOperationGetAttributeByName(c->function, str("sym_name")));
  MlirNamedAttribute func = mlirNamedAttributeGet(mlirIdentifierGet(ctx, str("func")),
                                                  mlirFlatSymbolRefAttrGet(ctx, name));
  MlirOperationState state =
      mlirOperationStateGet(str("onnx.EntryPoint"), mlirOperationGetLocation(c->function));
  mlirOperationStateAddAttributes(&state, 1, &func);
  mlirBlockAppendOwnedOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(c->module, 0)),
                                mlirOperationCreate(&state));
}

// --- the pass

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  struct cut c = {.pass = pass, .module = op};
  intptr_t num_from = mlirxPassGetListSize(pass, OPTION_FROM);
  intptr_t num_to = mlirxPassGetListSize(pass, OPTION_TO);
  if (num_to == 0)
    return onnx_error(op, "onnx-extract: the cut is empty: `to` names no node");
  MlirOperation *from = allocate((size_t)num_from, sizeof *from);
  MlirOperation *to = allocate((size_t)num_to, sizeof *to);
  MlirLogicalResult ok = find_nodes(&c, OPTION_FROM, from);
  if (mlirLogicalResultIsSuccess(ok))
    ok = find_nodes(&c, OPTION_TO, to);
  if (mlirLogicalResultIsSuccess(ok)) {
    read_block(&c);
    ok = mark(&c, from, num_from, to, num_to);
  }
  if (mlirLogicalResultIsSuccess(ok)) {
    replace_function(&c, to, num_to);
    replace_rest(&c);
  }
  free(from), free(to), free(c.ops), free(c.edges);
  free(c.down), free(c.up), free(c.constant), free(c.keep);
  ptr_map_free(&c.index);
  return ok;
}

static const MlirxOption options[] = {
    {"from", MLIRX_OPT_STRING_LIST, NULL, "names of the first nodes (none: from the inputs on)"},
    {"to", MLIRX_OPT_STRING_LIST, NULL, "names of the last nodes"},
    {0}};

static const char *const anchors[] = {"builtin.module", NULL};

const MlirxPassDescriptor onnx_extract_pass = {
    .argument = "onnx-extract",
    .description = "Cut the nodes between those named out into a module of their own",
    .anchors = anchors,
    .options = options,
    .run = run};
