// Imports thousands of damaged models under the sanitizers; none may crash or say nothing.
//
// usage: mutate_test COUNT MODEL...      COUNT mutants of each model, seeded by its place in the
// list
//        mutate_test --one SEED MODEL OUT   writes one mutant to a file
//
// A model is taken apart into a tree of fields by the descriptors of the wire format. Most
// mutations change the tree and write it again with right lengths, so that the damage gets past the
// lengths: fields are deleted, repeated, swapped, renumbered, given to other messages; numbers
// become extremes; names become those of others; messages are put into themselves. Some then damage
// the bytes: a length, a varint, the end.
#include "importer/import.h"
#include "onnx.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct field {
  uint32_t id, wire;
  uint64_t number;            // of a varint
  const unsigned char *bytes; // of what has a length or is fixed
  size_t size;
  const ProtobufCMessageDescriptor *kind; // of a message
  struct field *children;
  int num_children;
} field;

static uint64_t state;

static uint64_t rnd(uint64_t limit) { // xorshift64*
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return limit ? (state * 0x2545f4914f6cdd1du >> 11) % limit : 0;
}

static void *must(void *p) {
  if (!p) {
    fputs("mutate_test: out of memory\n", stderr);
    exit(3);
  }
  return p;
}

// Memory of one mutant, freed as a whole.
static void *blocks[1 << 16];
static int num_blocks;

static void *grab(size_t size) {
  void *p = must(calloc(1, size + 1));
  if (num_blocks == (int)(sizeof blocks / sizeof *blocks)) {
    fputs("mutate_test: model too large\n", stderr);
    exit(3);
  }
  return blocks[num_blocks++] = p;
}

static void release(void) {
  while (num_blocks)
    free(blocks[--num_blocks]);
}

static uint64_t varint(const unsigned char **p, const unsigned char *end) {
  uint64_t v = 0;
  for (int shift = 0; *p < end; shift += 7) {
    unsigned char b = *(*p)++;
    if (shift < 64)
      v |= (uint64_t)(b & 127) << shift;
    if (!(b & 128))
      break;
  }
  return v;
}

static void parse(field *m, const ProtobufCMessageDescriptor *kind, const unsigned char *p,
                  const unsigned char *end) {
  int room = 8;
  m->kind = kind;
  m->children = grab(sizeof(field) * (size_t)room);
  while (p < end) {
    if (m->num_children == room) {
      field *larger = grab(sizeof(field) * (size_t)room * 2);
      memcpy(larger, m->children, sizeof(field) * (size_t)room);
      m->children = larger;
      room *= 2;
    }
    field *f = &m->children[m->num_children++];
    uint64_t tag = varint(&p, end);
    *f = (field){.id = (uint32_t)(tag >> 3), .wire = tag & 7};
    if (f->wire == 0) {
      f->number = varint(&p, end);
      continue;
    }
    f->size = f->wire == 1 ? 8 : f->wire == 5 ? 4 : (size_t)varint(&p, end);
    f->bytes = p;
    p += f->size;
    const ProtobufCFieldDescriptor *d = protobuf_c_message_descriptor_get_field(kind, f->id);
    if (d && d->type == PROTOBUF_C_TYPE_MESSAGE && f->wire == 2)
      parse(f, d->descriptor, f->bytes, p);
  }
}

static size_t written; // by all levels, for one mutant

typedef struct buffer {
  unsigned char *p;
  size_t n, room;
} buffer;

static void put(buffer *b, const void *bytes, size_t n) {
  if (b->n + n > b->room) {
    b->room = (b->n + n) * 2;
    b->p = must(realloc(b->p, b->room));
  }
  if (n)
    memcpy(b->p + b->n, bytes, n);
  written += n;
  b->n += n;
}

static void put_varint(buffer *b, uint64_t v) {
  unsigned char bytes[10];
  int n = 0;
  for (; v > 127; v >>= 7)
    bytes[n++] = (unsigned char)(v | 128);
  bytes[n++] = (unsigned char)v;
  put(b, bytes, (size_t)n);
}

