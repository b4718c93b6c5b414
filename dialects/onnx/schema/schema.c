// Look-ups in the generated table and facts of the element types.
#include "dialects/onnx/schema/schema.h"

#include <string.h>

typedef struct elem_fact {
  const char *onnx, *mlir;
  int bits;
  enum { OTHER, FLOAT, SIGNED, UNSIGNED } class;
} elem_fact;

static const elem_fact elem_facts[ONYX_ELEM_COUNT] = {
    [ONYX_F32] = {"float", "f32", 32, FLOAT},
    [ONYX_U8] = {"uint8", "ui8", 8, UNSIGNED},
    [ONYX_I8] = {"int8", "i8", 8, SIGNED},
    [ONYX_U16] = {"uint16", "ui16", 16, UNSIGNED},
    [ONYX_I16] = {"int16", "i16", 16, SIGNED},
    [ONYX_I32] = {"int32", "i32", 32, SIGNED},
    [ONYX_I64] = {"int64", "i64", 64, SIGNED},
    [ONYX_STRING] = {"string", "!onnx.String", 0, OTHER},
    [ONYX_BOOL] = {"bool", "i1", 8, OTHER},
    [ONYX_F16] = {"float16", "f16", 16, FLOAT},
    [ONYX_F64] = {"double", "f64", 64, FLOAT},
    [ONYX_U32] = {"uint32", "ui32", 32, UNSIGNED},
    [ONYX_U64] = {"uint64", "ui64", 64, UNSIGNED},
    [ONYX_C64] = {"complex64", "complex<f32>", 64, OTHER},
    [ONYX_C128] = {"complex128", "complex<f64>", 128, OTHER},
    [ONYX_BF16] = {"bfloat16", "bf16", 16, FLOAT},
    [ONYX_F8E4M3FN] = {"float8e4m3fn", "f8E4M3FN", 8, FLOAT},
    [ONYX_F8E4M3FNUZ] = {"float8e4m3fnuz", "f8E4M3FNUZ", 8, FLOAT},
    [ONYX_F8E5M2] = {"float8e5m2", "f8E5M2", 8, FLOAT},
    [ONYX_F8E5M2FNUZ] = {"float8e5m2fnuz", "f8E5M2FNUZ", 8, FLOAT},
    [ONYX_U4] = {"uint4", "ui4", 4, UNSIGNED},
    [ONYX_I4] = {"int4", "i4", 4, SIGNED},
    [ONYX_F4E2M1] = {"float4e2m1", "f4E2M1FN", 4, FLOAT},
    [ONYX_F8E8M0] = {"float8e8m0", "f8E8M0FNU", 8, FLOAT},
    [ONYX_U2] = {"uint2", "ui2", 2, UNSIGNED},
    [ONYX_I2] = {"int2", "i2", 2, SIGNED},
};

static const elem_fact *fact(onyx_elem elem) {
  return &elem_facts[(unsigned)elem < ONYX_ELEM_COUNT ? elem : ONYX_ELEM_UNDEFINED];
}

int onyx_elem_bits(onyx_elem elem) {
  return fact(elem)->bits;
}
const char *onyx_elem_onnx_name(onyx_elem elem) {
  return fact(elem)->onnx;
}
const char *onyx_elem_mlir_name(onyx_elem elem) {
  return fact(elem)->mlir;
}
bool onyx_elem_is_float(onyx_elem elem) {
  return fact(elem)->class == FLOAT;
}
bool onyx_elem_is_signed(onyx_elem elem) {
  return fact(elem)->class == SIGNED;
}
bool onyx_elem_is_unsigned(onyx_elem elem) {
  return fact(elem)->class == UNSIGNED;
}

int onyx_schema_tensor_type(onyx_elem elem) {
  for (int i = 0; i < onyx_schema_num_types; i++)
    if (onyx_schema_types[i].kind == ONYX_TYPE_TENSOR && onyx_schema_types[i].elem == elem)
      return i;
  return -1;
}

const onyx_schema *onyx_schema_by_name(const char *name) {
  int low = 0, high = onyx_num_operators;
  while (low < high) {
    int mid = low + (high - low) / 2;
    int order = strcmp(name, onyx_schema_newest_rows[mid]->name);
    if (order == 0)
      return onyx_schema_newest_rows[mid];
    if (order < 0)
      high = mid;
    else
      low = mid + 1;
  }
  return NULL;
}

const onyx_schema *onyx_schema_newest(const char *domain, const char *name) {
  const onyx_schema *row = onyx_schema_by_name(name);
  if (strcmp(domain, "ai.onnx") == 0)
    domain = "";
  return row && strcmp(row->domain, domain) == 0 ? row : NULL;
}

// Rows of one operator lie side by side, the newest last.
const onyx_schema *onyx_schema_at(const char *domain, const char *name, int opset) {
  const onyx_schema *row = onyx_schema_newest(domain, name);
  while (row && row->since > opset) {
    if (row == onyx_schemas || strcmp(row[-1].name, name) != 0)
      return NULL;
    row--;
  }
  return row;
}

const onyx_schema_attr *onyx_schema_attr_find(const onyx_schema *row, const char *name) {
  int low = 0, high = row->num_attrs;
  while (low < high) {
    int mid = low + (high - low) / 2;
    int order = strcmp(name, row->attrs[mid].name);
    if (order == 0)
      return &row->attrs[mid];
    if (order < 0)
      high = mid;
    else
      low = mid + 1;
  }
  return NULL;
}

bool onyx_schema_attr_is_elem_type(const char *name) {
  static const char *const names[] = {"to", "dtype", "output_dtype", "output_datatype"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

static const onyx_schema_param *param_at(const onyx_schema_param *params, int count, int i) {
  if (i < 0 || count == 0)
    return NULL;
  if (i < count)
    return &params[i];
  return params[count - 1].variadic ? &params[count - 1] : NULL;
}

const onyx_schema_param *onyx_schema_input(const onyx_schema *row, int i) {
  return param_at(row->inputs, row->num_inputs, i);
}

const onyx_schema_param *onyx_schema_output(const onyx_schema *row, int i) {
  return param_at(row->outputs, row->num_outputs, i);
}
