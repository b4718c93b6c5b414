// The text: types, attributes, constants, operators.
#ifndef ONYX_IMPORTER_PRINT_H
#define ONYX_IMPORTER_PRINT_H

#include "importer/build.h"

// Writes the module to im->out. Constants that must go to <out>.data have been given their place.
void print_model(import *im, const model *m);
// Gives constants without a place in a file one in <out>.data, where the options ask for files.
void place_constants(import *im, const model *m);

#endif
