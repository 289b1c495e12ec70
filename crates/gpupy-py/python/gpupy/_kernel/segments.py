"""From blocks to functions: the computations between the headers of loops, and the state that they carry.

Owns ``compiled`` and ``Compiled``. From the entry, and from each header, blocks without loops lead to headers
or out of the function. Each such *segment* is recorded as one function of scalars: where ways part, both are
computed, with a mask for each, and where they meet, the masks choose. The live names at a header are the
*state*; the kinds of its numbers are those that all ways which lead there agree on, found by going round
until nothing changes.

Not here: blocks (``flow.py``), kinds (``kinds.py``), the loop around segments
(``gpupy_engine::ScalarFunction``).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

import gpupy

from .._gpupy import DriverError, Function
from .blocks import Assign, Begin, Block, Branch, Loop, Next, bound, of_range
from .expressions import Expressions
from .flow import RESULT, Flow
from .kinds import (
    Fixed,
    Kind,
    Weak,
    cast,
    computed,
    dtype_of,
    is_array,
    is_number,
    key,
    kind_of,
    leaves,
    numbers,
    unknown,
)
from .source import Place, own_name

# How often kinds may change: each has a handful to go through.
_ROUNDS = 64

_Names = dict[str, Any]


@dataclass
class Compiled:
    """A function for arguments of certain kinds."""

    # The function of a call, and the position of the kernel's own results among its results.
    function: Any
    first: int
    result: Kind
    # Which of its results says that a point is not known, where there are such points.
    error: int | None = None
    # Where its loops may go on for longer than one launch: how many of its results are the state.
    state: int = 0
    # The function that continues for some turns from a state.
    go_on: Any = None


def compiled(
    flow: Flow, arguments: list[Kind], name: str, expressions: type[Expressions] = Expressions
) -> Compiled:
    """The function of a flow for arguments of these kinds; ``expressions`` has the rules of numbers.

    Raises ``KernelError`` for code that a kernel cannot have.
    """
    return _Compiler(flow, arguments, name, expressions).compiled()


@dataclass
class _Way:
    """A way that came to a block: for which points, and with which values."""

    mask: Any
    names: _Names


class _Compiler:
    def __init__(self, flow: Flow, arguments: list[Kind], name: str, expressions: type[Expressions]) -> None:
        self.flow, self.arguments, self.name = flow, arguments, name
        self.expressions, self.rules = expressions, expressions.kinds
        self.headers = list(flow.headers)
        self.kinds: dict[str, Kind] = {}
        self.has_learnt = False
        # The headers that a way leads to.
        self.reached: set[Block] = set()
        # How often each range goes round, where that is known.
        self.trips: dict[str, int | None] = {}
        self.place = flow.source.at(flow.source.tree)
        self.hidden = sorted(expressions.hidden)
        self.bound = {name for block in flow.blocks for name in bound(block)} | expressions.hidden
        # Names that loops bind, and names after them, change; results are numbers.
        self.varying = {RESULT} | {name for block in _behind(self.headers) for name in bound(block)}

    def compiled(self) -> Compiled:
        for _ in range(_ROUNDS):
            self.has_learnt = False
            for header in [None, *self.headers]:
                self._learn(header)
            if not self.has_learnt:
                break
        result = self.kinds.get(RESULT)
        if result is None:
            self.place.refuse(f"kernel `{self.name}` never returns")
        if not _gives_numbers(result):
            self.place.refuse(f"kernel `{self.name}` returns what is no number")
        if any(isinstance(self.kinds[name], Fixed) and self.kinds[name].value for name in self.hidden):
            self.place.refuse(f"`{self.name}` raises an error, whatever it is given")
        self.headers = [header for header in self.headers if header in self.reached]
        self.number = {block: number for number, block in enumerate(self.headers, 1)} | {self.flow.exit: 0}
        return self._looping(result) if self.headers else self._straight(result)

    # Segments.

    def _start(self, header: Block | None) -> tuple[_Names, list[Any], list[Any]]:
        """The values at the start of a segment, and the placeholders of the arguments and of the state."""
        names: _Names = {}
        given: list[Any] = []
        for parameter, kind in zip(self.flow.source.parameters, self.arguments, strict=True):
            names[parameter], own = unknown(kind)
            given += own
        if header is None:
            return names | dict.fromkeys(self.hidden, False), given, []
        state: list[Any] = []
        values: _Names = {}
        for name in self._state():
            values[name], own = unknown(self.kinds[name])
            state += own
        return (
            {name: value for name, value in values.items() if name in header.live}
            | {
                # An argument that is never bound again is no state.
                name: value
                for name, value in names.items()
                if name not in values
            },
            given,
            state,
        )

    def _state(self) -> list[str]:
        return sorted(self.kinds)

    def _segment(self, header: Block | None, names: _Names) -> dict[Block, list[_Way]]:
        """The ways that lead from a header, or from the entry, to headers and out of the function."""
        start = self.flow.entry if header is None else header
        came: dict[Block, list[_Way]] = {start: [_Way(True, names)]}
        ends: dict[Block, list[_Way]] = {}
        for block in self.flow.blocks:
            ways = came.pop(block, None)
            if ways is None:
                continue
            here = self._met(block, ways)
            for step in block.steps:
                self._step(step, here.names)
            for target, way in self._parted(block, here):
                is_end = target.is_header or target is self.flow.exit
                (ends if is_end else came).setdefault(target, []).append(way)
        return ends

    def _met(self, block: Block, ways: list[_Way]) -> _Way:
        """Where ways meet: for all their points, with the values of each."""
        first, *others = ways
        mask, names = first.mask, {name: first.names[name] for name in first.names if name in block.live}
        for way in others:
            for name in list(names):
                met = self.rules.chosen(way.mask, way.names[name], names[name]) if name in way.names else None
                if met is None:
                    # It has no value on some way, or values that are none of numbers: reading it is refused.
                    del names[name]
                else:
                    names[name] = met
            mask = _or(mask, way.mask)
        return _Way(mask, names)

    def _parted(self, block: Block, here: _Way) -> list[tuple[Block, _Way]]:
        match block.way:
            case Block():
                return [(block.way, here)]
            case Branch(test=test, then=then, otherwise=otherwise, place=place):
                of = self.expressions(here.names, place, self.flow.guards)
                truth = self._has_next(test, of) if isinstance(test, str) else of.truth(of.value(test))
                if isinstance(truth, bool):
                    return [(then if truth else otherwise, here)]
                no = gpupy.logical_not(truth)
                return [
                    (then, _Way(_and(here.mask, truth), dict(here.names))),
                    (otherwise, _Way(_and(here.mask, no), dict(here.names))),
                ]
        return []

    def _step(self, step: Assign | Begin | Next, names: _Names) -> None:
        of = self.expressions(names, step.place, self.flow.guards)
        match step:
            case Assign(target=target, value=value):
                _bind(target, of.value(value), names, step.place)
            case Begin(loop=loop, arguments=arguments):
                self._begin(loop, [of.value(one) for one in arguments], names, step.place)
            case Next(loop=loop, target=target):
                number, by, left = of_range(loop)
                names[left] = _below(names[left])
                if number in names:
                    _bind(target, names[number], names, step.place)
                    names[number] = _sum(names[number], names[by])

    def _begin(self, loop: str, values: list[Any], names: _Names, place: Place) -> None:
        if not 1 <= len(values) <= 3:
            place.refuse("`range` takes one to three numbers")
        for value in values:
            if not is_number(value) or dtype_of(self.rules.of(value)).kind not in "iu":
                place.refuse("`range` takes integers")
        start, stop, by = (0, values[0], 1) if len(values) == 1 else (*values, 1)[:3]
        of = self.expressions(names, place, self.flow.guards)
        ints = [of.to(int, value) if is_array(value) else int(value) for value in (start, stop, by)]
        if ints[2] == 0 and not is_array(ints[2]):
            place.refuse("the step of a `range` is not 0")
        if is_array(ints[2]):
            of.error_where(gpupy.logical_not(of.truth(ints[2])))
        if any(map(is_array, ints)):
            self.trips[loop], left = None, _trips(*(computed(one, int) for one in ints))
        else:
            trips = len(range(*ints))
            known = self.trips.get(loop, 0)
            self.trips[loop] = None if known is None else max(known, trips)
            # A counter of 64 bits is more than devices like.
            left = (np.int32 if trips < 2**31 else np.int64)(min(trips, 2**63 - 1))
        names.update(zip(of_range(loop), (ints[0], ints[2], left), strict=True))

    @staticmethod
    def _has_next(loop: str, of: Expressions) -> Any:
        left = of.names[of_range(loop)[-1]]
        return left > 0 if is_array(left) else bool(left > 0)

    # Kinds.

    def _learn(self, header: Block | None) -> None:
        """Learns the kinds with which a segment leads on."""
        if header is not None and header not in self.reached:
            return
        names, _, _ = self._start(header)
        for target, ways in self._segment(header, names).items():
            self.has_learnt |= target not in self.reached
            self.reached.add(target)
            for name in sorted(self._needed(target)):
                for way in ways:
                    if name not in way.names:
                        self._refuse_unbound(name)
                    kind = kind_of(way.names[name])
                    self._learn_kind(name, self.rules.opened(kind) if name in self.varying else kind)

    def _learn_kind(self, name: str, kind: Kind) -> None:
        known = self.kinds.get(name, kind)
        met = self.rules.meet(known, kind)
        self.has_learnt |= name not in self.kinds or key(met) != key(known)
        if met is None and name == RESULT:
            self._refuse_unbound(name)
        if met is None:
            self.place.refuse(f"`{own_name(name)}` is now of one kind, now of another")
        self.kinds[name] = met

    def _refuse_unbound(self, name: str) -> None:
        if name == RESULT:
            self.place.refuse(
                f"kernel `{self.name}` returns numbers of one kind, or as many of them, on all ways"
            )
        self.place.refuse(
            f"`{own_name(name)}` may have no value when a loop of `{self.name}` reads it: give it one before"
        )

    def _needed(self, block: Block) -> set[str]:
        """The state that is live at a block: arguments that nothing binds again are none of it."""
        return {name for name in block.live if name in self.bound}

    # Functions.

    def _straight(self, result: Kind) -> Compiled:
        names, given, _ = self._start(None)
        ways = self._segment(None, names)[self.flow.exit]
        wanted = [*self.hidden, RESULT]
        found = self._met(self.flow.exit, [self._cast(way, wanted) for way in ways]).names
        results = [one for name in wanted for one in numbers(found[name], self.kinds[name])]
        return Compiled(self._function(given, results), *self._places(wanted, result))

    def _places(self, names: list[str], result: Kind) -> tuple[int, Kind, int | None]:
        """Where the kernel's own results are among those of names, their kind, and where errors are."""
        counts = [len(leaves(self.kinds[name])) for name in names]
        firsts = {name: sum(counts[:place]) for place, name in enumerate(names) if counts[place]}
        return firsts[RESULT], result, next((firsts.get(name) for name in self.hidden), None)

    def _looping(self, result: Kind) -> Compiled:
        functions = [self._recorded(header) for header in [None, *self.headers]]
        entry, *segments = functions
        arguments = sum(len(leaves(kind)) for kind in self.arguments)
        names = self._state()
        places = self._places(names, result)
        size = sum(len(leaves(self.kinds[name])) for name in names) + 1
        turns = self._turns(self.flow.loops)
        most = Function.MOST_TURNS
        if turns is not None and turns <= most:
            function = Function.of_segments(arguments, entry, segments, turns)
            return Compiled(function, *places)
        begin = Function.of_segments(arguments, entry, segments, 0)

        def go_on(turns: int) -> Any:
            return Function.of_segments(arguments, None, segments, min(turns, most))

        return Compiled(begin, *places, size, go_on)

    def _recorded(self, header: Block | None) -> Any:
        """A segment as a function: from arguments and state to the state and the next segment's number."""
        names, given, state = self._start(header)
        before = dict(zip(self._state_slots(), state, strict=True)) if header is not None else {}
        ends = self._segment(header, names)
        after: dict[str, Any] = {}
        goes_on: Any = None
        for target, ways in ends.items():
            wanted = self._needed(target)
            for way in ways:
                number = np.int32(self.number[target])
                goes_on = number if goes_on is None else gpupy.where(way.mask, number, goes_on)
                for name in wanted:
                    value = cast(way.names[name], self.kinds[name])
                    for slot, one in zip(self._slots(name), numbers(value, self.kinds[name]), strict=True):
                        known = after.get(slot)
                        after[slot] = one if known is None else gpupy.where(way.mask, one, known)
        results = []
        for slot, dtype in self._dtypes().items():
            # Names that are not live at the target stay unchanged.
            one = after.get(slot, before.get(slot, dtype.type(0)))
            results.append(one)
        return self._function([*given, *state], [*results, goes_on])

    def _function(self, given: list[Any], results: list[Any]) -> Any:
        if not results:
            self.place.refuse(f"kernel `{self.name}` returns no number")
        try:
            return Function.recorded(given, results)
        except DriverError as error:
            return self.place.refuse(f"kernel `{self.name}` does what is not known in kernels: {error}")

    def _slots(self, name: str) -> list[str]:
        return [f"{name}:{place}" for place in range(len(leaves(self.kinds[name])))]

    def _state_slots(self) -> list[str]:
        return [slot for name in self._state() for slot in self._slots(name)]

    def _dtypes(self) -> dict[str, np.dtype[Any]]:
        dtypes = [dtype for name in self._state() for dtype in leaves(self.kinds[name])]
        return dict(zip(self._state_slots(), dtypes, strict=True))

    def _cast(self, way: _Way, names: list[str]) -> _Way:
        return _Way(way.mask, {name: cast(way.names[name], self.kinds[name]) for name in names})

    def _turns(self, loops: list[Loop]) -> int | None:
        """The most turns that points take through loops one behind the other; None where it is not known."""
        total = 0
        for loop in loops:
            inner = self._turns(loop.inner)
            trips = self.trips.get(loop.range) if loop.range is not None else None
            if loop.header not in self.reached:
                # No turn comes back to it, but its peeled turn may have loops.
                turns = inner
            else:
                turns = None if trips is None or inner is None else trips * (1 + inner) + 1
            if turns is None:
                return None
            total += turns
        return total


