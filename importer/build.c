#include "importer/build.h"
#include "importer/attrs.h"
#include "importer/custom.h"
#include "importer/infer.h"
#include "importer/literal.h"
#include "importer/order.h"
#include "importer/specialize.h"
#include "importer/tensors.h"
#include "importer/upgrade/upgrade.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  CALLS_MAX = 64,     // nested calls of local functions
  NODES_MAX = 500000, // that functions may expand to
};

// Attributes of a call, for the references in the function's body.
typedef struct call {
  const Onnx__FunctionProto *function;
  const attr *attrs;
  int num_attrs;
  str name; // of the calling node, in front of the names in the body
  int depth;
  const struct call *outer;
} call;

typedef struct scope {
  map values;          // of this graph or function body
  map declared;        // what value_info says, name to Onnx__TypeProto
  struct scope *outer; // NULL for a function body: it sees nothing of its caller
  graph *into;
  const call *call;
  const opset_import *opsets;
  int num_opsets;
} scope;

typedef struct builder {
  import *im;
  model *model;
  map functions; // by function_key
  map kept;      // functions that are kept, by kept_key
} builder;

static str copy_name(builder *b, ProtobufCBinaryData data) {
  return str_copy(b->im, data.data, data.len);
}

static str domain_of(builder *b, ProtobufCBinaryData data) {
  str domain = copy_name(b, data);
  return str_is(domain, "ai.onnx") ? str_of("") : domain;
}

// A key that no two functions share: the parts are told apart by their lengths.
static str function_key(builder *b, str domain, str name, str overload) {
  str head = str_format(b->im, "%zu %zu ", domain.n, name.n);
  size_t size = head.n + domain.n + name.n + overload.n;
  char *key = NEW_ARRAY(b->im, char, size + 1);
  str_put(str_put(str_put(str_put(key, head), domain), name), overload);
  return (str){key, size};
}

static const opset_import *read_opsets(builder *b, size_t count,
                                       Onnx__OperatorSetIdProto *const *p) {
  opset_import *opsets = NEW_ARRAY(b->im, opset_import, count + 1);
  for (size_t i = 0; i < count; i++) {
    opsets[i] = (opset_import){domain_of(b, p[i]->domain), p[i]->version};
    if (opsets[i].domain.n == 0 && p[i]->version > onyx_schema_newest_opset)
      import_note(b->im, "opset %lld is newer than the %d that is known, and read as that",
                  (long long)p[i]->version, onyx_schema_newest_opset);
  }
  return opsets;
}

// Version of a domain. A model that names none means the first, as before imports there was one.
static int opset_of(const scope *s, str domain) {
  for (int i = 0; i < s->num_opsets; i++)
    if (str_eq(s->opsets[i].domain, domain)) {
      int64_t v = s->opsets[i].version;
      return v < 1 ? 1 : v > 1000000 ? 1000000 : (int)v;
    }
  return domain.n == 0 && s->num_opsets == 0 ? 1 : 0;
}

static void use_value(builder *b, scope *s, value *v) {
  if (v->used)
    return;
  v->used = true;
  if (!v->data || v->def)
    return; // an initializer is printed when it is used
  graph *g = s->into;
  if (g->num_constants == g->room_constants) {
    g->room_constants = g->room_constants ? g->room_constants * 2 : 16;
    value **larger = NEW_ARRAY(b->im, value *, (size_t)g->room_constants);
    if (g->num_constants)
      memcpy(larger, g->constants, (size_t)g->num_constants * sizeof *larger);
    g->constants = larger;
  }
  g->constants[g->num_constants++] = v;
}

static value *look_up(builder *b, scope *s, str name) {
  for (; s; s = s->outer) {
    value *v = map_get(&s->values, name);
    if (v) {
      use_value(b, s, v);
      return v;
    }
  }
  return NULL;
}

static const type *declared_type(builder *b, scope *s, str name) {
  const Onnx__TypeProto *p = map_get(&s->declared, name);
  return p ? type_read(b->im, p, name) : NULL;
}

