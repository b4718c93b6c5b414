"""One model for each upgrade: a node of an old operator version, its inputs, what it must give.

Expected values come from onnxruntime on the old file (expected.json, recorded by record.py), or,
for versions that onnxruntime does not run, from the numpy expression in the case itself.
"""
import numpy as np

CASES = []


def rng(name):
    return np.random.RandomState(sum(name.encode()) % 100000)


def f32(name, *shape):
    return rng(name).uniform(-2, 2, shape).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


def case(name, op, opset, inputs, outputs=1, want=None, domain="", hide=False, initializers=(), body=None,
         out_types=None, rtol=1e-4, **attrs):
    """hide puts an Identity before the first input, so that its rank is not known at import."""
    CASES.append(dict(name=name, op=op, opset=opset, inputs=inputs, outputs=outputs, want=want, domain=domain,
                      hide=hide, initializers=set(initializers), body=body, out_types=out_types, rtol=rtol,
                      attrs=attrs))


x4, x3, x2 = f32("x4", 2, 3, 4, 5), f32("x3", 2, 3, 4), f32("x2", 3, 4)
v3, v4, m34 = f32("v3", 3), f32("v4", 4), f32("m34", 3, 4)

# Softmax and its kin: matrix of the operand at `axis` before 13.
for op in ("Softmax", "LogSoftmax", "Hardmax"):
    case(f"{op}-1-default", op, 7, [x4])
    case(f"{op}-1-axis2-hidden", op, 7, [x4], axis=2, hide=True)
    case(f"{op}-11-last", op, 11, [x3], axis=-1)
    case(f"{op}-11-axis0", op, 11, [x3], axis=0)

# Broadcasts before 7: onnxruntime begins at 7, so numpy says what the alignment means.
arithmetic = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
for op, fn in arithmetic.items():
    case(f"{op}-6-same", op, 6, [x2, m34], want=[fn(x2, m34)])
    case(f"{op}-6-axis1", op, 6, [x4, v3], broadcast=1, axis=1, want=[fn(x4, v3[:, None, None])])
    case(f"{op}-6-axis1-hidden", op, 6, [x4, v3], broadcast=1, axis=1, hide=True, want=[fn(x4, v3[:, None, None])])
    case(f"{op}-6-suffix", op, 6, [x3, v4], broadcast=1, want=[fn(x3, v4)])
    case(f"{op}-6-axis0", op, 6, [x3, f32("x23", 2, 3)], broadcast=1, axis=0, want=[fn(x3, f32("x23", 2, 3)[..., None])])
    case(f"{op}-1-same", op, 1, [x2, m34], want=[fn(x2, m34)], consumed_inputs=[0, 0])
case("Pow-1-axis0", "Pow", 1, [np.abs(x3) + 1, f32("p2", 2)], broadcast=1, axis=0,
     want=[(np.abs(x3) + 1) ** f32("p2", 2)[:, None, None]])
b3, b2 = f32("b3", 2, 3, 4) > 0, f32("b2", 2, 3) > 0
for op, fn in {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}.items():
    case(f"{op}-1-axis0", op, 1, [b3, b2], broadcast=1, axis=0, want=[fn(b3, b2[..., None])], out_types=["bool"])
for op, fn in {"Greater": np.greater, "Less": np.less}.items():
    case(f"{op}-1-axis1", op, 1, [x3, v3], broadcast=1, axis=1, want=[fn(x3, v3[:, None])], out_types=["bool"])
i3, i1 = np.arange(24, dtype=np.int32).reshape(2, 3, 4) % 5, np.array([1, 2, 3], np.int32)
case("Equal-1-axis1", "Equal", 1, [i3, i1], broadcast=1, axis=1, want=[i3 == i1[:, None]], out_types=["bool"])
case("PRelu-6-channel", "PRelu", 6, [x4, v3], want=[np.where(x4 < 0, x4 * v3[:, None, None], x4)])
case("PRelu-6-hidden", "PRelu", 6, [x4, v3], hide=True, want=[np.where(x4 < 0, x4 * v3[:, None, None], x4)])
case("PRelu-6-single", "PRelu", 6, [x4, v3[:1]], want=[np.where(x4 < 0, x4 * v3[0], x4)])
case("PRelu-7", "PRelu", 7, [x4, f32("slope", 3, 1, 1)])
for op in ("Sum", "Mean", "Max", "Min"):
    case(f"{op}-6", op, 6, [x2, m34], want=[{"Sum": x2 + m34, "Mean": (x2 + m34) / 2, "Max": np.maximum(x2, m34),
                                             "Min": np.minimum(x2, m34)}[op]])
