// Functions and regions as GraphProto, ops as NodeProto.
#include "passes/export/graph.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { FUNCTION_INPUT = 4, FUNCTION_OUTPUT = 5, FUNCTION_NODE = 7, FUNCTION_DOMAIN = 10 };
enum {
  NODE_INPUT = 1,
  NODE_OUTPUT = 2,
  NODE_NAME = 3,
  NODE_OP = 4,
  NODE_ATTRIBUTE = 5,
  NODE_DOC = 6,
  NODE_DOMAIN = 7
};
enum { VALUE_NAME = 1, VALUE_TYPE = 2 };
enum {
  ATTR_NAME = 1,
  ATTR_F = 2,
  ATTR_I = 3,
  ATTR_S = 4,
  ATTR_T = 5,
  ATTR_G = 6,
  ATTR_FLOATS = 7,
  ATTR_INTS = 8,
  ATTR_STRINGS = 9,
  ATTR_TENSORS = 10,
  ATTR_GRAPHS = 11,
  ATTR_TP = 14,
  ATTR_TPS = 15,
  ATTR_TYPE = 20,
  ATTR_SPARSE = 22
};

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}
static bool is(MlirStringRef s, const char *text) {
  return s.length == strlen(text) && !memcmp(s.data, text, s.length);
}

void export_fail(struct exporter *e, MlirOperation op, const char *fmt, ...) {
  char text[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  onnx_error(op, "%s", text);
  e->failed = true;
}

// --- names. Values have none in the IR; graph inputs and outputs do, the others take their node's.

static bool claim(ptr_map *taken, MlirAttribute name) {
  if (ptr_map_get(taken, name.ptr))
    return false;
  ptr_map_set(taken, name.ptr, (void *)name.ptr);
  return true;
}

// `base`, or with a number where that is taken.
static MlirAttribute unique(struct exporter *e, ptr_map *taken, MlirStringRef base) {
  MlirAttribute name = mlirStringAttrGet(e->ctx, base);
  while (!claim(taken, name)) {
    const char *text =
        onyx_arena_printf(e->arena, "%.*s_%lld", (int)base.length, base.data, (long long)e->next++);
    name = mlirStringAttrGet(e->ctx, str(text));
  }
  return name;
}

static MlirAttribute fresh_name(struct exporter *e, MlirStringRef base) {
  return unique(e, &e->taken, base.length ? base : str("value"));
}

static MlirStringRef name_of(struct exporter *e, MlirValue v) {
  MlirAttribute name = {ptr_map_get(&e->names, v.ptr)};
  return mlirAttributeIsNull(name) ? str("") : mlirStringAttrGetValue(name);
}

static void set_name(struct exporter *e, MlirValue v, MlirAttribute name) {
  ptr_map_set(&e->names, v.ptr, (void *)name.ptr);
}

static void name_results(struct exporter *e, MlirOperation op) {
  MlirStringRef base = onnx_node_name(op);
  if (!base.length) {
    MlirStringRef full = mlirIdentifierStr(mlirOperationGetName(op));
    base = (MlirStringRef){full.data + 5, full.length - 5}; // without "onnx."
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue v = mlirOperationGetResult(op, i);
    if (!onnx_is_none(v) && !name_of(e, v).length)
      set_name(e, v, fresh_name(e, base));
  }
}

// --- attributes

static void put_int_of_list(struct wire *a, MlirAttribute x) {
  MlirType type = mlirAttributeGetType(x);
  bool is_signed = mlirTypeIsAInteger(type) && mlirIntegerTypeIsSigned(type);
  wire_int(a, ATTR_INTS,
           is_signed ? mlirIntegerAttrGetValueSInt(x) : mlirIntegerAttrGetValueInt(x));
}

static void put_message_of_list(struct exporter *e, MlirOperation op, struct wire *a,
                                MlirAttribute x, onyx_attr_kind kind) {
  bool tensor = kind == ONYX_ATTR_TENSORS;
  struct wire inner =
      tensor ? export_tensor(e, op, x, str("")) : export_type(e, mlirTypeAttrGetValue(x), str(""));
  wire_message(a, tensor ? ATTR_TENSORS : ATTR_TPS, &inner);
}

static bool is_tensor(MlirAttribute x) {
  return !mlirAttributeIsAType(x) && mlirTypeIsATensor(mlirAttributeGetType(x));
}

static void put_list(struct exporter *e, MlirOperation op, struct wire *a, MlirAttribute list,
                     onyx_attr_kind kind) {
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(list); i++) {
    MlirAttribute x = mlirArrayAttrGetElement(list, i);
    if (kind == ONYX_ATTR_FLOATS && mlirAttributeIsAFloat(x))
      wire_float(a, ATTR_FLOATS, (float)mlirFloatAttrGetValueDouble(x));
    else if (kind == ONYX_ATTR_STRINGS && mlirAttributeIsAString(x))
      wire_bytes(a, ATTR_STRINGS, mlirStringAttrGetValue(x).data, mlirStringAttrGetValue(x).length);
    else if (kind == ONYX_ATTR_INTS && mlirAttributeIsAInteger(x))
      put_int_of_list(a, x);
    else if ((kind == ONYX_ATTR_TENSORS && is_tensor(x)) ||
             (kind == ONYX_ATTR_TYPE_PROTOS && mlirAttributeIsAType(x)))
      put_message_of_list(e, op, a, x, kind);
    else
      export_fail(e, op, "an attribute's list mixes kinds");
  }
}

