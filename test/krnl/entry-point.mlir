// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,onyx-krnl-to-llvm)' | FileCheck %s

// A weight in a file is a view of the argument that holds the file; the entry point becomes the manifest
// and a function that hands descriptors on: results first, then the arguments in order.

// CHECK: llvm.func @_mlir_ciface_main_graph(
// CHECK: llvm.mlir.global external constant @onyx_manifest("onyx-model 1\0Aproducer onyx%20{{[0-9.]+}}\0Aentry main_graph\0Ain x tensor<2x2xf32>\0Aout y tensor<2x2xf32>\0Ahidden status\0Ahidden weights 0\0Ahidden arena 640\0Aweights_file 0 m.onnx 4096 0123456789abcdef\0Anode 0 Add_0 Add\0A\00")
// CHECK: llvm.func @onyx_entry(%[[ARGS:.*]]: !llvm.ptr, %[[RESULTS:.*]]: !llvm.ptr)
// CHECK: llvm.getelementptr %[[ARGS]][0]
// CHECK: llvm.getelementptr %[[ARGS]][3]
// CHECK: llvm.call @_mlir_ciface_main_graph(%[[RESULTS]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NOT: krnl
module attributes {onyx.nodes = ["Add_0\tAdd"],
                   onnx.weights_files = [{name = "m.onnx", size = 4096 : i64, fingerprint = "0123456789abcdef"}]} {
  func.func @main_graph(%x: memref<2x2xf32>, %status: memref<4xi64> {krnl.status},
                        %weights: memref<?xi8> {krnl.weights = 0 : i64}, %arena: memref<?xi8> {krnl.arena})
      -> memref<2x2xf32> attributes {krnl.arena_bytes = 640 : i64} {
    %y = memref.alloc() : memref<2x2xf32>
    %w = "krnl.global"() {name = "w", shape = [2, 2], value = #onnx.file<"m.onnx", 128, 16> : tensor<2x2xf32>}
        : () -> memref<2x2xf32>
    %l:2 = krnl.define_loops 2
    krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to 2, %l#1 -> %j = 0 to 2) {
      %a = krnl.load %x[%i, %j] : memref<2x2xf32>
      %b = krnl.load %w[%i, %j] : memref<2x2xf32>
      %c = arith.addf %a, %b : f32
      krnl.store %c, %y[%i, %j] : memref<2x2xf32>
    }
    return %y : memref<2x2xf32>
  }
  "krnl.entry_point"() {func = @main_graph, numInputs = 1 : i32, numOutputs = 1 : i32,
                        signature = "in x tensor<2x2xf32>\0Aout y tensor<2x2xf32>\0A"} : () -> ()
}
