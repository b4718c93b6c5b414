// NumPy's .npy files (NEP 1): magic, version, header length, a Python dict, the elements.
#include "runtime/run/files.h"

#include "runtime/value.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 64 }; // NumPy's own limit

typedef struct header {
  char kind;       // of descr: 'f', 'i', 'u', 'b', 'c', 'V', 'U', 'S'
  size_t itemsize; // bytes
  bool big_endian, fortran;
  int64_t shape[MAX_RANK];
  int rank;
} header;

//===-- The header's dict -------------------------------------------------------------------===//

typedef struct cursor {
  const char *at, *end;
} cursor;

static void skip_spaces(cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
    c->at++;
}

static bool accept(cursor *c, const char *token) {
  skip_spaces(c);
  size_t length = strlen(token);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, token, length))
    return false;
  c->at += length;
  return true;
}

static bool read_quoted(cursor *c, char *to, size_t size) {
  skip_spaces(c);
  if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
    return false;
  char quote = *c->at++;
  size_t length = 0;
  while (c->at < c->end && *c->at != quote && length + 1 < size)
    to[length++] = *c->at++;
  to[length] = 0;
  return c->at < c->end && *c->at++ == quote;
}

static bool read_size(cursor *c, int64_t *value) {
  skip_spaces(c);
  const char *start = c->at;
  *value = 0;
  for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
    if (__builtin_mul_overflow(*value, 10, value) ||
        __builtin_add_overflow(*value, *c->at - '0', value))
      return false;
  return c->at > start;
}

static bool read_shape(cursor *c, header *h) {
  if (!accept(c, "("))
    return false;
  while (!accept(c, ")")) {
    if (h->rank == MAX_RANK || !read_size(c, &h->shape[h->rank++]))
      return false;
    accept(c, "L"); // Python 2 wrote longs
    if (!accept(c, ",")) {
      return accept(c, ")");
    }
  }
  return true;
}

// "<f4", "|b1", ">i8": order, kind, bytes (of 'U': characters).
static bool read_descr(cursor *c, header *h) {
  char text[32];
  if (!read_quoted(c, text, sizeof text))
    return false;
  char order = text[0];
  if (!strchr("<>|=", order) || !text[1])
    return false;
  h->big_endian = order == '>';
  h->kind = text[1];
  cursor number = {text + 2, text + strlen(text)};
  int64_t size;
  if (!read_size(&number, &size) || number.at != number.end || size > INT32_MAX / 4)
    return false;
  h->itemsize = (size_t)size * (h->kind == 'U' ? 4 : 1);
  return true;
}

static bool read_dict(cursor c, header *h) {
  bool descr = false, order = false, shape = false;
  if (!accept(&c, "{"))
    return false;
  while (!accept(&c, "}")) {
    char key[32];
    if (!read_quoted(&c, key, sizeof key) || !accept(&c, ":"))
      return false;
    if (!strcmp(key, "descr") && !descr)
      descr = read_descr(&c, h);
    else if (!strcmp(key, "fortran_order") && !order)
      order = (h->fortran = accept(&c, "True")) || accept(&c, "False");
    else if (!strcmp(key, "shape") && !shape)
      shape = read_shape(&c, h);
    else
      return false;
    if (!accept(&c, ",") && accept(&c, "}"))
      break;
  }
  return descr && order && shape;
}

//===-- Reading -----------------------------------------------------------------------------===//

