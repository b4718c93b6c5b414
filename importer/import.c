#include "importer/import.h"
#include "dialects/onnx/schema/fingerprint.h"
#include "importer/build.h"
#include "importer/print.h"
#include "importer/source.h"
#include "importer/stats.h"
#include "importer/wire.h"
#include "onnx.pb-c.h"

#include <stdlib.h>
#include <string.h>

static void decode(import *im) {
  if (im->model->size == 0)
    import_fail(im, "the file is empty");
  im->proto =
      wire_decode(im, &onnx__model_proto__descriptor, im->model->map, im->model->size, "the model");
  const Onnx__ModelProto *p = im->proto;
  // Any bytes may happen to decode; a model has a version and a graph.
  if (!p->has_ir_version && !p->graph)
    import_fail(im, "this is no ONNX model");
  if (p->n_training_info)
    import_note(im, "training information is left out");
}

static void write_text(import *im, const model *m) {
  output_open(im);
  place_constants(im, m);
  output_finish_spill(im);
  for (int i = 0; i < im->num_files; i++)
    if (im->files[i]->used && im->files[i] != im->spill)
      im->files[i]->fingerprint = onyx_fingerprint_bytes(im->files[i]->map, im->files[i]->size);
  print_model(im, m);
  output_commit(im);
}

int onyx_import_run(const import_options *options, char *message) {
  import *im = calloc(1, sizeof *im);
  if (!im) {
    snprintf(message, MESSAGE_MAX, "out of memory");
    return 1;
  }
  im->options = *options;
  int failed = setjmp(im->way_out);
  if (!failed) {
    source_open_model(im);
    decode(im);
    model *m = build_model(im);
    if (options->stats)
      print_stats(im, m, stdout);
    else
      write_text(im, m);
  }
  if (failed)
    memcpy(message, im->message, MESSAGE_MAX);
  source_close(im);
  arena_free(&im->memory);
  free(im);
  return failed;
}

int onyx_import_bytes(const void *bytes, size_t size, char *message) {
  import *im = calloc(1, sizeof *im);
  if (!im)
    return 1;
  im->options = (import_options){.input = "-",
                                 .inline_elements = 64,
                                 .entry = "main_graph",
                                 .batch = -1,
                                 .quiet = true,
                                 .docs = true};
  int failed = setjmp(im->way_out);
  if (!failed) {
    source_use_bytes(im, bytes, size);
    decode(im);
    model *m = build_model(im);
    im->out = fopen("/dev/null", "wb");
    if (!im->out)
      import_fail(im, "cannot open /dev/null");
    print_model(im, m);
    output_commit(im);
  }
  if (failed)
    memcpy(message, im->message, MESSAGE_MAX);
  source_close(im);
  arena_free(&im->memory);
  free(im);
  return failed;
}
