#include "runtime/pack.h"

void onyx_unpack(const uint8_t *packed, int64_t count, int bits, bool is_signed, uint8_t *bytes) {
  int per_byte = 8 / bits;
  uint8_t mask = (uint8_t)((1 << bits) - 1), sign = (uint8_t)(1 << (bits - 1));
  for (int64_t i = 0; i < count; i++) {
    uint8_t value = (uint8_t)(packed[i / per_byte] >> (i % per_byte * bits)) & mask;
    bytes[i] = is_signed ? (uint8_t)((value ^ sign) - sign) : value;
  }
}

void onyx_pack(const uint8_t *bytes, int64_t count, int bits, uint8_t *packed) {
  int per_byte = 8 / bits;
  uint8_t mask = (uint8_t)((1 << bits) - 1);
  for (int64_t i = 0; i < count; i += per_byte) {
    uint8_t byte = 0;
    for (int k = 0; k < per_byte && i + k < count; k++)
      byte |= (uint8_t)((bytes[i + k] & mask) << (k * bits));
    packed[i / per_byte] = byte;
  }
}
