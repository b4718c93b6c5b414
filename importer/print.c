#include "importer/print.h"
#include "importer/literal.h"
#include "importer/source.h"
#include "onnx.pb-c.h"

#include "importer/tensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct printer {
  import *im;
  FILE *out;
  int next_id, next_arg;
  int indent;
  const tensor **resources; // constants whose bytes the end of the text carries
  int num_resources, room_resources;
} printer;

static void line_start(printer *p) {
  for (int i = 0; i < p->indent; i++)
    fputs("  ", p->out);
}

// Constants.

static bool is_large(const import *im, const tensor *t) {
  return t->elem != ONYX_STRING && t->count > (uint64_t)im->options.inline_elements;
}

// A resource's bytes are MLIR's own, which for bool and narrow types are not ONNX's.
static bool is_resource(const import *im, const tensor *t) {
  return im->options.weights == WEIGHTS_RESOURCE && is_large(im, t) && t->elem != ONYX_BOOL &&
         onyx_elem_bits(t->elem) >= 8;
}

// dense_resource<..> here, the bytes at the end of the text.
static void print_resource(printer *p, const tensor *t) {
  if (p->num_resources == p->room_resources) {
    p->room_resources = p->room_resources ? p->room_resources * 2 : 16;
    const tensor **larger = NEW_ARRAY(p->im, const tensor *, (size_t)p->room_resources);
    if (p->num_resources)
      memcpy(larger, p->resources, (size_t)p->num_resources * sizeof *larger);
    p->resources = larger;
  }
  fprintf(p->out, "dense_resource<onnx_%d>", p->num_resources);
  p->resources[p->num_resources++] = t;
}

static void print_resources(printer *p) {
  if (p->num_resources == 0)
    return;
  fputs("\n{-#\n  dialect_resources: {\n    builtin: {\n", p->out);
  for (int i = 0; i < p->num_resources; i++) {
    // The blob begins with its alignment, 64, as four bytes.
    fprintf(p->out, "      onnx_%d: \"0x40000000", i);
    literal_hexadecimal(p->out, p->resources[i]->bytes, p->resources[i]->size);
    fprintf(p->out, "\"%s\n", i + 1 < p->num_resources ? "," : "");
  }
  fputs("    }\n  }\n#-}\n", p->out);
}

static void print_constant(printer *p, const tensor *t) {
  bool in_file = is_large(p->im, t) && t->file && p->im->options.weights == WEIGHTS_FILE;
  if (is_resource(p->im, t)) {
    print_resource(p, t);
  } else if (!in_file) {
    literal_dense(p->out, t);
  } else {
    fputs("#onnx.file<", p->out);
    literal_string(p->out, t->file->name);
    fprintf(p->out, ", %" PRIu64 ", %" PRIu64 ">", t->offset, t->size);
  }
  fputs(" : ", p->out);
  literal_tensor_type(p->out, t);
}

// Attributes.

static void print_list(printer *p, const attr *a) {
  fputc('[', p->out);
  for (int i = 0; i < a->count; i++) {
    if (i)
      fputs(", ", p->out);
    if (a->kind == ONYX_ATTR_INTS)
      fprintf(p->out, "%" PRId64, a->ints[i]);
    else if (a->kind == ONYX_ATTR_FLOATS)
      literal_f32(p->out, a->floats[i]), fputs(" : f32", p->out);
    else if (a->kind == ONYX_ATTR_STRINGS)
      literal_string(p->out, a->strings[i]);
    else if (a->kind == ONYX_ATTR_TYPE_PROTOS)
      literal_type(p->out, a->types[i]);
    else
      print_constant(p, a->tensors[i]);
  }
  fputc(']', p->out);
}

static void print_attr_value(printer *p, const attr *a) {
  switch (a->kind) {
  case ONYX_ATTR_INT:
    if (onyx_schema_attr_is_elem_type(a->name.p) && a->i > 0 && a->i < ONYX_ELEM_COUNT)
      fputs(onyx_elem_mlir_name((onyx_elem)a->i), p->out);
    else
      fprintf(p->out, "%" PRId64 " : si64", a->i);
    return;
  case ONYX_ATTR_FLOAT:
    literal_f32(p->out, a->f);
    fputs(" : f32", p->out);
    return;
  case ONYX_ATTR_STRING:
    literal_string(p->out, a->s);
    return;
  case ONYX_ATTR_TENSOR:
  case ONYX_ATTR_SPARSE_TENSOR:
    print_constant(p, a->tensors[0]);
    return;
  case ONYX_ATTR_TYPE_PROTO:
    literal_type(p->out, a->types[0]);
    return;
  default:
    print_list(p, a);
  }
}

