"""Segments: values and offsets, lists of Arrow, polars and awkward; against a plain loop, and awkward."""

from __future__ import annotations

import threading

import argreduce
import argreduce.segments as segments
import numpy as np
import pytest
from conftest import DTYPES, expected, is_float, nothing_of, random_array

FUNCTIONS = ["argmax", "argmin", "nanargmax", "nanargmin"]


def ragged(rng: np.random.Generator, count: int, longest: int, dtype: np.dtype, least: int = 0):
    """Elements, of which some belong to no segment, and offsets."""
    offsets = np.cumsum(rng.integers(least, longest + 1, count + 1)) - least
    return random_array(rng, (int(offsets[-1]) + 3,), dtype), offsets


def by_a_loop(x, offsets, there=None, **rule):
    """An index for each segment, and -1 where nothing is there."""
    result = []
    for first, end in zip(offsets[:-1], offsets[1:], strict=True):
        places = np.arange(end - first) if there is None else np.flatnonzero(there[first:end])
        if len(places) == 0:
            result.append(-1)
        else:
            result.append(int(places[expected(x[first:end][places], (0,), **rule)]))
    return np.array(result, np.int64)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_against_a_loop(rng, dtype):
    for n in range(12):
        count, longest = [(0, 5), (7, 3), (40, 30), (3, 300), (700, 9)][n % 5]
        x, offsets = ragged(rng, count, longest, dtype)
        there = rng.random(len(x)) < 0.6
        last, nan, of = n % 2 == 1, ["propagate", "ignore"][n // 2 % 2], ["i4", "i8", "u4", "u8"][n % 4]
        rule = {"last": last, "ignore": nan == "ignore"}
        for name in ("argmax", "argmin"):
            for mask in (None, there):
                where = by_a_loop(x, offsets, mask, argmax=name == "argmax", **rule)
                options = {"select_last": last, "nan": nan, "where": mask, "fill": -1, "threads": 1 + n % 3}
                result = getattr(segments, name)(x, offsets.astype(of), **options)
                if nan == "ignore" and is_float(dtype):
                    # Nothing but NaN is nothing, where there is a fill for it.
                    at = np.where(where < 0, 0, offsets[:-1] + where)
                    where = np.where((where >= 0) & (x[at] == x[at]), where, -1) if len(x) else where
                np.testing.assert_array_equal(result, where)
                assert result.dtype == np.int64
                values, indices = getattr(segments, f"{name[3:]}_{name}")(x, offsets, absolute=True, **options)
                assert values.dtype == dtype
                np.testing.assert_array_equal(indices, np.where(where < 0, -1, offsets[:-1] + where))
                of_values = np.where(where < 0, nothing_of(dtype), x[np.where(where < 0, 0, indices)])
                bits = f"u{dtype.itemsize}"
                np.testing.assert_array_equal(values.view(bits), of_values.astype(dtype).view(bits))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_keys(rng, dtype):
    x, offsets = ragged(rng, 300, 40, dtype)
    there = rng.random(len(x)) < 0.6
    for by in ({"key": "abs"}, {"near": 1}):
        for where in (None, there):
            result = segments.max_argmax(x, offsets, where=where, fill=-1, **by)
            for n, (first, end) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
                part = None if where is None else where[first:end]
                if first == end or part is not None and not part.any():
                    assert result.indices[n] == -1
                else:
                    assert result.indices[n] == argreduce.argmax(x[first:end], where=part, **by)
                    assert result.values[n].tobytes() == x[first + result.indices[n]].tobytes()


def test_keys_that_are_refused():
    dates = np.array(["2026-11-29"], "M8[D]")
    for x, options, error in [
        ([1, 2], {"key": "abs", "near": 1}, ValueError),
        (np.array([1], "u1"), {"near": 300}, ValueError),
        (dates, {"key": "abs"}, TypeError),
        (dates, {"near": 1}, TypeError),
    ]:
        with pytest.raises(error, match="key|near"):
            segments.argmax(x, [0, len(x)], **options)


def test_both(rng):
    x, offsets = ragged(rng, 50, 20, np.dtype("f4"), least=1)
    both = segments.argminmax(x, offsets, select_last=True)
    np.testing.assert_array_equal(both.argmin, segments.argmin(x, offsets, select_last=True))
    np.testing.assert_array_equal(both.argmax, segments.argmax(x, offsets, select_last=True))
    all_of_it = segments.argminmax_values(x, offsets)
    np.testing.assert_array_equal(all_of_it.max, segments.max_argmax(x, offsets).values)
    np.testing.assert_array_equal(all_of_it.argmin, segments.argmin(x, offsets))


def test_nan_functions():
    x, offsets = [1.0, np.nan, 3.0, np.nan], [0, 3, 4]
    with pytest.raises(ValueError, match="^All-NaN slice encountered$"):
        segments.nanargmax(x, offsets)
    np.testing.assert_array_equal(segments.nanargmax(x, offsets, fill=-1), [2, -1])
    np.testing.assert_array_equal(segments.nanargmin(x, [0, 3]), [0])
    np.testing.assert_array_equal(segments.argmax(x, offsets, nan="ignore"), [2, 0])
    np.testing.assert_array_equal(segments.argmax(x, offsets), [1, 0])


def test_dates():
    x = np.array(["2026-01-03", "NaT", "2026-01-01", "NaT"], "M8[D]")
    offsets = [0, 3, 4]
    np.testing.assert_array_equal(segments.argmax(x, offsets), [1, 0])
    np.testing.assert_array_equal(segments.argmin(x, offsets), [1, 0])
    np.testing.assert_array_equal(segments.argmin(x, offsets, nan="ignore", fill=9), [2, 9])
    values, indices = segments.max_argmax(x, offsets, nan="ignore", fill=-1)
    np.testing.assert_array_equal(indices, [0, -1])
    np.testing.assert_array_equal(values, np.array(["2026-01-03", "NaT"], "M8[D]"))
    np.testing.assert_array_equal(segments.argminmax(x[[0, 2]], [0, 2]).argmin, [1])
    np.testing.assert_array_equal(segments.argmax(x[[0, 2]] - x[2], [0, 2]), [0])


def test_masked_arrays():
    x = np.ma.masked_array([5.0, 9.0, 1.0, 2.0], [False, True, False, True])
    np.testing.assert_array_equal(segments.argmax(x, [0, 3, 4], fill=-1), [0, -1])
    np.testing.assert_array_equal(segments.argmin(x, [0, 3], where=[True, True, False, True]), [0])


def test_arrays_of_any_strides(rng):
    x, offsets = ragged(rng, 30, 8, np.dtype("f4"), least=1)
    where = segments.argmax(x, offsets)
    np.testing.assert_array_equal(segments.argmax(np.repeat(x, 2)[::2], np.repeat(offsets, 2)[::2]), where)
    np.testing.assert_array_equal(segments.argmax(x.astype(">f4"), offsets.astype(">i4")), where)
    np.testing.assert_array_equal(segments.argmax(x.tolist(), offsets.tolist()), where)
    misaligned = np.ndarray(len(offsets), np.int64, b"x" + offsets.tobytes(), 1)
    assert not misaligned.flags.aligned
    np.testing.assert_array_equal(segments.argmax(x, misaligned), where)
    np.testing.assert_array_equal(segments.argmax(np.array([3, 0, 2], np.uint8).view(bool), [0, 3]), [0])


def test_arrow():
    pa = pytest.importorskip("pyarrow")
    lists = [[1.0, 9.0], [], None, [None, 5.0, 7.0], [None], [2.0]]
    best = [1, -1, -1, 2, -1, 0]
    for of in (pa.list_(pa.float32()), pa.large_list(pa.float64()), pa.list_(pa.float16())):
        if of.value_type == pa.float16():
            array = pa.array([None if x is None else [None if y is None else np.float16(y) for y in x] for x in lists], of)
        else:
            array = pa.array(lists, of)
        np.testing.assert_array_equal(segments.argmax(array, fill=-1), best)
        np.testing.assert_array_equal(segments.argmax(array[1:5], fill=-1), best[1:5])
        np.testing.assert_array_equal(segments.argmax(array[3:4]), [2])
        np.testing.assert_array_equal(segments.argmax(array[6:], fill=-1), [])
        chunks = pa.chunked_array([array[:2], array[2:2], array[2:]])
        np.testing.assert_array_equal(segments.argmax(chunks, fill=-1), best)
        np.testing.assert_array_equal(segments.argmax(pa.chunked_array([], of)), [])
        values, indices = segments.max_argmax(array, fill=-1)
        np.testing.assert_array_equal(indices, best)
        np.testing.assert_array_equal(values, np.array([9, np.nan, np.nan, 7, np.nan, 2], values.dtype))
        with pytest.raises(ValueError, match="is there|is null"):
            segments.argmax(array)
        with pytest.raises(ValueError, match=r"^segments.argmax: absolute is for lists in one piece"):
            segments.argmax(chunks, absolute=True, fill=-1)
    absolute = segments.argmax(pa.array([[1, 2], [3], [5, 4]])[1:], absolute=True)
    np.testing.assert_array_equal(absolute, [2, 3])
    # What is behind a null is not looked at.
    offsets, values = pa.array([0, 2, 3], pa.int32()), pa.array([1, 2, 3])
    array = pa.ListArray.from_arrays(offsets, values, mask=pa.array([True, False]))
    np.testing.assert_array_equal(segments.argmax(array, fill=7), [7, 0])
    np.testing.assert_array_equal(segments.max_argmax(array, fill=7).values, [0, 3])
    with pytest.raises(ValueError, match=r"^segments.argmax: list 0 is null, and there is no fill$"):
        segments.argmax(array)
    np.testing.assert_array_equal(segments.argmax(pa.array([[True, False], [False]])), [0, 0])
    np.testing.assert_array_equal(segments.argmin(pa.array([[5, 3], [1]], pa.list_(pa.date32()))), [1, 0])


def test_arrow_of_fixed_sizes():
    pa = pytest.importorskip("pyarrow")
    array = pa.array([[1, 5, 2], None, [7, None, 7], [0, 1, 2]], pa.list_(pa.int16(), 3))
    np.testing.assert_array_equal(segments.argmax(array, fill=-1), [1, -1, 0, 2])
    np.testing.assert_array_equal(segments.argmax(array[2:], select_last=True), [2, 2])
    np.testing.assert_array_equal(segments.argmax(array[2:], absolute=True), [6, 11])


def test_arrow_of_other_types():
    pa = pytest.importorskip("pyarrow")
    for array in (pa.array([[[1]]]), pa.array([["a"]]), pa.array([1, 2]), pa.array([[{"a": 1}]])):
        with pytest.raises(TypeError, match=r"^segments\.argmax takes an array and offsets, or lists of Arrow"):
            segments.argmax(array)
    with pytest.raises(TypeError, match="not a list"):
        segments.argmax([1.0, 2.0])
    # Columns of numbers, with offsets of their own.
    column = pa.chunked_array([pa.array([1.0, None]), pa.array([3.0])])
    np.testing.assert_array_equal(segments.argmax(column, [0, 2, 3]), [0, 0])
    np.testing.assert_array_equal(segments.argmin(pa.array([4, None, 3])[1:], [0, 1, 2], fill=-1), [-1, 0])


def test_polars():
    pl = pytest.importorskip("polars")
    column = pl.Series([[1.0, 9.0], [], None, [3.0, None, 7.0]])
    np.testing.assert_array_equal(segments.argmax(column, fill=-1), [1, -1, -1, 2])
    theirs = column.list.arg_max().fill_null(-1).to_numpy()
    np.testing.assert_array_equal(segments.argmax(column, fill=-1), theirs)
    np.testing.assert_array_equal(segments.argmax(pl.Series([[1, 2], [4, 3]], dtype=pl.Array(pl.Int8, 2))), [1, 0])


def test_awkward(rng):
    ak = pytest.importorskip("awkward")
    for n in range(300):
        count, longest = [(8, 5), (30, 40), (0, 3)][n % 3]
        counts = rng.integers(0, longest, count)
        x = rng.integers(0, 9, int(counts.sum())).astype(["f4", "i8", "f8", "u2"][n % 4])
        array = ak.unflatten(ak.Array(x), counts)
        for view in (array, array[::2], array[::-1], array[3:], array[array > 4] if n % 5 == 0 else array):
            for name in ("argmax", "argmin"):
                theirs = ak.fill_none(getattr(ak, name)(view, axis=1), -1)
                np.testing.assert_array_equal(getattr(segments, name)(view, fill=-1), ak.to_numpy(theirs))
    with_nothing = ak.Array([[1.0, None, 3.0], None, [], [None]])
    np.testing.assert_array_equal(segments.argmax(with_nothing, fill=-1), [2, -1, -1, -1])
    np.testing.assert_array_equal(segments.argmax(ak.Array(np.array([[1, 2], [4, 3]]))), [1, 0])
    with pytest.raises(TypeError, match="awkward"):
        segments.argmax(ak.Array([[[1.0]]]))


def test_hostile_offsets():
    x = np.arange(6.0)
    for offsets, what in (
        ([0, -1], "offset -1 at position 1"),
        ([-2, 3], "offset -2 at position 0"),
        ([0, 4, 3], "offset 3 at position 2, where segment 1 ends"),
        ([0, 7], "offset 7 at position 1, where segment 0 ends, is out of range: 0 to 6"),
        ([0, 2**62], "out of range"),
        (np.array([0, 2**64 - 1], np.uint64), "out of range"),
        ([], "offsets"),
        ([[0, 1]], "offsets have 2 axes"),
    ):
        with pytest.raises(ValueError, match=what):
            segments.argmax(x, offsets)
    for offsets in ([0.0, 2.0], ["a"], [True, False], np.array([0, 2], "M8[s]")):
        with pytest.raises(TypeError, match="offsets are of type"):
            segments.argmax(x, offsets)
    np.testing.assert_array_equal(segments.argmax(x, np.array([0, 2, 6], np.int8)), [1, 3])
    np.testing.assert_array_equal(segments.argmax(x, [4]), [])
    with pytest.raises(ValueError, match=r"\[1\]"):
        segments.argmax(x, [0, 2, 2])
    with pytest.raises(ValueError, match="the largest possible index is 299: uint8 holds at most 255"):
        segments.argmax(np.zeros(300), [0, 300], dtype=np.uint8)
    with pytest.raises(ValueError, match="the largest possible index is 299: uint8 holds at most 255"):
        segments.max_argmax(np.zeros(300), [0, 300], dtype=np.uint8, fill=0)
    with pytest.raises(ValueError, match="fill is -1"):
        segments.max_argmax(x, [0, 0], dtype=np.uint8, fill=-1)
    with pytest.raises(TypeError, match="axis"):
        segments.argmax(np.zeros((2, 2)), [0, 1])
    with pytest.raises(TypeError):
        segments.argmax(np.array([1j]), [0, 1])
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        segments.argmax(x, [0, 1], axis=0)
    with pytest.raises(ValueError, match="broadcast"):
        segments.argmax(x, [0, 1], where=[True, False])


def test_offsets_that_change():
    """Another thread changes them: an answer or an error, and nothing is read beyond the array."""
    x, right = np.zeros(50_000, np.float32), np.arange(0, 50_001, 5)
    offsets, is_over = right.copy(), threading.Event()

    def change() -> None:
        n = 0
        while not is_over.is_set():
            n += 1
            offsets[n * 7919 % len(offsets)] = [-1, 2**62, 0, 50_001][n % 4]
            offsets[:] = right

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for n in range(300):
            try:
                result = segments.argmax(x, offsets, threads=1 + n % 2)
                assert result.shape == (10_000,)
            except ValueError as error:
                assert "offset" in str(error) or "possible index" in str(error) or "is there" in str(error), error
    finally:
        is_over.set()
        thread.join()


def test_many_threads(rng):
    lens = rng.integers(1, 50, 50_000)
    lens[[7, 30_000]] = 3_000_000, 700_000
    offsets = np.concatenate([[0], np.cumsum(lens)])
    x = rng.random(int(offsets[-1]), np.float32)
    one = segments.argmax(x, offsets)
    np.testing.assert_array_equal(segments.argmax(x, offsets, threads="all"), one)
    np.testing.assert_array_equal(one[[7, 30_000]], [x[offsets[n] : offsets[n + 1]].argmax() for n in (7, 30_000)])


def test_offsets_of():
    np.testing.assert_array_equal(segments.offsets_of([3, 3, 5, 9, 9]), [0, 2, 3, 5])
    np.testing.assert_array_equal(segments.offsets_of([]), [0])
    np.testing.assert_array_equal(segments.offsets_of([], count=2), [0, 0, 0])
    np.testing.assert_array_equal(segments.offsets_of([1, 1, 3], count=5), [0, 0, 2, 2, 3, 3])
    with pytest.raises(ValueError, match=r"^labels are not sorted: .*1.* at 2 comes after .*2"):
        segments.offsets_of([0, 2, 1, 1])
    with pytest.raises(ValueError, match="sorted"):
        segments.offsets_of([0.0, np.nan])
    for labels in ([0, 5], [-1, 2], [0.0, 1.0]):
        with pytest.raises(ValueError, match="integers from 0 to 4"):
            segments.offsets_of(labels, count=5)
    with pytest.raises(ValueError, match="axes"):
        segments.offsets_of([[1]])


def test_names():
    assert set(segments.__all__) - {"offsets_of"} == set(argreduce._argreduce._FUNCTIONS)
    assert sorted(dir(segments)) == sorted(segments.__all__)
