"""Times argreduce_arg_max beside polars' own arg_max, and prints the table of README.md."""

import time
from itertools import product

import numpy as np
import polars as pl
from argreduce_polars import argreduce_arg_max

OURS, OWN = argreduce_arg_max("x"), pl.col("x").arg_max()
# Reads no element: what a query costs.
NOTHING = pl.col("x").len()

# Unsorted: of a column that is known to be sorted, polars takes an end.
COLUMNS = {
    "Float32": lambda rng, length: rng.random(length, np.float32),
    "Float64": lambda rng, length: rng.random(length),
    "Int64": lambda rng, length: rng.integers(-(2**63), 2**63, length, np.int64),
    "UInt8": lambda rng, length: rng.integers(0, 256, length, np.uint8),
    # Nothing is larger than 255, where argreduce stops.
    "UInt8 without 255": lambda rng, length: rng.integers(0, 255, length, np.uint8),
}


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
    for (name, random), length, null_share in product(COLUMNS.items(), (10**4, 10**6, 10**7), (0, 0.1, 0.9)):
        column = pl.Series("x", random(rng, length))
        if null_share > 0:
            column = column.set(pl.Series(rng.random(length) < null_share), None)
        own, ours = (seconds * 1e6 for seconds in best_of(column.to_frame(), [OWN, OURS]))
        print(f"| {name} | {length:,} | {null_share:.0%} | {own:,.0f} | {ours:,.0f} | {own / ours:.2f} |")
    one_element = best_of(pl.DataFrame({"x": [1.0]}), [NOTHING, OWN, OURS])
    print("One element, µs: len {:.0f}, polars {:.0f}, argreduce {:.0f}".format(*(x * 1e6 for x in one_element)))


if __name__ == "__main__":
    main()
