#!/usr/bin/python3
"""Pictures of iteration orders for docs/krnl.md, from traces of compiled loops.

usage: docs/krnl/orders.py BUILD-FOLDER   (writes docs/krnl/*.svg)

Each schedule is compiled with a body that appends (i, j) to a trace; mlir-runner runs it and the trace is drawn.
"""
import os
import subprocess
import sys

ROWS, COLUMNS = 6, 8
SCHEDULES = {
    "plain": ("", "%l#0, %l#1"),
    "permute": ("krnl.permute(%l#0, %l#1) [1, 0] : !krnl.loop, !krnl.loop", "%l#0, %l#1"),
    "block": ("%jb, %jl = krnl.block %l#1 3 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)\n"
              "krnl.permute(%l#0, %jb, %jl) [1, 0, 2] : !krnl.loop, !krnl.loop, !krnl.loop", "%l#0, %jb, %jl"),
    "tile": ("%ib, %il = krnl.block %l#0 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)\n"
             "%jb, %jl = krnl.block %l#1 3 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)\n"
             "krnl.permute(%ib, %il, %jb, %jl) [0, 2, 1, 3] : !krnl.loop, !krnl.loop, !krnl.loop, !krnl.loop",
             "%ib, %il, %jb, %jl"),
    "skew": ("%a, %b = krnl.skew %l#0, %l#1 1 : (!krnl.loop, !krnl.loop) -> (!krnl.loop, !krnl.loop)\n"
             "krnl.permute(%a, %b) [1, 0] : !krnl.loop, !krnl.loop", "%a, %b"),
    "skew-tile": ("%a, %b = krnl.skew %l#0, %l#1 1 : (!krnl.loop, !krnl.loop) -> (!krnl.loop, !krnl.loop)\n"
                  "%bb, %bl = krnl.block %b 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)\n"
                  "krnl.permute(%a, %bb, %bl) [1, 0, 2] : !krnl.loop, !krnl.loop, !krnl.loop", "%a, %bb, %bl"),
    "unroll": ("krnl.unroll %l#1 3 : !krnl.loop", "%l#0, %l#1"),
}

MODULE = """
func.func private @printI64(i64)
func.func private @printNewline()
func.func private @printComma()
func.func @visit(%i: index, %j: index) {{
  %a = arith.index_cast %i : index to i64
  %b = arith.index_cast %j : index to i64
  call @printI64(%a) : (i64) -> ()
  call @printComma() : () -> ()
  call @printI64(%b) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}}
func.func @main() {{
  %l:2 = krnl.define_loops 2 {{krnl.independent}}
  {schedule}
  krnl.iterate({loops}) with (%l#0 -> %i = 0 to {rows}, %l#1 -> %j = 0 to {columns}) {{
    func.call @visit(%i, %j) : (index, index) -> ()
  }}
  return
}}
"""


def trace(build, schedule, loops):
    text = MODULE.format(schedule=schedule, loops=loops, rows=ROWS, columns=COLUMNS)
    lowered = subprocess.run(
        ["mlir-opt-22", f"--load-dialect-plugin={build}/lib/libonyx.so",
         "--pass-pipeline=builtin.module(convert-krnl-to-affine,onyx-krnl-to-llvm)"],
        input=text, capture_output=True, text=True, check=True).stdout
    printed = subprocess.run(
        ["mlir-runner-22", "-e", "main", "-entry-point-result=void",
         "-shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so"],
        input=lowered, capture_output=True, text=True, check=True).stdout
    return [tuple(int(n) for n in line.split(",")) for line in printed.splitlines()]


def draw(points):
    assert sorted(points) == [(i, j) for i in range(ROWS) for j in range(COLUMNS)], "an iteration is lost or twice"
    cell = 34
    at = lambda i, j: (j * cell + cell // 2 + 20, i * cell + cell // 2 + 20)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{COLUMNS * cell + 24}" height="{ROWS * cell + 24}" '
           'font-family="sans-serif" font-size="10">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{COLUMNS * cell // 2 + 20}" y="13" text-anchor="middle">j</text>',
           f'<text x="6" y="{ROWS * cell // 2 + 20}">i</text>']
    for n, (p, q) in enumerate(zip(points, points[1:])):
        (x1, y1), (x2, y2) = at(*p), at(*q)
        hue = 240 - 240 * n // len(points)
        out.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="hsl({hue},70%,55%)" stroke-width="1.5"/>')
    for n, p in enumerate(points):
        x, y = at(*p)
        out.append(f'<circle cx="{x}" cy="{y}" r="9" fill="#eef" stroke="#669"/>'
                   f'<text x="{x}" y="{y + 3}" text-anchor="middle">{n}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    folder = os.path.dirname(os.path.abspath(__file__))
    for name, (schedule, loops) in SCHEDULES.items():
        with open(os.path.join(folder, name + ".svg"), "w") as f:
            f.write(draw(trace(build, schedule, loops)))


main()
