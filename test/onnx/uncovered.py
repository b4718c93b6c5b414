#!/usr/bin/env python3
"""Operators of the standard that its node tests do not cover, against onnxruntime, or, for operators newer than it,
against the standard's formula in numpy.

Usage: uncovered.py ml|standard|newest [NAME...]
"""
import sys

import numpy as np
import onyx_one_op
from onyx_one_op import fixed

rng = np.random.RandomState(11)
F, I64 = np.float32, np.int64


def f(*shape):
    return rng.uniform(-1, 1, shape).astype(F)


def ml():
    x = f(5, 3)
    yield "scaler", "Scaler", [x], {"offset": [0.1, -0.2, 0.3], "scale": [2.0, 0.5, -1.0]}, [F]
    yield "scaler_one", "Scaler", [x], {"offset": [0.5], "scale": [3.0]}, [F]
    for norm in ("MAX", "L1", "L2"):
        yield f"normalizer_{norm.lower()}", "Normalizer", [np.abs(x)], {"norm": norm}, [F]
    holes = x.copy()
    holes[1, 2] = holes[3, 0] = np.nan
    yield ("imputer_nan", "Imputer", [holes], {"imputed_value_floats": [7.0, 8.0, 9.0], "replaced_value_float": float("nan")}, [F])
    yield "imputer_int", "Imputer", [np.array([[1, -1], [-1, 4]], I64)], {"imputed_value_int64s": [5], "replaced_value_int64": -1}, [I64]
    yield "linear_regressor", "LinearRegressor", [x], {"coefficients": [0.5, -1.0, 2.0, 1.0, 1.0, -3.0], "intercepts": [0.25, -0.5], "targets": 2}, [F]
    weights = list(map(float, rng.uniform(-1, 1, 9)))
    for post in ("NONE", "SOFTMAX", "LOGISTIC"):
        yield (f"linear_classifier_{post.lower()}", "LinearClassifier", [x],
               {"coefficients": weights, "intercepts": [0.1, 0.2, -0.3], "classlabels_ints": [4, 7, 9], "post_transform": post}, [I64, F])
    vectors = list(map(float, rng.uniform(-1, 1, 12)))
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        yield (f"svm_regressor_{kernel.lower()}", "SVMRegressor", [x],
               {"support_vectors": vectors, "n_supports": 4, "coefficients": [0.5, -0.25, 1.0, 0.75], "rho": [0.125],
                "kernel_type": kernel, "kernel_params": [0.5, 0.25, 2.0]}, [F])
    yield "svm_regressor_one_class", "SVMRegressor", [x], {"support_vectors": vectors, "n_supports": 4, "one_class": 1,
                                                            "coefficients": [0.5, -0.25, 1.0, 0.75], "rho": [0.125], "kernel_type": "RBF",
                                                            "kernel_params": [0.5, 0.0, 0.0]}, [F]
    yield "one_hot", "OneHotEncoder", [np.array([3, 1, 9, 7], I64)], {"cats_int64s": [1, 3, 7], "zeros": 1}, [F]
    yield "feature_vectorizer", "FeatureVectorizer", [x, f(5, 2)], {"inputdimensions": [3, 2]}, [F]
    yield "label_int", "LabelEncoder", [np.array([3, 1, 2], I64)], {"keys_int64s": [1, 3], "values_int64s": [10, 30], "default_int64": -5}, [I64]
    yield "label_float", "LabelEncoder", [np.array([3, 1, 2], I64)], {"keys_int64s": [1, 3], "values_floats": [1.5, 3.5], "default_float": 0.5}, [F]
    # two trees of depth 2 over every comparison; the second has a leaf for each target
    yield ("trees", "TreeEnsembleRegressor", [x],
           {"nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1], "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
            "nodes_featureids": [0, 1, 0, 0, 0, 2, 0, 0], "nodes_modes": ["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"],
            "nodes_values": [0.0, 0.25, 0.0, 0.0, 0.0, -0.1, 0.0, 0.0], "nodes_truenodeids": [1, 3, 0, 0, 0, 1, 0, 0],
            "nodes_falsenodeids": [2, 4, 0, 0, 0, 2, 0, 0], "target_treeids": [0, 0, 0, 1, 1], "target_nodeids": [2, 3, 4, 1, 2],
            "target_ids": [0, 1, 0, 1, 0], "target_weights": [1.0, 2.0, 3.0, 4.0, 5.0], "n_targets": 2}, [F])