static void declare_all(builder *b, scope *s, size_t count, Onnx__ValueInfoProto *const *infos) {
  for (size_t i = 0; i < count; i++)
    if (infos[i]->type && infos[i]->name.len)
      map_set(b->im, &s->declared, str_read(infos[i]->name), infos[i]->type);
}

static const attr *call_attr(const call *c, str name) {
  for (int i = 0; c && i < c->num_attrs; i++)
    if (str_eq(c->attrs[i].name, name))
      return &c->attrs[i];
  return NULL;
}

static void read_attrs(builder *b, scope *s, node *n, const Onnx__NodeProto *p) {
  n->attrs = NEW_ARRAY(b->im, attr, p->n_attribute + 1);
  for (size_t i = 0; i < p->n_attribute; i++) {
    const Onnx__AttributeProto *ap = p->attribute[i];
    attr *a = &n->attrs[n->num_attrs];
    if (ap->ref_attr_name.len) {
      const attr *given = call_attr(s->call, str_read(ap->ref_attr_name));
      if (!s->call)
        node_fail(b->im, n, "attribute '%s' refers to a function's attribute outside of one",
                  str_show(b->im, str_read(ap->name)));
      if (!given)
        continue; // left out by the call, so left out here
      *a = *given;
      a->name = copy_name(b, ap->name);
    } else {
      *a = (attr){.name = copy_name(b, ap->name), .kind = attr_kind(ap)};
      attr_read(b->im, n, a, ap);
    }
    for (int k = 0; k < n->num_attrs; k++)
      if (str_eq(n->attrs[k].name, a->name))
        node_fail(b->im, n, "attribute '%s' is there twice", str_show(b->im, a->name));
    n->num_attrs++;
  }
}

static const char *range_show(import *im, int least, int most) {
  if (most == ONYX_UNBOUNDED)
    return str_format(im, "at least %d", least).p;
  return most == least ? str_format(im, "%d", least).p : str_format(im, "%d to %d", least, most).p;
}

// What a node must have by its schema.
static void check_node(builder *b, const node *n) {
  const onyx_schema *row = n->row;
  if (!row || row->deprecated)
    return;
  if (n->num_in < row->min_inputs ||
      (row->max_inputs != ONYX_UNBOUNDED && n->num_in > row->max_inputs))
    node_fail(b->im, n, "has %d operands, expected %s", n->num_in,
              range_show(b->im, row->min_inputs, row->max_inputs));
  if (row->max_outputs != ONYX_UNBOUNDED && n->num_out > row->max_outputs)
    node_fail(b->im, n, "has %d results, expected at most %d", n->num_out, row->max_outputs);
  for (int i = 0; i < n->num_in; i++) {
    const onyx_schema_param *param = onyx_schema_input(row, i);
    if (!n->in[i] && param && !param->optional && !param->variadic)
      node_fail(b->im, n, "lacks operand %d (%s)", i, param->name);
  }
  for (int i = 0; i < n->num_attrs; i++) {
    const attr *a = &n->attrs[i];
    const onyx_schema_attr *known = onyx_schema_attr_find(row, a->name.p);
    if (!known || strlen(a->name.p) != a->name.n)
      node_fail(b->im, n, "has unknown attribute '%s'", str_show(b->im, a->name));
    // An empty list without a type looks like a list of integers.
    bool empty = a->kind == ONYX_ATTR_INTS && a->count == 0;
    if (known->kind != a->kind && !empty)
      node_fail(b->im, n, "attribute '%s' has the wrong type", known->name);
  }
  for (int i = 0; i < row->num_attrs; i++)
    if (row->attrs[i].required && !attr_find(n, row->attrs[i].name))
      node_fail(b->im, n, "lacks attribute '%s'", row->attrs[i].name);
}

// Graphs.

static void build_nodes(builder *b, scope *s, size_t count, Onnx__NodeProto *const *nodes);