// Kind of an attribute of an operator that no schema describes. An empty list says nothing of its
// entries and counts as integers.
static onyx_attr_kind kind_of_entries(MlirAttribute list) {
  if (!mlirArrayAttrGetNumElements(list))
    return ONYX_ATTR_INTS;
  MlirAttribute x = mlirArrayAttrGetElement(list, 0);
  return mlirAttributeIsAInteger(x)  ? ONYX_ATTR_INTS
         : mlirAttributeIsAFloat(x)  ? ONYX_ATTR_FLOATS
         : mlirAttributeIsAString(x) ? ONYX_ATTR_STRINGS
         : mlirAttributeIsAType(x)   ? ONYX_ATTR_TYPE_PROTOS
                                     : ONYX_ATTR_TENSORS;
}

static onyx_attr_kind kind_of(MlirAttribute a) {
  if (mlirAttributeIsAInteger(a))
    return ONYX_ATTR_INT;
  if (mlirAttributeIsAFloat(a))
    return ONYX_ATTR_FLOAT;
  if (mlirAttributeIsAString(a))
    return ONYX_ATTR_STRING;
  if (mlirAttributeIsAType(a)) // an element type stands for its number
    return onnx_elem_from_mlir(mlirTypeAttrGetValue(a)) ? ONYX_ATTR_INT : ONYX_ATTR_TYPE_PROTO;
  if (mlirAttributeIsAArray(a))
    return kind_of_entries(a);
  return is_tensor(a) ? ONYX_ATTR_TENSOR : ONYX_ATTR_UNDEFINED;
}

static void put_int(struct wire *a, MlirAttribute value) {
  if (mlirAttributeIsAType(value)) { // an element type, by its number
    wire_int(a, ATTR_I, onnx_elem_from_mlir(mlirTypeAttrGetValue(value)));
    return;
  }
  MlirType type = mlirAttributeGetType(value);
  bool is_signed = mlirTypeIsAInteger(type) && mlirIntegerTypeIsSigned(type);
  wire_int(a, ATTR_I,
           is_signed ? mlirIntegerAttrGetValueSInt(value) : mlirIntegerAttrGetValueInt(value));
}

static void put_attribute(struct exporter *e, MlirOperation op, struct wire *node,
                          MlirStringRef name, MlirAttribute value, onyx_attr_kind kind) {
  struct wire a = wire_begin(e->arena), inner;
  wire_bytes(&a, ATTR_NAME, name.data, name.length);
  wire_int(&a, ATTR_TYPE, kind);
  switch (kind) {
  case ONYX_ATTR_INT:
    put_int(&a, value);
    break;
  case ONYX_ATTR_FLOAT:
    wire_float(&a, ATTR_F, (float)mlirFloatAttrGetValueDouble(value));
    break;
  case ONYX_ATTR_STRING:
    wire_bytes(&a, ATTR_S, mlirStringAttrGetValue(value).data,
               mlirStringAttrGetValue(value).length);
    break;
  case ONYX_ATTR_TENSOR:
    inner = export_tensor(e, op, value, str(""));
    wire_message(&a, ATTR_T, &inner);
    break;
  case ONYX_ATTR_SPARSE_TENSOR:
    inner = export_sparse_tensor(e, op, value);
    wire_message(&a, ATTR_SPARSE, &inner);
    break;
  case ONYX_ATTR_TYPE_PROTO:
    inner = export_type(e, mlirTypeAttrGetValue(value), str(""));
    wire_message(&a, ATTR_TP, &inner);
    break;
  case ONYX_ATTR_INTS:
  case ONYX_ATTR_FLOATS:
  case ONYX_ATTR_STRINGS:
  case ONYX_ATTR_TENSORS:
  case ONYX_ATTR_TYPE_PROTOS:
    put_list(e, op, &a, value, kind);
    break;
  default:
    export_fail(e, op, "attribute '%.*s' has no form in ONNX", (int)name.length, name.data);
  }
  wire_message(node, NODE_ATTRIBUTE, &a);
}

