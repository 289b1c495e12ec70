"""A program under construction, which runs on NumPy as it grows.

Owns ``Draft``, ``Line`` and ``Program``. Invariant: a program depends on nothing but the numbers that it
draws, so the same numbers are the same program. Not here: gpupy, of which a draft knows nothing.
"""

import math
import re
import warnings
from dataclasses import dataclass
from types import CodeType

import numpy as np

from . import templates
from .operands import GAPS

_NAME = re.compile(r"\bv\d+\b")
_GAP = re.compile(r"<(\w+)>")
# NumPy 2.4 itself crashes on these where the array's dtype has not got the integer.
_CRASHES = re.compile(
    r"np\.(?:not_equal|equal|less|less_equal|greater|greater_equal)\((?:.*, )?-?\d+, .*\bwhere="
)
# Which of two zeros is the greater one depends on how NumPy walks.
_EXTREMES = re.compile(r"np\.(?:fmin|fmax|minimum|maximum)\(")
_EXTREME = re.compile(r"\.(?:nan)?(?:min|max|ptp)\(")
# NumPy's loop over vectors of float16 has a NaN where the exponent is zero, its other loops a one.
_POWERS = re.compile(r"np\.power\(|\*\*")
# NumPy writes over what it still reads where a mask of all elements picks what a view of them is written to.
_PICKED = re.compile(r"(v\d+)\[(.+)\] = (v\d+)")
# NumPy looks at no mask where a view is written to what it shows. It tells that by strides, which are chance
# where there are no elements.
_MASKED = re.compile(r"np\.copyto\((v\d+), (?:np\.broadcast_to\()?(v\d+).*where=")
# NaN that was computed has any bits.
_BITS = re.compile(r"\.(?:tobytes|byteswap)\(")
# The operands for later steps.
_MOST_AXES = 6


@dataclass
class Line:
    """A statement, its result, and the precision of the result."""

    text: str
    code: CodeType
    # The variable that it makes, or None.
    made: str | None
    # An expression of the magnitudes that are summed; "ulp" for a function; "zeros" where all but the signs
    # of zeros counts; None where every bit does.
    scale: str | None = None


@dataclass
class Program:
    """Lines, and whether all arrays are compared after each of them or at the end alone."""

    lines: list[Line]
    eager: bool
    backwards: bool


class _Unsuitable(Exception):
    """No variable can stand in a gap."""


def _lines(text):
    return [line.strip() for line in text.strip().splitlines()]


_EXPRESSIONS = [_lines(text) for text in templates.EXPRESSIONS.values()]
_STATEMENTS = [_lines(text) for text in templates.STATEMENTS.values()]
_SUMS, _FUNCTIONS = _lines(templates.SUMS), _lines(templates.FUNCTIONS)
_EXPORTS, _FOREIGN = _lines(templates.EXPORTS), _lines(templates.FOREIGN)


