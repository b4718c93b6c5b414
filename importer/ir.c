#include "importer/ir.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const type *type_tensor(import *im, onyx_elem elem) {
  type *t = NEW(im, type);
  *t = (type){.kind = ONYX_TYPE_TENSOR, .elem = elem};
  return t;
}

const type *type_ranked(import *im, onyx_elem elem, int rank, const int64_t *dims) {
  type *t = NEW(im, type);
  dim *d = NEW_ARRAY(im, dim, (size_t)rank + 1);
  for (int i = 0; i < rank; i++)
    d[i].size = dims[i];
  *t = (type){.kind = ONYX_TYPE_TENSOR, .elem = elem, .ranked = true, .rank = rank, .dims = d};
  return t;
}

const type *type_wrap(import *im, onyx_type_kind kind, const type *of) {
  type *t = NEW(im, type);
  *t = (type){.kind = kind, .of = of};
  return t;
}

const type *type_of_schema(import *im, int index) {
  const onyx_schema_type *row = &onyx_schema_types[index];
  if (row->kind == ONYX_TYPE_SEQ || row->kind == ONYX_TYPE_OPT)
    return type_wrap(im, row->kind, type_of_schema(im, row->of));
  if (row->kind == ONYX_TYPE_TENSOR)
    return type_tensor(im, row->elem);
  type *t = NEW(im, type);
  *t = (type){.kind = row->kind, .key = row->key, .of = type_tensor(im, row->elem)};
  return t;
}

bool type_same_kind(const type *a, const type *b) {
  if (!a || !b)
    return a == b;
  if (a->kind != b->kind)
    return false;
  if (a->kind == ONYX_TYPE_TENSOR)
    return a->elem == b->elem;
  return a->key == b->key && type_same_kind(a->of, b->of);
}

int type_schema_index(const type *t) {
  if (t->kind == ONYX_TYPE_TENSOR)
    return onyx_schema_tensor_type(t->elem);
  int of = t->kind == ONYX_TYPE_SEQ || t->kind == ONYX_TYPE_OPT ? type_schema_index(t->of) : -1;
  for (int i = 0; i < onyx_schema_num_types; i++) {
    const onyx_schema_type *row = &onyx_schema_types[i];
    if (row->kind != t->kind || row->of != of)
      continue;
    if (t->kind != ONYX_TYPE_MAP || (row->key == t->key && row->elem == t->of->elem))
      return of < 0 && t->kind != ONYX_TYPE_MAP ? -1 : i;
  }
  return -1;
}

const char *type_show(import *im, const type *t) {
  const char *elem;
  if (!t)
    return "unknown";
  switch (t->kind) {
  case ONYX_TYPE_NONE:
    return "none";
  case ONYX_TYPE_TENSOR:
    elem = onyx_elem_onnx_name(t->elem);
    return str_format(im, "tensor(%s)", elem ? elem : "unknown").p;
  case ONYX_TYPE_SEQ:
    return str_format(im, "seq(%s)", type_show(im, t->of)).p;
  case ONYX_TYPE_OPT:
    return str_format(im, "optional(%s)", type_show(im, t->of)).p;
  case ONYX_TYPE_MAP:
    elem = onyx_elem_onnx_name(t->key);
    return str_format(im, "map(%s, %s)", elem ? elem : "unknown", type_show(im, t->of)).p;
  }
  return "unknown";
}

value *value_new(import *im, str name, const type *t) {
  value *v = NEW(im, value);
  *v = (value){.name = name, .type = t, .id = -1};
  return v;
}

static int rank_of(const type *t) {
  return t && t->kind == ONYX_TYPE_TENSOR && t->ranked ? t->rank : -1;
}

int value_rank(const value *v) {
  int rank = v ? rank_of(v->type) : -1;
  return rank < 0 && v ? rank_of(v->hint) : rank;
}

onyx_elem value_elem(const value *v) {
  return v && v->type && v->type->kind == ONYX_TYPE_TENSOR ? v->type->elem : ONYX_ELEM_UNDEFINED;
}

node *node_new(import *im, str name, const char *op, int num_in, int num_out) {
  node *n = NEW(im, node);
  *n = (node){
      .name = name, .domain = str_of(""), .op = str_of(op), .num_in = num_in, .num_out = num_out};
  n->in = NEW_ARRAY(im, value *, (size_t)num_in + 1);
  n->out = NEW_ARRAY(im, value *, (size_t)num_out + 1);
  n->declared = NEW_ARRAY(im, const type *, (size_t)num_out + 1);
  return n;
}

void node_set_inputs(import *im, node *n, int count, value *const *in) {
  value **copy = NEW_ARRAY(im, value *, (size_t)count + 1);
  for (int i = 0; i < count; i++)
    copy[i] = in[i];
  while (count > 0 && !copy[count - 1])
    count--;
  n->in = copy;
  n->num_in = count;
}

value *node_in(const node *n, int i) {
  return i < n->num_in ? n->in[i] : NULL;
}
bool node_has_out(const node *n, int i) {
  return i < n->num_out && n->out[i];
}

