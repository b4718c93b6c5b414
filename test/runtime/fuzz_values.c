// Damaged files of values and manifests: no reader may crash, hang or take memory that its input
// does not justify. Mutations are numbered and depend on nothing else, so a failure is run again by
// its number: fuzz_values FIRST COUNT. What is read must survive being written and read again.
#include "runtime/manifest.h"
#include "runtime/run/compare.h"
#include "runtime/run/files.h"
#include "runtime/value.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static uint64_t state;
static uint64_t next(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

//===-- Seeds -------------------------------------------------------------------------------===//

typedef struct seed {
  char *bytes;
  size_t size;
  onyx_value_kind kind; // NONE: .npy
} seed;

enum { MAX_SEEDS = 64 };
static seed seeds[MAX_SEEDS];
static int num_seeds;

static void add_bytes(const void *bytes, size_t size, onyx_value_kind kind) {
  char *copy = malloc(size + 1);
  memcpy(copy, bytes, size);
  copy[size] = 0;
  seeds[num_seeds++] = (seed){copy, size, kind};
}

static void add_value(const onyx_value *value, bool npy) {
  char *bytes = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&bytes, &size);
  bool ok = npy ? npy_write(file, value) : pb_write(file, value);
  if (fclose(file) || !ok)
    exit(3);
  add_bytes(bytes, size, npy ? ONYX_VALUE_NONE : value->kind);
  free(bytes);
}

static onyx_value from_text(const char *text) {
  read_error error;
  onyx_value value;
  if (!text_read(text, NULL, &value, &error))
    exit(4);
  return value;
}

static onyx_value sequence_of(onyx_value a, onyx_value b) {
  onyx_value value;
  if (!onyx_sequence_make(2, &value))
    exit(5);
  onyx_sequence_items(&value)[0] = a;
  onyx_sequence_items(&value)[1] = b;
  return value;
}

static void make_seeds(void) {
  static const char *const tensors[] = {
      "2x3xf32=1 2 3 4 5 6", "f64=1",         "4xi64=1 -2 300 -70000",    "3xi4=1 -2 3", "0x4xui8=",
      "2x2xbool=0 1 1 0",    "2xc64=(1,2) 3", "2x2xstr=a \"b c\" \"\" d", "3xbf16=1 2 3"};
  for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
    onyx_value value = from_text(tensors[i]);
    add_value(&value, false);
    if (npy_can_write(&value))
      add_value(&value, true);
    onyx_value other = from_text(tensors[i]), optional, keys = from_text("2xi64=3 4"), map;
    onyx_value pair = sequence_of(value, other);
    add_value(&pair, false);
    if (!onyx_map_make(&keys, &pair, &map))
      exit(5);
    add_value(&map, false);
    if (!onyx_optional_make(&map, &optional))
      exit(5);
    add_value(&optional, false);
    onyx_value_release(&optional);
  }
  // Fields that our writer does not use: float_data packed and not, int32_data, dims packed.
  add_bytes("\x0a\x02\x01\x02\x10\x01\x22\x08\0\0\x80\x3f\0\0\0\x40", 16, ONYX_VALUE_TENSOR);
  add_bytes("\x08\x01\x10\x01\x25\0\0\x80\x3f", 9, ONYX_VALUE_TENSOR);
  add_bytes("\x08\x03\x10\x06\x28\x01\x28\x02\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 19,
            ONYX_VALUE_TENSOR);
  add_bytes("\x93NUMPY\x02\0\x44\0\0\0{'descr': '>U2', 'fortran_order': True, 'shape': (2, 1), }   "
            "       \n\0\0\0\x41\0\0\x30\x42\0\0\0\0\0\1\0\0",
            96, ONYX_VALUE_NONE);
}

//===-- Mutations ---------------------------------------------------------------------------===//

static const uint8_t edges[] = {0,   1,   0x7f, 0x80, 0xff, '(', ')', '\'',
                                ',', '9', '%',  '\n', ' ',  'x', '<', '>'};

static void mutate(char **bytes, size_t *size) {
  size_t at = *size ? next() % *size : 0;
  switch (next() % 6) {
  case 0: // a bit
    if (*size)
      (*bytes)[at] = (char)((*bytes)[at] ^ 1 << next() % 8);
    return;
  case 1: // a byte that means something to some reader
    if (*size)
      (*bytes)[at] = (char)edges[next() % sizeof edges];
    return;
  case 2: // the end cut off
    *size = at;
    return;
  case 3: { // a piece of another file over ours
    const seed *other = &seeds[next() % (uint64_t)num_seeds];
    size_t from = other->size ? next() % other->size : 0, n = other->size - from;
    n = n < *size - at ? n : *size - at;
    memcpy(*bytes + at, other->bytes + from, n);
    return;
  }
  case 4: { // a piece twice
    size_t n = next() % (*size - at + 1);
    char *more = malloc(*size + n + 1);
    memcpy(more, *bytes, at + n);
    memcpy(more + at + n, *bytes + at, *size - at);
    free(*bytes);
    *bytes = more;
    *size += n;
    return;
  }
  default: { // a byte taken out
    if (*size) {
      memmove(*bytes + at, *bytes + at + 1, *size - at - 1);
      --*size;
    }
  }
  }
}

