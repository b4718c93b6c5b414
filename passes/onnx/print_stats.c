// onnx-print-stats: what each operator holds, computes and makes. Parameters are the elements of
// its constant operands (in the total a constant counts once), FLOPs what its comprehension counts
// (comp_flops), bytes those of its results in memory form. A number that depends on run-time sizes
// is an expression over them, one that nothing says is '?'. Bodies count as if they ran once.
#include "dialects/onnx/ops/comprehension.h"
#include "dialects/onnx/ops/op.h"
#include "dialects/onnx/ptr_map.h"
#include "passes/onnx/infer.h"
#include "passes/onnx/passes.h"
#include "passes/onnx/rewrite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

// A sum of what is known, and whether a part of it is not.
struct amount {
  const dim *known;
  bool open;
};

struct row {
  MlirStringRef op, node;
  struct amount parameters, flops, bytes;
};

struct stats {
  view_scope *scope;
  dim_context *dims;
  MlirStringRef root, function;
  enum format format;
  FILE *out;
  ptr_map counted; // constants that are in the total
  struct row total;
  int64_t num_rows, num_functions;
};

// --- amounts

static const dim *constant(struct stats *s, int64_t value) {
  return dim_const(s->dims, value);
}

static struct amount amount_of(struct stats *s, const dim *d) {
  bool open = !d || dim_has_unknown(d);
  return (struct amount){open ? constant(s, 0) : d, open};
}

static struct amount sum(struct stats *s, struct amount a, struct amount b) {
  struct amount c = amount_of(s, dim_add(s->dims, a.known, b.known));
  c.open |= a.open || b.open;
  return c;
}

static struct amount parameters_of(struct stats *s, MlirOperation op) {
  struct amount all = amount_of(s, constant(s, 0));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    MlirAttribute value = onnx_value_constant(v);
    if (mlirAttributeIsNull(value))
      continue;
    const dim *n = constant(s, 1);
    MlirType type = mlirAttributeGetType(value);
    for (intptr_t k = 0; k < mlirShapedTypeGetRank(type); k++)
      n = dim_mul(s->dims, n, constant(s, mlirShapedTypeGetDimSize(type, k)));
    all = sum(s, all, amount_of(s, n));
    if (ptr_map_get(&s->counted, v.ptr))
      continue;
    ptr_map_set(&s->counted, v.ptr, s);
    s->total.parameters = sum(s, s->total.parameters, amount_of(s, n));
  }
  return all;
}

static const dim *bytes_of_value(struct stats *s, MlirValue v) {
  const onnx_operand *fact = mlirTypeIsATensor(mlirValueGetType(v)) ? view_fact(s->scope, v) : NULL;
  if (!fact || fact->type.kind != ONYX_TYPE_TENSOR || fact->type.rank < 0)
    return NULL;
  int bits = onyx_elem_bits(fact->type.elem);
  if (bits <= 0) // strings
    return NULL;
  const dim *n = constant(s, bits < 8 ? 1 : bits / 8);
  for (int i = 0; i < fact->type.rank; i++)
    n = dim_mul(s->dims, n, fact->type.dims[i]);
  return n;
}

static struct amount bytes_of(struct stats *s, MlirOperation op) {
  struct amount all = amount_of(s, constant(s, 0));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue v = mlirOperationGetResult(op, i);
    if (!onnx_is_none(v))
      all = sum(s, all, amount_of(s, bytes_of_value(s, v)));
  }
  return all;
}

static bool ranked(const onnx_type *t) {
  return t->kind == ONYX_TYPE_NONE || (t->kind == ONYX_TYPE_TENSOR && t->rank >= 0);
}

// Comprehensions expect known ranks.
static bool all_ranked(const op_view *v, const shape_result *results) {
  for (int i = 0; i < v->num_operands; i++)
    if (!ranked(&v->operands[i].type))
      return false;
  for (int r = 0; r < v->num_results; r++)
    if (v->wanted[r] && !ranked(&results[r].type))
      return false;
  return true;
}

// Null where no comprehension says it.
static const dim *flops_of(struct stats *s, MlirOperation op) {
  op_view *v = onnx_schema_of(op) ? view_from_op(s->scope, op) : NULL;
  shape_result *results = v ? view_infer(s->scope, op, v) : NULL;
  if (!results || !v->def || !v->def->comprehend || !all_ranked(v, results))
    return NULL;
  comprehension c;
  comp_init(&c, v, results);
  return v->def->comprehend(v, results, &c) ? comp_flops(&c) : NULL;
}

