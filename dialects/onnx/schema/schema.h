// The facts of the ONNX standard: one row an operator version. Generated table, no MLIR.
//
// Rows come from schemas.json by gen_schema.py. A row says which operands, results, attributes and
// element types an operator version has; it says nothing of meaning (see dialects/onnx/ops).
#ifndef ONYX_SCHEMA_H
#define ONYX_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Element types; the numbers are TensorProto.DataType of the wire format.
typedef enum onyx_elem {
  ONYX_ELEM_UNDEFINED = 0,
  ONYX_F32 = 1,
  ONYX_U8 = 2,
  ONYX_I8 = 3,
  ONYX_U16 = 4,
  ONYX_I16 = 5,
  ONYX_I32 = 6,
  ONYX_I64 = 7,
  ONYX_STRING = 8,
  ONYX_BOOL = 9,
  ONYX_F16 = 10,
  ONYX_F64 = 11,
  ONYX_U32 = 12,
  ONYX_U64 = 13,
  ONYX_C64 = 14,  // complex of two f32
  ONYX_C128 = 15, // complex of two f64
  ONYX_BF16 = 16,
  ONYX_F8E4M3FN = 17,
  ONYX_F8E4M3FNUZ = 18,
  ONYX_F8E5M2 = 19,
  ONYX_F8E5M2FNUZ = 20,
  ONYX_U4 = 21,
  ONYX_I4 = 22,
  ONYX_F4E2M1 = 23,
  ONYX_F8E8M0 = 24,
  ONYX_U2 = 25,
  ONYX_I2 = 26,
  ONYX_ELEM_COUNT = 27
} onyx_elem;

// Facts of an element type. Bits of one element in ONNX's packed form (2, 4, 8, ...); 0 for
// strings.
int onyx_elem_bits(onyx_elem elem);
// Name in the standard's type strings ("float", "uint8", "float8e4m3fn"); NULL when unknown.
const char *onyx_elem_onnx_name(onyx_elem elem);
// Text of the MLIR builtin type ("f32", "ui8", "i64", "complex<f32>"), "!onnx.String" for strings.
const char *onyx_elem_mlir_name(onyx_elem elem);
bool onyx_elem_is_float(onyx_elem elem);    // f64 down to f4, not complex
bool onyx_elem_is_signed(onyx_elem elem);   // i2 ... i64
bool onyx_elem_is_unsigned(onyx_elem elem); // u2 ... u64, not bool
static inline bool onyx_elem_is_int(onyx_elem e) {
  return onyx_elem_is_signed(e) || onyx_elem_is_unsigned(e);
}
static inline bool onyx_elem_is_complex(onyx_elem e) {
  return e == ONYX_C64 || e == ONYX_C128;
}

// A type string of the standard, decomposed. kinds nest at most optional(seq(tensor|map)).
typedef enum onyx_type_kind {
  ONYX_TYPE_NONE = 0, // an absent optional operand or result
  ONYX_TYPE_TENSOR,
  ONYX_TYPE_SEQ,
  ONYX_TYPE_OPT,
  ONYX_TYPE_MAP
} onyx_type_kind;

typedef struct onyx_schema_type {
  const char *text;    // "seq(tensor(float))"
  onyx_type_kind kind; // outermost
  onyx_elem elem;      // of a tensor; of a map: the value's element type
  onyx_elem key;       // of a map: the key's type, else UNDEFINED
  int16_t of;          // of a seq or optional: index of the inner type; else -1
} onyx_schema_type;

extern const onyx_schema_type onyx_schema_types[]; // every type string the standard uses
extern const int onyx_schema_num_types;            // at most 128

// A set of rows of onyx_schema_types.
typedef struct onyx_type_set {
  uint64_t bits[2];
} onyx_type_set;
static inline bool onyx_type_set_has(const onyx_type_set *s, int type) {
  return s->bits[type >> 6] >> (type & 63) & 1;
}
// Index in onyx_schema_types of tensor(elem); -1 if the standard has none.
int onyx_schema_tensor_type(onyx_elem elem);

