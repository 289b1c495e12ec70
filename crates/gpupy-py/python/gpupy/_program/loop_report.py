"""``gpupy.loops``: which loops of the program may be compiled, by their text, and why the others may not.

Owns ``loops`` and ``LoopReport``. Nothing is done before it is called. Invariant: no text of a program
makes it raise; what cannot be read is said. Not here: the search (``_loops``), the program's texts
(``texts.py``).
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

from .._loops.loop_finder import find
from .._loops.nests import FoundLoop
from . import imports, texts

_NOTHING = (
    "No module runs with gpupy in NumPy's place, so that no loops are known: run the program by"
    " `python -m gpupy program.py`, or call `gpupy.install()` at its top."
)
_HEAD = "Loops of the program, by their text. None is compiled yet: all of them run in Python."
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
            yield f"{row} would qualify{inside}"
            return
        yield f"{row} runs in Python: {loop.refusal.words} (line {loop.refusal.place.line})"
        for inner in loop.inner:
            yield from self._rows(inner, indent + "  ")


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
    """The loops of the program's own modules: which would qualify to be compiled, and why others do not.

    The program is one that runs with gpupy in NumPy's place (``python -m gpupy``, ``gpupy.install()``,
    ``%load_ext gpupy``). ``print(gpupy.loops())`` shows each loop with its line. The report's ``loops`` are
    the same as objects, with ``place``, ``qualifies``, and the ``refusal`` of those that do not qualify:

        for loop in gpupy.loops().loops:
            if not loop.qualifies:
                print(loop.place.line, loop.refusal.words)

    The text of a loop decides; which types its values have is not asked. No loop is compiled yet. Nothing is
    raised: of a module whose source is not to be had, or is no Python any more, the report says so.
    ``GPUPY_LOOPS=0`` turns the search off.
    """
    if not texts.IS_ON:
        return LoopReport((), is_on=False)
    found = {name: _found(name, text) for name, text in _texts()}
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


def _found(name: str, text: str | bytes | None) -> ModuleLoops:
    if text is None:
        return ModuleLoops(name, (), "its source is not to be had")
    try:
        with warnings.catch_warnings():
            # They were heard when the module was compiled.
            warnings.simplefilter("ignore")
            tree = ast.parse(text, name)
        return ModuleLoops(name, find(tree, name), None, _lines(text))
    except Exception as error:
        # No Python any more, another encoding than it says, nested too deep.
        words = str(error).splitlines() or [""]
        return ModuleLoops(name, (), f"its source cannot be read: {type(error).__name__}: {words[0]}")


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
