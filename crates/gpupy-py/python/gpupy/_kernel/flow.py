"""The ways through a function: its statements as blocks, with other functions in the place of their calls.

Owns ``Flow``, which makes blocks (``blocks.py``). A block that a loop comes back to is
its *header*; between headers no way comes by a block twice. A loop that is *peeled* has its first turn before
it. A call of another function stands for that function's own blocks, whose names get a prefix.

Not here: the computations in blocks (``segments.py``), the source (``source.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from . import source as sources
from .blocks import Assign, Begin, Block, Branch, Loop, Next, _bound, reachable, read_by, read_by_way
from .source import Guard, Place, Source, copied
from .written import power

RESULT = ".result"


@dataclass
class _Inside:
    """The context of statements: their function, the prefix of its names, and the targets of its jumps."""

    source: Source
    prefix: str
    result: str
    end: Block
    functions: tuple[FunctionType, ...]
    turn: Block | None = None
    leave: Block | None = None
    loops: list[Loop] = field(default_factory=list)
    breaks: bool = False


class Flow:
    """The blocks of a function and of those that it calls."""

    def __init__(
        self,
        source: Source,
        inlined: Callable[[Any], Any],
        results: frozenset[str] = frozenset(),
        is_peeled: bool = False,
    ) -> None:
        self.source, self._inlined, self._is_peeled = source, inlined, is_peeled
        self.guards: list[Guard] = [
            *source.guards,
            Guard(source.function, "__code__", source.function.__code__),
        ]
        self.loops: list[Loop] = []
        self._number = 0
        self.entry, self.exit = Block(), Block()
        self.exit.live = {RESULT, *results}
        inside = _Inside(source, "", RESULT, self.exit, (source.function,), loops=self.loops)
        last = self._statements(source.tree.body, self.entry, inside)
        if last is not None:
            source.at(source.tree).refuse(f"kernel `{source.tree.name}` ends without `return` on some way")
        everything = list(reachable([self.entry]))
        # The headers of loops, outer ones first.
        self.headers = [block for block in everything if block.is_header]
        # All blocks; between headers ways lead forwards.
        self.blocks = list(reachable([self.entry, *self.headers], to_headers=False))
        self._find_live()

    def hidden(self, what: str) -> str:
        """A name that is no other."""
        self._number += 1
        return f".{what}{self._number}"

    def _statements(self, body: list[ast.stmt], block: Block | None, inside: _Inside) -> Block | None:
        """The block behind statements that begin in one; None where no way leads there."""
        for statement in body:
            if block is None:
                break
            block = self._statement(statement, block, inside)
        return block

    def _statement(self, node: ast.stmt, block: Block, inside: _Inside) -> Block | None:
        place = inside.source.at(node)
        match node:
            case ast.Assign(targets=targets, value=value):
                block, value = self._expression(value, block, inside)
                # All targets get one value.
                if len(targets) > 1 or not isinstance(targets[0], ast.Name):
                    whole = self.hidden("value")
                    block.steps.append(Assign(_stored(whole), value, place))
                    value = _loaded(whole)
                for target in targets:
                    block.steps.append(Assign(self._target(target, inside), value, place))
                return block
            case ast.AnnAssign(target=target, value=None):
                return block
            case ast.AnnAssign(target=target, value=value):
                assert value is not None
                block, value = self._expression(value, block, inside)
                block.steps.append(Assign(self._target(target, inside), value, place))
                return block
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                new = ast.copy_location(ast.BinOp(_loaded(name), op, value), node)
                block, result = self._expression(new, block, inside)
                block.steps.append(Assign(_stored(inside.prefix + name), result, place))
                return block
            case ast.Return(value=value):
                if value is None:
                    place.refuse("a kernel returns a number, or several")
                block, value = self._expression(value, block, inside)
                block.steps.append(Assign(_stored(inside.result), value, place))
                block.way = inside.end
                return None
            case ast.If(test=test, body=body, orelse=orelse):
                block, test = self._expression(test, block, inside)
                then, otherwise = Block(), Block()
                block.way = Branch(test, then, otherwise, place)
                ends = [self._statements(*both, inside) for both in ((body, then), (orelse, otherwise))]
                return _joined([end for end in ends if end is not None])
            case ast.While(test=test):
                return self._loop(node, block, inside, place, None)
            case ast.For(target=ast.Name()):
                return self._for(node, block, inside, place)
            case ast.Break() if inside.leave is not None:
                inside.breaks = True
                block.way = inside.leave
                return None
            case ast.Continue() if inside.turn is not None:
                block.way = inside.turn
                return None
            case ast.Pass():
                return block
            case ast.Expr(value=ast.Constant(value=str())):
                return block
            case ast.Expr(value=ast.Call() as value):
                # For its errors.
                block, value = self._expression(value, block, inside)
                block.steps.append(Assign(_stored(self.hidden("value")), value, place))
                return block
        return place.refuse(f"`{_words(node)}` is no statement of a kernel")

    def _for(self, node: ast.For, block: Block, inside: _Inside, place: Place) -> Block | None:
        place = place.within(node.iter)
        match node.iter:
            case ast.Call(func=ast.Constant() as called, args=arguments, keywords=[]) if _is_range(called):
                pass
            case _:
                place.refuse("`for` goes over a `range` in a kernel")
        given = []
        for argument in arguments:
            block, taken = self._expression(argument, block, inside)
            given.append(taken)
        loop = self.hidden("range")
        block.steps.append(Begin(loop, given, place))
        return self._loop(node, block, inside, place, loop)

    def _loop(
        self, node: ast.For | ast.While, block: Block, inside: _Inside, place: Place, loop: str | None
    ) -> Block | None:
        header, body, behind, leave = Block(is_header=True), Block(), Block(), Block()
        known = Loop(header, loop)
        inside.loops.append(known)
        within = _Inside(
            inside.source,
            inside.prefix,
            inside.result,
            inside.end,
            inside.functions,
            header,
            leave,
            known.inner,
        )
        is_endless = False
        # With the first turn before the loop, names that its body binds have a value after it.
        for before in (block, header) if self._is_peeled else (header,):
            tested = before
            test: ast.expr | str
            if isinstance(node, ast.For):
                assert loop is not None
                test = loop
            else:
                tested, test = self._expression(node.test, before, inside)
                is_endless = isinstance(test, ast.Constant) and bool(test.value)
            tested.way = body if is_endless else Branch(test, body, behind, place)
        if not self._is_peeled:
            block.way = header
        if isinstance(node, ast.For):
            assert loop is not None
            body.steps.append(Next(loop, self._target(node.target, inside), place))
        last = self._statements(node.body, body, within)
        if last is not None:
            last.way = header
        end = None if is_endless else self._statements(node.orelse, behind, inside)
        if end is not None:
            end.way = leave
        return leave if within.breaks or end is not None else None

    def _target(self, target: ast.expr, inside: _Inside) -> ast.expr:
        match target:
            case ast.Name(id=name):
                return _stored(inside.prefix + name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return ast.Tuple([self._target(part, inside) for part in parts], ast.Store())
        return inside.source.at(target).refuse(
            f"a kernel assigns to names alone, not to `{ast.unparse(target)}`"
        )

    def _expression(self, node: ast.expr, block: Block, inside: _Inside) -> tuple[Block, ast.expr]:
        """An expression without calls of functions that have statements, and the block in which it stands."""
        calls = _Calls(self, block, inside)
        renamed = calls.visit(copied(node))
        return calls.block, renamed

    def inline(
        self, node: ast.Call, function: FunctionType, block: Block, inside: _Inside
    ) -> tuple[Block, ast.expr]:
        """A call: the block behind the called function's own, and the name of its result."""
        place = inside.source.at(node)
        if function in inside.functions:
            place.refuse(f"`{function.__name__}` calls itself: kernels have no recursion")
        found = sources.read(function)
        if found is None:
            place.refuse(f"the source of `{function.__name__}` is not to be had")
        if found.is_ours:
            found.call = place.whole()
        self.guards += [*found.guards, Guard(function, "__code__", function.__code__)]
        self.guards.append(Guard(function, "__defaults__", function.__defaults__))
        self.guards.append(Guard(function, "__kwdefaults__", function.__kwdefaults__))
        prefix, behind = self.hidden("call") + ".", Block()
        for name, value in _bound_arguments(found, function, node, place):
            block.steps.append(Assign(_stored(prefix + name), value, place))
        within = _Inside(
            found, prefix, prefix + "result", behind, (*inside.functions, function), loops=inside.loops
        )
        if self._statements(found.tree.body, block, within) is not None:
            place.refuse(f"`{function.__name__}` ends without `return` on some way")
        return behind, ast.copy_location(_loaded(prefix + "result"), node)

    def function_of(self, called: Any) -> FunctionType | None:
        """The Python function behind a call, if it is inlined."""
        found = self._inlined(called)
        return found if isinstance(found, FunctionType) else None

    def _find_live(self) -> None:
        """Notes for each block the names that are read there or behind it before they are bound."""
        changed = True
        while changed:
            changed = False
            for block in reversed(self.blocks):
                live = set().union(*(below.live for below in block.successors()))
                live |= read_by_way(block)
                for step in reversed(block.steps):
                    read = read_by(step, live)
                    live -= _bound(step)
                    live |= read
                changed |= not live <= block.live
                block.live |= live