static bool starts_with(MlirStringRef s, const char *text) {
  return s.length >= strlen(text) && !memcmp(s.data, text, strlen(text));
}

// What stands on an op beside the node's own attributes: names, and decisions of other dialects. A
// node of another domain may have attributes with a dot in their names.
static bool is_helper_attribute(MlirStringRef name, bool custom) {
  if (is(name, "onnx_node_name") || starts_with(name, "onnx.") || starts_with(name, "onyx.") ||
      starts_with(name, "krnl."))
    return true;
  return custom ? is(name, "domain_name") || is(name, "function_name")
                : memchr(name.data, '.', name.length) != NULL;
}

static bool is_dropped(const struct export_inverse *inverse, MlirStringRef name) {
  for (int i = 0; inverse && i < 3; i++)
    if (inverse->dropped[i] && is(name, inverse->dropped[i]))
      return true;
  return inverse && inverse->attr && is(name, inverse->attr);
}

static void put_attributes(struct exporter *e, MlirOperation op, struct wire *node,
                           const struct export_inverse *inverse) {
  const onyx_schema *newest = onnx_schema_of(op);
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); i++) {
    MlirNamedAttribute attr = mlirOperationGetAttribute(op, i);
    MlirStringRef name = mlirIdentifierStr(attr.name);
    if (is_helper_attribute(name, !newest) || is_dropped(inverse, name))
      continue;
    char text[128];
    snprintf(text, sizeof text, "%.*s", (int)name.length, name.data);
    const onyx_schema_attr *row = newest ? onyx_schema_attr_find(newest, text) : NULL;
    if (newest && !row)
      continue;
    put_attribute(e, op, node, name, attr.attribute, row ? row->kind : kind_of(attr.attribute));
  }
  if (inverse && inverse->attr)
    put_attribute(e, op, node, str(inverse->attr), mlirStringAttrGet(e->ctx, str(inverse->value)),
                  ONYX_ATTR_STRING);
}

// Appends a region's graph to the graph attribute `a`.
static void put_region(struct exporter *e, MlirOperation op, struct wire *a, int field,
                       const char *name, intptr_t region) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  if (mlirBlockIsNull(block)) {
    export_fail(e, op, "%s is empty", name);
    return;
  }
  struct wire graph = export_graph(e, block, (MlirOperation){NULL}, name);
  wire_message(a, field, &graph);
}

static struct wire begin_graph_attribute(struct exporter *e, const char *name,
                                         onyx_attr_kind kind) {
  struct wire a = wire_begin(e->arena);
  wire_text(&a, ATTR_NAME, name);
  wire_int(&a, ATTR_TYPE, kind);
  return a;
}

static void put_graph(struct exporter *e, MlirOperation op, struct wire *node, const char *name,
                      intptr_t region) {
  struct wire a = begin_graph_attribute(e, name, ONYX_ATTR_GRAPH);
  put_region(e, op, &a, ATTR_G, name, region);
  wire_message(node, NODE_ATTRIBUTE, &a);
}