static void add_initializers(builder *b, scope *s, const Onnx__GraphProto *p) {
  for (size_t i = 0; i < p->n_initializer; i++) {
    str name = str_read(p->initializer[i]->name);
    const tensor *t = tensor_read(b->im, p->initializer[i], name);
    value *v = value_new(b->im, name, tensor_type(b->im, t));
    v->data = t;
    map_set(b->im, &s->values, name, v);
  }
  for (size_t i = 0; i < p->n_sparse_initializer; i++) {
    const Onnx__SparseTensorProto *sp = p->sparse_initializer[i];
    str name = sp->values ? str_read(sp->values->name) : str_of("");
    const tensor *t = tensor_read_sparse(b->im, sp, name);
    value *v = value_new(b->im, name, tensor_type(b->im, t));
    v->data = t;
    map_set(b->im, &s->values, name, v);
  }
}

static void add_argument(builder *b, scope *s, str name, const type *t) {
  value *v = value_new(b->im, name, t);
  s->into->in[s->into->num_in++] = v;
  map_set(b->im, &s->values, name, v);
}

static void finish_outputs(builder *b, scope *s, const Onnx__GraphProto *p) {
  graph *g = s->into;
  g->out = NEW_ARRAY(b->im, value *, p->n_output + 1);
  g->out_types = NEW_ARRAY(b->im, const type *, p->n_output + 1);
  for (size_t i = 0; i < p->n_output; i++) {
    str name = str_read(p->output[i]->name);
    value *v = look_up(b, s, name);
    if (!v)
      import_fail(b->im, "graph '%s': output '%s' is nobody's result", str_show(b->im, g->name),
                  str_show(b->im, name));
    g->out[g->num_out] = v;
    g->out_types[g->num_out++] = type_read(b->im, p->output[i]->type, name);
  }
}

// The rank that a body declares of an input or output, its sizes left open: those of one iteration
// need not be those of the next. t when nothing is declared.
static const type *with_declared_rank(builder *b, const type *t, const type *declared) {
  bool usable = declared && declared->kind == ONYX_TYPE_TENSOR && declared->ranked &&
                type_same_kind(t, declared) && !t->ranked;
  if (!usable)
    return t;
  dim *dims = NEW_ARRAY(b->im, dim, (size_t)declared->rank + 1);
  for (int i = 0; i < declared->rank; i++)
    dims[i].size = -1;
  type *ranked = NEW(b->im, type);
  *ranked = *declared;
  ranked->dims = dims;
  return ranked;
}

// A subgraph of a node. in_types gives the types that the node's operands decide, NULL entries (or
// those past num_types) are as declared.
static graph *build_subgraph(builder *b, scope *outer, const node *n, const Onnx__GraphProto *p,
                             int num_types, const type *const *in_types) {
  scope s = {.outer = outer,
             .call = outer->call,
             .opsets = outer->opsets,
             .num_opsets = outer->num_opsets};
  graph *g = s.into = NEW(b->im, graph);
  g->name = str_read(p->name);
  g->outer = outer->into;
  declare_all(b, &s, p->n_value_info, p->value_info);
  declare_all(b, &s, p->n_output, p->output);
  g->in = NEW_ARRAY(b->im, value *, p->n_input + 1);
  for (size_t i = 0; i < p->n_input; i++) {
    str name = str_read(p->input[i]->name);
    const type *declared = type_read(b->im, p->input[i]->type, name);
    const type *t = (int)i < num_types ? in_types[i] : NULL;
    if (!t)
      t = type_unshaped(b->im, declared);
    if (t)
      t = with_declared_rank(b, t, declared);
    if (!t)
      node_fail(b->im, n, "the type of its body's input '%s' cannot be known",
                str_show(b->im, name));
    add_argument(b, &s, name, t);
  }
  add_initializers(b, &s, p);
  build_nodes(b, &s, p->n_node, p->node);
  finish_outputs(b, &s, p);
  for (int i = 0; i < g->num_out; i++)
    if (g->out[i]->def && !g->out[i]->data && g->out[i]->type)
      g->out[i]->type = with_declared_rank(b, g->out[i]->type, g->out_types[i]);
  return g;
}

