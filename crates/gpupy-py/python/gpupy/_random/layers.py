"""The layers of NumPy's ziggurats, read off the release in use.

Owns ``layers_of``. A Mersenne Twister's next words are tempered words of its state, so that a draw can be
given any words. One with the smallest bits gives the unit of its layer; whether a second word is taken
tells whether bits are below the layer's threshold, which is found by halving. Heights are the density at
the layers' edges: they decide one of a hundred numbers, and their last bit one of 10**17. Invariant: units
and thresholds are the release's. Not here: whether all numbers are (``host_draws.py``).
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_LAYERS = 256
# Halves of words in a Mersenne Twister's state.
_HALVES = 624
# From units, thresholds are known up to so much.
_NEAR = 16


@dataclass(frozen=True)
class _Ziggurat:
    """A ziggurat of NumPy's: the method that draws by it, and how a word is made of a layer and of bits."""

    method: str
    # Bits of a number, and how far the layer and they lie from a word's end.
    bits: int
    layer_at: int
    bits_at: int
    density: Callable[[Any], Any]

    def words(self, layer: Any, bits: Any) -> Any:
        layer, bits = np.asarray(layer, np.uint64), np.asarray(bits, np.uint64)
        return layer << np.uint64(self.layer_at) | bits << np.uint64(self.bits_at)

    def drawn(self, words: Any, count: int) -> Any:
        """The first numbers that are made of these words, at most half as many as a state has halves."""
        bits = np.random.MT19937()
        key = np.zeros(_HALVES, np.uint32)
        # The high half is the first one.
        key[: 2 * len(words)] = _untempered(words.astype(">u8").view(">u4").astype(np.uint32))
        bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 0}}
        return getattr(np.random.Generator(bits), self.method)(count)


_ZIGGURATS = {
    "normal": _Ziggurat("standard_normal", 52, 0, 9, lambda x: np.exp(-0.5 * x * x)),
    "exponential": _Ziggurat("standard_exponential", 53, 3, 11, lambda x: np.exp(-x)),
}


@functools.cache
def layers_of(name: str) -> list[bytes] | None:
    """The thresholds, units and heights of the layers, in bytes; ``None`` where they cannot be told.

    For numbers without layers these are none.
    """
    ziggurat = _ZIGGURATS.get(name)
    if ziggurat is None:
        return []
    units = _units(ziggurat)
    thresholds = _thresholds(ziggurat, units)
    if thresholds is None:
        return None
    heights = ziggurat.density(units * 2.0**ziggurat.bits)
    heights[0] = 1.0
    return [each.tobytes() for each in (thresholds.astype(np.uint64), units, heights)]


def _untempered(halves: Any) -> Any:
    """The words of a state of which the Mersenne Twister makes these (Matsumoto and Nishimura, 1998)."""
    y = halves ^ halves >> np.uint32(18)
    y ^= y << np.uint32(15) & np.uint32(0xEFC60000)
    z = y
    for _ in range(4):
        z = y ^ z << np.uint32(7) & np.uint32(0x9D2C5680)
    return z ^ z >> np.uint32(11) ^ z >> np.uint32(22)


def _units(ziggurat: _Ziggurat) -> Any:
    # Layer 1 takes another word whatever its bits are, and the number nevertheless, since that word is small.
    words = ziggurat.words(range(_LAYERS), 1)
    return ziggurat.drawn(np.insert(words, 2, 0), _LAYERS)


def _thresholds(ziggurat: _Ziggurat, units: Any) -> Any:
    """The least bits of each layer with which a second word is taken."""
    inner = np.roll(units, 1)
    inner[1] = 0.0
    guess = (inner / units * 2.0**ziggurat.bits).astype(np.int64)
    below, above = np.maximum(guess - _NEAR, -1), guess + _NEAR
    first, last = below.copy(), above.copy()
    while (above - below > 1).any():
        middle = np.maximum((below + above) // 2, 0)
        is_inside = _are_inside(ziggurat, units, middle)
        below, above = np.where(is_inside, middle, below), np.where(is_inside, above, middle)
    is_known = (above < last) & ((below > first) | (first < 0))
    return above if is_known.all() else None


def _are_inside(ziggurat: _Ziggurat, units: Any, bits: Any) -> Any:
    """Whether words with these bits are taken alone, by layer."""
    # A word behind is small: the number is accepted if that is taken with it; else it is a known number.
    # Beyond the last layer two are taken.
    other, known = ziggurat.words(2, 1), units[2]
    found = []
    for start in range(0, _LAYERS, 64):
        words = ziggurat.words(range(start, start + 64), bits[start : start + 64])
        rows = np.stack([words, *[np.full_like(words, other)] * 2], axis=-1)
        drawn = ziggurat.drawn(rows.ravel(), 3 * len(words)).tolist()
        at = 0
        for _ in words:
            # A word that is taken alone leaves two.
            end = at + 1
            while end < len(drawn) and drawn[end] == known:
                end += 1
            found.append(end - at == 3)
            at = end
    return np.array(found)
