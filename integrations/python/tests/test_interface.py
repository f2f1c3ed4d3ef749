"""What goes in and out: arguments, results, errors. Each row of the contract's tables."""

from __future__ import annotations

import pickle
import threading
import time

import argreduce
import numpy as np
import pytest

X = np.array([[1.0, 5.0, 2.0], [7.0, 0.0, 7.0]])
FUNCTIONS = [argreduce.argmax, argreduce.argmin, argreduce.nanargmax, argreduce.nanargmin]


def test_axis():
    assert argreduce.argmax(X) == 3
    np.testing.assert_array_equal(argreduce.argmax(X, axis=-1), [1, 0])
    np.testing.assert_array_equal(argreduce.argmax(X, np.int8(1)), [1, 0])
    assert argreduce.argmax(X, (1, 0)) == argreduce.argmax(X, (0, 1)) == argreduce.argmax(X, [0, 1]) == 3
    np.testing.assert_array_equal(argreduce.argmax(X, ()), np.zeros((2, 3)))
    for axis in (None, (), 0, -1):
        assert argreduce.argmax(np.float32(3), axis) == 0
    with pytest.raises(np.exceptions.AxisError, match="axis 2 is out of bounds for array of dimension 2"):
        argreduce.argmax(X, 2)
    with pytest.raises(np.exceptions.AxisError):
        argreduce.argmax(np.array(1.0), 1)
    with pytest.raises(ValueError, match="duplicate"):
        argreduce.argmax(X, (1, -1))
    with pytest.raises(TypeError):
        argreduce.argmax(X, 1.0)
    with pytest.raises(TypeError):
        argreduce.argmax(X, "x")


# Of few axes, and of more than the library takes.
@pytest.mark.parametrize("x", [X, np.zeros((1,) * 10)])
def test_what_is_no_axis(x):
    for axis in (True, False, np.True_, 1.0, "1", range(2), {0}, np.array([0, 1]), (0, None), (0, True), [1.0]):
        with pytest.raises(TypeError, match="axis is of type .*: None, an integer or a tuple of integers is needed"):
            argreduce.argmax(x, axis)
    with pytest.raises(OverflowError):
        argreduce.argmax(x, 10**30)
    with pytest.raises(ValueError, match="duplicate value in 'axis': -1 is axis"):
        argreduce.argmax(x, (x.ndim - 1, -1))
    with pytest.raises(np.exceptions.AxisError):
        argreduce.argmax(x, [x.ndim])
    with pytest.raises(TypeError, match="out is of type list: argmax writes to arrays of NumPy"):
        argreduce.argmax(x, out=[0])
    assert argreduce.argmax(x[..., :1], (), out=np.ones(x[..., :1].shape, int)).max() == 0


def test_64_axes():
    x = np.zeros((1,) * 63 + (3,))
    x[..., 1] = 1
    assert argreduce.argmax(x) == 1
    assert argreduce.argmax(x, 0).shape == x.shape[1:]
    assert argreduce.argmax(x, -1, keepdims=True).shape == (1,) * 64


@pytest.mark.parametrize("function", FUNCTIONS)
def test_empty(function):
    for shape in ((0,), (0, 3), (3, 0)):
        with pytest.raises(ValueError, match="empty sequence"):
            function(np.zeros(shape))
    # As NumPy has it, even where there are no outputs.
    with pytest.raises(ValueError) as theirs:
        getattr(np, function.__name__)(np.zeros((0, 0)), 1)
    with pytest.raises(ValueError) as ours:
        function(np.zeros((0, 0)), 1)
    assert str(ours.value) == str(theirs.value)
    assert function(np.zeros((0, 3)), 1).shape == (0,)


@pytest.mark.parametrize(
    "x",
    [
        np.zeros(3, complex),
        np.zeros(3, object),
        np.zeros(3, "M8[s]"),
        np.array(["a", "b"]),
        ["a", "b"],
        np.zeros(3, np.longdouble),
        np.zeros(3, [("a", "f4")]),
        np.zeros(3, "V2"),
    ],
)
def test_other_types_are_named(x):
    with pytest.raises(TypeError) as error:
        argreduce.argmax(x)
    assert str(error.value).startswith("argmax takes bool, ")
    assert str(error.value).endswith(f", not {np.asarray(x).dtype}")


