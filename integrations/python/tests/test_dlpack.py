"""Arrays of other libraries: a stand-in for their protocol, without those libraries."""

from __future__ import annotations

import ctypes
import gc
import sys

import argreduce
import ml_dtypes
import numpy as np
import pytest


class Tensor:
    """An array that is known by DLPack alone."""

    def __init__(self, array, versioned=True):
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        if not self.versioned and options:
            raise TypeError("unexpected keyword")
        return self.array.__dlpack__(**options)


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])
def test_types(dtype, versioned):
    x = np.array([[0, 1, 0], [1, 0, 1]], dtype)
    for y in (x, x[:, ::-1], x.T, np.broadcast_to(x, (2, 2, 3)) if versioned else x):
        found = argreduce.max_argmax(Tensor(y, versioned), -1)
        np.testing.assert_array_equal(found.indices, np.argmax(y, -1))
        np.testing.assert_array_equal(found.values, np.max(y, -1))


def test_nothing_is_leaked():
    x = np.zeros(1000)
    before = sys.getrefcount(x)
    for versioned in (False, True):
        for _ in range(100):
            argreduce.argmax(Tensor(x, versioned))
    gc.collect()
    assert sys.getrefcount(x) == before


def test_read_only():
    x = np.array([1.0, 5.0])
    x.flags.writeable = False
    assert argreduce.argmax(Tensor(x)) == 1


def test_a_tensor_that_refuses():
    class Refuses(Tensor):
        def __dlpack__(self, **options):
            raise BufferError("it needs a gradient")

    with pytest.raises(BufferError, match="gradient"):
        argreduce.argmax(Refuses(np.zeros(3)))


def test_a_tensor_elsewhere():
    class Gpu(Tensor):
        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(BufferError, match="CPU"):
        argreduce.argmax(Gpu(np.zeros(3)))


def test_other_types():
    with pytest.raises(TypeError, match="DLPack"):
        argreduce.argmax(Tensor(np.zeros(3, complex)))


class Array:
    """An array of a library that makes them."""

    def __init__(self, array):
        self.array = np.asarray(array)
        self.dtype = self.array.dtype

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __array_namespace__(self):
        return Library


class Library:
    @staticmethod
    def from_dlpack(x):
        return Array(np.from_dlpack(x))


def test_the_result_is_of_the_library():
    x = Array([[1.0, 5.0], [7.0, 0.0]])
    found = argreduce.argmax(x, 1)
    assert type(found) is Array and found.array.tolist() == [1, 0]
    assert type(argreduce.argmax(x)) is Array
    found = argreduce.max_argmax(x, 1)
    assert type(found.values) is Array and found.values.array.tolist() == [5, 7]


def test_jax():
    jax = pytest.importorskip("jax.numpy")
    x = jax.array([[1.0, 5.0], [7.0, 0.0]], jax.bfloat16)
    found = argreduce.max_argmax(x, 1)
    assert found.values.dtype == jax.bfloat16 and found.values.tolist() == [5, 7]
    for axis in (0, 1, None):
        indices = argreduce.argmax(x, axis)
        assert indices.dtype == jax.int32 and indices.tolist() == np.argmax(np.asarray(x, np.float32), axis).tolist()
    assert argreduce.max_argmax(x).values == 7
    assert argreduce.argmax(jax.ones((2,) * 9), 0).shape == (2,) * 8


class Bfloat16(Tensor):
    """Of the bits of bfloat16: what NumPy exports as integers is called by the other name."""

    def __dlpack__(self, **options):
        capsule = self.array.view(np.uint16).__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        # `DLTensor`: behind the address, the device and the rank.
        ctypes.c_uint8.from_address(pointer(capsule, b"dltensor") + 20).value = 4
        return capsule


def test_bfloat16():
    x = np.array([[1, -2, 5], [-3, -1, np.nan]], ml_dtypes.bfloat16)
    tensor = Bfloat16(x)
    for axis in (0, 1, (0, 1), None):
        for options in ({}, {"nan": "ignore", "select_last": True}):
            wanted = argreduce.max_argmax(x, axis, **options)
            np.testing.assert_array_equal(argreduce.argmax(tensor, axis, **options), wanted.indices, strict=True)
            found = argreduce.max_argmax(tensor, axis, **options)
            assert found.values.dtype == x.dtype and found.values.tobytes() == wanted.values.tobytes()
            np.testing.assert_array_equal(found.indices, wanted.indices, strict=True)
    np.testing.assert_array_equal(argreduce.nanargmax(tensor, 1, dtype="u2"), np.array([2, 1], "u2"), strict=True)
    # Partial answers merge as numbers, not as bits.
    parts = [argreduce.partial(Bfloat16(x[:, n : n + 1]), 1, start=(0, n), whole=(2, 3)) for n in range(3)]
    found = argreduce.merge(argreduce.merge(parts[0], parts[1]), parts[2])
    assert found.values.dtype == x.dtype and found.indices.tolist() == [2, 2]
    assert argreduce.merge(parts[0], parts[1]).indices.tolist() == [0, 1]


def test_out_is_given_back():
    out = np.zeros(2, np.int8)
    x = Array([[1.0, 5.0], [7.0, 0.0]])
    assert argreduce.argmax(x, 1, out=out) is out and out.tolist() == [1, 0]
    found = argreduce.max_argmax(x, 0, out=out)
    assert type(found.values) is Array and found.indices is out and out.tolist() == [1, 0]


def test_many_axes():
    x = np.arange(512.0).reshape((2,) * 9) % 7
    for y in (Tensor(x), Array(x)):
        found = argreduce.argmax(y, (1, 8))
        assert type(found) is (Array if type(y) is Array else np.ndarray)
        np.testing.assert_array_equal(getattr(found, "array", found), argreduce.argmax(x, (1, 8)))
    with pytest.raises(TypeError, match="complex"):
        argreduce.argmax(Tensor(x.astype(complex)))