// An element type of 0 says the same as its absence.
static bool is_printed(const attr *a) {
  if (a->kind == ONYX_ATTR_GRAPH || a->kind == ONYX_ATTR_GRAPHS)
    return false;
  if (a->kind == ONYX_ATTR_INT && a->i == 0)
    return !onyx_schema_attr_is_elem_type(a->name.p);
  bool single = a->kind == ONYX_ATTR_TENSOR || a->kind == ONYX_ATTR_SPARSE_TENSOR ||
                a->kind == ONYX_ATTR_TYPE_PROTO;
  return !single || a->count > 0;
}

static void separate(printer *p, bool *first) {
  fputs(*first ? " {" : ", ", p->out);
  *first = false;
}

static void print_named_string(printer *p, bool *first, const char *name, str s) {
  separate(p, first);
  fprintf(p->out, "%s = ", name);
  literal_string(p->out, s);
}

// The regions of a node of another domain, in their order, by the attributes that they are; a list
// of graphs has "[]" after its name.
static void print_graph_names(printer *p, bool *first, const node *n) {
  bool any = false;
  for (int i = 0; i < n->num_attrs; i++) {
    const attr *a = &n->attrs[i];
    bool list = a->kind == ONYX_ATTR_GRAPHS;
    for (int k = 0; (list || a->kind == ONYX_ATTR_GRAPH) && k < a->count; k++) {
      if (!any)
        separate(p, first);
      fputs(any ? ", " : "onnx.graph_attrs = [", p->out);
      any = true;
      literal_string(p->out, list ? str_format(p->im, "%s[]", a->name.p) : a->name);
    }
  }
  if (any)
    fputc(']', p->out);
}

static void print_attrs(printer *p, const node *n, bool custom) {
  bool first = true;
  if (custom) {
    print_named_string(p, &first, "domain_name", n->domain);
    print_named_string(p, &first, "function_name", n->op);
    print_graph_names(p, &first, n);
  }
  for (int i = 0; i < n->num_attrs; i++) {
    if (!is_printed(&n->attrs[i]))
      continue;
    separate(p, &first);
    literal_key(p->out, n->attrs[i].name);
    fputs(" = ", p->out);
    print_attr_value(p, &n->attrs[i]);
  }
  if (n->name.n)
    print_named_string(p, &first, "onnx_node_name", n->name);
  if (p->im->options.docs && n->doc.n)
    print_named_string(p, &first, "onnx.doc", n->doc);
  if (!first)
    fputc('}', p->out);
}

static void print_location(printer *p, str name) {
  if (name.n) {
    fputs(" loc(", p->out);
    literal_string(p->out, name);
    fputc(')', p->out);
  }
  fputc('\n', p->out);
}

// Values.

static void print_value(printer *p, const value *v) {
  if (v->printed_argument)
    fprintf(p->out, "%%arg%d", v->id);
  else if (v->def && v->def->num_out > 1)
    fprintf(p->out, "%%%d#%d", v->id, v->result);
  else
    fprintf(p->out, "%%%d", v->id);
}

static void print_values(printer *p, int count, value *const *values) {
  for (int i = 0; i < count; i++) {
    fputs(i ? ", " : "", p->out);
    print_value(p, values[i]);
  }
}

static void print_value_types(printer *p, int count, value *const *values) {
  for (int i = 0; i < count; i++) {
    fputs(i ? ", " : "", p->out);
    literal_type(p->out, values[i] ? values[i]->type : NULL);
  }
}

// node_name is empty for an initializer, which is no node.
static void print_constant_op(printer *p, value *v, str name, str node_name) {
  v->id = p->next_id++;
  line_start(p);
  fprintf(p->out, "%%%d = onnx.Constant ", v->id);
  if (node_name.n) {
    fputs("{onnx_node_name = ", p->out);
    literal_string(p->out, node_name);
    fputs("} ", p->out);
  }
  print_constant(p, v->data);
  print_location(p, name);
}

static void name_argument(printer *p, value *v) {
  v->printed_argument = true;
  v->id = p->next_arg++;
}

