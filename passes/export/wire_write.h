//===- wire_write.h - Messages of the protobuf wire format --------------------------===//
//
// A message is a list of pieces: bytes made here, and bytes elsewhere (weights in mapped files)
// that are only pointed at. Putting one message into another moves its pieces; nothing is copied
// twice and no length is computed twice.
//
//===----------------------------------------------------------------------===//
#ifndef ONYX_PASSES_EXPORT_WIRE_WRITE_H
#define ONYX_PASSES_EXPORT_WIRE_WRITE_H

#include "dialects/onnx/ops/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct wire_piece {
  const char *data;
  size_t size;
  struct wire_piece *next;
};

struct wire {
  onyx_arena *arena;
  struct wire_piece *first, *last;
  char *chunk;   // of the last piece, where it is being filled
  size_t room;   // bytes left there
  uint64_t size; // of all pieces
};

struct wire wire_begin(onyx_arena *arena);
void wire_int(struct wire *w, int field, int64_t value); // varint; also bools and enums
void wire_float(struct wire *w, int field, float value);
void wire_bytes(struct wire *w, int field, const void *data, size_t size); // copied
void wire_text(struct wire *w, int field, const char *text);
void wire_reference(struct wire *w, int field, const void *data,
                    size_t size);                                 // must outlive the message
void wire_message(struct wire *w, int field, struct wire *inner); // inner is empty afterwards
void wire_append(struct wire *w, const void *bytes, size_t size); // fields, already encoded
char *wire_copy(const struct wire *w, onyx_arena *arena);         // its bytes, in one piece
bool wire_write(const struct wire *w, FILE *to);

#endif
