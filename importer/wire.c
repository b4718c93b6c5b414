#include "importer/wire.h"
#include "importer/import.h"
#include "onnx.pb-c.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };
enum { RAW_DATA = 9, FLOAT_DATA = 4, DOUBLE_DATA = 10 };
enum { OWN_OFFSET = 536870001, OWN_LENGTH, OWN_FIELD, OWN_FIRST = OWN_OFFSET };
enum {
  DEPTH_MAX = 256, // nested messages; a subgraph is three of them
  TYPED_RUN = 256, // shorter runs of float_data go through protobuf-c
};
// What decoding may take: far above any real graph, far below what an empty message of two bytes,
// repeated, could ask for.
static const uint64_t MEMORY_MAX = (uint64_t)4 << 30;

typedef struct walk {
  import *im;
  const unsigned char *bytes;
  const char *what;
  uint64_t memory; // that protobuf-c will take
  uint64_t *sizes; // of the compacted messages, in the order of the walk
  size_t num_sizes, room_sizes;
  unsigned char *out; // the compacted bytes, in the second walk
} walk;

typedef struct field {
  uint32_t id, wire;
  uint64_t start;         // of the tag
  uint64_t value, length; // of the payload; for a varint value holds the number
  uint64_t end;
} field;

static _Noreturn void bad(walk *w, uint64_t at, const char *why) {
  import_fail(w->im, "%s is malformed at byte %llu: %s", w->what, (unsigned long long)at, why);
}

static uint64_t read_varint(walk *w, uint64_t *at, uint64_t end) {
  uint64_t value = 0, start = *at;
  for (int shift = 0; shift < 70; shift += 7) {
    if (*at >= end)
      bad(w, start, "a number is cut short");
    unsigned char byte = w->bytes[(*at)++];
    value |= (uint64_t)(byte & 0x7f) << shift % 64;
    if (!(byte & 0x80)) {
      if (shift == 63 && byte > 1)
        bad(w, start, "a number has more than 64 bits");
      return value;
    }
  }
  bad(w, start, "a number has more than 10 bytes");
}

static field read_field(walk *w, uint64_t at, uint64_t end) {
  field f = {.start = at};
  uint64_t tag = read_varint(w, &at, end);
  if (tag >> 3 == 0 || tag >> 3 > 536870911)
    bad(w, f.start, "a field has an impossible number");
  f.id = (uint32_t)(tag >> 3);
  f.wire = tag & 7;
  if (f.wire == VARINT) {
    f.value = read_varint(w, &at, end);
    f.end = at;
    return f;
  }
  if (f.wire == LENGTH)
    f.length = read_varint(w, &at, end);
  else if (f.wire == FIXED64 || f.wire == FIXED32)
    f.length = f.wire == FIXED64 ? 8 : 4;
  else
    bad(w, f.start, "a field has an unknown wire type");
  if (f.length > end - at)
    bad(w, f.start, "a field is longer than what holds it");
  f.value = at;
  f.end = at + f.length;
  return f;
}

static uint32_t wire_of(ProtobufCType type) {
  switch (type) {
  case PROTOBUF_C_TYPE_FLOAT:
  case PROTOBUF_C_TYPE_FIXED32:
  case PROTOBUF_C_TYPE_SFIXED32:
    return FIXED32;
  case PROTOBUF_C_TYPE_DOUBLE:
  case PROTOBUF_C_TYPE_FIXED64:
  case PROTOBUF_C_TYPE_SFIXED64:
    return FIXED64;
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_BYTES:
  case PROTOBUF_C_TYPE_MESSAGE:
    return LENGTH;
  default:
    return VARINT;
  }
}

static bool packed_run(const ProtobufCFieldDescriptor *d, const field *f) {
  return d->label == PROTOBUF_C_LABEL_REPEATED && f->wire == LENGTH && wire_of(d->type) != LENGTH;
}

// Checks a run of packed numbers and returns their count.
static uint64_t count_packed(walk *w, const ProtobufCFieldDescriptor *d, const field *f) {
  uint32_t wire = wire_of(d->type);
  if (wire != VARINT) {
    uint64_t width = wire == FIXED64 ? 8 : 4;
    if (f->length % width)
      bad(w, f->start, "a packed run ends inside a number");
    return f->length / width;
  }
  uint64_t count = 0;
  for (uint64_t at = f->value; at < f->end; count++)
    read_varint(w, &at, f->end);
  return count;
}

static void take(walk *w, uint64_t at, uint64_t bytes) {
  w->memory += bytes;
  if (w->memory > MEMORY_MAX)
    bad(w, at, "the graph is too large");
}

// Number of bytes of a varint.
static uint64_t varint_size(uint64_t value) {
  uint64_t size = 1;
  for (; value > 0x7f; value >>= 7)
    size++;
  return size;
}

static void put_varint(walk *w, uint64_t value) {
  for (; value > 0x7f; value >>= 7)
    *w->out++ = (unsigned char)(value | 0x80);
  *w->out++ = (unsigned char)value;
}

static void put_fixed64(walk *w, uint64_t value) {
  for (int i = 0; i < 8; i++)
    *w->out++ = (unsigned char)(value >> (8 * i));
}

