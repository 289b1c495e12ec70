"""What the expressions of a loop do: the names that they read and bind, and what they call.

Owns ``LoopFacts``, which refuses what is not on the lists by ``Refused``. Expressions are taken from a
stack, as those of generated code may be nested deeper than Python's own. Not here: statements
(``loop_finder.py``).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import starmap
from typing import Any, NoReturn, TypeAlias

from .._kernel.source import Place
from . import callables
from .bindings import VARIABLE, Import, Meaning, Scope
from .constructs import BY_NAME, is_allowed, reason
from .nests import Facts, NamedCall, Refusal

# What one of the module's own functions does; why it does not qualify; or the row for all like it.
Called: TypeAlias = Callable[[ast.FunctionDef], Facts | Refusal | str]


class Refused(Exception):
    """Something keeps a loop in Python."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.construct)
        self.refusal = refusal


class LoopFacts:
    """What a loop does, as far as it was read, without the loops in it."""

    def __init__(self, node: ast.AST, scope: Scope, file: str, called: Called) -> None:
        """``node`` is the loop or the function, ``called`` tells of the module's own functions."""
        self.node, self.scope, self._file, self._called = node, scope, file, called
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.statements: list[type[ast.AST]] = []
        # Calls as they are written, with what they stand for.
        self._calls: dict[str, str] = {}
        self.inner: list[LoopFacts] = []
        self.refusal: Refusal | None = None

    def facts(self) -> Facts:
        """What it does with the loops in it, as plain data."""
        parts = [self]
        for known in parts:
            parts += known.inner
        calls = {call for known in parts for call in known._calls.items()}
        counts = Counter([kind for known in parts for kind in known.statements])
        return Facts(
            frozenset().union(*[known.reads for known in parts]),
            frozenset().union(*[known.writes for known in parts]),
            frozenset(starmap(NamedCall, calls)),
            tuple(sorted([(kind.__name__, count) for kind, count in counts.items()])),
        )

    def place(self, node: ast.AST) -> Place:
        """Where a statement or an expression stands, whole."""
        start = node.lineno, node.col_offset  # type: ignore[attr-defined]
        end = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        return Place(self._file, self.scope.name, *start, *end)

    def refuse(self, construct: str, node: ast.AST, about: str = "") -> NoReturn:
        """Raises ``Refused`` for a row of the table."""
        raise Refused(Refusal(BY_NAME[construct].name, about, self.place(node)))

    def check(self, node: ast.AST) -> None:
        """Raises ``Refused`` for a node that is not allowed anywhere."""
        if not is_allowed(type(node)):
            self.refuse(reason(node).name, node, type(node).__name__)

    def read(self, expression: ast.expr | None) -> None:
        """Takes an expression whose value is read."""
        reads, stack = self.reads, [expression]
        push = stack.append
        # Most nodes of a program are of few classes, and its loops are read whenever it starts.
        while stack:
            node: Any = stack.pop()
            kind = type(node)
            if kind is ast.Name:
                reads.add(node.id)
            elif kind is ast.Constant or node is None:
                continue
            elif kind is ast.Subscript:
                push(node.slice)
                if type(node.value) is ast.Name:
                    reads.add(node.value.id)
                else:
                    push(node.value)
            elif kind is ast.BinOp:
                push(node.right)
                push(node.left)
            elif kind is ast.Tuple:
                stack.extend(node.elts[::-1])
            elif kind is ast.Attribute or kind is ast.UnaryOp:
                push(node.value if kind is ast.Attribute else node.operand)
            elif kind is ast.Slice:
                push(node.step)
                push(node.upper)
                push(node.lower)
            else:
                stack.extend(reversed(self._parts(node)))

    def bind(self, target: Any) -> None:
        """Takes what a value is assigned to."""
        match target:
            case ast.Name():
                self.writes.add(target.id)
            case ast.Subscript():
                self.read(target.value)
                self.read(target.slice)
            case ast.Tuple() | ast.List():
                for part in target.elts:
                    self.bind(part)
            case ast.Attribute():
                self.refuse("stored attribute", target, f".{target.attr}")
            case _:
                self.refuse(reason(target).name, target, type(target).__name__)

    def head(self, loop: ast.For) -> None:
        """Takes what a `for` goes over, and the names that it binds."""
        for part in ast.walk(loop.target) if type(loop.target) is not ast.Name else ():
            if isinstance(part, ast.Attribute | ast.Subscript):
                self.refuse("head", loop.target)
        iterators: list[Any] = [loop.iter]
        while iterators:
            node = iterators.pop()
            if type(node) is ast.Call and self._is_iterator(node):
                iterators.extend(reversed(self._given(node)))
            elif type(node) is ast.List:
                for item in node.elts:
                    self.read(item)
            else:
                self.read(node)
        self.bind(loop.target)

    def _is_iterator(self, node: ast.Call) -> bool:
        """Takes a call of `range` or one of its like, if it is one."""
        text, meanings = self.scope.named(node.func)
        full = _library(meanings)
        if full is None or not callables.is_iterator(full):
            return False
        self._calls[text] = full
        return True

    def _parts(self, node: ast.expr) -> list[ast.expr | None]:
        """The expressions in one that is not like most, in the order of the text."""
        match node:
            case ast.Call():
                return self._call(node)
            case ast.Compare():
                return self._compared(node)
            case ast.BoolOp(values=values):
                return [*values]
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return [body, test, orelse]
        self.refuse(reason(node).name, node, type(node).__name__)

    def _compared(self, node: ast.Compare) -> list[ast.expr | None]:
        found: list[ast.expr | None] = [node.left]
        for operation, right in zip(node.ops, node.comparators, strict=True):
            if not isinstance(operation, ast.In | ast.NotIn):
                found.append(right)
            elif isinstance(right, ast.Tuple | ast.List | ast.Set):
                found += right.elts
            else:
                self.refuse("membership", node)
        return found

    def _call(self, node: ast.Call) -> list[ast.expr | None]:
        """Takes a call; returns the expressions that it reads."""
        given = self._given(node)
        text, meanings = self.scope.named(node.func)
        method = node.func if isinstance(node.func, ast.Attribute) else None
        if method is not None and not any(isinstance(one, Import) for one in meanings):
            if method.attr not in callables.METHODS:
                self.refuse("method", node, f".{method.attr}")
            self._calls[f".{method.attr}"] = f".{method.attr}"
            return [method.value, *given]
        self._calls[text] = self._function(node, text, meanings)
        return given

    def _function(self, node: ast.Call, text: str, meanings: list[Meaning]) -> str:
        """What a function that is called stands for, which is on a list, or one of the module's own."""
        full = _library(meanings)
        if full is not None:
            if callables.is_iterator(full):
                self.refuse("iterator", node, text)
            if not callables.is_known(full):
                is_elsewhere = full.partition(".")[0] not in callables.LIBRARIES
                self.refuse("elsewhere" if is_elsewhere else "function", node, text)
            return full
        if not text:
            self.refuse("computed", node)
        if not meanings:
            self.refuse("function", node, text)
        [first, *others] = meanings
        if VARIABLE in meanings:
            self.refuse("variable", node, text)
        if others or not isinstance(first, ast.FunctionDef):
            self.refuse("special function", node, text)
        found = self._called(first)
        if isinstance(found, str):
            self.refuse(found, node, text)
        if isinstance(found, Refusal):
            raise Refused(replace(found, through=(text, *found.through)))
        self.reads |= found.reads
        self.writes |= found.writes
        self._calls.update((call.text, call.stands_for) for call in found.calls)
        return text

    def _given(self, call: ast.Call) -> list[ast.expr | None]:
        """The arguments of a call."""
        for keyword in call.keywords:
            if keyword.arg is None:
                self.refuse("star", keyword)
        return [*call.args, *(keyword.value for keyword in call.keywords)]


def _library(meanings: list[Meaning]) -> str | None:
    """The full name of what imports, or Python, bind a name to; None where that is not one thing."""
    first = meanings[0] if meanings else None
    return first.full if isinstance(first, Import) and all(one == first for one in meanings) else None
