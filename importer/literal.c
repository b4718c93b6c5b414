#include "importer/literal.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LIST_MAX = 1024 }; // longer ones are written as bytes where the type allows it

void literal_string_body(FILE *out, str s) {
  for (size_t i = 0; i < s.n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    if (c == '"' || c == '\\' || c < 0x20 || c >= 0x7f)
      fprintf(out, "\\%02X", c);
    else
      fputc(c, out);
  }
}

void literal_string(FILE *out, str s) {
  fputc('"', out);
  literal_string_body(out, s);
  fputc('"', out);
}

static bool is_bare(str s) {
  if (s.n == 0 || !(isalpha((unsigned char)s.p[0]) || s.p[0] == '_'))
    return false;
  for (size_t i = 1; i < s.n; i++)
    if (!isalnum((unsigned char)s.p[i]) && !memchr("_$.", s.p[i], 3))
      return false;
  return true;
}

void literal_key(FILE *out, str s) {
  if (is_bare(s))
    fwrite(s.p, 1, s.n, out);
  else
    literal_string(out, s);
}

// A decimal that MLIR's lexer takes: digits, a point, digits, an exponent.
static void decimal(FILE *out, double v, int digits) {
  char text[64], *e;
  snprintf(text, sizeof text, "%.*g", digits, v);
  e = strchr(text, 'e');
  bool point = strchr(text, '.') != NULL;
  fwrite(text, 1, e ? (size_t)(e - text) : strlen(text), out);
  if (!point)
    fputs(".0", out);
  if (e)
    fputs(e, out);
}

// The fewest digits that give the number back.
static void shortest(FILE *out, double v, bool single) {
  int digits = single ? 6 : 15;
  for (; digits < (single ? 9 : 17); digits++) {
    char text[64];
    double back;
    snprintf(text, sizeof text, "%.*g", digits, v);
    sscanf(text, "%lf", &back);
    if (single ? (float)back == (float)v : back == v)
      break;
  }
  decimal(out, v, digits);
}

void literal_f32(FILE *out, float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  if (isfinite(f))
    shortest(out, f, true);
  else
    fprintf(out, "0x%08" PRIX32, bits);
}

static void literal_f64(FILE *out, double f) {
  uint64_t bits;
  memcpy(&bits, &f, sizeof bits);
  if (isfinite(f))
    shortest(out, f, false);
  else
    fprintf(out, "0x%016" PRIX64, bits);
}

static void tensor_type_of(FILE *out, onyx_elem elem, const type *t) {
  fputs("tensor<", out);
  if (!t->ranked)
    fputs("*x", out);
  for (int i = 0; t->ranked && i < t->rank; i++) {
    if (t->dims[i].size < 0)
      fputs("?x", out);
    else
      fprintf(out, "%" PRId64 "x", t->dims[i].size);
  }
  const char *name = onyx_elem_mlir_name(elem);
  fprintf(out, "%s>", name ? name : "none");
}

void literal_type(FILE *out, const type *t) {
  if (!t) {
    fputs("none", out);
    return;
  }
  switch (t->kind) {
  case ONYX_TYPE_NONE:
    fputs("none", out);
    return;
  case ONYX_TYPE_TENSOR:
    tensor_type_of(out, t->elem, t);
    return;
  case ONYX_TYPE_MAP:
    fprintf(out, "!onnx.Map<%s, ", onyx_elem_mlir_name(t->key));
    if (t->of->kind == ONYX_TYPE_TENSOR) // a map holds single elements
      fputs(onyx_elem_mlir_name(t->of->elem), out);
    else
      literal_type(out, t->of);
    fputc('>', out);
    return;
  default:
    fputs(t->kind == ONYX_TYPE_SEQ ? "!onnx.Seq<" : "!onnx.Opt<", out);
    literal_type(out, t->of);
    fputc('>', out);
  }
}

void literal_tensor_type(FILE *out, const tensor *t) {
  fputs("tensor<", out);
  for (int i = 0; i < t->rank; i++)
    fprintf(out, "%" PRId64 "x", t->dims[i]);
  fprintf(out, "%s>", onyx_elem_mlir_name(t->elem));
}

static void f16_element(FILE *out, uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double v = exponent ? ldexp(fraction + 1024, exponent - 25) : ldexp(fraction, -24);
  if (exponent == 31)
    fprintf(out, "0x%04X", bits);
  else
    decimal(out, bits >> 15 ? -v : v, 9); // exact digits beyond the 11 bits do no harm
}