enum { MUTANT_MAX = 16 << 20 }; // messages put into themselves multiply

static void write_fields(buffer *b, const field *m, int depth) {
  for (int i = 0; i < m->num_children && written < MUTANT_MAX; i++) {
    const field *f = &m->children[i];
    put_varint(b, (uint64_t)f->id << 3 | f->wire);
    if (f->wire == 0) {
      put_varint(b, f->number);
    } else if (f->kind && depth < 600) {
      buffer inner = {0};
      write_fields(&inner, f, depth + 1);
      put_varint(b, inner.n);
      put(b, inner.p, inner.n);
      free(inner.p);
    } else {
      if (f->wire == 2)
        put_varint(b, f->size);
      put(b, f->bytes, f->size);
    }
  }
}

// A random message of the tree: fields deep down are as likely as those above.
static field *any_message(field *m) {
  for (int step = 0; step < 12; step++) {
    if (m->num_children == 0)
      return m;
    field *f = &m->children[rnd((uint64_t)m->num_children)];
    if (!f->kind)
      return m;
    if (rnd(5) == 0)
      return m;
    m = f;
  }
  return m;
}

static const uint64_t extremes[] = {0,          1,          2,          127,        128,
                                    255,        26,         27,         0x7fffffff, 0x80000000u,
                                    0xffffffff, 1ull << 32, 1ull << 40, 1ull << 62, 1ull << 63,
                                    ~0ull,      ~0ull - 1,  3,          16,         1000000};

static void number_to_extreme(field *f) {
  f->number = extremes[rnd(sizeof extremes / sizeof *extremes)];
}

static void bytes_to_others(field *f, field *root) {
  field *m = any_message(root);
  if (m->num_children == 0)
    return;
  field *other = &m->children[rnd((uint64_t)m->num_children)];
  if (other->wire != 2 || other->kind)
    return;
  f->bytes = other->bytes;
  f->size = other->size;
}

static void bytes_to_number(field *f) {
  uint64_t *v = grab(sizeof *v);
  *v = extremes[rnd(sizeof extremes / sizeof *extremes)];
  f->bytes = (unsigned char *)v;
  f->size = f->wire == 5 ? 4 : f->wire == 1 ? 8 : (size_t)rnd(9);
}

// Puts a copy of a message into itself, some times over.
static void nest(field *m) {
  for (int times = (int)rnd(120) + 1; times > 0; times--) {
    field *copy = grab(sizeof(field) * (size_t)(m->num_children + 1));
    memcpy(copy, m->children, sizeof(field) * (size_t)m->num_children);
    field inside = *m;
    copy[rnd((uint64_t)m->num_children)] = inside;
    m->children = copy;
  }
}

static void insert(field *m, field f) {
  field *copy = grab(sizeof(field) * (size_t)(m->num_children + 1));
  int at = (int)rnd((uint64_t)m->num_children + 1);
  memcpy(copy, m->children, sizeof(field) * (size_t)at);
  copy[at] = f;
  memcpy(copy + at + 1, m->children + at, sizeof(field) * (size_t)(m->num_children - at));
  m->children = copy;
  m->num_children++;
}

static void mutate_tree(field *root) {
  field *m = any_message(root);
  if (m->num_children == 0)
    return;
  field *f = &m->children[rnd((uint64_t)m->num_children)], spare;
  field *other = &m->children[rnd((uint64_t)m->num_children)];
  switch (rnd(10)) {
  case 0:
    *f = m->children[--m->num_children];
    return;
  case 1:
    insert(m, *f);
    return;
  case 2:
    spare = *f, *f = *other, *other = spare;
    return;
  case 3:
    f->id = 1 + (uint32_t)rnd(26);
    return;
  case 4:
    insert(any_message(root), *f);
    return;
  case 5:
    if (f->kind)
      nest(m);
    return;
  case 6:
    f->wire = (uint32_t)rnd(6);
    f->kind = NULL;
    if (f->wire != 0 && !f->bytes)
      bytes_to_number(f);
    if (f->wire == 1 || f->wire == 5)
      bytes_to_number(f);
    return;
  default:
    if (f->wire == 0)
      number_to_extreme(f);
    else if (!f->kind && rnd(2))
      bytes_to_number(f);
    else if (!f->kind && f->wire == 2)
      bytes_to_others(f, root);
  }
}

