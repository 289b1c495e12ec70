"""Loops of a text are found, with what they do, or with what keeps them in Python.

Not here: the report of a program (`test_loop_report.py`).
"""

import ast
import os
import pathlib
import random

import pytest

from gpupy._loops import callables
from gpupy._loops.constructs import _AROUND, ALLOWED, BY_NAME, REFUSED
from gpupy._loops.loop_finder import find
from gpupy._loops.nests import NamedCall

ROOT = pathlib.Path(__file__).parents[3]
PAGE = ROOT / "docs/loops.md"
# Rows whose node this Python does not have.
MISSING = {row.name for row in REFUSED if row.name == "type alias" and not row.nodes}


def found(text):
    """The outermost loops of a text."""
    return find(ast.parse(text), "text.py")


def verdicts(text):
    """For each loop of a text in its order, the name of the construct that refuses it, or None."""
    every = [one for loop in found(text) for one in loop.all_loops()]
    return [one.refusal and one.refusal.construct for one in every]


@pytest.mark.parametrize("row", ALLOWED, ids=lambda row: row.name)
def test_a_loop_of_an_allowed_construct_qualifies(row):
    (loop,) = found(row.example)
    assert loop.qualifies, loop.refusal.words
    assert list(loop.nests()) == [loop] and loop.facts is not None
    # Nothing else of the example makes it qualify.
    kinds = {type(node) for node in ast.walk(ast.parse(row.code))}
    assert not row.nodes or kinds & set(row.nodes)


@pytest.mark.parametrize("row", [row for row in REFUSED if row.code], ids=lambda row: row.name)
def test_a_loop_of_another_construct_is_refused_with_its_line(row):
    if row.name in MISSING:
        pytest.skip("this Python has no such statement")
    (loop,) = found(row.example)
    assert loop.refusal is not None and loop.refusal.construct == row.name, loop
    assert loop.facts is None and not list(loop.nests())
    # A function's own line, or the head, where it is not the statement's.
    line = {"recursion": 2, "class body": 2}.get(row.name, row.around.count("\n") + 1)
    assert (loop.refusal.place.file, loop.refusal.place.line) == ("text.py", line)
    assert "{" not in loop.refusal.words


def test_syntax_that_no_row_names_is_refused():
    class NewStatement(ast.stmt):
        pass

    class NewExpression(ast.expr):
        pass

    place = {"lineno": 2, "col_offset": 1, "end_lineno": 2, "end_col_offset": 5}
    for new in (NewStatement(**place), ast.Expr(NewExpression(**place), **place)):
        tree = ast.parse("for i in x:\n pass")
        tree.body[0].body = [new]
        (loop,) = find(tree, "text.py")
        assert (loop.refusal.construct, loop.refusal.place.line) == ("syntax", 2)
        assert loop.refusal.words.startswith("syntax that is not known: `New")


def test_every_reason_was_taken():
    taken = {row.name for row in REFUSED if row.code}
    assert taken | {"syntax"} == set(BY_NAME)


