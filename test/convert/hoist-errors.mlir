// RUN: %onyx-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-onnx-to-krnl)' -o /dev/null

// A mark that cannot be obeyed is told.
func.func @of_input(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is marked onyx.init, but operand 0 is not known when the model is loaded}}
  %0 = "onnx.Relu"(%x) {onyx.init} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %0 : tensor<4xf32>
}

// -----

// The marks of a chain go together.
func.func @broken_chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = onnx.Constant dense<1.0> : tensor<4xf32>
  %0 = "onnx.Relu"(%c) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{is marked onyx.init, but operand 0 is not known when the model is loaded}}
  %1 = "onnx.Neg"(%0) {onyx.init} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Add"(%x, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %2 : tensor<4xf32>
}

// -----

func.func @in_branch(%c: tensor<i1>) -> tensor<4xf32> {
  %w = onnx.Constant dense<1.0> : tensor<4xf32>
  %0 = "onnx.If"(%c) ({
    // expected-error @+1 {{is marked onyx.init, but is no operator over constants with results of static shape in the body of a function}}
    %1 = "onnx.Relu"(%w) {onyx.init} : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %1 : tensor<4xf32>
  }, {
    onnx.Yield %w : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  onnx.Return %0 : tensor<4xf32>
}
