"""digit.py draw IMAGE.npy | answer FOLDER DIGIT: an image in the terminal; what the model said (output_0 in FOLDER)."""
import os
import sys

import numpy as np

SHADES = " .:-=+*#%@"


def draw(path):
    image = np.load(path).reshape(8, 8)
    print("  +" + "-" * 24 + "+")
    for row in image:
        print("  |" + "".join(SHADES[round(float(v) * (len(SHADES) - 1))] * 3 for v in row) + "|")
    print("  +" + "-" * 24 + "+")


def load(folder):
    path = os.path.join(folder, "output_0.npy")
    if os.path.exists(path):
        return np.load(path)
    from onnx import TensorProto, numpy_helper
    tensor = TensorProto()
    with open(os.path.join(folder, "output_0.pb"), "rb") as f:
        tensor.ParseFromString(f.read())
    return numpy_helper.to_array(tensor)


def answer(folder, digit):
    probabilities = load(folder).reshape(10)
    for d, p in enumerate(probabilities):
        print(f"  {d} {p:7.4f} " + "#" * round(float(p) * 40))
    best = int(probabilities.argmax())
    print(f"\nThe model reads a {best}." + ("" if best == int(digit) else f" It is a {digit}."))
    sys.exit(best != int(digit))


{"draw": draw, "answer": answer}[sys.argv[1]](*sys.argv[2:])
