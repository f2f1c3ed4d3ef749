"""Partial answers merge to the answer for the whole."""

from __future__ import annotations

import copy
import functools
import itertools
import math
import pickle

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
    with pytest.raises(ValueError, match=r"values of part 1 have the shape \(3,\), and values of part 0 \(2,\)"):
        argreduce.merge(a, (np.zeros(3), np.zeros(3, int)))
    for dtype in ("?", "f8", "O", "M8[s]"):
        indices = np.zeros(2, dtype)
        with pytest.raises(TypeError, match="indices of part 1 are of type .*: integers are needed"):
            argreduce.merge(a, (np.zeros(2), indices))
        with pytest.raises(TypeError, match="indices of part 0 are of type .*: integers are needed"):
            argreduce.merge((np.zeros(2), indices), a)
    with pytest.raises(ValueError, match=f"indices of part 0 have {2**63}: int64 holds less"):
        argreduce.merge((np.zeros(2), np.array([0, 2**63], np.uint64)), a)
    with pytest.raises(TypeError, match="merge takes bool, .*, not complex128"):
        argreduce.merge((np.zeros(2, complex), np.zeros(2, int)), a)
    for acc, other, n in ((list(a), a, 0), (a, (*a, 1), 1), (a, None, 1)):
        with pytest.raises(TypeError, match=rf"part {n} is of type \w+: a tuple \(values, indices\) is needed"):
            argreduce.merge(acc, other)
    with pytest.raises(TypeError, match="values of part 0 are of type float64, and values of part 1 of type float32"):
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


RULES = list(itertools.product(("argmax", "argmin"), (False, True), ("propagate", "ignore")))


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_parts_know_their_rule(rng, rule):
    function, last, nan = rule
    options = {"function": function, "select_last": last, "nan": nan}
    for x in (random_array(rng, (60,), np.dtype("f8")), np.full(60, np.nan), np.arange(60) % 3):
        parts = [argreduce.partial(x[n : n + 7], start=(n,), whole=x.shape, **options) for n in range(0, 60, 7)]
        rng.shuffle(order := list(range(len(parts))))
        parts = [parts[n] for n in order]
        name = {"argmax": argreduce.max_argmax, "argmin": argreduce.min_argmin}[function]
        wanted = name(x, select_last=last, nan=nan)
        for merged in (functools.reduce(argreduce.merge, parts), argreduce.merge(*parts), argreduce.merge(parts)):
            assert (merged.function, merged.select_last, merged.nan) == rule
            assert merged.indices == wanted.indices
            np.testing.assert_array_equal(merged.values, wanted.values)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_rule_stays(rule):
    function, last, nan = rule
    options = {"function": function, "select_last": last, "nan": nan}
    part = argreduce.partial(np.array([2.0, 1.0]), start=(0,), whole=(9,), **options)
    values, indices = part
    assert (values, indices) == (part.values, part.indices) and part._fields == ("values", "indices")
    assert repr(part) == f"Partial(values={values!r}, indices={indices!r})"
    pickled = [pickle.loads(pickle.dumps(part, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    others = [copy.copy(part), copy.deepcopy(part), part._replace(values=np.array(7.0)), type(part)(*part)]
    many = argreduce.partial(np.zeros((2,) * 9), 0, start=(0,) * 9, whole=(2,) * 9, **options)
    for other in (part, many, argreduce.merge(part), *pickled, *others):
        assert isinstance(other, argreduce.Partial) and type(other) is type(part)
        said = (other.function, other.select_last, other.nan, other.key, other.near)
        assert tuple(other.rule) == said == (*rule, None, None)


def test_a_rule_stays_in_dask(rng):
    dask = pytest.importorskip("dask")
    x = rng.random(12)
    options = {"function": "argmin", "select_last": True}
    parts = [argreduce.partial(x[n : n + 3], start=(n,), whole=x.shape, **options) for n in range(0, 12, 3)]
    partial = dask.delayed(argreduce.partial)
    lazy = [partial(x[n : n + 3], start=(n,), whole=x.shape, **options) for n in range(0, 12, 3)]
    mixed = parts[0]._replace(values=dask.delayed(parts[0].values))
    for scheduler in ("synchronous", "threads", "processes"):
        found = [
            *dask.compute(parts[0], mixed, *lazy, scheduler=scheduler),
            dask.delayed(argreduce.merge)(*lazy).compute(scheduler=scheduler),
            dask.delayed(argreduce.merge)(parts).compute(scheduler=scheduler),
            dask.delayed(argreduce.merge)(mixed, *parts[1:]).compute(scheduler=scheduler),
        ]
        assert {tuple(part.rule) for part in found} == {("argmin", True, "propagate", None, None)}
        assert {int(part.indices) for part in found[-3:]} == {int(x.argmin())}


def test_parts_of_different_rules():
    x = np.array([2.0, 1.0])

    def part(**options):
        return argreduce.partial(x, start=(0,), whole=(2,), **options)

    for options in ({"function": "argmin"}, {"select_last": True}, {"nan": "ignore"}):
        (name, value), = options.items()
        for parts in ((part(), part(), part(**options)), ((x[0], 0), part(**options), part())):
            with pytest.raises(ValueError, match=rf"different rules do not merge: part \d was found .*{name}={value!r}"):
                argreduce.merge(*parts)
        with pytest.raises(ValueError, match=rf"part 0 was found with .*, and merge was called with .*{name}={value!r}"):
            argreduce.merge(part(), part(), **options)
        # Said again, it is right.
        assert argreduce.merge(part(**options), part(**options), **options).rule == part(**options).rule
    # A plain pair is by the rule that the others know, or that is said.
    pair = (np.array(0.0), np.array(7))
    assert argreduce.Partial(*pair).rule is None and argreduce.Partial(*pair).function is None
    assert argreduce.merge(pair, part(function="argmin")).indices == 7
    assert argreduce.merge(argreduce.Partial(*pair), part()).indices == 0
    assert argreduce.merge(pair, tuple(part()), function="argmin").function == "argmin"
    assert argreduce.merge(pair, tuple(part())).function == "argmax"


def test_how_many_parts_merge():
    for call in (lambda: argreduce.merge(), lambda: argreduce.merge([])):
        with pytest.raises(ValueError, match="merge was given no parts: at least one is needed"):
            call()
    part = argreduce.partial(np.array([2.0, 1.0]), start=(0,), whole=(2,))
    alone = argreduce.merge(part)
    assert alone.values is not part.values and (alone.values, alone.indices) == (2, 0)
    with pytest.raises(TypeError, match="part 0 is of type list: a tuple"):
        argreduce.merge([part], [part])
    with pytest.raises(TypeError, match="part 2 is of type int: a tuple"):
        argreduce.merge([part, part, 3])
