// From operations to views: operand types to dims, attributes, constants to bytes.
#include "dialects/onnx/view_mlir.h"

#include "dialects/onnx/internal.h"
#include "dialects/onnx/ops/convert.h"
#include "dialects/onnx/ptr_map.h"
#include "dialects/onnx/weights.h"

#include <stdlib.h>
#include <string.h>

// Dims that stand for axes and elements of one value; entries are made on first use.
typedef struct value_symbols {
  int num_axes;
  const dim **axes;
  int64_t num_elements;
  const dim **elements;
} value_symbols;

struct view_scope {
  MlirOperation root;
  view_mode mode;
  MlirStringRef weights_root;
  onyx_arena *arena;
  dim_context *dims;
  weights_cache *weights; // made when the first file is read
  int64_t expand;
  bool map_files, failed;
  view_scope *known; // what inference found, for a scope that makes code; or NULL
  ptr_map facts;     // value -> onnx_operand
  ptr_map symbols;   // value -> value_symbols
  view_symbol *table;
  int64_t num_symbols, cap_symbols;
};

view_scope *view_scope_create(MlirOperation root, view_mode mode, MlirStringRef weights_root) {
  onyx_arena *arena = onyx_arena_create();
  view_scope *s = arena ? calloc(1, sizeof *s) : NULL;
  if (!s)
    abort(); // as the arena does
  *s = (view_scope){
      .root = root, .mode = mode, .weights_root = weights_root, .arena = arena, .expand = 65536};
  s->dims = dim_context_create(arena);
  return s;
}

void view_scope_destroy(view_scope *s) {
  if (!s)
    return;
  ptr_map_free(&s->facts);
  ptr_map_free(&s->symbols);
  weights_cache_destroy(s->weights);
  onyx_arena_destroy(s->arena);
  free(s->table);
  free(s);
}

