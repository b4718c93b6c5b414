// Exact conversions between the standard's element types and C's double and integers.
//
// Memory form: one element in its natural width; bool, 4- and 2-bit types one byte an element
// (integers: the value, sign-extended for signed ones; f4: its code in the low bits).
#ifndef ONYX_CONVERT_H
#define ONYX_CONVERT_H

#include "dialects/onnx/schema/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of one element in memory form; 0 for strings and unknown types.
int onyx_elem_bytes(onyx_elem elem);

// Floats of at most 32 bits: value of a code, and the code nearest to a value, ties to even. Out of
// range: infinity where the type has one and NaN where it has not, or, with `saturate`, the largest
// finite value. f4 has neither: it always saturates, and NaN becomes -0. E8M0 has no sign:
// the magnitude counts.
double onyx_float_decode(onyx_elem elem, uint32_t code);
uint32_t onyx_float_encode(onyx_elem elem, double value, bool saturate);
// The value that remains of `value` in a type: decode(encode(value)); f64 keeps it.
double onyx_float_round(onyx_elem elem, double value);

// Element i of memory in memory form. Integers and bools as their value (u64 above INT64_MAX wraps
// in the integer form). Complex: the real part.
double onyx_element_to_double(onyx_elem elem, const void *data, int64_t i);
int64_t onyx_element_to_int(onyx_elem elem, const void *data, int64_t i);
// Writes it; integers wrap to the width, floats round.
void onyx_element_from_double(onyx_elem elem, void *data, int64_t i, double value);
void onyx_element_from_int(onyx_elem elem, void *data, int64_t i, int64_t value);

// Integers of a type: wraps to its width (signed: sign-extended; unsigned: zero-extended).
int64_t onyx_int_wrap(onyx_elem elem, int64_t value);
int64_t onyx_int_lowest(onyx_elem elem);
int64_t onyx_int_highest(onyx_elem elem); // u64: -1, all bits set
// Double to integer: truncates, saturates; NaN gives 0. u64 above INT64_MAX as its bits.
int64_t onyx_int_from_double(onyx_elem elem, double value);

// Packed form of files and of the C interface (low bits first) to memory form and back, for 4- and
// 2-bit types; `packed` holds (count * bits + 7) / 8 bytes.
void onyx_unpack(onyx_elem elem, const void *packed, int64_t count, void *out);
void onyx_pack(onyx_elem elem, const void *data, int64_t count, void *packed);

#ifdef __cplusplus
}
#endif
#endif
