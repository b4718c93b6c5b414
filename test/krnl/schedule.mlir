// One kernel under many schedules, as in arXiv 2008.08272: the schedule is kept apart from the code. The printed nests
// are worked out by hand from the schedules.
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(convert-krnl-to-affine,canonicalize,krnl-print-loop-nest)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(krnl-schedule{file=%S/Inputs/tiled.mlir},convert-krnl-to-affine,canonicalize,krnl-print-loop-nest)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=TILED
// RUN: %onyx-opt %s --pass-pipeline='builtin.module(krnl-schedule{file=%S/Inputs/skewed.mlir},convert-krnl-to-affine,canonicalize,krnl-print-loop-nest)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SKEWED
// RUN: not %onyx-opt %s --pass-pipeline='builtin.module(krnl-schedule{file=%S/Inputs/nobody.mlir})' 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: not %onyx-opt %s --pass-pipeline='builtin.module(krnl-schedule{file=%S/Inputs/missing.mlir})' 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not %onyx-opt %s --pass-pipeline='builtin.module(krnl-schedule)' 2>&1 | FileCheck %s --check-prefix=NONE

// PLAIN: @kernel
// PLAIN-NEXT: for i0 = 0 to 12
// PLAIN-NEXT:   for i1 = 0 to 20
// PLAIN-NEXT:     load %arg0[i0, i1]
// PLAIN-NEXT:     load %arg1[i0, i1]
// PLAIN-NEXT:     store %arg1[i0, i1]

// TILED: @kernel
// TILED-NEXT: parallel i0 = 0 to 12 step 4
// TILED-NEXT:   for i1 = 0 to 20 step 8
// TILED-NEXT:     for i2 = i0 to i0 + 4
// TILED-NEXT:       for i3 = i1 to min(i1 + 8, 20)
// TILED-NEXT:         load %arg0[i2, i3]

// b = i + j runs from 0 to 11 + 19; for each b, i from max(0, b - 19) to min(12, b + 1).
// SKEWED: @kernel
// SKEWED-NEXT: for i0 = 0 to 31
// SKEWED-NEXT:   for i1 = max({{.*}}) to min({{.*}})
// SKEWED-NEXT:     load %arg0[i1, {{.*}}]

// NOBODY: nobody.mlir:1:1: error: 'func.func' op no nest has the name "nobody"
// MISSING: krnl-schedule: "{{.*}}missing.mlir" cannot be read as a module
// NONE: krnl-schedule needs file=FILE, a module of schedules
func.func @kernel(%m: memref<12x20xf32>, %s: memref<12x20xf32>) {
  %l:2 = krnl.define_loops 2 {nest = "sum", labels = ["i", "j"]}
  krnl.iterate(%l#0, %l#1) with (%l#0 -> %i = 0 to 12, %l#1 -> %j = 0 to 20) {
    %v = krnl.load %m[%i, %j] : memref<12x20xf32>
    %w = krnl.load %s[%i, %j] : memref<12x20xf32>
    %x = arith.addf %v, %w : f32
    krnl.store %x, %s[%i, %j] : memref<12x20xf32>
  }
  return
}
