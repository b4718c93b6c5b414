#include "runtime/weights.h"

#include "dialects/onnx/schema/fingerprint.h"
#include "runtime/embedded.h"
#include "runtime/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

//===-- Finding -----------------------------------------------------------------------------===//

typedef struct candidates {
  int count;
  char path[6][PATH_MAX];
} candidates;

// folder/sub/name; folder "" is the working directory; an absolute part starts the path anew.
static void add(candidates *c, const char *folder, size_t folder_length, const char *sub,
                const char *name) {
  if (*name == '/')
    folder_length = 0, sub = "";
  if (*sub == '/')
    folder_length = 0;
  char *path = c->path[c->count];
  int n = snprintf(path, PATH_MAX, "%.*s%s%s%s%s", (int)folder_length, folder,
                   folder_length && folder[folder_length - 1] != '/' ? "/" : "", sub,
                   *sub && sub[strlen(sub) - 1] != '/' ? "/" : "", name);
  if (n <= 0 || n >= PATH_MAX)
    return;
  for (int i = 0; i < c->count; i++)
    if (!strcmp(c->path[i], path))
      return;
  c->count++;
}

// Under options.weights_dir; else beside the .so (where it was compiled, moved together, or flat),
// else here.
static void list_candidates(const onyx_weights_search *s, const char *name, candidates *c) {
  const char *slash = strrchr(name, '/');
  const char *base = slash ? slash + 1 : name;
  c->count = 0;
  if (s->given) {
    const char *dir = *s->given ? s->given : ".";
    add(c, dir, strlen(dir), "", name);
    add(c, dir, strlen(dir), "", base);
    return;
  }
  slash = s->so_path ? strrchr(s->so_path, '/') : NULL;
  size_t dir_length = slash ? (size_t)(slash - s->so_path) + 1 : 0;
  const char *dir = s->so_path ? s->so_path : "";
  if (s->hint)
    add(c, dir, dir_length, s->hint, name);
  add(c, dir, dir_length, "", name);
  add(c, dir, dir_length, "", base);
  add(c, "", 0, "", name);
}

