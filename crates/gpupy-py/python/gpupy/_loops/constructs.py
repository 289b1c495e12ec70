"""The table of constructs: what a loop may hold that is to be compiled, and what keeps it in Python.

Owns ``Construct``, ``ALLOWED`` and ``REFUSED``; the finder, the tests and ``docs/loops.md`` read them. A
node of the syntax tree that no row of ``ALLOWED`` names is refused, so that new syntax is. Not here:
functions (``callables.py``).
"""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass

# Where an example stands; another place says so.
_AROUND = "import numpy as np\ndef f(x, y, n):\n    for i in range(n):\n{}"


@dataclass(frozen=True)
class Construct:
    """A row: a construct of Python's, with an example."""

    name: str
    # What a report says; a pair of braces stands for the name in question.
    words: str
    code: str
    # Nodes that mean it wherever they stand.
    nodes: tuple[type[ast.AST], ...] = ()
    around: str = _AROUND

    @property
    def example(self) -> str:
        """A program with one loop that holds it, and nothing else that would be refused."""
        return self.around.format(textwrap.indent(self.code, " " * 8)) + "\n"


def _nodes(*names: str) -> tuple[type[ast.AST], ...]:
    """Classes of nodes; not every Python has all of them."""
    return tuple(getattr(ast, name) for name in names if hasattr(ast, name))


ALLOWED = (
    Construct("assignment", "assignments to names and elements", "s = x[i]", (ast.Assign,)),
    Construct("augmented", "assignments in place", "x[i] += y[i]", (ast.AugAssign,)),
    Construct("annotated", "annotated assignments in functions", "s: float = x[i]", (ast.AnnAssign,)),
    Construct("tuple", "tuples, also as targets", "a, b = x[i], y[i]", (ast.Tuple,)),
    Construct("expression", "expressions and texts as statements", "x.fill(0)", (ast.Expr,)),
    Construct("if", "`if`, `elif`, `else`", "if x[i] > 0: y[i] = 1", (ast.If,)),
    Construct("for", "`for` with `else`", "for j in range(i): x[j] = y[i]", (ast.For,)),
    Construct("while", "`while` with `else`", "while x[i] > 1: x[i] /= 2", (ast.While,)),
    Construct(
        "jump",
        "`break`, `continue`, `pass`",
        "if x[i] > y[i]: break",
        (ast.Break, ast.Continue, ast.Pass),
    ),
    Construct("return", "`return`", "if x[i] > y[i]: return i", (ast.Return,)),
    Construct("name", "names and constants", "s = n", (ast.Name, ast.Constant)),
    Construct("operator", "operators, `@` too", "y[i] = -x[i] ** 2 @ y", (ast.BinOp, ast.UnaryOp)),
    Construct("logic", "`and`, `or`, `not`", "s = x[i] and not y[i]", (ast.BoolOp,)),
    Construct(
        "comparison",
        "comparisons, chains of them, `is`, `in` with items that are written out",
        "s = 0 < x[i] < 1 or i in (1, 2)",
        (ast.Compare,),
    ),
    Construct("conditional", "conditional expressions", "s = x[i] if i else y[i]", (ast.IfExp,)),
    Construct(
        "element",
        "elements and slices, with steps, `None` and `...`",
        "x[i, 1:-1:2] = y[..., None]",
        (ast.Subscript, ast.Slice),
    ),
    Construct("attribute", "attributes that are read", "s = x.shape[0] + y.grid[i]", (ast.Attribute,)),
    Construct("call", "calls of functions on the lists below", "y[i] = np.sqrt(abs(x[i]))", (ast.Call,)),
    Construct(
        "own function",
        "calls of the module's own functions, whose statements are all in this table",
        "y[i] = g(x[i])",
        around="def g(v):\n    return v + 1\ndef f(x, y, n):\n    for i in range(n):\n{}",
    ),
    Construct(
        "rows",
        "loops over arrays and tuples, `range`, `enumerate`, `zip`, `reversed`, `np.ndindex`",
        "for k, (a, b) in enumerate(zip(x, reversed(y))): s = a + b",
    ),
)

