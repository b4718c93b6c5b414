//===- entry.c - The manifest of a compiled model ----------------------------------===//
#include "passes/convert/entry.h"

#include "passes/ir_build.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

struct text {
  char *data;
  size_t size, capacity;
};

static void put(struct text *t, const char *data, size_t n) {
  if (t->size + n + 1 > t->capacity) {
    t->capacity = (t->size + n + 1) * 2;
    t->data = realloc(t->data, t->capacity);
    if (!t->data)
      abort();
  }
  memcpy(t->data + t->size, data, n);
  t->size += n;
  t->data[t->size] = 0;
}

MLIRX_PRINTF(2, 3) static void putf(struct text *t, const char *fmt, ...) {
  char line[256];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  put(t, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

// Percent-encoded: bytes up to the space, '%' and from 0x7f; an empty name is a lone '%'.
static void put_name(struct text *t, MlirStringRef name) {
  if (!name.length)
    put(t, "%", 1);
  for (size_t i = 0; i < name.length; ++i) {
    unsigned char c = (unsigned char)name.data[i];
    if (c <= 0x20 || c == '%' || c >= 0x7f)
      putf(t, "%%%02X", c);
    else
      put(t, &name.data[i], 1);
  }
}

static void append_text(MlirStringRef part, void *user) {
  put(user, part.data, part.length);
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

static MlirAttribute attr(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, ir_str(name));
}

static MlirStringRef string_or_empty(MlirAttribute a) {
  return mlirAttributeIsNull(a) || !mlirAttributeIsAString(a) ? (MlirStringRef){"", 0}
                                                              : mlirStringAttrGetValue(a);
}

// Attributes of argument or result i: entry i of arg_attrs or res_attrs.
static MlirAttribute slot_attrs(MlirOperation op, const char *list, intptr_t i) {
  MlirAttribute all = attr(op, list);
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all) ||
      i >= mlirArrayAttrGetNumElements(all))
    return mlirAttributeGetNull();
  return mlirArrayAttrGetElement(all, i);
}

static MlirAttribute slot_attr(MlirAttribute slot, const char *name) {
  return mlirAttributeIsNull(slot) ? slot : mlirDictionaryAttrGetElementByName(slot, ir_str(name));
}

// "0:batch,1:seq" as one line an axis.
static void put_dims(struct text *t, const char *side, intptr_t index, MlirStringRef params) {
  size_t i = 0;
  while (i < params.length) {
    size_t end = i;
    while (end < params.length && params.data[end] != ',')
      ++end;
    size_t colon = i;
    while (colon < end && params.data[colon] != ':')
      ++colon;
    if (colon < end && colon > i) {
      putf(t, "dim %s %d %.*s ", side, (int)index, (int)(colon - i), params.data + i);
      put_name(t, mlirStringRefCreate(params.data + colon + 1, end - colon - 1));
      put(t, "\n", 1);
    }
    i = end + 1;
  }
}

static void put_value(struct text *t, const char *side, intptr_t index, MlirAttribute slot,
                      MlirType type) {
  putf(t, "%s ", side);
  MlirAttribute name = slot_attr(slot, "onnx.name");
  char fallback[32];
  snprintf(fallback, sizeof fallback, "%s%d", side, (int)index);
  put_name(t, mlirAttributeIsNull(name) ? ir_str(fallback) : string_or_empty(name));
  put(t, " ", 1);
  struct text spelled = {0};
  mlirTypePrint(type, append_text, &spelled);
  put_name(t, mlirStringRefCreate(spelled.data, spelled.size));
  free(spelled.data);
  put(t, "\n", 1);
  put_dims(t, side, index, string_or_empty(slot_attr(slot, "onnx.dim_params")));
}

char *onyx_signature_text(MlirOperation function) {
  struct text t = {0};
  put(&t, "", 0);
  MlirType type = mlirTypeAttrGetValue(attr(function, "function_type"));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); ++i)
    put_value(&t, "in", i, slot_attrs(function, "arg_attrs", i), mlirFunctionTypeGetInput(type, i));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); ++i)
    put_value(&t, "out", i, slot_attrs(function, "res_attrs", i),
              mlirFunctionTypeGetResult(type, i));
  return t.data;
}

//===----------------------------------------------------------------------===//
// Hidden arguments
//===----------------------------------------------------------------------===//

static int64_t int_attr(MlirAttribute a) {
  return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? 0 : mlirIntegerAttrGetValueInt(a);
}

// convert-func-to-llvm leaves the attributes of memref arguments on the C interface only, where
// each is one argument again (after that of the results, which has none).
static MlirOperation with_arguments(MlirOperation module, MlirOperation function) {
  if (!ir_is(function, "llvm.func"))
    return function;
  struct text name = {0};
  put(&name, "_mlir_ciface_", 13);
  MlirStringRef plain = string_or_empty(attr(function, "sym_name"));
  put(&name, plain.data, plain.length);
  MlirOperation interface = ir_lookup_symbol(module, mlirStringRefCreate(name.data, name.size));
  free(name.data);
  return mlirOperationIsNull(interface) ? function : interface;
}

