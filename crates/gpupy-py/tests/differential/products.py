"""Products of matrices and vectors, written out whole: extents around where code takes another way,
operands in every layout, sums of more terms than a device's loop may have.

Owns ``product``. Invariant: all elements are small odd numbers, so that every sum is exact in whatever order,
and none is a zero of either sign by its factors. Not here: products of a program's variables
(``templates.py``).
"""

import math

# Where products take other ways: few vectors, groups of vector registers, tiles of shaders, strips of a cache
# (driver-cpu's thin.rs, product.rs; codegen's product.rs; the core's PRODUCT_CHUNK and chunks).
_EXTENTS = [1, 1, 2, 3, 4, 5, 6, 15, 17, 63, 65, 129, 513, 600]
_TERMS = [
    *(1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 129, 255, 256, 257, 257, 600),
    *(1023, 1024, 1025, 2047, 2048, 2049, 2049, 4095, 4096, 4097, 4097, 8193),
]
# Beyond what a shader takes in one dispatch, and beyond 65,535; seldom, as they take long in tiny blocks.
_LONG = [16_385, 37_000, 65_535, 65_537, 100_003]
_DTYPES = "float32 float32 float64 float64 complex64 complex128 int32 int64 int8 uint8 uint32 bool".split()
# Elements of both operands.
_MOST = 80_000


def product(draft):
    """A call that multiplies two operands which it makes itself."""
    dtype, long = draft.choose(_DTYPES), draft.chance(30)
    terms = draft.choose(_LONG if long else _TERMS)
    rows, columns = draft.choose([1, 2] if long else _EXTENTS), 1 if long else draft.choose(_EXTENTS)
    if (rows + columns) * terms > _MOST and not long:
        # A matrix and a vector, on either side.
        rows, columns = (1, columns) if draft.below(2) else (rows, 1)
        terms = min(terms, _MOST // max(rows, columns))
    left = _matrix(draft, dtype, rows, terms)
    right = _matrix(draft, dtype, columns, terms)
    return draft.choose(
        [
            f"{left} @ {right}.T",
            f"np.dot({left}, {right}.T)",
            f"np.inner({left}, {right})",
            f"np.tensordot({left}, {right}, axes=(1, 1))",
            f'np.einsum("ij,kj->ik", {left}, {right})',
            f"{left}[-1] @ {right}.T",
            f"{left} @ {right}[0]",
            f"np.dot({left}[0], {right}[-1])",
            f"np.vdot({left}[-1], {right}[0])",
            f"np.matmul({left}[None], np.stack([{right}.T] * 2))",
        ]
    )


def _matrix(draft, dtype, rows, terms):
    """Rows of terms, which lie in one of many ways."""

    def counted(*shape):
        numbers = f"(np.arange({math.prod(shape)}) % {draft.choose([7, 11, 13])} * 2 - 9).astype(np.{dtype})"
        numbers = f"({numbers} * np.{dtype}(1 + 2j))" if dtype.startswith("c") else numbers
        return f"{numbers}.reshape({', '.join(map(str, shape))})"

    step = draft.choose([2, 3, -1, -2])
    ways = [
        lambda: counted(rows, terms),
        lambda: f"{counted(terms, rows)}.T",
        lambda: f"{counted(rows, terms * abs(step))}[:, ::{step}]",
        lambda: f"{counted(terms * abs(step), rows)}[::{step}].T",
        lambda: f"{counted(rows * abs(step), terms)}[::{step}]",
        lambda: f"{counted(terms, rows + 2)}[:, 1:-1].T",
        lambda: f"{counted(rows, terms + 3)}[::-1, 2:-1]",
        lambda: f"np.broadcast_to({counted(1, terms)}, ({rows}, {terms}))",
        lambda: f"np.broadcast_to({counted(rows, 1)}, ({rows}, {terms}))",
    ]
    return draft.choose(ways)()