def test_masked_arrays():
    with pytest.raises(TypeError, match="masked"):
        argreduce.argmax(np.ma.masked_array([1, 2], [False, True]))


def test_subclasses():
    class Subclass(np.ndarray):
        pass

    assert type(argreduce.argmax(X.view(Subclass), 0)) is np.ndarray
    out = np.zeros(3, int, order="F").view(Subclass)
    assert argreduce.argmax(X, 0, out=out) is out and out.tolist() == [1, 0, 1]


def test_what_asarray_takes():
    assert argreduce.argmax([1, 5, 2]) == 1
    assert argreduce.argmax(memoryview(np.array([1.0, 5.0]))) == 1
    found = argreduce.argmax(np.matrix(X), 1)
    assert type(found) is np.ndarray and found.tolist() == [1, 0]
    assert argreduce.argmax(3.0) == 0


def test_pandas_and_xarray():
    pandas = pytest.importorskip("pandas")
    xarray = pytest.importorskip("xarray")
    assert argreduce.argmax(pandas.Series([1.0, 5.0])) == 1
    np.testing.assert_array_equal(argreduce.argmax(pandas.DataFrame(X), 1), [1, 0])
    np.testing.assert_array_equal(argreduce.argmax(xarray.DataArray(X), 1), [1, 0])


def test_result_types():
    found = argreduce.argmax(X)
    assert type(found) is np.int64
    for dtype in ("i4", "i8", "u1", "u2", "u4", "u8"):
        assert type(argreduce.argmax(X, dtype=dtype)) is np.dtype(dtype).type
        assert argreduce.argmax(X, 0, dtype=np.dtype(dtype)).dtype == dtype
    for dtype in ("f4", "i1", "i2", "?", ">i4"):
        with pytest.raises(TypeError, match="indices are int32"):
            argreduce.argmax(X, dtype=dtype)
    with pytest.raises(ValueError, match="the largest possible index is 256: uint8 holds at most 255"):
        argreduce.argmax(np.zeros(257), dtype="u1")
    assert argreduce.argmax(np.zeros(256), dtype="u1") == 0


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4"])
def test_out(dtype):
    for out in (np.zeros(3, dtype), np.zeros(6, dtype)[::2], np.zeros(3, dtype)[::-1]):
        assert argreduce.argmax(X, 0, out=out) is out
        np.testing.assert_array_equal(out, [1, 0, 1])
    assert argreduce.nanargmax(X, 0, out=np.zeros(3, dtype)).tolist() == [1, 0, 1]
    number = np.zeros((), dtype)
    assert argreduce.argmax(X, out=number) is number and number == 3


def test_wrong_out():
    with pytest.raises(ValueError, match=r"does not match .*: its shape is \(4,\), and that of the result is \(3,\)"):
        argreduce.argmax(X, 0, out=np.zeros(4, int))
    with pytest.raises(ValueError, match="does not match"):
        argreduce.argmax(X, 0, out=np.zeros((1, 3), int))
    assert argreduce.argmax(X, 0, out=np.zeros((1, 3), int), keepdims=True).shape == (1, 3)
    with pytest.raises(TypeError, match="float"):
        argreduce.argmax(X, 0, out=np.zeros(3))
    with pytest.raises(TypeError, match="list"):
        argreduce.argmax(X, 0, out=[0, 0, 0])
    out = np.zeros(3, int)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        argreduce.argmax(X, 0, out=out)
    with pytest.raises(ValueError, match="does not fit"):
        argreduce.argmax(np.zeros(200), out=np.zeros((), "i1"))
    with pytest.raises(ValueError):
        argreduce.argmax(np.zeros(300), out=np.zeros((), "u1"))
    # Of the other byte order, too, all that fits.
    for dtype, largest in ((">u2", 65_535), (">i2", 32_767)):
        assert argreduce.argmax(np.zeros(largest + 1), select_last=True, out=np.zeros((), dtype)) == largest
        with pytest.raises(ValueError, match=f"the largest index, {largest + 1}, does not fit it"):
            argreduce.argmax(np.zeros(largest + 2), out=np.zeros((), dtype))
    for dtype in (">u4", ">i8", ">u8"):
        assert argreduce.argmax(np.zeros(70_000), select_last=True, out=np.zeros((), dtype)) == 69_999
    with pytest.raises(TypeError, match="dtype"):
        argreduce.argmax(X, 0, out=np.zeros(3, "i4"), dtype="i8")


