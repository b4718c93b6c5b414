// The manifest of a compiled model (docs/abi.md), read once at create.
#ifndef ONYX_RUNTIME_MANIFEST_H
#define ONYX_RUNTIME_MANIFEST_H

#include "runtime/pool.h"
#include "runtime/types.h"

typedef enum onyx_hidden_kind {
  ONYX_HIDDEN_STATUS,
  ONYX_HIDDEN_WEIGHTS,   // number: index of the file
  ONYX_HIDDEN_CONSTANTS, // number: bytes
  ONYX_HIDDEN_ARENA      // number: bytes
} onyx_hidden_kind;

typedef struct onyx_hidden {
  onyx_hidden_kind kind;
  int64_t number;
} onyx_hidden;

typedef struct onyx_hidden_list {
  int count;
  onyx_hidden *items;
} onyx_hidden_list;

typedef struct onyx_weights_file {
  const char *name; // NULL: no record gave this index
  uint64_t size, fingerprint;
} onyx_weights_file;

typedef struct onyx_node {
  int64_t id;
  const char *name, *op;
} onyx_node;

typedef struct onyx_manifest_data {
  onyx_signature signature;
  bool has_init;
  onyx_hidden_list entry_hidden, init_hidden;
  int num_files;
  onyx_weights_file *files;
  int num_nodes;
  onyx_node *nodes;
} onyx_manifest_data;

// Fills *data with memory from the pool. False and *error (with the line's number) when the text is
// no manifest: unknown or short records, bad numbers, indices that nothing declares.
bool onyx_manifest_parse(onyx_pool *pool, const char *text, onyx_manifest_data *data,
                         onyx_error *error);

#endif
