#include "runtime/run/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// The whole file in memory that the caller frees; also of what has no size, as a pipe.
static char *read_file(const char *path, size_t *size, read_error *error) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    read_fail(error, "%s", strerror(errno));
    return NULL;
  }
  size_t room = 1 << 16;
  char *bytes = malloc(room);
  *size = 0;
  while (bytes) {
    *size += fread(bytes + *size, 1, room - *size, file);
    if (*size < room)
      break;
    char *more = room > PTRDIFF_MAX / 2 ? NULL : realloc(bytes, room *= 2);
    if (!more)
      free(bytes);
    bytes = more;
  }
  if (!bytes)
    read_fail(error, "no memory");
  else if (ferror(file)) {
    read_fail(error, "%s", strerror(errno));
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  return bytes;
}

static bool ends_in(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length > end_length && !strcmp(text + length - end_length, end);
}

bool value_read(const char *argument, const onyx_type *expected, onyx_value *value,
                read_error *error) {
  bool pb = ends_in(argument, ".pb");
  if (!pb && !ends_in(argument, ".npy"))
    return text_read(argument, expected, value, error);
  size_t size;
  char *bytes = read_file(argument, &size, error);
  if (!bytes)
    return false;
  bool ok = (pb ? pb_read : npy_read)(bytes, size, expected, value, error);
  free(bytes);
  return ok;
}
