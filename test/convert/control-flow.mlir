// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-onnx-to-krnl,canonicalize)' | FileCheck %s
// RUN: %onyx-compile %s -o %t.so -O1
// x doubles three times and every value on the way is collected: 2 4 8, and 8 > 5 picks the negation.
// RUN: %onyx-run %t.so --input '1xf32=1' --input 'i64=3' --expected-output '1xf32=-8' --expected-output '3x1xf32=2 4 8'
// No turn at all: the value stays, nothing is collected.
// RUN: %onyx-run %t.so --input '1xf32=1' --input 'i64=0' --expected-output '1xf32=1' --expected-output '0x1xf32='

// What a turn is given belongs to it, and it gives buffers of its own to the next; nests inside are scopes.
// CHECK-LABEL: func.func @main_graph(
// CHECK:         scf.while
// CHECK:           scf.condition
// CHECK:           "krnl.region"
// CHECK:           memref.dealloc
// CHECK:           scf.yield
// CHECK:         scf.if
func.func @main_graph(%x: tensor<1xf32>, %m: tensor<i64>) -> (tensor<1xf32>, tensor<?x1xf32>) {
  %n = "onnx.NoValue"() {value} : () -> none
  %0:2 = "onnx.Loop"(%m, %n, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<1xf32>):
    %d = "onnx.Add"(%v, %v) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    onnx.Yield %c, %d, %d : tensor<i1>, tensor<1xf32>, tensor<1xf32>
  }) : (tensor<i64>, none, tensor<1xf32>) -> (tensor<1xf32>, tensor<?x1xf32>)
  %five = onnx.Constant dense<5.0> : tensor<1xf32>
  %big = "onnx.Greater"(%0#0, %five) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
  %1 = "onnx.If"(%big) ({
    %neg = "onnx.Neg"(%0#0) : (tensor<1xf32>) -> tensor<1xf32>
    onnx.Yield %neg : tensor<1xf32>
  }, {
    onnx.Yield %0#0 : tensor<1xf32>
  }) : (tensor<1xi1>) -> tensor<1xf32>
  onnx.Return %1, %0#1 : tensor<1xf32>, tensor<?x1xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