// Operators.

static void print_body(printer *p, const graph *g, const char *terminator);

static void print_region(printer *p, const graph *g) {
  fputs("{\n", p->out);
  if (g->num_in) {
    line_start(p);
    fputs("^bb0(", p->out);
    for (int i = 0; i < g->num_in; i++) {
      name_argument(p, g->in[i]);
      fputs(i ? ", " : "", p->out);
      print_value(p, g->in[i]);
      fputs(": ", p->out);
      literal_type(p->out, g->in[i]->type);
    }
    fputs("):\n", p->out);
  }
  p->indent++;
  print_body(p, g, "onnx.Yield");
  p->indent--;
  line_start(p);
  fputc('}', p->out);
}

static void print_graph_attr(printer *p, const attr *a, bool *first) {
  for (int i = 0; a && i < a->count; i++) {
    fputs(*first ? " (" : ", ", p->out);
    *first = false;
    print_region(p, a->graphs[i]);
  }
}

// If has its branches in the order then, else; others one body.
static void print_regions(printer *p, const node *n) {
  bool first = true;
  if (str_is(n->op, "If") && n->row) {
    print_graph_attr(p, attr_find(n, "then_branch"), &first);
    print_graph_attr(p, attr_find(n, "else_branch"), &first);
  } else {
    for (int i = 0; i < n->num_attrs; i++)
      if (n->attrs[i].kind == ONYX_ATTR_GRAPH || n->attrs[i].kind == ONYX_ATTR_GRAPHS)
        print_graph_attr(p, &n->attrs[i], &first);
  }
  if (!first)
    fputc(')', p->out);
}

// The id of an absent operand, made just before its user.
static int print_no_value(printer *p, const node *n) {
  for (int i = 0; i < n->num_in; i++)
    if (!n->in[i]) {
      line_start(p);
      fprintf(p->out, "%%%d = \"onnx.NoValue\"() {value} : () -> none\n", p->next_id);
      return p->next_id++;
    }
  return -1;
}

static void print_node(printer *p, node *n) {
  bool call = n->callee.n != 0, custom = !n->row && !call;
  int absent = print_no_value(p, n), id = -1;
  line_start(p);
  if (n->num_out) {
    id = p->next_id++;
    fprintf(p->out, n->num_out > 1 ? "%%%d:%d = " : "%%%d = ", id, n->num_out);
  }
  if (call) {
    fputs("func.call @", p->out);
    literal_key(p->out, n->callee);
    fputc('(', p->out);
  } else if (custom) {
    fputs("\"onnx.Custom\"(", p->out);
  } else {
    fprintf(p->out, "\"onnx.%s\"(", n->row->name);
  }
  for (int i = 0; i < n->num_in; i++) {
    fputs(i ? ", " : "", p->out);
    if (n->in[i])
      print_value(p, n->in[i]);
    else
      fprintf(p->out, "%%%d", absent);
  }
  fputc(')', p->out);
  print_regions(p, n);
  print_attrs(p, n, custom);
  fputs(" : (", p->out);
  print_value_types(p, n->num_in, n->in);
  fputs(") -> ", p->out);
  if (n->num_out != 1)
    fputc('(', p->out);
  print_value_types(p, n->num_out, n->out);
  if (n->num_out != 1)
    fputc(')', p->out);
  print_location(p, n->name);
  for (int i = 0; i < n->num_out; i++)
    if (n->out[i])
      n->out[i]->id = id;
}

static void print_body(printer *p, const graph *g, const char *terminator) {
  for (int i = 0; i < g->num_constants; i++)
    print_constant_op(p, g->constants[i], g->constants[i]->name, str_of(""));
  for (node *n = g->first; n; n = n->next) {
    if (n->num_out == 1 && n->out[0] && n->out[0]->data)
      print_constant_op(p, n->out[0], n->name, n->helper ? str_of("") : n->name);
    else
      print_node(p, n);
  }
  line_start(p);
  fprintf(p->out, "%s%s", terminator, g->num_out ? " " : "");
  print_values(p, g->num_out, g->out);
  fputs(g->num_out ? " : " : "", p->out);
  print_value_types(p, g->num_out, g->out);
  fputc('\n', p->out);
}

// The function.

