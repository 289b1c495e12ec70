"""A nest of loops as the compiler takes it: from the syntax tree to plain data, without types.

Owns ``lowered``, ``Lowered`` and ``Unlowered``. It goes through what the table of constructs allows, and
takes less: numbers, elements of arrays by their indices, ranges. Invariants: statements are counted as
``sites.py`` counts them; a text that is lowered means here what it means in Python, if its names are what
the guards say. Not here: which kinds values have (the crate ``gpupy-loops``), how a nest is entered
(``entries.py``).
"""

from __future__ import annotations

import ast
import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .._kernel.source import Place

_UNARY = {ast.USub: "USub", ast.UAdd: "UAdd", ast.Invert: "Invert", ast.Not: "Not"}
_COMPARED = {ast.Eq: "Eq", ast.NotEq: "NotEq", ast.Lt: "Lt", ast.LtE: "LtE", ast.Gt: "Gt", ast.GtE: "GtE"}
_FUNCTIONS: dict[str, Any] = {
    "builtins.abs": "Abs",
    "builtins.bool": "Bool",
    "builtins.float": "Float",
    "builtins.int": "Int",
    "builtins.max": "Max",
    "builtins.min": "Min",
    "math.ceil": "MathCeil",
    "math.floor": "MathFloor",
    "numpy.abs": "NumpyAbs",
    "numpy.absolute": "NumpyAbs",
    "numpy.float32": "NumpyFloat32",
    "numpy.float64": "NumpyFloat64",
    "numpy.int64": "NumpyInt64",
    "numpy.maximum": "NumpyMaximum",
    "numpy.minimum": "NumpyMinimum",
    "numpy.sqrt": "NumpySqrt",
}
_FUNCTIONS.update(
    (f"math.{name}", {"Math1": name.capitalize()})
    for name in "acos asin atan cos cosh exp expm1 fabs log log10 log1p log2 sin sinh sqrt tan tanh".split()
)
_FUNCTIONS.update(
    (f"math.{name}", {"Math2": name.capitalize()}) for name in ("atan2", "copysign", "fmod", "pow")
)
# How many arguments functions take; others take one.
_MANY = {"Max": (2, 99), "Min": (2, 99), "NumpyMaximum": (2, 2), "NumpyMinimum": (2, 2)}
# Numbers that modules have.
_CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "tau": math.tau}
# Rounds that a loop is taken to have where neither its names nor the loops around it tell.
_ROUNDS_OF_FOR, _ROUNDS_OF_WHILE = 10, 1000


class Unlowered(Exception):
    """A nest holds what is not compiled yet."""

    def __init__(self, words: str, node: Any) -> None:
        super().__init__(words)
        self.words, self.node = words, node


@dataclass(frozen=True)
class Lowered:
    """A nest for the compiler."""

    # The names whose values it takes, in the order of its numbers for them.
    names: tuple[str, ...]
    bound: frozenset[str]
    # Whether it stores elements: else nothing happens before its names are given back.
    has_stores: bool
    # What it calls: as it is written, and its full name.
    calls: tuple[tuple[str, str], ...]
    # Numbers of modules, as they are written.
    constants: tuple[tuple[str, float], ...]
    # By statement: the block of each statement around it in which it stands.
    around: Mapping[int, Mapping[int, str]]
    # By statement: the names that loops over ranges bind.
    targets: Mapping[int, str]
    text: str
    # An expression for the number of its steps, of a list `v` with the values of its names.
    steps: str = field(repr=False)


def lowered(loop: ast.For | ast.While, calls: Mapping[str, str]) -> Lowered:
    """A nest for the compiler; raises ``Unlowered`` where it holds what is not compiled yet.

    ``calls`` gives the full names of the functions that it calls.
    """
    return _Lowering(calls).nest(loop)


