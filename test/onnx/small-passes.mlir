// RUN: %onyx-opt --pass-pipeline='builtin.module(set-onnx-node-name)' %s | FileCheck --check-prefix=NAME %s
// RUN: %onyx-opt --pass-pipeline='builtin.module(standard-func-return)' %s | FileCheck --check-prefix=RETURN %s
// RUN: %onyx-opt --pass-pipeline='builtin.module(func.func(standard-func-return))' %s | FileCheck --check-prefix=RETURN %s
// RUN: not %onyx-opt --pass-pipeline='builtin.module(onnx-pre-krnl-verify)' %s 2>&1 | FileCheck --check-prefix=VERIFY %s
// RUN: %onyx-opt --canonicalize %s | FileCheck --check-prefix=CANON %s

// NAME-LABEL: func.func @f
// RETURN-LABEL: func.func @f
// RETURN-SAME: -> tensor<*xf32>
// CANON-LABEL: func.func @f
func.func @f(%x: tensor<2xf32>) -> tensor<?xf32> {
  // NAME: "onnx.Relu"(%{{.*}}) {onnx_node_name = "a"}
  %0 = "onnx.Relu"(%x) {onnx_node_name = "a"} : (tensor<2xf32>) -> tensor<*xf32>
  // A name that is taken, and one that would be made up next, are passed over.
  // NAME: "onnx.Abs"(%{{.*}}) {onnx_node_name = "a_1"}
  %1 = "onnx.Abs"(%0) {onnx_node_name = "a"} : (tensor<*xf32>) -> tensor<*xf32>
  // NAME: "onnx.Neg"(%{{.*}}) {onnx_node_name = "a_0"}
  %2 = "onnx.Neg"(%1) {onnx_node_name = "a_0"} : (tensor<*xf32>) -> tensor<*xf32>
  // NAME: "onnx.Exp"(%{{.*}}) {onnx_node_name = "onnx.Exp_2"}
  %3 = "onnx.Exp"(%2) : (tensor<*xf32>) -> tensor<*xf32>
  // CANON-NOT: onnx.Identity
  // CANON-NOT: onnx.Cast
  // CANON-NOT: onnx.Log
  %4 = "onnx.Identity"(%3) : (tensor<*xf32>) -> tensor<*xf32>
  %5 = "onnx.Cast"(%4) {to = f32} : (tensor<*xf32>) -> tensor<*xf32>
  %dead = "onnx.Log"(%5) : (tensor<*xf32>) -> tensor<*xf32>
  // RETURN: return %{{.*}} : tensor<*xf32>
  // RETURN-NOT: onnx.Return
  onnx.Return %5 : tensor<*xf32>
}

// VERIFY: 'onnx.Relu' op (node "a"): result 0: expected a ranked tensor, found an unranked one
// VERIFY: 'onnx.Exp' op operand 0: expected a ranked tensor, found an unranked one
