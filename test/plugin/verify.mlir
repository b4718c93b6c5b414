// Traits and interfaces are verified as those of stock ops are; hooks verify what is left.
// REQUIRES: plugin
// RUN: %seam-opt %s --split-input-file --verify-diagnostics

func.func @terminator(%n: index) {
  "seam.loop"(%n) ({
    // expected-error @+1 {{'seam.yield' op must be the last operation in the parent block}}
    "seam.yield"() : () -> ()
    "seam.opaque"() : () -> ()
  }) : (index) -> ()
  return
}

// -----

func.func @no_terminator(%n: index) {
  // expected-error @+1 {{empty block: expect at least a terminator}}
  "seam.loop"(%n) ({
  ^bb0:
  }) : (index) -> ()
  return
}

// -----

func.func @no_terminator(%n: index) {
  "seam.loop"(%n) ({
    // expected-error @+1 {{block with no terminator}}
    "seam.opaque"() : () -> ()
  }) : (index) -> ()
  return
}

// -----

func.func @two_blocks(%n: index) {
  // expected-error @+1 {{'seam.loop' op expects region #0 to have 0 or 1 blocks}}
  "seam.loop"(%n) ({
    "seam.yield"() : () -> ()
  ^bb1:
    "seam.yield"() : () -> ()
  }) : (index) -> ()
  return
}

// -----

func.func @isolated(%x: i32) {
  // expected-note @+1 {{required by region isolation constraints}}
  "seam.module"() ({
    // expected-error @+1 {{'seam.double' op using value defined outside the region}}
    %y = "seam.double"(%x) : (i32) -> i32
  }) : () -> ()
  return
}

// -----

"seam.module"() ({
  // expected-note @+1 {{see existing symbol definition here}}
  "seam.symbol"() {sym_name = "a"} : () -> ()
  // expected-error @+1 {{redefinition of symbol named 'a'}}
  "seam.symbol"() {sym_name = "a"} : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{'seam.symbol' op requires string attribute 'sym_name'}}
"seam.symbol"() : () -> ()

// -----

// expected-error @+1 {{'seam.symbol' op visibility expected to be one of ["public", "private", "nested"], but got "secret"}}
"seam.symbol"() {sym_name = "a", sym_visibility = "secret"} : () -> ()

// -----

func.func @verify_hook(%n: index, %x: i32) {
  // expected-error @+1 {{'seam.loop' op takes a count and an initial value for each result}}
  "seam.loop"(%n, %x) ({
    "seam.yield"() : () -> ()
  }) : (index, i32) -> ()
  return
}

// -----

func.func @verify_regions_hook(%n: index) {
  // expected-error @+1 {{'seam.loop' op body must end in seam.yield}}
  "seam.loop"(%n) ({
    "llvm.unreachable"() : () -> ()
  }) : (index) -> ()
  return
}

// -----

// What the body hands on must be what the loop and its results take.
func.func @region_branch(%n: index, %x: i32) {
  // expected-error @+1 {{along control flow edge from}}
  %l = "seam.loop"(%n, %x) ({
  ^bb0(%a: i32):
    // expected-note @+1 {{region branch point}}
    "seam.yield"() : () -> ()
  }) : (index, i32) -> i32
  return
}

// -----

func.func @region_branch(%n: index, %x: i32) {
  // expected-error @+2 {{along control flow edge from}}
  // expected-note @+1 {{region branch point}}
  %l = "seam.loop"(%n, %x) ({
  ^bb0(%a: i64):
    "seam.yield"(%x) : (i32) -> ()
  }) : (index, i32) -> i32
  return
}

// -----

func.func @inherent(%p: !seam.pair<i1, i1>) {
  // expected-error @+1 {{'seam.needs' op needs attribute 'range', a #seam.range}}
  "seam.needs"(%p) {range = 1 : i32} : (!seam.pair<i1, i1>) -> ()
  return
}

// -----

func.func @note(%p: !seam.pair<i1, i1>) {
  // expected-error @+2 {{'seam.needs' op takes 1 operand, got 2}}
  // expected-note @+1 {{the range applies to it}}
  "seam.needs"(%p, %p) {range = #seam.range<1, 2>} : (!seam.pair<i1, i1>, !seam.pair<i1, i1>) -> ()
  return
}

// -----

func.func @type_is_a(%p: !seam.box) {
  // expected-error @+1 {{'seam.needs' op operand #0 must be a !seam.pair}}
  "seam.needs"(%p) {range = #seam.range<1, 2>} : (!seam.box) -> ()
  return
}

// -----

// expected-error @+1 {{'func.func' op 'seam.mark' on an op must be a unit attribute}}
func.func private @discardable() attributes {seam.mark = 1}

// -----

// expected-error @+1 {{'func.func' op 'seam.mark' on an argument must be a unit attribute}}
func.func private @discardable_argument(i32 {seam.mark = 1})
