// Patterns in PDL, compiled from PDLL by the build, with native functions in C.
// REQUIRES: plugin
// RUN: %seam-opt %s --pass-pipeline='builtin.module(func.func(seam-pdl))' | FileCheck %s
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-pdl{broken=true})' 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: patterns in PDL:1:{{[0-9]+}}: error:

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[X:[a-z0-9]+]]: i32, %[[Y:[a-z0-9]+]]: i32)
func.func @f(%x: i32, %y: i32) -> (i32, i32) {
  // CHECK: %[[D:.*]] = "seam.double"(%[[X]])
  %d = "seam.double"(%x) : (i32) -> i32
  // CHECK: %[[Z:.*]] = "seam.opaque"()
  %z = "seam.opaque"() : () -> i32
  // The constraint does not hold.
  // CHECK: %[[A:.*]] = "seam.add"(%[[D]], %[[Y]])
  %a = "seam.add"(%d, %y) : (i32, i32) -> i32
  // CHECK: %[[S:.*]] = "seam.add"(%[[X]], %[[Z]])
  // CHECK: %[[B:.*]] = "seam.add"(%[[X]], %[[S]]) {marked}
  %b = "seam.add"(%d, %z) : (i32, i32) -> i32
  // CHECK: return %[[A]], %[[B]]
  return %a, %b : i32, i32
}
