// Memory that lives as long as its model: freed at once.
#ifndef ONYX_RUNTIME_POOL_H
#define ONYX_RUNTIME_POOL_H

#include <stddef.h>

typedef struct onyx_pool_block onyx_pool_block;

typedef struct onyx_pool {
  onyx_pool_block *blocks; // zeroed: empty
} onyx_pool;

// Zeroed memory for count elements; NULL when memory is short or count * size overflows.
void *onyx_pool_alloc(onyx_pool *pool, size_t count, size_t size);
void onyx_pool_free(onyx_pool *pool);

#endif
