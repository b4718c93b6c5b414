// A short account of a model, for --stats.
#ifndef ONYX_IMPORTER_STATS_H
#define ONYX_IMPORTER_STATS_H

#include "importer/build.h"

void print_stats(import *im, const model *m, FILE *out);

#endif
