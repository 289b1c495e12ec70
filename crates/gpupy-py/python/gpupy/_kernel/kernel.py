"""``gpupy.kernel``: a Python function of numbers becomes one for arrays.

Owns ``Kernel``: which variants of a function were compiled, and its calls. A variant is for arguments of
certain kinds: dtypes, Python's own kinds of numbers, and the ints that were given, as long as they are few.

Not here: how a variant is compiled (``segments.py``).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, overload

import numpy as np

import gpupy

from .._classes import subclass
from .._gpupy import Function, is_lazy
from .._session import locks
from .expressions import Expressions
from .flow import Flow
from .kinds import Fixed, Kind, key, leaves, unknown
from .segments import Compiled, compiled
from .source import OF_CALLERS, Guard, KernelError, Source, read, show
from .written import NUMPYS, WRITTEN

_COMPILING = locks.over_forks()
# Variants in which an int that was given is a constant.
_KNOWN_INTS = 16
# The turns of the first launch of a loop whose end is not known, and of the longest.
_FIRST_TURNS, _MOST_TURNS = 64, 4096


class Kernel:
    """A function of numbers that is called with arrays: `gpupy.kernel` makes it.

    A call broadcasts its arguments and returns an array for each number that the function returns, with the
    dtypes that the function would return for NumPy's scalars; it is recorded like a ufunc's, and fuses. Where
    the length of its loops is not known in advance, the call computes eagerly.
    """

    __name__: str
    __qualname__: str
    # The rules of its numbers.
    expressions: type[Expressions] = Expressions

    def __init__(self, function: Callable[..., Any], identity: Any, most_turns: int) -> None:
        if not isinstance(function, FunctionType):
            raise KernelError(f"a kernel is made of a Python function, not of {type(function).__name__}")
        functools.update_wrapper(self, function)
        self.__wrapped__: FunctionType = function
        self.identity = identity
        self.most_turns = most_turns
        self._signature = inspect.signature(function)
        parameters = self._signature.parameters.values()
        self._has_named = any(one.kind is one.KEYWORD_ONLY for one in parameters)
        self._variants: dict[Any, Variant] = {}

    @property
    def nin(self) -> int:
        """How many arguments it takes."""
        return len(self._signature.parameters)

    def __repr__(self) -> str:
        return f"<kernel '{self.__name__}'>"

    def __reduce__(self) -> str:
        # As functions are: by where they stand.
        return self.__qualname__

    def __call__(
        self, *args: Any, out: Any = None, where: Any = True, dtype: Any = None, **named: Any
    ) -> Any:
        """The function at each point of its arguments.

        ``out``: an array, or a tuple of them, that takes the results; ``where``: the points at which it
        does; ``dtype``: the dtype in which numbers are computed, and of all results. Raises ``KernelError``
        for code that a kernel cannot have, ``ValueError`` for shapes that do not broadcast,
        ``RuntimeError`` where a loop takes more than ``most_turns`` turns.
        """
        try:
            return self._called(args, named, out, where, dtype)
        except OF_CALLERS as error:
            show(error)
            raise

    def _called(self, args: tuple[Any, ...], named: dict[str, Any], out: Any, where: Any, dtype: Any) -> Any:
        if named or len(args) != self.nin or self._has_named:
            try:
                bound = self._signature.bind(*args, **named)
            except TypeError as error:
                raise TypeError(f"{self.__name__}(): {error}") from None
            bound.apply_defaults()
            args = tuple(bound.arguments.values())
        given, kinds = [], []
        for value in args:
            taken, kind = _taken(value)
            if dtype is not None:
                taken, kind = _as_dtype(taken, np.dtype(dtype))
            given.append(taken)
            kinds.append(kind)
        variant = self.variant(kinds, given)
        used = [
            value for value, kind in zip(given, variant.kinds, strict=True) if not isinstance(kind, Fixed)
        ]
        results, _ = self.results(variant, used)
        if not any(isinstance(value, gpupy.ndarray) for value in given):
            results = [result[()] for result in results]
        if dtype is not None:
            results = [result.astype(dtype) for result in results]
        if out is not None or where is not True:
            results = _written(results, out, where)
        if out is None and subclass.any_instance(args):
            results = [
                subclass.wrapped_by(args, result, True, (self, args, at)) for at, result in enumerate(results)
            ]
        return _shaped(variant.compiled.result, iter(results))

    def reduce(self, array: Any, axis: int | None = 0) -> Any:
        """The elements along an axis, or all of them (None), combined pair by pair; the function has to be
        associative.

        Neighbours are combined, then neighbours of the results, so that their order stays. Raises
        ``ValueError`` for no elements, unless there is an identity.
        """
        try:
            return self._reduced(self._pairwise(array, axis))
        except OF_CALLERS as error:
            show(error)
            raise

    def accumulate(self, array: Any, axis: int = 0) -> Any:
        """The running results along an axis; the function has to be associative."""
        try:
            return gpupy.moveaxis(self._accumulated(self._pairwise(array, axis)), 0, axis)
        except OF_CALLERS as error:
            show(error)
            raise

    def _reduced(self, array: Any) -> Any:
        if len(array) == 0:
            return self._nothing(array)
        while len(array) > 1:
            pairs = len(array) // 2
            both = self._combined(array[: 2 * pairs : 2], array[1 : 2 * pairs : 2])
            rest = array[2 * pairs :]
            array = gpupy.concatenate([both, rest.astype(both.dtype)]) if len(rest) else both
        return array[0]

    def _accumulated(self, array: Any) -> Any:
        step = 1
        while step < len(array):
            later = self._combined(array[:-step], array[step:])
            array = gpupy.concatenate([array[:step].astype(later.dtype), later])
            step *= 2
        return array

    def _combined(self, left: Any, right: Any) -> Any:
        both = self(left, right)
        if isinstance(both, tuple):
            raise ValueError(f"`{self.__name__}` gives several numbers: only one can be combined again")
        return both

    def _pairwise(self, array: Any, axis: int | None) -> Any:
        if self.nin != 2:
            raise ValueError(f"`{self.__name__}` takes {self.nin} arguments: only two can be reduced")
        array = gpupy.asarray(array)
        return array.ravel() if axis is None else gpupy.moveaxis(array, axis, 0)

    def _nothing(self, array: Any) -> Any:
        if self.identity is None:
            raise ValueError(f"`{self.__name__}` has no identity, and there is nothing to reduce")
        return gpupy.full(array.shape[1:], self.identity, array.dtype)[()]

    @staticmethod
    def inlined(called: Any) -> FunctionType | None:
        """The Python function that stands in the place of its calls."""
        if isinstance(called, Kernel):
            return called.__wrapped__
        ufunc = getattr(np, called.__name__) if isinstance(called, gpupy.ufunc) else called
        return _kept(ufunc, NUMPYS) or of_programs(called)

    def traced(self, kinds: tuple[Kind, ...]) -> Compiled:
        """A function without source, compiled from its operations on placeholder arguments."""
        values, given = [], []
        for kind in kinds:
            value, own = unknown(kind)
            values.append(own[0] if own else value)
            given += own
        try:
            results = self.__wrapped__(*values)
            whole = results if isinstance(results, tuple) else (results,)
            whole = tuple(one if isinstance(one, gpupy.ndarray) else np.asarray(one)[()] for one in whole)
            function = Function.recorded(given, list(whole))
        except Exception as error:
            raise KernelError(
                f"`{self.__name__}` has no source, and cannot be compiled by what it does: {error}"
            ) from error
        dtypes = tuple(result.dtype for result in whole)
        return Compiled(function, 0, dtypes if isinstance(results, tuple) else dtypes[0])

    def results(self, variant: Variant, given: list[Any]) -> tuple[list[Any], Any]:
        """The numbers of a call, and where they are not known; None where they are all known."""
        own = variant.compiled
        places = range(own.first, own.first + len(leaves(own.result)))
        wanted = [*places] if own.error is None else [*places, own.error]
        if own.go_on is None:
            found = own.function.call(given, wanted)
            return found[: len(places)], None if own.error is None else found[-1]
        everything = list(range(own.state))
        state = own.function.call(given, everything)
        turns, total = _FIRST_TURNS, 0
        while (state[-1] != 0).any():
            if total >= self.most_turns:
                raise RuntimeError(
                    f"kernel `{self.__name__}` has not ended after {total} turns of its loops;"
                    " `gpupy.kernel(most_turns=...)` sets how many there may be"
                )
            turns = min(turns, self.most_turns - total)
            state = variant.going_on(turns).call([*given, *state], everything)
            gpupy.evaluate(*state)
            if own.error is not None and state[own.error].any():
                break
            total += turns
            turns = min(2 * turns, _MOST_TURNS)
        return [state[place] for place in places], None if own.error is None else state[own.error]

    def variant(self, kinds: list[Kind], given: list[Any]) -> Variant:
        """The function for arguments of these kinds; ints are constants of it, as long as they are few."""
        fixed = tuple(
            Fixed(value) if kind is int and type(value) is int else kind
            for kind, value in zip(kinds, given, strict=True)
        )
        found = self._found(fixed, kinds)
        if found is not None:
            return found
        # The search for sources is not thread-safe.
        with _COMPILING:
            found = self._found(fixed, kinds)
            if found is None:
                taken, found = self._made(fixed, tuple(kinds))
                self._variants[key(taken)] = found
        return found

    def _found(self, fixed: tuple[Kind, ...], kinds: list[Kind]) -> Variant | None:
        """The variant for these kinds, if its outside names are unchanged."""
        found = self._variants.get(key(fixed)) or self._variants.get(key(tuple(kinds)))
        return found if found is not None and found.is_valid() else None

    def _made(self, fixed: tuple[Kind, ...], kinds: tuple[Kind, ...]) -> tuple[tuple[Kind, ...], Variant]:
        known = [of for of, variant in self._variants.items() if variant.knows_ints]
        if len(known) < _KNOWN_INTS:
            return fixed, Variant.of(self, fixed)
        try:
            return kinds, Variant.of(self, kinds)
        except KernelError:
            # It needs to know the ints; the oldest variant makes room.
            self._variants.pop(known[0], None)
            return fixed, Variant.of(self, fixed)


class Variant:
    """A kernel's function for arguments of certain kinds."""

    def __init__(self, kinds: tuple[Kind, ...], made: Compiled, guards: list[Guard]) -> None:
        self.kinds, self.compiled, self.guards = kinds, made, guards
        self.knows_ints = any(isinstance(kind, Fixed) for kind in kinds)
        self._going_on: dict[int, Any] = {}

    @staticmethod
    def of(kernel: Kernel, kinds: tuple[Kind, ...]) -> Variant:
        """Compiles it; raises ``KernelError`` for code that a kernel cannot have."""
        source = read(kernel.__wrapped__)
        if source is None:
            return Variant(kinds, kernel.traced(kinds), [])
        try:
            return Variant._of_source(kernel, kinds, source, is_peeled=False)
        except KernelError:
            # A loop that runs at least once gives its names a value.
            try:
                return Variant._of_source(kernel, kinds, source, is_peeled=True)
            except KernelError:
                pass
            raise

    @staticmethod
    def _of_source(kernel: Kernel, kinds: tuple[Kind, ...], source: Source, *, is_peeled: bool) -> Variant:
        rules = kernel.expressions
        try:
            flow = Flow(source, kernel.inlined, rules.hidden, is_peeled)
            return Variant(kinds, compiled(flow, list(kinds), kernel.__name__, rules), flow.guards)
        except (OverflowError, ValueError) as error:
            source.at(source.tree).refuse(f"kernel `{kernel.__name__}`: {error}")

    def is_valid(self) -> bool:
        """Whether the objects that the function found outside itself are unchanged."""
        return all(guard.holds() for guard in self.guards)

    def going_on(self, turns: int) -> Any:
        """The function that takes so many turns more."""
        if turns not in self._going_on:
            self._going_on[turns] = self.compiled.go_on(turns)
        return self._going_on[turns]


