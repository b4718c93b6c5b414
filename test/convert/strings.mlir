// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-onnx-to-krnl,canonicalize)' | FileCheck %s
// RUN: %onyx-compile %s -o %t.so -O1
// RUN: %onyx-run %t.so --input '3xi64=7 1 5' --expected-output '3xi64=70 -1 50'

// Strings are addresses; what looks into them is a call of the runtime, and there is no other kind of call.
// CHECK-DAG: func.func private @onyx_string_from_i64(i64) -> i64
// CHECK-DAG: func.func private @onyx_string_equal(i64, i64) -> i1
// CHECK-LABEL: func.func @main_graph(
// CHECK:         call @onyx_string_from_i64
// CHECK:         memref.extract_aligned_pointer_as_index
// CHECK:         call @onyx_string_equal
func.func @main_graph(%x: tensor<3xi64>) -> tensor<3xi64> {
  %0 = "onnx.Cast"(%x) {to = !onnx.String} : (tensor<3xi64>) -> tensor<3x!onnx.String>
  %1 = "onnx.LabelEncoder"(%0) {keys_strings = ["5", "7"], values_int64s = [50, 70], default_int64 = -1 : si64} : (tensor<3x!onnx.String>) -> tensor<3xi64>
  onnx.Return %1 : tensor<3xi64>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
