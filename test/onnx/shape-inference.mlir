// RUN: %onyx-opt -split-input-file --pass-pipeline='builtin.module(shape-inference)' %s | FileCheck %s
// RUN: %onyx-opt -split-input-file --pass-pipeline='builtin.module(func.func(shape-inference))' %s | FileCheck %s

// Static shapes flow to the results and to the function's type.
// CHECK-LABEL: func.func @static
// CHECK-SAME: -> tensor<2x4xf32>
func.func @static(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<*xf32> {
  // CHECK: "onnx.MatMul"{{.*}} -> tensor<2x4xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  // CHECK: "onnx.Relu"{{.*}} -> tensor<2x4xf32>
  %1 = "onnx.Relu"(%0) : (tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// A shape is data: Shape, Gather and Concat decide the Reshape. 6 elements a batch entry stay 6.
// CHECK-LABEL: func.func @shape_data
// CHECK-SAME: -> tensor<?x6xf32>
func.func @shape_data(%x: tensor<?x2x3xf32>) -> tensor<*xf32> {
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %rest = onnx.Constant dense<-1> : tensor<1xi64>
  // CHECK: "onnx.Shape"{{.*}} -> tensor<3xi64>
  %s = "onnx.Shape"(%x) : (tensor<?x2x3xf32>) -> tensor<*xi64>
  // CHECK: "onnx.Gather"{{.*}} -> tensor<1xi64>
  %b = "onnx.Gather"(%s, %zero) {axis = 0 : si64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  // CHECK: "onnx.Concat"{{.*}} -> tensor<2xi64>
  %t = "onnx.Concat"(%b, %rest) {axis = 0 : si64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  // CHECK: "onnx.Reshape"{{.*}} -> tensor<?x6xf32>
  %r = "onnx.Reshape"(%x, %t) : (tensor<?x2x3xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// Both branches of If are 2x?: the join keeps what they agree on.
// CHECK-LABEL: func.func @join
// CHECK-SAME: -> tensor<2x?xf32>
func.func @join(%c: tensor<i1>, %x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<*xf32> {
  %0 = "onnx.If"(%c) ({
    // CHECK: "onnx.Relu"{{.*}} -> tensor<2x3xf32>
    %1 = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
    onnx.Yield %1 : tensor<*xf32>
  }, {
    // CHECK: "onnx.Abs"{{.*}} -> tensor<2x4xf32>
    %1 = "onnx.Abs"(%y) : (tensor<2x4xf32>) -> tensor<*xf32>
    onnx.Yield %1 : tensor<*xf32>
  }) : (tensor<i1>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// One carried value grows by a row each time, the other keeps its shape.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: -> (tensor<?x3xf32>, tensor<2x3xf32>, tensor<?x2x3xf32>)
func.func @loop(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<1x3xf32>, %y: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0:3 = "onnx.Loop"(%n, %c, %x, %y) ({
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<?x3xf32>, %{{.*}}: tensor<2x3xf32>):
  ^bb0(%i: tensor<i64>, %d: tensor<i1>, %a: tensor<*xf32>, %b: tensor<*xf32>):
    // CHECK: "onnx.Concat"{{.*}} -> tensor<?x3xf32>
    %1 = "onnx.Concat"(%a, %x) {axis = 0 : si64} : (tensor<*xf32>, tensor<1x3xf32>) -> tensor<*xf32>
    // CHECK: "onnx.Add"{{.*}} -> tensor<2x3xf32>
    %2 = "onnx.Add"(%b, %b) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield %d, %1, %2, %2 : tensor<i1>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<1x3xf32>, tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %0#0, %0#1, %0#2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Scan: the body sees rows of 3; two rows come out stacked 4 high.
// CHECK-LABEL: func.func @scan
// CHECK-SAME: -> (tensor<3xf32>, tensor<4x3xf32>)
func.func @scan(%s: tensor<3xf32>, %x: tensor<4x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0:2 = "onnx.Scan"(%s, %x) ({
  // CHECK: ^bb0(%{{.*}}: tensor<3xf32>, %{{.*}}: tensor<3xf32>):
  ^bb0(%a: tensor<*xf32>, %b: tensor<*xf32>):
    %1 = "onnx.Add"(%a, %b) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield %1, %1 : tensor<*xf32>, tensor<*xf32>
  }) {num_scan_inputs = 1 : si64} : (tensor<3xf32>, tensor<4x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// What the type knows beyond the operands is kept, what the operands know is added.
// CHECK-LABEL: func.func @refine
func.func @refine(%x: tensor<?x3xf32>) -> tensor<*xf32> {
  // CHECK: "onnx.Relu"{{.*}} -> tensor<2x3xf32>
  %0 = "onnx.Relu"(%x) : (tensor<?x3xf32>) -> tensor<2x?xf32>
  // CHECK: "onnx.Custom"{{.*}} -> tensor<7xf32>
  %1 = "onnx.Custom"(%0) {function_name = "F"} : (tensor<2x?xf32>) -> tensor<7xf32>
  // CHECK: "onnx.Abs"{{.*}} -> tensor<7xf32>
  %2 = "onnx.Abs"(%1) : (tensor<7xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// Inside a fusion group too; the group's results are what it yields.
// CHECK-LABEL: func.func @fused
// CHECK-SAME: -> tensor<2x3xf32>
func.func @fused(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %0 = "onnx.Fused"(%x) ({
  ^bb0(%a: tensor<2x3xf32>):
    // CHECK: "onnx.Relu"{{.*}} -> tensor<2x3xf32>
    %1 = "onnx.Relu"(%a) : (tensor<2x3xf32>) -> tensor<*xf32>
    onnx.Yield %1 : tensor<*xf32>
  }) {kind = "elementwise"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
