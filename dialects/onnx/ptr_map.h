// A map from pointers to pointers: open addressing, grows, never shrinks.
#ifndef ONYX_DIALECTS_ONNX_PTR_MAP_H
#define ONYX_DIALECTS_ONNX_PTR_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct ptr_map {
  const void **keys;
  void **values;
  size_t capacity, count; // capacity: 0 or a power of two
} ptr_map;

static inline void ptr_map_free(ptr_map *m) {
  free((void *)m->keys);
  free(m->values);
  *m = (ptr_map){0};
}

static inline size_t ptr_map_slot(const ptr_map *m, const void *key) {
  size_t i = (size_t)(((uintptr_t)key >> 3) * 0x9E3779B97F4A7C15ull >> 20) & (m->capacity - 1);
  while (m->keys[i] && m->keys[i] != key)
    i = (i + 1) & (m->capacity - 1);
  return i;
}

static inline void *ptr_map_get(const ptr_map *m, const void *key) {
  return m->capacity ? m->values[ptr_map_slot(m, key)] : NULL;
}

// Ends the process when there is no memory left, as the arena does.
static inline void ptr_map_set(ptr_map *m, const void *key, void *value) {
  if ((m->count + 1) * 2 > m->capacity) {
    ptr_map bigger = {.capacity = m->capacity ? m->capacity * 2 : 64};
    bigger.keys = (const void **)calloc(bigger.capacity, sizeof *bigger.keys);
    bigger.values = (void **)calloc(bigger.capacity, sizeof *bigger.values);
    if (!bigger.keys || !bigger.values)
      abort();
    for (size_t i = 0; i < m->capacity; i++)
      if (m->keys[i]) {
        size_t slot = ptr_map_slot(&bigger, m->keys[i]);
        bigger.keys[slot] = m->keys[i];
        bigger.values[slot] = m->values[i];
      }
    bigger.count = m->count;
    ptr_map_free(m);
    *m = bigger;
  }
  size_t slot = ptr_map_slot(m, key);
  m->count += !m->keys[slot];
  m->keys[slot] = key;
  m->values[slot] = value;
}

#endif // ONYX_DIALECTS_ONNX_PTR_MAP_H
