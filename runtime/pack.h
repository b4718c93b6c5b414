// ONNX's packed form of 4- and 2-bit elements, low bits first, and back to one element a byte.
#ifndef ONYX_RUNTIME_PACK_H
#define ONYX_RUNTIME_PACK_H

#include <stdbool.h>
#include <stdint.h>

// bits is 4 or 2. Signed elements are sign-extended to the byte.
void onyx_unpack(const uint8_t *packed, int64_t count, int bits, bool is_signed, uint8_t *bytes);
// Bits past the last element are zero. `packed` and `bytes` may be the same memory.
void onyx_pack(const uint8_t *bytes, int64_t count, int bits, uint8_t *packed);

#endif