typedef struct onyx_schema_constraint {
  const char *name; // "T", "T1"; for a parameter with a plain type: that type's text
  onyx_type_set types;
} onyx_schema_constraint;

typedef struct onyx_schema_param {
  const char *name;
  int16_t constraint; // index into the row's constraints
  bool optional;
  bool variadic;      // only the last parameter is
  bool heterogeneous; // variadic whose members may differ in type
} onyx_schema_param;

// The numbers are AttributeProto.AttributeType of the wire format.
typedef enum onyx_attr_kind {
  ONYX_ATTR_UNDEFINED = 0,
  ONYX_ATTR_FLOAT = 1,
  ONYX_ATTR_INT = 2,
  ONYX_ATTR_STRING = 3,
  ONYX_ATTR_TENSOR = 4,
  ONYX_ATTR_GRAPH = 5,
  ONYX_ATTR_FLOATS = 6,
  ONYX_ATTR_INTS = 7,
  ONYX_ATTR_STRINGS = 8,
  ONYX_ATTR_TENSORS = 9,
  ONYX_ATTR_GRAPHS = 10,
  ONYX_ATTR_SPARSE_TENSOR = 11,
  ONYX_ATTR_SPARSE_TENSORS = 12,
  ONYX_ATTR_TYPE_PROTO = 13,
  ONYX_ATTR_TYPE_PROTOS = 14
} onyx_attr_kind;

typedef struct onyx_schema_attr {
  const char *name;
  onyx_attr_kind kind;
  bool required;
  bool has_default;
  int64_t default_int;        // INT
  double default_float;       // FLOAT
  const char *default_string; // STRING, else NULL
  int num_defaults;           // INTS, FLOATS, STRINGS
  const int64_t *default_ints;
  const double *default_floats;
  const char *const *default_strings;
} onyx_schema_attr;

#define ONYX_UNBOUNDED (-1)

typedef struct onyx_schema {
  const char *domain; // "" is ai.onnx
  const char *name;
  int since;
  bool deprecated;
  int16_t num_inputs, num_outputs, num_attrs, num_constraints;
  int16_t min_inputs, max_inputs; // operand counts; max may be ONYX_UNBOUNDED
  int16_t min_outputs, max_outputs;
  const onyx_schema_param *inputs;
  const onyx_schema_param *outputs;
  const onyx_schema_attr *attrs; // sorted by name
  const onyx_schema_constraint *constraints;
} onyx_schema;

// All rows, sorted by (domain, name, since).
extern const onyx_schema onyx_schemas[];
extern const int onyx_num_schemas;
// Newest row of each operator, sorted by name (names are unique over domains).
extern const onyx_schema *const onyx_schema_newest_rows[];
extern const int onyx_num_operators;

// The newest opset of ai.onnx that the table knows.
extern const int onyx_schema_newest_opset;

// Row in force for an operator at an opset version of its domain ("ai.onnx" equals ""); NULL if
// the operator does not exist there.
const onyx_schema *onyx_schema_at(const char *domain, const char *name, int opset);
// Newest row of an operator; NULL when unknown.
const onyx_schema *onyx_schema_newest(const char *domain, const char *name);
// Newest row by operator name alone (no domain has a name that another has).
const onyx_schema *onyx_schema_by_name(const char *name);
// Attribute of a row by name; NULL when there is none.
const onyx_schema_attr *onyx_schema_attr_find(const onyx_schema *row, const char *name);
// Whether an INT attribute of this name holds a TensorProto.DataType, which the text form writes as
// a TypeAttr: to, dtype, output_dtype, output_datatype (stash_type and softmax_precision stay INT).
bool onyx_schema_attr_is_elem_type(const char *attr_name);
// Parameter that describes operand (result) i, a variadic one repeated; NULL past the end.
const onyx_schema_param *onyx_schema_input(const onyx_schema *row, int i);
const onyx_schema_param *onyx_schema_output(const onyx_schema *row, int i);

#ifdef __cplusplus
}
#endif
#endif