static const type *element_of(const type *t) {
  return t && t->kind == ONYX_TYPE_SEQ ? t->of : t;
}

// Types of a body's inputs as the operands decide them.
static int body_types(builder *b, const node *n, const type **types) {
  import *im = b->im;
  int count = 0;
  if (str_is(n->op, "Loop")) {
    types[count++] = type_ranked(im, ONYX_I64, 0, NULL);
    types[count++] = type_ranked(im, ONYX_BOOL, 0, NULL);
    for (int i = 2; i < n->num_in; i++)
      types[count++] = n->in[i] ? type_unshaped(im, n->in[i]->type) : NULL;
  } else if (str_is(n->op, "Scan")) {
    for (int i = n->row && n->row->since == 8; i < n->num_in; i++)
      types[count++] = n->in[i] ? type_unshaped(im, n->in[i]->type) : NULL;
  } else if (str_is(n->op, "SequenceMap")) {
    for (int i = 0; i < n->num_in; i++)
      types[count++] = n->in[i] ? type_unshaped(im, element_of(n->in[i]->type)) : NULL;
  }
  return count;
}

static void build_graph_attrs(builder *b, scope *s, node *n, const Onnx__NodeProto *p) {
  const type **types = NULL;
  int num_types = 0;
  for (size_t i = 0; i < p->n_attribute; i++) {
    const Onnx__AttributeProto *ap = p->attribute[i];
    attr *a = (attr *)attr_find(n, str_copy(b->im, ap->name.data, ap->name.len).p);
    if (!a || a->graphs || (a->kind != ONYX_ATTR_GRAPH && a->kind != ONYX_ATTR_GRAPHS))
      continue;
    if (!types) {
      types = NEW_ARRAY(b->im, const type *, (size_t)n->num_in + 3);
      num_types = body_types(b, n, types);
    }
    size_t count = a->kind == ONYX_ATTR_GRAPH ? ap->g != NULL : ap->n_graphs;
    graph **graphs = NEW_ARRAY(b->im, graph *, count + 1);
    for (size_t k = 0; k < count; k++)
      graphs[k] = build_subgraph(b, s, n, a->kind == ONYX_ATTR_GRAPH ? ap->g : ap->graphs[k],
                                 num_types, types);
    a->graphs = graphs;
    a->count = (int)count;
    if (count == 0)
      node_fail(b->im, n, "attribute '%s' has no graph", str_show(b->im, a->name));
  }
}

// Nodes.

static str node_name(builder *b, const scope *s, const Onnx__NodeProto *p) {
  str name = copy_name(b, p->name);
  if (!s->call || s->call->name.n == 0)
    return name;
  if (name.n == 0)
    return s->call->name;
  str prefix = s->call->name;
  char *joined = NEW_ARRAY(b->im, char, prefix.n + name.n + 2);
  str_put(str_put(str_put(joined, prefix), str_of("/")), name);
  return (str){joined, prefix.n + 1 + name.n};
}

static void read_operands(builder *b, scope *s, node *n, const Onnx__NodeProto *p) {
  for (size_t i = 0; i < p->n_input; i++) {
    str name = str_read(p->input[i]);
    if (name.n == 0)
      continue;
    n->in[i] = look_up(b, s, name);
    if (!n->in[i])
      node_fail(b->im, n, "operand %zu ('%s') is nobody's result", i, str_show(b->im, name));
    if (n->in[i]->type && n->in[i]->type->kind == ONYX_TYPE_NONE)
      n->in[i] = NULL; // a function's input that the call left out
  }
  node_set_inputs(b->im, n, n->num_in, n->in);
}

static value **make_results(builder *b, scope *s, node *n, const Onnx__NodeProto *p) {
  value **results = NEW_ARRAY(b->im, value *, p->n_output + 1);
  for (size_t i = 0; i < p->n_output; i++) {
    str name = str_read(p->output[i]);
    if (name.n == 0)
      continue;
    n->out[i] = value_new(b->im, name, NULL);
    n->declared[i] = declared_type(b, s, name);
    n->out[i]->hint = n->declared[i];
    results[i] = n->out[i];
  }
  while (n->num_out > 0 && !n->out[n->num_out - 1])
    n->num_out--;
  return results;
}

