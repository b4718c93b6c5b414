// RUN: %onyx-opt --pass-pipeline='builtin.module(onnx-cse-with-node-name{report=%t.json})' %s | FileCheck %s
// RUN: FileCheck --check-prefix=REPORT %s < %t.json

// REPORT: "common-subexpression":{{ *}}2

// CHECK-LABEL: func.func @f
// CHECK: %[[A:.*]] = "onnx.Exp"(%arg0) {onnx_node_name = "a"}
// CHECK-NEXT: %[[B:.*]] = "onnx.Softmax"(%[[A]]) {axis = 0 : si64, onnx_node_name = "b"}
// CHECK-NEXT: %[[C:.*]] = "onnx.Softmax"(%[[A]]) {axis = 1 : si64, onnx_node_name = "c"}
// CHECK-NEXT: %[[R:.*]] = "onnx.RandomNormal"
// CHECK-NEXT: %[[S:.*]] = "onnx.RandomNormal"
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]], %[[B]], %[[R]], %[[S]]
func.func @f(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = "onnx.Exp"(%x) {onnx_node_name = "a"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "onnx.Exp"(%x) {onnx_node_name = "a2"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "onnx.Softmax"(%0) {axis = 0 : si64, onnx_node_name = "b"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "onnx.Softmax"(%0) {axis = 1 : si64, onnx_node_name = "c"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = "onnx.Softmax"(%1) {axis = 0 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = "onnx.RandomNormal"() {shape = [2]} : () -> tensor<2xf32>
  %6 = "onnx.RandomNormal"() {shape = [2]} : () -> tensor<2xf32>
  return %1, %2, %3, %4, %5, %6 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>
}
