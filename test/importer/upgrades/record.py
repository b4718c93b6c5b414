#!/usr/bin/env python3
"""Record what onnxruntime gives for the cases that do not say it themselves.

Usage: record.py ORT_RUN.mjs ORTPKG [CASE...]   (writes expected.json beside this file; only the named ones anew)
"""
import json
import os
import subprocess
import sys
import tempfile

import onnx
from onnx import numpy_helper

import cases
import models


PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected.json")


def main():
    expected, names = {}, sys.argv[3:]
    if names:
        with open(PLACE) as f:
            expected = json.load(f)
    for case in cases.CASES:
        if case["want"] is not None:
            expected.pop(case["name"], None)
            continue
        if names and not any(n in case["name"] for n in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            models.write(case, folder)
            run = subprocess.run(["node", sys.argv[1], os.path.join(folder, "model.onnx"), "--ortpkg", sys.argv[2],
                                  "--inputs", folder, "--save", os.path.join(folder, "out"), "--no-time"],
                                 capture_output=True, text=True)
            if run.returncode:
                print(f"{case['name']}: {run.stderr.strip()[-300:]} {run.stdout.strip()[-200:]}")
                continue
            outs = []
            for i in range(case["outputs"]):
                t = onnx.TensorProto()
                with open(os.path.join(folder, "out", f"output_{i}.pb"), "rb") as f:
                    t.ParseFromString(f.read())
                a = numpy_helper.to_array(t)
                values = [v.decode() if isinstance(v, bytes) else v for v in a.flatten().tolist()]
                outs.append({"dtype": str(a.dtype), "shape": list(a.shape), "values": values})
            expected[case["name"]] = outs
    with open(PLACE, "w") as f:
        f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(expected.items())) + "\n}\n")
    print(len(expected), "recorded")


if __name__ == "__main__":
    main()
