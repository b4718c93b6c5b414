// RUN: %onyx-opt %s --pass-pipeline='builtin.module(onnx-hoist-constants)' | FileCheck %s
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(func.func(onnx-hoist-constants{report=%t.json}))' -o %t.out && FileCheck %s --check-prefix=REPORT --input-file=%t.json
// REPORT: "pass":"onnx-hoist-constants"
// REPORT-SAME: "Transpose":

// Operators over constants, and over what they make, are marked; those over inputs are not.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant #onnx.file<"weights.bin", 0, 24> : tensor<2x3xf32>
  %b = onnx.Constant dense<1.0> : tensor<2xf32>
  // CHECK: "onnx.Transpose"(%{{.*}}) {onyx.init, perm = [1, 0]}
  %t = "onnx.Transpose"(%w) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: "onnx.Add"(%{{.*}}, %{{.*}}) {onyx.init}
  %s = "onnx.Add"(%t, %b) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  // CHECK: "onnx.Mul"(%{{[^{]*}}) :
  %y = "onnx.Mul"(%x, %s) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  onnx.Return %y : tensor<3x2xf32>
}


// Not: what draws numbers, what has no known size, what stands in a branch, what has no operand at all.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: onyx.init
func.func @stays(%c: tensor<i1>) -> tensor<*xf32> {
  %w = onnx.Constant #onnx.file<"weights.bin", 0, 24> : tensor<2x3xf32>
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.RandomNormalLike"(%w) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %n = "onnx.NonZero"(%w) : (tensor<2x3xf32>) -> tensor<2x?xi64>
  %d, %m = "onnx.Dropout"(%w, %none, %c) : (tensor<2x3xf32>, none, tensor<i1>) -> (tensor<2x3xf32>, none)
  %i = "onnx.If"(%c) ({
    %a = "onnx.Relu"(%w) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    onnx.Yield %a : tensor<2x3xf32>
  }, {
    onnx.Yield %w : tensor<2x3xf32>
  }) : (tensor<i1>) -> tensor<*xf32>
  onnx.Return %i : tensor<*xf32>
}
