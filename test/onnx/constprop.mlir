// RUN: %onyx-opt -split-input-file --pass-pipeline='builtin.module(constprop-onnx)' %s | FileCheck %s
// RUN: %onyx-opt -split-input-file --pass-pipeline='builtin.module(constprop-onnx{max-elements=1})' %s | FileCheck --check-prefix=SMALL %s

// CHECK-LABEL: func.func @arithmetic
// SMALL-LABEL: func.func @arithmetic
func.func @arithmetic() -> tensor<2xf32> {
  %a = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = onnx.Constant dense<0.5> : tensor<f32>
  // (1 + 0.5) * 1 and (2 + 0.5) * 2
  // CHECK-NEXT: %[[C:.*]] = onnx.Constant dense<[1.500000e+00, 5.000000e+00]> : tensor<2xf32>
  // CHECK-NEXT: return %[[C]]
  // SMALL: onnx.Add
  %0 = "onnx.Add"(%a, %b) : (tensor<2xf32>, tensor<f32>) -> tensor<*xf32>
  %1 = "onnx.Mul"(%0, %a) : (tensor<*xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// Shape data: the elements of the target are known though the batch is not.
// CHECK-LABEL: func.func @shape
func.func @shape(%x: tensor<4x?x5xf32>) -> (tensor<1xi64>, tensor<i64>) {
  %i = onnx.Constant dense<[0, 2]> : tensor<2xi64>
  %s = "onnx.Shape"(%x) : (tensor<4x?x5xf32>) -> tensor<3xi64>
  %g = "onnx.Gather"(%s, %i) {axis = 0 : si64} : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
  // CHECK-DAG: %[[PRODUCT:.*]] = onnx.Constant dense<20> : tensor<1xi64>
  %none = "onnx.NoValue"() {value} : () -> none
  %p = "onnx.ReduceProd"(%g, %none) : (tensor<2xi64>, none) -> tensor<1xi64>
  // CHECK-DAG: %[[EDGE:.*]] = onnx.Constant dense<5> : tensor<i64>
  %last = onnx.Constant dense<-1> : tensor<i64>
  %e = "onnx.Gather"(%s, %last) {axis = 0 : si64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  // CHECK: return %[[PRODUCT]], %[[EDGE]]
  return %p, %e : tensor<1xi64>, tensor<i64>
}

// -----

// Bool, small integers and renamed storage keep their elements.
// CHECK-LABEL: func.func @kinds
func.func @kinds() -> (tensor<3xi1>, tensor<2x2xi4>, tensor<2xi8>, tensor<2xui8>) {
  // CHECK-DAG: dense<[true, false, true]> : tensor<3xi1>
  %a = onnx.Constant dense<[1, 5, 1]> : tensor<3xi32>
  %b = onnx.Constant dense<[2, 5, 3]> : tensor<3xi32>
  %0 = "onnx.Less"(%a, %b) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  // CHECK-DAG: dense<{{\[}}[-8, 7], [1, -1]]> : tensor<2x2xi4>
  %c = onnx.Constant dense<[-8, 7, 1, -1]> : tensor<4xi4>
  %t = onnx.Constant dense<2> : tensor<2xi64>
  %1 = "onnx.Reshape"(%c, %t) : (tensor<4xi4>, tensor<2xi64>) -> tensor<2x2xi4>
  // 300 saturates nowhere: an integer cast wraps, 300 - 256 = 44.
  // CHECK-DAG: dense<[44, -1]> : tensor<2xi8>
  %d = onnx.Constant dense<[300, -1]> : tensor<2xi32>
  %2 = "onnx.Cast"(%d) {to = i8} : (tensor<2xi32>) -> tensor<2xi8>
  // CHECK-DAG: dense<[44, 255]> : tensor<2xui8>
  %3 = "onnx.Cast"(%d) {to = ui8} : (tensor<2xi32>) -> tensor<2xui8>
  return %0, %1, %2, %3 : tensor<3xi1>, tensor<2x2xi4>, tensor<2xi8>, tensor<2xui8>
}

// -----

// A division by zero is left to the run, which reports it; random numbers are drawn there.
// CHECK-LABEL: func.func @left
func.func @left() -> (tensor<1xi32>, tensor<2xf32>) {
  %a = onnx.Constant dense<1> : tensor<1xi32>
  %z = onnx.Constant dense<0> : tensor<1xi32>
  // CHECK: "onnx.Div"
  %0 = "onnx.Div"(%a, %z) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  // CHECK: "onnx.RandomNormal"
  %1 = "onnx.RandomNormal"() {shape = [2]} : () -> tensor<2xf32>
  return %0, %1 : tensor<1xi32>, tensor<2xf32>
}

// -----

// Inside branches too.
// CHECK-LABEL: func.func @branch
func.func @branch(%c: tensor<i1>) -> tensor<1xf32> {
  %a = onnx.Constant dense<1.0> : tensor<1xf32>
  %0 = "onnx.If"(%c) ({
    // CHECK: onnx.Constant dense<2.000000e+00> : tensor<1xf32>
    // CHECK-NEXT: onnx.Yield
    %1 = "onnx.Add"(%a, %a) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    onnx.Yield %1 : tensor<1xf32>
  }, {
    onnx.Yield %a : tensor<1xf32>
  }) : (tensor<i1>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
