// RUN: %onyx-opt --pass-pipeline='builtin.module(onnx-extract{from=b to=d})' %s | FileCheck --check-prefix=CUT %s
// RUN: %onyx-opt --pass-pipeline='builtin.module(onnx-extract{to=a})' %s | FileCheck --check-prefix=HEAD %s
// RUN: %onyx-opt --pass-pipeline='builtin.module(onnx-extract{from=i to=i})' %s | FileCheck --check-prefix=BODY %s
// RUN: not %onyx-opt --pass-pipeline='builtin.module(onnx-extract{from=b to=z})' %s 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// RUN: not %onyx-opt --pass-pipeline='builtin.module(onnx-extract{from=inner to=i})' %s 2>&1 | FileCheck --check-prefix=INNER %s
// RUN: not %onyx-opt --pass-pipeline='builtin.module(onnx-extract{from=d to=a})' %s 2>&1 | FileCheck --check-prefix=EMPTY %s
// RUN: not %onyx-opt --pass-pipeline='builtin.module(onnx-extract{from=a,i to=b})' %s 2>&1 | FileCheck --check-prefix=LEADS %s
// RUN: not %onyx-opt --pass-pipeline='builtin.module(onnx-extract{from=b})' %s 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: not %onyx-opt --pass-pipeline='builtin.module(onnx-extract{from=b to=o})' %s 2>&1 | FileCheck --check-prefix=OTHER %s
// RUN: not %onyx-opt --pass-pipeline='builtin.module(onnx-extract{to=twice})' %s 2>&1 | FileCheck --check-prefix=TWICE %s

// UNKNOWN: onnx-extract: no function has a node 'z' outside of bodies
// INNER: onnx-extract: no function has a node 'inner' outside of bodies
// EMPTY: (node "a"): onnx-extract: the cut is empty: no way leads here from `from`
// LEADS: (node "i"): onnx-extract: the cut is empty: no way leads from here to `to`
// NONE: onnx-extract: the cut is empty: `to` names no node
// OTHER: (node "o"): onnx-extract: is not in the function of the other nodes
// TWICE: onnx-extract: several nodes are named 'twice' (see set-onnx-node-name)

// The piece compiles: with a = [1 -2] and y = [10 20], b = a * 3 = [3 -6], d = b - y = [-7 -26].
// RUN: %onyx-opt --pass-pipeline='builtin.module(onnx-extract{from=b to=d})' %s -o %t.mlir
// RUN: %onyx-compile %t.mlir -o %t.so -O1
// RUN: %onyx-run %t.so --input '2xf32=10 20' --input '2xf32=1 -2' --expected-output '2xf32=-7 -26'

// y is an argument and comes first, the result of a second; the constants come along, what they
// make (3 = 1 + 2) too. Nothing else is left.
// CUT: func.func @main(%[[Y:.*]]: tensor<2xf32> {onnx.name = "y"}, %[[A:.*]]: tensor<2xf32>) -> tensor<2xf32>
// CUT-DAG: %[[ONE:.*]] = onnx.Constant dense<1.0{{.*}}>
// CUT-DAG: %[[TWO:.*]] = onnx.Constant dense<2.0{{.*}}>
// CUT: %[[THREE:.*]] = "onnx.Add"(%[[ONE]], %[[TWO]])
// CUT-NEXT: %[[B:.*]] = "onnx.Mul"(%[[A]], %[[THREE]])
// CUT-NEXT: %[[D:.*]] = "onnx.Sub"(%[[B]], %[[Y]])
// CUT-NEXT: onnx.Return %[[D]] : tensor<2xf32>
// CUT-NEXT: }
// CUT-NEXT: "onnx.EntryPoint"() {func = @main}
// CUT-NEXT: }

// HEAD: func.func @main(%[[X:.*]]: tensor<2xf32> {onnx.name = "x"}) -> tensor<2xf32>
// HEAD-NEXT: %[[R:.*]] = "onnx.Relu"(%[[X]])
// HEAD-NEXT: onnx.Return %[[R]]

// What a body reads from outside enters too.
// BODY: func.func @main(%[[C:.*]]: tensor<i1> {{.*}}, %[[D:.*]]: tensor<2xf32>) -> tensor<2xf32>
// BODY-NEXT: %[[I:.*]] = "onnx.If"(%[[C]])
// BODY-NEXT: "onnx.Neg"(%[[D]])
// BODY: onnx.Return %[[I]]

func.func @main(%x: tensor<2xf32> {onnx.name = "x"}, %y: tensor<2xf32> {onnx.name = "y"}, %c: tensor<i1> {onnx.name = "c"}) -> (tensor<2xf32> {onnx.name = "out"}) {
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %two = onnx.Constant dense<2.0> : tensor<2xf32>
  %three = "onnx.Add"(%one, %two) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %a = "onnx.Relu"(%x) {onnx_node_name = "a"} : (tensor<2xf32>) -> tensor<2xf32>
  %b = "onnx.Mul"(%a, %three) {onnx_node_name = "b"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d = "onnx.Sub"(%b, %y) {onnx_node_name = "d"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %i = "onnx.If"(%c) ({
    %n = "onnx.Neg"(%d) {onnx_node_name = "inner"} : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %n : tensor<2xf32>
  }, {
    onnx.Yield %d : tensor<2xf32>
  }) {onnx_node_name = "i"} : (tensor<i1>) -> tensor<2xf32>
  onnx.Return %i : tensor<2xf32>
}
func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Abs"(%x) {onnx_node_name = "o"} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "onnx.Abs"(%0) {onnx_node_name = "twice"} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "onnx.Abs"(%1) {onnx_node_name = "twice"} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %2 : tensor<2xf32>
}
"onnx.EntryPoint"() {func = @main} : () -> ()
