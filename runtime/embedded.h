// Weights inside the model's own .so (onyx-compile --embed-weights): section .onyx.weights.INDEX,
// not loaded with the rest, at a file offset that is a multiple of 4096.
#ifndef ONYX_RUNTIME_EMBEDDED_H
#define ONYX_RUNTIME_EMBEDDED_H

#include <stdbool.h>
#include <stdint.h>

#define ONYX_EMBEDDED_PREFIX ".onyx.weights."
enum { ONYX_EMBEDDED_ALIGNMENT = 4096 };

// Where the section is in the open ELF file. False when there is none, or no ELF file of 64 bits.
bool onyx_embedded_find(int fd, int index, uint64_t *offset, uint64_t *size);

#endif
