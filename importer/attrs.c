#include "importer/attrs.h"

onyx_attr_kind attr_kind(const Onnx__AttributeProto *p) {
  if (p->has_type && p->type != 0)
    return (onyx_attr_kind)p->type;
  // Files older than the type field say it by what is there.
  return p->has_f              ? ONYX_ATTR_FLOAT
         : p->has_i            ? ONYX_ATTR_INT
         : p->has_s            ? ONYX_ATTR_STRING
         : p->t                ? ONYX_ATTR_TENSOR
         : p->g                ? ONYX_ATTR_GRAPH
         : p->n_floats         ? ONYX_ATTR_FLOATS
         : p->n_ints           ? ONYX_ATTR_INTS
         : p->n_strings        ? ONYX_ATTR_STRINGS
         : p->n_tensors        ? ONYX_ATTR_TENSORS
         : p->n_graphs         ? ONYX_ATTR_GRAPHS
         : p->sparse_tensor    ? ONYX_ATTR_SPARSE_TENSOR
         : p->n_sparse_tensors ? ONYX_ATTR_SPARSE_TENSORS
         : p->tp               ? ONYX_ATTR_TYPE_PROTO
         : p->n_type_protos    ? ONYX_ATTR_TYPE_PROTOS
                               : ONYX_ATTR_INTS;
}

static int list_count(import *im, const node *n, size_t count) {
  if (count > INT32_MAX)
    node_fail(im, n, "has an attribute of %zu entries", count);
  return (int)count;
}

static void read_strings(import *im, attr *a, const Onnx__AttributeProto *p) {
  str *strings = NEW_ARRAY(im, str, p->n_strings + 1);
  for (size_t i = 0; i < p->n_strings; i++)
    strings[i] = str_copy(im, p->strings[i].data, p->strings[i].len);
  a->strings = strings;
}

static void read_tensors(import *im, attr *a, const Onnx__AttributeProto *p) {
  const tensor **list = NEW_ARRAY(im, const tensor *, p->n_tensors + p->n_sparse_tensors + 1);
  int count = 0;
  if (a->kind == ONYX_ATTR_TENSOR && p->t)
    list[count++] = tensor_read(im, p->t, a->name);
  if (a->kind == ONYX_ATTR_SPARSE_TENSOR && p->sparse_tensor)
    list[count++] = tensor_read_sparse(im, p->sparse_tensor, a->name);
  if (a->kind == ONYX_ATTR_TENSORS)
    for (size_t i = 0; i < p->n_tensors; i++)
      list[count++] = tensor_read(im, p->tensors[i], a->name);
  if (a->kind == ONYX_ATTR_SPARSE_TENSORS)
    for (size_t i = 0; i < p->n_sparse_tensors; i++)
      list[count++] = tensor_read_sparse(im, p->sparse_tensors[i], a->name);
  a->tensors = list;
  a->count = count;
}

static void read_types(import *im, attr *a, const Onnx__AttributeProto *p) {
  size_t count = a->kind == ONYX_ATTR_TYPE_PROTO ? p->tp != NULL : p->n_type_protos;
  const type **types = NEW_ARRAY(im, const type *, count + 1);
  for (size_t i = 0; i < count; i++) {
    types[i] = type_read(im, a->kind == ONYX_ATTR_TYPE_PROTO ? p->tp : p->type_protos[i], a->name);
    if (!types[i])
      import_fail(im, "attribute '%s': a type without an element type", str_show(im, a->name));
  }
  a->types = types;
  a->count = (int)count;
}

void attr_read(import *im, const node *n, attr *a, const Onnx__AttributeProto *p) {
  switch (a->kind) {
  case ONYX_ATTR_FLOAT:
    a->f = p->f;
    return;
  case ONYX_ATTR_INT:
    a->i = p->i;
    return;
  case ONYX_ATTR_STRING:
    a->s = str_copy(im, p->s.data, p->s.len);
    return;
  case ONYX_ATTR_FLOATS:
    a->count = list_count(im, n, p->n_floats);
    a->floats = p->floats;
    return;
  case ONYX_ATTR_INTS:
    a->count = list_count(im, n, p->n_ints);
    a->ints = p->ints;
    return;
  case ONYX_ATTR_STRINGS:
    a->count = list_count(im, n, p->n_strings);
    read_strings(im, a, p);
    return;
  case ONYX_ATTR_TENSOR:
  case ONYX_ATTR_TENSORS:
  case ONYX_ATTR_SPARSE_TENSOR:
  case ONYX_ATTR_SPARSE_TENSORS:
    read_tensors(im, a, p);
    return;
  case ONYX_ATTR_TYPE_PROTO:
  case ONYX_ATTR_TYPE_PROTOS:
    read_types(im, a, p);
    return;
  case ONYX_ATTR_GRAPH:
  case ONYX_ATTR_GRAPHS:
    return;
  default:
    node_fail(im, n, "attribute '%s' has unknown type %d", str_show(im, a->name), a->kind);
  }
}
