// Bad data ends in an error that names the node, and the next run works.
// RUN: %onyx-compile %s -o %t.so -O1
// RUN: not %onyx-run %t.so --input '3xf32=1 2 3' --input '1xi64=7' --input '2xi32=6 8' --input '2xi32=2 4' 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not %onyx-run %t.so --input '3xf32=1 2 3' --input '1xi64=1' --input '2xi32=6 8' --input '2xi32=2 0' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: %onyx-run %t.so --input '3xf32=1 2 3' --input '1xi64=-1' --input '2xi32=6 8' --input '2xi32=2 4' --expected-output '1xf32=3' --expected-output '2xi32=3 2'
// INDEX: Gather "pick": index 7 is out of range for size 3
// ZERO: Div "quotient": integer division by zero
func.func @main_graph(%x: tensor<3xf32>, %i: tensor<1xi64>, %a: tensor<2xi32>, %b: tensor<2xi32>) -> (tensor<1xf32>, tensor<2xi32>) {
  %0 = "onnx.Gather"(%x, %i) {axis = 0 : si64, onnx_node_name = "pick"} : (tensor<3xf32>, tensor<1xi64>) -> tensor<1xf32>
  %1 = "onnx.Div"(%a, %b) {onnx_node_name = "quotient"} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  onnx.Return %0, %1 : tensor<1xf32>, tensor<2xi32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
