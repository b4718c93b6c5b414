// What every part of the importer stands on: one arena, byte strings, a hash map, the way out.
//
// An import has one arena, freed at its end. An error anywhere (bad input, no memory, a failed
// write) goes through import_fail, which formats the message into the import and unwinds to
// onyx_import_run: nothing between holds anything but arena memory and the import's own files.
#ifndef ONYX_IMPORTER_BASE_H
#define ONYX_IMPORTER_BASE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes of any value, not owned, followed by a NUL when made by str_* functions.
typedef struct str {
  const char *p;
  size_t n;
} str;

typedef struct arena {
  struct arena_chunk *chunks;
  size_t used, size; // of the newest chunk
} arena;

typedef struct import import;

// Allocates zeroed memory from the import's arena; never returns NULL.
void *import_alloc(import *im, size_t count, size_t size);
void arena_free(arena *a);
#define NEW(im, type) ((type *)import_alloc(im, 1, sizeof(type)))
#define NEW_ARRAY(im, type, count) ((type *)import_alloc(im, (count), sizeof(type)))

// Ends the import with a message (one line, without the program's name).
_Noreturn void import_fail(import *im, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// A line on stderr that does not end the import.
void import_note(import *im, const char *format, ...) __attribute__((format(printf, 2, 3)));

str str_copy(import *im, const void *bytes, size_t count);
str str_of(const char *text); // refers to text
str str_format(import *im, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *str_put(char *to, str s); // copies the bytes, gives the end; s may be empty
bool str_eq(str a, str b);
bool str_is(str a, const char *text);
// For messages: unprintable bytes as \XX, long names cut.
const char *str_show(import *im, str s);

// A map from byte strings to pointers.
typedef struct map {
  struct map_slot *slots;
  size_t capacity, count;
} map;
void *map_get(const map *m, str key); // NULL when absent
void map_set(import *im, map *m, str key, void *value);

// a * b, failing the import on overflow; what names the quantity.
uint64_t checked_mul(import *im, uint64_t a, uint64_t b, const char *what);

#endif
