"""The code of a program's module with a site before each nest that is compiled, all open.

Owns ``with_sites``. Of a loop that qualifies by its text but holds what is not compiled yet, the loops in
it are looked at. Not here: what an open site does (``entries.py``), where sites are put
(``second_copy.py``).
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from .._session import written_code
from . import readers, second_copy
from .bindings import BLOCKS
from .entries import Entry
from .lowering import Functions, Lowered, Unlowered, lowered, place
from .nests import FoundLoop
from .sites import Site


def with_sites(tree: ast.Module, file: str, written: Callable[[], types.CodeType]) -> types.CodeType | None:
    """The code of a module whose nests run compiled; None where it has none, or something may read it.

    The tree is changed; ``written`` compiles the module as written.
    """
    if readers.may_read(tree):
        return None
    code = second_copy.compiled(tree, file, partial(_chosen, functions(tree)))
    written_code.note(code, written)
    readers.watch()
    return code


def functions(tree: ast.Module) -> Functions:
    """The functions of a module by their names; the finder refuses those with several meanings."""
    return {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}


def _chosen(
    known: Functions, nest: FoundLoop, node: Any
) -> Iterator[tuple[FoundLoop, Any, Callable[[Site], Any]]]:
    assert nest.facts is not None
    calls = {call.text: call.stands_for for call in nest.facts.calls}
    for loop, at, found in nests(nest, node, calls, known):
        if isinstance(found, Lowered):
            yield replace(loop, facts=nest.facts), at, partial(_opened, found)


def _opened(found: Lowered, site: Site) -> None:
    Entry(site, found)


def nests(
    loop: FoundLoop, node: Any, calls: dict[str, str], known: Functions
) -> Iterator[tuple[FoundLoop, Any, Lowered | Unlowered]]:
    """The outermost loops that are lowered, and those around them with the reason why they are not."""
    try:
        yield loop, node, lowered(node, calls, known)
        return
    except Unlowered as refused:
        yield loop, node, refused
    # Loops stand in statements, and nodes of expressions are many.
    by_place: dict[tuple[int, int], Any] = {}
    stack = [node]
    while stack:
        one = stack.pop()
        for block in BLOCKS.get(type(one), ()):
            stack += getattr(one, block)
        if isinstance(one, ast.For | ast.While):
            by_place[one.lineno, one.col_offset] = one
    for inner in loop.inner:
        yield from nests(inner, by_place[inner.place.line, inner.place.column], calls, known)


__all__ = ["functions", "nests", "place", "with_sites"]
