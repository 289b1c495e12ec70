"""Libraries and decorators that read the code of functions, which get it without sites.

Owns ``may_read``, ``is_read`` and ``watch``. A module whose text imports a library that reads bytecode gets
no sites; where one is imported later, all functions get their code as written, and no site runs anything
any more. What keeps code (``marshal``, ``pickle``) makes bytes of sites. Not here: how functions get their
code (``_session/written_code.py``), sites (``sites.py``).
"""

from __future__ import annotations

import ast
import importlib.abc
import sys
from typing import Any

from .._session import written_code
from .bindings import BLOCKS

# Libraries that read the code of functions.
_LIBRARIES = frozenset("numba torch codon pythran taichi triton cupyx bytecode pyccel transonic".split())
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Decorators that run a function as it is.
_PLAIN = frozenset(
    "abstractmethod cache classmethod dataclass deleter getter lru_cache override property setter"
    " staticmethod wraps".split()
)


def may_read(tree: ast.Module) -> bool:
    """Whether a text, or the program until now, imports what reads code."""
    if written_code.has_reader() or any(name in sys.modules for name in _LIBRARIES):
        return True
    # Statements alone, as this is done whenever a program starts.
    stack: list[Any] = [*tree.body]
    while stack:
        node = stack.pop()
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        if any(name.partition(".")[0] in _LIBRARIES for name in names):
            return True
        for block in ("body",) if isinstance(node, _SCOPES) else BLOCKS.get(type(node), ()):
            stack += getattr(node, block)
    return False


def is_read(node: Any) -> bool:
    """Whether decorators of a function or a class may read its code."""
    for one in getattr(node, "decorator_list", ()):
        called = one.func if isinstance(one, ast.Call) else one
        if getattr(called, "attr", getattr(called, "id", "")) not in _PLAIN:
            return True
    return False


def watch() -> None:
    """Sees the imports of libraries that read code from here on."""
    if not any(isinstance(one, _Watch) for one in sys.meta_path):
        sys.meta_path.insert(0, _Watch())


class _Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname in _LIBRARIES:
            written_code.withdraw(fullname)
