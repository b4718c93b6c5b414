// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine)' --split-input-file --verify-diagnostics

func.func @blocked_twice() {
  %l = krnl.define_loops 1
  // expected-note @below {{taken here}}
  %b, %t = krnl.block %l 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  // expected-error @below {{operand 0: the loop is taken by krnl.block already; schedule what that made of it}}
  %c, %u = krnl.block %l 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  return
}

// -----

func.func @not_ours(%n: index, %l: !krnl.loop) {
  // expected-error @below {{expected a loop that krnl.define_loops, krnl.block or krnl.skew above made}}
  krnl.unroll %l : !krnl.loop
  return
}

// -----

func.func @tile_outside() {
  %l = krnl.define_loops 1
  // expected-note @below {{blocked here}}
  %b, %t = krnl.block %l 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  // expected-error @below {{map puts operand 1, a tile loop, outside operand 0, its block loop}}
  krnl.permute(%b, %t) [1, 0] : !krnl.loop, !krnl.loop
  krnl.iterate(%b, %t) with (%l -> %i = 0 to 10) {
  }
  return
}

// -----

func.func @tile_alone() {
  %l = krnl.define_loops 1
  // expected-note @below {{blocked here}}
  %b, %t = krnl.block %l 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  // expected-error @below {{optimised loop 0 is a tile whose block loop does not run around it}}
  krnl.iterate(%t) with (%l -> %i = 0 to 10) {
  }
  return
}

// -----

func.func @no_bounds() {
  %l:2 = krnl.define_loops 2
  // expected-error @below {{optimised loop 1 has no bounds: no 'with' around it lists its original loop}}
  krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to 10) {
  }
  return
}

// -----

func.func @stale() {
  %l = krnl.define_loops 1
  // expected-note @below {{taken here}}
  %b, %t = krnl.block %l 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  // expected-error @below {{optimised loop 0 is taken by krnl.block; iterate what that made of it}}
  krnl.iterate(%l) with (%l -> %i = 0 to 10) {
  }
  return
}

// -----

func.func @runs_already() {
  %l = krnl.define_loops 1
  // expected-error @below {{optimised loop 1 runs outside already}}
  krnl.iterate(%l) with (%l -> %i = 0 to 10) {
    %k = arith.constant 1.0 : f32
    krnl.iterate(%l) with () {
    }
  }
  return
}

// -----

func.func @no_constant_trip(%n: index, %m: memref<?xf32>) {
  %c = arith.constant 1.0 : f32
  %l = krnl.define_loops 1
  // expected-error @below {{expected a loop with a constant trip count}}
  krnl.unroll %l : !krnl.loop
  // expected-note @below {{the loop}}
  krnl.iterate(%l) with (%l -> %i = 0 to %n) {
    krnl.store %c, %m[%i] : memref<?xf32>
  }
  return
}

// -----

// A partial tile has no constant trip count.
func.func @partial_tile(%m: memref<10xf32>) {
  %c = arith.constant 1.0 : f32
  %l = krnl.define_loops 1
  %b, %t = krnl.block %l 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  // expected-error @below {{expected a loop with a constant trip count}}
  krnl.unroll %t : !krnl.loop
  // expected-note @below {{the loop}}
  krnl.iterate(%b, %t) with (%l -> %i = 0 to 10) {
    krnl.store %c, %m[%i] : memref<10xf32>
  }
  return
}

// -----

func.func @not_running(%m: memref<10xf32>) {
  %l = krnl.define_loops 1
  // expected-error @below {{operand 0: the loop does not run here}}
  %i = krnl.get_induction_var_value(%l) : (!krnl.loop) -> index
  return
}

// -----

func.func @variable_of_nothing(%m: memref<10x10xf32>) {
  %c = arith.constant 1.0 : f32
  %l:2 = krnl.define_loops 2
  // expected-note @below {{the loop's bounds are given here}}
  krnl.iterate(%l#0) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to 10) {
    // expected-error @below {{uses the variable of loop 1 of 'with' where that loop does not run}}
    krnl.store %c, %m[%i, %j] : memref<10x10xf32>
  }
  return
}

