"""The syntax tree of a function or a program: its expressions by their places, and where its names are bound.

Owns ``SyntaxTree``. Not here: what becomes of a number (``uses.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

# Names by which code looks at its own names, or at those of its callers.
_LOOKING = frozenset("breakpoint dir eval exec globals locals vars".split())
# Expressions that may give a number.
_GIVERS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.AugAssign)


class SyntaxTree:
    """The tree of a function, or of a program."""

    def __init__(self, tree: ast.AST, local: frozenset[str], shared: frozenset[str] = frozenset()) -> None:
        """``local`` are the names that nothing else sees, ``shared`` those of functions around or within."""
        self.local, self.is_function = local, not isinstance(tree, ast.Module)
        self.shared = shared
        self.parents = {part: node for node in ast.walk(tree) for part in ast.iter_child_nodes(node)}
        self.names: dict[str, list[ast.Name]] = {}
        for node in self.parents:
            if isinstance(node, ast.Name):
                self.names.setdefault(node.id, []).append(node)

    def may_be_looked_at(self) -> bool:
        """Whether the code looks at names otherwise than by naming them."""
        return not _LOOKING.isdisjoint(self.names)

    def stores(self, name: str) -> Iterator[ast.Name]:
        """The places where a name is bound, but for an argument's."""
        return (node for node in self.names.get(name, ()) if isinstance(node.ctx, ast.Store))

    def is_of_class(self, node: ast.AST) -> bool:
        """Whether a name lies in the body of a class, whose attribute it is."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return False
            if isinstance(node, ast.ClassDef):
                return True
        return False

    def loops(self, node: ast.AST) -> set[ast.AST]:
        """The loops around a node."""
        found: set[ast.AST] = set()
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, ast.For | ast.AsyncFor | ast.While):
                found.add(node)
        return found

    def at(self, place: tuple[int, int, int, int]) -> ast.AST | None:
        """The expression at a place that may give a number."""
        line, last, column, behind = place
        call = None
        for node in self.parents:
            if isinstance(node, _GIVERS) and (node.end_lineno, node.end_col_offset) == (last, behind):
                if (node.lineno, node.col_offset) == (line, column):
                    return node
                # A call of a method begins at the method where that is in another line.
                if isinstance(node, ast.Call) and node.lineno < line:
                    call = node
        return call