def conv_with_state(x, weight, bias, state):
    joined = np.concatenate([state, x], axis=2)
    taps = weight.shape[2]
    y = sum(joined[:, :, k:k + x.shape[2]] * weight[None, :, 0, k, None] for k in range(taps)) + bias[None, :, None]
    return y / (1 + np.exp(-y)), joined[:, :, joined.shape[2] - taps + 1:]


def gated_delta(q, k, v, state, decay, beta, heads, key_heads):
    """The standard's recurrence: S = exp(g) S; v' = b (v - S^T k); S += k v'; o = scale S^T q."""
    batch, steps, _ = q.shape
    dk, dv = q.shape[2] // heads, v.shape[2] // key_heads
    out, state = np.zeros((batch, steps, heads * dv), F), state.copy()
    for b in range(batch):
        for t in range(steps):
            for h in range(key_heads):
                s = state[b, h] * np.exp(decay[b, t, h])
                key, value = k[b, t, h * dk:(h + 1) * dk], v[b, t, h * dv:(h + 1) * dv]
                s = s + np.outer(key, beta[b, t, h] * (value - s.T @ key))
                state[b, h] = s
                for group in range(heads // key_heads):
                    i = h * (heads // key_heads) + group
                    out[b, t, i * dv:(i + 1) * dv] = s.T @ q[b, t, i * dk:(i + 1) * dk] / np.sqrt(dk)
    return out, state


def standard():
    x = f(2, 3, 4, 5)
    yield "global_lp_pool", "GlobalLpPool", [x], {"p": 3}, [F]
    rois = np.array([[0, 0, 0, 3, 3], [1, 1, 1, 4, 2], [0, 2, 2, 2, 2]], F)
    yield "max_roi_pool", "MaxRoiPool", [x, rois], {"pooled_shape": [2, 2], "spatial_scale": 1.0}, [F]
    yield from recurrent()
    image = f(1, 2, 7, 7)
    yield "max_pool_indices", "MaxPool", [image], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 0, 1], "dilations": [2, 1]}, [F, I64]
    yield "average_pool_ceil", "AveragePool", [image], {"kernel_shape": [3, 2], "strides": [2, 2], "ceil_mode": 1, "pads": [1, 1, 1, 0]}, [F]
    yield "lp_pool", "LpPool", [image], {"kernel_shape": [2, 3], "strides": [1, 2], "pads": [0, 1, 1, 0], "p": 1}, [F]
    yield ("conv_transpose_groups", "ConvTranspose", [f(1, 4, 3, 3), f(4, 2, 3, 3), f(4)],
           {"group": 2, "strides": [2, 3], "dilations": [2, 1], "output_padding": [1, 2], "pads": [1, 0, 2, 1]}, [F])
    yield ("conv_transpose_shape", "ConvTranspose", [f(1, 2, 3, 3), f(2, 2, 3, 3)], {"strides": [2, 2], "output_shape": [6, 5]}, [F])
    yield ("conv_same_lower", "Conv", [image, f(3, 2, 2, 4)], {"auto_pad": "SAME_LOWER", "strides": [2, 3]}, [F])
    yield ("conv_groups_1d", "Conv", [f(2, 6, 9), f(4, 3, 3), f(4)], {"group": 2, "dilations": [2], "pads": [2, 1]}, [F])
    yield "einsum_diagonal", "Einsum", [f(4, 3, 3), f(3, 5)], {"equation": "bii,ij->bj"}, [F]
    yield "einsum_ellipsis", "Einsum", [f(2, 3, 4), f(4, 5)], {"equation": "...a, ab"}, [F]
    yield "lrn", "LRN", [f(1, 5, 2, 2)], {"size": 3, "alpha": 0.5, "beta": 0.6, "bias": 1.5}, [F]


