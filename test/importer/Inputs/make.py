#!/usr/bin/env python3
"""make.py NAME OUT.onnx: small models for the tests of the importer."""
import os
import sys

import numpy as np
from onnx import SparseTensorProto, TensorProto, TypeProto, checker, helper, numpy_helper, save

F, I = TensorProto.FLOAT, TensorProto.INT64
node, info = helper.make_node, helper.make_tensor_value_info


def tensor(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model(nodes, inputs, outputs, initializers=(), opset=17, functions=(), extra=(), **fields):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, v) for d, v in extra]
    made = helper.make_model(graph, opset_imports=opsets, functions=list(functions), **fields)
    made.ir_version = 8
    return made


def text():
    nodes = [node("Conv", ["x", "w"], ["c"], name="conv", kernel_shape=[1, 1], group=1),
             node("Clip", ["c", "", "high"], ["d"], name="clip"),
             node("Dropout", ["d"], ["e"], name="drop"),
             node("Cast", ["e"], ["y"], name="cast", to=TensorProto.DOUBLE)]
    made = model(nodes, [info("x", F, ["batch", 2, None, 0])], [info("y", TensorProto.DOUBLE, ["batch", 40, "h", 0])],
                 [tensor("w", np.zeros((40, 2, 1, 1), np.float32)), tensor("high", np.float32(1.5)),
                  tensor("unused", np.float32(1))], producer_name="maker", doc_string="a doc")
    helper.set_model_props(made, {"author": "me"})
    return made


def literals():
    values = [np.array([np.inf, -np.inf, np.nan, -0.0, 1e-5, 0.1], np.float32), np.array([1e300, 0.1]),
              np.array([1.5, np.inf, 6e-8], np.float16), np.array([1 + 2j], np.complex64), np.array([True, False]),
              np.array([2 ** 64 - 1], np.uint64), np.array([-2 ** 63]), np.array(["a\"b", "c\nd"], object),
              np.zeros((0, 3), np.float32), np.array(7, np.int8), np.full((2, 2), 3, np.int32)]
    names = [f"v{i}" for i in range(len(values))]
    nodes = [node("Constant", [], [n], value=tensor("", v)) for n, v in zip(names, values)]
    nodes += [node("Constant", [], ["i"], value_int=3), node("Constant", [], ["f"], value_floats=[0.5, 1.0]),
              node("Constant", [], ["s"], value_string="text")]
    outputs = [info(n, tensor("", v).data_type, v.shape) for n, v in zip(names, values)]
    return model(nodes, [], outputs + [info("i", I, []), info("f", F, [2]), info("s", TensorProto.STRING, [])])


def narrow():
    """Types that numpy lacks: 4 and 8 bits, bfloat16."""
    made = model([node("Identity", [n], [n + "_out"]) for n in ("i4", "u4", "f8", "bf", "h")], [],
                 [], opset=21)
    for name, kind, dims, raw in (("i4", 22, [3], b"\x2f\x08"), ("u4", 21, [3], b"\x2f\x08"), ("f8", 17, [2], b"\x38\x7f"),
                                  ("bf", 16, [1], b"\x80\x3f")):
        t = made.graph.initializer.add()
        t.name, t.data_type, t.raw_data = name, kind, raw
        t.dims.extend(dims)
    t = made.graph.initializer.add()  # float16 bits stand in int32_data
    t.name, t.data_type = "h", 10
    t.dims.extend([2])
    t.int32_data.extend([0x3c00, 0xc000])
    for name, kind, count in (("i4", 22, 3), ("u4", 21, 3), ("f8", 17, 2), ("bf", 16, 1), ("h", 10, 2)):
        out = made.graph.output.add()
        out.name = name + "_out"
        out.type.tensor_type.elem_type = kind
        out.type.tensor_type.shape.dim.add().dim_value = count
    return made


def typed():
    """Elements in the typed fields: a long packed run stays in the file, other forms do not."""
    long = helper.make_tensor("long", F, [100], np.arange(100, dtype=np.float32))
    ints = helper.make_tensor("ints", I, [100], list(range(100)))
    nodes = [node("Identity", ["long"], ["a"]), node("Identity", ["ints"], ["b"])]
    return model(nodes, [], [info("a", F, [100]), info("b", I, [100])], [long, ints])