// The regions of a node of another domain by onnx.graph_attrs: an attribute's name for each region;
// regions of a list of graphs have the list's name with "[]" after it.
static intptr_t put_named_graphs(struct exporter *e, MlirOperation op, struct wire *node,
                                 MlirAttribute names) {
  intptr_t n = mlirOperationGetNumRegions(op), r = 0;
  while (r < n && r < mlirArrayAttrGetNumElements(names)) {
    MlirAttribute entry = mlirArrayAttrGetElement(names, r);
    if (!mlirAttributeIsAString(entry))
      break;
    MlirStringRef s = mlirStringAttrGetValue(entry);
    bool list = s.length > 2 && !memcmp(s.data + s.length - 2, "[]", 2);
    const char *name =
        onyx_arena_printf(e->arena, "%.*s", (int)(s.length - (list ? 2 : 0)), s.data);
    if (!list) {
      put_graph(e, op, node, name, r++);
      continue;
    }
    struct wire a = begin_graph_attribute(e, name, ONYX_ATTR_GRAPHS);
    while (r < n && r < mlirArrayAttrGetNumElements(names) &&
           mlirAttributeEqual(mlirArrayAttrGetElement(names, r), entry))
      put_region(e, op, &a, ATTR_GRAPHS, name, r++);
    wire_message(node, NODE_ATTRIBUTE, &a);
  }
  return r;
}

// Region r of If is then_branch, else_branch; of others the graph attributes in the order of their
// names.
static void put_graphs(struct exporter *e, MlirOperation op, struct wire *node) {
  intptr_t n = mlirOperationGetNumRegions(op), r = 0;
  const onyx_schema *row = onnx_schema_of(op);
  MlirAttribute names = mlirOperationGetAttributeByName(op, str("onnx.graph_attrs"));
  if (onnx_is(op, "If") && n == 2) {
    put_graph(e, op, node, "then_branch", 0);
    put_graph(e, op, node, "else_branch", 1);
    return;
  }
  for (int i = 0; row && i < row->num_attrs && r < n; i++)
    if (row->attrs[i].kind == ONYX_ATTR_GRAPH)
      put_graph(e, op, node, row->attrs[i].name, r++);
  if (!row && !mlirAttributeIsNull(names) && mlirAttributeIsAArray(names))
    r = put_named_graphs(e, op, node, names);
  if (r < n)
    export_fail(e, op, "a region has no name in ONNX");
}

// --- nodes

static void put_name(struct wire *node, int field, MlirStringRef name) {
  wire_bytes(node, field, name.data, name.length);
}

static MlirStringRef string_attr(MlirOperation op, const char *name) {
  MlirAttribute a = mlirOperationGetAttributeByName(op, str(name));
  return mlirAttributeIsNull(a) || !mlirAttributeIsAString(a) ? str("") : mlirStringAttrGetValue(a);
}

// A constant that the module does not have: an initializer, or a node in a function. Its name.
static MlirStringRef put_made_constant(struct exporter *e, MlirOperation op, struct wire *graph,
                                       const struct export_inverse *inverse) {
  MlirAttribute name = fresh_name(e, str("constant"));
  int64_t dims[] = {inverse->count};
  MlirType elem = inverse->is_float ? mlirF32TypeGet(e->ctx) : mlirIntegerTypeGet(e->ctx, 64);
  MlirType type = mlirRankedTensorTypeGet(1, dims, elem, mlirAttributeGetNull());
  MlirAttribute value = inverse->is_float
                            ? mlirDenseElementsAttrFloatGet(type, inverse->count, inverse->floats)
                            : mlirDenseElementsAttrInt64Get(type, inverse->count, inverse->ints);
  if (e->node_field == GRAPH_NODE) {
    struct wire t = export_tensor(e, op, value, mlirStringAttrGetValue(name));
    wire_message(graph, GRAPH_INITIALIZER, &t);
  } else {
    struct wire node = wire_begin(e->arena);
    put_name(&node, NODE_OUTPUT, mlirStringAttrGetValue(name));
    wire_text(&node, NODE_OP, "Constant");
    put_attribute(e, op, &node, str("value"), value, ONYX_ATTR_TENSOR);
    wire_message(graph, e->node_field, &node);
  }
  return mlirStringAttrGetValue(name);
}

// Operands of an op that is written by an inverse upgrade.
static void put_inverse_operands(struct exporter *e, MlirOperation op, struct wire *node,
                                 struct wire *graph, const struct export_inverse *inverse) {
  for (intptr_t i = 0; i < inverse->operands; i++) {
    MlirValue v = onnx_operand_or_null(op, i);
    if (i == inverse->replaced)
      put_name(node, NODE_INPUT, put_made_constant(e, op, graph, inverse));
    else
      put_name(node, NODE_INPUT, mlirValueIsNull(v) ? str("") : name_of(e, v));
  }
}

