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

// Oldest opset of the op's domain whose version of the operator says what this op says.
int export_oldest_version(MlirOperation op);
// Row of the schema table in force for op at an opset of its domain.
const onyx_schema *export_row(MlirOperation op, int opset);
// ir_version that belongs to an opset of ai.onnx.
int export_ir_version(int opset);
// Reduce* before 18 list their axes in an attribute: true with the axes when op can be written so.
bool export_axes_attribute(MlirOperation op, MlirAttribute *axes);

#endif