class _Lowering:
    def __init__(self, calls: Mapping[str, str]) -> None:
        self._calls = calls
        self._names: dict[str, int] = {}
        self._bound: set[str] = set()
        self._has_stores = False
        self._called: dict[str, str] = {}
        self._constants: dict[str, float] = {}
        self._around: dict[int, dict[int, str]] = {}
        self._targets: dict[int, str] = {}
        self._path: dict[int, str] = {}
        # The expression for the rounds of the loop around.
        self._outer: str | None = None
        self._count = 0

    def nest(self, loop: ast.For | ast.While) -> Lowered:
        body, steps = self._statement(loop)
        roots = {text.partition(".")[0] for text in (*self._called, *self._constants)}
        if roots & self._names.keys():
            self._refuse("a function or module by a name that is a variable too", loop)
        text = json.dumps({"names": [*self._names], "body": body})
        return Lowered(
            tuple(self._names),
            frozenset(self._bound),
            self._has_stores,
            tuple(self._called.items()),
            tuple(self._constants.items()),
            self._around,
            self._targets,
            text,
            steps,
        )

    def _refuse(self, words: str, node: Any) -> NoReturn:
        raise Unlowered(words, node)

    def _name(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

    def _block(self, number: int, block: str, body: list[ast.stmt]) -> tuple[list[Any], str]:
        before = self._path
        self._path = {**before, number: block}
        found = [self._statement(one) for one in body]
        self._path = before
        return [one for one, _ in found], "+".join(steps for _, steps in found) or "0"

    def _statement(self, node: Any) -> tuple[Any, str]:
        """A statement, and the expression for its steps."""
        number = self._count
        self._count += 1
        self._around[number] = self._path
        does, steps = self._does(node, number)
        return {"number": number, "does": does}, steps

    def _does(self, node: Any, number: int) -> tuple[Any, str]:
        match node:
            case ast.Assign(targets=targets, value=value):
                return self._assign(targets, value), "1"
            case ast.AnnAssign(target=target, value=value):
                if value is None:
                    self._refuse("an annotation without a value", node)
                return self._assign([target], value), "1"
            case ast.AugAssign(target=target, op=op, value=value):
                to = self._target(target)
                return {"InPlace": [to, self._operator(op, node), self._value(value)]}, "1"
            case ast.If(test=test, body=body, orelse=orelse):
                given = self._value(test)
                inside, steps = self._block(number, "body", body)
                beside, others = self._block(number, "orelse", orelse)
                return {"If": [given, inside, beside]}, f"1+({steps}+{others})/2"
            case ast.For():
                return self._for(node, number)
            case ast.While(test=test, body=body, orelse=orelse):
                given = self._value(test)
                inside, steps = self._block(number, "body", body)
                beside, others = self._block(number, "orelse", orelse)
                return {"While": [given, inside, beside]}, f"{_ROUNDS_OF_WHILE}*(1+{steps})+{others}"
            case ast.Break() | ast.Continue() | ast.Pass():
                return type(node).__name__, "1"
            case ast.Return():
                return "Leave", "1"
            case ast.Expr(value=ast.Constant()):
                return "Pass", "0"
            case ast.Expr():
                self._refuse("an expression as a statement", node)
        self._refuse(f"a statement `{type(node).__name__}`", node)

    def _for(self, node: ast.For, number: int) -> tuple[Any, str]:
        head = node.iter
        text = ast.unparse(head.func) if isinstance(head, ast.Call) else ""
        if not isinstance(head, ast.Call) or self._calls.get(text) != "builtins.range":
            self._refuse("a `for` over another thing than a range", node)
        if head.keywords or not 1 <= len(head.args) <= 3:
            self._refuse("a `range` with other arguments", head)
        if not isinstance(node.target, ast.Name):
            self._refuse("a `for` that binds several names", node)
        self._called[text] = "builtins.range"
        given = [self._value(one) for one in head.args]
        target = self._bind(node.target.id)
        self._targets[number] = node.target.id
        outer, self._outer = self._outer, self._rounds(head.args)
        rounds = self._outer
        inside, steps = self._block(number, "body", node.body)
        self._outer = outer
        beside, others = self._block(number, "orelse", node.orelse)
        return {"For": [target, given, inside, beside]}, f"{rounds}*(1+{steps})+{others}"

    def _rounds(self, given: list[ast.expr]) -> str:
        """The expression for a range's length."""
        texts = [self._count_of(one) for one in given]
        known = [one for one in texts if one is not None]
        if len(known) < len(texts):
            # The triangle below a loop is half of its square.
            return f"({self._outer}/2)" if self._outer else str(_ROUNDS_OF_FOR)
        start, stop, step = (["0", *known, "1"] if len(known) == 1 else [*known, "1"])[:3]
        return f"max(({stop}-({start}))//({step}),0)"

    def _count_of(self, node: Any) -> str | None:
        """The expression for an integer, of the values of names."""
        match node:
            case ast.Constant(value=int() as value):
                return str(int(value))
            case ast.Name(id=name):
                return None if name in self._bound else f"v[{self._name(name)}]"
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self._count_of(operand)
                return found and f"(-{found})"
            case ast.BinOp(
                left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() as op, right=right
            ):
                first, second = self._count_of(left), self._count_of(right)
                sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//"}[type(op)]
                return first and second and f"({first}{sign}{second})"
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                return f"len(v[{self._name(name)}])"
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.Constant(value=int() as axis),
            ):
                return f"v[{self._name(name)}].shape[{axis}]"
        return None

    def _bind(self, name: str) -> int:
        self._bound.add(name)
        return self._name(name)

    def _assign(self, targets: list[ast.expr], value: ast.expr) -> Any:
        parts = [part for target in targets for part in getattr(target, "elts", [target])]
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        if len(parts) > 1:
            # What later targets see of earlier ones.
            for part in parts:
                inside = ast.walk(part.slice) if isinstance(part, ast.Subscript) else ()
                for node in inside:
                    if isinstance(node, ast.Subscript) or (isinstance(node, ast.Name) and node.id in names):
                        self._refuse("targets that depend on each other", part)
        if any(hasattr(target, "elts") for target in targets):
            [target, *others] = targets
            values = getattr(value, "elts", [])
            if others or not isinstance(value, ast.Tuple) or len(target.elts) != len(values):  # type: ignore[attr-defined]
                self._refuse("a tuple that is not written out", value)
            given: Any = {"Tuple": [self._value(one) for one in values]}
            return {"Assign": [[{"Tuple": [self._target(one) for one in target.elts]}], given]}  # type: ignore[attr-defined]
        given = self._value(value)
        return {"Assign": [[self._target(one) for one in targets], given]}

    def _target(self, node: Any) -> Any:
        if isinstance(node, ast.Name):
            return {"Name": self._bind(node.id)}
        if isinstance(node, ast.Subscript):
            self._has_stores = True
            return {"Element": self._element(node)}
        self._refuse("tuples in tuples", node)

    def _element(self, node: ast.Subscript) -> list[Any]:
        """The array and the indices of an element."""
        indices: list[Any] = []
        at: Any = node
        while isinstance(at, ast.Subscript):
            inside = at.slice.elts if isinstance(at.slice, ast.Tuple) else [at.slice]
            indices = [*inside, *indices]
            at = at.value
        if not isinstance(at, ast.Name):
            self._refuse("an element of what is no name", node)
        for one in indices:
            if isinstance(one, ast.Slice) or (isinstance(one, ast.Constant) and type(one.value) is not int):
                self._refuse("a slice", node)
        return [self._name(at.id), [self._value(one) for one in indices]]

    def _operator(self, op: ast.operator, node: Any) -> str:
        if isinstance(op, ast.MatMult):
            self._refuse("`@`", node)
        return type(op).__name__

    def _value(self, node: Any) -> Any:
        match node:
            case ast.Name(id=name):
                return {"Name": self._name(name)}
            case ast.Constant(value=value):
                return self._constant(value, node)
            case ast.BinOp(left=left, op=op, right=right):
                return {"Binary": [self._operator(op, node), self._value(left), self._value(right)]}
            case ast.UnaryOp(op=op, operand=operand):
                return {"Unary": [_UNARY[type(op)], self._value(operand)]}
            case ast.BoolOp(op=op, values=values):
                return {"Logic": [isinstance(op, ast.And), [self._value(one) for one in values]]}
            case ast.Compare(left=left, ops=ops, comparators=others):
                if not all(type(op) in _COMPARED for op in ops):
                    self._refuse("`is` or `in`", node)
                first = self._value(left)
                pairs = [[_COMPARED[type(op)], self._value(one)] for op, one in zip(ops, others, strict=True)]
                return {"Compare": [first, pairs]}
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return {"Choice": [self._value(test), self._value(body), self._value(orelse)]}
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=axis)
            ) if type(axis) is int:
                return {"Extent": [self._name(name), axis]}
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=axis)),
            ) if type(axis) is int:
                return {"Extent": [self._name(name), -axis]}
            case ast.Subscript():
                return {"Element": self._element(node)}
            case ast.Attribute(value=ast.Name(id=root), attr=attribute) if attribute in _CONSTANTS:
                value = _CONSTANTS[attribute]
                self._constants[f"{root}.{attribute}"] = value
                return self._constant(value, node)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                self._refuse("an attribute", node)
        self._refuse(f"an expression `{type(node).__name__}`", node)

    def _constant(self, value: Any, node: Any) -> Any:
        if type(value) is bool:
            return {"Bool": value}
        if type(value) is int and -(2**63) < value < 2**63:
            return {"Int": value}
        if type(value) is float:
            return {"Float": struct.unpack("<Q", struct.pack("<d", value))[0]}
        self._refuse(f"a constant of type `{type(value).__name__}`", node)

    def _call(self, node: ast.Call) -> Any:
        text = ast.unparse(node.func)
        full = self._calls.get(text, "")
        if node.keywords:
            self._refuse(f"a call of `{text}` with keywords", node)
        if full == "builtins.len" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            self._called[text] = full
            return {"Extent": [self._name(node.args[0].id), 0]}
        function = _FUNCTIONS.get(full)
        if function is None:
            self._refuse(f"a call of `{text}`", node)
        low, high = (2, 2) if isinstance(function, dict) and "Math2" in function else (1, 1)
        if isinstance(function, str):
            low, high = _MANY.get(function, (1, 1))
        if not low <= len(node.args) <= high:
            self._refuse(f"a call of `{text}` with {len(node.args)} arguments", node)
        self._called[text] = full
        return {"Call": [function, [self._value(one) for one in node.args]]}


def place(found: Unlowered, file: str, function: str) -> Place:
    """Where what is not compiled yet stands."""
    node = found.node
    return Place(file, function, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
