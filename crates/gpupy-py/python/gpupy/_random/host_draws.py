"""Methods of generators whose numbers the host draws in bulk, straight into the memory of an array.

Owns ``drawn``, and ``METHODS``, which read a call. Ziggurats and Lemire's whole numbers reject words, so
that no number is known before those in front of it are. Numbers are there after the call, and the
generator's state is that of NumPy's. Invariant: where NumPy's release draws other numbers than these, a
trial finds it, and NumPy draws. Not here: the numbers (the crate `gpupy-random`), the layers of ziggurats
(``layers.py``), lazy draws (``draws.py``), which come first.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._gpupy import drawn as _drawn
from .._gpupy import is_lazy
from .arguments import NUMBERS, extents, interval
from .by_index import State
from .generators import bits_of_ours
from .layers import layers_of
from .products import WORD


@dataclass(frozen=True)
class HostDraw:
    """A call that the host draws."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    # The distribution, its parameters, or the first whole number and what more the last one is.
    kind: str
    parameters: tuple[float, ...] = ()
    interval: tuple[int, int] | None = None
    # A call of the same kind by which to compare with NumPy's.
    trial: tuple[tuple[str, Any], ...] = ()


_DOUBLE = np.dtype(np.float64)


def _standard_normal(size: Any = None, dtype: Any = np.float64, out: Any = None) -> HostDraw | None:
    shape = extents(size)
    if shape is None or out is not None or np.dtype(dtype) != _DOUBLE:
        return None
    return HostDraw(shape, _DOUBLE, "normal")


