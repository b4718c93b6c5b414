"""excerpt.py NODE FILE: the statements of FILE (printed with --mlir-print-debuginfo --mlir-print-local-scope) that
came from an ONNX node, without their locations."""
import re
import sys

LOCATION = re.compile(r"(?: |(?<![\w.]))loc\((?:[^()\"]|\"[^\"]*\"|\((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*\))*\)")
LONGEST = 48


def statements(lines):
    """The statements of function bodies, each a list of lines: one line, or an op with its regions."""
    depth, current = 0, []
    for line in lines:
        bare = re.sub(r'"[^"]*"', "", LOCATION.sub("", line))
        change = sum(bare.count(c) for c in "{(") - sum(bare.count(c) for c in "})")
        if depth >= 2:
            current.append(line)
        depth += change
        if depth <= 2 and current:
            if depth == 2:
                yield current
            current = []


def main(node, path):
    with open(path) as f:
        lines = f.read().splitlines()
    found = [s for s in statements(lines) if f'"{node}"' in "".join(LOCATION.findall(s[-1]))]
    text = [LOCATION.sub("", line).rstrip() for s in found for line in s]
    if not text:
        sys.exit(f"no statement of {node} in {path}")
    indent = min(len(line) - len(line.lstrip()) for line in text if line.strip())
    for line in text[:LONGEST]:
        print("  " + line[indent:])
    if len(text) > LONGEST:
        print(f"  ... {len(text) - LONGEST} more lines in {path}")


main(*sys.argv[1:])
