"""Runs all lit tests below the build's test folder, shows what failed, and leaves the counts."""
import json
import os
import subprocess
import sys

import onyx_counts
import onyx_site

folder = os.path.join(onyx_site.BUILD, "test")
report = os.path.join(folder, "lit-results.json")
if os.path.exists(report):
    os.remove(report)
command = ["/usr/bin/python3", "/usr/lib/llvm-22/bin/lit", "-v", "--no-progress-bar", "-o", report,
           *sys.argv[1:], folder]
code = subprocess.call(command)
if not os.path.exists(report):
    sys.exit(code or 1)
with open(report) as f:
    codes = [test["code"] for test in json.load(f)["tests"]]
passed = sum(c in ("PASS", "XFAIL", "FLAKYPASS") for c in codes)
skipped = sum(c in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for c in codes)
onyx_counts.write("lit", passed, len(codes) - passed - skipped, skipped)
sys.exit(code)
