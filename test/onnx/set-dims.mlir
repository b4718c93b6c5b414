// onnx-set-dims and onnx-make-dynamic.
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(onnx-set-dims{dims=batch=4},shape-inference)' | FileCheck %s --check-prefix=SET
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(onnx-set-dims{dims=batch=4,seq=7},shape-inference)' | FileCheck %s --check-prefix=BOTH
// RUN: not %onyx-opt %s --pass-pipeline='builtin.module(onnx-set-dims{dims=bach=4})' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not %onyx-opt %s --pass-pipeline='builtin.module(onnx-set-dims{dims=batch})' 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not %onyx-opt %s --pass-pipeline='builtin.module(onnx-set-dims)' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(onnx-set-dims{dims=batch=4,seq=7},shape-inference,onnx-make-dynamic,shape-inference)' | FileCheck %s --check-prefix=AGAIN
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(onnx-make-dynamic{axis=-1},shape-inference)' | FileCheck %s --check-prefix=ALL

// SET: func.func @main_graph(%{{.*}}: tensor<4x?x8xf32> {{.*}}) -> tensor<4x?x8xf32>
// BOTH: func.func @main_graph(%{{.*}}: tensor<4x7x8xf32> {{.*}}) -> tensor<4x7x8xf32>
// NAME: onnx-set-dims: no argument has a dim named 'bach'
// FORM: onnx-set-dims: expected NAME=N, found 'batch'
// NONE: onnx-set-dims: expected dims=NAME=N,...
// AGAIN: func.func @main_graph(%{{.*}}: tensor<?x7x8xf32> {{.*}}) -> tensor<?x7x8xf32>
// AGAIN: "onnx.Relu"(%{{.*}}) : (tensor<?x7x8xf32>) -> tensor<?x7x8xf32>
// ALL: func.func @main_graph(%{{.*}}: tensor<?x?x?xf32> {{.*}}) -> tensor<?x?x?xf32>
func.func @main_graph(%x: tensor<?x?x8xf32> {onnx.dim_params = "0:batch,1:seq"}) -> tensor<?x?x8xf32> {
  %y = "onnx.Relu"(%x) : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  onnx.Return %y : tensor<?x?x8xf32>
}
