// AttributeProto to attributes.
#ifndef ONYX_IMPORTER_ATTRS_H
#define ONYX_IMPORTER_ATTRS_H

#include "importer/tensors.h"

// The kind that an attribute says, or shows by what it holds where it says none.
onyx_attr_kind attr_kind(const Onnx__AttributeProto *p);
// Fills an attribute that has its name and kind. Graphs are left out: they wait until the types of
// the node's operands are known. n is for messages.
void attr_read(import *im, const node *n, attr *a, const Onnx__AttributeProto *p);

#endif
