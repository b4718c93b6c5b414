// Scales and shifts after a convolution go into its weights, and the numbers stay.
// RUN: %onyx-opt --pass-pipeline='builtin.module(canonicalize,constprop-onnx,canonicalize)' %s | FileCheck %s

// CHECK-LABEL: func.func @batch_normalization
func.func @batch_normalization(%x: tensor<1x1x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<[[[[3.0]]], [[[5.0]]]]> : tensor<2x1x1x1xf32>
  %b = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %scale = onnx.Constant dense<[2.0, 6.0]> : tensor<2xf32>
  %shift = onnx.Constant dense<[10.0, 20.0]> : tensor<2xf32>
  %mean = onnx.Constant dense<[0.5, 4.0]> : tensor<2xf32>
  %variance = onnx.Constant dense<[3.0, 8.0]> : tensor<2xf32>
  // s = scale / sqrt(variance + 1) = 2 / 2, 6 / 3 = 1, 2.
  // Weights 3 * 1, 5 * 2; bias (1 - 0.5) * 1 + 10 = 10.5, (2 - 4) * 2 + 20 = 16.
  // CHECK-DAG: %[[W:.*]] = onnx.Constant dense<{{\[\[\[\[}}3.000000e+00]]], {{\[\[\[}}1.000000e+01]]]]> : tensor<2x1x1x1xf32>
  // CHECK-DAG: %[[B:.*]] = onnx.Constant dense<[1.050000e+01, 1.600000e+01]> : tensor<2xf32>
  // CHECK: "onnx.Conv"(%{{.*}}, %[[W]], %[[B]])
  // CHECK-NOT: onnx.BatchNormalization
  %0 = "onnx.Conv"(%x, %w, %b) : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %1, %m, %v = "onnx.BatchNormalization"(%0, %scale, %shift, %mean, %variance) {epsilon = 1.0 : f32} : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x2x2xf32>, none, none)
  return %1 : tensor<1x2x2x2xf32>
}

// CHECK-LABEL: func.func @arithmetic
func.func @arithmetic(%x: tensor<1x1x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<[[[[3.0]]], [[[5.0]]]]> : tensor<2x1x1x1xf32>
  %scale = onnx.Constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %shift = onnx.Constant dense<10.0> : tensor<f32>
  // (x * w) * scale + 10: weights 6, 20; bias 10, 10.
  // CHECK-DAG: %[[W:.*]] = onnx.Constant dense<{{\[\[\[\[}}6.000000e+00]]], {{\[\[\[}}2.000000e+01]]]]> : tensor<2x1x1x1xf32>
  // CHECK-DAG: %[[B:.*]] = onnx.Constant dense<1.000000e+01> : tensor<2xf32>
  // CHECK: "onnx.Conv"(%{{.*}}, %[[W]], %[[B]])
  // CHECK-NEXT: return
  %0 = "onnx.Conv"(%x, %w, %none) : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x2x2xf32>
  %1 = "onnx.Mul"(%0, %scale) : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %2 = "onnx.Add"(%1, %shift) : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}

// A convolution with two users keeps its weights; so does one whose weights come from outside.
// CHECK-LABEL: func.func @kept
func.func @kept(%x: tensor<1x1x2x2xf32>, %v: tensor<2x1x1x1xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<1.0> : tensor<2x1x1x1xf32>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  // CHECK-COUNT-2: onnx.Mul
  %0 = "onnx.Conv"(%x, %w, %none) : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x2x2xf32>
  %1 = "onnx.Mul"(%0, %two) : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
  %2 = "onnx.Conv"(%x, %v, %none) : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x2x2xf32>
  %3 = "onnx.Mul"(%2, %two) : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
  return %0, %1, %3 : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}

// CHECK-LABEL: func.func @gemm
func.func @gemm(%x: tensor<1x1xf32>) -> tensor<1x2xf32> {
  %w = onnx.Constant dense<[[3.0], [5.0]]> : tensor<2x1xf32>
  %b = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %zero = onnx.Constant dense<0.0> : tensor<2xf32>
  %variance = onnx.Constant dense<[3.0, 0.0]> : tensor<2xf32>
  // s = 1 / sqrt(3 + 1), 1 / sqrt(0 + 1) = 0.5, 1.
  // CHECK-DAG: onnx.Constant dense<{{\[\[}}1.500000e+00], [5.000000e+00]]> : tensor<2x1xf32>
  // CHECK-DAG: onnx.Constant dense<[5.000000e-01, 2.000000e+00]> : tensor<2xf32>
  // CHECK-NOT: onnx.BatchNormalization
  %0 = "onnx.Gemm"(%x, %w, %b) {transB = 1 : si64} : (tensor<1x1xf32>, tensor<2x1xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %1 = "onnx.BatchNormalization"(%0, %one, %zero, %zero, %variance) {epsilon = 1.0 : f32} : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}
