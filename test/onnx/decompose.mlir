// RUN: %onyx-opt -split-input-file --pass-pipeline='builtin.module(decompose-onnx,shape-inference,canonicalize)' %s | FileCheck %s
// RUN: %onyx-opt -split-input-file --pass-pipeline='builtin.module(decompose-onnx{target=HardSwish,LayerNormalization},shape-inference,constprop-onnx)' %s | FileCheck --check-prefix=TARGET %s

// CHECK-LABEL: func.func @fused_conv
// CHECK: %[[C:.*]] = "onnx.Conv"(%{{.*}}, %{{.*}}, %{{.*}}) {kernel_shape = [3, 3], onnx_node_name = "conv", pads = [1, 1, 1, 1]}
// CHECK: "onnx.Relu"(%[[C]]) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
// CHECK-NOT: onnx.Custom
// TARGET-LABEL: func.func @fused_conv
// TARGET: onnx.Custom
func.func @fused_conv(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x3x3xf32>, %b: tensor<2xf32>) -> tensor<*xf32> {
  %0 = "onnx.Custom"(%x, %w, %b) {domain_name = "com.microsoft", function_name = "FusedConv", activation = "Relu", kernel_shape = [3, 3], pads = [1, 1, 1, 1], onnx_node_name = "conv"} : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// An activation that is not known, and an operator of another domain, stay.
// CHECK-LABEL: func.func @left
// CHECK: function_name = "FusedConv"
// CHECK: domain_name = "other"
func.func @left(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x3x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = "onnx.Custom"(%x, %w) {domain_name = "com.microsoft", function_name = "FusedConv", activation = "NoSuch"} : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<*xf32>
  %1 = "onnx.Custom"(%x) {domain_name = "other", function_name = "Gelu"} : (tensor<1x2x4x4xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Past keys come before the new ones: 4 of them and 3 queries make 7 keys.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: -> (tensor<2x3x8xf32>, tensor<2x2x2x7x4xf32>)
// CHECK-NOT: onnx.Custom
func.func @attention(%x: tensor<2x3x8xf32>, %w: tensor<8x24xf32>, %b: tensor<24xf32>, %past: tensor<2x2x2x4x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %0:2 = "onnx.Custom"(%x, %w, %b, %none, %past) {domain_name = "com.microsoft", function_name = "Attention", num_heads = 2 : si64, unidirectional = 1 : si64} : (tensor<2x3x8xf32>, tensor<8x24xf32>, tensor<24xf32>, none, tensor<2x2x2x4x4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// The standard's own only when asked for. 3 * max(0, min(1, 3 / 6 + 1 / 2)) = 3; -3 and 0 give 0.
// CHECK-LABEL: func.func @hard_swish
// CHECK: onnx.HardSwish
// TARGET-LABEL: func.func @hard_swish
// TARGET-NOT: onnx.HardSwish
// TARGET: onnx.Constant dense<[{{-?}}0.000000e+00, 0.000000e+00, 3.000000e+00]> : tensor<3xf32>
func.func @hard_swish() -> tensor<3xf32> {
  %x = onnx.Constant dense<[-3.0, 0.0, 3.0]> : tensor<3xf32>
  %0 = "onnx.HardSwish"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// Mean 2, variance ((1 - 2)^2 + (3 - 2)^2) / 2 = 1, epsilon 3: (x - 2) / 2 * 4 + 10.
// TARGET-LABEL: func.func @layer_normalization
// TARGET-NOT: onnx.LayerNormalization
// TARGET: onnx.Constant dense<{{\[\[}}8.000000e+00, 1.200000e+01]]> : tensor<1x2xf32>
func.func @layer_normalization() -> tensor<1x2xf32> {
  %x = onnx.Constant dense<[[1.0, 3.0]]> : tensor<1x2xf32>
  %scale = onnx.Constant dense<4.0> : tensor<2xf32>
  %shift = onnx.Constant dense<10.0> : tensor<2xf32>
  %0 = "onnx.LayerNormalization"(%x, %scale, %shift) {epsilon = 3.0 : f32} : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
