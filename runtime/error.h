// How the runtime's functions report: they fill *error (which may be NULL) and return false.
#ifndef ONYX_RUNTIME_ERROR_H
#define ONYX_RUNTIME_ERROR_H

#include "onyx/model.h"

#include <stdbool.h>

// Returns false. Forgets node, op, found and limit of an earlier error.
bool onyx_rt_fail(onyx_error *error, onyx_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Copies text into a buffer of `size` bytes; a text that is cut ends in "...".
void onyx_copy_text(char *to, size_t size, const char *text);

#endif
