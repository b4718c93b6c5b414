// Small floats are described by a table; one routine decodes and one encodes them all.
#include "dialects/onnx/ops/convert.h"

#include <math.h>
#include <string.h>

typedef struct float_format {
  int exponent_bits, mantissa_bits, bias;
  uint32_t max_code; // largest finite
  int64_t inf_code;  // -1: none
  uint32_t nan_code; // f4 has none: NaN becomes -0 there, as in the reference
  bool negative_zero;
} float_format;

// E8M0 (exponent only, no sign, no zero) is handled apart.
static const float_format *format_of(onyx_elem elem) {
  static const float_format f16 = {5, 10, 15, 0x7bff, 0x7c00, 0x7e00, true},
                            bf16 = {8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, true},
                            e4m3fn = {4, 3, 7, 0x7e, -1, 0x7f, true},
                            e4m3fnuz = {4, 3, 8, 0x7f, -1, 0x80, false},
                            e5m2 = {5, 2, 15, 0x7b, 0x7c, 0x7e, true},
                            e5m2fnuz = {5, 2, 16, 0x7f, -1, 0x80, false},
                            e2m1 = {2, 1, 1, 0x7, -1, 0x8, true};
  switch (elem) {
  case ONYX_F16:
    return &f16;
  case ONYX_BF16:
    return &bf16;
  case ONYX_F8E4M3FN:
    return &e4m3fn;
  case ONYX_F8E4M3FNUZ:
    return &e4m3fnuz;
  case ONYX_F8E5M2:
    return &e5m2;
  case ONYX_F8E5M2FNUZ:
    return &e5m2fnuz;
  case ONYX_F4E2M1:
    return &e2m1;
  default:
    return NULL;
  }
}

int onyx_elem_bytes(onyx_elem elem) {
  return (onyx_elem_bits(elem) + 7) / 8;
}

static int sign_shift(const float_format *f) {
  return f->exponent_bits + f->mantissa_bits;
}

static double decode_format(const float_format *f, uint32_t code) {
  bool negative = code >> sign_shift(f) & 1;
  uint32_t magnitude = code & ((1u << sign_shift(f)) - 1);
  if (!f->negative_zero && code == f->nan_code)
    return NAN;
  if (magnitude > f->max_code)
    return (int64_t)magnitude == f->inf_code ? (negative ? -INFINITY : INFINITY) : NAN;
  int exponent = (int)(magnitude >> f->mantissa_bits);
  double mantissa = magnitude & ((1u << f->mantissa_bits) - 1);
  double value = exponent == 0 ? ldexp(mantissa, 1 - f->bias - f->mantissa_bits)
                               : ldexp(mantissa + (1 << f->mantissa_bits),
                                       exponent - f->bias - f->mantissa_bits);
  return negative ? -value : value;
}

// The magnitude's code: exponent and mantissa lie side by side, so a mantissa that rounds up to the
// next power of two carries into the exponent by itself.
static uint32_t encode_magnitude(const float_format *f, double value) {
  int exponent;
  if (value == 0)
    return 0;
  frexp(value, &exponent); // value = m * 2^exponent, m in [0.5, 1)
  int biased = exponent - 1 + f->bias;
  if (biased < 1)
    biased = 1;                                                                // subnormal
  double units = nearbyint(ldexp(value, f->mantissa_bits + f->bias - biased)); // ties to even
  return (uint32_t)((biased - 1) << f->mantissa_bits) + (uint32_t)units;
}

static uint32_t encode_format(const float_format *f, double value, bool saturate) {
  if (isnan(value))
    return f->nan_code;
  uint32_t sign = signbit(value) ? 1u << sign_shift(f) : 0;
  double magnitude = fabs(value), largest = decode_format(f, f->max_code);
  uint32_t code = f->max_code + 1;
  if (magnitude <= 2 * largest)
    code = encode_magnitude(f, magnitude);
  if (code > f->max_code) {
    if (saturate || f->exponent_bits == 2)
      code = f->max_code;
    else if (f->inf_code >= 0)
      code = (uint32_t)f->inf_code;
    else
      return f->negative_zero ? sign | f->nan_code : f->nan_code;
  }
  return code == 0 && !f->negative_zero ? 0 : sign | code;
}

// Nearest power of two of the magnitude, as the reference implementation's "nearest".
static uint32_t encode_e8m0(double value) {
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  uint32_t exponent = bits >> 23 & 0xff;
  if (exponent == 0xff)
    return 0xff;
  bool guard = bits & 0x400000, rest = bits & 0x3fffff, lowest = exponent > 0;
  return guard && (rest || lowest) && exponent < 0xfe ? exponent + 1 : exponent;
}

double onyx_float_decode(onyx_elem elem, uint32_t code) {
  const float_format *f = format_of(elem);
  if (f)
    return decode_format(f, code);
  if (elem == ONYX_F8E8M0)
    return code == 0xff ? NAN : ldexp(1.0, (int)code - 127);
  float value;
  memcpy(&value, &code, sizeof value);
  return value;
}

uint32_t onyx_float_encode(onyx_elem elem, double value, bool saturate) {
  const float_format *f = format_of(elem);
  if (f)
    return encode_format(f, value, saturate);
  if (elem == ONYX_F8E8M0)
    return encode_e8m0(value);
  float narrow = (float)value;
  uint32_t code;
  memcpy(&code, &narrow, sizeof code);
  return code;
}

double onyx_float_round(onyx_elem elem, double value) {
  if (elem == ONYX_F64)
    return value;
  if (elem == ONYX_F32)
    return (float)value;
  return onyx_float_decode(elem, onyx_float_encode(elem, value, false));
}

