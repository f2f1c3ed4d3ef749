"""argreduce_arg_max beside polars' own arg_max, which has the same rules for ties, nulls and NaN."""

import numpy as np
import polars as pl
import pytest
from argreduce_polars import argreduce_arg_max

INTEGERS = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
FLOATS = [pl.Float32, pl.Float64]


def ours(series):
    return pl.select(argreduce_arg_max(series)).item()


def random_chunk(rng, dtype, length):
    """Few values, so that there are ties, or many; nulls, NaN; and a slice, whose bitmap begins at any bit."""
    skipped, most = rng.integers(0, 20), rng.choice([3, 100])
    values = pl.Series(rng.integers(0, most, skipped + length)).cast(dtype)
    if dtype in FLOATS and rng.random() < 0.5:
        values = values.set(pl.Series(rng.random(len(values)) < 0.2), float("nan"))
    if rng.random() < 0.7:
        values = values.set(pl.Series(rng.random(len(values)) < rng.choice([0.0, 0.1, 0.9, 1.0])), None)
    return values.slice(skipped)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_random_columns(dtype):
    rng = np.random.default_rng(7)
    for _ in range(300):
        lengths = [rng.choice([0, 1, 7, 64, 1000, 5000]) for _ in range(rng.integers(1, 5))]
        series = pl.concat([random_chunk(rng, dtype, length) for length in lengths], rechunk=False)
        # polars drops empty chunks beside others.
        assert series.n_chunks() == max(1, np.count_nonzero(lengths))
        assert ours(series) == series.arg_max()
        if dtype in FLOATS and (numbers := series.fill_nan(None)).count() > 0:
            assert ours(series) == numbers.arg_max()


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_limits(dtype):
    least, most = (-np.inf, np.inf) if dtype in FLOATS else (dtype.min(), dtype.max())
    least, most = (pl.select(x).item() if isinstance(x, pl.Expr) else x for x in (least, most))
    assert ours(pl.Series([None, least, None], dtype=dtype)) == 1
    assert ours(pl.Series([least, None, most, most], dtype=dtype)) == 2
    assert ours(pl.Series([None, None], dtype=dtype)) is None
    assert ours(pl.Series([], dtype=dtype)) is None


@pytest.mark.parametrize("dtype", FLOATS)
def test_nothing_but_nan(dtype):
    nan = float("nan")
    assert ours(pl.Series([None, nan, nan], dtype=dtype)) == 1
    assert ours(pl.Series([None, nan, -np.inf], dtype=dtype)) == 2


def test_in_queries():
    df = pl.DataFrame({"key": ["a", "b", "a", "b", "c"], "x": [1, 9, 5, None, None]})
    best = argreduce_arg_max("x").alias("best")
    assert df.lazy().select(best).collect().to_dict(as_series=False) == {"best": [1]}
    assert df.lazy().select(best).collect_schema() == {"best": pl.UInt64}
    grouped = df.group_by("key", maintain_order=True).agg(best)
    assert grouped["best"].to_list() == [1, 0, None]
    assert df.select(best.over("key"))["best"].to_list() == [1, 0, 1, 0, None]


def test_other_types_are_an_error():
    with pytest.raises(pl.exceptions.ComputeError, match="not str"):
        ours(pl.Series(["a"]))
