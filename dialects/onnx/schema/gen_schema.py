#!/usr/bin/env python3
"""Turn the standard's facts (schemas.json) into the C tables behind schema.h.

Usage: gen_schema.py schemas.json OUT.c
"""
import json
import re
import sys

ELEMS = {  # the standard's element names, as enumerators of onyx_elem
    "float": "ONYX_F32", "uint8": "ONYX_U8", "int8": "ONYX_I8", "uint16": "ONYX_U16",
    "int16": "ONYX_I16", "int32": "ONYX_I32", "int64": "ONYX_I64", "string": "ONYX_STRING",
    "bool": "ONYX_BOOL", "float16": "ONYX_F16", "double": "ONYX_F64", "uint32": "ONYX_U32",
    "uint64": "ONYX_U64", "complex64": "ONYX_C64", "complex128": "ONYX_C128",
    "bfloat16": "ONYX_BF16", "float8e4m3fn": "ONYX_F8E4M3FN",
    "float8e4m3fnuz": "ONYX_F8E4M3FNUZ", "float8e5m2": "ONYX_F8E5M2",
    "float8e5m2fnuz": "ONYX_F8E5M2FNUZ", "uint4": "ONYX_U4", "int4": "ONYX_I4",
    "float4e2m1": "ONYX_F4E2M1", "float8e8m0": "ONYX_F8E8M0", "uint2": "ONYX_U2",
    "int2": "ONYX_I2",
}
KINDS = {
    "float": "FLOAT", "int": "INT", "string": "STRING", "tensor": "TENSOR", "graph": "GRAPH",
    "list of floats": "FLOATS", "list of ints": "INTS", "list of strings": "STRINGS",
    "list of tensors": "TENSORS", "list of graphs": "GRAPHS", "sparse_tensor": "SPARSE_TENSOR",
    "list of sparse_tensors": "SPARSE_TENSORS", "type_proto": "TYPE_PROTO",
    "list of type_protos": "TYPE_PROTOS",
}
FLT_MAX = 3.4028234663852886e38
# The facts print defaults with few digits; these are the standard's numbers where that matters.
EXACT = {
    ("Selu", "1.67326"): "1.67326319217681884765625",
    ("Selu", "1.0507"): "1.05070102214813232421875",
    ("Adagrad", "0.0", "epsilon"): "1e-06",
    ("Adam", "0.0", "epsilon"): "1e-06",
}


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def inner(text):
    """'seq(tensor(float))' gives 'tensor(float)'."""
    return text[text.index("(") + 1:-1]


def collect_types(rows):
    """Every type string, inner types before the types made of them."""
    found = set()

    def add(text):
        if text.startswith(("seq(", "optional(")):
            add(inner(text))
        found.add(text)

    for row in rows:
        for texts in row["types"].values():
            for text in texts:
                add(text)
        for param in row["inputs"] + row["outputs"]:
            if param["type"] not in row["types"]:
                add(param["type"])
    order = ("tensor(", "map(", "seq(tensor", "seq(map", "optional(tensor", "optional(seq")
    rank = lambda t: next(i for i, p in enumerate(order) if t.startswith(p))
    return sorted(found, key=lambda t: (rank(t), t))


def type_row(text, index):
    if text.startswith("tensor("):
        return f'{{{c_string(text)}, ONYX_TYPE_TENSOR, {ELEMS[inner(text)]}, 0, -1}}'
    if text.startswith("map("):
        key, value = (t.strip() for t in inner(text).split(","))
        return f'{{{c_string(text)}, ONYX_TYPE_MAP, {ELEMS[value]}, {ELEMS[key]}, -1}}'
    kind = "ONYX_TYPE_SEQ" if text.startswith("seq(") else "ONYX_TYPE_OPT"
    return f'{{{c_string(text)}, {kind}, 0, 0, {index[inner(text)]}}}'


def type_set(texts, index):
    bits = [0, 0]
    for text in texts:
        bits[index[text] >> 6] |= 1 << (index[text] & 63)
    return "{{0x%xull, 0x%xull}}" % tuple(bits)


def c_float(text):
    """Defaults near the largest float are printed with 7 digits; the standard means FLT_MAX."""
    value = float(text.strip("()"))
    if abs(value) >= 3.402823e38:
        value = FLT_MAX if value > 0 else -FLT_MAX
    return repr(value)


class Table:
    """One deduplicated C array a distinct initializer text."""

    def __init__(self, ctype, prefix):
        self.ctype, self.prefix, self.names, self.lines = ctype, prefix, {}, []

    def ref(self, items):
        if not items:
            return "NULL"
        text = ", ".join(items)
        if text not in self.names:
            self.names[text] = f"{self.prefix}{len(self.names)}"
            self.lines.append(f"static {self.ctype} {self.names[text]}[] = {{{text}}};")
        return self.names[text]


