"""Random functions with branches and loops: a kernel has the function's results for NumPy's scalars.

Loops end, and numbers stay small, so that both ways are exact. Names are bound before the branches that bind
them again, to numbers of one dtype: what becomes of others is in ``test_kernels.py``.
"""

import random

import numpy as np
import pytest

import gpupy as gp

# Each is compiled, on devices twice.
COUNT = {"cpu": 1000, "gl": 40, "vulkan": 40, "wgpu": 40}
KINDS = {"i4": "np.int32", "f4": "np.float32", "f8": "np.float64", "i8": "np.int64"}
POINTS = np.arange(-4, 9)


class Writer:
    """Writes one function, over names of one dtype and counters."""

    def __init__(self, r, dtype):
        self.r, self.dtype = r, dtype
        self.lines = ["import numpy as np", "", "", "def random_function(a, b):"]
        self.names, self.free, self.depth, self.loops = ["a", "b"], 0, 0, 0

    def line(self, text, indent):
        self.lines.append("    " * indent + text)

    def number(self):
        whole = str(self.r.randint(-3, 4))
        # A number of Python's own takes the dtype of what it meets.
        return whole if self.r.random() < 0.5 else f"{KINDS[self.dtype]}({whole})"

    def operand(self):
        return self.r.choice(self.names) if self.r.random() < 0.75 else self.number()

    def value(self, depth=2):
        """An expression of the dtype, at least one operand of which is a name."""
        if depth == 0:
            return self.r.choice(self.names)
        first, kind = self.value(depth - 1), self.r.randrange(7)
        if kind == 0:
            return f"({first} if {self.test()} else {self.r.choice(self.names)})"
        if kind == 1:
            return f"np.minimum({first}, {self.r.choice(self.names)})"
        if kind == 2:
            return f"max({first}, {self.r.choice(self.names)})"
        if kind == 3:
            return f"abs({first})"
        return f"({first} {self.r.choice('+-')} {self.operand()})"

    def test(self):
        kind = self.r.randrange(5)
        op = self.r.choice(["<", "<=", ">", ">=", "==", "!="])
        one = f"{self.r.choice(self.names)} {op} {self.operand()}"
        if kind == 0:
            return f"not ({one})"
        if kind == 1:
            return f"({one} {self.r.choice(['and', 'or'])} {self.r.choice(self.names)} > {self.number()})"
        if kind == 2:
            return f"-2 < {self.r.choice(self.names)} <= {self.operand()}"
        return one

    def block(self, indent, length):
        for _ in range(length):
            self.statement(indent)

    def statement(self, indent):
        kind = self.r.randrange(10)
        if kind < 4 or indent > 4:
            # So that nothing grows beyond what is exact.
            self.line(f"{self.r.choice(self.names)} = np.clip({self.value()}, -1000, 1000)", indent)
        elif kind == 4:
            name, other = self.r.sample(self.names, 2)
            self.line(f"{name}, {other} = {other}, {name}", indent)
        elif kind < 7:
            self.line(f"if {self.test()}:", indent)
            self.block(indent + 1, self.r.randint(1, 2))
            if self.r.random() < 0.5:
                self.line("else:", indent)
                self.block(indent + 1, self.r.randint(1, 2))
        elif kind == 7 and self.loops < 3:
            self.line("return " + self.result(), indent) if indent > 1 else self.line("pass", indent)
        elif self.loops < 3:
            self.loop(indent)
        else:
            self.line("pass", indent)

    def loop(self, indent):
        self.loops += 1
        counter, n = f"n{self.loops}", self.r.randint(0, 4)
        if self.r.random() < 0.5:
            self.line(f"for {counter} in range({n}):", indent)
        else:
            self.line(f"{counter} = 0", indent)
            self.line(f"while {counter} < {n} and {self.test()}:", indent)
            self.line(f"{counter} += 1", indent + 1)
        self.block(indent + 1, self.r.randint(1, 2))
        if self.r.random() < 0.5:
            self.line(f"if {self.test()}:", indent + 1)
            self.line(self.r.choice(["break", "continue"]), indent + 2)
        if self.r.random() < 0.5:
            name = self.r.choice(self.names)
            self.line(f"{name} = {name} + {KINDS[self.dtype]}({counter})", indent + 1)
        if self.r.random() < 0.3:
            self.line("else:", indent)
            self.block(indent + 1, 1)

    def result(self):
        return f"{self.value(1)}, {self.r.choice(self.names)}"

    def text(self):
        for name in ("c", "d"):
            self.line(f"{name} = {self.value(1)}", 1)
            self.names.append(name)
        self.block(1, self.r.randint(2, 5))
        self.line("return " + self.result(), 1)
        return "\n".join(self.lines) + "\n"


@pytest.mark.parametrize("part", range(4))
def test_random_functions(driver, part, tmp_path):
    if driver == "soft":
        pytest.skip("the driver has no loops")
    a, b = (points.ravel() for points in np.meshgrid(POINTS, POINTS[::3]))
    for seed in range(part, COUNT[driver], 4):
        r = random.Random(seed)
        dtype = r.choice(["i4", "f4"] if driver != "cpu" else list(KINDS))
        text = Writer(r, dtype).text()
        path = tmp_path / f"function_{seed}.py"
        path.write_text(text)
        names = {}
        exec(compile(text, path, "exec"), names)
        function = names["random_function"]
        given = [points.astype(dtype) for points in (a, b)]
        with np.errstate(all="ignore"):
            points = [function(*point) for point in zip(*given, strict=True)]
        wanted = [np.array(part) for part in zip(*points, strict=True)]
        ours = gp.kernel(function)(*map(gp.asarray, given))
        for own, want in zip(ours, wanted, strict=True):
            assert own.dtype == want.dtype, f"seed {seed}:\n{text}"
            np.testing.assert_array_equal(own, want, err_msg=f"seed {seed}:\n{text}")
