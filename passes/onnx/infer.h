//===- infer.h - One forward walk that finds what is known of every value ------------===//
#ifndef ONYX_PASSES_ONNX_INFER_H
#define ONYX_PASSES_ONNX_INFER_H

#include "dialects/onnx/view_mlir.h"

// Walks a function's body in order and gives every result its fact (view_fact): shape over the
// function's symbols, and the elements of small integer tensors. Bodies of loops are walked until
// what comes in is what goes out. Nothing is written to the IR. Failure after an emitted error.
MlirLogicalResult infer_function(view_scope *scope, MlirOperation function);

// Writes the facts into the types of results and of block arguments inside regions, and into the
// function's result types. Returns whether anything changed. Fails where the function's written
// result types contradict what it returns.
MlirLogicalResult infer_write(view_scope *scope, MlirOperation function, bool *changed);

// Calls `visit` on op itself if it is a func.func with a body, else on those directly inside it
// (and in modules inside it), until one fails.
MlirLogicalResult for_each_function(MlirOperation op,
                                    MlirLogicalResult (*visit)(MlirOperation, void *), void *user);

#endif // ONYX_PASSES_ONNX_INFER_H
