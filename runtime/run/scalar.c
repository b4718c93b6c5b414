#include "runtime/run/scalar.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===-- Small floats ------------------------------------------------------------------------===//

// What the all-ones exponent means: infinities and NaNs (IEEE), numbers but for NaN in the last
// pattern (FN), numbers and NaN in the place of minus zero (FNUZ), numbers only (PLAIN).
typedef enum specials { IEEE, FN, FNUZ, PLAIN } specials;

typedef struct format {
  int exponent_bits, mantissa_bits, bias;
  specials specials;
} format;

// f8E8M0 is apart: it has neither sign nor mantissa nor zero.
static const format *format_of(onyx_elem elem) {
  static const format f16 = {5, 10, 15, IEEE}, bf16 = {8, 7, 127, IEEE}, e4m3fn = {4, 3, 7, FN},
                      e4m3fnuz = {4, 3, 8, FNUZ}, e5m2 = {5, 2, 15, IEEE},
                      e5m2fnuz = {5, 2, 16, FNUZ}, e2m1 = {2, 1, 1, PLAIN};
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

static double decode(const format *f, uint32_t bits) {
  uint32_t mantissa = bits & ((1u << f->mantissa_bits) - 1);
  uint32_t exponent = bits >> f->mantissa_bits & ((1u << f->exponent_bits) - 1);
  uint32_t sign = bits >> (f->mantissa_bits + f->exponent_bits) & 1;
  bool top = exponent == (1u << f->exponent_bits) - 1;
  if (f->specials == IEEE && top)
    return mantissa ? NAN : sign ? -INFINITY : INFINITY;
  if (f->specials == FN && top && mantissa == (1u << f->mantissa_bits) - 1)
    return NAN;
  if (f->specials == FNUZ && sign && !exponent && !mantissa)
    return NAN;
  double m =
      exponent ? 1.0 + ldexp(mantissa, -f->mantissa_bits) : ldexp(mantissa, -f->mantissa_bits);
  double value = ldexp(m, (int)(exponent ? exponent : 1) - f->bias);
  return sign ? -value : value;
}

static double largest(const format *f) {
  uint32_t all = (1u << (f->exponent_bits + f->mantissa_bits)) - 1;
  if (f->specials == IEEE)
    all = ((1u << f->exponent_bits) - 1) * (1u << f->mantissa_bits) - 1;
  return decode(f, f->specials == FN ? all - 1 : all);
}

static bool encode_special(const format *f, double value, uint32_t sign, uint32_t *bits) {
  uint32_t top = ((1u << f->exponent_bits) - 1) << f->mantissa_bits;
  if (isnan(value)) {
    static const int quiet[] = {[IEEE] = 1, [FN] = 1, [FNUZ] = 1, [PLAIN] = 0};
    *bits = f->specials == IEEE ? top | 1u << (f->mantissa_bits - 1)
            : f->specials == FN ? top | ((1u << f->mantissa_bits) - 1)
                                : 1u << (f->exponent_bits + f->mantissa_bits);
    return quiet[f->specials];
  }
  *bits = sign | top; // an infinity
  return f->specials == IEEE;
}

static bool encode(const format *f, double value, uint32_t *bits) {
  uint32_t sign = signbit(value) ? 1u << (f->exponent_bits + f->mantissa_bits) : 0;
  if (isnan(value) || isinf(value))
    return encode_special(f, value, sign, bits);
  double magnitude = fabs(value);
  int smallest = 1 - f->bias, exponent = smallest;
  if (magnitude > 0)
    frexp(magnitude, &exponent), exponent--; // magnitude in [2^exponent, 2^(exponent+1))
  if (exponent < smallest)
    exponent = smallest;
  // Whole steps of the format in this binade: exact, rounded to even by the default mode.
  double steps = rint(ldexp(magnitude, f->mantissa_bits - exponent));
  if (ldexp(steps, exponent - f->mantissa_bits) > largest(f)) {
    *bits = sign | ((1u << f->exponent_bits) - 1) << f->mantissa_bits;
    return f->specials == IEEE;
  }
  // Carries of the mantissa run into the exponent as they should.
  uint32_t code = (uint32_t)steps + ((uint32_t)(exponent - smallest) << f->mantissa_bits);
  if (f->specials == FNUZ && !code)
    sign = 0;
  *bits = sign | code;
  return true;
}

static bool encode_e8m0(double value, uint32_t *bits) {
  if (isnan(value)) {
    *bits = 255;
    return true;
  }
  int exponent;
  // A power of two is 0.5 * 2^exponent.
  if (!(value > 0) || isinf(value) || frexp(value, &exponent) != 0.5 || exponent - 1 < -127 ||
      exponent - 1 > 127)
    return false;
  *bits = (uint32_t)(exponent - 1 + 127);
  return true;
}

//===-- Elements in memory ------------------------------------------------------------------===//

scalar_kind scalar_kind_of(onyx_elem elem) {
  switch (elem) {
  case ONYX_I8:
  case ONYX_I16:
  case ONYX_I32:
  case ONYX_I64:
  case ONYX_I4:
  case ONYX_I2:
    return SCALAR_SIGNED;
  case ONYX_U8:
  case ONYX_U16:
  case ONYX_U32:
  case ONYX_U64:
  case ONYX_U4:
  case ONYX_U2:
  case ONYX_BOOL:
    return SCALAR_UNSIGNED;
  case ONYX_C64:
  case ONYX_C128:
    return SCALAR_COMPLEX;
  default:
    return SCALAR_REAL;
  }
}

static int bits_of(onyx_elem elem) {
  return onyx_element_of((int)elem)->dtype.bits;
}

// Element of 2 to 64 bits; memory is little-endian.
static uint64_t load_bits(const void *data, int bits, int64_t index) {
  if (bits < 8) {
    int per_byte = 8 / bits;
    return (uint64_t)(((const uint8_t *)data)[index / per_byte] >> (index % per_byte * bits) &
                      ((1 << bits) - 1));
  }
  uint64_t value = 0;
  memcpy(&value, (const char *)data + index * (bits / 8), (size_t)bits / 8);
  return value;
}

static void store_bits(void *data, int bits, int64_t index, uint64_t value) {
  if (bits < 8) {
    int per_byte = 8 / bits, shift = (int)(index % per_byte) * bits, mask = (1 << bits) - 1;
    uint8_t *byte = (uint8_t *)data + index / per_byte;
    *byte = (uint8_t)((*byte & ~(mask << shift)) | (((int)value & mask) << shift));
    return;
  }
  memcpy((char *)data + index * (bits / 8), &value, (size_t)bits / 8);
}

static double load_real(onyx_elem elem, const void *data, int64_t index) {
  float f;
  double d;
  if (elem == ONYX_F32) {
    memcpy(&f, (const char *)data + index * 4, 4);
    return f;
  }
  if (elem == ONYX_F64) {
    memcpy(&d, (const char *)data + index * 8, 8);
    return d;
  }
  uint32_t bits = (uint32_t)load_bits(data, bits_of(elem), index);
  if (elem == ONYX_F8E8M0)
    return bits == 255 ? NAN : ldexp(1, (int)bits - 127);
  return decode(format_of(elem), bits);
}

static bool store_real(onyx_elem elem, void *data, int64_t index, double value) {
  float f = (float)value;
  if (elem == ONYX_F32) {
    memcpy((char *)data + index * 4, &f, 4);
    return !isinf(f) || isinf(value);
  }
  if (elem == ONYX_F64) {
    memcpy((char *)data + index * 8, &value, 8);
    return true;
  }
  uint32_t bits = 0;
  bool ok = elem == ONYX_F8E8M0 ? encode_e8m0(value, &bits) : encode(format_of(elem), value, &bits);
  store_bits(data, bits_of(elem), index, bits);
  return ok;
}

scalar scalar_load(onyx_elem elem, const void *data, int64_t index) {
  int bits = bits_of(elem);
  switch (scalar_kind_of(elem)) {
  case SCALAR_SIGNED: {
    int shift = 64 - bits;
    return (scalar){.i = (int64_t)(load_bits(data, bits, index) << shift) >> shift};
  }
  case SCALAR_UNSIGNED:
    return (scalar){.u = load_bits(data, bits, index)};
  case SCALAR_COMPLEX: {
    onyx_elem part = elem == ONYX_C64 ? ONYX_F32 : ONYX_F64;
    return (scalar){.re = load_real(part, data, 2 * index),
                    .im = load_real(part, data, 2 * index + 1)};
  }
  default:
    return (scalar){.re = load_real(elem, data, index)};
  }
}

bool scalar_store(onyx_elem elem, void *data, int64_t index, scalar value) {
  int bits = bits_of(elem);
  switch (scalar_kind_of(elem)) {
  case SCALAR_SIGNED: {
    store_bits(data, bits, index, (uint64_t)value.i);
    int64_t max = INT64_MAX >> (64 - bits);
    return value.i <= max && value.i >= -max - 1;
  }
  case SCALAR_UNSIGNED:
    store_bits(data, bits, index, value.u);
    return value.u <= (elem == ONYX_BOOL ? 1 : UINT64_MAX >> (64 - bits));
  case SCALAR_COMPLEX: {
    onyx_elem part = elem == ONYX_C64 ? ONYX_F32 : ONYX_F64;
    return store_real(part, data, 2 * index, value.re) &&
           store_real(part, data, 2 * index + 1, value.im);
  }
  default:
    return store_real(elem, data, index, value.re);
  }
}

//===-- Text --------------------------------------------------------------------------------===//

static void print_real(char *to, size_t size, double value, bool is_f64) {
  if (isnan(value)) {
    snprintf(to, size, "nan");
    return;
  }
  if (value == rint(value) && fabs(value) < 1e7) {
    snprintf(to, size, "%.0f", value);
    return;
  }
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(to, size, "%.*g", digits, value);
    double back = strtod(to, NULL);
    if (is_f64 ? back == value : (float)back == (float)value)
      return;
  }
}