onyx_arena *view_scope_arena(view_scope *s) {
  return s->arena;
}
dim_context *view_scope_dims(view_scope *s) {
  return s->dims;
}
void view_scope_set_expand(view_scope *s, int64_t max_elements) {
  s->expand = max_elements;
}
void view_scope_map_files(view_scope *s, bool all) {
  s->map_files = all;
}
bool view_scope_failed(const view_scope *s) {
  return s->failed;
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

static const dim *new_symbol(view_scope *s, view_symbol symbol) {
  if (s->num_symbols == s->cap_symbols) {
    s->cap_symbols = s->cap_symbols ? s->cap_symbols * 2 : 64;
    s->table = realloc(s->table, sizeof *s->table * (size_t)s->cap_symbols);
    if (!s->table)
      abort();
  }
  int64_t id = s->num_symbols++;
  s->table[id] = symbol;
  return symbol.element ? dim_sym(s->dims, id) : dim_sym_extent(s->dims, id);
}

bool view_symbol_get(const view_scope *s, int64_t symbol, view_symbol *out) {
  if (symbol < 0 || symbol >= s->num_symbols)
    return false;
  *out = s->table[symbol];
  return true;
}

const char *view_symbol_name(int64_t symbol, void *scope) {
  view_symbol out;
  return view_symbol_get(scope, symbol, &out) ? out.name : NULL;
}

static value_symbols *symbols_of(view_scope *s, MlirValue value) {
  value_symbols *v = ptr_map_get(&s->symbols, value.ptr);
  if (!v) {
    v = ONYX_NEW(s->arena, value_symbols);
    ptr_map_set(&s->symbols, value.ptr, v);
  }
  return v;
}

static const dim **axis_slot(view_scope *s, MlirValue value, int64_t axis) {
  value_symbols *v = symbols_of(s, value);
  MlirType type = mlirValueGetType(value);
  if (!v->axes) {
    v->num_axes = (int)mlirShapedTypeGetRank(type);
    v->axes = ONYX_NEW_ARRAY(s->arena, const dim *, v->num_axes);
  }
  return axis < v->num_axes ? &v->axes[axis] : NULL;
}

const dim *view_symbol_dim(view_scope *s, MlirValue value, int64_t axis) {
  const dim **slot = axis_slot(s, value, axis);
  if (!slot)
    return dim_unknown_extent(s->dims);
  if (!*slot)
    *slot = new_symbol(s, (view_symbol){.value = value, .index = axis});
  return *slot;
}

const dim *view_symbol_element(view_scope *s, MlirValue value, int64_t element) {
  value_symbols *v = symbols_of(s, value);
  if (element >= v->num_elements) {
    int64_t n = element + 1 > 16 ? element * 2 : 16;
    const dim **more = ONYX_NEW_ARRAY(s->arena, const dim *, n);
    if (v->num_elements)
      memcpy(more, v->elements, sizeof *more * (size_t)v->num_elements);
    v->elements = more;
    v->num_elements = n;
  }
  if (!v->elements[element])
    v->elements[element] =
        new_symbol(s, (view_symbol){.value = value, .element = true, .index = element});
  return v->elements[element];
}

// onnx.dim_params = "0:batch,1:seq": axis, colon, name.
struct named_dims {
  const char *names[256];
  const dim *dims[256];
  int count;
};

static void name_axis(view_scope *s, struct named_dims *known, MlirValue arg, int64_t axis,
                      const char *name) {
  MlirType type = mlirValueGetType(arg);
  if (!mlirTypeIsARankedTensor(type) || axis < 0 || axis >= mlirShapedTypeGetRank(type) ||
      !mlirShapedTypeIsDynamicDim(type, axis))
    return;
  const dim **slot = axis_slot(s, arg, axis);
  for (int i = 0; i < known->count; i++)
    if (strcmp(known->names[i], name) == 0) {
      *slot = known->dims[i];
      return;
    }
  *slot = new_symbol(s, (view_symbol){.value = arg, .index = axis, .name = name});
  if (known->count < 256) {
    known->names[known->count] = name;
    known->dims[known->count++] = *slot;
  }
}

static void name_axes(view_scope *s, struct named_dims *known, MlirValue arg,
                      MlirStringRef params) {
  char *text = onyx_arena_printf(s->arena, "%.*s", (int)params.length, params.data), *rest = NULL;
  for (char *item = strtok_r(text, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
    char *name;
    long axis = strtol(item, &name, 10);
    if (*name == ':' && name[1])
      name_axis(s, known, arg, axis, name + 1);
  }
}

void view_scope_name_arguments(view_scope *s, MlirOperation function) {
  MlirAttribute attrs = attribute(function, "arg_attrs");
  if (mlirAttributeIsNull(attrs) || !mlirAttributeIsAArray(attrs))
    return;
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  struct named_dims *known = ONYX_NEW(s->arena, struct named_dims);
  intptr_t n = mlirBlockIsNull(entry) ? 0 : mlirBlockGetNumArguments(entry);
  for (intptr_t i = 0; i < n && i < mlirArrayAttrGetNumElements(attrs); i++) {
    MlirAttribute params = mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(attrs, i),
                                                              str("onnx.dim_params"));
    if (!mlirAttributeIsNull(params) && mlirAttributeIsAString(params))
      name_axes(s, known, mlirBlockGetArgument(entry, i), mlirStringAttrGetValue(params));
  }
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static bool is_packed(onyx_elem elem) {
  return onyx_elem_bits(elem) < 8;
}

static bool file_data(view_scope *s, MlirOperation op, const struct onnx_file *file,
                      onnx_operand *out) {
  if (s->mode == VIEW_VERIFY || (!s->map_files && out->num_elements > ONYX_MAX_SHAPE_DATA))
    return true;
  const char *error = NULL;
  if (!s->weights && !(s->weights = weights_cache_create(s->root, s->weights_root)))
    abort();
  const void *bytes =
      weights_range(s->weights, s->arena, file->name, file->offset, file->bytes, &error);
  if (!bytes) {
    s->failed = true;
    onnx_error(op, "%s", error);
    return false;
  }
  if (!is_packed(out->type.elem)) {
    out->data = bytes;
  } else if (out->num_elements <= s->expand) {
    uint8_t *wide = onyx_arena_alloc(s->arena, (size_t)out->num_elements);
    onyx_unpack(out->type.elem, bytes, out->num_elements, wide);
    out->data = wide;
  }
  return true;
}

static void string_data(view_scope *s, MlirAttribute attr, onnx_operand *out) {
  if (out->num_elements > s->expand)
    return;
  const char **strings = ONYX_NEW_ARRAY(s->arena, const char *, out->num_elements);
  bool splat = mlirDenseElementsAttrIsSplat(attr);
  for (int64_t i = 0; i < out->num_elements; i++) {
    MlirStringRef v = mlirDenseElementsAttrGetStringValue(attr, splat ? 0 : i);
    strings[i] = onyx_arena_printf(s->arena, "%.*s", (int)v.length, v.data);
  }
  out->strings = strings;
}

// A sub-byte element as dense attributes have it, its bits in a byte, to memory form.
static int64_t wide_element(onyx_elem elem, uint8_t bits) {
  return onyx_elem_is_int(elem) ? onyx_int_wrap(elem, bits) : bits;
}

// Dense attributes keep i1 in a form of their own and sub-byte elements in a byte each.
static void dense_data(view_scope *s, MlirAttribute attr, onnx_operand *out) {
  onyx_elem elem = out->type.elem;
  bool splat = mlirDenseElementsAttrIsSplat(attr) && out->num_elements > 1;
  bool convert = elem == ONYX_BOOL || is_packed(elem);
  if (!splat && !convert) {
    out->data = out->num_elements ? mlirDenseElementsAttrGetRawData(attr) : "";
    return;
  }
  if (out->num_elements > s->expand)
    return;
  size_t size = (size_t)onyx_elem_bytes(elem);
  const uint8_t *raw = mlirDenseElementsAttrGetRawData(attr);
  uint8_t *data = onyx_arena_alloc(s->arena, size * (size_t)out->num_elements);
  for (int64_t i = 0; i < out->num_elements; i++) {
    int64_t from = splat ? 0 : i;
    if (elem == ONYX_BOOL)
      data[i] = mlirDenseElementsAttrGetBoolValue(attr, from);
    else if (convert)
      data[i] = (uint8_t)wide_element(elem, raw[from]);
    else
      memcpy(data + (size_t)i * size, raw, size);
  }
  out->data = data;
}

static bool is_shape_elem(onyx_elem elem) {
  return onyx_elem_is_int(elem) || elem == ONYX_BOOL;
}

static void constant_values(view_scope *s, onnx_operand *o) {
  if (!o->data || !is_shape_elem(o->type.elem) || o->num_elements > ONYX_MAX_SHAPE_DATA)
    return;
  o->num_values = o->num_elements;
  o->values = ONYX_NEW_ARRAY(s->arena, const dim *, o->num_elements);
  for (int64_t i = 0; i < o->num_elements; i++) {
    int64_t v = onyx_element_to_int(o->type.elem, o->data, i);
    // A dim is signed; an unsigned 64-bit value past that is a number no reader can use.
    o->values[i] = o->type.elem == ONYX_U64 && v < 0 ? dim_unknown(s->dims) : dim_const(s->dims, v);
  }
}

bool view_constant(view_scope *s, MlirOperation op, MlirAttribute attr, onnx_operand *out) {
  *out = (onnx_operand){0};
  MlirType type = mlirAttributeGetType(attr);
  if (!onnx_type_from_mlir(s->arena, s->dims, type, NULL, NULL, &out->type) ||
      out->type.kind != ONYX_TYPE_TENSOR || out->type.rank < 0) {
    onnx_error(op, "expected a constant of tensor type");
    return false;
  }
  int64_t n = 1;
  for (int i = 0; i < out->type.rank; i++)
    if (__builtin_mul_overflow(n, out->type.dims[i]->value, &n)) {
      onnx_error(op, "constant: the number of elements overflows");
      return false;
    }
  out->num_elements = n;
  struct onnx_file file;
  if (onnx_file_read(attr, &file)) {
    if (!file_data(s, op, &file, out))
      return false;
  } else if (out->type.elem == ONYX_STRING && mlirAttributeIsADenseElements(attr)) {
    string_data(s, attr, out);
  } else if (mlirAttributeIsADenseElements(attr)) {
    dense_data(s, attr, out);
  }
  constant_values(s, out);
  return true;
}

static MlirAttribute dense_bools(MlirType type, const uint8_t *data, int64_t n) {
  int *wide = calloc((size_t)(n ? n : 1), sizeof *wide);
  if (!wide)
    return (MlirAttribute){0};
  for (int64_t i = 0; i < n; i++)
    wide[i] = data[i] != 0;
  MlirAttribute out = mlirDenseElementsAttrBoolGet(type, n, wide);
  free(wide);
  return out;
}

MlirAttribute view_dense(MlirType type, const void *data) {
  onyx_elem elem = onnx_elem_from_mlir(mlirShapedTypeGetElementType(type));
  int64_t n = 1;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); i++)
    n *= mlirShapedTypeGetDimSize(type, i);
  if (elem == ONYX_BOOL)
    return dense_bools(type, data, n);
  if (elem != ONYX_I4 && elem != ONYX_I2)
    return mlirDenseElementsAttrRawBufferGet(type, (size_t)onyx_elem_bytes(elem) * (size_t)n, data);
  uint8_t *narrow = calloc((size_t)(n ? n : 1), 1);
  if (!narrow)
    return (MlirAttribute){0};
  for (int64_t i = 0; i < n; i++)
    narrow[i] = ((const uint8_t *)data)[i] & ((1u << onyx_elem_bits(elem)) - 1);
  MlirAttribute out = mlirDenseElementsAttrRawBufferGet(type, (size_t)n, narrow);
  free(narrow);
  return out;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

struct axis_of {
  view_scope *scope;
  MlirValue value;
};

static const dim *symbol_axis(void *user, int64_t axis) {
  struct axis_of *a = user;
  return view_symbol_dim(a->scope, a->value, axis);
}

// Elements of a small integer tensor that is no constant, by name.
static void symbolic_values(view_scope *s, MlirValue value, onnx_operand *o) {
  if (o->type.kind != ONYX_TYPE_TENSOR || !is_shape_elem(o->type.elem) || o->type.rank < 0)
    return;
  int64_t n = 1;
  for (int i = 0; i < o->type.rank; i++) {
    int64_t size;
    if (!dim_is_const(o->type.dims[i], &size) || size > ONYX_MAX_SHAPE_DATA)
      return;
    n *= size;
    if (n > ONYX_MAX_SHAPE_DATA)
      return;
  }
  o->num_values = n;
  o->values = ONYX_NEW_ARRAY(s->arena, const dim *, n);
  for (int64_t i = 0; i < n; i++)
    o->values[i] = view_symbol_element(s, value, i);
}

static onnx_operand *make_fact(view_scope *s, MlirValue value) {
  onnx_operand *o = ONYX_NEW(s->arena, onnx_operand);
  MlirAttribute constant = onnx_value_constant(value);
  // A constant whose file cannot be read is an error of the constant; here it is no constant.
  if (!mlirAttributeIsNull(constant) && view_constant(s, mlirOpResultGetOwner(value), constant, o))
    return o;
  *o = (onnx_operand){0};
  struct axis_of axis = {s, value};
  if (!onnx_type_from_mlir(s->arena, s->dims, mlirValueGetType(value), symbol_axis, &axis,
                           &o->type))
    o->type = (onnx_type){.kind = ONYX_TYPE_NONE, .rank = -1};
  symbolic_values(s, value, o);
  return o;
}

const onnx_operand *view_fact(view_scope *s, MlirValue value) {
  onnx_operand *o = ptr_map_get(&s->facts, value.ptr);
  if (!o) {
    o = make_fact(s, value);
    ptr_map_set(&s->facts, value.ptr, o);
  }
  return o;
}

void view_set_fact(view_scope *s, MlirValue value, const onnx_operand *fact) {
  onnx_operand *o = ONYX_NEW(s->arena, onnx_operand);
  *o = *fact;
  ptr_map_set(&s->facts, value.ptr, o);
}

bool view_has_fact(const view_scope *s, MlirValue value) {
  return ptr_map_get(&s->facts, value.ptr) != NULL;
}

void view_scope_use(view_scope *code, view_scope *known) {
  code->known = known;
}

// Dims that inference found, and the symbol that stands for each in one op's view.
struct equal_dims {
  int count;
  const dim *known[32], *symbol[32];
};

static const dim *equal_dim(struct equal_dims *e, const dim *known, const dim *symbol) {
  for (int i = 0; i < e->count; i++)
    if (e->known[i] == known)
      return e->symbol[i];
  if (e->count < 32) {
    e->known[e->count] = known;
    e->symbol[e->count++] = symbol;
  }
  return symbol;
}

static void equate_dims(view_scope *s, struct equal_dims *e, MlirValue value, onnx_operand *o) {
  if (o->type.kind != ONYX_TYPE_TENSOR || o->type.rank <= 0)
    return;
  const onnx_type *known = &view_fact(s->known, value)->type;
  if (known->kind != ONYX_TYPE_TENSOR || known->rank != o->type.rank)
    return;
  const dim **dims = ONYX_NEW_ARRAY(s->arena, const dim *, known->rank);
  for (int i = 0; i < known->rank; i++)
    dims[i] = o->type.dims[i]->op == DIM_SYM && known->dims[i]->op != DIM_CONST
                  ? equal_dim(e, known->dims[i], o->type.dims[i])
                  : o->type.dims[i];
  o->type.dims = dims;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static int64_t integer_value(MlirAttribute a) {
  if (mlirAttributeIsABool(a))
    return mlirBoolAttrGetValue(a);
  MlirType type = mlirAttributeGetType(a);
  if (mlirTypeIsAInteger(type) && mlirIntegerTypeIsUnsigned(type))
    return (int64_t)mlirIntegerAttrGetValueUInt(a);
  if (mlirTypeIsAInteger(type) && mlirIntegerTypeIsSigned(type))
    return mlirIntegerAttrGetValueSInt(a);
  return mlirIntegerAttrGetValueInt(a);
}

static void default_attr(onyx_arena *arena, const onyx_schema_attr *row, onnx_attr *out) {
  *out = (onnx_attr){0};
  if (!row->has_default)
    return;
  out->kind = row->kind;
  out->i = row->default_int;
  out->f = row->default_float;
  out->s = row->default_string;
  out->s_size = row->default_string ? strlen(row->default_string) : 0;
  out->n = row->num_defaults;
  out->ints = row->default_ints;
  out->floats = row->default_floats;
  out->strings = row->default_strings;
  (void)arena;
}

static const char *copy_string(view_scope *s, MlirAttribute a, size_t *size) {
  MlirStringRef v = mlirStringAttrGetValue(a);
  char *text = onyx_arena_alloc(s->arena, v.length + 1);
  memcpy(text, v.data, v.length);
  if (size)
    *size = v.length;
  return text;
}

static bool int_list(view_scope *s, MlirAttribute a, onnx_attr *out) {
  bool dense = mlirAttributeIsADenseI64Array(a);
  if (!dense && !mlirAttributeIsAArray(a))
    return false;
  out->n = dense ? mlirDenseArrayGetNumElements(a) : mlirArrayAttrGetNumElements(a);
  int64_t *ints = ONYX_NEW_ARRAY(s->arena, int64_t, out->n);
  for (int64_t i = 0; i < out->n; i++) {
    MlirAttribute e = dense ? a : mlirArrayAttrGetElement(a, i);
    if (!dense && !mlirAttributeIsAInteger(e))
      return false;
    ints[i] = dense ? mlirDenseI64ArrayGetElement(a, i) : integer_value(e);
  }
  out->ints = ints;
  return true;
}

static bool float_list(view_scope *s, MlirAttribute a, onnx_attr *out) {
  bool dense = mlirAttributeIsADenseF32Array(a);
  if (!dense && !mlirAttributeIsAArray(a))
    return false;
  out->n = dense ? mlirDenseArrayGetNumElements(a) : mlirArrayAttrGetNumElements(a);
  double *floats = ONYX_NEW_ARRAY(s->arena, double, out->n);
  for (int64_t i = 0; i < out->n; i++) {
    MlirAttribute e = dense ? a : mlirArrayAttrGetElement(a, i);
    if (!dense && !mlirAttributeIsAFloat(e))
      return false;
    floats[i] = dense ? mlirDenseF32ArrayGetElement(a, i) : mlirFloatAttrGetValueDouble(e);
  }
  out->floats = floats;
  return true;
}

static bool string_list(view_scope *s, MlirAttribute a, onnx_attr *out) {
  if (!mlirAttributeIsAArray(a))
    return false;
  out->n = mlirArrayAttrGetNumElements(a);
  const char **strings = ONYX_NEW_ARRAY(s->arena, const char *, out->n);
  for (int64_t i = 0; i < out->n; i++) {
    MlirAttribute e = mlirArrayAttrGetElement(a, i);
    if (!mlirAttributeIsAString(e))
      return false;
    strings[i] = copy_string(s, e, NULL);
  }
  out->strings = strings;
  return true;
}

static bool int_attr(const char *name, MlirAttribute a, onnx_attr *out) {
  if (mlirAttributeIsAInteger(a) || mlirAttributeIsABool(a)) {
    out->i = integer_value(a);
    return true;
  }
  if (!onyx_schema_attr_is_elem_type(name) || !mlirAttributeIsAType(a))
    return false;
  out->i = onnx_elem_from_mlir(mlirTypeAttrGetValue(a));
  return out->i != ONYX_ELEM_UNDEFINED;
}

static bool tensor_attr(view_scope *s, MlirOperation op, MlirAttribute a, onnx_attr *out) {
  MlirType type = mlirAttributeGetType(a);
  if (mlirTypeIsNull(type) || !mlirTypeIsATensor(type))
    return false;
  onnx_operand *tensor = ONYX_NEW(s->arena, onnx_operand);
  out->tensor = tensor;
  // Code is made of an attribute's values (the nodes of trees), whatever their number.
  bool map_files = s->map_files;
  s->map_files |= s->mode == VIEW_CODE;
  bool ok = view_constant(s, op, a, tensor);
  s->map_files = map_files;
  return ok;
}

static bool type_attr(view_scope *s, MlirAttribute a, onnx_attr *out) {
  if (!mlirAttributeIsAType(a))
    return false;
  onnx_type *type = ONYX_NEW(s->arena, onnx_type);
  out->type = type;
  return onnx_type_from_mlir(s->arena, s->dims, mlirTypeAttrGetValue(a), NULL, NULL, type);
}

static bool read_attr(view_scope *s, MlirOperation op, const onyx_schema_attr *row, MlirAttribute a,
                      onnx_attr *out) {
  *out = (onnx_attr){.kind = row->kind, .present = true};
  switch (row->kind) {
  case ONYX_ATTR_INT:
    return int_attr(row->name, a, out);
  case ONYX_ATTR_FLOAT:
    out->f = mlirAttributeIsAFloat(a) ? mlirFloatAttrGetValueDouble(a) : 0;
    return mlirAttributeIsAFloat(a);
  case ONYX_ATTR_STRING:
    if (!mlirAttributeIsAString(a))
      return false;
    out->s = copy_string(s, a, &out->s_size);
    return true;
  case ONYX_ATTR_INTS:
    return int_list(s, a, out);
  case ONYX_ATTR_FLOATS:
    return float_list(s, a, out);
  case ONYX_ATTR_STRINGS:
    return string_list(s, a, out);
  case ONYX_ATTR_TENSOR:
    return tensor_attr(s, op, a, out);
  case ONYX_ATTR_TYPE_PROTO:
    return type_attr(s, a, out);
  default: // no operator's file reads the others
    return true;
  }
}

static bool read_attrs(view_scope *s, MlirOperation op, op_view *v) {
  const onyx_schema *row = v->schema;
  onnx_attr *attrs = ONYX_NEW_ARRAY(s->arena, onnx_attr, row->num_attrs);
  v->attrs = attrs;
  for (int i = 0; i < row->num_attrs; i++) {
    default_attr(s->arena, &row->attrs[i], &attrs[i]);
    if (row->attrs[i].kind == ONYX_ATTR_GRAPH)
      attrs[i] = (onnx_attr){.kind = ONYX_ATTR_GRAPH, .present = true};
  }
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); i++) {
    MlirNamedAttribute named = mlirOperationGetAttribute(op, i);
    const onyx_schema_attr *a = onyx_schema_attr_find(row, mlirIdentifierStr(named.name).data);
    if (!a || a->kind == ONYX_ATTR_GRAPH)
      continue;
    if (!read_attr(s, op, a, named.attribute, &attrs[a - row->attrs])) {
      onnx_error(op, "attribute '%s' has a value of the wrong kind", a->name);
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static void read_regions(view_scope *s, MlirOperation op, op_view *v) {
  intptr_t n = mlirOperationGetNumRegions(op);
  if (n == 0)
    return;
  int *counts = ONYX_NEW_ARRAY(s->arena, int, n);
  const onnx_operand **results = ONYX_NEW_ARRAY(s->arena, const onnx_operand *, n);
  for (intptr_t r = 0; r < n; r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    MlirOperation end = mlirBlockIsNull(block) ? (MlirOperation){0} : mlirBlockGetTerminator(block);
    if (mlirOperationIsNull(end))
      continue;
    counts[r] = (int)mlirOperationGetNumOperands(end);
    onnx_operand *list = ONYX_NEW_ARRAY(s->arena, onnx_operand, counts[r]);
    for (int i = 0; i < counts[r]; i++)
      list[i] = *view_fact(s, mlirOperationGetOperand(end, i));
    results[r] = list;
  }
  v->num_regions = (int)n;
  v->num_region_results = counts;
  v->region_results = results;
}

op_view *view_from_op(view_scope *s, MlirOperation op) {
  op_view *v = ONYX_NEW(s->arena, op_view);
  v->schema = onnx_schema_of(op);
  v->def = op_def_find(v->schema->name);
  v->node_name = onnx_node_name_text(s->arena, op);
  v->dims = s->dims;
  v->arena = s->arena;
  v->num_operands = (int)mlirOperationGetNumOperands(op);
  onnx_operand *operands = ONYX_NEW_ARRAY(s->arena, onnx_operand, v->num_operands);
  struct equal_dims equal = {0};
  for (int i = 0; i < v->num_operands; i++) {
    operands[i] = *view_fact(s, mlirOperationGetOperand(op, i));
    if (s->known)
      equate_dims(s, &equal, mlirOperationGetOperand(op, i), &operands[i]);
  }
  v->operands = operands;
  v->num_results = (int)mlirOperationGetNumResults(op);
  bool *wanted = ONYX_NEW_ARRAY(s->arena, bool, v->num_results);
  for (int i = 0; i < v->num_results; i++)
    wanted[i] = !onnx_is_none(mlirOperationGetResult(op, i));
  v->wanted = wanted;
  read_regions(s, op, v);
  return read_attrs(s, op, v) ? v : NULL;
}

MlirLogicalResult view_emit_error(MlirOperation op, const op_view *v) {
  return onnx_error(op, "%s", v->error ? v->error : "not supported");
}

MlirLogicalResult view_verify(view_scope *s, MlirOperation op, op_view *v) {
  (void)s;
  if (!v->def || !v->def->verify || (v->def->verify(v) && !v->error))
    return success();
  return view_emit_error(op, v);
}

//===----------------------------------------------------------------------===//
// Inferred and written types
//===----------------------------------------------------------------------===//

static const char *shape_text(view_scope *s, const onnx_type *t) {
  char *text = onyx_arena_printf(s->arena, "%s", t->rank ? "" : "a scalar");
  for (int i = 0; i < t->rank; i++) {
    int64_t size;
    if (dim_is_const(t->dims[i], &size))
      text = onyx_arena_printf(s->arena, "%s%s%lld", text, i ? "x" : "", (long long)size);
    else
      text = onyx_arena_printf(s->arena, "%s%s?", text, i ? "x" : "");
  }
  return text;
}

static bool contradiction(view_scope *s, MlirOperation op, int r, const onnx_type *inferred,
                          const onnx_type *written) {
  const onyx_schema_param *p = onyx_schema_output(onnx_schema_of(op), r);
  onnx_error(op, "result %d '%s': expected shape %s from the operands, but its type says %s", r,
             p ? p->name : "", shape_text(s, inferred), shape_text(s, written));
  return false;
}

static bool meet_tensor(view_scope *s, MlirOperation op, int r, onnx_type *t,
                        const onnx_type *written) {
  if (written->rank < 0)
    return true;
  if (t->rank < 0) {
    t->rank = written->rank;
    t->dims = written->dims;
    return true;
  }
  if (t->rank != written->rank)
    return contradiction(s, op, r, t, written);
  for (int i = 0; i < t->rank; i++) {
    int64_t have, want;
    if (!dim_is_const(written->dims[i], &want))
      continue;
    if (dim_is_const(t->dims[i], &have) && have != want)
      return contradiction(s, op, r, t, written);
    t->dims[i] = written->dims[i];
  }
  return true;
}

static const dim *unknown_axis(void *user, int64_t axis) {
  (void)axis;
  return dim_unknown_extent(((view_scope *)user)->dims);
}

static const char *kind_name(const onnx_type *t) {
  static const char *const names[] = {"none", "a tensor", "a sequence", "an optional", "a map"};
  return names[t->kind];
}

// Element types are the verifier's affair, so far as the schema binds them.
static bool meet(view_scope *s, MlirOperation op, int r, onnx_type *t, MlirValue result) {
  onnx_type written;
  struct axis_of axis = {s, result};
  bool code = s->mode == VIEW_CODE;
  if (!onnx_type_from_mlir(s->arena, s->dims, mlirValueGetType(result),
                           code ? unknown_axis : symbol_axis, code ? (void *)s : (void *)&axis,
                           &written))
    return onnx_error(op, "result %d: expected a type of the onnx dialect", r), false;
  if (t->kind == ONYX_TYPE_NONE)
    *t = written;
  if (t->kind != written.kind)
    return onnx_error(op, "result %d: expected %s, found %s", r, kind_name(t), kind_name(&written)),
           false;
  if (t->kind == ONYX_TYPE_SEQ || t->kind == ONYX_TYPE_OPT) {
    if (!t->of || (t->of->kind == ONYX_TYPE_TENSOR && t->of->rank < 0))
      t->of = written.of;
    return true;
  }
  if (t->elem == ONYX_ELEM_UNDEFINED) {
    t->elem = written.elem;
    t->key = written.key;
  }
  if (t->elem != written.elem)
    return onnx_error(op, "result %d: expected elements of %s, found %s", r,
                      onyx_elem_mlir_name(t->elem), onyx_elem_mlir_name(written.elem)),
           false;
  return t->kind != ONYX_TYPE_TENSOR || meet_tensor(s, op, r, t, &written);
}

shape_result *view_infer(view_scope *s, MlirOperation op, op_view *v) {
  shape_result *results = ONYX_NEW_ARRAY(s->arena, shape_result, v->num_results);
  if (!op_infer(v, results)) {
    view_emit_error(op, v);
    return NULL;
  }
  for (int r = 0; r < v->num_results; r++) {
    if (!v->wanted[r]) {
      results[r] = (shape_result){.type = {.kind = ONYX_TYPE_NONE, .rank = -1}};
      continue;
    }
    // The shape function may have shared an operand's dims: meet writes to a copy.
    onnx_type *t = &results[r].type;
    if (t->kind == ONYX_TYPE_TENSOR && t->rank > 0) {
      const dim **dims = ONYX_NEW_ARRAY(s->arena, const dim *, t->rank);
      memcpy(dims, t->dims, sizeof *dims * (size_t)t->rank);
      t->dims = dims;
    }
    if (!meet(s, op, r, t, mlirOperationGetResult(op, r)))
      return NULL;
  }
  return results;
}