def exact_default(row, attr):
    if row["name"] == "Selu" and row["since"] < 6:
        return attr["default"]
    for key in ((row["name"], attr["default"]), (row["name"], attr["default"], attr["name"])):
        if key in EXACT:
            return EXACT[key]
    return attr["default"]


def attr_row(row, attr, lists):
    kind = KINDS[attr["type"]]
    fields = {"name": c_string(attr["name"]), "kind": f"ONYX_ATTR_{kind}"}
    if attr.get("required"):
        fields["required"] = "true"
    if "default" in attr:
        text = exact_default(row, attr)
        fields["has_default"] = "true"
        if kind == "INT":
            fields["default_int"] = str(int(text))
        elif kind == "FLOAT":
            fields["default_float"] = c_float(text)
        elif kind == "STRING":
            fields["default_string"] = c_string(text)
        else:
            items = re.findall(r"'([^']*)'", text)
            make = {"INTS": ("ints", lambda t: str(int(t))), "FLOATS": ("floats", c_float),
                    "STRINGS": ("strings", c_string)}[kind]
            fields["num_defaults"] = str(len(items))
            fields["default_" + make[0]] = lists[make[0]].ref([make[1](t) for t in items])
    return "{" + ", ".join(f".{k} = {v}" for k, v in fields.items()) + "}"


def counts(row, what):
    """Least and greatest count: the row's range, else what its parameters' flags say."""
    params = row[what]
    least = max([i + 1 for i, p in enumerate(params) if not p.get("optional")], default=0)
    most = -1 if params and params[-1].get("variadic") else len(params)
    least = row.get("min_" + what, least)
    most = row.get("max_" + what, most)
    return least, -1 if most is None else most


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        rows = json.load(f)
    rows.sort(key=lambda r: (r["domain"], r["name"], r["since"]))
    types = collect_types(rows)
    assert len(types) <= 128, "onyx_type_set holds 128 types"
    index = {text: i for i, text in enumerate(types)}
    lists = {"ints": Table("const int64_t", "ints_"), "floats": Table("const double", "floats_"),
             "strings": Table("const char *const", "strings_")}
    params = Table("const onyx_schema_param", "params_")
    attrs = Table("const onyx_schema_attr", "attrs_")
    constraints = Table("const onyx_schema_constraint", "types_")

    body = []
    for row in rows:
        sets = dict(row["types"])
        for p in row["inputs"] + row["outputs"]:
            sets.setdefault(p["type"], [p["type"]])
        position = {name: i for i, name in enumerate(sets)}

        def param(p):
            flag = lambda k: "true" if p.get(k) else "false"
            return (f'{{{c_string(p["name"])}, {position[p["type"]]}, {flag("optional")}, '
                    f'{flag("variadic")}, {flag("heterogeneous")}}}')

        sorted_attrs = sorted(row["attributes"], key=lambda a: a["name"])
        (min_in, max_in), (min_out, max_out) = counts(row, "inputs"), counts(row, "outputs")
        body.append("  {%s, %s, %d, %s, %d, %d, %d, %d, %d, %d, %d, %d, %s, %s, %s, %s}," % (
            c_string(row["domain"]), c_string(row["name"]), row["since"],
            "true" if row["deprecated"] else "false", len(row["inputs"]), len(row["outputs"]),
            len(sorted_attrs), len(sets), min_in, max_in, min_out, max_out,
            params.ref([param(p) for p in row["inputs"]]),
            params.ref([param(p) for p in row["outputs"]]),
            attrs.ref([attr_row(row, a, lists) for a in sorted_attrs]),
            constraints.ref([f"{{{c_string(n)}, {type_set(t, index)}}}" for n, t in sets.items()])))

    newest = {}
    for i, row in enumerate(rows):
        newest[row["name"]] = i  # rows are sorted by version within a name
    assert len({(r["domain"], r["name"]) for r in rows}) == len(newest), "name in two domains"

    out = ["// Generated by gen_schema.py; do not edit.", '#include "dialects/onnx/schema/schema.h"', ""]
    out.append("const onyx_schema_type onyx_schema_types[] = {")
    out += [f"  {type_row(t, index)}," for t in types]
    out += ["};", f"const int onyx_schema_num_types = {len(types)};", ""]
    for table in (*lists.values(), params, attrs, constraints):
        out += table.lines
    out += ["", "const onyx_schema onyx_schemas[] = {", *body, "};"]
    out += [f"const int onyx_num_schemas = {len(rows)};", ""]
    out.append("const onyx_schema *const onyx_schema_newest_rows[] = {")
    out += [f"  &onyx_schemas[{newest[name]}]," for name in sorted(newest)]
    out += ["};", f"const int onyx_num_operators = {len(newest)};"]
    newest_opset = max(r["since"] for r in rows if r["domain"] == "")
    out += [f"const int onyx_schema_newest_opset = {newest_opset};", ""]
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write("\n".join(out))


if __name__ == "__main__":
    main()
