"""A loop that is run up to one of its statements, by Python on a copy of its names.

Owns ``Partial``, whose ``leave`` is what a site's `enter` gives. The statement at which it stops has had
no effect: one that raises or returns is left to the second copy. Not here: the second copy.
"""

import ast
import itertools

from gpupy._loops.sites import Leave


class Stopped(Exception):
    """The loop is left before a statement."""

    def __init__(self, target):
        super().__init__(target)
        self.target, self.blocks, self.iterators = target, {}, {}


class Broken(Exception):
    """`break`."""


class Continued(Exception):
    """`continue`."""


class Locals(dict):
    """The names of a frame; one of the function's own without a value is not looked for among the globals."""

    def __init__(self, frame):
        super().__init__(frame.f_locals)
        code = frame.f_code
        self.own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}

    def __missing__(self, name):
        raise (NameError if name in self.own else KeyError)(name)


class Partial:
    """A run of a loop, over names that it changes."""

    def __init__(self, loop, names, shared, steps):
        """``shared`` are the globals; after some ``steps`` it stops."""
        self.loop, self.names, self.shared, self.steps = loop, names, shared, steps
        self.numbers = {}
        self.number(loop)

    def number(self, node):
        self.numbers[node] = len(self.numbers)
        for block in ("body", "orelse"):
            for one in getattr(node, block, ()):
                self.number(one)

    def leave(self, writes):
        """Runs it; where it stopped, with the names of these that have values."""
        where = {"target": None}
        try:
            self.statement(self.loop)
        except Stopped as stopped:
            where = {"target": stopped.target, "blocks": stopped.blocks, "iterators": stopped.iterators}
        return Leave(**where, names={name: self.names[name] for name in writes if name in self.names})

    def value(self, node, number, kind=lambda value: value):
        try:
            code = compile(ast.Expression(node), "partial", "eval")
            return kind(eval(code, self.shared, self.names))
        except Exception:
            raise Stopped(number) from None

    def block(self, node, name, iterator=None):
        number = self.numbers[node]
        try:
            for one in getattr(node, name):
                self.statement(one)
        except Stopped as stopped:
            stopped.blocks[number] = name
            if iterator is not None:
                stopped.iterators[number] = iterator()
            raise

    def statement(self, node):
        number = self.numbers[node]
        if self.steps == 0 or isinstance(node, ast.Return):
            raise Stopped(number)
        self.steps -= 1
        match node:
            case ast.If():
                self.block(node, "body" if self.value(node.test, number, bool) else "orelse")
            case ast.For():
                items = self.value(node.iter, number, iter)
                try:
                    for item in items:
                        self.bind(node.target, item)
                        self.turn(node, lambda: itertools.chain([self.present(node.target)], items))
                except Broken:
                    return
                self.block(node, "orelse", lambda: iter(()))
            case ast.While():
                try:
                    while self.value(node.test, number, bool):
                        self.turn(node)
                except Broken:
                    return
                self.block(node, "orelse")
            case ast.Break():
                raise Broken
            case ast.Continue():
                raise Continued
            case _:
                self.simple(node, number)

    def turn(self, node, iterator=None):
        try:
            self.block(node, "body", iterator)
        except Continued:
            pass

    def bind(self, target, item):
        self.names[".item"] = item
        value = ast.Name(".item", ast.Load())
        self.simple(ast.copy_location(ast.Assign([target], value), target), None)

    def present(self, target):
        if isinstance(target, ast.Name):
            return self.names[target.id]
        return tuple(map(self.present, target.elts))

    def simple(self, node, number):
        before = dict(self.names)
        try:
            module = ast.fix_missing_locations(ast.Module([node], []))
            exec(compile(module, "partial", "exec"), self.shared, self.names)
        except Exception:
            self.names.clear()
            self.names.update(before)
            raise Stopped(number) from None
