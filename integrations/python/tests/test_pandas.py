"""Columns of pandas: of subclasses, with time zones, of categories. This file runs with pandas 2.2 too (`ci/python`)."""

from __future__ import annotations

import argreduce
import numpy as np
import pytest

pd = pytest.importorskip("pandas")

FUNCTIONS = ["argmax", "argmin", "nanargmax", "nanargmin", "max_argmax", "min_argmin", "argminmax", "argminmax_values"]
DATES = np.array(["2001-02-03", "NaT", "2003-01-01"], "M8[ns]")


class Series(pd.Series):
    @property
    def _constructor(self):
        return Series


class Frame(pd.DataFrame):
    pass


class RangeIndex(pd.RangeIndex):
    pass


class DatetimeIndex(pd.DatetimeIndex):
    pass


class Squared(pd.api.extensions.ExtensionArray):
    """Of another library, with names that pandas has for something else: `_data` are roots, and `_mask` is none."""

    def __init__(self, roots):
        self._data = np.asarray(roots, float)
        self._mask = np.zeros(len(self._data), bool)
        self._mask[self._data.argmax()] = True

    @property
    def dtype(self):
        return SquaredType()

    def __len__(self):
        return len(self._data)

    def __getitem__(self, place):
        found = self._data[place]
        return found**2 if np.ndim(found) == 0 else type(self)(found)

    def __array__(self, dtype=None, copy=None):
        return self._data**2

    def copy(self):
        return type(self)(self._data.copy())


class SquaredType(pd.api.extensions.ExtensionDtype):
    name, type, kind = "squared", float, "f"

    @classmethod
    def construct_array_type(cls):
        return Squared


class WithArrow(Squared):
    """It says itself which of its elements are there: not the last."""

    def __arrow_c_array__(self, requested_schema=None):
        pa = pytest.importorskip("pyarrow")
        return pa.array([*(self._data**2)[:-1], None]).__arrow_c_array__()


def answers(x, **options):
    found = [getattr(argreduce, name)(x, **options) for name in FUNCTIONS]
    return [[np.asarray(part).tolist() for part in each] if isinstance(each, tuple) else int(each) for each in found]


def test_subclasses():
    """They are what their base is."""
    for values in (np.array([1.0, np.nan, 2.0]), DATES, np.array([3, 9, 1]), np.array([False, True, True])):
        # By their texts, for NaN is not equal to itself.
        wanted = str(answers(values))
        for column in (pd.Series(values), Series(values), Series(values)[:], pd.Index(values)):
            assert str(answers(column)) == wanted
    assert argreduce.argmax(Series([1, np.nan, 2])) == 1
    assert np.isnan(argreduce.max_argmax(Series([1, np.nan, 2])).values)
    assert argreduce.argmax(DatetimeIndex(DATES)) == 1 and argreduce.nanargmax(DatetimeIndex(DATES)) == 2
    assert argreduce.argmax(RangeIndex(5)) == 4
    assert argreduce.argmax(Frame({"a": [1, 9], "b": [7, 3]}), 1).tolist() == [1, 0]
    # In them, what is missing is.
    assert argreduce.argmax(Series([1, None, 5], dtype="Int64")) == 2
    assert argreduce.argmax(Series([5, None, 1], dtype="Float64")) == 0
    pytest.importorskip("pyarrow")
    for dtype in ("double[pyarrow]", "int64[pyarrow]"):
        assert argreduce.argmax(Series([1, None, 5], dtype=dtype)) == 2


def test_arrays_of_other_libraries():
    """As NumPy sees them, if they have no interface of Arrow."""
    array = Squared([1, -3, 2])
    for column in (array, pd.Series(array), Series(array), pd.Index(array)):
        assert argreduce.argmax(column) == 1 and argreduce.max_argmax(column).values == 9
    array = WithArrow([1, 2, 3])
    for column in (array, pd.Series(array), Series(array)):
        assert argreduce.argmax(column) == 1


def test_labels_are_no_attributes():
    column = pd.Series([1, None, 2**60 + 1], index=["columns", "column_names", "array"], dtype="Int64")
    assert argreduce.max_argmax(column) == (2**60 + 1, 2)


