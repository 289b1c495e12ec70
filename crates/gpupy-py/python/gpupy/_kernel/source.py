"""From a Python function to its statements, with every name that is not its own in the place of that name.

Owns ``Source`` and ``KernelError``. What a function finds outside itself (globals, cells, built-ins) is
looked up when it is compiled, and stands in its tree as a constant; ``Source.guards`` says what was found
where, so that a later call can ask whether it is still so.

Not here: statements (``flow.py``), expressions (``expressions.py``).
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import linecache
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import CellType, CodeType, FunctionType, ModuleType, TracebackType
from typing import Any, NoReturn

from .._session import tracebacks, written_code

# Modules whose names do not change.
LIBRARIES = ("numpy", "math", "gpupy")


class KernelError(TypeError):
    """A function that `gpupy.kernel` cannot compile; the message names the construct, and its line."""

    words: str
    place: Place | None = None

    def put(self, place: Place) -> None:
        """Says at which place of the source it is."""
        if self.place is None:
            self.words = str(self)
        self.place = place
        self.args = (f"{self.words} ({place.file}, line {place.line})",)


# Kinds of errors that callers make.
OF_CALLERS = (TypeError, ValueError, RuntimeError)
_PACKAGE = os.path.dirname(os.path.dirname(__file__))


def show(error: Exception) -> None:
    """Takes the package's own frames out of the traceback of a call's error.

    One of compilation underlines the construct; one of a function without source shows where it came up.
    """
    if isinstance(error, KernelError) and error.place is not None:
        rest = error.place.shown()
    elif error.__cause__ is not None:
        rest = tracebacks.between(error.__cause__.__traceback__, _PACKAGE)
    else:
        rest = tracebacks.without(error.__traceback__, _PACKAGE)
    error.__traceback__, error.__cause__ = rest, None


@dataclass(frozen=True)
class Place:
    """Where a piece of source stands."""

    file: str
    function: str
    line: int
    column: int
    last_line: int
    last_column: int
    # Whether parts of it are in the source, too.
    has_parts: bool = True

    @staticmethod
    def of(node: ast.AST, file: str, function: str) -> Place:
        """Where a node stands that has lines; a statement's is that of its first line."""
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        last = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        if isinstance(node, ast.FunctionDef):
            last = line, column + len(f"def {node.name}".encode())
        elif isinstance(node, (ast.If, ast.While, ast.For)):
            header = node.iter if isinstance(node, ast.For) else node.test
            last = header.end_lineno, header.end_col_offset
        return Place(file, function, line, column, *last)

    def within(self, node: ast.AST) -> Place:
        """Where a part of it stands; it itself for a node that is not in the source."""
        if not self.has_parts or getattr(node, "end_col_offset", None) is None:
            return self
        return Place.of(node, self.file, self.function)

    def whole(self) -> Place:
        """The place, in which a function of the package is called: its parts have other sources."""
        return replace(self, has_parts=False)

    def refuse(self, words: str) -> NoReturn:
        """Raises the error for this place in the source."""
        error = KernelError(words)
        error.put(self)
        raise error

    def shown(self) -> TracebackType | None:
        """A traceback that underlines it."""
        start, end = (self.line, self.column), (self.last_line, self.last_column)
        return tracebacks.frame_at(self.file, self.function, start, end)


@dataclass(frozen=True)
class Guard:
    """A name outside of a function, and its value when the function was compiled."""

    names: Any
    name: str
    found: Any

    def holds(self) -> bool:
        """Whether it still has that value."""
        return self.now() is self.found

    def now(self) -> Any:
        """Its present value: of a global, a cell, or an attribute of another object."""
        if isinstance(self.names, dict):
            return self.names.get(self.name, _NOTHING)
        if isinstance(self.names, CellType):
            return _in_cell(self.names)
        return getattr(self.names, self.name, _NOTHING)


_NOTHING = object()


def own_name(name: str) -> str:
    """A name without the prefix of its function."""
    return name.rsplit(".", maxsplit=1)[-1]


