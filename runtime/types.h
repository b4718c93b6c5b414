// Element types and the types of graph inputs and outputs, read from MLIR's text.
#ifndef ONYX_RUNTIME_TYPES_H
#define ONYX_RUNTIME_TYPES_H

#include "dialects/onnx/schema/schema.h"
#include "onyx/model.h"
#include "runtime/pool.h"

#include <stdbool.h>

typedef struct onyx_element {
  onyx_elem elem;
  const char *mlir;       // "f32", "ui8", "complex<f32>"
  const char *short_name; // signs spelled out: "i64" is "i64", "i1" is "bool"
  DLDataType dtype;       // bits of one element as it is packed
} onyx_element;

// NULL for strings and what is no element type.
const onyx_element *onyx_element_of(int elem);
// By DLPack type; NULL when ONNX has no such type. Bool is code 6 only.
const onyx_element *onyx_element_of_dtype(DLDataType dtype);
// By MLIR's name or the short one; `length` bytes of text.
const onyx_element *onyx_element_of_name(const char *text, size_t length);

static inline bool onyx_dtype_equal(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

// Bytes of a tensor of `elements` packed elements; false on overflow.
bool onyx_packed_bytes(int64_t elements, int bits, size_t *bytes);
// Product of the sizes; false when one is negative or the product passes INT64_MAX. Zero wins over
// overflow: {2^62, 4, 0} has no element.
bool onyx_volume(const int64_t *shape, int rank, int64_t *elements);

// Reads the whole of `text` ("tensor<?x3xf32>", "!onnx.Seq<..>", "!onnx.Opt<..>", "!onnx.Map<i64,
// f32>"). Dims without names; memory from the pool. False when it is no such type or memory is
// short.
bool onyx_type_parse(onyx_pool *pool, const char *text, onyx_type *type);

#endif