static void mutate_bytes(buffer *b) {
  if (b->n == 0)
    return;
  size_t at = rnd(rnd(2) ? b->n : b->n < 200 ? b->n : 200);
  switch (rnd(4)) {
  case 0:
    b->n = at;
    return;
  case 1:
    b->p[at] ^= (unsigned char)(1u << rnd(8));
    return;
  case 2:
    b->p[at] = (unsigned char)rnd(256);
    return;
  default:
    for (size_t i = at; i < b->n && i < at + rnd(12); i++)
      b->p[i] = 0xff;
  }
}

static buffer make_mutant(const unsigned char *bytes, size_t size, uint64_t seed) {
  state = seed * 0x9e3779b97f4a7c15u + 0x1234567;
  for (int i = 0; i < 4; i++)
    rnd(2);
  field root = {.wire = 2};
  parse(&root, &onnx__model_proto__descriptor, bytes, bytes + size);
  for (int times = 1 + (int)rnd(4); times > 0; times--)
    mutate_tree(&root);
  buffer b = {0};
  written = 0;
  write_fields(&b, &root, 0);
  if (rnd(4) == 0)
    mutate_bytes(&b);
  release();
  return b;
}

static unsigned char *read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  if (!f) {
    perror(path);
    exit(3);
  }
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  unsigned char *bytes = must(malloc(*size + 1));
  if (fread(bytes, 1, *size, f) != *size)
    exit(3);
  fclose(f);
  return bytes;
}

// The mutant's seed is on the screen when a sanitizer ends the program.
static void announce(const char *path, uint64_t seed) {
  static char line[4096];
  snprintf(line, sizeof line, "mutate_test --one %llu %s OUT\n", (unsigned long long)seed, path);
  FILE *last = fopen("mutate_test.last", "w");
  if (last) {
    fputs(line, last);
    fclose(last);
  }
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "--one") == 0) {
    size_t size;
    unsigned char *bytes = read_file(argv[3], &size);
    buffer b = make_mutant(bytes, size, strtoull(argv[2], NULL, 10));
    FILE *out = fopen(argv[4], "wb");
    int failed = !out || fwrite(b.p, 1, b.n, out) != b.n || fclose(out) != 0;
    free(b.p);
    free(bytes);
    return failed;
  }
  int count = argc > 2 ? atoi(argv[1]) : 0, mute = 0;
  long refused = 0, all = 0;
  for (int i = 2; i < argc; i++) {
    size_t size;
    unsigned char *bytes = read_file(argv[i], &size);
    for (int k = 0; k < count; k++) {
      char message[MESSAGE_MAX] = "";
      uint64_t seed = (uint64_t)i * 1000003u + (uint64_t)k;
      announce(argv[i], seed);
      buffer b = make_mutant(bytes, size, seed);
      int failed = onyx_import_bytes(b.p ? b.p : (unsigned char *)"", b.n, message);
      all++;
      refused += failed;
      if (failed && (!*message || strchr(message, '\n'))) {
        fprintf(stderr, "%s, seed %llu: not one line: '%s'\n", argv[i], (unsigned long long)seed,
                message);
        mute++;
      }
      free(b.p);
    }
    free(bytes);
  }
  remove("mutate_test.last");
  printf("%ld mutants, %ld refused, %ld imported, %d without a message\n", all, refused,
         all - refused, mute);
  return mute != 0 || all == 0;
}
