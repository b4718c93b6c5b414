"""run_model.py MODEL [ONYX-COMPILE OPTIONS]: compiles a model of $ONYX_SHARED/models and compares what it computes.

MODEL@random is the model with random weights (randomize_light.py there), compared with what onnxruntime computes.
MODEL@dynamic is the model with the first dim of every input made dynamic, MODEL@set with symbolic dims fixed to the
sizes that models.txt gives."""
import glob
import os
import re
import shutil
import sys
import time

import onyx_site
import onyx_test

HERE = os.path.dirname(os.path.abspath(__file__))


def tolerances(name):
    with open(os.path.join(HERE, "models.txt")) as f:
        for line in f:
            fields = line.split()
            if fields and fields[0] == name:
                return fields[1], fields[2], fields[3:]
    sys.exit(f"{name} is not in models.txt")


def protos(folder, kind):
    files = glob.glob(os.path.join(folder, kind + "_*.pb"))
    return sorted(files, key=lambda f: int(re.search(r"_(\d+)\.pb$", f)[1]))


def randomized(name, source, work):
    """Writes the model with random weights and onnxruntime's outputs for it; returns (model, folder of outputs)."""
    packages = [os.environ.get("ONYX_ORT", ""), os.path.join(onyx_site.BUILD, "ort")]
    package = next((p for p in packages if p and os.path.isdir(os.path.join(p, "node_modules/onnxruntime-node"))), None)
    if not package or not shutil.which("node"):
        why = "needs node and onnxruntime-node (scripts/setup --reference, or ONYX_ORT)"
        if onyx_test.CI:
            sys.exit(f"{name}: {why}")
        onyx_test.skip(name, why)
    tools = os.path.realpath(os.path.join(onyx_test.SHARED, "tools"))  # the script runs only under its real name
    model = os.path.join(work, "model.onnx")
    for command in (["/usr/bin/python3", f"{tools}/randomize_light.py", f"{source}/model.onnx", model],
                    ["node", f"{tools}/ort_run.mjs", model, "--inputs", source, "--save", f"{work}/reference",
                     "--no-time", "--ortpkg", package]):
        # node reserves more address space than a test may: no bounds for the reference.
        code = os.spawnvp(os.P_WAIT, command[0], command)
        if code:
            sys.exit(f"{name}: the reference failed: {' '.join(command)}")
    return model, f"{work}/reference"


def dynamic(source, work):
    """Imports the model and makes the first dim of every input `?`; returns (text, why not)."""
    text, target = f"{work}/model.mlir", f"{work}/dynamic.mlir"
    plugin = os.path.join(onyx_site.BUILD, "lib", "libonyx.so")
    pipeline = "builtin.module(onnx-make-dynamic{axis=0},shape-inference)"
    for command in ([f"{onyx_test.BIN}/onyx-import", f"{source}/model.onnx", "-o", text],
                    ["mlir-opt-22", f"--load-dialect-plugin={plugin}", f"--pass-pipeline={pipeline}", text, "-o", target]):
        code, output = onyx_test.run(command, 120, cwd=work)
        print(f"$ {' '.join(command)}\n{output}")
        if code:
            return None, os.path.basename(command[0]) + ": " + onyx_test.reason(code, output)
    return target, None


def check(name, options):
    """Returns None, or why the model does not give its outputs."""
    rtol, atol, _ = tolerances(name)
    source = os.path.join(onyx_test.SHARED, "models", name.partition("@")[0])
    work = os.path.join(onyx_site.BUILD, "test", "models", name)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    model, outputs = os.path.join(source, "model.onnx"), source
    if name.endswith("@random"):
        model, outputs = randomized(name, source, work)
    if name.endswith("@set"):
        model = f"{work}/model.mlir"
        command = [f"{onyx_test.BIN}/onyx-import", f"{source}/model.onnx", "-o", model]
        for size in tolerances(name)[2]:
            command += ["--dim", size]
        code, text = onyx_test.run(command, 120)
        print(f"$ {' '.join(command)}\n{text}")
        if code:
            return "import: " + onyx_test.reason(code, text)
    if name.endswith("@dynamic"):
        model, why = dynamic(source, work)
        if why:
            return why
    compiled = os.path.join(work, "model.so")
    command = [f"{onyx_test.BIN}/onyx-compile", model, "-o", compiled, *options]
    begin = time.time()
    code, text = onyx_test.run(command, 240)
    print(f"$ {' '.join(command)}\n{text}({time.time() - begin:.1f} s)")
    if code:
        return "compile: " + onyx_test.reason(code, text)
    command = [f"{onyx_test.BIN}/onyx-run", compiled, "--rtol", rtol, "--atol", atol]
    for file in protos(source, "input"):
        command += ["--input", file]
    expected = protos(outputs, "output")
    assert expected, f"no outputs in {outputs}"
    for file in expected:
        command += ["--expected-output", file]
    begin = time.time()
    code, text = onyx_test.run(command, 120)
    print(f"$ {' '.join(command)}\n{text}({time.time() - begin:.1f} s)")
    return "run: " + onyx_test.reason(code, text) if code else None


def main():
    name, options = sys.argv[1], sys.argv[2:]
    if not os.path.isdir(os.path.join(onyx_test.SHARED, "models")):
        onyx_test.skip(name, f"no models at {onyx_test.SHARED} (set ONYX_SHARED)")
    if "full" in tolerances(name)[2] and not onyx_test.FULL:
        onyx_test.skip(name, "runs with check --full")
    expected = onyx_test.expected_failures(os.path.join(HERE, "expected-failures.txt"))
    failure = check(name, options)
    if name in expected:
        if failure:
            onyx_test.skip(name, f"expected failure: {expected[name]} ({failure})")
        sys.exit(f"{name} passes: remove it from expected-failures.txt")
    if failure:
        sys.exit(f"{name}: {failure}")
    print(f"{name}: ok")


if __name__ == "__main__":
    main()
