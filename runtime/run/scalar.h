// Elements of every type as numbers, and back.
#ifndef ONYX_RUN_SCALAR_H
#define ONYX_RUN_SCALAR_H

#include "runtime/types.h"

// An element, exact in one of its fields.
typedef enum scalar_kind {
  SCALAR_REAL,
  SCALAR_SIGNED,
  SCALAR_UNSIGNED,
  SCALAR_COMPLEX
} scalar_kind;
typedef struct scalar {
  double re, im; // REAL, COMPLEX
  int64_t i;     // SIGNED
  uint64_t u;    // UNSIGNED and bool
} scalar;

scalar_kind scalar_kind_of(onyx_elem elem);

// Element `index` of packed memory.
scalar scalar_load(onyx_elem elem, const void *data, int64_t index);
// Rounds to nearest even. False when the type cannot hold the value: an integer out of range, a
// real past the largest finite one (or an infinity, NaN, zero or sign) that the format lacks.
bool scalar_store(onyx_elem elem, void *data, int64_t index, scalar value);

// "1.5", "-7", "nan", "(1,2)": the shortest text that reads back as the same element.
void scalar_print(char *to, size_t size, onyx_elem elem, scalar value);
// Reads all of `text`; false when it is no value of the type.
bool scalar_parse(onyx_elem elem, const char *text, scalar *value);

#endif
