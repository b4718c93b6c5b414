#include "graph_reader.h"
#include "importer/build.h"
#include "importer/source.h"
#include "importer/tensors.h"
#include "importer/wire.h"
#include "onnx.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t count, size_t size) {
  void *p = calloc(count ? count : 1, size);
  if (!p)
    abort();
  return p;
}

static const char *text_of(str s) {
  char *t = zeroed(s.n + 1, 1);
  if (s.n)
    memcpy(t, s.p, s.n);
  return t;
}

static void *bytes_of_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  if (!f)
    return NULL;
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  void *bytes = zeroed(*size, 1);
  size_t got = fread(bytes, 1, *size, f);
  fclose(f);
  return got == *size ? bytes : NULL;
}

// One byte an element for 4- and 2-bit types, as memory has them; low bits first in the file.
static void unpack(onyx_elem elem, const unsigned char *from, int64_t count, unsigned char *to) {
  int bits = onyx_elem_bits(elem);
  for (int64_t i = 0; i < count; i++) {
    unsigned code = (unsigned)(from[i * bits / 8] >> (i * bits % 8)) & ((1u << bits) - 1);
    if (onyx_elem_is_signed(elem) && code >> (bits - 1))
      code |= 0xffu << bits;
    to[i] = (unsigned char)code;
  }
}

static g_tensor *copy_tensor(const tensor *t) {
  g_tensor *g = zeroed(1, sizeof *g);
  g->elem = t->elem;
  g->rank = t->rank;
  g->count = (int64_t)t->count;
  g->dims = zeroed((size_t)t->rank, sizeof *g->dims);
  for (int k = 0; k < t->rank; k++)
    g->dims[k] = t->dims[k];
  if (t->elem == ONYX_STRING) {
    g->strings = zeroed(t->count, sizeof *g->strings);
    for (uint64_t i = 0; i < t->count; i++)
      g->strings[i] = text_of(t->strings[i]);
    return g;
  }
  int bits = onyx_elem_bits(t->elem);
  g->data = zeroed(t->count * (uint64_t)((bits + 7) / 8) + 16, 1);
  if (bits < 8)
    unpack(t->elem, t->bytes, g->count, g->data);
  else if (t->count)
    memcpy(g->data, t->bytes, t->count * (uint64_t)(bits / 8));
  return g;
}

static int number_of(value *v, int *next) {
  if (!v)
    return -1;
  if (v->id < 0)
    v->id = (*next)++;
  return v->id;
}

static void copy_attr(g_attr *to, const attr *a) {
  to->kind = a->kind;
  to->i = a->i;
  to->f = a->f;
  to->s = text_of(a->s);
  to->s_size = a->s.n;
  to->n = a->count;
  if (a->kind == ONYX_ATTR_INTS) {
    to->ints = zeroed((size_t)a->count, sizeof *to->ints);
    memcpy(to->ints, a->ints, (size_t)a->count * sizeof *to->ints);
  } else if (a->kind == ONYX_ATTR_FLOATS) {
    to->floats = zeroed((size_t)a->count, sizeof *to->floats);
    for (int i = 0; i < a->count; i++)
      to->floats[i] = a->floats[i];
  } else if (a->kind == ONYX_ATTR_STRINGS) {
    to->strings = zeroed((size_t)a->count, sizeof *to->strings);
    for (int i = 0; i < a->count; i++)
      to->strings[i] = text_of(a->strings[i]);
  } else if (a->kind == ONYX_ATTR_TENSOR || a->kind == ONYX_ATTR_SPARSE_TENSOR) {
    to->tensor = copy_tensor(a->tensors[0]);
  }
}

