"""Recorded functions in files: ``f.save(path)`` writes one, ``gpupy.load(path)`` reads it.

Owns ``Loaded``. The engine defines the file and checks all of it (``crates/gpupy-engine/src/saved``). Not
here: recording, and variants (``gpupy._gpupy.jit``).
"""

from __future__ import annotations

import ast
import math
import os
import tempfile
import warnings
from typing import Any

import numpy as np

import gpupy

from .._gpupy import eager
from .._gpupy import jit as _own
from .._session.files import regular

# The classes of an open number.
_NUMBERS = {"float": float} | {
    name: getattr(np, name)
    for name in "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
}
# Constants whose text is a literal of Python.
_LITERALS = (type(None), bool, int, str, bytes)


class FileError(ValueError):
    """An error in the file of a recorded function."""


def told(value: Any) -> tuple[str, str] | None:
    """A constant's kind and text, by which a file knows it; nothing for other objects."""
    kind = type(value)
    if kind in _LITERALS:
        return (kind.__name__, repr(value))
    if kind is slice and all(part is None or type(part) is int for part in _parts(value)):
        return ("slice", repr(_parts(value)))
    if kind is float and not math.isnan(value):
        return ("float", repr(value))
    if kind in (float, complex):
        # To the bit, NaNs too.
        return (kind.__name__ + " bits", np.array(value).tobytes().hex())
    if kind is range:
        return ("range", repr(_parts(value)))
    if isinstance(value, np.generic) and _is_plain(value.dtype):
        is_told = value.dtype.kind != "c" and not np.isnan(value)
        text = repr(value.item()) if is_told else value.tobytes().hex()
        return ("number" if is_told else "number bits", f"{value.dtype.name} {text}")
    if isinstance(value, np.dtype) and _is_plain(value):
        return ("dtype", value.str)
    if isinstance(value, type) and issubclass(value, np.generic) and not _is_abstract(value):
        return ("type", np.dtype(value).str)
    return None


def _is_abstract(kind: type) -> bool:
    """Whether a class is one of several dtypes, or of one that a file does not have."""
    try:
        return np.dtype(kind).type is not kind or not _is_plain(np.dtype(kind))
    except TypeError:
        return True


def _parts(value: slice | range) -> tuple[Any, Any, Any]:
    return (value.start, value.stop, value.step)


def known(kind: str, text: str) -> Any:
    """The constant of a kind and a text; ``("class", name)`` is the class of a number."""
    try:
        return _known(kind, text)
    except (ArithmeticError, ValueError, TypeError, SyntaxError, KeyError, MemoryError, RecursionError):
        raise ValueError(f"the file has a constant that cannot be read: {kind[:20]} {text[:40]!r}") from None


def _known(kind: str, text: str) -> Any:
    match kind:
        case "class":
            return _NUMBERS[text]
        case "float":
            return float(text)
        case "float bits":
            return np.frombuffer(bytes.fromhex(text), np.float64)[0].item()
        case "complex bits":
            return np.frombuffer(bytes.fromhex(text), np.complex128)[0].item()
        case "slice":
            return slice(*_integers(text))
        case "range":
            return range(*_integers(text))
        case "number":
            dtype, data = text.split()
            value = float(data) if data in ("inf", "-inf") else ast.literal_eval(data)
            if type(value) not in (int, float, bool):
                raise ValueError(data)
            return _plain(dtype).type(value)
        case "number bits":
            dtype, data = text.split()
            (value,) = np.frombuffer(bytes.fromhex(data), _plain(dtype))
            return value
        case "dtype":
            return _plain(text)
        case "type":
            return _plain(text).type
    value = ast.literal_eval(text)
    if type(value) not in _LITERALS or type(value).__name__ != kind:
        raise ValueError(kind)
    return value


def _integers(text: str) -> Any:
    parts = ast.literal_eval(text)
    if not isinstance(parts, tuple) or any(part is not None and type(part) is not int for part in parts):
        raise ValueError(text)
    return parts


def _plain(name: str) -> np.dtype[Any]:
    dtype = np.dtype(name)
    if not _is_plain(dtype):
        raise ValueError(name)
    return dtype