def _normal(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> HostDraw | None:
    shape = extents(size)
    if shape is None or not isinstance(loc, NUMBERS) or not _is_factor(scale):
        return None
    trial = (("loc", 0.3), ("scale", 1.7))
    return HostDraw(shape, _DOUBLE, "normal", (float(loc), float(scale)), trial=trial)


def _standard_exponential(
    size: Any = None, dtype: Any = np.float64, method: Any = "zig", out: Any = None
) -> HostDraw | None:
    shape = extents(size)
    if shape is None or out is not None or np.dtype(dtype) != _DOUBLE or method != "zig":
        return None
    return HostDraw(shape, _DOUBLE, "exponential")


def _exponential(scale: Any = 1.0, size: Any = None) -> HostDraw | None:
    shape = extents(size)
    if shape is None or not _is_factor(scale):
        return None
    return HostDraw(shape, _DOUBLE, "exponential", (float(scale),), trial=(("scale", 1.7),))


def _is_factor(scale: Any) -> bool:
    """Whether NumPy has no words about a factor; zeros may have a sign."""
    return isinstance(scale, NUMBERS) and (float(scale) > 0.0 or (scale == 0 and math.copysign(1, scale) > 0))


def _random(size: Any = None, dtype: Any = np.float64, out: Any = None) -> HostDraw | None:
    shape = extents(size)
    if shape is None or out is not None or np.dtype(dtype) != _DOUBLE:
        return None
    return HostDraw(shape, _DOUBLE, "uniform", (0.0, 1.0))


def _uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> HostDraw | None:
    shape = extents(size)
    if shape is None or not isinstance(low, NUMBERS) or not isinstance(high, NUMBERS):
        return None
    length = float(high) - float(low)
    if not (math.isfinite(length) and math.copysign(1.0, length) > 0):
        return None
    trial = (("low", -1.7), ("high", 2.3))
    return HostDraw(shape, _DOUBLE, "uniform", (float(low), length), trial=trial)


def _integers(
    low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: Any = False
) -> HostDraw | None:
    dtype, shape = np.dtype(dtype), extents(size)
    found = interval(low, high, dtype, endpoint)
    if shape is None or found is None:
        return None
    first, count = found
    least = int(np.iinfo(dtype).min)
    # Of large dtypes, small numbers are made of halves. A quarter of these trials' parts is rejected.
    bits = 32 if dtype.itemsize == 8 and count <= 1 << 32 else 8 * dtype.itemsize
    tried = count if count == 1 << bits else (3 << bits - 2) + 1
    trial = (("low", least), ("high", least + tried - 1), ("dtype", dtype), ("endpoint", True))
    given = first & ((1 << 8 * dtype.itemsize) - 1), count - 1
    return HostDraw(shape, dtype, "integers", (), given, trial)


METHODS: dict[str, Callable[..., HostDraw | None]] = {
    "exponential": _exponential,
    "integers": _integers,
    "normal": _normal,
    "random": _random,
    "standard_exponential": _standard_exponential,
    "standard_normal": _standard_normal,
    "uniform": _uniform,
}


def drawn(generator: Any, name: str, draw: HostDraw) -> Any:
    """The numbers of a call, or ``None`` where they are NumPy's."""
    bits = generator.bit_generator
    kind: Any = getattr(np.random, type(bits).__name__, None)
    if kind is None or type(bits) not in (kind, bits_of_ours(kind)) or kind.__name__ not in _WORDS:
        return None
    if not is_lazy(draw.dtype) or not _agrees(kind, name, draw):
        return None
    with bits.lock:
        made, after = _numbers(kind.state.__get__(bits), draw)
        kind.state.__set__(bits, after)
    return made


def _numbers(state: State, draw: HostDraw) -> tuple[Any, dict[str, Any]]:
    """The numbers of a call and the state after them."""
    name = state["bit_generator"]
    spare = bool(state["has_uint32"]), state["uinteger"]
    layers = layers_of(draw.kind) or []
    given = _WORDS[name][0](state)
    made, (words, is_left, half) = _drawn(
        name, (given, *spare), draw.kind, draw.parameters, draw.interval, layers, draw.shape, draw.dtype
    )
    after = {**state, **_WORDS[name][1](state, words), "has_uint32": int(is_left), "uinteger": half}
    return made, after


def _of_steps(state: State) -> list[int]:
    numbers = state["state"]["state"], state["state"]["inc"]
    return [number >> shift & WORD for number in numbers for shift in (64, 0)]


def _after_steps(state: State, words: list[int]) -> dict[str, Any]:
    return {"state": {"state": words[0] << 64 | words[1], "inc": state["state"]["inc"]}}


def _of_counter(state: State) -> list[int]:
    inner = state["state"]
    parts = (*inner["counter"], *inner["key"], *state["buffer"])
    return [*map(int, parts), int(state["buffer_pos"])]


def _after_counter(state: State, words: list[int]) -> dict[str, Any]:
    counter, buffer = (np.array(words[at : at + 4], np.uint64) for at in (0, 6))
    inner = {"counter": counter, "key": state["state"]["key"]}
    return {"state": inner, "buffer": buffer, "buffer_pos": words[10]}


def _of_four(state: State) -> list[int]:
    return [int(word) for word in state["state"]["state"]]


def _after_four(state: State, words: list[int]) -> dict[str, Any]:
    return {"state": {"state": np.array(words, np.uint64)}}


# By bit generator: the words of a state, and what of a state they are.
_WORDS: dict[str, tuple[Callable[[State], list[int]], Callable[[State, list[int]], dict[str, Any]]]] = {
    "PCG64": (_of_steps, _after_steps),
    "PCG64DXSM": (_of_steps, _after_steps),
    "Philox": (_of_counter, _after_counter),
    "SFC64": (_of_four, _after_four),
}

# By class, method and kind of call: whether NumPy's release draws the same numbers.
_agreeing: dict[Any, bool] = {}
# Numbers of a trial: some are beyond the last layer of a ziggurat.
_TRIED = 1 << 15


def _agrees(kind: type[Any], name: str, draw: HostDraw) -> bool:
    """Whether NumPy's release draws these numbers and leaves this state, which is tried once."""
    key = kind, name, draw.trial
    if key not in _agreeing:
        _agreeing[key] = layers_of(draw.kind) is not None and _tried(kind, name, dict(draw.trial))
    return _agreeing[key]


def _tried(kind: type[Any], name: str, call: dict[str, Any]) -> bool:
    draw = METHODS[name](**call, size=_TRIED)
    if draw is None:
        return False
    bits = kind(20240229)
    theirs = np.random.Generator(bits)
    theirs.random(3, dtype=np.float32)
    made, after = _numbers(bits.state, draw)
    want = getattr(theirs, name)(**call, size=_TRIED)
    return made.dtype == want.dtype and made.tobytes() == want.tobytes() and same_state(after, bits.state)


def same_state(ours: Any, theirs: Any) -> bool:
    """Whether two states of a bit generator are equal."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(
            same_state(ours[key], value) for key, value in theirs.items()
        )
    return bool(np.all(ours == theirs))
