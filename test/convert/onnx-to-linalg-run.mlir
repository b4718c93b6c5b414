// Right numbers through stock bufferization and the JIT of MLIR: the comprehension is data, not krnl in disguise.
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-onnx-to-linalg,canonicalize,cse,one-shot-bufferize{bufferize-function-boundaries},convert-linalg-to-loops,convert-scf-to-cf,lower-affine,expand-strided-metadata,lower-affine,finalize-memref-to-llvm,convert-math-to-llvm,convert-math-to-libm,convert-arith-to-llvm,convert-index-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts)' | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_runner_utils.so,/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so | FileCheck %s

func.func private @printMemrefF32(tensor<*xf32>)

// x = [[1, -2, 3], [-4, 5, -6]]
func.func private @relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %0 : tensor<2x3xf32>
}
func.func private @add(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %b = onnx.Constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %0 = "onnx.Add"(%x, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  onnx.Return %0 : tensor<2x3xf32>
}
func.func private @sum(%x: tensor<2x3xf32>) -> tensor<2x1xf32> {
  %axes = onnx.Constant dense<1> : tensor<1xi64>
  %0 = "onnx.ReduceSum"(%x, %axes) {keepdims = 1 : si64} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  onnx.Return %0 : tensor<2x1xf32>
}
func.func private @transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = "onnx.Transpose"(%x) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  onnx.Return %0 : tensor<3x2xf32>
}
func.func private @gram(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %t = "onnx.Transpose"(%x) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %0 = "onnx.MatMul"(%x, %t) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  onnx.Return %0 : tensor<2x2xf32>
}
func.func private @conv(%x: tensor<2x3xf32>) -> tensor<1x1x2x3xf32> {
  %n = "onnx.NoValue"() {value} : () -> none
  %s = onnx.Constant dense<[1, 1, 2, 3]> : tensor<4xi64>
  %w = onnx.Constant dense<1.0> : tensor<1x1x3x3xf32>
  %i = "onnx.Reshape"(%x, %s) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<1x1x2x3xf32>
  %0 = "onnx.Conv"(%i, %w, %n) {pads = [1, 1, 1, 1], kernel_shape = [3, 3]} : (tensor<1x1x2x3xf32>, tensor<1x1x3x3xf32>, none) -> tensor<1x1x2x3xf32>
  onnx.Return %0 : tensor<1x1x2x3xf32>
}
func.func private @pool(%x: tensor<2x3xf32>) -> tensor<1x1x1x2xf32> {
  %s = onnx.Constant dense<[1, 1, 2, 3]> : tensor<4xi64>
  %i = "onnx.Reshape"(%x, %s) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<1x1x2x3xf32>
  %0, %1 = "onnx.MaxPool"(%i) {kernel_shape = [2, 2]} : (tensor<1x1x2x3xf32>) -> (tensor<1x1x1x2xf32>, none)
  onnx.Return %0 : tensor<1x1x1x2xf32>
}
func.func private @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %z = onnx.Constant dense<0.0> : tensor<2x3xf32>
  %y = "onnx.Mul"(%x, %z) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = "onnx.Softmax"(%y) {axis = -1 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %0 : tensor<2x3xf32>
}

func.func @main() {
  %x = arith.constant dense<[[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]]> : tensor<2x3xf32>
  // CHECK: [1, 0, 3]
  // CHECK-NEXT: [0, 5, 0]
  %0 = call @relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %u0 = tensor.cast %0 : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u0) : (tensor<*xf32>) -> ()
  // CHECK: [11, 18, 33]
  // CHECK-NEXT: [6, 25, 24]
  %1 = call @add(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %u1 = tensor.cast %1 : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u1) : (tensor<*xf32>) -> ()
  // 1 - 2 + 3 and -4 + 5 - 6
  // CHECK: [2]
  // CHECK-NEXT: [-5]
  %2 = call @sum(%x) : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %u2 = tensor.cast %2 : tensor<2x1xf32> to tensor<*xf32>
  call @printMemrefF32(%u2) : (tensor<*xf32>) -> ()
  // CHECK: [1, -4]
  // CHECK-NEXT: [-2, 5]
  // CHECK-NEXT: [3, -6]
  %3 = call @transpose(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %u3 = tensor.cast %3 : tensor<3x2xf32> to tensor<*xf32>
  call @printMemrefF32(%u3) : (tensor<*xf32>) -> ()
  // 1 + 4 + 9 = 14; -4 - 10 - 18 = -32; 16 + 25 + 36 = 77
  // CHECK: [14, -32]
  // CHECK-NEXT: [-32, 77]
  %4 = call @gram(%x) : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %u4 = tensor.cast %4 : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%u4) : (tensor<*xf32>) -> ()
  // Columns sum to -3, 3, -3: windows of two, three and two columns
  // CHECK: [0, -3, 0]
  // CHECK-NEXT: [0, -3, 0]
  %5 = call @conv(%x) : (tensor<2x3xf32>) -> tensor<1x1x2x3xf32>
  %u5 = tensor.cast %5 : tensor<1x1x2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u5) : (tensor<*xf32>) -> ()
  // CHECK: [5, 5]
  %6 = call @pool(%x) : (tensor<2x3xf32>) -> tensor<1x1x1x2xf32>
  %u6 = tensor.cast %6 : tensor<1x1x1x2xf32> to tensor<*xf32>
  call @printMemrefF32(%u6) : (tensor<*xf32>) -> ()
  // CHECK: [0.333333, 0.333333, 0.333333]
  // CHECK-NEXT: [0.333333, 0.333333, 0.333333]
  %7 = call @softmax(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %u7 = tensor.cast %7 : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u7) : (tensor<*xf32>) -> ()
  return
}
