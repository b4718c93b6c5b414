// Graph passes: onnx to onnx. One file a pass.
#ifndef ONYX_PASSES_ONNX_PASSES_H
#define ONYX_PASSES_ONNX_PASSES_H

#include "mlirx/mlirx.h"

// Unit attribute of an operator that the init function computes: onnx-hoist-constants decides, the
// lowering obeys.
#define ONYX_INIT "onyx.init"

extern const MlirxPassDescriptor onnx_cse_node_name_pass, onnx_hybrid_transform_pass;
extern const MlirxPassDescriptor onnx_set_dims_pass, onnx_make_dynamic_pass;
extern const MlirxPassDescriptor onnx_dim_analysis_pass, onnx_remove_same_dim_pass,
    onnx_conv_opt_pass, onnx_extract_pass, onnx_print_stats_pass, onnx_simplify_shape_pass;
extern const MlirxPassDescriptor onnx_hoist_constants_pass, onnx_shape_inference_pass,
    onnx_constprop_pass, onnx_decompose_pass, onnx_set_node_name_pass, onnx_pre_krnl_verify_pass,
    onnx_standard_func_return_pass;

#endif // ONYX_PASSES_ONNX_PASSES_H
