"""What a function does with a number that an expression of it gives, by its syntax tree.

Owns ``SyntaxTree`` and ``Uses``. A number stays pending only where every use of it is on a list of
those to which a pending one and NumPy's own are the same: an operand, a truth, text, an argument of
NumPy's ufuncs or of a few functions of Python's, an element that an array of ours gets, or a local name
all of whose uses are of these. What an operation gives is another number, of an expression of its own.

Not here: frames (``sites.py``).
"""

from __future__ import annotations

import ast
import builtins
import math
import types
from typing import Any

import numpy as np

import gpupy

# Methods, and functions of NumPy's, that give one number.
_REDUCTIONS = frozenset(
    "all any argmax argmin average dot inner max mean min nanmax nanmean nanmin nanstd nansum nanvar norm"
    " prod ptp std sum trace var vdot".split()
)
# Functions of Python's that give a new object, which tells nothing of the class of their arguments.
_READERS = frozenset("abs bool complex float format int print repr round str".split())
# Those that give one of their arguments.
_CHOOSERS = frozenset({"max", "min"})
# Functions of ours that only look.
_LOOKERS = frozenset({"explain"})
# Names by which code looks at its own names, or at those of its callers.
_LOOKING = frozenset("breakpoint dir eval exec globals locals vars".split())
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.IsNot)
_GIVERS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.AugAssign)


class SyntaxTree:
    """The tree of a function, or of a program."""

    def __init__(self, tree: ast.AST, local: frozenset[str]) -> None:
        """``local`` are the names that nothing else sees."""
        self.local, self.is_function = local, not isinstance(tree, ast.Module)
        self.parents = {part: node for node in ast.walk(tree) for part in ast.iter_child_nodes(node)}
        self.names: dict[str, list[ast.Name]] = {}
        for node in self.parents:
            if isinstance(node, ast.Name):
                self.names.setdefault(node.id, []).append(node)

    def may_be_looked_at(self) -> bool:
        """Whether the code looks at names otherwise than by naming them."""
        return not _LOOKING.isdisjoint(self.names)

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


