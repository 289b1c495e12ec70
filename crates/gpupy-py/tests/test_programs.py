"""Random programs of expressions, views and writes give NumPy's bits."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pairs import assert_same

import gpupy

VALUES = [0.0, -0.0, 1.0, -1.0, 2.5, -3.0, 7.0, 0.125, 1e20, -1e20, np.inf, -np.inf, np.nan, 100.0]
UNARY = ["negative", "absolute", "floor", "ceil", "rint", "trunc", "sqrt", "square", "sign"]
BINARY = ["add", "subtract", "multiply", "divide", "minimum", "maximum"]
COMPARE = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]
BITS = ["bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor"]
SCALARS = [2, -1, 0.5, True, 3.0, 0, -2.5]
REDUCTIONS = ["min", "max", "any", "all"]


class Program:
    """Equal arrays in NumPy and in gpupy, and random operations on them."""

    def __init__(self, draw):
        self.draw = draw
        self.log = []
        self.arrays = []
        for _ in range(draw(st.integers(1, 3))):
            shape = draw(st.sampled_from([(7,), (3, 4), (2, 3, 4), (1, 5), (20,), (), (4, 0)]))
            dtype = draw(st.sampled_from(["float32", "float32", "int32", "bool"]))
            size = int(np.prod(shape))
            values = draw(st.lists(st.sampled_from(VALUES), min_size=size, max_size=size))
            if dtype != "float32":
                values = [int(v) if abs(v) < 1000 else 5 for v in values]
            given = np.array(values, dtype=dtype).reshape(shape)
            self.keep(given, gpupy.array(given), f"array({dtype}, {shape})")

    def keep(self, want, got, words):
        self.log.append(f"v{len(self.arrays)} = {words}")
        if isinstance(want, np.ndarray):
            self.arrays.append((want, got))
        else:
            assert got.dtype == want.dtype, "\n".join(self.log)

    def pick(self, allowed=None):
        found = [i for i, (w, _) in enumerate(self.arrays) if allowed is None or allowed(w)]
        return self.draw(st.sampled_from(found)) if found else None

    def both(self, words, function):
        """Does the same on both sides; what NumPy refuses, gpupy has to refuse in its words."""
        with np.errstate(all="ignore"):
            try:
                want = function(np, 0)
            except (ValueError, TypeError, OverflowError, IndexError) as error:
                try:
                    function(gpupy, 1)
                except type(error) as refusal:
                    assert str(refusal) == str(error), f"{self.log}\n{words}: {refusal}"
                    return
                raise AssertionError(f"{self.log}\n{words} was not refused: {error}") from None
            got = function(gpupy, 1)
        if want is None:
            self.log.append(words)
        else:
            self.keep(want, got, words)

    def step(self):
        kind = self.draw(
            st.sampled_from("unary binary scalar compare bits where view reduce write update cast".split())
        )
        a = self.pick()
        side = lambda i, n: self.arrays[i][n]
        if kind == "unary":
            name = self.draw(st.sampled_from(UNARY))
            a = self.pick(lambda w: w.dtype == np.float32)
            if a is not None:
                self.both(f"{name}(v{a})", lambda xp, n: getattr(xp, name)(side(a, n)))
        elif kind in ("binary", "compare"):
            name = self.draw(st.sampled_from(BINARY if kind == "binary" else COMPARE))
            # Shader compilers know that x < x is false, and then that adding it as 0.0 does nothing,
            # which for -0.0 is not so: arrays are compared with others only.
            b = self.pick(None if kind == "binary" else lambda w: w is not self.arrays[a][0])
            if b is None:
                return
            self.both(f"{name}(v{a}, v{b})", lambda xp, n: getattr(xp, name)(side(a, n), side(b, n)))
        elif kind == "scalar":
            name = self.draw(st.sampled_from(BINARY + COMPARE))
            s = self.draw(st.sampled_from(SCALARS))
            self.both(f"{name}(v{a}, {s})", lambda xp, n: getattr(xp, name)(side(a, n), s))
        elif kind == "bits":
            name = self.draw(st.sampled_from(BITS))
            a = b = self.pick(lambda w: w.dtype in (np.int32, np.bool))
            if a is not None:
                b = self.pick(lambda w: w.dtype == self.arrays[a][0].dtype)
                self.both(f"{name}(v{a}, v{b})", lambda xp, n: getattr(xp, name)(side(a, n), side(b, n)))
        elif kind == "where":
            b, c = self.pick(), self.pick()
            self.both(f"where(v{a}, v{b}, v{c})", lambda xp, n: xp.where(side(a, n), side(b, n), side(c, n)))
        elif kind == "view":
            self.view(a, side)
        elif kind == "reduce":
            name = self.draw(st.sampled_from(REDUCTIONS))
            rank = self.arrays[a][0].ndim
            axis = self.draw(st.sampled_from([None, *range(rank)]))
            keep = self.draw(st.booleans())

            def reduced(xp, n):
                found = getattr(side(a, n), name)(axis=axis, keepdims=keep)
                # Which of two zeros is the least depends on the order of NumPy's own loops.
                return found if found.dtype != np.float32 else found + np.float32(0)

            self.both(f"v{a}.{name}({axis}, keepdims={keep})", reduced)
        elif kind == "write":
            key = self.key(self.arrays[a][0].ndim)
            b = self.draw(st.one_of(st.sampled_from([5, True, 0.5]), st.just(None)))
            source = None if b is not None else self.pick()

            def write(xp, n):
                side(a, n)[key] = b if source is None else side(source, n)

            if source is None or self.arrays[source][0].dtype == self.arrays[a][0].dtype:
                self.both(f"v{a}[{key}] = {b if source is None else f'v{source}'}", write)
        elif kind == "update":
            name = self.draw(st.sampled_from(["add", "multiply", "minimum"]))
            b = self.pick()
            self.both(
                f"{name}(v{a}, v{b}, out=v{a})",
                lambda xp, n: getattr(xp, name)(side(a, n), side(b, n), out=side(a, n)) is None or None,
            )
        elif kind == "cast":
            dtype = self.draw(st.sampled_from(["float32", "int32", "bool"]))
            whole = dtype == "int32" and self.arrays[a][0].dtype == np.float32
            if not whole:
                self.both(f"v{a}.astype({dtype})", lambda xp, n: side(a, n).astype(dtype))

    def key(self, rank):
        part = st.one_of(
            st.integers(-2, 2),
            st.builds(
                slice,
                st.sampled_from([None, 0, 1, -2]),
                st.sampled_from([None, 3, -1]),
                st.sampled_from([None, 1, 2, -1, -2]),
            ),
            st.just(Ellipsis),
            st.just(None),
        )
        parts = self.draw(st.lists(part, max_size=rank + 1))
        if sum(p is Ellipsis for p in parts) > 1:
            parts = [p for p in parts if p is not Ellipsis]
        return tuple(parts)

    def view(self, a, side):
        rank, size = self.arrays[a][0].ndim, self.arrays[a][0].size
        how = self.draw(st.sampled_from(["key", "T", "reshape", "flip", "ravel", "broadcast"]))
        if how == "key":
            key = self.key(rank)

            def read(xp, n):
                try:
                    return side(a, n)[key]
                except IndexError as error:
                    raise ValueError(str(error)) from None

            self.both(f"v{a}[{key}]", read)
        elif how == "T":
            self.both(f"v{a}.T", lambda xp, n: side(a, n).T)
        elif how == "reshape":
            shape = self.draw(st.sampled_from([(size,), (-1, 1), (1, size), (2, -1)]))
            self.both(f"v{a}.reshape{shape}", lambda xp, n: side(a, n).reshape(shape))
        elif how == "flip":
            self.both(f"flip(v{a})", lambda xp, n: xp.flip(side(a, n)))
        elif how == "ravel":
            self.both(f"v{a}.ravel()", lambda xp, n: side(a, n).ravel())
        else:
            shape = (2, *self.arrays[a][0].shape)
            self.both(f"broadcast v{a}", lambda xp, n: xp.broadcast_to(side(a, n), shape) + 0)

    def subnormal(self):
        """Whether some element is a number that a driver may take for zero."""
        least = np.finfo(np.float32).tiny
        floats = [w for w, _ in self.arrays if w.dtype == np.float32]
        return any(((w != 0) & (abs(w) < least)).any() for w in floats)

    def compare(self):
        for i, (want, got) in enumerate(self.arrays):
            assert_same(got, want, "\n".join([*self.log, f"v{i}"]))


def test_random_programs_give_numpys_bits(limited, some):
    flushes = any(row["flushes_subnormals"] for row in gpupy.drivers() if row["name"] == limited)

    @settings(max_examples=len(some(range(150), 3)))
    @given(data=st.data())
    def gives_numpys_bits(data):
        program = Program(data.draw)
        for _ in range(data.draw(st.integers(1, 12))):
            program.step()
            assume(not (flushes and program.subnormal()))
        program.compare()

    gives_numpys_bits()
