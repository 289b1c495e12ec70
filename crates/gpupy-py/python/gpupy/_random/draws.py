"""Methods of generators whose numbers drivers compute by their index: ``random``, ``uniform``, ``integers``.

Owns ``method_of`` and ``Draw``, a call's numbers as a function of words. A draw is recorded, takes no memory
until its values are needed, and moves the generator's state at the call, as NumPy's does. ``integers`` is
recorded where the number of values is a power of two, so that no word is rejected. Invariant: where NumPy's
release draws other numbers than these, a trial finds it, and NumPy draws. Not here: words (``by_index.py``),
numbers that the host draws at the call (``host_draws.py``), draws of few numbers and all other methods, which
are NumPy's.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import gpupy

from .._fallback import policy
from .._fallback.through_numpy import through_numpy
from .._gpupy import is_lazy, ndarray
from .._gpupy import jit as _own
from .._numpys import sooner
from . import host_draws
from .arguments import NUMBERS, extents, interval
from .by_index import ROWS, Row, State
from .generators import bits_of_ours
from .host_draws import same_state


@dataclass(frozen=True)
class Draw:
    """A call that drivers compute."""

    shape: tuple[int, ...]
    # The dtype of what a number is made of: a word, or its halves, quarters or bytes.
    unit: np.dtype[Any]
    number: Callable[[Any], Any]
    # A call of the same kind by which to compare with NumPy's, and where its numbers go.
    trial: tuple[tuple[str, Any], ...]
    out: Any = None


def _random(size: Any = None, dtype: Any = np.float64, out: Any = None) -> Draw | None:
    dtype = np.dtype(dtype)
    if out is not None:
        fits = type(out) is ndarray and out._lazy and out.dtype == dtype and out._c_contiguous
        if not fits or not out.flags.writeable or (size is not None and extents(size) != out.shape):
            return None
    shape = extents(size) if out is None else out.shape
    if shape is None or dtype not in _FLOATS:
        return None
    return Draw(shape, *_FLOATS[dtype], (("dtype", dtype),), out)


def _double(words: Any) -> Any:
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _single(halves: Any) -> Any:
    return (halves >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)


# By dtype: the unit and the number between 0 and 1 that is made of one.
_FLOATS: dict[Any, tuple[np.dtype[Any], Callable[[Any], Any]]] = {
    np.dtype(np.float64): (np.dtype(np.uint64), _double),
    np.dtype(np.float32): (np.dtype(np.uint32), _single),
}


def _uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Draw | None:
    if isinstance(low, ndarray) or isinstance(high, ndarray):
        return _between_arrays(low, high, size)
    shape = extents(size)
    if not isinstance(low, NUMBERS) or not isinstance(high, NUMBERS) or shape is None:
        return None
    first, length = np.float64(low), np.float64(float(high) - float(low))
    if not (np.isfinite(length) and length >= 0):
        # NumPy has the words.
        return None
    return _of_uniform(shape, first, length)


def _of_uniform(shape: tuple[int, ...], low: Any, length: Any) -> Draw:
    trial = (("low", -1.7), ("high", 2.3))
    return Draw(shape, np.dtype(np.uint64), lambda words: low + length * _double(words), trial)


def _between_arrays(low: Any, high: Any, size: Any) -> Draw | None:
    ends = [low, high]
    for end in ends:
        is_ours = type(end) is ndarray and end._lazy and end.dtype.kind in "biuf"
        if not is_ours and not isinstance(end, NUMBERS):
            return None
    low, high = (e.astype(np.float64) if isinstance(e, ndarray) else np.float64(e) for e in ends)
    length = high - low
    shape = (length.shape or None) if size is None else extents(size)
    try:
        if shape is None or np.broadcast_shapes(shape, length.shape) != shape:
            return None
    except ValueError:
        return None
    if not bool((np.isfinite(length) & (length >= 0)).all()):
        return None
    # Words lie in the order of elements.
    draw = _of_uniform(shape, 0.0, 1.0)
    return Draw(shape, draw.unit, lambda words: low + length * _double(words.reshape(shape)), draw.trial)


def _integers(
    low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: Any = False
) -> Draw | None:
    dtype, shape = np.dtype(dtype), extents(size)
    found = interval(low, high, dtype, endpoint)
    if shape is None or found is None:
        return None
    first, count = found
    if count & (count - 1):
        return None
    power = count.bit_length() - 1
    # Of large dtypes, small numbers are made of halves.
    unit = np.dtype(f"u{4 if dtype.itemsize == 8 and power <= 32 else dtype.itemsize}")
    unsigned, shift = np.dtype(f"u{dtype.itemsize}"), unit.type(8 * unit.itemsize - power)
    offset = unsigned.type(first % (1 << 8 * dtype.itemsize))

    def number(units: Any) -> Any:
        return ((units >> shift).astype(unsigned) + offset).astype(dtype)

    least = int(np.iinfo(dtype).min)
    trial = (("low", least), ("high", least + count), ("dtype", dtype))
    return Draw(shape, unit, number, trial)


_METHODS: dict[str, Callable[..., Draw | None]] = {
    "integers": _integers,
    "random": _random,
    "uniform": _uniform,
}


# Where a call has its size.
_SIZES = {
    **dict.fromkeys(("integers", "normal", "uniform"), 2),
    **dict.fromkeys(("random", "standard_exponential", "standard_normal"), 0),
    "exponential": 1,
}


def method_of(generator: Any, name: str, theirs: Any) -> Callable[..., Any] | None:
    """The method of a generator that draws by drivers or in bulk where this is sooner, or else NumPy's."""
    if name not in _SIZES or not isinstance(generator, np.random.Generator):
        return None
    if getattr(type(generator), name) is not getattr(np.random.Generator, name):
        # A program's own.
        return None
    numpys = through_numpy(name, theirs)
    at = _SIZES[name]

    def method(*args: Any, **kwargs: Any) -> Any:
        if policy.is_allowed():
            # Most calls are small, and go on at once.
            size = args[at] if len(args) > at else kwargs.get("size")
            is_small = size <= _FEW if type(size) is int else size is None and not args and not kwargs
            if is_small:
                return numpys(*args, **kwargs)
        made = _drawn(generator, name, args, kwargs)
        return numpys(*args, **kwargs) if made is None else made

    return method


