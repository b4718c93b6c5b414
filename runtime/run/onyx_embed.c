// onyx-embed MODEL.so INDEX:SIZE:FINGERPRINT:FILE...: appends weights files to a library as
// sections .onyx.weights.INDEX, for onyx-compile --embed-weights. The files' bytes are copied once,
// by the kernel where it can; memory does not grow with them.
#include "dialects/onnx/schema/fingerprint.h"
#include "runtime/embedded.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("onyx-embed: error: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  return false;
}

typedef struct library {
  const char *path;
  int fd;
  uint64_t size;
  Elf64_Ehdr head;
  Elf64_Shdr *sections;
  size_t count;
  char *names; // of sections
  size_t names_size;
} library;

static bool read_at(const library *lib, void *to, uint64_t size, uint64_t offset) {
  ssize_t got = pread(lib->fd, to, size, (off_t)offset);
  return got >= 0 && (uint64_t)got == size;
}

static bool write_at_end(library *lib, const void *from, uint64_t size) {
  for (uint64_t done = 0; done < size;) {
    ssize_t put =
        pwrite(lib->fd, (const char *)from + done, size - done, (off_t)(lib->size + done));
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return fail("%s: %s", lib->path, strerror(errno));
    done += (uint64_t)put;
  }
  lib->size += size;
  return true;
}

static bool pad_to(library *lib, uint64_t alignment) {
  static const char zeros[ONYX_EMBEDDED_ALIGNMENT];
  return write_at_end(lib, zeros, (alignment - lib->size % alignment) % alignment);
}

static bool open_library(library *lib, int added) {
  struct stat st;
  lib->fd = open(lib->path, O_RDWR | O_CLOEXEC);
  if (lib->fd < 0 || fstat(lib->fd, &st))
    return fail("%s: %s", lib->path, strerror(errno));
  lib->size = (uint64_t)st.st_size;
  Elf64_Ehdr *h = &lib->head;
  if (!read_at(lib, h, sizeof *h, 0) || memcmp(h->e_ident, ELFMAG, SELFMAG) ||
      h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_shentsize != sizeof(Elf64_Shdr) ||
      h->e_shstrndx >= h->e_shnum || h->e_shnum + added >= SHN_LORESERVE)
    return fail("%s is no library that sections can be added to", lib->path);
  lib->count = h->e_shnum;
  lib->sections = calloc(lib->count + (size_t)added, sizeof *lib->sections);
  if (!lib->sections ||
      !read_at(lib, lib->sections, lib->count * sizeof *lib->sections, h->e_shoff))
    return fail("%s: its sections cannot be read", lib->path);
  Elf64_Shdr *strings = &lib->sections[h->e_shstrndx];
  lib->names_size = strings->sh_size;
  lib->names =
      lib->names_size < lib->size ? calloc(lib->names_size + 32 * (size_t)added + 1, 1) : NULL;
  return (lib->names && read_at(lib, lib->names, lib->names_size, strings->sh_offset)) ||
         fail("%s: its names cannot be read", lib->path);
}

// "INDEX:SIZE:FINGERPRINT:FILE"
typedef struct file {
  int index, fd;
  uint64_t size, fingerprint;
  const char *path;
} file;

static bool open_file(const char *text, file *f) {
  int length = 0;
  unsigned long long size, fingerprint;
  if (sscanf(text, "%d:%llu:%llx:%n", &f->index, &size, &fingerprint, &length) != 3 || !length ||
      f->index < 0)
    return fail("%s: expected INDEX:SIZE:FINGERPRINT:FILE", text);
  f->path = text + length;
  f->size = size;
  f->fingerprint = fingerprint;
  f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (f->fd < 0 || fstat(f->fd, &st))
    return fail("%s: %s", f->path, strerror(errno));
  bool ok;
  if ((uint64_t)st.st_size != f->size ||
      onyx_fingerprint_fd(f->fd, f->size, &ok) != f->fingerprint || !ok)
    return fail("%s: not the file that the model was imported with", f->path);
  return true;
}

static bool copy_data(library *lib, const file *f) {
  static char buffer[1 << 20];
  off_t from = 0;
  while ((uint64_t)from < f->size) {
    off_t to = (off_t)lib->size;
    ssize_t copied = copy_file_range(f->fd, &from, lib->fd, &to, f->size - (uint64_t)from, 0);
    if (copied > 0) {
      lib->size += (uint64_t)copied;
      continue;
    }
    ssize_t got = pread(f->fd, buffer, sizeof buffer, from);
    if (got <= 0)
      return fail("%s: cannot be read", f->path);
    if (!write_at_end(lib, buffer, (uint64_t)got))
      return false;
    from += got;
  }
  return true;
}

static bool add_file(library *lib, const file *f) {
  uint64_t offset, size;
  if (onyx_embedded_find(lib->fd, f->index, &offset, &size))
    return fail("%s has weights %d already", lib->path, f->index);
  if (!pad_to(lib, ONYX_EMBEDDED_ALIGNMENT))
    return false;
  Elf64_Shdr *s = &lib->sections[lib->count++];
  s->sh_name = (Elf64_Word)lib->names_size;
  s->sh_type = SHT_PROGBITS;
  s->sh_offset = lib->size;
  s->sh_size = f->size;
  s->sh_addralign = ONYX_EMBEDDED_ALIGNMENT;
  lib->names_size +=
      (size_t)sprintf(lib->names + lib->names_size, ONYX_EMBEDDED_PREFIX "%d", f->index) + 1;
  return copy_data(lib, f);
}

// New names and headers at the end; the head, written last, then points there.
static bool finish(library *lib) {
  Elf64_Shdr *strings = &lib->sections[lib->head.e_shstrndx];
  strings->sh_offset = lib->size;
  strings->sh_size = lib->names_size;
  if (!write_at_end(lib, lib->names, lib->names_size) || !pad_to(lib, 8))
    return false;
  lib->head.e_shoff = lib->size;
  lib->head.e_shnum = (Elf64_Half)lib->count;
  if (!write_at_end(lib, lib->sections, lib->count * sizeof *lib->sections))
    return false;
  return pwrite(lib->fd, &lib->head, sizeof lib->head, 0) == (ssize_t)sizeof lib->head ||
         fail("%s: %s", lib->path, strerror(errno));
}

static bool embed(library *lib, int count, char **texts) {
  if (!open_library(lib, count))
    return false;
  for (int i = 0; i < count; i++) {
    file f = {.fd = -1};
    bool ok = open_file(texts[i], &f) && add_file(lib, &f);
    if (f.fd >= 0)
      close(f.fd);
    if (!ok)
      return false;
  }
  return finish(lib);
}

int main(int argc, char **argv) {
  if (argc < 3 || argv[1][0] == '-') {
    fputs("usage: onyx-embed MODEL.so INDEX:SIZE:FINGERPRINT:FILE...\n", stderr);
    return 2;
  }
  library lib = {.path = argv[1], .fd = -1};
  bool ok = embed(&lib, argc - 2, argv + 2);
  if (lib.fd >= 0 && close(lib.fd))
    ok = fail("%s: %s", lib.path, strerror(errno));
  free(lib.sections);
  free(lib.names);
  return !ok;
}
