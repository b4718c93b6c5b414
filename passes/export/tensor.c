// Tensors, types: TensorProto, TypeProto.
#include "dialects/onnx/ops/convert.h"
#include "dialects/onnx/weights.h"
#include "passes/export/graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Field numbers of the wire format.
enum {
  TENSOR_DIMS = 1,
  TENSOR_TYPE = 2,
  TENSOR_STRINGS = 6,
  TENSOR_NAME = 8,
  TENSOR_RAW = 9,
  TENSOR_EXTERNAL = 13,
  TENSOR_LOCATION = 14,
  ENTRY_KEY = 1,
  ENTRY_VALUE = 2
};
enum { INLINE_BYTES = 1024 }; // smaller payloads stay in the model

static const MlirStringRef str_none = {NULL, 0};

static void external_entry(struct wire *t, const char *key, const char *value) {
  struct wire entry = wire_begin(t->arena);
  wire_text(&entry, ENTRY_KEY, key);
  wire_text(&entry, ENTRY_VALUE, value);
  wire_message(t, TENSOR_EXTERNAL, &entry);
}

// Appends to the external file at the next multiple of 4096, which readers may map.
static void put_external(struct exporter *e, struct wire *t, const void *data, size_t size) {
  struct external_file *x = &e->external;
  uint64_t at = (x->size + 4095) & ~(uint64_t)4095;
  if (fseeko(x->stream, (off_t)at, SEEK_SET) || fwrite(data, 1, size, x->stream) != size)
    x->failed = true;
  x->size = at + size;
  external_entry(t, "location", x->name);
  external_entry(t, "offset", onyx_arena_printf(e->arena, "%" PRIu64, at));
  external_entry(t, "length", onyx_arena_printf(e->arena, "%zu", size));
  wire_int(t, TENSOR_LOCATION, 1);
}

static void put_payload(struct exporter *e, struct wire *t, const void *data, size_t size) {
  if (e->external.stream && !e->in_function && size >= INLINE_BYTES)
    put_external(e, t, data, size);
  else
    wire_reference(t, TENSOR_RAW, data, size);
}

// A dense attribute's elements, packed as the standard packs them.
static void put_dense(struct exporter *e, MlirOperation op, struct wire *t, const onnx_operand *o) {
  onyx_elem elem = o->type.elem;
  int64_t n = o->num_elements;
  if (!o->data && n) {
    export_fail(e, op, "a constant of %" PRId64 " elements is too large to write out", n);
    return;
  }
  if (onyx_elem_bits(elem) >= 8) {
    put_payload(e, t, o->data, (size_t)n * (size_t)onyx_elem_bytes(elem));
    return;
  }
  size_t size = elem == ONYX_BOOL ? (size_t)n : (size_t)(n * onyx_elem_bits(elem) + 7) / 8;
  char *packed = onyx_arena_alloc(e->arena, size ? size : 1);
  if (elem == ONYX_BOOL)
    memcpy(packed, o->data, size);
  else
    onyx_pack(elem, o->data, n, packed);
  put_payload(e, t, packed, size);
}

static void put_strings(struct exporter *e, MlirOperation op, struct wire *t, MlirAttribute value,
                        int64_t n) {
  if (!mlirAttributeIsADenseElements(value)) {
    export_fail(e, op, "a string constant is no dense attribute");
    return;
  }
  bool splat = n > 0 && mlirDenseElementsAttrIsSplat(value);
  for (int64_t i = 0; i < n; i++) {
    MlirStringRef s = splat ? mlirDenseElementsAttrGetStringSplatValue(value)
                            : mlirDenseElementsAttrGetStringValue(value, i);
    wire_bytes(t, TENSOR_STRINGS, s.data, s.length);
  }
}

static void put_file(struct exporter *e, MlirOperation op, struct wire *t,
                     const struct onnx_file *file) {
  const char *error = NULL;
  const void *data =
      weights_range(e->weights, e->arena, file->name, file->offset, file->bytes, &error);
  if (data)
    put_payload(e, t, data, (size_t)file->bytes);
  else
    export_fail(e, op, "%s", error);
}

struct wire export_tensor(struct exporter *e, MlirOperation op, MlirAttribute value,
                          MlirStringRef name) {
  struct wire t = wire_begin(e->arena);
  MlirType type = mlirAttributeGetType(value);
  onyx_elem elem = onnx_elem_from_mlir(mlirShapedTypeGetElementType(type));
  int64_t n = 1;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); i++) {
    wire_int(&t, TENSOR_DIMS, mlirShapedTypeGetDimSize(type, i));
    n *= mlirShapedTypeGetDimSize(type, i);
  }
  wire_int(&t, TENSOR_TYPE, elem);
  if (name.length)
    wire_bytes(&t, TENSOR_NAME, name.data, name.length);
  struct onnx_file file;
  onnx_operand operand;
  if (onnx_file_read(value, &file))
    put_file(e, op, &t, &file);
  else if (elem == ONYX_STRING)
    put_strings(e, op, &t, value, n);
  else if (view_constant(e->views, op, value, &operand))
    put_dense(e, op, &t, &operand);
  else
    e->failed = true;
  return t;
}

