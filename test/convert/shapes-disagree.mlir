// Shapes that should agree may not: no loop runs past a buffer, and the status says what was found.
// RUN: %onyx-compile %s -o %t.so -O1
// RUN: %onyx-run %t.so --input '2x2xf32=1 2 3 4' --input '1x2xf32=10 20' --expected-output '2x2xf32=11 22 13 24'
// RUN: not %onyx-run %t.so --input '2x2xf32=1 2 3 4' --input '3x2xf32=1 2 3 4 5 6' 2>&1 | FileCheck %s
// CHECK: Add "sum": shapes do not agree: found dimension 3, expected 2
func.func @main_graph(%a: tensor<?x2xf32>, %b: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = "onnx.Add"(%a, %b) {onnx_node_name = "sum"} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  onnx.Return %0 : tensor<?x2xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