// -----

// A statement stands between the loops: there is no place for it in the order that is asked for.
func.func @statement_between(%m: memref<10x10xf32>, %v: memref<10xf32>) {
  %c = arith.constant 1.0 : f32
  %l:2 = krnl.define_loops 2
  // expected-error @below {{puts a loop outside one that runs around it with statements of its own}}
  krnl.permute(%l#0, %l#1) [1, 0] : !krnl.loop, !krnl.loop
  krnl.iterate(%l#0) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to 10) {
    krnl.store %c, %v[%i] : memref<10xf32>
    // expected-note @below {{this iterate runs the inner loop}}
    krnl.iterate(%l#1) with () {
      krnl.store %c, %m[%i, %j] : memref<10x10xf32>
    }
  }
  return
}

// -----

func.func @two_marks() {
  %l = krnl.define_loops 1
  krnl.unroll %l : !krnl.loop
  // expected-error @below {{operand 0: a loop may be one of unrolled, vectorised and parallel}}
  krnl.parallel(%l) : !krnl.loop
  return
}

// -----

func.func @skewed_tile() {
  %l:2 = krnl.define_loops 2
  // expected-note @below {{blocked here}}
  %b, %t = krnl.block %l#0 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  // expected-error @below {{operand 0: a tile loop cannot be skewed; skew first, then block}}
  %s, %u = krnl.skew %t, %l#1 1 : (!krnl.loop, !krnl.loop) -> (!krnl.loop, !krnl.loop)
  return
}

// -----

func.func @not_innermost(%m: memref<10x16xf32>) {
  %c = arith.constant 1.0 : f32
  %l:2 = krnl.define_loops 2
  // expected-error @below {{the loop cannot be vectorised: it is not the innermost loop}}
  krnl.vectorize %l#0 4 : !krnl.loop
  // expected-note @below {{this operation}}
  krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to 16) {
    krnl.store %c, %m[%i, %j] : memref<10x16xf32>
  }
  return
}

// -----

func.func @strided(%m: memref<16x10xf32>) {
  %c = arith.constant 1.0 : f32
  %l = krnl.define_loops 1
  // expected-error @below {{the loop cannot be vectorised: the stored elements are not neighbours}}
  krnl.vectorize %l 4 : !krnl.loop
  krnl.iterate(%l) with (%l -> %i = 0 to 10) {
    // expected-note @below {{this operation}}
    krnl.store %c, %m[%i, %i] : memref<16x10xf32>
  }
  return
}

// -----

func.func @sum_in_lanes(%m: memref<16xf32>, %x: f32) -> f32 {
  %l = krnl.define_loops 1
  // expected-error @below {{the loop cannot be vectorised: it carries iter_args}}
  krnl.vectorize %l 4 : !krnl.loop
  // expected-note @below {{this operation}}
  %r = krnl.iterate(%l) with (%l -> %i = 0 to 10) iter_args(%a = %x) -> (f32) {
    %v = krnl.load %m[%i] : memref<16xf32>
    %s = arith.addf %a, %v : f32
    krnl.yield %s : f32
  }
  return %r : f32
}

// -----

module {
  func.func @f(%w: memref<?xi8> {krnl.weights = 0 : i64}) {
    // expected-error @below {{value: expected a file of onnx.weights_files that an argument of the function holds (krnl.weights), found "m.onnx"}}
    %g = "krnl.global"() {name = "g", value = #onnx.file<"m.onnx", 0, 8> : tensor<2xf32>} : () -> memref<2xf32>
    return
  }
}

// -----

module attributes {onnx.weights_files = [{name = "m.onnx", size = 64 : i64}]} {
  func.func @f(%w: memref<?xi8> {krnl.weights = 0 : i64}) {
    // expected-error @below {{value: offset 2 is no multiple of the element's 4 bytes}}
    %g = "krnl.global"() {name = "g", value = #onnx.file<"m.onnx", 2, 8> : tensor<2xf32>} : () -> memref<2xf32>
    return
  }
}
