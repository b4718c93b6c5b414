// Each function numbers the elements of a small array in the order in which the loops visit them.
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,onyx-krnl-to-llvm)' \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%llvm-lib/libmlir_c_runner_utils.so \
// RUN:   | FileCheck %s

func.func private @printI64(i64)
func.func private @printNewline()
func.func private @printComma()

func.func @visit(%count: memref<1xi64>, %m: memref<6x7xi64>, %i: index, %j: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %c = krnl.load %count[%c0] : memref<1xi64>
  krnl.store %c, %m[%i, %j] : memref<6x7xi64>
  %d = arith.addi %c, %one : i64
  krnl.store %d, %count[%c0] : memref<1xi64>
  return
}

func.func @show(%m: memref<6x7xi64>) {
  %p:2 = krnl.define_loops 2
  krnl.iterate(%p#0) with (%p#0 -> %i = 0 to 6, %p#1 -> %j = 0 to 7) {
    krnl.iterate(%p#1) with () {
      %v = krnl.load %m[%i, %j] : memref<6x7xi64>
      func.call @printI64(%v) : (i64) -> ()
      func.call @printComma() : () -> ()
    }
    func.call @printNewline() : () -> ()
  }
  return
}

// Tiles of 4 x 3 over 6 x 7: rows 0-3 of columns 0-2, then of columns 3-5, then of column 6; then rows 4-5.
func.func @tiles(%count: memref<1xi64>, %m: memref<6x7xi64>, %n: index) {
  %l:2 = krnl.define_loops 2 {krnl.independent}
  %ib, %il = krnl.block %l#0 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  %jb, %jl = krnl.block %l#1 3 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.permute(%ib, %il, %jb, %jl) [0, 2, 1, 3] : !krnl.loop, !krnl.loop, !krnl.loop, !krnl.loop
  krnl.iterate(%ib, %il, %jb, %jl) with (%l#0 -> %i = 0 to 6, %l#1 -> %j = 0 to %n) {
    func.call @visit(%count, %m, %i, %j) : (memref<1xi64>, memref<6x7xi64>, index, index) -> ()
  }
  return
}
// CHECK: 0, 1, 2, 12, 13, 14, 24,
// CHECK-NEXT: 3, 4, 5, 15, 16, 17, 25,
// CHECK-NEXT: 6, 7, 8, 18, 19, 20, 26,
// CHECK-NEXT: 9, 10, 11, 21, 22, 23, 27,
// CHECK-NEXT: 28, 29, 30, 34, 35, 36, 40,
// CHECK-NEXT: 31, 32, 33, 37, 38, 39, 41,

// Unrolled by 4 with a remainder of 3: the order of the plain loop.
func.func @unrolled(%count: memref<1xi64>, %m: memref<6x7xi64>, %n: index) {
  %l:2 = krnl.define_loops 2
  krnl.unroll %l#1 4 : !krnl.loop
  krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to 6, %l#1 -> %j = 0 to %n) {
    func.call @visit(%count, %m, %i, %j) : (memref<1xi64>, memref<6x7xi64>, index, index) -> ()
  }
  return
}
// CHECK-NEXT: 42, 43, 44, 45, 46, 47, 48,
// CHECK-NEXT: 49, 50, 51, 52, 53, 54, 55,
// CHECK-NEXT: 56, 57, 58, 59, 60, 61, 62,
// CHECK-NEXT: 63, 64, 65, 66, 67, 68, 69,
// CHECK-NEXT: 70, 71, 72, 73, 74, 75, 76,
// CHECK-NEXT: 77, 78, 79, 80, 81, 82, 83,

// Loops that do not run, with and without schedule: a bound below the start.
func.func @nothing(%count: memref<1xi64>, %m: memref<6x7xi64>, %n: index) {
  %l:2 = krnl.define_loops 2
  %jb, %jl = krnl.block %l#1 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.iterate(%l#0, %jb, %jl) with (%l#0 -> %i = 0 to 6, %l#1 -> %j = %n to 2) {
    func.call @visit(%count, %m, %i, %j) : (memref<1xi64>, memref<6x7xi64>, index, index) -> ()
  }
  %k:2 = krnl.define_loops 2
  krnl.unroll %k#1 3 : !krnl.loop
  krnl.iterate(%k#0, %k#1) with (%k#0 -> %i = 0 to 6, %k#1 -> %j = %n to 1) {
    func.call @visit(%count, %m, %i, %j) : (memref<1xi64>, memref<6x7xi64>, index, index) -> ()
  }
  return
}
// CHECK-NEXT: 42, 43, 44, 45, 46, 47, 48,

func.func @main() {
  %m = memref.alloc() : memref<6x7xi64>
  %count = memref.alloc() : memref<1xi64>
  %z = arith.constant 0 : i64
  %n = arith.constant 7 : index
  krnl.memset %count, %z : memref<1xi64>
  krnl.memset %m, %z : memref<6x7xi64>
  call @tiles(%count, %m, %n) : (memref<1xi64>, memref<6x7xi64>, index) -> ()
  call @show(%m) : (memref<6x7xi64>) -> ()
  call @unrolled(%count, %m, %n) : (memref<1xi64>, memref<6x7xi64>, index) -> ()
  call @show(%m) : (memref<6x7xi64>) -> ()
  call @nothing(%count, %m, %n) : (memref<1xi64>, memref<6x7xi64>, index) -> ()
  call @show(%m) : (memref<6x7xi64>) -> ()
  memref.dealloc %m : memref<6x7xi64>
  memref.dealloc %count : memref<1xi64>
  return
}
