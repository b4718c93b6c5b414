#!/usr/bin/env python3
"""mutate.py [--count N]: N damaged copies of each small model through the importer, under the sanitizers.

Models come from $ONYX_SHARED, the repository and Debian's libonnx-testdata. A finding names the mutant, which
mutate_test --one writes to a file.
"""
import argparse
import glob
import os
import random
import re
import subprocess
import sys

import onyx_counts
import onyx_site
import onyx_test

TESTDATA = "/usr/share/libonnx-testdata/data"


def small(pattern, most):
    return sorted(f for f in glob.glob(pattern, recursive=True) if os.path.getsize(f) < most)


def run(command, work):
    """The sanitizer's shadow takes more address space than other suites may; it bounds memory itself."""
    done = subprocess.run(command, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=840, check=False)
    return done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20)
    options = parser.parse_args()
    count = options.count * (15 if onyx_test.FULL else 1)
    models = small(os.path.join(onyx_test.SHARED, "models", "*", "model.onnx"), 100000)
    models += small(os.path.join(onyx_site.SOURCE, "examples", "**", "*.onnx"), 100000)
    nodes = small(os.path.join(TESTDATA, "**", "model.onnx"), 20000)
    models += random.Random(1).sample(nodes, min(60, len(nodes)))
    if not models:
        onyx_test.skip("mutate", f"no models at {onyx_test.SHARED} or {TESTDATA}")
    work = os.path.join(onyx_site.BUILD, "test", "mutate")
    os.makedirs(work, exist_ok=True)
    os.environ["ASAN_OPTIONS"] = "hard_rss_limit_mb=3000:allocator_may_return_null=1"
    command = [os.path.join(onyx_test.BIN, "mutate_test"), str(count)] + models
    code, text = run(command, work)
    print(text.strip()[-4000:])
    last = os.path.join(work, "mutate_test.last")
    if code and os.path.exists(last):
        with open(last) as f:
            print("again:", f.read().strip())
    found = re.search(r"(\d+) mutants", text)
    all_of_them = int(found.group(1)) if found and code == 0 else 0
    onyx_counts.write("mutate", all_of_them, int(code != 0), 0)
    return code != 0


if __name__ == "__main__":
    sys.exit(main())
