"""The importer and the runner start in milliseconds and build where no LLVM is: they link none of it."""
import os
import re
import subprocess
import sys

import onyx_site

FORBIDDEN = re.compile(r"lib(MLIR|LLVM|stdc\+\+|clang)[\w.+-]*")
wrong = []
for tool in ("onyx-import", "onyx-run"):
    path = os.path.join(onyx_site.BUILD, "bin", tool)
    needed = subprocess.run(["llvm-readelf-22", "-d", path], check=True, capture_output=True, text=True).stdout
    wrong += [f"{tool} links {m[0]}" for m in FORBIDDEN.finditer(needed)]
    symbols = subprocess.run(["llvm-nm-22", path], check=True, capture_output=True, text=True).stdout
    wrong += [f"{tool} holds {m[0]}" for m in re.finditer(r"\bmlir[A-Z]\w*", symbols)][:3]
print("\n".join(wrong) or "onyx-import and onyx-run link no LLVM")
sys.exit(bool(wrong))