def _kept(called: Any, of: dict[Any, FunctionType]) -> FunctionType | None:
    try:
        return of.get(called)
    except TypeError:
        return None


def of_programs(called: Any) -> FunctionType | None:
    """The Python function that is called: a program's own, or one that is written for one of Python's."""
    found = _kept(called, WRITTEN)
    if found is not None or not isinstance(called, FunctionType):
        return found
    return None if str(called.__module__).split(".")[0] in ("gpupy", "numpy") else called


def _taken(value: Any) -> tuple[Any, Kind]:
    """An argument as it is computed, and its kind."""
    if type(value) is bool:
        return np.bool_(value), np.dtype(np.bool_)
    if type(value) in (int, float, complex):
        return value, type(value)
    if not isinstance(value, (gpupy.ndarray, np.number, np.bool_)):
        value = gpupy.asarray(value)
    if not is_lazy(value.dtype):
        raise KernelError(f"a kernel takes numbers, not elements of dtype {value.dtype}")
    return value, value.dtype


def _as_dtype(value: Any, dtype: np.dtype[Any]) -> tuple[Any, Kind]:
    """A number as one of the dtype in which a call computes; bools stay."""
    own = np.dtype(type(value)) if type(value) in (int, float, complex) else value.dtype
    if own == np.bool_:
        return value, own
    is_fitting = np.can_cast(own, dtype, "same_kind") or (type(value) is int and dtype.kind in "iufc")
    if not is_fitting:
        raise TypeError(f"a kernel does not compute {own} as {dtype}: that is no cast of the same kind")
    return (value.astype(dtype) if hasattr(value, "astype") else dtype.type(value)), dtype