static void copy_node(g_node *to, const node *n, int *next) {
  to->name = text_of(n->name);
  to->row = n->row;
  to->num_in = n->num_in;
  to->num_out = n->num_out;
  to->in = zeroed((size_t)n->num_in, sizeof *to->in);
  to->out = zeroed((size_t)n->num_out, sizeof *to->out);
  for (int i = 0; i < n->num_in; i++)
    to->in[i] = number_of(n->in[i], next);
  for (int i = 0; i < n->num_out; i++)
    to->out[i] = number_of(n->out[i], next);
  if (!n->row)
    return;
  to->attrs = zeroed((size_t)n->row->num_attrs, sizeof *to->attrs);
  for (int k = 0; k < n->row->num_attrs; k++) {
    const attr *a = attr_find(n, n->row->attrs[k].name);
    if (a)
      copy_attr(&to->attrs[k], a);
  }
}

static g_graph *copy_graph(const graph *g) {
  g_graph *to = zeroed(1, sizeof *to);
  int next = 0;
  for (const node *n = g->first; n; n = n->next)
    to->num_nodes++;
  to->nodes = zeroed((size_t)to->num_nodes, sizeof *to->nodes);
  int at = 0;
  for (const node *n = g->first; n; n = n->next)
    copy_node(&to->nodes[at++], n, &next);
  to->num_in = g->num_in;
  to->num_out = g->num_out;
  to->in = zeroed((size_t)g->num_in, sizeof *to->in);
  to->out = zeroed((size_t)g->num_out, sizeof *to->out);
  to->in_elem = zeroed((size_t)g->num_in, sizeof *to->in_elem);
  for (int i = 0; i < g->num_in; i++) {
    to->in[i] = number_of(g->in[i], &next);
    to->in_elem[i] = value_elem(g->in[i]);
  }
  for (int i = 0; i < g->num_out; i++)
    to->out[i] = number_of(g->out[i], &next);
  for (int i = 0; i < g->num_constants; i++)
    number_of(g->constants[i], &next);
  to->num_values = next;
  to->constants = zeroed((size_t)next, sizeof *to->constants);
  for (int i = 0; i < g->num_constants; i++)
    if (g->constants[i]->data)
      to->constants[g->constants[i]->id] = copy_tensor(g->constants[i]->data);
  for (const node *n = g->first; n; n = n->next) {
    for (int i = 0; i < n->num_in; i++)
      if (n->in[i] && n->in[i]->data && !to->constants[n->in[i]->id])
        to->constants[n->in[i]->id] = copy_tensor(n->in[i]->data);
    for (int i = 0; i < n->num_out; i++) // of Constant nodes
      if (n->out[i] && n->out[i]->data && !to->constants[n->out[i]->id])
        to->constants[n->out[i]->id] = copy_tensor(n->out[i]->data);
  }
  return to;
}

static import *start(void) {
  import *im = zeroed(1, sizeof *im);
  im->options = (import_options){
      .input = "-", .inline_elements = 64, .entry = "main_graph", .batch = -1, .quiet = true};
  return im;
}

g_graph *graph_read(const char *path, char *message) {
  size_t size = 0;
  void *bytes = bytes_of_file(path, &size);
  import *im = start();
  if (!bytes || setjmp(im->way_out)) {
    snprintf(message, MESSAGE_MAX, "%s", bytes ? im->message : "cannot be read");
    return NULL;
  }
  source_use_bytes(im, bytes, size);
  im->proto = wire_decode(im, &onnx__model_proto__descriptor, bytes, size, "the model");
  return copy_graph(build_model(im)->main);
}

g_tensor *tensor_file_read(const char *path, char *message) {
  size_t size = 0;
  void *bytes = bytes_of_file(path, &size);
  import *im = start();
  if (!bytes || setjmp(im->way_out)) {
    snprintf(message, MESSAGE_MAX, "%s", bytes ? im->message : "cannot be read");
    return NULL;
  }
  source_use_bytes(im, bytes, size);
  Onnx__TensorProto *p =
      wire_decode(im, &onnx__tensor_proto__descriptor, bytes, size, "the tensor");
  return copy_tensor(tensor_read(im, p, str_of(path)));
}
