"""Producers of Arrow's C interfaces by ctypes, which say whatever they are told to."""

from __future__ import annotations

import ctypes as ct

import numpy as np

_new_capsule = ct.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ct.py_object, (ct.c_void_p, ct.c_char_p, ct.c_void_p)


class Schema(ct.Structure):
    pass


class Array(ct.Structure):
    pass


class Stream(ct.Structure):
    pass


RELEASE = ct.CFUNCTYPE(None, ct.c_void_p)
GET = ct.CFUNCTYPE(ct.c_int, ct.c_void_p, ct.c_void_p)
GET_LAST_ERROR = ct.CFUNCTYPE(ct.c_void_p, ct.c_void_p)

# Functions are addresses, so that any function of C can be one.
Schema._fields_ = [
    ("format", ct.c_char_p),
    ("name", ct.c_void_p),
    ("metadata", ct.c_char_p),
    ("flags", ct.c_int64),
    ("n_children", ct.c_int64),
    ("children", ct.POINTER(ct.POINTER(Schema))),
    ("dictionary", ct.POINTER(Schema)),
    ("release", ct.c_void_p),
    ("private_data", ct.c_void_p),
]
Array._fields_ = [
    *((name, ct.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
    ("buffers", ct.POINTER(ct.c_void_p)),
    ("children", ct.POINTER(ct.POINTER(Array))),
    ("dictionary", ct.POINTER(Array)),
    ("release", ct.c_void_p),
    ("private_data", ct.c_void_p),
]
Stream._fields_ = [
    *((name, ct.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")),
]

NAMES = {Schema: b"arrow_schema", Array: b"arrow_array", Stream: b"arrow_array_stream"}
# What C has pointers to is kept as long as the tests run.
KEPT: list = []
# What was released: `private_data` of each struct, as often as it was.
RELEASED: list[int] = []


def address(function) -> int:
    KEPT.append(function)
    return ct.cast(function, ct.c_void_p).value


def release_of(cls):
    def release(place):
        struct = cls.from_address(place)
        RELEASED.append(struct.private_data)
        struct.release = None

    return address(RELEASE(release))


RELEASES = {cls: release_of(cls) for cls in NAMES}


def struct(cls, **fields):
    """One with a number of its own as `private_data`, whose release is noted."""
    made = cls(release=RELEASES[cls], private_data=len(KEPT) + 1)
    KEPT.append(made)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def list_of(structs):
    """A pointer to pointers to structs, some of which may be None."""
    cls = type(next(each for each in structs if each is not None))
    pointers = (ct.POINTER(cls) * len(structs))(*(None if each is None else ct.pointer(each) for each in structs))
    KEPT.append(pointers)
    return ct.cast(pointers, ct.POINTER(ct.POINTER(cls)))


def schema(format, children=(), **lies):
    fields = {"n_children": len(children)}
    if children:
        fields["children"] = list_of(children)
    return struct(Schema, format=format, **{**fields, **lies})


def array(count, *buffers, children=(), **lies):
    """Each buffer is an array of NumPy, or None."""
    KEPT.append(buffers)
    pointers = (ct.c_void_p * max(len(buffers), 1))(*(None if each is None else each.ctypes.data for each in buffers))
    KEPT.append(pointers)
    fields = {"length": count, "n_buffers": len(buffers), "n_children": len(children)}
    fields["buffers"] = ct.cast(pointers, ct.POINTER(ct.c_void_p))
    if children:
        fields["children"] = list_of(children)
    return struct(Array, **{**fields, **lies})


def numbers(*values, missing=(), dtype=np.int32, **lies):
    """An array of integers, with bits if some are missing."""
    bits = np.packbits([n not in missing for n in range(len(values))], bitorder="little") if missing else None
    return array(len(values), bits, np.array(values, dtype), **{"null_count": len(missing), **lies})


def stream(schema, arrays, error=b"no more", **lies):
    """Moves its structs to whoever asks; an integer among the arrays is an error with that code."""
    arrays, text = list(arrays), ct.create_string_buffer(error)
    KEPT.append(text)

    def move(struct, to):
        ct.memmove(to, ct.addressof(struct), ct.sizeof(struct))
        struct.release = None
        return 0

    def get_next(_, to):
        if not arrays:
            return 0
        given = arrays.pop(0)
        return given if isinstance(given, int) else move(given, to)

    functions = {
        "get_schema": address(GET(lambda _, to: move(schema, to))),
        "get_next": address(GET(get_next)),
        "get_last_error": address(GET_LAST_ERROR(lambda _: ct.addressof(text))),
    }
    return struct(Stream, **{**functions, **lies})


def capsule(struct, name=None):
    """A capsule of a struct, which it never releases."""
    return _new_capsule(ct.addressof(struct), name or NAMES[type(struct)], None)


class OfArray:
    def __init__(self, schema, array):
        self.structs = (schema, array)
        self.given = (capsule(schema), capsule(array))

    def __arrow_c_array__(self, requested_schema=None):
        return self.given


class OfStream:
    def __init__(self, stream):
        self.structs = (stream,)
        self.given = capsule(stream)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.given


def columns(schema_of, *array_of):
    """A column in both ways: as an array if it is one, and as a stream."""
    if len(array_of) == 1:
        yield OfArray(schema_of(), array_of[0]())
    yield OfStream(stream(schema_of(), [each() for each in array_of]))
