"""Columns by Arrow's C interfaces: of producers that lie, wait, release too early, or give something else."""

from __future__ import annotations

import ctypes as ct
import itertools
import signal
import threading
import time

import argreduce
import numpy as np
import pytest
from arrow_c import GET, RELEASED, OfArray, OfStream, Schema, Stream, address, array, capsule, columns
from arrow_c import list_of, numbers, schema, stream, struct

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

FUNCTIONS = ["argmax", "argmin", "nanargmax", "nanargmin", "max_argmax", "min_argmin", "argminmax", "argminmax_values"]


def ints():
    return schema(b"i")


def lists(size=2, child=ints):
    return schema(b"+w:%d" % size, [child()])


def of_lists(*values, size=2, missing=(), **lies):
    inner = numbers(*values)
    bits = np.packbits([n not in missing for n in range(len(values) // size)], bitorder="little")
    return array(len(values) // size, bits, **{"children": [inner], "null_count": len(missing), **lies})


def released(run):
    """What is released while something runs."""
    before = len(RELEASED)
    run()
    return RELEASED[before:]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_struct_is_released_once(function):
    def columns_of_all_kinds():
        yield from columns(ints, lambda: numbers(1, 7, 2))
        yield from columns(ints, lambda: numbers(1, 7, missing=[0]), lambda: numbers(), lambda: numbers(9))
        yield from columns(lists, lambda: of_lists(1, 2, 3, 4, missing=[1]), lambda: of_lists(5, 6))
        yield from columns(lambda: schema(b"n"), lambda: array(2), lambda: array(3))
        # Refused.
        yield from columns(ints, lambda: numbers(1, 7, length=-1))
        yield from columns(lambda: schema(b"u"), lambda: array(1, None, None, None))

    for column in columns_of_all_kinds():
        wanted = [struct.private_data for struct in column.structs]

        def run():
            try:
                getattr(argreduce, function)(column, fill=-1)
            except (TypeError, ValueError):
                pass

        found = released(run)
        assert set(wanted) <= set(found) and len(found) == len(set(found)), type(column)
        # There is nothing left to give.
        with pytest.raises(ValueError, match="^" + function + " was given an Arrow (schema|stream) that was released"):
            getattr(argreduce, function)(column)


def trap(*_):
    raise AssertionError("a function of a released struct was called")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_released_before(function):
    """Of what was moved out or released, nothing but `release` means anything."""
    run, bad, text = getattr(argreduce, function), 1, b"x"
    anything = {"get_schema": bad, "get_next": bad, "get_last_error": bad, "private_data": bad}
    with pytest.raises(ValueError, match=f"{function} was given an Arrow stream that was released already"):
        run(OfStream(struct(Stream, **{**anything, "release": None})))
    for column in [
        OfArray(schema(text, release=None), numbers(1)),
        OfArray(schema(b"i"), numbers(1, release=None, length=1 << 62)),
    ]:
        with pytest.raises(ValueError, match="released already"):
            run(column)
    # As pyarrow does it.
    given = pa.chunked_array([pa.array([1, 2])]).__arrow_c_stream__()
    pa.ChunkedArray._import_from_c_capsule(given)

    class Again:
        def __arrow_c_stream__(self, requested_schema=None):
            return given

    with pytest.raises(ValueError, match="stream that was released already"):
        run(Again())
    for inner in [schema(b"i", release=None), schema(None)]:
        with pytest.raises(ValueError, match="released already|its format is null"):
            run(OfArray(schema(b"+w:2", [inner]), of_lists(1, 2)))
    with pytest.raises(ValueError, match="its child was released already"):
        run(OfArray(lists(), array(1, None, children=[numbers(1, 2, release=None)])))


def test_released_meanwhile():
    """A callback releases the stream that it is called for, or gives what was released."""

    def gives(code, schema=None):
        def get(place, to):
            if schema is not None:
                ct.memmove(to, ct.addressof(schema), ct.sizeof(schema))
            Stream.from_address(place).release = None
            return code

        return address(GET(get))

    traps = {"get_next": address(GET(trap)), "get_last_error": address(GET(trap))}
    column = OfStream(stream(None, [], **{**traps, "get_schema": gives(0, ints())}))
    with pytest.raises(ValueError, match="argmax: the Arrow stream was released while it was read"):
        argreduce.argmax(column)
    with pytest.raises(ValueError, match="argmax: the Arrow stream failed: error 5"):
        argreduce.argmax(OfStream(stream(None, [], **{**traps, "get_schema": gives(5)})))
    with pytest.raises(ValueError, match="gave a schema that was released"):
        argreduce.argmax(OfStream(stream(struct(Schema, format=b"i", release=None), [])))
    for missing in ("get_schema", "get_next"):
        with pytest.raises(ValueError, match=f"lacks a function that gives {'schema' if missing[4] == 's' else 'array'}s"):
            argreduce.argmax(OfStream(stream(ints(), [], **{missing: None})))


# Whether the thread that calls has Python's lock. As a callback, it tells by its answer: 0 is success.
HAS_LOCK = address(ct.pythonapi.PyGILState_Check)


def test_callbacks_of_streams_run_without_the_lock():
    with pytest.raises(ValueError, match="gave a schema that was released"):
        argreduce.argmax(OfStream(stream(ints(), [], get_schema=HAS_LOCK)))
    with pytest.raises(ValueError, match="attempt to get argmax of an empty sequence"):
        argreduce.argmax(OfStream(stream(ints(), [], get_next=HAS_LOCK)))
    # No text, by a null pointer.
    with pytest.raises(ValueError, match="the Arrow stream failed: error 7"):
        argreduce.argmax(OfStream(stream(ints(), [7], get_last_error=HAS_LOCK)))


def of_arrays_that_sleep():
    """What has `nanosleep` for its `release`, and so, where its first two numbers are, how long."""
    sleep, nanoseconds = address(ct.CDLL(None).nanosleep), 900_000_000
    # (All of these are refused, for there is not much else that such numbers are.)
    yield OfArray(ints(), numbers(length=0, null_count=nanoseconds, release=sleep))
    yield OfArray(schema(None, name=nanoseconds, release=sleep), numbers(1))
    yield OfStream(stream(None, [], get_schema=None, get_next=nanoseconds, release=sleep))
    # In another array, which the stream gave before.
    yield OfStream(stream(ints(), [numbers(length=0, null_count=nanoseconds, release=sleep)]))


@pytest.mark.parametrize("n", range(4))
def test_releases_run_without_the_lock(n):
    """Other threads of Python go on meanwhile."""
    column, is_done, starts = list(of_arrays_that_sleep())[n], threading.Event(), threading.Event()

    def run():
        starts.set()
        for _ in range(5):
            time.sleep(0.001)
        is_done.set()

    thread = threading.Thread(target=run)
    thread.start()
    starts.wait()
    with pytest.raises(ValueError):
        argreduce.argmax(column)
    found = is_done.is_set()
    thread.join()
    assert found


def test_a_stream_that_waits_for_a_thread():
    """As one of a reader of files, which are read by Python."""
    asks, answers = threading.Event(), threading.Event()

    def read():
        asks.wait()
        answers.set()

    def batches():
        asks.set()
        assert answers.wait(60)
        yield pa.record_batch({"a": [1, 5, 2]})

    thread = threading.Thread(target=read)
    thread.start()
    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches())
    # A table is no column; its stream is asked what it is, and released.
    with pytest.raises(TypeError):
        argreduce.argmax(reader)
    asks.set()
    thread.join()


class Interrupted(Exception):
    pass


def test_an_endless_stream_can_be_interrupted():
    empty, count = numbers(), itertools.count()

    def get_next(_, to):
        ct.memmove(to, ct.addressof(empty), ct.sizeof(empty))
        # A hundred thousand are enough to say that it cannot.
        return 0 if next(count) < 100_000 else 7

    def run():
        argreduce.argmax(OfStream(stream(ints(), [], get_next=address(GET(get_next)))))

    def handle(_, frame):
        # Not in the callback, which can raise nothing.
        if frame.f_code is run.__code__:
            raise Interrupted

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.001)
    try:
        with pytest.raises(Interrupted):
            run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


LIES = [
    (lambda: numbers(1, 2, length=-1), "its length is -1"),
    (lambda: numbers(1, 2, length=-(1 << 63)), "its length is -9223372036854775808"),
    (lambda: numbers(1, 2, offset=-1), "its offset -1"),
    (lambda: numbers(1, 2, length=1 << 62), "no memory holds 4611686018427387904 elements"),
    (lambda: numbers(1, 2, offset=(1 << 63) - 1), "no memory holds 2 elements from"),
    (lambda: numbers(1, 2, length=(1 << 63) - 1, offset=(1 << 63) - 1), "no memory holds"),
    (lambda: numbers(1, 2, null_count=-2), "-2 of 2 elements are null"),
    (lambda: numbers(1, 2, missing=[0], null_count=3), "3 of 2 elements are null"),
    (lambda: numbers(1, 2, null_count=1), "1 elements are null, and no bits say which"),
    (lambda: numbers(1, 2, n_buffers=1), "it has 1 buffers, and needs 2"),
    (lambda: numbers(1, 2, n_buffers=3), "it has 3 buffers, and needs 2"),
    (lambda: numbers(1, 2, n_buffers=-1), "it has -1 buffers, and needs 2"),
    (lambda: numbers(1, 2, buffers=None), "where its buffers are is null"),
    (lambda: array(2, None, None), "its buffer of elements is null"),
    (lambda: numbers(1, 2, dictionary=ct.pointer(numbers(1))), "it has a dictionary, and its schema has none"),
    (lambda: numbers(null_count=1), "1 of 0 elements are null"),
]


@pytest.mark.parametrize("lie, message", LIES)
def test_malformed_arrays(lie, message):
    for name in FUNCTIONS:
        for column in columns(ints, lie):
            with pytest.raises(ValueError, match=f"^{name} was given an Arrow array that is malformed: .*{message}"):
                getattr(argreduce, name)(column)
        # Wherever in a stream it is.
        for column in columns(ints, lambda: numbers(3), lie, lambda: numbers(4)):
            with pytest.raises(ValueError, match=message):
                getattr(argreduce, name)(column, fill=-1)


def test_what_is_not_counted_is_no_lie():
    for column in columns(ints, lambda: numbers(1, 5, 9, missing=[2], null_count=-1)):
        assert argreduce.argmax(column) == 1
    for column in columns(ints, lambda: numbers(1, 5, 9, null_count=-1)):
        assert argreduce.argmax(column) == 2
    # Of an empty one, nothing else is asked.
    for column in columns(ints, lambda: array(0), lambda: numbers(4)):
        assert argreduce.argmax(column) == 0


LIES_OF_LISTS = [
    (lists, lambda: of_lists(1, 2, length=2), "lists of 2 with 2 elements, from 0 to 2"),
    (lists, lambda: of_lists(1, 2, offset=1), "lists of 2 with 2 elements, from 1 to 2"),
    (lists, lambda: of_lists(1, 2, n_children=0), "0 children, where lists of a fixed size have one"),
    (lists, lambda: of_lists(1, 2, n_children=2), "2 children"),
    (lists, lambda: of_lists(1, 2, children=(), n_children=1), "its child is null"),
    (lists, lambda: array(1, None, children=[numbers(1, 2, length=-2)]), "its length is -2"),
    (lists, lambda: array(1, None, children=[numbers(1, 2, null_count=1)]), "no bits say which"),
    (lists, lambda: array(1, children=[numbers(1, 2)]), "it has 0 buffers, and needs 1"),
    (lists, lambda: array(1, None, children=[numbers(1, 2)], null_count=1), "no bits say which"),
    (lambda: lists((1 << 63) - 1), lambda: of_lists(1, 2, length=4), "lists of 9223372036854775807"),
    (lambda: schema(b"+w:-1", [ints()]), lambda: of_lists(1, 2), 'its format is "[+]w:-1"'),
    (lambda: schema(b"+w:x", [ints()]), lambda: of_lists(1, 2), 'its format is "[+]w:x"'),
    (lambda: schema(b"+w:99999999999999999999", [ints()]), lambda: of_lists(1, 2), "its format is"),
    (lambda: schema(b"+w:2"), lambda: of_lists(1, 2), "0 children"),
    (lambda: schema(b"+w:2", n_children=1), lambda: of_lists(1, 2), "its child is null"),
    (lambda: schema(None), lambda: of_lists(1, 2), "its format is null"),
    (lambda: schema(b"\xff"), lambda: of_lists(1, 2), "its format is no text"),
]


@pytest.mark.parametrize("schema_of, lie, message", LIES_OF_LISTS)
def test_malformed_lists(schema_of, lie, message):
    for column in columns(schema_of, lie):
        with pytest.raises(ValueError, match=f"argmax was given an Arrow (array|schema) that is malformed: .*{message}"):
            argreduce.argmax(column)


def test_lists_without_end():
    """A schema that is its own child."""
    endless = schema(b"+w:1", n_children=1)
    endless.children = list_of([endless])
    with pytest.raises(TypeError):
        argreduce.argmax(OfArray(schema(b"+w:1", [endless]), of_lists(1, 2)))


def gives(given, method):
    return type("Broken", (), {method: lambda self, requested_schema=None: given})()


@pytest.mark.parametrize("name", [*FUNCTIONS, "partial"])
def test_what_is_no_capsule(name):
    """Named are the function, the argument's class, and what is wrong."""
    options = {"start": (0,), "whole": (1,)} if name == "partial" else {}
    pair = (capsule(ints()), capsule(numbers(1)))
    for given in [(), None, 5, [*pair], pair[:1], (*pair, None), (1, 2), pair[::-1], (pair[0], pair[0])]:
        with pytest.raises(TypeError, match=f"^{name} was given a Broken whose __arrow_c_array__.*capsule"):
            getattr(argreduce, name)(gives(given, "__arrow_c_array__"), **options)
    for given in [(), None, pair[0], pair]:
        with pytest.raises(TypeError, match=f"^{name} was given a Broken whose __arrow_c_stream__.*arrow_array_stream"):
            getattr(argreduce, name)(gives(given, "__arrow_c_stream__"), **options)


def test_errors_of_streams_are_one_line():
    for text, said in [
        (b"cannot read:\n  line 2\r\n\tthe end\n", "cannot read: line 2 the end"),
        (b"", "error 22"),
        (b"\n\n", "error 22"),
        (b"\x1b[31mred", "[31mred"),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
    ]:
        with pytest.raises(ValueError) as caught:
            argreduce.argmax(OfStream(stream(ints(), [numbers(1), 22], error=text)))
        assert str(caught.value) == f"argmax: the Arrow stream failed: {said}"


def columns_of_nulls():
    yield from columns(lambda: schema(b"n"), lambda: array(2, null_count=2))
    yield from columns(lambda: schema(b"n"), lambda: array(1), lambda: array(0), lambda: array(1, null_count=-1))
    yield pl.Series([None, None])
    yield pl.concat([pl.Series([None]), pl.Series([None])], rechunk=False)
    yield pa.nulls(2)
    yield pa.chunked_array([pa.nulls(1), pa.nulls(1)])
    yield pl.Series([None, None], dtype=pl.Float64)


def test_nothing_but_nulls():
    for name in FUNCTIONS:
        for column in columns_of_nulls():
            with pytest.raises(ValueError, match="no element is there|All-NaN"):
                getattr(argreduce, name)(column)
        for column in columns_of_nulls():
            found = getattr(argreduce, name)(column, fill=-1)
            found = found._asdict() if isinstance(found, tuple) else {"indices": found}
            assert {found[key] for key in found if key not in ("values", "min", "max")} == {-1}
    for column in columns_of_nulls():
        assert argreduce.argmax(column, (), fill=-1, where=True).tolist() == [-1, -1]
    for column in columns_of_nulls():
        assert argreduce.partial(column, start=(3,), whole=(9,)).indices == -1
    for empty in [pa.nulls(0), pl.Series([], dtype=pl.Null)]:
        with pytest.raises(ValueError, match="attempt to get argmax of an empty sequence"):
            argreduce.argmax(empty)
        assert argreduce.argmax(empty, fill=-1) == -1
    most = (1 << 63) - 1
    with pytest.raises(ValueError, match="more elements than can be counted"):
        argreduce.argmax(OfStream(stream(schema(b"n"), [array(most), array(most), array(5)])))


def test_lists_of_fixed_size():
    """They are axes, and null rows are left out."""
    rows = [[1, 5], None, [7, 2], [8, None]]
    for column in [
        pl.Series(rows, dtype=pl.Array(pl.Int32, 2)),
        pa.array(rows, pa.list_(pa.int32(), 2)),
        pa.array([[9, 9], *rows], pa.list_(pa.int32(), 2))[1:],
        pa.chunked_array([pa.array(rows[:1], pa.list_(pa.int32(), 2)), pa.array(rows[1:], pa.list_(pa.int32(), 2))]),
        pl.concat([pl.Series(part, dtype=pl.Array(pl.Int32, 2)) for part in (rows[:2], rows[2:])], rechunk=False),
    ]:
        assert argreduce.argmax(column, fill=-1) == 6
        assert argreduce.argmax(column, 1, fill=-1).tolist() == [1, -1, 0, 0]
        assert argreduce.argmin(column, 0).tolist() == [0, 2]
        assert argreduce.argmax(column, 1, fill=-1, where=[[True, False]]).tolist() == [0, -1, 0, 0]
        values, indices = argreduce.max_argmax(column, 0)
        assert (values.tolist(), indices.tolist(), values.dtype) == ([8, 5], [3, 0], np.int32)
        with pytest.raises(ValueError, match="no element is there"):
            argreduce.argmax(column, 1)
    # As it was reported.
    assert argreduce.argmax(pl.Series([[1, 5], None, [7, 2]], dtype=pl.Array(pl.Int32, 2)), fill=-1) == 4
    assert argreduce.argmax(pl.Series([], dtype=pl.Array(pl.Int32, 2)), 1).tolist() == []
    # Not by way of float64.
    column = pl.Series([[1 << 53, (1 << 53) + 1, None]], dtype=pl.Array(pl.Int64, 3))
    assert argreduce.max_argmax(column) == ((1 << 53) + 1, 1)


def test_lists_of_lists():
    rng = np.random.default_rng(3)
    kinds = [(pa.int64(), "i8"), (pa.float32(), "f4"), (pa.bool_(), "?"), (pa.date32(), "M8[D]"), (pa.uint8(), "u1")]
    for n in range(60):
        inner, dtype = kinds[n % len(kinds)]
        shape = tuple(rng.integers(1, 5, 3))
        x = rng.integers(0, 5, shape).astype(dtype)
        there = rng.random(shape) < 0.8
        rows, pages = rng.random(shape[:2]) < 0.8, rng.random(shape[:1]) < 0.8
        listed = np.where(there, x.astype(object), None).tolist()
        for i, j in np.ndindex(shape[:2]):
            if not rows[i, j]:
                listed[i][j] = None
        listed = [page if is_there else None for page, is_there in zip(listed, pages)]
        there &= rows[:, :, None] & pages[:, None, None]
        column = pa.array(listed, pa.list_(pa.list_(inner, int(shape[2])), int(shape[1])))
        cut = int(rng.integers(0, shape[0] + 1))
        for given in (column, pa.concat_arrays([column, column])[shape[0] :], pa.chunked_array([column[:cut], column[cut:]])):
            for axis in (None, 0, 1, 2, (0, 2)):
                wanted = argreduce.argmax(x, axis, where=there, fill=-1)
                np.testing.assert_array_equal(argreduce.argmax(given, axis, fill=-1), wanted)


def test_dictionaries():
    """Values in their own order; with nulls they would be NaN or objects, and so they are refused."""
    assert argreduce.argmax(pa.array([1.5, 7.0, 3.0]).dictionary_encode()) == 1
    for column in [
        pa.array([1.5, None, 3.0]).dictionary_encode(),
        pa.chunked_array([pa.array([1.5]).dictionary_encode(), pa.array([None, 3.0]).dictionary_encode()]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([1.5, None])),
    ]:
        with pytest.raises(TypeError, match="argmax takes no dictionary with nulls: decode it before"):
            argreduce.argmax(column)
    ordered = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array([5, 3, 1]), ordered=True)
    with pytest.raises(TypeError, match="argmax takes no ordered categories"):
        argreduce.argmax(ordered)


def test_where_by_columns():
    """What is null there is not there, as the filters of pandas, polars and pyarrow have it."""
    x, listed = np.array([1.0, 9.0, 5.0, 7.0]), [True, None, False, True]
    for where in [
        pa.array(listed),
        pa.chunked_array([pa.array(listed[:1]), pa.array(listed[1:])]),
        pl.Series(listed),
    ]:
        for given in (x, pa.array(x), pl.Series(x), np.ma.masked_array(x, [0, 0, 0, 0])):
            assert argreduce.argmax(given, where=where) == 3
        assert argreduce.argmax(np.array([x, -x]), 1, where=where).tolist() == [3, 0]
        assert argreduce.partial(x, start=(0,), whole=(4,), where=where).indices == 3
    assert argreduce.argmax(x, where=pa.array([True, True, False, False])) == 1
    with pytest.raises(TypeError, match="argmax: where is of type int64: booleans are needed"):
        argreduce.argmax(x, where=pa.array([1, None, 0, 1]))
    with pytest.raises(ValueError, match="does not broadcast"):
        argreduce.argmax(x, where=pa.array([True, None]))
    with pytest.raises(ValueError, match="no element is there"):
        argreduce.argmax(x, where=pa.nulls(4, pa.bool_()))


def test_types_that_are_objects_are_named():
    with pytest.raises(TypeError, match=r"argmax takes no List\(Int64\), which is an array of objects to NumPy"):
        argreduce.argmax(pl.Series([[1], [2, 3]]))


def of_bools(bits, there, select_last, wanted):
    """Where the first or the last of the wanted ones is among those that are there, or else of these; -1: of none."""
    for places in (np.flatnonzero(there & (bits == wanted)), np.flatnonzero(there)):
        if places.size:
            return places[-1 if select_last else 0]
    return -1


@pytest.mark.parametrize("count", [1, 7, 8, 9, 64, 1000, 4095, 4096, 4097, 20_000])
def test_packed_bools(rng, count):
    # They are searched by their bits, in blocks of 512 bytes, from any bit on, and in pieces.
    for part in (0.0, 1 / count, 0.5, 1.0):
        for part_there in (None, 0.0, 1 / count, 0.5):
            bits, there = rng.random(count + 20) < part, np.ones(count + 20, bool)
            if part_there is not None:
                there = rng.random(count + 20) < part_there
            whole = pa.array(bits, mask=None if part_there is None else ~there)
            for start in (0, 1, 7, 13):
                end = start + count
                cut = int(rng.integers(0, count + 1))
                pieces = pa.chunked_array([whole[start : start + cut], whole[start + cut : end]])
                for column in (whole[start:end], pieces, pl.Series(pieces)):
                    for last in (False, True):
                        known = (bits[start:end], there[start:end], last)
                        largest, smallest = of_bools(*known, True), of_bools(*known, False)
                        options = {"select_last": last, "fill": -1}
                        for function in (argreduce.argmax, argreduce.nanargmax):
                            assert function(column, 0, **options) == largest
                        both = argreduce.argminmax_values(column, **options)
                        assert (both.argmin, both.argmax) == (smallest, largest)
                        assert type(both.max) is np.bool_ and type(both.argmin) is np.int64
                        assert both.max == (largest >= 0 and known[0][largest])
                        assert both.min == (smallest >= 0 and known[0][smallest])
                        if largest < 0:
                            with pytest.raises(ValueError, match="no element is there"):
                                argreduce.argmax(column, select_last=last)
                        else:
                            found = argreduce.argmax(column, select_last=last, dtype=np.int32, keepdims=True)
                            np.testing.assert_array_equal(found, np.array([largest], np.int32), strict=True)


def test_packed_bools_as_bytes(rng):
    # With `where`, over no axis and as partial answers, they are unpacked.
    for count in (1, 9, 100, 5000):
        for start in (0, 3):
            bits, there = rng.random(count + start) < 0.1, rng.random(count + start) < 0.8
            column = pa.array(bits, mask=~there)[start:]
            bits, there, w = bits[start:], there[start:], rng.random(count) < 0.7
            out = np.empty((), np.int64)
            assert argreduce.argmax(column, where=w, fill=-1, out=out) is out
            assert out == of_bools(bits, there & w, False, True)
            found = argreduce.partial(column, start=(2,), whole=(count + 2,))
            assert found.indices == (2 + of_bools(bits, there, False, True) if there.any() else -1)
            np.testing.assert_array_equal(argreduce.argmin(column, (), fill=7), np.where(there, 0, 7))


def test_classes_are_looked_at_again_but_for_those_of_libraries():
    pd = pytest.importorskip("pandas")

    class Later:
        def __init__(self):
            self.column = pa.array([1, 5, None])

        def __array__(self, dtype=None, copy=None):
            return np.array([7, 1, 2])

    assert argreduce.argmax(Later()) == 0
    Later.__arrow_c_array__ = lambda self, requested_schema=None: self.column.__arrow_c_array__(requested_schema)
    assert argreduce.argmax(Later()) == 1

    class Mine(pl.Series):
        """A user's own column, of a library's class."""

    for _ in range(2):
        assert argreduce.argmax(Mine([1, None, 5])) == argreduce.argmax(pl.Series([1, None, 5])) == 2
        # Of more kinds than are remembered.
        for other in (pa.array([1, 9]), pa.chunked_array([[1, 9]]), pd.Series([1, 9]), pd.Index([1, 9])):
            assert argreduce.argmax(other) == 1
        of_pyarrow = pd.array([1, 9], "int64[pyarrow]")
        for array in (pd.array([1, 9]), pd.array([1.0, 9.0]), of_pyarrow, pd.array([False, True])):
            assert argreduce.argmax(array) == argreduce.argmax(pd.Series(array)) == 1
        for frame in (pl.DataFrame({"a": [1, 9]}), pd.DataFrame({"a": [1, 9]})):
            assert argreduce.argmax(frame) == 1
