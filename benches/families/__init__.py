"""Families of plain NumPy programs, each with one extent that varies: what `benches/families.py` draws from.

Owns `Family`, `FAMILIES` and `family`, by which a function joins them. A program gets the array module, its
extent k (a row's length, a window, a number of channels, of axes, of steps), its arrays, and one of each of
its choices by name. It is written as a person would who does not know gpupy, and gives an array or several.
Its arrays are made by NumPy beforehand, by a function of the data (`data.py`) and k. Not here: clocks and
verdicts (`benches/families.py`).
"""

from dataclasses import dataclass
from typing import Any

# The dtypes that a family draws from, unless it has others.
FLOATS = ("float32", "float64")


@dataclass(frozen=True)
class Family:
    """A program, what makes its arrays, the extents between which k is drawn, and what else is drawn."""

    run: Any
    given: Any
    least: int
    most: int
    choices: dict[str, tuple[Any, ...]]

    @property
    def name(self):
        """The function's name, in words."""
        return self.run.__name__.replace("_", " ")

    @property
    def file(self):
        """The name of the module that has it."""
        return self.run.__module__.rpartition(".")[2]


FAMILIES = {}


def family(given, k, **choices):
    """Makes a family of a function. `given` gets the data and k, `k` has its bounds; `dtype` is a choice of
    the data, every other one of the program's."""

    def known(run):
        made = Family(run, given, *k, {"dtype": FLOATS, **choices})
        if made.name in FAMILIES:
            raise ValueError(f"two families have the name `{made.name}`")
        FAMILIES[made.name] = made
        return run

    return known