static void put_hidden(struct text *t, const char *record, MlirOperation module,
                       MlirOperation function) {
  MlirAttribute all = attr(with_arguments(module, function), "arg_attrs");
  intptr_t n = mlirAttributeIsNull(all) ? 0 : mlirArrayAttrGetNumElements(all);
  for (intptr_t i = 0; i < n; ++i) {
    MlirAttribute slot = mlirArrayAttrGetElement(all, i);
    MlirAttribute weights = slot_attr(slot, "krnl.weights");
    if (!mlirAttributeIsNull(slot_attr(slot, "krnl.status")))
      putf(t, "%s status\n", record);
    else if (!mlirAttributeIsNull(weights))
      putf(t, "%s weights %" PRId64 "\n", record, int_attr(weights));
    else if (!mlirAttributeIsNull(slot_attr(slot, "krnl.constants")))
      putf(t, "%s constants %" PRId64 "\n", record,
           int_attr(attr(function, "krnl.constants_bytes")));
    else if (!mlirAttributeIsNull(slot_attr(slot, "krnl.arena")))
      putf(t, "%s arena %" PRId64 "\n", record, int_attr(attr(function, "krnl.arena_bytes")));
  }
}

static MlirOperation symbol_of(MlirOperation module, MlirAttribute ref) {
  if (mlirAttributeIsNull(ref) || !mlirAttributeIsASymbolRef(ref))
    return (MlirOperation){NULL};
  return ir_lookup_symbol(module, mlirSymbolRefAttrGetRootReference(ref));
}

//===----------------------------------------------------------------------===//
// Files and nodes
//===----------------------------------------------------------------------===//

static void put_weights_files(struct text *t, MlirOperation module) {
  MlirAttribute files = attr(module, "onnx.weights_files");
  intptr_t n = mlirAttributeIsNull(files) || !mlirAttributeIsAArray(files)
                   ? 0
                   : mlirArrayAttrGetNumElements(files);
  for (intptr_t i = 0; i < n; ++i) {
    MlirAttribute file = mlirArrayAttrGetElement(files, i);
    putf(t, "weights_file %d ", (int)i);
    put_name(t, string_or_empty(slot_attr(file, "name")));
    putf(t, " %" PRId64 " ", int_attr(slot_attr(file, "size")));
    MlirStringRef print = string_or_empty(slot_attr(file, "fingerprint"));
    put(t, print.data, print.length);
    put(t, "\n", 1);
  }
}

// onyx.nodes: "NAME\tOP", by node ID.
static void put_nodes(struct text *t, MlirOperation module) {
  MlirAttribute nodes = attr(module, "onyx.nodes");
  intptr_t n = mlirAttributeIsNull(nodes) || !mlirAttributeIsAArray(nodes)
                   ? 0
                   : mlirArrayAttrGetNumElements(nodes);
  for (intptr_t i = 0; i < n; ++i) {
    MlirStringRef node = string_or_empty(mlirArrayAttrGetElement(nodes, i));
    const char *tab = memrchr(node.data, '\t', node.length);
    size_t length = tab ? (size_t)(tab - node.data) : node.length;
    putf(t, "node %d ", (int)i);
    put_name(t, mlirStringRefCreate(node.data, length));
    put(t, " ", 1);
    put_name(t,
             tab ? mlirStringRefCreate(tab + 1, node.length - length - 1) : (MlirStringRef){"", 0});
    put(t, "\n", 1);
  }
}

char *onyx_manifest_text(MlirOperation module, MlirOperation entry_point) {
  MlirAttribute func = attr(entry_point, "func"), init = attr(entry_point, "init");
  MlirOperation function = symbol_of(module, func), initializer = symbol_of(module, init);
  if (mlirOperationIsNull(function) ||
      (!mlirAttributeIsNull(init) && mlirOperationIsNull(initializer))) {
    mlirxEmitError(entry_point, "entry point of a function that is not there");
    return NULL;
  }
  struct text t = {0};
  putf(&t, "onyx-model 1\nproducer onyx%%20%s\nentry ", ONYX_VERSION);
  put_name(&t, mlirSymbolRefAttrGetRootReference(func));
  put(&t, "\n", 1);
  MlirStringRef signature = string_or_empty(attr(entry_point, "signature"));
  put(&t, signature.data, signature.length);
  put_hidden(&t, "hidden", module, function);
  if (!mlirOperationIsNull(initializer)) {
    put(&t, "init ", 5);
    put_name(&t, mlirSymbolRefAttrGetRootReference(init));
    put(&t, "\n", 1);
    put_hidden(&t, "init-hidden", module, initializer);
  }
  put_weights_files(&t, module);
  put_nodes(&t, module);
  return t.data;
}
