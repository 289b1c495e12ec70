"""The places in programs that get numbers, and whether a pending one may stay pending there.

Owns ``fate``, which Rust asks before it gives a program a pending number. Invariants: code without a
source, or with one that is not understood, gets NumPy's scalars; an answer is used again only with the
globals that it was found with.

Not here: what a function does with a number (``uses.py``).
"""

from __future__ import annotations

import ast
import dis
import inspect
import itertools
import linecache
import os
import sys
import types
import warnings
from typing import Any, NamedTuple

import numpy as np

from .._fallback.policy import PACKAGES
from .._gpupy import ndarray, scalar
from .._scopes import scope
from .syntax import SyntaxTree
from .uses import Uses

_FOLDER = PACKAGES[0]
# Functions of ours that make arrays of all numbers that they get.
_MAKERS = {
    (os.path.join("_classes", "subclass.py"), "through"),
    (os.path.join("_namespace", "array_api.py"), "adapted"),
    (os.path.join("_namespace", "array_api.py"), "__getitem__"),
}
# The programs that are timed are as a user's.
_PROGRAMS = _FOLDER + "_bench"
# What keeps nothing of a number beside it in an operator; None is also what a name is bound to later.
_OPERANDS = (ndarray, scalar, np.ndarray, np.generic, int, float, complex, str, type(None))
# The filters of warnings that are in force, where each context has its own.
_FILTERS = getattr(warnings, "_get_filters", None)
# Answers of so many pieces of code are kept.
_KEPT = 4096


class _Answer(NamedTuple):
    """What becomes of a number that an instruction gives."""

    # The globals with which it may stay pending, by name.
    stays_with: dict[str, Any] | None
    # And the local names that hold arrays of ours then, names that hold operands, and those of them
    # that may hold nothing yet.
    arrays: frozenset[str]
    operands: frozenset[str]
    later: frozenset[str]
    # Whether the program drops what it is computed from.
    passing: bool

    def holds(self, frame: types.FrameType) -> bool:
        """Whether it may stay pending as the frame's names are bound now."""
        if self.stays_with is None:
            return False
        names = frame.f_globals
        if any(names.get(name) is not found for name, found in self.stays_with.items()):
            return False
        if not self.arrays and not self.operands:
            return True
        local = frame.f_locals
        if any(type(local.get(name)) is not ndarray for name in self.arrays):
            return False
        unbound = [name for name in self.operands if name not in local and name not in names]
        return self.later.issuperset(unbound) and all(
            issubclass(type(local.get(name, names.get(name))), _OPERANDS) for name in self.operands
        )


def _refused(passing: bool) -> _Answer:
    return _Answer(None, frozenset(), frozenset(), frozenset(), passing)


