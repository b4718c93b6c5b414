// What the generated tests of the schema's rules do not reach: helper ops, attributes, types, regions.
// RUN: %onyx-opt -verify-diagnostics -split-input-file %s

func.func @named(%x: tensor<3xi32>) {
  // expected-error @+1 {{'onnx.Sqrt' op (node "root"): operand 0 'X': expected a tensor of bf16, f64, f32 or f16, found 'tensor<3xi32>'}}
  %0 = "onnx.Sqrt"(%x) {onnx_node_name = "root"} : (tensor<3xi32>) -> tensor<3xi32>
  return
}

// -----

func.func @constrained(%x: tensor<3xf32>, %y: tensor<3xf64>) {
  // expected-error @+1 {{operand 1 'B': expected the type of operand 0 'A' (constraint T), 'tensor<3xf32>', found 'tensor<3xf64>'}}
  %0 = "onnx.Add"(%x, %y) : (tensor<3xf32>, tensor<3xf64>) -> tensor<3xf32>
  return
}

// -----

func.func @prefixed(%x: tensor<3xf32>) {
  %0 = "onnx.Relu"(%x) {onyx.tile = {mr = 8}, onnx_node_name = "r"} : (tensor<3xf32>) -> tensor<3xf32>
  // expected-error @+1 {{unknown attribute 'alpha'}}
  %1 = "onnx.Relu"(%x) {alpha = 1.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @elem_type(%x: tensor<3xf32>) {
  %0 = "onnx.Cast"(%x) {to = i64} : (tensor<3xf32>) -> tensor<3xi64>
  // expected-error @+1 {{attribute 'to': expected an element type such as f32, found 'index'}}
  %1 = "onnx.Cast"(%x) {to = index} : (tensor<3xf32>) -> tensor<3xi64>
  return
}

// -----

func.func @constant() {
  // expected-error @+1 {{expected one of value, value_int, value_ints, value_float, value_floats, value_string, value_strings and sparse_value, found 2}}
  %0 = onnx.Constant {value_int = 1 : si64, value_float = 1.0 : f32} : tensor<i64>
  return
}

// -----

func.func @constant_type() {
  // expected-error @+1 {{result 0 'output': expected 'tensor<2xi64>', the type of its value, found 'tensor<3xi64>'}}
  %0 = onnx.Constant {value = dense<[1, 2]> : tensor<2xi64>} : tensor<3xi64>
  return
}

// -----

func.func @constant_vector() {
  // expected-error @+1 {{expected an elements attribute of tensor type}}
  %0 = onnx.Constant dense<[1, 2]> : vector<2xi64>
  return
}

// -----

func.func @file_size() {
  // expected-error @+1 {{#onnx.file: expected 8 bytes for this type, found 7}}
  %0 = onnx.Constant #onnx.file<"m.onnx", 0, 7> : tensor<2xf32>
  return
}

// -----

func.func @file_range() {
  // expected-error @+1 {{#onnx.file: offset -4 and size 8 are no range of a file}}
  %0 = onnx.Constant #onnx.file<"m.onnx", -4, 8> : tensor<2xf32>
  return
}

// -----

func.func @file_shape() {
  // expected-error @+1 {{#onnx.file: expected a tensor type of static shape}}
  %0 = onnx.Constant #onnx.file<"m.onnx", 0, 8> : tensor<?xf32>
  return
}

// -----

func.func @file_name() {
  // expected-error @+1 {{#onnx.file: expected the name of a file, found ""}}
  %0 = onnx.Constant #onnx.file<"", 0, 8> : tensor<2xf32>
  return
}

// -----

// expected-error @+1 {{!onnx.Seq: expected a tensor, sequence, optional or map type inside}}
func.func @seq(%x: !onnx.Seq<f32>) { return }

// -----

// expected-error @+1 {{!onnx.Map: expected an integer or string key type}}
func.func @map(%x: !onnx.Map<f32, f32>) { return }

// -----

// expected-error @+1 {{#onnx.layout: expected {dataLayout = "..."}}}
func.func @layout(%x: tensor<1x16x4x4xf32, #onnx.layout<{}>>) { return }

// -----

func.func @if_yield(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{region 1: expected 1 yielded value(s), found 2}}
  %0 = "onnx.If"(%c) ({
    onnx.Yield %x : tensor<2xf32>
  }, {
    onnx.Yield %x, %x : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @if_empty(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{region 1: expected one block}}
  %0 = "onnx.If"(%c) ({
    onnx.Yield %x : tensor<2xf32>
  }, {
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @loop_arguments(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{region 0: expected 3 argument(s), found 2}}
  %0 = "onnx.Loop"(%n, %c, %x) ({
  ^bb0(%i: tensor<i64>, %d: tensor<i1>):
    onnx.Yield %d, %x : tensor<i1>, tensor<2xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @loop_results(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{expected at least 2 results, one for each carried value, found 1}}
  %0 = "onnx.Loop"(%n, %c, %x, %x) ({
  ^bb0(%i: tensor<i64>, %d: tensor<i1>, %a: tensor<2xf32>, %b: tensor<2xf32>):
    onnx.Yield %d, %a : tensor<i1>, tensor<2xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @no_value() {
  // expected-error @+1 {{result 0: expected none, found 'tensor<1xf32>'}}
  %0 = "onnx.NoValue"() {value} : () -> tensor<1xf32>
  return
}

// -----

func.func @return_type(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{operand 0: expected 'tensor<3xf32>' as the function returns, found 'tensor<2xf32>'}}
  onnx.Return %x : tensor<2xf32>
}

// -----

func.func @return_count(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expected 1 operand(s), found 0}}
  onnx.Return
}

// -----

func.func @yield_place(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected an onnx op with regions around it}}
  onnx.Yield %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{attribute 'func' is required: expected a function's symbol such as @main_graph}}
"onnx.EntryPoint"() : () -> ()

// -----

func.func @custom(%x: tensor<2xf32>) {
  // expected-error @+1 {{attribute 'function_name' is required: expected a string}}
  %0 = "onnx.Custom"(%x) {domain_name = "com.microsoft"} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @fused_kind(%x: tensor<2xf32>) {
  // expected-error @+1 {{attribute 'kind' is required: expected a string}}
  %0 = "onnx.Fused"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    onnx.Yield %a : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @fused_type(%x: tensor<2xf32>) {
  // expected-error @+1 {{yielded value 0: expected 'tensor<?xf32>' as the result, found 'tensor<2xf32>'}}
  %0 = "onnx.Fused"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    onnx.Yield %a : tensor<2xf32>
  }) {kind = "elementwise"} : (tensor<2xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @fused_isolated(%x: tensor<2xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = "onnx.Fused"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    // expected-error @+1 {{using value defined outside the region}}
    %1 = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %1 : tensor<2xf32>
  }) {kind = "elementwise"} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @layout_transform(%x: tensor<2xf32>) {
  // expected-error @+1 {{result 0: expected the shape and elements of 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = "onnx.LayoutTransform"(%x) {target_layout = "NCHW16C"} : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @dim_axis(%x: tensor<2xf32>) {
  // expected-error @+1 {{attribute 'axis': expected an axis of 'tensor<2xf32>', found 1}}
  %0 = "onnx.Dim"(%x) {axis = 1 : si64} : (tensor<2xf32>) -> tensor<1xi64>
  return
}

// -----

func.func @dim_type(%x: tensor<2xf32>) {
  // expected-error @+1 {{result 0: expected 'tensor<1xi64>', found 'tensor<i64>'}}
  %0 = "onnx.Dim"(%x) {axis = 0 : si64} : (tensor<2xf32>) -> tensor<i64>
  return
}

// -----

// expected-error @+1 {{attribute 'onnx.dim_params': expected a string, found '1 : i64'}}
func.func @dim_params(%x: tensor<?xf32> {onnx.dim_params = 1 : i64}) { return }

// -----

func.func @return_types(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // expected-error @+1 {{expected 2 types, found 1}}
  onnx.Return %x, %x : tensor<2xf32>
}

// -----

// 2^31 * 2^32 = 2^63 elements.
func.func @beyond_memory(%x: tensor<2147483648x4294967296xf32>) {
  // expected-error @+1 {{operand 0 'X': expected a size that memory can have, found 'tensor<2147483648x4294967296xf32>'}}
  %0 = "onnx.Relu"(%x) : (tensor<2147483648x4294967296xf32>) -> tensor<*xf32>
  return
}
