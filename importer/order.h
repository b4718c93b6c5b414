// The order in which nodes are built.
#ifndef ONYX_IMPORTER_ORDER_H
#define ONYX_IMPORTER_ORDER_H

#include "importer/base.h"
#include "onnx.pb-c.h"

// Indices of the nodes such that each comes after those whose results it uses, in its subgraphs
// too, and otherwise as they stand. Ends the import on a cycle.
const size_t *order_nodes(import *im, size_t count, Onnx__NodeProto *const *nodes);

#endif
