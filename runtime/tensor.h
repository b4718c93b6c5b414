// Tensors at the interface: checked and laid out for compiled code, results handed out.
#ifndef ONYX_RUNTIME_TENSOR_H
#define ONYX_RUNTIME_TENSOR_H

#include "runtime/types.h"

// A descriptor of LLVM's memref: allocated, aligned, offset, sizes[rank], strides[rank], all of 8
// bytes.
enum { ONYX_DESC_ALLOCATED, ONYX_DESC_ALIGNED, ONYX_DESC_OFFSET, ONYX_DESC_SIZES };
static inline size_t onyx_desc_words(int rank) {
  return 3 + 2 * (size_t)rank;
}
// Row-major strides for the sizes.
void onyx_desc_fill(int64_t *desc, const void *data, const int64_t *sizes, int rank);

// Checks a value against parameter `index` and writes a descriptor of a dense tensor, one element a
// byte for sub-byte types, aligned to its element. *copy is NULL or memory that the caller frees
// after the run. Errors name the input, what was expected and what was found.
bool onyx_input_prepare(const onyx_parameter *param, size_t index, const onyx_value *value,
                        int64_t *desc, void **copy, onyx_error *error);

// Makes a value of the result in the descriptor, whose buffer it takes over (and the descriptor's
// `allocated` becomes NULL) on success and on failure alike.
bool onyx_output_take(const onyx_parameter *param, size_t index, int64_t *desc, onyx_value *value,
                      onyx_error *error);

#endif