static void put_operands(struct exporter *e, MlirOperation op, struct wire *node, intptr_t n) {
  while (n && onnx_is_none(mlirOperationGetOperand(op, n - 1)))
    n--;
  for (intptr_t i = 0; i < n; i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    put_name(node, NODE_INPUT, onnx_is_none(v) ? str("") : name_of(e, v));
  }
}

static void put_results(struct exporter *e, MlirOperation op, struct wire *node) {
  intptr_t n = mlirOperationGetNumResults(op);
  while (n && onnx_is_none(mlirOperationGetResult(op, n - 1)))
    n--;
  for (intptr_t i = 0; i < n; i++)
    put_name(node, NODE_OUTPUT, name_of(e, mlirOperationGetResult(op, i)));
}

static void put_node(struct exporter *e, MlirOperation op, struct wire *graph) {
  const onyx_schema *newest = onnx_schema_of(op);
  struct wire node = wire_begin(e->arena);
  struct export_function *callee = export_callee(e, op);
  if (!newest && !callee && !mlirxIsA(op, &onnx_custom)) {
    export_fail(e, op, "is no ONNX operator and cannot be written to a .onnx file");
    return;
  }
  name_results(e, op);
  MlirAttribute axes = mlirAttributeGetNull();
  const onyx_schema *row = newest ? export_row(op, export_opset(e, op)) : NULL;
  bool moves_axes = row && onyx_schema_attr_find(row, "axes") &&
                    !onyx_schema_attr_find(newest, "axes") && export_axes_attribute(op, &axes);
  struct export_inverse how, *inverse = NULL;
  if (e->inverse && newest && !moves_axes && export_needs_inverse(op, export_opset(e, op), &how))
    inverse = &how;
  if (inverse)
    put_inverse_operands(e, op, &node, graph, inverse);
  else
    put_operands(e, op, &node, moves_axes ? 1 : mlirOperationGetNumOperands(op));
  put_results(e, op, &node);
  MlirStringRef name = onnx_node_name(op);
  if (name.length) // checkers refuse two nodes of one name, which a pass or an import may have made
    put_name(&node, NODE_NAME, mlirStringAttrGetValue(unique(e, &e->nodes, name)));
  if (newest) {
    wire_text(&node, NODE_OP, newest->name);
    if (newest->domain[0])
      wire_text(&node, NODE_DOMAIN, newest->domain);
  } else if (callee) {
    callee->called = true;
    put_name(&node, NODE_OP, mlirStringAttrGetValue(callee->name));
    put_name(&node, NODE_DOMAIN, mlirStringAttrGetValue(callee->domain));
  } else {
    put_name(&node, NODE_OP, string_attr(op, "function_name"));
    put_name(&node, NODE_DOMAIN, string_attr(op, "domain_name"));
  }
  if (string_attr(op, "onnx.doc").length)
    put_name(&node, NODE_DOC, string_attr(op, "onnx.doc"));
  if (!callee)
    put_attributes(e, op, &node, inverse);
  if (!mlirAttributeIsNull(axes))
    put_attribute(e, op, &node, str("axes"), axes, ONYX_ATTR_INTS);
  put_graphs(e, op, &node);
  wire_message(graph, e->node_field, &node);
}

static bool is_end(MlirOperation op) {
  return mlirxIsA(op, &onnx_return) || mlirxIsA(op, &onnx_yield) ||
         is(mlirIdentifierStr(mlirOperationGetName(op)), "func.return");
}

bool export_constant_is_node(struct exporter *e, MlirOperation op) {
  if (e->in_function || mlirAttributeIsNull(onnx_constant_value(op)))
    return true;
  if (!string_attr(op, "onnx_node_name").length)
    return false;
  MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
  for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (is_end(mlirOpOperandGetOwner(use)))
      return true;
  return false;
}

static void put_constant_node(struct exporter *e, MlirOperation op, MlirAttribute value,
                              struct wire *graph) {
  struct wire node = wire_begin(e->arena);
  name_results(e, op);
  put_results(e, op, &node);
  put_name(&node, NODE_NAME, string_attr(op, "onnx_node_name"));
  wire_text(&node, NODE_OP, "Constant");
  put_attribute(e, op, &node, str("value"), value, ONYX_ATTR_TENSOR);
  wire_message(graph, e->node_field, &node);
}

