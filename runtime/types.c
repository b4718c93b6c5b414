#include "runtime/types.h"

#include <string.h>

// One line an element type: number, MLIR's name, short name, DLPack's code and bits.
static const onyx_element elements[] = {
    {ONYX_F32, "f32", "f32", {kDLFloat, 32, 1}},
    {ONYX_F64, "f64", "f64", {kDLFloat, 64, 1}},
    {ONYX_F16, "f16", "f16", {kDLFloat, 16, 1}},
    {ONYX_BF16, "bf16", "bf16", {kDLBfloat, 16, 1}},
    {ONYX_I8, "i8", "i8", {kDLInt, 8, 1}},
    {ONYX_I16, "i16", "i16", {kDLInt, 16, 1}},
    {ONYX_I32, "i32", "i32", {kDLInt, 32, 1}},
    {ONYX_I64, "i64", "i64", {kDLInt, 64, 1}},
    {ONYX_U8, "ui8", "u8", {kDLUInt, 8, 1}},
    {ONYX_U16, "ui16", "u16", {kDLUInt, 16, 1}},
    {ONYX_U32, "ui32", "u32", {kDLUInt, 32, 1}},
    {ONYX_U64, "ui64", "u64", {kDLUInt, 64, 1}},
    {ONYX_BOOL, "i1", "bool", {ONYX_DL_BOOL, 8, 1}},
    {ONYX_C64, "complex<f32>", "c64", {kDLComplex, 64, 1}},
    {ONYX_C128, "complex<f64>", "c128", {kDLComplex, 128, 1}},
    {ONYX_F8E4M3FN, "f8E4M3FN", "f8e4m3fn", {ONYX_DL_FLOAT8_E4M3FN, 8, 1}},
    {ONYX_F8E4M3FNUZ, "f8E4M3FNUZ", "f8e4m3fnuz", {ONYX_DL_FLOAT8_E4M3FNUZ, 8, 1}},
    {ONYX_F8E5M2, "f8E5M2", "f8e5m2", {ONYX_DL_FLOAT8_E5M2, 8, 1}},
    {ONYX_F8E5M2FNUZ, "f8E5M2FNUZ", "f8e5m2fnuz", {ONYX_DL_FLOAT8_E5M2FNUZ, 8, 1}},
    {ONYX_F8E8M0, "f8E8M0FNU", "f8e8m0", {ONYX_DL_FLOAT8_E8M0FNU, 8, 1}},
    {ONYX_F4E2M1, "f4E2M1FN", "f4e2m1", {ONYX_DL_FLOAT4_E2M1FN, 4, 1}},
    {ONYX_I4, "i4", "i4", {kDLInt, 4, 1}},
    {ONYX_U4, "ui4", "u4", {kDLUInt, 4, 1}},
    {ONYX_I2, "i2", "i2", {kDLInt, 2, 1}},
    {ONYX_U2, "ui2", "u2", {kDLUInt, 2, 1}},
};
enum { NUM_ELEMENTS = sizeof elements / sizeof elements[0] };

const onyx_element *onyx_element_of(int elem) {
  for (int i = 0; i < NUM_ELEMENTS; i++)
    if ((int)elements[i].elem == elem)
      return &elements[i];
  return NULL;
}

const onyx_element *onyx_element_of_dtype(DLDataType dtype) {
  for (int i = 0; i < NUM_ELEMENTS; i++)
    if (onyx_dtype_equal(elements[i].dtype, dtype))
      return &elements[i];
  return NULL;
}

static bool is_name(const char *name, const char *text, size_t length) {
  return strlen(name) == length && !memcmp(name, text, length);
}

const onyx_element *onyx_element_of_name(const char *text, size_t length) {
  for (int i = 0; i < NUM_ELEMENTS; i++)
    if (is_name(elements[i].mlir, text, length) || is_name(elements[i].short_name, text, length))
      return &elements[i];
  return NULL;
}

bool onyx_packed_bytes(int64_t count, int bits, size_t *bytes) {
  if (bits >= 8)
    return !__builtin_mul_overflow((size_t)count, (size_t)bits / 8, bytes) && *bytes <= PTRDIFF_MAX;
  int per_byte = 8 / bits;
  *bytes = (size_t)(count / per_byte + (count % per_byte != 0));
  return true;
}

bool onyx_volume(const int64_t *shape, int rank, int64_t *count) {
  int64_t product = 1;
  bool overflow = false, empty = false;
  for (int i = 0; i < rank; i++) {
    if (shape[i] < 0)
      return false;
    empty |= shape[i] == 0;
    overflow |= __builtin_mul_overflow(product, shape[i], &product);
  }
  *count = empty ? 0 : product;
  return empty || !overflow;
}

