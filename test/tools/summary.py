"""summary.py JUNIT COUNTS: the closing line of a test run; exit 1 when something failed.

A ctest case counts as one test unless the suite left its own counts (COUNTS/NAME: passed failed skipped)."""
import os
import sys
import xml.etree.ElementTree as tree

junit, counts = sys.argv[1:]
if not os.path.exists(junit):
    print("no test ran", file=sys.stderr)
    print("0 passed, 1 failed, 0 skipped")
    sys.exit(1)
total = [0, 0, 0]
reasons = []
for case in tree.parse(junit).getroot().iter("testcase"):
    name, status = case.get("name"), case.get("status")
    output = case.findtext("system-out") or ""
    own = os.path.join(counts, name)
    if os.path.exists(own):
        with open(own) as f:
            cases = [int(n) for n in f.read().split()]
        if status == "fail" and cases[1] == 0:
            cases[1] = 1
    else:
        cases = [status == "run", status == "fail", status not in ("run", "fail")]
    if status == "fail":
        reasons.append(f"failed: {name}")
    if cases[2]:
        # A skip says why on a line of its own that begins with "skipped" or, from lit, "note".
        why = [line.strip() for line in output.splitlines() if "skipped" in line.lower() and ":" in line]
        reasons += [f"skipped in {name}: {line}" for line in dict.fromkeys(why[:20])]
    total = [a + b for a, b in zip(total, cases)]
print()
for line in reasons:
    print(line)
print("%d passed, %d failed, %d skipped" % tuple(total))
sys.exit(bool(total[1]) or not total[0])
