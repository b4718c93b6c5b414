// RUN: %onyx-opt -split-input-file --canonicalize %s | FileCheck %s

// Forms
// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<1x2x4x4xf32>, %c: tensor<2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>, tensor<2xi64>) {
  // CHECK-DAG: "onnx.MaxPool"(%{{.*}}) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %0 = "onnx.MaxPoolSingleOut"(%x) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  // CHECK-DAG: "onnx.BatchNormalization"
  %1 = "onnx.BatchNormalizationInferenceMode"(%x, %c, %c, %c, %c) : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-DAG: onnx.Constant dense<[1, 2]> : tensor<2xi64>
  %2 = onnx.Constant {value_ints = [1, 2]} : tensor<2xi64>
  return %0, %1, %2 : tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>, tensor<2xi64>
}

// -----

// A decided branch takes the place of its If.
// CHECK-LABEL: func.func @if
func.func @if(%x: tensor<2xf32>) -> tensor<2xf32> {
  %true = onnx.Constant dense<true> : tensor<i1>
  // CHECK-NOT: onnx.If
  // CHECK: %[[R:.*]] = "onnx.Exp"
  // CHECK: return %[[R]]
  %0 = "onnx.If"(%true) ({
    %1 = "onnx.Exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %1 : tensor<2xf32>
  }, {
    %1 = "onnx.Log"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %1 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @rename
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<?x6xf32>)
func.func @rename(%x: tensor<2x3xf32>, %y: tensor<?x6xf32>) -> (tensor<2x3xf32>, tensor<?x3x2xf32>, tensor<?x2xf32>) {
  %axes = onnx.Constant dense<0> : tensor<1xi64>
  // CHECK-NOT: onnx.Unsqueeze
  // CHECK-NOT: onnx.Squeeze
  %0 = "onnx.Unsqueeze"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<1x2x3xf32>
  %1 = "onnx.Squeeze"(%0, %axes) : (tensor<1x2x3xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  %s1 = onnx.Constant dense<[-1, 2, 3]> : tensor<3xi64>
  %s2 = onnx.Constant dense<[-1, 3, 2]> : tensor<3xi64>
  %s3 = onnx.Constant dense<[0, 2]> : tensor<2xi64>
  %2 = "onnx.Reshape"(%y, %s1) : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x2x3xf32>
  // CHECK: "onnx.Reshape"(%[[Y]], %{{.*}}) : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x3x2xf32>
  %3 = "onnx.Reshape"(%2, %s2) : (tensor<?x2x3xf32>, tensor<3xi64>) -> tensor<?x3x2xf32>
  // A 0 in the target reads the dims of its own input: that one stays.
  // CHECK: %[[F:.*]] = "onnx.Flatten"(%[[Y]])
  // CHECK: "onnx.Reshape"(%[[F]]
  %4 = "onnx.Flatten"(%y) {axis = 2 : si64} : (tensor<?x6xf32>) -> tensor<?x1xf32>
  %5 = "onnx.Reshape"(%4, %s3) : (tensor<?x1xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  // CHECK: return %[[X]]
  return %1, %3, %5 : tensor<2x3xf32>, tensor<?x3x2xf32>, tensor<?x2xf32>
}

// -----

// CHECK-LABEL: func.func @transpose
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[Y:.*]]: tensor<1x3x1x5xf32>)
func.func @transpose(%x: tensor<2x3x4xf32>, %y: tensor<1x3x1x5xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x2x4xf32>, tensor<3x1x5x1xf32>, tensor<5x3x1x1xf32>) {
  %0 = "onnx.Transpose"(%x) {perm = [0, 1, 2]} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // The default reverses: twice is the identity.
  %1 = "onnx.Transpose"(%x) : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %2 = "onnx.Transpose"(%1) : (tensor<4x3x2xf32>) -> tensor<2x3x4xf32>
  // Axis i of the outcome is axis [2, 1, 0][[1, 2, 0][i]]: 1, 0, 2.
  // CHECK: "onnx.Transpose"(%[[X]]) {perm = [1, 0, 2]} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %3 = "onnx.Transpose"(%1) {perm = [1, 2, 0]} : (tensor<4x3x2xf32>) -> tensor<3x2x4xf32>
  // Axes of size 1 move nothing; 3 and 5 changing places does.
  // CHECK: "onnx.Reshape"(%[[Y]], %{{.*}}) : (tensor<1x3x1x5xf32>, tensor<4xi64>) -> tensor<3x1x5x1xf32>
  %4 = "onnx.Transpose"(%y) {perm = [1, 0, 3, 2]} : (tensor<1x3x1x5xf32>) -> tensor<3x1x5x1xf32>
  // CHECK: "onnx.Transpose"(%[[Y]])
  %5 = "onnx.Transpose"(%y) {perm = [3, 1, 0, 2]} : (tensor<1x3x1x5xf32>) -> tensor<5x3x1x1xf32>
  // CHECK: return %[[X]], %[[X]]
  return %0, %2, %3, %4, %5 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x2x4xf32>, tensor<3x1x5x1xf32>, tensor<5x3x1x1xf32>
}

// -----

// CHECK-LABEL: func.func @nothing
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
func.func @nothing(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %shape = onnx.Constant dense<[2, 3]> : tensor<2xi64>
  %0 = "onnx.Expand"(%x, %shape) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %pads = onnx.Constant dense<0> : tensor<4xi64>
  %1 = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<2x3xf32>, tensor<4xi64>, none, none) -> tensor<2x3xf32>
  %2 = "onnx.Concat"(%x) {axis = 0 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3, %mask = "onnx.Dropout"(%x, %none, %none) : (tensor<2x3xf32>, none, none) -> (tensor<2x3xf32>, tensor<2x3xi1>)
  %starts = onnx.Constant dense<0> : tensor<1xi64>
  %ends = onnx.Constant dense<2> : tensor<1xi64>
  %4 = "onnx.Slice"(%x, %starts, %ends, %starts, %none) : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<2x3xf32>
  // Backwards it keeps the shape, not the elements.
  // CHECK: %[[S:.*]] = "onnx.Slice"
  %last = onnx.Constant dense<-1> : tensor<1xi64>
  %before = onnx.Constant dense<-9> : tensor<1xi64>
  %5 = "onnx.Slice"(%x, %last, %before, %starts, %last) : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  // CHECK: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[S]]
  return %0, %1, %2, %3, %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// x + 0 is no identity: -0 + 0 is 0. Nor is x * 0 zero: NaN.
// CHECK-LABEL: func.func @scalars
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xi1>)
func.func @scalars(%x: tensor<2xf32>, %b: tensor<2xi1>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi1>, tensor<2xf32>, tensor<2xi1>, tensor<3x2xf32>) {
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %0 = "onnx.Mul"(%one, %x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = "onnx.Sub"(%x, %zero) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: %[[ADD:.*]] = "onnx.Add"
  %2 = "onnx.Add"(%x, %zero) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: %[[ZERO:.*]] = "onnx.Mul"(%[[X]], %{{.*}}) : (tensor<2xf32>, tensor<f32>)
  %3 = "onnx.Mul"(%x, %zero) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: %[[SQUARE:.*]] = "onnx.Mul"(%[[X]], %[[X]])
  %4 = "onnx.Pow"(%x, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = "onnx.Not"(%b) : (tensor<2xi1>) -> tensor<2xi1>
  %6 = "onnx.Not"(%5) : (tensor<2xi1>) -> tensor<2xi1>
  // CHECK: %[[RELU:.*]] = "onnx.Relu"(%[[X]])
  %7 = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %8 = "onnx.Relu"(%7) : (tensor<2xf32>) -> tensor<2xf32>
  %9 = "onnx.Cast"(%b) {to = f32} : (tensor<2xi1>) -> tensor<2xf32>
  %10 = "onnx.Cast"(%9) {to = i1} : (tensor<2xf32>) -> tensor<2xi1>
  // A factor that broadcasts makes another shape.
  // CHECK: %[[WIDE:.*]] = "onnx.Mul"
  %ones = onnx.Constant dense<1.0> : tensor<3x2xf32>
  %11 = "onnx.Mul"(%x, %ones) : (tensor<2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  // CHECK: return %[[X]], %[[X]], %[[ADD]], %[[ZERO]], %[[SQUARE]], %[[B]], %[[RELU]], %[[B]], %[[WIDE]]
  return %0, %1, %2, %3, %4, %6, %8, %10, %11 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi1>, tensor<2xf32>, tensor<2xi1>, tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func.func @pad
// CHECK-SAME: (%[[X:.*]]: tensor<1x1x4x4xf32>
func.func @pad(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x5x6xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 0, 0, 2]> : tensor<8xi64>
  // Rows: 1 + 1 before, 1 + 0 after. Columns: 1 + 0 before, 1 + 2 after.
  // CHECK-NOT: onnx.Pad
  // CHECK: "onnx.Conv"(%[[X]], %{{.*}}) {pads = [2, 1, 1, 3]}
  %0 = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<1x1x4x4xf32>, tensor<8xi64>, none, none) -> tensor<1x1x5x6xf32>
  %1 = "onnx.Conv"(%0, %w, %none) {pads = [1, 1, 1, 1]} : (tensor<1x1x5x6xf32>, tensor<1x1x3x3xf32>, none) -> tensor<1x1x5x6xf32>
  return %1 : tensor<1x1x5x6xf32>
}
