// RUN: %onyx-opt %s --pass-pipeline='builtin.module(krnl-plan-memory)' --split-input-file | FileCheck %s
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(krnl-plan-memory{poison=true})' --split-input-file | FileCheck %s --check-prefix=POISON

// a, b and c are alive two at a time (a with b, b with c): c takes a's place. 100 floats are 400 bytes, 448 in
// steps of 64. What is returned stays an allocation; what is deallocated is no longer.
// CHECK-LABEL: @chain
// CHECK-SAME: %[[ARENA:[a-z0-9]+]]: memref<?xi8> {krnl.arena})
// CHECK-SAME: krnl.arena_bytes = 896 : i64, krnl.arena_live_bytes = 896 : i64
// CHECK: %[[A:.*]] = arith.constant [[OFFSET:[0-9]+]] : index
// CHECK-NEXT: memref.view %[[ARENA]][%[[A]]][] : memref<?xi8> to memref<100xf32>
// CHECK: memref.view %[[ARENA]]
// CHECK: %[[C:.*]] = arith.constant [[OFFSET]] : index
// CHECK-NEXT: memref.view %[[ARENA]][%[[C]]][] : memref<?xi8> to memref<100xf32>
// CHECK: memref.alloc() : memref<100xf32>
// CHECK-NOT: memref.dealloc
// POISON-LABEL: @chain
// POISON: %[[A:.*]] = memref.view %{{.*}} : memref<?xi8> to memref<100xf32>
// POISON: %[[BYTES:.*]] = memref.view %{{.*}} : memref<?xi8> to memref<448xi8>
// POISON: %[[ONES:.*]] = arith.constant -1 : i8
// POISON: scf.for %[[I:.*]] =
// POISON-NEXT: memref.store %[[ONES]], %[[BYTES]][%[[I]]]
// POISON: memref.copy %{{.*}}, %[[A]]
func.func @chain(%x: memref<100xf32>, %arena: memref<?xi8> {krnl.arena}) -> memref<100xf32> {
  %a = memref.alloc() : memref<100xf32>
  memref.copy %x, %a : memref<100xf32> to memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  memref.copy %a, %b : memref<100xf32> to memref<100xf32>
  memref.dealloc %a : memref<100xf32>
  %c = memref.alloc() : memref<100xf32>
  memref.copy %b, %c : memref<100xf32> to memref<100xf32>
  %d = memref.alloc() : memref<100xf32>
  memref.copy %c, %d : memref<100xf32> to memref<100xf32>
  memref.dealloc %c : memref<100xf32>
  return %d : memref<100xf32>
}

// -----

// An alias keeps its buffer alive, a loop counts as a whole, a buffer in a parallel loop is a thread's own, one
// that is yielded stays; a dynamic one is freed after its last use.
// CHECK-LABEL: @lifetimes
// CHECK-SAME: krnl.arena_bytes = 192 : i64
// CHECK-COUNT-3: memref.view
// CHECK-NOT: memref.view
// CHECK: scf.parallel
// CHECK: memref.alloc() : memref<16xf32>
// CHECK: memref.dealloc
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT: memref.copy
// CHECK-NEXT: memref.dealloc
func.func @lifetimes(%x: memref<16xf32>, %n: index, %y: memref<?xf32>, %arena: memref<?xi8> {krnl.arena}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32>
  %r = memref.reinterpret_cast %a to offset: [0], sizes: [4, 4], strides: [4, 1] : memref<16xf32> to memref<4x4xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  memref.copy %x, %b : memref<16xf32> to memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %e = memref.alloc() : memref<16xf32>
    memref.copy %x, %e : memref<16xf32> to memref<16xf32>
    memref.copy %b, %e : memref<16xf32> to memref<16xf32>
    memref.dealloc %e : memref<16xf32>
  }
  %v = memref.load %r[%c0, %c0] : memref<4x4xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %e = memref.alloc() : memref<16xf32>
    memref.copy %x, %e : memref<16xf32> to memref<16xf32>
    scf.reduce
  }
  %d = memref.alloc(%n) : memref<?xf32>
  memref.copy %y, %d : memref<?xf32> to memref<?xf32>
  return
}

// -----

// The entry of a model gets the argument; any other function without one keeps its buffers.
// CHECK-LABEL: @main_graph
// CHECK-SAME: (%{{.*}}: memref<4xf32>, %{{.*}}: memref<?xi8> {krnl.arena}) attributes {krnl.arena_bytes = 64 : i64
// CHECK: memref.view
// CHECK-LABEL: @other
// CHECK: memref.alloc
func.func @main_graph(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  return
}
func.func @other(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  return
}
"krnl.entry_point"() {func = @main_graph, numInputs = 1 : i32, numOutputs = 0 : i32, signature = ""} : () -> ()
