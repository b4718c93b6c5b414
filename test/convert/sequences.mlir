// A sequence is its elements' data and a table; both are memrefs of the function's own.
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-onnx-to-krnl,canonicalize)' | FileCheck %s
// RUN: %onyx-compile %s -o %t.so -O1
// RUN: %onyx-run %t.so --input '2x2xf32=1 2 3 4' --input '3xf32=5 6 7' --input 'i64=-1' --expected-output '3xf32=5 6 7' --expected-output 'i64=3'
// RUN: not %onyx-run %t.so --input '2x2xf32=1 2 3 4' --input '3xf32=5 6 7' --input 'i64=9' 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: SequenceAt "last": index 9 is out of range for size 3
// CHECK-LABEL: func.func @main_graph(
// CHECK:         memref.alloc() {alignment = 64 : i64} : memref<2x10xi64>
// CHECK:         call @onyx_fail
func.func @main_graph(%a: tensor<2x2xf32>, %b: tensor<3xf32>, %i: tensor<i64>) -> (tensor<?xf32>, tensor<i64>) {
  %0 = "onnx.SequenceConstruct"(%a, %a) : (tensor<2x2xf32>, tensor<2x2xf32>) -> !onnx.Seq<tensor<*xf32>>
  %n = "onnx.NoValue"() {value} : () -> none
  %1 = "onnx.SequenceInsert"(%0, %b, %n) : (!onnx.Seq<tensor<*xf32>>, tensor<3xf32>, none) -> !onnx.Seq<tensor<*xf32>>
  %2 = "onnx.SequenceAt"(%1, %i) {onnx_node_name = "last"} : (!onnx.Seq<tensor<*xf32>>, tensor<i64>) -> tensor<?xf32>
  %3 = "onnx.SequenceLength"(%1) : (!onnx.Seq<tensor<*xf32>>) -> tensor<i64>
  onnx.Return %2, %3 : tensor<?xf32>, tensor<i64>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