class Draft:
    """Draws a program by ``below``, a function that gives a whole number below its argument.

    Its first arrays have at most ``most`` elements, and what is computed of them three times as many.
    """

    def __init__(self, below, most=30_000):
        self.below, self.most = below, most
        self.lines = []
        # Foreign code works with NumPy's arrays on both sides.
        self.space = {"np": np, "numpy": np}
        self.count = 0
        # The array that a gap was filled with last, of which the next gaps speak.
        self.last, self.last_name = None, None
        # The shapes of all that gaps of this line were filled with.
        self.shapes = []

    unsuitable = _Unsuitable()

    def choose(self, choices):
        return choices[self.below(len(choices))]

    def chance(self, of):
        """True once in so many times."""
        return self.below(of) == of - 1

    def names(self, allowed):
        """The variables that hold such arrays."""
        return [
            n
            for n, v in self.space.items()
            if n[0] == "v" and type(v) is np.ndarray and v.dtype.kind in "biufc" and allowed(v)
        ]

    def exports(self):
        """The variables that hold arrays of NumPy's own on both sides."""
        return [n for n, v in self.space.items() if n[0] == "e" and v is not None]

    def _fits(self, array):
        """Whether it and the line's other arrays, spread over each other, are not too large."""
        try:
            shape = np.broadcast_shapes(array.shape, *self.shapes)
        except ValueError:
            return True
        return math.prod(shape) <= 3 * self.most

    def array(self, allowed=lambda array: True):
        """The name of such an array; it is what the next gaps speak of."""
        names = self.names(lambda a: allowed(a) and self._fits(a))
        if not names:
            raise _Unsuitable
        # Most steps continue with the last result.
        name = names[-1 - self.below(len(names))]
        self.last, self.last_name = self.space[name], name
        self.shapes.append(self.last.shape)
        return name

    def program(self, most):
        """A program of at most so many steps after its first arrays."""
        for _ in range(1 + self.below(3)):
            self._add(self._first(), makes=True)
        eager, backwards = self.chance(2), self.chance(4)
        for _ in range(1 + self.below(most)):
            if not self._step():
                break
        return Program(self.lines, eager, backwards)

    def _first(self):
        kind = self.below(24)
        return "<sized>" if kind > 20 else "<literal>" if kind else "<counted>"

    def _step(self):
        """Adds a line; false where no more may follow."""
        kind = self.below(18)
        try:
            if kind < 8:
                return self._add(self.choose(self.choose(_EXPRESSIONS)), makes=True)
            if kind < 13:
                return self._add(self.choose(self.choose(_STATEMENTS)), makes=False)
            if kind < 14:
                return self._add(self._first(), makes=True)
            if kind > 16:
                return self._add(self.choose(_FOREIGN), makes=False)
            if kind > 15:
                return self._add(self.choose(_EXPORTS), makes=True, prefix="e")
            return self._add(self.choose(_SUMS if kind < 15 else _FUNCTIONS), makes=True, loose=kind)
        except _Unsuitable:
            return True

    def _add(self, template, makes, loose=None, prefix="v"):
        self.last = self.last_name = None
        self.shapes = []
        text = _GAP.sub(lambda gap: GAPS[gap[1]](self), template)
        if _CRASHES.search(text) or self._is_open(text):
            raise _Unsuitable
        scale = None
        if loose:
            # Which elements a mask picks does not go by their magnitudes.
            summed, where, mask = text.partition("where=")
            scale = "ulp" if loose > 14 else _NAME.sub(r"mag(\g<0>)", summed) + where + mask
        elif _EXTREME.search(text) and any(map(_has_both_zeros, self._floats(text))):
            if not makes:
                raise _Unsuitable
            scale = "zeros"
        made = f"{prefix}{self.count}" if makes else None
        statement = f"{made} = {text}" if makes else text
        line = Line(statement, compile(statement, "<program>", "exec"), made, scale)
        if not self._defined(line):
            # What a statement wrote before NumPy warned is no program's to go on with.
            return makes
        self.lines.append(line)
        self.count += makes
        value = self.space.get(made)
        if isinstance(value, (list, tuple)) and value and type(value[0]) is np.ndarray:
            return self._add(f"{made}[{self.below(len(value))}]", makes=True)
        return True

    def _floats(self, text, kinds="f"):
        arrays = [self.space.get(name) for name in _NAME.findall(text)]
        return [a for a in arrays if isinstance(a, np.ndarray) and a.dtype.kind in kinds]

    def _is_open(self, text):
        """Whether NumPy's result depends on which of its loops computes it, or on what it overwrites."""
        floats = self._floats(text)
        zeros = _EXTREMES.search(text) and any(np.signbit(a[a == 0]).any() for a in floats)
        powers = _POWERS.search(text) and any(a.dtype == "e" and np.isnan(a).any() for a in floats)
        bits = _BITS.search(text) and any(map(_has_computed_nan, self._floats(text, "fc")))
        return zeros or powers or bits or self._overwrites(text) or self._writes_nothing(text)

    def _overwrites(self, text):
        found = _PICKED.fullmatch(text)
        if not found:
            return False
        array, value = self.space[found[1]], self.space[found[3]]
        if not (isinstance(value, np.ndarray) and np.may_share_memory(array, value)):
            return False
        with np.errstate(all="ignore"):
            try:
                key = eval(f"np.s_[{found[2]}]", self.space)
            except Exception:
                # So NumPy refuses the statement.
                return False
        return isinstance(key, np.ndarray) and key.dtype == bool and key.shape == array.shape

    def _writes_nothing(self, text):
        found = _MASKED.match(text)
        if not found or self.space[found[1]].size:
            return False
        return _owner(self.space[found[1]]) is _owner(self.space[found[2]])

    def _defined(self, line):
        """Runs a line; false where NumPy does not define what it gives, or it is too large."""
        with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore", invalid="warn"):
            warnings.simplefilter("always")
            try:
                exec(line.code, self.space)
            except Exception as error:
                # NumPy's broadcasting stumbles over a view that may be written of an array that may not.
                return "WRITEABLE" not in str(error) or ".setflags(" in line.text
        value = self.space.get(line.made)
        large = type(value) is np.ndarray and (value.size > 3 * self.most or value.ndim > _MOST_AXES)
        if large or undefined(said):
            self.space.pop(line.made, None)
            return False
        return True


def _has_both_zeros(array):
    """Whether zeros of either sign are in it, of which either may be found the least."""
    signs = np.signbit(array[array == 0])
    return signs.any() and not signs.all()


def _has_computed_nan(array):
    """Whether some NaN in it is not ``np.nan`` to the bit."""
    for part in (array.real, array.imag) if array.dtype.kind == "c" else (array,):
        found = part[np.isnan(part)]
        if found.tobytes() != np.full_like(found, np.nan).tobytes():
            return True
    return False


def _owner(array):
    """The array whose memory it shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def undefined(said):
    """Whether warnings tell of a conversion whose result is the machine's."""
    return any("encountered in cast" in str(w.message) for w in said)
