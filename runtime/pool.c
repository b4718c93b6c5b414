#include "runtime/pool.h"

#include <stdlib.h>

struct onyx_pool_block {
  onyx_pool_block *next;
  max_align_t data[];
};

void *onyx_pool_alloc(onyx_pool *pool, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) ||
      __builtin_add_overflow(bytes, sizeof(onyx_pool_block), &bytes))
    return NULL;
  onyx_pool_block *block = calloc(1, bytes);
  if (!block)
    return NULL;
  block->next = pool->blocks;
  pool->blocks = block;
  return block->data;
}

void onyx_pool_free(onyx_pool *pool) {
  while (pool->blocks) {
    onyx_pool_block *block = pool->blocks;
    pool->blocks = block->next;
    free(block);
  }
}
