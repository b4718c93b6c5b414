# lit configuration: see README.md beside this file for the substitutions.
import os
import shutil
import subprocess

import lit.formats
import onyx_site

config.name = "onyx"
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "models", "CMakeLists.txt", "README.md"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.join(onyx_site.SOURCE, "test")
config.test_exec_root = os.path.join(onyx_site.BUILD, "test", "lit-out")

bin_dir = os.path.join(onyx_site.BUILD, "bin")
lib_dir = os.path.join(onyx_site.BUILD, "lib")
shared = os.environ.get("ONYX_SHARED") or onyx_site.SHARED
testdata = "/usr/share/libonnx-testdata/data"

# A runaway test ends: memory and CPU time by the guard, wall time by lit where it can kill.
if lit_config.maxIndividualTestTime == 0 and lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = 120
config.environment["ONYX_TEST_MEMORY_KB"] = "unlimited" if onyx_site.SANITIZE else "8000000"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "HOME", "LD_PRELOAD", "OMP_NUM_THREADS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
guard = os.path.join(onyx_site.SOURCE, "test", "tools", "guard")


def tool(name):
    return shutil.which(name + "-22") or "/usr/lib/llvm-22/bin/" + name


# mlir-opt is not sanitized: for a sanitized plugin the runtime is preloaded. Stock passes leak.
preload = ""
if "address" in onyx_site.SANITIZE:
    runtime = subprocess.run([tool("clang"), "-print-file-name=libclang_rt.asan-x86_64.so"], check=True,
                             capture_output=True, text=True).stdout.strip()
    preload = f"env LD_PRELOAD={runtime} ASAN_OPTIONS=detect_leaks=0 "
    config.environment["MLIR_OPT"] = preload + tool("mlir-opt")  # for onyx-compile
opt = f"{preload}{guard} {tool('mlir-opt')}"
plugin = os.path.join(lib_dir, "libonyx.so")
config.substitutions += [
    ("%onyx-opt", f"{opt} --load-dialect-plugin={plugin}"),
    ("%seam-opt", f"{opt} --load-dialect-plugin={os.path.join(onyx_site.BUILD, 'test', 'plugin', 'libonyx-seam-test.so')}"),
    ("%onyx-import", f"{guard} {bin_dir}/onyx-import"),
    ("%onyx-compile", f"{guard} {bin_dir}/onyx-compile"),
    ("%onyx-run", f"{guard} {bin_dir}/onyx-run"),
    ("%onyx-bin", bin_dir),
    ("%onyx-lib", lib_dir),
    ("%onyx-plugin", plugin),
    ("%source", onyx_site.SOURCE),
    ("%build", onyx_site.BUILD),
    ("%shared", shared),
    ("%testdata", testdata),
    ("%python", "/usr/bin/python3"),
    (r"\bFileCheck\b", tool("FileCheck") + " --dump-input-filter=error"),
    (r"\bsplit-file\b", tool("split-file")),
    (r"\bmlir-opt\b(?!-)", opt),
    ("%llvm-lib", "/usr/lib/llvm-22/lib"),
    (r"\bmlir-runner\b(?!-)", f"{guard} {tool('mlir-runner')}"),
    (r"\bmlir-translate\b(?!-)", f"{guard} {tool('mlir-translate')}"),
    # lit's own shell has `not`; this one also tells a crash from a failure.
    (r"(?<![-\w/])not(?![-\w])", tool("not")),
]

if os.path.isdir(os.path.join(shared, "models")):
    config.available_features.add("shared")
else:
    lit_config.note(f"no models at {shared} (set ONYX_SHARED): tests that need them are skipped")
if os.path.isdir(testdata):
    config.available_features.add("testdata")
else:
    lit_config.note(f"no {testdata} (package libonnx-testdata): tests that need it are skipped")
if os.path.exists(plugin):
    config.available_features.add("plugin")
if onyx_site.SANITIZE:
    config.available_features.add("sanitize")
