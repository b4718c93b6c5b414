// Values from and to files and text. Readers are bounded by the size of what they read: no length
// or dimension in a file makes them allocate more than a small multiple of it.
#ifndef ONYX_RUN_FILES_H
#define ONYX_RUN_FILES_H

#include "runtime/types.h"

#include <stdio.h>

// A message without the file's name.
typedef struct read_error {
  char text[256];
} read_error;
bool read_fail(read_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

// ONNX protobuf: TensorProto, SequenceProto, OptionalProto or MapProto, by the kind expected.
bool pb_read(const void *bytes, size_t size, const onyx_type *expected, onyx_value *value,
             read_error *error);
// Appends the message of any value to the file; element types of tensors are ONNX's.
bool pb_write(FILE *file, const onyx_value *value);

// NumPy's .npy, versions 1 to 3, either order and endianness. `expected` (or NULL) tells what the
// raw bytes of types are that NumPy lacks (bfloat16, float8: descr |V1, |V2); 4- and 2-bit types
// come and go as .pb only.
bool npy_read(const void *bytes, size_t size, const onyx_type *expected, onyx_value *value,
              read_error *error);
// True if the value is a tensor of a type NumPy has.
bool npy_can_write(const onyx_value *value);
bool npy_write(FILE *file, const onyx_value *value);

// "2x3xf32=1 2 3 4 5 6", "f32=1", "2xstr=a \"b c\"", "none" (an absent optional).
bool text_read(const char *text, const onyx_type *expected, onyx_value *value, read_error *error);
// The same form; at most `limit` elements, then "...".
void text_write(FILE *file, const onyx_value *value, int64_t limit);

// An argument of onyx-run: a path ending in .pb or .npy, or text.
bool value_read(const char *argument, const onyx_type *expected, onyx_value *value,
                read_error *error);

#endif
