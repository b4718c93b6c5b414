// y = x + w + c: w is read in place from byte 8 of the weights file, c stands at byte 3, which no f32
// may be read from, and is copied by init into the constants block.
func.func @main_graph_init(%status: memref<4xi64>, %weights: memref<?xi8>, %constants: memref<?xi8>)
    attributes {llvm.emit_c_interface} {
  %from = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bytes = arith.constant 4 : index
  scf.for %i = %c0 to %bytes step %c1 {
    %j = arith.addi %i, %from : index
    %b = memref.load %weights[%j] : memref<?xi8>
    memref.store %b, %constants[%i] : memref<?xi8>
  }
  return
}
func.func @main_graph(%x: memref<2xf32>, %weights: memref<?xi8>, %constants: memref<?xi8>) -> memref<2xf32>
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %at = arith.constant 8 : index
  %w = memref.view %weights[%at][] : memref<?xi8> to memref<2xf32>
  %c = memref.view %constants[%c0][] : memref<?xi8> to memref<1xf32>
  %k = memref.load %c[%c0] : memref<1xf32>
  %y = memref.alloc() : memref<2xf32>
  affine.for %i = 0 to 2 {
    %a = affine.load %x[%i] : memref<2xf32>
    %b = affine.load %w[%i] : memref<2xf32>
    %s = arith.addf %a, %b : f32
    %t = arith.addf %s, %k : f32
    affine.store %t, %y[%i] : memref<2xf32>
  }
  return %y : memref<2xf32>
}
// -----
llvm.mlir.global constant @onyx_manifest("onyx-model 1\0Aentry main_graph\0Ain x tensor<2xf32>\0Aout y tensor<2xf32>\0A\
hidden weights 0\0Ahidden constants 4\0Ainit main_graph_init\0Ainit-hidden status\0Ainit-hidden weights 0\0A\
init-hidden constants 4\0Aweights_file 0 w.bin 16 @FINGERPRINT@\0A\00")
llvm.func @_mlir_ciface_main_graph(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
llvm.func @_mlir_ciface_main_graph_init(!llvm.ptr, !llvm.ptr, !llvm.ptr)
llvm.func @onyx_entry(%args: !llvm.ptr, %results: !llvm.ptr) {
  %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p1 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %weights = llvm.load %p1 : !llvm.ptr -> !llvm.ptr
  %p2 = llvm.getelementptr %args[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %constants = llvm.load %p2 : !llvm.ptr -> !llvm.ptr
  llvm.call @_mlir_ciface_main_graph(%results, %x, %weights, %constants)
      : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
llvm.func @onyx_init(%args: !llvm.ptr, %results: !llvm.ptr) {
  %status = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p1 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %weights = llvm.load %p1 : !llvm.ptr -> !llvm.ptr
  %p2 = llvm.getelementptr %args[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %constants = llvm.load %p2 : !llvm.ptr -> !llvm.ptr
  llvm.call @_mlir_ciface_main_graph_init(%status, %weights, %constants) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
