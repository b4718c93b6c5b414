//===- tables.c - What the plugin registers -----------------------------------------------===//
//
// One line an entry, in alphabetical order.
//
//===----------------------------------------------------------------------===//

#include "dialects/krnl/krnl.h"
#include "mlirx/mlirx.h"

#include <stddef.h>

// Dialects

MlirxDialect *const mlirxDialects[] = {
    &krnl_dialect,
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
