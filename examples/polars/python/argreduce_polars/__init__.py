"""An expression for polars: where the largest element of a column is, by argreduce."""

from pathlib import Path

import polars as pl
from polars.plugins import register_plugin_function


def argreduce_arg_max(expr: pl.Expr | pl.Series | str) -> pl.Expr:
    """The position of the largest element, as a UInt64: of equals the first, counted from the start of the column.

    Nulls are left out, and NaN is smaller than every number. Null if there is nothing but nulls.
    """
    # The library is the only one in this folder.
    return register_plugin_function(
        plugin_path=Path(__file__).parent, function_name="argreduce_arg_max", args=expr, returns_scalar=True
    )
