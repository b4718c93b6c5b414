// TensorProto and SparseTensorProto to constants, TypeProto to types.
#ifndef ONYX_IMPORTER_TENSORS_H
#define ONYX_IMPORTER_TENSORS_H

#include "importer/ir.h"
#include "onnx.pb-c.h"

// `owner` names the initializer or attribute in messages. base holds the bytes that the places in
// the message count from (the model file).
const tensor *tensor_read(import *im, const Onnx__TensorProto *p, str owner);
// Made dense.
const tensor *tensor_read_sparse(import *im, const Onnx__SparseTensorProto *p, str owner);
// NULL when the message says nothing.
const type *type_read(import *im, const Onnx__TypeProto *p, str owner);

onyx_elem elem_read(import *im, int64_t number, str owner);
str str_read(ProtobufCBinaryData data); // refers to the decoded message

#endif