static void bf16_element(FILE *out, uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float f;
  memcpy(&f, &wide, sizeof f);
  if (isfinite(f))
    shortest(out, f, true);
  else
    fprintf(out, "0x%04X", bits);
}

static unsigned packed(const tensor *t, uint64_t i, unsigned width) {
  return t->bytes[i * width / 8] >> (i * width % 8) & ((1u << width) - 1);
}

static void literal_element(FILE *out, const tensor *t, uint64_t i) {
  const unsigned char *at = t->bytes + i * (uint64_t)(onyx_elem_bits(t->elem) / 8);
  float f[2];
  double d[2];
  uint16_t half;
  switch (t->elem) {
  case ONYX_STRING:
    literal_string(out, t->strings[i]);
    return;
  case ONYX_BOOL:
    fputs(*at ? "true" : "false", out);
    return;
  case ONYX_F32:
    memcpy(f, at, sizeof *f);
    literal_f32(out, *f);
    return;
  case ONYX_F64:
    memcpy(d, at, sizeof *d);
    literal_f64(out, *d);
    return;
  case ONYX_F16:
    memcpy(&half, at, sizeof half);
    f16_element(out, half);
    return;
  case ONYX_BF16:
    memcpy(&half, at, sizeof half);
    bf16_element(out, half);
    return;
  case ONYX_F4E2M1:
    fprintf(out, "0x%X", packed(t, i, 4));
    return;
  case ONYX_F8E4M3FN:
  case ONYX_F8E4M3FNUZ:
  case ONYX_F8E5M2:
  case ONYX_F8E5M2FNUZ:
  case ONYX_F8E8M0:
    fprintf(out, "0x%02X", *at);
    return;
  case ONYX_C64:
    memcpy(f, at, sizeof f);
    fputc('(', out), literal_f32(out, f[0]), fputs(", ", out), literal_f32(out, f[1]);
    fputc(')', out);
    return;
  case ONYX_C128:
    memcpy(d, at, sizeof d);
    fputc('(', out), literal_f64(out, d[0]), fputs(", ", out), literal_f64(out, d[1]);
    fputc(')', out);
    return;
  case ONYX_U64:
    fprintf(out, "%" PRIu64, (uint64_t)tensor_int(t, i));
    return;
  default:
    fprintf(out, "%" PRId64, tensor_int(t, i));
  }
}

static bool is_splat(const tensor *t) {
  if (t->elem == ONYX_STRING || onyx_elem_bits(t->elem) < 8 || t->count < 2)
    return t->count == 1;
  uint64_t width = (uint64_t)onyx_elem_bits(t->elem) / 8;
  return memcmp(t->bytes, t->bytes + width, t->size - width) == 0;
}

static uint64_t nested(FILE *out, const tensor *t, int axis, uint64_t i) {
  if (axis == t->rank) {
    literal_element(out, t, i);
    return i + 1;
  }
  fputc('[', out);
  for (int64_t k = 0; k < t->dims[axis]; k++) {
    if (k)
      fputs(", ", out);
    i = nested(out, t, axis + 1, i);
  }
  fputc(']', out);
  return i;
}

void literal_hexadecimal(FILE *out, const unsigned char *bytes, uint64_t size) {
  static const char digits[] = "0123456789ABCDEF";
  for (uint64_t i = 0; i < size; i++) {
    fputc(digits[bytes[i] >> 4], out);
    fputc(digits[bytes[i] & 15], out);
  }
}

// MLIR's own layout in hexadecimal equals ONNX's for elements of whole bytes; bool is packed there.
static void hexadecimal(FILE *out, const tensor *t) {
  fputs("\"0x", out);
  literal_hexadecimal(out, t->bytes, t->size);
  fputc('"', out);
}

void literal_dense(FILE *out, const tensor *t) {
  fputs("dense<", out);
  bool whole_bytes = t->elem != ONYX_STRING && t->elem != ONYX_BOOL && onyx_elem_bits(t->elem) >= 8;
  if (t->count == 0)
    ;
  else if (is_splat(t))
    literal_element(out, t, 0);
  else if (t->count > LIST_MAX && whole_bytes)
    hexadecimal(out, t);
  else
    nested(out, t, 0, 0);
  fputc('>', out);
}
