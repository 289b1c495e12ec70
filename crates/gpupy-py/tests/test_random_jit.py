"""Random functions over arrays, with writes, views, branches and loops: recorded, they give what they give.

Numbers are small ints, so that every way of computing them is exact. Not here: what is refused
(``test_refused_jit.py``).
"""

import random

import numpy as np
import pytest

import gpupy as gp

COUNT = {"cpu": 300, "soft": 60, "gl": 60, "vulkan": 60, "wgpu": 60}
SIZES = (1, 2, 7, 64, 65)


class Writer:
    """Writes one function of three arrays of two axes of one size."""

    def __init__(self, r):
        self.r, self.depth, self.loops = r, 0, 0
        self.lines = ["import gpupy as np", "", "", "def random_function(a, b, c):", "    d = a + 1"]
        self.names = ["a", "b", "c", "d"]

    def line(self, text, indent):
        self.lines.append("    " * indent + text)

    def name(self):
        return self.r.choice(self.names)

    def value(self, depth=2):
        """An expression with an array of the full shape."""
        if depth == 0:
            return self.name()
        one, kind = self.value(depth - 1), self.r.randrange(9)
        match kind:
            case 0:
                return f"np.minimum({one}, {self.name()})"
            case 1:
                return f"np.where({self.name()} > {self.r.randint(-3, 3)}, {one}, {self.name()})"
            case 2:
                return f"{one}.T"
            case 3:
                return f"{one}[::-1]"
            case 4:
                return f"({one} - {self.name()}.max(axis={self.r.randrange(2)}, keepdims=True))"
            case 5:
                return f"np.roll({one}, {self.r.randint(-2, 2)}, axis={self.r.randrange(2)})"
            case 6:
                return f"np.clip({one}, -{self.r.randint(1, 9)}, {self.r.randint(0, 9)})"
            case _:
                other = self.r.choice([self.name(), str(self.r.randint(-3, 3))])
                return f"({one} {self.r.choice('+-')} {other})"

    def test(self):
        one, bound = self.name(), self.r.randint(-20, 20)
        return self.r.choice(
            [
                f"{one}.sum() > {bound}",
                f"{one}[0, 0] <= {one}[-1, -1]",
                f"({one} == {bound}).any()",
                f"not ({one} < {bound}).all()",
                f"{one}.max() > {self.name()}.min() and {one}[0].sum() < {bound}",
            ]
        )

    def statement(self, indent):
        kind = self.r.randrange(10)
        if kind == 0 and self.depth < 2:
            self.depth += 1
            self.line(f"if {self.test()}:", indent)
            self.block(indent + 1)
            if self.r.random() < 0.5:
                self.line("else:", indent)
                self.block(indent + 1)
            self.depth -= 1
        elif kind == 1 and self.depth < 2:
            self.depth += 1
            self.loops += 1
            turn, bound = f"turn{self.loops}", self.r.randint(1, 4)
            self.line(f"{turn} = 0", indent)
            self.line(f"while {turn} < {bound} and ({self.test()}):", indent)
            self.line(f"{turn} += 1", indent + 1)
            self.block(indent + 1)
            self.depth -= 1
        elif kind == 2:
            part = self.r.choice(["0", ":, 0", "1:", "::2", "..."])
            self.line(f"{self.name()}[{part}] = {self.r.randint(-5, 5)}", indent)
        elif kind == 3:
            self.line(f"{self.name()}[...] = {self.value()}", indent)
        elif kind == 4:
            one = self.name()
            self.line(f"{one}[{self.name()} > {self.r.randint(-3, 3)}] = {self.r.randint(-5, 5)}", indent)
        elif kind == 5:
            self.line(f"{self.name()} {self.r.choice(['+=', '-='])} {self.value(1)}", indent)
        elif kind == 6 and self.r.random() < 0.4:
            self.line(f"return {self.name()}, {self.value(1)}, {self.name()}.sum()", indent)
        else:
            self.line(f"{self.name()} = np.clip({self.value()}, -99, 99)", indent)

    def block(self, indent):
        for _ in range(self.r.randint(1, 3)):
            self.statement(indent)

    def text(self):
        self.block(1)
        self.block(1)
        self.line("return a, [b[1:], d], {'sum': c.sum(axis=0)}, c[0, 0]", 1)
        return "\n".join(self.lines) + "\n"


def flat(value):
    if isinstance(value, (tuple, list)):
        return [one for item in value for one in flat(item)]
    if isinstance(value, dict):
        return flat(list(value.values()))
    return [value]


def given(r, size, aliased):
    """Three arrays, or two of them and a view of one."""
    ints = np.array([[r.randint(-9, 9) for _ in range(size)] for _ in range(size)], "i4")
    a, b = gp.asarray(ints), gp.asarray(ints.T - 1)
    return a, b, (a.T if aliased else gp.asarray(ints[::-1] + 2))


def is_same(one, other):
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and np.array_equal(one, other)


