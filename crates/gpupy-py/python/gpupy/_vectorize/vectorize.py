"""``np.vectorize``, compiled where the results are NumPy's.

Owns ``vectorize``. NumPy calls the function for each element, with Python's numbers; the dtypes of the
results are those of the first element's, for which it is called with NumPy's scalars. Here the function is
compiled (``python.py``) for arrays of many elements, called for the first one as NumPy does, and the results
are cast as NumPy casts Python's numbers. Whatever is not known to be the same is NumPy's, all of it, and a
fallback: functions that are no kernels, other arguments, few elements, and calls of which a point raises an
error, so that the error is Python's own.

Not here: the supported code (``_kernel/flow.py``, ``python.py``).
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

import gpupy

from .._fallback import policy
from .._gpupy import is_lazy
from .._kernel.kernel import Kernel, Variant, of_programs
from .._kernel.kinds import Fixed, Kind, computed, key
from .._kernel.source import KernelError
from .._session import written_code
from .python import PythonExpressions, is_flag, is_real, is_whole

# Fewer elements are left to NumPy: a call of a compiled function takes as long as some hundreds of them.
_FEW = 512
# A function is compiled after so many elements, which take NumPy as long.
_WORTH = 1 << 14
# Calls that NumPy does, at most, after one of which points were not known.
_MOST_REST = 64
# Kinds of arguments for which it is kept why a function is no kernel for them.
_MOST_REFUSED = 64


class _Refused(Exception):
    """A call that is NumPy's, and why."""


class PythonKernel(Kernel):
    """A function of Python's numbers."""

    expressions = PythonExpressions

    @staticmethod
    def inlined(called: Any) -> FunctionType | None:
        """The Python function that stands in the place of its calls: a kernel's numbers are NumPy's."""
        return of_programs(called)

    def traced(self, kinds: tuple[Kind, ...]) -> Any:
        """The function is not tried: it may have side effects."""
        raise KernelError(f"the source of `{self.__name__}` is not to be had")


class _Tried:
    """The history of a function: for how many elements it was called, and whether it was compiled."""

    def __init__(self, function: FunctionType) -> None:
        written_code.as_written(function)
        self.kernel, self.code = PythonKernel(function, None, 10**7), function.__code__
        self.elements = 0
        # Why it is no kernel for arguments of certain kinds, which are kept alive as their keys name them.
        self.refused: dict[Any, tuple[str, list[Kind]]] = {}
        # Calls that are left to NumPy, and how many these were the last time.
        self.left = self.rest = 0

    def check_worth(self, size: int) -> None:
        """Raises ``_Refused`` for so many elements, if NumPy does them as fast."""
        self.elements += size
        if size < _FEW or self.elements < _WORTH:
            raise _Refused("there are few elements")
        if self.left:
            self.left -= 1
            raise _Refused("points of earlier calls had errors")

    def variant(self, kinds: list[Kind], values: list[Any]) -> Variant:
        """The function for arguments of these kinds; raises ``_Refused`` where it is no kernel."""
        of = tuple(map(key, kinds))
        try:
            if of in self.refused:
                raise _Refused(self.refused[of][0])
            return self.kernel.variant(kinds, values)
        except KernelError as error:
            if len(self.refused) < _MOST_REFUSED:
                self.refused[of] = str(error), kinds
            raise _Refused(str(error)) from None
        except TypeError as error:
            # For example, an excluded argument has no hash.
            raise _Refused(str(error)) from None

    def fail(self, words: str) -> NoReturn:
        """Leaves this call to NumPy, and the next ones, twice as many as the last time."""
        self.left = self.rest = min(2 * self.rest + 1, _MOST_REST)
        raise _Refused(words)


class vectorize(np.vectorize):
    __doc__ = np.vectorize.__doc__
    __module__ = "gpupy"  # type: ignore[assignment]
    pyfunc: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function at each element of its arguments."""
        if self.pyfunc is np._NoValue:
            return super().__call__(*args, **kwargs)
        try:
            return self._compiled(args, kwargs)
        except _Refused as refused:
            why = str(refused)
        return policy.call_because(why, "vectorize", super().__call__, args, kwargs)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_tried"}

    def _compiled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tried = self._known()
        size = _size([*args, *kwargs.values()])
        if size == 0:
            raise _Refused("there are no elements")
        if policy.is_allowed():
            tried.check_worth(size)
        function = tried.kernel.__wrapped__
        given = self._arguments(function, args, kwargs)
        values, kinds = [], []
        for is_excluded, value in given:
            taken, kind = (value, _excluded(value)) if is_excluded else _taken(value)
            values.append(taken)
            kinds.append(kind)
        if np.geterr()["under"] != "ignore":
            # Operations are computed at their lines, so that none can be compiled.
            raise _Refused("what is too small is told")
        variant = tried.variant(kinds, values)
        results = _results(tried, variant, values)
        chars = self._dtypes(function, given, len(results))
        cast = [_cast(*both) for both in zip(results, chars, strict=True)]
        if any(bad is not None and bad.any() for _, bad in cast):
            tried.fail("a result does not fit its dtype")
        tried.rest = 0
        arrays = tuple(array for array, _ in cast)
        return arrays if len(arrays) != 1 else arrays[0]

    def _known(self) -> _Tried:
        """The compiled variant of the function; raises ``_Refused`` where nothing can be compiled."""
        if self.signature is not None:
            raise _Refused("elements with a signature are arrays")
        function, tried = self.pyfunc, self.__dict__.get("_tried")
        if tried is None or tried.kernel.__wrapped__ is not function or tried.code is not function.__code__:
            if of_programs(function) is None or type(self) is not vectorize:
                raise _Refused("only Python's functions are compiled")
            tried = self._tried = _Tried(function)
        return tried

    def _arguments(
        self, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> list[tuple[bool, Any]]:
        """The arguments of a function in their order, and whether they are given as they are."""
        code = function.__code__
        count = code.co_argcount
        names = code.co_varnames[: count + code.co_kwonlyargcount]
        defaults = function.__defaults__ or ()
        rest = dict(zip(names[count - len(defaults) : count], defaults, strict=True))
        rest |= function.__kwdefaults__ or {}
        given = {
            name: (at in self.excluded, value)
            for at, (name, value) in enumerate(zip(names, args, strict=False))
        }
        given |= {name: (name in self.excluded, value) for name, value in kwargs.items() if name not in given}
        is_bound = len(args) <= count and len(given) == len(args) + len(kwargs) and given.keys() <= set(names)
        if not is_bound or any(name in names[: code.co_posonlyargcount] for name in kwargs):
            raise _Refused("the arguments are not those of the function")
        if any(name not in given and name not in rest for name in names):
            raise _Refused("an argument is not given")
        return [given.get(name) or (True, rest[name]) for name in names]

    def _dtypes(self, function: FunctionType, given: list[tuple[bool, Any]], count: int) -> list[str]:
        """The dtypes of so many results: those that were asked for, or of the first element's."""
        chars: list[str]
        if self.otypes is None:
            firsts = [value if is_excluded else _first(value) for is_excluded, value in given]
            code = function.__code__
            named = dict(zip(code.co_varnames[code.co_argcount :], firsts[code.co_argcount :], strict=False))
            found = function(*firsts[: code.co_argcount], **named)
            chars = [np.asarray(one).dtype.char for one in (found if isinstance(found, tuple) else (found,))]
        else:
            chars = [np.dtype(one).char for one in self.otypes]
        if len(chars) != count or any(char not in "?bhilqBHILQefd" for char in chars):
            raise _Refused(f"results of `{''.join(chars)}` are NumPy's own")
        return chars