# A text, and for each loop in its order the construct that refuses it, with its line.
TEXTS = {
    "the loops in a refused one are looked at": (
        "for a in x:\n    print(a)\n    for b in a:\n        s += b\n    for c in a: del c\n",
        [("function", 2), None, ("del", 5)],
    ),
    "the first reason in the text counts": (
        "for a in x:\n    if a:\n        y.append(a)\n    else: print(a)\n    assert a\n",
        [("method", 3)],
    ),
    "a reason inside is one outside": (
        "while s:\n    for a in x:\n        while a:\n            raise a\n",
        [("raise", 4)] * 3,
    ),
    "the head is read first": ("for a in open(x):\n    print(a)\n", [("function", 1)]),
    "the test is read first": ("while input():\n    print(s)\n", [("function", 1)]),
    "what follows a loop's end": ("for a in x: pass\nelse:\n    print(a)\n", [("function", 3)]),
    "loops of all blocks are found": (
        "if x:\n    while s: pass\nelif y:\n    while s: pass\nelse:\n    while s: pass\n"
        "try:\n    while s: pass\nexcept E:\n    while s: pass\nelse:\n    while s: pass\n"
        "finally:\n    while s: pass\nwith x:\n    while s: pass\n"
        "match x:\n    case 1:\n        while s: pass\n",
        [None] * 9,
    ),
    "loops of functions in functions and classes": (
        "class C:\n    def f(self):\n        def g():\n            for i in x: pass\n        async def h():\n"
        "            for i in x: pass\n",
        [None] * 2,
    ),
    "a loop in a function in a loop": (
        "for a in x:\n    def f():\n        for b in x: s = b\n",
        [("definition", 2), None],
    ),
    "a loop that is async": (
        "async def f():\n    async for a in x:\n        for b in a: pass\n",
        [("async", 2), None],
    ),
    "NumPy by any name": (
        "import numpy\nimport numpy as xp\nimport numpy.linalg as la\n"
        "from numpy import sqrt as root, linalg\n"
        "for i in x:\n    y[i] = numpy.sqrt(xp.exp(root(linalg.norm(la.norm(i)))))\n",
        [None],
    ),
    "NumPy by a star": ("from numpy import *\nfor i in arange(3):\n    s = sqrt(i)\n", [None]),
    "gpupy as NumPy": ("import gpupy as np\nfor i in np.arange(3):\n    s = np.sqrt(i)\n", [None]),
    "a name that a function imports": (
        "def f():\n    import math as m\n    for i in x: s = m.sin(i)\n",
        [None],
    ),
    "another library's function of the same name": (
        "import jax.numpy as np\nfor i in x: s = np.sqrt(i)\n",
        [("elsewhere", 2)],
    ),
    "a function of NumPy's that is on no list": (
        "import numpy as np\nfor i in x: s = np.unique(i)\n",
        [("function", 2)],
    ),
    "an abstract type of NumPy's": ("import numpy as np\nfor i in x: s = np.number(i)\n", [("function", 2)]),
    "a type of NumPy's": ("import numpy as np\nfor i in x: s = np.float32(i)\n", [None]),
    "a module whose name is another thing in the function": (
        "import numpy as np\ndef f(np):\n    for i in x: s = np.sqrt(i)\n",
        [("method", 3)],
    ),
    "one of two libraries": (
        "try:\n    import cupy as np\nexcept E:\n    import numpy as np\nfor i in x: s = np.sqrt(i)\n",
        [("special function", 5)],
    ),
    "a built-in function that is another": ("def f(abs):\n    for i in x: s = abs(i)\n", [("variable", 2)]),
    "a range that is another": ("range = 3\nfor i in range(n): pass\n", [("variable", 2)]),
    "a name that nothing binds": ("for i in x: s = f(i)\n", [("function", 1)]),
    "a name of a class around": (
        "class C:\n    abs = 3\n    def f(self):\n        for i in x: s = abs(i)\n",
        [None],
    ),
    "a global name": ("def f():\n    global abs\n    abs = 3\n    for i in x: s = abs(i)\n", [None]),
    "names that match": (
        "match x:\n    case [abs, *len]: pass\n    case {'a': 1, **max}: pass\nfor i in x: s = len(i)\n",
        [("variable", 4)],
    ),
    "names of with and except": (
        "try:\n    with x as (len, abs): pass\nexcept E as max: pass\nfor i in x: s = max(i, abs(i))\n",
        [("variable", 4)],
    ),
    "an own function of its own, with a reason": (
        "def f(a):\n    return g(a)\ndef g(a):\n    print(a)\nfor i in x: f(i)\n",
        [("function", 4)],
    ),
    "two functions that call each other": (
        "def f(a): return g(a)\ndef g(a): return f(a)\nfor i in x: f(i)\n",
        [("recursion", 2)],
    ),
    "an own function with a decorator": (
        "@d\ndef f(a): return a\nfor i in x: f(i)\n",
        [("special function", 3)],
    ),
    "an own function with two definitions": (
        "def f(a): return a\ndef f(a): return 2\nfor i in x: f(i)\n",
        [("special function", 3)],
    ),
    "a coroutine": ("async def f(a): return a\nfor i in x: f(i)\n", [("special function", 2)]),
    "a generator": ("def f(a): yield a\nfor i in x: f(i)\n", [("yield", 1)]),
    "a class that is called": ("class C: pass\nfor i in x: C()\n", [("variable", 2)]),
    "a function in a function": ("def f():\n    def g(): pass\n    for i in x: g()\n", [("variable", 3)]),
    "a method behind a call": ("for i in x: s = i.copy().sort()\n", [("method", 1)]),
    "a method of another object": ("for i in x: s = self.step(i)\n", [("method", 1)]),
    "a module's function of a function": (
        "import numpy as np\nfor i in x: np.add.at(x, i, 1)\n",
        [("function", 2)],
    ),
    "a list in the head": ("for a, b in [(1, 2), (3, n)]: s = a\n", [None]),
    "a list that is none in the head": ("for a in zip(x, [1, 2]): s = a\n", [None]),
    "a list in a list in the head": ("for a in [[1]]: s = a\n", [("container", 1)]),
    "items that are written out": ("for i in x: s = i in [1, n] and i not in {2}\n", [None]),
    "a list that is compared": ("for i in x: s = 1 in (2,) == [i]\n", [("container", 1)]),
    "a chain of comparisons": ("for i in x: s = 0 < i is not None in y\n", [("membership", 1)]),
    "elements of what attributes name": ("for i in x: self.u[i].v[0] += self.w.T[i]\n", [None]),
    "an attribute among targets": ("for i in x: a, b.c = i\n", [("stored attribute", 1)]),
    "a starred item of a tuple": ("for i in x: s = (*i, 1)\n", [("star", 1)]),
    "keywords": ("import numpy as np\nfor i in x: np.sum(x, axis=i, out=y)\n", [None]),
    "keywords with stars": ("import numpy as np\nfor i in x: np.sum(x, **y)\n", [("star", 2)]),
    "an annotation without a value": ("def f():\n    for i in x:\n        s: int\n", [None]),
    "an annotation of an element": (
        "def f():\n    for i in x:\n        y[print()]: int\n",
        [("function", 3)],
    ),
    "an assignment in place to an attribute": ("for i in x: s.n += i\n", [("stored attribute", 1)]),
    "draws": ("import numpy as np\nfor i in x: s = np.random.rand() + rng.normal()\n", [None]),
    "draws that are on no list": (
        "import numpy as np\nfor i in x: s = np.random.choice(y)\n",
        [("function", 2)],
    ),
    "random numbers of Python's": ("import random\nfor i in x: s = random.random()\n", [("elsewhere", 2)]),
    "iterators in each other": ("for i, (a, b) in enumerate(zip(x, reversed(y))): s = a\n", [None]),
    "a slice as a value": ("for i in x: s = y[slice(i)]\n", [("function", 1)]),
    "no loop": ("x = [i for i in y]\n", []),
    "no text": ("", []),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_has_its_verdicts_and_lines(name):
    text, wanted = TEXTS[name]
    every = [one for loop in found(text) for one in loop.all_loops()]
    assert [one.refusal and (one.refusal.construct, one.refusal.place.line) for one in every] == wanted


def test_a_refusal_names_what_it_speaks_of_and_through_which_functions():
    text = "def f(a):\n    return g(a)\ndef g(a):\n    print(a)\nfor i in x: f(i)\n"
    (loop,) = found(text)
    assert loop.refusal.words == "a call of `print`, which is on no list, in `g` called by `f`"
    assert (loop.refusal.place.function, loop.place.function) == ("g", "<module>")


def test_facts_are_of_the_whole_nest():
    text = (
        "import numpy as np\nK = 3\ndef g(v):\n    w = v * K\n    return np.sqrt(w)\n"
        "def f(a, n):\n    while n > 0:\n        n -= 1\n        for i in range(n):\n"
        "            a[i], t = g(a[i - 1]), a.sum()\n"
        "            if t: break\n"
    )
    (loop,) = found(text)
    assert loop.facts.reads == {"a", "n", "i", "t", "K"}
    assert loop.facts.writes == {"n", "i", "t"}
    assert loop.facts.calls == {
        NamedCall("range", "builtins.range"),
        NamedCall("np.sqrt", "numpy.sqrt"),
        NamedCall("g", "g"),
        NamedCall(".sum", ".sum"),
    }
    wanted = {"Assign": 1, "AugAssign": 1, "Break": 1, "For": 1, "If": 1, "While": 1}
    assert dict(loop.facts.statements) == wanted
    place, (inner,) = loop.place, loop.inner
    assert (place.line, place.column, place.last_line, place.function) == (7, 4, 11, "f")
    # What belongs to a nest has its facts there.
    assert inner.qualifies and inner.facts is None and inner.place.line == 9


def test_each_of_the_loops_that_qualify_in_a_refused_one_is_a_nest():
    text = "for a in x:\n    print(a)\n    while a:\n        for b in a: s = b\n    for c in a: t = c\n"
    (loop,) = found(text)
    assert [nest.place.line for nest in loop.nests()] == [3, 5]
    assert [nest.facts.writes for nest in loop.nests()] == [{"b", "s"}, {"c", "t"}]


# Random programs.

# Statements that may stand beside all others, each with the row that refuses it.
ANYWHERE = [
    (row.code, None if row in ALLOWED else row.name)
    for row in (*ALLOWED, *REFUSED)
    if row.around == _AROUND
    and row.code
    and row.name not in MISSING
    # These have loops, or change what other rows' names are.
    and row.name not in ("for", "while", "rows", "head", "definition", "import", "class")
]
HEADS = [
    ("for i in range(n):", None),
    ("for i, a in enumerate(x):", None),
    ("while x[0] > i:", None),
    ("for i in map(f, x):", "function"),
    ("while f'{s}':", "formatted text"),
]
BLOCKS = [
    ("if x[i]:", None),
    ("if [i]:", "container"),
    ("with y:", "with"),
    ("try:", "try"),
    ("def h():", "definition"),
    ("class C:", "class"),
]


class Drawn:
    """A random program: its lines, and for each loop the reasons in it, in the order of the text."""

    def __init__(self, rng):
        self.rng, self.lines = rng, ["import numpy as np", "def f(x, y, n):"]
        self.wanted = []
        self.share = rng.choice([0, 0.1, 0.5])
        self.block([], 1, rng.randrange(1, 5), False)

    def line(self, depth, code):
        self.lines += ["    " * depth + line for line in code.splitlines()]

    def pick(self, choices):
        is_refused = self.rng.random() < self.share
        return self.rng.choice([one for one in choices if (one[1] is not None) == is_refused])

    def block(self, around, depth, most, is_in_class):
        """Statements; each reason is one for all loops around it, up to the function's."""
        self.line(depth, "pass")
        for _ in range(self.rng.randrange(most + 1)):
            kind = self.rng.random()
            if kind < 0.4 or depth > 6:
                code, reason = self.pick(ANYWHERE)
                if not is_in_class:
                    self.line(depth, code)
                    self.note(around, reason)
            elif kind < 0.75:
                head, reason = self.pick(HEADS)
                own = []
                self.wanted.append(own)
                inside = [*around, own]
                self.note(inside, "class body" if is_in_class else reason)
                self.line(depth, head)
                self.block(inside, depth + 1, most, is_in_class)
            else:
                head, reason = self.pick(BLOCKS)
                self.note(around, reason)
                self.line(depth, head)
                if reason in ("definition", "class"):
                    self.block([], depth + 1, most, reason == "class")
                else:
                    self.block(around, depth + 1, most, is_in_class)
                if reason == "try":
                    self.line(depth, "finally: pass")

    def note(self, around, reason):
        for own in around:
            if reason is not None:
                own.append(reason)

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


@pytest.mark.parametrize("seed", range(300))
def test_random_programs_have_the_first_reason_of_each_loop(seed):
    drawn = Drawn(random.Random(seed))
    tree = ast.parse(drawn.text)
    before = ast.dump(tree, include_attributes=True)
    loops = find(tree, "text.py")
    assert ast.dump(tree, include_attributes=True) == before
    assert find(tree, "text.py") == loops and find(ast.parse(drawn.text), "text.py") == loops
    wanted = [own[0] if own else None for own in drawn.wanted]
    assert verdicts(drawn.text) == wanted, drawn.text
    # The same text in other lines.
    assert verdicts(ast.unparse(tree)) == wanted


def test_random_programs_have_loops_of_both_kinds_and_most_reasons():
    every = [own[0] if own else None for seed in range(300) for own in Drawn(random.Random(seed)).wanted]
    assert every.count(None) > 100 and len(set(every)) > 18


def is_loop(node):
    return isinstance(node, ast.For | ast.AsyncFor | ast.While)


@pytest.mark.parametrize(
    "module", ["json", "asyncio", "unittest", "email", "gpupy", "argparse", "statistics"]
)
def test_all_loops_of_real_modules_are_found_once(module):
    where = pathlib.Path(__import__(module).__file__)
    files = sorted(where.parent.rglob("*.py")) if where.name == "__init__.py" else [where]
    for file in files:
        tree = ast.parse(file.read_bytes())
        every = [one for loop in find(tree, str(file)) for one in loop.all_loops()]
        lines = [(node.lineno, node.col_offset) for node in ast.walk(tree) if is_loop(node)]
        assert [(one.place.line, one.place.column) for one in every] == sorted(lines), file
        for loop in every:
            assert loop.refusal is None or loop.refusal.words


def test_deep_and_long_texts_are_read():
    terms = " + ".join(["x[0]"] * 900)
    chain = "if s == 0: pass\n" + "".join(f"    elif s == {k}: pass\n" for k in range(1, 900))
    nest = "".join(" " * k + "while s:\n" for k in range(90)) + " " * 90 + "s = 1"
    targets = f"{'(' * 90}s{',)' * 90} = x[0]"
    for body in (terms, chain, targets, "x" + "[0]" * 300, "x" + ".a" * 900, "- " * 200 + "s"):
        assert verdicts(f"for i in x:\n    {body}\n") == [None], body[:20]
    assert verdicts(nest) == [None] * 90
    (loop,) = found(f"for i in x:\n    {terms} + print(s)\n")
    assert loop.refusal.construct == "function"
    assert len(found("for i in x: pass\n" * 20000)) == 20000


# The page.


def cell(code):
    line = code.splitlines()[0].replace("|", "\\|")
    return f"`{line}{' …' if len(code.splitlines()) > 1 else ''}`"


def tables():
    """The tables of the page."""
    lines = ["", "| a loop may hold | for example |", "|---|---|"]
    lines += [f"| {row.words} | {cell(row.code)} |" for row in ALLOWED]
    lines += ["", "It may call, besides the program's functions,", ""]
    for module, names in callables.names().items():
        shown = {"builtins": "Python's", "numpy": "NumPy's ufuncs with one result, its types of numbers, and"}
        shown = shown.get(module, f"`{module}`'s")
        lines += [f"- {shown} {', '.join(f'`{name}`' for name in names)};"]
    lines += [f"- the methods {', '.join(f'`{name}`' for name in sorted(callables.METHODS))}."]
    lines += ["", "## Why a loop runs in Python", ""]
    lines += ["| reason | for example |", "|---|---|"]
    for row in REFUSED:
        if row.code:
            words = row.words
            if "{}" in words:
                (loop,) = found(row.example)
                words = loop.refusal.words
            lines.append(f"| {words} | {cell(row.code)} |")
    return wrapped(lines)


def wrapped(lines):
    """Items of lists in lines of 120 characters; tables are as long as they are."""
    import textwrap

    given = []
    for line in lines:
        is_item = line.startswith("- ")
        given += (
            textwrap.wrap(line, 120, subsequent_indent="  ", break_on_hyphens=False) if is_item else [line]
        )
    return "\n".join(given) + "\n"


def test_the_page_has_the_tables_of_the_sources():
    text = PAGE.read_text()
    head, mark, rest = text.partition("-->\n")
    assert mark
    if os.environ.get("GPUPY_BLESS"):
        PAGE.write_text(head + mark + tables())
    else:
        assert rest == tables(), "GPUPY_BLESS=1 writes it"
