"""Bools of NumPy whose bytes are others than 0 and 1: all that are true are equal."""

from __future__ import annotations

import itertools

import argreduce
import numpy as np
import pytest

FUNCTIONS = ["argmax", "argmin", "nanargmax", "nanargmin", "max_argmax", "min_argmin", "argminmax", "argminmax_values"]


def bools(rng, shape):
    """Of any bytes, or of few kinds of them."""
    kinds = rng.choice([0, 1, 2, 3, 127, 128, 255], rng.integers(1, 5))
    return rng.choice(kinds, shape).astype("u1").view(bool)


def plain(x):
    return x.view("u1") != 0


def same(found, wanted):
    for a, b in zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]:
        np.testing.assert_array_equal(a, b, strict=True)
        if np.asarray(a).dtype == bool:
            # Values are of zeros and ones.
            np.testing.assert_array_equal(np.asarray(a).view("u1"), np.asarray(b).view("u1"))


class Tensor:
    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def test_the_first_true():
    x = np.array([1, 2, 255, 0], "u1").view(bool)
    assert argreduce.argmax(x) == x.argmax() == 0
    assert argreduce.argmax(x, select_last=True) == 2
    assert argreduce.argmin(x) == 3
    assert argreduce.argmin(x[:3]) == x[:3].argmin() == 0
    assert argreduce.argmin(x[1:3], select_last=True) == 1
    assert argreduce.argminmax(x[:3]) == (0, 0)
    assert argreduce.argmax(x, where=[False, True, True, True]) == 1
    assert argreduce.argmin(x, where=[False, True, True, False]) == 1
    assert argreduce.max_argmax(x).values.view("u1") == 1
    assert argreduce.argmax(np.broadcast_to(x[2:3], 1 << 50)) == 0


@pytest.mark.parametrize("function", FUNCTIONS)
def test_any_bytes(function):
    rng = np.random.default_rng(FUNCTIONS.index(function))
    run = getattr(argreduce, function)
    for n in range(400):
        shape = tuple(rng.integers(1, [300, 9, 40][n % 3], n % 3 + 1))
        x = bools(rng, shape)
        if n % 2:
            x = x[:: rng.choice([1, 2, -1]), ...].swapaxes(0, -1)
        axes = [axis for axis in range(x.ndim) if rng.random() < 0.5]
        axis = tuple(axes) if n % 4 else None
        options = {"select_last": bool(n % 5 == 0), "keepdims": bool(n % 7 == 0)}
        wanted = run(plain(x), axis, **options)
        if function == "argmax" and axis is None and not options["select_last"]:
            assert np.ravel(wanted)[0] == plain(x).argmax()
        for given in (x, Tensor(x), x.reshape((1,) * 8 + x.shape) if axis is None else x):
            if given.__class__ is Tensor or given.ndim == x.ndim or not options["keepdims"]:
                same(run(given, axis, **options), wanted)
        same(run(x, axis, threads=2, **options), wanted)
        where = bools(rng, x.shape)
        wanted = run(plain(x), axis, where=plain(where), fill=-1, **options)
        same(run(x, axis, where=where, fill=-1, **options), wanted)
        same(run(np.ma.masked_array(x, ~plain(where)), axis, fill=-1, **options), wanted)
        same(run(Tensor(x), axis, where=where, fill=-1, **options), wanted)
        if function in ("argmax", "argmin"):
            out = np.full(np.shape(wanted), 7, np.int32)
            run(x, axis, out=out, **options)
            np.testing.assert_array_equal(out, run(plain(x), axis, **options))


@pytest.mark.parametrize("function, select_last", [*itertools.product(["argmax", "argmin"], [False, True])])
def test_parts(function, select_last):
    rng = np.random.default_rng(9)
    rule = {"function": function, "select_last": select_last}
    for _ in range(300):
        x = bools(rng, (int(rng.integers(2, 40)), 3))
        where = bools(rng, x.shape)
        cut = int(rng.integers(0, len(x) + 1))
        for there in (None, where):
            parts, wanted = [], []
            for first, last in ((0, cut), (cut, len(x))):
                options = {"start": (first, 0), "whole": x.shape, **rule}
                options["where"] = None if there is None else there[first:last]
                parts.append(argreduce.partial(x[first:last], 0, **options))
                wanted.append(argreduce.partial(plain(x[first:last]), 0, **options))
                same(tuple(parts[-1]), tuple(wanted[-1]))
    # Pairs of somebody else's.
    pairs = [(np.array([byte], "u1").view(bool), np.array([index])) for byte, index in ((2, 4), (1, 3))]
    for acc, other in (pairs, pairs[::-1]):
        values, indices = argreduce.merge(acc, other, **rule)
        assert indices.tolist() == [4 if select_last else 3] and values.view("u1").tolist() == [1]


def test_large():
    """Through every strategy, and beyond what is read at once."""
    rng = np.random.default_rng(2)
    for shape, axis in [((100_000,), None), ((40, 5000), 1), ((5000, 40), 0), ((5000, 3), 0), ((30, 20, 50), (0, 2))]:
        for share in (0.0, 0.001, 0.5, 1.0):
            x = np.where(rng.random(shape) < share, rng.choice([1, 2, 255], shape), 0).astype("u1").view(bool)
            for function, last, threads in itertools.product(FUNCTIONS, [False, True], [1, 2]):
                options = {"select_last": last, "threads": threads}
                wanted = getattr(argreduce, function)(plain(x), axis, **options)
                same(getattr(argreduce, function)(x, axis, **options), wanted)


def test_dask():
    da = pytest.importorskip("dask.array")
    import argreduce.dask

    rng = np.random.default_rng(3)
    for _ in range(10):
        x = bools(rng, (30, 20))
        lazy = da.from_array(x, (7, 6))
        for name, axis, last in itertools.product(["argmax", "argmin"], [None, 0, 1], [False, True]):
            found = getattr(argreduce.dask, name)(lazy, axis, select_last=last).compute()
            np.testing.assert_array_equal(found, getattr(argreduce, name)(plain(x), axis, select_last=last))
