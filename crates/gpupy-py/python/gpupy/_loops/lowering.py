"""A nest of loops as the compiler takes it: from the syntax tree to plain data, without types.

Owns ``lowered``, ``Lowered`` and ``Unlowered``. It goes through what the table of constructs allows, and
takes less: numbers, elements and rows of arrays by their indices, ranges, functions of the module that give
a number, in whose place stands what they do. Invariants: statements are counted as
``sites.py`` counts them; a text that is lowered means here what it means in Python, if its names are what
the guards say. Not here: which kinds values have (the crate ``gpupy-loops``), how a nest is entered
(``entries.py``).
"""

from __future__ import annotations

import ast
import functools
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

from .._kernel.source import Place
from . import iterations
from .bindings import with_elements
from .callables import COMPILED, CONSTANTS, MANY, OF_ROWS
from .iterations import Iteration, dotted, items_of, length, pattern, range_of, rounds_of, spec_of

_UNARY = {ast.USub: "USub", ast.UAdd: "UAdd", ast.Invert: "Invert", ast.Not: "Not"}
_COMPARED = {ast.Eq: "Eq", ast.NotEq: "NotEq", ast.Lt: "Lt", ast.LtE: "LtE", ast.Gt: "Gt", ast.GtE: "GtE"}
# Rounds that a loop is taken to have where neither its names nor the loops around it tell.
_ROUNDS_OF_FOR, _ROUNDS_OF_WHILE = 10, 1000
# Statements of functions that stand in the place of calls, at most.
_STATEMENTS = 100
# Steps that an operation on a row takes in Python.
_STEPS_OF_ROW = 20


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
    # Functions of the module that it calls: their names and first lines; names that are the module's there.
    functions: tuple[tuple[str, int], ...]
    shared: frozenset[str]
    # Names that are handed to functions as they are, by their numbers.
    given: frozenset[int]
    # By statement: the block of each statement around it in which it stands.
    around: Mapping[int, Mapping[int, str]]
    # By statement: what a `for` goes over.
    loops: Mapping[int, Iteration]
    body: Any = field(repr=False)
    # An expression for the number of its steps, of a list `v` with the values of its names.
    steps: str = field(repr=False)

    @functools.cached_property
    def text(self) -> str:
        """The nest for the compiler."""
        return json.dumps({"names": [*self.names], "body": self.body})


Functions: TypeAlias = Mapping[str, ast.FunctionDef]


def lowered(loop: ast.For | ast.While, calls: Mapping[str, str], functions: Functions) -> Lowered:
    """A nest for the compiler; raises ``Unlowered`` where it holds what is not compiled yet.

    ``calls`` gives the full names of the functions that it calls, ``functions`` are the module's own.
    """
    return _Lowering(calls, functions).nest(loop)