// --- integers

int64_t onyx_int_wrap(onyx_elem elem, int64_t value) {
  int bits = onyx_elem_bits(elem);
  if (elem == ONYX_BOOL)
    return value != 0;
  if (bits == 0 || bits >= 64)
    return value;
  uint64_t low = (uint64_t)value & ((UINT64_C(1) << bits) - 1);
  if (onyx_elem_is_signed(elem) && low >> (bits - 1))
    low |= ~UINT64_C(0) << bits;
  return (int64_t)low;
}

int64_t onyx_int_lowest(onyx_elem elem) {
  return onyx_elem_is_signed(elem) ? -(int64_t)((UINT64_C(1) << (onyx_elem_bits(elem) - 1)) - 1) - 1
                                   : 0;
}

int64_t onyx_int_highest(onyx_elem elem) {
  if (elem == ONYX_BOOL)
    return 1;
  if (onyx_elem_is_signed(elem))
    return (int64_t)((UINT64_C(1) << (onyx_elem_bits(elem) - 1)) - 1);
  return onyx_int_wrap(elem, -1);
}

int64_t onyx_int_from_double(onyx_elem elem, double value) {
  if (isnan(value))
    return 0;
  if (elem == ONYX_BOOL)
    return value != 0;
  value = trunc(value);
  if (elem == ONYX_U64) {
    if (value >= 18446744073709551616.0)
      return -1;
    return value <= 0 ? 0 : (int64_t)(uint64_t)value;
  }
  int64_t lowest = onyx_int_lowest(elem), highest = onyx_int_highest(elem);
  if (value <= (double)lowest)
    return lowest;
  return value >= (double)highest ? highest : (int64_t)value;
}

// --- elements in memory

double onyx_element_to_double(onyx_elem elem, const void *data, int64_t i) {
  const char *p = (const char *)data + i * onyx_elem_bytes(elem);
  float f;
  double d;
  uint16_t half;
  switch (elem) {
  case ONYX_F32:
  case ONYX_C64:
    memcpy(&f, p, sizeof f);
    return f;
  case ONYX_F64:
  case ONYX_C128:
    memcpy(&d, p, sizeof d);
    return d;
  case ONYX_F16:
  case ONYX_BF16:
    memcpy(&half, p, sizeof half);
    return onyx_float_decode(elem, half);
  default:
    break;
  }
  if (onyx_elem_is_float(elem))
    return onyx_float_decode(elem, (uint8_t)*p);
  int64_t value = onyx_element_to_int(elem, data, i);
  return elem == ONYX_U64 ? (double)(uint64_t)value : (double)value;
}

int64_t onyx_element_to_int(onyx_elem elem, const void *data, int64_t i) {
  if (onyx_elem_is_float(elem) || onyx_elem_is_complex(elem))
    return onyx_int_from_double(ONYX_I64, onyx_element_to_double(elem, data, i));
  int bytes = onyx_elem_bytes(elem);
  uint64_t bits = 0;
  if (bytes == 0 || bytes > 8)
    return 0;
  memcpy(&bits, (const char *)data + i * bytes, (size_t)bytes); // little-endian hosts only
  return onyx_int_wrap(elem, (int64_t)bits);
}

void onyx_element_from_double(onyx_elem elem, void *data, int64_t i, double value) {
  char *p = (char *)data + i * onyx_elem_bytes(elem);
  float f = (float)value;
  uint32_t code;
  switch (elem) {
  case ONYX_F32:
    memcpy(p, &f, sizeof f);
    return;
  case ONYX_F64:
    memcpy(p, &value, sizeof value);
    return;
  case ONYX_C64:
    memset(p, 0, 8);
    memcpy(p, &f, sizeof f);
    return;
  case ONYX_C128:
    memset(p, 0, 16);
    memcpy(p, &value, sizeof value);
    return;
  default:
    break;
  }
  if (onyx_elem_is_float(elem)) {
    code = onyx_float_encode(elem, value, false);
    memcpy(p, &code, (size_t)onyx_elem_bytes(elem));
    return;
  }
  onyx_element_from_int(elem, data, i, onyx_int_from_double(elem, value));
}

void onyx_element_from_int(onyx_elem elem, void *data, int64_t i, int64_t value) {
  if (onyx_elem_is_float(elem) || onyx_elem_is_complex(elem)) {
    onyx_element_from_double(elem, data, i, (double)value);
    return;
  }
  int bytes = onyx_elem_bytes(elem);
  value = onyx_int_wrap(elem, value);
  if (bytes > 0 && bytes <= 8)
    memcpy((char *)data + i * bytes, &value, (size_t)bytes);
}

// --- packed forms

void onyx_unpack(onyx_elem elem, const void *packed, int64_t count, void *out) {
  int bits = onyx_elem_bits(elem);
  const uint8_t *from = packed;
  for (int64_t i = 0; i < count; i++) {
    uint8_t code = (uint8_t)(from[i * bits / 8] >> (i * bits % 8)) & (uint8_t)((1 << bits) - 1);
    ((uint8_t *)out)[i] = onyx_elem_is_float(elem) ? code : (uint8_t)onyx_int_wrap(elem, code);
  }
}

void onyx_pack(onyx_elem elem, const void *data, int64_t count, void *packed) {
  int bits = onyx_elem_bits(elem);
  uint8_t *to = packed;
  memset(to, 0, (size_t)((count * bits + 7) / 8));
  for (int64_t i = 0; i < count; i++) {
    uint8_t code = ((const uint8_t *)data)[i] & (uint8_t)((1 << bits) - 1);
    to[i * bits / 8] |= (uint8_t)(code << (i * bits % 8));
  }
}
