// RUN: %onyx-opt --pass-pipeline='builtin.module(conv-opt-onnx)' %s | FileCheck %s
// RUN: %onyx-opt --pass-pipeline='builtin.module(conv-opt-onnx)' %s -o %t.mlir
// RUN: %onyx-compile %t.mlir -o %t.so -O1
// RUN: %onyx-compile %s -o %t.plain.so -O1

// W = [[1 2] [3 4] [5 6]], B = [10 20 30]; the channels of image 0 are [1 2] and [3 4], of image 1
// [1 0] and [0 1]. Image 0: 1*1+2*3+10 = 17, 1*2+2*4+10 = 20; 3*1+4*3+20 = 35, 3*2+4*4+20 = 42;
// 5*1+6*3+30 = 53, 5*2+6*4+30 = 64. Image 1: W's columns and B: 11 12, 23 24, 35 36.
// RUN: %onyx-run %t.so --input '2x2x1x2xf32=1 2 3 4 1 0 0 1' --expected-output '2x3x1x2xf32=17 20 35 42 53 64 11 12 23 24 35 36'
// RUN: %onyx-run %t.plain.so --input '2x2x1x2xf32=1 2 3 4 1 0 0 1' --expected-output '2x3x1x2xf32=17 20 35 42 53 64 11 12 23 24 35 36'

// CHECK-LABEL: func.func @main_graph
// CHECK-SAME: %[[X:.*]]: tensor<?x2x1x2xf32>
// CHECK-DAG: %[[W:.*]] = "onnx.Reshape"(%{{.*}}, %{{.*}}) : (tensor<3x2x1x1xf32>, tensor<2xi64>) -> tensor<3x2xf32>
// CHECK-DAG: %[[F:.*]] = "onnx.Reshape"(%[[X]], %{{.*}}) : (tensor<?x2x1x2xf32>, tensor<3xi64>) -> tensor<?x2x2xf32>
// CHECK: %[[P:.*]] = "onnx.MatMul"(%[[W]], %[[F]]) {onnx_node_name = "c"}
// CHECK: %[[B:.*]] = "onnx.Reshape"(%{{.*}}) : (tensor<3xf32>, tensor<2xi64>) -> tensor<3x1xf32>
// CHECK: %[[S:.*]] = "onnx.Add"(%[[P]], %[[B]])
// CHECK: dense<[0, 3, 1, 2]>
// CHECK: "onnx.Reshape"(%[[S]], %{{.*}}) : (tensor<?x3x2xf32>, tensor<4xi64>) -> tensor<?x3x1x2xf32>
// CHECK-NOT: onnx.Conv
func.func @main_graph(%x: tensor<?x2x1x2xf32>) -> tensor<?x3x1x2xf32> {
  %w = onnx.Constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[5.0]], [[6.0]]]]> : tensor<3x2x1x1xf32>
  %b = onnx.Constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %0 = "onnx.Conv"(%x, %w, %b) {onnx_node_name = "c"} : (tensor<?x2x1x2xf32>, tensor<3x2x1x1xf32>, tensor<3xf32>) -> tensor<?x3x1x2xf32>
  onnx.Return %0 : tensor<?x3x1x2xf32>
}

// CHECK-LABEL: func.func @no_bias
// CHECK: onnx.MatMul
// CHECK-NOT: onnx.Add
// CHECK-LABEL: func.func @stay
// CHECK-COUNT-7: onnx.Conv
// CHECK-NOT: onnx.MatMul
func.func @no_bias(%x: tensor<1x2x8xf32>, %w: tensor<3x2x1xf32>) -> tensor<1x3x8xf32> {
  %n = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.Conv"(%x, %w, %n) : (tensor<1x2x8xf32>, tensor<3x2x1xf32>, none) -> tensor<1x3x8xf32>
  onnx.Return %0 : tensor<1x3x8xf32>
}

// Stride, pads, groups, a larger kernel, an unknown width, a narrow type, one position.
func.func @stay(%x: tensor<1x2x8xf32>, %w: tensor<2x2x1xf32>, %g: tensor<2x1x1xf32>, %k: tensor<2x2x3xf32>, %d: tensor<1x2x?xf32>, %h: tensor<1x2x8xf16>, %hw: tensor<2x2x1xf16>, %o: tensor<1x2x1xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x10xf32>, tensor<1x2x8xf32>, tensor<1x2x6xf32>, tensor<1x2x?xf32>, tensor<1x2x8xf16>, tensor<1x2x1xf32>) {
  %n = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.Conv"(%x, %w, %n) {strides = [2]} : (tensor<1x2x8xf32>, tensor<2x2x1xf32>, none) -> tensor<1x2x4xf32>
  %1 = "onnx.Conv"(%x, %w, %n) {pads = [1, 1]} : (tensor<1x2x8xf32>, tensor<2x2x1xf32>, none) -> tensor<1x2x10xf32>
  %2 = "onnx.Conv"(%x, %g, %n) {group = 2 : si64} : (tensor<1x2x8xf32>, tensor<2x1x1xf32>, none) -> tensor<1x2x8xf32>
  %3 = "onnx.Conv"(%x, %k, %n) : (tensor<1x2x8xf32>, tensor<2x2x3xf32>, none) -> tensor<1x2x6xf32>
  %4 = "onnx.Conv"(%d, %w, %n) : (tensor<1x2x?xf32>, tensor<2x2x1xf32>, none) -> tensor<1x2x?xf32>
  %5 = "onnx.Conv"(%h, %hw, %n) : (tensor<1x2x8xf16>, tensor<2x2x1xf16>, none) -> tensor<1x2x8xf16>
  %6 = "onnx.Conv"(%o, %w, %n) : (tensor<1x2x1xf32>, tensor<2x2x1xf32>, none) -> tensor<1x2x1xf32>
  onnx.Return %0, %1, %2, %3, %4, %5, %6 : tensor<1x2x4xf32>, tensor<1x2x10xf32>, tensor<1x2x8xf32>, tensor<1x2x6xf32>, tensor<1x2x?xf32>, tensor<1x2x8xf16>, tensor<1x2x1xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