case("Abs-1", "Abs", 1, [x2], want=[np.abs(x2)], consumed_inputs=[0])
case("Relu-1", "Relu", 1, [x2], want=[np.maximum(x2, 0)], consumed_inputs=[0])
case("Selu-1", "Selu", 1, [x2], consumed_inputs=[0],
     want=[np.where(x2 > 0, 1.0507 * x2, 1.0507 * (1.6732 * np.exp(x2) - 1.6732)).astype(np.float32)])
case("Selu-6", "Selu", 7, [x2])
case("Clip-6-both", "Clip", 7, [x2], min=-0.5, max=0.75)
case("Clip-6-min", "Clip", 7, [x2], min=-0.5)
case("Clip-6-max", "Clip", 7, [x2], max=0.75)
case("Clip-6-none", "Clip", 7, [x2])
case("Clip-1", "Clip", 1, [x2], min=-0.5, want=[np.maximum(x2, -0.5).astype(np.float32)])
case("Cast-1", "Cast", 1, [x2], to="INT32", want=[x2.astype(np.int32)], out_types=["int32"])
case("Cast-6", "Cast", 7, [x2 * 10], to=7, out_types=["int64"])

# Normalisations and Dropout.
stats = [f32("scale", 3), f32("bias", 3), f32("mean", 3), np.abs(f32("var", 3)) + 0.5]
bn = (x4 - stats[2][:, None, None]) / np.sqrt(stats[3][:, None, None] + 1e-5) * stats[0][:, None, None] + stats[1][:, None, None]
case("BatchNormalization-1", "BatchNormalization", 1, [x4] + stats, is_test=1, consumed_inputs=[0, 0, 0, 1, 1], want=[bn.astype(np.float32)])
case("BatchNormalization-6", "BatchNormalization", 6, [x4] + stats, is_test=1, want=[bn.astype(np.float32)])
case("BatchNormalization-7", "BatchNormalization", 7, [x4] + stats)
case("BatchNormalization-9", "BatchNormalization", 9, [x4] + stats, epsilon=0.01)
each = [f32("scale", 3, 4, 5), f32("bias", 3, 4, 5), f32("mean", 3, 4, 5), np.abs(f32("var", 3, 4, 5)) + 0.5]
case("BatchNormalization-7-activation", "BatchNormalization", 7, [x4] + each, spatial=0,
     want=[((x4 - each[2]) / np.sqrt(each[3] + 1e-5) * each[0] + each[1]).astype(np.float32)])
case("InstanceNormalization-1", "InstanceNormalization", 1, [x4, v3, v3], consumed_inputs=[0, 0, 0],
     want=[((x4 - x4.mean((2, 3), keepdims=True)) / np.sqrt(x4.var((2, 3), keepdims=True) + 1e-5) * v3[:, None, None]
            + v3[:, None, None]).astype(np.float32)])
case("Dropout-6", "Dropout", 6, [x2], is_test=1, want=[x2])
case("Dropout-7", "Dropout", 7, [x2], ratio=0.3)
# Nothing is dropped; onnxruntime's mask of version 10 says the opposite of that of 12, which has a node test.
case("Dropout-10-mask", "Dropout", 10, [x2], outputs=2, out_types=["float", "bool"], want=[x2, np.ones_like(x2, bool)])
gx = f32("gx", 2, 6, 3, 2)
gn = (gx.reshape(2, 3, -1) - gx.reshape(2, 3, -1).mean(-1, keepdims=True)) / np.sqrt(
    gx.reshape(2, 3, -1).var(-1, keepdims=True) + 1e-5) * v3[:, None] + f32("gb", 3)[:, None]
case("GroupNormalization-18", "GroupNormalization", 18, [gx, v3, f32("gb", 3)], num_groups=3,
     want=[gn.reshape(gx.shape).astype(np.float32)])

