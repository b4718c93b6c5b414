// Values that own their memory.
#ifndef ONYX_RUNTIME_VALUE_H
#define ONYX_RUNTIME_VALUE_H

#include "runtime/types.h"

// Each makes *value, to be freed by onyx_value_release; false when memory is short or a size is too
// large, and then *value is ONYX_VALUE_NONE.

// Zeroed elements, packed and dense.
bool onyx_tensor_make(const onyx_element *element, const int64_t *shape, int rank,
                      onyx_value *value);
// Takes over `buffer` (from malloc), whose elements begin at `data`; frees it on failure too.
// strides may be NULL: row-major.
bool onyx_tensor_own(DLDataType dtype, const int64_t *shape, const int64_t *strides, int rank,
                     void *data, void *buffer, onyx_value *value);
// Items of size 0, to be set through onyx_strings_set.
bool onyx_strings_make(const int64_t *shape, int rank, onyx_value *value);
// Copies the bytes; false when memory is short.
bool onyx_strings_set(onyx_value *value, int64_t index, const char *data, size_t size);
// Items ONYX_VALUE_NONE, to be set in place through onyx_sequence_items.
bool onyx_sequence_make(size_t count, onyx_value *value);
onyx_value *onyx_sequence_items(onyx_value *value);
// Takes over *item (moved out of); NULL makes an absent optional.
bool onyx_optional_make(onyx_value *item, onyx_value *value);
// Takes over both.
bool onyx_map_make(onyx_value *keys, onyx_value *values, onyx_value *value);

// Number of elements of a tensor or strings.
int64_t onyx_value_count(const onyx_value *value);

#endif
