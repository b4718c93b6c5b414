// y = the sum of all bytes of the weights file, as i64: a run reads every page of it.
func.func @main_graph(%weights: memref<?xi8>) -> memref<i64> attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %n = memref.dim %weights, %c0 : memref<?xi8>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> i64 {
    %b = memref.load %weights[%i] : memref<?xi8>
    %w = arith.extui %b : i8 to i64
    %t = arith.addi %s, %w : i64
    scf.yield %t : i64
  }
  %y = memref.alloc() : memref<i64>
  memref.store %sum, %y[] : memref<i64>
  return %y : memref<i64>
}
// -----
llvm.mlir.global constant @onyx_manifest("onyx-model 1\0Aentry main_graph\0Aout y tensor<i64>\0A\
hidden weights 0\0Aweights_file 0 w.bin @SIZE@ @FINGERPRINT@\0A\00")
llvm.func @_mlir_ciface_main_graph(!llvm.ptr, !llvm.ptr)
llvm.func @onyx_entry(%args: !llvm.ptr, %results: !llvm.ptr) {
  %weights = llvm.load %args : !llvm.ptr -> !llvm.ptr
  llvm.call @_mlir_ciface_main_graph(%results, %weights) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
