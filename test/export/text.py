#!/usr/bin/env python3
"""text.py [--sample N] [MODEL]...: imports models, exports them, imports what was written, and compares the two texts.

What may differ: the module's ir_version and opsets, where weights lie (their bytes are compared), where a constant stands
in its graph, and the numbers of values. Everything else is the same: operators, operands, attributes, types, names, regions.
"""
import argparse
import collections
import concurrent.futures
import glob
import hashlib
import itertools
import os
import random
import re
import shutil
import subprocess
import sys

import onyx_counts
import onyx_site
import onyx_test

TESTDATA = "/usr/share/libonnx-testdata/data"
WORK = os.path.join(onyx_site.BUILD, "test", "export-text")
PLUGIN = os.path.join(onyx_site.BUILD, "lib", "libonyx.so")
MAKE = os.path.join(onyx_site.SOURCE, "test", "importer", "Inputs", "make.py")
MADE = ("attributes containers custom duplicates external functions literals loop names narrow notes nothing passed scopes sparse "
        "text typed").split()
KEEP = "keep-functions:"
FILE = re.compile(r'#onnx\.file<"((?:[^"\\]|\\.)*)", (\d+), (\d+)>')
VERSIONS = re.compile(r'onnx\.(ir_version = \d+ : i64|opset_imports = \[[^]]*\]|weights_files = \[[^]]*\]|weights_root = "[^"]*")(, )?')
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|%(?:arg)?\d+')
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|->|[][{}()<>]')
BRACKETS_AND_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|->|[][{}()<>,]')
NODE_NAME = re.compile(r' \{onnx_node_name = "(?:[^"\\]|\\.)*"\}')  # a Constant node comes back as an initializer
NAME = re.compile(r'((?<=loc\()"(?:[^"\\]|\\.)*"|(?<=onnx_node_name = )"(?:[^"\\]|\\.)*")')
LOCATION = re.compile(r'loc\("(?:[^"\\]|\\.)*"\)')
CONSTANT_END = re.compile(r'( loc\("(?:[^"\\]|\\.)*"\))?\u27e9')
CONSTANT = re.compile(r"\s*(%\d+) = (onnx\.Constant .*)")


def payload(folder, match):
    """The bytes of a weight, in place of where they lie."""
    name, offset, size = match.groups()
    with open(os.path.join(folder, name), "rb") as f:
        f.seek(int(offset))
        return f"#bytes<{hashlib.sha256(f.read(int(size))).hexdigest()}>"


def closing(line, at):
    """Where the bracket that opens at `at` is closed; -1 when the line does not close it."""
    depth = 0
    for match in BRACKETS.finditer(line, at):
        if match.group()[0] not in '"-':
            depth += 1 if match.group() in "{[(<" else -1
            if depth == 0:
                return match.start()
    return -1


def entries(text):
    """The parts of a list that commas part."""
    parts, depth, start = [], 0, 0
    for match in BRACKETS_AND_COMMA.finditer(text):
        token = match.group()
        if token == "," and depth == 0:
            parts.append(text[start:match.start()].strip())
            start = match.end()
        elif token[0] not in '"-,':
            depth += 1 if token in "{[(<" else -1
    return parts + [text[start:].strip()]


def sorted_attributes(line):
    """The line with the attributes of its operation in the order of their names, as MLIR has them."""
    at = next((m.start() for m in re.finditer(r"(?<=\) )\{(?=[^}])", STRING.sub(lambda m: "s" * len(m.group()), line))), -1)
    end = closing(line, at) if at >= 0 else -1
    if end < 0:
        return line
    return line[:at + 1] + ", ".join(sorted(entries(line[at + 1:end]))) + line[end:]


