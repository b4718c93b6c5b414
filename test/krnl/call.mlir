// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine)' --split-input-file --verify-diagnostics | FileCheck %s

// A call of the runtime: outputs, then inputs, by a C interface. What nobody uses goes.
// CHECK: func.func private @fill(memref<4xf32>, memref<?xi64>, f32) attributes {llvm.emit_c_interface}
// CHECK-LABEL: @calls
// CHECK-NEXT: call @fill(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<4xf32>, memref<?xi64>, f32) -> ()
// CHECK-NEXT: call @fill
// CHECK-NEXT: return
func.func @calls(%y: memref<4xf32>, %x: memref<?xi64>, %v: f32) {
  %none = "krnl.noValue"() {value} : () -> none
  "krnl.call"(%y, %x, %v) {funcName = "fill", numOfOutput = 1 : si64} : (memref<4xf32>, memref<?xi64>, f32) -> ()
  "krnl.call"(%y, %x, %v) {funcName = "fill", numOfOutput = 1 : si64} : (memref<4xf32>, memref<?xi64>, f32) -> ()
  return
}

// -----

// expected-note @below {{declared here}}
func.func private @fill(memref<4xf32>)
func.func @other_type(%y: memref<4xf32>, %v: f32) {
  // expected-error @below {{funcName: @fill is there already, with another type}}
  "krnl.call"(%y, %v) {funcName = "fill", numOfOutput = 1 : si64} : (memref<4xf32>, f32) -> ()
  return
}