enum { SPARSE_VALUES = 1, SPARSE_INDICES = 2, SPARSE_DIMS = 3 };

struct wire export_sparse_tensor(struct exporter *e, MlirOperation op, MlirAttribute value) {
  struct wire t = wire_begin(e->arena);
  if (mlirAttributeIsADenseElements(value) || !mlirAttributeIsASparseElements(value)) {
    export_fail(e, op, "a sparse constant is no sparse attribute");
    return t;
  }
  struct wire values = export_tensor(e, op, mlirSparseElementsAttrGetValues(value), str_none);
  struct wire indices = export_tensor(e, op, mlirSparseElementsAttrGetIndices(value), str_none);
  wire_message(&t, SPARSE_VALUES, &values);
  wire_message(&t, SPARSE_INDICES, &indices);
  MlirType type = mlirAttributeGetType(value);
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); i++)
    wire_int(&t, SPARSE_DIMS, mlirShapedTypeGetDimSize(type, i));
  return t;
}

// --- TypeProto

enum {
  TYPE_TENSOR = 1,
  TYPE_SEQ = 4,
  TYPE_MAP = 5,
  TYPE_OPT = 9,
  INNER_ELEM = 1,
  INNER_SHAPE = 2,
  MAP_KEY = 1,
  MAP_VALUE = 2,
  SHAPE_DIM = 1,
  DIM_VALUE = 1,
  DIM_PARAM = 2
};

static int hex(char c) {
  return c >= '0' && c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

// The name of axis `axis` in "0:batch,1:seq", decoded (%XX); NULL when there is none.
static const char *dim_param(struct exporter *e, MlirStringRef params, intptr_t axis,
                             size_t *size) {
  for (size_t i = 0; i < params.length;) {
    intptr_t at = 0;
    for (; i < params.length && params.data[i] >= '0' && params.data[i] <= '9'; i++)
      at = at * 10 + params.data[i] - '0';
    if (i == params.length || params.data[i] != ':')
      return NULL;
    char *name = onyx_arena_alloc(e->arena, params.length + 1), *p = name;
    for (i++; i < params.length && params.data[i] != ','; i++) {
      if (params.data[i] == '%' && i + 2 < params.length) {
        *p++ = (char)(hex(params.data[i + 1]) << 4 | hex(params.data[i + 2]));
        i += 2;
      } else {
        *p++ = params.data[i];
      }
    }
    i++;
    if (at == axis) {
      *size = (size_t)(p - name);
      return name;
    }
  }
  return NULL;
}

static struct wire export_shape(struct exporter *e, MlirType type, MlirStringRef params) {
  struct wire shape = wire_begin(e->arena);
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); i++) {
    struct wire d = wire_begin(e->arena);
    size_t size = 0;
    const char *name = dim_param(e, params, i, &size);
    if (!mlirShapedTypeIsDynamicDim(type, i))
      wire_int(&d, DIM_VALUE, mlirShapedTypeGetDimSize(type, i));
    else if (name)
      wire_bytes(&d, DIM_PARAM, name, size);
    wire_message(&shape, SHAPE_DIM, &d);
  }
  return shape;
}

static MlirType parameter(MlirType type, intptr_t i) {
  return mlirTypeAttrGetValue(mlirxTypeGetParam(type, i));
}

// A map's values are scalars: an element type in the IR, a tensor's in the file.
static struct wire map_value(struct exporter *e, MlirType type) {
  MlirStringRef none = {NULL, 0};
  onyx_elem elem = onnx_elem_from_mlir(type);
  if (elem == ONYX_ELEM_UNDEFINED)
    return export_type(e, type, none);
  struct wire t = wire_begin(e->arena), inner = wire_begin(e->arena);
  wire_int(&inner, INNER_ELEM, elem);
  wire_message(&t, TYPE_TENSOR, &inner);
  return t;
}

struct wire export_type(struct exporter *e, MlirType type, MlirStringRef params) {
  struct wire t = wire_begin(e->arena), inner = wire_begin(e->arena);
  MlirStringRef none = {NULL, 0};
  if (mlirTypeIsATensor(type)) {
    wire_int(&inner, INNER_ELEM, onnx_elem_from_mlir(mlirShapedTypeGetElementType(type)));
    if (mlirShapedTypeHasRank(type)) {
      struct wire shape = export_shape(e, type, params);
      wire_message(&inner, INNER_SHAPE, &shape);
    }
    wire_message(&t, TYPE_TENSOR, &inner);
  } else if (mlirxTypeIsA(type, &onnx_seq_type) || mlirxTypeIsA(type, &onnx_opt_type)) {
    struct wire of = export_type(e, parameter(type, 0), none);
    wire_message(&inner, 1, &of);
    wire_message(&t, mlirxTypeIsA(type, &onnx_seq_type) ? TYPE_SEQ : TYPE_OPT, &inner);
  } else if (mlirxTypeIsA(type, &onnx_map_type)) {
    wire_int(&inner, MAP_KEY, onnx_elem_from_mlir(parameter(type, 0)));
    struct wire value = map_value(e, parameter(type, 1));
    wire_message(&inner, MAP_VALUE, &value);
    wire_message(&t, TYPE_MAP, &inner);
  }
  return t;
}
