// RUN: %onyx-opt %s --verify-diagnostics --split-input-file --pass-pipeline='builtin.module(convert-onnx-to-krnl)'

// All that cannot be lowered is told at once, with node, operator, domain and reason.
func.func @several(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{(node "fused"): operator BiasGelu of domain 'com.microsoft' has no lowering to loops}}
  %0 = "onnx.Custom"(%a) {domain_name = "com.microsoft", function_name = "BiasGelu", onnx_node_name = "fused"} : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error @+1 {{(node "slope"): operator Gradient of domain 'ai.onnx.preview.training' has no lowering to loops}}
  %1 = "onnx.Gradient"(%0) {xs = ["x"], y = "y", onnx_node_name = "slope"} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %1 : tensor<2xf32>
}

// -----

func.func @unranked(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Relu"(%a) : (tensor<2xf32>) -> tensor<*xf32>
  // expected-error @+1 {{operand 0: the rank is not known (run shape-inference first)}}
  %1 = "onnx.Neg"(%0) : (tensor<*xf32>) -> tensor<2xf32>
  onnx.Return %1 : tensor<2xf32>
}
