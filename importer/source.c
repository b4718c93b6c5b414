#include "importer/source.h"
#include "dialects/onnx/schema/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void add_file(import *im, weights_file *file) {
  weights_file **files = NEW_ARRAY(im, weights_file *, (size_t)im->num_files + 1);
  if (im->num_files)
    memcpy(files, im->files, (size_t)im->num_files * sizeof *files);
  files[im->num_files++] = file;
  im->files = files;
}

static str folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash)
    return str_of(".");
  return slash == path ? str_of("/") : (str){path, (size_t)(slash - path)};
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static str real_folder(import *im, str folder, const char *whose) {
  char real[PATH_MAX];
  str terminated = str_copy(im, folder.p, folder.n);
  if (!realpath(terminated.p, real))
    import_fail(im, "cannot resolve the folder of %s: %s", whose, strerror(errno));
  return str_copy(im, real, strlen(real));
}

// How a file in folder `to` is named from folder `from`; both are real paths.
static str relative(import *im, str from, str to, const char *base) {
  size_t i = 0, common = 0;
  while (i < from.n && i < to.n && from.p[i] == to.p[i])
    if (from.p[i++] == '/')
      common = i;
  if ((i == from.n && (i == to.n || to.p[i] == '/')) || (i == to.n && from.p[i] == '/'))
    common = i + 1;
  int up = common <= from.n && from.n > 1;
  for (size_t k = common; k < from.n; k++)
    up += from.p[k] == '/';
  char *out = NEW_ARRAY(im, char, (size_t)up * 3 + to.n + strlen(base) + 3), *p = out;
  for (int k = 0; k < up; k++)
    p = stpcpy(p, "../");
  if (common < to.n) {
    memcpy(p, to.p + common, to.n - common);
    p += to.n - common;
    *p++ = '/';
  }
  p = stpcpy(p, base);
  return (str){out, (size_t)(p - out)};
}

static void map_file(import *im, weights_file *file, int fd, uint64_t size) {
  file->size = size;
  if (size == 0)
    return;
  void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
  int error = errno;
  if (at == MAP_FAILED) {
    close(fd);
    import_fail(im, "cannot map %s: %s", file->path.p, strerror(error));
  }
  file->map = at;
}

// A model that comes by a pipe is kept in memory: it has no place that the text could name.
static void read_pipe(import *im, int fd) {
  size_t room = (size_t)1 << 20, used = 0;
  for (;;) {
    if (!im->piped || used == room) {
      room *= im->piped ? 2 : 1;
      void *larger = realloc(im->piped, room);
      if (!larger)
        import_fail(im, "out of memory");
      im->piped = larger;
    }
    ssize_t got = read(fd, (char *)im->piped + used, room - used);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      import_fail(im, "cannot read: %s", strerror(errno));
    if (got == 0)
      break;
    used += (size_t)got;
  }
  im->piped_size = used;
  im->model->map = im->piped;
  im->model->size = used;
}

void source_use_bytes(import *im, const void *bytes, size_t size) {
  im->model = NEW(im, weights_file);
  *im->model = (weights_file){.path = str_of("-"), .map = bytes, .size = size};
  im->model_dir = im->output_dir = real_folder(im, str_of("."), "the model");
}

void source_open_model(import *im) {
  const char *path = im->options.input, *out = im->options.output;
  im->output_dir = real_folder(im, out ? folder_of(out) : str_of("."), "the output");
  weights_file *model = im->model = NEW(im, weights_file);
  model->path = str_of(path);
  if (strcmp(path, "-") == 0) {
    im->model_dir = real_folder(im, str_of("."), "the model");
    read_pipe(im, STDIN_FILENO);
    return;
  }
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0)
    import_fail(im, "cannot open: %s", strerror(errno));
  if (fstat(fd, &st) != 0 || S_ISDIR(st.st_mode)) {
    close(fd);
    import_fail(im, "cannot read: it is a folder");
  }
  im->model_dir = real_folder(im, folder_of(path), "the model");
  if (!S_ISREG(st.st_mode)) {
    read_pipe(im, fd);
    close(fd);
    return;
  }
  map_file(im, model, fd, (uint64_t)st.st_size);
  close(fd);
  model->name = relative(im, im->output_dir, im->model_dir, base_of(path));
  add_file(im, model);
}

static bool inside(str folder, const char *real) {
  if (folder.n == 1)
    return true; // the root
  return strncmp(real, folder.p, folder.n) == 0 && real[folder.n] == '/';
}

