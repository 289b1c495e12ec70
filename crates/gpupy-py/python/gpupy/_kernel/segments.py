"""From blocks to functions: what is computed between the headers of loops, and the state that goes round.

Owns ``compiled`` and ``Compiled``. From the entry, and from each header, blocks without loops lead to headers
or out of the function. Each such *segment* is recorded as one function of scalars: where ways part, both are
computed, with a mask for each, and where they meet, the masks choose. What is live at a header is the
*state*; the kinds of its numbers are those that all ways which lead there agree on, found by going round
until nothing changes.

Not here: blocks (``flow.py``), kinds (``kinds.py``), the loop around segments (``gpupy_engine::Function``).
"""

from __future__ import annotations

import ast
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

import gpupy

from .._gpupy import DriverError, Function
from .expressions import Expressions
from .flow import RESULT, Assign, Begin, Block, Branch, Flow, Loop, Next, bound, of_range
from .kinds import (
    Fixed,
    Kind,
    cast,
    chosen,
    is_array,
    key,
    kind_of,
    leaves,
    meet,
    numbers,
    open_kind,
    unknown,
)
from .source import Place, own_name

# How often kinds may change: each has a handful to go through.
_ROUNDS = 64

_Names = dict[str, Any]


@dataclass
class Compiled:
    """A function for arguments of certain kinds."""

    # What a call computes, and from which of its results on the kernel's own stand.
    function: Any
    first: int
    result: Kind
    # Where its loops may go on for longer than one launch: how many of its results are the state.
    state: int = 0
    # The same, for some turns from a state.
    go_on: Any = None


def compiled(flow: Flow, arguments: list[Kind], name: str) -> Compiled:
    """The function of a flow for arguments of these kinds.

    Raises ``KernelError`` for what no kernel does.
    """
    return _Compiler(flow, arguments, name).compiled()


@dataclass
class _Way:
    """A way that came to a block: for which points, and with which values."""

    mask: Any
    names: _Names


class _Compiler:
    def __init__(self, flow: Flow, arguments: list[Kind], name: str) -> None:
        self.flow, self.arguments, self.name = flow, arguments, name
        self.headers = flow.headers()
        self.kinds: dict[str, Kind] = {}
        self.has_learnt = False
        # The headers that a way leads to.
        self.reached: set[Block] = set()
        # How often each range goes round, where that is known.
        self.trips: dict[str, int | None] = {}
        self.place = flow.source.at(flow.source.tree)
        self.bound = {name for block in flow.blocks for name in bound(block)}
        # What loops bind, or what comes behind them, is not what it was when they began; results are numbers.
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
        self.headers = [header for header in self.headers if header in self.reached]
        self.number = {block: number for number, block in enumerate(self.headers, 1)} | {self.flow.exit: 0}
        if not self.headers:
            return Compiled(self._straight(), 0, result)
        return self._looping(result)

    # Segments.

    def _start(self, header: Block | None) -> tuple[_Names, list[Any], list[Any]]:
        """The values at the start of a segment, and what stands for the arguments and for the state."""
        names: _Names = {}
        given: list[Any] = []
        for parameter, kind in zip(self.flow.source.parameters, self.arguments, strict=True):
            names[parameter], own = unknown(kind)
            given += own
        if header is None:
            return names, given, []
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
                met = chosen(way.mask, way.names[name], names[name]) if name in way.names else None
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
                of = Expressions(here.names, place, self.flow.guards)
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
        of = Expressions(names, step.place, self.flow.guards)
        match step:
            case Assign(target=target, value=value):
                _bind(target, of.value(value), names, step.place)
            case Begin(loop=loop, arguments=arguments):
                self._begin(loop, [of.value(one) for one in arguments], names, step.place)
            case Next(loop=loop, target=target):
                number, _, by = (names[name] for name in of_range(loop))
                _bind(target, number, names, step.place)
                names[of_range(loop)[0]] = of.operation(operator.add, np.add, [number, by])

    def _begin(self, loop: str, values: list[Any], names: _Names, place: Place) -> None:
        if not 1 <= len(values) <= 3:
            place.refuse("`range` takes one to three numbers")
        for value in values:
            if kind_of(value) is not int and np.dtype(getattr(value, "dtype", type(value))).kind not in "iu":
                place.refuse("`range` takes integers")
        start, stop, by = (0, values[0], 1) if len(values) == 1 else (*values, 1)[:3]
        if not is_array(by) and by == 0:
            place.refuse("the step of a `range` is not 0")
        if all(not is_array(value) for value in (start, stop, by)):
            start, stop, by = (int(value) for value in (start, stop, by))
            trips = len(range(start, stop, by))
            known = self.trips.get(loop, 0)
            self.trips[loop] = None if known is None else max(known, trips)
        else:
            self.trips[loop] = None
        of = Expressions(names, place, self.flow.guards)
        ints = [value if isinstance(value, int) else of.to(int, value) for value in (start, stop, by)]
        names.update(zip(of_range(loop), ints, strict=True))

    @staticmethod
    def _has_next(loop: str, of: Expressions) -> Any:
        number, stop, by = (of.names[name] for name in of_range(loop))
        up = of.operation(operator.lt, np.less, [number, stop])
        if isinstance(by, int) and by > 0:
            return of.truth(up)
        down = of.truth(of.operation(operator.gt, np.greater, [number, stop]))
        if isinstance(by, int):
            return down
        rises = of.truth(of.operation(operator.gt, np.greater, [by, 0]))
        return of.choose(rises, lambda: of.truth(up), lambda: down)

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
                    self._learn_kind(name, open_kind(kind) if name in self.varying else kind)

    def _learn_kind(self, name: str, kind: Kind) -> None:
        known = self.kinds.get(name, kind)
        met = meet(known, kind)
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

    def _straight(self) -> Any:
        names, given, _ = self._start(None)
        ways = self._segment(None, names)[self.flow.exit]
        kind = self.kinds[RESULT]
        value = self._met(self.flow.exit, [self._cast(way, [RESULT]) for way in ways]).names[RESULT]
        return self._function(given, numbers(value, kind))

    def _looping(self, result: Kind) -> Compiled:
        functions = [self._recorded(header) for header in [None, *self.headers]]
        entry, *segments = functions
        arguments = sum(len(leaves(kind)) for kind in self.arguments)
        names = self._state()
        first = sum(len(leaves(self.kinds[name])) for name in names[: names.index(RESULT)])
        size = sum(len(leaves(self.kinds[name])) for name in names) + 1
        turns = self._turns(self.flow.loops)
        most = Function.MOST_TURNS
        if turns is not None and turns <= most:
            function = Function.of_segments(arguments, entry, segments, turns)
            return Compiled(function, first, result)
        begin = Function.of_segments(arguments, entry, segments, 0)

        def go_on(turns: int) -> Any:
            return Function.of_segments(arguments, None, segments, min(turns, most))

        return Compiled(begin, first, result, size, go_on)

    def _recorded(self, header: Block | None) -> Any:
        """A segment as a function from arguments and state to the state and the number of what comes next."""
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
            # What is not live where it leads stays as it was.
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
            if loop.header not in self.reached:
                continue
            trips = self.trips.get(loop.range) if loop.range is not None else None
            inner = self._turns(loop.inner)
            if trips is None or inner is None:
                return None
            total += trips * (1 + inner) + 1
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
