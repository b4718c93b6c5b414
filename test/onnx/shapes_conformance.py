#!/usr/bin/env python3
"""Compare inferred result types with the shapes of expected outputs, over the node tests of the standard.

Usage: shapes_conformance.py [--list] [--jobs N] [NAME...]

A case is imported without the shapes of its outputs and goes through shape-inference twice: with its
inputs' types as the model writes them, where the inferred types may never contradict the expected outputs,
and with its small integer and float inputs as constants (axes, sizes, scales: what decides shapes), where
they must be static as well. What is not, is in shapes_not_static.txt with its reason, and the run fails
when that list is not exactly what happens.
"""
import argparse
import concurrent.futures
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance"))
import onnx  # noqa: E402
import cases as node_cases  # noqa: E402
import onyx_counts  # noqa: E402
import onyx_site  # noqa: E402
import onyx_test  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGIN = os.path.join(onyx_site.BUILD, "lib", "libonyx.so")
LIST = os.path.join(HERE, "shapes_not_static.txt")


def split_types(text):
    """The types of "(a, b<c, d>)", by top-level commas."""
    out, depth, item = [], 0, ""
    for c in text:
        depth += c in "(<[{"
        depth -= c in ")>]}"
        if c == "," and depth == 0:
            out.append(item.strip())
            item = ""
        else:
            item += c
    return out + [item.strip()] if item.strip() else out


def balanced(text):
    """The prefix of text up to the parenthesis that closes its first one."""
    depth = 0
    for i, c in enumerate(text):
        depth += c in "(<[{"
        depth -= c in ")>]}" and not (c == ">" and text[i - 1] == "-")
        if depth == 0:
            return text[:i + 1]
    return text


def result_types(module):
    """Result types of the entry function, from generic text."""
    match = re.search(r"function_type = (\(.*)", module)
    text = match.group(1)
    inputs = balanced(text)
    rest = text[len(inputs):].lstrip()
    rest = rest[2:].lstrip()
    return split_types(balanced(rest)[1:-1]) if rest.startswith("(") else [balanced_type(rest)]


def balanced_type(text):
    depth = 0
    for i, c in enumerate(text):
        depth += c in "<({["
        depth -= c in ">)}]"
        if depth < 0 or (depth == 0 and c in ", "):
            return text[:i]
    return text


def expected_dims(path):
    """Shape of an expected output that is a tensor, else None."""
    tensor = onnx.TensorProto()
    try:
        with open(path, "rb") as f:
            tensor.ParseFromString(f.read())
    except Exception:
        return None
    return list(tensor.dims) if tensor.data_type else None


def tensor_outputs(case):
    """For each output whether it is a tensor: other kinds are not compared."""
    model = onnx.ModelProto()
    with open(case.model, "rb") as f:
        model.ParseFromString(f.read())
    return [o.type.WhichOneof("value") == "tensor_type" for o in model.graph.output]


def dims_of(type_text):
    """tensor<2x?xf32> gives [2, None]; tensor<*xf32> gives None."""
    inner = type_text[len("tensor<"):-1]
    if inner.startswith("*"):
        return None
    parts = re.match(r"((?:\d+x|\?x)*)", inner).group(1).split("x")[:-1]
    return [None if p == "?" else int(p) for p in parts]


def fix_inputs(case, graph):
    """Makes constants of the inputs that can be data for shapes: at most 64 integers or 8 floats."""
    constants = {t.name for t in graph.initializer}
    inputs = [i for i in graph.input if i.name not in constants]
    for path, value in zip(case.protos("input"), inputs):
        if value.type.WhichOneof("value") != "tensor_type":
            continue
        tensor = onnx.TensorProto()
        with open(path, "rb") as f:
            tensor.ParseFromString(f.read())
        count = 1
        for size in tensor.dims:
            count *= size
        if tensor.data_type in (6, 7, 9) and count <= 64 or tensor.data_type == 1 and count <= 8:
            tensor.name = value.name
            graph.initializer.append(tensor)
            graph.input.remove(value)


