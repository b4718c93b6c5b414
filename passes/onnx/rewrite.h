// Small helpers of the graph passes.
#ifndef ONYX_PASSES_ONNX_REWRITE_H
#define ONYX_PASSES_ONNX_REWRITE_H

#include "mlirx/mlirx.h"

// Removes ops below root whose results nobody uses and that have no effects, with what becomes so.
void erase_dead_ops(MlirOperation root);
// Visits root and every op inside it, operands before users, until `visit` fails.
MlirLogicalResult walk_ops(MlirOperation root, MlirLogicalResult (*visit)(MlirOperation, void *),
                           void *user);

#endif // ONYX_PASSES_ONNX_REWRITE_H
