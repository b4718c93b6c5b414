// Chunks in a list; an allocation larger than a chunk has a chunk of its own.
#include "dialects/onnx/ops/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (64 * 1024)
#define ALIGNMENT 16

typedef struct chunk chunk;
struct chunk {
  chunk *next;
  size_t used, size;
  size_t unused; // keeps bytes[] 16-byte aligned
  unsigned char bytes[];
};

struct onyx_arena {
  chunk *chunks; // the first is the one that is being filled
};

onyx_arena *onyx_arena_create(void) {
  return calloc(1, sizeof(onyx_arena));
}

void onyx_arena_destroy(onyx_arena *arena) {
  if (!arena)
    return;
  for (chunk *c = arena->chunks; c;) {
    chunk *next = c->next;
    free(c);
    c = next;
  }
  free(arena);
}

static chunk *new_chunk(size_t size) {
  chunk *c = size <= SIZE_MAX - sizeof(chunk) ? calloc(1, sizeof(chunk) + size) : NULL;
  if (!c) {
    fprintf(stderr, "onyx: out of memory (%zu bytes)\n", size);
    abort();
  }
  c->size = size;
  return c;
}

void *onyx_arena_alloc(onyx_arena *arena, size_t size) {
  size_t rounded =
      size > SIZE_MAX - ALIGNMENT ? SIZE_MAX : (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  if (rounded == 0)
    rounded = ALIGNMENT;
  chunk *top = arena->chunks;
  if (top && top->size - top->used >= rounded) {
    void *memory = top->bytes + top->used;
    top->used += rounded;
    return memory;
  }
  if (rounded > CHUNK_BYTES / 4 && top) { // large: beside the chunk that is being filled
    chunk *large = new_chunk(rounded);
    large->used = rounded;
    large->next = top->next;
    top->next = large;
    return large->bytes;
  }
  chunk *c = new_chunk(rounded > CHUNK_BYTES ? rounded : CHUNK_BYTES);
  c->used = rounded;
  c->next = top;
  arena->chunks = c;
  return c->bytes;
}

char *onyx_arena_printf(onyx_arena *arena, const char *fmt, ...) {
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, fmt, args);
  va_end(args);
  char *text = onyx_arena_alloc(arena, length < 0 ? 1 : (size_t)length + 1);
  if (length > 0)
    vsnprintf(text, (size_t)length + 1, fmt, again);
  va_end(again);
  return text;
}
