#include "harness.h"

#include "dialects/onnx/ops/convert.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void wrong(const char *what, const char *at) {
  fprintf(stderr, "test text: %s at '%s'\n", what, at);
  abort();
}

static const struct {
  const char *name;
  onyx_elem elem;
} elems[] = {
    {"f32", ONYX_F32},   {"f64", ONYX_F64},    {"f16", ONYX_F16},           {"bf16", ONYX_BF16},
    {"i64", ONYX_I64},   {"i32", ONYX_I32},    {"i16", ONYX_I16},           {"i8", ONYX_I8},
    {"u8", ONYX_U8},     {"u16", ONYX_U16},    {"u32", ONYX_U32},           {"u64", ONYX_U64},
    {"bool", ONYX_BOOL}, {"str", ONYX_STRING}, {"f8e4m3fn", ONYX_F8E4M3FN}, {"f8e5m2", ONYX_F8E5M2},
    {"i4", ONYX_I4},     {"u4", ONYX_U4},      {"f4", ONYX_F4E2M1},         {"c64", ONYX_C64}};

static onyx_elem elem_of(const char **p) {
  for (size_t k = 0; k < sizeof elems / sizeof *elems; k++) {
    size_t n = strlen(elems[k].name);
    if (strncmp(*p, elems[k].name, n) == 0 && (*p)[n] == '[') {
      *p += n + 1;
      return elems[k].elem;
    }
  }
  wrong("an element type is expected", *p);
}

static const char *elem_name(onyx_elem e) {
  for (size_t k = 0; k < sizeof elems / sizeof *elems; k++)
    if (elems[k].elem == e)
      return elems[k].name;
  return "?";
}

static int64_t name_number(fixture *f, const char **p) {
  char text[16] = "";
  size_t n = 0;
  while (isalnum((unsigned char)**p) && n + 1 < sizeof text)
    text[n++] = *(*p)++;
  for (int k = 0; k < f->names.n; k++)
    if (strcmp(f->names.text[k], text) == 0)
      return k;
  snprintf(f->names.text[f->names.n], sizeof text, "%s", text);
  return f->names.n++;
}

static const dim *read_dim(fixture *f, const char **p, bool extent) {
  if (isalpha((unsigned char)**p)) {
    int64_t number = name_number(f, p);
    return extent ? dim_sym_extent(f->view.dims, number) : dim_sym(f->view.dims, number);
  }
  if (**p == '?') {
    ++*p;
    return dim_unknown_extent(f->view.dims);
  }
  char *end;
  int64_t value = strtoll(*p, &end, 10);
  if (end == *p)
    wrong("a number or a name is expected", *p);
  *p = end;
  return dim_const(f->view.dims, value);
}

static onnx_type read_type(fixture *f, const char **p) {
  onnx_type t = {.rank = -1};
  if (strncmp(*p, "seq(", 4) == 0 || strncmp(*p, "opt(", 4) == 0) {
    t.kind = **p == 's' ? ONYX_TYPE_SEQ : ONYX_TYPE_OPT;
    *p += 4;
    onnx_type *of = ONYX_NEW(f->arena, onnx_type);
    *of = read_type(f, p);
    t.of = of;
    if (*(*p)++ != ')')
      wrong("')' is expected", *p);
    return t;
  }
  t.kind = ONYX_TYPE_TENSOR;
  t.elem = elem_of(p);
  if (**p == '*') {
    ++*p;
  } else {
    t.rank = 0;
    t.dims = ONYX_NEW_ARRAY(f->arena, const dim *, ONYX_MAX_RANK);
    while (**p != ']') {
      t.dims[t.rank++] = read_dim(f, p, true);
      if (**p == ',')
        ++*p;
    }
  }
  if (*(*p)++ != ']')
    wrong("']' is expected", *p);
  return t;
}

