#include "runtime/tensor.h"

#include "runtime/error.h"
#include "runtime/pack.h"
#include "runtime/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void onyx_desc_fill(int64_t *desc, const void *data, const int64_t *sizes, int rank) {
  desc[ONYX_DESC_ALLOCATED] = desc[ONYX_DESC_ALIGNED] = (int64_t)(intptr_t)data;
  desc[ONYX_DESC_OFFSET] = 0;
  int64_t stride = 1;
  for (int i = rank; i-- > 0;) {
    desc[ONYX_DESC_SIZES + i] = sizes[i];
    desc[ONYX_DESC_SIZES + rank + i] = stride;
    // Wraps only where a zero elsewhere makes the strides meaningless.
    stride = (int64_t)((uint64_t)stride * (uint64_t)sizes[i]);
  }
}

//===-- Checks of an input ------------------------------------------------------------------===//

static const char *const kind_names[] = {"nothing",    "a tensor",    "strings",
                                         "a sequence", "an optional", "a map"};

static const char *kind_name(onyx_value_kind kind) {
  return (unsigned)kind < sizeof kind_names / sizeof kind_names[0] ? kind_names[kind]
                                                                   : "an unknown kind of value";
}

static void shape_text(char *to, size_t size, const int64_t *shape, int rank) {
  size_t used = (size_t)snprintf(to, size, "[");
  for (int i = 0; i < rank && used < size; i++)
    used += (size_t)snprintf(to + used, size - used, i ? ", %lld" : "%lld", (long long)shape[i]);
  if (used < size)
    snprintf(to + used, size - used, "]");
}

static void dtype_text(char *to, size_t size, DLDataType dtype) {
  const onyx_element *element = onyx_element_of_dtype(dtype);
  if (element)
    snprintf(to, size, "%s", element->mlir);
  else
    snprintf(to, size, "DLPack code %d, %d bits, %d lanes", dtype.code, dtype.bits, dtype.lanes);
}

typedef struct input {
  const onyx_parameter *param;
  size_t index;
  onyx_error *error;
} input;

