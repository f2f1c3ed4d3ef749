"""Code of Python that runs in the middle of a call, and frees what the call is about to read or write."""

from __future__ import annotations

import inspect

import argreduce
import numpy as np
import pytest

OF_BOTH = ["argminmax", "argminmax_values"]
FUNCTIONS = ["argmax", "argmin", "nanargmax", "nanargmin", "max_argmax", "min_argmin", "partial", *OF_BOTH]
# What an array has after it was changed: so long that what was freed is given back to the system, and so short.
BEFORE, AFTER = 100_000, np.array([5.0, 9.0, 1.0])


def array() -> np.ndarray:
    x = np.zeros(BEFORE)
    x[70_000], x[60_000] = 1, -1
    return x


def set_state(x, new=AFTER):
    x.__setstate__((1, new.shape, new.dtype, False, new.tobytes()))


def resize(x):
    x.resize(AFTER.shape, refcheck=False)
    x[:] = AFTER


def answer(function, x, **options):
    """What a function gives for the changed array."""
    if function == "partial":
        options = {"start": (0,), "whole": (3,), **options}
    found = getattr(argreduce, function)(x, **options)
    return [part.tolist() for part in found] if isinstance(found, tuple) else found.tolist()


class Runs:
    """An argument that runs something when it is converted, whatever it is converted to."""

    def __init__(self, run, value=0):
        self.run, self.value = run, value

    def __index__(self):
        self.run()
        return self.value

    def __bool__(self):
        self.run()
        return bool(self.value)

    @property
    def dtype(self):
        self.run()
        return np.dtype(np.int64)


class HasArray:
    def __init__(self, array, run=lambda: None):
        self.array, self.run = array, run

    def __array__(self, dtype=None, copy=None):
        self.run()
        return self.array


class Tensor:
    def __init__(self, array, run=lambda: None):
        self.array, self.run = array, run

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        self.run()
        return self.array.__dlpack__(**options)


class ChangesItself(np.ndarray):
    """By the property that `isinstance` looks at."""

    @property
    def __class__(self):
        run, self.run = self.run, lambda: None
        run()
        return ChangesItself


# By the name of the parameter.
WAYS_IN = {
    "axis": lambda run: Runs(run),
    "axis in a tuple": lambda run: (Runs(run),),
    "axis in a list": lambda run: [Runs(run)],
    "threads": lambda run: Runs(run, 1),
    "dtype": lambda run: Runs(run),
    "keepdims": lambda run: Runs(run),
    "select_last": lambda run: Runs(run),
    "start": lambda run: (Runs(run),),
    "whole": lambda run: (Runs(run, 3),),
}


def has_parameter(function, name):
    return name in inspect.signature(getattr(argreduce, function)).parameters


@pytest.mark.parametrize(
    "function, way", [(f, way) for f in FUNCTIONS for way in WAYS_IN if has_parameter(f, way.split()[0])]
)
@pytest.mark.parametrize("change", [set_state, resize])
def test_arguments(function, way, change):
    name = way.split()[0]
    for wrap in (lambda x: x, HasArray, Tensor):
        x = array()
        options = {name: WAYS_IN[way](lambda: change(x))}
        assert answer(function, wrap(x), **options) == answer(function, AFTER)
        assert x.tolist() == AFTER.tolist()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_array_itself(function):
    """What is asked for an array may change it, or another one."""
    x = array().view(ChangesItself).copy()
    x.run = lambda: set_state(x)
    assert answer(function, x) == answer(function, AFTER)
    for wrap in (HasArray, Tensor):
        x = array()
        assert answer(function, wrap(x, lambda: set_state(x))) == answer(function, AFTER)


@pytest.mark.parametrize("function", [name for name in FUNCTIONS if has_parameter(name, "out")])
def test_out(function):
    """Both of many axes and of few, and whatever is converted when it changes."""
    rows = np.array([[5.0, 9.0, 1.0], [1.0, 0.0, 7.0]])
    wanted = getattr(argreduce, function)(rows, 1)
    wanted = getattr(wanted, "indices", wanted)
    for x in (rows, rows.reshape((1,) * 8 + (2, 3))):
        axis, shape = x.ndim - 1, x.shape[:-1]
        for wrong in (False, True):
            new = np.full((1,) if wrong else shape, 7)
            for way in ("axis", "array"):
                out = np.zeros(shape, np.int64)

                def run(out=out, new=new):
                    out.__setstate__((1, new.shape, new.dtype, False, new.tobytes()))

                given = HasArray(x, run) if way == "array" else x
                options = {"axis": Runs(run, axis) if way == "axis" else axis, "out": out}
                if wrong:
                    with pytest.raises(ValueError, match="does not match"):
                        getattr(argreduce, function)(given, **options)
                    assert out.tolist() == [7]
                else:
                    getattr(argreduce, function)(given, **options)
                    np.testing.assert_array_equal(out, wanted.reshape(shape))


