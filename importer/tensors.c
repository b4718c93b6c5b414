#include "importer/tensors.h"
#include "importer/source.h"
#include "importer/specialize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ONNX's bytes are little-endian");

enum { RAW_DATA = 9 };
static const uint64_t DENSE_MAX = (uint64_t)1 << 31; // of a sparse tensor made dense

str str_read(ProtobufCBinaryData data) {
  return (str){(const char *)data.data, data.len};
}

onyx_elem elem_read(import *im, int64_t number, str owner) {
  if (number <= 0 || number >= ONYX_ELEM_COUNT)
    import_fail(im, "'%s': unknown element type %lld", str_show(im, owner), (long long)number);
  return (onyx_elem)number;
}

// The repeated field that holds elements of a type: its entries as bytes of `width` each.
typedef struct typed_data {
  const char *field;
  const void *entries;
  uint64_t count;
  size_t stride; // bytes from entry to entry
  size_t width;  // bytes taken of each
} typed_data;

static typed_data find_typed(const Onnx__TensorProto *p, onyx_elem elem) {
  size_t width = (size_t)onyx_elem_bits(elem) / 8;
  switch (elem) {
  case ONYX_F32:
  case ONYX_C64:
    return (typed_data){"float_data", p->float_data, p->n_float_data, 4, 4};
  case ONYX_F64:
  case ONYX_C128:
    return (typed_data){"double_data", p->double_data, p->n_double_data, 8, 8};
  case ONYX_I64:
    return (typed_data){"int64_data", p->int64_data, p->n_int64_data, 8, 8};
  case ONYX_U32:
  case ONYX_U64:
    return (typed_data){"uint64_data", p->uint64_data, p->n_uint64_data, 8, width};
  default: // an entry holds one element, or one byte of packed ones
    return (typed_data){"int32_data", p->int32_data, p->n_int32_data, 4, width ? width : 1};
  }
}

static void read_typed(import *im, const Onnx__TensorProto *p, tensor *t, str owner) {
  typed_data d = find_typed(p, t->elem);
  if (d.count * d.width != t->size)
    import_fail(im, "'%s': %s has %llu entries, its type takes %llu", str_show(im, owner), d.field,
                (unsigned long long)d.count, (unsigned long long)(t->size / d.width));
  unsigned char *bytes = NEW_ARRAY(im, unsigned char, t->size + 8);
  for (uint64_t i = 0; i < d.count; i++)
    memcpy(bytes + i * d.width, (const char *)d.entries + i * d.stride, d.width);
  t->bytes = bytes;
}

static void read_strings(import *im, const Onnx__TensorProto *p, tensor *t, str owner) {
  if (p->n_string_data != t->count)
    import_fail(im, "'%s': string_data has %llu entries, its type takes %llu", str_show(im, owner),
                (unsigned long long)p->n_string_data, (unsigned long long)t->count);
  str *strings = NEW_ARRAY(im, str, t->count + 1);
  for (uint64_t i = 0; i < t->count; i++)
    strings[i] = str_read(p->string_data[i]);
  t->strings = strings;
}

static uint64_t read_number(import *im, str text, const char *what, str owner) {
  uint64_t value = 0;
  bool good = text.n > 0;
  for (size_t i = 0; i < text.n && good; i++) {
    unsigned digit = (unsigned)text.p[i] - '0';
    good = digit <= 9 && !__builtin_mul_overflow(value, (uint64_t)10, &value) &&
           !__builtin_add_overflow(value, (uint64_t)digit, &value);
  }
  if (!good)
    import_fail(im, "initializer '%s': external data has %s '%s'", str_show(im, owner), what,
                str_show(im, text));
  return value;
}