void graph_append(graph *g, node *n) {
  n->next = NULL;
  if (g->last)
    g->last->next = n;
  else
    g->first = n;
  g->last = n;
  for (int i = 0; i < n->num_out; i++)
    if (n->out[i]) {
      n->out[i]->def = n;
      n->out[i]->result = i;
    }
}

static attr *find(const node *n, const char *name) {
  for (int i = 0; i < n->num_attrs; i++)
    if (str_is(n->attrs[i].name, name))
      return &n->attrs[i];
  return NULL;
}

const attr *attr_find(const node *n, const char *name) {
  return find(n, name);
}

int64_t attr_int(const node *n, const char *name, int64_t fallback) {
  const attr *a = find(n, name);
  return a && a->kind == ONYX_ATTR_INT ? a->i : fallback;
}

float attr_float(const node *n, const char *name, float fallback) {
  const attr *a = find(n, name);
  return a && a->kind == ONYX_ATTR_FLOAT ? a->f : fallback;
}

str attr_str(const node *n, const char *name, const char *fallback) {
  const attr *a = find(n, name);
  return a && a->kind == ONYX_ATTR_STRING ? a->s : str_of(fallback);
}

void attr_remove(node *n, const char *name) {
  attr *a = find(n, name);
  if (!a)
    return;
  n->num_attrs--;
  memmove(a, a + 1, (size_t)(n->attrs + n->num_attrs - a) * sizeof *a);
}

void attr_rename(node *n, const char *from, const char *to) {
  attr *a = find(n, from);
  if (a)
    a->name = str_of(to);
}

attr *attr_add(import *im, node *n, const char *name, onyx_attr_kind kind) {
  attr_remove(n, name);
  attr *attrs = NEW_ARRAY(im, attr, (size_t)n->num_attrs + 1);
  if (n->num_attrs)
    memcpy(attrs, n->attrs, (size_t)n->num_attrs * sizeof *attrs);
  n->attrs = attrs;
  attr *a = &attrs[n->num_attrs++];
  *a = (attr){.name = str_of(name), .kind = kind};
  return a;
}

void attr_set_int(import *im, node *n, const char *name, int64_t v) {
  attr_add(im, n, name, ONYX_ATTR_INT)->i = v;
}

void attr_set_float(import *im, node *n, const char *name, float v) {
  attr_add(im, n, name, ONYX_ATTR_FLOAT)->f = v;
}

void attr_set_str(import *im, node *n, const char *name, const char *v) {
  attr_add(im, n, name, ONYX_ATTR_STRING)->s = str_of(v);
}

void attr_set_ints(import *im, node *n, const char *name, int count, const int64_t *v) {
  int64_t *copy = NEW_ARRAY(im, int64_t, (size_t)count + 1);
  if (count)
    memcpy(copy, v, (size_t)count * sizeof *v);
  attr *a = attr_add(im, n, name, ONYX_ATTR_INTS);
  a->ints = copy;
  a->count = count;
}

tensor *tensor_new(import *im, onyx_elem elem, int rank, const int64_t *dims, const void *bytes) {
  tensor *t = NEW(im, tensor);
  int64_t *copy = NEW_ARRAY(im, int64_t, (size_t)rank + 1);
  uint64_t count = 1;
  for (int i = 0; i < rank; i++) {
    copy[i] = dims[i];
    count = checked_mul(im, count, (uint64_t)dims[i], "the number of elements of a tensor");
  }
  uint64_t bits = checked_mul(im, count, (uint64_t)onyx_elem_bits(elem), "the size of a tensor");
  *t = (tensor){.elem = elem,
                .rank = rank,
                .dims = copy,
                .count = count,
                .size = bits / 8 + (bits % 8 != 0),
                .bytes = bytes};
  return t;
}

const type *tensor_type(import *im, const tensor *t) {
  return type_ranked(im, t->elem, t->rank, t->dims);
}

int64_t tensor_int(const tensor *t, uint64_t i) {
  int width = onyx_elem_bits(t->elem);
  if (width < 8) {
    unsigned v =
        t->bytes[i * (unsigned)width / 8] >> (i * (unsigned)width % 8) & ((1u << width) - 1);
    bool negative = onyx_elem_is_signed(t->elem) && v >> (width - 1);
    return negative ? (int64_t)v - (1 << width) : (int64_t)v;
  }
  uint64_t v = 0;
  int count = width / 8 < 8 ? width / 8 : 8;
  memcpy(&v, t->bytes + i * (unsigned)count, (size_t)count); // little-endian host
  if (onyx_elem_is_signed(t->elem) && count < 8 && v >> (width - 1))
    v |= ~(uint64_t)0 << width;
  return (int64_t)v;
}

void node_fail(import *im, const node *n, const char *format, ...) {
  char why[MESSAGE_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(why, sizeof why, format, args);
  va_end(args);
  const char *domain = n->domain.n ? str_show(im, n->domain) : "";
  int version = n->row ? n->row->since : n->opset;
  import_fail(im, "node '%s' (%s%s%s-%d): %s", str_show(im, n->name), domain, *domain ? "." : "",
              str_show(im, n->op), version, why);
}
