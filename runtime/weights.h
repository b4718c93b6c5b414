// Weights files of a model: found, checked and mapped read-only (or copied).
#ifndef ONYX_RUNTIME_WEIGHTS_H
#define ONYX_RUNTIME_WEIGHTS_H

#include "runtime/manifest.h"

typedef struct onyx_weights {
  void *base;    // NULL: not mapped
  size_t length; // of the mapping or copy
} onyx_weights;

// Weights of a model, in this order: under options.weights_dir, inside the .so, beside it, here.

// Where to look, and how. Names of folders may be NULL.
typedef struct onyx_weights_search {
  const char *given;   // options.weights_dir: the only place if there is one
  const char *so_path; // the file this code was loaded from
  const char
      *hint; // folder of the weights when the model was compiled: relative to the .so, or absolute
  uint32_t flags;
} onyx_weights_search;

// A file that is not there, not regular, not readable, or of another size or fingerprint is an
// error that names the path and both values.
bool onyx_weights_open(const onyx_weights_search *search, const onyx_weights_file *file, int index,
                       onyx_weights *weights, onyx_error *error);
void onyx_weights_close(onyx_weights *weights);

#endif
