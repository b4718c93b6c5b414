// RUN: %onyx-opt %s --verify-diagnostics --split-input-file --pass-pipeline='builtin.module(convert-onnx-to-linalg)'

func.func @ordered(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{linalg cannot hold it}}
  %0 = "onnx.ScatterElements"(%x, %i, %u) {onnx_node_name = "scatter"} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  onnx.Return %0 : tensor<4xf32>
}
