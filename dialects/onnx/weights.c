// A small list of mapped files: models have one or two.
#include "dialects/onnx/weights.h"

#include "dialects/onnx/schema/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct mapped_file {
  struct mapped_file *next;
  char *name;
  char *error; // why it cannot be used; the same answer each time
  void *base;
  uint64_t size;
};

struct weights_cache {
  struct mapped_file *files;
  MlirStringRef root;   // of the pass option or the module attribute
  MlirAttribute listed; // onnx.weights_files, or null
};

static MlirAttribute module_attribute(MlirOperation op, const char *name) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op)) {
    MlirAttribute a = mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(name));
    if (!mlirAttributeIsNull(a))
      return a;
  }
  return (MlirAttribute){0};
}

weights_cache *weights_cache_create(MlirOperation op, MlirStringRef root) {
  weights_cache *cache = calloc(1, sizeof *cache);
  if (!cache)
    return NULL;
  cache->root = root;
  if (root.length == 0) {
    MlirAttribute attr = module_attribute(op, "onnx.weights_root");
    if (!mlirAttributeIsNull(attr) && mlirAttributeIsAString(attr))
      cache->root = mlirStringAttrGetValue(attr);
  }
  cache->listed = module_attribute(op, "onnx.weights_files");
  return cache;
}

void weights_cache_destroy(weights_cache *cache) {
  if (!cache)
    return;
  for (struct mapped_file *f = cache->files, *next; f; f = next) {
    next = f->next;
    if (f->base)
      munmap(f->base, f->size);
    free(f->name);
    free(f->error);
    free(f);
  }
  free(cache);
}

static char *path_of(const weights_cache *cache, MlirStringRef name) {
  char *path = NULL;
  bool absolute = name.length && name.data[0] == '/';
  int n = cache->root.length && !absolute ? asprintf(&path, "%.*s/%.*s", (int)cache->root.length,
                                                     cache->root.data, (int)name.length, name.data)
                                          : asprintf(&path, "%.*s", (int)name.length, name.data);
  return n < 0 ? NULL : path;
}

static MlirAttribute entry(MlirAttribute dict, const char *name) {
  return mlirDictionaryAttrGetElementByName(dict, mlirStringRefCreateFromCString(name));
}

// What onnx.weights_files says of a file: {name, size, fingerprint}; null when it is not listed.
static MlirAttribute listing_of(const weights_cache *cache, MlirStringRef name) {
  if (mlirAttributeIsNull(cache->listed) || !mlirAttributeIsAArray(cache->listed))
    return (MlirAttribute){0};
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(cache->listed); i++) {
    MlirAttribute e = mlirArrayAttrGetElement(cache->listed, i);
    if (!mlirAttributeIsADictionary(e))
      continue;
    MlirAttribute n = entry(e, "name");
    if (!mlirAttributeIsNull(n) && mlirAttributeIsAString(n) &&
        mlirStringRefEqual(mlirStringAttrGetValue(n), name))
      return e;
  }
  return (MlirAttribute){0};
}

static void complain(struct mapped_file *f, const char *path, const char *why) {
  if (asprintf(&f->error, "weights file '%s': %s", path, why) < 0)
    f->error = NULL;
}

// The listed size and fingerprint (16 hex digits) are those of this file?
static void check_listing(const weights_cache *cache, struct mapped_file *f, const char *path) {
  MlirAttribute listing = listing_of(cache, mlirStringRefCreateFromCString(f->name));
  if (mlirAttributeIsNull(listing))
    return;
  MlirAttribute size = entry(listing, "size"), print = entry(listing, "fingerprint");
  char why[128];
  if (!mlirAttributeIsNull(size) && mlirAttributeIsAInteger(size) &&
      (uint64_t)mlirIntegerAttrGetValueInt(size) != f->size) {
    snprintf(why, sizeof why, "expected %" PRIu64 " bytes as the module says, found %" PRIu64,
             (uint64_t)mlirIntegerAttrGetValueInt(size), f->size);
    complain(f, path, why);
    return;
  }
  if (mlirAttributeIsNull(print) || !mlirAttributeIsAString(print))
    return;
  MlirStringRef want = mlirStringAttrGetValue(print);
  char got[17];
  snprintf(got, sizeof got, "%016" PRIx64, onyx_fingerprint_bytes(f->base, f->size));
  if (want.length != 16 || memcmp(want.data, got, 16) != 0) {
    snprintf(why, sizeof why, "expected the fingerprint %.*s as the module says, found %s",
             (int)(want.length > 32 ? 32 : want.length), want.data, got);
    complain(f, path, why);
  }
}

static void map_file(const weights_cache *cache, struct mapped_file *f, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0) {
    complain(f, path, strerror(errno));
  } else if (!S_ISREG(st.st_mode)) {
    complain(f, path, "not a regular file");
  } else {
    f->size = (uint64_t)st.st_size;
    f->base = f->size ? mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (f->base == MAP_FAILED) {
      f->base = NULL;
      complain(f, path, strerror(errno));
    } else {
      check_listing(cache, f, path);
    }
  }
  if (fd >= 0)
    close(fd);
}

static struct mapped_file *find_file(weights_cache *cache, MlirStringRef name) {
  for (struct mapped_file *f = cache->files; f; f = f->next)
    if (strlen(f->name) == name.length && memcmp(f->name, name.data, name.length) == 0)
      return f;
  struct mapped_file *f = calloc(1, sizeof *f);
  char *path = path_of(cache, name);
  if (f)
    f->name = strndup(name.data, name.length);
  if (!f || !path || !f->name) {
    free(f);
    free(path);
    return NULL;
  }
  map_file(cache, f, path);
  free(path);
  f->next = cache->files;
  cache->files = f;
  return f;
}

const void *weights_range(weights_cache *cache, onyx_arena *arena, MlirStringRef name,
                          uint64_t offset, uint64_t bytes, const char **error) {
  struct mapped_file *f = find_file(cache, name);
  if (!f) {
    *error = "out of memory";
    return NULL;
  }
  if (f->error) {
    *error = onyx_arena_printf(arena, "%s", f->error);
    return NULL;
  }
  if (offset > f->size || bytes > f->size - offset) {
    *error = onyx_arena_printf(arena,
                               "weights file '%s': expected %" PRIu64 " bytes at offset %" PRIu64
                               ", found a file of %" PRIu64 " bytes",
                               f->name, bytes, offset, f->size);
    return NULL;
  }
  return bytes ? (const char *)f->base + offset : "";
}
