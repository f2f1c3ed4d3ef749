"""Arrays of other libraries: a stand-in for their protocol, without those libraries."""

from __future__ import annotations

import gc
import sys

import argreduce
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


def test_the_result_is_of_the_library():
    class Array:
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