// Elements between braces: shape data of integers, bytes where all are numbers.
static void read_elements(fixture *f, const char **p, onnx_operand *o) {
  bool integers = !onyx_elem_is_float(o->type.elem), all = true;
  char *data = onyx_arena_alloc(f->arena, 4096);
  o->values = ONYX_NEW_ARRAY(f->arena, const dim *, 256);
  int64_t n = 0;
  while (**p != '}') {
    if (integers) {
      int64_t value = 0;
      o->values[n] = read_dim(f, p, false);
      all &= dim_is_const(o->values[n], &value);
      onyx_element_from_int(o->type.elem, data, n, value);
    } else {
      char *end;
      onyx_element_from_double(o->type.elem, data, n, strtod(*p, &end));
      if (end == *p)
        wrong("a number is expected", *p);
      *p = end;
    }
    n++;
    if (**p == ',')
      ++*p;
  }
  ++*p;
  o->num_values = integers ? n : 0;
  o->values = integers ? o->values : NULL;
  o->data = all ? data : NULL;
  o->num_elements = all ? n : 0;
}

static void read_operands(fixture *f, const char *text) {
  onnx_operand *operands = ONYX_NEW_ARRAY(f->arena, onnx_operand, 32);
  int n = 0;
  for (const char *p = text; *p;) {
    if (*p == ' ') {
      p++;
      continue;
    }
    onnx_operand *o = &operands[n++];
    o->type.rank = -1;
    if (*p == '-') {
      p++;
      continue;
    }
    o->type = read_type(f, &p);
    if (p[0] == '=' && p[1] == '{') {
      p += 2;
      read_elements(f, &p, o);
    }
  }
  f->view.operands = operands;
  f->view.num_operands = n;
}

static void read_list(fixture *f, const char *p, onnx_attr *a) {
  int64_t *ints = ONYX_NEW_ARRAY(f->arena, int64_t, 64);
  double *floats = ONYX_NEW_ARRAY(f->arena, double, 64);
  const char **strings = ONYX_NEW_ARRAY(f->arena, const char *, 64);
  for (p++; *p && *p != ']';) {
    size_t n = strcspn(p, ",]");
    char *item = onyx_arena_printf(f->arena, "%.*s", (int)n, p);
    ints[a->n] = strtoll(item, NULL, 10);
    floats[a->n] = strtod(item, NULL);
    strings[a->n++] = item;
    p += n + (p[n] == ',');
  }
  a->ints = ints;
  a->floats = floats;
  a->strings = strings;
}

static void read_attr(fixture *f, onnx_attr *attrs, char *text) {
  char *value = strchr(text, '=');
  if (!value)
    wrong("name=value is expected", text);
  *value++ = '\0';
  const onyx_schema_attr *s = onyx_schema_attr_find(f->view.schema, text);
  if (!s)
    wrong("no such attribute", text);
  onnx_attr *a = &attrs[s - f->view.schema->attrs];
  *a = (onnx_attr){.kind = s->kind, .present = true};
  if (*value == '[') {
    read_list(f, value, a);
    return;
  }
  a->i = strtoll(value, NULL, 10);
  a->f = strtod(value, NULL);
  a->s = value;
  a->s_size = strlen(value);
}

static void read_attrs(fixture *f, const char *text) {
  const onyx_schema *row = f->view.schema;
  onnx_attr *attrs = ONYX_NEW_ARRAY(f->arena, onnx_attr, row->num_attrs + 1);
  for (int k = 0; k < row->num_attrs; k++) {
    const onyx_schema_attr *s = &row->attrs[k];
    if (s->has_default)
      attrs[k] = (onnx_attr){.kind = s->kind,
                             .i = s->default_int,
                             .f = s->default_float,
                             .s = s->default_string,
                             .n = s->num_defaults,
                             .ints = s->default_ints,
                             .floats = s->default_floats,
                             .strings = s->default_strings};
  }
  char *copy = onyx_arena_printf(f->arena, "%s", text);
  for (char *item = strtok(copy, " "); item; item = strtok(NULL, " "))
    read_attr(f, attrs, item);
  f->view.attrs = attrs;
}

