//===- tables.c - What the plugin registers -----------------------------------------------===//
//
// One line an entry, in alphabetical order.
//
//===----------------------------------------------------------------------===//

#include "dialects/krnl/krnl.h"
#include "dialects/onnx/onnx.h"
#include "mlirx/mlirx.h"
#include "passes/convert/convert.h"
#include "passes/export/export.h"
#include "passes/krnl/passes.h"
#include "passes/onnx/passes.h"

#include "pipelines_table.h"

#include <stddef.h>

// Dialects

MlirxDialect *const mlirxDialects[] = {
    &krnl_dialect,
    &onnx_dialect,
    NULL,
};

// Passes

const MlirxPassDescriptor *const mlirxPasses[] = {
    &convert_onnx_to_krnl,
    &convert_onnx_to_linalg,
    &export_onnx_pass,
    &onnx_constprop_pass,
    &onnx_conv_opt_pass,
    &onnx_cse_node_name_pass,
    &onnx_dim_analysis_pass,
    &onnx_make_dynamic_pass,
    &onnx_set_dims_pass,
    &onnx_remove_same_dim_pass,
    &onnx_simplify_shape_pass,
    &onnx_decompose_pass,
    &onnx_extract_pass,
    &onnx_hoist_constants_pass,
    &onnx_hybrid_transform_pass,
    &onnx_pre_krnl_verify_pass,
    &onnx_print_stats_pass,
    &onnx_set_node_name_pass,
    &onnx_shape_inference_pass,
    &onnx_standard_func_return_pass,
    &convert_krnl_to_affine,
    &convert_krnl_to_llvm,
    &krnl_plan_memory,
    &krnl_print_loop_nest,
    &krnl_schedule,
    &lower_krnl_region,
    NULL,
};

// Pipelines: those of pipelines/, by their files' names

const MlirxPipeline *const mlirxPipelines[] = {
    ONYX_PIPELINE_POINTERS,
    NULL,
};
