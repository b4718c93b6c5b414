// RUN: %onyx-opt -verify-diagnostics -split-input-file --pass-pipeline='builtin.module(shape-inference)' %s

func.func @contradiction(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{(node "r"): result 0 'Y': expected shape 2x3 from the operands, but its type says 2x4}}
  %0 = "onnx.Relu"(%x) {onnx_node_name = "r"} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @rank(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{result 0 'Y': expected shape 2x3 from the operands, but its type says 6}}
  %0 = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

func.func @function_type(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
  // expected-error @+1 {{operand 0: its inferred shape contradicts the function's result type}}
  onnx.Return %0 : tensor<*xf32>
}

// -----

func.func @missing_file(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{weights file 'no-such-file.onnx': No such file or directory}}
  %s = onnx.Constant #onnx.file<"no-such-file.onnx", 0, 8> : tensor<1xi64>
  %0 = "onnx.Reshape"(%x, %s) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @scan_inputs(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{num_scan_inputs}}
  %0 = "onnx.Scan"(%x) ({
  ^bb0(%a: tensor<3xf32>):
    onnx.Yield %a : tensor<3xf32>
  }) {num_scan_inputs = 2 : si64} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
