#!/usr/bin/env python3
"""Write one wrong op for every rule of the standard's schemas: counts, types, agreement, attributes.

Usage: gen_negative.py schemas.json [PART/PARTS] > OUT.mlir

Each chunk holds one op that breaks one rule, and the message that the verifier must give. It reads the
facts file alone, not the table that the plugin is built from.
"""
import json
import sys

ELEMS = {
    "float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "i1", "string": "!onnx.String",
    "complex64": "complex<f32>", "complex128": "complex<f64>", "float8e4m3fn": "f8E4M3FN",
    "float8e4m3fnuz": "f8E4M3FNUZ", "float8e5m2": "f8E5M2", "float8e5m2fnuz": "f8E5M2FNUZ",
    "float4e2m1": "f4E2M1FN", "float8e8m0": "f8E8M0FNU",
    **{f"int{n}": f"i{n}" for n in (2, 4, 8, 16, 32, 64)}, **{f"uint{n}": f"ui{n}" for n in (2, 4, 8, 16, 32, 64)},
}
# Types to be wrong with, the likeliest first.
WRONG = ["tensor(float)", "tensor(int64)", "tensor(bool)", "tensor(string)", "tensor(complex64)", "tensor(uint2)",
         "tensor(float8e8m0)", "seq(tensor(float))", "map(int64, float)", "optional(tensor(bool))"]
VALUES = {"int": "1 : si64", "float": "1.0 : f32", "string": '"s"', "list of ints": "[1]",
          "list of floats": "[1.0 : f32]", "list of strings": '["s"]', "tensor": "dense<0.0> : tensor<1xf32>",
          "sparse_tensor": "dense<0.0> : tensor<1xf32>", "type_proto": "tensor<1xf32>"}
ELEM_TYPE_ATTRS = ("to", "dtype", "output_dtype", "output_datatype")


def mlir_type(text):
    kind, _, inner = text.rstrip(")").partition("(")
    if text == "none":
        return "none"
    inner = text[len(kind) + 1:-1]
    if kind == "tensor":
        return f"tensor<*x{ELEMS[inner]}>"
    if kind == "map":
        key, value = (t.strip() for t in inner.split(",", 1))
        value = value[len("tensor("):-1] if value.startswith("tensor(") else value
        return f"!onnx.Map<{ELEMS[key]}, {ELEMS[value]}>"
    return f"!onnx.{'Seq' if kind == 'seq' else 'Opt'}<{mlir_type(inner)}>"


class Op:
    """A right op of a schema row, of which a chunk changes one thing."""

    def __init__(self, row):
        self.row = row
        self.name = row["name"]
        self.min_in = row.get("min_inputs", sum(self.needed(p) for p in row["inputs"]))
        self.max_in = row.get("max_inputs", len(row["inputs"]))
        self.min_out = row.get("min_outputs", sum(self.needed(p) for p in row["outputs"]))
        self.max_out = row.get("max_outputs", len(row["outputs"]))
        self.ins = [self.right(p) for p in row["inputs"][:max(self.min_in, sum(self.needed(p) for p in row["inputs"]))]]
        self.outs = [self.right(p) for p in row["outputs"][:max(self.min_out, 1)]]
        self.attrs = {a["name"]: self.value(a) for a in row["attributes"]
                      if a.get("required") and a["type"] != "graph"}
        if self.name == "Constant":
            self.attrs["value_int"] = "1 : si64"
            self.outs = ["tensor(int64)"]

    @staticmethod
    def needed(param):
        return not param.get("optional") and not param.get("variadic")

    @staticmethod
    def value(attr):
        return "f32" if attr["name"] in ELEM_TYPE_ATTRS else VALUES[attr["type"]]

    def allowed(self, param):
        return self.row["types"].get(param["type"], [param["type"]])

    def right(self, param):
        return self.allowed(param)[0]

    def wrong(self, param):
        allowed = [mlir_type(t) for t in self.allowed(param)]
        return next((t for t in WRONG if mlir_type(t) not in allowed), None)

    def regions(self):
        """Regions in their right form: what the op takes goes in, what it gives comes out."""
        outs = ", ".join(f"%y{i}" for i in range(len(self.outs)))
        out_types = ", ".join(mlir_type(t) for t in self.outs)
        if self.name == "If":
            return f"({{ onnx.Yield {outs} : {out_types} }}, {{ onnx.Yield {outs} : {out_types} }}) "
        if self.name == "Loop":
            return ("({ ^bb0(%i: tensor<i64>, %c: tensor<i1>): "
                    f"onnx.Yield %c, {outs} : tensor<i1>, {out_types} }}) ")
        if self.name in ("Scan", "SequenceMap"):
            args = ", ".join(f"%a{i}: tensor<*xf32>" for i in range(len(self.ins)))
            return f"({{ ^bb0({args}): onnx.Yield {outs} : {out_types} }}) "
        return ""

    def text(self, ins, outs, attrs):
        args = [f"%x{i}: {mlir_type(t)}" for i, t in enumerate(ins)]
        args += [f"%y{i}: {mlir_type(t)}" for i, t in enumerate(self.outs)] if self.regions() else []
        dictionary = ", ".join(f"{k} = {v}" for k, v in attrs.items())
        results = ", ".join(f"%r{i}" for i in range(len(outs)))
        types = ", ".join(mlir_type(t) for t in outs)
        return (f"func.func @f({', '.join(args)}) {{\n  // expected-error @+1 {{{{MESSAGE}}}}\n"
                f"  {results + ' = ' if results else ''}\"onnx.{self.name}\"({', '.join(f'%x{i}' for i in range(len(ins)))}) "
                f"{self.regions()}{'{' + dictionary + '} ' if dictionary else ''}"
                f": ({', '.join(mlir_type(t) for t in ins)}) -> ({types})\n  return\n}}\n")

    def case(self, message, ins=None, outs=None, attrs=None):
        return self.text(self.ins if ins is None else ins, self.outs if outs is None else outs,
                         self.attrs if attrs is None else attrs).replace("MESSAGE", message)


