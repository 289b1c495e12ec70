"""What a ``for`` goes over, besides ranges: arrays, ``enumerate``, ``zip``, ``reversed``.

Owns ``Iteration``, ``rounds_of_while``, and ``dotted``, the text of what is called. What a loop goes over is
a *spec*: ``("array", name)``, ``("reversed", name)``, ``("enumerate", start, spec)``, ``("zip", *specs)``;
compiled, it is a loop over places that binds items. Not here: the statements (``lowering.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, Protocol


class Names(Protocol):
    """What the lowering of a nest knows of names."""

    def name(self, name: str) -> int:
        """The number of a name."""

    def bind(self, name: str) -> int:
        """The number of a name that the nest binds."""

    def iterator(self, node: Any) -> str:
        """What a head calls: the name of Python's function, or nothing."""

    def refuse(self, words: str, node: Any) -> NoReturn:
        """Says that something is not compiled."""


@dataclass(frozen=True)
class Iteration:
    """What a `for` binds, and what it goes over."""

    # A name, or a tuple of such.
    target: Any
    # Of a range nothing.
    spec: Any

    def present(self, names: Mapping[str, Any], target: Any = None) -> Any:
        """The present item by the values of names."""
        target = self.target if target is None else target
        if isinstance(target, str):
            return names[target]
        return tuple(self.present(names, one) for one in target)

    def rest(self, state: tuple[int, int, int], values: Mapping[str, Any]) -> Iterator[Any]:
        """The items that are left, of a range with this state, by the values at the nest's entry."""
        places = iter(range(*state))
        return places if self.spec is None else map(partial(_item, self.spec, values), places)


def _item(spec: Any, values: Mapping[str, Any], place: int) -> Any:
    match spec:
        case ("array", name):
            return values[name][place]
        case ("reversed", name):
            return values[name][len(values[name]) - 1 - place]
        case ("enumerate", start, inner):
            return start + place, _item(inner, values, place)
        case _:
            return tuple(_item(one, values, place) for one in spec[1:])


def dotted(node: ast.expr) -> str:
    """The text of what is called: names, for the most part."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ast.unparse(node)


def pattern(target: Any) -> Any:
    """The names in a target."""
    if isinstance(target, ast.Tuple):
        return tuple(pattern(one) for one in target.elts)
    return getattr(target, "id", "")


def _less(node: ast.expr) -> ast.expr:
    """An expression for a number less by 1."""
    return ast.copy_location(ast.BinOp(node, ast.Sub(), ast.Constant(1)), node)


def range_of(lowering: Names, node: Any) -> list[ast.expr] | None:
    """The numbers of a range in a head, which may be gone through from its end."""
    function = lowering.iterator(node)
    if function == "range":
        if not 1 <= len(node.args) <= 3:
            lowering.refuse("a `range` with other arguments", node)
        return list(node.args)
    if function == "reversed" and len(node.args) == 1 and lowering.iterator(node.args[0]) == "range":
        given = node.args[0].args
        if len(given) > 2:
            lowering.refuse("a `range` with a step that is reversed", node)
        start, stop = given if len(given) == 2 else (ast.Constant(0), given[0])
        # Both are computed in the text's order, where nothing happens between them.
        return [_less(stop), _less(start), ast.UnaryOp(ast.USub(), ast.Constant(1))]
    return None


def spec_of(lowering: Names, node: Any) -> Any:
    """What a loop that is not over a range goes over."""
    function = lowering.iterator(node)
    if isinstance(node, ast.Name):
        lowering.name(node.id)
        return "array", node.id
    if function == "reversed" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
        lowering.name(node.args[0].id)
        return "reversed", node.args[0].id
    if function == "enumerate" and 1 <= len(node.args) <= 2:
        start = node.args[1] if len(node.args) == 2 else ast.Constant(0)
        if not isinstance(start, ast.Constant) or type(start.value) is not int or start.value >= 2**31:
            lowering.refuse("an `enumerate` from another number than one that is written out", node)
        return "enumerate", start.value, spec_of(lowering, node.args[0])
    if function == "zip" and node.args:
        return "zip", *[spec_of(lowering, one) for one in node.args]
    lowering.refuse("a `for` over another thing than ranges and arrays by their names", node)


def length(lowering: Names, spec: Any) -> Any:
    match spec:
        case ("array" | "reversed", name):
            return {"Extent": [lowering.name(name), 0]}
        case ("enumerate", _, inner) | ("zip", inner):
            return length(lowering, inner)
        case _:
            return {"Call": ["Min", [length(lowering, one) for one in spec[1:]]]}


def rounds_of(lowering: Names, spec: Any) -> str:
    """The expression for the length."""
    match spec:
        case ("array" | "reversed", name):
            return f"len(v[{lowering.name(name)}])"
        case ("enumerate", _, inner):
            return rounds_of(lowering, inner)
        case _:
            return rounds_of(lowering, spec[1])


def rounds_of_while(node: ast.While, count_of: Callable[[Any], str | None]) -> str | None:
    """The expression for it, where the body moves a name on to a limit by a number.

    ``count_of`` gives the expression for a number that is known at the entry, or none.
    """
    test = node.test
    tests = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    moved = {
        one.target.id: one.value
        for one in node.body
        if isinstance(one, ast.AugAssign)
        and isinstance(one.target, ast.Name)
        and isinstance(one.op, ast.Add | ast.Sub)
    }
    for one in tests:
        if not isinstance(one, ast.Compare) or len(one.comparators) > 1:
            continue
        parts = list(ast.walk(one))
        names = [part.id for part in parts if isinstance(part, ast.Name) and part.id in moved]
        # A product goes to a limit by other steps.
        if not names or any(
            isinstance(part, ast.operator | ast.unaryop) and not isinstance(part, _STRAIGHT) for part in parts
        ):
            continue
        counts = [count_of(part) for part in (one.left, one.comparators[0], moved[names[0]])]
        if None not in counts:
            return "max(abs({}-{})//abs({}),1)".format(*counts)
    return None


_STRAIGHT = (ast.Add, ast.Sub, ast.UAdd, ast.USub)


def items_of(lowering: Names, target: Any, found: Any, place: Any, node: Any) -> list[Any]:
    """What is bound in each round, to names and by expressions of the place."""
    if isinstance(target, ast.Tuple):
        parts: list[Any]
        match found:
            case ("enumerate", start, inner):
                parts = [("count", start), inner]
            case ("zip", *parts):
                pass
            case _:
                parts = []
        if len(parts) != len(target.elts):
            lowering.refuse("a `for` that takes elements apart", node)
        pairs = zip(target.elts, parts, strict=True)
        return [one for part, inner in pairs for one in items_of(lowering, part, inner, place, node)]
    if not isinstance(target, ast.Name):
        lowering.refuse("a `for` that binds other things than names", node)
    match found:
        case ("count", start):
            value = {"Binary": ["Add", place, {"Int": start}]}
        case ("array", name):
            value = {"Element": [lowering.name(name), [{"At": place}]]}
        case ("reversed", name):
            last = {"Binary": ["Sub", length(lowering, found), {"Int": 1}]}
            value = {"Element": [lowering.name(name), [{"At": {"Binary": ["Sub", last, place]}}]]}
        case _:
            lowering.refuse("a `for` with a name for a tuple", node)
    return [[lowering.bind(target.id), value]]