static bool refuse(const input *in, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(const input *in, const char *format, ...) {
  char text[384];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return onyx_rt_fail(in->error, ONYX_BAD_ARGUMENT, "input %zu \"%.100s\": %s", in->index,
                      in->param->name, text);
}

static bool check_shape(const input *in, const DLTensor *t) {
  const onyx_type *type = &in->param->type;
  char found[128];
  if (t->ndim != type->rank)
    return refuse(in, "expected rank %d (%.150s), found rank %d", type->rank, in->param->text,
                  t->ndim);
  if (t->ndim && !t->shape)
    return refuse(in, "the tensor has no shape");
  shape_text(found, sizeof found, t->shape, t->ndim);
  for (int i = 0; i < t->ndim; i++) {
    if (type->dims[i].size >= 0 && t->shape[i] != type->dims[i].size)
      return refuse(in, "expected %.150s, found shape %s", in->param->text, found);
    if (t->shape[i] < 0)
      return refuse(in, "negative dimension in shape %s", found);
  }
  return true;
}

static bool check_tensor(const input *in, const DLTensor *t) {
  const onyx_type *type = &in->param->type;
  if (!t)
    return refuse(in, "the tensor is missing");
  if (!onyx_dtype_equal(t->dtype, type->dtype)) {
    char expected[64], found[64];
    dtype_text(expected, sizeof expected, type->dtype);
    dtype_text(found, sizeof found, t->dtype);
    return refuse(in, "expected element type %s, found %s", expected, found);
  }
  if (t->device.device_type != kDLCPU)
    return refuse(in, "expected a tensor in CPU memory, found device type %d",
                  (int)t->device.device_type);
  return check_shape(in, t);
}

static bool is_dense(const DLTensor *t) {
  if (!t->strides)
    return true;
  int64_t stride = 1;
  for (int i = t->ndim; i-- > 0;) {
    if (t->shape[i] != 1 && t->strides[i] != stride)
      return false;
    stride *= t->shape[i]; // the volume was checked
  }
  return true;
}

//===-- Copies ------------------------------------------------------------------------------===//

// Row-major copy of a tensor with any strides, recursing over dimensions; returns the end of what
// it wrote.
static char *copy_strided(char *to, const char *from, const DLTensor *t, int dim, size_t size) {
  if (dim == t->ndim) {
    memcpy(to, from, size);
    return to + size;
  }
  int64_t step = t->strides[dim] * (int64_t)size;
  if (dim == t->ndim - 1 && t->strides[dim] == 1) {
    memcpy(to, from, (size_t)t->shape[dim] * size);
    return to + (size_t)t->shape[dim] * size;
  }
  for (int64_t i = 0; i < t->shape[dim]; i++)
    to = copy_strided(to, from + i * step, t, dim + 1, size);
  return to;
}

static size_t element_alignment(const onyx_type *type) {
  size_t bytes = type->dtype.bits < 8 ? 1 : type->dtype.bits / 8u;
  return type->dtype.code == kDLComplex ? bytes / 2 : bytes;
}

static bool has_odd_bools(const uint8_t *bytes, int64_t count) {
  uint8_t all = 0;
  for (int64_t i = 0; i < count; i++)
    all |= bytes[i];
  return all > 1;
}

static const char *prepare_packed(const DLTensor *t, int64_t count, const char *data, void **copy) {
  uint8_t *bytes = malloc((size_t)count);
  if (bytes)
    onyx_unpack((const uint8_t *)data, count, t->dtype.bits, t->dtype.code == kDLInt, bytes);
  *copy = bytes;
  return (char *)bytes;
}

// Dense, aligned memory with the tensor's elements: its own or a copy. NULL when memory is short.
static const char *prepare_data(const onyx_type *type, const DLTensor *t, int64_t count,
                                size_t bytes, void **copy) {
  const char *data = (const char *)t->data + t->byte_offset;
  if (t->dtype.bits < 8)
    return prepare_packed(t, count, data, copy);
  bool dense = is_dense(t);
  bool is_bool = t->dtype.code == ONYX_DL_BOOL;
  bool aligned = (uintptr_t)data % element_alignment(type) == 0;
  if (dense && aligned && !(is_bool && has_odd_bools((const uint8_t *)data, count)))
    return data;
  char *to = malloc(bytes);
  if (!to)
    return NULL;
  if (dense)
    memcpy(to, data, bytes);
  else
    copy_strided(to, data, t, 0, t->dtype.bits / 8u);
  // Compiled code reads i1 from these bytes: any other bit would be undefined there.
  for (int64_t i = 0; is_bool && i < count; i++)
    to[i] = to[i] != 0;
  *copy = to;
  return to;
}

bool onyx_input_prepare(const onyx_parameter *param, size_t index, const onyx_value *value,
                        int64_t *desc, void **copy, onyx_error *error) {
  // For a tensor without elements, whose data may be NULL.
  static const int64_t nothing[2] = {0, 0};
  input in = {param, index, error};
  *copy = NULL;
  if (value->kind != param->type.kind)
    return refuse(&in, "expected %s (%.150s), found %s", kind_name(param->type.kind), param->text,
                  kind_name(value->kind));
  const DLTensor *t = value->tensor;
  if (!check_tensor(&in, t))
    return false;
  int64_t count;
  size_t bytes;
  if (!onyx_volume(t->shape, t->ndim, &count) || !onyx_packed_bytes(count, t->dtype.bits, &bytes))
    return refuse(&in, "the tensor has more elements than memory can hold");
  if (count && !t->data)
    return refuse(&in, "the tensor has no data");
  if (count && t->dtype.bits < 8 && !is_dense(t))
    return refuse(&in, "a tensor of %d-bit elements cannot have strides", t->dtype.bits);
  const void *data = nothing;
  if (count)
    data = prepare_data(&param->type, t, count, bytes, copy);
  if (!data)
    return onyx_rt_fail(error, ONYX_OUT_OF_MEMORY,
                        "input %zu \"%.100s\": no memory for a copy of %zu bytes", index,
                        param->name, bytes);
  onyx_desc_fill(desc, data, t->shape, t->ndim);
  return true;
}

//===-- Results -----------------------------------------------------------------------------===//

// Compiled code keeps its promises unless it was written by hand: a result that breaks them is
// told.
static bool check_result(const onyx_parameter *param, size_t index, const int64_t *desc,
                         int64_t *count, onyx_error *error) {
  const onyx_type *type = &param->type;
  const int64_t *sizes = desc + ONYX_DESC_SIZES;
  char found[128];
  shape_text(found, sizeof found, sizes, type->rank);
  bool fits = onyx_volume(sizes, type->rank, count);
  for (int i = 0; fits && i < type->rank; i++)
    fits = type->dims[i].size < 0 || type->dims[i].size == sizes[i];
  if (!fits)
    return onyx_rt_fail(error, ONYX_BAD_MODEL,
                        "output %zu \"%.100s\": the model promised %.150s and made shape %s", index,
                        param->name, param->text, found);
  if (*count && !desc[ONYX_DESC_ALIGNED])
    return onyx_rt_fail(error, ONYX_OUT_OF_MEMORY, "output %zu \"%.100s\": no memory for shape %s",
                        index, param->name, found);
  return true;
}

// First element of the result; sub-byte elements are packed in place.
static void *result_data(const onyx_type *type, const int64_t *desc, int64_t count) {
  char *data = (char *)(intptr_t)desc[ONYX_DESC_ALIGNED];
  if (!data)
    return NULL;
  if (type->dtype.bits >= 8)
    return data + desc[ONYX_DESC_OFFSET] * (type->dtype.bits / 8);
  uint8_t *bytes = (uint8_t *)data + desc[ONYX_DESC_OFFSET];
  onyx_pack(bytes, count, type->dtype.bits, bytes);
  return bytes;
}

bool onyx_output_take(const onyx_parameter *param, size_t index, int64_t *desc, onyx_value *value,
                      onyx_error *error) {
  void *buffer = (void *)(intptr_t)desc[ONYX_DESC_ALLOCATED];
  desc[ONYX_DESC_ALLOCATED] = 0;
  int64_t count;
  if (!check_result(param, index, desc, &count, error)) {
    free(buffer);
    return false;
  }
  int rank = param->type.rank;
  void *data = result_data(&param->type, desc, count);
  const int64_t *sizes = desc + ONYX_DESC_SIZES;
  return onyx_tensor_own(param->type.dtype, sizes, sizes + rank, rank, data, buffer, value) ||
         onyx_rt_fail(error, ONYX_OUT_OF_MEMORY, "output %zu \"%.100s\": no memory", index,
                      param->name);
}