class _Code:
    """A piece of code, and what was found about its instructions that give numbers."""

    def __init__(self, code: types.CodeType) -> None:
        # As long as it is here, no other code has its number.
        self.code = code
        file = code.co_filename
        self.is_ours = file.startswith(PACKAGES) and not file.startswith(_PROGRAMS)
        self.makes_arrays = self.is_ours and (file[len(_FOLDER) :], code.co_name) in _MAKERS
        self.answers: dict[int, _Answer] = {}
        # The tree, and by how many lines its places are less than the code's.
        self._tree: tuple[SyntaxTree, int] | None = None
        self._is_read = False

    def answer(self, frame: types.FrameType) -> _Answer:
        """What was found about the frame's present instruction."""
        instruction = frame.f_lasti
        if instruction not in self.answers:
            try:
                found = self._found(instruction, frame)
            except Exception:
                # Of a source that is cut off, nested too deep, or another one by now.
                passing = _is_of_passing(self.code, instruction)
                found = _refused(passing)
            self.answers[instruction] = found
        return self.answers[instruction]

    def _found(self, instruction: int, frame: types.FrameType) -> _Answer:
        passing = _is_of_passing(self.code, instruction)
        if not self._is_read:
            self._is_read = True
            self._tree = _tree_of(self.code, frame)
        places = itertools.islice(self.code.co_positions(), instruction // 2, None)
        line, last, column, behind = next(places)
        if self._tree is None or line is None or last is None or column is None or behind is None:
            return _refused(passing)
        tree, lines = self._tree
        place = line - lines, last - lines, column, behind
        uses = Uses(tree, frame.f_globals)
        stays_with = uses.found if uses.are_alike(place) else None
        arrays, operands, later = map(frozenset, (uses.arrays, uses.operands, uses.later))
        return _Answer(stays_with, arrays, operands, later, passing)


_known: dict[int, _Code] = {}


def fate() -> tuple[bool, bool]:
    """Whether the number that the present instruction gives may be pending, and is of what passes."""
    frame = sys._getframe(1)
    while True:
        code = _known.get(id(frame.f_code))
        if code is None:
            if len(_known) >= _KEPT:
                _known.clear()
            code = _known[id(frame.f_code)] = _Code(frame.f_code)
        answer = code.answer(frame)
        if code.makes_arrays or (answer.holds(frame) and not _asks_for_warnings()):
            return True, False
        if not code.is_ours or frame.f_back is None:
            return scope.is_inside(frame), answer.passing
        # It may be what our function, or NumPy's, gives.
        frame = frame.f_back


def _asks_for_warnings() -> bool:
    """Whether a filter asks for warnings of arithmetic, which NumPy gives at the line of the operation."""
    for action, message, category, module, line in warnings.filters if _FILTERS is None else _FILTERS():
        if issubclass(RuntimeWarning, category):
            if action != "ignore":
                return True
            if message is None and module is None and not line:
                return False
    return False


# Between a call and the instruction that gives its last argument, or the object whose method it is.
_BETWEEN = frozenset(
    "CACHE KW_NAMES LOAD_ATTR LOAD_CONST LOAD_METHOD LOAD_SMALL_INT PRECALL PUSH_NULL".split()
)
_MAKING = ("BINARY_OP", "CALL", "UNARY_")


def _is_of_passing(code: types.CodeType, instruction: int) -> bool:
    """Whether an instruction is of a result that nothing else has; where that is not plain, false."""
    operations = (dis.opname[operation] for operation in code.co_code[instruction::-2])
    own = next(name for name in operations if name != "CACHE")
    before = next((name for name in operations if name not in _BETWEEN), "")
    return own.startswith(("CALL", "UNARY_")) and before.startswith(_MAKING)


def _tree_of(code: types.CodeType, frame: types.FrameType) -> tuple[SyntaxTree, int] | None:
    is_function = bool(code.co_flags & inspect.CO_OPTIMIZED) and code.co_name.isidentifier()
    if not is_function and not _is_program(code, frame):
        return None
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, frame.f_globals)
    found = _function(code, lines) if is_function else (_program(ast.parse("".join(lines))), 0)
    return None if found is None or found[0].may_be_looked_at() else found


def _function(code: types.CodeType, lines: list[str]) -> tuple[SyntaxTree, int] | None:
    first = code.co_firstlineno - 1
    # Below a condition, where any indentation is right.
    is_inside = lines[first][:1].isspace()
    try:
        block = _parsed(lines[first : _last_line(code)], is_inside)
    except SyntaxError:
        # It ends with what is no instruction, such as a bracket.
        block = _parsed(inspect.getblock(lines[first:]), is_inside)
    for node in ast.walk(block):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            shared = frozenset(code.co_cellvars) | frozenset(code.co_freevars)
            tree = SyntaxTree(node, frozenset(code.co_varnames) - shared, shared)
            return (tree, first - is_inside) if node.name == code.co_name else None
    return None


def _parsed(lines: list[str], is_inside: bool) -> ast.Module:
    return ast.parse("if 1:\n" * is_inside + "".join(lines))


def _last_line(code: types.CodeType) -> int:
    """The last line that has an instruction of a function, or of one in it."""
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    own = (last or 0 for _, last, _, _ in code.co_positions())
    return max(code.co_firstlineno, *own, *map(_last_line, inner))


def _program(tree: ast.Module) -> SyntaxTree:
    """A program, whose names all its functions see, but nothing else does."""
    names = (
        node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return SyntaxTree(tree, frozenset(node.id for node in names))


def _is_program(code: types.CodeType, frame: types.FrameType) -> bool:
    """Whether it is the program's own file: nothing imports its names, and nobody types at its end."""
    is_main = code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__"
    return is_main and not (hasattr(sys, "ps1") or sys.flags.interactive or sys.flags.inspect)
