// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine)' --split-input-file --verify-diagnostics | FileCheck %s

// A dependence (1, -1): the interchange would run the reader before the writer.
func.func @interchange(%m: memref<10x20xf32>) {
  %c1 = arith.constant 1 : index
  %l:2 = krnl.define_loops 2
  // expected-error @below {{breaks a dependence: the store at}}
  krnl.permute(%l#0, %l#1) [1, 0] : !krnl.loop, !krnl.loop
  krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 1 to 10, %l#1 -> %j = 0 to 19) {
    %p = arith.subi %i, %c1 : index
    %q = arith.addi %j, %c1 : index
    %v = krnl.load %m[%p, %q] : memref<10x20xf32>
    krnl.store %v, %m[%i, %j] : memref<10x20xf32>
    // expected-note @-2 {{the other access}}
  }
  return
}

// -----

// The same within tiles.
func.func @tiled_interchange(%m: memref<10x20xf32>) {
  %c1 = arith.constant 1 : index
  %l:2 = krnl.define_loops 2
  %ib, %il = krnl.block %l#0 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  %jb, %jl = krnl.block %l#1 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  // expected-error @below {{breaks a dependence}}
  krnl.permute(%ib, %il, %jb, %jl) [0, 2, 1, 3] : !krnl.loop, !krnl.loop, !krnl.loop, !krnl.loop
  krnl.iterate(%ib, %jb) with (%l#0 -> %i = 1 to 10, %l#1 -> %j = 0 to 19) {
    krnl.iterate(%il, %jl) with () {
      %iv:2 = krnl.get_induction_var_value(%il, %jl) : (!krnl.loop, !krnl.loop) -> (index, index)
      %p = arith.subi %iv#0, %c1 : index
      %q = arith.addi %iv#1, %c1 : index
      %v = krnl.load %m[%p, %q] : memref<10x20xf32>
      krnl.store %v, %m[%iv#0, %iv#1] : memref<10x20xf32>
      // expected-note @-2 {{the other access}}
    }
  }
  return
}

// -----

// (1, 0) and (0, 1): both loops may be tiled and interchanged.
// CHECK-LABEL: @stencil
// CHECK: affine.for %{{.*}} = 1 to 20 step 4
// CHECK: affine.for %{{.*}} = 1 to 10 step 4
func.func @stencil(%m: memref<10x20xf32>) {
  %c1 = arith.constant 1 : index
  %l:2 = krnl.define_loops 2
  %ib, %il = krnl.block %l#0 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  %jb, %jl = krnl.block %l#1 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.permute(%ib, %il, %jb, %jl) [1, 3, 0, 2] : !krnl.loop, !krnl.loop, !krnl.loop, !krnl.loop
  krnl.iterate(%ib, %il, %jb, %jl) with (%l#0 -> %i = 1 to 10, %l#1 -> %j = 1 to 20) {
    %p = arith.subi %i, %c1 : index
    %q = arith.subi %j, %c1 : index
    %a = krnl.load %m[%p, %j] : memref<10x20xf32>
    %b = krnl.load %m[%i, %q] : memref<10x20xf32>
    %s = arith.addf %a, %b : f32
    krnl.store %s, %m[%i, %j] : memref<10x20xf32>
  }
  return
}

// -----

func.func private @f()
func.func @unknown() {
  %l:2 = krnl.define_loops 2
  // expected-error @below {{may break a dependence: the unknown effects of the operation}}
  krnl.permute(%l#0, %l#1) [1, 0] : !krnl.loop, !krnl.loop
  krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to 20) {
    // expected-note @below {{the other access}}
    func.call @f() : () -> ()
  }
  return
}

// -----

// Somebody vouches.
// CHECK-LABEL: @vouched
// CHECK: affine.for %{{.*}} = 0 to 20
func.func private @f()
func.func @vouched() {
  %l:2 = krnl.define_loops 2 {krnl.independent}
  krnl.permute(%l#0, %l#1) [1, 0] : !krnl.loop, !krnl.loop
  krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to 20) {
    func.call @f() : () -> ()
  }
  return
}

// -----

func.func @iter_args(%x: f32) -> f32 {
  %l:2 = krnl.define_loops 2
  // expected-error @below {{reorders loops that carry iter_args}}
  krnl.permute(%l#0, %l#1) [1, 0] : !krnl.loop, !krnl.loop
  // expected-note @below {{the iterate with iter_args}}
  %r = krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to 20) iter_args(%a = %x) -> (f32) {
    %b = arith.mulf %a, %a : f32
    krnl.yield %b : f32
  }
  return %r : f32
}

// -----

// A running sum in memory is carried by the loop.
func.func @parallel_sum(%m: memref<10xf32>, %s: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %l = krnl.define_loops 1
  // expected-error @below {{the loop carries a dependence}}
  krnl.parallel(%l) : !krnl.loop
  krnl.iterate(%l) with (%l -> %i = 0 to 10) {
    %v = krnl.load %s[%c0] : memref<1xf32>
    %w = krnl.load %m[%i] : memref<10xf32>
    %x = arith.addf %v, %w : f32
    // expected-note @below {{the other access}}
    krnl.store %x, %s[%c0] : memref<1xf32>
  }
  return
}

// -----

func.func @parallel_iter_args(%x: f32) -> f32 {
  %l = krnl.define_loops 1
  // expected-error @below {{a loop that carries iter_args cannot be parallel}}
  krnl.parallel(%l) : !krnl.loop
  // expected-note @below {{the iterate with iter_args}}
  %r = krnl.iterate(%l) with (%l -> %i = 0 to 10) iter_args(%a = %x) -> (f32) {
    krnl.yield %a : f32
  }
  return %r : f32
}

// -----

// Several parallel loops; the inner one carries nothing either; scratch of an iteration is its own.
// CHECK-LABEL: @parallel_two
// CHECK: affine.parallel
// CHECK: affine.parallel
func.func @parallel_two(%m: memref<10x20xf32>) {
  %c0 = arith.constant 0 : index
  %l:2 = krnl.define_loops 2
  krnl.parallel(%l#0, %l#1) : !krnl.loop, !krnl.loop
  krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to 20) {
    %t = memref.alloca() : memref<1xf32>
    %v = krnl.load %m[%i, %j] : memref<10x20xf32>
    krnl.store %v, %t[%c0] : memref<1xf32>
    %w = krnl.load %t[%c0] : memref<1xf32>
    krnl.store %w, %m[%i, %j] : memref<10x20xf32>
  }
  return
}

// -----

// The body takes care of two columns: iterations are two apart, and every one has its own.
// CHECK-LABEL: @tile_in_body
// CHECK: affine.parallel (%{{.*}}) = (0) to (20) step (2)
// CHECK-NEXT: affine.for %{{.*}} = 0 to 10
func.func @tile_in_body(%m: memref<10x20xf32>) {
  %c1 = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  %l:2 = krnl.define_loops 2
  %b, %t = krnl.block %l#1 2 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.permute(%l#0, %b) [1, 0] : !krnl.loop, !krnl.loop
  krnl.parallel(%b) : !krnl.loop
  krnl.iterate(%l#0, %b) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to 20) {
    %q = arith.addi %j, %c1 : index
    krnl.store %x, %m[%i, %j] : memref<10x20xf32>
    krnl.store %x, %m[%i, %q] : memref<10x20xf32>
  }
  return
}
