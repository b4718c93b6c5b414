"""build_model.py FILE.mlir OUT.so [NAME=TEXT...]: a model written by hand to a library, through stock tools only.

The file's two modules (parted by // -----) are the functions on memrefs and the entry. @NAME@ in it becomes TEXT.
"""
import os
import subprocess
import sys
import tempfile

import onyx_site

# The stock part of pipelines/krnl-to-llvm.pipeline.
STOCK = ("builtin.module(lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,finalize-memref-to-llvm,"
         "convert-math-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,"
         "reconcile-unrealized-casts,canonicalize)")


def build(source, output, replacements=(), flags=()):
    with open(source) as f:
        text = f.read()
    for pair in replacements:
        name, _, value = pair.partition("=")
        text = text.replace(f"@{name}@", value)
    lib = os.path.join(onyx_site.BUILD, "lib")
    sanitize = [f"-fsanitize={onyx_site.SANITIZE}"] if onyx_site.SANITIZE else []
    with tempfile.TemporaryDirectory() as work:
        objects = []
        for i, module in enumerate(text.split("// -----\n")):
            # MLIR strings do not continue over lines; ours do with a backslash.
            mlir = subprocess.run(["mlir-opt-22", f"--pass-pipeline={STOCK}"], input=module.replace("\\\n", ""), text=True,
                                  stdout=subprocess.PIPE, check=True).stdout
            with open(f"{work}/{i}.ll", "w") as f:
                subprocess.run(["mlir-translate-22", "--mlir-to-llvmir"], input=mlir, text=True, stdout=f, check=True)
            objects.append(f"{work}/{i}.ll")
        subprocess.run(["clang-22", "-O1", "-fPIC", "-shared", "-Wno-override-module", *sanitize, *objects, *flags,
                        "-Wl,-u,onyx_model_create", f"{lib}/libonyx_runtime.a", "-lm",
                        f"-Wl,--version-script={lib}/onyx/model.map", "-o", output], check=True)


if __name__ == "__main__":
    build(sys.argv[1], sys.argv[2], sys.argv[3:])
