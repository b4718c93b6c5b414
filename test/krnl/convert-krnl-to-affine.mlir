// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,canonicalize)' | FileCheck %s
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,onyx-krnl-to-llvm)' | mlir-translate --mlir-to-llvmir -o /dev/null

// permute: operand i goes to position map[i].
// CHECK-LABEL: @permute
// CHECK: affine.for %[[J:.*]] = 0 to 20 {
// CHECK-NEXT: affine.for %[[I:.*]] = 0 to 10 {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
func.func @permute(%m: memref<10x20xf32>) {
  %c = arith.constant 1.0 : f32
  %l:2 = krnl.define_loops 2
  krnl.permute(%l#0, %l#1) [1, 0] : !krnl.loop, !krnl.loop
  krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to 20) {
    krnl.store %c, %m[%i, %j] : memref<10x20xf32>
  }
  return
}

// A tile that divides needs no min; one that does not is cut at the bound; a tile of a tile whose size does
// not divide is cut at the outer tile's end as well.
// CHECK-LABEL: @tile
// CHECK: affine.for %[[IB:.*]] = 0 to 10 step 5 {
// CHECK-NEXT: affine.for %[[JB:.*]] = 0 to %[[N:.*]] step 3 {
// CHECK-NEXT: affine.for %[[I:.*]] = #{{.*}}(%[[IB]]) to #{{.*}}(%[[IB]]) {
// CHECK-NEXT: affine.for %[[J1:.*]] = #{{.*}}(%[[JB]]) to min #{{.*}}(%[[JB]])[%[[N]]] step 2 {
// CHECK-NEXT: affine.for %[[J:.*]] = #{{.*}}(%[[J1]]) to min #{{.*}}(%[[J1]], %[[JB]])[%[[N]]] {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
func.func @tile(%m: memref<10x20xf32>, %n: index) {
  %c = arith.constant 1.0 : f32
  %l:2 = krnl.define_loops 2
  %ib, %il = krnl.block %l#0 5 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  %jb, %jl = krnl.block %l#1 3 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  %jl1, %jl2 = krnl.block %jl 2 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.permute(%ib, %il, %jb, %jl1, %jl2) [0, 2, 1, 3, 4] : !krnl.loop, !krnl.loop, !krnl.loop, !krnl.loop, !krnl.loop
  krnl.iterate(%ib, %il, %jb, %jl1, %jl2) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to %n) {
    krnl.store %c, %m[%i, %j] : memref<10x20xf32>
  }
  return
}

// The tile loop unused: the variable is the tile's start and the body takes care of the tile.
// CHECK-LABEL: @block_only
// CHECK: affine.for %[[I:.*]] = 0 to 10 step 4 {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]]]
func.func @block_only(%m: memref<10xf32>) {
  %c = arith.constant 1.0 : f32
  %l = krnl.define_loops 1
  %b, %t = krnl.block %l 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.iterate(%b) with (%l -> %i = 0 to 10) {
    krnl.store %c, %m[%i] : memref<10xf32>
  }
  return
}

// Results pass through the block and tile loops of an imperfect nest.
// CHECK-LABEL: @imperfect
// CHECK: %[[R:.*]] = affine.for %[[I:.*]] = 0 to %[[N:.*]] iter_args(%{{.*}} = %{{.*}}) -> (f32) {
// CHECK-NEXT: affine.for %[[JB:.*]] = 2 to %[[N]] step 4 iter_args
// CHECK-NEXT: affine.load %{{.*}}[%[[JB]]]
// CHECK-NEXT: affine.for %[[J:.*]] = #{{.*}}(%[[JB]]) to min #{{.*}}(%[[JB]])[%[[N]]] iter_args
// CHECK-NEXT: affine.load %{{.*}}[%[[I]], %[[J]]]
// CHECK: return %[[R]]
func.func @imperfect(%m: memref<10x20xf32>, %x: memref<20xf32>, %n: index) -> f32 {
  %c = arith.constant 0.0 : f32
  %l:2 = krnl.define_loops 2
  %jb, %jl = krnl.block %l#1 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  %r = krnl.iterate(%l#0, %jb) with (%l#0 -> %i = 0 to %n, %l#1 -> %j = 2 to %n) iter_args(%a = %c) -> (f32) {
    %jj = krnl.get_induction_var_value(%jb) : (!krnl.loop) -> index
    %v = krnl.load %x[%jj] : memref<20xf32>
    %s = krnl.iterate(%jl) with () iter_args(%b = %a) -> (f32) {
      %jjj = krnl.get_induction_var_value(%jl) : (!krnl.loop) -> index
      %w = krnl.load %m[%i, %jjj] : memref<10x20xf32>
      %t = arith.addf %w, %b : f32
      %u = arith.addf %t, %v : f32
      krnl.yield %u : f32
    }
    krnl.yield %s : f32
  }
  return %r : f32
}

