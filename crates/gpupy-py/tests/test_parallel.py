"""Accelerator's own words: elements are where the article says, and each is its line of NumPy."""

import inspect
import re

import numpy as np
import pytest

import gpupy
from gpupy import parallel

A = np.arange(12, dtype="f4").reshape(3, 4) - 5
B = A[::-1] * 2
C = np.full((3, 4), 0.5, dtype="f4")
ROWS = np.array([[0, 2], [1, 1], [2, 0]])
COLUMNS = np.array([[3, 0], [1, 1], [0, 2]])


def at(shape, element):
    """The array whose elements are given by a formula of their place."""
    result = np.empty(shape, dtype="f4")
    for place in np.ndindex(*shape):
        result[place] = element(*place)
    return result


def inside(i, j, value):
    return A[i, j] if 0 <= i < 3 and 0 <= j < 4 else value


def kept(i, end):
    return min(max(i, 0), end - 1)


# The word, its operands, and what each element is by the tables and sections of the article.
WORDS = [
    ("section", (A, (0, 2, 2), (1, 2, 1)), at((2, 2), lambda i, j: A[2 * i, 1 + j])),
    ("section", (A, (2, 3, -1), (3, 2, -2)), at((3, 2), lambda i, j: A[2 - i, 3 - 2 * j])),
    ("section", (A, (1, 1, 1), (0, 0, 1)), at((1, 0), lambda i, j: 0)),
    ("shift", (A, 1, -2), at((3, 4), lambda i, j: A[kept(i - 1, 3), kept(j + 2, 4)])),
    ("shift", (A, 5, 0), at((3, 4), lambda i, j: A[0, j])),
    ("shift", (A, -7, 9), at((3, 4), lambda i, j: A[2, 0])),
    ("shift_default", (A, 9.0, 1, -2), at((3, 4), lambda i, j: inside(i - 1, j + 2, 9.0))),
    ("shift_default", (A, -0.0, 3, 0), at((3, 4), lambda i, j: -0.0)),
    ("rotate", (A, 1, -2), at((3, 4), lambda i, j: A[(i - 1) % 3, (j + 2) % 4])),
    ("rotate", (A, -8, 13), at((3, 4), lambda i, j: A[(i + 8) % 3, (j - 13) % 4])),
    ("replicate", (A, 7, 6), at((7, 6), lambda i, j: A[i % 3, j % 4])),
    ("replicate", (A, 2, 4), at((2, 4), lambda i, j: A[i, j])),
    ("expand", (A, (2, 1), (0, 6)), at((6, 10), lambda i, j: A[(i - 2) % 3, j % 4])),
    ("pad", (A, 7.0, (2, 0), (1, 3)), at((5, 8), lambda i, j: inside(i - 2, j - 1, 7.0))),
    ("transpose", (A, 1, 0), at((4, 3), lambda i, j: A[j, i])),
    ("drop_dimension", (A, 1), at((3,), lambda i: A[i, 0])),
    ("drop_dimension", (A, 0), at((4,), lambda j: A[0, j])),
    ("add_dimension", (A, 1), at((3, 1, 4), lambda i, j, k: A[i, k])),
    ("select", (A, B, C), at((3, 4), lambda i, j: B[i, j] if A[i, j] > 0 else C[i, j])),
    ("cond", (A == 1, B, C), at((3, 4), lambda i, j: B[i, j] if A[i, j] == 1 else C[i, j])),
    ("sum", (A, 1), at((3,), lambda i: sum(A[i].tolist()))),
    ("sum", (A,), np.float32(sum(A.ravel().tolist()))),
    ("product", (A, 0), at((4,), lambda j: A[0, j] * A[1, j] * A[2, j])),
    ("max_val", (A, 1), at((3,), lambda i: max(A[i].tolist()))),
    ("min_val", (A, 0), at((4,), lambda j: min(A[:, j].tolist()))),
    ("min_val", (A, 0, 1), np.float32(-5)),
    ("all", (A > -2, 1), np.array([False, True, True])),
    ("any", (A > 5, 1), np.array([False, False, True])),
    ("any", (A > 9,), np.bool_(False)),
    ("inner_product", (A, B.T), at((3, 3), lambda i, j: sum(A[i, k] * B[j, k] for k in range(4)))),
    ("outer_product", (A[0], B[:, 1]), at((4, 3), lambda i, j: A[0, i] * B[j, 1])),
    ("gather", (A, ROWS, COLUMNS), at((3, 2), lambda i, j: A[ROWS[i, j], COLUMNS[i, j]])),
    ("index", (1, 2, 3), np.array([[0, 1, 2], [0, 1, 2]])),
    ("to_float", (ROWS,), ROWS.astype("f4")),
    ("to_int", (A / 2,), np.array([int(x) for x in (A / 2).ravel()], dtype="i4").reshape(3, 4)),
    ("to_float4", (A,), at((3, 4, 4), lambda i, j, k: A[i, j])),
    ("component", (A, 2), at((3,), lambda i: A[i, 2])),
]


