// z = x + y, batch x 3. What the passes make of a one-node model, written by hand: the function on
// memrefs with its hidden arguments, then the module that the entry point becomes.
func.func @main_graph(%x: memref<?x3xf32>, %y: memref<?x3xf32>, %status: memref<4xi64>,
                      %arena: memref<?xi8>) -> memref<?x3xf32>
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x3xf32>
  %z = memref.alloc(%n) {alignment = 64 : i64} : memref<?x3xf32>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 3 {
      %a = affine.load %x[%i, %j] : memref<?x3xf32>
      %b = affine.load %y[%i, %j] : memref<?x3xf32>
      %c = arith.addf %a, %b : f32
      affine.store %c, %z[%i, %j] : memref<?x3xf32>
    }
  }
  return %z : memref<?x3xf32>
}
// -----
llvm.mlir.global constant @onyx_manifest("onyx-model 1\0Aproducer by%20hand\0Aentry main_graph\0A\
in x tensor<?x3xf32>\0Ain y tensor<?x3xf32>\0Adim in 0 0 batch\0Adim in 1 0 batch\0A\
out z%20%25 tensor<?x3xf32>\0Adim out 0 0 batch\0Ahidden status\0Ahidden arena 256\0A\00")
llvm.func @_mlir_ciface_main_graph(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
llvm.func @onyx_entry(%args: !llvm.ptr, %results: !llvm.ptr) {
  %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p1 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %y = llvm.load %p1 : !llvm.ptr -> !llvm.ptr
  %p2 = llvm.getelementptr %args[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %status = llvm.load %p2 : !llvm.ptr -> !llvm.ptr
  %p3 = llvm.getelementptr %args[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %arena = llvm.load %p3 : !llvm.ptr -> !llvm.ptr
  llvm.call @_mlir_ciface_main_graph(%results, %x, %y, %status, %arena)
      : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
