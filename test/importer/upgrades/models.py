"""The cases as .onnx files, for the test and for record.py."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NAMES = {"float": TensorProto.FLOAT, "int64": TensorProto.INT64, "int32": TensorProto.INT32, "bool": TensorProto.BOOL,
         "uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "string": TensorProto.STRING}


def running_sum():
    info = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, None)
    nodes = [helper.make_node("Add", ["s", "x"], ["sum"]), helper.make_node("Identity", ["sum"], ["y"])]
    return helper.make_graph(nodes, "body", [info("s"), info("x")], [info("sum"), info("y")])


def attribute(name, value):
    return helper.make_attribute(name, value)


def model(case):
    names = ["" if x is None else f"in{i}" for i, x in enumerate(case["inputs"])]
    outs = [f"out{i}" for i in range(case["outputs"])]
    nodes, used = [], list(names)
    if case["hide"]:
        nodes.append(helper.make_node("Identity", ["in0"], ["hidden"]))
        used[0] = "hidden"
    node = helper.make_node(case["op"], used, outs, name="node", domain=case["domain"])
    node.attribute.extend(attribute(k, v) for k, v in case["attrs"].items())
    if case["body"]:
        node.attribute.append(attribute("body", globals()[case["body"]]()))
    nodes.append(node)
    inputs, initializers = [], []
    for i, x in enumerate(case["inputs"]):
        if x is None:
            continue
        x = np.asarray(x)
        tensor = numpy_helper.from_array(x, f"in{i}")
        if i in case["initializers"]:
            initializers.append(tensor)
        else:
            inputs.append(helper.make_tensor_value_info(f"in{i}", tensor.data_type, x.shape))
    types = case["out_types"] or ["float"] * case["outputs"]
    outputs = [helper.make_tensor_value_info(n, NAMES[t], None) for n, t in zip(outs, types)]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers)
    ml = case["domain"] == "ai.onnx.ml"
    opsets = [helper.make_opsetid("", 12 if ml else case["opset"])]
    if ml:
        opsets.append(helper.make_opsetid("ai.onnx.ml", case["opset"]))
    made = helper.make_model(graph, opset_imports=opsets, producer_name="onyx upgrades")
    made.ir_version = 8
    return made


def write(case, folder):
    """model.onnx and input_i.pb in graph-input order."""
    os.makedirs(folder, exist_ok=True)
    onnx.save(model(case), os.path.join(folder, "model.onnx"))
    place = 0
    for i, x in enumerate(case["inputs"]):
        if x is None or i in case["initializers"]:
            continue
        with open(os.path.join(folder, f"input_{place}.pb"), "wb") as f:
            f.write(numpy_helper.from_array(np.asarray(x), f"in{i}").SerializeToString())
        place += 1
    return place
