"""Models of one operator each, compiled and compared with onnxruntime or with values that the case gives.

A suite is a list of cases (name, operator, inputs, attributes, output types[, expected outputs]); an input of None is
left out, a `fixed` one is an initializer.
"""
import glob
import os
import random
import shutil
import sys
import tempfile

import numpy as np
import onnx
import onyx_counts
import onyx_site
import onyx_test
from onnx import helper, numpy_helper


class Fixed(np.ndarray):
    """An input that the operator wants as a constant."""


def fixed(array):
    return array.view(Fixed)


def write_model(folder, opsets, domain, operator, inputs, attributes, outputs):
    graph_inputs, names, initializers, feeds = [], [], [], []
    for i, array in enumerate(inputs):
        names.append("" if array is None else f"x{i}")
        if array is None:
            continue
        kind = helper.np_dtype_to_tensor_dtype(array.dtype) if hasattr(helper, "np_dtype_to_tensor_dtype") \
            else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype]
        if isinstance(array, Fixed):
            initializers.append(numpy_helper.from_array(np.asarray(array), f"x{i}"))
        else:
            graph_inputs.append(helper.make_tensor_value_info(f"x{i}", kind, array.shape))
            feeds.append(numpy_helper.from_array(array, f"x{i}"))
    graph_outputs = [helper.make_tensor_value_info(f"y{i}", onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[np.dtype(o)], None)
                     for i, o in enumerate(outputs) if o is not None]
    node = helper.make_node(operator, names, [f"y{i}" if o is not None else "" for i, o in enumerate(outputs)],
                            domain=domain, **attributes)
    graph = helper.make_graph([node], "one_operator", graph_inputs, graph_outputs, initializers)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid(d, v) for d, v in opsets.items()])
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    for i, tensor in enumerate(feeds):
        with open(os.path.join(folder, f"input_{i}.pb"), "wb") as out:
            out.write(tensor.SerializeToString())
    return path


def files(folder, kind):
    return sorted(glob.glob(os.path.join(folder, kind + "_*.pb")))


def save_reference(folder, package, model, values):
    """Writes the expected outputs to folder/ref; returns None or why it could not."""
    if values is not None:
        os.makedirs(f"{folder}/ref")
        for i, value in enumerate(values):
            with open(f"{folder}/ref/output_{i}.pb", "wb") as out:
                out.write(numpy_helper.from_array(np.asarray(value)).SerializeToString())
        return None
    tool = os.path.realpath(os.path.join(onyx_test.SHARED, "tools", "ort_run.mjs"))  # it runs only under its real name
    # node reserves more address space than a test may: no bounds for the reference.
    code = os.system(f"node {tool} {model} --inputs {folder} --save {folder}/ref --no-time --ortpkg {package} > {folder}/log 2>&1")
    if not code:
        return None
    with open(os.path.join(folder, "log")) as log:
        return "reference: " + log.read()[-300:]


def check(folder, package, opsets, domain, operator, inputs, attributes, outputs, values=None):
    """None, or why the case does not give what it should."""
    model = write_model(folder, opsets, domain, operator, inputs, attributes, outputs)
    why = save_reference(folder, package, model, values)
    if why:
        return why
    compiled = os.path.join(folder, "model.so")
    code, text = onyx_test.run([f"{onyx_test.BIN}/onyx-compile", model, "-o", compiled])
    if code:
        return "compile: " + onyx_test.reason(code, text)
    # A quantized result may differ by one where a value lies between two steps.
    command = [f"{onyx_test.BIN}/onyx-run", compiled, "--rtol", "1e-3", "--atol", "1.001" if np.uint8 in outputs else "1e-5"]
    for file in files(folder, "input"):
        command += ["--input", file]
    expected = files(os.path.join(folder, "ref"), "output")
    if len(expected) != sum(o is not None for o in outputs):
        return "reference: it has no outputs"
    for file in expected:
        command += ["--expected-output", file]
    code, text = onyx_test.run(command)
    return "run: " + onyx_test.reason(code, text) if code else None


def main(suite, cases, domain, opsets, sample=None):
    """Runs the cases that the command line names, else a sample by seed, else (ONYX_FULL) all."""
    packages = [os.environ.get("ONYX_ORT", ""), os.path.join(onyx_site.BUILD, "ort")]
    package = next((p for p in packages if p and os.path.isdir(os.path.join(p, "node_modules/onnxruntime-node"))), None)
    if not package or not shutil.which("node") or not os.path.isdir(os.path.join(onyx_test.SHARED, "tools")):
        onyx_test.skip(suite, "needs node, onnxruntime-node (scripts/setup --reference, or ONYX_ORT) and the shared tools")
    passed, failed = 0, 0
    todo = [c for c in cases if len(sys.argv) == 1 or c[0] in sys.argv[1:]]
    if len(sys.argv) == 1 and sample and not onyx_test.FULL:
        todo = random.Random(int(os.environ.get("ONYX_SEED", "1"))).sample(todo, sample)
    for name, *case in todo:
        with tempfile.TemporaryDirectory() as folder:
            why = check(folder, package, opsets, domain, *case)
        passed, failed = passed + (not why), failed + bool(why)
        if why:
            print(f"{name}: {why}")
    print(f"{passed} passed, {failed} failed")
    if len(sys.argv) == 1:
        onyx_counts.write(suite, passed, failed, 0)
    sys.exit(1 if failed else 0)