# Shapes.
case("Squeeze-1", "Squeeze", 7, [f32("sq", 1, 3, 1, 2)], axes=[0, 2])
case("Squeeze-1-all", "Squeeze", 7, [f32("sq", 1, 3, 1, 2)])
case("Squeeze-11", "Squeeze", 11, [f32("sq", 1, 3, 1, 2)], axes=[-2])
case("Unsqueeze-1", "Unsqueeze", 7, [x2], axes=[0, 3])
case("Unsqueeze-11", "Unsqueeze", 11, [x2], axes=[-1])
case("Reshape-1", "Reshape", 1, [x2], shape=[2, -1], want=[x2.reshape(2, -1)])
case("Reshape-5", "Reshape", 7, [x3, i64(0, -1)], initializers=[1])
case("Split-1-operand", "Split", 1, [x2, np.array([1, 3], np.float32)], outputs=2, axis=1, initializers=[1],
     want=[x2[:, :1], x2[:, 1:]])
case("Split-1-attr", "Split", 1, [x2], outputs=2, axis=1, split=[1, 3], want=[x2[:, :1], x2[:, 1:]])
case("Split-2", "Split", 7, [x2], outputs=2, axis=1, split=[3, 1])
case("Split-2-even", "Split", 7, [x2], outputs=3)
case("Split-11", "Split", 11, [x2], outputs=2, axis=-1)
case("Split-13", "Split", 13, [x2], outputs=2, axis=1)
case("Slice-1", "Slice", 7, [x3], starts=[0, 1], ends=[2, -1], axes=[1, 2])
case("Slice-1-no-axes", "Slice", 7, [x3], starts=[1, 0], ends=[2, 2])
case("Slice-10", "Slice", 10, [x3, i64(1), i64(100), i64(2), i64(2)], initializers=[1, 2, 3, 4])
case("Pad-1", "Pad", 1, [x2], paddings=[0, 1, 2, 0], value=1.5, want=[np.pad(x2, ((0, 2), (1, 0)), constant_values=1.5)])
case("Pad-2-constant", "Pad", 7, [x2], pads=[0, 1, 2, 0], value=1.5)
case("Pad-2-reflect", "Pad", 7, [x2], pads=[1, 1, 1, 2], mode="reflect")
case("Pad-2-edge-negative", "Pad", 7, [x2], pads=[0, 1, -1, 0], mode="edge")
case("Pad-11", "Pad", 11, [x2, i64(0, 1, 2, 0), np.float32(2)], initializers=[1, 2])
case("Tile-1", "Tile", 1, [x2, np.array(2, np.float32), np.array(1, np.float32)], initializers=[1, 2], want=[np.tile(x2, (1, 2))])
case("Tile-6", "Tile", 7, [x2, i64(2, 1)], initializers=[1])
case("Concat-1", "Concat", 1, [x2, x2], want=[np.concatenate([x2, x2], 1)])
case("Concat-4", "Concat", 7, [x2, x2], axis=0)
case("Flatten-1", "Flatten", 7, [x4], axis=2)

# Reductions.
for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
           "ReduceLogSumExp", "ReduceSumSquare"):
    data = np.abs(x3) + 0.1
    case(f"{op}-1", op, 7, [data], axes=[1])
    case(f"{op}-1-all", op, 7, [data], keepdims=0)
    case(f"{op}-11", op, 11, [data], axes=[-1, 0], keepdims=0)
case("ReduceMean-13", "ReduceMean", 13, [x3], axes=[0, 2])
case("ArgMax-1", "ArgMax", 7, [x3], axis=1, out_types=["int64"])
case("ArgMin-11", "ArgMin", 11, [x3], axis=-1, keepdims=0, out_types=["int64"])

# Images.
img = f32("img", 1, 2, 3, 4)
case("Upsample-1", "Upsample", 1, [img], height_scale=2.0, width_scale=3.0, mode="nearest",
     want=[img.repeat(2, 2).repeat(3, 3)])
