// Passes: options, reports, nesting, pipelines, failures.
// REQUIRES: plugin
// RUN: %seam-opt %s --pass-pipeline='builtin.module(seam-options)' 2>&1 | FileCheck %s --check-prefix=DEFAULT
// DEFAULT: remark: flag 1, size 42, text 'none', sizes 1 2, names{{$}}
// RUN: %seam-opt %s --pass-pipeline='builtin.module(func.func(seam-options{flag=false size=-3 text="a b" sizes=7,8,9 names=x,y}))' 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN: remark: flag 0, size -3, text 'a b', sizes 7 8 9, names 'x' 'y'
// GIVEN: remark: flag 0, size -3, text 'a b', sizes 7 8 9, names 'x' 'y'
// RUN: %seam-opt %s --pass-pipeline='builtin.module(seam-options{size=9})' --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=DUMP
// DUMP: seam-options{flag=true {{ *}}size=9 {{ *}}text=none}
// RUN: %seam-opt --help | FileCheck %s --check-prefix=HELP
// HELP: --seam-options {{.*}} Say the options
// HELP: --size=<long> {{.*}} a size

// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-options{size=abc})' 2>&1 | FileCheck %s --check-prefix=BAD-VALUE
// BAD-VALUE: for the --size option: 'abc' value invalid for long argument!
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-options{flag=perhaps})' 2>&1 | FileCheck %s --check-prefix=BAD-FLAG
// BAD-FLAG: 'perhaps' is invalid value for boolean argument!
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-options{siez=1})' 2>&1 | FileCheck %s --check-prefix=BAD-NAME
// BAD-NAME: no such option siez
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-clone)' 2>&1 | FileCheck %s --check-prefix=ANCHOR
// ANCHOR: unable to schedule pass 'seam-clone' on a PassManager intended to run on 'builtin.module'!
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-fail)' 2>&1 | FileCheck %s --check-prefix=FAIL
// FAIL: warning: about to fail
// FAIL: error: 'builtin.module' op failed as asked
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-missing)' 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: pass 'seam-missing' needs dialect 'no_such_dialect', which this tool does not have

// Hits are counted over all functions and threads: two doubles; written once.
// RUN: %seam-opt %s --pass-pipeline='builtin.module(func.func(seam-doubles{report=%t.json}))' | FileCheck %s --check-prefix=DOUBLES
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: %seam-opt %s --pass-pipeline='builtin.module(seam-doubles{report=%t.json})' | FileCheck %s --check-prefix=DOUBLES
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// DOUBLES-COUNT-2: "seam.add"(%arg0, %arg0)
// REPORT: {"pass":"seam-doubles","rules":{"double":2}}
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-doubles{report=/nowhere/x.json})' 2>&1 | FileCheck %s --check-prefix=NO-REPORT
// NO-REPORT: error: pass 'seam-doubles' cannot write report file '/nowhere/x.json': No such file or directory

// RUN: %seam-opt %s --pass-pipeline='builtin.module(seam-nested{pipeline="func.func(seam-doubles),canonicalize"})' | FileCheck %s --check-prefix=DOUBLES
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-nested{pipeline=nope})' 2>&1 | FileCheck %s --check-prefix=NESTED-BAD
// NESTED-BAD: error: pass 'seam-nested': bad pipeline 'nope': {{.*}}'nope' does not refer to a registered pass
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-nested{pipeline=convert-vector-to-spirv})' 2>&1 | FileCheck %s --check-prefix=NESTED-DIALECT
// NESTED-DIALECT: error: pass 'seam-nested' runs 'convert-vector-to-spirv' and must depend on dialect 'spirv'

// Pipelines by name: comments, a wrapper, options with defaults and with blanks.
// RUN: %seam-opt %s --pass-pipeline='builtin.module(seam-pipe)' 2>&1 | FileCheck %s --check-prefix=PIPE
// PIPE: remark: flag 1, size 7, text '', sizes 4 5, names{{$}}
// RUN: %seam-opt %s --pass-pipeline='builtin.module(seam-pipe{text="it is, {so} (far)" size=3 sizes=1})' 2>&1 | FileCheck %s --check-prefix=PIPE-SET
// PIPE-SET: remark: flag 1, size 3, text 'it is, {so} (far)', sizes 1, names{{$}}
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-pipe{size=abc})' 2>&1 | FileCheck %s --check-prefix=BAD-VALUE
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-pipe-bad)' 2>&1 | FileCheck %s --check-prefix=PIPE-BAD
// PIPE-BAD: error: pipeline text names unknown option 'nothing'
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-pipe-unknown)' 2>&1 | FileCheck %s --check-prefix=PIPE-UNKNOWN
// PIPE-UNKNOWN: error: pipeline 'seam-pipe-unknown': {{.*}}'no-such-pass' does not refer to a registered pass

// The usual tools work on our passes.
// RUN: %seam-opt %s --pass-pipeline='builtin.module(seam-doubles)' --mlir-print-ir-after-all 2>&1 | FileCheck %s --check-prefix=AFTER
// AFTER: IR Dump After seam-doubles (seam-doubles)
// RUN: %seam-opt %s --pass-pipeline='builtin.module(seam-doubles)' --mlir-timing 2>&1 | FileCheck %s --check-prefix=TIMING
// TIMING: seam-doubles
// RUN: not %seam-opt %s --pass-pipeline='builtin.module(seam-doubles,seam-fail)' --mlir-pass-pipeline-crash-reproducer=%t.repro.mlir 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: not %seam-opt %t.repro.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=FAIL

func.func @f(%a: i32) -> i32 {
  %d = "seam.double"(%a) : (i32) -> i32
  return %d : i32
}
func.func @g(%a: i32) -> i32 {
  %d = "seam.double"(%a) : (i32) -> i32
  return %d : i32
}