class _Calls(ast.NodeTransformer):
    """Gives names their prefix, and takes calls out of an expression, inner ones first."""

    def __init__(self, flow: Flow, block: Block, inside: _Inside) -> None:
        self.flow, self.block, self.inside = flow, block, inside

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.copy_location(_loaded(self.inside.prefix + node.id), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = None
        if isinstance(node.func, ast.Constant):
            function = self.flow.function_of(node.func.value)
        node = ast.copy_location(
            ast.Call(
                self.visit(node.func),
                [self.visit(argument) for given in node.args for argument in _apart(given)],
                [ast.keyword(keyword.arg, self.visit(keyword.value)) for keyword in node.keywords],
            ),
            node,
        )
        if function is None:
            return node
        self.block, result = self.flow.inline(node, function, self.block, self.inside)
        return result

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        is_known = isinstance(
            node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right, ast.Constant
        )
        if not isinstance(node.op, ast.Pow) or is_known:
            self.generic_visit(node)
            return node
        called: Any = power
        call = ast.Call(ast.Constant(called), [node.left, node.right], [])
        return self.visit_Call(ast.copy_location(call, node))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if not any(map(self._inlines, (node.body, node.orelse))):
            self.generic_visit(node)
            return node
        # A call in one of the two is computed there alone.
        test, place = self.visit(node.test), self.inside.source.at(node)
        then, otherwise, behind = Block(), Block(), Block()
        self.block.way = Branch(test, then, otherwise, place)
        name = self.flow.hidden("value")
        for self.block, chosen in ((then, node.body), (otherwise, node.orelse)):
            value = self.visit(chosen)
            self.block.steps.append(Assign(_stored(name), value, place))
            self.block.way = behind
        self.block = behind
        return ast.copy_location(_loaded(name), node)

    def _inlines(self, node: ast.expr) -> bool:
        calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
        return any(
            isinstance(called, ast.Constant) and self.flow.function_of(called.value) is not None
            for called in calls
        )


def _bound_arguments(
    found: Source, function: FunctionType, call: ast.Call, place: Place
) -> list[tuple[str, ast.expr]]:
    """The values of a called function's parameters, in their order."""
    name = function.__name__
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        place.refuse(f"arguments of `{name}` with a star are no known tuple")
    if len(call.args) > len(found.positional):
        place.refuse(f"`{name}` takes {len(found.positional)} arguments by position, not {len(call.args)}")
    given = dict(zip(found.positional, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None:
            place.refuse(f"arguments of `{name}` are given one by one in a kernel")
        if keyword.arg in given or keyword.arg not in found.parameters[found.by_position_alone :]:
            place.refuse(f"`{name}` takes no such argument, or twice: `{keyword.arg}`")
        given[keyword.arg] = keyword.value
    defaults = found.defaults()
    for parameter in found.parameters:
        if parameter not in given:
            if parameter not in defaults:
                place.refuse(f"`{name}` is called without its argument `{parameter}`")
            given[parameter] = ast.Constant(defaults[parameter])
    return [(parameter, given[parameter]) for parameter in found.parameters]


def _apart(argument: ast.expr) -> list[ast.expr]:
    """An argument; of a tuple with a star that is known, its parts."""
    match argument:
        case ast.Starred(value=ast.Constant() as whole):
            parts: Any = whole.value
            return [ast.Constant(part) for part in parts] if isinstance(parts, tuple) else [argument]
    return [argument]


def _is_range(constant: ast.Constant) -> bool:
    found: Any = constant.value
    return found is range


def _loaded(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _stored(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def _words(node: ast.stmt) -> str:
    return ast.unparse(node).splitlines()[0]


def _joined(ends: list[Block]) -> Block | None:
    """A block behind all these."""
    if not ends:
        return None
    behind = Block()
    for end in ends:
        end.way = behind
    return behind
