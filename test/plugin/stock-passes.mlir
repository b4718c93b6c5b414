// Stock passes see through traits and interfaces of table ops.
// REQUIRES: plugin
// RUN: split-file %s %t
// RUN: %seam-opt %t/cse.mlir --cse | FileCheck %t/cse.mlir
// RUN: %seam-opt %t/licm.mlir --loop-invariant-code-motion | FileCheck %t/licm.mlir
// RUN: %seam-opt %t/fold.mlir --canonicalize | FileCheck %t/fold.mlir
// RUN: %seam-opt %t/sccp.mlir --sccp | FileCheck %t/sccp.mlir
// RUN: %seam-opt %t/symbol.mlir --symbol-dce | FileCheck %t/symbol.mlir
// RUN: %seam-opt %t/inline.mlir --inline | FileCheck %t/inline.mlir
// RUN: %seam-opt %t/reify.mlir --resolve-ranked-shaped-type-result-dims --canonicalize | FileCheck %t/reify.mlir
// RUN: %seam-opt %t/scope.mlir --affine-loop-invariant-code-motion | FileCheck %t/scope.mlir

//--- cse.mlir
// Pure ops are merged and removed; loads are merged unless a store stands between them.
// CHECK-LABEL: func.func @cse
func.func @cse(%m: memref<4xi32>, %x: i32) -> (i32, i32, i32, i32, i32) {
  // CHECK-NEXT: %[[D:.*]] = "seam.double"
  %a = "seam.double"(%x) : (i32) -> i32
  %b = "seam.double"(%x) : (i32) -> i32
  %dead = "seam.add"(%x, %x) : (i32, i32) -> i32
  // CHECK-NEXT: %[[L:.*]] = "seam.load"
  %c = "seam.load"(%m) : (memref<4xi32>) -> i32
  %d = "seam.load"(%m) : (memref<4xi32>) -> i32
  // CHECK-NEXT: "seam.store"
  "seam.store"(%x, %m) : (i32, memref<4xi32>) -> ()
  // CHECK-NEXT: %[[M:.*]] = "seam.load"
  %e = "seam.load"(%m) : (memref<4xi32>) -> i32
  // An op without known effects stays.
  // CHECK-NEXT: "seam.opaque"
  %o = "seam.opaque"() : () -> i32
  // CHECK-NEXT: return %[[D]], %[[D]], %[[L]], %[[L]], %[[M]]
  return %a, %b, %c, %d, %e : i32, i32, i32, i32, i32
}
// Attributes count, those with a meaning too.
// CHECK-LABEL: func.func @attributes
func.func @attributes(%x: i32) -> (i32, i32, i32) {
  // CHECK-NEXT: %[[A:.*]] = "seam.double"(%{{.*}}) {n = 1 : i32}
  %a = "seam.double"(%x) {n = 1 : i32} : (i32) -> i32
  // CHECK-NEXT: %[[B:.*]] = "seam.double"(%{{.*}}) {n = 2 : i32}
  %b = "seam.double"(%x) {n = 2 : i32} : (i32) -> i32
  %c = "seam.double"(%x) {n = 1 : i32} : (i32) -> i32
  // CHECK-NEXT: return %[[A]], %[[B]], %[[A]]
  return %a, %b, %c : i32, i32, i32
}
// CHECK-LABEL: func.func @dead_loop
// CHECK-NEXT: return
func.func @dead_loop(%n: index, %x: i32) {
  seam.loop %n {
    %y = "seam.double"(%x) : (i32) -> i32
  }
  return
}
// CHECK-LABEL: func.func @storing_loop
// CHECK: seam.store
func.func @storing_loop(%n: index, %x: i32, %m: memref<4xi32>) {
  seam.loop %n {
    "seam.store"(%x, %m) : (i32, memref<4xi32>) -> ()
  }
  return
}

//--- licm.mlir
// CHECK-LABEL: func.func @licm
func.func @licm(%n: index, %x: i32) {
  // CHECK-NEXT: %[[D:.*]] = "seam.double"
  // CHECK-NEXT: seam.loop
  seam.loop %n {
    %y = "seam.double"(%x) : (i32) -> i32
    // Not to be moved: it might not have run at all.
    // CHECK-NEXT: "seam.once"(%[[D]])
    %z = "seam.once"(%y) : (i32) -> i32
    "seam.opaque"(%z) : (i32) -> ()
  }
  return
}

