// Custom assembly, types and attributes of table dialects: text, generic form and bytecode.
// REQUIRES: plugin
// RUN: %seam-opt %s | FileCheck %s
// RUN: %seam-opt %s | %seam-opt | FileCheck %s
// RUN: %seam-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: %seam-opt %s --mlir-print-op-generic | %seam-opt | FileCheck %s
// RUN: %seam-opt %s --emit-bytecode | %seam-opt | FileCheck %s
// RUN: %seam-opt %s --mlir-print-local-scope --mlir-print-debuginfo | %seam-opt | FileCheck %s

// CHECK-LABEL: func.func @constants
// GENERIC-LABEL: "func.func"() {{.*}} sym_name = "constants"
func.func @constants() {
  // CHECK: seam.const 5 : i32{{$}}
  // GENERIC: "seam.const"() {value = 5 : i32} : () -> i32
  %a = seam.const 5 : i32
  // CHECK: seam.const #seam.range<1, 9> : i8 {note = "kept", other}
  // GENERIC: "seam.const"() {note = "kept", other, value = #seam.range<1, 9> : i8} : () -> i8
  %b = seam.const #seam.range<1, 9> : i8 {note = "kept", other}
  // CHECK: seam.const #seam.range<-3, 9> : i64
  %c = seam.const #seam.range<-3, 9>
  // CHECK: seam.const dense<[1, 2]> : tensor<2xi8>
  %d = seam.const dense<[1, 2]> : tensor<2xi8>
  return
}

// CHECK-LABEL: func.func @types(
// CHECK-SAME: memref<4x!seam.box>, %{{.*}}: tensor<?x!seam.pair<i32, tensor<4x!seam.box>>>, %{{.*}}: !seam.pair<!seam.box, i1>
func.func @types(%m: memref<4x!seam.box>, %t: tensor<?x!seam.pair<i32, tensor<4x!seam.box>>>, %p: !seam.pair<!seam.box, i1>) {
  return
}

// CHECK-LABEL: func.func @regions
// CHECK-SAME: (%[[N:.*]]: index, %[[X:.*]]: i32, %[[Y:.*]]: f32)
// GENERIC-LABEL: "func.func"() {{.*}} sym_name = "regions"
func.func @regions(%n: index, %x: i32, %y: f32) -> f32 {
  // CHECK: %[[L:.*]]:2 = seam.loop %[[N]] (%[[A:.*]] = %[[X]] : i32, %[[B:.*]] = %[[Y]] : f32) {
  // CHECK:   seam.yield %[[A]], %[[B]] : i32, f32 {last}
  // CHECK: } {unrolled}
  // GENERIC: "seam.loop"(%{{.*}}, %{{.*}}, %{{.*}}) ({
  // GENERIC-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: f32):
  %l:2 = seam.loop %n (%a = %x : i32, %b = %y : f32) {
    seam.yield %a, %b : i32, f32 {last}
  } {unrolled}
  // CHECK: seam.loop %[[N]] {
  // CHECK-NEXT: "seam.opaque"() : () -> ()
  // CHECK-NEXT: }
  // GENERIC: "seam.yield"() : () -> ()
  seam.loop %n {
    "seam.opaque"() : () -> ()
  }
  // CHECK: seam.loop %[[N]] {
  // CHECK-NEXT: }
  seam.loop %n {
  }
  // CHECK: return %[[L]]#1
  return %l#1 : f32
}

// CHECK-LABEL: func.func @tokens
func.func @tokens() {
  // CHECK: seam.words @f "say \22hi\22\0A" ?*+- <3> [word] -> 7
  seam.words @f "say \22hi\22\n" ? * + - <3> [word] -> 7
  // CHECK: seam.words @"a b" ?*+- <-3> [other] -> none
  seam.words @"a b" ?*+- <-3> [other] -> none
  return
}


// CHECK-LABEL: func.func @attributes
func.func @attributes(%x: i32) {
  // CHECK: "seam.double"(%{{.*}}) {m, n = 1 : i32}
  %a = "seam.double"(%x) {n = 1 : i32, m} : (i32) -> i32
  return
}
