#include "passes/export/wire_write.h"

#include <string.h>

enum { CHUNK = 512, VARINT = 0, LENGTH = 2, FIXED32 = 5 };

struct wire wire_begin(onyx_arena *arena) {
  return (struct wire){.arena = arena};
}

static void add_piece(struct wire *w, const void *data, size_t size) {
  struct wire_piece *p = ONYX_NEW(w->arena, struct wire_piece);
  p->data = data;
  p->size = size;
  if (w->last)
    w->last->next = p;
  else
    w->first = p;
  w->last = p;
}

static void put(struct wire *w, const void *data, size_t size) {
  if (size > w->room) {
    size_t n = size > CHUNK ? size : CHUNK;
    w->chunk = onyx_arena_alloc(w->arena, n);
    w->room = n;
    add_piece(w, w->chunk, 0);
  }
  if (size)
    memcpy(w->chunk, data, size);
  w->chunk += size;
  w->room -= size;
  w->size += size;
  if (size)
    w->last->size += size;
}

static void put_varint(struct wire *w, uint64_t value) {
  char bytes[10];
  size_t n = 0;
  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (char)(value | 0x80);
  bytes[n++] = (char)value;
  put(w, bytes, n);
}

static void put_key(struct wire *w, int field, int type) {
  put_varint(w, (uint64_t)field << 3 | (unsigned)type);
}

void wire_int(struct wire *w, int field, int64_t value) {
  put_key(w, field, VARINT);
  put_varint(w, (uint64_t)value);
}

void wire_float(struct wire *w, int field, float value) {
  put_key(w, field, FIXED32);
  put(w, &value, sizeof value); // little-endian, as the hosts are
}

void wire_bytes(struct wire *w, int field, const void *data, size_t size) {
  put_key(w, field, LENGTH);
  put_varint(w, size);
  put(w, data, size);
}

void wire_text(struct wire *w, int field, const char *text) {
  wire_bytes(w, field, text, strlen(text));
}

void wire_reference(struct wire *w, int field, const void *data, size_t size) {
  put_key(w, field, LENGTH);
  put_varint(w, size);
  w->room = 0; // what follows is another piece
  if (size)
    add_piece(w, data, size);
  w->size += size;
}

void wire_message(struct wire *w, int field, struct wire *inner) {
  put_key(w, field, LENGTH);
  put_varint(w, inner->size);
  if (inner->first) {
    if (w->last)
      w->last->next = inner->first;
    else
      w->first = inner->first;
    w->last = inner->last;
    w->room = 0;
  }
  w->size += inner->size;
  *inner = wire_begin(w->arena);
}

void wire_append(struct wire *w, const void *bytes, size_t size) {
  w->room = 0; // what follows is another piece
  if (size)
    add_piece(w, bytes, size);
  w->size += size;
}

char *wire_copy(const struct wire *w, onyx_arena *arena) {
  char *bytes = onyx_arena_alloc(arena, w->size ? w->size : 1), *at = bytes;
  for (const struct wire_piece *p = w->first; p; p = p->next) {
    memcpy(at, p->data, p->size);
    at += p->size;
  }
  return bytes;
}

bool wire_write(const struct wire *w, FILE *to) {
  for (const struct wire_piece *p = w->first; p; p = p->next)
    if (fwrite(p->data, 1, p->size, to) != p->size)
      return false;
  return true;
}