//--- fold.mlir
// CHECK-LABEL: func.func @fold
// CHECK-SAME: (%[[X:[a-z0-9]+]]: i32
func.func @fold(%x: i32, %y: i32) -> (i32, i32, i32, i32) {
  // CHECK-DAG: %[[C5:.*]] = seam.const 5 : i32
  // CHECK-DAG: %[[C2:.*]] = seam.const 2 : i32
  %c0 = seam.const 0 : i32
  %c2 = seam.const 2 : i32
  %c3 = seam.const 3 : i32
  // To an attribute, which becomes a constant: 2 + 3 = 5.
  %a = "seam.add"(%c2, %c3) : (i32, i32) -> i32
  // To a value.
  %b = "seam.add"(%x, %c0) : (i32, i32) -> i32
  // In place.
  // CHECK: %[[S:.*]] = "seam.add"(%{{.*}}, %[[X]]) : (i32, i32) -> i32
  %c = "seam.add"(%x, %y) {swap} : (i32, i32) -> i32
  // By a pattern.
  // CHECK: %[[D:.*]] = "seam.add"(%[[X]], %[[X]]) : (i32, i32) -> i32
  %d = "seam.double"(%x) : (i32) -> i32
  // CHECK: "seam.scope"() ({
  // CHECK-NEXT: seam.const 8 : i32
  "seam.scope"() ({
    // Constants made in a scope stay in it: 5 + 3 = 8.
    %e = "seam.add"(%a, %c3) : (i32, i32) -> i32
    "seam.opaque"(%e) : (i32) -> ()
  }) : () -> ()
  // CHECK: "seam.opaque"(%[[C2]])
  "seam.opaque"(%c2) : (i32) -> ()
  // CHECK: return %[[C5]], %[[X]], %[[S]], %[[D]]
  return %a, %b, %c, %d : i32, i32, i32, i32
}

//--- sccp.mlir
// A value that is the same on all ways through the regions is that constant: 4 and 4, not 4 and 5.
// CHECK-LABEL: func.func @sccp
func.func @sccp(%c: i1) -> (i32, i32) {
  // CHECK-DAG: %[[C4:.*]] = seam.const 4 : i32
  // CHECK: %[[I:.*]]:2 = "seam.if"
  %r:2 = "seam.if"(%c) ({
    %a = seam.const 4 : i32
    seam.yield %a, %a : i32, i32
  }, {
    %a = seam.const 4 : i32
    %b = seam.const 5 : i32
    seam.yield %a, %b : i32, i32
  }) : (i1) -> (i32, i32)
  // CHECK: return %[[C4]], %[[I]]#1
  return %r#0, %r#1 : i32, i32
}

//--- symbol.mlir
// CHECK: "seam.module"
"seam.module"() ({
  // CHECK: sym_name = "public"
  "seam.symbol"() {sym_name = "public"} : () -> ()
  // CHECK-NOT: sym_name = "unused"
  "seam.symbol"() {sym_name = "unused", sym_visibility = "private"} : () -> ()
  // CHECK: sym_name = "used"
  "seam.symbol"() {sym_name = "used", sym_visibility = "private"} : () -> ()
  "seam.opaque"() {to = @used} : () -> ()
}) : () -> ()

//--- inline.mlir
func.func private @callee(%x: i32) -> i32 {
  %y = "seam.double"(%x) : (i32) -> i32
  seam.yield %y : i32
}
func.func private @two_blocks(%x: i32) -> i32 {
  cf.br ^bb1(%x : i32)
^bb1(%a: i32):
  seam.yield %a : i32
}
// CHECK-LABEL: func.func @caller
func.func @caller(%x: i32) -> (i32, i32) {
  // The inliner canonicalizes: double(x) is x + x, and the blocks are merged.
  // CHECK-NEXT: %[[D:.*]] = "seam.add"(%arg0, %arg0)
  // CHECK-NEXT: return %[[D]], %[[D]]
  %y = call @callee(%x) : (i32) -> i32
  %z = call @two_blocks(%y) : (i32) -> i32
  return %y, %z : i32, i32
}

//--- reify.mlir
// CHECK-LABEL: func.func @reify
// CHECK-SAME: (%[[T:.*]]: tensor<?x4xf32>)
func.func @reify(%t: tensor<?x4xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
  %p = "seam.pad"(%t) : (tensor<?x4xf32>) -> tensor<?x?xf32>
  // CHECK: %[[D:.*]] = tensor.dim %[[T]], %[[C0]]
  // CHECK: %[[S:.*]] = arith.addi %[[D]], %[[C2]]
  %d0 = tensor.dim %p, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %p, %c1 : tensor<?x?xf32>
  // CHECK: return %[[S]], %[[C4]]
  return %d0, %d1 : index, index
}

//--- scope.mlir
// A value computed in the scope is a symbol there: affine takes it for a bound.
// CHECK-LABEL: func.func @scope
func.func @scope(%m: memref<?xf32>, %n: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  affine.for %i = 0 to 4 {
    "seam.scope"() ({
      // CHECK: %[[B:.*]] = memref.load
      %b = memref.load %n[%c0] : memref<1xindex>
      // CHECK: affine.for %{{.*}} = 0 to %[[B]]
      affine.for %j = 0 to %b {
        affine.store %f, %m[%j] : memref<?xf32>
      }
    }) : () -> ()
  }
  return
}
