"""Loops in a syntax tree: which of them may be compiled by their text, and why the others may not.

Owns ``find``. A loop qualifies if the table of constructs has all its statements, and the lists of
functions all that it calls; the first that is missing is the reason, also for the loops around it. Each
statement is read once; where a loop is refused, the loops in it are looked for in the rest. Invariants: the
tree is not changed; what is found depends on the text alone. Not here: expressions (``loop_facts.py``), the
text (``_program/loop_report.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .bindings import BLOCKS, Scope
from .loop_facts import LoopFacts, Refused
from .nests import Facts, FoundLoop, Refusal

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def find(tree: ast.Module, file: str, outside: Mapping[str, Any] | None = None) -> tuple[FoundLoop, ...]:
    """The outermost loops of a module, with those in them, in the order of the text.

    ``outside`` has values of names that the text does not bind.
    """
    return tuple([_found(known) for known in _Module(tree, file, outside).loops()])


class _Module:
    """A module, and what is known of its functions."""

    def __init__(self, tree: ast.Module, file: str, outside: Mapping[str, Any] | None) -> None:
        self._scope, self._file = Scope(tree, outside=outside), file
        # What its functions do, or why they may not be called; a call while that is being found is recursion.
        self._functions: dict[ast.FunctionDef, Facts | Refusal | str] = {}

    def loops(self) -> list[LoopFacts]:
        """Its outermost loops."""
        return self._search([*reversed(self._scope.node.body)], self._scope)

    def _search(self, stack: list[Any], scope: Scope) -> list[LoopFacts]:
        """The outermost loops of statements on a stack, those of functions in them included."""
        found: list[LoopFacts] = []
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind in _LOOPS:
                found.append(self._loop(node, scope))
            elif kind in _SCOPES:
                found += self._search([*reversed(node.body)], Scope(node, scope))
            else:
                for block in reversed(BLOCKS.get(kind, ())):
                    stack.extend(reversed(getattr(node, block)))
        return found

    def _loop(self, node: Any, scope: Scope) -> LoopFacts:
        known = self._facts_of(node, scope)
        stack = [*reversed(node.orelse), *reversed(node.body)]
        try:
            if scope.is_class:
                known.refuse("class body", node)
            if type(node) is ast.While:
                known.read(node.test)
            else:
                known.check(node)
                known.head(node)
            known.statements.append(type(node))
            self._statements(stack, known)
        except Refused as refused:
            known.refusal = refused.refusal
            known.inner += self._search(stack, scope)
        return known

    def _statements(self, stack: list[Any], known: LoopFacts) -> None:
        """Takes the statements of a loop or a function from a stack.

        Where one is refused, it stays there, with those behind it.
        """
        while stack:
            node = stack[-1]
            kind = type(node)
            if kind is ast.Assign:
                known.read(node.value)
                for target in node.targets:
                    known.bind(target)
            elif kind is ast.AugAssign:
                if type(node.target) is ast.Name:
                    known.reads.add(node.target.id)
                known.bind(node.target)
                known.read(node.value)
            elif kind is ast.If:
                known.read(node.test)
                stack[-1:] = [*reversed(node.orelse), *reversed(node.body)]
                known.statements.append(kind)
                continue
            elif kind is ast.For or kind is ast.While:
                stack.pop()
                inner = self._loop(node, known.scope)
                known.inner.append(inner)
                if inner.refusal is not None:
                    raise Refused(inner.refusal)
                continue
            elif kind is ast.Expr or kind is ast.Return:
                known.read(node.value)
            elif kind is ast.AnnAssign:
                if not known.scope.is_function:
                    known.refuse("annotation", node)
                known.read(node.value)
                if node.value is not None or type(node.target) is not ast.Name:
                    known.bind(node.target)
            else:
                # A jump, or what no loop may hold.
                known.check(node)
            known.statements.append(kind)
            stack.pop()

    def _facts_of(self, node: ast.AST, scope: Scope) -> LoopFacts:
        return LoopFacts(node, scope, self._file, self._function)

    def _function(self, node: ast.FunctionDef) -> Facts | Refusal | str:
        """What one of the module's functions does, to those that call it."""
        if node.decorator_list or node.args.vararg or node.args.kwarg:
            return "special function"
        if node not in self._functions:
            self._functions[node] = "recursion"
            self._functions[node] = self._read(node)
        return self._functions[node]

    def _read(self, node: ast.FunctionDef) -> Facts | Refusal:
        scope = Scope(node, self._scope)
        known = self._facts_of(node, scope)
        try:
            self._statements([*reversed(node.body)], known)
        except Refused as refused:
            return refused.refusal
        facts, own = known.facts(), scope.bound().keys()
        # Its variables are not the caller's.
        return replace(facts, reads=facts.reads - own, writes=facts.writes - own)


def _found(known: LoopFacts, is_within: bool = False) -> FoundLoop:
    """A loop as plain data; ``is_within`` one that qualifies."""
    qualifies = known.refusal is None
    inner = tuple([_found(one, qualifies) for one in known.inner])
    facts = known.facts() if qualifies and not is_within else None
    return FoundLoop(known.place(known.node), known.refusal, facts, inner)
