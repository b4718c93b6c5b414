// Values as text on the command line: "2x3xf32=1 2 3 4 5 6".
#include "runtime/run/files.h"

#include "runtime/run/scalar.h"
#include "runtime/value.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 64, MAX_TOKEN = 512 };

bool read_fail(read_error *error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error->text, sizeof error->text, format, args);
  va_end(args);
  return false;
}

//===-- Reading -----------------------------------------------------------------------------===//

// "2x3x" of "2x3xf32"; *text is left at the element type. A '?' has no place in a value.
static bool read_dims(const char **text, int64_t *shape, int *rank) {
  *rank = 0;
  while (**text >= '0' && **text <= '9') {
    char *end;
    unsigned long long size = strtoull(*text, &end, 10);
    if (*end != 'x' || size > INT64_MAX || *rank == MAX_RANK)
      return false;
    shape[(*rank)++] = (int64_t)size;
    *text = end + 1;
  }
  return true;
}

static bool is_space(char c) {
  return c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r';
}

// Next token, 1; 0 at the end, -1 for one too long or an open quote. Commas may part tokens, except
// inside the parentheses of a complex number.
static int next_token(const char **text, char *token, size_t *length) {
  while (is_space(**text))
    ++*text;
  if (!**text)
    return 0;
  bool quoted = **text == '"', parens = **text == '(';
  *text += quoted;
  for (*length = 0; **text && (quoted ? **text != '"' : parens || !is_space(**text)); ++*text) {
    if (quoted && **text == '\\' && (*text)[1])
      ++*text;
    if (*length + 1 == MAX_TOKEN)
      return -1;
    token[(*length)++] = **text;
    if (parens && **text == ')') {
      ++*text;
      break;
    }
  }
  token[*length] = 0;
  if (quoted && *(*text) != '"')
    return -1;
  *text += quoted;
  return 1;
}

static bool store_token(onyx_value *value, const onyx_element *element, int64_t index,
                        const char *token, size_t length, read_error *error) {
  if (value->kind == ONYX_VALUE_STRINGS)
    return onyx_strings_set(value, index, token, length) || read_fail(error, "no memory");
  scalar s;
  return (scalar_parse(element->elem, token, &s) &&
          scalar_store(element->elem, value->tensor->data, index, s)) ||
         read_fail(error, "\"%.80s\" is no value of type %s", token, element->short_name);
}

static bool read_items(const char *text, const onyx_element *element, int64_t count,
                       onyx_value *value, read_error *error) {
  char token[MAX_TOKEN];
  size_t length;
  int64_t found = 0;
  for (int more; (more = next_token(&text, token, &length)); found++) {
    if (more < 0)
      return read_fail(error, "value %lld is too long or has an open quote", (long long)found);
    if (found < count && !store_token(value, element, found, token, length, error))
      return false;
  }
  return found == count ||
         read_fail(error, "expected %lld values, found %lld", (long long)count, (long long)found);
}

// Each value needs two characters at least, so a shape cannot ask for more than the text has.
static bool fits_text(int64_t count, const char *text) {
  return (uint64_t)count <= strlen(text);
}

bool text_read(const char *text, const onyx_type *expected, onyx_value *value, read_error *error) {
  *value = (onyx_value){.kind = ONYX_VALUE_NONE};
  if (!strcmp(text, "none"))
    return onyx_optional_make(NULL, value) || read_fail(error, "no memory");
  const char *equals = strchr(text, '='), *type = text;
  int64_t shape[MAX_RANK], count;
  int rank;
  if (!equals || !read_dims(&type, shape, &rank) || type > equals)
    return read_fail(
        error, "expected a file name ending in .pb or .npy, or text like 2x3xf32=1 2 3 4 5 6");
  size_t length = (size_t)(equals - type);
  bool strings = length == 3 && !memcmp(type, "str", 3);
  const onyx_element *element = strings ? NULL : onyx_element_of_name(type, length);
  if (!strings && !element)
    return read_fail(error, "unknown element type \"%.*s\"", length > 40 ? 40 : (int)length, type);
  if (!onyx_volume(shape, rank, &count) || !fits_text(count, equals))
    return read_fail(error, "fewer values than the shape has elements");
  if (!(strings ? onyx_strings_make(shape, rank, value)
                : onyx_tensor_make(element, shape, rank, value)))
    return read_fail(error, "no memory");
  bool ok = read_items(equals + 1, element, count, value, error);
  // A plain value stands for a present optional.
  if (ok && expected && expected->kind == ONYX_VALUE_OPTIONAL) {
    onyx_value item = *value;
    ok = onyx_optional_make(&item, value) || read_fail(error, "no memory");
  }
  if (!ok)
    onyx_value_release(value);
  return ok;
}

//===-- Writing -----------------------------------------------------------------------------===//

static void write_shape(FILE *file, const int64_t *shape, int rank) {
  for (int i = 0; i < rank; i++)
    fprintf(file, "%lldx", (long long)shape[i]);
}

static void write_quoted(FILE *file, const onyx_bytes *item) {
  putc('"', file);
  for (size_t i = 0; i < item->size; i++) {
    if (item->data[i] == '"' || item->data[i] == '\\')
      putc('\\', file);
    putc(item->data[i], file);
  }
  putc('"', file);
}

static void write_tensor(FILE *file, const DLTensor *t, int64_t count, int64_t limit) {
  const onyx_element *element = onyx_element_of_dtype(t->dtype);
  const char *data = (const char *)t->data + t->byte_offset;
  write_shape(file, t->shape, t->ndim);
  fprintf(file, "%s=", element->short_name);
  for (int64_t i = 0; i < count && i < limit; i++) {
    char text[96];
    scalar_print(text, sizeof text, element->elem, scalar_load(element->elem, data, i));
    fprintf(file, i ? " %s" : "%s", text);
  }
}

void text_write(FILE *file, const onyx_value *value, int64_t limit) {
  int64_t count = onyx_value_count(value);
  switch (value->kind) {
  case ONYX_VALUE_TENSOR:
    write_tensor(file, value->tensor, count, limit);
    fputs(count > limit ? " ..." : "", file);
    return;
  case ONYX_VALUE_STRINGS:
    write_shape(file, value->strings.shape, value->strings.rank);
    fputs("str=", file);
    for (int64_t i = 0; i < count && i < limit; i++) {
      fputs(i ? " " : "", file);
      write_quoted(file, &value->strings.items[i]);
    }
    fputs(count > limit ? " ..." : "", file);
    return;
  case ONYX_VALUE_SEQUENCE:
    putc('[', file);
    for (size_t i = 0; i < value->sequence.count; i++) {
      fputs(i ? ", " : "", file);
      text_write(file, &value->sequence.items[i], limit);
    }
    putc(']', file);
    return;
  case ONYX_VALUE_OPTIONAL:
    if (value->optional)
      text_write(file, value->optional, limit);
    else
      fputs("none", file);
    return;
  case ONYX_VALUE_MAP:
    putc('{', file);
    text_write(file, value->map.keys, limit);
    fputs(": ", file);
    text_write(file, value->map.values, limit);
    putc('}', file);
    return;
  default:
    fputs("nothing", file);
  }
}
