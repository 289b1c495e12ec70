"""The functions and methods that a loop may call which is to be compiled.

Owns ``is_known``, ``is_iterator``, ``METHODS``, and the tables of what is compiled by now, by its full
name (``COMPILED``) and the compiler's. Functions of numbers are those that kernels know; there
are functions of slices and draws besides. Names are full ones: ``numpy.sqrt``, ``builtins.len``. Not here:
what a name in a text stands for (``bindings.py``).
"""

from __future__ import annotations

import builtins
import functools
import math
import types
from typing import Any

import numpy as np

from .._kernel import source as kernels
from .._kernel.functions import known, of_math
from .._kernel.written import WRITTEN
from .._scalars.uses import REDUCTIONS

# What imports of the lists' functions name first.
LIBRARIES = ("builtins", *kernels.LIBRARIES)
_MODULES: dict[str, types.ModuleType] = {
    "builtins": builtins,
    "math": math,
    "numpy": np,
    "numpy.linalg": np.linalg,
    "numpy.random": np.random,
}

# What stands in the head of a `for`, and nowhere else.
_ITERATORS = frozenset(
    ["builtins.enumerate", "builtins.range", "builtins.reversed", "builtins.zip", "numpy.ndindex"]
)
_CREATION = frozenset("arange copy empty empty_like full full_like ones ones_like zeros zeros_like".split())
DRAWS = frozenset(
    "exponential integers normal rand randint randn random random_sample standard_exponential"
    " standard_normal uniform".split()
)
# Those of NumPy's that are no ufuncs.
_OF_ARRAYS = {"numpy": (REDUCTIONS - {"norm"}) | _CREATION, "numpy.linalg": {"norm"}, "numpy.random": DRAWS}
_NUMBERS = {one for one in np.sctypeDict.values() if issubclass(one, np.number | np.bool_)} - {np.timedelta64}
# Methods of arrays and numbers, and of generators.
METHODS = DRAWS | frozenset(
    "all any argmax argmin astype conj conjugate copy dot fill item max mean min prod std sum trace"
    " var".split()
)

# Functions that are compiled, by the compiler's names for them.
COMPILED: dict[str, Any] = {
    "builtins.abs": "Abs",
    "builtins.bool": "Bool",
    "builtins.float": "Float",
    "builtins.int": "Int",
    "builtins.max": "Max",
    "builtins.min": "Min",
    "math.ceil": "MathCeil",
    "math.floor": "MathFloor",
    "numpy.abs": "NumpyAbs",
    "numpy.absolute": "NumpyAbs",
    "numpy.float32": "NumpyFloat32",
    "numpy.float64": "NumpyFloat64",
    "numpy.int64": "NumpyInt64",
    "numpy.maximum": "NumpyMaximum",
    "numpy.minimum": "NumpyMinimum",
    "numpy.sqrt": "NumpySqrt",
}
COMPILED.update(
    (f"math.{name}", {"Math1": name.capitalize()})
    for name in "acos asin atan cos cosh exp expm1 fabs log log10 log1p log2 sin sinh sqrt tan tanh".split()
)
COMPILED.update(
    (f"math.{name}", {"Math2": name.capitalize()}) for name in ("atan2", "copysign", "fmod", "pow")
)
# Functions and methods that make a number of rows.
OF_ROWS = frozenset("all any argmax argmin dot max mean min sum".split())
# How many arguments functions take; others take one.
MANY = {"Max": (2, 99), "Min": (2, 99), "NumpyMaximum": (2, 2), "NumpyMinimum": (2, 2)}
# Numbers that modules have.
CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "tau": math.tau}


def is_iterator(name: str) -> bool:
    """Whether it is what a `for` goes over."""
    return name in _ITERATORS


@functools.cache
def is_known(name: str) -> bool:
    """Whether a function of Python's, of ``math`` or of NumPy's is on the lists."""
    module, _, last = name.rpartition(".")
    # Without NumPy's advice for names of old.
    found = vars(_MODULES[module]).get(last) if module in _MODULES else None
    if found is None:
        return False
    if last in _OF_ARRAYS.get(module, ()):
        return True
    if isinstance(found, np.ufunc):
        return found.nout == 1
    if isinstance(found, type) and issubclass(found, np.generic):
        return found in _NUMBERS
    is_written = isinstance(found, types.BuiltinFunctionType) and found in WRITTEN
    return is_written or known(found) is not None or of_math(found) is not None


def names() -> dict[str, list[str]]:
    """The names on the lists, by their module; NumPy's ufuncs and types are on none."""
    return {
        module: sorted(
            name
            for name, value in vars(found).items()
            if is_known(f"{module}.{name}") and not (module == "numpy" and isinstance(value, np.ufunc | type))
        )
        for module, found in _MODULES.items()
    }