// --- what is written

static char *amount_text(struct stats *s, struct amount a) {
  onyx_arena *arena = view_scope_arena(s->scope);
  if (a.open && dim_is(a.known, 0))
    return onyx_arena_printf(arena, "?");
  char *text = dim_text(arena, a.known, view_symbol_name, s->scope);
  return a.open ? onyx_arena_printf(arena, "%s + ?", text) : text;
}

static void put_quoted(struct stats *s, MlirStringRef text) {
  fputc('"', s->out);
  for (size_t i = 0; i < text.length; i++) {
    unsigned char c = (unsigned char)text.data[i];
    if (s->format == FORMAT_CSV)
      fputs(c == '"' ? "\"\"" : (char[]){(char)c, 0}, s->out);
    else if (c < 0x20)
      fprintf(s->out, "\\u%04x", c);
    else
      fprintf(s->out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
  }
  fputc('"', s->out);
}

static void put_json_amount(struct stats *s, const char *name, struct amount a) {
  fprintf(s->out, ", \"%s\": ", name);
  char *text = amount_text(s, a);
  if (!a.open && a.known->op == DIM_CONST)
    fputs(text, s->out);
  else
    put_quoted(s, mlirStringRefCreateFromCString(text));
}

static void put_json(struct stats *s, const struct row *r) {
  fputs("{\"op\": ", s->out);
  put_quoted(s, r->op);
  fputs(", \"node\": ", s->out);
  put_quoted(s, r->node);
  put_json_amount(s, "parameters", r->parameters);
  put_json_amount(s, "flops", r->flops);
  put_json_amount(s, "bytes", r->bytes);
  fputc('}', s->out);
}

static void put_csv(struct stats *s, const struct row *r) {
  const MlirStringRef names[] = {s->function, r->op, r->node};
  for (int i = 0; i < 3; i++) {
    put_quoted(s, names[i]);
    fputc(',', s->out);
  }
  fprintf(s->out, "%s,%s,%s\n", amount_text(s, r->parameters), amount_text(s, r->flops),
          amount_text(s, r->bytes));
}

static void put_row(struct stats *s, const struct row *r) {
  if (s->format == FORMAT_CSV)
    put_csv(s, r);
  else if (s->format == FORMAT_JSON)
    put_json(s, r);
  else
    fprintf(s->out, "  %-24.*s %-32.*s %12s %16s %14s\n", (int)r->op.length, r->op.data,
            (int)r->node.length, r->node.data, amount_text(s, r->parameters),
            amount_text(s, r->flops), amount_text(s, r->bytes));
}

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static void put_function_head(struct stats *s) {
  if (s->format == FORMAT_TEXT) {
    fprintf(s->out, "@%.*s\n  %-24s %-32s %12s %16s %14s\n", (int)s->function.length,
            s->function.data, "op", "node", "parameters", "flops", "bytes");
  } else if (s->format == FORMAT_JSON) {
    fputs(s->num_functions ? ",\n{\"function\": " : "\n{\"function\": ", s->out);
    put_quoted(s, s->function);
    fputs(", \"nodes\": [", s->out);
  }
}

static void put_function_end(struct stats *s) {
  if (s->format == FORMAT_JSON)
    fputs("],\n \"total\": ", s->out);
  put_row(s, &s->total);
  if (s->format == FORMAT_JSON)
    fputc('}', s->out);
}

// --- the walk

static MlirStringRef op_name(MlirOperation op) {
  MlirAttribute custom = mlirxIsA(op, &onnx_custom)
                             ? mlirOperationGetAttributeByName(op, str("function_name"))
                             : mlirAttributeGetNull();
  if (!mlirAttributeIsNull(custom) && mlirAttributeIsAString(custom))
    return mlirStringAttrGetValue(custom);
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return mlirStringRefCreate(name.data + strlen("onnx."), name.length - strlen("onnx."));
}

static MlirLogicalResult visit(MlirOperation op, void *user) {
  struct stats *s = user;
  if (onnx_is(op, "Constant") || (!onnx_schema_of(op) && !mlirxIsA(op, &onnx_custom)))
    return mlirLogicalResultSuccess();
  struct row r = {op_name(op), onnx_node_name(op), parameters_of(s, op),
                  amount_of(s, flops_of(s, op)), bytes_of(s, op)};
  s->total.flops = sum(s, s->total.flops, r.flops);
  s->total.bytes = sum(s, s->total.bytes, r.bytes);
  if (s->format == FORMAT_JSON)
    fputs(s->num_rows ? ",\n  " : "\n  ", s->out);
  s->num_rows++;
  put_row(s, &r);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult print_function(MlirOperation function, void *user) {
  struct stats *s = user;
  MlirAttribute name = mlirOperationGetAttributeByName(function, str("sym_name"));
  s->scope = view_scope_create(function, VIEW_INFER, s->root);
  s->dims = view_scope_dims(s->scope);
  s->function = mlirStringAttrGetValue(name);
  s->counted = (ptr_map){0};
  s->num_rows = 0;
  struct amount none = amount_of(s, constant(s, 0));
  s->total = (struct row){str("total"), str(""), none, none, none};
  MlirLogicalResult ok = infer_function(s->scope, function);
  if (mlirLogicalResultIsSuccess(ok)) {
    put_function_head(s);
    ok = walk_ops(function, visit, s);
    put_function_end(s);
  }
  s->num_functions++;
  ptr_map_free(&s->counted);
  view_scope_destroy(s->scope);
  return ok;
}

static bool read_format(MlirStringRef text, enum format *format) {
  static const char *const names[] = {"text", "csv", "json"};
  for (int i = 0; i < 3; i++)
    if (mlirStringRefEqual(text, str(names[i]))) {
      *format = (enum format)i;
      return true;
    }
  return false;
}

static MlirLogicalResult print(struct stats *s, MlirOperation module) {
  if (s->format == FORMAT_CSV)
    fputs("function,op,node,parameters,flops,bytes\n", s->out);
  if (s->format == FORMAT_JSON)
    fputs("{\"functions\": [", s->out);
  MlirLogicalResult ok = for_each_function(module, print_function, s);
  if (s->format == FORMAT_JSON)
    fputs("\n]}\n", s->out);
  return ok;
}

// Writes all to memory first, so that a failing run leaves no half of a file.
static MlirLogicalResult write_out(MlirxPass pass, MlirOperation op, const char *text) {
  MlirStringRef name = mlirxPassGetString(pass, 1);
  if (!name.length)
    return fputs(text, stderr) < 0 ? mlirLogicalResultFailure() : mlirLogicalResultSuccess();
  char *path = strndup(name.data, name.length);
  FILE *file = fopen(path, "w");
  bool good = file && fputs(text, file) >= 0;
  good = (!file || fclose(file) == 0) && good;
  if (!good)
    onnx_error(op, "onnx-print-stats: cannot write '%s': %s", path, strerror(errno));
  free(path);
  return good ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  struct stats s = {.root = mlirxPassGetString(pass, 2)};
  MlirStringRef format = mlirxPassGetString(pass, 0);
  if (!read_format(format, &s.format))
    return onnx_error(op, "onnx-print-stats: format: expected text, csv or json, found '%.*s'",
                      (int)format.length, format.data);
  char *text = NULL;
  size_t size = 0;
  s.out = open_memstream(&text, &size);
  if (!s.out)
    return onnx_error(op, "onnx-print-stats: out of memory");
  MlirLogicalResult ok = print(&s, op);
  fclose(s.out);
  if (mlirLogicalResultIsSuccess(ok))
    ok = write_out(pass, op, text);
  free(text);
  return ok;
}

static const MlirxOption options[] = {
    {"format", MLIRX_OPT_STRING, "text", "text, csv or json"},
    {"output", MLIRX_OPT_STRING, NULL, "file to write (else stderr)"},
    {"weights-root", MLIRX_OPT_STRING, NULL,
     "folder of #onnx.file names (else onnx.weights_root, else the working directory)"},
    {0}};

static const char *const anchors[] = {"builtin.module", NULL};

const MlirxPassDescriptor onnx_print_stats_pass = {
    .argument = "onnx-print-stats",
    .description = "Print parameters, FLOPs and bytes of results, for each operator and in total",
    .anchors = anchors,
    .options = options,
    .run = run};