//===-- Reading a type ----------------------------------------------------------------------===//

enum { MAX_NESTING = 8, MAX_RANK = 4096 };

typedef struct reader {
  onyx_pool *pool;
  const char *at;
} reader;

static bool accept(reader *r, const char *token) {
  size_t length = strlen(token);
  if (strncmp(r->at, token, length))
    return false;
  r->at += length;
  return true;
}

static void skip_spaces(reader *r) {
  while (*r->at == ' ')
    r->at++;
}

// One size and the 'x' after it.
static bool read_dim(reader *r, int64_t *size) {
  if (accept(r, "?x")) {
    *size = -1;
    return true;
  }
  const char *at = r->at;
  int64_t value = 0;
  while (*at >= '0' && *at <= '9')
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *at++ - '0', &value))
      return false;
  if (at == r->at || *at != 'x')
    return false;
  r->at = at + 1;
  *size = value;
  return true;
}

static int count_dims(reader r) {
  int64_t size;
  int count = 0;
  while (count <= MAX_RANK && read_dim(&r, &size))
    count++;
  return count;
}

static bool read_element(reader *r, onyx_type *type) {
  if (accept(r, "!onnx.String")) {
    type->element = ONYX_STRING;
    type->dtype = (DLDataType){0, 0, 0};
    return true;
  }
  size_t length = 0;
  while (r->at[length] && !strchr("<>,", r->at[length]))
    length++;
  if (!strncmp(r->at, "complex<", 8)) {
    const char *end = strchr(r->at, '>');
    length = end ? (size_t)(end - r->at) + 1 : length;
  }
  const onyx_element *element = onyx_element_of_name(r->at, length);
  if (!element)
    return false;
  r->at += length;
  type->element = (int32_t)element->elem;
  type->dtype = element->dtype;
  return true;
}

// An encoding says nothing of the values: skipped up to the '>' that closes the tensor.
static bool skip_encoding(reader *r) {
  int depth = 0;
  for (; *r->at; r->at++) {
    if (*r->at == '<' || *r->at == '{')
      depth++;
    if (*r->at == '>' || *r->at == '}')
      if (depth-- == 0)
        return accept(r, ">");
  }
  return false;
}

static bool read_tensor(reader *r, onyx_type *type) {
  onyx_dim *dims = NULL;
  if (accept(r, "*x")) {
    type->rank = -1;
  } else {
    type->rank = count_dims(*r);
    dims = onyx_pool_alloc(r->pool, (size_t)type->rank, sizeof *dims);
    if (!dims || type->rank > MAX_RANK)
      return false;
    for (int i = 0; i < type->rank; i++)
      read_dim(r, &dims[i].size);
  }
  type->dims = dims;
  if (!read_element(r, type))
    return false;
  type->kind = type->element == ONYX_STRING ? ONYX_VALUE_STRINGS : ONYX_VALUE_TENSOR;
  return accept(r, ">") || (accept(r, ",") && skip_encoding(r));
}

static bool read_type(reader *r, onyx_type *type, int depth) {
  memset(type, 0, sizeof *type);
  if (depth > MAX_NESTING)
    return false;
  if (accept(r, "tensor<"))
    return read_tensor(r, type);
  if (accept(r, "!onnx.Seq<"))
    type->kind = ONYX_VALUE_SEQUENCE;
  else if (accept(r, "!onnx.Opt<"))
    type->kind = ONYX_VALUE_OPTIONAL;
  else if (accept(r, "!onnx.Map<"))
    type->kind = ONYX_VALUE_MAP;
  else
    return false;
  onyx_type *of = onyx_pool_alloc(r->pool, 1, sizeof *of);
  if (!of)
    return false;
  type->of = of;
  if (type->kind == ONYX_VALUE_MAP) {
    if (!read_element(r, type) || !accept(r, ","))
      return false;
    skip_spaces(r);
    // The value may be a bare element type: a scalar for each key.
    if (read_element(r, of)) {
      of->kind = of->element == ONYX_STRING ? ONYX_VALUE_STRINGS : ONYX_VALUE_TENSOR;
      return accept(r, ">");
    }
  }
  return read_type(r, of, depth + 1) && accept(r, ">");
}

bool onyx_type_parse(onyx_pool *pool, const char *text, onyx_type *type) {
  reader r = {pool, text};
  return read_type(&r, type, 0) && !*r.at;
}
