"""An output of a model is a NumPy array without a copy: the DLPack tensor that onyx_model_run gives goes into a capsule."""
import ctypes
import os
import sys

import numpy as np

import build_model
import onyx_site

HERE = os.path.dirname(os.path.abspath(__file__))
I64P = ctypes.POINTER(ctypes.c_int64)


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", I64P), ("strides", I64P), ("byte_offset", ctypes.c_uint64)]


class Value(ctypes.Structure):
    """onyx_value: kind, a union of up to three words (a tensor uses the first), release, managed."""
    _fields_ = [("kind", ctypes.c_int), ("tensor", ctypes.POINTER(DLTensor)), ("word1", ctypes.c_void_p),
                ("word2", ctypes.c_void_p), ("release", ctypes.c_void_p), ("managed", ctypes.c_void_p)]


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("node", ctypes.c_char * 128), ("op", ctypes.c_char * 64),
                ("found", ctypes.c_int64), ("limit", ctypes.c_int64), ("message", ctypes.c_char * 512)]


class Capsule:
    """What numpy.from_dlpack asks for; it calls the tensor's deleter when the array dies."""

    def __init__(self, managed):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = new(managed, b"dltensor", None)

    def __dlpack__(self, stream=None):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def tensor_of(array):
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides))
    return DLTensor(array.ctypes.data, 1, 0, array.ndim, 2, 8 * array.itemsize, 1, shape, strides, 0)


def main():
    path = os.path.join(onyx_site.BUILD, "test", "runtime", "dlpack.so")
    build_model.build(os.path.join(HERE, "Inputs", "add.mlir"), path)
    library = ctypes.CDLL(path)
    library.onyx_model_create.restype = ctypes.c_void_p
    library.onyx_model_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    library.onyx_model_destroy.argtypes = [ctypes.c_void_p]
    error = Error()
    model = library.onyx_model_create(None, ctypes.byref(error))
    assert model, error.message
    # Any strides: a transposed array, and every second column of another.
    x = np.arange(12, dtype=np.float32).reshape(3, 4).T
    y = np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::2]
    tensors = tensor_of(x), tensor_of(y)
    inputs = (Value * 2)(*(Value(1, ctypes.pointer(t)) for t in tensors))
    out = Value()
    assert library.onyx_model_run(model, inputs, ctypes.byref(out), ctypes.byref(error)) == 0, error.message
    address = out.tensor.contents.data
    z = np.from_dlpack(Capsule(out.managed))
    library.onyx_model_destroy(model)
    assert z.ctypes.data == address, "the array is a copy"
    assert np.array_equal(z, x + y), z
    print("1 passed: NumPy takes an output without a copy")


if onyx_site.SANITIZE:  # Python is not sanitized, so it cannot load the sanitized runtime
    print("skipped: a sanitized runtime does not load into Python")
    sys.exit(77)
main()