//===-- Readers -----------------------------------------------------------------------------===//

static void fail(const char *what) {
  printf("fuzz_values: %s\n", what);
  exit(1);
}

// What was read, written and read again, is the same.
static void again(const onyx_value *value, const onyx_type *type) {
  char *bytes = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&bytes, &size);
  bool ok = pb_write(file, value);
  fclose(file);
  read_error error;
  onyx_value second;
  if (!ok || !pb_read(bytes, size, type, &second, &error))
    fail("a value that was read cannot be written and read again");
  if (!value_compare("again", &second, value, (tolerance){0, 0}, stdout))
    fail("a value changed on its way through a file");
  onyx_value_release(&second);
  free(bytes);
  char *text = NULL;
  file = open_memstream(&text, &size);
  text_write(file, value, 100);
  fclose(file);
  free(text);
}

static void read_value(const char *bytes, size_t size, onyx_value_kind kind) {
  onyx_type type = {.kind = kind == ONYX_VALUE_NONE ? ONYX_VALUE_TENSOR : kind,
                    .element = ONYX_BF16};
  read_error error = {""};
  onyx_value value;
  if ((kind == ONYX_VALUE_NONE ? npy_read : pb_read)(bytes, size, &type, &value, &error)) {
    type.kind = value.kind;
    again(&value, &type);
    onyx_value_release(&value);
  } else if (!error.text[0] || value.kind != ONYX_VALUE_NONE) {
    fail("a reader failed without a message");
  }
}

static void read_text(const char *text) {
  read_error error;
  onyx_value value;
  if (text_read(text, NULL, &value, &error))
    onyx_value_release(&value);
}

static void read_manifest(const char *text) {
  onyx_pool pool = {0};
  onyx_manifest_data data;
  onyx_error error = {0};
  if (!onyx_manifest_parse(&pool, text, &data, &error) && !error.message[0])
    fail("a manifest was refused without a message");
  onyx_pool_free(&pool);
}

static const char *const texts[] = {
    "2x3xf32=1 2 3 4 5 6", "2xstr=a \"b\\\" c\"", "c64=(1,2)", "4xi8=-1 0x7f 3 4",
    "onyx-model 1\nproducer onyx%200.1.0\nentry main_graph\nin x%25 tensor<?x3xf32>\ndim in 0 0 "
    "batch\n"
    "out y !onnx.Map<i64,%20f32>\nhidden status\nhidden weights 0\nhidden constants 64\nhidden "
    "arena 128\ninit main_graph_init\n"
    "init-hidden constants 64\nweights_file 0 model.onnx 1000 00ff00ff00ff00ff\nnode 3 % Gather\n"};
enum { NUM_TEXTS = sizeof texts / sizeof texts[0] };

static void one(uint64_t number) {
  state = number * 0x2545f4914f6cdd1du;
  int which = (int)(next() % (uint64_t)(num_seeds + NUM_TEXTS));
  bool is_text = which >= num_seeds;
  const char *from = is_text ? texts[which - num_seeds] : seeds[which].bytes;
  size_t size = is_text ? strlen(from) : seeds[which].size;
  char *bytes = malloc(size + 1);
  memcpy(bytes, from, size);
  for (uint64_t n = next() % 4; n > 0; n--)
    mutate(&bytes, &size);
  // Exactly as large as the input, so that a reader's step past its end is seen.
  char *exact = malloc(size + is_text);
  memcpy(exact, bytes, size);
  if (is_text) {
    exact[size] = 0;
    (which == num_seeds + NUM_TEXTS - 1 ? read_manifest : read_text)(exact);
  } else {
    onyx_value_kind kind = next() % 8 ? seeds[which].kind : (onyx_value_kind)(next() % 6);
    read_value(exact, size, kind);
  }
  free(exact);
  free(bytes);
}

int main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 0,
           count = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
  make_seeds();
  for (uint64_t i = first; i < first + count; i++)
    one(i);
  for (int i = 0; i < num_seeds; i++)
    free(seeds[i].bytes);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%llu damaged inputs read, %ld MB\n", (unsigned long long)count, usage.ru_maxrss / 1024);
  return 0;
}