def sparse():
    made = model([node("Identity", ["s"], ["y"])], [], [info("y", F, [2, 3])])
    s = made.graph.sparse_initializer.add()
    s.values.CopyFrom(tensor("s", np.array([5, 6], np.float32)))
    s.indices.CopyFrom(tensor("", np.array([[0, 1], [1, 2]])))
    s.dims.extend([2, 3])
    return made


def scopes():
    """Shadowed and captured names, nodes out of order, an initializer as output."""
    branch = lambda op: helper.make_graph([node(op, ["x", "late"], ["z"]), node("Neg", ["z"], ["late2"])], op, [],
                                          [info("late2", F, None)])
    inner = helper.make_graph([node("Abs", ["x"], ["z"])], "inner", [], [info("z", F, None)])
    nodes = [node("If", ["c"], ["r"], name="if", then_branch=branch("Add"), else_branch=branch("Mul")),
             node("Exp", ["x"], ["late"], name="exp"),
             node("If", ["c"], ["q"], then_branch=inner, else_branch=inner)]
    return model(nodes, [info("x", F, [2]), info("c", TensorProto.BOOL, []), info("w", F, [1])],
                 [info("r", F, [2]), info("q", F, [2]), info("w", F, [1]), info("x", F, [2])],
                 [tensor("w", np.array([4], np.float32))])


def duplicates():
    """A name that two nodes define, another that two initializers have, nodes of one name and of none."""
    nodes = [node("Abs", ["x"], ["a"], name="same"), node("Neg", ["a"], ["b"], name="same"), node("Exp", ["b"], ["a"]),
             node("Add", ["a", "w"], ["y"])]
    return model(nodes, [info("x", F, [1])], [info("y", F, [1])],
                 [tensor("w", np.array([1], np.float32)), tensor("w", np.array([2], np.float32))])


def nothing():
    """No nodes: an input and an initializer are the outputs."""
    return model([], [info("x", F, [1])], [info("x", F, [1]), info("w", F, [1])], [tensor("w", np.array([1], np.float32))])


def cycle():
    return model([node("Add", ["x", "b"], ["a"], name="one"), node("Neg", ["a"], ["b"], name="two")],
                 [info("x", F, [1])], [info("b", F, [1])])


def names():
    made = model([node("Neg", ["a\"\\\n"], ["b,:%"], name="n\x01\u00e9")], [info("a\"\\\n", F, ["d,:%"])], [info("b,:%", F, ["d,:%"])])
    return made


def loop():
    body = helper.make_graph([node("Identity", ["c"], ["c2"]), node("Add", ["v", "w"], ["v2"]), node("Identity", ["v2"], ["s"])],
                             "body", [info("i", I, []), info("c", TensorProto.BOOL, []), info("v", F, None)],
                             [info("c2", TensorProto.BOOL, []), info("v2", F, None), info("s", F, None)])
    return model([node("Loop", ["n", "", "x"], ["y", "z"], name="loop", body=body)],
                 [info("n", I, []), info("x", F, [2]), info("w", F, [2])], [info("y", F, [2]), info("z", F, [None, 2])])


def containers():
    """Sequences, optionals and maps."""
    seq = helper.make_tensor_sequence_value_info("s", F, None)
    opt = helper.make_value_info("o", helper.make_optional_type_proto(helper.make_tensor_type_proto(F, [2])))
    nodes = [node("SequenceInsert", ["s", "x"], ["s2"]), node("SequenceAt", ["s2", "i"], ["y"]),
             node("OptionalGetElement", ["o"], ["e"]), node("Optional", ["x"], ["p"])]
    out = helper.make_value_info("p", helper.make_optional_type_proto(helper.make_tensor_type_proto(F, None)))
    zip_map = node("ZipMap", ["scores"], ["m"], domain="ai.onnx.ml", classlabels_strings=["a", "b"])
    value = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(F, [])) if hasattr(helper, "make_map_type_proto") else None
    if value is None:
        value = TypeProto()
        value.map_type.key_type = TensorProto.STRING
        value.map_type.value_type.CopyFrom(helper.make_tensor_type_proto(F, []))
    maps = helper.make_value_info("m", helper.make_sequence_type_proto(value))
    return model(nodes + [zip_map], [seq, opt, info("x", F, [2]), info("i", I, []), info("scores", F, [None, 2])],
                 [info("y", F, None), info("e", F, None), out, maps], extra=[("ai.onnx.ml", 1)])