void fixture_make(fixture *f, const char *op, const char *operands, const char *attrs,
                  int num_results) {
  *f = (fixture){.arena = onyx_arena_create()};
  f->view.arena = f->arena;
  f->view.dims = dim_context_create(f->arena);
  f->view.schema = onyx_schema_by_name(op);
  f->view.def = op_def_find(op);
  f->view.node_name = "node";
  if (!f->view.schema)
    wrong("no such operator", op);
  read_operands(f, operands);
  read_attrs(f, attrs);
  bool *wanted = ONYX_NEW_ARRAY(f->arena, bool, num_results + 1);
  for (int r = 0; r < num_results; r++)
    wanted[r] = true;
  f->view.num_results = num_results;
  f->view.wanted = wanted;
}

void fixture_free(fixture *f) {
  onyx_arena_destroy(f->arena);
}

static const char *symbol_name(int64_t sym, void *user) {
  return ((const names *)user)->text[sym];
}

char *dim_name(fixture *f, const dim *d) {
  return d->op == DIM_UNKNOWN ? onyx_arena_printf(f->arena, "?")
                              : dim_text(f->arena, d, symbol_name, &f->names);
}

static char *type_text(fixture *f, const onnx_type *t) {
  if (t->kind == ONYX_TYPE_SEQ || t->kind == ONYX_TYPE_OPT)
    return onyx_arena_printf(f->arena, "%s(%s)", t->kind == ONYX_TYPE_SEQ ? "seq" : "opt",
                             t->of ? type_text(f, t->of) : "");
  if (t->kind == ONYX_TYPE_MAP)
    return onyx_arena_printf(f->arena, "map(%s,%s)", elem_name(t->key), elem_name(t->elem));
  if (t->kind == ONYX_TYPE_NONE)
    return onyx_arena_printf(f->arena, "-");
  char *text = onyx_arena_printf(f->arena, "%s[", elem_name(t->elem));
  if (t->rank < 0)
    return onyx_arena_printf(f->arena, "%s*]", text);
  for (int k = 0; k < t->rank; k++)
    text = onyx_arena_printf(f->arena, "%s%s%s", text, k ? "," : "", dim_name(f, t->dims[k]));
  return onyx_arena_printf(f->arena, "%s]", text);
}

char *results_text(fixture *f, const shape_result *results) {
  char *text = onyx_arena_printf(f->arena, "%s", "");
  for (int r = 0; r < f->view.num_results; r++) {
    text =
        onyx_arena_printf(f->arena, "%s%s%s", text, r ? " " : "", type_text(f, &results[r].type));
    if (!results[r].values)
      continue;
    text = onyx_arena_printf(f->arena, "%s={", text);
    for (int64_t k = 0; k < results[r].num_values; k++)
      text = onyx_arena_printf(f->arena, "%s%s%s", text, k ? "," : "",
                               dim_name(f, results[r].values[k]));
    text = onyx_arena_printf(f->arena, "%s}", text);
  }
  return text;
}

char *data_text(fixture *f, const shape_result *results, void *const *data) {
  char *text = onyx_arena_printf(f->arena, "%s", "");
  for (int r = 0; r < f->view.num_results; r++) {
    const onnx_type *t = &results[r].type;
    int64_t n = 1;
    for (int k = 0; k < t->rank; k++)
      n *= t->dims[k]->value;
    text = onyx_arena_printf(f->arena, "%s%s%s={", text, r ? " " : "", type_text(f, t));
    for (int64_t k = 0; k < n; k++)
      text = onyx_arena_printf(f->arena, "%s%s%.*g", text, k ? "," : "",
                               onyx_elem_is_float(t->elem) ? 6 : 20,
                               onyx_element_to_double(t->elem, data[r], k));
    text = onyx_arena_printf(f->arena, "%s}", text);
  }
  return text;
}
