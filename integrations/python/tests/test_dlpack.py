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


class HasArrayToo(Tensor):
    """Refuses to be a tensor, by an error of its own; but there is another way."""

    def __init__(self, array, refusal, where="__dlpack__"):
        super().__init__(array)
        self.refusal, self.where, self.calls = refusal, where, 0

    def __dlpack_device__(self):
        if self.where == "__dlpack_device__":
            raise self.refusal
        return super().__dlpack_device__()

    def __dlpack__(self, **options):
        self.calls += 1
        raise self.refusal

    def __array__(self, dtype=None, copy=None):
        return self.array


class RefusesTwice(HasArrayToo):
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("nor an array")


@pytest.mark.parametrize("error", [BufferError, TypeError, ValueError, RuntimeError, AttributeError])
@pytest.mark.parametrize("where", ["__dlpack__", "__dlpack_device__"])
def test_what_refuses_is_taken_by_array(error, where):
    x = HasArrayToo(np.array([1.0, 5.0]), error("no tensor"), where)
    assert argreduce.argmax(x) == 1 and type(argreduce.argmax(x)) is np.int64
    assert argreduce.partial(x, start=(2,), whole=(4,)).indices == 3
    assert argreduce.merge((x, [0, 1]), (x, [2, 3])).values.tolist() == [1, 5]
    assert argreduce.argmax(HasArrayToo(np.zeros((1,) * 9 + (2,)), error("no tensor"), where), -1).shape == (1,) * 9
    # Unless a gradient would be lost.
    x.requires_grad = True
    with pytest.raises(error, match="no tensor"):
        argreduce.argmax(x)
    with pytest.raises(RuntimeError, match="nor an array") as refusal:
        argreduce.argmax(RefusesTwice(np.zeros(2), error("no tensor"), where))
    assert type(refusal.value.__cause__) is error


def test_interrupts_are_no_refusals():
    with pytest.raises(KeyboardInterrupt):
        argreduce.argmax(HasArrayToo(np.zeros(2), KeyboardInterrupt()))


def test_only_a_missing_parameter_is_of_before_versions():
    x = HasArrayToo(np.zeros(2), TypeError("Can only use DLPack on arrays with no nulls"))
    argreduce.argmax(x)
    assert x.calls == 1
    for text in (
        "Tensor.__dlpack__() got an unexpected keyword argument 'max_version'",
        "__dlpack__() takes no keyword arguments",
        "__dlpack__(): incompatible function arguments. The following argument types are supported: ..",
    ):

        class Old(Tensor):
            def __dlpack__(self, **options):
                if options:
                    raise TypeError(text)
                return self.array.__dlpack__()

        assert argreduce.argmax(Old(np.array([1.0, 5.0]))) == 1


def test_pyarrow():
    pyarrow = pytest.importorskip("pyarrow")
    assert argreduce.argmax(pyarrow.array([False, True])) == 1
    # With warnings as errors: it is asked once.
    assert argreduce.nanargmax(pyarrow.array([3.0, None, 9.0])) == 2
    assert argreduce.nanargmax(pyarrow.array([3, None, 9], pyarrow.int32())) == 2
    assert argreduce.argmax(pyarrow.array([2**53, 2**53 + 1])) == 1
    assert argreduce.nanargmax(pyarrow.array([3, None, 9])) == 2


def test_torch():
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.0, 5.0])
    assert argreduce.argmax(x) == 1 and isinstance(argreduce.argmax(x), torch.Tensor)
    with pytest.raises((BufferError, RuntimeError), match="gradient"):
        argreduce.argmax(torch.tensor([1.0, 5.0], requires_grad=True))


def test_traced_arrays_of_jax():
    jax = pytest.importorskip("jax")
    for function in (argreduce.argmax, argreduce.nanargmin, argreduce.max_argmax):
        with pytest.raises(TypeError, match=f"{function.__name__} was given a traced array of JAX, which has no elements"):
            jax.jit(function)(jax.numpy.ones(3))


def test_a_tensor_elsewhere():
    class Gpu(Tensor):
        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(BufferError, match="CPU"):
        argreduce.argmax(Gpu(np.zeros(3)))


