// Text that is printed is text that is read: own syntax, types, attributes.
// RUN: %onyx-opt %s | FileCheck %s
// RUN: %onyx-opt %s | %onyx-opt | FileCheck %s
// RUN: %onyx-opt -mlir-print-op-generic %s | %onyx-opt | FileCheck %s
// RUN: %onyx-opt -emit-bytecode %s | %onyx-opt | FileCheck %s

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK: onnx.Constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: onnx.Constant {onnx_node_name = "c"} dense<1> : tensor<i64>
  %1 = onnx.Constant {onnx_node_name = "c"} dense<1> : tensor<i64>
  // CHECK: onnx.Constant {value_int = 1 : si64} : tensor<i64>
  %2 = onnx.Constant {value_int = 1 : si64} : tensor<i64>
  // CHECK: onnx.Constant {value_floats = [1.000000e+00 : f32, 2.000000e+00 : f32]} : tensor<2xf32>
  %3 = onnx.Constant {value_floats = [1.0 : f32, 2.0 : f32]} : tensor<2xf32>
  // CHECK: onnx.Constant #onnx.file<"m.onnx", 128, 4096> : tensor<32x32xf32>
  %4 = onnx.Constant #onnx.file<"m.onnx", 128, 4096> : tensor<32x32xf32>
  // CHECK: onnx.Constant {value = dense<1.000000e+00> : tensor<2xf32>} : tensor<*xf32>
  %5 = onnx.Constant {value = dense<1.0> : tensor<2xf32>} : tensor<*xf32>
  // CHECK: onnx.Constant dense<["a", "b"]> : tensor<2x!onnx.String>
  %6 = onnx.Constant dense<["a", "b"]> : tensor<2x!onnx.String>
  // CHECK: onnx.Constant #onnx.file<"w \22x\22.data", 3, 2> : tensor<4xi4>
  %7 = onnx.Constant #onnx.file<"w \22x\22.data", 3, 2> : tensor<4xi4>
  // CHECK: onnx.Constant dense<[true, false, true]> : tensor<3xi1>
  %8 = onnx.Constant dense<[true, false, true]> : tensor<3xi1>
  // CHECK: onnx.Constant dense<[1, -2, -1]> : tensor<3xi2>
  %9 = onnx.Constant dense<[1, -2, -1]> : tensor<3xi2>
  // CHECK: "onnx.NoValue"() {value} : () -> none
  %10 = "onnx.NoValue"() {value} : () -> none
  return
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%s: tensor<2xi64>, %x: tensor<?x3xf32>) -> (tensor<?x?xf32>, tensor<1xi64>) {
  // CHECK: onnx.ConstantOfShape(%{{.*}}) {value = dense<0.000000e+00> : tensor<1xf32>} : (tensor<2xi64>) -> tensor<?x?xf32>
  %0 = onnx.ConstantOfShape(%s) {value = dense<0.0> : tensor<1xf32>} : (tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: "onnx.Dim"(%{{.*}}) {axis = 0 : si64} : (tensor<?x3xf32>) -> tensor<1xi64>
  %1 = "onnx.Dim"(%x) {axis = 0 : si64} : (tensor<?x3xf32>) -> tensor<1xi64>
  // CHECK: "onnx.DimGroup"(%{{.*}}) {axis = 0 : si64, group_id = 3 : si64} : (tensor<?x3xf32>) -> ()
  "onnx.DimGroup"(%x) {axis = 0 : si64, group_id = 3 : si64} : (tensor<?x3xf32>) -> ()
  // CHECK: onnx.Return %{{.*}}, %{{.*}} : tensor<?x?xf32>, tensor<1xi64>
  onnx.Return %0, %1 : tensor<?x?xf32>, tensor<1xi64>
}

// CHECK-LABEL: func.func @containers
// CHECK-SAME: !onnx.Seq<tensor<*xf32>>
// CHECK-SAME: !onnx.Opt<!onnx.Seq<tensor<?xi64>>>
// CHECK-SAME: !onnx.Map<!onnx.String, f32>
// CHECK-SAME: tensor<2x!onnx.String>
func.func @containers(%0: !onnx.Seq<tensor<*xf32>>, %1: !onnx.Opt<!onnx.Seq<tensor<?xi64>>>,
                      %2: !onnx.Map<!onnx.String, f32>, %3: tensor<2x!onnx.String>) {
  // CHECK: onnx.Return{{$}}
  onnx.Return
}

// CHECK-LABEL: func.func @elements
// CHECK-SAME: tensor<1xi2>, %{{.*}}: tensor<1xui2>, %{{.*}}: tensor<1xi4>, %{{.*}}: tensor<1xui4>
// CHECK-SAME: tensor<1xf4E2M1FN>, %{{.*}}: tensor<1xf8E8M0FNU>, %{{.*}}: tensor<1xf8E5M2FNUZ>
func.func @elements(%0: tensor<1xi2>, %1: tensor<1xui2>, %2: tensor<1xi4>, %3: tensor<1xui4>, %4: tensor<1xf4E2M1FN>,
                    %5: tensor<1xf8E8M0FNU>, %6: tensor<1xf8E5M2FNUZ>) -> tensor<1xf32> {
  // CHECK: "onnx.Cast"(%{{.*}}) {to = f32} : (tensor<1xi2>) -> tensor<1xf32>
  %c = "onnx.Cast"(%0) {to = f32} : (tensor<1xi2>) -> tensor<1xf32>
  return %c : tensor<1xf32>
}

// CHECK-LABEL: func.func @regions
func.func @regions(%c: tensor<i1>, %x: tensor<2xf32>, %n: tensor<i64>) -> (tensor<2xf32>, tensor<*xf32>) {
  // CHECK: "onnx.If"(%{{.*}}) ({
  // CHECK:   onnx.Yield %{{.*}} : tensor<2xf32>
  // CHECK: }, {
  %0 = "onnx.If"(%c) ({
    onnx.Yield %x : tensor<2xf32>
  }, {
    %1 = "onnx.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %1 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  // CHECK: "onnx.Loop"
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<*xf32>):
  %2 = "onnx.Loop"(%n, %c, %x) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %a: tensor<*xf32>):
    %3 = "onnx.Add"(%a, %a) {onnx_node_name = "add"} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield %cond, %3 : tensor<i1>, tensor<*xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<*xf32>
  return %0, %2 : tensor<2xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @helpers
func.func @helpers(%x: tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32> {
  // CHECK: "onnx.LayoutTransform"(%{{.*}}) {target_layout = "NCHW16C"} : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32, #onnx.layout<{dataLayout = "NCHW16C"}>>
  %0 = "onnx.LayoutTransform"(%x) {target_layout = "NCHW16C"} : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32, #onnx.layout<{dataLayout = "NCHW16C"}>>
  // CHECK: "onnx.Custom"(%{{.*}}) {alpha = 5.000000e-01 : f32, domain_name = "com.microsoft", function_name = "BiasGelu"}
  %1 = "onnx.Custom"(%x, %x) {domain_name = "com.microsoft", function_name = "BiasGelu", alpha = 0.5 : f32} : (tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
  // CHECK: "onnx.Fused"(%{{.*}}) ({
  // CHECK-NEXT: ^bb0
  // CHECK: }) {kind = "elementwise"}
  %2 = "onnx.Fused"(%1) ({
  ^bb0(%a: tensor<1x16x4x4xf32>):
    %3 = "onnx.Relu"(%a) : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
    onnx.Yield %3 : tensor<1x16x4x4xf32>
  }) {kind = "elementwise"} : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
  // CHECK: "onnx.MaxPoolSingleOut"
  %4 = "onnx.MaxPoolSingleOut"(%2) {kernel_shape = [2, 2]} : (tensor<1x16x4x4xf32>) -> tensor<*xf32>
  return %2 : tensor<1x16x4x4xf32>
}

// CHECK: "onnx.EntryPoint"() {func = @shapes} : () -> ()
"onnx.EntryPoint"() {func = @shapes} : () -> ()
