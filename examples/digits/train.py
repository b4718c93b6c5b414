#!/usr/bin/python3
"""Trains the digit classifier of this folder and writes digits.onnx and images/.

Needs Debian's python3-numpy, python3-sklearn (the data set) and python3-onnx. Network, gradients and optimizer are
written out in numpy; the same seed gives the same model on the same numpy and BLAS.

    /usr/bin/python3 examples/digits/train.py [--epochs 30] [--seed 7]
"""
import argparse
import os

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

HERE = os.path.dirname(os.path.abspath(__file__))
C1, C2, CLASSES = 16, 32, 10


def windows(x):
    """N,C,H,W -> N,H,W,C*9: the 3x3 neighbourhoods, zeros outside."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return sliding_window_view(padded, (3, 3), (2, 3)).transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


def conv(x, weight, bias):
    y = windows(x) @ weight.reshape(len(weight), -1).T + bias
    return y.transpose(0, 3, 1, 2)


def conv_gradient(x, weight, dy):
    flat = dy.transpose(0, 2, 3, 1).reshape(-1, len(weight))
    dweight = (flat.T @ windows(x).reshape(len(flat), -1)).reshape(weight.shape)
    turned = weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    return conv(dy, turned, 0.0), dweight, flat.sum(0)


def forward(p, x):
    """Returns the class probabilities and what the backward step needs."""
    a1 = np.maximum(conv(x, p["conv1.weight"], p["conv1.bias"]), 0)
    n, c, h, w = a1.shape
    tiles = a1.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
    pooled = tiles.max(-1)
    a2 = np.maximum(conv(pooled, p["conv2.weight"], p["conv2.bias"]), 0)
    flat = a2.reshape(n, -1)
    logits = flat @ p["fc.weight"].T + p["fc.bias"]
    e = np.exp(logits - logits.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True), (a1, tiles, pooled, a2, flat)


def backward(p, x, kept, dlogits):
    a1, tiles, pooled, a2, flat = kept
    g = {"fc.weight": dlogits.T @ flat, "fc.bias": dlogits.sum(0)}
    da2 = (dlogits @ p["fc.weight"]).reshape(a2.shape) * (a2 > 0)
    dpooled, g["conv2.weight"], g["conv2.bias"] = conv_gradient(pooled, p["conv2.weight"], da2)
    dtiles = np.zeros_like(tiles)
    np.put_along_axis(dtiles, tiles.argmax(-1)[..., None], dpooled[..., None], -1)
    n, c, h, w = a1.shape
    da1 = dtiles.reshape(n, c, h // 2, w // 2, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(a1.shape) * (a1 > 0)
    _, g["conv1.weight"], g["conv1.bias"] = conv_gradient(x, p["conv1.weight"], da1)
    return g


def initial(rng):
    def he(*shape):
        return (rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)

    return {"conv1.weight": he(C1, 1, 3, 3), "conv1.bias": np.zeros(C1, np.float32),
            "conv2.weight": he(C2, C1, 3, 3), "conv2.bias": np.zeros(C2, np.float32),
            "fc.weight": he(CLASSES, C2 * 16), "fc.bias": np.zeros(CLASSES, np.float32)}


def train(p, x, y, epochs, rng):
    velocity = {name: np.zeros_like(v) for name, v in p.items()}
    batch, momentum, decay = 32, 0.9, 1e-4
    for epoch in range(epochs):
        rate = 0.05 * (0.5 + 0.5 * np.cos(np.pi * epoch / epochs))
        order, loss = rng.permutation(len(x)), 0.0
        for begin in range(0, len(x), batch):
            pick = order[begin:begin + batch]
            probability, kept = forward(p, x[pick])
            loss -= np.log(probability[np.arange(len(pick)), y[pick]] + 1e-12).sum()
            probability[np.arange(len(pick)), y[pick]] -= 1
            for name, gradient in backward(p, x[pick], kept, probability / len(pick)).items():
                velocity[name] = momentum * velocity[name] - rate * (gradient + decay * p[name])
                p[name] = (p[name] + velocity[name]).astype(np.float32)
        if epoch % 5 == 4 or epoch == epochs - 1:
            print(f"epoch {epoch + 1}: loss {loss / len(x):.4f}")


def write_model(p, path):
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["conv1"], "conv1",
                         kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv1"], ["relu1"], "relu1"),
        helper.make_node("MaxPool", ["relu1"], ["pool1"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["pool1", "conv2.weight", "conv2.bias"], ["conv2"], "conv2",
                         kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv2"], ["relu2"], "relu2"),
        helper.make_node("Flatten", ["relu2"], ["flat"], "flatten", axis=1),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["logits"], "fc", transB=1),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, CLASSES])],
        [numpy_helper.from_array(v, name) for name, v in p.items()])
    model = helper.make_model(graph, producer_name="onyx examples/digits/train.py", ir_version=7,
                              opset_imports=[helper.make_opsetid("", 13)])
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--epochs", type=int, default=30)
    options.add_argument("--seed", type=int, default=7)
    options = options.parse_args()
    rng = np.random.default_rng(options.seed)

    data = load_digits()
    images = (data.images / 16).astype(np.float32)[:, None]
    labels = data.target
    order = rng.permutation(len(images))
    held_out, rest = order[:360], order[360:]

    p = initial(rng)
    train(p, images[rest], labels[rest], options.epochs, rng)
    probability, _ = forward(p, images[held_out])
    print(f"accuracy on {len(held_out)} held-out images: {(probability.argmax(1) == labels[held_out]).mean():.4f}")

    path = os.path.join(HERE, "digits.onnx")
    write_model(p, path)
    print(f"{path}: {os.path.getsize(path)} bytes")
    # The first held-out image of five digits, and what the network above makes of it, for the tests.
    os.makedirs(os.path.join(HERE, "images"), exist_ok=True)
    for digit in (0, 2, 3, 5, 8):
        index = next(i for i in held_out if labels[i] == digit)
        image = images[index:index + 1]
        np.save(os.path.join(HERE, "images", f"{digit}.npy"), image)
        np.save(os.path.join(HERE, "images", f"{digit}.probabilities.npy"), forward(p, image)[0].astype(np.float32))
        print(f"images/{digit}.npy: image {index} of the data set")


if __name__ == "__main__":
    main()
