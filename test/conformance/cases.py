"""The node tests of the ONNX standard that are on this machine."""
import json
import os
import re

import onnx
import onyx_test


TESTDATA = "/usr/share/libonnx-testdata/data"


class Case:
    """One folder: model.onnx, test_data_set_0/{input,output}_I.pb."""

    def __init__(self, folder, model):
        self.name = os.path.basename(folder)
        self.folder = folder
        self.model = model
        self.rtol, self.atol = 1e-3, 1e-7  # what onnx.backend.test takes
        data = os.path.join(folder, "data.json")
        if os.path.exists(data):
            with open(data) as f:
                settings = json.load(f)
            self.rtol, self.atol = settings.get("rtol", self.rtol), settings.get("atol", self.atol)
        self.ops = operators(model) if model else []
        self.op = subject(self.name, self.ops)

    def protos(self, kind):
        folder = os.path.join(self.folder, "test_data_set_0")
        found = [re.fullmatch(kind + r"_(\d+)\.pb", f) for f in os.listdir(folder)]
        return [os.path.join(folder, m[0]) for m in sorted(filter(None, found), key=lambda m: int(m[1]))]


def operators(path):
    """(domain, operator) of every node of the main graph, in order."""
    model = onnx.ModelProto()
    with open(path, "rb") as f:
        model.ParseFromString(f.read())
    return [(node.domain, node.op_type) for node in model.graph.node]


def subject(name, ops):
    """The operator a case is about: its only node, or the one that its name begins with; else None."""
    names = list(dict.fromkeys(op for _, op in ops))
    if len(names) == 1 and not name.endswith("_expanded"):
        return names[0]
    words = re.sub(r"^test_(ai_onnx_ml_|operator_)?", "", name).replace("_", "").lower()
    fitting = [n for n in names if words.startswith(n.lower())]
    return max(fitting, key=len) if fitting else None


def all_cases():
    """Every case, in order of name: those of Debian's libonnx-testdata and the newer ones of the shared folder."""
    roots = [os.path.join(TESTDATA, kind) for kind in ("node", "simple", "pytorch-converted", "pytorch-operator", "real")]
    roots.append(os.path.join(onyx_test.SHARED, "onnx", "node-tests"))
    cases = {}
    for root in filter(os.path.isdir, roots):
        for name in os.listdir(root):
            folder = os.path.join(root, name)
            # One of the newer cases has its model under another name; the "real" ones only name a download.
            files = [os.path.join(folder, f) for f in ("model.onnx", "model.onnx.bak")]
            model = next(filter(os.path.exists, files), None)
            if name in cases:
                raise SystemExit(f"two cases are called {name}: {cases[name].folder} and {folder}")
            cases[name] = Case(folder, model)
    return [cases[name] for name in sorted(cases)]


def true_type(case, kind, index, file, folder):
    """The proto's file, or a copy in folder with the graph's type: onnx 1.12 wrote the bits of bfloat16 as UINT16."""
    tensor = onnx.TensorProto()
    with open(file, "rb") as f:
        data = f.read()
    try:
        tensor.ParseFromString(data)
    except Exception:  # a sequence or optional
        return file
    if tensor.data_type != onnx.TensorProto.UINT16:
        return file
    model = onnx.ModelProto()
    with open(case.model, "rb") as f:
        model.ParseFromString(f.read())
    values = model.graph.input if kind == "input" else model.graph.output
    if values[index].type.tensor_type.elem_type != onnx.TensorProto.BFLOAT16:
        return file
    tensor.data_type = onnx.TensorProto.BFLOAT16
    copy = os.path.join(folder, os.path.basename(file))
    with open(copy, "wb") as f:
        f.write(tensor.SerializeToString())
    return copy
