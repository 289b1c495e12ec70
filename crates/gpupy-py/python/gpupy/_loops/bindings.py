"""What a name in a text stands for: an import, a function, a variable, or one of Python's own.

Owns ``Scope`` and ``Import``, which read statements alone, not the expressions in them, and
``with_elements``. It asks nothing of what functions do to names that are not theirs: what a name is when a
loop is entered is a guard's to say. Not here: which functions may be called (``callables.py``).
"""

from __future__ import annotations

import ast
import builtins
import math
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
# Fields of statements that hold statements, or what holds these.
BLOCKS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.If: ("body", "orelse"),
    ast.For: ("body", "orelse"),
    ast.AsyncFor: ("body", "orelse"),
    ast.While: ("body", "orelse"),
    ast.With: ("body",),
    ast.AsyncWith: ("body",),
    ast.Try: ("body", "handlers", "orelse", "finalbody"),
    ast.TryStar: ("body", "handlers", "orelse", "finalbody"),
    ast.ExceptHandler: ("body",),
    ast.Match: ("cases",),
    ast.match_case: ("body",),
}
_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))


@dataclass(frozen=True)
class Import:
    """What an import statement binds a name to; of gpupy's names, NumPy's."""

    full: str


class _Variable:
    """What an assignment binds, a parameter, a class."""


VARIABLE = _Variable()
Meaning: TypeAlias = Import | _Function | _Variable


