"""large.py: a model with 2.25 GiB of weights comes back with external data, and without it is refused in one clear line.

The weights are a sparse file that the test makes; only with ONYX_FULL.
"""
import hashlib
import os
import shutil
import sys

import onnx
import onyx_counts
import onyx_site
import onyx_test
from onnx import TensorProto, helper

WORK = os.path.join(onyx_site.BUILD, "test", "export-large")
PLUGIN = os.path.join(onyx_site.BUILD, "lib", "libonyx.so")
ROWS, COLUMNS = 9 << 16, 1024  # 2.25 GiB of f32
MARKS = {0: b"first byte", 1 << 31: b"two GiB", (ROWS * COLUMNS * 4) - 8: b"the last"}


def make(path):
    info = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("Gather", ["w", "i"], ["y"])], "large", [info("i", TensorProto.INT64, [1])],
                              [info("y", TensorProto.FLOAT, [1, COLUMNS])])
    w = graph.initializer.add()
    w.name, w.data_type, w.data_location = "w", TensorProto.FLOAT, TensorProto.EXTERNAL
    w.dims.extend([ROWS, COLUMNS])
    for key, value in (("location", "w.bin"), ("offset", "0"), ("length", str(ROWS * COLUMNS * 4))):
        entry = w.external_data.add()
        entry.key, entry.value = key, value
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    with open(os.path.join(os.path.dirname(path), "w.bin"), "wb") as f:
        f.truncate(ROWS * COLUMNS * 4)
        for at, text in MARKS.items():
            f.seek(at)
            f.write(text)


def export(text, options):
    return onyx_test.run(["mlir-opt-22", f"--load-dialect-plugin={PLUGIN}", text, "-o", os.devnull,
                          f"--pass-pipeline=builtin.module(export-onnx{{{options} weights-root={WORK}}})"], timeout=600)


def check():
    model, text, target = (os.path.join(WORK, name) for name in ("model.onnx", "model.mlir", "out.onnx"))
    make(model)
    code, output = onyx_test.run([os.path.join(onyx_test.BIN, "onyx-import"), model, "-o", text], timeout=600)
    if code:
        return "import: " + onyx_test.reason(code, output)
    code, output = export(text, f"path={target}")
    if code == 0 or "more than a protobuf message may: use external-data=FILE" not in output or os.path.exists(target):
        return f"without external-data: code {code}, {output[:300]}"
    code, output = export(text, f"path={target} external-data=out.data")
    if code:
        return "with external-data: " + onyx_test.reason(code, output)
    entries = {e.key: e.value for e in onnx.load(target, load_external_data=False).graph.initializer[0].external_data}
    if entries != {"location": "out.data", "offset": "0", "length": str(ROWS * COLUMNS * 4)}:
        return f"external data is {entries}"
    with open(os.path.join(WORK, "w.bin"), "rb") as was, open(os.path.join(WORK, "out.data"), "rb") as now:
        if hashlib.file_digest(was, "sha256").digest() != hashlib.file_digest(now, "sha256").digest():
            return "the weights differ"
    return None


def main():
    if not onyx_test.FULL:
        onyx_test.skip("export-large", "2.25 GiB of weights, only with check --full")
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    try:
        why = check()
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    print(f"FAIL: {why}" if why else "ok")
    onyx_counts.write("export-large", why is None, why is not None, 0)
    sys.exit(why is not None)


main()
