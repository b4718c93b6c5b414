// RUN: %onyx-opt %s | FileCheck %s
// RUN: %onyx-opt %s | %onyx-opt | FileCheck %s
// RUN: %onyx-opt %s --mlir-print-op-generic | %onyx-opt | FileCheck %s

// CHECK-LABEL: @loops
// CHECK: %[[L:.*]]:3 = krnl.define_loops 3
// CHECK: krnl.define_loops 2 {labels = ["i", "j"], nest = "Conv_12"}
// CHECK: %[[B:.*]]:2 = krnl.block %[[L]]#0 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
// CHECK: krnl.permute(%[[B]]#0, %[[B]]#1, %[[L]]#1) [1, 2, 0] : !krnl.loop, !krnl.loop, !krnl.loop
// CHECK: krnl.unroll %[[B]]#1 : !krnl.loop
// CHECK: krnl.unroll %[[B]]#1 4 : !krnl.loop
// CHECK: krnl.vectorize %[[B]]#1 16 : !krnl.loop
// CHECK: krnl.skew %{{.*}}, %{{.*}} 1 : (!krnl.loop, !krnl.loop) -> (!krnl.loop, !krnl.loop)
// CHECK: krnl.parallel(%[[B]]#0, %[[L]]#1) : !krnl.loop, !krnl.loop
// CHECK: krnl.parallel(%[[B]]#0), num_threads(%{{.*}}) {proc_bind = "spread"} : !krnl.loop
func.func @loops(%n: i32) {
  %l:3 = krnl.define_loops 3
  %m:2 = krnl.define_loops 2 {nest = "Conv_12", labels = ["i", "j"]}
  %b, %in = krnl.block %l#0 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.permute(%b, %in, %l#1) [1, 2, 0] : !krnl.loop, !krnl.loop, !krnl.loop
  krnl.unroll %in : !krnl.loop
  krnl.unroll %in 4 : !krnl.loop
  krnl.vectorize %in 16 : !krnl.loop
  %a, %c = krnl.skew %m#0, %m#1 1 : (!krnl.loop, !krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.parallel(%b, %l#1) : !krnl.loop, !krnl.loop
  krnl.parallel(%b), num_threads(%n) {proc_bind = "spread"} : !krnl.loop
  return
}