weights_file *source_external(import *im, str location, str owner) {
  const char *shown = str_show(im, location), *who = str_show(im, owner);
  if (location.n == 0 || memchr(location.p, 0, location.n))
    import_fail(im, "initializer '%s': external data has no usable location", who);
  if (location.p[0] == '/')
    import_fail(im, "initializer '%s': external data at '%s' is an absolute path", who, shown);
  str path = str_format(im, "%s/%.*s", im->model_dir.p, (int)location.n, location.p);
  char real[PATH_MAX];
  if (!realpath(path.p, real))
    import_fail(im, "initializer '%s': external data at '%s': %s", who, shown, strerror(errno));
  if (!inside(im->model_dir, real))
    import_fail(im, "initializer '%s': external data at '%s' leaves the model's folder", who,
                shown);
  str key = str_copy(im, real, strlen(real));
  weights_file *file = map_get(&im->files_by_path, key);
  if (file)
    return file;
  int fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat st;
  if (fd < 0)
    import_fail(im, "initializer '%s': external data at '%s': %s", who, shown, strerror(errno));
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    close(fd);
    import_fail(im, "initializer '%s': external data at '%s' is no regular file", who, shown);
  }
  file = NEW(im, weights_file);
  file->path = key;
  map_file(im, file, fd, (uint64_t)st.st_size);
  close(fd);
  str folder = folder_of(real);
  file->name = relative(im, im->output_dir, str_copy(im, folder.p, folder.n), base_of(real));
  map_set(im, &im->files_by_path, key, file);
  add_file(im, file);
  return file;
}

// A temporary file beside the final one, so that a rename puts it in place.
static FILE *open_temp(import *im, str final, str *temp) {
  str name = str_format(im, "%s.XXXXXX", final.p);
  int fd = mkostemp((char *)name.p, O_CLOEXEC);
  if (fd < 0)
    import_fail(im, "cannot write %s: %s", final.p, strerror(errno));
  *temp = name;
  mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  FILE *stream = fdopen(fd, "wb");
  if (!stream) {
    close(fd);
    import_fail(im, "out of memory");
  }
  return stream;
}

void output_open(import *im) {
  const char *path = im->options.output;
  if (!path) {
    im->out = stdout;
    return;
  }
  struct stat st;
  bool exists = stat(path, &st) == 0;
  if (exists && S_ISDIR(st.st_mode))
    import_fail(im, "cannot write %s: it is a folder", path);
  if (exists && !S_ISREG(st.st_mode)) {
    im->out = fopen(path, "wb");
    if (!im->out)
      import_fail(im, "cannot write %s: %s", path, strerror(errno));
    return;
  }
  im->out = open_temp(im, str_of(path), &im->out_temp);
}

bool output_can_spill(const import *im) {
  return im->out_temp.n != 0;
}

void output_spill(import *im, tensor *t) {
  static const char zeros[64];
  if (!im->spill) {
    im->spill_path = str_format(im, "%s.data", im->options.output);
    im->spill_stream = open_temp(im, im->spill_path, &im->spill_temp);
    im->spill = NEW(im, weights_file);
    im->spill->path = im->spill_path;
    im->spill->name = str_of(base_of(im->spill_path.p));
    im->spill->used = true;
    add_file(im, im->spill);
  }
  size_t pad = -im->spill->size & 63;
  if (fwrite(zeros, 1, pad, im->spill_stream) != pad ||
      fwrite(t->bytes, 1, t->size, im->spill_stream) != t->size)
    import_fail(im, "cannot write %s: %s", im->spill_path.p, strerror(errno));
  t->file = im->spill;
  t->offset = im->spill->size + pad;
  im->spill->size = t->offset + t->size;
}

void output_finish_spill(import *im) {
  if (!im->spill_stream)
    return;
  FILE *stream = im->spill_stream;
  im->spill_stream = NULL;
  int failed = fclose(stream);
  int fd = failed ? -1 : open(im->spill_temp.p, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    import_fail(im, "cannot write %s: %s", im->spill_path.p, strerror(errno));
  bool ok;
  im->spill->fingerprint = onyx_fingerprint_fd(fd, im->spill->size, &ok);
  close(fd);
  if (!ok)
    import_fail(im, "cannot read back %s", im->spill_path.p);
}

void output_commit(import *im) {
  FILE *out = im->out;
  im->out = NULL;
  bool failed = ferror(out) != 0;
  failed |= (out == stdout ? fflush(out) : fclose(out)) != 0;
  if (failed)
    import_fail(im, "cannot write %s: %s", im->options.output ? im->options.output : "stdout",
                strerror(errno));
  if (im->spill_temp.n && rename(im->spill_temp.p, im->spill_path.p) != 0)
    import_fail(im, "cannot write %s: %s", im->spill_path.p, strerror(errno));
  im->spill_temp.n = 0;
  if (im->out_temp.n && rename(im->out_temp.p, im->options.output) != 0)
    import_fail(im, "cannot write %s: %s", im->options.output, strerror(errno));
  im->out_temp.n = 0;
}

void source_close(import *im) {
  if (im->out && im->out != stdout)
    fclose(im->out);
  if (im->spill_stream)
    fclose(im->spill_stream);
  if (im->out_temp.n)
    unlink(im->out_temp.p);
  if (im->spill_temp.n)
    unlink(im->spill_temp.p);
  for (int i = 0; i < im->num_files; i++)
    if (im->files[i]->map)
      munmap((void *)im->files[i]->map, im->files[i]->size);
  free(im->piped);
}