static void put_constant(struct exporter *e, MlirOperation op, struct wire *graph) {
  MlirAttribute value = onnx_constant_value(op);
  MlirValue v = mlirOperationGetResult(op, 0);
  if (mlirAttributeIsNull(value)) { // a sparse constant stays a node
    put_node(e, op, graph);
    return;
  }
  if (export_constant_is_node(e, op)) {
    put_constant_node(e, op, value, graph);
    return;
  }
  MlirStringRef base = onnx_node_name(op);
  if (!name_of(e, v).length)
    set_name(e, v, fresh_name(e, base.length ? base : str("constant")));
  struct wire t = export_tensor(e, op, value, name_of(e, v));
  wire_message(graph, GRAPH_INITIALIZER, &t);
}

// A graph output that no node of this graph makes under that name.
static void put_identity(struct exporter *e, struct wire *graph, MlirValue from, MlirStringRef to) {
  struct wire node = wire_begin(e->arena);
  put_name(&node, NODE_INPUT, name_of(e, from));
  put_name(&node, NODE_OUTPUT, to);
  wire_text(&node, NODE_OP, "Identity");
  wire_message(graph, e->node_field, &node);
}

// --- graphs

static MlirStringRef argument_attr(MlirOperation function, const char *list, intptr_t i,
                                   const char *name) {
  MlirAttribute all = mlirOperationIsNull(function)
                          ? (MlirAttribute){NULL}
                          : mlirOperationGetAttributeByName(function, str(list));
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all) ||
      i >= mlirArrayAttrGetNumElements(all))
    return str("");
  MlirAttribute a = mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, i), str(name));
  return mlirAttributeIsNull(a) || !mlirAttributeIsAString(a) ? str("") : mlirStringAttrGetValue(a);
}

static void put_value_info(struct exporter *e, struct wire *graph, int field, MlirStringRef name,
                           MlirType type, MlirStringRef dim_params) {
  struct wire info = wire_begin(e->arena), t = export_type(e, type, dim_params);
  wire_bytes(&info, VALUE_NAME, name.data, name.length);
  wire_message(&info, VALUE_TYPE, &t);
  wire_message(graph, field, &info);
}

static void put_inputs(struct exporter *e, MlirBlock block, MlirOperation function,
                       struct wire *graph) {
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
    MlirValue v = mlirBlockGetArgument(block, i);
    MlirStringRef name = argument_attr(function, "arg_attrs", i, "onnx.name");
    set_name(e, v, fresh_name(e, name.length ? name : str("input")));
    put_value_info(e, graph, GRAPH_INPUT, name_of(e, v), mlirValueGetType(v),
                   argument_attr(function, "arg_attrs", i, "onnx.dim_params"));
  }
}

// May argument v be an output under its own name? In a body, where outputs have no names of their
// own, and where the output is called so.
static bool passes_through(struct exporter *e, MlirOperation end, MlirBlock block, intptr_t i,
                           MlirStringRef name) {
  MlirValue v = mlirOperationGetOperand(end, i);
  if (!mlirValueIsABlockArgument(v) || !mlirBlockEqual(mlirBlockArgumentGetOwner(v), block))
    return false;
  for (intptr_t k = 0; k < i; k++)
    if (mlirValueEqual(mlirOperationGetOperand(end, k), v))
      return false;
  return !name.length || mlirStringRefEqual(name, name_of(e, v));
}

static bool made_in(MlirValue v, MlirBlock block) {
  return mlirValueIsAOpResult(v) &&
         mlirBlockEqual(mlirOperationGetBlock(mlirOpResultGetOwner(v)), block);
}

