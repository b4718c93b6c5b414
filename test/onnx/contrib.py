#!/usr/bin/env python3
"""Compile one model for each operator of com.microsoft that decompose-onnx knows, and compare with onnxruntime.

Usage: contrib.py [NAME...]

Needs node and onnxruntime-node (scripts/setup --reference, or ONYX_ORT); skipped without them. A dozen cases by
seed, all with ONYX_FULL.
"""
import numpy as np
import onyx_one_op
from onyx_one_op import fixed

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


onyx_one_op.main("contrib", list(cases()), "com.microsoft", {"": 17, "com.microsoft": 1}, sample=12)
