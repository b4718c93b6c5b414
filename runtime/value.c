#include "runtime/value.h"

#include <stdlib.h>
#include <string.h>

void onyx_value_release(onyx_value *value) {
  if (!value)
    return;
  if (value->kind != ONYX_VALUE_NONE && value->release)
    value->release(value);
  *value = (onyx_value){.kind = ONYX_VALUE_NONE};
}

//===-- Tensors -----------------------------------------------------------------------------===//

// A managed tensor with its buffer, shape and strides.
typedef struct owned_tensor {
  DLManagedTensor managed;
  void *buffer;
  int64_t dims[];
} owned_tensor;

static void delete_owned(DLManagedTensor *managed) {
  owned_tensor *owned = managed->manager_ctx;
  free(owned->buffer);
  free(owned);
}

static void release_tensor(onyx_value *value) {
  if (value->managed && value->managed->deleter)
    value->managed->deleter(value->managed);
}

static void dense_strides(const int64_t *shape, int rank, int64_t *strides) {
  int64_t stride = 1;
  for (int i = rank; i-- > 0;) {
    strides[i] = stride;
    // Wraps only where a zero elsewhere makes the strides meaningless.
    stride = (int64_t)((uint64_t)stride * (uint64_t)shape[i]);
  }
}

bool onyx_tensor_own(DLDataType dtype, const int64_t *shape, const int64_t *strides, int rank,
                     void *data, void *buffer, onyx_value *value) {
  *value = (onyx_value){.kind = ONYX_VALUE_NONE};
  owned_tensor *owned = malloc(sizeof *owned + 2 * (size_t)rank * sizeof(int64_t));
  if (!owned) {
    free(buffer);
    return false;
  }
  if (rank)
    memcpy(owned->dims, shape, (size_t)rank * sizeof *shape);
  if (rank && strides)
    memcpy(owned->dims + rank, strides, (size_t)rank * sizeof *shape);
  else
    dense_strides(shape, rank, owned->dims + rank);
  owned->buffer = buffer;
  // Packed elements have no strides.
  owned->managed =
      (DLManagedTensor){.dl_tensor = {.data = data,
                                      .device = {kDLCPU, 0},
                                      .ndim = rank,
                                      .dtype = dtype,
                                      .shape = owned->dims,
                                      .strides = dtype.bits < 8 ? NULL : owned->dims + rank},
                        .manager_ctx = owned,
                        .deleter = delete_owned};
  *value = (onyx_value){.kind = ONYX_VALUE_TENSOR,
                        .tensor = &owned->managed.dl_tensor,
                        .release = release_tensor,
                        .managed = &owned->managed};
  return true;
}

bool onyx_tensor_make(const onyx_element *element, const int64_t *shape, int rank,
                      onyx_value *value) {
  int64_t count;
  size_t bytes;
  *value = (onyx_value){.kind = ONYX_VALUE_NONE};
  if (!onyx_volume(shape, rank, &count) || !onyx_packed_bytes(count, element->dtype.bits, &bytes))
    return false;
  void *buffer = calloc(bytes ? bytes : 1, 1);
  return buffer && onyx_tensor_own(element->dtype, shape, NULL, rank, buffer, buffer, value);
}

int64_t onyx_value_count(const onyx_value *value) {
  int64_t count = 0;
  if (value->kind == ONYX_VALUE_TENSOR)
    onyx_volume(value->tensor->shape, value->tensor->ndim, &count);
  if (value->kind == ONYX_VALUE_STRINGS)
    onyx_volume(value->strings.shape, value->strings.rank, &count);
  return count;
}

//===-- The other kinds ---------------------------------------------------------------------===//

static void release_strings(onyx_value *value) {
  int64_t count = onyx_value_count(value);
  for (int64_t i = 0; i < count; i++)
    free((char *)value->strings.items[i].data);
  free((onyx_bytes *)value->strings.items);
  free((int64_t *)value->strings.shape);
}

bool onyx_strings_make(const int64_t *shape, int rank, onyx_value *value) {
  int64_t count;
  *value = (onyx_value){.kind = ONYX_VALUE_NONE};
  if (!onyx_volume(shape, rank, &count))
    return false;
  int64_t *own_shape = calloc((size_t)rank + 1, sizeof *own_shape);
  onyx_bytes *items = calloc(count ? (size_t)count : 1, sizeof *items);
  if (!own_shape || !items) {
    free(own_shape);
    free(items);
    return false;
  }
  if (rank)
    memcpy(own_shape, shape, (size_t)rank * sizeof *shape);
  *value = (onyx_value){
      .kind = ONYX_VALUE_STRINGS, .strings = {rank, own_shape, items}, .release = release_strings};
  return true;
}

bool onyx_strings_set(onyx_value *value, int64_t index, const char *data, size_t size) {
  char *copy = malloc(size ? size : 1);
  if (!copy)
    return false;
  if (size)
    memcpy(copy, data, size);
  onyx_bytes *item = (onyx_bytes *)&value->strings.items[index];
  free((char *)item->data);
  *item = (onyx_bytes){copy, size};
  return true;
}

static void release_sequence(onyx_value *value) {
  onyx_value *items = onyx_sequence_items(value);
  for (size_t i = 0; i < value->sequence.count; i++)
    onyx_value_release(&items[i]);
  free(items);
}

bool onyx_sequence_make(size_t count, onyx_value *value) {
  *value = (onyx_value){.kind = ONYX_VALUE_NONE};
  onyx_value *items = calloc(count ? count : 1, sizeof *items);
  if (!items)
    return false;
  *value = (onyx_value){
      .kind = ONYX_VALUE_SEQUENCE, .sequence = {count, items}, .release = release_sequence};
  return true;
}

onyx_value *onyx_sequence_items(onyx_value *value) {
  return (onyx_value *)value->sequence.items;
}

static void release_pointer(const onyx_value *item) {
  onyx_value_release((onyx_value *)item);
  free((onyx_value *)item);
}

static void release_optional(onyx_value *value) {
  release_pointer(value->optional);
}

static void release_map(onyx_value *value) {
  release_pointer(value->map.keys);
  release_pointer(value->map.values);
}

// Moves *item into memory of its own; frees what it holds when there is none.
static onyx_value *move(onyx_value *item) {
  onyx_value *moved = malloc(sizeof *moved);
  if (!moved) {
    onyx_value_release(item);
    return NULL;
  }
  *moved = *item;
  *item = (onyx_value){.kind = ONYX_VALUE_NONE};
  return moved;
}

bool onyx_optional_make(onyx_value *item, onyx_value *value) {
  onyx_value *moved = item ? move(item) : NULL;
  *value = (onyx_value){.kind = ONYX_VALUE_NONE};
  if (item && !moved)
    return false;
  *value =
      (onyx_value){.kind = ONYX_VALUE_OPTIONAL, .optional = moved, .release = release_optional};
  return true;
}

bool onyx_map_make(onyx_value *keys, onyx_value *values, onyx_value *value) {
  onyx_value *k = move(keys), *v = move(values);
  *value = (onyx_value){.kind = ONYX_VALUE_NONE};
  if (!k || !v) {
    release_pointer(k);
    release_pointer(v);
    return false;
  }
  *value = (onyx_value){.kind = ONYX_VALUE_MAP, .map = {k, v}, .release = release_map};
  return true;
}
