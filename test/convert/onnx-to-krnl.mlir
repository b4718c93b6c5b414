// RUN: %onyx-opt %s --split-input-file --pass-pipeline='builtin.module(convert-onnx-to-krnl,canonicalize,cse)' | FileCheck %s

// A stage is one named nest; the status is a hidden argument; buffers die after their last use.
// CHECK: onyx.nodes = ["sum\09Add", "rectify\09Relu"]
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    %[[A:.*]]: memref<?x3xf32> {onnx.name = "a"}, %[[B:.*]]: memref<3xf32>, %{{.*}}: memref<4xi64> {krnl.status}) -> memref<?x3xf32>
// CHECK:         %[[N:.*]] = memref.dim %[[A]]
// CHECK:         %[[SUM:.*]] = memref.alloc(%[[N]]) {alignment = 64 : i64} : memref<?x3xf32>
// CHECK:         %[[L:.*]]:2 = krnl.define_loops 2 {labels = ["d0", "d1"], nest = "sum"}
// CHECK:         krnl.iterate(%[[L]]#0, %[[L]]#1) with (%[[L]]#0 -> %[[I:.*]] = 0 to %[[N]], %[[L]]#1 -> %[[J:.*]] = 0 to 3){
// CHECK:           %[[X:.*]] = krnl.load %[[A]][%[[I]], %[[J]]]
// CHECK:           %[[Y:.*]] = krnl.load %[[B]][%[[J]]]
// CHECK:           %[[S:.*]] = arith.addf %[[X]], %[[Y]] : f32
// CHECK:           krnl.store %[[S]], %[[SUM]][%[[I]], %[[J]]]
// CHECK:         %[[OUT:.*]] = memref.alloc(
// CHECK:         krnl.define_loops 2 {labels = ["d0", "d1"], nest = "rectify"}
// CHECK:           arith.maximumf
// CHECK:         memref.dealloc %[[SUM]]
// CHECK:         return %[[OUT]]
func.func @elementwise(%a: tensor<?x3xf32> {onnx.name = "a"}, %b: tensor<3xf32>) -> tensor<?x3xf32> {
  %0 = "onnx.Add"(%a, %b) {onnx_node_name = "sum"} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %1 = "onnx.Relu"(%0) {onnx_node_name = "rectify"} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  onnx.Return %1 : tensor<?x3xf32>
}

// -----

// Accumulators are iter_args of the reduction's loops; what is free of them stays outside.
// CHECK-LABEL: func.func @product(
// CHECK:         %[[ZERO:.*]] = arith.constant 0.0
// CHECK:         %[[L:.*]]:3 = krnl.define_loops 3 {labels = ["d0", "d1", "r0"]
// CHECK:         krnl.iterate(%[[L]]#0, %[[L]]#1) with (%[[L]]#0 -> %[[I:.*]] = 0 to 2, %[[L]]#1 -> %[[J:.*]] = 0 to 4){
// CHECK:           %[[R:.*]] = krnl.iterate(%[[L]]#2) with (%[[L]]#2 -> %[[K:.*]] = 0 to 3) iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (f32){
// CHECK:             arith.mulf
// CHECK:             arith.addf %[[ACC]]
// CHECK:             krnl.yield
// CHECK:           krnl.store %[[R]]
func.func @product(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = "onnx.MatMul"(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  onnx.Return %0 : tensor<2x4xf32>
}

// -----

// Indices are affine.apply of the loops; a padded read is guarded, never out of bounds.
// CHECK-LABEL: func.func @window(
// CHECK:         krnl.iterate
// CHECK:           krnl.iterate
// CHECK:             affine.apply
// CHECK:             arith.cmpi ult
// CHECK:             scf.if
// CHECK:               krnl.load
// CHECK:             else
func.func @window(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32> {
  %n = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.Conv"(%x, %w, %n) {pads = [1, 1, 1, 1], kernel_shape = [3, 3]} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>, none) -> tensor<1x1x4x4xf32>
  onnx.Return %0 : tensor<1x1x4x4xf32>
}

// -----

// A Reshape renames storage. What the caller gets is never the caller's own, and never given twice.
// CHECK-LABEL: func.func @renamed(
// CHECK-SAME:    %[[A:[^:]*]]: memref<2x3xf32>
// CHECK:         memref.reinterpret_cast %[[A]]
// CHECK:         %[[FIRST:.*]] = memref.alloc() {{.*}} : memref<6xf32>
// CHECK:         memref.copy
// CHECK:         %[[SECOND:.*]] = memref.alloc() {{.*}} : memref<6xf32>
// CHECK:         memref.copy
// CHECK:         return %[[FIRST]], %[[SECOND]]
func.func @renamed(%a: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %s = onnx.Constant dense<6> : tensor<1xi64>
  %0 = "onnx.Reshape"(%a, %s) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  onnx.Return %0, %0 : tensor<6xf32>, tensor<6xf32>
}

// -----

// A volume that only the run knows is checked (code 4).
// CHECK-LABEL: func.func @checked(
// CHECK:         arith.cmpi eq
// CHECK:         scf.if
// CHECK:           call @onyx_fail(%{{.*}}, %c4_i64,
func.func @checked(%a: tensor<?x3xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = "onnx.Reshape"(%a, %s) : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  onnx.Return %0 : tensor<?x?xf32>
}

// -----

// Unsigned comes from the operator: memrefs are signless. Division by zero is no undefined behaviour.
// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME:    memref<4xi8>
// CHECK:         arith.cmpi eq
// CHECK:         arith.select
// CHECK:         arith.divui
func.func @unsigned(%a: tensor<4xui8>, %b: tensor<4xui8>) -> tensor<4xui8> {
  %0 = "onnx.Div"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  onnx.Return %0 : tensor<4xui8>
}
