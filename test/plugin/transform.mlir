// Transform scripts run our passes, with options.
// REQUIRES: plugin
// RUN: %seam-opt %s --transform-interpreter 2>&1 | FileCheck %s

// CHECK: remark: flag 1, size 13, text 'none', sizes 1 2, names
// CHECK: "seam.add"(%arg0, %arg0)
module attributes {transform.with_named_sequence} {
  func.func @f(%a: i32) -> i32 {
    %d = "seam.double"(%a) : (i32) -> i32
    return %d : i32
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %g = transform.apply_registered_pass "seam-options" with options = {"size" = 13} to %f : (!transform.any_op) -> !transform.any_op
    %h = transform.apply_registered_pass "seam-doubles" to %g : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
