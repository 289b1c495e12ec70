"""Arrays whose elements are read when they are computed with: of files, memory maps, Zarr's and HDF5's
arrays.

Owns ``open_memmap``, ``from_chunks`` and ``of_memmap``. Such an array is not to be written to; what is
computed from it is an array as any other, whose tiles read theirs. Not here: reading (the engine), results
that go to files (``storing.py``).
"""

import operator
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.lib import format as _format
from numpy.lib import stride_tricks

from .._gpupy import file_array, is_lazy, ndarray, read_array
from .._session.files import regular
from .boxes import boxes, unit_of

# The bytes that are read at once of what has chunks, at most.
_MOST = 16 << 20
# A smaller memory map is copied.
_LEAST = 1 << 20


def open_memmap(
    filename: "str | os.PathLike[str]",
    dtype: Any = None,
    shape: "int | Sequence[int] | None" = None,
    *,
    offset: int = 0,
    order: str = "C",
) -> ndarray:
    """An array of a file's elements, which are read when they are needed.

    A file in NumPy's format (``.npy``) describes itself. With ``dtype`` it is a file of plain elements, from
    ``offset`` on; without ``shape`` all of them. The file may be larger than memory. A file that changes
    meanwhile is an ``OSError``, because earlier and later reads would not match.
    """
    path = os.fsdecode(filename)
    if dtype is None:
        if shape is not None or offset or order != "C":
            raise TypeError(
                "open_memmap: shape, offset and order go with dtype; a file of NumPy's says its own"
            )
        with regular(path) as file:
            version = _format.read_magic(file)
            read = {(1, 0): _format.read_array_header_1_0, (2, 0): _format.read_array_header_2_0}
            if version not in read:
                # Only records with names beyond Latin 1 have it.
                raise TypeError(
                    f"open_memmap: `{path}` has version {version} of NumPy's format: use numpy.load"
                )
            extents, fortran, dtype = read[version](file)
            offset = file.tell()
        _check(np.dtype(dtype), "open_memmap", f"numpy.load(`{path}`, mmap_mode='r')")
        return _opened(path, offset, tuple(extents), np.dtype(dtype), fortran)
    dtype, offset = np.dtype(dtype), operator.index(offset)
    if order not in ("C", "F"):
        raise ValueError(f"open_memmap: order is 'C' or 'F', not {order!r}")
    _check(dtype, "open_memmap", f"numpy.memmap(`{path}`, …)")
    size = os.stat(path).st_size if shape is None else sys.maxsize
    if not 0 <= offset <= size:
        raise ValueError(f"open_memmap: offset {offset} is not within `{path}`")
    if shape is None:
        if (size - offset) % dtype.itemsize:
            raise ValueError(
                f"open_memmap: the {size - offset} bytes of `{path}` are no whole number of {dtype}"
            )
        shape = (size - offset) // dtype.itemsize
    return _opened(path, offset, _extents(shape), dtype, order == "F")


def _extents(shape: Any) -> tuple[int, ...]:
    """A shape as NumPy takes it: a number or several."""
    try:
        return (operator.index(shape),)
    except TypeError:
        return tuple(operator.index(extent) for extent in shape)


def _opened(path: str, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any], fortran: bool) -> ndarray:
    if fortran and len(shape) > 1:
        return file_array(path, offset, shape[::-1], dtype).T
    return file_array(path, offset, shape, dtype)


def _check(dtype: np.dtype[Any], name: str, instead: str) -> None:
    if not is_lazy(dtype):
        raise TypeError(f"{name}: drivers have no elements of dtype {dtype}; use {instead}")


