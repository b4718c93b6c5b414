// The import of one model: options, files, and the entry point that main and the fuzzer share.
#ifndef ONYX_IMPORTER_IMPORT_H
#define ONYX_IMPORTER_IMPORT_H

#include "importer/base.h"

#include <stdio.h>

enum { MESSAGE_MAX = 1024 };

typedef enum weights_form { WEIGHTS_FILE, WEIGHTS_INLINE, WEIGHTS_RESOURCE } weights_form;

typedef struct import_options {
  const char *input;  // path, "-" for stdin
  const char *output; // path, NULL for stdout
  int64_t inline_elements;
  weights_form weights;
  const char *entry; // the function's name
  bool use_value_info, docs, stats, quiet, keep_functions;
  int num_dims; // --dim NAME=N
  const char **dims;
  int num_shapes; // --shape INPUT=1,?,3
  const char **shapes;
  int64_t batch;                // --batch N, -1 when not given
  const char *inputs, *outputs; // comma-separated value names, NULL when not given
} import_options;

// A file that holds weights, mapped while the import lasts.
typedef struct weights_file {
  str path; // as opened
  str name; // relative to the output's folder, as the text names it
  uint64_t size;
  uint64_t fingerprint;
  const unsigned char *map; // NULL for an empty file
  bool used;                // some constant refers to it
} weights_file;

struct import {
  arena memory;
  jmp_buf way_out;
  char message[MESSAGE_MAX];
  import_options options;

  weights_file *model;  // the .onnx itself; its name is empty when it came by a pipe
  weights_file **files; // all of them, in the order of the text's list
  int num_files;
  map files_by_path;
  str model_dir;  // real path of the model's folder
  str output_dir; // real path of the output's folder

  // <out>.data, made when something has no contiguous place in a file.
  weights_file *spill;
  FILE *spill_stream;
  str spill_path, spill_temp;

  FILE *out;    // the text
  str out_temp; // temporary file that is renamed at the end, empty when written in place

  // What options say of dimensions (specialize.c).
  map dim_values;   // symbolic name to int64_t
  map input_shapes; // input name to type
  bool shapes_changed;

  struct Onnx__ModelProto *proto; // owned through protobuf-c's allocator, which is the arena
  void *piped;                    // memory of a model read from a pipe
  size_t piped_size;
};

// Imports options->input. Returns 0, or 1 with a message of one line in message (MESSAGE_MAX
// bytes).
int onyx_import_run(const import_options *options, char *message);
// The same of a model in memory, its text thrown away: for the fuzzer.
int onyx_import_bytes(const void *bytes, size_t size, char *message);

#endif