def _in_cell(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _NOTHING


@dataclass
class Source:
    """A function's tree, whose foreign names are constants."""

    function: FunctionType
    tree: ast.FunctionDef
    file: str
    guards: list[Guard] = field(default_factory=list)
    # Of a function of the package, the call in the place of which it stands.
    call: Place | None = None

    def at(self, node: ast.AST) -> Place:
        """Where a node stands."""
        if self.call is not None:
            return self.call
        return Place.of(self.tree, self.file, self.function.__name__).within(node)

    @property
    def positional(self) -> list[str]:
        """The names of the arguments that may be given by position."""
        arguments = self.tree.args
        return [argument.arg for argument in arguments.posonlyargs + arguments.args]

    @property
    def parameters(self) -> list[str]:
        """The names of all arguments."""
        return self.positional + [argument.arg for argument in self.tree.args.kwonlyargs]

    @property
    def by_position_alone(self) -> int:
        """How many arguments, the first ones, have no name for callers."""
        return len(self.tree.args.posonlyargs)

    @property
    def is_ours(self) -> bool:
        """Whether it is the package's, so that nobody wants to read it."""
        return self.file.startswith(_PACKAGE)

    def defaults(self) -> dict[str, Any]:
        """The values of arguments that are not given."""
        last = self.function.__defaults__ or ()
        first = len(self.positional) - len(last)
        return dict(zip(self.positional[first:], last, strict=True)) | (self.function.__kwdefaults__ or {})


def read(function: Callable[..., Any]) -> Source | None:
    """The source of a function; None where there is none to be had.

    Raises ``KernelError`` for a function whose parameters cannot be elements, and for unknown names.
    """
    assert isinstance(function, FunctionType)
    written_code.as_written(function)
    file = function.__code__.co_filename
    tree = _definition(function, file)
    if tree is None:
        return None
    source = Source(function, tree, file)
    _check_arguments(source)
    own = _own_names(tree)
    _Foreign(source, own).visit_all()
    return source


def _definition(function: FunctionType, file: str) -> ast.FunctionDef | None:
    """A function's definition in its file; a lambda as one that returns its expression."""
    parsed, codes = _parsed("".join(linecache.getlines(file, function.__globals__)), file)
    if parsed is None or _told(function.__code__) not in codes:
        # The file has changed since the function was made.
        return None
    first, lambdas = function.__code__.co_firstlineno, []
    for node in ast.walk(parsed):
        if isinstance(node, ast.FunctionDef) and node.name == function.__code__.co_name:
            if first == min([node.lineno, *(one.lineno for one in node.decorator_list)]):
                found: Any = copied(node)
                return found
        elif isinstance(node, ast.Lambda) and node.lineno == first and _holds(node.body, function):
            lambdas.append(node)
    if function.__code__.co_name != "<lambda>" or not lambdas:
        return None
    # Of one in another, both hold the inner one's code.
    found = copied(max(lambdas, key=lambda node: (node.body.lineno, node.body.col_offset)))
    given = ast.copy_location(ast.Return(found.body), found.body)
    definition = ast.parse("def kernel(): ...").body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.args, definition.body = found.args, [given]
    return ast.copy_location(definition, found)


@functools.lru_cache(maxsize=16)
def _parsed(text: str, file: str) -> tuple[ast.Module | None, frozenset[Any]]:
    """The tree of a text, and a key of the code compiled from it."""
    try:
        tree, open_codes = ast.parse(text), [compile(text, file, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return None, frozenset()
    told = set()
    while open_codes:
        code = open_codes.pop()
        told.add(_told(code))
        open_codes += [part for part in code.co_consts if isinstance(part, CodeType)]
    return tree, frozenset(told)


def _told(code: CodeType) -> Any:
    """A key that distinguishes code from other code of its file."""
    parts = (_told(part) if isinstance(part, CodeType) else repr(part) for part in code.co_consts)
    return code.co_name, code.co_firstlineno, code.co_code, code.co_names, code.co_varnames, tuple(parts)


def _holds(body: ast.expr, function: FunctionType) -> bool:
    """Whether a lambda's body is around all of a function's code that says where it comes from."""
    start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    places = [
        ((line, column), (last, behind))
        for line, last, column, behind in function.__code__.co_positions()
        if None not in (line, last, column, behind) and column != behind
    ]
    return bool(places) and all(start <= first and last <= end for first, last in places)


def _check_arguments(source: Source) -> None:
    arguments = source.tree.args
    if arguments.vararg or arguments.kwarg:
        source.at(source.tree).refuse("a kernel takes arguments that have names, no `*` or `**`")


def _own_names(tree: ast.FunctionDef) -> set[str]:
    """The names that a function binds itself."""
    arguments = tree.args
    own = {argument.arg for argument in arguments.posonlyargs + arguments.args + arguments.kwonlyargs}
    for statement in tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                own.add(node.id)
    return own


class _Foreign(ast.NodeTransformer):
    """Replaces a function's free names by the objects that it finds outside itself."""

    def __init__(self, source: Source, own: set[str]) -> None:
        self.source, self.own = source, own
        function = source.function
        self.cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def visit_all(self) -> None:
        body = self.source.tree.body
        body[:] = [self.visit(statement) for statement in body]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.own:
            return node
        return ast.copy_location(ast.Constant(self._found(node)), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value: Any = self.visit(node.value)
        module = value.value if isinstance(value, ast.Constant) else None
        if not isinstance(module, ModuleType) or not hasattr(module, node.attr):
            return ast.copy_location(ast.Attribute(value, node.attr, node.ctx), node)
        found = getattr(module, node.attr)
        # Attributes of the libraries' modules do not change.
        if module.__name__.split(".")[0] not in LIBRARIES:
            self.source.guards.append(Guard(module, node.attr, found))
        return ast.copy_location(ast.Constant(found), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        # Annotations are not computed.
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def _found(self, node: ast.Name) -> Any:
        if node.id in self.cells:
            return self._guarded(self.cells[node.id], node, _in_cell(self.cells[node.id]))
        names = self.source.function.__globals__
        if node.id in names:
            return self._guarded(names, node, names[node.id])
        if hasattr(builtins, node.id):
            # Nothing hides it now.
            self.source.guards.append(Guard(names, node.id, _NOTHING))
            return self._guarded(vars(builtins), node, getattr(builtins, node.id))
        return self.source.at(node).refuse(f"name `{node.id}` is not defined")

    def _guarded(self, names: dict[str, Any] | CellType, node: ast.Name, found: Any) -> Any:
        if found is _NOTHING:
            self.source.at(node).refuse(f"name `{node.id}` has no value yet")
        self.source.guards.append(Guard(names, node.id, found))
        return found


def copied(node: Any) -> Any:
    """A tree without copies of the things that its constants are."""
    if isinstance(node, list):
        return [copied(one) for one in node]
    if not isinstance(node, ast.AST):
        return node
    new = copy.copy(node)
    for name, value in ast.iter_fields(node):
        setattr(new, name, copied(value))
    return new