def _is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether its numbers are the same on every machine."""
    return dtype.kind in "biufc" and dtype.char not in "gG"


def save(jit: Any, name: str, path: Any, is_open: bool) -> None:
    """Writes a function's traces to a file, which is whole or is not there."""
    try:
        data, _, opened, why = jit._saved(name, is_open, told)
    except ValueError as error:
        raise gpupy.JitError(f"`{name}` cannot be saved: {error}") from None
    if is_open and not opened:
        raise gpupy.JitError(f"`{name}` cannot be saved with open extents: {why}")
    if is_open and why is not None:
        warnings.warn(f"`{name}`: some recordings are for their own extents alone: {why}", stacklevel=3)
    path = os.fsdecode(path)
    folder, file = os.path.split(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{file}.", dir=folder or ".")
    try:
        with os.fdopen(handle, "wb") as target:
            target.write(data)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


class Loaded(_own.Jit):
    """A recorded function of a file: ``gpupy.load`` makes it.

    It is called like the function, with arguments like the recorded ones (``takes()``). NumPy's arrays are
    copied, and so are arrays with another memory layout; arrays that the function writes have to be gpupy's,
    with the recorded layout. Other arguments raise ``TypeError``."""

    def __new__(cls, data: bytes, path: str) -> Loaded:
        return super().__new__(cls, _absent)

    def __init__(self, data: bytes, path: str) -> None:
        try:
            self._file = _own.File(data, known)
        except ValueError as error:
            raise FileError(f"{path}: {error}") from None
        self.__name__ = self.__qualname__ = self._file.name
        self._path = path

    def takes(self) -> list[str]:
        """The arguments for which it was recorded, in words."""
        return list(dict.fromkeys(self._file.takes()))

    def explain(self) -> str:
        """The traces of the calls so far, as text: segments and their kernels."""
        return self._explain() or "nothing was called\n"

    def stats(self) -> dict[str, Any]:
        """The number of calls, and of combinations of arguments."""
        return self._stats()

    def __repr__(self) -> str:
        return f"<function '{self.__name__}' of {self._path}>"

    def __reduce__(self) -> Any:
        return (load, (self._path,))

    def _record(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        if eager():
            raise TypeError(
                f"{self!r} does not handle errors of arithmetic at their line: call it outside of np.errstate"
            )
        copied: dict[int, Any] = {}
        args, kwargs = _replaced(args, copied), _replaced(kwargs or {}, copied)
        theirs = {id(copy) for copy in copied.values()}
        why, look = "", -1
        while (fit := self._file.fit(look + 1, args, kwargs)) is not None:
            look, extents, objects, moved, written = fit
            if any(number in moved or id(objects[number]) in theirs for number in written):
                raise TypeError(
                    f"{self!r} writes an argument: give it an array of gpupy's that shares its memory with no"
                    " other, in the order in which it was recorded"
                )
            for number in moved:
                copied[id(objects[number])] = gpupy.array(objects[number], order="C")
            args, kwargs = _replaced(args, copied), _replaced(kwargs, copied)
            done, result = self._replayed(args, kwargs)
            if not done:
                self._file.admit(self, look, extents)
                done, result = self._replayed(args, kwargs)
            if done:
                return result
            why = result
        if why:
            raise TypeError(f"{self!r} was not recorded for such a call: {why}")
        raise TypeError(
            f"{self!r} was recorded for {' or '.join(self.takes())}, not for {_words(args, kwargs)}"
        )


def _absent(*_args: Any, **_kwargs: Any) -> Any:
    raise TypeError(
        "a function of a file has no source that could run, so gpupy.jit cannot record it inside another"
    )


def _replaced(value: Any, copied: dict[int, Any]) -> Any:
    """Arguments with arrays of ours in the place of NumPy's, and with copies that are known by the originals'
    identities."""
    if id(value) in copied:
        return copied[id(value)]
    kind = type(value)
    if kind in (tuple, list):
        return kind(_replaced(item, copied) for item in value)
    if kind is dict:
        return {key: _replaced(item, copied) for key, item in value.items()}
    if kind is np.ndarray:
        return copied.setdefault(id(value), gpupy.array(value))
    return value


def _words(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    return f"({', '.join([*map(_one, args), *(f'{name}={_one(value)}' for name, value in kwargs.items())])})"


def _one(value: Any) -> str:
    if isinstance(value, gpupy.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if type(value) in (tuple, list):
        return f"{type(value).__name__} of {', '.join(map(_one, value))}"
    return type(value).__name__ if told(value) is None else repr(value)


def load(path: Any) -> Loaded:
    """The recorded function in a file."""
    with regular(path) as file:
        return Loaded(file.read(), os.path.abspath(os.fsdecode(path)))
