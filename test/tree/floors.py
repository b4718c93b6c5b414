"""A floor may use what stands under it, and C++ lives in plugin/ only."""
import os
import re
import sys

import onyx_site

NO_MLIR = ["dialects/onnx/schema", "dialects/onnx/ops", "importer", "runtime"]
MLIR_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](?:mlir|mlir-c|llvm|llvm-c|mlirx|plugin)/', re.M)
CXX = (".cpp", ".cc", ".cxx", ".hpp", ".hh")
SKIP = (".git", ".cache", "node_modules")

wrong = []
for folder, names, files in os.walk(onyx_site.SOURCE):
    relative = os.path.relpath(folder, onyx_site.SOURCE)
    names[:] = [n for n in names if n not in SKIP and not (relative == "." and n.startswith("build"))]
    for name in files:
        path = os.path.normpath(os.path.join(relative, name))
        if name.endswith(CXX) and not path.startswith("plugin/"):
            wrong.append(f"{path}: C++ outside plugin/")
        if name.endswith((".c", ".h", ".inc")) and any(path.startswith(d + "/") for d in NO_MLIR):
            with open(os.path.join(folder, name), errors="replace") as f:
                for match in MLIR_INCLUDE.finditer(f.read()):
                    wrong.append(f"{path}: includes MLIR: {match.group(0).strip()}")
print("\n".join(wrong) or "floors are kept")
sys.exit(bool(wrong))
