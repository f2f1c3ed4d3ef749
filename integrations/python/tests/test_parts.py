"""Partial answers merge to the answer for the whole."""

from __future__ import annotations

import math

import argreduce
import numpy as np
import pytest
from conftest import DTYPES, random_array


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_random_cuts(rng, dtype):
    for _ in range(40):
        shape = tuple(int(n) for n in rng.integers(1, 7, rng.integers(1, 4)))
        x = random_array(rng, shape, dtype)
        axes = tuple(int(a) for a in np.flatnonzero(rng.random(len(shape)) < 0.6))
        options = {
            "select_last": bool(rng.integers(2)),
            "nan": ("propagate", "ignore")[rng.integers(2)],
        }
        function = ("argmax", "argmin")[rng.integers(2)]
        # Cut along each reduced axis; empty parts too.
        boxes = [[]]
        for axis, size in enumerate(shape):
            cuts = sorted(rng.integers(0, size + 1, 2).tolist()) if axis in axes else []
            edges = [0, *cuts, size]
            boxes = [box + [slice(a, b)] for box in boxes for a, b in zip(edges, edges[1:])]
        parts = [
            argreduce.partial(
                x[tuple(box)], axes, start=[s.start for s in box], whole=shape, function=function, **options
            )
            for box in boxes
        ]
        rng.shuffle(order := list(range(len(parts))))
        acc = parts[order[0]]
        for n in order[1:]:
            acc = argreduce.merge(acc, parts[n], function=function, **options)
        name = {"argmax": argreduce.max_argmax, "argmin": argreduce.min_argmin}[function]
        values, indices = name(x, axes, **options)
        np.testing.assert_array_equal(acc.indices, indices)
        assert np.ascontiguousarray(acc.values).tobytes() == np.ascontiguousarray(values).tobytes()


def test_nothing_seen():
    part = argreduce.partial(np.zeros((2, 0)), 1, start=(0, 3), whole=(2, 5))
    assert part.indices.tolist() == [-1, -1]


def test_errors():
    with pytest.raises(ValueError, match="axis 1"):
        argreduce.partial(np.zeros((2, 3)), 1, start=(0, 3), whole=(2, 5))
    with pytest.raises(ValueError):
        argreduce.partial(np.zeros((2, 3)), 1, start=(0,), whole=(2, 5))
    a = (np.zeros(2), np.zeros(2, int))
    with pytest.raises(ValueError, match=r"values of other have the shape \(3,\), and values of acc \(2,\)"):
        argreduce.merge(a, (np.zeros(3), np.zeros(3, int)))
    for dtype in ("?", "f8", "O", "M8[s]"):
        indices = np.zeros(2, dtype)
        with pytest.raises(TypeError, match="indices of other are of type .*: integers are needed"):
            argreduce.merge(a, (np.zeros(2), indices))
        with pytest.raises(TypeError, match="indices of acc are of type .*: integers are needed"):
            argreduce.merge((np.zeros(2), indices), a)
    with pytest.raises(ValueError, match=f"indices of acc have {2**63}: int64 holds less"):
        argreduce.merge((np.zeros(2), np.array([0, 2**63], np.uint64)), a)
    with pytest.raises(TypeError, match="merge takes bool, .*, not complex128"):
        argreduce.merge((np.zeros(2, complex), np.zeros(2, int)), a)
    for acc, other, name in ((list(a), a, "acc"), (a, (*a, 1), "other"), (a, None, "other")):
        with pytest.raises(TypeError, match=rf"{name} is of type \w+: a tuple \(values, indices\) is needed"):
            argreduce.merge(acc, other)
    with pytest.raises(TypeError, match="values of acc are of type float64, and those of other of type float32"):
        argreduce.merge(a, (np.zeros(2, "f4"), np.zeros(2, int)))
    masked = (np.ma.masked_array(np.zeros(2), [True, False]), np.zeros(2, int))
    for acc, other in ((a, masked), (masked, a)):
        with pytest.raises(TypeError, match="masked"):
            argreduce.merge(acc, other)
    with pytest.raises(ValueError, match="function"):
        argreduce.merge(a, a, function="sum")


def test_merge_changes_neither():
    a = (np.array([1.0]), np.array([0]))
    b = (np.array([2.0]), np.array([1]))
    assert argreduce.merge(a, b).values.tolist() == [2.0]
    assert a[0].tolist() == [1.0] and b[0].tolist() == [2.0]