// CHECK-LABEL: @iterate
// CHECK-SAME: (%[[N:.*]]: index, %[[X:.*]]: f32, %[[M:.*]]: memref<?x10xf32>)
// CHECK: krnl.iterate(%[[L:.*]]#0) with (%[[L]]#0 -> %[[I:.*]] = 0 to 10, %[[L]]#1 -> %[[J:.*]] = -3 to %[[N]]){
// CHECK-NEXT: krnl.load %[[M]][%[[I]], %[[J]]] : memref<?x10xf32>
// CHECK-NEXT: krnl.store %{{.*}}, %[[M]][%[[J]], %[[I]]] : memref<?x10xf32>
// CHECK-NEXT: }
// CHECK: %[[R:.*]]:2 = krnl.iterate(%[[K:.*]]) with (%[[K]] -> %{{.*}} = max #[[LOW:.*]](%[[N]])[%[[N]]] to min #[[HIGH:.*]](%[[N]])) iter_args(%[[A:.*]] = %[[X]], %{{.*}} = %[[X]]) -> (f32, f32){
// CHECK: krnl.yield %{{.*}}, %[[A]] : f32, f32
// CHECK-NEXT: }
// CHECK: krnl.iterate() with (){
// CHECK-NEXT: }
// CHECK: krnl.get_induction_var_value(%{{.*}}) : (!krnl.loop) -> index
// CHECK: krnl.get_induction_var_value(%{{.*}}, %{{.*}}) : (!krnl.loop, !krnl.loop) -> (index, index)
#low = affine_map<(d0)[s0] -> (d0, s0 + 1)>
#high = affine_map<(d0) -> (d0 * 2, 64)>
func.func @iterate(%n: index, %x: f32, %m: memref<?x10xf32>) -> f32 {
  %l:2 = krnl.define_loops 2
  krnl.iterate(%l#0) with (%l#0 -> %i = 0 to 10, %l#1 -> %j = -3 to %n) {
    %v = krnl.load %m[%i, %j] : memref<?x10xf32>
    krnl.store %v, %m[%j, %i] : memref<?x10xf32>
  }
  %k = krnl.define_loops 1
  %r:2 = krnl.iterate(%k) with (%k -> %kk = max #low(%n)[%n] to min #high(%n)) iter_args(%a = %x, %b = %x) -> (f32, f32) {
    %s = arith.addf %a, %b : f32
    krnl.yield %s, %a : f32, f32
  }
  krnl.iterate() with () {
  }
  %iv = krnl.get_induction_var_value(%k) : (!krnl.loop) -> index
  %ivs:2 = krnl.get_induction_var_value(%l#0, %l#1) : (!krnl.loop, !krnl.loop) -> (index, index)
  return %r#0 : f32
}

// CHECK-LABEL: @memory
// CHECK: krnl.prefetch %{{.*}}[%{{.*}}, %{{.*}}], read, locality<3>, data : memref<4x8xf32>
// CHECK: krnl.memset %{{.*}}, %{{.*}} {delayed = true} : memref<4x8xf32>
// CHECK: krnl.get_linear_offset_index %{{.*}} at [%{{.*}}, %{{.*}}] : memref<4x8xf32>
// CHECK: krnl.vector_type_cast %{{.*}} : memref<4x8xf32> to memref<4x2xvector<4xf32>>
// CHECK: krnl.copy_to_tile_buffer %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} {padToNext = [2, 4], tileSize = [2, 4], transpose = false} : memref<2x4xf32>, memref<4x8xf32>
// CHECK: krnl.copy_from_tile_buffer %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] {tileSize = [2, 4]} : memref<2x4xf32>, memref<4x8xf32>
// CHECK: krnl.matmul %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], (%{{.*}}#0, %{{.*}}#1, %{{.*}}#2), (%{{.*}}, %{{.*}}, %{{.*}}), (%{{.*}}, %{{.*}}, %{{.*}}) {computeTileSize = [4, 8, 8], overcompute = false, simdize = true, unroll = true} : memref<4x8xf32>, memref<8x8xf32>, memref<4x8xf32>, (!krnl.loop, !krnl.loop, !krnl.loop)
// CHECK: "krnl.memcpy"(%{{.*}}) : (memref<4x8xf32>, memref<4x8xf32>, i64, index, index) -> ()
// CHECK: "krnl.global"() {name = "c", shape = [2], value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>} : () -> memref<2xf32>
func.func @memory(%m: memref<4x8xf32>, %b: memref<8x8xf32>, %t: memref<2x4xf32>, %v: f32, %i: index, %n: i64) {
  krnl.prefetch %m[%i, %i], read, locality<3>, data : memref<4x8xf32>
  krnl.memset %m, %v {delayed = true} : memref<4x8xf32>
  %o = krnl.get_linear_offset_index %m at [%i, %i] : memref<4x8xf32>
  %w = krnl.vector_type_cast %m : memref<4x8xf32> to memref<4x2xvector<4xf32>>
  krnl.copy_to_tile_buffer %t, %m[%i, %i], %v {tileSize = [2, 4], padToNext = [2, 4], transpose = false} : memref<2x4xf32>, memref<4x8xf32>
  krnl.copy_from_tile_buffer %t, %m[%i, %i] {tileSize = [2, 4]} : memref<2x4xf32>, memref<4x8xf32>
  %l:3 = krnl.define_loops 3
  krnl.matmul %m[%i, %i], %b[%i, %i], %m[%i, %i], (%l#0, %l#1, %l#2), (%i, %i, %i), (%i, %i, %i)
      {computeTileSize = [4, 8, 8], simdize = true, unroll = true, overcompute = false}
      : memref<4x8xf32>, memref<8x8xf32>, memref<4x8xf32>, (!krnl.loop, !krnl.loop, !krnl.loop)
  "krnl.memcpy"(%m, %m, %n, %i, %i) : (memref<4x8xf32>, memref<4x8xf32>, i64, index, index) -> ()
  %g = "krnl.global"() {name = "c", shape = [2], value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> memref<2xf32>
  return
}

// CHECK-LABEL: @generic
// CHECK: "krnl.region"() ({
// CHECK: "krnl.call"(%{{.*}}) {funcName = "f", numOfOutput = 1 : si64} : (memref<2xf32>) -> ()
// CHECK: "krnl.noValue"() {value} : () -> none
// CHECK: "krnl.erf"(%{{.*}}) : (f32) -> f32
// CHECK: "krnl.isnan"(%{{.*}}) : (f32) -> i1
// CHECK: "krnl.entry_point"() {func = @generic, numInputs = 2 : i32, numOutputs = 0 : i32, signature = "s"} : () -> ()
func.func @generic(%m: memref<2xf32>, %x: f32) {
  "krnl.region"() ({
    %c = arith.constant 0 : index
    %v = krnl.load %m[%c] : memref<2xf32>
  }) : () -> ()
  "krnl.call"(%m) {funcName = "f", numOfOutput = 1 : si64} : (memref<2xf32>) -> ()
  %none = "krnl.noValue"() {value} : () -> none
  %e = "krnl.erf"(%x) : (f32) -> f32
  %n = "krnl.isnan"(%x) : (f32) -> i1
  return
}
"krnl.entry_point"() {func = @generic, numInputs = 2 : i32, numOutputs = 0 : i32, signature = "s"} : () -> ()
