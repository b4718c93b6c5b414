#!/usr/bin/env python3
"""import_all.py [--sample N]: imports models and has stock mlir-opt with the plugin verify the text.

All models of $ONYX_SHARED, its node tests and Debian's libonnx-testdata; --sample takes N of the node tests.
"""
import argparse
import concurrent.futures
import glob
import os
import random
import shutil
import sys

import onyx_counts
import onyx_site
import onyx_test

TESTDATA = "/usr/share/libonnx-testdata/data"
WORK = os.path.join(onyx_site.BUILD, "test", "import")
PLUGIN = os.path.join(onyx_site.BUILD, "lib", "libonyx.so")
BATCH = 100  # models a run of mlir-opt


def find(*parts):
    return sorted(glob.glob(os.path.join(*parts), recursive=True))


def import_model(item):
    index, model = item
    out = os.path.join(WORK, f"{index}.mlir")
    code, text = onyx_test.run([os.path.join(onyx_test.BIN, "onyx-import"), "-q", model, "-o", out])
    return onyx_test.reason(code, text) if code else ""


def verify(paths):
    """Names of the files that mlir-opt refuses, with its reason; one run for all, then each alone if that fails."""
    joined = os.path.join(WORK, f"batch-{os.path.basename(paths[0])}")
    with open(joined, "w") as out:
        for path in paths:
            with open(path) as f:
                out.write(f.read() + "\n// -----\n")
    opt = shutil.which("mlir-opt-22") or "mlir-opt"
    command = [opt, f"--load-dialect-plugin={PLUGIN}", "-o", os.devnull]
    if onyx_test.run(command + ["--split-input-file", joined])[0] == 0:
        return {}
    bad = {}
    for path in paths:
        code, text = onyx_test.run(command + [path])
        if code:
            bad[path] = onyx_test.reason(code, text)
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=0)
    options = parser.parse_args()
    models = find(onyx_test.SHARED, "models", "*", "model.onnx")
    nodes = find(onyx_test.SHARED, "onnx", "node-tests", "*", "model.onnx") + find(TESTDATA, "**", "model.onnx")
    if options.sample and not onyx_test.FULL and options.sample < len(nodes):
        nodes = random.Random(1).sample(nodes, options.sample)
    models += nodes
    if not models:
        onyx_test.skip("import", f"no models at {onyx_test.SHARED} or {TESTDATA}")
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    bad, good = {}, []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (i, model), why in zip(enumerate(models), pool.map(import_model, enumerate(models))):
            if why:
                bad[model] = why
            else:
                good.append(os.path.join(WORK, f"{i}.mlir"))
        for found in pool.map(verify, [good[i:i + BATCH] for i in range(0, len(good), BATCH)]):
            bad.update({models[int(os.path.basename(p)[:-5])]: why for p, why in found.items()})
    for model, why in bad.items():
        print(f"failed: {model}: {why}")
    print(f"{len(models) - len(bad)} passed, {len(bad)} failed")
    onyx_counts.write("import", len(models) - len(bad), len(bad), 0)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