class _Lowering:
    def __init__(self, calls: Mapping[str, str], functions: Functions) -> None:
        self._calls, self._functions = calls, functions
        self._inlined: dict[str, int] = {}
        self._shared: set[str] = set()
        self._given: set[int] = set()
        # Of the function that is called: what its variables are, names of the nest or numbers.
        self._variables: dict[str, str | int] | None = None
        self._locals = self._statements = 0
        self._names: dict[str, int] = {}
        self._bound: set[str] = set()
        self._has_stores = False
        self._called: dict[str, str] = {}
        self._constants: dict[str, float] = {}
        self._around: dict[int, dict[int, str]] = {}
        self._loops: dict[int, Iteration] = {}
        self._path: dict[int, str] = {}
        # The expression for the rounds of the loop around.
        self._outer: str | None = None
        self._count = 0
        # Operations on rows until now.
        self._rows = 0

    def nest(self, loop: ast.For | ast.While) -> Lowered:
        body, steps = self._statement(loop)
        roots = {text.partition(".")[0] for text in (*self._called, *self._constants, *self._inlined)}
        if roots & self._names.keys():
            self.refuse("a function or module by a name that is a variable too", loop)
        return Lowered(
            tuple(self._names),
            frozenset(self._bound),
            self._has_stores,
            tuple(self._called.items()),
            tuple(self._constants.items()),
            tuple(self._inlined.items()),
            frozenset(self._shared),
            frozenset(self._given),
            self._around,
            self._loops,
            body,
            steps,
        )

    def refuse(self, words: str, node: Any) -> NoReturn:
        """Raises ``Unlowered``."""
        raise Unlowered(words, node)

    def name(self, name: str) -> int:
        """The number of a name."""
        return self._names.setdefault(name, len(self._names))

    def _array(self, name: str, node: Any) -> int:
        """The number of an array's name."""
        found = self._meant(name)
        if isinstance(found, int):
            self.refuse("an array that a function has by another name", node)
        return self.name(found)

    def _meant(self, name: str) -> str | int:
        """A name of the nest, or the number of a variable of the function that is called."""
        if self._variables is None:
            return name
        if name not in self._variables:
            self._shared.add(name)
        return self._variables.get(name, name)

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
        before = self._rows
        does, steps = self._does(node, number)
        if not isinstance(node, ast.If | ast.For | ast.While):
            steps = f"{1 + _STEPS_OF_ROW * (self._rows - before)}"
        return {"number": number, "does": does}, steps

    def _does(self, node: Any, number: int) -> tuple[Any, str]:
        match node:
            case ast.Assign(targets=targets, value=value):
                return self._assign(targets, value), "1"
            case ast.AnnAssign(target=target, value=value):
                if value is None:
                    self.refuse("an annotation without a value", node)
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
                rounds = iterations.rounds_of_while(node, self._count_of) or str(_ROUNDS_OF_WHILE)
                inside, steps = self._block(number, "body", body)
                beside, others = self._block(number, "orelse", orelse)
                return {"While": [given, inside, beside]}, f"{rounds}*(1+{steps})+{others}"
            case ast.Break() | ast.Continue() | ast.Pass():
                return type(node).__name__, "1"
            case ast.Return():
                return "Leave", "1"
            case ast.Expr(value=ast.Constant()):
                return "Pass", "0"
            case ast.Expr():
                self.refuse("an expression as a statement", node)
        self.refuse(f"a statement `{type(node).__name__}`", node)

    def _for(self, node: ast.For, number: int) -> tuple[Any, str]:
        head, spec = range_of(self, node.iter), None
        items: list[Any] = []
        if head is not None:
            if not isinstance(node.target, ast.Name):
                self.refuse("a `for` over a range that binds several names", node)
            given, rounds = [self._value(one) for one in head], self._rounds(head)
            target = self.bind(node.target.id)
        else:
            spec = spec_of(self, node.iter)
            given, rounds = [length(self, spec)], rounds_of(self, spec)
            # Python has no such name.
            target = self.name(f"#{number}")
            items = items_of(self, node.target, spec, {"Name": target}, node)
        self._loops[number] = Iteration(pattern(node.target), spec)
        outer, self._outer = self._outer, rounds
        inside, steps = self._block(number, "body", node.body)
        self._outer = outer
        beside, others = self._block(number, "orelse", node.orelse)
        return {"For": [target, given, items, inside, beside]}, f"{rounds}*(1+{steps})+{others}"

    def iterator(self, node: Any) -> str:
        """What a head calls: the name of Python's function, or nothing."""
        text = dotted(node.func) if isinstance(node, ast.Call) else ""
        full = self._calls.get(text, "")
        if not full.startswith("builtins."):
            return ""
        if node.keywords:
            self.refuse(f"a call of `{text}` with keywords", node)
        self._called[text] = full
        return full.removeprefix("builtins.")

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
                return None if name in self._bound else f"v[{self.name(name)}]"
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
                return f"len(v[{self.name(name)}])"
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.Constant(value=int() as axis),
            ):
                return f"v[{self.name(name)}].shape[{axis}]"
        return None

    def bind(self, name: str) -> int:
        """The number of a name that the nest binds."""
        self._bound.add(name)
        return self.name(name)

    def _assign(self, targets: list[ast.expr], value: ast.expr) -> Any:
        parts = [part for target in targets for part in getattr(target, "elts", [target])]
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        if len(parts) > 1:
            # What later targets see of earlier ones.
            for part in parts:
                inside = ast.walk(part.slice) if isinstance(part, ast.Subscript) else ()
                for node in inside:
                    if isinstance(node, ast.Subscript) or (isinstance(node, ast.Name) and node.id in names):
                        self.refuse("targets that depend on each other", part)
        if any(hasattr(target, "elts") for target in targets):
            [target, *others] = targets
            values = getattr(value, "elts", [])
            if others or not isinstance(value, ast.Tuple) or len(target.elts) != len(values):  # type: ignore[attr-defined]
                self.refuse("a tuple that is not written out", value)
            given: Any = {"Tuple": [self._value(one) for one in values]}
            return {"Assign": [[{"Tuple": [self._target(one) for one in target.elts]}], given]}  # type: ignore[attr-defined]
        given = self._value(value)
        return {"Assign": [[self._target(one) for one in targets], given]}

    def _target(self, node: Any) -> Any:
        if isinstance(node, ast.Name):
            return {"Name": self.bind(node.id)}
        if isinstance(node, ast.Subscript):
            self._has_stores = True
            return {"Element": self._element(node)}
        self.refuse("tuples in tuples", node)

    def _element(self, node: ast.Subscript) -> list[Any]:
        """The array and the indices of an element or a row."""
        indices: list[Any] = []
        at: Any = node
        while isinstance(at, ast.Subscript):
            inside = at.slice.elts if isinstance(at.slice, ast.Tuple) else [at.slice]
            if indices and any(isinstance(one, ast.Slice) for one in inside):
                self.refuse("a slice of a slice", node)
            indices = [*inside, *indices]
            at = at.value
        if not isinstance(at, ast.Name):
            self.refuse("an element of what is no name", node)
        return [self._array(at.id, node), [self._index(one) for one in indices]]

    def _index(self, node: Any) -> Any:
        if isinstance(node, ast.Slice):
            self._rows += 1
            bounds = [node.lower, node.upper, node.step]
            is_none = [one is None or (isinstance(one, ast.Constant) and one.value is None) for one in bounds]
            given = zip(bounds, is_none, strict=True)
            return {"Slice": [None if empty else self._value(one) for one, empty in given]}
        if isinstance(node, ast.Constant) and type(node.value) is not int:
            self.refuse("`None` or `...` in an index", node)
        return {"At": self._value(node)}

    def _operator(self, op: ast.operator, node: Any) -> str:
        if isinstance(op, ast.MatMult):
            self.refuse("`@` in place", node)
        return type(op).__name__

    def _reduced(self, function: str, rows: list[ast.expr], node: Any) -> Any:
        """A number that a function makes of rows."""
        if len(rows) != (2 if function == "dot" else 1):
            self.refuse(f"a call of `{function}` with {len(rows)} rows", node)
        self._rows += 1
        return {"Reduce": [function.capitalize(), [self._value(one) for one in rows]]}

    def _value(self, node: Any) -> Any:
        match node:
            case ast.Name(id=name):
                found = self._meant(name)
                return {"Local": found} if isinstance(found, int) else {"Name": self.name(found)}
            case ast.Constant(value=value):
                return self._constant(value, node)
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return self._reduced("dot", [left, right], node)
            case ast.BinOp(left=left, op=op, right=right):
                return {"Binary": [self._operator(op, node), self._value(left), self._value(right)]}
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
                return self._constant(-value, node)
            case ast.UnaryOp(op=op, operand=operand):
                return {"Unary": [_UNARY[type(op)], self._value(operand)]}
            case ast.BoolOp(op=op, values=values):
                return {"Logic": [isinstance(op, ast.And), [self._value(one) for one in values]]}
            case ast.Compare(left=left, ops=ops, comparators=others):
                if not all(type(op) in _COMPARED for op in ops):
                    self.refuse("`is` or `in`", node)
                first = self._value(left)
                pairs = [[_COMPARED[type(op)], self._value(one)] for op, one in zip(ops, others, strict=True)]
                return {"Compare": [first, pairs]}
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return {"Choice": [self._value(test), self._value(body), self._value(orelse)]}
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=axis)
            ) if type(axis) is int:
                return {"Extent": [self._array(name, node), axis]}
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=axis)),
            ) if type(axis) is int:
                return {"Extent": [self._array(name, node), -axis]}
            case ast.Subscript():
                return {"Element": self._element(node)}
            case ast.Attribute(value=ast.Name(id=root), attr=attribute) if attribute in CONSTANTS:
                self._is_shared(root, node)
                value = CONSTANTS[attribute]
                self._constants[f"{root}.{attribute}"] = value
                return self._constant(value, node)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                self.refuse("an attribute", node)
        self.refuse(f"an expression `{type(node).__name__}`", node)

    def _constant(self, value: Any, node: Any) -> Any:
        if type(value) is bool:
            return {"Bool": value}
        if type(value) is int and -(2**63) < value < 2**63:
            return {"Int": value}
        if type(value) is float:
            return {"Float": struct.unpack("<Q", struct.pack("<d", value))[0]}
        self.refuse(f"a constant of type `{type(value).__name__}`", node)

    def _call(self, node: ast.Call) -> Any:
        text = dotted(node.func)
        full = self._calls.get(text, "")
        if full:
            self._is_shared(text.partition(".")[0], node)
        if full == text and text in self._functions and not node.keywords:
            return self._in_place_of(node, text, self._functions[text])
        if node.keywords:
            self.refuse(f"a call of `{text}` with keywords", node)
        if full == "builtins.len" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            self._called[text] = full
            return {"Extent": [self._array(node.args[0].id, node), 0]}
        module, _, last = full.rpartition(".")
        if module == "numpy" and last in OF_ROWS:
            self._called[text] = full
            return self._reduced(last, node.args, node)
        if isinstance(node.func, ast.Attribute) and not full and node.func.attr in OF_ROWS:
            return self._reduced(node.func.attr, [node.func.value, *node.args], node)
        function = COMPILED.get(full)
        if function is None:
            self.refuse(f"a call of `{text}`", node)
        low, high = (2, 2) if isinstance(function, dict) and "Math2" in function else (1, 1)
        if isinstance(function, str):
            low, high = MANY.get(function, (1, 1))
        if not low <= len(node.args) <= high:
            self.refuse(f"a call of `{text}` with {len(node.args)} arguments", node)
        self._called[text] = full
        return {"Call": [function, [self._value(one) for one in node.args]]}

    def _is_shared(self, root: str, node: Any) -> None:
        """Takes a name of the module or of Python that a function has."""
        if self._variables is not None and isinstance(self._meant(root), int):
            self.refuse("a function or module by a name that is a variable too", node)

    def _in_place_of(self, node: ast.Call, text: str, function: ast.FunctionDef) -> Any:
        """What stands for a call: all that is given is computed, then what the function returns."""
        given = function.args
        names = [one.arg for one in (*given.posonlyargs, *given.args)]
        if given.kwonlyargs or len(names) != len(node.args):
            self.refuse(f"a call of `{text}` with other arguments than it names", node)
        self._inlined[text] = function.lineno
        values: list[Any] = []
        variables: dict[str, str | int] = {}
        arrays = with_elements(function, self._functions)
        for name, value in zip(names, node.args, strict=True):
            meant = self._meant(value.id) if isinstance(value, ast.Name) else 0
            if name in arrays and isinstance(meant, str):
                variables[name] = meant
                self._given.add(self.name(meant))
            else:
                variables[name] = self._local()
                values.append([variables[name], self._value(value)])
        before, self._variables = self._variables, variables
        found = self._returned(function.body, node)
        self._variables = before
        return {"Let": [values, found]}

    def _local(self) -> int:
        self._locals += 1
        return self._locals

    def _returned(self, body: list[ast.stmt], node: Any) -> Any:
        """What a function returns that goes on with some statements."""
        self._statements += 1
        if not body or self._statements > _STATEMENTS:
            words = "which has too many statements, or an end without `return`"
            self.refuse(f"a call of `{ast.unparse(node.func)}`, {words}", node)
        first, *rest = body
        assert self._variables is not None
        match first:
            case ast.Return(value=ast.expr() as value):
                return self._value(value)
            case ast.If(test=test, body=inside, orelse=beside):
                test, before = self._value(test), self._variables
                ways = []
                for block in (inside, beside):
                    self._variables = {**before}
                    ways.append(self._returned([*block, *rest], node))
                self._variables = before
                return {"Choice": [test, *ways]}
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                given = self._value(value)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                old = self._value(ast.Name(name, ast.Load()))
                given = {"Binary": [self._operator(op, first), old, self._value(value)]}
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return self._returned(rest, node)
            case _:
                self.refuse(f"a call of `{ast.unparse(node.func)}`, which has other statements", node)
        number = self._variables[name] = self._local()
        return {"Let": [[[number, given]], self._returned(rest, node)]}


def place(found: Unlowered, file: str, function: str) -> Place:
    """Where what is not compiled yet stands."""
    node = found.node
    return Place(file, function, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
