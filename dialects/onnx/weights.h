// Weights files, mapped read-only while a pass reads them.
#ifndef ONYX_DIALECTS_ONNX_WEIGHTS_H
#define ONYX_DIALECTS_ONNX_WEIGHTS_H

#include "dialects/onnx/ops/arena.h"
#include "mlirx/mlirx.h"

typedef struct weights_cache weights_cache;

// Names resolve against `root`, else the attribute onnx.weights_root of the module around op, else
// the working directory. Lives until destroyed; nothing is opened before it is asked for.
weights_cache *weights_cache_create(MlirOperation op, MlirStringRef root);
void weights_cache_destroy(weights_cache *cache);
// Bytes [offset, offset + bytes) of a file. NULL with a text in *error (in `arena`) when it cannot
// be mapped, is too short, or is not the file that onnx.weights_files lists. Pages are read when
// touched.
const void *weights_range(weights_cache *cache, onyx_arena *arena, MlirStringRef name,
                          uint64_t offset, uint64_t bytes, const char **error);

#endif // ONYX_DIALECTS_ONNX_WEIGHTS_H