// By the values that make_results made: an upgrade may have moved them to other nodes.
static void name_results(builder *b, scope *s, value *const *results, const Onnx__NodeProto *p) {
  for (size_t i = 0; i < p->n_output; i++)
    if (results[i])
      map_set(b->im, &s->values, results[i]->name, results[i]);
}

// Constant in each of its forms becomes a value with data.
static void fold_constant(builder *b, node *n) {
  if (n->num_attrs != 1 || n->num_out != 1)
    node_fail(b->im, n, "needs one attribute and one result");
  const attr *a = &n->attrs[0];
  const tensor *t = NULL;
  int64_t dims[] = {a->count};
  if ((a->kind == ONYX_ATTR_TENSOR || a->kind == ONYX_ATTR_SPARSE_TENSOR) && a->count)
    t = a->tensors[0];
  else if (a->kind == ONYX_ATTR_INT)
    t = tensor_new(b->im, ONYX_I64, 0, NULL, &a->i);
  else if (a->kind == ONYX_ATTR_FLOAT)
    t = tensor_new(b->im, ONYX_F32, 0, NULL, &a->f);
  else if (a->kind == ONYX_ATTR_INTS && str_is(a->name, "value_ints"))
    t = tensor_new(b->im, ONYX_I64, 1, dims, a->ints);
  else if (a->kind == ONYX_ATTR_FLOATS || a->kind == ONYX_ATTR_INTS)
    t = tensor_new(b->im, ONYX_F32, 1, dims, a->floats);
  else if (a->kind == ONYX_ATTR_STRING || a->kind == ONYX_ATTR_STRINGS) {
    bool list = a->kind == ONYX_ATTR_STRINGS;
    tensor *strings = tensor_new(b->im, ONYX_STRING, list, dims, NULL);
    strings->strings = list ? a->strings : &a->s;
    t = strings;
  }
  if (!t)
    node_fail(b->im, n, "has no value");
  n->out[0]->data = t;
  n->out[0]->type = tensor_type(b->im, t);
  n->num_attrs = 0;
}

static bool known_domain(str domain) {
  return domain.n == 0 || str_is(domain, "ai.onnx.ml") || str_is(domain, "ai.onnx.training") ||
         str_is(domain, "ai.onnx.preview.training") || str_is(domain, "ai.onnx.preview");
}

// Finds the row in force. A known domain must know the operator.
static void resolve(builder *b, const scope *s, node *n) {
  n->opset = opset_of(s, n->domain);
  const onyx_schema *newest = onyx_schema_newest(n->domain.p, n->op.p);
  if (!n->opset && newest) {
    import_note(b->im, "no opset import for domain '%s': its newest is taken",
                str_show(b->im, n->domain));
    n->opset = newest->since;
  }
  n->row = onyx_schema_at(n->domain.p, n->op.p, n->opset);
  if (n->row || !known_domain(n->domain) || upgrade_knows(n->op))
    return;
  if (newest)
    node_fail(b->im, n, "is not in opset %d of its domain", n->opset);
  node_fail(b->im, n, "the standard has no such operator");
}

static void use_declared_shapes(builder *b, node *n) {
  for (int i = 0; i < n->num_out; i++) {
    value *v = n->out[i];
    const type *t = n->declared[i];
    if (v && t && v->type && t->kind == ONYX_TYPE_TENSOR && t->ranked && type_same_kind(t, v->type))
      v->type = t;
  }
  (void)b;
}

static void expand_call(builder *b, scope *s, const Onnx__FunctionProto *f, const node *n,
                        const Onnx__NodeProto *p);