def _drawn(generator: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The numbers of a call, or ``None`` where they are NumPy's."""
    at = _SIZES[name]
    size = args[at] if len(args) > at else kwargs.get("size")
    if (size is None and name not in _OF_ARRAYS) or not (args or kwargs):
        return None
    if _own.is_recording():
        # It is for what records to say what becomes of it.
        return None
    try:
        for way in (_by_index, _by_host):
            made = way(generator, name, args, kwargs)
            if made is not None:
                return made
    except (TypeError, ValueError, OverflowError):
        # NumPy has the words.
        pass
    return None


# Methods whose arguments may be arrays, or have the results' extents.
_OF_ARRAYS = frozenset(("random", "uniform"))
# The numbers of a small call, which are NumPy's by any method.
_FEW = min(sooner.FEW[name] for name in _SIZES)


def _by_host(generator: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Numbers that the host draws in bulk."""
    draw = host_draws.METHODS[name](*args, **kwargs)
    if draw is None:
        return None
    count = math.prod(draw.shape)
    if not 0 < count <= _MOST or sooner.is_numpys(name, _Size(count)):
        return None
    return host_draws.drawn(generator, name, draw)


def _by_index(generator: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Numbers that drivers compute by their index."""
    read = _METHODS.get(name)
    draw = None if read is None else read(*args, **kwargs)
    if draw is None or not is_lazy(draw.unit):
        return None
    count = math.prod(draw.shape)
    if not 0 < count <= _MOST or sooner.is_numpys(name, _Size(count)):
        return None
    bits = generator.bit_generator
    row = ROWS.get(type(bits).__name__)
    kind: Any = getattr(np.random, type(bits).__name__, None)
    if row is None or type(bits) not in (kind, bits_of_ours(kind)) or not agrees(kind, row, name, draw):
        return None
    with bits.lock:
        # As NumPy has it.
        found = units(row, kind.state.__get__(bits), count, draw.unit, gpupy)
        if found is None:
            return None
        made = draw.number(found[0])
        kind.state.__set__(bits, found[1])
    made = made.reshape(draw.shape)
    if draw.out is None:
        return made
    draw.out[...] = made
    return draw.out


# Numbers that no memory holds are NumPy's to refuse, before states for them take memory.
_MOST = 1 << 33


class _Size:
    """What stands for an array where only its size is asked for."""

    __slots__ = ("size",)

    def __init__(self, size: int) -> None:
        self.size = size


def units(
    row: Row, state: State, count: int, unit: np.dtype[Any], xp: ModuleType
) -> tuple[Any, dict[str, Any]] | None:
    """The next units of a generator, and the state after them; ``None`` where its words are not told."""
    if unit.itemsize == 8:
        found = row.words(state, count, xp)
        return None if found is None else (found, row.after(state, count)[0])
    # NumPy keeps the half that is left of a word, and nothing of a half.
    in_half = 4 // unit.itemsize
    wanted = -(-count // in_half)
    spare = 1 if state["has_uint32"] else 0
    words = -(-(wanted - spare) // 2)
    parts, after = [], {**state, "has_uint32": 0}
    if spare:
        parts.append(xp.full(1, state["uinteger"], np.uint32))
    if words:
        found = row.halves(state, words, xp)
        if found is None:
            return None
        parts.append(found[: wanted - spare])
        after, last = row.after(state, words)
        after.update(has_uint32=2 * words - (wanted - spare), uinteger=last >> 32)
    halves = parts[0] if len(parts) == 1 else xp.concatenate(parts)
    return (halves if in_half == 1 else halves.view(unit)[:count]), after


# By class, method and kind of call: whether NumPy's release draws the same numbers.
_agreeing: dict[Any, bool] = {}
# Numbers of a trial: of several rows of a table, after a half that is left.
_TRIED = 2500


def agrees(kind: type[Any], row: Row, name: str, draw: Draw) -> bool:
    """Whether NumPy's release draws the numbers of the table and leaves its state, which is tried once."""
    key = kind, name, draw.trial
    if key not in _agreeing:
        _agreeing[key] = _agrees(kind, row, name, dict(draw.trial))
    return _agreeing[key]


def _agrees(kind: type[Any], row: Row, name: str, call: dict[str, Any]) -> bool:
    draw = _METHODS[name](**call, size=_TRIED)
    if draw is None:
        return False
    bits = kind(20240229)
    theirs = np.random.Generator(bits)
    theirs.random(3, dtype=np.float32)
    found = units(row, bits.state, _TRIED, draw.unit, np)
    if found is None:
        return False
    with np.errstate(all="ignore"):
        numbers = draw.number(found[0])
    want = getattr(theirs, name)(**call, size=_TRIED)
    return bool(numbers.dtype == want.dtype and (numbers == want).all()) and same_state(found[1], bits.state)
