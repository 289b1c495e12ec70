"""Loops of traced functions, which are compiled where they stand where the function is not traced.

Owns ``place``, which gives a function the code with sites. The text of its file is compiled as written and
with sites; where its code is among the code as written, it gets the one with sites. Invariant: a function
whose text cannot be had, or is not what it was made of, stays as it is; so does one that something watches or
reads. Not here: what a site is, and modules with sites (``_loops``), recordings that come upon a loop
(``watch.py``).
"""

from __future__ import annotations

import ast
import functools
import linecache
import opcode
import types
import warnings
from collections.abc import Iterator
from typing import Any

from .._loops import entries, readers, running, second_copy
from .._session import tracebacks, written_code

# Instructions that loops end with.
_BACKWARD = frozenset(code for name, code in opcode.opmap.items() if "BACKWARD" in name)
# Code as written, and with sites, of the functions of a file.
_Pairs = dict[types.CodeType, types.CodeType]
# By file and text.
_known: dict[tuple[str, str | None], _Pairs] = {}
# Files that are known at once.
_FILES = 64


def place(function: Any) -> bool:
    """Compiles the loops of a function, and of those that it wraps; False where it is to be tried again."""
    if not written_code.IS_ON or written_code.has_reader():
        return True
    wanted = [one for one in _wrapped(function) if _has_loops(one.__code__)]
    if wanted and entries.is_watched():
        return False
    for one in wanted:
        _place(one)
    return True


def _wrapped(function: Any) -> Iterator[types.FunctionType]:
    """The functions that something consists of: of a method, of a partial one, below decorators."""
    seen: set[int] = set()
    while id(function) not in seen:
        seen.add(id(function))
        if isinstance(function, types.MethodType | staticmethod | classmethod):
            function = function.__func__
        elif isinstance(function, functools.partial):
            function = function.func
        elif type(function) is types.FunctionType:
            yield function
            function = function.__dict__.get("__wrapped__")


def _has_loops(code: types.CodeType) -> bool:
    return any(not _BACKWARD.isdisjoint(one.co_code[::2]) for one in written_code.codes(code))


def _place(function: types.FunctionType) -> None:
    code = function.__code__
    if written_code.written(code) is not code:
        return
    file = code.co_filename
    tree = written_code.tree_of(file)
    text = None if tree is not None else "".join(linecache.getlines(file, function.__globals__))
    if text == "":
        return
    pairs = _known.get((file, text))
    if pairs is None:
        if len(_known) >= _FILES:
            _known.clear()
        pairs = _known[file, text] = _compiled(tree, text, file, function.__globals__)
    found = pairs.get(code)
    sites = [] if found is None else second_copy.sites(found)
    if found is None or not sites:
        return
    for site in sites:
        entries.note(site)
        if isinstance(site.enter, entries.Entry):
            site.enter.hurry()
    written_code.note_pairs(found, code)
    readers.watch()
    if text is not None:
        entries.functions.setdefault(file, (text, set()))[1].add(code.co_firstlineno)
    function.__code__ = found


def _compiled(tree: ast.Module | None, text: str | None, file: str, names: dict[str, Any]) -> _Pairs:
    """The code of all functions of a text, those with decorators too."""
    with warnings.catch_warnings():
        # They were heard when the module was compiled, and errors too.
        warnings.simplefilter("ignore")
        try:
            return _pairs(tree, text, file, names)
        except Exception as error:
            if not tracebacks.is_own(error):
                raise
            return {}


def _pairs(tree: ast.Module | None, text: str | None, file: str, names: dict[str, Any]) -> _Pairs:
    if tree is None:
        tree = ast.parse(text or "", file)
    if readers.may_read(tree):
        return {}
    written = compile(tree, file, "exec", dont_inherit=True)
    code = running.of_functions(tree, file, names, written)
    if code is None:
        return {}
    plain, more = written_code.codes(written), written_code.codes(code)
    return {one: other for one, other in zip(plain, more, strict=True) if one is not written}
