#!/usr/bin/env python3
"""Compile one model for each operator of com.microsoft that decompose-onnx knows, and compare with onnxruntime.

Usage: contrib.py [NAME...]

Needs node and onnxruntime-node (scripts/setup --reference, or ONYX_ORT); skipped without them. A dozen cases by
seed, all with ONYX_FULL.
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
from onnx import TensorProto, helper, numpy_helper

rng = np.random.RandomState(7)
F, I32, I64, U8, I8 = np.float32, np.int32, np.int64, np.uint8, np.int8


def f(*shape):
    return rng.uniform(-1, 1, shape).astype(F)


def u8(*shape):
    return rng.randint(0, 256, shape).astype(U8)


def i8(*shape):
    return rng.randint(-128, 128, shape).astype(I8)


def s(value):
    return np.array(value, F)


def z(value, kind=U8):
    return np.array(value, kind)


class Fixed(np.ndarray):
    """An input that the operator wants as a constant."""


def fixed(array):
    return array.view(Fixed)


def cases():
    """(name, operator, inputs (None: left out), attributes, output types)"""
    yield "gelu", "Gelu", [f(2, 5)], {}, [F]
    yield "bias_gelu", "BiasGelu", [f(2, 5), f(5)], {}, [F]
    yield "fast_gelu", "FastGelu", [f(2, 5), f(5)], {}, [F]
    yield "fast_gelu_plain", "FastGelu", [f(2, 5)], {}, [F]
    yield "quick_gelu", "QuickGelu", [f(2, 5)], {"alpha": 1.5}, [F]
    image, weights = f(1, 3, 6, 6), f(4, 3, 3, 3)
    for kind, parameters in (("Relu", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.5]), ("Sigmoid", []),
                             ("Tanh", []), ("HardSigmoid", [0.25, 0.4])):
        yield (f"fused_conv_{kind.lower()}", "FusedConv", [image, fixed(weights), fixed(f(4))],
               {"activation": kind, "pads": [1, 1, 1, 1], **({"activation_params": parameters} if parameters else {})}, [F])
    yield ("fused_conv_sum", "FusedConv", [image, fixed(weights), fixed(f(4)), f(1, 4, 4, 4)], {"activation": "Relu"}, [F])
    yield ("fused_gemm", "FusedGemm", [f(3, 4), f(5, 4), f(5)],
           {"activation": "LeakyRelu", "activation_alpha": 0.3, "transB": 1, "alpha": 0.5}, [F])
    yield "fused_matmul", "FusedMatMul", [f(2, 4, 3), f(2, 4, 5)], {"transA": 1, "alpha": 0.25}, [F]
    yield "fused_matmul_b", "FusedMatMul", [f(2, 3, 4), f(2, 5, 4)], {"transB": 1}, [F]
    yield "skip_layer_norm", "SkipLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8), f(8), f(8)], {"epsilon": 1e-5}, [F]
    yield "skip_layer_norm_no_beta", "SkipLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8)], {}, [F]
    yield ("skip_layer_norm_sum", "SkipLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8), f(8), f(8)], {},
           [F, None, None, F])
    yield ("skip_simplified", "SkipSimplifiedLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8)], {"epsilon": 1e-5},
           [F, None, None, F])
    ids = rng.randint(0, 10, (2, 3)).astype(I32)
    kinds = rng.randint(0, 2, (2, 3)).astype(I32)
    embedding = [f(10, 8), f(5, 8), f(2, 8), f(8), f(8)]
    mask = np.array([[1, 1, 0], [1, 0, 0]], I32)
    yield "embed", "EmbedLayerNormalization", [ids, kinds, *embedding, mask], {"epsilon": 1e-5}, [F, I32]
    yield ("embed_no_segment", "EmbedLayerNormalization", [ids, None, embedding[0], embedding[1], None, *embedding[3:]],
           {}, [F, I32])
    yield ("embed_positions", "EmbedLayerNormalization",
           [ids, kinds, *embedding, None, np.array([[2, 0, 1], [1, 2, 3]], I32)], {}, [F, I32, F])
    qkv = [f(2, 3, 8), fixed(f(8, 24)), fixed(f(24))]
    yield "attention", "Attention", qkv, {"num_heads": 2}, [F]
    yield "attention_causal", "Attention", qkv, {"num_heads": 2, "unidirectional": 1}, [F]
    yield "attention_mask", "Attention", [*qkv, mask], {"num_heads": 2}, [F]
    yield "attention_lengths", "Attention", [*qkv, np.array([2, 3], I32)], {"num_heads": 2}, [F]
    yield ("attention_past", "Attention", [*qkv, None, f(2, 2, 2, 4, 4)], {"num_heads": 2, "unidirectional": 1}, [F, F])
    yield ("attention_sizes", "Attention", [f(2, 3, 8), fixed(f(8, 20)), fixed(f(20))],
           {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 4]}, [F])
    yield "attention_bias", "Attention", [*qkv, None, None, f(2, 2, 3, 3)], {"num_heads": 2, "scale": 0.3}, [F]
    yield ("multi_head", "MultiHeadAttention", [f(2, 3, 8), f(2, 5, 8), f(2, 5, 8)], {"num_heads": 2}, [F])
    yield ("multi_head_bias", "MultiHeadAttention", [f(2, 3, 8), f(2, 5, 8), f(2, 5, 8), f(24)], {"num_heads": 2}, [F])
    yield ("multi_head_mask", "MultiHeadAttention",
           [f(2, 3, 8), f(2, 5, 8), f(2, 5, 8), None, np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], I32)],
           {"num_heads": 2}, [F])
    yield ("rotary", "RotaryEmbedding", [f(2, 3, 16), np.array([[0, 1, 2], [3, 4, 5]], I64), f(8, 4), f(8, 4)],
           {"num_heads": 2}, [F])
    eight = [u8(3, 4), s(0.1), z(120)]
    other = [u8(3, 4), s(0.2), z(100)]
    out = [fixed(s(0.3)), fixed(z(110))]
    for name in ("QLinearAdd", "QLinearMul"):
        yield name.lower(), name, [*map(lambda a: a if a.ndim else fixed(a), eight + other), *out], {}, [U8]
    yield "qlinear_sigmoid", "QLinearSigmoid", [eight[0], fixed(eight[1]), fixed(eight[2]), fixed(s(0.01)), fixed(z(0))], {}, [U8]
    yield ("qlinear_leaky", "QLinearLeakyRelu", [eight[0], fixed(eight[1]), fixed(eight[2]), *out], {"alpha": 0.2}, [U8])
    picture = [u8(1, 2, 4, 4), fixed(s(0.1)), fixed(z(128)), fixed(s(0.05)), fixed(z(128))]
    yield "qlinear_global_pool", "QLinearGlobalAveragePool", picture, {"channels_last": 0}, [U8]
    yield "qlinear_pool", "QLinearAveragePool", picture, {"kernel_shape": [2, 2], "strides": [2, 2]}, [U8]
    yield ("qlinear_concat", "QLinearConcat",
           [*out, eight[0], fixed(eight[1]), fixed(eight[2]), other[0], fixed(other[1]), fixed(other[2])], {"axis": 1}, [U8])
    yield ("qlinear_softmax", "QLinearSoftmax", [eight[0], fixed(eight[1]), fixed(eight[2]), fixed(s(0.00390625)), fixed(z(0))],
           {"axis": -1, "opset": 13}, [U8])
    yield "dequantize", "DequantizeLinear", [eight[0], eight[1], eight[2]], {}, [F]
    yield "quantize", "QuantizeLinear", [f(3, 4), s(0.02), z(100)], {}, [U8]
    yield ("matmul_integer_to_float", "MatMulIntegerToFloat",
           [u8(3, 4), i8(4, 5), s(0.1), s(0.2), z(120), z(3, I8), f(5)], {}, [F])
    yield "dynamic_quantize_matmul", "DynamicQuantizeMatMul", [f(3, 4), i8(4, 5), s(0.02), z(3, I8), f(5)], {}, [F]
    yield ("matmul_nbits", "MatMulNBits", [f(2, 32), fixed(u8(3, 2, 8)), fixed(f(6))],
           {"K": 32, "N": 3, "bits": 4, "block_size": 16}, [F])
    yield ("matmul_nbits_zero", "MatMulNBits", [f(2, 48), fixed(u8(3, 3, 8)), fixed(f(9)), fixed(u8(6))],
           {"K": 48, "N": 3, "bits": 4, "block_size": 16}, [F])
    yield ("matmul_nbits_tail", "MatMulNBits", [f(2, 40), fixed(u8(3, 3, 8)), fixed(f(9))],
           {"K": 40, "N": 3, "bits": 4, "block_size": 16}, [F])


def write_model(folder, operator, inputs, attributes, outputs):
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
                            domain="com.microsoft", **attributes)
    graph = helper.make_graph([node], "contrib", graph_inputs, graph_outputs, initializers)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17),
                                                                   helper.make_opsetid("com.microsoft", 1)])
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    for i, tensor in enumerate(feeds):
        with open(os.path.join(folder, f"input_{i}.pb"), "wb") as out:
            out.write(tensor.SerializeToString())
    return path


def files(folder, kind):
    return sorted(glob.glob(os.path.join(folder, kind + "_*.pb")))


def check(folder, package, operator, inputs, attributes, outputs):
    """None, or why the case does not give what onnxruntime gives."""
    model = write_model(folder, operator, inputs, attributes, outputs)
    tool = os.path.realpath(os.path.join(onyx_test.SHARED, "tools", "ort_run.mjs"))  # it runs only under its real name
    # node reserves more address space than a test may: no bounds for the reference.
    code = os.system(f"node {tool} {model} --inputs {folder} --save {folder}/ref --no-time --ortpkg {package} > {folder}/log 2>&1")
    if code:
        with open(os.path.join(folder, "log")) as log:
            return "reference: " + log.read()[-300:]
    compiled = os.path.join(folder, "model.so")
    code, text = onyx_test.run([f"{onyx_test.BIN}/onyx-compile", model, "-o", compiled])
    if code:
        return "compile: " + onyx_test.reason(code, text)
    # A quantized result may differ by one where a value lies between two steps.
    command = [f"{onyx_test.BIN}/onyx-run", compiled, "--rtol", "1e-3", "--atol", "1.001" if U8 in outputs else "1e-5"]
    for file in files(folder, "input"):
        command += ["--input", file]
    expected = files(os.path.join(folder, "ref"), "output")
    if len(expected) != sum(o is not None for o in outputs):
        return "reference: it has no outputs"
    for file in expected:
        command += ["--expected-output", file]
    code, text = onyx_test.run(command)
    return "run: " + onyx_test.reason(code, text) if code else None


def main():
    packages = [os.environ.get("ONYX_ORT", ""), os.path.join(onyx_site.BUILD, "ort")]
    package = next((p for p in packages if p and os.path.isdir(os.path.join(p, "node_modules/onnxruntime-node"))), None)
    if not package or not shutil.which("node") or not os.path.isdir(os.path.join(onyx_test.SHARED, "tools")):
        onyx_test.skip("contrib", "needs node, onnxruntime-node (scripts/setup --reference, or ONYX_ORT) and the shared tools")
    passed, failed = 0, 0
    todo = [c for c in cases() if len(sys.argv) == 1 or c[0] in sys.argv[1:]]
    if len(sys.argv) == 1 and not onyx_test.FULL:
        todo = random.Random(int(os.environ.get("ONYX_SEED", "1"))).sample(todo, 12)
    for name, *case in todo:
        with tempfile.TemporaryDirectory() as folder:
            why = check(folder, package, *case)
        passed, failed = passed + (not why), failed + bool(why)
        if why:
            print(f"{name}: {why}")
    print(f"{passed} passed, {failed} failed")
    if len(sys.argv) == 1:
        onyx_counts.write("contrib", passed, failed, 0)
    sys.exit(1 if failed else 0)


main()