def given(operands, array):
    return [array(x) if isinstance(x, np.ndarray) else x for x in operands]


@pytest.mark.parametrize("driver", ["cpu", "soft"])
@pytest.mark.parametrize(("word", "operands", "right"), WORDS)
def test_each_element_is_where_the_article_says(driver, word, operands, right):
    with gpupy.driver(driver):
        result = getattr(parallel, word)(*given(operands, gpupy.array))
        # A scalar that is known is NumPy's own.
        assert isinstance(result, gpupy.ndarray | gpupy.scalar | np.generic)
        values = np.array(result)
    assert (values.shape, values.dtype) == (right.shape, right.dtype)
    np.testing.assert_array_equal(values, right)
    np.testing.assert_array_equal(np.signbit(values), np.signbit(right))


@pytest.mark.parametrize(("word", "operands", "right"), WORDS)
def test_the_line_of_numpy_in_a_docstring_is_what_the_word_does(word, operands, right):
    function = getattr(parallel, word)
    line = re.search(r"NumPy: ``(.*)``\Z", inspect.getdoc(function), re.DOTALL).group(1)
    names = inspect.signature(function).bind(*operands)
    names.apply_defaults()
    by_numpy = eval(" ".join(line.split()), {"np": np} | names.arguments)
    np.testing.assert_array_equal(by_numpy, right)
    assert by_numpy.dtype == right.dtype


def test_every_word_is_tried():
    defined = {name for name, value in vars(parallel).items() if inspect.isfunction(value)}
    assert {word for word, *_ in WORDS} == {name for name in defined if name[0] != "_"}


def test_the_words_are_recorded_as_numpys_lines_are():
    a = gpupy.arange(1_000_000, dtype="f4").reshape(1000, 1000) * 1.0
    gpupy.evaluate(a)
    with gpupy.fallback("error"):
        gpupy.reset_stats()
        smooth = (parallel.rotate(a, 0, 1) + a + parallel.rotate(a, 0, -1)) / 3
        bright = parallel.select(smooth - 1000, parallel.shift(a, 1, 1), parallel.pad(a, 0, (0, 0), (0, 0)))
        assert gpupy.stats().launches == 0
        wanted = np.asarray(a)
        mean = (np.roll(wanted, 1, 1) + wanted + np.roll(wanted, -1, 1)) / np.float32(3)
        moved = np.pad(wanted, ((1, 0), (1, 0)), mode="edge")[:1000, :1000]
        np.testing.assert_array_equal(bright, np.where(mean > 1000, moved, wanted))


def test_the_module_is_a_name_of_the_package():
    assert gpupy.parallel is parallel
    assert "parallel" in dir(gpupy)
    with pytest.raises(ValueError, match="zip"):
        parallel.shift(gpupy.array(A), 1)
