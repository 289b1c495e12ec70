"""Arrays whose elements are read when they are computed with: of files, memory maps, Zarr's and HDF5's
arrays.

Owns ``open_memmap``, ``from_chunks`` and ``of_memmap``. Such an array is not to be written to; what is
computed from it is an array as any other, whose tiles read theirs. Not here: reading (the engine), results
that go to files (``storing.py``).
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.lib import format as _format
from numpy.lib import stride_tricks

from .._gpupy import file_array, is_lazy, ndarray, read_array
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
    path = os.fspath(filename)
    if dtype is None:
        if shape is not None or offset or order != "C":
            raise TypeError(
                "open_memmap: shape, offset and order go with dtype; a file of NumPy's says its own"
            )
        with open(path, "rb") as file:
            version = _format.read_magic(file)
            read = {(1, 0): _format.read_array_header_1_0, (2, 0): _format.read_array_header_2_0}
            if version not in read:
                # Only records with names beyond Latin 1 have it.
                raise TypeError(
                    f"open_memmap: `{path}` has version {version} of NumPy's format: use numpy.load"
                )
            extents, fortran, dtype = read[version](file)
            offset = file.tell()
        return _opened(path, offset, tuple(extents), np.dtype(dtype), fortran)
    dtype = np.dtype(dtype)
    if shape is None:
        shape = (os.stat(path).st_size - offset) // dtype.itemsize
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if order not in ("C", "F"):
        raise ValueError(f"open_memmap: order is 'C' or 'F', not {order!r}")
    return _opened(path, offset, extents, dtype, order == "F")


def _opened(path: str, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any], fortran: bool) -> ndarray:
    _check(dtype, "open_memmap", f"numpy.load(`{path}`, mmap_mode='r')")
    if fortran and len(shape) > 1:
        return file_array(path, offset, shape[::-1], dtype).T
    return file_array(path, offset, shape, dtype)


def _check(dtype: np.dtype[Any], name: str, instead: str) -> None:
    if not is_lazy(dtype):
        raise TypeError(f"{name}: drivers have no elements of dtype {dtype}; use {instead}")


def from_chunks(
    reader: Any,
    shape: "Sequence[int] | None" = None,
    dtype: Any = None,
    chunks: "Sequence[int] | None" = None,
) -> ndarray:
    """An array of the elements that a reader returns when they are needed.

    ``reader`` is an array of Zarr's or HDF5's, or anything else with ``shape``, ``dtype`` and
    ``reader[slices]``; or a function that is called with a tuple of slices, one for each axis, and returns
    the elements of that box. ``chunks`` are its preferred extents. It is called while an evaluation waits for
    it: it may not compute with gpupy's arrays, and has to return the same elements each time.
    """
    if shape is None:
        shape = reader.shape
    if dtype is None:
        dtype = reader.dtype
    if chunks is None:
        chunks = getattr(reader, "chunks", None)
    extents = tuple(int(extent) for extent in shape)
    wanted = np.dtype(dtype)
    _check(wanted, "from_chunks", "numpy.asarray(reader)")
    if chunks is not None:
        chunks = tuple(max(1, int(chunk)) for chunk in chunks)
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
        for box, count in boxes(extents, first, stop):
            part = np.asarray(get(box))
            if part.size != count:
                raise ValueError(f"the reader gave {part.shape} for {_words(box)}")
            parts.append(np.ascontiguousarray(part, wanted).reshape(-1))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    name = str(getattr(reader, "name", None) or getattr(reader, "__name__", None) or type(reader).__name__)
    unit = unit_of(extents, chunks, max(1, _MOST // wanted.itemsize))
    return read_array(read, name, unit, extents, wanted)


def _words(box: tuple[slice, ...]) -> str:
    return "[" + ", ".join(f"{part.start}:{part.stop}" for part in box) + "]"


def of_memmap(array: Any) -> ndarray | None:
    """An array of the elements that a memory map of NumPy's shows, read from its file; ``None`` where they
    have to be copied: it may be written to, or is little, or does not lie so that it can be said.
    """
    if array.flags.writeable or array.nbytes < _LEAST or not is_lazy(array.dtype):
        return None
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    path = getattr(root, "filename", None)
    if path is None or not isinstance(root, np.memmap) or not os.path.isfile(path):
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
