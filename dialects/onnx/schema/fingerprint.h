// Fingerprint of a weights file, shared by the importer (which writes it) and the runtime (which
// refuses another file). It costs the same for any size: at most 64 blocks are read.
//
// The hash is FNV-1a, 64 bits (offset basis 0xcbf29ce484222325, prime 0x100000001b3), over:
//   1. the size as 8 bytes, little-endian;
//   2. the sampled blocks in rising order. With B = 4096 and n = ceil(size / B) blocks in the file:
//      if n <= 64 every block, the last one as short as it is; else the 64 blocks of index
//      floor(k * (n - 1) / 63), k = 0 .. 63.
#ifndef ONYX_FINGERPRINT_H
#define ONYX_FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Of an open regular file whose size the caller knows; its offset is neither used nor moved.
// *ok is false when a block cannot be read in full.
uint64_t onyx_fingerprint_fd(int fd, uint64_t size, bool *ok);
// The same of bytes in memory.
uint64_t onyx_fingerprint_bytes(const void *bytes, uint64_t size);

#ifdef __cplusplus
}
#endif
#endif
