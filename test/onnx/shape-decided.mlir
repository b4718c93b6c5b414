// What a known condition decides, and pads that exporters compute: pairs reversed by a slice and transposed.
// RUN: %onyx-opt %s --split-input-file --pass-pipeline='builtin.module(shape-inference)' | FileCheck %s

// The last dim is 1, so the branch that squeezes it is taken; the other would give another rank.
// CHECK-LABEL: func.func @squeezed
// CHECK: onnx.If
// CHECK: : (tensor<1xi1>) -> tensor<2x3xf32>
func.func @squeezed(%x: tensor<2x3x1xf32>) -> tensor<*xf32> {
  %last = onnx.Constant dense<-1> : tensor<1xi64>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %s = "onnx.Shape"(%x) : (tensor<2x3x1xf32>) -> tensor<*xi64>
  %n = "onnx.Gather"(%s, %last) {axis = 0 : si64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %c = "onnx.Equal"(%n, %one) : (tensor<*xi64>, tensor<1xi64>) -> tensor<1xi1>
  %y = "onnx.If"(%c) ({
    %q = "onnx.Squeeze"(%x, %last) : (tensor<2x3x1xf32>, tensor<1xi64>) -> tensor<*xf32>
    onnx.Yield %q : tensor<*xf32>
  }, {
    onnx.Yield %x : tensor<2x3x1xf32>
  }) : (tensor<1xi1>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// [0, 7, 0, 0] as pairs of (begin, end) from the last dim on: [[0, 7], [0, 0]], reversed [[0, 0], [0, 7]],
// transposed [[0, 0], [0, 7]]: begins 0 and 0, ends 0 and 7.
// CHECK-LABEL: func.func @pads
// CHECK: "onnx.Pad"{{.*}} -> tensor<2x12xf32>
func.func @pads(%x: tensor<2x5xf32>) -> tensor<*xf32> {
  %list = onnx.Constant dense<[0, 7]> : tensor<2xi64>
  %two = onnx.Constant dense<2> : tensor<1xi64>
  %zeros = "onnx.ConstantOfShape"(%two) {value = dense<0> : tensor<1xi64>} : (tensor<1xi64>) -> tensor<*xi64>
  %all = "onnx.Concat"(%list, %zeros) {axis = 0 : si64} : (tensor<2xi64>, tensor<*xi64>) -> tensor<*xi64>
  %pairs = onnx.Constant dense<[-1, 2]> : tensor<2xi64>
  %m = "onnx.Reshape"(%all, %pairs) : (tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  %start = onnx.Constant dense<-1> : tensor<1xi64>
  %end = onnx.Constant dense<-9223372036854775807> : tensor<1xi64>
  %axis = onnx.Constant dense<0> : tensor<1xi64>
  %step = onnx.Constant dense<-1> : tensor<1xi64>
  %r = "onnx.Slice"(%m, %start, %end, %axis, %step) : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %t = "onnx.Transpose"(%r) {perm = [1, 0]} : (tensor<*xi64>) -> tensor<*xi64>
  %flat = onnx.Constant dense<-1> : tensor<1xi64>
  %p = "onnx.Reshape"(%t, %flat) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Pad"(%x, %p, %none, %none) : (tensor<2x5xf32>, tensor<*xi64>, none, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}
