"""Dates and durations: integers of 64 bits, whose NaT is what NaN is to floats."""

from __future__ import annotations

import itertools
from typing import Any

import argreduce
import numpy as np
import pytest

TYPES = ["datetime64[s]", "datetime64[ns]", "timedelta64[us]", ">M8[D]", "datetime64", "timedelta64"]
SHAPES = [(1,), (7,), (300,), (5, 4), (3, 40, 2), (2, 300), (300, 2)]
NAT = np.iinfo(np.int64).min
Options = dict[str, Any]


def dates(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, part_of_nat: float) -> Any:
    """Few values, so that there are ties; the smallest and the largest are among them."""
    integers = rng.choice(np.array([NAT + 1, -3, -1, 0, 1, 2, np.iinfo(np.int64).max]), shape)
    integers[rng.random(shape) < part_of_nat] = NAT
    order = np.dtype(dtype).byteorder
    return integers.astype(np.dtype(np.int64).newbyteorder(order)).view(dtype)


def best(row: Any, is_max: bool, nan: str, last: bool) -> int:
    """The index in a row, by keys of which the largest wins."""
    sign = 1 if is_max else -1
    keys = [(nan == "propagate", 0) if n == NAT else (nan == "ignore", sign * n) for n in as_integers(row).tolist()]
    return len(keys) - 1 - keys[::-1].index(max(keys)) if last else keys.index(max(keys))


def expected(x: Any, axis: int | None, is_max: bool, nan: str, last: bool) -> Any:
    if axis is None:
        return best(x.ravel(), is_max, nan, last)
    return np.apply_along_axis(lambda row: best(row.view(x.dtype), is_max, nan, last), axis, x)


def as_integers(x: Any) -> Any:
    return np.asarray(x).astype(np.asarray(x).dtype.newbyteorder("=")).view(np.int64)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_function(dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape) * 1000 + shape[0])
    cases = itertools.product([0, 0.1, 0.6, 1], [None, *range(len(shape))], ["max", "min"], ["propagate", "ignore"])
    for part, axis, name, nan in cases:
        for last in (False, True):
            x = dates(rng, shape, dtype, part)
            options: Options = {"nan": nan, "select_last": last}
            indices = expected(x, axis, name == "max", nan, last)
            what = (dtype, shape, part, axis, name, options)
            np.testing.assert_array_equal(getattr(argreduce, f"arg{name}")(x, axis, **options), indices, str(what))
            found = getattr(argreduce, f"{name}_arg{name}")(x, axis, keepdims=True, **options)
            np.testing.assert_array_equal(found.indices, np.reshape(indices, np.shape(found.indices)), str(what))
            assert found.values.dtype == x.dtype.newbyteorder("=")
            flat = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis]) if axis is not None else x.reshape(1, -1)
            values = as_integers(flat)[np.arange(len(flat)), np.ravel(indices)]
            np.testing.assert_array_equal(as_integers(found.values).ravel(), values, str(what))


def test_as_numpy_has_it() -> None:
    rng = np.random.default_rng(5)
    for part in (0, 0.01, 0.5):
        x = dates(rng, (20, 30), "datetime64[s]", part)
        for axis in (None, 0, 1):
            np.testing.assert_array_equal(argreduce.argmax(x, axis), np.argmax(x, axis))
            np.testing.assert_array_equal(argreduce.argmin(x, axis), np.argmin(x, axis))


def test_all_of_them_not_a_time() -> None:
    x = np.array([["NaT", "2020-01-01"], ["NaT", "NaT"]], "datetime64[D]")
    for function in (argreduce.nanargmax, argreduce.nanargmin):
        assert function(x[:1], 1) == [1]
        with pytest.raises(ValueError, match="All-NaN slice encountered"):
            function(x, 1)
    assert argreduce.argmin(x, 1, nan="ignore").tolist() == [1, 0]


