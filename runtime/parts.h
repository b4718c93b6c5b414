// Values of every kind at the interface: the memrefs that compiled code sees (docs/abi.md).
//
//   tensor            its memref
//   strings           memref of addresses (i64), each of a record: i64 size, then the bytes; 0: the
//   empty string sequence          data memref<?xT>, table memref<?x10xi64>: a row an element:
//   offset in data, rank, sizes map               keys memref<?xK>, values memref<?xV> sequence of
//   maps  keys, values, table memref<?x2xi64>: offset, count optional          flag memref<i1>,
//   then its value's parts, of size 0 when absent
#ifndef ONYX_RUNTIME_PARTS_H
#define ONYX_RUNTIME_PARTS_H

#include "runtime/tensor.h"

enum { ONYX_MAX_PARTS = 4, ONYX_TABLE_WIDTH = 10 };

// Ranks of the parts of a type; their number, 0 for a type that has no form here.
int onyx_parts(const onyx_type *type, int ranks[ONYX_MAX_PARTS]);
// Words of all descriptors of a value of this type.
size_t onyx_parts_words(const onyx_type *type);

// Checks a value and writes the descriptors of its parts, one after another.
// copies[0..ONYX_MAX_PARTS) become NULL or memory that the caller frees after the run.
bool onyx_value_prepare(const onyx_parameter *param, size_t index, const onyx_value *value,
                        int64_t *desc, void **copies, onyx_error *error);
// Makes a value of the parts in the descriptors, whose buffers it takes over, on failure too.
bool onyx_value_take(const onyx_parameter *param, size_t index, int64_t *desc, onyx_value *value,
                     onyx_error *error);
// Frees the buffers of a result that nobody takes.
void onyx_value_drop(const onyx_type *type, int64_t *desc);
// Sizes of a tensor or of strings; NULL for other kinds.
const int64_t *onyx_value_shape(const onyx_value *value);

#endif