@pytest.mark.parametrize("device", [2, 0, -1, 4, 10])
def test_a_tensor_that_is_not_where_its_object_says(device):
    class Lies(Tensor):
        def __dlpack__(self, **options):
            capsule = self.array.__dlpack__(**options)
            # `DLTensor`: the device is behind the address.
            name = b"dltensor_versioned" if options else b"dltensor"
            start = 32 if options else 0
            ctypes.c_int32.from_address(pointer_of(capsule, name) + start + 8).value = device
            return capsule

    x = np.zeros(1000)
    before = sys.getrefcount(x)
    for versioned in (False, True):
        for function in (argreduce.argmax, argreduce.max_argmax, argreduce.nanargmin):
            with pytest.raises(BufferError, match=f"device of DLPack's type {device}"):
                function(Lies(x) if versioned else Old(Lies(x)))
    gc.collect()
    assert sys.getrefcount(x) == before


class Old(Tensor):
    """Of before versions."""

    def __dlpack__(self):
        return self.array.__dlpack__()


def pointer_of(capsule, name):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name)


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


class Narrow(Array):
    """An array of a library without integers of 64 bits, which cuts them off, as JAX does."""

    def __array_namespace__(self):
        return NarrowLibrary


class NarrowLibrary:
    @staticmethod
    def from_dlpack(x):
        array = np.from_dlpack(x)
        return Narrow(array.astype("i4") if array.dtype == np.int64 else array)


def test_the_result_is_of_the_library():
    x = Array([[1.0, 5.0], [7.0, 0.0]])
    found = argreduce.argmax(x, 1)
    assert type(found) is Array and found.array.tolist() == [1, 0]
    assert type(argreduce.argmax(x)) is Array
    found = argreduce.max_argmax(x, 1)
    assert type(found.values) is Array and found.values.array.tolist() == [5, 7]


def test_partial_answers_are_of_the_library():
    for library in (Array, Narrow):
        x = np.array([[1.0, 5.0, 5.0], [7.0, 0.0, 9.0]])
        parts = [argreduce.partial(library(x[:, n : n + 1]), 1, start=(0, n), whole=(2, 3)) for n in range(3)]
        found = argreduce.merge(argreduce.merge(parts[2], parts[0]), parts[1])
        # Indices stay int64.
        assert [type(part) for part in found] == [library, Array if library is Array else np.ndarray]
        assert found.values.array.tolist() == [5, 9]
        assert getattr(found.indices, "array", found.indices).tolist() == [1, 2]
        assert getattr(parts[2].indices, "array", parts[2].indices).dtype == np.int64
        # Mixed: the library of the first one's values.
        plain = (np.array([6.0, 6.0]), np.array([8, 8]))
        assert type(argreduce.merge(parts[0], plain).values) is library
        assert type(argreduce.merge(plain, parts[0]).values) is np.ndarray
    # Strides, and more axes than the library takes.
    y = np.asfortranarray(np.arange(512.0).reshape((2,) * 9) % 7)
    part = argreduce.partial(Array(y), (1, 8), start=(0,) * 9, whole=y.shape)
    assert type(part.values) is Array and part.values.array.shape == (2,) * 7
    np.testing.assert_array_equal(part.indices.array, argreduce.argmax(y, (1, 8)))
    merged = argreduce.merge((Array(y), Array(np.zeros(y.shape, int))), (y - 1, np.ones(y.shape, int)))
    assert type(merged.values) is Array and (merged.values.array == y).all() and (merged.indices.array == 0).all()


def test_indices_are_not_cut_off():
    from argreduce._interop import give_back

    found = give_back(np.array([1 << 31, 1]), Narrow([1.0]), None, False)
    assert type(found) is np.ndarray and found.tolist() == [1 << 31, 1]
    assert type(give_back(np.array([(1 << 31) - 1]), Narrow([1.0]), None, False)) is Narrow