def from_chunks(
    reader: Any,
    shape: "int | Sequence[int] | None" = None,
    dtype: Any = None,
    chunks: "int | Sequence[int] | None" = None,
) -> ndarray:
    """An array of the elements that a reader returns when they are needed.

    ``reader`` is an array of Zarr's or HDF5's, or anything else with ``shape``, ``dtype`` and
    ``reader[slices]``; or a function that is called with a tuple of slices, one for each axis, and returns
    the elements of that box. ``chunks`` are its preferred extents. It is called while an evaluation waits for
    it: it may not compute with gpupy's arrays, and has to return the same elements each time, of the box's
    shape and of a dtype that ``dtype`` takes without loss of kind (``casting="same_kind"``).
    """
    if shape is None:
        shape = reader.shape
    if dtype is None:
        dtype = reader.dtype
    if chunks is None:
        chunks = getattr(reader, "chunks", None)
    extents = _extents(shape)
    wanted = np.dtype(dtype)
    _check(wanted, "from_chunks", "numpy.asarray(reader)")
    if chunks is not None:
        chunks = tuple(max(1, chunk) for chunk in _extents(chunks))
        if len(chunks) != len(extents):
            raise ValueError(
                f"from_chunks: chunks {chunks} are not one extent for each axis of shape {extents}"
            )
    get: Callable[[Any], Any] = reader.__getitem__ if hasattr(reader, "__getitem__") else reader
    if not callable(get):
        raise TypeError(
            f"from_chunks: {type(reader).__name__} is no function, and has no elements to be asked for"
        )

    def read(first: int, stop: int) -> np.ndarray[Any, Any]:
        parts = []
        for box, _count in boxes(extents, first, stop) if extents else [((), 1)]:
            part = _part(get(box), box)
            if not np.can_cast(part.dtype, wanted, "same_kind"):
                raise TypeError(
                    f"the reader gave {part.dtype} for {_words(box)}, which {wanted} does not hold"
                )
            parts.append(np.ascontiguousarray(part, wanted).reshape(-1))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    name = str(getattr(reader, "name", None) or getattr(reader, "__name__", None) or type(reader).__name__)
    unit = unit_of(extents, chunks, max(1, _MOST // wanted.itemsize))
    return read_array(read, name, unit, extents, wanted)


def _part(given: Any, box: tuple[slice, ...]) -> np.ndarray[Any, Any]:
    """What a reader gave, which has to have the shape of the box and no masked elements."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise TypeError(f"the reader gave masked elements for {_words(box)}: fill them (`.filled(value)`)")
    part = np.asarray(given)
    shape = tuple(axis.stop - axis.start for axis in box)
    if part.shape != shape:
        raise ValueError(f"the reader gave {part.shape} for {_words(box)}, which has shape {shape}")
    return part


def _words(box: tuple[slice, ...]) -> str:
    return "[" + ", ".join(f"{part.start}:{part.stop}" for part in box) + "]"


def of_memmap(array: Any) -> ndarray | None:
    """An array of the elements that a memory map of NumPy's shows, read from its file; ``None`` where they
    have to be copied: it, or the map that it is a view of, may be written to, it is little, another file has
    its name by now, or it does not lie so that it can be said.
    """
    if array.flags.writeable or array.nbytes < _LEAST or not is_lazy(array.dtype):
        return None
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    path = getattr(root, "filename", None)
    if path is None or not isinstance(root, np.memmap) or root.mode != "r":
        return None
    if not _is_mapped(root.__array_interface__["data"][0], path):
        return None
    size, strides = array.itemsize, array.strides
    away = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    offset = root.offset + away
    if array.flags.c_contiguous:
        return file_array(os.fspath(path), offset, array.shape, array.dtype)
    if array.flags.f_contiguous:
        return file_array(os.fspath(path), offset, array.shape[::-1], array.dtype).T
    if any(stride < 0 or stride % size for stride in strides):
        return None
    last = sum((extent - 1) * stride for extent, stride in zip(array.shape, strides, strict=True))
    flat = file_array(os.fspath(path), offset, (last // size + 1,), array.dtype)
    return cast(ndarray, flat._views(stride_tricks.as_strided, array.shape, strides, False, False))


def _is_mapped(address: int, path: "str | os.PathLike[str]") -> bool:
    """Whether the file of this name is mapped at an address. False where it was replaced, or the system does
    not say.
    """
    try:
        node = os.stat(path).st_ino
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                place, _flags, _offset, _device, inode = line.split(maxsplit=5)[:5]
                first, _, end = place.partition("-")
                if int(first, 16) <= address < int(end, 16):
                    return int(inode) == node
    except (OSError, ValueError):
        pass
    return False
