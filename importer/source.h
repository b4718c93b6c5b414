// The files of an import: the model, its external data, and what the importer writes.
#ifndef ONYX_IMPORTER_SOURCE_H
#define ONYX_IMPORTER_SOURCE_H

#include "importer/ir.h"

// Maps the model (reads it when it comes by a pipe) and finds the folders. Fills im->model.
void source_open_model(import *im);
// The model is these bytes, which outlive the import.
void source_use_bytes(import *im, const void *bytes, size_t size);
// Opens an external data file named by an initializer. The location is relative, and neither it nor
// a link on its way leaves the model's folder; anything else ends the import. `owner` names the
// initializer in messages.
weights_file *source_external(import *im, str location, str owner);

// Opens the output: a temporary file beside a regular one, a device or pipe in place.
void output_open(import *im);
// Whether constants may go to <out>.data: not when the text goes to a pipe.
bool output_can_spill(const import *im);
// Appends a constant's bytes to <out>.data and gives it its place there.
void output_spill(import *im, tensor *t);
// Flushes and closes <out>.data and gives it its final size and fingerprint.
void output_finish_spill(import *im);
// Puts everything in its final place.
void output_commit(import *im);
// Closes files, unmaps, removes temporary files that output_commit did not rename.
void source_close(import *im);

#endif
