"""Bit generators whose words of 64 bits are computed by their index: Philox, PCG64, PCG64DXSM.

Owns ``ROWS``, the table. A row has the words after a state as an expression, and the state after them, which
is the one that NumPy's own draws leave. Invariant: words and states are NumPy's. Not here: numbers
made of words, and whether NumPy's release has the same ones (``draws.py``).

PCG's state is the sequence x → a·x + c modulo 2**128. After i steps it is x + G(i)·t, where
t = (a − 1)·x + c, and G(i) = 1 + a + … + a**(i − 1) is the same for every seed. NumPy computes the
states after each thousand of steps, in microseconds; those between them are x + G(i)·t with a table of G.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from .products import WHOLE, WORD, Pair, pair, product, split, total, wide

# NumPy's dictionary of a bit generator's state.
State: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A bit generator whose words are computed by their index."""

    # The words that follow a state, by gpupy or by NumPy; ``None`` where its counter does not tell them.
    words: Callable[[State, int, ModuleType], Any]
    # The halves of these, the low one first.
    halves: Callable[[State, int, ModuleType], Any]
    # The state after at least one word, and the last word.
    after: Callable[[State, int], tuple[dict[str, Any], int]]


# Columns of a table of words: so many steps of a PCG follow one of its states.
_COLUMNS = 1024


def _jump(factor: int, count: int) -> tuple[int, int]:
    """A factor to the power of a count, and the sum of the powers below."""
    power, series, square, sums = 1, 0, factor, 1
    for bit in range(count.bit_length()):
        if count >> bit & 1:
            series, power = (series + power * sums) & WHOLE, power * square & WHOLE
        sums, square = sums * (1 + square) & WHOLE, square * square & WHOLE
    return power, series


def _series(factor: int, step: int, count: int) -> Pair:
    """The sums of the powers of a factor below 0, ``step``, twice ``step``, …, by NumPy."""
    high, low = np.zeros((2, 1), np.uint64)
    while len(low) < count:
        power, series = _jump(factor, step * len(low))
        more = total(product((high, low), pair(power)), pair(series))
        high, low = np.concatenate([high, more[0]]), np.concatenate([low, more[1]])
    return high[:count], low[:count]


@functools.cache
def _columns(factor: int, times: int, xp: ModuleType) -> tuple[Any, ...]:
    """The sums of the powers below each column, and the halves of their low parts, each so many times."""
    high, low = _series(factor, 1, _COLUMNS)
    # Drivers keep them: what is made of few numbers in memory is made there again, and uploaded.
    return tuple(xp.asarray(np.repeat(each, times)) for each in (high, low, *split(low)))


@functools.cache
def _shifts(xp: ModuleType) -> Any:
    """By column, how far its half of a word lies from the end."""
    return xp.asarray(np.tile(np.array([0, 32], np.uint64), _COLUMNS))