def import_case(case, folder, fixed):
    """The case as text whose function has the case's name, without the shapes of its outputs: inference
    shall find them. Returns (text, None) or (None, reason)."""
    model = onnx.ModelProto()
    with open(case.model, "rb") as f:
        model.ParseFromString(f.read())
    for output in model.graph.output:
        if output.type.WhichOneof("value") == "tensor_type":
            output.type.tensor_type.ClearField("shape")
    if fixed:
        fix_inputs(case, model.graph)
    stem = os.path.join(folder, case.name)
    with open(stem + ".onnx", "wb") as f:
        f.write(model.SerializeToString())
    code, out = onyx_test.run([os.path.join(onyx_test.BIN, "onyx-import"), "-q", "--entry", case.name, stem + ".onnx",
                               "-o", stem + ".mlir"])
    if code:
        return None, "import: " + onyx_test.reason(code, out)
    with open(stem + ".mlir") as f:
        return f.read(), None


def infer(texts, folder):
    """(exit code, generic text) of shape-inference over some modules in one process."""
    path = os.path.join(folder, "batch.mlir")
    with open(path, "w") as f:
        f.write("\n// -----\n".join(texts))
    return onyx_test.run(["mlir-opt-22", f"--load-dialect-plugin={PLUGIN}", "--mlir-print-op-generic",
                          "--split-input-file",
                          f"--pass-pipeline=builtin.module(shape-inference{{weights-root={folder}}})", path])


def compare(case, module):
    types, dynamic = result_types(module), []
    for i, (path, tensor) in enumerate(zip(case.protos("output"), tensor_outputs(case))):
        want = expected_dims(path) if tensor else None
        if want is None or not types[i].startswith("tensor<"):
            continue
        have = dims_of(types[i])
        if have is not None and (len(have) != len(want) or any(h not in (None, w) for h, w in zip(have, want))):
            return "fail", f"output {i}: inferred {types[i]}, expected {want}"
        if have is None or None in have:
            dynamic.append(f"output {i} is {types[i]}")
    return ("dynamic", "; ".join(dynamic)) if dynamic else ("ok", "")


def judge(batch):
    """A verdict for each case: ("ok" | "dynamic" | "fail" | "skip", reason)."""
    verdicts = judge_form(batch, True)
    for name, (verdict, why) in judge_form(batch, False).items():
        if verdict == "fail" and verdicts[name][0] != "fail":
            verdicts[name] = verdict, "inputs as they are: " + why
    return verdicts


def judge_form(batch, fixed):
    verdicts = {}
    with tempfile.TemporaryDirectory() as folder:
        texts = {}
        for case in batch:
            text, why = import_case(case, folder, fixed)
            if text is None:
                verdicts[case.name] = ("skip", why)
            else:
                texts[case.name] = text
        _, out = infer(texts.values(), folder)
        modules = {}
        for module in out.split('"builtin.module"() <{') + out.split('"builtin.module"() ({'):
            match = re.search(r'function_type = .*?sym_name = "([^"]*)"', module)
            if match:
                modules[match.group(1)] = module
        for case in batch:
            if case.name in modules:
                verdicts[case.name] = compare(case, modules[case.name])
            elif case.name in texts:  # its error is among others: once more, alone
                code, out = infer([texts[case.name]], folder)
                verdicts[case.name] = ("fail", onyx_test.reason(code, out)) if code else compare(case, out)
    return verdicts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true", help="print every case that is not static")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    todo = [c for c in node_cases.all_cases() if c.model and (not options.names or c.name in options.names)]
    if not todo:
        onyx_test.skip("shapes", "no node tests on this machine")
    listed = onyx_test.expected_failures(LIST)
    counts = {"ok": 0, "dynamic": 0, "fail": 0, "skip": 0}
    bad = []
    batches = [todo[i:i + 64] for i in range(0, len(todo), 64)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = {name: v for part in pool.map(judge, batches) for name, v in part.items()}
        for case in todo:
            verdict, why = verdicts[case.name]
            counts[verdict] += 1
            wrong = verdict == "fail" or (verdict == "dynamic") != (case.name in listed)
            if verdict == "skip":
                wrong = False
            if wrong:
                bad.append(case.name)
            if wrong or options.list:
                note = "" if not wrong else "listed as not static, but it is: " if case.name in listed and verdict == "ok" else ""
                print(f"{verdict}: {case.name}: {note}{why}")
    print(f"{counts['ok']} static, {counts['dynamic']} not static, {counts['fail']} wrong, {counts['skip']} not imported")
    if not options.names:
        onyx_counts.write("shapes", counts["ok"] + counts["dynamic"] - len(bad), len(bad), counts["skip"])
    sys.exit(1 if bad else 0)


main()
