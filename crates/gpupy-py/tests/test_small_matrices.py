"""Linear algebra of many small matrices: NumPy's results, signs and words on any driver, and small errors."""

import numpy as np
import pytest
from pairs import check, outcome

import gpupy

EPS = 2.0**-52
DTYPES = ("float64", "float32", "int32", "bool", "complex128", "complex64")


def matrices(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    made = rng.normal(size=shape) * 3
    return (made + 1j * rng.normal(size=shape) if dtype[0] == "c" else made).astype(dtype)


def positive(shape, dtype):
    """Matrices with roots, of elements that lie in both triangles."""
    a = matrices(shape, "complex128" if dtype[0] == "c" else "float64")
    return (a @ a.conj().swapaxes(-1, -2) + 3 * np.eye(shape[-1])).astype(dtype)


def agree(function, context=""):
    """The same classes, dtypes and shapes, and values within rounding, or the same refusal."""
    (want, refused), (got, refusal) = outcome(function, np), outcome(function, gpupy)
    assert refusal == refused, context
    if refused is not None:
        return
    assert type(got).__name__ == type(want).__name__, context
    for g, w in zip(*((got, want) if isinstance(want, tuple) else ([got], [want])), strict=True):
        assert isinstance(g, gpupy.ndarray) == isinstance(w, np.ndarray), context
        assert (g.dtype, g.shape) == (w.dtype, w.shape), context
        bound = 1e-4 if w.dtype.char in "fF" else 1e-9
        np.testing.assert_allclose(np.asarray(g), w, rtol=bound, atol=bound, err_msg=str(context))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_results_are_numpys(forbidding, size, dtype):
    for stack in ((), (1,), (5,), (2, 3)):
        a, p = matrices((*stack, size, size), dtype), positive((*stack, size, size), dtype)
        for layout in (lambda a: a, lambda a: a.swapaxes(-1, -2), lambda a: a[..., ::-1, :]):
            for name in ("inv", "det", "slogdet"):
                agree(lambda xp: getattr(xp.linalg, name)(layout(xp.asarray(a))), (name, stack))
        for upper in (False, True):
            agree(lambda xp: xp.linalg.cholesky(xp.asarray(p), upper=upper), (upper, stack))
        for side in ((size,), (size, 2), (*stack, size, 1), (2, 1, size, 3), (size + 1,), ()):
            b = matrices(side, "float32")
            agree(lambda xp: xp.linalg.solve(xp.asarray(a), xp.asarray(b)), (side, stack))
        if size in (2, 3) and dtype[0] != "c":
            for triangle in ("L", "u"):
                agree(lambda xp: xp.linalg.eigvalsh(xp.asarray(a), triangle), (triangle, stack))
                agree(lambda xp: xp.linalg.eigh(xp.asarray(a), triangle), (triangle, stack))


@pytest.mark.parametrize("dtype", DTYPES)
def test_norms_by_sums_and_conditions_by_them_are_numpys(forbidding, dtype):
    for shape in ((3, 3), (5, 3, 3), (2, 4, 3)):
        a = matrices(shape, dtype)
        for order in (1, -1, np.inf, -np.inf, "fro"):
            for kept in (False, True):
                agree(lambda xp: xp.linalg.norm(xp.asarray(a), order, (-1, 0), kept), (shape, order))
                agree(
                    lambda xp: xp.linalg.matrix_norm(xp.asarray(a), ord=order, keepdims=kept), (shape, order)
                )
            if shape[-2:] == (3, 3) and dtype != "bool":
                agree(lambda xp: xp.linalg.cond(xp.asarray(a), order), (shape, order))
    lost = np.stack([np.zeros((3, 3)), np.full((3, 3), np.nan), np.eye(3)])
    agree(lambda xp: xp.linalg.cond(xp.asarray(lost), 1))


SPECIAL = {
    "zeros": np.zeros((3, 3)),
    "ones": np.ones((3, 3)),
    "rounding decides": np.arange(9.0).reshape(3, 3),
    "not positive": np.eye(3) - 2,
    "tiny": np.eye(3) * 1e-200,
    "huge": np.eye(3) * 1e200,
    "of other sizes": np.diag([1e-200, 1.0, 1e200]),
    "no number": np.full((3, 3), np.nan),
    "infinite": np.diag([1, np.inf, 1]),
    "equal values": np.ones((3, 3)) + np.eye(3),
    "symmetric about the middle": np.array([[2.0, 3, 6], [3, 4, -3], [6, -3, 2]]),
    "whole numbers": np.array([[4.0, -1, -1], [-1, 4, 3], [-1, 3, 4]]),
}


@pytest.mark.parametrize("case", SPECIAL)
def test_what_rounding_decides_is_numpys(forbidding, case):
    sound = matrices(SPECIAL[case].shape, "float64")
    for a in (SPECIAL[case], np.stack([sound @ sound.T, SPECIAL[case], np.eye(*sound.shape)])):
        for name in ("inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh"):
            agree(lambda xp: getattr(xp.linalg, name)(xp.asarray(a)), name)
        agree(lambda xp: xp.linalg.solve(xp.asarray(a), xp.ones(3)))


def test_calls_with_other_arguments_are_numpys(auto):
    with gpupy.fallback("warn"):
        for shape in ((0, 3, 3), (2, 0, 0), (3,), (2, 3, 4), (2, 5, 5)):
            a = matrices(shape, "float64")
            for name in ("inv", "det", "slogdet", "eigvalsh", "cholesky"):
                agree(lambda xp: getattr(xp.linalg, name)(xp.asarray(a)), (name, shape))
            agree(lambda xp: xp.linalg.solve(xp.asarray(a), xp.ones(3)), shape)
        half = matrices((2, 3, 3), "float16")
        for name in ("inv", "det", "eigh"):
            check(lambda xp: getattr(xp.linalg, name)(xp.asarray(half)))
        check(lambda xp: xp.linalg.eigh(xp.asarray(matrices((2, 2, 2), "float64")), "X"))


def norm(x):
    return abs(x).sum(axis=-1).max(axis=-1)


@pytest.mark.parametrize("condition", [1e1, 1e4, 1e8])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_errors_are_a_few_units_whatever_the_condition(forbidding, size, condition):
    rng = np.random.default_rng(size)
    turned = [np.linalg.qr(rng.normal(size=(300, size, size)))[0] for _ in range(2)]
    singular = condition ** -np.linspace(0, 1, size)
    a, b = (turned[0] * singular) @ turned[1], rng.normal(size=(300, size, 2))
    wide = a.astype(np.longdouble)
    for x, side in (
        (np.asarray(gpupy.linalg.solve(gpupy.asarray(a), gpupy.asarray(b))), b),
        (np.asarray(gpupy.linalg.inv(gpupy.asarray(a))), np.eye(size)),
    ):
        assert (norm(wide @ x - side) <= 4 * EPS * norm(wide) * norm(x)).all()
    found = np.asarray(gpupy.linalg.det(gpupy.asarray(a)))
    np.testing.assert_allclose(abs(found), singular.prod(), rtol=8 * EPS * condition)
    p = (turned[0] * singular) @ turned[0].swapaxes(1, 2)
    p = (p + p.swapaxes(1, 2)) / 2
    root = np.asarray(gpupy.linalg.cholesky(gpupy.asarray(p))).astype(np.longdouble)
    assert (norm(root @ root.swapaxes(1, 2) - p) <= 4 * EPS * norm(p)).all()
    if size < 4:
        values, vectors = map(np.asarray, gpupy.linalg.eigh(gpupy.asarray(p)))
        wide = vectors.astype(np.longdouble)
        assert (norm(p @ wide - wide * values[:, None]) <= 32 * EPS * norm(p)).all()
        assert (norm(wide.swapaxes(1, 2) @ wide - np.eye(size)) <= 32 * EPS).all()
        # Signs are NumPy's: vectors are nowhere near their opposites.
        assert abs(vectors - np.linalg.eigh(p)[1]).max() < 0.5


def test_many_are_recorded_and_few_are_numpys(auto):
    for count, fallbacks in ((10, 7), (5000, 0)):
        a = gpupy.asarray(positive((count, 3, 3), "float64"))
        gpupy.reset_stats()
        gpupy.linalg.solve(a, gpupy.ones(3))
        for name in ("inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh"):
            getattr(gpupy.linalg, name)(a)
        assert gpupy.stats().fallbacks == fallbacks, gpupy.stats().fallback_sites


def test_one_singular_matrix_of_many_is_refused_at_the_call(auto):
    a = positive((5000, 3, 3), "float64")
    a[4321] = 0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        gpupy.linalg.inv(gpupy.asarray(a))
    with pytest.raises(np.linalg.LinAlgError, match="Matrix is not positive definite"):
        gpupy.linalg.cholesky(gpupy.asarray(a))
    assert np.asarray(gpupy.linalg.det(gpupy.asarray(a)))[4321] == 0


def test_traced_functions_solve(auto):
    @gpupy.jit
    def unknowns(a, b):
        return gpupy.linalg.solve(a, b) * 2

    for seed in (1, 2, 3):
        a, b = matrices((2000, 4, 4), "float64", seed), matrices((2000, 4, 1), "float64", seed)
        got = np.asarray(unknowns(gpupy.asarray(a), gpupy.asarray(b)))
        np.testing.assert_allclose(got, np.linalg.solve(a, b) * 2, rtol=1e-7)
