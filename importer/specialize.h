// The options that change a model's interface: --dim, --shape, --batch, --inputs, --outputs.
#ifndef ONYX_IMPORTER_SPECIALIZE_H
#define ONYX_IMPORTER_SPECIALIZE_H

#include "importer/build.h"
#include "onnx.pb-c.h"

// Reads the options that fix dimensions, before any type of the model is read.
void specialize_dims(import *im, const Onnx__GraphProto *g);
// The value that an option gives a symbolic dimension, -1 when none does.
int64_t specialize_param(const import *im, str param);
// The type of a graph input, with the dimensions that options give it.
const type *specialize_input(import *im, str name, const type *t);
// Whether a fixed dimension was changed, so that what the model says of its outputs may be wrong.
bool specialize_changed_shapes(const import *im);

// Leaves the part of the main graph between the values that --inputs and --outputs name. find gives
// a value of the main graph by its name.
typedef value *find_value(void *context, str name);
void specialize_cut(import *im, graph *g, find_value *find, void *context);

#endif
