//===- export.h - onnx modules as .onnx files ---------------------------------------===//
#ifndef ONYX_PASSES_EXPORT_EXPORT_H
#define ONYX_PASSES_EXPORT_EXPORT_H

#include "dialects/onnx/onnx.h"
#include "mlirx/mlirx.h"

extern const MlirxPassDescriptor export_onnx_pass;

// --- versions.c: which opset expresses a module

// Oldest opset of ai.onnx that is written: from there on an older row of an operator means what the
// newest one does wherever it can say it, but for the exceptions that versions.c lists.
#define EXPORT_OLDEST_OPSET 13

// Oldest opset of the op's domain whose version of the operator says what this op says; with
// `inverse` also by an inverse upgrade.
int export_oldest_version(MlirOperation op, bool inverse);
// Row of the schema table in force for op at an opset of its domain.
const onyx_schema *export_row(MlirOperation op, int opset);
// ir_version that belongs to an opset of ai.onnx.
int export_ir_version(int opset);
// Reduce* before 18 list their axes in an attribute: true with the axes when op can be written so.
bool export_axes_attribute(MlirOperation op, MlirAttribute *axes);

// --- inverse.c

enum { EXPORT_INVERSE_MOST = 64 };

// How an op is written at an older version of its operator that cannot say it as it stands.
struct export_inverse {
  intptr_t operands; // that are written
  intptr_t replaced; // one of them, a constant of these elements; -1: none
  bool is_float;
  intptr_t count;
  int64_t ints[EXPORT_INVERSE_MOST];
  float floats[EXPORT_INVERSE_MOST];
  const char *dropped[3];   // attributes that are not written
  const char *attr, *value; // an attribute with another string
};
bool export_invert(MlirOperation op, const onyx_schema *row, struct export_inverse *out);
// Does op need an inverse upgrade at an opset of its domain? Fills out if so.
bool export_needs_inverse(MlirOperation op, int opset, struct export_inverse *out);

#endif