// "0:batch,1:seq"; what would be read as a separator is written %XX.
static void print_dim_params(printer *p, const type *t) {
  bool any = false;
  if (!t || t->kind != ONYX_TYPE_TENSOR)
    return;
  for (int i = 0; i < t->rank; i++) {
    str param = t->dims[i].param;
    if (param.n == 0 || t->dims[i].size >= 0)
      continue;
    fprintf(p->out, any ? ",%d:" : ", onnx.dim_params = \"%d:", i);
    any = true;
    char *encoded = NEW_ARRAY(p->im, char, param.n * 3 + 1), *e = encoded;
    for (size_t k = 0; k < param.n; k++)
      if (strchr(",:%", param.p[k]) && param.p[k])
        e += sprintf(e, "%%%02X", (unsigned char)param.p[k]);
      else
        *e++ = param.p[k];
    literal_string_body(p->out, (str){encoded, (size_t)(e - encoded)});
  }
  if (any)
    fputc('"', p->out);
}

static void print_signature_attrs(printer *p, str name, const type *t) {
  fputs(" {onnx.name = ", p->out);
  literal_string(p->out, name);
  print_dim_params(p, t);
  fputc('}', p->out);
}

static void print_signature(printer *p, const graph *g) {
  fputc('(', p->out);
  for (int i = 0; i < g->num_in; i++) {
    name_argument(p, g->in[i]);
    fputs(i ? ", " : "", p->out);
    print_value(p, g->in[i]);
    fputs(": ", p->out);
    literal_type(p->out, g->in[i]->type);
    print_signature_attrs(p, g->in[i]->name, g->in[i]->type);
  }
  fputs(") -> (", p->out);
  for (int i = 0; i < g->num_out; i++) {
    fputs(i ? ", " : "", p->out);
    literal_type(p->out, g->out[i]->type);
    print_signature_attrs(p, g->out[i]->name, g->out[i]->type);
  }
  fputc(')', p->out);
}

static void print_function_body(printer *p, const graph *g) {
  fputs(" {\n", p->out);
  p->indent++;
  print_body(p, g, "onnx.Return");
  p->indent--;
  line_start(p);
  fputs("}\n", p->out);
}

static void print_kept_function(printer *p, const graph *g) {
  line_start(p);
  fputs("func.func private @", p->out);
  literal_key(p->out, g->symbol);
  print_signature(p, g);
  fputs(" attributes {onnx.domain = ", p->out);
  literal_string(p->out, g->domain);
  fputs(", onnx.function_name = ", p->out);
  literal_string(p->out, g->function_name);
  fputc('}', p->out);
  print_function_body(p, g);
}

static void print_function(printer *p, const graph *g) {
  const char *entry = p->im->options.entry;
  line_start(p);
  fputs("func.func @", p->out);
  literal_key(p->out, str_of(entry));
  print_signature(p, g);
  print_function_body(p, g);
  line_start(p);
  fputs("\"onnx.EntryPoint\"() {func = @", p->out);
  literal_key(p->out, str_of(entry));
  fputs("} : () -> ()\n", p->out);
}

// The module.

static void print_model_string(printer *p, const char *name, ProtobufCBinaryData data) {
  if (data.len == 0)
    return;
  fprintf(p->out, ", onnx.%s = ", name);
  literal_string(p->out, str_read(data));
}

static void print_metadata(printer *p, size_t count, Onnx__StringStringEntryProto *const *props) {
  if (count == 0)
    return;
  fputs(", onnx.metadata_props = [", p->out);
  for (size_t i = 0; i < count; i++) {
    fputs(i ? ", {key = " : "{key = ", p->out);
    literal_string(p->out, str_read(props[i]->key));
    fputs(", value = ", p->out);
    literal_string(p->out, str_read(props[i]->value));
    fputc('}', p->out);
  }
  fputc(']', p->out);
}

static void print_quantization(printer *p, const Onnx__GraphProto *g) {
  if (g->n_quantization_annotation == 0)
    return;
  fputs(", onnx.quantization_annotations = [", p->out);
  for (size_t i = 0; i < g->n_quantization_annotation; i++) {
    const Onnx__TensorAnnotation *a = g->quantization_annotation[i];
    fputs(i ? ", {tensor = " : "{tensor = ", p->out);
    literal_string(p->out, str_read(a->tensor_name));
    fputs(", parameters = [", p->out);
    for (size_t k = 0; k < a->n_quant_parameter_tensor_names; k++) {
      fputs(k ? ", {key = " : "{key = ", p->out);
      literal_string(p->out, str_read(a->quant_parameter_tensor_names[k]->key));
      fputs(", tensor = ", p->out);
      literal_string(p->out, str_read(a->quant_parameter_tensor_names[k]->value));
      fputc('}', p->out);
    }
    fputs("]}", p->out);
  }
  fputc(']', p->out);
}