case("Upsample-7-nearest", "Upsample", 7, [img], scales=[1.0, 1.0, 2.0, 3.0], mode="nearest")
case("Upsample-7-linear", "Upsample", 7, [img], scales=[1.0, 1.0, 2.0, 2.0], mode="linear")
case("Upsample-9-nearest", "Upsample", 9, [img, np.array([1, 1, 2, 2], np.float32)], initializers=[1])
case("Upsample-9-linear", "Upsample", 9, [img, np.array([1, 1, 1.5, 2], np.float32)], initializers=[1], mode="linear")
case("Resize-10-up", "Resize", 10, [img, np.array([1, 1, 2, 1.5], np.float32)], initializers=[1])
case("Resize-10-down", "Resize", 10, [f32("r", 1, 1, 6, 7), np.array([1, 1, 0.5, 0.6], np.float32)], initializers=[1])
case("Resize-10-linear", "Resize", 10, [img, np.array([1, 1, 2, 0.5], np.float32)], initializers=[1], mode="linear")
empty = np.array([], np.float32)
case("Resize-11-scales", "Resize", 11, [img, empty, np.array([1, 1, 2, 2], np.float32)], initializers=[1, 2],
     mode="linear", coordinate_transformation_mode="align_corners")
case("Resize-11-sizes", "Resize", 11, [img, empty, empty, i64(1, 2, 5, 7)], initializers=[1, 2, 3], mode="nearest",
     nearest_mode="floor")
