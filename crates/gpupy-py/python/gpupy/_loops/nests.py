"""What is found in a text: loops, what they do, and why one stays in Python. Plain data.

Owns ``FoundLoop``, ``Facts``, ``NamedCall`` and ``Refusal``. Not here: how they are found
(``loop_finder.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .._kernel.source import Place
from .constructs import BY_NAME


class NamedCall(NamedTuple):
    """A call, by name: a guard can compare at entry what the name is with what it stands for."""

    # As it is written: `np.sqrt`, `.sum`.
    text: str
    # `numpy.sqrt`, `builtins.len`; of a method `.sum`; of the module's own function its name alone.
    stands_for: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """The construct that keeps a loop in Python."""

    # The row's name in the table of constructs, and what it speaks of.
    construct: str
    about: str
    place: Place
    # The module's own functions through which it is called, outer ones first.
    through: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The construct in words, without its line."""
        words = BY_NAME[self.construct].words.format(f"`{self.about}`")
        if self.through:
            words = f"{words}, in {' called by '.join(f'`{name}`' for name in reversed(self.through))}"
        return words


@dataclass(frozen=True, slots=True)
class Facts:
    """What the statements of a loop do, those of loops in it included."""

    # Names whose values are read, and names that are bound.
    reads: frozenset[str]
    writes: frozenset[str]
    calls: frozenset[NamedCall]
    # How many statements of each class of nodes there are, without those of functions that are called.
    statements: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class FoundLoop:
    """A loop of a text."""

    # From `for` to the end of its last statement.
    place: Place
    # The reason for which it stays in Python.
    refusal: Refusal | None
    # What it does, if it qualifies and the loop around it does not.
    facts: Facts | None
    inner: tuple[FoundLoop, ...]

    @property
    def qualifies(self) -> bool:
        """Whether all its statements may be compiled, by their text."""
        return self.refusal is None

    def all_loops(self) -> Iterator[FoundLoop]:
        """The loop and those in it."""
        yield self
        for loop in self.inner:
            yield from loop.all_loops()

    def nests(self) -> Iterator[FoundLoop]:
        """The outermost loops that qualify: itself, or those in it."""
        if self.qualifies:
            yield self
            return
        for loop in self.inner:
            yield from loop.nests()
