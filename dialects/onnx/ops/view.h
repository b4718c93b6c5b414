// How an operator's file sees an op: types, shapes, small integer operands as values, attributes
// with their defaults. No MLIR here: the MLIR adapter, the importer and the tests supply views.
#ifndef ONYX_VIEW_H
#define ONYX_VIEW_H

#include "dialects/onnx/ops/dim.h"
#include "dialects/onnx/schema/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ONYX_MAX_RANK 64        // a tensor of higher rank is refused by the verifier
#define ONYX_MAX_SHAPE_DATA 256 // integer tensors of at most this many elements are shape data

// The type of an operand or result.
typedef struct onnx_type {
  onyx_type_kind kind;        // NONE: absent
  onyx_elem elem;             // TENSOR: element; MAP: value's element
  onyx_elem key;              // MAP
  const struct onnx_type *of; // SEQ, OPT
  int rank;                   // TENSOR: -1 unknown
  const dim **dims;           // TENSOR with rank >= 0: rank entries
} onnx_type;

// What is known of an operand beside its type.
typedef struct onnx_operand {
  onnx_type type;
  // Elements of an integer or bool tensor of known, small size, in row-major order, as far as the
  // adapter could find or name them; NULL when the operand is no shape data. In the code-emitting
  // reader an entry may be a DIM_SYM that stands for "element k of this operand at run time".
  const dim **values;
  int64_t num_values;
  // Row-major little-endian bytes of a constant operand in memory form (bool and sub-byte types:
  // one byte an element; the bytes of file-backed ones are mapped); NULL when not constant or a
  // string.
  const void *data;
  int64_t num_elements; // with data
  // Elements of a constant string tensor.
  const char *const *strings;
} onnx_operand;

typedef struct onnx_attr {
  onyx_attr_kind kind; // UNDEFINED: absent and without default
  bool present;        // written on the op (not a default)
  int64_t i;
  double f;
  const char *s; // NUL-terminated copy
  size_t s_size;
  int64_t n; // INTS, FLOATS, STRINGS
  const int64_t *ints;
  const double *floats;
  const char *const *strings;
  const onnx_operand *tensor; // TENSOR: type and data (or strings)
  const onnx_type *type;      // TYPE_PROTO; INT attributes that name an element type (Cast's `to`)
                              // have it in `i` as the wire number
} onnx_attr;

typedef struct op_view op_view;
struct op_view {
  const onyx_schema *schema;
  const struct op_def *def;
  const char *node_name; // may be ""
  dim_context *dims;
  onyx_arena *arena;
  int num_operands;
  const onnx_operand *operands; // absent optional ones at the end may be missing
  int num_results;              // as the op has them; an unused optional one has wanted[i] false
  const bool *wanted;
  const onnx_attr *attrs; // one for each attribute of the schema row, in its order
  // Regions (If, Loop, Scan, SequenceMap): result types of region r's terminator; NULL where the op
  // has no region. The adapter has walked the region before it asks for the op's shape.
  int num_regions;
  const int *num_region_results;
  const onnx_operand *const *region_results;
  // The first error, set by view_error.
  char *error;
};

// Sets the error (the first stays) and returns false. The text says what was expected and found;
// the caller adds operator and node.
bool view_error(op_view *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline bool view_has(const op_view *v, int i) {
  return i < v->num_operands && v->operands[i].type.kind != ONYX_TYPE_NONE;
}
static inline const onnx_operand *view_operand(const op_view *v, int i) {
  return view_has(v, i) ? &v->operands[i] : NULL;
}
static inline int view_rank(const op_view *v, int i) {
  return view_has(v, i) ? v->operands[i].type.rank : -1;
}
static inline const dim *view_dim(const op_view *v, int i, int axis) {
  return v->operands[i].type.dims[axis];
}
static inline onyx_elem view_elem(const op_view *v, int i) {
  return view_has(v, i) ? v->operands[i].type.elem : ONYX_ELEM_UNDEFINED;
}
// Attribute by name (binary search); never NULL for a name of the schema row.
const onnx_attr *view_attr(const op_view *v, const char *name);
static inline int64_t view_int(const op_view *v, const char *name) {
  return view_attr(v, name)->i;
}
static inline double view_float(const op_view *v, const char *name) {
  return view_attr(v, name)->f;
}
// The string of an attribute, "" when absent.
const char *view_string(const op_view *v, const char *name);
// Element k of a shape-data operand; NULL when it is not known.
static inline const dim *view_value(const op_view *v, int i, int64_t k) {
  const onnx_operand *o = view_operand(v, i);
  return o && o->values && k < o->num_values ? o->values[k] : (const dim *)0;
}
// All elements constant? Copies them into out (num_values entries).
bool view_const_values(const op_view *v, int i, int64_t *out);
// Number of elements of operand i as a dim; NULL when the rank is unknown.
const dim *view_numel(op_view *v, int i);
// A scalar constant operand (float or integer) as double; false when not constant.
bool view_scalar(const op_view *v, int i, double *out);

// Result side of a shape function.
typedef struct shape_result {
  onnx_type type;     // kind and elem filled in from the schema before the shape function runs
                      // where the constraint decides them; rank -1
  const dim **values; // shape data of the result, or NULL
  int64_t num_values;
} shape_result;

// Sets result r to a ranked tensor with these dims (copied).
void shape_set(op_view *v, shape_result *results, int r, int rank, const dim *const *dims);
// Result r has the shape (not the element type) of operand i.
void shape_like(op_view *v, shape_result *results, int r, int i);

#ifdef __cplusplus
}
#endif
#endif