def normal(path):
    """The text with constants at their uses and values numbered as they come."""
    folder, ids, constants, lines = os.path.dirname(path), {}, {}, []

    def rename(match):
        token = match.group()
        if not token.startswith("%"):
            return token
        return constants.get(token) or ids.setdefault(token, f"%v{len(ids)}")

    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            line = FILE.sub(lambda m: payload(folder, m), line.rstrip("\n"))
            if line.startswith("module"):
                line = VERSIONS.sub("", line).replace(", }", "}")
            constant = CONSTANT.match(line)
            if constant:
                constants[constant.group(1)] = f"\u27e8{NODE_NAME.sub('', constant.group(2))}\u27e9"
            else:
                lines.append(TOKEN.sub(rename, sorted_attributes(line)))
    return lines


def names_in(lines):
    """How often each name of a node or constant is there."""
    return collections.Counter(m.group() for line in lines for m in LOCATION.finditer(line))


def same(was, now, names):
    """Equal, but that a second node or constant of one name got a number, and a constant without a name got one."""
    if was == now:
        return True
    named = [m.group(1) for m in CONSTANT_END.finditer(was)]
    now = CONSTANT_END.sub(lambda m: m.group() if not named or named.pop(0) else "\u27e9", now)
    a, b = NAME.split(was), NAME.split(now)
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if x != y and not (re.fullmatch(re.escape(x[:-1]) + r'_\d+"', y) and names[f"loc({x})"] > 1):
            return False
    return True


def round_trip(item):
    """None, or why the model does not come back. With KEEP before its name, functions are kept."""
    index, model = item
    keep = ["--keep-functions"] if model.startswith(KEEP) else []
    model = model.removeprefix(KEEP)
    work = os.path.join(WORK, str(index))
    os.makedirs(work, exist_ok=True)
    first, second, target = (os.path.join(work, name) for name in ("first.mlir", "second.mlir", "model.onnx"))
    importer = [os.path.join(onyx_test.BIN, "onyx-import"), "-q", "--docs"] + keep
    code, text = onyx_test.run(importer + [model, "-o", first])
    if code:
        return "import: " + onyx_test.reason(code, text)
    options = f"path={target} weights-root={work}"
    code, text = onyx_test.run(["mlir-opt-22", f"--load-dialect-plugin={PLUGIN}", first, "-o", os.devnull,
                                f"--pass-pipeline=builtin.module(export-onnx{{{options}}})"])
    if code:
        return "export: " + onyx_test.reason(code, text)
    code, text = onyx_test.run(importer + [target, "-o", second])
    if code:
        return "import again: " + onyx_test.reason(code, text)
    was, now = normal(first), normal(second)
    names = names_in(was)
    for a, b in itertools.zip_longest(was, now, fillvalue=""):
        if not same(a, b, names):
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            start = max(0, at - 60)
            return f"differs\n    was {a[start:at + 200].strip()}\n    now {b[start:at + 200].strip()}"
    shutil.rmtree(work)
    return None


def find(*parts):
    return sorted(glob.glob(os.path.join(*parts), recursive=True))


def make_models():
    """Small models that have what the others lack."""
    made = []
    for name in MADE:
        made.append(os.path.join(WORK, "made", name + ".onnx"))
        subprocess.run([sys.executable, MAKE, name, made[-1]], check=True)
    return made + [KEEP + model for model in made if "functions" in model]


def name_of(model):
    for root in (TESTDATA, onyx_test.SHARED):
        if model.startswith(root):
            return os.path.relpath(os.path.dirname(model), root)
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(os.path.join(WORK, "made"))
    models = options.models
    if not models:
        nodes = find(onyx_test.SHARED, "onnx", "node-tests", "*", "model.onnx") + find(TESTDATA, "**", "model.onnx")
        if options.sample and not onyx_test.FULL and options.sample < len(nodes):
            nodes = random.Random(1).sample(nodes, options.sample)
        models = nodes + find(onyx_test.SHARED, "models", "*", "model.onnx") + make_models()
    if not models:
        onyx_test.skip("export-text", f"no models at {onyx_test.SHARED} or {TESTDATA}")
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for model, why in zip(models, pool.map(round_trip, enumerate(models))):
            if why:
                bad += 1
                print(f"failed: {name_of(model)}: {why}", flush=True)
    print(f"{len(models) - bad} passed, {bad} failed")
    onyx_counts.write("export-text", len(models) - bad, bad, 0)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