REFUSED = (
    Construct("try", "a `try` statement", "try: s = x[i]\nfinally: pass", _nodes("Try", "TryStar")),
    Construct("with", "a `with` statement", "with n: pass", (ast.With,)),
    Construct("raise", "a `raise` statement", "if x[i] < 0: raise ValueError", (ast.Raise,)),
    Construct("assert", "an `assert` statement", "assert x[i] > 0", (ast.Assert,)),
    Construct("del", "a `del` statement", "del x[i]", (ast.Delete,)),
    Construct("import", "an `import` statement", "import math", (ast.Import, ast.ImportFrom)),
    Construct("scope", "a `global` or `nonlocal` statement", "global s", (ast.Global, ast.Nonlocal)),
    Construct(
        "definition",
        "the definition of a function",
        "g = lambda: i",
        (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
    ),
    Construct("class", "the definition of a class", "class C: pass", (ast.ClassDef,)),
    Construct("match", "a `match` statement", "match i:\n    case 0: pass", (ast.Match,)),
    Construct(
        "async",
        "`async` or `await`",
        "await x[i]",
        (ast.AsyncFor, ast.AsyncWith, ast.Await),
        "async def f(x, y, n):\n    for i in range(n):\n{}",
    ),
    Construct("yield", "a `yield`", "yield x[i]", (ast.Yield, ast.YieldFrom)),
    Construct(
        "comprehension",
        "a comprehension or generator expression",
        "s = max(v for v in x)",
        (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    ),
    Construct(
        "container",
        "a list, dictionary or set that is made",
        "s = [x[i]]",
        (ast.List, ast.Dict, ast.Set),
    ),
    Construct(
        "formatted text",
        "a formatted text",
        's = f"{i}"',
        _nodes("JoinedStr", "FormattedValue", "TemplateStr", "Interpolation"),
    ),
    Construct("named value", "an assignment in an expression", "if (s := x[i]): pass", (ast.NamedExpr,)),
    Construct("star", "arguments or targets with a star", "a, *b = x[i]", (ast.Starred,)),
    Construct("type alias", "a `type` statement", "type S = int", _nodes("TypeAlias")),
    Construct("stored attribute", "an assignment to the attribute {}", "x.count = i"),
    Construct("head", "a `for` whose target is no name", "for y[i] in x: pass"),
    Construct("membership", "`in` with items that are not written out", "s = i in x"),
    Construct(
        "annotation",
        "an annotation outside of a function",
        "s: int = i",
        around="for i in range(9):\n{}",
    ),
    Construct("iterator", "{} outside of the head of a `for`", "s = range(i)"),
    Construct("function", "a call of {}, which is on no list", "print(x[i])"),
    Construct("method", "a call of the method {}", "s.append(x[i])"),
    Construct("variable", "a call of {}, which is a variable", "s = n(i)"),
    Construct("computed", "a call of what an expression gives", "s = (x or y)(i)"),
    Construct(
        "elsewhere",
        "a call of {}, which another module defines",
        "s = g(x[i])",
        around="from helper import g\ndef f(x, y, n):\n    for i in range(n):\n{}",
    ),
    Construct(
        "special function",
        "a call of {}, which has a decorator, arguments with a star, or several definitions",
        "s = g(x[i])",
        around="def g(*v):\n    return v\ndef f(x, y, n):\n    for i in range(n):\n{}",
    ),
    Construct(
        "recursion",
        "a call of {}, which calls itself",
        "s = g(x[i])",
        around="def g(v):\n    return g(v)\ndef f(x, y, n):\n    for i in range(n):\n{}",
    ),
    Construct(
        "class body",
        "a place in the body of a class",
        "s = i",
        around="class C:\n    for i in range(9):\n{}",
    ),
    Construct("syntax", "syntax that is not known: {}", ""),
)

BY_NAME = {row.name: row for row in REFUSED}
_NODES_ALLOWED = frozenset(node for row in ALLOWED for node in row.nodes)
_BY_NODE = {node: row for row in REFUSED for node in row.nodes}
assert _NODES_ALLOWED.isdisjoint(_BY_NODE)


def is_allowed(kind: type[ast.AST]) -> bool:
    """Whether a loop may hold nodes of a class."""
    return kind in _NODES_ALLOWED


def reason(node: ast.AST) -> Construct:
    """The row for a node that is not allowed."""
    return _BY_NODE.get(type(node), BY_NAME["syntax"])
