"""What a conformance run writes: the list of expected failures and docs/operators.md."""
import collections
import json
import os

import onyx_site

HEAD = """# NAME: STAGE: REASON, for node tests that cannot pass yet. The list is strict: a case of it that passes is a failure.
# Written by scripts/conformance --update; a reason after `!` is written by hand and kept.
"""


def update_expected(path, old, results):
    """Keeps entries of cases that did not run and hand-written reasons; the others follow the results."""
    new = {n: why for n, why in old.items() if n not in results}
    for name, (result, _) in results.items():
        if result is not None:
            kept = old.get(name, "")
            new[name] = kept if kept.startswith("!") else ": ".join(result)
    with open(path, "w") as f:
        f.write(HEAD)
        for name in sorted(new):
            f.write(f"{name}: {new[name]}\n")


def standard_operators():
    """(domain, name) of the operators of the standard, without the deprecated ones."""
    with open(os.path.join(onyx_site.SOURCE, "dialects/onnx/schema/schemas.json")) as f:
        rows = json.load(f)
    newest = {}
    for row in rows:
        key = (row["domain"], row["name"])
        if key not in newest or row["since"] > newest[key]["since"]:
            newest[key] = row
    return sorted(key for key, row in newest.items() if not row["deprecated"])


def write_operators(path, chosen, results):
    """One row an operator: how many of the cases about it pass, and the first reasons why others do not."""
    about = collections.defaultdict(list)
    for case in chosen:
        about[case.op].append(case)
    lines = ["# Operators", "",
             "What the node tests of the ONNX standard say about each operator; written by `scripts/conformance --docs`. "
             "A case that the standard expands into other operators counts for the operator that it is named after; "
             "no row of cases means that the standard has no test of that operator.", ""]
    total = sum(1 for r, _ in results.values() if r is None)
    lines += [f"{total} of {len(results)} cases pass.", "",
              "| operator | domain | cases | pass | fails at |", "|---|---|---:|---:|---|"]
    for domain, name in standard_operators():
        group = about.pop(name, [])
        good = sum(results[c.name][0] is None for c in group)
        stages = collections.Counter(results[c.name][0][0] for c in group if results[c.name][0])
        why = ", ".join(f"{stage} {n}" for stage, n in sorted(stages.items()))
        lines.append(f"| {name} | {domain or 'ai.onnx'} | {len(group) or ''} | {good if group else ''} | {why} |")
    others = [c for group in about.values() for c in group]
    good = sum(results[c.name][0] is None for c in others)
    lines += [f"| graphs of several operators | | {len(others)} | {good} | |", "", "## Cases that fail", ""]
    failing = [(n, r) for n, (r, _) in sorted(results.items()) if r]
    lines += [f"- `{n}`: {r[0]}: {r[1]}" for n, r in failing] or ["None."]
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")
