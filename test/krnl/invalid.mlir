// RUN: %onyx-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @below {{expected a number of loops from 0 to 4096, found -1}}
  %l = krnl.define_loops -1
  return
}

// -----

func.func @f() {
  // expected-error @below {{num_loops: expected 1, the number of results, found 2}}
  %l = "krnl.define_loops"() {num_loops = 2 : i64} : () -> !krnl.loop
  return
}

// -----

func.func @f() {
  // expected-error @below {{attribute 'labels': expected one string a loop}}
  %l:2 = krnl.define_loops 2 {labels = ["i"]}
  return
}

// -----

func.func @f() {
  %l = krnl.define_loops 1
  // expected-error @below {{attribute 'tile_size': expected a positive number, found 0}}
  %b, %i = krnl.block %l 0 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  return
}

// -----

func.func @f() {
  %l = krnl.define_loops 1
  // expected-error @below {{expected !krnl.loop, found index}}
  %b, %i = krnl.block %l 4 : (index) -> (!krnl.loop, !krnl.loop)
  return
}

// -----

func.func @f() {
  %l:2 = krnl.define_loops 2
  // expected-error @below {{map: expected a permutation of 0 to 1, found 1 at position 1}}
  krnl.permute(%l#0, %l#1) [1, 1] : !krnl.loop, !krnl.loop
  return
}

// -----

func.func @f() {
  %l:2 = krnl.define_loops 2
  // expected-error @below {{attribute 'map': expected 2 numbers, found 3}}
  krnl.permute(%l#0, %l#1) [1, 0, 2] : !krnl.loop, !krnl.loop
  return
}

// -----

func.func @f() {
  %l:2 = krnl.define_loops 2
  // expected-error @below {{operand 1: the loop is operand 0 as well}}
  krnl.permute(%l#0, %l#0) [1, 0] : !krnl.loop, !krnl.loop
  return
}

// -----

func.func @f() {
  %l = krnl.define_loops 1
  // expected-error @below {{expected two different loops, found one twice}}
  %a, %b = krnl.skew %l, %l 1 : (!krnl.loop, !krnl.loop) -> (!krnl.loop, !krnl.loop)
  return
}

// -----

func.func @f(%n: i64) {
  %l = krnl.define_loops 1
  // expected-error @below {{num_threads: expected i32, found i64}}
  "krnl.parallel"(%l, %n) : (!krnl.loop, i64) -> ()
  return
}

// -----

func.func @f() {
  %l = krnl.define_loops 1
  // expected-error @below {{proc_bind: expected "primary", "master", "close" or "spread"}}
  krnl.parallel(%l) {proc_bind = "far"} : !krnl.loop
  return
}

// -----

func.func @f() {
  %l = krnl.define_loops 1
  // expected-error @below {{attribute 'lanes': expected a positive number, found 0}}
  krnl.vectorize %l 0 : !krnl.loop
  return
}

// -----

func.func @f() {
  %l = krnl.define_loops 1
  // expected-error @below {{expected 2 results, found 1}}
  %v = "krnl.get_induction_var_value"(%l, %l) : (!krnl.loop, !krnl.loop) -> index
  return
}

// -----

#two = affine_map<(d0) -> (d0, 4)>
func.func @f(%n: index) {
  %l = krnl.define_loops 1
  // expected-error @below {{expected 'min' before a bound of 2 results}}
  krnl.iterate(%l) with (%l -> %i = 0 to #two(%n)) {
  }
  return
}

// -----

#map = affine_map<(d0)[s0] -> (d0 + s0)>
func.func @f(%n: index) {
  %l = krnl.define_loops 1
  // expected-error @below {{expected 1 dims of the bound's map, found 2}}
  krnl.iterate(%l) with (%l -> %i = 0 to #map(%n, %n)[%n]) {
  }
  return
}

// -----

func.func @f() {
  %l = krnl.define_loops 1
  // expected-error @below {{loop 1 of 'with' has bounds already}}
  krnl.iterate(%l) with (%l -> %i = 0 to 4, %l -> %j = 0 to 4) {
  }
  return
}

// -----

func.func @f() {
  %l = krnl.define_loops 1
  // expected-error @below {{optimised loops 0 and 1 are the same loop}}
  krnl.iterate(%l, %l) with (%l -> %i = 0 to 4) {
  }
  return
}

// -----

func.func @f(%x: f32) {
  %l = krnl.define_loops 1
  // expected-error @below {{expected 1 result types, one an iter_arg, found 2}}
  %r = krnl.iterate(%l) with (%l -> %i = 0 to 4) iter_args(%a = %x) -> (f32, f32) {
    krnl.yield %a : f32
  }
  return
}

// -----

func.func @f(%x: f32) {
  %l = krnl.define_loops 1
  %r = krnl.iterate(%l) with (%l -> %i = 0 to 4) iter_args(%a = %x) -> (f32) {
    // expected-error @below {{expected 1 values, one an iter_arg, found 0}}
    krnl.yield
  }
  return
}

// -----

func.func @f(%x: f32, %y: i32) {
  %l = krnl.define_loops 1
  // expected-error @below {{iter_arg 0: result is f32, initial value f32, argument f32, yielded i32}}
  %r = krnl.iterate(%l) with (%l -> %i = 0 to 4) iter_args(%a = %x) -> (f32) {
    krnl.yield %y : i32
  }
  return
}

// -----

func.func @f() {
  %l = krnl.define_loops 1
  // expected-error @below {{expected 3 operands (loops, operands of bounds, initial values), found 2}}
  "krnl.iterate"(%l, %l) ({
  ^bb0(%i: index):
    "krnl.yield"() : () -> ()
  }) {bounds = [affine_map<() -> (0)>, affine_map<()[s0] -> (s0)>], num_optimized_loops = 1 : i64} : (!krnl.loop, !krnl.loop) -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{expected an array attribute 'bounds'}}
  "krnl.iterate"() ({
  ^bb0:
    "krnl.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{expected to end the body of krnl.iterate}}
  krnl.yield
}

// -----

func.func @f(%m: memref<4x4xf32>, %i: index) {
  // expected-error @below {{expected 2 indices, the memref's rank, found 1}}
  %v = krnl.load %m[%i] : memref<4x4xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32>, %i: index, %v: i32) {
  // expected-error @below {{stored value: expected f32, the memref's element type, found i32}}
  "krnl.store"(%v, %m, %i) : (i32, memref<4xf32>, index) -> ()
  return
}

// -----

func.func @f(%m: memref<*xf32>) {
  // expected-error @below {{expected a ranked memref, found memref<*xf32>}}
  %v = krnl.load %m[] : memref<*xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32>, %i: index) {
  // expected-error @below {{localityHint: expected 0 to 3, found 7}}
  krnl.prefetch %m[%i], read, locality<7>, data : memref<4xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32>, %i: index, %n: i32) {
  // expected-error @below {{operand 2: expected the number of elements, an i64, found i32}}
  "krnl.memcpy"(%m, %m, %n, %i, %i) : (memref<4xf32>, memref<4xf32>, i32, index, index) -> ()
  return
}

// -----

func.func @f(%m: memref<4x6xf32>) {
  // expected-error @below {{dim 1: memref<4x6xf32> does not hold whole vectors as memref<4x1xvector<4xf32>> has them}}
  %v = krnl.vector_type_cast %m : memref<4x6xf32> to memref<4x1xvector<4xf32>>
  return
}

// -----

func.func @f() {
  // expected-error @below {{value: expected 3 elements, found 2}}
  %g = "krnl.global"() {name = "g", value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> memref<3xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{shape: dim 0: expected 2, as in the result, found 3}}
  %g = "krnl.global"() {name = "g", shape = [3], value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> memref<2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{alignment: expected a power of two, found 24}}
  %g = "krnl.global"() {name = "g", alignment = 24 : i64, value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> memref<2xf32>
  return
}

// -----

func.func @f(%b: memref<?x4xf32>, %m: memref<8x8xf32>, %i: index, %v: f32) {
  // expected-error @below {{buffer: expected a static shape, found memref<?x4xf32>}}
  krnl.copy_to_tile_buffer %b, %m[%i, %i], %v {} : memref<?x4xf32>, memref<8x8xf32>
  return
}

// -----

func.func @f(%b: memref<4x4xf32>, %m: memref<8x8xf32>, %i: index, %v: f32) {
  // expected-error @below {{tileSize: dim 1: the buffer holds 4, found 8}}
  krnl.copy_to_tile_buffer %b, %m[%i, %i], %v {tileSize = [4, 8]} : memref<4x4xf32>, memref<8x8xf32>
  return
}

// -----

func.func @f(%b: memref<4x4xf32>, %m: memref<8xf32>, %i: index) {
  // expected-error @below {{expected a memref of rank 2 at least, the buffer's, found memref<8xf32>}}
  krnl.copy_from_tile_buffer %b, %m[%i] {} : memref<4x4xf32>, memref<8xf32>
  return
}

// -----

func.func @f(%a: memref<4x4xf32>, %b: memref<4x4xf64>, %i: index) {
  // expected-error @below {{B: expected elements of f32 as in A, found memref<4x4xf64>}}
  krnl.matmul %a[%i, %i], %b[%i, %i], %a[%i, %i], (), (%i, %i, %i), (%i, %i, %i) {} : memref<4x4xf32>, memref<4x4xf64>, memref<4x4xf32>, ()
  return
}

// -----

func.func @f(%a: memref<4x4xf32>, %i: index) {
  // expected-error @below {{expected three values (i, j, k), found 2}}
  krnl.matmul %a[%i, %i], %a[%i, %i], %a[%i, %i], (), (%i, %i), (%i, %i, %i) {} : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>, ()
  return
}

// -----

// expected-error @below {{expected a symbol attribute 'func'}}
"krnl.entry_point"() {numInputs = 1 : i32} : () -> ()

// -----

func.func @f(%m: memref<4xf32>) {
  // expected-error @below {{numOfOutput: expected a number of operands, found 3}}
  "krnl.call"(%m) {funcName = "g", numOfOutput = 3 : si64} : (memref<4xf32>) -> ()
  return
}

// -----

func.func @f(%x: i32) {
  // expected-error @below {{operand: expected a float, found i32}}
  %e = "krnl.erf"(%x) : (i32) -> i32
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error @below {{result: expected i1, found f32}}
  %e = "krnl.isnan"(%x) : (f32) -> f32
  return
}

// -----

// expected-error @below {{argument 0: krnl.arena needs a rank-1 memref of integers}}
func.func @f(%x: memref<4x4xf32> {krnl.arena}) {
  return
}