def _of_pcg(factor: int, steps_first: bool, output: Callable[[Any, Any], Any]) -> Row:
    """A PCG with a multiplier; ``steps_first`` says that a word is of the state after its step."""

    def rows_of(state: State, count: int, times: int, xp: ModuleType, of: Callable[[Any], Any]) -> Any:
        """So many words, each so many times, as rows of which ``of`` makes the result."""
        x, c = state["state"]["state"], state["state"]["inc"]
        if steps_first:
            x = (x * factor + c) & WHOLE
        slope = ((factor - 1) * x + c) & WHOLE
        rows = _series(factor, _COLUMNS, -(-count // _COLUMNS))
        first = total(product(rows, pair(slope)), pair(x))
        slopes = total(product(first, pair(factor - 1)), pair(c))
        table = _columns(factor, times, xp)

        def made(start: int, end: int) -> Any:
            given = [xp.asarray(each[start:end, np.newaxis]) for each in (*first, *slopes)]
            found = total(product(table[:2], (given[2], given[3]), table[2:]), (given[0], given[1]))
            return of(output(*found)).reshape(-1)

        # A part of the last row alone: of a part of all, each element's row and column would be divided out.
        whole, rest = divmod(count, _COLUMNS)
        parts = [made(0, whole)] if whole else []
        if rest:
            parts.append(made(whole, whole + 1)[: times * rest])
        return parts[0] if len(parts) == 1 else xp.concatenate(parts)

    def words(state: State, count: int, xp: ModuleType) -> Any:
        return rows_of(state, count, 1, xp, lambda found: found)

    def halves(state: State, count: int, xp: ModuleType) -> Any:
        # A word is computed twice, which takes less than to store it.
        return rows_of(state, count, 2, xp, lambda found: (found >> _shifts(xp)).astype(np.uint32))

    def after(state: State, count: int) -> tuple[dict[str, Any], int]:
        c = state["state"]["inc"]

        def moved(steps: int) -> int:
            power, series = _jump(factor, steps)
            return (power * state["state"]["state"] + series * c) & WHOLE

        x = moved(count)
        of_last = x if steps_first else moved(count - 1)
        high, low = (np.array([each]) for each in pair(of_last))
        return {**state, "state": {"state": x, "inc": c}}, int(output(high, low)[0])

    return Row(words, halves, after)


def _xsl_rr(high: Any, low: Any) -> Any:
    """PCG64's word of a state: its halves combined, and turned by its first bits."""
    word, turn = high ^ low, high >> np.uint64(58)
    return (word >> turn) | (word << ((np.uint64(64) - turn) & np.uint64(63)))


_CHEAP = 0xDA942042E4DD58B5


def _dxsm(high: Any, low: Any) -> Any:
    """PCG64DXSM's word of a state."""
    word = (high ^ (high >> np.uint64(32))) * np.uint64(_CHEAP)
    return (word ^ (word >> np.uint64(48))) * (low | np.uint64(1))


# Philox 4×64 of ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
_ROUNDS, _LANES = 10, 4
_FACTORS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_KEY_STEPS = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)


def _mixed(counter: list[Any], key: list[int]) -> list[Any]:
    """The four words of each counter, whose parts are arrays."""
    a, b, c, d = counter
    for turn in range(_ROUNDS):
        keys = [np.uint64(k + turn * step & WORD) for k, step in zip(key, _KEY_STEPS, strict=True)]
        (high_a, low_a), (high_c, low_c) = wide(a, np.uint64(_FACTORS[0])), wide(c, np.uint64(_FACTORS[1]))
        a, b, c, d = high_c ^ b ^ keys[0], low_c, high_a ^ d ^ keys[1], low_a
    return [a, b, c, d]


def _counter(number: int) -> list[int]:
    return [number >> 64 * part & WORD for part in range(_LANES)]


def _block(number: int, key: list[int]) -> list[int]:
    """The four words of one counter."""
    return [int(each[0]) for each in _mixed([np.array([part], np.uint64) for part in _counter(number)], key)]


def _philox_at(state: State) -> tuple[int, list[int], int] | None:
    """The counter of the first block of which words are left, the key, and how many are used.

    ``None`` where a program has set other words than the counter's.
    """
    number = sum(int(part) << 64 * n for n, part in enumerate(state["state"]["counter"]))
    key = [int(part) for part in state["state"]["key"]]
    used = state["buffer_pos"]
    if used >= _LANES:
        return (number + 1) % (1 << 256), key, 0
    if _block(number, key) != [int(word) for word in state["buffer"]]:
        return None
    return number, key, used


def _philox_lanes(state: State, count: int, xp: ModuleType) -> tuple[list[Any], int] | None:
    """The four words of each block, and how many words of the first one are used."""
    found = _philox_at(state)
    if found is None:
        return None
    number, key, used = found
    blocks = -(-(used + count) // _LANES)
    parts = _counter(number)
    if parts[0] + blocks > WORD:
        # The other parts would change on the way.
        return None
    first = xp.arange(blocks, dtype=np.uint64) + np.uint64(parts[0])
    return _mixed([first, *(xp.full(blocks, part, np.uint64) for part in parts[1:])], key), used


def _philox_words(state: State, count: int, xp: ModuleType) -> Any:
    found = _philox_lanes(state, count, xp)
    if found is None:
        return None
    lanes, used = found
    return xp.stack(lanes, axis=-1).reshape(-1)[used : used + count]


def _philox_halves(state: State, count: int, xp: ModuleType) -> Any:
    found = _philox_lanes(state, count, xp)
    if found is None:
        return None
    lanes, used = found
    halves = [half.astype(np.uint32) for word in lanes for half in (word, word >> np.uint64(32))]
    return xp.stack(halves, axis=-1).reshape(-1)[2 * used : 2 * (used + count)]


def _philox_after(state: State, count: int) -> tuple[dict[str, Any], int]:
    found = _philox_at(state)
    assert found is not None, "words were told"
    number, key, used = found
    turns, last = divmod(used + count - 1, _LANES)
    number = (number + turns) % (1 << 256)
    buffer = _block(number, key)
    counter = {"counter": np.array(_counter(number), np.uint64), "key": state["state"]["key"]}
    held = {"buffer": np.array(buffer, np.uint64), "buffer_pos": last + 1}
    return {**state, "state": counter, **held}, buffer[last]


# By the name that a state has.
ROWS = {
    "PCG64": _of_pcg(0x2360ED051FC65DA44385DF649FCCF645, True, _xsl_rr),
    "PCG64DXSM": _of_pcg(_CHEAP, False, _dxsm),
    "Philox": Row(_philox_words, _philox_halves, _philox_after),
}