// The field of a tensor whose bytes stay in the file: its id and place, id 0 when there is none.
// raw_data always; float_data and double_data when they are one packed run.
static field find_payload(walk *w, uint64_t at, uint64_t end) {
  field raw = {0}, typed = {0};
  int runs = 0;
  while (at < end) {
    field f = read_field(w, at, end);
    if (f.id == RAW_DATA && f.wire == LENGTH)
      raw = f; // the last one counts
    if (f.id == FLOAT_DATA || f.id == DOUBLE_DATA) {
      typed = f;
      runs++;
    }
    at = f.end;
  }
  if (raw.id)
    return raw;
  bool whole = runs == 1 && typed.wire == LENGTH && typed.length >= TYPED_RUN &&
               typed.length % (typed.id == FLOAT_DATA ? 4 : 8) == 0;
  return whole ? typed : (field){0};
}

static uint64_t payload_size(void) {
  return 3 * varint_size((uint64_t)OWN_FIRST << 3) + 8 + 8 + 1;
}

static void put_payload(walk *w, const field *payload) {
  put_varint(w, (uint64_t)OWN_OFFSET << 3 | FIXED64);
  put_fixed64(w, payload->value);
  put_varint(w, (uint64_t)OWN_LENGTH << 3 | FIXED64);
  put_fixed64(w, payload->length);
  put_varint(w, (uint64_t)OWN_FIELD << 3 | VARINT);
  put_varint(w, payload->id);
}

static const ProtobufCFieldDescriptor *known_field(walk *w, const ProtobufCMessageDescriptor *kind,
                                                   const field *f) {
  const ProtobufCFieldDescriptor *d =
      f->id >= OWN_FIRST ? NULL : protobuf_c_message_descriptor_get_field(kind, f->id);
  if (d && f->wire != wire_of(d->type) && !packed_run(d, f)) {
    char why[160];
    snprintf(why, sizeof why, "field %s of %s has the wrong wire type", d->name, kind->short_name);
    bad(w, f->start, why);
  }
  return d;
}

static void remember_size(walk *w, size_t index, uint64_t size) {
  if (index >= w->room_sizes) {
    size_t room = w->room_sizes ? w->room_sizes * 2 : 1024;
    uint64_t *sizes = NEW_ARRAY(w->im, uint64_t, room);
    if (w->sizes)
      memcpy(sizes, w->sizes, w->room_sizes * sizeof *sizes);
    w->sizes = sizes;
    w->room_sizes = room;
  }
  w->sizes[index] = size;
}

// First walk: checks a message and returns the size of its compacted form.
static uint64_t measure(walk *w, const ProtobufCMessageDescriptor *kind, uint64_t at, uint64_t end,
                        int depth) {
  if (depth > DEPTH_MAX)
    bad(w, at, "messages are nested too deep");
  size_t index = w->num_sizes++;
  remember_size(w, index, 0);
  take(w, at, kind->sizeof_message + 16);
  field payload = {0};
  if (kind == &onnx__tensor_proto__descriptor)
    payload = find_payload(w, at, end);
  uint64_t size = payload.id ? payload_size() : 0;
  while (at < end) {
    field f = read_field(w, at, end);
    const ProtobufCFieldDescriptor *d = known_field(w, kind, &f);
    at = f.end;
    if (!d || (payload.id && f.id == payload.id))
      continue;
    if (d->type == PROTOBUF_C_TYPE_MESSAGE) {
      uint64_t inner = measure(w, d->descriptor, f.value, f.end, depth + 1);
      size += varint_size((uint64_t)f.id << 3) + varint_size(inner) + inner;
      continue;
    }
    take(w, f.start, packed_run(d, &f) ? count_packed(w, d, &f) * 8 : 32 + f.length);
    size += f.end - f.start;
  }
  remember_size(w, index, size);
  return size;
}

// Second walk: writes the compacted form; everything has been checked.
static void compact(walk *w, const ProtobufCMessageDescriptor *kind, uint64_t at, uint64_t end) {
  field payload = {0};
  if (kind == &onnx__tensor_proto__descriptor)
    payload = find_payload(w, at, end);
  if (payload.id)
    put_payload(w, &payload);
  while (at < end) {
    field f = read_field(w, at, end);
    const ProtobufCFieldDescriptor *d = known_field(w, kind, &f);
    at = f.end;
    if (!d || (payload.id && f.id == payload.id))
      continue;
    if (d->type == PROTOBUF_C_TYPE_MESSAGE) {
      put_varint(w, (uint64_t)f.id << 3 | LENGTH);
      put_varint(w, w->sizes[w->num_sizes++]);
      compact(w, d->descriptor, f.value, f.end);
      continue;
    }
    memcpy(w->out, w->bytes + f.start, f.end - f.start);
    w->out += f.end - f.start;
  }
}

static void *alloc_in_arena(void *im, size_t size) {
  return import_alloc(im, 1, size);
}
static void leave_to_arena(void *im, void *pointer) {
  (void)im;
  (void)pointer;
}

void *wire_decode(import *im, const ProtobufCMessageDescriptor *kind, const void *bytes,
                  uint64_t size, const char *what) {
  walk w = {.im = im, .bytes = bytes, .what = what};
  uint64_t compacted = measure(&w, kind, 0, size, 0);
  unsigned char *start = NEW_ARRAY(im, unsigned char, compacted + 1);
  w.out = start;
  w.num_sizes = 1; // the outermost message's own size is not written
  compact(&w, kind, 0, size);
  ProtobufCAllocator allocator = {alloc_in_arena, leave_to_arena, im};
  void *message = protobuf_c_message_unpack(kind, &allocator, compacted, start);
  if (!message)
    import_fail(im, "%s is malformed: protobuf-c cannot decode it", what);
  return message;
}