def _written(results: list[Any], out: Any, where: Any) -> list[Any]:
    """Arrays with the results where they are wanted."""
    dests = out if isinstance(out, tuple) else (out,)
    if out is None:
        shape = np.broadcast_shapes(np.shape(results[0]), np.shape(where))
        dests = tuple(gpupy.zeros(shape, result.dtype) for result in results)
    if len(dests) != len(results):
        raise ValueError(f"`out` has {len(dests)} arrays for {len(results)} results")
    for dest, result in zip(dests, results, strict=True):
        gpupy.copyto(dest, result, casting="same_kind", where=where)
    return list(dests)


def _shaped(kind: Kind, results: Any) -> Any:
    if isinstance(kind, tuple):
        return tuple(_shaped(part, results) for part in kind)
    return next(results)


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(*, identity: Any = None, most_turns: int = 10**7) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(function: Any = None, /, *, identity: Any = None, most_turns: int = 10**7) -> Any:
    """Compiles a Python function of numbers for arrays: a decorator.

    The function may have `if`, `while`, `for` over a `range`, `break`, `continue`, `return` of a number or a
    tuple of them, conditional expressions, operators, comparisons, local names, tuples, the functions of
    `math`, NumPy's ufuncs, its scalar types, `where` and `clip`, and calls of other kernels and of Python
    functions within the same limits. It computes like the function on NumPy's scalars: a Python number takes
    the dtype of the other operand. Differences:

    - Python's ints are computed as int64, and wrap; division by 0 and functions of `math` outside their
      domain give NumPy's values, and no error.
    - A name that is bound to numbers of several kinds, where control flow joins, has the kind to which they
      promote.
    - Python's bools are NumPy's: `True + True` is True.
    - Both branches of an `if`, and all operands of a conditional expression and of `and` and `or`, are
      computed where points differ; so are functions that are called there.
    - Attributes and names outside the function are looked up when it is compiled, and again once one of them
      has changed.

    ``identity``: the result of `reduce` for no elements. ``most_turns``: after so many turns of loops of
    unknown length, a call ends with a ``RuntimeError``. Errors of compilation are ``KernelError``, at the
    first call with arguments of these kinds.
    """
    if function is None:
        return lambda function: Kernel(function, identity, most_turns)
    return Kernel(function, identity, most_turns)