static void build_node(builder *b, scope *s, const Onnx__NodeProto *p) {
  if (++b->model->num_nodes > NODES_MAX)
    import_fail(b->im, "expands to more than %d nodes", NODES_MAX);
  node *n = node_new(b->im, node_name(b, s, p), "", (int)p->n_input, (int)p->n_output);
  n->op = copy_name(b, p->op_type);
  n->domain = domain_of(b, p->domain);
  n->overload = copy_name(b, p->overload);
  n->doc = str_read(p->doc_string);
  const Onnx__FunctionProto *f =
      map_get(&b->functions, function_key(b, n->domain, n->op, n->overload));
  if (!f)
    resolve(b, s, n);
  read_operands(b, s, n, p);
  read_attrs(b, s, n, p);
  if (f) {
    build_graph_attrs(b, s, n, p);
    expand_call(b, s, f, n, p);
    return;
  }
  value **results = make_results(b, s, n, p);
  check_node(b, n);
  build_graph_attrs(b, s, n, p);
  if (str_is(n->op, "Constant") && n->domain.n == 0)
    fold_constant(b, n);
  if (known_domain(n->domain)) // others have names that the standard has too
    upgrade_node(b->im, s->into, n);
  if (n->row && n->row->deprecated)
    node_fail(b->im, n, "is deprecated and has no newer form");
  if (!n->row)
    custom_types(b->im, n);
  else if (!(n->num_out == 1 && n->out[0] && n->out[0]->data))
    infer_types(b->im, n);
  if (b->im->options.use_value_info)
    use_declared_shapes(b, n);
  graph_append(s->into, n);
  name_results(b, s, results, p);
}

static void build_nodes(builder *b, scope *s, size_t count, Onnx__NodeProto *const *nodes) {
  const size_t *order = order_nodes(b->im, count, nodes);
  for (size_t i = 0; i < count; i++)
    build_node(b, s, nodes[order[i]]);
}

// Attributes of the call, then the defaults that the function gives.
static void bind_attrs(builder *b, call *c, const Onnx__FunctionProto *f, const node *n) {
  attr *attrs = NEW_ARRAY(b->im, attr, (size_t)n->num_attrs + f->n_attribute_proto + 1);
  if (n->num_attrs)
    memcpy(attrs, n->attrs, (size_t)n->num_attrs * sizeof *attrs);
  c->attrs = attrs;
  c->num_attrs = n->num_attrs;
  for (size_t i = 0; i < f->n_attribute_proto; i++) {
    const Onnx__AttributeProto *ap = f->attribute_proto[i];
    if (call_attr(c, str_read(ap->name)))
      continue;
    attr *a = &attrs[c->num_attrs];
    *a = (attr){.name = copy_name(b, ap->name), .kind = attr_kind(ap)};
    attr_read(b->im, n, a, ap);
    c->num_attrs++;
  }
}

static value *absent_value(builder *b, str name) {
  type *none = NEW(b->im, type);
  return value_new(b->im, name, none);
}

// --keep-functions: one private function for the types of its operands.

// What tells one instance of a function from another.
static str kept_key(builder *b, const Onnx__FunctionProto *f, const node *n) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    import_fail(b->im, "out of memory");
  fprintf(out, "%p", (const void *)f);
  for (int i = 0; i < n->num_in; i++) {
    fputc(' ', out);
    literal_type(out, n->in[i]->type);
  }
  bool failed = fclose(out) != 0;
  str key = failed ? str_of("") : str_copy(b->im, text, size);
  free(text);
  if (failed)
    import_fail(b->im, "out of memory");
  return key;
}

static void add_function(builder *b, graph *g) {
  model *m = b->model;
  graph **larger = NEW_ARRAY(b->im, graph *, (size_t)m->num_functions + 1);
  for (int i = 0; i < m->num_functions; i++)
    larger[i] = m->functions[i];
  larger[m->num_functions++] = g;
  m->functions = larger;
}