static const onyx_element *element_of(const header *h, const onyx_type *expected) {
  static const struct {
    char kind;
    uint8_t size;
    onyx_elem elem;
  } table[] = {{'f', 4, ONYX_F32}, {'f', 8, ONYX_F64},  {'f', 2, ONYX_F16}, {'i', 1, ONYX_I8},
               {'i', 2, ONYX_I16}, {'i', 4, ONYX_I32},  {'i', 8, ONYX_I64}, {'u', 1, ONYX_U8},
               {'u', 2, ONYX_U16}, {'u', 4, ONYX_U32},  {'u', 8, ONYX_U64}, {'b', 1, ONYX_BOOL},
               {'c', 8, ONYX_C64}, {'c', 16, ONYX_C128}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (table[i].kind == h->kind && table[i].size == h->itemsize)
      return onyx_element_of((int)table[i].elem);
  const onyx_element *element = expected ? onyx_element_of(expected->element) : NULL;
  bool raw = h->kind == 'V' && element && element->dtype.bits >= 8 &&
             element->dtype.bits / 8u == h->itemsize;
  return raw ? element : NULL;
}

// Copies one number, turning its bytes around where the file is big-endian.
static void copy_number(char *to, const char *from, size_t size, bool reverse) {
  if (!reverse)
    memcpy(to, from, size);
  for (size_t i = 0; reverse && i < size; i++)
    to[i] = from[size - 1 - i];
}

// Index in the file of element `index` in row-major order: the last index of a Fortran array is the
// slowest.
static int64_t file_index(const header *h, int64_t index) {
  if (!h->fortran)
    return index;
  int64_t result = 0, scale = 1, at[MAX_RANK];
  for (int i = h->rank; i-- > 0; index /= h->shape[i])
    at[i] = index % h->shape[i];
  for (int i = 0; i < h->rank; scale *= h->shape[i++])
    result += at[i] * scale;
  return result;
}

static bool read_numbers(const header *h, const char *data, int64_t count,
                         const onyx_element *element, onyx_value *value, read_error *error) {
  if (!onyx_tensor_make(element, h->shape, h->rank, value))
    return read_fail(error, "no memory for %lld elements", (long long)count);
  char *to = value->tensor->data;
  size_t size = h->itemsize;
  // A complex number's halves are turned around apart.
  int parts = h->kind == 'c' ? 2 : 1;
  bool reverse = h->big_endian && size > 1;
  if (!h->fortran && !reverse) {
    memcpy(to, data, (size_t)count * size);
    return true;
  }
  for (int64_t i = 0; i < count; i++) {
    const char *from = data + (size_t)file_index(h, i) * size;
    for (int p = 0; p < parts; p++)
      copy_number(to + (size_t)i * size + (size_t)p * (size / (size_t)parts),
                  from + (size_t)p * (size / (size_t)parts), size / (size_t)parts, reverse);
  }
  return true;
}

static size_t put_utf8(char *to, uint32_t c) {
  if (c < 0x80) {
    to[0] = (char)c;
    return 1;
  }
  size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
  to[0] = (char)(lead[more] | c >> (6 * more));
  for (size_t i = 1; i <= more; i++)
    to[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
  return more + 1;
}

// Characters up to the trailing NULs that pad them.
static size_t read_text(const header *h, const char *from, char *to, bool *ok) {
  size_t length = 0, used = 0;
  if (h->kind == 'S') {
    memcpy(to, from, h->itemsize);
    for (length = h->itemsize; length && !to[length - 1];)
      length--;
    return length;
  }
  for (size_t i = 0; i < h->itemsize; i += 4) {
    uint32_t c;
    copy_number((char *)&c, from + i, 4, h->big_endian);
    *ok &= c <= 0x10ffff;
    length += put_utf8(to + length, c & 0x1fffff);
    used = c ? length : used;
  }
  return used;
}

static bool read_strings(const header *h, const char *data, int64_t count, onyx_value *value,
                         read_error *error) {
  char *text = malloc(h->itemsize + 1); // UTF-8 is never longer than UCS-4
  bool ok = text && onyx_strings_make(h->shape, h->rank, value);
  for (int64_t i = 0; ok && i < count; i++) {
    size_t length = read_text(h, data + (size_t)file_index(h, i) * h->itemsize, text, &ok);
    ok = ok && onyx_strings_set(value, i, text, length);
  }
  free(text);
  if (!ok)
    onyx_value_release(value);
  return ok || read_fail(error, "no memory, or no Unicode text");
}

static bool read_header(const char *bytes, size_t size, header *h, size_t *data_offset,
                        read_error *error) {
  if (size < 10 || memcmp(bytes, "\x93NUMPY", 6))
    return read_fail(error, "not a .npy file");
  int version = bytes[6];
  if (version < 1 || version > 3)
    return read_fail(error, ".npy version %d is unknown", version);
  size_t length_bytes = version == 1 ? 2 : 4, length = 0;
  if (size < 8 + length_bytes)
    return read_fail(error, "truncated .npy header");
  memcpy(&length, bytes + 8, length_bytes);
  if (length > size - 8 - length_bytes)
    return read_fail(error, "truncated .npy header");
  cursor c = {bytes + 8 + length_bytes, bytes + 8 + length_bytes + length};
  if (!read_dict(c, h))
    return read_fail(error, "the .npy header is not one of a plain array");
  *data_offset = 8 + length_bytes + length;
  return true;
}

bool npy_read(const void *bytes, size_t size, const onyx_type *expected, onyx_value *value,
              read_error *error) {
  header h = {0};
  size_t offset, needed;
  int64_t count;
  *value = (onyx_value){.kind = ONYX_VALUE_NONE};
  if (!read_header(bytes, size, &h, &offset, error))
    return false;
  bool strings = h.kind == 'U' || h.kind == 'S';
  const onyx_element *element = strings ? NULL : element_of(&h, expected);
  if (!strings && !element)
    return read_fail(error, "no ONNX element type for NumPy's '%c' of %zu bytes", h.kind,
                     h.itemsize);
  if (!onyx_volume(h.shape, h.rank, &count) ||
      __builtin_mul_overflow((size_t)count, h.itemsize, &needed) || needed > size - offset ||
      (strings && !h.itemsize && count > (int64_t)size))
    return read_fail(error, "the .npy file is shorter than its header says");
  const char *data = (const char *)bytes + offset;
  return strings ? read_strings(&h, data, count, value, error)
                 : read_numbers(&h, data, count, element, value, error);
}

//===-- Writing -----------------------------------------------------------------------------===//

static char kind_of(const onyx_value *value) {
  if (value->kind != ONYX_VALUE_TENSOR)
    return 0;
  switch (value->tensor->dtype.code) {
  case kDLFloat:
    return 'f';
  case kDLInt:
    return value->tensor->dtype.bits < 8 ? 0 : 'i';
  case kDLUInt:
    return value->tensor->dtype.bits < 8 ? 0 : 'u';
  case ONYX_DL_BOOL:
    return 'b';
  case kDLComplex:
    return 'c';
  default:
    return 0;
  }
}

bool npy_can_write(const onyx_value *value) {
  return kind_of(value) && value->tensor->ndim <= MAX_RANK;
}

bool npy_write(FILE *file, const onyx_value *value) {
  const DLTensor *t = value->tensor;
  char *dict = NULL;
  size_t length = 0;
  FILE *memory = open_memstream(&dict, &length);
  if (!memory)
    return false;
  int bytes = t->dtype.bits / 8;
  fprintf(memory, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", bytes > 1 ? '<' : '|',
          kind_of(value), bytes);
  for (int i = 0; i < t->ndim; i++)
    fprintf(memory, i ? " %lld," : "%lld,", (long long)t->shape[i]);
  fprintf(memory, "), }");
  if (fclose(memory)) {
    free(dict);
    return false;
  }
  // The elements start at a multiple of 64; a newline ends the header.
  size_t padded = (10 + length + 1 + 63) / 64 * 64 - 10;
  uint8_t head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)padded, (uint8_t)(padded >> 8)};
  fwrite(head, 1, sizeof head, file);
  fwrite(dict, 1, length, file);
  free(dict);
  for (size_t i = length; i + 1 < padded; i++)
    putc(' ', file);
  putc('\n', file);
  size_t size = (size_t)onyx_value_count(value) * (size_t)bytes;
  return size == 0 || fwrite((const char *)t->data + t->byte_offset, 1, size, file) == size;
}
