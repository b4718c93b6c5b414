// Tile buffers and krnl.matmul, compiled and run: partial tiles in every dim, padding, a transposed buffer.
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,onyx-krnl-to-llvm)' \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%llvm-lib/libmlir_c_runner_utils.so \
// RUN:   | FileCheck %s
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,canonicalize)' | FileCheck %s --check-prefix=IR

func.func private @printF32(f32)
func.func private @printNewline()
func.func private @printComma()

func.func @show(%m: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %m, %c0 : memref<?x?xf32>
  %columns = memref.dim %m, %c1 : memref<?x?xf32>
  %p:2 = krnl.define_loops 2
  krnl.iterate(%p#0) with (%p#0 -> %i = 0 to %rows, %p#1 -> %j = 0 to %columns) {
    krnl.iterate(%p#1) with () {
      %v = krnl.load %m[%i, %j] : memref<?x?xf32>
      func.call @printF32(%v) : (f32) -> ()
      func.call @printComma() : () -> ()
    }
    func.call @printNewline() : () -> ()
  }
  return
}

// A[i, k] = i + k and B[k, j] = k - j over 5 x 9 and 9 x 7.
func.func @fill(%a: memref<5x9xf32>, %b: memref<9x7xf32>) {
  %l:2 = krnl.define_loops 2
  krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to 5, %l#1 -> %k = 0 to 9) {
    %s = arith.addi %i, %k : index
    %t = arith.index_cast %s : index to i32
    %f = arith.sitofp %t : i32 to f32
    krnl.store %f, %a[%i, %k] : memref<5x9xf32>
  }
  %m:2 = krnl.define_loops 2
  krnl.iterate(%m#0, %m#1) with (%m#0 -> %k = 0 to 9, %m#1 -> %j = 0 to 7) {
    %s = arith.subi %k, %j : index
    %t = arith.index_cast %s : index to i32
    %f = arith.sitofp %t : i32 to f32
    krnl.store %f, %b[%k, %j] : memref<9x7xf32>
  }
  return
}

// IR-LABEL: @product
// IR: affine.for %{{.*}} = 0 to 5 step 4
// IR: affine.for %{{.*}} = 0 to 7 step 4
// IR: affine.for %{{.*}} = 0 to 9 step 4
// IR: scf.if
// IR: affine.for {{.*}} iter_args({{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// IR: vector.fma
// IR: } else {
// IR: affine.for
func.func @product(%a: memref<5x9xf32>, %b: memref<9x7xf32>, %c: memref<5x7xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = arith.constant 5 : index
  %n = arith.constant 7 : index
  %kk = arith.constant 9 : index
  %ta = memref.alloca() : memref<4x4xf32>
  %tb = memref.alloca() : memref<4x4xf32>
  krnl.memset %c, %zero : memref<5x7xf32>
  %l:3 = krnl.define_loops 3
  %ib, %il = krnl.block %l#0 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  %jb, %jl = krnl.block %l#1 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  %kb, %kl = krnl.block %l#2 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.permute(%ib, %il, %jb, %jl, %kb, %kl) [0, 3, 1, 4, 2, 5]
      : !krnl.loop, !krnl.loop, !krnl.loop, !krnl.loop, !krnl.loop, !krnl.loop
  krnl.iterate(%ib, %jb, %kb) with (%l#0 -> %i = 0 to 5, %l#1 -> %j = 0 to 7, %l#2 -> %k = 0 to 9) {
    krnl.copy_to_tile_buffer %ta, %a[%i, %k], %zero {} : memref<4x4xf32>, memref<5x9xf32>
    krnl.copy_to_tile_buffer %tb, %b[%k, %j], %zero {} : memref<4x4xf32>, memref<9x7xf32>
    krnl.matmul %ta[%i, %k], %tb[%k, %j], %c[%c0, %c0], (%il, %jl, %kl), (%i, %j, %k), (%m, %n, %kk)
        {computeTileSize = [4, 4, 4], simdize = true, unroll = true, overcompute = false}
        : memref<4x4xf32>, memref<4x4xf32>, memref<5x7xf32>, (!krnl.loop, !krnl.loop, !krnl.loop)
  }
  return
}

