//===- passes.h - Passes over krnl ------------------------------------------------------===//
#ifndef ONYX_PASSES_KRNL_PASSES_H
#define ONYX_PASSES_KRNL_PASSES_H

#include "mlirx/mlirx.h"

extern const MlirxPassDescriptor convert_krnl_to_affine, convert_krnl_to_llvm, krnl_plan_memory,
    krnl_print_loop_nest, krnl_schedule, lower_krnl_region;

#endif // ONYX_PASSES_KRNL_PASSES_H