def test_views_and_outputs() -> None:
    rng = np.random.default_rng(6)
    whole = dates(rng, (40, 30), "timedelta64[ms]", 0.1)
    for x in (whole[::-3, 1::2], whole.T, np.asfortranarray(whole)):
        for nan in ("propagate", "ignore"):
            for name, function in (("max", argreduce.argmax), ("min", argreduce.argmin)):
                indices = expected(x, 0, name == "max", nan, False)
                out = np.empty(x.shape[1], np.int16)
                assert function(x, 0, nan=nan, out=out) is out  # type: ignore[call-overload]
                np.testing.assert_array_equal(out, indices)
    many = whole[:2, :2].reshape((2, 2) + (1,) * 8)
    assert argreduce.argmax(many) == argreduce.argmax(whole[:2, :2])


def test_no_indices() -> None:
    with pytest.raises(TypeError, match="dtype is"):
        argreduce.argmax(np.zeros(3), dtype="m8[s]")
    with pytest.raises(TypeError, match="indices are written to arrays of integers"):
        argreduce.argmax(np.zeros((3, 2)), 0, out=np.zeros(2, "m8[s]"))  # type: ignore[call-overload]


@pytest.mark.parametrize("nan", ["propagate", "ignore"])
@pytest.mark.parametrize("function", ["argmax", "argmin"])
def test_parts(function: Any, nan: Any) -> None:
    rng = np.random.default_rng(7)
    for part in (0, 0.2, 1):
        x = dates(rng, (60, 3), "datetime64[ns]", part)
        options: Options = {"function": function, "nan": nan}
        parts = [argreduce.partial(x[n : n + 20], 0, start=(n, 0), whole=x.shape, **options) for n in (40, 0, 20)]
        merged = parts[0]
        for other in parts[1:]:
            merged = argreduce.merge(merged, other, **options)
        assert merged.values.dtype == x.dtype
        np.testing.assert_array_equal(merged.indices, expected(x, 0, function == "argmax", nan, False))
        np.testing.assert_array_equal(as_integers(merged.values), as_integers(x[merged.indices, np.arange(3)]))
    nothing = argreduce.partial(x[:0], 0, start=(0, 0), whole=x.shape, **options)
    assert nothing.indices.tolist() == [-1, -1, -1]
    assert not as_integers(nothing.values).any()
    assert argreduce.merge(nothing, merged, **options).indices.tolist() == merged.indices.tolist()
    with pytest.raises(TypeError, match=r"values of part 0 are of type datetime64\[ns\], and values of part 1 of type"):
        argreduce.merge(merged, (merged.values.astype("M8[s]"), merged.indices))


@pytest.mark.parametrize("nan", ["propagate", "ignore"])
def test_values_under_masks(nan: Any) -> None:
    rng = np.random.default_rng(9)
    for part, there, seed in itertools.product((0, 0.1, 0.6, 1), (0.0, 0.1, 0.5), range(4)):
        x = dates(rng, (6, 5), ("M8[s]", "m8[D]")[seed % 2], part)
        where = rng.random(x.shape) < there
        for name, is_max in (("min_argmin", False), ("max_argmax", True)):
            values, indices = getattr(argreduce, name)(x, 1, where=where, fill=-9, nan=nan)
            for row, is_there, value, index in zip(x, where, values, indices):
                at = np.flatnonzero(is_there & ~np.isnat(row) if nan == "ignore" else is_there)
                if not at.size:
                    assert np.isnat(value) and index == -9
                    continue
                assert index == at[expected(row[at], 0, is_max, nan, False)]
                assert as_integers(value) == as_integers(row[index])


def test_dask() -> None:
    import argreduce.dask
    import dask.array as da

    x = dates(np.random.default_rng(8), (60, 3), "datetime64[s]", 0.1)
    lazy = da.from_array(x, (7, 2))
    np.testing.assert_array_equal(argreduce.dask.argmax(lazy, 0).compute(), np.argmax(x, 0))
    np.testing.assert_array_equal(
        argreduce.dask.nanargmin(lazy, 0).compute(), expected(x, 0, is_max=False, nan="ignore", last=False)
    )