def recurrent():
    """Sequences of several lengths, both directions, states, peepholes, clip, other activations."""
    steps, batch, size, hidden = 4, 3, 2, 5
    x, lengths = f(steps, batch, size), np.array([4, 2, 1], np.int32)
    for direction in ("forward", "reverse", "bidirectional"):
        n = 2 if direction == "bidirectional" else 1
        state = f(n, batch, hidden)
        for gates, operator, more in ((1, "RNN", {}), (3, "GRU", {}), (3, "GRU", {"linear_before_reset": 1})):
            name = f"{operator.lower()}_{direction}" + "_linear" * bool(more)
            yield (name, operator, [x, f(n, gates * hidden, size), f(n, gates * hidden, hidden), f(n, 2 * gates * hidden), lengths, state],
                   {"hidden_size": hidden, "direction": direction, **more}, [F, F])
        yield (f"lstm_{direction}", "LSTM",
               [x, f(n, 4 * hidden, size), f(n, 4 * hidden, hidden), f(n, 8 * hidden), lengths, state, f(n, batch, hidden), f(n, 3 * hidden)],
               {"hidden_size": hidden, "direction": direction}, [F, F, F])
    yield ("lstm_clip", "LSTM", [x, f(1, 4 * hidden, size), f(1, 4 * hidden, hidden)], {"hidden_size": hidden, "clip": 0.2}, [F, F, F])
    yield ("gru_activations", "GRU", [x, f(1, 3 * hidden, size), f(1, 3 * hidden, hidden)],
           {"hidden_size": hidden, "activations": ["HardSigmoid", "ScaledTanh"], "activation_alpha": [0.3, 1.5], "activation_beta": [0.4, 0.7]}, [F, F])
    yield ("rnn_activations", "RNN", [x, f(2, hidden, size), f(2, hidden, hidden)],
           {"hidden_size": hidden, "direction": "bidirectional", "activations": ["Relu", "LeakyRelu"], "activation_alpha": [0.2]}, [F, F])


def newest():
    grid = f(3, 4)
    product = np.cumprod(grid, axis=1)
    axis = fixed(np.array(1, I64))
    yield "cum_prod", "CumProd", [grid, axis], {}, [F], [product]
    shifted = np.concatenate([np.ones((3, 1), F), product[:, :-1]], axis=1)
    yield "cum_prod_exclusive", "CumProd", [grid, axis], {"exclusive": 1}, [F], [shifted]
    yield "cum_prod_reverse", "CumProd", [grid, axis], {"reverse": 1}, [F], [np.cumprod(grid[:, ::-1], axis=1)[:, ::-1]]
    a, b = f(3, 4), f(3, 4)
    yield "swiglu", "SwiGLU", [a, b], {"alpha": 1.5}, [F], [a / (1 + np.exp(-1.5 * a)) * b]
    signal, weight, bias, state = f(2, 3, 6), f(3, 1, 4), f(3), f(2, 3, 3)
    yield ("causal_conv", "CausalConvWithState", [signal, weight, bias, state], {"activation": "silu"}, [F, F],
           list(conv_with_state(signal, weight, bias, state)))
    q, k, v = f(2, 5, 16), f(2, 5, 8), f(2, 5, 6)
    past, decay, beta = f(2, 2, 4, 3), -np.abs(f(2, 5, 2)), np.abs(f(2, 5, 2))
    yield ("linear_attention", "LinearAttention", [q, k, v, past, decay, beta],
           {"q_num_heads": 4, "kv_num_heads": 2, "update_rule": "gated_delta"}, [F, F],
           list(gated_delta(q, k, v, past, decay, beta, 4, 2)))


SUITES = {"ml": (ml, "ai.onnx.ml", {"": 17, "ai.onnx.ml": 3}), "standard": (standard, "", {"": 17}), "newest": (newest, "", {"": 28})}
which = sys.argv.pop(1)
make, domain, opsets = SUITES[which]
onyx_one_op.main(f"uncovered-{which}", list(make()), domain, opsets)
