"""The part of the way that `--until` asks for, by mlir-opt-22 alone, and what its text must say."""
import os
import re

import cases
import onnx
import onyx_site
import onyx_test

OPT = ["/usr/bin/mlir-opt-22", f"--load-dialect-plugin={onyx_site.BUILD}/lib/libonyx.so"]
GRAPH = "shape-inference"
KRNL = GRAPH + ",convert-onnx-to-krnl"
PIPELINES = {"import": None, "parse": "", "shapes": GRAPH, "krnl": KRNL,
             "affine": KRNL + ",lower-krnl-region,convert-krnl-to-affine", "llvm": "onyx-O{level}"}

# TensorProto.DataType to the element type in the text (signed integers are signless there).
ELEMENTS = {1: "f32", 2: "ui8", 3: "i8", 4: "ui16", 5: "i16", 6: "i32", 7: "i64", 8: "!onnx.String", 9: "i1", 10: "f16",
            11: "f64", 12: "ui32", 13: "ui64", 14: "complex<f32>", 15: "complex<f64>", 16: "bf16", 17: "f8E4M3FN",
            18: "f8E4M3FNUZ", 19: "f8E5M2", 20: "f8E5M2FNUZ", 21: "ui4", 22: "i4", 23: "f4E2M1FN", 24: "f8E8M0FNU",
            25: "ui2", 26: "i2"}


def opt(text_file, stage, level):
    """Runs the passes up to the stage; returns (exit code, text)."""
    pipeline = PIPELINES[stage].format(level=level)
    command = OPT + [f"--pass-pipeline=builtin.module({pipeline})", os.path.basename(text_file)]
    return onyx_test.run(command, 60, cwd=os.path.dirname(text_file))


def result_types(text):
    """The result types of the entry function, in order; attributes dropped."""
    match = re.search(r"func\.func @main_graph\(", text)
    if not match:
        return []
    i = closing(text, match.end() - 1) + 1
    if not text[i:].startswith(" -> "):
        return []
    i += 4
    if text[i] == "(":
        inner = text[i + 1:closing(text, i)]
    else:
        inner = text[i:text.index(" {", i)]
        inner = re.sub(r" attributes$", "", inner)
    types, depth, begin = [], 0, 0
    for k, c in enumerate(inner + ","):
        depth += (c in "(<{[") - (c in ")>}]" and inner[k - 1] != "-")
        if c == "," and depth == 0:
            types.append(re.sub(r" \{.*\}$", "", inner[begin:k].strip()))
            begin = k + 1
    return types


def closing(text, i):
    """The index of the bracket that closes the one at i; strings are jumped over."""
    depth = 0
    for match in re.compile(r'"(?:[^"\\]|\\.)*"|[(){}]').finditer(text, i):
        depth += (match[0] in "({") - (match[0] in ")}")
        if depth == 0:
            return match.start()
    return len(text) - 1


def check_shapes(case, text, folder):
    """None, or how the inferred result types contradict the expected outputs."""
    types = result_types(text)
    for index, file in enumerate(case.protos("output")):
        if index >= len(types):
            return f"{len(types)} results, expected output {index}"
        match = re.fullmatch(r"tensor<((?:(?:\d+|\?)x|\*x)*)(.*?)(?:, .*)?>", types[index])
        if not match:
            continue  # a sequence or optional
        tensor = onnx.TensorProto()
        with open(cases.true_type(case, "output", index, file, folder), "rb") as f:
            tensor.ParseFromString(f.read())
        element = ELEMENTS.get(tensor.data_type)
        if element and match[2] != element:
            return f"result {index} is {types[index]}, expected elements {element}"
        if match[1] == "*x":
            return f"result {index} has no rank: {types[index]}"
        dims = match[1].split("x")[:-1]
        expected = list(tensor.dims)
        if len(dims) != len(expected) or any(d not in ("?", str(e)) for d, e in zip(dims, expected)):
            return f"result {index} is {types[index]}, expected shape {'x'.join(map(str, expected)) or 'of rank 0'}"
    return None


def until(case, imported, stage, level):
    """None or (stage, reason)."""
    for name in list(PIPELINES)[1:]:
        if name not in ("shapes", stage):
            continue
        code, text = opt(imported, name, level)
        if code:
            return (name, onyx_test.reason(code, text))
        if name == "shapes":
            wrong = check_shapes(case, text, os.path.dirname(imported))
            if wrong:
                return ("shapes", wrong)
        if name == stage:
            break
    return None
