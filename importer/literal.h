// MLIR literals: strings, numbers, types, dense elements.
#ifndef ONYX_IMPORTER_LITERAL_H
#define ONYX_IMPORTER_LITERAL_H

#include "importer/ir.h"

void literal_string(FILE *out, str s);       // quoted, any byte
void literal_string_body(FILE *out, str s);  // the same without quotes
void literal_key(FILE *out, str s);          // an attribute's or symbol's name, quoted if need be
void literal_f32(FILE *out, float f);        // without its type; hexadecimal for NaN and infinity
void literal_type(FILE *out, const type *t); // `none` for NULL
void literal_tensor_type(FILE *out, const tensor *t);
// Bytes in hexadecimal, without quotes.
void literal_hexadecimal(FILE *out, const unsigned char *bytes, uint64_t size);
// dense<...> without its type: a list, one element for a splat, or bytes in hexadecimal when many.
void literal_dense(FILE *out, const tensor *t);

#endif
