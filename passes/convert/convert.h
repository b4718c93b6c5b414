// Passes between the onnx dialect and loops.
#ifndef ONYX_PASSES_CONVERT_CONVERT_H
#define ONYX_PASSES_CONVERT_CONVERT_H

#include "mlirx/mlirx.h"

extern const MlirxPassDescriptor convert_onnx_to_krnl, convert_onnx_to_linalg;

#endif // ONYX_PASSES_CONVERT_CONVERT_H
