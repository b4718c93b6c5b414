#include "importer/specialize.h"
#include "importer/tensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// "NAME=rest": the last sign separates, as names may hold one.
static str split_option(import *im, const char *option, const char *what, const char **rest) {
  const char *equals = strrchr(option, '=');
  if (!equals || equals == option || !equals[1])
    import_fail(im, "%s takes NAME=..., not '%s'", what, option);
  *rest = equals + 1;
  return (str){option, (size_t)(equals - option)};
}

// A dimension: a number, or ? for an unknown one (-1).
static int64_t read_dim(import *im, const char **p, const char *option) {
  if (**p == '?') {
    (*p)++;
    return -1;
  }
  char *end;
  errno = 0;
  long long v = strtoll(*p, &end, 10);
  if (end == *p || errno || v < 0)
    import_fail(im, "'%s' is no list of dimensions", option);
  *p = end;
  return v;
}

static void set_param(import *im, str param, int64_t size) {
  if (param.n == 0 || size < 0)
    return;
  int64_t *known = map_get(&im->dim_values, param);
  if (known && *known != size)
    import_fail(im, "options give dimension '%s' the sizes %lld and %lld", str_show(im, param),
                (long long)*known, (long long)size);
  if (known)
    return;
  known = NEW(im, int64_t);
  *known = size;
  map_set(im, &im->dim_values, param, known);
}

int64_t specialize_param(const import *im, str param) {
  const int64_t *known = map_get(&im->dim_values, param);
  return known ? *known : -1;
}

static const Onnx__TensorShapeProto *input_shape(const Onnx__ValueInfoProto *info) {
  bool tensor = info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  return tensor ? info->type->tensor_type->shape : NULL;
}

// What a new size of dimension i of an input means for others: those of its name get it too.
static void change_dim(import *im, const Onnx__TensorShapeProto *shape, size_t i, int64_t size) {
  const Onnx__TensorShapeProto__Dimension *d = shape && i < shape->n_dim ? shape->dim[i] : NULL;
  if (d && d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM)
    set_param(im, str_read(d->dim_param), size);
  else if (!d || d->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
           d->dim_value != size)
    im->shapes_changed = true;
}

static void read_shape_option(import *im, const Onnx__GraphProto *g, const char *option) {
  const char *p;
  str name = split_option(im, option, "--shape", &p);
  int64_t dims[64];
  int rank = 0;
  do {
    if (rank == 64)
      import_fail(im, "'%s' has too many dimensions", option);
    p += *p == ',';
    dims[rank++] = read_dim(im, &p, option);
  } while (*p == ',');
  if (*p)
    import_fail(im, "'%s' is no list of dimensions", option);
  bool found = false;
  for (size_t i = 0; i < g->n_input; i++) {
    if (!str_eq(str_read(g->input[i]->name), name))
      continue;
    found = true;
    for (int k = 0; k < rank; k++)
      change_dim(im, input_shape(g->input[i]), (size_t)k, dims[k]);
  }
  if (!found)
    import_fail(im, "--shape: the model has no input '%s'", str_show(im, name));
  map_set(im, &im->input_shapes, name, (void *)type_ranked(im, ONYX_F32, rank, dims));
}

void specialize_dims(import *im, const Onnx__GraphProto *g) {
  const import_options *o = &im->options;
  for (int i = 0; i < o->num_dims; i++) {
    const char *p;
    str name = split_option(im, o->dims[i], "--dim", &p);
    int64_t size = read_dim(im, &p, o->dims[i]);
    if (*p || size < 0)
      import_fail(im, "--dim takes NAME=N, not '%s'", o->dims[i]);
    set_param(im, name, size);
  }
  for (int i = 0; i < o->num_shapes; i++)
    read_shape_option(im, g, o->shapes[i]);
  for (size_t i = 0; i < g->n_input && o->batch >= 0; i++)
    if (input_shape(g->input[i]) && input_shape(g->input[i])->n_dim)
      change_dim(im, input_shape(g->input[i]), 0, o->batch);
}

const type *specialize_input(import *im, str name, const type *t) {
  const type *shape = map_get(&im->input_shapes, name);
  bool batch = im->options.batch >= 0 && t->kind == ONYX_TYPE_TENSOR && t->ranked && t->rank > 0;
  if (!shape && !batch)
    return t;
  if (t->kind != ONYX_TYPE_TENSOR)
    import_fail(im, "--shape: input '%s' is no tensor", str_show(im, name));
  if (shape && t->ranked && t->rank != shape->rank)
    import_fail(im, "--shape: input '%s' has rank %d, not %d", str_show(im, name), t->rank,
                shape->rank);
  type *changed = NEW(im, type);
  *changed = *t;
  changed->ranked = true;
  changed->rank = shape ? shape->rank : t->rank;
  dim *dims = NEW_ARRAY(im, dim, (size_t)changed->rank + 1);
  for (int i = 0; i < changed->rank; i++) {
    dims[i] = t->ranked ? t->dims[i] : (dim){.size = -1};
    if (shape)
      dims[i].size = shape->dims[i].size >= 0 ? shape->dims[i].size : dims[i].size;
  }
  if (batch && !shape)
    dims[0].size = im->options.batch;
  changed->dims = dims;
  return changed;
}

