"""transformer.py DIR GB: writes a transformer of 8 layers whose weights are about GB, as a sparse file of zeros.

The graph is the same for every size, only wider: what costs more for a larger one costs by its weights' bytes.
"""
import math
import os
import sys

import onnx
from onnx import TensorProto, helper

LAYERS = 8


def main(folder, gigabytes):
    os.makedirs(folder, exist_ok=True)
    # A layer has 12 width^2 floats.
    width = max(64, round(math.sqrt(float(gigabytes) * 2**30 / (LAYERS * 12 * 4)) / 64) * 64)
    nodes, weights, offset = [], [], 0

    def weight(name, *shape):
        nonlocal offset
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
        size = 4 * math.prod(shape)
        for key, value in (("location", "weights.bin"), ("offset", offset), ("length", size)):
            tensor.external_data.add(key=key, value=str(value))
        offset += size
        weights.append(tensor)
        return name

    def node(op, *inputs, **attributes):
        name = f"v{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [name], name=f"{op}_{len(nodes)}", **attributes))
        return name

    scale = weight("scale", width)
    x = "x"
    for layer in range(LAYERS):
        def linear(v, name, n, m):
            return node("MatMul", v, weight(f"layer{layer}.{name}", n, m))

        h = node("LayerNormalization", x, scale)
        q, k, v = (linear(h, name, width, width) for name in "qkv")
        scores = node("Softmax", node("MatMul", q, node("Transpose", k, perm=[1, 0])))
        x = node("Add", x, linear(node("MatMul", scores, v), "o", width, width))
        h = node("Relu", linear(node("LayerNormalization", x, scale), "up", width, 4 * width))
        x = node("Add", x, linear(h, "down", 4 * width, width))

    def value(name):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["tokens", width])

    graph = helper.make_graph(nodes, "transformer", [value("x")], [value(x)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, os.path.join(folder, "model.onnx"))
    with open(os.path.join(folder, "weights.bin"), "wb") as f:
        f.truncate(offset)
    print(f"{folder}: width {width}, {offset / 2**30:.2f} GB of weights")


if __name__ == "__main__":
    main(*sys.argv[1:])
