// Memory that is freed all at once.
#ifndef ONYX_ARENA_H
#define ONYX_ARENA_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct onyx_arena onyx_arena;

// Returns NULL when out of memory.
onyx_arena *onyx_arena_create(void);
void onyx_arena_destroy(onyx_arena *arena); // NULL is allowed
// Zeroed, 16-byte aligned memory that lives as long as the arena. Aborts the process with a line on
// stderr when the system has none left: graphs are small beside weights, which never come here.
void *onyx_arena_alloc(onyx_arena *arena, size_t size);
char *onyx_arena_printf(onyx_arena *arena, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#define ONYX_NEW(arena, type) ((type *)onyx_arena_alloc(arena, sizeof(type)))
#define ONYX_NEW_ARRAY(arena, type, n) ((type *)onyx_arena_alloc(arena, sizeof(type) * (size_t)(n)))

#ifdef __cplusplus
}
#endif
#endif