static void print_weights_files(printer *p) {
  bool any = false;
  for (int i = 0; i < p->im->num_files; i++) {
    const weights_file *f = p->im->files[i];
    if (!f->used)
      continue;
    fputs(any ? ", {name = " : ", onnx.weights_files = [{name = ", p->out);
    any = true;
    literal_string(p->out, f->name);
    fprintf(p->out, ", size = %" PRIu64 " : i64, fingerprint = \"%016" PRIx64 "\"}", f->size,
            f->fingerprint);
  }
  if (any)
    fputc(']', p->out);
}

// Where the text stands, as the user said it, so that the names of weights resolve from where the
// user works.
static void print_weights_root(printer *p) {
  const char *output = p->im->options.output;
  const char *slash = output && p->im->out_temp.n ? strrchr(output, '/') : NULL;
  bool any = false;
  for (int i = 0; i < p->im->num_files; i++)
    any |= p->im->files[i]->used;
  if (!slash || !any)
    return;
  fputs(", onnx.weights_root = ", p->out);
  literal_string(p->out, slash == output ? str_of("/") : (str){output, (size_t)(slash - output)});
}

static void print_module_attrs(printer *p, const model *m) {
  const Onnx__ModelProto *proto = p->im->proto;
  fprintf(p->out, "module attributes {onnx.ir_version = %" PRId64 " : i64, onnx.opset_imports = [",
          proto->ir_version);
  for (int i = 0; i < m->num_opsets; i++) {
    fputs(i ? ", {domain = " : "{domain = ", p->out);
    literal_string(p->out, m->opsets[i].domain);
    fprintf(p->out, ", version = %" PRId64 " : i64}", m->opsets[i].version);
  }
  fputc(']', p->out);
  print_model_string(p, "producer_name", proto->producer_name);
  print_model_string(p, "producer_version", proto->producer_version);
  print_model_string(p, "domain", proto->domain);
  if (proto->has_model_version && proto->model_version)
    fprintf(p->out, ", onnx.model_version = %" PRId64 " : i64", proto->model_version);
  print_model_string(p, "graph_name", proto->graph->name);
  if (p->im->options.docs) {
    print_model_string(p, "doc", proto->doc_string);
    print_model_string(p, "graph_doc", proto->graph->doc_string);
  }
  print_metadata(p, proto->n_metadata_props, proto->metadata_props);
  print_quantization(p, proto->graph);
  print_weights_files(p);
  print_weights_root(p);
  fputs("} {\n", p->out);
}

void print_model(import *im, const model *m) {
  printer p = {.im = im, .out = im->out};
  print_module_attrs(&p, m);
  p.indent = 1;
  for (int i = 0; i < m->num_functions; i++)
    print_kept_function(&p, m->functions[i]);
  print_function(&p, m->main);
  fputs("}\n", p.out);
  print_resources(&p);
}

// Places for constants.

static void place(import *im, const tensor *t) {
  if (!is_large(im, t) || im->options.weights != WEIGHTS_FILE)
    return;
  if (!t->file && output_can_spill(im))
    output_spill(im, (tensor *)t);
  if (t->file)
    t->file->used = true;
}

static void place_graph(import *im, const graph *g) {
  for (int i = 0; i < g->num_constants; i++)
    place(im, g->constants[i]->data);
  for (const node *n = g->first; n; n = n->next) {
    if (n->num_out == 1 && n->out[0] && n->out[0]->data)
      place(im, n->out[0]->data);
    for (int i = 0; i < n->num_attrs; i++) {
      const attr *a = &n->attrs[i];
      for (int k = 0; a->tensors && k < a->count; k++)
        place(im, a->tensors[k]);
      for (int k = 0; a->graphs && k < a->count; k++)
        place_graph(im, a->graphs[k]);
    }
  }
}

void place_constants(import *im, const model *m) {
  for (int i = 0; i < m->num_functions; i++)
    place_graph(im, m->functions[i]);
  place_graph(im, m->main);
}
