"""Models written by hand through stock tools, the runtime and onyx-run: numbers, errors, files of values, faults of weights."""
import os
import struct
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

import build_model
import onyx_counts
import onyx_site

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.join(onyx_site.BUILD, "test", "runtime", "run")
RUN = os.path.join(onyx_site.BUILD, "bin", "onyx-run")
counts = [0, 0]


def check(ok, what, text=""):
    counts[not ok] += 1
    if not ok:
        print(f"FAILED: {what}\n{text}")


def run(model, *arguments, code=0, has=""):
    """Runs onyx-run; checks its exit code and that each line of `has` is somewhere in what it wrote."""
    done = subprocess.run([RUN, os.path.join(WORK, model), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=60)
    ok = done.returncode == code and all(part in done.stdout for part in has.split("\n"))
    check(ok, f"{model} {arguments}: code {done.returncode}, expected {code} and {has!r}", done.stdout)
    return done.stdout


def model(name, output=None, *replacements):
    output = os.path.join(WORK, output or name + ".so")
    build_model.build(os.path.join(HERE, "Inputs", name + ".mlir"), output, replacements)
    return output


def test_add():
    path = model("add")
    exported = subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = sorted(line.split()[-1] for line in exported.splitlines())
    if not onyx_site.SANITIZE:
        check(names == ["onyx_model_create", "onyx_model_destroy", "onyx_model_run", "onyx_model_signature",
                        "onyx_value_release"], f"exported: {names}")
    run("add.so", "--describe", has='input 0 "x": tensor<?x3xf32>  (0 = batch)\noutput 0 "z %": tensor<?x3xf32>')
    # 1 + 10, 2 + 20, 3 + 0.5; nan; inf; -0 + -0
    run("add.so", "--input", "2x3xf32=1 2 3 nan inf -0", "--input", "2x3xf32=10,20,.5,1,-1,-0",
        has="z %: 2x3xf32=11 22 3.5 nan inf -0")
    two = ["--input", "1x3xf32=1 2 3", "--input", "1x3xf32=1 1 1"]
    run("add.so", *two, "--expected-output", "1x3xf32=2 3 4", has='output 0 "z %": ok')
    run("add.so", *two, "--expected-output", "1x3xf32=2 3.002 4.1", code=1, has="1 of 3 elements are wrong; the worst is at [0, 2]: got 4, expected 4.1")
    run("add.so", *two, "--expected-output", "1x3xf32=2 3.002 4.1", "--rtol", "0", code=1, has="2 of 3 elements")
    run("add.so", *two, "--expected-output", "1x3xf32=2 3.002 4.1", "--atol", "1", has="ok")
    run("add.so", *two, "--expected-output", "1x3xf64=2 3 4", code=1, has="element type f32, expected f64")
    run("add.so", *two, "--expected-output", "3xf32=2 3 4", code=1, has="shape [1, 3], expected [3]")
    run("add.so", "--input", "1x3xf32=nan inf 1", "--input", "1x3xf32=1 1 1", "--expected-output", "1x3xf32=nan inf 2", has="ok")
    run("add.so", "--input", "1x3xf32=nan inf 1", "--input", "1x3xf32=1 1 1", "--expected-output", "1x3xf32=1 -inf 2", code=1, has="2 of 3")
    run("add.so", "--dim", "batch=4", "--runs", "5", "--warmup", "2", "--threads", "1", has="5 runs: min\nmedian\nmean")
    check(run("add.so", "--dim", "batch=4") == run("add.so", "--shape", "x=4x3", "--shape", "1=4x3"), "random inputs by name and number")
    check(run("add.so") != run("add.so", "--seed", "1"), "seeds differ")


def test_errors():
    run("add.so", "--input", "1x3xf32=1 2 3", "--input", "2x3xf32=1 2 3 4 5 6", code=1, has="axis 0 (batch) has size 2, but axis 0 of input 0 \"x\" has 1")
    run("add.so", "--input", "1x3xf64=1 2 3", "--input", "1x3xf32=1 2 3", code=1, has="expected element type f32, found f64")
    run("add.so", "--input", "3xf32=1 2 3", "--input", "1x3xf32=1 2 3", code=1, has="expected rank 2 (tensor<?x3xf32>), found rank 1")
    run("add.so", "--input", "1x2xf32=1 2", "--input", "1x3xf32=1 2 3", code=1, has="expected tensor<?x3xf32>, found shape [1, 2]")
    run("add.so", "--input", "none", "--input", "1x3xf32=1 2 3", code=1, has="found an optional")
    run("add.so", "--input", "1x3xf32=1 2", "--input", "1x3xf32=1 2 3", code=1, has="expected 3 values, found 2")
    run("add.so", "--input", "1x3xf32=1 2 x", "--input", "1x3xf32=1 2 3", code=1, has='"x" is no value of type f32')
    run("add.so", "--input", "1x3xf33=1 2 3", "--input", "1x3xf32=1 2 3", code=1, has='unknown element type "f33"')
    run("add.so", "--input", "99999999999x3xf32=1", "--input", "1x3xf32=1 2 3", code=1, has="fewer values than the shape has elements")
    run("add.so", "--input", "missing.pb", "--input", "1x3xf32=1 2 3", code=1, has="missing.pb: No such file")
    run("add.so", "--input", "1x3xf32=1 2 3", code=2, has="the model has 2 inputs, 1 are given")
    run("add.so", "--shape", "x=4", code=2, has="does not fit")
    for wrong in (["--runs", "0"], ["--rtol", "-1"], ["--nonsense"], ["--input"], ["--dim", "x"], ["another.so"]):
        run("add.so", *wrong, code=2)
    run("missing.so", code=1, has="No such file")
    run("../../../bin/onyx-run", code=1, has="error")
    for option, has in (("--help", "usage: onyx-run MODEL.so"), ("--version", "onyx-run 0.")):
        done = subprocess.run([RUN, option], stdout=subprocess.PIPE, text=True, timeout=10)
        check(done.returncode == 0 and has in done.stdout, option)


def test_gather():
    model("gather")
    x = ["--input", "3xf32=10 20 30"]
    run("gather.so", *x, "--input", "4xi64=2 0 -1 -3", has="y: 4xf32=30 10 30 10")
    run("gather.so", *x, "--input", "2xi64=0 3", code=1, has='Gather "gather_4": index 3 is out of range for size 3')
    run("gather.so", *x, "--input", "2xi64=-4 7", code=1, has="index -4 is out of range")


# (MLIR's name, what memrefs store, TensorProto's number, values that the type holds exactly)
TYPES = [
    ("f32", "f32", 1, "1.5 -0 inf nan 3.4028235e+38 1e-45"), ("f64", "f64", 11, "0.1 -inf nan 1e-300 2 3"),
    ("f16", "f16", 10, "65504 -0 inf nan 6e-08 0.1001"), ("bf16", "bf16", 16, "3.39e+38 -1 inf nan 1e-40 0.1001"),
    ("i8", "i8", 3, "-128 127 0 1 2 3"), ("i16", "i16", 5, "-32768 32767 0 1 2 3"),
    ("i32", "i32", 6, "-2147483648 2147483647 0 1 2 3"), ("i64", "i64", 7, "-9223372036854775808 9223372036854775807 0 1 2 3"),
    ("ui8", "i8", 2, "255 128 0 1 2 3"), ("ui16", "i16", 4, "65535 0 1 2 3 4"), ("ui32", "i32", 12, "4294967295 0 1 2 3 4"),
    ("ui64", "i64", 13, "18446744073709551615 0 1 2 3 4"), ("i1", "i1", 9, "true false true true false false"),
    ("complex<f32>", "complex<f32>", 14, "(1,-2) (0,nan) (inf,0.5) (3,0) (0,4) (5,6)"),
    ("complex<f64>", "complex<f64>", 15, "(0.1,-2) (0,nan) (inf,0.5) (3,0) (0,4) (5,6)"),
    ("f8E4M3FN", "i8", 17, "448 -0.001953125 nan 1.125 0 -1"), ("f8E4M3FNUZ", "i8", 18, "240 0.0009765625 nan 1.125 0 -1"),
    ("f8E5M2", "i8", 19, "57344 -inf nan 1.25 1.52587890625e-05 -0"), ("f8E5M2FNUZ", "i8", 20, "57344 7.62939453125e-06 nan 1.25 0 -1"),
    ("f8E8M0FNU", "i8", 24, "1 2 0.25 nan 1.7014118346046923e+38 5.877471754111438e-39"),
    ("f4E2M1FN", "i8", 23, "6 -6 0.5 -0 1.5 4"), ("i4", "i8", 22, "-8 7 0 -1 3 5"), ("ui4", "i8", 21, "15 0 8 1 3 5"),
    ("i2", "i8", 26, "-2 1 0 -1 1 0"), ("ui2", "i8", 25, "3 0 2 1 3 1"),
]
NUMPY = {1: np.float32, 11: np.float64, 10: np.float16, 3: np.int8, 5: np.int16, 6: np.int32, 7: np.int64, 2: np.uint8,
         4: np.uint16, 12: np.uint32, 13: np.uint64, 9: np.bool_, 14: np.complex64, 15: np.complex128}


def as_numpy(number, values):
    def one(text):
        if number == 9:
            return text == "true"
        return complex(*map(float, text.strip("()").split(","))) if text[0] == "(" else int(text) if number in (6, 7, 13) else float(text)
    with np.errstate(all="ignore"):
        return np.array([one(v) for v in values.split()], dtype=NUMPY[number]).reshape(3, 2)


def test_types():
    for name, stored, number, values in TYPES:
        so = f"copy_{name.strip('>').replace('<', '_')}.so"
        model("copy", so, f"TYPE={name}", f"STORED={stored}")
        value = f"3x2x{name}={values}"
        exact = ["--rtol", "0", "--atol", "0"]
        run(so, "--input", value, "--expected-output", value, *exact, has="ok")
        out = os.path.join(WORK, "out_" + so)
        run(so, "--input", value, "--save", out)
        # What was saved is read again; NumPy's own files and TensorProtos say the same.
        saved = os.path.join(out, "output_0." + ("npy" if number in NUMPY else "pb"))
        run(so, "--input", saved, "--expected-output", value, *exact, has="ok")
        if number in NUMPY:
            array = as_numpy(number, values)
            check(np.array_equal(np.load(saved).view(np.uint8), array.view(np.uint8)) or
                  np.array_equal(np.nan_to_num(np.load(saved)), np.nan_to_num(array)), f"NumPy reads {saved}")
            variants(so, array, value, exact)
        else:
            proto = onnx.TensorProto.FromString(open(saved, "rb").read())
            check(proto.data_type == number and list(proto.dims) == [3, 2], f"onnx reads {saved}")
            typed_data(so, proto, value, exact)


def variants(so, array, value, exact):
    """The same array in Fortran order, big-endian, in .npy of versions 1 to 3, as raw_data and as typed fields."""
    path = os.path.join(WORK, "variant")
    for i, a in enumerate((array, np.asfortranarray(array), array.astype(array.dtype.newbyteorder(">")),
                           np.asfortranarray(array.astype(array.dtype.newbyteorder(">"))))):
        with open(path + ".npy", "wb") as f:
            np.lib.format.write_array(f, a, version=(1 + i % 3, 0))
        run(so, "--input", path + ".npy", "--expected-output", value, *exact, has="ok")
    proto = numpy_helper.from_array(array, "x")
    with open(path + ".pb", "wb") as f:
        f.write(proto.SerializeToString())
    run(so, "--input", path + ".pb", "--expected-output", value, *exact, has="ok")
    if proto.data_type != 9:  # bool's typed field is int32_data, as typed_data below writes it
        numbers = array.flatten().tolist() if proto.data_type != 10 else array.view(np.uint16).flatten().tolist()
        typed = onnx.helper.make_tensor("x", proto.data_type, [3, 2], array.flatten() if proto.data_type in (14, 15) else numbers) \
            if proto.data_type != 10 else None
        if typed is None:
            typed = onnx.TensorProto(data_type=10, dims=[3, 2], int32_data=numbers)
        with open(path + ".pb", "wb") as f:
            f.write(typed.SerializeToString())
        run(so, "--input", path + ".pb", "--expected-output", value, *exact, has="ok")


def typed_data(so, proto, value, exact):
    """int32_data holds the bits of small types, a byte of packed ones a number."""
    width = 2 if proto.data_type == 16 else 1
    numbers = [int.from_bytes(proto.raw_data[i:i + width], "little") for i in range(0, len(proto.raw_data), width)]
    typed = onnx.TensorProto(data_type=proto.data_type, dims=[3, 2], int32_data=numbers)
    path = os.path.join(WORK, "typed.pb")
    with open(path, "wb") as f:
        f.write(typed.SerializeToString())
    run(so, "--input", path, "--expected-output", value, *exact, has="ok")


def fingerprint(data):
    """FNV-1a as dialects/onnx/schema/fingerprint.h has it, of at most 64 blocks."""
    h = 0xcbf29ce484222325
    for byte in struct.pack("<Q", len(data)) + data:
        h = (h ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return f"{h:016x}"


def test_weights():
    # byte 3: 100.0f; bytes 8 and 12: 1.0f, 2.0f
    data = b"abc" + struct.pack("<f", 100) + b"d" + struct.pack("<ff", 1, 2)
    model("weights", "weights/model.so", f"FINGERPRINT={fingerprint(data)}")
    path = os.path.join(WORK, "weights", "w.bin")

    def write(contents):
        with open(path, "wb") as f:
            f.write(contents)

    write(data)
    x, y = ["--input", "2xf32=10 20"], "y: 2xf32=111 122"
    run("weights/model.so", *x, has=y)
    run("weights/model.so", *x, "--copy-weights", has=y)
    os.makedirs(os.path.join(WORK, "elsewhere"), exist_ok=True)
    os.rename(path, os.path.join(WORK, "elsewhere", "w.bin"))
    run("weights/model.so", *x, code=1, has='weights file "w.bin" not found\nbeside the model')
    run("weights/model.so", *x, "--weights", os.path.join(WORK, "elsewhere"), has=y)
    for contents, has in ((data[:-1], "has 15 bytes, the model was compiled with one of 16 bytes"),
                          (data[:-1] + b"x", f"the model was compiled with one of fingerprint {fingerprint(data)}"), (b"", "has 0 bytes")):
        write(contents)
        run("weights/model.so", *x, code=1, has=has)
        run("weights/model.so", "--describe", code=1, has=has)
    write(data[:-1] + b"x")
    run("weights/model.so", *x, "--no-verify", has="y: 2xf32=111 ")


def test_embedded():
    data = b"abc" + struct.pack("<f", 100) + b"d" + struct.pack("<ff", 1, 2)
    folder = os.path.join(WORK, "embedded")
    os.makedirs(folder, exist_ok=True)
    path, file = os.path.join(folder, "model.so"), os.path.join(WORK, "loose.bin")
    with open(file, "wb") as f:
        f.write(data)

    def embed(what, code, has=""):
        done = subprocess.run([os.path.join(onyx_site.BUILD, "lib", "onyx", "onyx-embed"), path, what], stderr=subprocess.PIPE, text=True)
        check(done.returncode == code and has in done.stderr, f"onyx-embed {what}: {done.returncode}", done.stderr)

    model("weights", "embedded/model.so", f"FINGERPRINT={fingerprint(data)}")
    x, y = ["--input", "2xf32=10 20"], "y: 2xf32=111 122"
    run("embedded/model.so", *x, code=1, has="not found")
    embed(f"0:15:{fingerprint(data)}:{file}", 1, "not the file that the model was imported with")
    embed(f"0:16:{fingerprint(data[1:])}:{file}", 1, "not the file that the model was imported with")
    embed(f"0:16:{fingerprint(data)}:{file}x", 1, "No such file")
    embed("0:16", 1, "expected INDEX")
    embed(f"0:16:{fingerprint(data)}:{file}", 0)
    embed(f"0:16:{fingerprint(data)}:{file}", 1, "has weights 0 already")
    run("embedded/model.so", *x, has=y)
    run("embedded/model.so", *x, "--copy-weights", has=y)
    run("embedded/model.so", *x, "--weights", folder, code=1, has="not found")
    sections = subprocess.run(["llvm-readelf-22", "-SW", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    line = next((l for l in sections.splitlines() if ".onyx.weights.0" in l), "")
    check("PROGBITS" in line and " A " not in line, "a section that is not loaded", line)
    subprocess.run(["llvm-strip-22", "--strip-debug", path], check=True)
    run("embedded/model.so", *x, has=y)
    # A byte changed inside the library.
    with open(path, "rb") as f:
        contents = f.read()
    at = contents.rindex(data)
    with open(path, "wb") as f:
        f.write(contents[:at] + b"x" + contents[at + 1:])
    run("embedded/model.so", *x, code=1, has="has fingerprint")


def test_shared():
    # 128 MiB with a known sum: 2^19 times the bytes 0 .. 255, each block of 256 summing to 32640.
    blocks = 1 << 19
    data = bytes(range(256)) * blocks
    folder = os.path.join(WORK, "shared")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "w.bin")
    with open(path, "wb") as f:
        f.write(data)
    # The sampled blocks are all alike: every one of 4096 bytes is 16 times the 256.
    h = 0xcbf29ce484222325
    for byte in struct.pack("<Q", len(data)) + data[:4096] * 64:
        h = (h ^ byte) * 0x100000001b3 & (1 << 64) - 1
    so = model("sum", "shared/model.so", f"SIZE={len(data)}", f"FINGERPRINT={h:016x}")
    if onyx_site.SANITIZE:  # its shadow memory is not what is measured here
        return
    share = os.path.join(onyx_site.BUILD, "test", "runtime", "runtime-share")
    done = subprocess.run([share, so, str(len(data)), str(32640 * blocks)], stdout=subprocess.PIPE, text=True)
    check(done.returncode == 0, "two processes share the weights", done.stdout)
    os.remove(path)


def main():
    os.makedirs(os.path.join(WORK, "weights"), exist_ok=True)
    for test in (test_add, test_errors, test_gather, test_types, test_weights, test_embedded, test_shared):
        test()
    print(f"{counts[0]} passed, {counts[1]} failed")
    onyx_counts.write("runtime-models", counts[0], counts[1], 0)
    sys.exit(counts[1] != 0)


main()
