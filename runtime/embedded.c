#include "runtime/embedded.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Memory of `size` bytes of the file, with a NUL after them; NULL when they are not there.
static char *load(int fd, uint64_t offset, uint64_t size, uint64_t file_size) {
  if (offset > file_size || size > file_size - offset || size > 1 << 28)
    return NULL;
  char *bytes = calloc(size + 1, 1);
  for (uint64_t done = 0; bytes && done < size;) {
    ssize_t got = pread(fd, bytes + done, size - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0) {
      free(bytes);
      return NULL;
    }
    done += (uint64_t)got;
  }
  return bytes;
}

static bool find_section(const Elf64_Shdr *sections, size_t count, const char *names,
                         uint64_t names_size, const char *name, uint64_t file_size,
                         uint64_t *offset, uint64_t *size) {
  for (size_t i = 0; i < count; i++) {
    const Elf64_Shdr *s = &sections[i];
    // names ends in a NUL of ours.
    if (s->sh_name >= names_size || strcmp(names + s->sh_name, name))
      continue;
    *offset = s->sh_offset;
    *size = s->sh_size;
    return s->sh_offset % ONYX_EMBEDDED_ALIGNMENT == 0 && s->sh_offset <= file_size &&
           s->sh_size <= file_size - s->sh_offset;
  }
  return false;
}

bool onyx_embedded_find(int fd, int index, uint64_t *offset, uint64_t *size) {
  struct stat st;
  if (fstat(fd, &st) || !S_ISREG(st.st_mode))
    return false;
  uint64_t file_size = (uint64_t)st.st_size;
  Elf64_Ehdr *head = (Elf64_Ehdr *)load(fd, 0, sizeof *head, file_size);
  bool elf = head && !memcmp(head->e_ident, ELFMAG, SELFMAG) &&
             head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_shentsize == sizeof(Elf64_Shdr) &&
             head->e_shstrndx < head->e_shnum;
  Elf64_Shdr *sections =
      elf ? (Elf64_Shdr *)load(fd, head->e_shoff, (uint64_t)head->e_shnum * sizeof *sections,
                               file_size)
          : NULL;
  const Elf64_Shdr *strings = sections ? &sections[head->e_shstrndx] : NULL;
  char *names = strings ? load(fd, strings->sh_offset, strings->sh_size, file_size) : NULL;
  char name[32];
  snprintf(name, sizeof name, ONYX_EMBEDDED_PREFIX "%d", index);
  bool found = names && find_section(sections, head->e_shnum, names, strings->sh_size, name,
                                     file_size, offset, size);
  free(names);
  free(sections);
  free(head);
  return found;
}