// The variable of a loop that an iterate inside runs. A bound that is loaded inside a loop is no symbol
// outside krnl.region: scf.for and memref.store; inside one it is.
// CHECK-LABEL: @bounds_from_loads
// CHECK: affine.for %[[I:.*]] = 0 to 10 {
// CHECK-NEXT: affine.for %[[J:.*]] = 0 to 20 {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
// CHECK: %[[N:.*]] = arith.index_cast
// CHECK-NEXT: scf.for %[[KB:.*]] = %{{.*}} to %[[N]] step %{{.*}} {
// CHECK-NEXT: arith.addi
// CHECK-NEXT: %[[END:.*]] = arith.minsi
// CHECK-NEXT: scf.for %[[K:.*]] = %[[KB]] to %[[END]]
// CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[K]]]
// CHECK: "krnl.region"
// CHECK-NEXT: affine.for %[[K:.*]] = 0 to #{{.*}}()[%[[N]]] step 2 {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[K]]]
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[K]] + 1]
// CHECK: affine.for %[[K:.*]] = max #{{.*}}()[%[[N]]] to %[[N]] {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[K]]]
func.func @bounds_from_loads(%m: memref<10x20xf32>, %x: memref<20xi64>) {
  %c = arith.constant 1.0 : f32
  %l:2 = krnl.define_loops 2
  krnl.iterate(%l#0) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to 20) {
    krnl.iterate(%l#1) with () {
      krnl.store %c, %m[%i, %j] : memref<10x20xf32>
    }
    %n = krnl.load %x[%i] : memref<20xi64>
    %nn = arith.index_cast %n : i64 to index
    %k = krnl.define_loops 1
    %kb, %kl = krnl.block %k 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
    krnl.iterate(%kb, %kl) with (%k -> %kk = 0 to %nn) {
      krnl.store %c, %m[%i, %kk] : memref<10x20xf32>
    }
    "krnl.region"() ({
      %k2 = krnl.define_loops 1
      krnl.unroll %k2 2 : !krnl.loop
      krnl.iterate(%k2) with (%k2 -> %kk = 0 to %nn) {
        krnl.store %c, %m[%i, %kk] : memref<10x20xf32>
      }
    }) : () -> ()
  }
  return
}

// CHECK-LABEL: @parallel_unroll
// CHECK: affine.parallel (%[[I:.*]]) = (0) to (10) {
// CHECK-NEXT: affine.for %[[K:.*]] = 0 to 20 step 4 {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[K]]]
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[K]] + 1]
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[K]] + 2]
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[K]] + 3]
// CHECK: } {krnl.proc_bind = "spread"}
func.func @parallel_unroll(%m: memref<10x20xf32>) {
  %c = arith.constant 1.0 : f32
  %l:2 = krnl.define_loops 2
  %kb, %kl = krnl.block %l#1 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.unroll %kl : !krnl.loop
  krnl.parallel(%l#0) {proc_bind = "spread"} : !krnl.loop
  krnl.iterate(%l#0, %kb, %kl) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = 0 to 20) {
    krnl.store %c, %m[%i, %j] : memref<10x20xf32>
  }
  return
}

// Index arithmetic is looked through; what is not affine is a memref access.
// CHECK-LABEL: @indices
// CHECK: affine.load %{{.*}}[%{{.*}} * 2 + symbol(%{{.*}}) - 1]
// CHECK: memref.load
func.func @indices(%m: memref<?xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %l = krnl.define_loops 1
  krnl.iterate(%l) with (%l -> %i = 0 to %n) {
    %a = arith.muli %i, %c2 : index
    %b = arith.addi %a, %n : index
    %d = arith.subi %b, %c1 : index
    %v = krnl.load %m[%d] : memref<?xf32>
    %e = arith.muli %i, %i : index
    %w = krnl.load %m[%e] : memref<?xf32>
    krnl.store %v, %m[%i] : memref<?xf32>
    krnl.store %w, %m[%i] : memref<?xf32>
  }
  return
}

// CHECK-LABEL: @memory
// CHECK: affine.prefetch %{{.*}}[symbol(%{{.*}}), 0], read, locality<3>, data
// CHECK: affine.for %[[I:.*]] = 0 to 4 {
// CHECK-NEXT: affine.for %[[J:.*]] = 0 to 8 {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
// CHECK: vector.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<4x8xf32>, vector<4xf32>
// CHECK: math.erf
func.func @memory(%m: memref<4x8xf32>, %v: f32, %n: index) -> (vector<4xf32>, f32, index) {
  %c0 = arith.constant 0 : index
  krnl.prefetch %m[%n, %c0], read, locality<3>, data : memref<4x8xf32>
  krnl.memset %m, %v : memref<4x8xf32>
  %w = krnl.vector_type_cast %m : memref<4x8xf32> to memref<4x2xvector<4xf32>>
  %x = krnl.load %w[%n, %n] : memref<4x2xvector<4xf32>>
  %e = "krnl.erf"(%v) : (f32) -> f32
  %o = krnl.get_linear_offset_index %m at [%n, %n] : memref<4x8xf32>
  return %x, %e, %o : vector<4xf32>, f32, index
}