def test_merge_of_byte_swapped_values():
    a = (np.array([1.0, 3.0], ">f8"), np.array([0, 1]))
    b = (np.array([2.0, 2.0]), np.array([2, 3]))
    for acc, other in ((a, b), (b, a)):
        found = argreduce.merge(acc, other)
        assert found.values.tolist() == [2.0, 3.0] and found.indices.tolist() == [2, 1]


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u4", ">u8"])
def test_merge_takes_indices_of_any_integers(dtype):
    # All bits set is "nothing seen", whatever the value beside it.
    nothing = np.array(-1).astype(dtype)
    most = min(np.iinfo(dtype).max - (np.dtype(dtype).kind == "u"), np.iinfo(np.int64).max)
    values = np.array([[9.0, 5.0], [5.0, 5.0], [5.0, 9.0]])
    indices = np.array([[nothing, 7], [most, 3], [nothing, nothing]], dtype)
    plain = (np.full((3, 2), 5.0), np.array([[4, 6], [4, 6], [-1, 6]]))
    wanted = [[4, 6], [4, 3], [-1, 6]]
    # Of any strides, too.
    for narrow in (indices, np.asfortranarray(indices), np.repeat(indices, 2, 0)[::2]):
        for acc, other in ((plain, (values, narrow)), ((values, narrow), plain)):
            found = argreduce.merge(acc, other)
            np.testing.assert_array_equal(found.indices, np.array(wanted), strict=True)
            assert found.values[:2].tolist() == [[5, 5], [5, 5]] and found.values[2, 1] == 5
    last = argreduce.merge((values[1], indices[1]), (values[1], indices[1] * 0), select_last=True)
    assert last.indices.tolist() == [most, 3]
    empty = argreduce.merge((values[:0], indices[:0]), (values[:0], indices[:0]))
    assert empty.indices.shape == (0, 2) and empty.indices.dtype == np.int64


@pytest.mark.parametrize("seed", range(20))
def test_many_axes(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 4, rng.integers(9, 12)))
    x = random_array(rng, shape, DTYPES[seed % len(DTYPES)])
    axes = tuple(int(a) for a in np.flatnonzero(rng.random(len(shape)) < 0.6))
    options = {"select_last": bool(rng.integers(2)), "nan": ("propagate", "ignore")[rng.integers(2)]}
    boxes = [[]]
    for axis, size in enumerate(shape):
        edges = [0, int(rng.integers(0, size + 1)), size] if axis in axes[-3:] else [0, size]
        boxes = [box + [slice(a, b)] for box in boxes for a, b in zip(edges, edges[1:])]
    acc = None
    for box in boxes:
        part = argreduce.partial(x[tuple(box)], axes, start=[s.start for s in box], whole=shape, **options)
        acc = part if acc is None else argreduce.merge(part, acc, **options)
    values, indices = argreduce.max_argmax(x, axes, **options)
    np.testing.assert_array_equal(acc.indices, indices, strict=bool(np.ndim(indices)))
    assert np.ascontiguousarray(acc.values).tobytes() == np.ascontiguousarray(values).tobytes()
    # Any rank merges, also where it is not packed.
    shape = (1,) * (9 - acc.values.ndim) + acc.values.shape
    pair = tuple(np.asfortranarray(part.reshape(shape)) for part in acc)
    merged = argreduce.merge(pair, pair, **options)
    assert merged.indices.shape == shape
    np.testing.assert_array_equal(merged.indices, pair[1])


def test_windows_of_many_axes():
    x = np.zeros((2,) * 9)
    x[1, 0, 0, 0, 0, 1, 0, 0, 1] = 1
    start, whole = (0, 3, 0, 0, 7, 1, 0, 0, 0), (2, 9, 2, 2, 9, 4, 2, 2, 2)
    part = argreduce.partial(x, None, start=start, whole=whole)
    assert part.indices == np.ravel_multi_index((1, 3, 0, 0, 7, 2, 0, 0, 1), whole)
    part = argreduce.partial(x, (5, 0), start=start, whole=whole)
    assert part.indices[0, 0, 0, 0, 0, 0, 1] == 1 * 4 + 2 and part.indices.shape == (2,) * 7
    assert argreduce.partial(x[:0], 0, start=start, whole=whole).indices.tolist() == np.full((2,) * 8, -1).tolist()

    def fails(match, axis=None, x=x, **options):
        with pytest.raises(ValueError, match=match):
            argreduce.partial(x, axis, **{"start": start, "whole": whole, **options})

    fails("window does not fit axis 4: size 2 from 7 on ends beyond the whole's 8", whole=(2, 9, 2, 2, 8, 4, 2, 2, 2))
    fails("window's start has 8 numbers: it has to have one for each axis, 9", start=start[:8])
    fails("window's whole has 10 numbers", whole=(*whole, 1))
    fails("axis 0 has size 0", 0, x[:0], whole=(0, *whole[1:]))
    fails("more elements than can be counted", whole=(1 << 60,) + whole[1:])
    fails("int64 holds at most", whole=(1 << 50,) + whole[1:])
    assert math.prod(whole[1:]) << 50 < 1 << 64
    fails("function", function="sum")


def test_numbers_of_windows():
    for x in (np.zeros((1, 2)), np.zeros((1, 2) + (1,) * 8)):
        ones = (1,) * (x.ndim - 2)
        with pytest.raises(ValueError, match="start is -1 on axis 1"):
            argreduce.partial(x, 0, start=(0, -1) + ones, whole=(4, 4) + ones)
        with pytest.raises(ValueError, match="whole is -4 on axis 0"):
            argreduce.partial(x, 0, start=(0, 0) + ones, whole=(-4, 4) + ones)
        with pytest.raises(ValueError, match=f"whole is {1 << 64} on axis 0"):
            argreduce.partial(x, 0, start=(0, 0) + ones, whole=(1 << 64, 4) + ones)
        with pytest.raises(TypeError, match="start is of type float on axis 1: an integer for each axis is needed"):
            argreduce.partial(x, 0, start=(0, 0.5) + ones, whole=(4, 4) + ones)