bool specialize_changed_shapes(const import *im) {
  return im->shapes_changed;
}

// The part between inputs and outputs.

static value **read_names(import *im, const char *list, const char *what, find_value *find,
                          void *context, int *count) {
  value **values = NEW_ARRAY(im, value *, strlen(list) + 1);
  *count = 0;
  for (const char *p = list; *p;) {
    size_t n = strcspn(p, ",");
    str name = {p, n};
    value *v = find(context, name);
    if (!v)
      import_fail(im, "%s: the model has no value '%s'", what, str_show(im, name));
    values[(*count)++] = v;
    p += n + (p[n] == ',');
  }
  return values;
}

// A value becomes an argument; the node that made it, should it stay, makes another.
static void make_argument(import *im, value *v) {
  if (v->def) {
    value *other = value_new(im, v->name, v->type);
    other->def = v->def;
    other->result = v->result;
    v->def->out[v->result] = other;
  }
  v->def = NULL;
  v->data = NULL;
  const type *hint = v->hint;
  if (hint && type_same_kind(hint, v->type) && hint->kind == ONYX_TYPE_TENSOR && hint->ranked)
    v->type = hint;
}

static void need(value *v) {
  if (v)
    v->needed = true;
}

static void need_operands(const node *n);

static void need_graph(const graph *g) {
  for (const node *n = g->first; n; n = n->next)
    need_operands(n);
  for (int i = 0; i < g->num_out; i++)
    need(g->out[i]);
}

static void need_operands(const node *n) {
  for (int i = 0; i < n->num_in; i++)
    need(n->in[i]);
  for (int i = 0; i < n->num_attrs; i++)
    for (int k = 0; n->attrs[i].graphs && k < n->attrs[i].count; k++)
      need_graph(n->attrs[i].graphs[k]);
}

// Nodes stand in topological order: from the last one back, each says what it needs.
static void drop_unneeded(import *im, graph *g) {
  size_t count = 0;
  for (node *n = g->first; n; n = n->next)
    count++;
  node **nodes = NEW_ARRAY(im, node *, count + 1);
  count = 0;
  for (node *n = g->first; n; n = n->next)
    nodes[count++] = n;
  for (int i = 0; i < g->num_out; i++)
    need(g->out[i]);
  bool *keep = NEW_ARRAY(im, bool, count + 1);
  for (size_t i = count; i-- > 0;) {
    for (int k = 0; k < nodes[i]->num_out; k++)
      keep[i] |= nodes[i]->out[k] && nodes[i]->out[k]->needed;
    if (keep[i])
      need_operands(nodes[i]);
  }
  g->first = g->last = NULL;
  for (size_t i = 0; i < count; i++)
    if (keep[i])
      graph_append(g, nodes[i]);
  int kept = 0;
  for (int i = 0; i < g->num_constants; i++)
    if (g->constants[i]->needed && g->constants[i]->data)
      g->constants[kept++] = g->constants[i];
  g->num_constants = kept;
}

void specialize_cut(import *im, graph *g, find_value *find, void *context) {
  const import_options *o = &im->options;
  int count;
  if (!o->inputs && !o->outputs)
    return;
  if (o->outputs) {
    g->out = read_names(im, o->outputs, "--outputs", find, context, &count);
    g->num_out = count;
    g->out_types = NEW_ARRAY(im, const type *, (size_t)count + 1);
  }
  value **in = g->in;
  int num_in = g->num_in;
  if (o->inputs) {
    in = read_names(im, o->inputs, "--inputs", find, context, &count);
    num_in = count;
    for (int i = 0; i < count; i++)
      make_argument(im, in[i]);
  }
  drop_unneeded(im, g);
  for (int i = 0; i < g->num_in; i++) {
    bool listed = false;
    for (int k = 0; k < num_in; k++)
      listed |= in[k] == g->in[i];
    if (g->in[i]->needed && !listed)
      import_fail(im, "--inputs: the part also needs input '%s'", str_show(im, g->in[i]->name));
  }
  g->in = in;
  g->num_in = num_in;
}