def functions():
    """A function with an attribute by reference and a default, that calls another."""
    inner = helper.make_function("local", "Half", ["a"], ["b"], [node("Constant", [], ["h"], value_float=0.5), node("Mul", ["a", "h"], ["b"])],
                                 [helper.make_opsetid("", 17)])
    leaky = node("LeakyRelu", ["t"], ["y"], name="leaky")
    ref = leaky.attribute.add()
    ref.name, ref.ref_attr_name, ref.type = "alpha", "slope", 1
    outer = helper.make_function("local", "Slope", ["x", "extra"], ["y"], [node("Half", ["x"], ["t"], domain="local"), leaky],
                                 [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)], ["slope"])
    nodes = [node("Slope", ["x"], ["m"], domain="local", name="call", slope=0.25), node("Slope", ["m"], ["y"], domain="local")]
    return model(nodes, [info("x", F, [2])], [info("y", F, [2])], functions=[inner, outer], extra=[("local", 1)])


def recursion():
    f = helper.make_function("local", "F", ["a"], ["b"], [node("F", ["a"], ["b"], domain="local")], [helper.make_opsetid("local", 1)])
    return model([node("F", ["x"], ["y"], domain="local", name="call")], [info("x", F, [1])], [info("y", F, [1])], functions=[f],
                 extra=[("local", 1)])


def bomb():
    """Thirty functions, each of which calls the one below twice."""
    fs = [helper.make_function("local", "F0", ["a"], ["b"], [node("Neg", ["a"], ["b"])], [helper.make_opsetid("", 17)])]
    for i in range(1, 31):
        fs.append(helper.make_function("local", f"F{i}", ["a"], ["b"],
                                       [node(f"F{i - 1}", ["a"], ["t"], domain="local"), node(f"F{i - 1}", ["t"], ["b"], domain="local")],
                                       [helper.make_opsetid("local", 1)]))
    return model([node("F30", ["x"], ["y"], domain="local")], [info("x", F, [1])], [info("y", F, [1])], functions=fs, extra=[("local", 1)])


def custom():
    nodes = [node("Relu", ["x"], ["h"], domain="com.microsoft", name="mine", alpha=0.5), node("Relu", ["h"], ["y"], name="theirs")]
    return model(nodes, [info("x", F, [2])], [info("y", F, [2])], extra=[("com.microsoft", 1)])


def attributes():
    """A node of another domain with attributes of every kind, an empty list, odd names and bytes that are no text."""
    def graph(op):
        return helper.make_graph([node(op, ["x"], ["z"])], op, [], [info("z", F, None)])

    some = node("Kinds", ["x", "", "x"], ["y", "", "z"], domain="my.domain", name="kinds", f=0.5, i=-3, s=b"\xff\x00a", fs=[1.5, 2.0],
                i_s=[1, -2], ss=["a", "b"], t=tensor("", np.array([1, 2], np.int8)), g=graph("Neg"))
    many = some.attribute.add()
    many.name, many.type = "tensors", 9
    many.tensors.extend([tensor("", np.array([1], np.float32)), tensor("", np.array([[2]], np.int64))])
    many = some.attribute.add()
    many.name, many.type = "graphs", 10
    many.graphs.extend([graph("Abs"), graph("Exp")])
    empty = some.attribute.add()
    empty.name, empty.type = "with.dot", 7
    kind = some.attribute.add()
    kind.name, kind.type = "type", 13
    kind.tp.CopyFrom(helper.make_optional_type_proto(helper.make_tensor_type_proto(F, [2, "n"])))
    return model([some], [info("x", F, [2])], [info("y", F, [2]), info("z", F, [2])], extra=[("my.domain", 7)])


