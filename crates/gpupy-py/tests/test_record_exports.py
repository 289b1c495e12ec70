"""Records are exported to NumPy and to others however their fields lie, with NumPy's dtype and elements.

NumPy describes the memory of records by a format that it reads as another dtype for some of them. Not here:
other dtypes (``test_exports.py``).
"""

import copy
import itertools
import pickle
import sys

import numpy
import pytest

import gpupy

DTYPES = {
    "packed": numpy.dtype([("x", "f8"), ("y", "i4"), ("b", "?")]),
    "aligned": numpy.dtype([("b", "?"), ("x", "f8"), ("y", "i2")], align=True),
    "one byte": numpy.dtype([("b", "u1")]),
    "three bytes": numpy.dtype([("a", "u1"), ("b", "u2")]),
    "padding before": numpy.dtype({"names": ["a"], "formats": ["f4"], "offsets": [3], "itemsize": 20}),
    "padding behind": numpy.dtype({"names": ["a"], "formats": ["f4"], "offsets": [0], "itemsize": 7}),
    "padding between": numpy.dtype(
        {"names": ["a", "b"], "formats": ["i1", "f8"], "offsets": [1, 5], "itemsize": 24}
    ),
    "out of order": numpy.dtype({"names": ["a", "b"], "formats": ["i4", "f8"], "offsets": [8, 0]}),
    "overlapping": numpy.dtype({"names": ["a", "b"], "formats": ["i4", "u2"], "offsets": [0, 2]}),
    "of arrays": numpy.dtype([("v", "f4", (3,)), ("n", "i1")]),
    "of records": numpy.dtype([("p", [("x", "f8"), ("y", "i2")]), ("n", "i1")]),
    "of texts": numpy.dtype([("s", "S3"), ("u", "U2"), ("n", "i4")]),
    "of other bytes": numpy.dtype([("x", ">f8"), ("n", "<i2")]),
    "of times": numpy.dtype([("t", "M8[s]"), ("n", "i2")]),
    "of complex numbers": numpy.dtype([("z", "c16"), ("n", "i1")]),
    "of titles": numpy.dtype([(("title", "x"), "f8"), ("n", "i1")]),
    "of halves": numpy.dtype([("h", "f2"), ("n", "i1")]),
    "of objects": numpy.dtype([("o", object), ("n", "i1")]),
}
VIEWS = {
    "whole": lambda r: r,
    "one": lambda r: r[:1],
    "two": lambda r: r[:2],
    "none": lambda r: r[:0],
    "every other": lambda r: r[::2],
    "backwards": lambda r: r[::-1],
    "of two axes": lambda r: r.reshape(2, 3),
    "columns": lambda r: r.reshape(2, 3).T,
    "a copy of one": lambda r: r[1:2].copy(),
    "without axes": lambda r: r[0:1].reshape(()),
}
EXPORTS = {
    "asarray": numpy.asarray,
    "array": numpy.array,
    "a copy": lambda r: numpy.array(r, copy=True),
    "ascontiguousarray": numpy.ascontiguousarray,
    "concatenate": lambda r: numpy.concatenate([numpy.asarray(r).ravel(), numpy.asarray(r).ravel()]),
    "a list": lambda r: numpy.array(r.tolist(), r.dtype),
    "a pickle": lambda r: numpy.asarray(pickle.loads(pickle.dumps(r))),
    "a deep copy": lambda r: numpy.asarray(copy.deepcopy(r)),
}


def _made(np, dtype, n):
    made = np.zeros(n, dtype)
    for name in dtype.names:
        if dtype[name].kind in "iuf" and dtype[name].shape == ():
            made[name] = numpy.arange(n)
    return made


@pytest.mark.parametrize("dtype, view", list(itertools.product(DTYPES, VIEWS)))
def test_records_are_exported_with_their_dtype_and_elements(dtype, view):
    for name, export in EXPORTS.items():
        wanted = export(VIEWS[view](_made(numpy, DTYPES[dtype], 6)))
        found = export(VIEWS[view](_made(gpupy, DTYPES[dtype], 6)))
        assert type(found) is numpy.ndarray and found.dtype == wanted.dtype, name
        assert found.shape == wanted.shape and repr(found.tolist()) == repr(wanted.tolist()), name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_numpys_functions_take_records_and_their_fields(dtype, n):
    found = []
    for np in (numpy, gpupy):
        records = _made(np, DTYPES[dtype], n)
        fields = [records[name] for name in records.dtype.names]
        found.append([numpy.asarray(field).tolist() for field in fields])
        found[-1].append(numpy.sort(numpy.asarray(records[records.dtype.names[-1]])).tolist())
        found[-1].append(numpy.concatenate([records, records]).tolist())
    # Rows of arrays are not compared with one truth value.
    assert repr(found[0]) == repr(found[1])


def test_writes_to_an_export_of_records_reach_them():
    for dtype in ("packed", "padding before", "three bytes"):
        records = _made(gpupy, DTYPES[dtype], 3)
        name = records.dtype.names[0]
        numpy.asarray(records)[name][1] = 7
        records[name][2] = 9
        assert records[name].tolist()[1:] == numpy.asarray(records)[name].tolist()[1:] == [7, 9]


@pytest.mark.skipif(not sys.platform.startswith(("linux", "darwin")), reason="the system tells no callers")
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", [*DTYPES, "aligned with a title", "of odd names"])
def test_a_memoryview_of_records_is_numpys_or_refused_in_its_words(dtype, view):
    more = {
        "aligned with a title": numpy.dtype([(("title", "b"), "?"), ("x", "f8")], align=True),
        "of odd names": numpy.dtype([("a:b", "i4"), ("c d", "f8")]),
    }
    given = numpy.zeros(6, {**DTYPES, **more}[dtype])

    def told(records):
        try:
            seen = memoryview(VIEWS[view](records))
        except (BufferError, ValueError) as error:
            return type(error), str(error)
        flags = (seen.readonly, seen.c_contiguous, seen.f_contiguous)
        return seen.format, seen.itemsize, seen.shape, seen.strides, seen.nbytes, *flags

    records = gpupy.array(given)
    assert told(records) == told(given)
    # What NumPy makes of it is right all the same.
    assert numpy.asarray(VIEWS[view](records)).dtype == given.dtype
