// y[i] = x[indices[i]]: a bad index sets the status and continues on a clamped one. Compare with the
// standard's Gather-13 on axis 0: indices in [-n, n).
func.func @main_graph(%x: memref<?xf32>, %indices: memref<?xi64>, %status: memref<4xi64>) -> memref<?xf32>
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %node = arith.constant 4 : i64
  %n = memref.dim %x, %c0 : memref<?xf32>
  %m = memref.dim %indices, %c0 : memref<?xi64>
  %size = arith.index_cast %n : index to i64
  %last = arith.subi %size, %one : i64
  %y = memref.alloc(%m) : memref<?xf32>
  scf.for %i = %c0 to %m step %c1 {
    %k = memref.load %indices[%i] : memref<?xi64>
    %negative = arith.cmpi slt, %k, %zero : i64
    %wrapped = arith.addi %k, %size : i64
    %at = arith.select %negative, %wrapped, %k : i64
    %bad = arith.cmpi uge, %at, %size : i64
    %code = memref.load %status[%c0] : memref<4xi64>
    %first = arith.cmpi eq, %code, %zero : i64
    %tell = arith.andi %bad, %first : i1
    scf.if %tell {
      memref.store %one, %status[%c0] : memref<4xi64>
      memref.store %node, %status[%c1] : memref<4xi64>
      memref.store %k, %status[%c2] : memref<4xi64>
      memref.store %size, %status[%c3] : memref<4xi64>
    }
    %high = arith.minsi %at, %last : i64
    %clamped = arith.maxsi %high, %zero : i64
    %index = arith.index_cast %clamped : i64 to index
    %v = memref.load %x[%index] : memref<?xf32>
    memref.store %v, %y[%i] : memref<?xf32>
  }
  return %y : memref<?xf32>
}
// -----
llvm.mlir.global constant @onyx_manifest("onyx-model 1\0Aproducer by%20hand\0Aentry main_graph\0A\
in x tensor<?xf32>\0Ain indices tensor<?xi64>\0Aout y tensor<?xf32>\0Ahidden status\0A\
node 4 gather_4 Gather\0A\00")
llvm.func @_mlir_ciface_main_graph(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
llvm.func @onyx_entry(%args: !llvm.ptr, %results: !llvm.ptr) {
  %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p1 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %indices = llvm.load %p1 : !llvm.ptr -> !llvm.ptr
  %p2 = llvm.getelementptr %args[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %status = llvm.load %p2 : !llvm.ptr -> !llvm.ptr
  llvm.call @_mlir_ciface_main_graph(%results, %x, %indices, %status)
      : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
