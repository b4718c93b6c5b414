// RUN: %onyx-opt %s --pass-pipeline='builtin.module(onnx-hoist-constants,convert-onnx-to-krnl)' | FileCheck %s

// What is sorted elsewhere is a loop nest in the init function. Strings are made by the run that needs them.
// CHECK-LABEL: func.func @main_graph_init(
// CHECK:         nest = "two"
// CHECK-NOT:     onyx_string
// CHECK-LABEL: func.func @main_graph(
// CHECK-NOT:     nest = "two"
// CHECK:         call @onyx_string_from_i64
func.func @main_graph(%x: tensor<2x!onnx.String>) -> tensor<2xi1> {
  %c = onnx.Constant dense<[3.0, 1.0, 2.0]> : tensor<3xf32>
  %k = onnx.Constant dense<2> : tensor<1xi64>
  %0:2 = "onnx.TopK"(%c, %k) {axis = 0 : si64, largest = 1 : si64, onnx_node_name = "two", sorted = 1 : si64} : (tensor<3xf32>, tensor<1xi64>) -> (tensor<2xf32>, tensor<2xi64>)
  %s = "onnx.Cast"(%0#1) {to = !onnx.String} : (tensor<2xi64>) -> tensor<2x!onnx.String>
  %e = "onnx.Equal"(%s, %x) : (tensor<2x!onnx.String>, tensor<2x!onnx.String>) -> tensor<2xi1>
  onnx.Return %e : tensor<2xi1>
}