void scalar_print(char *to, size_t size, onyx_elem elem, scalar value) {
  char re[40], im[40];
  switch (scalar_kind_of(elem)) {
  case SCALAR_SIGNED:
    snprintf(to, size, "%lld", (long long)value.i);
    return;
  case SCALAR_UNSIGNED:
    if (elem == ONYX_BOOL)
      snprintf(to, size, "%s", value.u ? "true" : "false");
    else
      snprintf(to, size, "%llu", (unsigned long long)value.u);
    return;
  case SCALAR_COMPLEX:
    print_real(re, sizeof re, value.re, elem == ONYX_C128);
    print_real(im, sizeof im, value.im, elem == ONYX_C128);
    snprintf(to, size, "(%s,%s)", re, im);
    return;
  default:
    print_real(to, size, value.re, elem == ONYX_F64);
  }
}

static bool parse_real(const char *text, const char *end_chars, double *value, const char **end) {
  char *stop;
  *value = strtod(text, &stop);
  *end = stop;
  return stop != text && strchr(end_chars, *stop);
}

// A leading zero is no octal number here.
static int base_of(const char *text) {
  text += *text == '-' || *text == '+';
  return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
}

static bool parse_unsigned(onyx_elem elem, const char *text, scalar *value) {
  if (elem == ONYX_BOOL && (!strcmp(text, "true") || !strcmp(text, "false"))) {
    value->u = *text == 't';
    return true;
  }
  char *end;
  errno = 0;
  value->u = strtoull(text, &end, base_of(text));
  return *text >= '0' && *text <= '9' && !*end && !errno;
}

bool scalar_parse(onyx_elem elem, const char *text, scalar *value) {
  *value = (scalar){0};
  const char *end;
  char *stop;
  switch (scalar_kind_of(elem)) {
  case SCALAR_SIGNED:
    errno = 0;
    value->i = strtoll(text, &stop, base_of(text));
    return stop != text && !*stop && !errno;
  case SCALAR_UNSIGNED:
    return parse_unsigned(elem, text, value);
  case SCALAR_COMPLEX:
    if (*text != '(')
      return parse_real(text, "", &value->re, &end) && !*end;
    return parse_real(text + 1, ",", &value->re, &end) && *end == ',' &&
           parse_real(end + 1, ")", &value->im, &end) && *end == ')' && !end[1];
  default:
    return parse_real(text, "", &value->re, &end) && !*end;
  }
}