def _size(given: list[Any]) -> int:
    """How many elements the arguments have, as far as they are arrays."""
    shapes = [value.shape for value in given if isinstance(value, (gpupy.ndarray, np.ndarray))]
    try:
        return math.prod(np.broadcast_shapes(*shapes))
    except ValueError as error:
        raise _Refused(str(error)) from None


def _results(tried: _Tried, variant: Variant, values: list[Any]) -> list[tuple[Any, Kind]]:
    """The results, and their kinds; raises ``_Refused`` where a point is not known."""
    used = [value for value, kind in zip(values, variant.kinds, strict=True) if not isinstance(kind, Fixed)]
    found = variant.compiled.result
    kinds = list(found) if isinstance(found, tuple) else [found]
    if not all(is_whole(kind) or is_real(kind) or is_flag(kind) for kind in kinds):
        raise _Refused("what the function gives are no numbers of Python's")
    if not any(isinstance(value, gpupy.ndarray) for value in used):
        raise _Refused("no argument is an array")
    try:
        arrays, error = tried.kernel.results(variant, used)
        is_known = error is None or not error.any()
    except RuntimeError as refused:
        # Loops that have not ended, or that no driver has.
        raise _Refused(str(refused)) from None
    if not is_known:
        tried.fail("Python raises an error, or NumPy a warning, for some point")
    return list(zip(arrays, kinds, strict=True))


def _first(value: Any) -> Any:
    """The first element, as NumPy's scalar."""
    if isinstance(value, gpupy.ndarray):
        value = value[(slice(1),) * value.ndim]
    return np.asarray(value).flat[0]


def _excluded(value: Any) -> Kind:
    """The kind of an excluded argument."""
    if isinstance(value, (gpupy.ndarray, np.ndarray)):
        raise _Refused("an array that is excluded is read as a whole")
    return Fixed(value)


def _taken(value: Any) -> tuple[Any, Kind]:
    """An argument as it is computed, and the kind of Python's numbers that are its elements."""
    if type(value) in (bool, int):
        return (np.bool_(value), bool) if type(value) is bool else (value, int)
    # Of lists and NumPy's scalars, a function gets the items as they are.
    if type(value) not in (gpupy.ndarray, np.ndarray, float):
        raise _Refused(f"a {type(value).__name__} is NumPy's own")
    array = gpupy.asarray(value)
    if not is_lazy(array.dtype) or array.dtype.kind not in "bfiu" or array.dtype == np.uint64:
        raise _Refused(f"elements of {array.dtype} are NumPy's own")
    kind = {"b": bool, "f": float}.get(array.dtype.kind, int)
    return computed(array, kind), kind


def _cast(result: tuple[Any, Kind], char: str) -> tuple[Any, Any]:
    """A result as NumPy makes it of Python's numbers, and where it is another; None where it is none."""
    (array, kind), dtype = result, np.dtype(char)
    if dtype == array.dtype:
        return array, None
    if dtype.kind == "b":
        return array != 0, None
    if dtype.kind in "iu":
        bad = None
        if is_real(kind):
            bad = gpupy.logical_not(gpupy.absolute(array) < 2.0**53)
            array = gpupy.trunc(array).astype(np.int64)
        if array.dtype == np.int64 and dtype != np.int64:
            limits = np.iinfo(dtype)
            outside = array < max(limits.min, -(2**63))
            if limits.max < 2**63 - 1:
                outside = outside | (array > limits.max)
            bad = outside if bad is None else bad | outside
        return array.astype(dtype), bad
    array = array.astype(np.float64)
    if dtype == array.dtype:
        return array, None
    size = gpupy.absolute(array)
    # NumPy warns of numbers that are rounded to infinity.
    return array.astype(dtype), (size > float(np.finfo(dtype).max)) & gpupy.isfinite(array)