@pytest.mark.parametrize("name", COUNT)
def test_random_functions(some, name):
    drivers = {row["name"]: row for row in gp.drivers()}
    if not drivers[name]["starts"]:
        pytest.skip(drivers[name]["reason"])
    gp._gpupy.reconfigure(name, strict=name != "cpu")
    for seed in some(range(COUNT[name]), 4):
        r = random.Random(seed)
        text = Writer(r).text()
        names = {"__name__": "random_functions"}
        exec(compile(text, f"<function {seed}>", "exec"), names)
        function = names["random_function"]
        jitted = gp.jit(function)
        size = r.choice(SIZES)
        for turn in range(5):
            start, aliased = r.randrange(1 << 30), turn % 3 == 2
            theirs = given(random.Random(start), size, aliased)
            own = given(random.Random(start), size, aliased)
            wanted, found = function(*theirs), jitted(*own)
            told = f"seed {seed}, turn {turn}, size {size}\n{text}\n{jitted.stats()}"
            assert len(flat(wanted)) == len(flat(found)), told
            pairs = zip(flat(wanted) + list(theirs), flat(found) + list(own), strict=True)
            assert all(is_same(one, other) for one, other in pairs), told
            # Arrays share memory where the function's do.
            arrays = [
                [v for v in flat(value) + list(a) if isinstance(v, gp.ndarray)]
                for value, a in ((wanted, theirs), (found, own))
            ]
            for i, j in ((0, 1), (0, -3), (1, -2), (2, -1), (0, -1)):
                shared = [gp.shares_memory(values[i], values[j]) for values in arrays]
                assert shared[0] == shared[1], told
        if turn == 4 and not jitted.stats()["plain"]:
            assert jitted.stats()["replays"] + jitted.stats()["recordings"] == 5


# Results of one function are arguments of others

PARTS = (
    "a + 1; b + 1; a * 2; b * 2; a + b; b - a; a * 2 + 1; (a + 1) * 2; a[::-1]; b.sum() + a; a; a.copy();"
    " a - a; a * 0 + b; a + 0; np.maximum(a, b); np.zeros_like(a); np.arange(a.size) + 1; a.sum(); b.max();"
    " a.sum() + b.sum(); a.reshape(-1); np.where(a > b, a, b); a.astype('i4'); a[a.size // 2 :]; -a;"
    " a.T; a[0]; b.min() * 2; np.stack([a, a])[1]; abs(b); a > 1"
).split("; ")


def shared_function(r):
    """A function of two arrays, made of few expressions, so that others have the same."""
    lines, names = ["def f(a, b):"], []
    for number in range(r.randint(1, 4)):
        lines.append(f"    v{number} = {r.choice(PARTS)}")
        names.append(f"v{number}")
        if r.random() < 0.2:
            value = r.choice(["7", "b.max()", "3", "a.sum()"])
            lines.append(f"    a[{r.choice(['...', '1:', '0', '::2'])}] = {value}")
        if r.random() < 0.2:
            then = r.choice(["a = a + 1", "b = b * 2"])
            lines.append(f"    if {r.choice(['a', 'b'])}.sum() > {r.randint(-5, 20)}: {then}")
    lines.append(f"    return {', '.join(r.choices([*names, 'a', 'b'], k=r.randint(2, 3)))}")
    return "\n".join(lines)


def pair(r, size):
    """An array of ours and one of NumPy's, of few numbers, so that arrays are often equal."""
    values = [r.randint(0, 2) for _ in range(min(size, 64))] * (size // 64 + 1)
    numpys = np.array(values[:size], r.choice(["i8", "i8", "i4"]))
    return gp.asarray(numpys.copy()), numpys


def outcome(function, *args):
    """The function's results, or that it raises."""
    try:
        return function(*args)
    except (ValueError, IndexError, TypeError, OverflowError) as error:
        return type(error)


@pytest.mark.parametrize("name", COUNT)
def test_results_of_functions_are_arguments_of_others(name):
    drivers = {row["name"]: row for row in gp.drivers()}
    if not drivers[name]["starts"]:
        pytest.skip(drivers[name]["reason"])
    gp._gpupy.reconfigure(name, strict=name != "cpu")
    for seed in range(COUNT[name]):
        r = random.Random(seed)
        texts = [shared_function(r) for _ in range(3)]
        own, theirs = [], []
        for text in texts:
            for module, functions in ((gp, own), (np, theirs)):
                names = {"np": module, "__name__": "shared"}
                exec(compile(text, "<shared>", "exec"), names)
                functions.append(gp.jit(names["f"]) if module is gp else names["f"])
        size = r.choice([1, 2, 4, 64] if seed % 20 else [70_000])
        pool, done = [pair(r, size), pair(r, size)], []
        for _ in range(14):
            number, given = r.randrange(3), []
            for place in range(2):
                one = r.choice(pool)
                if np.ndim(one[1]) != 1:
                    # Scalars are second arguments.
                    one = one if place else pair(r, size)
                elif (how := r.random()) < 0.3:
                    views = [lambda a: a[::-1], lambda a: a[:], lambda a: a.copy()]
                    one = tuple(map(views[int(how * 10)], one))
                given.append(one)
            done.append((number, [str(numpys) for _, numpys in given]))
            right = outcome(theirs[number], *(numpys for _, numpys in given))
            found = outcome(own[number], *(array for array, _ in given))
            told = f"seed {seed}, size {size}, calls {done}\n" + "\n".join(texts)
            if isinstance(right, type):
                assert found is right, told
                break
            made = list(zip(found, right, strict=True))
            for array, numpys in [*made, *given, *pool]:
                there = np.asarray(array.copy())
                assert np.array_equal(there, numpys) and there.dtype == numpys.dtype, told
            pool = [*pool, *(one for one in made if np.shape(one[1]) in ((size,), ())), pair(r, size)][-6:]
