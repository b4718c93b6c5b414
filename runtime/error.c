#include "runtime/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool onyx_rt_fail(onyx_error *error, onyx_status code, const char *format, ...) {
  if (!error)
    return false;
  memset(error, 0, sizeof *error);
  error->code = (int32_t)code;
  va_list args;
  va_start(args, format);
  int length = vsnprintf(error->message, sizeof error->message, format, args);
  va_end(args);
  if (length >= (int)sizeof error->message)
    memcpy(error->message + sizeof error->message - 4, "...", 4);
  return false;
}

void onyx_copy_text(char *to, size_t size, const char *text) {
  size_t length = strlen(text);
  if (length < size) {
    memcpy(to, text, length + 1);
    return;
  }
  memcpy(to, text, size - 4);
  memcpy(to + size - 4, "...", 4);
}