def _bind(target: ast.expr, value: Any, names: _Names, place: Place) -> None:
    match target:
        case ast.Name(id=name):
            names[name] = value
        case ast.Tuple(elts=parts):
            if not isinstance(value, tuple) or len(value) != len(parts):
                place.refuse("what is taken apart is a tuple of as many values")
            for part, own in zip(parts, value, strict=True):
                _bind(part, own, names, place)


def _below(left: Any) -> Any:
    return left - left.dtype.type(1)


def _sum(number: Any, by: Any) -> Any:
    """The next number of a range: behind the last one it is none, and may wrap."""
    if not is_array(number) and not is_array(by):
        return number + by
    return Weak(int, gpupy.add(computed(number, int), computed(by, int)))


def _trips(start: Any, stop: Any, by: Any) -> Any:
    """How many numbers a range has, as an int64: as many as that has where there are more."""
    up, down = (start, stop), (stop, start)
    if is_array(by):
        rises = gpupy.greater(by, 0)
        far = gpupy.where(rises, _of_both(np.subtract, *down), _of_both(np.subtract, *up))
        some = gpupy.where(rises, _of_both(np.less, *up), _of_both(np.less, *down) & gpupy.not_equal(by, 0))
        width = gpupy.where(rises, by, gpupy.negative(by)).astype(np.uint64)
    else:
        low, high = up if by > 0 else down
        far, some = gpupy.subtract(high, low), gpupy.less(low, high)
        width = np.uint64(abs(int(by)))
    steps = far
    if is_array(by) or width != 1:
        # The distance of two ints has 64 bits without a sign.
        steps = (far.astype(np.uint64) - np.uint64(1)) // width
        steps = (steps + np.uint64(1)).astype(np.int64)
    return gpupy.where(some, gpupy.where(steps < 0, np.int64(2**63 - 1), steps), np.int64(0))


def _of_both(ufunc: np.ufunc, one: Any, other: Any) -> Any:
    found = gpupy if is_array(one) or is_array(other) else np
    with np.errstate(all="ignore"):
        return getattr(found, ufunc.__name__)(one, other)


def _and(mask: Any, truth: Any) -> Any:
    return truth if mask is True else gpupy.logical_and(mask, truth)


def _or(mask: Any, other: Any) -> Any:
    return True if mask is True or other is True else gpupy.logical_or(mask, other)


def _behind(headers: list[Block]) -> set[Block]:
    """The blocks that ways from headers lead to, these among them."""
    found, open_blocks = set(headers), list(headers)
    while open_blocks:
        below = [block for block in open_blocks.pop().successors() if block not in found]
        found.update(below)
        open_blocks += below
    return found


def _gives_numbers(kind: Kind) -> bool:
    return all(map(_gives_numbers, kind)) if isinstance(kind, tuple) else not isinstance(kind, Fixed)
