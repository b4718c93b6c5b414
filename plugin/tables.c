//===- tables.c - What the plugin registers -----------------------------------------------===//
//
// One line an entry, in alphabetical order.
//
//===----------------------------------------------------------------------===//

#include "mlirx/mlirx.h"

#include <stddef.h>

// Dialects

MlirxDialect *const mlirxDialects[] = {
    NULL,
};

// Passes

const MlirxPassDescriptor *const mlirxPasses[] = {
    NULL,
};

// Pipelines

const MlirxPipeline *const mlirxPipelines[] = {
    NULL,
};