case("Resize-11-tf-nearest", "Resize", 11, [img, empty, np.array([1, 1, 1.7, 2.3], np.float32)], initializers=[1, 2],
     coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor")
case("Resize-13-cubic", "Resize", 13, [f32("rc", 1, 1, 4, 4), empty, np.array([1, 1, 2, 2], np.float32)], initializers=[1, 2],
     mode="cubic")
grid = f32("grid", 1, 3, 3, 2) / 2
case("GridSample-16", "GridSample", 16, [img, grid])
case("GridSample-16-bicubic", "GridSample", 16, [img, grid], mode="bicubic", align_corners=1)
rois = np.array([[0, 0, 3, 2], [1, 1, 3, 2]], np.float32)
case("RoiAlign-10", "RoiAlign", 10, [img, rois, i64(0, 0)], output_height=2, output_width=2, sampling_ratio=2)
case("MaxPool-1", "MaxPool", 7, [img], kernel_shape=[2, 2], pads=[0, 1, 0, 0])
case("MaxPool-8-indices", "MaxPool", 8, [img], outputs=2, kernel_shape=[2, 2], out_types=["float", "int64"])
case("MaxPool-10-ceil", "MaxPool", 10, [img], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
case("AveragePool-7", "AveragePool", 7, [img], kernel_shape=[2, 2], pads=[1, 0, 0, 1], count_include_pad=1)
case("AveragePool-10", "AveragePool", 10, [img], kernel_shape=[2, 2], auto_pad="SAME_UPPER")
lp = np.array([[np.sqrt((img[0, c, i:i + 2, j:j + 2] ** 2).sum()) for i in range(2) for j in range(3)] for c in range(2)])
case("LpPool-1", "LpPool", 1, [img], kernel_shape=[2, 2], strides=[1, 1], p=2.0, want=[lp.reshape(1, 2, 2, 3).astype(np.float32)])
case("LpPool-2", "LpPool", 7, [img], kernel_shape=[2, 2], p=1)
case("GlobalLpPool-1", "GlobalLpPool", 1, [img], p=2.0, want=[np.sqrt((img ** 2).sum((2, 3), keepdims=True))])
case("LRN-1", "LRN", 7, [x4], size=3)

# Picking elements.
case("TopK-1", "TopK", 7, [x3], outputs=2, k=2, axis=2, out_types=["float", "int64"])
case("TopK-10", "TopK", 10, [x3, i64(2)], outputs=2, axis=1, initializers=[1], out_types=["float", "int64"])
where = np.array([[1, 0, 2, 0]], np.int64)
case("Scatter-9", "Scatter", 9, [x2, where, f32("up", 1, 4)])
case("Scatter-9-axis1", "Scatter", 9, [x2, np.array([[1], [0], [3]], np.int64), f32("up", 3, 1)], axis=1)
case("ScatterElements-11", "ScatterElements", 11, [x2, where, f32("up", 1, 4)])
case("Gather-1", "Gather", 7, [x3, np.array([2, 0], np.int64)], axis=1)
case("OneHot-9", "OneHot", 9, [i64(1, 0, 3), np.array(4, np.int64), np.array([0.5, 2], np.float32)], axis=-1, initializers=[1])

# Quantization.
case("QuantizeLinear-10", "QuantizeLinear", 10, [x2, np.float32(0.05), np.uint8(100)], out_types=["uint8"], initializers=[1, 2])
case("DequantizeLinear-10", "DequantizeLinear", 10, [np.arange(12, dtype=np.uint8), np.float32(0.05), np.uint8(5)], initializers=[1, 2])
case("QuantizeLinear-13", "QuantizeLinear", 13, [x2, np.abs(v3) + 0.1, np.array([1, 2, 3], np.int8)], axis=0, out_types=["int8"], initializers=[1, 2])
case("DequantizeLinear-13", "DequantizeLinear", 13, [np.arange(12, dtype=np.int8).reshape(3, 4), np.abs(v3) + 0.1], axis=0, initializers=[1])

# Matrices, recurrences, loops.
case("Gemm-6", "Gemm", 6, [x2, m34.T.copy(), v3], broadcast=1, alpha=0.5, beta=2.0, want=[0.5 * x2 @ m34.T + 2 * v3])
case("Gemm-7", "Gemm", 7, [x2, m34, v3], transB=1)
case("MatMul-1", "MatMul", 7, [x3, m34.T.copy()])
seq = f32("seq", 5, 2, 3)
for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
    w, r, b = f32("w" + op, 1, gates * 2, 3), f32("r" + op, 1, gates * 2, 2), f32("b" + op, 1, gates * 4)
    case(f"{op}-7", op, 7, [seq, w, r, b], outputs=2, hidden_size=2)
    case(f"{op}-7-both", op, 7, [seq, np.concatenate([w, w]), np.concatenate([r, r])], outputs=2, hidden_size=2, direction="bidirectional")
dft = f32("dft", 1, 4, 3, 1)
case("DFT-17", "DFT", 17, [dft], axis=1)
case("DFT-17-axis2", "DFT", 17, [dft], axis=2)
case("Scan-8", "Scan", 8, [None, f32("scan0", 2, 3), f32("scan1", 2, 4, 3)], outputs=2, num_scan_inputs=1, body="running_sum")
case("CumSum-11", "CumSum", 11, [x2, np.array(1, np.int64)], initializers=[1])

# Dropped before opset 10; onnxruntime keeps them.
case("Affine", "Affine", 7, [x2], alpha=2.0, beta=0.5)
case("ParametricSoftplus", "ParametricSoftplus", 7, [x2], alpha=2.0, beta=0.5)
case("ScaledTanh", "ScaledTanh", 7, [x2], alpha=2.0, beta=0.5)
case("ThresholdedRelu", "ThresholdedRelu", 7, [x2], alpha=0.5)
case("ImageScaler", "ImageScaler", 7, [img], scale=2.0, bias=[0.5, -0.5])
case("Crop", "Crop", 7, [img], border=[1, 0, 1, 1])
case("Crop-scale", "Crop", 7, [img], border=[1, 1, 0, 0], scale=[2, 2])
case("MeanVarianceNormalization", "MeanVarianceNormalization", 7, [img], across_channels=0, normalize_variance=1,
     want=[((img - img.mean((0, 2, 3), keepdims=True)) / img.std((0, 2, 3), keepdims=True)).astype(np.float32)])
case("Scale", "Scale", 7, [x2], scale=2.5, want=[x2 * np.float32(2.5)])
case("ConstantFill-shape", "ConstantFill", 7, [], shape=[2, 3], value=1.5, want=[np.full((2, 3), 1.5, np.float32)])
case("ConstantFill-operand", "ConstantFill", 7, [i64(3, 1)], input_as_shape=1, dtype=6, value=4.0, initializers=[0],
     out_types=["int32"], want=[np.full((3, 1), 4, np.int32)])
case("MeanVarianceNormalization-mean", "MeanVarianceNormalization", 7, [img], across_channels=1, normalize_variance=0,
     want=[img - img.mean()])
case("DynamicSlice", "DynamicSlice", 7, [x3, i64(0, 1), i64(2, 3), i64(1, 2)], initializers=[1, 2, 3])

# ai.onnx.ml.
case("LabelEncoder-1", "LabelEncoder", 1, [np.array(["b", "a", "z"], object)], domain="ai.onnx.ml",
     classes_strings=["a", "b"], default_int64=9, out_types=["int64"])
case("LabelEncoder-1-back", "LabelEncoder", 1, [i64(1, 0, 5)], domain="ai.onnx.ml", classes_strings=["a", "b"],
     default_string="none", out_types=["string"])
case("LabelEncoder-2", "LabelEncoder", 2, [i64(1, 0, 5)], domain="ai.onnx.ml", keys_int64s=[0, 1], values_floats=[0.5, 1.5],
     default_float=9.0)
stump = dict(nodes_treeids=[0, 0, 0, 1, 1, 1, 2], nodes_nodeids=[0, 1, 2, 0, 1, 2, 0], nodes_featureids=[0, 0, 0, 1, 0, 0, 0],
             nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF", "LEAF"],
             nodes_values=[0.5, 0.0, 0.0, -0.25, 0.0, 0.0, 0.0], nodes_truenodeids=[1, 0, 0, 1, 0, 0, 0],
             nodes_falsenodeids=[2, 0, 0, 2, 0, 0, 0])
rows = np.array([[0, 0], [1, -1], [0.5, -0.25], [2, 2]], np.float32)
one = dict(class_treeids=[0, 0, 1, 1, 2], class_nodeids=[1, 2, 1, 2, 0], class_ids=[0] * 5)
many = dict(class_treeids=[0, 0, 0, 1, 1, 2], class_nodeids=[1, 1, 2, 1, 2, 0], class_ids=[0, 1, 2, 0, 1, 2],
            class_weights=[0.5, 0.25, 0.75, 0.5, 1.0, 0.125])
labels = dict(outputs=2, out_types=["int64", "float"], domain="ai.onnx.ml")
for post in ("NONE", "LOGISTIC", "SOFTMAX"):
    case(f"TreeEnsembleClassifier-1-probability-{post}", "TreeEnsembleClassifier", 1, [rows], class_weights=[0.1, 0.3, 0.2, 0.4, 0.05],
         classlabels_int64s=[5, 7], post_transform=post, **labels, **stump, **one)
    case(f"TreeEnsembleClassifier-1-score-{post}", "TreeEnsembleClassifier", 1, [rows], class_weights=[-1.0, 0.3, 0.2, 0.4, -0.05],
         classlabels_int64s=[5, 7], post_transform=post, base_values=[0.1], **labels, **stump, **one)
    case(f"TreeEnsembleClassifier-3-classes-{post}", "TreeEnsembleClassifier", 3, [rows], classlabels_int64s=[5, 7, 9],
         post_transform=post, base_values=[0.1, 0.2, 0.3], **labels, **stump, **many)
second = dict(one, class_ids=[1] * 5)
case("TreeEnsembleClassifier-1-second", "TreeEnsembleClassifier", 1, [rows], class_weights=[0.1, 0.3, 0.2, 0.4, 0.05],
     classlabels_int64s=[5, 7], **labels, **stump, **second)
target = {k.replace("class", "target"): v for k, v in many.items()}
for how in ("SUM", "AVERAGE"):
    case(f"TreeEnsembleRegressor-1-{how}", "TreeEnsembleRegressor", 1, [rows], domain="ai.onnx.ml", n_targets=3,
         aggregate_function=how, base_values=[0.0, 0.0, -0.5], **stump, **target)
single = dict(target_treeids=[0, 0, 1, 1, 2], target_nodeids=[1, 2, 1, 2, 0], target_ids=[0] * 5, target_weights=[0.1, 0.3, -0.2, 0.4, 0.05])
for how in ("MIN", "MAX"):
    case(f"TreeEnsembleRegressor-3-{how}", "TreeEnsembleRegressor", 3, [rows], domain="ai.onnx.ml", n_targets=1,
         aggregate_function=how, **stump, **single)