def notes():
    """Docs of the model, the graph and a node; annotations of quantized tensors; metadata."""
    made = model([node("Relu", ["x"], ["y"], name="relu", doc_string="of the node"), node("Abs", ["w"], ["v"])],
                 [info("x", F, ["n"])], [info("y", F, ["n"]), info("v", F, [1])], [tensor("w", np.array([1], np.float32))],
                 doc_string="of the model", domain="of.the.model", model_version=3)
    made.graph.doc_string = "of the graph"
    annotation = made.graph.quantization_annotation.add()
    annotation.tensor_name = "w"
    for key, value in (("SCALE_TENSOR", "w"), ("ZERO_POINT_TENSOR", "x")):
        entry = annotation.quant_parameter_tensor_names.add()
        entry.key, entry.value = key, value
    helper.set_model_props(made, {"author": "me"})
    return made


def passed():
    """A loop whose body gives an input on, and an output that is an input."""
    body = helper.make_graph([node("Add", ["v", "w"], ["v2"])], "body",
                             [info("i", I, []), info("c", TensorProto.BOOL, []), info("v", F, None), info("u", F, None)],
                             [info("c", TensorProto.BOOL, []), info("v2", F, None), info("u", F, None)])
    return model([node("Loop", ["n", "", "x", "w"], ["y", "z"], name="loop", body=body)],
                 [info("n", I, []), info("x", F, [2]), info("w", F, [2])], [info("y", F, [2]), info("z", F, [2]), info("w", F, [2])])


def external(location="weights.bin", offset="16", length="400", size=416):
    made = model([node("Add", ["x", "w"], ["y"])], [info("x", F, [100])], [info("y", F, [100])])
    t = made.graph.initializer.add()
    t.name, t.data_type, t.data_location = "w", F, TensorProto.EXTERNAL
    t.dims.extend([100])
    for key, value in (("location", location), ("offset", offset), ("length", length), ("checksum", "ignored")):
        if value:
            entry = t.external_data.add()
            entry.key, entry.value = key, value
    with open(os.path.join(os.path.dirname(sys.argv[2]), "weights.bin"), "wb") as f:
        f.write(bytes(range(256)) * 2 if size > 512 else bytes(size))
    return made


def bad(what):
    made = model([node("Add", ["x", "w"], ["y"], name="add")], [info("x", F, [2])], [info("y", F, [2])], [tensor("w", np.zeros(2, np.float32))])
    graph = made.graph
    if what == "dims":
        graph.initializer[0].dims[0] = -2
    elif what == "size":
        graph.initializer[0].dims[0] = 3
    elif what == "overflow":
        graph.initializer[0].dims[:] = [2 ** 62, 2 ** 62]
    elif what == "enum":
        graph.initializer[0].data_type = 77
    elif what == "operand":
        graph.node[0].input[1] = "nobody"
    elif what == "output":
        graph.output[0].name = "nobody"
    elif what == "op":
        graph.node[0].op_type = "Addd"
    elif what == "attribute":
        graph.node[0].attribute.append(helper.make_attribute("alpha", 1.0))
    elif what == "count":
        graph.node[0].input.append("x")
    elif what == "type":
        graph.input[0].type.tensor_type.elem_type = I
    elif what == "declared":
        graph.output[0].type.tensor_type.elem_type = I
    elif what == "version":
        made.opset_import[0].version, graph.node[0].op_type = 10, "Gelu"
        del graph.node[0].input[1]
    elif what == "deep":
        for _ in range(90):
            inner = helper.make_graph(list(graph.node), "g", [], list(graph.output))
            del graph.node[:]
            graph.node.append(node("If", ["c"], ["y"], then_branch=inner, else_branch=helper.make_graph([], "e", [], [])))
    return made


def main():
    name, _, argument = sys.argv[1].partition(":")
    if name == "external" and argument:
        made = external(**dict(part.split("=", 1) for part in argument.split(";")))
    else:
        made = globals()[name](*([argument] if argument else []))
    save(made, sys.argv[2])


if __name__ == "__main__":
    main()
