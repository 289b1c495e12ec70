"""Results that go to files, part by part: each part is computed, written and let go of.

Owns ``store``. Invariants: parts are written in the order of their elements, so that a file ends where what
is computed ends; what is written stays when it is interrupted, and the error says how much that is. Not
here: what is read (``arrays.py``).
"""

import io
import os
import shutil
import tempfile
from typing import Any

import numpy as np
from numpy.lib import format as _format

from .. import _gpupy
from .._fallback.hosts import to_host
from .._gpupy import ndarray
from . import progress
from .boxes import boxes, unit_of

# The bytes that are computed at once.
_PART = 32 << 20


def store(x: Any, target: Any) -> None:
    """Computes an array part by part, and writes each to ``target``.

    ``target`` is a path, where a file of NumPy's format is made, or an array of the same shape that is
    written by ``target[slices] = part``: Zarr's, HDF5's, NumPy's. The result may be larger than memory.
    After an interrupt or an error the written parts stay, and a note on the exception has their number. A
    file that is there already is replaced once all is written; until then the parts are in a file beside it.
    """
    if any(kind.__name__ == "MaskedArray" for kind in type(x).__mro__):
        raise TypeError("store: masked arrays have a mask beside their elements: store `x.filled(value)`")
    array = _gpupy.array(x, copy=None)
    if isinstance(target, (str, bytes, os.PathLike)):
        return _to_file(array, os.fsdecode(target))
    if not hasattr(target, "shape") or not hasattr(target, "__setitem__"):
        raise TypeError(
            f"store: {type(target).__name__} is neither a path nor an array to write `target[slices]` of"
        )
    if isinstance(target, (np.ndarray, ndarray)) and not array._external:
        # Parts that are written must not be read again: the elements are those of now.
        array = array.copy()
    shape = tuple(target.shape)
    if shape != array.shape:
        raise ValueError(f"store: the target has shape {shape}, the array {array.shape}")
    chunks = getattr(target, "chunks", None)

    def write(box: tuple[slice, ...], part: np.ndarray[Any, Any]) -> None:
        target[box if array.ndim else ()] = part

    _write_parts(array, chunks, write, str(getattr(target, "name", None) or type(target).__name__))
    return None


def _to_file(array: Any, path: str) -> None:
    if array.dtype.hasobject:
        raise TypeError(f"store: files of {array.dtype} hold pickles: use numpy.save")
    if os.path.exists(path) and not os.path.isfile(path):
        # A pipe, for example, stays whatever happens.
        return _write_file(array, path)
    if not os.path.exists(path):
        return _write_or_remove(array, path)
    # The file may be what the array reads, and an error must not cost what is in it.
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    handle, beside = tempfile.mkstemp(".part", f"{name}.", folder)
    os.close(handle)
    shutil.copymode(path, beside)
    _write_or_remove(array, beside)
    os.replace(beside, path)
    return None


def _write_or_remove(array: Any, path: str) -> None:
    """Writes a file; after an error without any part in it there is none."""
    try:
        _write_file(array, path)
    except BaseException:
        if os.path.isfile(path) and not os.path.getsize(path):
            os.remove(path)
        raise


def _write_file(array: Any, path: str) -> None:
    header = {
        "shape": array.shape,
        "fortran_order": False,
        "descr": _format.dtype_to_descr(array.dtype),
    }
    # Without buffers, so that what is written is written when it is said.
    with open(path, "wb", buffering=0) as file:
        head = io.BytesIO()
        _format.write_array_header_1_0(head, header)

        def write(box: tuple[slice, ...], part: np.ndarray[Any, Any]) -> None:
            if not file.tell():
                put(memoryview(head.getvalue()))
            # As bytes, since not every dtype has buffers.
            put(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)

        def put(rest: memoryview) -> None:
            while rest:
                at = file.tell()
                try:
                    count = file.write(rest)
                except OSError as error:
                    words = f"{error.strerror}, at byte {at}"
                    raise OSError(error.errno, words, path) from None
                rest = rest[count or 0 :]

        _write_parts(array, None, write, path)
        if not file.tell():
            put(memoryview(head.getvalue()))


def _write_parts(array: Any, chunks: Any, write: Any, name: str) -> None:
    shape, size, item = array.shape, array.size, array.dtype.itemsize
    unit = unit_of(shape, chunks, max(1, _PART // item))
    bar = progress.Bar(f"store {name}", size * item) if progress.is_shown() else None
    done = 0
    try:
        for first in range(0, size, unit) if shape else [0]:
            for box, count in boxes(shape, first, min(first + unit, size)) if shape else [((), 1)]:
                write(box, to_host(array[box]))
                done += count
                if bar is not None:
                    bar.to(done * item)
    except BaseException as error:
        error.add_note(f"store: {done} of {size} elements are written to `{name}`, in their order")
        raise
    finally:
        if bar is not None:
            bar.close()
