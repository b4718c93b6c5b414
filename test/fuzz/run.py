"""run.py import|text|values [--count N] [--seed S] [--case K]: damaged inputs may be refused, they may not crash a tool.

import: damaged .onnx files through onyx-import; text: damaged importer output through the graph passes; values: damaged
TensorProtos through onyx-run. Models come from Debian's libonnx-testdata. A failing case is left in build/test/fuzz."""
import argparse
import glob
import os
import random
import re
import shutil
import sys

import onyx_counts
import onyx_site
import onyx_test

TESTDATA = "/usr/share/libonnx-testdata/data"
WORK = os.path.join(onyx_site.BUILD, "test", "fuzz")
DIGITS = os.path.join(onyx_site.SOURCE, "examples", "digits")


def damage(data, rng):
    """A few cuts, flips, repeats and interesting bytes."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if not data:
            break
        at = rng.randrange(len(data))
        kind = rng.randrange(6)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff))
        elif kind == 2:
            del data[at:at + rng.randint(1, 8)]
        elif kind == 3:
            data[at:at] = data[at:at + rng.randint(1, 16)]
        elif kind == 4:
            del data[at:]
        else:
            data[at:at] = b"\xff" * 9 + b"\x01"  # the largest varint
    return bytes(data)


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[%@#!]?[\w.$*?-]+|\s+|.', re.S)
STRANGE = ["", "0", "-1", "9223372036854775807", "?", "*", "none", "f32", "i64", "tensor<*xf32>", "[]", "{}", "[", "}", "%none",
           "dense<>", "1 : si64", "\"\"", "tensor<?x0xf32>", "0 : si64", "[-9223372036854775808]"]


def damage_text(text, rng):
    tokens = TOKEN.findall(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(tokens))
        kind = rng.randrange(4)
        if kind == 0:
            tokens[at] = rng.choice(STRANGE)
        elif kind == 1:
            del tokens[at]
        elif kind == 2:
            tokens[at] = rng.choice(tokens)
        else:
            tokens.insert(at, rng.choice(tokens))
    return "".join(tokens)


def make_import(rng, models, path):
    with open(rng.choice(models), "rb") as f:
        data = f.read()
    with open(path + ".onnx", "wb") as f:
        f.write(damage(data, rng))
    return [f"{onyx_test.BIN}/onyx-import", path + ".onnx", "-o", path + ".mlir"]


def make_text(rng, models, path):
    code, text = onyx_test.run([f"{onyx_test.BIN}/onyx-import", rng.choice(models), "-o", path + ".in.mlir"], 20)
    if code:
        return None
    with open(path + ".in.mlir") as f:
        text = f.read()
    with open(path + ".mlir", "w") as f:
        f.write(damage_text(text, rng))
    return ["/usr/bin/mlir-opt-22", f"--load-dialect-plugin={onyx_site.BUILD}/lib/libonyx.so", path + ".mlir", "-o", path + ".out",
            "--pass-pipeline=builtin.module(shape-inference,constprop-onnx,canonicalize,shape-inference)"]


def make_values(rng, models, path):
    with open(os.path.join(TESTDATA, "node/test_conv_with_strides_no_padding/test_data_set_0/input_0.pb"), "rb") as f:
        data = f.read()
    with open(path + ".pb", "wb") as f:
        f.write(damage(data, rng))
    return [f"{onyx_test.BIN}/onyx-run", os.path.join(WORK, "digits.so"), "--input", path + ".pb"]


MAKERS = {"import": make_import, "text": make_text, "values": make_values}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=list(MAKERS))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="only this one")
    options = parser.parse_args()
    models = sorted(glob.glob(f"{TESTDATA}/*/*/model.onnx"))
    name = "fuzz-" + options.kind
    if not models:
        onyx_test.skip(name, f"no {TESTDATA} (package libonnx-testdata)")
    work = os.path.join(WORK, options.kind)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    if options.kind == "values":
        command = [f"{onyx_test.BIN}/onyx-compile", f"{DIGITS}/digits.onnx", "-o", os.path.join(WORK, "digits.so")]
        code, text = onyx_test.run(command)
        if code:
            sys.exit(text)
    count = options.count * (10 if onyx_test.FULL else 1)
    ran = failed = 0
    for k in range(count) if options.case is None else [options.case]:
        path = os.path.join(work, str(k))
        command = MAKERS[options.kind](random.Random(f"{options.seed}/{k}"), models, path)
        if command is None:
            continue
        code, text = onyx_test.run(command, 30)
        ran += 1
        # 1 is a refusal; 124 a timeout, others crashes or what nobody promised.
        if code not in (0, 1) or (code == 1 and not text.strip()):
            failed += 1
            print(f"FAIL case {k}: exit {code}: {' '.join(command)}\n{text[:2000]}")
        elif options.case is None:
            for file in glob.glob(glob.escape(path) + ".*"):
                os.remove(file)
        if failed == 20:
            print("and so on")
            break
    print(f"{name}: {ran} damaged inputs, {failed} failures")
    onyx_counts.write(name, int(not failed), int(bool(failed)), 0)
    sys.exit(bool(failed) or not ran)


main()