def test_chunks_of_other_units() -> None:
    import argreduce.dask
    import dask
    import dask.array as da

    def best(chunk: Any, declared: str) -> Any:
        return argreduce.dask.argmax(da.from_delayed(dask.delayed(chunk), (2,), dtype=declared)).compute()

    hours = np.array(["2020-01-01T01", "2020-01-01T23"], "M8[h]")
    years = np.array(["2020", "3000"], "M8[Y]")
    assert best(hours, "M8[s]") == best(years, "M8[s]") == 1
    assert best(np.array(["NaT", "2020"], "M8[Y]"), "M8[s]") == 0
    for chunk, declared in (
        (hours, "M8[D]"),
        (years, "M8[ns]"),
        (hours, "m8[s]"),
        (hours.view("m8[h]"), "M8[s]"),
        (np.array([1.5, 2.5]), "M8[s]"),
        (hours, "f8"),
    ):
        with pytest.raises(TypeError, match="does not hold its elements"):
            best(chunk, declared)


def test_columns_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(pandas.to_datetime(["2021-05-01", None, "2020-01-01", "2022-01-01"]))
    assert argreduce.nanargmin(series) == series.argmin() == 2
    assert argreduce.nanargmax(series) == series.argmax() == 3
    assert argreduce.argmax(series) == 1


def expected_of_row(x, function):
    """As NumPy has it: the first NaT, or else the best."""
    nats = np.flatnonzero(np.isnat(x))
    return nats[0] if nats.size else getattr(x.view(np.int64), function)()


@pytest.mark.parametrize("kind", ["M8[s]", "m8[ns]"])
@pytest.mark.parametrize("low", [0, -1000, -(10**15)])
def test_long_rows_stop_at_the_first_nat(rng, kind, low):
    # They are read in pieces, of which a last one begins before the one before ends.
    for count in (8191, 8192, 8193, 20_000, 12 * 4096, 600_000):
        bare = rng.integers(low, 1000, count)
        places = [[], [0], [count - 1], [4095, 4096], [4096, 7], sorted(rng.integers(0, count, 3))]
        for nats in places if count < 10**5 else places[::5]:
            x = bare.astype(kind)
            x[nats] = "NaT"
            for function in ("argmax", "argmin"):
                place = expected_of_row(x, function)
                assert getattr(argreduce, function)(x) == place == getattr(x, function)()
                two = {"argmax": argreduce.max_argmax, "argmin": argreduce.min_argmin}[function](x.reshape(1, -1), 1)
                assert two.indices.tolist() == [place]
                assert two.values.view(np.int64)[0] == x.view(np.int64)[place]
            both = argreduce.argminmax(x)
            assert both == (expected_of_row(x, "argmin"), expected_of_row(x, "argmax"))
            last = argreduce.argmax(x, select_last=True)
            ranks = np.where(np.isnat(x), 2**62, x.view(np.int64))
            assert last == count - 1 - ranks[::-1].argmax()
            # Many outputs, and elements that are not one after another.
            if count % 64 == 0:
                y, rows = x.reshape(64, -1), ranks.reshape(64, -1)
                for axis in (0, 1):
                    assert np.array_equal(argreduce.argmax(y, axis), rows.argmax(axis))
                assert np.array_equal(argreduce.argmax(y[:, ::-1]), rows[:, ::-1].argmax())


def test_largest_date_under_a_mask(rng):
    for low in (0, -1000):
        x = rng.integers(low, 1000, (50, 300)).astype("M8[s]")
        x[rng.random(x.shape) < 0.002] = "NaT"
        w = rng.random(x.shape) < 0.5
        w[3] = False
        ranks = np.where(np.isnat(x), 2**62, x.view(np.int64))
        expected = np.where(w.any(1), np.where(w, ranks, -(2**62)).argmax(1), -1)
        assert np.array_equal(argreduce.argmax(x, 1, where=w, fill=-1), expected)