static void read_external(import *im, const Onnx__TensorProto *p, tensor *t, str owner) {
  str location = {0}, offset = {0}, length = {0};
  for (size_t i = 0; i < p->n_external_data; i++) {
    str key = str_read(p->external_data[i]->key), value = str_read(p->external_data[i]->value);
    if (str_is(key, "location"))
      location = value;
    else if (str_is(key, "offset"))
      offset = value;
    else if (str_is(key, "length"))
      length = value;
  }
  weights_file *file = source_external(im, location, owner);
  uint64_t at = offset.n ? read_number(im, offset, "offset", owner) : 0;
  const char *who = str_show(im, owner), *where = str_show(im, location);
  if (length.n && read_number(im, length, "length", owner) != t->size)
    import_fail(im, "initializer '%s': external data has length %s, its type takes %llu bytes", who,
                str_show(im, length), (unsigned long long)t->size);
  if (at > file->size || t->size > file->size - at)
    import_fail(im, "initializer '%s': external data ends at byte %llu+%llu, '%s' has %llu", who,
                (unsigned long long)at, (unsigned long long)t->size, where,
                (unsigned long long)file->size);
  t->file = file;
  t->offset = at;
  t->bytes = file->map ? file->map + at : NULL;
}

// A payload that wire.c left in the file.
static void read_in_place(import *im, const Onnx__TensorProto *p, tensor *t, str owner) {
  if (p->onyx_field != RAW_DATA &&
      strcmp(find_typed(p, t->elem).field, p->onyx_field == 4 ? "float_data" : "double_data") != 0)
    import_fail(im, "'%s': its type does not go with its data", str_show(im, owner));
  if (p->onyx_length != t->size)
    import_fail(im, "'%s': the data has %llu bytes, its type takes %llu", str_show(im, owner),
                (unsigned long long)p->onyx_length, (unsigned long long)t->size);
  t->bytes = im->model->map + p->onyx_offset;
  if (im->model->name.n) {
    t->file = im->model;
    t->offset = p->onyx_offset;
  }
}

static void check_dims(import *im, size_t rank, const int64_t *dims, str owner) {
  if (rank > 1024)
    import_fail(im, "'%s': a tensor of rank %zu", str_show(im, owner), rank);
  uint64_t product = 1;
  for (size_t i = 0; i < rank; i++)
    if (dims[i] < 0 || __builtin_mul_overflow(product, (uint64_t)dims[i], &product) ||
        product > (uint64_t)1 << 60)
      import_fail(im, "'%s': dimension %lld is %s", str_show(im, owner), (long long)dims[i],
                  dims[i] < 0 ? "negative" : "too large");
}

const tensor *tensor_read(import *im, const Onnx__TensorProto *p, str owner) {
  onyx_elem elem = elem_read(im, p->data_type, owner);
  check_dims(im, p->n_dims, p->dims, owner);
  if (p->segment)
    import_fail(im, "'%s': a tensor in segments cannot be read", str_show(im, owner));
  tensor *t = tensor_new(im, elem, (int)p->n_dims, p->dims, NULL);
  t->name = str_read(p->name);
  if (p->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL && elem != ONYX_STRING)
    read_external(im, p, t, owner);
  else if (elem == ONYX_STRING)
    read_strings(im, p, t, owner);
  else if (p->has_onyx_field)
    read_in_place(im, p, t, owner);
  else
    read_typed(im, p, t, owner);
  return t;
}