// Output names are claimed before any other; a value that has no name yet takes the output's.
static MlirAttribute *claim_outputs(struct exporter *e, MlirBlock block, MlirOperation function) {
  MlirOperation end = mlirBlockGetTerminator(block);
  intptr_t n = mlirOperationGetNumOperands(end);
  MlirAttribute *names = ONYX_NEW_ARRAY(e->arena, MlirAttribute, n + 1);
  for (intptr_t i = 0; i < n; i++) {
    MlirValue v = mlirOperationGetOperand(end, i);
    MlirStringRef name = argument_attr(function, "res_attrs", i, "onnx.name");
    if (passes_through(e, end, block, i, name)) {
      names[i] = (MlirAttribute){ptr_map_get(&e->names, v.ptr)};
      continue;
    }
    if (!name.length && made_in(v, block))
      name = onnx_node_name(mlirOpResultGetOwner(v));
    names[i] = fresh_name(e, name.length ? name : str("output"));
    if (made_in(v, block) && !name_of(e, v).length && !onnx_is_none(v))
      set_name(e, v, names[i]);
  }
  return names;
}

static void put_outputs(struct exporter *e, MlirBlock block, MlirOperation function,
                        const MlirAttribute *names, struct wire *graph) {
  MlirOperation end = mlirBlockGetTerminator(block);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); i++) {
    MlirValue v = mlirOperationGetOperand(end, i);
    MlirStringRef name = mlirStringAttrGetValue(names[i]);
    if ((void *)names[i].ptr != ptr_map_get(&e->names, v.ptr))
      put_identity(e, graph, v, name);
    put_value_info(e, graph, GRAPH_OUTPUT, name, mlirValueGetType(v),
                   argument_attr(function, "res_attrs", i, "onnx.dim_params"));
  }
}

static void put_body(struct exporter *e, MlirBlock block, struct wire *graph) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op) && !e->failed;
       op = mlirOperationGetNextInBlock(op)) {
    if (is_end(op) || mlirxIsA(op, &onnx_no_value))
      continue;
    if (onnx_is(op, "Constant"))
      put_constant(e, op, graph);
    else
      put_node(e, op, graph);
  }
}

struct wire export_graph(struct exporter *e, MlirBlock block, MlirOperation function,
                         const char *name) {
  struct wire graph = wire_begin(e->arena);
  int outer = e->node_field;
  e->node_field = GRAPH_NODE;
  put_inputs(e, block, function, &graph);
  MlirAttribute *outputs = claim_outputs(e, block, function);
  put_body(e, block, &graph);
  if (!e->failed)
    put_outputs(e, block, function, outputs, &graph);
  wire_text(&graph, GRAPH_NAME, name);
  e->node_field = outer;
  return graph;
}

// --- functions

struct export_function *export_callee(struct exporter *e, MlirOperation op) {
  if (!is(mlirIdentifierStr(mlirOperationGetName(op)), "func.call"))
    return NULL;
  MlirAttribute callee = mlirOperationGetAttributeByName(op, str("callee"));
  for (struct export_function *f = e->functions; f; f = f->next)
    if (mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(callee), string_attr(f->op, "sym_name")))
      return f;
  return NULL;
}

struct wire export_function(struct exporter *e, const struct export_function *f) {
  struct wire function = wire_begin(e->arena);
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(f->op, 0));
  ptr_map taken = e->taken, node_names = e->nodes; // a function's names are its own
  int64_t next = e->next;
  e->taken = e->nodes = (ptr_map){0};
  e->next = 0; // so that equal bodies are the same bytes
  e->in_function = true;
  e->node_field = FUNCTION_NODE;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
    MlirValue v = mlirBlockGetArgument(block, i);
    MlirStringRef name = argument_attr(f->op, "arg_attrs", i, "onnx.name");
    set_name(e, v, fresh_name(e, name.length ? name : str("input")));
    put_name(&function, FUNCTION_INPUT, name_of(e, v));
  }
  MlirAttribute *outputs = claim_outputs(e, block, f->op);
  put_body(e, block, &function);
  MlirOperation end = mlirBlockGetTerminator(block);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end) && !e->failed; i++) {
    MlirValue v = mlirOperationGetOperand(end, i);
    put_name(&function, FUNCTION_OUTPUT, mlirStringAttrGetValue(outputs[i]));
    if ((void *)outputs[i].ptr != ptr_map_get(&e->names, v.ptr))
      put_identity(e, &function, v, mlirStringAttrGetValue(outputs[i]));
  }
  put_name(&function, FUNCTION_DOMAIN, mlirStringAttrGetValue(f->domain));
  ptr_map_free(&e->taken);
  ptr_map_free(&e->nodes);
  e->taken = taken;
  e->nodes = node_names;
  e->next = next;
  e->in_function = false;
  return function;
}