def replaced(items, i, value):
    return items[:i] + [value] + items[i + 1:]


def counts(op):
    if op.min_in > 0:
        yield op.case(f"expected at least {op.min_in} operand(s), found {op.min_in - 1}", ins=op.ins[:op.min_in - 1])
    if op.max_in is not None and op.max_in < 1000:
        ins = op.ins + ["none"] * (op.max_in + 1 - len(op.ins))
        yield op.case(f"expected at most {op.max_in} operand(s), found {op.max_in + 1}", ins=ins)
    if op.min_out > 0:
        yield op.case(f"expected at least {op.min_out} result(s), found {op.min_out - 1}", outs=op.outs[:op.min_out - 1])
    if op.max_out is not None and op.max_out < 1000:
        outs = op.outs + ["none"] * (op.max_out + 1 - len(op.outs))
        yield op.case(f"expected at most {op.max_out} result(s), found {op.max_out + 1}", outs=outs)


def required(op):
    for side, word, params in (("ins", "operand", op.row["inputs"]), ("outs", "result", op.row["outputs"])):
        for i, param in enumerate(params):
            types = getattr(op, side)
            if i < len(types) and op.needed(param):
                yield op.case(f"{word} {i} '{param['name']}' is required, found none", **{side: replaced(types, i, "none")})


def places(op):
    """(side, word, index, parameter) of every value of the right op, operands first."""
    for side, word, params in (("ins", "operand", op.row["inputs"]), ("outs", "result", op.row["outputs"])):
        for i in range(len(getattr(op, side))):
            yield side, word, i, params[i]


def types(op):
    seen = {}
    for side, word, i, param in places(op):
        values = getattr(op, side)
        first = seen.setdefault(param["type"], (word, i, param))
        if first == (word, i, param):
            wrong = op.wrong(param)
            if wrong:
                yield op.case(f"{word} {i} '{param['name']}': expected ", **{side: replaced(values, i, wrong)})
        elif len(op.allowed(param)) > 1 and not param.get("heterogeneous"):
            if op.name == "Constant":
                continue
            other = next(t for t in op.allowed(param) if t != values[i])
            yield op.case(f"{word} {i} '{param['name']}': expected the type of {first[0]} {first[1]} '{first[2]['name']}'",
                          **{side: replaced(values, i, other)})


def attributes(op):
    yield op.case("unknown attribute 'no_such_attribute'", attrs={"no_such_attribute": "1 : si64", **op.attrs})
    for attr in op.row["attributes"]:
        name = attr["name"]
        if attr["type"] == "graph":
            continue
        wrong = "1 : si64" if "string" in attr["type"] else '"wrong"'
        others = {k: v for k, v in op.attrs.items() if k != name}
        yield op.case(f"attribute '{name}': expected ", attrs={name: wrong, **others})
        if attr.get("required"):
            yield op.case(f"attribute '{name}' is required", attrs=others)


def regions(op):
    if op.regions():
        yield op.case("region(s), found 0").replace(op.regions(), "")


def main():
    rows = {}
    with open(sys.argv[1]) as f:
        for row in json.load(f):
            rows[row["name"]] = max(rows.get(row["name"], row), row, key=lambda r: r["since"])
    part, parts = (int(n) for n in sys.argv[2].split("/")) if len(sys.argv) > 2 else (0, 1)
    chunks = []
    for name in sorted(rows):
        op = Op(rows[name])
        for make in (counts, required, types, attributes, regions):
            chunks += [f"// {name}: {make.__name__}\n{case}" for case in make(op)]
    sys.stdout.write("\n// -----\n\n".join(chunks[part::parts]))
    print(f"{len(chunks)} rules, {len(chunks[part::parts])} in this part", file=sys.stderr)


main()
