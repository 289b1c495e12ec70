"""What a function does with a number that an expression of it gives, by its syntax tree.

Owns ``Uses``. A number stays pending only where every use of it is on a list of
those to which a pending one and NumPy's own are the same: an operand, a truth, text, an argument of
NumPy's ufuncs or of a few functions of Python's, an element that an array of ours gets, or a local name
all of whose uses are of these. What an operation gives is another number, of an expression of its own.

Not here: the tree and its names (``syntax.py``), frames (``sites.py``).
"""

from __future__ import annotations

import ast
import builtins
import math
import types
from typing import Any

import numpy as np

import gpupy

from .syntax import SyntaxTree

# Methods, and functions of NumPy's, that give one number.
REDUCTIONS = frozenset(
    "all any argmax argmin average dot inner max mean min nanmax nanmean nanmin nanstd nansum nanvar norm"
    " prod ptp std sum trace var vdot".split()
)
# Functions of Python's that give a new object, which tells nothing of the class of their arguments.
_READERS = frozenset("abs bool complex float format int print repr round str".split())
# Those that give a number or text of Python's own, whatever they get.
_COUNTERS = frozenset("bool complex float format int len repr str".split())
# Those that give one of their arguments.
_CHOOSERS = frozenset({"max", "min"})
# What says how a ufunc computes, and is no operand.
_UFUNC_WORDS = frozenset("casting dtype order signature subok".split())
# Functions of ours that only look.
_LOOKERS = frozenset({"explain"})
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.IsNot)


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
        # Names that are to hold arrays, numbers or text then; and those among them that may hold nothing yet.
        self.operands: set[str] = set()
        self.later: set[str] = set()
        # The expression that gives the number, and the names of which it is asked what they are bound to.
        self._made: ast.AST | None = None
        self._bound: set[str] = set()

    def are_alike(self, place: tuple[int, int, int, int]) -> bool:
        """Whether a pending number does as NumPy's where the expression at this place gives one."""
        node = self._made = self._tree.at(place)
        return node is not None and self._gives_one(node) and self._goes(node)

    def _gives_one(self, node: ast.AST) -> bool:
        """Whether the expression's own result is the number, not something that holds it."""
        if not isinstance(node, ast.Call):
            return True
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in REDUCTIONS:
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
                return self._stands_among(node, above.left, above.right)
            case ast.AugAssign():
                return self._stands_among(node, above.target, node)
            case ast.Compare():
                is_known = all(isinstance(op, _COMPARISONS) for op in above.ops)
                return is_known and self._stands_among(node, above.left, *above.comparators)
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

    def _stands_among(self, node: ast.AST, *operands: ast.AST) -> bool:
        """Whether no class of the program's is asked for what operators give; it would see the number.

        Python asks the operand to the left first. A pending number to the left does as NumPy's with
        whatever stands to its right.
        """
        place = next(place for place, operand in enumerate(operands) if operand is node)
        names = (it.id for it in operands if isinstance(it, ast.Name) and it is not node)
        return all(map(self._is_plain_name, names)) and (place == 0 or self._is_plain(operands[place - 1]))

    def _is_plain(self, node: ast.AST) -> bool:
        """Whether an expression gives an array, a number or text, if its names hold such."""
        match node:
            case ast.Constant() | ast.JoinedStr():
                return True
            case ast.Name():
                return self._is_plain_name(node.id)
            case ast.UnaryOp():
                return self._is_plain(node.operand)
            case ast.BinOp():
                return self._is_plain(node.left) and self._is_plain(node.right)
            case ast.Compare():
                return all(map(self._is_plain, (node.left, *node.comparators)))
            case ast.BoolOp():
                return all(map(self._is_plain, node.values))
            case ast.IfExp():
                return self._is_plain(node.body) and self._is_plain(node.orelse)
            case ast.NamedExpr() | ast.Subscript() | ast.Starred() | ast.keyword():
                return self._is_plain(node.value)
            case ast.Attribute():
                return self._is_plain_attribute(node)
            case ast.Call():
                return self._is_plain_call(node)
            case _:
                return False

    def _is_plain_attribute(self, node: ast.Attribute) -> bool:
        module = self._module(node)
        if module is not None:
            return isinstance(getattr(module, node.attr, None), int | float | complex)
        return not node.attr.startswith("_") and self._is_plain(node.value)

    def _is_plain_call(self, call: ast.Call) -> bool:
        """Whether a call of Python's, of NumPy's or ours, or of a method, gives what is plain."""
        function = call.func
        if self._is_pythons(function, _COUNTERS):
            return True
        arguments = (*call.args, *(keyword.value for keyword in call.keywords))
        if not all(isinstance(it, ast.Tuple | ast.List) or self._is_plain(it) for it in arguments):
            return False
        if self._is_pythons(function, _READERS | _CHOOSERS) or self._is_ufunc(function):
            return True
        if not isinstance(function, ast.Attribute):
            return False
        return self._module(function) in (math, np, gpupy) or self._is_plain(function.value)

    def _is_plain_name(self, name: str) -> bool:
        """Notes a name that is to hold what is plain, and whether it does when it is bound later."""
        self.operands.add(name)
        if name in self._bound or not self._followed or self._made is None:
            return True
        self._bound.add(name)
        stores = list(self._tree.stores(name))
        if stores and all(map(self._is_plain_store, stores)):
            self.later.add(name)
            return True
        # What it is bound to is asked for in each turn of a loop.
        loops = self._tree.loops(self._made)
        made = getattr(self._made, "lineno", 0)
        later = (it for it in stores if it.lineno > made and loops.isdisjoint(self._tree.loops(it)))
        return all(map(self._is_plain_store, later))

    def _is_plain_store(self, target: ast.Name) -> bool:
        """Whether a name is bound to what is plain."""
        above = self._tree.parents[target]
        match above:
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                return above.value is not None and self._is_plain(above.value)
            case ast.Tuple():
                assignment = self._tree.parents[above]
                given = assignment.value if isinstance(assignment, ast.Assign) else None
                if not isinstance(given, ast.Tuple) or len(given.elts) != len(above.elts):
                    return False
                return not any(isinstance(it, ast.Starred) for it in above.elts) and self._is_plain(
                    given.elts[above.elts.index(target)]
                )
            case ast.For() | ast.comprehension():
                function = above.iter.func if isinstance(above.iter, ast.Call) else None
                return function is not None and self._is_pythons(function, {"range"})
            case _:
                return False

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
            return not self._tree.is_of_class(target) and self._is_name(target.id)
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
        if self._is_pythons(function, _READERS):
            return True
        if self._is_ufunc(function):
            # The class of another argument may be asked for what the ufunc gives.
            others = (*call.args, *(it for it in call.keywords if it.arg not in _UFUNC_WORDS))
            return all(it is node or self._is_plain(it) for it in others)
        if not isinstance(function, ast.Attribute):
            return False
        module = self._module(function)
        return module is math or (module is gpupy and function.attr in _LOOKERS)

    def _is_pythons(self, function: ast.expr, names: frozenset[str] | set[str]) -> bool:
        """Whether it is one of these functions of Python's own."""
        if not isinstance(function, ast.Name) or function.id not in names:
            return False
        name = function.id
        if self._is_of_function(name) or name in self._names:
            return False
        self.found[name] = None
        return hasattr(builtins, name)

    def _is_of_function(self, name: str) -> bool:
        """Whether a name is no global one."""
        return name in self._tree.local or name in self._tree.shared

    def _is_ufunc(self, function: ast.expr) -> bool:
        """Whether it is a ufunc of NumPy's, or of ours, with one result."""
        found: Any = None
        if isinstance(function, ast.Attribute) and self._module(function) in (np, gpupy):
            found = getattr(np, function.attr, None)
        elif isinstance(function, ast.Name) and not self._is_of_function(function.id):
            found = self._names.get(function.id)
            self.found[function.id] = found
        return isinstance(found, np.ufunc) and found.nout == 1

    def _module(self, function: ast.Attribute) -> Any:
        """The module of which it is a function, or None; for a module of NumPy's or of ours, that one."""
        base = function.value
        while isinstance(base, ast.Attribute) and base.attr == "linalg":
            base = base.value
        if not isinstance(base, ast.Name) or self._is_of_function(base.id):
            return None
        found = self._names.get(base.id)
        if not isinstance(found, types.ModuleType):
            return None
        self.found[base.id] = found
        # NumPy may have a proxy.
        return np if found.__name__ == "numpy" else found
