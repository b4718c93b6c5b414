// What mlirx.h adds to mlir-c for looking at and changing IR.
// REQUIRES: plugin
// RUN: split-file %s %t
// RUN: %seam-opt %t/describe.mlir --pass-pipeline='builtin.module(seam-describe)' --verify-diagnostics
// RUN: %seam-opt %t/clone.mlir --pass-pipeline='builtin.module(func.func(seam-clone))' | FileCheck %t/clone.mlir

//--- describe.mlir
func.func @f(%m: memref<4xi32>, %x: i32) {
  // expected-remark @+1 {{seam.double, pure, dead, 1 of 1 operands dominate}}
  %a = "seam.double"(%x) : (i32) -> i32
  // expected-remark @+1 {{seam.double, pure, 1 of 1 operands dominate}}
  %b = "seam.double"(%x) : (i32) -> i32
  // expected-remark @+1 {{seam.load, dead, 1 of 1 operands dominate}}
  %c = "seam.load"(%m) : (memref<4xi32>) -> i32
  // expected-remark @+1 {{seam.store, 2 of 2 operands dominate}}
  "seam.store"(%b, %m) : (i32, memref<4xi32>) -> ()
  // expected-remark @+1 {{seam.opaque, 0 of 0 operands dominate}}
  "seam.opaque"() : () -> ()
  return
}

//--- clone.mlir
// CHECK-LABEL: func.func @clone
// CHECK-SAME: (%[[N:.*]]: index, %[[M:.*]]: index, %[[X:.*]]: i32)
func.func @clone(%n: index, %m: index, %x: i32) {
  // CHECK: seam.loop %[[M]] {
  // CHECK:   "seam.opaque"(%[[M]], %[[X]])
  // CHECK: }
  // CHECK: seam.loop %[[N]] {
  // CHECK:   "seam.opaque"(%[[N]], %[[X]])
  // CHECK: } {cloned}
  seam.loop %m {
    "seam.opaque"(%m, %x) : (index, i32) -> ()
  }
  return
}
