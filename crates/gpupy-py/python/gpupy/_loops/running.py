"""The code of a program's module with a site before each nest that is compiled, all open.

Owns ``with_sites``. Of a loop that qualifies by its text but holds what is not compiled yet, the loops in
it are looked at. Not here: what an open site does (``entries.py``), where sites are put
(``second_copy.py``).
"""

from __future__ import annotations

import ast
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from .._session import written_code
from . import readers, second_copy
from .bindings import BLOCKS
from .entries import Entry, note
from .lowering import Functions, Lowered, Unlowered, lowered, place
from .nests import FoundLoop
from .sites import Site


def with_sites(tree: ast.Module, file: str, written: Callable[[], types.CodeType]) -> types.CodeType | None:
    """The code of a module whose nests run compiled; None where it has none, or something may read it.

    The tree is changed, unless it is None; ``written`` compiles the module as written.
    """
    if readers.may_read(tree):
        return None
    chosen = partial(_chosen, partial(_opened, written), functions(tree))
    code = second_copy.compiled_text(second_copy.Text(tree, file), chosen)
    if code is not None:
        written_code.note(code, written)
        readers.watch()
    return code


def of_cell(
    tree: Any, file: str, outside: Mapping[str, Any], compiler: Callable[[], types.CodeType]
) -> types.CodeType:
    """The code of statements of a notebook, whose nests run compiled; ``compiler`` compiles the tree."""
    written = compiler()
    if readers.may_read(tree):
        return written
    chosen = partial(_chosen, partial(_opened, lambda: written), functions(tree))

    def quiet() -> types.CodeType:
        with warnings.catch_warnings():
            # They are heard when it is compiled as written.
            warnings.simplefilter("ignore")
            return compiler()

    text = second_copy.Text(tree, file, outside, compiler=quiet)
    code = second_copy.compiled_text(text, chosen)
    if code is None:
        return written
    written_code.note_pairs(code, written)
    readers.watch()
    return code


def of_functions(
    tree: ast.Module, file: str, outside: Mapping[str, Any], written: types.CodeType
) -> types.CodeType | None:
    """The code of a module with sites in all of its functions, of which some get it."""
    text = second_copy.Text(tree, file, outside, has_decorated=True)
    chosen = partial(_chosen, partial(_made, lambda: written), functions(tree))
    return second_copy.compiled_text(
        text, lambda nest, node: () if nest.place.function == "<module>" else chosen(nest, node)
    )


def functions(tree: ast.Module) -> Functions:
    """The functions of a module by their names; the finder refuses those with several meanings."""
    return {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}


def _chosen(
    opened: Callable[[Lowered, Site], Any], known: Functions, nest: FoundLoop, node: Any
) -> Iterator[tuple[FoundLoop, Any, Callable[[Site], Any]]]:
    assert nest.facts is not None
    calls = {call.text: call.stands_for for call in nest.facts.calls}
    for loop, at, found in nests(nest, node, calls, known):
        if isinstance(found, Lowered):
            yield replace(loop, facts=nest.facts), at, partial(opened, found)


def _made(written: Callable[[], types.CodeType], found: Lowered, site: Site) -> None:
    Entry(site, found, written)


def _opened(written: Callable[[], types.CodeType], found: Lowered, site: Site) -> None:
    _made(written, found, site)
    note(site)


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
