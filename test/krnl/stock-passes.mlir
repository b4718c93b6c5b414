// What comes out of convert-krnl-to-affine is what stock passes take.
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,func.func(affine-loop-fusion))' | FileCheck %s --check-prefix=FUSION
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,func.func(affine-loop-fusion,affine-scalrep))' | FileCheck %s --check-prefix=SCALREP
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,func.func(affine-loop-invariant-code-motion))' | FileCheck %s --check-prefix=LICM
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,canonicalize,func.func(affine-super-vectorize{virtual-vector-size=8}))' | FileCheck %s --check-prefix=VECTOR
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,normalize-memrefs)' | FileCheck %s --check-prefix=NORMAL
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,func.func(affine-parallelize))' | FileCheck %s --check-prefix=PARALLEL

// Producer and consumer become one nest; the value in between then needs no memory.
// FUSION-LABEL: @chain
// FUSION: affine.for
// FUSION: affine.for
// FUSION: arith.mulf
// FUSION: arith.addf
// FUSION-NOT: affine.for
// FUSION-LABEL: @invariant
// SCALREP-LABEL: @chain
// SCALREP-NOT: memref.alloc
// SCALREP-LABEL: @invariant
// VECTOR-LABEL: @chain
// VECTOR: vector.transfer_read
// VECTOR: arith.mulf %{{.*}} : vector<8xf32>
// PARALLEL-LABEL: @chain
// PARALLEL: affine.parallel
func.func @chain(%x: memref<16x32xf32>, %y: memref<16x32xf32>) {
  %t = memref.alloc() : memref<16x32xf32>
  %c = arith.constant 2.0 : f32
  %a:2 = krnl.define_loops 2
  krnl.iterate(%a#0, %a#1) with (%a#0 -> %i = 0 to 16, %a#1 -> %j = 0 to 32) {
    %v = krnl.load %x[%i, %j] : memref<16x32xf32>
    %w = arith.mulf %v, %c : f32
    krnl.store %w, %t[%i, %j] : memref<16x32xf32>
  }
  %b:2 = krnl.define_loops 2
  krnl.iterate(%b#0, %b#1) with (%b#0 -> %i = 0 to 16, %b#1 -> %j = 0 to 32) {
    %v = krnl.load %t[%i, %j] : memref<16x32xf32>
    %w = arith.addf %v, %c : f32
    krnl.store %w, %y[%i, %j] : memref<16x32xf32>
  }
  return
}

// LICM-LABEL: @invariant
// LICM: affine.for %[[I:.*]] = 0 to 16
// LICM-NEXT: affine.load %{{.*}}[%[[I]]]
// LICM: affine.for
func.func @invariant(%x: memref<16xf32>, %y: memref<16x32xf32>) {
  %a:2 = krnl.define_loops 2
  krnl.iterate(%a#0, %a#1) with (%a#0 -> %i = 0 to 16, %a#1 -> %j = 0 to 32) {
    %v = krnl.load %x[%i] : memref<16xf32>
    krnl.store %v, %y[%i, %j] : memref<16x32xf32>
  }
  return
}

// NORMAL-LABEL: @transposed
// NORMAL: memref.alloc() : memref<4x8xf32>
// NORMAL: affine.store %{{.*}}, %{{.*}}[%[[J:.*]], %[[I:.*]]] : memref<4x8xf32>
#transpose = affine_map<(d0, d1) -> (d1, d0)>
func.func @transposed(%v: f32) {
  %m = memref.alloc() : memref<8x4xf32, #transpose>
  %a:2 = krnl.define_loops 2
  krnl.iterate(%a#0, %a#1) with (%a#0 -> %i = 0 to 8, %a#1 -> %j = 0 to 4) {
    krnl.store %v, %m[%i, %j] : memref<8x4xf32, #transpose>
  }
  memref.dealloc %m : memref<8x4xf32, #transpose>
  return
}
