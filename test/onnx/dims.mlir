// What is known of `?` dims, and what the passes that use it make of chains that compute sizes.
// RUN: %onyx-opt %s --split-input-file --pass-pipeline='builtin.module(onnx-dim-analysis)' | FileCheck %s --check-prefix=DIM
// RUN: %onyx-opt %s --split-input-file --pass-pipeline='builtin.module(remove-same-onnx-dim)' | FileCheck %s --check-prefix=SAME
// RUN: %onyx-opt %s --split-input-file --pass-pipeline='builtin.module(simplify-shape-related-ops-onnx)' | FileCheck %s --check-prefix=SHAPE

// Two arguments name their first dim alike; the product has it too, and the sum's first dim is its double.
// DIM-LABEL: func.func @named
// DIM: onnx.DimGroup"(%[[A:.*]]) {axis = 0 : si64, group_id = 0 : si64}
// DIM: onnx.DimGroup"(%[[B:.*]]) {axis = 0 : si64, group_id = 0 : si64}
// DIM: onnx.DimGroup"(%[[B]]) {axis = 1 : si64, group_id = 1 : si64}
// DIM: %[[M:.*]] = "onnx.Mul"
// DIM: onnx.DimGroup"(%[[M]]) {axis = 0 : si64, group_id = 0 : si64}
// DIM: onnx.DimGroup"(%[[M]]) {axis = 1 : si64, group_id = 1 : si64}
// DIM: %[[C:.*]] = "onnx.Concat"
// DIM: onnx.DimGroup"(%[[C]]) {axis = 0 : si64, group_id = 2 : si64, relation = "{{.*}}batch{{.*}}"}
func.func @named(%a: tensor<?x1xf32> {onnx.dim_params = "0:batch"}, %b: tensor<?x?xf32> {onnx.dim_params = "0:batch"}) -> tensor<*xf32> {
  %m = "onnx.Mul"(%a, %b) : (tensor<?x1xf32>, tensor<?x?xf32>) -> tensor<*xf32>
  %c = "onnx.Concat"(%m, %b) {axis = 0 : si64} : (tensor<*xf32>, tensor<?x?xf32>) -> tensor<*xf32>
  onnx.Return %c : tensor<*xf32>
}

// -----

// The second Dim gives what the first gave; the third is another axis and stays.
// SAME-LABEL: func.func @same
// SAME: %[[D:.*]] = "onnx.Dim"(%{{.*}}) {axis = 0 : si64}
// SAME-NOT: axis = 0 : si64} : (tensor<?x?xf32>) -> tensor<1xi64>
// SAME: %[[E:.*]] = "onnx.Dim"(%{{.*}}) {axis = 1 : si64}
// SAME: "onnx.Add"(%[[D]], %[[D]])
// SAME: "onnx.Add"(%{{.*}}, %[[E]])
func.func @same(%a: tensor<?x?xf32>) -> tensor<1xi64> {
  %r = "onnx.Relu"(%a) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %0 = "onnx.Dim"(%a) {axis = 0 : si64} : (tensor<?x?xf32>) -> tensor<1xi64>
  %1 = "onnx.Dim"(%r) {axis = 0 : si64} : (tensor<?x?xf32>) -> tensor<1xi64>
  %2 = "onnx.Dim"(%r) {axis = 1 : si64} : (tensor<?x?xf32>) -> tensor<1xi64>
  %3 = "onnx.Add"(%0, %1) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %4 = "onnx.Add"(%3, %2) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  onnx.Return %4 : tensor<1xi64>
}

// -----

// The exporters' chain: both dims stay where they are, the heads are split off.
// SHAPE-LABEL: func.func @heads
// SHAPE-NOT: onnx.Gather
// SHAPE: %[[T:.*]] = onnx.Constant dense<[0, 0, 12, 64]>
// SHAPE: "onnx.Reshape"(%{{.*}}, %[[T]])
func.func @heads(%x: tensor<?x?x768xf32>) -> tensor<?x?x12x64xf32> {
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %heads = onnx.Constant dense<[12, 64]> : tensor<2xi64>
  %s = "onnx.Shape"(%x) : (tensor<?x?x768xf32>) -> tensor<3xi64>
  %b = "onnx.Gather"(%s, %zero) {axis = 0 : si64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %n = "onnx.Gather"(%s, %one) {axis = 0 : si64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %t = "onnx.Concat"(%b, %n, %heads) {axis = 0 : si64} : (tensor<1xi64>, tensor<1xi64>, tensor<2xi64>) -> tensor<4xi64>
  %y = "onnx.Reshape"(%x, %t) : (tensor<?x?x768xf32>, tensor<4xi64>) -> tensor<?x?x12x64xf32>
  onnx.Return %y : tensor<?x?x12x64xf32>
}

// -----

// A dim that stays may be 0 at run time, and -1 beside a 0 cannot be told: this chain stays as it is.
// SHAPE-LABEL: func.func @mixed
// SHAPE: onnx.Mul
// SHAPE-NOT: -1
// SHAPE: onnx.Reshape
func.func @mixed(%x: tensor<?x?x4xf32>) -> tensor<?x?xf32> {
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %four = onnx.Constant dense<4> : tensor<1xi64>
  %s = "onnx.Shape"(%x) : (tensor<?x?x4xf32>) -> tensor<3xi64>
  %b = "onnx.Gather"(%s, %zero) {axis = 0 : si64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %n = "onnx.Gather"(%s, %one) {axis = 0 : si64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %m = "onnx.Mul"(%n, %four) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %t = "onnx.Concat"(%b, %m) {axis = 0 : si64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = "onnx.Reshape"(%x, %t) : (tensor<?x?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  onnx.Return %y : tensor<?x?xf32>
}

// -----

// Known sizes are constants; other sizes are a slice of one Shape.
// SHAPE-LABEL: func.func @expand
// SHAPE-SAME: (%[[X:.*]]: tensor<?x5xf32>, %[[Y:.*]]: tensor<1x5xf32>)
// SHAPE: %[[S:.*]] = "onnx.Shape"(%[[X]]) {end = 1 : si64, start = 0 : si64} : (tensor<?x5xf32>) -> tensor<1xi64>
// SHAPE: %[[F:.*]] = onnx.Constant dense<5> : tensor<1xi64>
// SHAPE: %[[T:.*]] = "onnx.Concat"(%[[S]], %[[F]]) {axis = 0 : si64}
// SHAPE: "onnx.Expand"(%[[Y]], %[[T]])
func.func @expand(%x: tensor<?x5xf32>, %y: tensor<1x5xf32>) -> tensor<?x5xf32> {
  %one = onnx.Constant dense<1> : tensor<2xi64>
  %s = "onnx.Shape"(%x) : (tensor<?x5xf32>) -> tensor<2xi64>
  %t = "onnx.Mul"(%s, %one) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %e = "onnx.Expand"(%y, %t) : (tensor<1x5xf32>, tensor<2xi64>) -> tensor<?x5xf32>
  onnx.Return %e : tensor<?x5xf32>
}
