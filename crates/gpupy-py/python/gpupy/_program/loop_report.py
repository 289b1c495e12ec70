"""``gpupy.loops``: which loops of the program ran compiled, and why the others did not.

Owns ``loops`` and ``LoopReport``. Texts are read again when it is called. Invariant: no text of a program
makes it raise; what cannot be read is said. Not here: the search and the runs (``_loops``), the program's
texts (``texts.py``).
"""

from __future__ import annotations

import ast
import contextlib
import importlib.machinery
import importlib.util
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .._loops import entries, running
from .._loops.loop_finder import find
from .._loops.lowering import Unlowered
from .._loops.nests import FoundLoop
from . import imports, texts

_NOTHING = (
    "No module runs with gpupy in NumPy's place, so that no loops are known: run the program by"
    " `python -m gpupy program.py`, or call `gpupy.install()` before its modules are imported; or no function"
    " of `gpupy.jit` with loops was called."
)
_HEAD = "Loops of the program: those that qualify by their text may run compiled, others run in Python."
# Ends of the names of files without a text.
_COMPILED = (*importlib.machinery.EXTENSION_SUFFIXES, *importlib.machinery.BYTECODE_SUFFIXES)
# Characters of a loop's first line that are shown.
_SHOWN = 60


@dataclass(frozen=True)
class ModuleLoops:
    """The loops of one module."""

    file: str
    # The outermost ones.
    loops: tuple[FoundLoop, ...]
    # Why its text cannot be read.
    problem: str | None = None
    _lines: tuple[str, ...] = field(default=(), repr=False)
    # Of loops that qualify by their text, by line and column: why they are not compiled yet, with the line.
    _unlowered: dict[tuple[int, int], tuple[str, int]] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        if self.problem is not None:
            return f"{self.file}: {self.problem}"
        every = [one for loop in self.loops for one in loop.all_loops()]
        would = sum(one.qualifies for one in every)
        lines = [f"{self.file}: {len(every)} {'loop' if len(every) == 1 else 'loops'}, {would} would qualify"]
        for loop in self.loops:
            lines += self._rows(loop, "  ")
        return "\n".join(lines)

    def _rows(self, loop: FoundLoop, indent: str) -> Iterator[str]:
        place = loop.place
        first = self._lines[place.line - 1].strip()
        shown = first if len(first) <= _SHOWN else f"{first[: _SHOWN - 1]}…"
        row = f"{indent}line {place.line}, in {place.function}: `{shown}`"
        if loop.refusal is None:
            more = sum(1 for _ in loop.all_loops()) - 1
            inside = f", with {more} {'loop' if more == 1 else 'loops'} in it" if more else ""
            words = self._how(loop)
            yield f"{row} {words or 'would qualify'}{inside if words is None else ''}"
            if (place.line, place.column) in self._unlowered:
                for inner in loop.inner:
                    yield from self._rows(inner, indent + "  ")
            return
        yield f"{row} runs in Python: {loop.refusal.words} (line {loop.refusal.place.line})"
        for inner in loop.inner:
            yield from self._rows(inner, indent + "  ")

    def _how(self, loop: FoundLoop) -> str | None:
        """What became of a loop that qualifies by its text; None where it has no site."""
        place = loop.place
        refused = self._unlowered.get((place.line, place.column))
        if refused is not None:
            words, line = refused
            return f"runs in Python, as it has {words} (line {line})"
        entry = entries.places.get((place.file, place.line, place.column))
        if entry is None:
            return None
        if entry.runs == 0:
            why = entry.words or "it has few steps"
            return f"may run compiled; it did not: {why}"
        left = f", left to Python {_times(entry.leaves)}" if entry.leaves else ""
        if entry.words:
            left += f" ({entry.words})"
        return (
            f"ran compiled {_times(entry.runs)}, {entry.seconds:.3g} s,"
            f" {entry.compiling:.3g} s of it compiling{left}"
        )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


@dataclass(frozen=True)
class LoopReport:
    """What `gpupy.loops` found; its text is the report."""

    modules: tuple[ModuleLoops, ...]
    is_on: bool = True

    @property
    def loops(self) -> tuple[FoundLoop, ...]:
        """All loops, those in others behind them."""
        return tuple(one for module in self.modules for loop in module.loops for one in loop.all_loops())

    def __str__(self) -> str:
        if not self.is_on:
            return "GPUPY_LOOPS is `0`: loops are not looked for."
        if not self.modules:
            return _NOTHING
        return "\n".join([_HEAD, *(f"\n{module}" for module in self.modules)])

    def __repr__(self) -> str:
        return str(self)


