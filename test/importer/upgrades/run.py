#!/usr/bin/env python3
"""run.py [--sample N] [--seed S] [CASE...]: old operator versions through import, compile and run.

A case fails when the import fails or the numbers differ. One that the plugin cannot lower yet is skipped, and says why.
"""
import argparse
import concurrent.futures
import json
import os
import random
import shutil
import sys

import onyx_counts
import onyx_site
import onyx_test

try:
    import numpy as np
    from onnx import numpy_helper
except ImportError as error:
    onyx_test.skip("upgrades", f"needs python3-onnx and python3-numpy ({error})")

import cases
import models

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.join(onyx_site.BUILD, "test", "upgrades")


def expected(case, recorded):
    if case["want"] is not None:
        return [np.asarray(w) for w in case["want"]]
    outs = []
    for out in recorded[case["name"]]:
        dtype = object if out["dtype"] == "object" else out["dtype"]
        outs.append(np.array(out["values"], dtype).reshape(out["shape"]))
    return outs


def tool(name):
    return os.path.join(onyx_test.BIN, name)


def run_case(case, recorded):
    """("passed" | "failed" | "skipped", reason)"""
    folder = os.path.join(WORK, case["name"])
    shutil.rmtree(folder, ignore_errors=True)
    count = models.write(case, folder)
    path = lambda name: os.path.join(folder, name)
    code, text = onyx_test.run([tool("onyx-import"), path("model.onnx"), "-o", path("model.mlir")])
    if code:
        return "failed", onyx_test.reason(code, text)
    code, text = onyx_test.run([tool("onyx-compile"), path("model.mlir"), "-O0", "-o", path("model.so")], cwd=folder)
    if code:
        why = onyx_test.reason(code, text)
        return ("failed" if "crash" in why else "skipped"), why
    command = [tool("onyx-run"), path("model.so"), "--rtol", str(case["rtol"]), "--atol", "1e-5"]
    for i in range(count):
        command += ["--input", path(f"input_{i}.pb")]
    for i, want in enumerate(expected(case, recorded)):
        if want.dtype.kind not in "USO":
            want = np.require(want, requirements="C")
        with open(path(f"output_{i}.pb"), "wb") as f:
            f.write(numpy_helper.from_array(want, f"out{i}").SerializeToString())
        command += ["--expected-output", path(f"output_{i}.pb")]
    code, text = onyx_test.run(command)
    return ("passed", "") if code == 0 else ("failed", text.strip()[-300:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    with open(os.path.join(HERE, "expected.json")) as f:
        recorded = json.load(f)
    chosen = [c for c in cases.CASES if not options.names or any(n in c["name"] for n in options.names)]
    if options.sample and not onyx_test.FULL and options.sample < len(chosen):
        chosen = random.Random(options.seed).sample(chosen, options.sample)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda c: run_case(c, recorded), chosen))
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case, (what, why) in zip(chosen, results):
        counts[what] += 1
        if what != "passed":
            print(f"{what}: {case['name']}: {why}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    onyx_counts.write("upgrades", counts["passed"], counts["failed"], counts["skipped"])
    return counts["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