class Uses:
    """What becomes of one number."""

    def __init__(self, tree: SyntaxTree, names: dict[str, Any]) -> None:
        """``names`` are the globals."""
        self._tree, self._names = tree, names
        self._followed: set[str] = set()
        # The globals that it was found with, by name; None is a name of Python's own.
        self.found: dict[str, Any] = {}
        # Local names that are to hold arrays of ours when the number is made.
        self.arrays: set[str] = set()
        # Names that are to hold arrays, numbers or text then, or nothing yet.
        self.operands: set[str] = set()

    def are_alike(self, place: tuple[int, int, int, int]) -> bool:
        """Whether a pending number does as NumPy's where the expression at this place gives one."""
        node = self._tree.at(place)
        return node is not None and self._gives_one(node) and self._goes(node)

    def _gives_one(self, node: ast.AST) -> bool:
        """Whether the expression's own result is the number, not something that holds it."""
        if not isinstance(node, ast.Call):
            return True
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _REDUCTIONS:
            return self._module(function) in (None, np, gpupy)
        return self._is_pythons(function, {"abs"}) or self._is_ufunc(function)

    def _goes(self, node: ast.AST) -> bool:
        """Whether all that happens to a value is on the list."""
        if isinstance(node, ast.AugAssign):
            return self._is_target(node.target)
        above = self._tree.parents[node]
        match above:
            case ast.UnaryOp() | ast.FormattedValue() | ast.Expr() | ast.If() | ast.While():
                return True
            case ast.BinOp():
                return self._stands_beside(above.left, above.right)
            case ast.AugAssign():
                return self._stands_beside(above.target)
            case ast.Compare():
                is_known = all(isinstance(op, _COMPARISONS) for op in above.ops)
                return is_known and self._stands_beside(above.left, *above.comparators)
            case ast.Assert():
                return above.test is node
            case ast.IfExp():
                return above.test is node or self._goes(above)
            case ast.BoolOp():
                return self._goes(above)
            case ast.Attribute():
                return isinstance(above.ctx, ast.Load) and not above.attr.startswith("_")
            case ast.Call():
                return self._is_given(node, above)
            case ast.keyword():
                call = self._tree.parents[above]
                return above.arg is not None and isinstance(call, ast.Call) and self._is_given(above, call)
            case ast.Assign():
                return all(map(self._is_target, above.targets))
            case ast.AnnAssign():
                return above.value is node and self._is_target(above.target)
            case ast.NamedExpr():
                return self._is_target(above.target) and self._goes(above)
            case ast.Tuple():
                return self._is_unpacked(node, above)
            case _:
                return False

    def _stands_beside(self, *operands: ast.expr) -> bool:
        """Notes what an operator computes with, which a class of the program's would see."""
        self.operands.update(operand.id for operand in operands if isinstance(operand, ast.Name))
        return True

    def _is_unpacked(self, node: ast.AST, above: ast.Tuple) -> bool:
        """`a, b = number, other`."""
        assignment = self._tree.parents[above]
        if not isinstance(assignment, ast.Assign) or any(isinstance(it, ast.Starred) for it in above.elts):
            return False
        place = next(place for place, item in enumerate(above.elts) if item is node)
        for target in assignment.targets:
            if not isinstance(target, ast.Tuple) or len(target.elts) != len(above.elts):
                return False
            if not isinstance(target.elts[place], ast.Name) or not self._is_target(target.elts[place]):
                return False
        return True

    def _is_target(self, target: ast.AST) -> bool:
        """Whether what takes the number does with a pending one as with NumPy's."""
        if isinstance(target, ast.Name):
            return self._is_name(target.id)
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            return False
        # An element of what the name holds now: nothing else binds a function's name, and the key does not.
        name, binds = target.value.id, any(isinstance(part, ast.NamedExpr) for part in ast.walk(target.slice))
        self.arrays.add(name)
        return self._tree.is_function and name in self._tree.local and not binds

    def _is_name(self, name: str) -> bool:
        """Whether all uses of a local name are on the list."""
        if name in self._followed:
            return True
        if name not in self._tree.local:
            return False
        self._followed.add(name)
        loads = (node for node in self._tree.names[name] if isinstance(node.ctx, ast.Load))
        return all(map(self._goes, loads))

    def _is_given(self, node: ast.AST, call: ast.Call) -> bool:
        """Whether a function takes a pending number as it takes NumPy's, and keeps neither."""
        function = call.func
        if function is node:
            return False
        if self._is_pythons(function, _CHOOSERS):
            return len(call.args) > 1 and not call.keywords and self._goes(call)
        if self._is_pythons(function, _READERS) or self._is_ufunc(function):
            return True
        if not isinstance(function, ast.Attribute):
            return False
        module = self._module(function)
        return module is math or (module is gpupy and function.attr in _LOOKERS)

    def _is_pythons(self, function: ast.expr, names: frozenset[str] | set[str]) -> bool:
        """Whether it is one of these functions of Python's own."""
        if not isinstance(function, ast.Name) or function.id not in names:
            return False
        name = function.id
        if name in self._tree.local or name in self._names:
            return False
        self.found[name] = None
        return hasattr(builtins, name)

    def _is_ufunc(self, function: ast.expr) -> bool:
        """Whether it is a ufunc of NumPy's, or of ours, with one result."""
        found: Any = None
        if isinstance(function, ast.Attribute) and self._module(function) in (np, gpupy):
            found = getattr(np, function.attr, None)
        elif isinstance(function, ast.Name) and function.id not in self._tree.local:
            found = self._names.get(function.id)
            self.found[function.id] = found
        return isinstance(found, np.ufunc) and found.nout == 1

    def _module(self, function: ast.Attribute) -> Any:
        """The module of which it is a function, or None; for a module of NumPy's or of ours, that one."""
        base = function.value
        while isinstance(base, ast.Attribute) and base.attr == "linalg":
            base = base.value
        if not isinstance(base, ast.Name) or base.id in self._tree.local:
            return None
        found = self._names.get(base.id)
        if not isinstance(found, types.ModuleType):
            return None
        self.found[base.id] = found
        # NumPy may have a proxy.
        return np if found.__name__ == "numpy" else found
