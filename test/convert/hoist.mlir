// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-onnx-to-krnl{weights-root=%S/Inputs},canonicalize)' | FileCheck %s

// An aligned range of a file is read in place; one that starts at an odd byte is copied by init; an op over constants
// alone runs in init, and its result is a view of the constants block.
// CHECK: onnx.weights_files = [{fingerprint = "{{[0-9a-f]+}}", name = "bytes.txt", size = 40 : i64}]
// CHECK-LABEL: func.func @main_graph_init(
// CHECK-SAME:    memref<4xi64> {krnl.status}, %{{.*}}: memref<?xi8> {krnl.weights = 0 : i64}, %[[C:.*]]: memref<?xi8> {krnl.constants})
// CHECK-SAME:    krnl.constants_bytes = 80 : i64
// CHECK:         memref.view %[[C]]
// CHECK:         krnl.define_loops 1
// CHECK:         krnl.define_loops 1 {labels = ["d0"], nest = "both"}
// CHECK:           arith.addf
// CHECK-LABEL: func.func @main_graph(
// CHECK-SAME:    %[[CONSTANTS:[^:]*]]: memref<?xi8> {krnl.constants})
// CHECK:         memref.view %[[CONSTANTS]]
// CHECK-NOT:     nest = "both"
// CHECK:         nest = "use"
// CHECK:       "krnl.entry_point"() {func = @main_graph, init = @main_graph_init, numInputs = 1 : i64, numOutputs = 1 : i64, signature = "in x tensor<4xf32>\0Aout out0 tensor<4xf32>\0A"}
func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32> {
  %a = onnx.Constant #onnx.file<"bytes.txt", 4, 16> : tensor<4xf32>
  %b = onnx.Constant #onnx.file<"bytes.txt", 1, 16> : tensor<4xf32>
  %0 = "onnx.Add"(%a, %b) {onnx_node_name = "both", onyx.init} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Mul"(%x, %0) {onnx_node_name = "use"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %1 : tensor<4xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