// Matrix times vector: c[i] += A[i, k] * x[k].
func.func @vector(%a: memref<5x9xf32>, %x: memref<9xf32>, %y: memref<5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 5 : index
  %kk = arith.constant 9 : index
  %l:3 = krnl.define_loops 3
  krnl.matmul %a[%c0, %c0], %x[%c0], %y[%c0], (%l#0, %l#1, %l#2), (%c0, %c0, %c0), (%m, %c1, %kk)
      {simdize = true, unroll = true} : memref<5x9xf32>, memref<9xf32>, memref<5xf32>, (!krnl.loop, !krnl.loop, !krnl.loop)
  return
}

func.func @main() {
  %a = memref.alloc() : memref<5x9xf32>
  %b = memref.alloc() : memref<9x7xf32>
  %c = memref.alloc() : memref<5x7xf32>
  call @fill(%a, %b) : (memref<5x9xf32>, memref<9x7xf32>) -> ()
  call @product(%a, %b, %c) : (memref<5x9xf32>, memref<9x7xf32>, memref<5x7xf32>) -> ()
  %d = memref.cast %c : memref<5x7xf32> to memref<?x?xf32>
  call @show(%d) : (memref<?x?xf32>) -> ()
  // Sum over k of (i + k) (k - j) = 204 + 36 (i - j) - 9 i j.
  // CHECK: 204, 168, 132, 96, 60, 24, -12,
  // CHECK-NEXT: 240, 195, 150, 105, 60, 15, -30,
  // CHECK-NEXT: 276, 222, 168, 114, 60, 6, -48,
  // CHECK-NEXT: 312, 249, 186, 123, 60, -3, -66,
  // CHECK-NEXT: 348, 276, 204, 132, 60, -12, -84,

  // The tile of A at (4, 8) has one element, 12. Filled up to multiples of 2 and 3, what is beyond keeps its -1.
  %minus = arith.constant -1.0 : f32
  %zero = arith.constant 0.0 : f32
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %t = memref.alloc() : memref<4x4xf32>
  krnl.memset %t, %minus : memref<4x4xf32>
  krnl.copy_to_tile_buffer %t, %a[%c4, %c8], %zero {padToNext = [2, 3]} : memref<4x4xf32>, memref<5x9xf32>
  %u = memref.cast %t : memref<4x4xf32> to memref<?x?xf32>
  call @show(%u) : (memref<?x?xf32>) -> ()
  // CHECK-NEXT: 12, 0, 0, -1,
  // CHECK-NEXT: 0, 0, 0, -1,
  // CHECK-NEXT: -1, -1, -1, -1,
  // CHECK-NEXT: -1, -1, -1, -1,

  // One dim partial, the other full; transposed: A(4, 4..7) = 8 9 10 11 as a column.
  krnl.memset %t, %minus : memref<4x4xf32>
  krnl.copy_to_tile_buffer %t, %a[%c4, %c4], %zero {padToNext = [4, 4], transpose = true} : memref<4x4xf32>, memref<5x9xf32>
  call @show(%u) : (memref<?x?xf32>) -> ()
  // CHECK-NEXT: 8, 0, 0, 0,
  // CHECK-NEXT: 9, 0, 0, 0,
  // CHECK-NEXT: 10, 0, 0, 0,
  // CHECK-NEXT: 11, 0, 0, 0,

  // The tile times itself, of which one element is said to be there: with overcompute all of the tile is computed (first
  // column 8, 9, 10, 11 times 8), without it that element only.
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %o = memref.alloc() : memref<4x4xf32>
  %p = memref.cast %o : memref<4x4xf32> to memref<?x?xf32>
  krnl.memset %o, %zero : memref<4x4xf32>
  krnl.matmul %t[%c0, %c0], %t[%c0, %c0], %o[%c0, %c0], (), (%c0, %c0, %c0), (%c1, %c1, %c1)
      {simdize = true, unroll = false, overcompute = true} : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>, ()
  call @show(%p) : (memref<?x?xf32>) -> ()
  // CHECK-NEXT: 64, 0, 0, 0,
  // CHECK-NEXT: 72, 0, 0, 0,
  // CHECK-NEXT: 80, 0, 0, 0,
  // CHECK-NEXT: 88, 0, 0, 0,
  krnl.memset %o, %zero : memref<4x4xf32>
  krnl.matmul %t[%c0, %c0], %t[%c0, %c0], %o[%c0, %c0], (), (%c0, %c0, %c0), (%c1, %c1, %c1)
      {simdize = true, unroll = false, overcompute = false} : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>, ()
  call @show(%p) : (memref<?x?xf32>) -> ()
  // CHECK-NEXT: 64, 0, 0, 0,
  // CHECK-NEXT: 0, 0, 0, 0,
  // CHECK-NEXT: 0, 0, 0, 0,
  // CHECK-NEXT: 0, 0, 0, 0,
  memref.dealloc %o : memref<4x4xf32>

  // Back into the last partial tile: three columns of one row are written, nothing beyond.
  %w = memref.alloc() : memref<5x7xf32>
  krnl.memset %w, %zero : memref<5x7xf32>
  krnl.memset %t, %minus : memref<4x4xf32>
  krnl.copy_from_tile_buffer %t, %w[%c4, %c4] {} : memref<4x4xf32>, memref<5x7xf32>
  %v = memref.cast %w : memref<5x7xf32> to memref<?x?xf32>
  call @show(%v) : (memref<?x?xf32>) -> ()
  // CHECK-COUNT-4: 0, 0, 0, 0, 0, 0, 0,
  // CHECK: 0, 0, 0, 0, -1, -1, -1,

  // y = A (1, .., 1): 36 + 9 i.
  %x = memref.alloc() : memref<9xf32>
  %y = memref.alloc() : memref<1x5xf32>
  %z = memref.collapse_shape %y [[0, 1]] : memref<1x5xf32> into memref<5xf32>
  %one = arith.constant 1.0 : f32
  krnl.memset %x, %one : memref<9xf32>
  krnl.memset %z, %zero : memref<5xf32>
  call @vector(%a, %x, %z) : (memref<5x9xf32>, memref<9xf32>, memref<5xf32>) -> ()
  %yy = memref.cast %y : memref<1x5xf32> to memref<?x?xf32>
  call @show(%yy) : (memref<?x?xf32>) -> ()
  // CHECK-NEXT: 36, 45, 54, 63, 72,
  memref.dealloc %a : memref<5x9xf32>
  memref.dealloc %b : memref<9x7xf32>
  memref.dealloc %c : memref<5x7xf32>
  memref.dealloc %t : memref<4x4xf32>
  memref.dealloc %w : memref<5x7xf32>
  memref.dealloc %x : memref<9xf32>
  memref.dealloc %y : memref<1x5xf32>
  return
}