def test_time_zones():
    """In UTC, as Arrow has them."""
    for zone in ("UTC", "Europe/Berlin", "America/New_York"):
        local = pd.Series(DATES).dt.tz_localize("UTC").dt.tz_convert(zone)
        for column in (local, Series(local), pd.Index(local), local.array, DatetimeIndex(local)):
            assert str(answers(column)) == str(answers(np.asarray(pd.Series(DATES))))
            value = argreduce.max_argmax(column, nan="ignore").values
            assert value == DATES[2] and value.dtype.kind == "M"
        assert argreduce.argmax(local, where=[True, False, False]) == 0
    one = pd.Series(pd.to_datetime(["2020-01-01T00:30+02:00", "2020-01-01T00:00+00:00"], utc=True))
    assert argreduce.argmax(one) == 1
    # A frame of them is no column.
    with pytest.raises(TypeError, match="not object"):
        argreduce.argmax(pd.DataFrame({"a": one}))


def test_categories():
    for cut in (lambda x: x, lambda x: x.array, pd.Index):
        ordered = cut(pd.Series(pd.Categorical([1, 5, 3], categories=[5, 3, 1], ordered=True)))
        with pytest.raises(TypeError, match="argmax takes no ordered categories.*give their codes, as x.cat.codes"):
            argreduce.argmax(ordered)
        # Without an order of their own, they have that of their values.
        assert argreduce.argmax(cut(pd.Series(pd.Categorical([1, 5, 3], categories=[5, 3, 1])))) == 1
    ordered = pd.Series(pd.Categorical([1, None, 3], categories=[5, 3, 1], ordered=True))
    codes = ordered.cat.codes
    assert argreduce.argmax(codes, where=codes >= 0) == ordered.argmax() == 0


def test_where():
    """What is missing there is not there, as in pandas."""
    x = np.array([1.0, 9.0, 5.0, 7.0])
    kinds = ["boolean"]
    try:
        import pyarrow  # noqa: F401

        kinds.append("bool[pyarrow]")
    except ImportError:
        pass
    for dtype in kinds:
        where = pd.Series([True, None, False, True], dtype=dtype)
        assert x[where.fillna(False).astype(bool)].max() == 7
        for given in (where, where.array, Series(where), pd.Index(where)):
            assert argreduce.argmax(x, where=given) == 3
            assert argreduce.argmax(pd.Series(x), where=given) == 3
            assert argreduce.argmax(pd.Series(x, dtype="Float64"), where=given) == 3
        assert argreduce.argmax(x, where=where.fillna(True)) == 1
    assert argreduce.argmax(x, where=pd.Series([True, False, True, False])) == 2
    with pytest.raises(TypeError, match="argmax: where is of type int64: booleans are needed"):
        argreduce.argmax(x, where=pd.Series([1, None, 0, 1], dtype="Int64"))
    with pytest.raises(TypeError, match="argmax: where is of type object: booleans are needed"):
        argreduce.argmax(x, where=pd.Series([True, None, False, True], dtype=object))


def test_nothing_but_nulls():
    pa = pytest.importorskip("pyarrow")
    for column in [
        pd.Series([None, None], dtype=pd.ArrowDtype(pa.null())),
        pd.Series([None, None], dtype="Int64"),
        pd.Series([None, None], dtype="boolean"),
        pd.Series([None, None], dtype="double[pyarrow]"),
    ]:
        with pytest.raises(ValueError, match="no element is there"):
            argreduce.argmax(column)
        assert argreduce.argmax(column, fill=-1) == -1
        assert argreduce.argminmax(column, fill=-1) == (-1, -1)


def test_types_that_are_objects_are_named():
    for column, said in [
        (pd.Series(pd.period_range("2020", periods=3, freq="D")), r"period\[D\]"),
        (pd.Series(pd.arrays.IntervalArray.from_breaks([1, 2, 3])), "interval"),
    ]:
        with pytest.raises(TypeError, match=f"argmax takes no {said}.*, which is an array of objects to NumPy"):
            argreduce.argmax(column)
