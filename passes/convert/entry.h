//===- entry.h - What a compiled model says of itself ------------------------------===//
//
// krnl.entry_point, as convert-onnx-to-krnl makes it:
//   "krnl.entry_point"() {func = @main_graph, numInputs, numOutputs, init = @main_graph_init (if
//   there is one), signature = "in .. \n dim .. \n out .. \n"} : the manifest's lines on inputs and
//   outputs.
// The hidden arguments of func and init follow the inputs and carry krnl.status, krnl.weights,
// krnl.constants or krnl.arena; their sizes are attributes of func (docs/abi.md).
//
//===----------------------------------------------------------------------===//
#ifndef ONYX_PASSES_CONVERT_ENTRY_H
#define ONYX_PASSES_CONVERT_ENTRY_H

#include "mlirx/mlirx.h"

// Text of onyx_manifest for an entry point; the caller frees it. NULL after an emitted error. Works
// on func.func as well as on llvm.func (where each memref argument of rank 1 has become five).
char *onyx_manifest_text(MlirOperation module, MlirOperation entry_point);

// The signature lines of a function whose arguments and results are still tensors (onnx.name and
// onnx.dim_params are its argument and result attributes); the caller frees it.
char *onyx_signature_text(MlirOperation function);

#endif // ONYX_PASSES_CONVERT_ENTRY_H
