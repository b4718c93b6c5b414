#include "importer/base.h"
#include "importer/import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
  struct arena_chunk *next;
  max_align_t start[];
};

enum { CHUNK = 256 * 1024, ALIGN = 16 };

void *import_alloc(import *im, size_t count, size_t size) {
  arena *a = &im->memory;
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
    import_fail(im, "out of memory");
  bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
  if (!a->chunks || bytes > a->size - a->used) {
    size_t room = bytes > CHUNK ? bytes : CHUNK;
    struct arena_chunk *chunk = calloc(1, sizeof *chunk + room);
    if (!chunk)
      import_fail(im, "out of memory");
    chunk->next = a->chunks;
    a->chunks = chunk;
    a->size = room;
    a->used = 0;
  }
  void *p = (char *)a->chunks->start + a->used;
  a->used += bytes;
  return p;
}

void arena_free(arena *a) {
  while (a->chunks) {
    struct arena_chunk *next = a->chunks->next;
    free(a->chunks);
    a->chunks = next;
  }
}

void import_fail(import *im, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(im->message, sizeof im->message, format, args);
  va_end(args);
  longjmp(im->way_out, 1);
}

void import_note(import *im, const char *format, ...) {
  if (im->options.quiet)
    return;
  va_list args;
  va_start(args, format);
  fprintf(stderr, "onyx-import: %s: note: ", im->options.input);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
}

str str_copy(import *im, const void *bytes, size_t count) {
  char *p = import_alloc(im, count + 1, 1);
  if (count)
    memcpy(p, bytes, count);
  return (str){p, count};
}

str str_of(const char *text) {
  return (str){text, strlen(text)};
}

str str_format(import *im, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (length < 0)
    import_fail(im, "cannot format text");
  char *p = import_alloc(im, (size_t)length + 1, 1);
  vsnprintf(p, (size_t)length + 1, format, again);
  va_end(again);
  return (str){p, (size_t)length};
}

char *str_put(char *to, str s) {
  if (s.n)
    memcpy(to, s.p, s.n);
  return to + s.n;
}

bool str_eq(str a, str b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
bool str_is(str a, const char *text) {
  return str_eq(a, str_of(text));
}

const char *str_show(import *im, str s) {
  enum { LONGEST = 120 };
  size_t shown = s.n < LONGEST ? s.n : LONGEST;
  char *out = import_alloc(im, shown * 3 + 4, 1), *p = out;
  for (size_t i = 0; i < shown; i++) {
    unsigned char c = (unsigned char)s.p[i];
    if (c < 0x20 || c == 0x7f)
      p += sprintf(p, "\\%02X", c);
    else
      *p++ = (char)c;
  }
  if (shown < s.n)
    memcpy(p, "...", 3);
  return out;
}

struct map_slot {
  str key;
  uint64_t hash;
  void *value;
};

static uint64_t hash_bytes(str key) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < key.n; i++)
    hash = (hash ^ (unsigned char)key.p[i]) * 0x100000001b3u;
  return hash ^ hash >> 29;
}

static struct map_slot *find_slot(const map *m, str key, uint64_t hash) {
  for (size_t i = hash & (m->capacity - 1);; i = (i + 1) & (m->capacity - 1)) {
    struct map_slot *slot = &m->slots[i];
    if (!slot->value || (slot->hash == hash && str_eq(slot->key, key)))
      return slot;
  }
}

void *map_get(const map *m, str key) {
  return m->capacity ? find_slot(m, key, hash_bytes(key))->value : NULL;
}

static void grow(import *im, map *m) {
  map old = *m;
  m->capacity = old.capacity ? old.capacity * 2 : 16;
  m->slots = NEW_ARRAY(im, struct map_slot, m->capacity);
  for (size_t i = 0; i < old.capacity; i++)
    if (old.slots[i].value)
      *find_slot(m, old.slots[i].key, old.slots[i].hash) = old.slots[i];
}

void map_set(import *im, map *m, str key, void *value) {
  if ((m->count + 1) * 2 > m->capacity)
    grow(im, m);
  uint64_t hash = hash_bytes(key);
  struct map_slot *slot = find_slot(m, key, hash);
  m->count += slot->value == NULL;
  *slot = (struct map_slot){key, hash, value};
}

uint64_t checked_mul(import *im, uint64_t a, uint64_t b, const char *what) {
  uint64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    import_fail(im, "%s overflows", what);
  return product;
}