class Scope:
    """A module, a class or a function, with the names that it binds."""

    def __init__(
        self,
        node: ast.Module | ast.Interactive | ast.ClassDef | _Function,
        outer: Scope | None = None,
        outside: Mapping[str, Any] | None = None,
    ) -> None:
        """``outside`` has values of names that a module's text does not bind, as a cell's in a notebook."""
        self.node, self.outer, self._outside = node, outer, outside
        self.is_class = isinstance(node, ast.ClassDef)
        self.is_function = isinstance(node, _Function)
        self._bound: dict[str, list[Meaning]] = {}
        self._is_read = False
        self._known: dict[str, list[Meaning]] = {}
        # NumPy's names that are imported by a star are there, if nothing else has them.
        self._has_numpys = False

    @property
    def name(self) -> str:
        """Its name, as tracebacks have it."""
        return "<module>" if isinstance(self.node, ast.Module | ast.Interactive) else self.node.name

    def bound(self) -> dict[str, list[Meaning]]:
        """The names that it binds, each with what it binds them to."""
        if not self._is_read:
            self._is_read = True
            if isinstance(self.node, _Function):
                given = self.node.args
                for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
                    if one is not None:
                        self._note(one.arg, VARIABLE)
            self._read(self.node.body)
        return self._bound

    def meanings(self, name: str) -> list[Meaning]:
        """What a name that is read here may stand for; nothing where that is unknown."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._found(name)
        return found

    def named(self, node: ast.expr) -> tuple[str, list[Meaning]]:
        """The text of a name, or of attributes of one, with what it may stand for.

        There is no text where it is neither; attributes of what no import binds are variables.
        """
        if type(node) is ast.Name:
            return node.id, self.meanings(node.id)
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return "", []
        found, end = self.meanings(node.id), "".join(f".{name}" for name in reversed(attributes))
        full: list[Meaning] = [
            Import(one.full + end) if isinstance(one, Import) else VARIABLE for one in found
        ]
        return node.id + end, full

    def _found(self, name: str) -> list[Meaning]:
        scope: Scope | None = self
        while scope is not None:
            found = scope.bound().get(name)
            if found and (scope is self or not scope.is_class):
                return found
            if scope.outer is None and scope._has_numpys and name not in _BUILTINS:
                return [Import(f"numpy.{name}")]
            if scope._outside is not None and name in scope._outside:
                return [_of_value(scope._outside[name])]
            scope = scope.outer
        return [Import(f"builtins.{name}")] if name in _BUILTINS else []

    def _read(self, body: list[ast.stmt]) -> None:
        foreign: set[str] = set()
        stack: list[Any] = [*reversed(body)]
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is ast.Expr or kind is ast.Return:
                continue
            if kind is ast.Assign:
                self._bind(*node.targets)
                continue
            if kind is ast.For:
                self._bind(node.target)
            elif kind is ast.Global or kind is ast.Nonlocal:
                foreign.update(node.names)
            else:
                self._bind_by(node)
            for block in reversed(BLOCKS.get(kind, ())):
                stack.extend(reversed(getattr(node, block)))
        for name in foreign:
            self._bound.pop(name, None)

    def _bind_by(self, node: ast.AST) -> None:
        """Notes what one statement binds, without those in it."""
        match node:
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.AsyncFor(target=target):
                self._bind(target)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                # One in a function has its variables.
                self._note(node.name, VARIABLE if self.outer else node)
            case ast.Import(names=names):
                for one in names:
                    top = one.name.partition(".")[0]
                    self._note(one.asname or top, Import(_numpys(one.name if one.asname else top)))
            case ast.ImportFrom(names=names):
                module = _numpys("." * node.level + (node.module or ""))
                self._has_numpys |= module == "numpy" and names[0].name == "*"
                for one in names:
                    self._note(one.asname or one.name, Import(f"{module}.{one.name}"))
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str() as name):
                self._note(name, VARIABLE)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                self._bind(*(item.optional_vars for item in items))
            case ast.match_case(pattern=pattern):
                for part in ast.walk(pattern):
                    named = getattr(part, "name", None) or getattr(part, "rest", None)
                    if named is not None:
                        self._note(named, VARIABLE)

    def _bind(self, *targets: ast.expr | None) -> None:
        """Notes the names in what a value is assigned to."""
        stack = [*targets]
        while stack:
            target = stack.pop()
            if isinstance(target, ast.Name):
                self._note(target.id, VARIABLE)
            elif isinstance(target, ast.Tuple | ast.List):
                stack.extend(target.elts)
            elif isinstance(target, ast.Starred):
                stack.append(target.value)

    def _note(self, name: str, meaning: Meaning) -> None:
        self._bound.setdefault(name, []).append(meaning)


def _of_value(value: Any) -> Meaning:
    """What a name stands for whose value is known."""
    if type(value) is types.ModuleType:
        return Import(_numpys(value.__name__))
    name = getattr(value, "__name__", None)
    if not isinstance(name, str) or not callable(value):
        return VARIABLE
    import gpupy

    for module, full in ((np, "numpy"), (gpupy, "numpy"), (math, "math"), (builtins, "builtins")):
        if vars(module).get(name) is value:
            return Import(f"{full}.{name}")
    return Import(f"{getattr(value, '__module__', None)}.{name}")


def _numpys(module: str) -> str:
    """A module's name; NumPy's for ours, which stands in its place."""
    top, dot, rest = module.partition(".")
    return f"numpy{dot}{rest}" if top == "gpupy" else module


def with_elements(function: ast.FunctionDef, functions: Mapping[str, ast.FunctionDef]) -> set[str]:
    """The names in a function that have elements, also in functions that it calls."""
    found: set[str] = set()
    for node in ast.walk(function):
        inner = node.value if isinstance(node, ast.Subscript | ast.Attribute) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = functions.get(node.func.id)
            if called is not None and called is not function:
                names = [one.arg for one in (*called.args.posonlyargs, *called.args.args)]
                arrays = with_elements(called, functions)
                given = zip(names, node.args, strict=False)
                found |= {one.id for name, one in given if name in arrays and isinstance(one, ast.Name)}
            elif node.func.id == "len":
                found |= {one.id for one in node.args if isinstance(one, ast.Name)}
        if isinstance(inner, ast.Name):
            found.add(inner.id)
    return found