def test_out_may_be_the_input():
    x = np.array([[3, 1, 2], [9, 8, 7]])
    assert argreduce.argmin(x, 1, out=x[:, 0]).tolist() == [1, 2]
    assert x.tolist() == [[1, 1, 2], [2, 8, 7]]
    y = np.array([4, 9, 1, 2])
    assert argreduce.argmax(y[:, None], 1, out=y).tolist() == [0, 0, 0, 0]


def test_keywords():
    for name, value in (("nan", "omit"), ("threads", 0), ("threads", -3)):
        with pytest.raises(ValueError, match=name):
            argreduce.argmax(X, **{name: value})
    with pytest.raises(TypeError):
        argreduce.argmax(x=X)
    with pytest.raises(TypeError):
        argreduce.argmax(X, 0, True)
    assert argreduce.argmax(X, threads=2) == 3


def test_named_tuples():
    found = argreduce.max_argmax(X, 1)
    assert found._fields == ("values", "indices")
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is type(found)
    np.testing.assert_array_equal(again.values, [5, 7])
    number = argreduce.min_argmin(X)
    assert type(number.values) is np.float64 and type(number.indices) is np.int64
    part = argreduce.partial(X, 1, start=(0, 0), whole=X.shape)
    assert type(pickle.loads(pickle.dumps(part))) is argreduce.Partial


def test_unravel():
    x = np.zeros((2, 3, 4, 5))
    x[0, 1, 2, 3] = x[1, 2, 3, 4] = 1
    coordinates = argreduce.unravel(argreduce.argmax(x, (3, 1)), x.shape, (1, 3))
    assert [c.shape for c in coordinates] == [(2, 4)] * 2
    assert (coordinates[0][0, 2], coordinates[1][0, 2]) == (1, 3)
    assert argreduce.unravel(argreduce.argmax(x), x.shape) == (0, 1, 2, 3)
    assert argreduce.unravel(np.zeros((2, 3)), (2, 3), ()) == ()
    assert argreduce.unravel(2, 3) == (2,)
    with pytest.raises(ValueError):
        argreduce.unravel(60, x.shape, (1, 2, 3))
    with pytest.raises(np.exceptions.AxisError):
        argreduce.unravel(0, (2, 3), 2)


def test_other_threads_run_meanwhile():
    x = np.zeros(1 << 26, np.int8)
    ran = []
    go = threading.Event()

    def other():
        go.wait()
        while not done:
            ran.append(time.perf_counter())
            time.sleep(0)

    done = False
    thread = threading.Thread(target=other)
    thread.start()
    go.set()
    inside = []
    for _ in range(30):
        start = time.perf_counter()
        argreduce.argmax(x)
        inside.append((start, time.perf_counter()))
    done = True
    thread.join()
    # Some moment of the other thread lies well inside of a call.
    assert any(start + 0.1 * (end - start) < t < end - 0.1 * (end - start) for start, end in inside for t in ran)


def test_many_threads_at_once(rng):
    xs = [rng.random((50, 70)) for _ in range(8)]
    wrong = []

    def work(x):
        for n in range(300):
            y = x[: 1 + n % 50]
            if not np.array_equal(argreduce.argmax(y, 0), np.argmax(y, 0)):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(x,)) for x in xs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
