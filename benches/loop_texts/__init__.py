"""Loops in plain NumPy, as people write them: the texts that `benches/loops.py` times.

Owns `TEXTS` and `text`, by which a loop joins it. A loop gets the array module, its arrays, the number of
steps and `see`, which it calls after each step with the step's number and the array that a person would
look at. It returns the array, or the arrays, that it is run for. What it begins with is made by NumPy
beforehand, from the side n of a square. Not here: the loops (`grids`, `cells`, `matrices`, `rows`), and
clocks (`benches/loop_run.py`).
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Text:
    """A loop, what makes its arrays of a size, and whether all its operations are exact."""

    run: Any
    begin: Any
    is_exact: bool

    @property
    def name(self):
        """The function's name, in words."""
        return self.run.__name__.replace("_", " ")


TEXTS = {}


def text(*begin, is_exact=True):
    """Makes a loop of a function. `begin` has a function of n for each of its arrays; where sums, products of
    matrices or functions that round differently take part, it is not exact."""

    def known(run):
        made = Text(run, begin, is_exact)
        TEXTS[made.name] = made
        return run

    return known
