"""Eigenvalues and vectors of symmetric matrices of two and three rows, by the steps that LAPACK takes.

A matrix is made tridiagonal by a reflection. Rotations of the implicit QL algorithm, or of its mirror image
QR, make one of the elements beside the diagonal negligible; the block of two that is left has a formula. The
signs of vectors follow from these steps, and so are those of LAPACK. The steps are recorded: a matrix that
has converged is rotated by nothing. Not here: calls (``eigenvectors.py``).
"""

from typing import Any

import numpy as np

from .requests import LEAST, MOST, largest

# Few matrices take more, which are doubtful.
_STEPS = 6
# Where LAPACK compares or takes a sign, numbers are doubtful up to this share of the largest element.
_NEAR = 1e-13
_EPSILON = 2.0**-53
_SMALLEST = float(np.finfo(np.float64).tiny)


def _either(where: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Two numbers, exchanged where a condition holds."""
    return np.where(where, y, x), np.where(where, x, y)


def _length(x: Any, y: Any) -> Any:
    """The root of the sum of two squares, of which one is not zero."""
    x, y = abs(x), abs(y)
    long = np.maximum(x, y)
    share = np.minimum(x, y) / long
    return long * np.sqrt(1.0 + share * share)


def _safe(where: Any, x: Any) -> Any:
    """A divisor, and one where it is not used."""
    return np.where(where, x, 1.0)


class Decomposition:
    """The eigenvalues of matrices in ascending order, their vectors, and which of them are doubtful."""

    def __init__(self, rows: list[list[Any]], upper: bool, are_vectors_wanted: bool) -> None:
        size = len(rows)
        of_read = range(size)
        read = [rows[j][i] if upper else rows[i][j] for i in of_read for j in range(i + 1)]
        self.scale = largest([abs(x) for x in read])
        self._near = _NEAR * self.scale
        zero = self.scale * 0.0
        self.vectors = (
            [[zero + float(i == j) for j in of_read] for i in of_read] if are_vectors_wanted else []
        )
        # Of a matrix of nothing else, which has to stay so, the scale is zero.
        self.is_doubtful = ~((self.scale > LEAST) & (self.scale < MOST) | (self.scale == 0.0))
        if size == 2:
            self.values = [rows[0][0], rows[1][1]]
            self._beside = [rows[0][1] if upper else rows[1][0]]
            self._of_two_rows()
        else:
            self._of_three(rows, upper)

    def _of_two_rows(self) -> None:
        a, b = self.values
        x, y, c, s = _of_two(a, self._beside[0], b, ~self._is_negligible(0))
        self.values = [x, y]
        for row in self.vectors:
            row[:] = c * row[0] + s * row[1], c * row[1] - s * row[0]
        self._exchange(y < x, 0, 1)

    def _of_three(self, rows: list[list[Any]], upper: bool) -> None:
        if upper:
            # The same of the matrix from its other end.
            rows = [[rows[2 - i][2 - j] for j in range(3)] for i in range(3)]
        a, b, c = (rows[at][at] for at in range(3))
        p, q, r = rows[1][0], rows[2][0], rows[2][1]
        is_exact = q == 0.0
        ahead = ~is_exact
        first = np.where(is_exact, p, -np.copysign(_length(_safe(ahead, p), q), p))
        factor = np.where(is_exact, 0.0, (first - p) / _safe(ahead, first))
        x = q * (1.0 / _safe(ahead, p - first))
        # The reflection of the lower block: by two sums of products.
        v, w = factor * b + factor * (r * x), factor * r + (factor * x) * c
        more = -0.5 * factor * (v + w * x)
        v, w = v + more, w + more * x
        self.values = [a, (b - v) - v, (c - x * w) - w * x]
        self._beside = [first, (r - w) - v * x]
        self._doubt(ahead, *self._beside)
        if upper:
            self.values.reverse()
            self._beside.reverse()
        self._converge(ahead)
        self._exchange_to_order()
        at, to = (1, 0) if upper else (1, 2)
        for column in range(3) if self.vectors else ():
            turned = factor * (self.vectors[at][column] + x * self.vectors[to][column])
            self.vectors[at][column] = self.vectors[at][column] - turned
            self.vectors[to][column] = self.vectors[to][column] - x * turned

    def _is_negligible(self, at: int) -> Any:
        square = self._beside[at] * self._beside[at]
        return square <= (_EPSILON**2 * abs(self.values[at])) * abs(self.values[at + 1]) + _SMALLEST

    def _mirror(self, where: Any) -> None:
        """Turns matrices end for end."""
        self.values[0], self.values[2] = _either(where, self.values[0], self.values[2])
        self._beside[0], self._beside[1] = _either(where, *self._beside)
        for row in self.vectors:
            row[0], row[2] = _either(where, row[0], row[2])

    def _exchange(self, where: Any, first: int, second: int) -> None:
        for row in (self.values, *self.vectors):
            row[first], row[second] = _either(where, row[first], row[second])

    def _doubt(self, where: Any, *numbers: Any) -> None:
        """Notes the matrices in which one of the numbers, by which signs are chosen, is as good as zero."""
        if not self.vectors:
            return
        near = abs(numbers[0]) <= self._near
        for number in numbers[1:]:
            near = near | (abs(number) <= self._near)
        self.is_doubtful = self.is_doubtful | (where & near)

    def _converge(self, is_rounded: Any) -> None:
        """Makes one of the elements beside the diagonal negligible, then the other one."""
        is_active = ~(self._is_negligible(0) | self._is_negligible(1))
        is_mirrored = abs(self.values[2]) < abs(self.values[0])
        self._doubt(is_rounded & is_active, abs(self.values[2]) - abs(self.values[0]))
        is_rounded = is_rounded | is_active
        self._mirror(is_mirrored)
        for _ in range(_STEPS):
            self._step(is_active)
            is_active = ~(self._is_negligible(0) | self._is_negligible(1))
        self._mirror(is_mirrored)
        self.is_doubtful = self.is_doubtful | is_active
        is_first = ~self._is_negligible(0)
        is_left = is_first | ~self._is_negligible(1)
        self._finish(is_first, is_left, is_left & is_rounded)

    def _step(self, is_active: Any) -> None:
        """Two rotations, with the shift of Wilkinson."""
        (d0, d1, d2), (e0, e1) = self.values, self._beside
        apart = (d1 - d0) / (2.0 * _safe(is_active, e0))
        wide = apart + np.copysign(_length(apart, 1.0), apart)
        g = d2 - d0 + e0 / wide
        c1, s1, _ = _rotation(g, e1, is_active)
        rest = (d1 - d2) * s1 + 2.0 * c1 * e1
        p = s1 * rest
        n2, h = d2 + p, c1 * rest - e1
        f, b = s1 * e0, c1 * e0
        c0, s0, n1 = _rotation(h, f, is_active)
        self._doubt(is_active, d1 - d0, g, h)
        g = d1 - p
        rest = (d0 - g) * s0 + 2.0 * c0 * b
        p = s0 * rest
        made = [d0 - p, g + p, n2]
        self.values = [np.where(is_active, x, y) for x, y in zip(made, self.values, strict=True)]
        made = [c0 * rest - b, n1]
        self._beside = [np.where(is_active, x, y) for x, y in zip(made, self._beside, strict=True)]
        for row in self.vectors:
            row[1], row[2] = c1 * row[1] - s1 * row[2], s1 * row[1] + c1 * row[2]
            row[0], row[1] = c0 * row[0] - s0 * row[1], s0 * row[0] + c0 * row[1]

    def _finish(self, is_first: Any, is_left: Any, is_rounded: Any) -> None:
        """Solves the block of two that is left: the first or the second one."""
        d0, d1, d2 = self.values
        a, b = np.where(is_first, d0, d1), np.where(is_first, d1, d2)
        self._doubt(is_rounded, a - b, a + b)
        x, y, c, s = _of_two(a, np.where(is_first, *self._beside), b, is_left)
        self.values = [np.where(is_first, x, d0), np.where(is_first, y, x), np.where(is_first, d2, y)]
        for row in self.vectors:
            u, v = np.where(is_first, row[0], row[1]), np.where(is_first, row[1], row[2])
            u, v = c * u + s * v, c * v - s * u
            row[:] = np.where(is_first, u, row[0]), np.where(is_first, v, u), np.where(is_first, row[2], v)

    def _exchange_to_order(self) -> None:
        """Puts the least value first, then the lesser one of the others."""
        d0, d1, d2 = self.values
        is_last = d2 < np.minimum(d0, d1)
        self._exchange((d1 < d0) & ~is_last, 0, 1)
        self._exchange(is_last, 0, 2)
        self._exchange(self.values[2] < self.values[1], 1, 2)


def _rotation(f: Any, g: Any, is_active: Any) -> tuple[Any, Any, Any]:
    """The cosine and sine that make the second of two numbers zero, and the first one; or of no rotation."""
    is_turned = is_active & (g != 0.0)
    length = np.sqrt(f * f + g * g)
    made = np.where(is_turned, np.copysign(length, f), f)
    divisor = _safe(is_turned, made)
    return np.where(is_turned, abs(f) / abs(divisor), 1.0), np.where(is_turned, g / divisor, 0.0), made


def _of_two(a: Any, b: Any, c: Any, is_active: Any) -> tuple[Any, Any, Any, Any]:
    """The eigenvalues of a symmetric block of two, the larger one by size first, and the vector of that."""
    total, apart, double = a + c, a - c, b + b
    long = np.maximum(abs(apart), abs(double))
    share = np.minimum(abs(apart), abs(double)) / _safe(long != 0.0, long)
    root = long * np.sqrt(1.0 + share * share)
    is_negative, is_balanced = total < 0.0, total == 0.0
    first = 0.5 * np.where(is_negative, total - root, total + root)
    large, small = np.where(abs(a) > abs(c), a, c), np.where(abs(a) > abs(c), c, a)
    divisor = _safe(first != 0.0, first)
    second = np.where(is_balanced, -0.5 * root, (large / divisor) * small - (b / divisor) * b)
    is_falling = apart >= 0.0
    length = np.where(is_falling, apart + root, apart - root)
    is_wide = abs(length) > abs(double)
    slope = np.where(is_wide, -double, -length) / _safe(is_active, np.where(is_wide, length, double))
    near = 1.0 / np.sqrt(1.0 + slope * slope)
    cosine, sine = np.where(is_wide, slope * near, near), np.where(is_wide, near, slope * near)
    is_turned = is_negative != is_falling
    cosine, sine = np.where(is_turned, -sine, cosine), np.where(is_turned, cosine, sine)
    return (
        np.where(is_active, first, a),
        np.where(is_active, second, c),
        np.where(is_active, cosine, 1.0),
        np.where(is_active, sine, 0.0),
    )
