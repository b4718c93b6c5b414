// Malformed text of table ops is a diagnostic at the token, never a crash.
// REQUIRES: plugin
// RUN: %seam-opt %s --split-input-file --verify-diagnostics

func.func @f(%n: index) {
  // expected-error @+1 {{expected attribute value}}
  %a = seam.const : i32
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{expected SSA operand}}
  seam.loop {
  }
  return
}

// -----

// expected-note @+1 {{prior use here}}
func.func @f(%n: i32) {
  // expected-error @+1 {{expects different type than prior uses: 'index' vs 'i32'}}
  seam.loop %n {
  }
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{expected '='}}
  seam.loop %n (%a : i32) {
  }
  return
}

// -----

func.func @f(%n: index, %x: i1) {
  // expected-error @+1 {{at most 8 loop arguments}}
  seam.loop %n (%a = %x : i1, %b = %x : i1, %c = %x : i1, %d = %x : i1, %e = %x : i1, %f = %x : i1, %g = %x : i1, %h = %x : i1, %i = %x : i1) {
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'third' is neither 'word' nor 'other'}}
  seam.words @f ?*+- <3> [third] -> 7
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected a word, any word}}
  seam.words @f ?*+- <3> ["word"] -> 7
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{integer value too large}}
  seam.words @f ?*+- <3> [word] -> 99999999999999999999
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected 'none'}}
  seam.words @f ?*+- <3> [word] -> some
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected valid '@'-identifier for symbol name}}
  seam.words f ?*+- <3> [word] -> 1
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'seam.double' has no custom assembly form}}
  seam.double
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{unregistered operation 'seam.nothing' found in dialect ('seam')}}
  "seam.nothing"() : () -> ()
  return
}

// -----

// expected-error @+1 {{dialect 'seam' has no type 'bag'}}
func.func private @f(!seam.bag)

// -----

// expected-error @+1 {{a pair does not begin with none}}
func.func private @f(!seam.pair<none, i1>)

// -----

// expected-error @+1 {{expected '>'}}
func.func private @f(!seam.pair<i1, i1, i1>)

// -----

// expected-error @+1 {{dialect 'seam' has no attribute 'rung'}}
func.func private @f() attributes {a = #seam.rung<1>}

// -----

// expected-error @+1 {{range ends at 1, before it begins}}
func.func private @f() attributes {a = #seam.range<2, 1>}

// -----

// Only types that say so are elements of memrefs.
// expected-error @+1 {{invalid memref element type}}
func.func private @f(memref<4x!seam.pair<i1, i1>>)

// -----

// Properties are refused: table ops keep attributes in the dictionary.
func.func @f(%x: i32) {
  // expected-error @+1 {{'seam.opaque' has no properties; write its attributes as {...}}}
  "seam.opaque"() <{a = 1 : i32}> : () -> ()
  return
}