// An open file descriptor; *path is the candidate that is there. -1 and *error.
static int open_first(const onyx_weights_search *s, const onyx_weights_file *file, candidates *c,
                      const char **path, onyx_error *error) {
  list_candidates(s, file->name, c);
  for (int i = 0; i < c->count; i++) {
    // O_NONBLOCK: a FIFO of that name must not hang; fstat refuses it.
    int fd = open(c->path[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *path = c->path[i];
    if (fd >= 0)
      return fd;
    if (errno != ENOENT && errno != ENOTDIR) {
      onyx_rt_fail(error, ONYX_BAD_WEIGHTS, "cannot open weights file %s: %s", c->path[i],
                   strerror(errno));
      return -1;
    }
  }
  onyx_rt_fail(
      error, ONYX_BAD_WEIGHTS, "weights file \"%s\" not found%s%s%s", file->name,
      c->count ? "; looked for " : "", c->count ? c->path[0] : "",
      s->given ? ""
               : " and beside the model; --weights or options.weights_dir names another folder");
  return -1;
}

//===-- Checking ----------------------------------------------------------------------------===//

static bool check_size(int fd, const char *path, const onyx_weights_file *file, onyx_error *error) {
  struct stat st;
  if (fstat(fd, &st))
    return onyx_rt_fail(error, ONYX_BAD_WEIGHTS, "weights file %s: %s", path, strerror(errno));
  if (!S_ISREG(st.st_mode))
    return onyx_rt_fail(error, ONYX_BAD_WEIGHTS, "weights file %s is no regular file", path);
  if ((uint64_t)st.st_size != file->size)
    return onyx_rt_fail(
        error, ONYX_BAD_WEIGHTS,
        "weights file %s has %lld bytes, the model was compiled with one of %llu bytes", path,
        (long long)st.st_size, (unsigned long long)file->size);
  return true;
}

static bool check_fingerprint(int fd, const char *path, const onyx_weights_file *file,
                              onyx_error *error) {
  bool ok;
  uint64_t fingerprint = onyx_fingerprint_fd(fd, file->size, &ok);
  if (!ok)
    return onyx_rt_fail(error, ONYX_BAD_WEIGHTS, "weights file %s cannot be read", path);
  if (fingerprint != file->fingerprint)
    return onyx_rt_fail(error, ONYX_BAD_WEIGHTS,
                        "weights file %s has fingerprint %016llx, the model was compiled with one "
                        "of fingerprint %016llx",
                        path, (unsigned long long)fingerprint,
                        (unsigned long long)file->fingerprint);
  return true;
}

//===-- Mapping -----------------------------------------------------------------------------===//

static bool read_into(int fd, char *to, size_t size, uint64_t offset) {
  for (size_t done = 0; done < size;) {
    ssize_t got = pread(fd, to + done, size - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    done += (size_t)got;
  }
  return true;
}

// offset is a multiple of the page size.
static bool map(int fd, const char *path, size_t size, uint64_t offset, uint32_t flags,
                onyx_weights *w, onyx_error *error) {
  // An empty file has no mapping of its own: one page of memory stands for it.
  bool copy = size == 0 || flags & ONYX_COPY_WEIGHTS;
  size_t length = size ? size : 1;
  void *base = copy ? mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                    : mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)offset);
  if (base == MAP_FAILED)
    return onyx_rt_fail(error, errno == ENOMEM ? ONYX_OUT_OF_MEMORY : ONYX_BAD_WEIGHTS,
                        "cannot map weights file %s: %s", path, strerror(errno));
  *w = (onyx_weights){base, length};
  if (copy && !read_into(fd, base, size, offset)) {
    onyx_weights_close(w);
    return onyx_rt_fail(error, ONYX_BAD_WEIGHTS, "weights file %s cannot be read", path);
  }
  if (copy)
    mprotect(base, length, PROT_READ);
  return true;
}

static bool open_file(const onyx_weights_search *search, const onyx_weights_file *file,
                      onyx_weights *weights, onyx_error *error) {
  candidates c;
  const char *path;
  int fd = open_first(search, file, &c, &path, error);
  if (fd < 0)
    return false;
  bool ok = check_size(fd, path, file, error) &&
            (search->flags & ONYX_SKIP_VERIFY || check_fingerprint(fd, path, file, error)) &&
            map(fd, path, (size_t)file->size, 0, search->flags, weights, error);
  close(fd);
  return ok;
}

// The section of the .so was checked by onyx-embed against the same numbers; a .so that was changed
// since is told.
static bool open_embedded(int fd, const onyx_weights_search *search, const onyx_weights_file *file,
                          uint64_t offset, uint64_t size, onyx_weights *weights,
                          onyx_error *error) {
  if (size != file->size)
    return onyx_rt_fail(error, ONYX_BAD_WEIGHTS,
                        "%s holds %llu bytes of \"%s\", the model was compiled with %llu bytes",
                        search->so_path, (unsigned long long)size, file->name,
                        (unsigned long long)file->size);
  if (!map(fd, search->so_path, (size_t)size, offset, search->flags, weights, error))
    return false;
  uint64_t fingerprint = search->flags & ONYX_SKIP_VERIFY
                             ? file->fingerprint
                             : onyx_fingerprint_bytes(weights->base, size);
  if (fingerprint == file->fingerprint)
    return true;
  onyx_weights_close(weights);
  return onyx_rt_fail(error, ONYX_BAD_WEIGHTS,
                      "\"%s\" in %s has fingerprint %016llx, the model was compiled with one of "
                      "fingerprint %016llx",
                      file->name, search->so_path, (unsigned long long)fingerprint,
                      (unsigned long long)file->fingerprint);
}

bool onyx_weights_open(const onyx_weights_search *search, const onyx_weights_file *file, int index,
                       onyx_weights *weights, onyx_error *error) {
  uint64_t offset, size;
  int so = search->given || !search->so_path ? -1 : open(search->so_path, O_RDONLY | O_CLOEXEC);
  bool embedded = so >= 0 && onyx_embedded_find(so, index, &offset, &size);
  bool ok = embedded ? open_embedded(so, search, file, offset, size, weights, error)
                     : open_file(search, file, weights, error);
  if (so >= 0)
    close(so);
  return ok;
}

void onyx_weights_close(onyx_weights *weights) {
  if (weights->base)
    munmap(weights->base, weights->length);
  weights->base = NULL;
}