@pytest.mark.parametrize("dtype", ["i2", "u4", "f2", "f4", "f8", ml_dtypes.bfloat16])
def test_misaligned(dtype):
    wanted = np.array([[[3, 9], [4, 9]], [[8, 0], [1, 2]]], dtype)
    memory = np.zeros(wanted.nbytes + 1, np.uint8)
    x = memory[1:].view(dtype).reshape(wanted.shape)
    x[...] = wanted
    assert not x.flags.aligned
    make = Bfloat16 if dtype == ml_dtypes.bfloat16 else Tensor
    many = x.reshape((1,) * 7 + (4, 2))
    for y, z in ((x, wanted), (x[..., ::-1].T, wanted[..., ::-1].T), (many, wanted.reshape(4, 2))):
        for axis in (-1, None):
            found, best = argreduce.max_argmax(make(y), axis), argreduce.max_argmax(z, axis)
            np.testing.assert_array_equal(np.ravel(found.indices), np.ravel(best.indices))
            assert found.values.dtype == dtype and found.values.tobytes() == best.values.tobytes()
    part = argreduce.partial(make(x), start=(0, 0, 0), whole=x.shape)
    assert part.indices == 1
    merged = argreduce.merge((make(x), np.zeros(x.shape, int)), (x, np.ones(x.shape, int)))
    assert merged.values.tobytes() == x.tobytes() and not merged.indices.any()
    if make is Tensor:
        assert type(argreduce.argmax(Array(x), 0)) is Array


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
    found = argreduce.max_argmax(jax.ones((2,) * 9, jax.bfloat16), 0).values
    assert isinstance(found, jax.ndarray) and found.dtype == jax.bfloat16
    # Without a type for them, indices are not cut off.
    parts = [argreduce.partial(x[:, n : n + 1], 1, start=(0, n), whole=(2, 1 << 40)) for n in range(2)]
    found = argreduce.merge(*parts)
    assert isinstance(found.values, jax.ndarray) and found.values.tolist() == [5, 7]
    assert found.indices.dtype == np.int64 and found.indices.tolist() == [1, 0]


class Bfloat16(Tensor):
    """Of the bits of bfloat16: what NumPy exports as integers is called by the other name."""

    def __dlpack__(self, **options):
        capsule = self.array.view(np.uint16).__dlpack__()
        # `DLTensor`: behind the address, the device and the rank.
        ctypes.c_uint8.from_address(pointer_of(capsule, b"dltensor") + 20).value = 4
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


# Where the fields of a `DLTensor` are, and their types.
FIELDS = {"data": (0, ctypes.c_uint64), "ndim": (16, ctypes.c_int32), "shape": (24, ctypes.c_uint64)}
LIES = [
    ({"ndim": -1}, "it has -1 axes"),
    ({"ndim": 65}, "it has 65 axes"),
    ({"ndim": (1 << 31) - 1}, "it has 2147483647 axes"),
    ({"shape": 0}, "where its sizes are is null"),
    ({"data": 0}, "where its elements are is null"),
    ({"sizes": (-1, 2)}, "a size is -1"),
    ({"sizes": (1 << 40, 1 << 40)}, "it has more elements than can be counted"),
    ({"sizes": (1 << 61, 2)}, "its strides lead out of memory"),
    ({"strides": (1 << 62, 1)}, "its strides lead out of memory"),
    ({"strides": (-(1 << 63), 1)}, "its strides lead out of memory"),
]


class Lies(Tensor):
    """It says something else than what it has."""

    def __init__(self, array, lies):
        super().__init__(array)
        self.lies = lies

    def __dlpack__(self, **options):
        capsule = self.array.__dlpack__()
        tensor = pointer_of(capsule, b"dltensor")
        for name, value in self.lies.items():
            if name in FIELDS:
                offset, kind = FIELDS[name]
                kind.from_address(tensor + offset).value = value
            else:
                numbers = ctypes.c_uint64.from_address(tensor + (24 if name == "sizes" else 32)).value
                for n, number in enumerate(value):
                    ctypes.c_int64.from_address(numbers + 8 * n).value = number
        return capsule


@pytest.mark.parametrize("lies, message", LIES)
def test_malformed(lies, message):
    for x in (np.arange(6.0).reshape(3, 2), np.arange(49, dtype="u1")[1:].view("f8").reshape(3, 2)):
        for name in ("argmax", "argminmax", "partial"):
            options = {"start": (0, 0), "whole": (3, 2)} if name == "partial" else {}
            for where in ({}, {"where": True}):
                with pytest.raises(BufferError, match=f"{name} was given a tensor of DLPack that is malformed: {message}"):
                    getattr(argreduce, name)(Lies(x, lies), **options, **where)
    with pytest.raises(BufferError, match="merge was given a tensor of DLPack that is malformed"):
        argreduce.merge((Lies(x, lies), np.zeros((3, 2), int)), (x, np.zeros((3, 2), int)))


def test_what_was_taken():
    capsule = np.zeros(2).__dlpack__()

    class Twice(Tensor):
        def __dlpack__(self, **options):
            return capsule

        def __dlpack_device__(self):
            return (1, 0)

    assert argreduce.argmax(Twice(None)) == 0
    with pytest.raises(BufferError, match="argmax was given a capsule that holds no tensor .*, or one that was taken already"):
        argreduce.argmax(Twice(None))
    capsule = None
    with pytest.raises(TypeError, match=r"argmax was given a Twice whose __dlpack__\(\) is a NoneType, and no capsule"):
        argreduce.argmax(Twice(None))
