// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,canonicalize,krnl-print-loop-nest)' -o /dev/null 2>&1 | FileCheck %s

// Blocks of 2 over 0..6 start at 0, 2, 4, 6: four iterations, two bodies in each of two turns, and no remainder.
// CHECK-LABEL: @steps
// CHECK-NEXT: for i0 = 0 to 8 step 4
// CHECK-NEXT:   store %arg0[i0]
// CHECK-NEXT:   store %arg0[i0 + 2]
func.func @steps(%m: memref<8xf32>) {
  %c = arith.constant 1.0 : f32
  %l = krnl.define_loops 1
  %b, %t = krnl.block %l 2 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.unroll %b 2 : !krnl.loop
  krnl.iterate(%b) with (%l -> %i = 0 to 7) {
    krnl.store %c, %m[%i] : memref<8xf32>
  }
  return
}

// Ten iterations by four: two turns of four, then two. The factor is more than the trip count: the loop stays.
// CHECK-LABEL: @remainder
// CHECK-NEXT: for i0 = 0 to 8 step 4
// CHECK-NEXT:   store %arg0[i0]
// CHECK-NEXT:   store %arg0[i0 + 1]
// CHECK-NEXT:   store %arg0[i0 + 2]
// CHECK-NEXT:   store %arg0[i0 + 3]
// CHECK-NEXT: for i0 = 8 to 10
// CHECK-NEXT:   store %arg0[i0]
// CHECK-NEXT: for i0 = 0 to 3
// CHECK-NEXT:   store %arg0[i0]
func.func @remainder(%m: memref<10xf32>) {
  %c = arith.constant 1.0 : f32
  %l = krnl.define_loops 1
  krnl.unroll %l 4 : !krnl.loop
  krnl.iterate(%l) with (%l -> %i = 0 to 10) {
    krnl.store %c, %m[%i] : memref<10xf32>
  }
  %k = krnl.define_loops 1
  krnl.unroll %k 4 : !krnl.loop
  krnl.iterate(%k) with (%k -> %i = 0 to 3) {
    krnl.store %c, %m[%i] : memref<10xf32>
  }
  return
}

// Below the top block as well, results passed from copy to copy.
// CHECK-LABEL: @inner
// CHECK-NEXT: for i0 = 0 to %arg1
// CHECK-NEXT:   load %arg0[0]
// CHECK-NEXT:   load %arg0[1]
// CHECK-NEXT:   load %arg0[2]
func.func @inner(%m: memref<10xf32>, %n: index, %x: f32) -> f32 {
  %l:2 = krnl.define_loops 2
  krnl.unroll %l#1 : !krnl.loop
  %r = krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to %n, %l#1 -> %j = 0 to 3) iter_args(%a = %x) -> (f32) {
    %v = krnl.load %m[%j] : memref<10xf32>
    %s = arith.addf %a, %v : f32
    krnl.yield %s : f32
  }
  return %r : f32
}
