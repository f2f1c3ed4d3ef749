#!/usr/bin/env python3
"""A year of prices: on which days the price was the highest, or the lowest, of the month before.

    pip install ./integrations/python
    python examples/prices.py

A *breakout* is a day whose price is the highest of the last 21: `move_argmax` says 0 there, because it counts back from
the day. How far below the highest of them a price is, and since when, comes from the same indices.
"""

from __future__ import annotations

import argreduce
import numpy as np

DAYS, MONTH = 252, 21


def main() -> None:
    rng = np.random.default_rng(7)
    prices = np.round(100 * np.exp(np.cumsum(rng.normal(0.0004, 0.013, DAYS))), 2)
    # Days without a price are left out.
    prices[rng.choice(DAYS, 5, replace=False)] = np.nan

    back = argreduce.move_argmax(prices, MONTH, min_count=MONTH // 2)
    breakouts = np.flatnonzero((back == 0) & ~np.isnan(prices))
    print(f"{len(breakouts)} breakouts, the first on day {breakouts[0]}, the last on day {breakouts[-1]}")

    # The days themselves; -1 where there are too few prices.
    highest = argreduce.move_argmax(prices, MONTH, min_count=MONTH // 2, absolute=True)
    lowest = argreduce.move_argmin(prices, MONTH, min_count=MONTH // 2, absolute=True)
    drawdown = np.where(highest >= 0, 1 - prices / prices[highest], np.nan)
    worst = int(np.nanargmax(drawdown))
    print(f"day {worst}: {drawdown[worst]:.1%} below the {prices[highest[worst]]} of day {highest[worst]}")
    longest = int(np.nanargmax(back))
    print(f"day {longest}: its month's highest price is {int(back[longest])} days old")
    print(f"day {DAYS - 1}: between {prices[lowest[-1]]} of day {lowest[-1]} and {prices[highest[-1]]} of day {highest[-1]}")

    # The same, one day after another.
    for day in range(DAYS):
        month = prices[max(day + 1 - MONTH, 0) : day + 1]
        count = np.count_nonzero(~np.isnan(month))
        assert np.isnan(back[day]) == (count < MONTH // 2)
        if count >= MONTH // 2:
            assert back[day] == np.nanargmax(month[::-1]) and prices[highest[day]] == np.nanmax(month)
            assert prices[lowest[day]] == np.nanmin(month)


if __name__ == "__main__":
    main()
