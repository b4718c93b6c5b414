#include "dialects/onnx/schema/fingerprint.h"

#include <errno.h>
#include <unistd.h>

enum { BLOCK = 4096, SAMPLES = 64 };

static uint64_t fnv1a(uint64_t hash, const unsigned char *bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

static uint64_t start(uint64_t size) {
  unsigned char le[8];
  for (int i = 0; i < 8; i++)
    le[i] = (unsigned char)(size >> (8 * i));
  return fnv1a(0xcbf29ce484222325u, le, 8);
}

// Number of sampled blocks; *offset and *length of sample k.
static uint64_t samples(uint64_t size) {
  uint64_t blocks = size / BLOCK + (size % BLOCK != 0);
  return blocks < SAMPLES ? blocks : SAMPLES;
}

static void sample(uint64_t size, uint64_t k, uint64_t *offset, uint64_t *length) {
  uint64_t blocks = size / BLOCK + (size % BLOCK != 0);
  uint64_t index = blocks <= SAMPLES ? k : k * (blocks - 1) / (SAMPLES - 1);
  *offset = index * BLOCK;
  *length = size - *offset < BLOCK ? size - *offset : BLOCK;
}

static bool read_all(int fd, unsigned char *to, uint64_t count, uint64_t offset) {
  while (count) {
    ssize_t got = pread(fd, to, count, (off_t)offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    to += got;
    offset += (uint64_t)got;
    count -= (uint64_t)got;
  }
  return true;
}

uint64_t onyx_fingerprint_fd(int fd, uint64_t size, bool *ok) {
  uint64_t hash = start(size);
  unsigned char block[BLOCK];
  *ok = true;
  for (uint64_t k = 0; k < samples(size); k++) {
    uint64_t offset, length;
    sample(size, k, &offset, &length);
    if (!read_all(fd, block, length, offset)) {
      *ok = false;
      return 0;
    }
    hash = fnv1a(hash, block, length);
  }
  return hash;
}

uint64_t onyx_fingerprint_bytes(const void *bytes, uint64_t size) {
  uint64_t hash = start(size);
  for (uint64_t k = 0; k < samples(size); k++) {
    uint64_t offset, length;
    sample(size, k, &offset, &length);
    hash = fnv1a(hash, (const unsigned char *)bytes + offset, length);
  }
  return hash;
}
