"""Loops with a site in front of them, and a second copy that goes on where another's run of them left.

Owns ``compiled``. Of a loop that qualifies becomes, all of it in the lines and columns of the loop,

    if SITE.isascii or SITE.stays():
        for i in x:                     # as written
            y[i] = s
    else:
        if SITE.has("i"): i = SITE.value("i")
        if SITE.isalnum or SITE.runs(0):
            for i in not SITE.isalnum and SITE.rest(0) or x:
                if SITE.isalnum or SITE.runs(1): y[i] = s

Invariants: code whose sites are closed does what the text does, with its lines, columns, names, and events
of tracing; a text that cannot be compiled so is compiled as written, with its own errors and warnings. Not
here: what a site answers (``sites.py``), which loops qualify (``loop_finder.py``).
"""

from __future__ import annotations

import ast
import os
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from .._session import tracebacks
from . import readers
from .loop_finder import find
from .nests import FoundLoop
from .sites import BEHIND, CLOSED, Site

# The beginning of a site's placeholder until the code is there; no text of a program has it.
_MARK = b"site " + os.urandom(16)


# Of a nest, the loops that get a site, and what is done with each site.
Choice: TypeAlias = Callable[[FoundLoop, Any], Iterable[tuple[FoundLoop, Any, Callable[[Site], Any]]]]


def _whole(nest: FoundLoop, node: Any) -> Iterable[tuple[FoundLoop, Any, Callable[[Site], Any]]]:
    # What is lowered holds nothing that warns.
    return [] if _warns(node) else [(nest, node, lambda site: None)]


@dataclass(frozen=True)
class Text:
    """What is compiled with sites: a module's tree, its file, and what is known of it besides."""

    tree: ast.Module
    file: str
    # Values of names that the text does not bind.
    outside: Mapping[str, Any] | None = None
    # Whether code below decorators that may read it gets sites, too.
    has_decorated: bool = False
    # What compiles the tree; None for a module's.
    compiler: Callable[[], types.CodeType] | None = None

    def compiled(self) -> types.CodeType:
        """The code of the tree as it is."""
        if self.compiler is not None:
            return self.compiler()
        return compile(self.tree, self.file, "exec", dont_inherit=True)


def compiled(tree: ast.Module, file: str, choose: Choice = _whole) -> types.CodeType:
    """The code of a module with a site for each of its nests, or those that are chosen, all closed.

    The tree is changed meanwhile.
    """
    found = compiled_text(Text(tree, file), choose)
    return compile(tree, file, "exec", dont_inherit=True) if found is None else found


def compiled_text(text: Text, choose: Choice) -> types.CodeType | None:
    """The same for a text of which more is known; None, and the tree as it was, where it gets no site."""
    placed = _Placed(text, choose)
    try:
        placed.put()
        return _with_sites(text.compiled(), placed.sites) if placed.sites else None
    except SyntaxError:
        # The program's own, as the loop stands before its copy.
        raise
    except Exception as error:
        # Nested too deep with the copies.
        placed.undo()
        if not tracebacks.is_own(error):
            raise
        return None


def sites(code: types.CodeType) -> list[Site]:
    """The sites in a code object and those in it, in the order of the text."""
    found = [one for one in code.co_consts if isinstance(one, Site)]
    inner = [one for one in code.co_consts if isinstance(one, types.CodeType)]
    every = [*found, *(one for part in inner for one in sites(part))]
    return sorted(every, key=lambda site: (site.nest.place.line, site.nest.place.column))


def _with_sites(code: types.CodeType, known: dict[bytes, Site]) -> types.CodeType:
    consts: list[Any] = []
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            consts.append(_with_sites(one, known))
        else:
            consts.append(known.get(one, one) if type(one) is bytes else one)
    if all(new is old for new, old in zip(consts, code.co_consts, strict=True)):
        return code
    return code.replace(co_consts=tuple(consts))


class _Placed:
    """The sites of a tree."""

    def __init__(self, text: Text, choose: Choice) -> None:
        self._text, self._choose = text, choose
        self.sites: dict[bytes, Site] = {}
        self._undo: list[tuple[list[ast.stmt], int, ast.stmt]] = []

    def put(self) -> None:
        """Puts a site before each nest, but in what decorators may read."""
        text = self._text
        nests = [nest for loop in find(text.tree, text.file, text.outside) for nest in loop.nests()]
        by_place = {(nest.place.line, nest.place.column): nest for nest in nests}
        stack: list[Any] = [text.tree]
        # Loops that were chosen in a nest, and what is done with their sites.
        chosen: dict[int, tuple[FoundLoop, Callable[[Site], Any]]] = {}
        while stack and (by_place or chosen):
            node = stack.pop()
            if not text.has_decorated and readers.is_read(node):
                continue
            for block in ("body", "orelse", "handlers", "finalbody", "cases"):
                inside = getattr(node, block, None)
                if not isinstance(inside, list):
                    continue
                for number, one in enumerate(inside):
                    nest = None
                    if isinstance(one, ast.For | ast.While):
                        nest = by_place.pop((one.lineno, one.col_offset), None)
                    if nest is not None:
                        for loop, at, does in self._choose(nest, one):
                            chosen[id(at)] = loop, does
                    if id(one) in chosen:
                        self._put_before(inside, number, one, *chosen.pop(id(one)))
                    else:
                        stack.append(one)

    def undo(self) -> None:
        """Makes the tree what it was."""
        while self._undo:
            block, number, loop = self._undo.pop()
            block[number] = loop

    def _put_before(
        self, block: list[ast.stmt], number: int, loop: Any, nest: FoundLoop, does: Callable[[Site], Any]
    ) -> None:
        mark = b"%s%d" % (_MARK, len(self.sites))
        site = self.sites[mark] = Site(nest)
        does(site)
        self._undo.append((block, number, loop))
        block[number] = _Copy(mark, nest).around(loop)


