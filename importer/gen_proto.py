#!/usr/bin/env python3
"""Write onnx.proto from the facts of the wire format.

Usage: gen_proto.py proto-fields.tsv > onnx.proto
"""
import collections
import sys

SCALARS = {"double", "float", "int32", "int64", "uint64", "string", "bytes"}

HEAD = """// The wire format of ONNX, IR version 14. Generated from the standard's facts by gen_proto.py.
//
// Two departures, neither of them seen on the wire:
// - Every `string` is declared `bytes`: protobuf-c cuts strings at their first NUL byte.
// - TensorProto has three fields of our own. wire.c replaces a tensor's payload by the place where
//   it lies in the file before protobuf-c sees the message, so that weights are never copied.
syntax = "proto2";
package onnx;
"""
OWN = """  optional fixed64 onyx_offset = 536870001;
  optional fixed64 onyx_length = 536870002;
  optional uint32 onyx_field = 536870003;
"""


def main():
    fields, enums, order = collections.OrderedDict(), collections.OrderedDict(), []
    with open(sys.argv[1], encoding="utf-8") as f:
        next(f)
        for line in f:
            kind, scope, name, number, ftype, rule = line.rstrip("\n").split("\t")
            table = enums if kind == "enum" else fields
            table.setdefault(scope, []).append((name, number, ftype, rule))
            for i in range(1, scope.count(".") + 2):
                part = ".".join(scope.split(".")[:i])
                if part not in order:
                    order.append(part)

    def emit(scope, depth):
        pad, out = "  " * depth, []
        short = scope.split(".")[-1]
        if scope in enums:
            out.append(f"{pad}enum {short} {{")
            out += [f"{pad}  {n} = {v};" for n, v, _, _ in enums[scope]]
            return out + [pad + "}"]
        out.append(f"{pad}message {short} {{")
        for other in order:
            if other.startswith(scope + ".") and "." not in other[len(scope) + 1:]:
                out += emit(other, depth + 1)
        oneofs = collections.OrderedDict()
        for name, number, ftype, rule in fields.get(scope, []):
            ftype = "bytes" if ftype == "string" else ftype
            if rule.startswith("oneof "):
                oneofs.setdefault(rule[6:], []).append(f"{pad}    {ftype} {name} = {number};")
            else:
                words = rule.split(" ", 1)
                option = " [" + words[1] + "]" if len(words) > 1 else ""
                out.append(f"{pad}  {words[0]} {ftype} {name} = {number}{option};")
        for group, lines in oneofs.items():
            out += [f"{pad}  oneof {group} {{", *lines, pad + "  }"]
        if scope == "TensorProto":
            out += OWN.rstrip("\n").split("\n")
        return out + [pad + "}"]

    print(HEAD)
    for scope in order:
        if "." not in scope:
            print("\n".join(emit(scope, 0)) + "\n")


if __name__ == "__main__":
    main()
