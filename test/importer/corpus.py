#!/usr/bin/python3
"""corpus.py DIR: small models of every kind, for the fuzzer to begin with."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "upgrades"))
import cases
import models
import onnx

NAMES = ("text", "literals", "narrow", "typed", "sparse", "scopes", "cycle", "names", "loop", "containers", "functions",
         "recursion", "custom", "external", "bad:deep")


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name in NAMES:
        out = os.path.join(folder, name.replace(":", "-") + ".onnx")
        subprocess.run([sys.executable, os.path.join(HERE, "Inputs", "make.py"), name, out], check=True)
    for case in cases.CASES:
        onnx.save(models.model(case), os.path.join(folder, case["name"] + ".onnx"))


if __name__ == "__main__":
    main()