def _warns(loop: ast.AST) -> bool:
    """Whether compiling a loop may warn, which would be heard twice."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Compare):
            if any(isinstance(one, ast.Is | ast.IsNot) for one in node.ops):
                if any(map(_is_literal, (node.left, *node.comparators))):
                    return True
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Constant | ast.Tuple):
            return True
    return False


def _is_literal(node: ast.expr) -> bool:
    """Whether `is` with it may warn."""
    if isinstance(node, ast.Constant):
        return not any(node.value is one for one in (None, True, False, ...))
    return isinstance(node, ast.Tuple)


class _Copy:
    """The second copy of a loop. Expressions belong to both."""

    def __init__(self, mark: bytes, nest: FoundLoop) -> None:
        self._mark, self._nest, self._count = mark, nest, 0

    def around(self, loop: ast.For | ast.While) -> ast.stmt:
        """The statement in the place of a loop."""
        at = _place(loop)
        names = sorted(self._nest.facts.writes) if self._nest.facts is not None else []
        given: list[ast.stmt] = []
        for name in names:
            value = self._call(at, "value", ast.Constant(name, **at))
            is_given = self._call(at, "has", ast.Constant(name, **at))
            given.append(
                ast.If(is_given, [ast.Assign([ast.Name(name, ast.Store(), **at)], value, **at)], [], **at)
            )
        is_closed = ast.Attribute(self._site(at), CLOSED, ast.Load(), **at)
        test = ast.BoolOp(ast.Or(), [is_closed, self._call(at, "stays")], **at)
        return ast.If(test, [loop], [*given, self._statement(loop)], **at)

    def _statement(self, node: Any) -> ast.stmt:
        at = _place(node)
        number = self._count
        self._count += 1
        which = ast.Constant(number, **at)
        new = node
        if isinstance(node, ast.For):
            given = self._before(at, self._call(at, "rest", which))
            # Errors of what is no iterable are shown here.
            rest = _beside(node.iter, ast.BoolOp(ast.Or(), [given, node.iter]))
            new = ast.For(node.target, rest, self._block(node.body), self._block(node.orelse))
        elif isinstance(node, ast.While | ast.If):
            inside, behind = (
                self._call(at, "enters", which, ast.Constant(block, **at)) for block in ("body", "orelse")
            )
            is_not_behind = ast.UnaryOp(ast.Not(), behind, **at)
            is_asked = ast.BoolOp(ast.Or(), [self._behind(at), is_not_behind], **at)
            asked = _beside(node.test, ast.BoolOp(ast.And(), [is_asked, node.test]))
            test = _beside(node.test, ast.BoolOp(ast.Or(), [self._before(at, inside), asked]))
            new = type(node)(test, self._block(node.body), self._block(node.orelse))
        ast.copy_location(new, node)
        runs = ast.BoolOp(ast.Or(), [self._behind(at), self._call(at, "runs", which)], **at)
        return ast.If(runs, [new], [], **at)

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [self._statement(one) for one in body]

    def _behind(self, at: dict[str, Any]) -> ast.expr:
        """Whether no leave waits."""
        return ast.Attribute(self._site(at), BEHIND, ast.Load(), **at)

    def _before(self, at: dict[str, Any], value: ast.expr) -> ast.expr:
        """A value where a leave waits."""
        return ast.BoolOp(ast.And(), [ast.UnaryOp(ast.Not(), self._behind(at), **at), value], **at)

    def _site(self, at: dict[str, Any]) -> ast.expr:
        return ast.Constant(self._mark, **at)

    def _call(self, at: dict[str, Any], method: str, *arguments: ast.expr) -> ast.expr:
        function = ast.Attribute(self._site(at), method, ast.Load(), **at)
        return ast.Call(function, list(arguments), [], **at)


def _place(node: Any) -> dict[str, Any]:
    """The beginning of a node.

    Python gives attributes the last line of their place, which has to be the first one of a loop.
    """
    line, column = node.lineno, node.col_offset
    return {"lineno": line, "col_offset": column, "end_lineno": line, "end_col_offset": column + 1}


def _beside(node: ast.expr, new: ast.expr) -> ast.expr:
    """An expression in the place of another one."""
    return ast.copy_location(new, node)