def loops() -> LoopReport:
    """The loops of the program's own modules: which ran compiled, how often, how long, why others did not.

    The program is one that runs with gpupy in NumPy's place (``python -m gpupy``, ``gpupy.install()``,
    ``%load_ext gpupy``); of others, the functions of ``gpupy.jit`` that were called. ``print(gpupy.loops())``
    shows each loop with its line. The report's ``loops`` are the same as objects, with ``place``,
    ``qualifies``, and the ``refusal`` of those that do not qualify:

        for loop in gpupy.loops().loops:
            if not loop.qualifies:
                print(loop.place.line, loop.refusal.words)

    ``qualifies`` is by the text of a loop; the report's text says what became of it. Nothing is raised: of a
    module whose source is not to be had, or is no Python any more, the report says so. ``GPUPY_LOOPS=0``
    turns it off: all loops run in Python, and are not looked for.
    """
    if not texts.IS_ON:
        return LoopReport((), is_on=False)
    found = {name: _found(name, text) for name, text in _texts()}
    for file, (text, lines) in list(entries.functions.items()):
        if file not in found and texts.file_of_cell(text) is None:
            found[file] = _found(file, text, frozenset(lines))
    return LoopReport(tuple(found.values()))


def _texts() -> Iterator[tuple[str, str | bytes | None]]:
    """The names of the program's files with their texts."""
    yield from texts.without_file()
    modules = list(sys.modules.items())
    for name, module in sorted(modules, key=lambda item: item[0] != "__main__"):
        if not isinstance(module, types.ModuleType):
            continue
        # A module that is loaded at its first use stays as it is.
        names: dict[str, Any] = object.__getattribute__(module, "__dict__")
        file = names.get("__file__")
        if isinstance(file, str) and imports.is_own(names):
            yield file, _text(name, file, names)


def _text(name: str, file: str, names: dict[str, Any]) -> str | bytes | None:
    kept = texts.text_of(file)
    if kept is not None:
        return kept
    with contextlib.suppress(OSError), open(file, "rb") as opened:
        return None if file.endswith(_COMPILED) else opened.read()
    # Of a file in an archive; loaders of other kinds have no texts.
    with contextlib.suppress(Exception):
        return names["__loader__"].get_source(name)
    return None


def _found(name: str, text: str | bytes | None, lines: frozenset[int] | None = None) -> ModuleLoops:
    """The loops of a text, or of its functions that begin on these lines."""
    if text is None:
        return ModuleLoops(name, (), "its source is not to be had")
    try:
        with warnings.catch_warnings():
            # They were heard when the module was compiled.
            warnings.simplefilter("ignore")
            tree = ast.parse(text, name)
        cell = texts.file_of_cell(text)
        found = find(tree, cell or name, texts.names_of_cells() if cell else None)
        if lines is not None:
            spans = list(_spans(tree, lines))
            found = tuple(one for one in found if any(start <= one.place.line <= end for start, end in spans))
        return ModuleLoops(name, found, None, _lines(text), _unlowered(tree, found))
    except Exception as error:
        # No Python any more, another encoding than it says, nested too deep.
        words = str(error).splitlines() or [""]
        return ModuleLoops(name, (), f"its source cannot be read: {type(error).__name__}: {words[0]}")


def _spans(tree: ast.Module, lines: frozenset[int]) -> Iterator[tuple[int, int]]:
    """The lines of functions that begin on some; one with decorators begins at the first of them."""
    for one in ast.walk(tree):
        if isinstance(one, ast.FunctionDef | ast.Lambda):
            decorators = getattr(one, "decorator_list", [])
            if min([one.lineno, *(each.lineno for each in decorators)]) in lines:
                yield one.lineno, one.end_lineno or one.lineno


def _unlowered(tree: ast.Module, found: tuple[FoundLoop, ...]) -> dict[tuple[int, int], tuple[str, int]]:
    """Why loops that qualify are not compiled yet."""
    nodes = {
        (one.lineno, one.col_offset): one for one in ast.walk(tree) if isinstance(one, ast.For | ast.While)
    }
    why: dict[tuple[int, int], tuple[str, int]] = {}
    known = running.functions(tree)
    for nest in (nest for loop in found for nest in loop.nests()):
        calls = {call.text: call.stands_for for call in nest.facts.calls} if nest.facts else {}
        node = nodes[nest.place.line, nest.place.column]
        for loop, _, given in running.nests(nest, node, calls, known):
            if isinstance(given, Unlowered):
                why[loop.place.line, loop.place.column] = given.words, given.node.lineno
    return why


def _lines(text: str | bytes) -> tuple[str, ...]:
    """The lines of a text, as Python counts them."""
    if isinstance(text, str):
        decoded = text
    else:
        try:
            decoded = importlib.util.decode_source(text)
        except (SyntaxError, UnicodeError):
            # Python sees an encoding before other ends of lines than this.
            decoded = text.decode("latin-1")
    return tuple(decoded.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