def test_many_axes():
    for function in FUNCTIONS:
        x = array().reshape((1,) * 8 + (-1,)).copy()
        assert answer(function, x, axis=(Runs(lambda: set_state(x)),)) == answer(function, AFTER)


def test_merge():
    """Of four arrays, each changes those before it when it is asked for, and an option changes all."""
    values, indices = np.array([5.0, 9.0, 1.0]), np.array([4, 5, 6])
    wanted = argreduce.merge((values, indices), (values[::-1], indices[::-1]))

    def arrays():
        return [np.zeros(BEFORE), np.zeros(BEFORE, int), np.zeros(BEFORE), np.zeros(BEFORE, int)]

    def change(arrays):
        for x, new in zip(arrays, (values, indices, values[::-1], indices[::-1])):
            set_state(x, new)

    for culprit in range(4):
        for wrap in (HasArray, Tensor):
            these = arrays()
            given = list(these)
            given[culprit] = wrap(these[culprit], lambda these=these: change(these))
            found = argreduce.merge(tuple(given[:2]), tuple(given[2:]))
            np.testing.assert_array_equal(found.values, wanted.values)
            np.testing.assert_array_equal(found.indices, wanted.indices)
    these = arrays()
    found = argreduce.merge(tuple(these[:2]), tuple(these[2:]), select_last=Runs(lambda: change(these)))
    np.testing.assert_array_equal(found.indices, wanted.indices)


class Hostile(np.ndarray):
    """None of these is called: what a subclass makes of them is not what NumPy does."""

    is_armed = False

    def _refuses(self, *args, **options):
        raise AssertionError("a method of a subclass was called")

    copy = astype = reshape = transpose = view = ravel = flatten = squeeze = newbyteorder = _refuses
    __getitem__ = __setitem__ = __array__ = __array_function__ = __array_ufunc__ = _refuses
    shape = strides = ndim = dtype = flags = T = size = property(_refuses)

    def __array_finalize__(self, other):
        if Hostile.is_armed:
            raise AssertionError("an array of a subclass was made")


def hostile(x: np.ndarray) -> Hostile:
    Hostile.is_armed = False
    y = x.view(Hostile)
    Hostile.is_armed = True
    return y


def misaligned(x: np.ndarray) -> np.ndarray:
    y = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    y[...] = x
    return y


@pytest.mark.parametrize("function", FUNCTIONS)
def test_subclasses(function):
    x = np.arange(6.0).reshape(2, 3) * 5 % 7
    many = x.reshape((1,) * 8 + (2, 3))
    swapped = x.astype(x.dtype.newbyteorder())
    for y in (x, x.T, misaligned(x), swapped, misaligned(swapped), many, many.T, misaligned(many)):
        for axis in (None, 0, -1):
            options = {"start": (0,) * y.ndim, "whole": y.shape} if function == "partial" else {}
            wanted = getattr(argreduce, function)(np.array(y, x.dtype), axis, **options)
            found = getattr(argreduce, function)(hostile(y), axis, **options)
            for a, b in zip(found, wanted) if isinstance(found, tuple) else [(found, wanted)]:
                assert isinstance(a, (np.ndarray, np.generic)) and not isinstance(a, Hostile)
                np.testing.assert_array_equal(a, b, strict=True)
            if not has_parameter(function, "out"):
                continue
            indices = getattr(wanted, "indices", wanted)
            for dtype in (np.int64, np.int8, ">i4"):
                out = np.zeros(np.shape(indices), dtype)
                given = hostile(out)
                found = getattr(argreduce, function)(hostile(y), axis, out=given)
                assert getattr(found, "indices", found) is given
                np.testing.assert_array_equal(out, indices)


def test_merge_of_subclasses():
    x = np.arange(6.0).reshape(2, 3) * 5 % 7
    indices = np.arange(6).reshape(2, 3)
    wanted = argreduce.merge((x, indices), (x[::-1], indices + 6))
    for change in (np.asarray, np.asfortranarray, misaligned, lambda x: x.astype(x.dtype.newbyteorder())):
        pairs = (x, indices), (x[::-1], indices + 6)
        pairs = tuple(tuple(hostile(change(part)) for part in pair) for pair in pairs)
        found = argreduce.merge(*pairs)
        for a, b in zip(found, wanted):
            assert type(a) is np.ndarray
            np.testing.assert_array_equal(a, b, strict=True)
