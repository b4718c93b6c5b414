// ModelProto to the graph in memory: names, scopes, order, functions, upgrades, types.
#ifndef ONYX_IMPORTER_BUILD_H
#define ONYX_IMPORTER_BUILD_H

#include "importer/ir.h"

typedef struct opset_import {
  str domain; // "" for ai.onnx
  int64_t version;
} opset_import;

typedef struct model {
  graph *main;
  int num_opsets;
  const opset_import *opsets;
  int num_nodes;     // of the newest version, in all graphs
  graph **functions; // that --keep-functions keeps, each after those it calls
  int num_functions;
} model;

// Builds the whole model from im->proto.
model *build_model(import *im);

#endif
