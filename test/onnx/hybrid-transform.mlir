// RUN: %onyx-opt --pass-pipeline='builtin.module(onnx-hybrid-transform{report=%t.json})' %s | FileCheck %s
// RUN: FileCheck --check-prefix=REPORT %s < %t.json

// REPORT-DAG: "FastGelu":{{ *}}1
// REPORT-DAG: "transpose-of-transpose":{{ *}}1
// REPORT-DAG: "transpose-identity":{{ *}}1

// CHECK-LABEL: func.func @f
// CHECK-NEXT: "onnx.Gelu"(%arg0) {approximate = "tanh"}
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "onnx.Transpose"(%x) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = "onnx.Transpose"(%0) {perm = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = "onnx.Custom"(%1) {domain_name = "com.microsoft", function_name = "FastGelu"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