static graph *build_function(builder *b, scope *s, const Onnx__FunctionProto *f, const node *n,
                             const call *c) {
  scope body = {.call = c};
  body.opsets = f->n_opset_import ? read_opsets(b, f->n_opset_import, f->opset_import) : s->opsets;
  body.num_opsets = f->n_opset_import ? (int)f->n_opset_import : s->num_opsets;
  graph *g = body.into = NEW(b->im, graph);
  declare_all(b, &body, f->n_value_info, f->value_info);
  g->in = NEW_ARRAY(b->im, value *, f->n_input + 1);
  g->out = NEW_ARRAY(b->im, value *, f->n_output + 1);
  for (size_t i = 0; i < f->n_input; i++)
    add_argument(b, &body, str_read(f->input[i]), n->in[i]->type);
  build_nodes(b, &body, f->n_node, f->node);
  for (size_t i = 0; i < f->n_output; i++) {
    value *v = look_up(b, &body, str_read(f->output[i]));
    if (!v)
      node_fail(b->im, n, "result %zu ('%s') is nobody's result in the function", i,
                str_show(b->im, str_read(f->output[i])));
    g->out[g->num_out++] = v;
  }
  str domain = domain_of(b, f->domain), name = copy_name(b, f->name);
  g->symbol = str_format(b->im, "%s.%s.%d", domain.p, name.p, b->model->num_functions);
  g->domain = domain;
  g->function_name = name;
  add_function(b, g);
  return g;
}

// Calls a private function where its types can be said: all operands there, no attributes.
static bool keep_call(builder *b, scope *s, const Onnx__FunctionProto *f, const node *n,
                      const Onnx__NodeProto *p, const call *c) {
  bool possible = n->num_attrs == 0 && f->n_attribute_proto == 0 && (size_t)n->num_in == f->n_input;
  for (int i = 0; possible && i < n->num_in; i++)
    possible = n->in[i] != NULL;
  if (!possible)
    return false;
  str key = kept_key(b, f, n);
  graph *g = map_get(&b->kept, key);
  if (!g) {
    g = build_function(b, s, f, n, c);
    map_set(b->im, &b->kept, key, g);
  }
  node *made = node_new(b->im, n->name, "call", n->num_in, g->num_out);
  node_set_inputs(b->im, made, n->num_in, n->in);
  made->callee = g->symbol;
  for (int i = 0; i < g->num_out; i++) {
    str name = (size_t)i < p->n_output ? str_read(p->output[i]) : str_of("");
    made->out[i] = value_new(b->im, name, g->out[i]->type);
    if (name.n)
      map_set(b->im, &s->values, name, made->out[i]);
  }
  graph_append(s->into, made);
  return true;
}

// Puts a function's body in place of the call.
static void expand_call(builder *b, scope *s, const Onnx__FunctionProto *f, const node *n,
                        const Onnx__NodeProto *p) {
  call c = {
      .function = f, .name = n->name, .depth = s->call ? s->call->depth + 1 : 1, .outer = s->call};
  for (const call *outer = s->call; outer; outer = outer->outer)
    if (outer->function == f)
      node_fail(b->im, n, "the function calls itself");
  if (c.depth > CALLS_MAX)
    node_fail(b->im, n, "function calls are nested deeper than %d", CALLS_MAX);
  if ((size_t)n->num_in > f->n_input || p->n_output > f->n_output)
    node_fail(b->im, n, "has more operands or results than its function");
  if (b->im->options.keep_functions) {
    call kept = c;
    kept.name = str_of(""); // several calls share the body
    if (keep_call(b, s, f, n, p, &kept))
      return;
  }
  bind_attrs(b, &c, f, n);
  scope body = {.into = s->into, .call = &c};
  body.opsets = f->n_opset_import ? read_opsets(b, f->n_opset_import, f->opset_import) : s->opsets;
  body.num_opsets = f->n_opset_import ? (int)f->n_opset_import : s->num_opsets;
  declare_all(b, &body, f->n_value_info, f->value_info);
  for (size_t i = 0; i < f->n_input; i++) {
    value *given = node_in(n, (int)i);
    map_set(b->im, &body.values, str_read(f->input[i]),
            given ? given : absent_value(b, str_read(f->input[i])));
  }
  build_nodes(b, &body, f->n_node, f->node);
  for (size_t i = 0; i < p->n_output; i++) {
    value *v = look_up(b, &body, str_read(f->output[i]));
    if (!v)
      node_fail(b->im, n, "result %zu ('%s') is nobody's result in the function", i,
                str_show(b->im, str_read(f->output[i])));
    if (p->output[i].len)
      map_set(b->im, &s->values, str_read(p->output[i]), v);
  }
}

