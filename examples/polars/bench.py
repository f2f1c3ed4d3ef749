"""Times argreduce_arg_max beside polars' own arg_max, and prints the table of README.md."""

import time

import numpy as np
import polars as pl
from argreduce_polars import argreduce_arg_max

OURS, OWN = argreduce_arg_max("x"), pl.col("x").arg_max()
# Alone: reading the column is no longer the work, but what a query costs.
NOTHING = pl.col("x").len()


def random_column(rng, dtype, length, null_share):
    if dtype in (pl.Float32, pl.Float64):
        values = pl.Series("x", rng.random(length)).cast(dtype)
    else:
        limits = np.iinfo(np.uint8 if dtype == pl.UInt8 else np.int64)
        values = pl.Series("x", rng.integers(limits.min, limits.max, length, limits.dtype, endpoint=True))
    return values.set(pl.Series(rng.random(length) < null_share), None) if null_share else values


def best_of(df, expressions, seconds=1.0):
    """The shortest of many runs of each, in turn, so that both see the same disturbances."""
    best = [float("inf")] * len(expressions)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for n, expression in enumerate(expressions):
            start = time.perf_counter()
            df.select(expression)
            best[n] = min(best[n], time.perf_counter() - start)
    return best


def main():
    print("| type | length | nulls | polars, µs | argreduce, µs | ratio |\n|---|---|---|---|---|---|")
    rng = np.random.default_rng(7)
    for dtype in (pl.Float32, pl.Float64, pl.Int64, pl.UInt8):
        for length in (10**4, 10**6, 10**7):
            for null_share in (0, 0.1, 0.9):
                df = random_column(rng, dtype, length, null_share).to_frame()
                own, ours = (seconds * 1e6 for seconds in best_of(df, [OWN, OURS]))
                print(f"| {dtype} | {length:,} | {null_share:.0%} | {own:,.0f} | {ours:,.0f} | {own / ours:.1f} |")
    empty_query = best_of(pl.DataFrame({"x": [1.0]}), [NOTHING, OWN, OURS])
    print("of one element, µs: len {:.0f}, polars {:.0f}, argreduce {:.0f}".format(*(x * 1e6 for x in empty_query)))


if __name__ == "__main__":
    main()
