"""A function with 2,000 scheduled nests converts in under a second, and in a time that grows with their number only."""
import os
import resource
import subprocess
import sys
import tempfile

import onyx_counts
import onyx_site

OPT = os.environ.get("MLIR_OPT", "mlir-opt-22")
NEST = """  %l{i}:2 = krnl.define_loops 2
  %b{i}, %t{i} = krnl.block %l{i}#1 8 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.permute(%l{i}#0, %b{i}, %t{i}) [1, 0, 2] : !krnl.loop, !krnl.loop, !krnl.loop
  krnl.iterate(%b{i}, %l{i}#0, %t{i}) with (%l{i}#0 -> %i{i} = 0 to 64, %l{i}#1 -> %j{i} = 0 to %n) {{
    %v{i} = krnl.load %m[%i{i}, %j{i}] : memref<64x64xf32>
    %w{i} = arith.addf %v{i}, %c : f32
    krnl.store %w{i}, %m[%i{i}, %j{i}] : memref<64x64xf32>
  }}
"""


def seconds(nests, passes):
    """Processor time: other jobs on the machine do not count."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as f:
        f.write("func.func @f(%m: memref<64x64xf32>, %n: index) {\n  %c = arith.constant 1.0 : f32\n")
        f.writelines(NEST.format(i=i) for i in range(nests))
        f.write("  return\n}\n")
        f.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([OPT, f"--load-dialect-plugin={onyx_site.BUILD}/lib/libonyx.so", "--mlir-disable-threading",
                        f"--pass-pipeline=builtin.module({passes})", f.name, "-o", os.devnull], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def converting(nests):
    return max(0.0, min(seconds(nests, "convert-krnl-to-affine") for _ in range(3)) - seconds(nests, ""))


few, many = converting(500), converting(2000)
print(f"convert-krnl-to-affine: 500 nests {few:.2f} s, 2,000 nests {many:.2f} s of processor time")
bad = many >= 1.0 or many > 8 * few + 0.1
onyx_counts.write("krnl-cost", not bad, bad, 0)
sys.exit(bad)