// The main graph.

static void add_inputs(builder *b, scope *s, const Onnx__GraphProto *p) {
  s->into->in = NEW_ARRAY(b->im, value *, p->n_input + 1);
  for (size_t i = 0; i < p->n_input; i++) {
    str name = str_read(p->input[i]->name);
    if (map_get(&s->values, name))
      continue; // an initializer gives it its value
    const type *t = type_read(b->im, p->input[i]->type, name);
    if (!t)
      import_fail(b->im, "input '%s' has no type", str_show(b->im, name));
    if (t->sparse)
      import_fail(b->im, "input '%s' is a sparse tensor, which has no form", str_show(b->im, name));
    add_argument(b, s, name, specialize_input(b->im, name, t));
  }
}

// What is known of an output when a fixed dimension was changed by an option.
static const type *without_sizes(builder *b, const type *t) {
  if (!t || t->kind != ONYX_TYPE_TENSOR || !t->ranked)
    return t;
  type *copy = NEW(b->im, type);
  *copy = *t;
  dim *dims = NEW_ARRAY(b->im, dim, (size_t)t->rank + 1);
  for (int i = 0; i < t->rank; i++)
    dims[i].size = -1;
  copy->dims = dims;
  return copy;
}

static value *find_in_scope(void *scope_of_main, str name) {
  return map_get(&((scope *)scope_of_main)->values, name);
}

// A result that a node of the main graph computes takes the type that its output declares.
static void apply_declared_outputs(builder *b, graph *g) {
  for (int i = 0; i < g->num_out; i++) {
    value *v = g->out[i];
    const type *t = g->out_types[i];
    if (!t)
      continue;
    if (specialize_changed_shapes(b->im))
      t = without_sizes(b, t);
    if (!type_same_kind(t, v->type))
      import_fail(b->im, "output '%s' is declared %s, but is %s", str_show(b->im, v->name),
                  type_show(b->im, t), type_show(b->im, v->type));
    bool fixed = v->data || !v->def || v->def->callee.n; // by what makes it
    if (!fixed && !(v->type->kind == ONYX_TYPE_TENSOR && v->type->ranked))
      v->type = t;
  }
}

model *build_model(import *im) {
  const Onnx__ModelProto *p = im->proto;
  if (!p->graph)
    import_fail(im, "the model has no graph");
  builder b = {.im = im, .model = NEW(im, model)};
  model *m = b.model;
  m->opsets = read_opsets(&b, p->n_opset_import, p->opset_import);
  m->num_opsets = (int)p->n_opset_import;
  for (size_t i = 0; i < p->n_functions; i++) {
    Onnx__FunctionProto *f = p->functions[i];
    str key = function_key(&b, domain_of(&b, f->domain), str_read(f->name), str_read(f->overload));
    map_set(im, &b.functions, key, f);
  }
  scope s = {.opsets = m->opsets, .num_opsets = m->num_opsets};
  graph *g = m->main = s.into = NEW(im, graph);
  g->name = str_read(p->graph->name);
  specialize_dims(im, p->graph);
  declare_all(&b, &s, p->graph->n_value_info, p->graph->value_info);
  declare_all(&b, &s, p->graph->n_output, p->graph->output);
  add_initializers(&b, &s, p->graph);
  add_inputs(&b, &s, p->graph);
  build_nodes(&b, &s, p->graph->n_node, p->graph->node);
  finish_outputs(&b, &s, p->graph);
  apply_declared_outputs(&b, g);
  specialize_cut(im, g, find_in_scope, &s);
  return m;
}