const tensor *tensor_read_sparse(import *im, const Onnx__SparseTensorProto *p, str owner) {
  if (!p->values || !p->indices)
    import_fail(im, "'%s': a sparse tensor without values or indices", str_show(im, owner));
  const char *who = str_show(im, owner);
  const tensor *values = tensor_read(im, p->values, owner),
               *at = tensor_read(im, p->indices, owner);
  check_dims(im, p->n_dims, p->dims, owner);
  tensor *t = tensor_new(im, values->elem, (int)p->n_dims, p->dims, NULL);
  bool linear = at->rank == 1;
  if (values->elem == ONYX_STRING || onyx_elem_bits(values->elem) < 8 || at->elem != ONYX_I64 ||
      values->rank != 1 || at->rank < 1 || at->rank > 2 || at->dims[0] != values->dims[0] ||
      (!linear && at->dims[1] != t->rank))
    import_fail(im, "'%s': values and indices of a sparse tensor do not agree", who);
  if (t->size > DENSE_MAX)
    import_fail(im, "'%s': a sparse tensor of %llu bytes is too large to be made dense", who,
                (unsigned long long)t->size);
  unsigned char *bytes = NEW_ARRAY(im, unsigned char, t->size + 8);
  size_t width = (size_t)onyx_elem_bits(t->elem) / 8;
  for (uint64_t k = 0; k < values->count; k++) {
    uint64_t place = 0;
    for (int d = 0; d < (linear ? 1 : t->rank); d++) {
      int64_t index = tensor_int(at, linear ? k : k * (uint64_t)t->rank + (uint64_t)d);
      int64_t limit = linear ? (int64_t)t->count : t->dims[d];
      if (index < 0 || index >= limit)
        import_fail(im, "'%s': sparse index %lld is outside its dimension", who, (long long)index);
      place = linear ? (uint64_t)index : place * (uint64_t)limit + (uint64_t)index;
    }
    memcpy(bytes + place * width, values->bytes + k * width, width);
  }
  t->bytes = bytes;
  t->name = str_read(p->values->name);
  return t;
}

static void read_shape(import *im, type *t, const Onnx__TensorShapeProto *shape, str owner) {
  if (!shape)
    return;
  if (shape->n_dim > 1024)
    import_fail(im, "'%s': a type of rank %zu", str_show(im, owner), shape->n_dim);
  dim *dims = NEW_ARRAY(im, dim, shape->n_dim + 1);
  for (size_t i = 0; i < shape->n_dim; i++) {
    const Onnx__TensorShapeProto__Dimension *d = shape->dim[i];
    dims[i].size = -1;
    // Some exporters write -1 for a dimension that they do not know.
    if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && d->dim_value >= -1)
      dims[i].size = d->dim_value;
    else if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
      import_fail(im, "'%s': dimension %zu is %lld", str_show(im, owner), i,
                  (long long)d->dim_value);
    else if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM)
      dims[i] = (dim){specialize_param(im, str_read(d->dim_param)), str_read(d->dim_param)};
  }
  t->ranked = true;
  t->rank = (int)shape->n_dim;
  t->dims = dims;
}

static const type *read_inner(import *im, const Onnx__TypeProto *p, str owner) {
  const type *t = type_read(im, p, owner);
  if (!t)
    import_fail(im, "'%s': a type without an element type", str_show(im, owner));
  return t;
}

const type *type_read(import *im, const Onnx__TypeProto *p, str owner) {
  if (!p)
    return NULL;
  type *t = NEW(im, type);
  switch (p->value_case) {
  case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
    if (!p->tensor_type->has_elem_type || p->tensor_type->elem_type == 0)
      return NULL;
    *t = (type){.kind = ONYX_TYPE_TENSOR, .elem = elem_read(im, p->tensor_type->elem_type, owner)};
    read_shape(im, t, p->tensor_type->shape, owner);
    return t;
  case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
    *t = (type){.kind = ONYX_TYPE_TENSOR,
                .sparse = true,
                .elem = elem_read(im, p->sparse_tensor_type->elem_type, owner)};
    read_shape(im, t, p->sparse_tensor_type->shape, owner);
    return t;
  case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
    *t = (type){.kind = ONYX_TYPE_SEQ, .of = read_inner(im, p->sequence_type->elem_type, owner)};
    return t;
  case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
    *t = (type){.kind = ONYX_TYPE_OPT, .of = read_inner(im, p->optional_type->elem_type, owner)};
    return t;
  case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
    *t = (type){.kind = ONYX_TYPE_MAP,
                .key = elem_read(im, p->map_type->key_type, owner),
                .of = read_inner(im, p->map_type->value_type, owner)};
    return t;
  case ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE:
    import_fail(im, "'%s': opaque types cannot be read", str_show(im, owner));
  default:
    return NULL;
  }
}
