"""run_export.py [MODEL]...: imports the shared models, exports them as they are and after graph passes, and lets
onnxruntime run what was written: the outputs must be the recorded ones. onnx's checker reads what it can (opset <= 17)."""
import glob
import os
import shutil
import subprocess
import sys

import onnx
import onyx_counts
import onyx_site
import onyx_test

GRAPH = "shape-inference,constprop-onnx,canonicalize,cse,"
PASSES = {"as it is": "", "after passes": GRAPH,
          "with shapes simplified": GRAPH + "simplify-shape-related-ops-onnx,remove-same-onnx-dim,canonicalize,cse,"}
PLUGIN = os.path.join(onyx_site.BUILD, "lib", "libonyx.so")
HALF = {"genai_gpt2_fp16"}  # works in f16


def runtime():
    """Folder with onnxruntime for node; skips the suite where there is none, but not in CI."""
    packages = [os.environ.get("ONYX_ORT", ""), os.path.join(onyx_site.BUILD, "ort")]
    package = next((p for p in packages if p and os.path.isdir(os.path.join(p, "node_modules/onnxruntime-node"))), None)
    if package and shutil.which("node"):
        return package
    why = "needs node and onnxruntime-node (scripts/setup --reference, or ONYX_ORT)"
    if onyx_test.CI:
        sys.exit(f"export: {why}")
    onyx_test.skip("export", why)


def opset(path):
    model = onnx.load(path, load_external_data=False)
    return {o.domain: o.version for o in model.opset_import}.get("", 1), model


def checked(path):
    """What onnx's checker says against the file, or None; it knows opsets to 17."""
    version, model = opset(path)
    if version > 17 or any(o.domain not in ("", "ai.onnx.ml") or o.domain and o.version > 3 for o in model.opset_import):
        return None
    try:
        onnx.checker.check_model(path)
    except onnx.checker.ValidationError as error:
        return str(error).splitlines()[0]
    return None


def check(name, passes, external, package):
    """Returns None, or why the exported model does not give the recorded outputs."""
    source = os.path.join(onyx_test.SHARED, "models", name)
    work = os.path.join(onyx_site.BUILD, "test", "export", name)
    os.makedirs(work, exist_ok=True)
    text, target = os.path.join(work, "model.mlir"), os.path.join(work, "model.onnx")
    code, output = onyx_test.run([os.path.join(onyx_test.BIN, "onyx-import"), f"{source}/model.onnx", "-o", text])
    if code:
        return "import: " + onyx_test.reason(code, output)
    options = f"path={target} weights-root={work}" + (" external-data=model.data" if external else "")
    code, output = onyx_test.run(["mlir-opt-22", f"--load-dialect-plugin={PLUGIN}", text, "-o", os.devnull,
                                  f"--pass-pipeline=builtin.module({passes}export-onnx{{{options}}})"])
    if code:
        return "export: " + onyx_test.reason(code, output)
    complaint = checked(target)
    if complaint:
        return "onnx's checker: " + complaint
    tolerance = ["--rtol", "1e-2", "--atol", "1e-2"] if name in HALF else ["--rtol", "1e-3", "--atol", "1e-5"]
    tool = os.path.realpath(os.path.join(onyx_test.SHARED, "tools", "ort_run.mjs"))
    # Graph optimizations of onnxruntime are off: it rounds fused quantized operators differently.
    run = subprocess.run(["node", tool, target, "--ortpkg", package, "--inputs", source, "--check", source,
                          "--opt", "disabled", "--no-time", *tolerance], capture_output=True, text=True, check=False)
    if run.returncode or "check: ok" not in run.stdout:
        return "onnxruntime: " + (run.stdout + run.stderr).strip().splitlines()[-1][:200]
    return None


def check_inverse(package):
    """Inverse upgrades: onnxruntime gives the same at opset 20, where they are not needed, and at 16. None, or why not."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "inverse.mlir")
    work = os.path.join(onyx_site.BUILD, "test", "export", "inverse")
    tool = os.path.realpath(os.path.join(onyx_test.SHARED, "tools", "ort_run.mjs"))
    os.makedirs(work, exist_ok=True)
    for number, extra in ((20, ["--save", work]), (16, ["--inputs", work, "--check", work])):
        target = os.path.join(work, f"opset{number}.onnx")
        code, output = onyx_test.run(["mlir-opt-22", f"--load-dialect-plugin={PLUGIN}", source, "-o", os.devnull,
                                      f"--pass-pipeline=builtin.module(export-onnx{{path={target} opset={number}}})"])
        if code:
            return "export: " + onyx_test.reason(code, output)
        if checked(target):
            return "onnx's checker: " + checked(target)
        run = subprocess.run(["node", tool, target, "--ortpkg", package, "--no-time", *extra], capture_output=True, text=True,
                             check=False)
        if run.returncode or (number == 16 and "check: ok" not in run.stdout):
            return f"onnxruntime at opset {number}: " + (run.stdout + run.stderr).strip().splitlines()[-1][:200]
    return None


def main():
    models = os.path.join(onyx_test.SHARED, "models")
    if not os.path.isdir(models):
        onyx_test.skip("export", f"no models at {onyx_test.SHARED} (set ONYX_SHARED)")
    package = runtime()
    names = sys.argv[1:] or sorted(os.path.basename(os.path.dirname(f)) for f in glob.glob(f"{models}/*/model.onnx"))
    failed = 0
    for number, name in enumerate(names):
        for variant, passes in PASSES.items():
            why = check(name, passes, external=number % 3 == 0, package=package)
            print(f"{'FAIL' if why else 'ok'}: {name} {variant}{': ' + why if why else ''}", flush=True)
            failed += why is not None
    total = len(names) * len(PASSES)
    if not sys.argv[1:]:
        why = check_inverse(package)
        print(f"{'FAIL' if why else 'ok'}: inverse upgrades{': ' + why if why else ''}")
        failed += why is not None
        total += 1
    onyx_counts.write("export", total - failed, failed, 0)
    print(f"{total - failed} of {total} exports give the recorded outputs")
    sys.exit(failed > 0)


main()
