"""run.py [--build DIR] [--sizes 0.1,1,4] [--work DIR] [--markdown FILE]: what each stage costs as weights grow.

For each size a synthetic transformer (transformer.py) goes through import, each pass of O2 in a process of its own,
translation, code generation, link and load. A stage's time is the least of three runs; its
memory is the peak of RssAnon, sampled every 2 ms: what it holds itself, without the pages of mapped files.
"""
import argparse
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REPEAT = 3


def anonymous(pid):
    try:
        with open(f"/proc/{pid}/status") as f:
            return int(re.search(r"^RssAnon:\s+(\d+)", f.read(), re.M)[1])
    except (OSError, TypeError):
        return 0


def measure(command):
    """(seconds, MB) of the best of some runs."""
    best, memory = float("inf"), 0
    for _ in range(REPEAT):
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None:
            memory = max(memory, anonymous(process.pid))
            time.sleep(0.002)
        best = min(best, time.perf_counter() - begin)
        if process.returncode:
            sys.exit(f"{' '.join(command)}\n{process.stderr.read()}")
        process.stderr.close()
    return best, memory / 1024


def expand(lib, name):
    """The passes of a pipeline file, files that it names taken apart; a func.func(...) stays whole."""
    with open(f"{lib}/onyx/pipelines/{name}.pipeline") as f:
        text = re.sub(r"//.*", "", f.read())
    text = re.sub(r"\s+", " ", text).replace("${weights-root}", "").replace("{weights-root=}", "")
    passes, depth, word = [], 0, ""
    for c in text + ",":
        depth += (c in "({") - (c in ")}")
        if c == "," and depth == 0:
            passes += expand(lib, word.strip()[5:]) if word.strip().startswith("onyx-") else [word.strip()]
            word = ""
        else:
            word += c
    return passes


def stages(build, model, work):
    """(name, command, its output) in order."""
    lib = f"{build}/lib"
    text = f"{work}/0.mlir"
    yield "import", [f"{build}/bin/onyx-import", model, "-o", text]
    for i, name in enumerate(expand(lib, "O2"), 1):
        after = f"{work}/{i}.mlir"
        yield name, ["mlir-opt-22", f"--load-dialect-plugin={lib}/libonyx.so", f"--pass-pipeline=builtin.module({name})", text, "-o", after]
        text = after
    yield "mlir-translate", ["mlir-translate-22", "--mlir-to-llvmir", text, "-o", f"{work}/model.ll"]
    yield "clang (compile)", ["clang-22", "-c", "-x", "ir", "-O2", "-fPIC", "-march=native", "-Wno-override-module", f"{work}/model.ll", "-o", f"{work}/model.o"]
    yield "clang (link)", ["clang-22", "-shared", f"{work}/model.o", "-Wl,-u,onyx_model_create", f"{lib}/libonyx_runtime.a",
                           f"-Wl,--version-script={lib}/onyx/model.map", "-lm", "-o", f"{work}/model.so"]
    yield "load", [f"{build}/bin/onyx-run", f"{work}/model.so", "--describe"]


def run(build, work, size):
    folder = f"{work}/{size}"
    subprocess.run([sys.executable, f"{HERE}/transformer.py", folder, size], check=True)
    results = {}
    for name, command in stages(build, f"{folder}/model.onnx", folder):
        # A pass that runs again is another row.
        results[name if name not in results else f"{name}, again ({len(results)})"] = measure(command)
    return results


def table(sizes, results):
    lines = ["| stage | " + " | ".join(f"{s} GB" for s in sizes) + " |", "|---|" + "---:|" * len(sizes)]
    for name in results[sizes[0]]:
        cells = ("{:.2f} s, {:.0f} MB".format(*results[s][name]) for s in sizes)
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    parser.add_argument("--work", default="")
    parser.add_argument("--sizes", default="0.1,1,4")
    parser.add_argument("--markdown", default="")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    work = os.path.abspath(arguments.work or os.path.join(build, "bench-weights"))
    sizes = arguments.sizes.split(",")
    results = {size: run(build, work, size) for size in sizes}
    text = table(sizes, results)
    print(text)
    if arguments.markdown:
        with open(arguments.markdown, "w") as f:
            f.write(text + "\n")


main()
