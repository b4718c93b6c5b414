// y = x for one element type: its name in MLIR and in the manifest is put in by the test.
func.func @main_graph(%x: memref<?x?x@STORED@>) -> memref<?x?x@STORED@> attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?x@STORED@>
  %n = memref.dim %x, %c1 : memref<?x?x@STORED@>
  %y = memref.alloc(%m, %n) : memref<?x?x@STORED@>
  memref.copy %x, %y : memref<?x?x@STORED@> to memref<?x?x@STORED@>
  return %y : memref<?x?x@STORED@>
}
// -----
llvm.mlir.global constant @onyx_manifest("onyx-model 1\0Aentry main_graph\0A\
in x tensor<?x?x@TYPE@>\0Aout y tensor<?x?x@TYPE@>\0A\00")
llvm.func @_mlir_ciface_main_graph(!llvm.ptr, !llvm.ptr)
llvm.func @onyx_entry(%args: !llvm.ptr, %results: !llvm.ptr) {
  %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
  llvm.call @_mlir_ciface_main_graph(%results, %x) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
