"""The blocks of a function: simple statements, and where they go on.

Owns ``Block``, its steps and its ways, and which names these read and bind. Hidden names begin with a dot.
Not here: how blocks are made of statements (``flow.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from .source import Place


@dataclass
class Assign:
    """A name, or a tuple of them, gets the value of an expression."""

    target: ast.expr
    value: ast.expr
    place: Place


@dataclass
class Begin:
    """A loop over a range begins: its number, its step, and how many numbers are left get their values."""

    loop: str
    arguments: list[ast.expr]
    place: Place


@dataclass
class Next:
    """The next number of a range."""

    loop: str
    target: ast.expr
    place: Place


@dataclass
class Branch:
    """Where a block goes on: by an expression, or by whether a range (its loop's name) has numbers left."""

    test: ast.expr | str
    then: Block
    otherwise: Block
    place: Place


@dataclass
class Loop:
    """A loop, for a bound on how often its header is come to; ``range`` names that of a `for`."""

    header: Block
    range: str | None
    inner: list[Loop] = field(default_factory=list)


@dataclass(eq=False)
class Block:
    """Statements, and where they lead: to a block, by a branch, or out of the function."""

    steps: list[Assign | Begin | Next] = field(default_factory=list)
    way: Block | Branch | None = None
    is_header: bool = False
    live: set[str] = field(default_factory=set)

    def successors(self) -> list[Block]:
        """Where it may go on."""
        match self.way:
            case Branch(then=then, otherwise=otherwise):
                return [then, otherwise]
            case Block():
                return [self.way]
        return []


def reachable(starts: list[Block], *, to_headers: bool = True) -> Iterator[Block]:
    """All blocks that a way leads to, in an order in which ways that do not go back lead forwards.

    Not ``to_headers``: ways end before these.
    """
    order: list[Block] = []
    seen: set[Block] = set()
    for start in starts:
        stack = [] if start in seen else [(start, iter(start.successors()))]
        seen.add(start)
        while stack:
            block, below = stack[-1]
            wanted = (one for one in below if one not in seen and (to_headers or not one.is_header))
            found = next(wanted, None)
            if found is None:
                order.append(block)
                stack.pop()
            else:
                seen.add(found)
                stack.append((found, iter(found.successors())))
    return reversed(order)


def _names(node: ast.AST) -> set[str]:
    return {found.id for found in ast.walk(node) if isinstance(found, ast.Name)}


def of_range(loop: str) -> list[str]:
    """The hidden names of a loop over a range: its next number, its step, and how many numbers are left."""
    return [f"{loop}.next", f"{loop}.step", f"{loop}.left"]


def read_by(step: Assign | Begin | Next, live: set[str]) -> set[str]:
    """The names that a step reads, behind which these are live."""
    match step:
        case Assign(value=value):
            return _names(value)
        case Begin(arguments=arguments):
            return set().union(*map(_names, arguments))
    number, by, left = of_range(step.loop)
    # Nothing counts numbers that are not read.
    is_read = not live.isdisjoint({number, *_names(step.target)})
    return {number, by, left} if is_read else {left}


def _bound(step: Assign | Begin | Next) -> set[str]:
    match step:
        case Assign(target=target):
            return _names(target)
        case Begin(loop=loop):
            return set(of_range(loop))
    number, _, left = of_range(step.loop)
    return _names(step.target) | {number, left}


def bound(block: Block) -> set[str]:
    """The names that a block binds."""
    return set().union(*map(_bound, block.steps))


def read_by_way(block: Block) -> set[str]:
    match block.way:
        case Branch(test=test):
            return {of_range(test)[-1]} if isinstance(test, str) else _names(test)
    return set()
