// A bounded walk over a model's bytes before protobuf-c reads them.
//
// protobuf-c has no limit on depth and copies every byte. The walk follows the message descriptors
// that protoc-c generated, checks lengths, wire types, depth and the memory that decoding will
// take, and writes a smaller message: unknown fields are dropped, and a tensor's payload (raw_data,
// or one packed run of float_data or double_data) becomes its place in the file.
#ifndef ONYX_IMPORTER_WIRE_H
#define ONYX_IMPORTER_WIRE_H

#include "importer/base.h"

#include <protobuf-c/protobuf-c.h>

// Decodes a message of the given kind. Ends the import, naming `what` and the byte, when malformed.
// The result lives in the import's arena; places in tensors count from `bytes`.
void *wire_decode(import *im, const ProtobufCMessageDescriptor *kind, const void *bytes,
                  uint64_t size, const char *what);

#endif
