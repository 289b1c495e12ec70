"""Products of vectors and matrices: integers and exact sums to the bit, floats as near as NumPy's."""

import numpy as np
import pytest
from pairs import check

import gpupy

DTYPES = "bool int8 uint16 int32 uint64 float16 float32 float64 complex64 complex128".split()
SHAPES = [
    ((3, 4), (4, 5)),
    ((4,), (4,)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((2, 3, 4), (4, 5)),
    ((2, 1, 3, 4), (7, 4, 2)),
    ((4,), (2, 4, 3)),
    ((2, 3, 4), (4,)),
    ((1, 1), (1, 1)),
    ((3, 0), (0, 2)),
    ((0, 3), (3, 2)),
]


def small(shape, dtype, seed=3):
    """Numbers whose sums of products are exact in every dtype."""
    return np.random.default_rng(seed).integers(0 if dtype[0] in "bu" else -2, 3, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_by_numpys_rules(device, dtype):
    for left, right in SHAPES:
        # Adding 0 makes one of the two zeros: which one a product of floats gives is not said.
        check(
            lambda xp: (
                xp.asarray(small(left, dtype)) @ xp.asarray(small(right, dtype, 4)) + xp.asarray(0, dtype)
            ),
            f"{left} {right}",
        )


def test_dtypes_are_promoted_and_errors_are_numpys(device):
    for left, right in (
        ("float32", "int32"),
        ("bool", "uint8"),
        ("int64", "float32"),
        ("float32", "complex64"),
    ):
        check(lambda xp: xp.matmul(xp.asarray(small((3, 4), left)), xp.asarray(small((4, 2), right))) + 0)
    for left, right in (((3, 4), (3, 4)), ((), (3,)), ((2, 3, 4), (3, 4, 5)), ((4,), (5,))):
        check(lambda xp: xp.matmul(xp.asarray(small(left, "float32")), xp.asarray(small(right, "float32"))))
    check(lambda xp: xp.asarray(small((3, 4), "float32")) @ 2.0)
    check(lambda xp: np.ones((2, 3), np.float32) @ xp.asarray(small((3, 4), "float32")))


FEW_RESULTS = [
    ((1, 700), (700, 1)),
    ((5, 700), (700,)),
    ((700,), (700, 33)),
    ((3, 2, 300), (300, 2)),
    ((2, 300), (4, 300, 3)),
    ((16, 300), (300, 16)),
    ((17, 300), (300, 16)),
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_with_few_results_are_numpys(device, dtype):
    for left, right in FEW_RESULTS:
        a, b = small(left, dtype), small(right, dtype, 4)
        check(lambda xp: xp.asarray(a) @ xp.asarray(b) + xp.asarray(0, dtype), f"{left} {right}")
        # Of views, and of what is not computed yet.
        check(
            lambda xp: (
                xp.asarray(a)[..., ::-3] @ (xp.asarray(b).T[..., ::3] * xp.asarray(1, dtype)).T
                + xp.asarray(0, dtype)
            )
        )


def test_a_product_with_a_vector_computes_its_operands_itself(driver):
    if driver in ("cpu", "soft"):
        pytest.skip("the first has a library in host memory, the other evaluates every operation by itself")
    a, v = gpupy.arange(200.0 * 150, dtype="float32").reshape(200, 150), gpupy.arange(150.0, dtype="float32")
    gpupy.evaluate(a, v)
    launches = []
    for expression in (lambda: (a * 2 + 1) @ v, lambda: ((a * 2 + 1) * v).sum(1), lambda: v @ (a.T * 2 + 1)):
        before = gpupy.stats().launches
        gpupy.evaluate(expression())
        launches.append(gpupy.stats().launches - before)
    assert launches[0] == launches[1] == launches[2]


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_with_their_own_transpose_are_numpys(driver, dtype):
    for rows, terms in ((5, 7), (47, 20), (48, 50), (49, 9), (96, 3), (97, 30), (150, 40)):
        a = small((rows, terms), dtype)
        zero = np.zeros((), dtype)
        check(lambda xp: (x := xp.asarray(a)) @ x.T + zero, f"{rows} {terms}")
        check(lambda xp: (x := xp.asarray(a)).T @ x + zero, f"{terms} {rows}")
    a = small((3, 70, 55), dtype)
    check(lambda xp: (x := xp.asarray(a)) @ x.transpose(0, 2, 1) + zero)
    check(lambda xp: (x := xp.asarray(a)[:, ::-1, ::2]) @ x.swapaxes(1, 2) + zero)
    # The same elements, and not the same order of them or of the matrices.
    check(lambda xp: (x := xp.asarray(a))[0] @ x[0, ::-1].T + zero)
    check(lambda xp: (x := xp.asarray(a)[:, :55]) @ x + zero)
    check(lambda xp: (x := xp.asarray(a)) @ x[::-1].transpose(0, 2, 1) + zero)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_products_with_their_own_transpose_are_symmetric(auto, dtype):
    rng = np.random.default_rng(1)
    for rows, terms in ((50, 50), (131, 700), (300, 64)):
        a = rng.random((rows, terms)).astype(dtype)
        if dtype.startswith("c"):
            a = a + 1j * rng.random((rows, terms)).astype(dtype)
        a = a.astype(dtype)
        product = np.asarray(gpupy.asarray(a) @ gpupy.asarray(a).T)
        wide = a.astype("complex256" if dtype.startswith("c") else "longdouble")
        error = np.abs(product - wide @ wide.T).max() / np.abs(product).max()
        assert error < 4 * np.finfo(dtype).eps * np.sqrt(terms), (rows, terms, error)
        if not dtype.startswith("c"):
            b = gpupy.asarray(a)
            product = np.asarray(b @ b.T)
            np.testing.assert_array_equal(product, product.T)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_products_with_few_columns_are_exact_to_a_few_roundings(auto, dtype):
    rng = np.random.default_rng(7)
    is_complex = dtype.startswith("c")
    wide = "complex256" if is_complex else "longdouble"
    for columns in range(1, 10):
        for rows in (1, 2, 3, 7, 8, 9, 31, 100, 4095, 4097, 9000):
            # More columns than are read: rows lie apart, or one behind the other.
            a = rng.uniform(-1, 1, (rows, columns + columns % 3))
            a = (a + 1j * rng.uniform(-1, 1, a.shape) if is_complex else a).astype(dtype)
            v = a[::-1, 0].copy()
            ours, vector = gpupy.asarray(a), gpupy.asarray(v)
            for view in (np.s_[:, :columns], np.s_[::-1, :columns], np.s_[:, columns - 1 :: -1]):
                given, other = a[view], ours[view]
                square = given[:columns].T[:, : min(rows, columns)].copy()
                for found, left, right in (
                    (vector @ other, v, given),
                    (other.T @ vector, given.T, v),
                    (other.T @ other, given.T, given),
                    (other @ gpupy.asarray(square), given[:, : square.shape[0]], square),
                ):
                    exact = left.astype(wide) @ right.astype(wide)
                    size = np.abs(left).astype("longdouble") @ np.abs(right)
                    error = np.abs(np.asarray(found) - exact)
                    terms = left.shape[-1]
                    bound = (2 + np.sqrt(terms) / 2) * np.finfo(dtype).eps * size
                    assert (error <= bound).all(), (columns, rows, view, (error / bound).max())


def test_views_are_read_where_they_lie(device):
    a, b = small((6, 8), "float64"), small((5, 8), "float64", 4)
    check(lambda xp: xp.asarray(a)[::-1, ::2] @ xp.asarray(b).T[1::2] + 0)
    check(lambda xp: (xp.asarray(a).T @ xp.asarray(a) * 2 + 1).sum(0))
    check(lambda xp: xp.asarray(a) @ (xp.ones((8, 3)) + xp.arange(3.0)))


def test_outputs_are_written_in_place(device):
    a = small((3, 4), "float32")

    def into(xp, shape, dtype="float32"):
        out = xp.zeros(shape, dtype)
        same = xp.matmul(xp.asarray(a), xp.asarray(a).T, out=out) is out
        return out + 0, same

    check(lambda xp: into(xp, (3, 3)))
    check(lambda xp: into(xp, (3, 3), "float64"))
    check(lambda xp: into(xp, (3, 4)))

    def in_place(xp):
        x = xp.asarray(small((3, 3), "float32"))
        x @= xp.asarray(small((3, 3), "float32", 4))
        return x + 0

    check(in_place)


@pytest.mark.parametrize("dtype", ["int64", "float64", "float32"])
def test_other_products_are_made_of_it(device, dtype):
    a, b, v = small((2, 3, 4), dtype), small((3, 4, 5), dtype, 4), small(4, dtype, 5)
    for function in (
        lambda xp, a, b, v: xp.dot(a, v),
        lambda xp, a, b, v: xp.dot(v, v),
        lambda xp, a, b, v: xp.dot(a, b.swapaxes(1, 2).swapaxes(0, 2)[..., :2].swapaxes(0, 1)),
        lambda xp, a, b, v: a.dot(3),
        lambda xp, a, b, v: xp.inner(a, v),
        lambda xp, a, b, v: xp.inner(a, b.swapaxes(1, 2)),
        lambda xp, a, b, v: xp.outer(v, a),
        lambda xp, a, b, v: xp.vdot(a, a),
        lambda xp, a, b, v: xp.tensordot(a, b),
        lambda xp, a, b, v: xp.tensordot(a, b, ([1, 2], [0, 1])),
        lambda xp, a, b, v: xp.tensordot(a, v, (-1, 0)),
        lambda xp, a, b, v: xp.tensordot(a, v, 0),
        lambda xp, a, b, v: xp.tensordot(a, b, ([1], [1])),
        lambda xp, a, b, v: xp.einsum("ijk,jkl->il", a, b),
        lambda xp, a, b, v: xp.einsum("ijk,jkl", a, b),
        lambda xp, a, b, v: xp.einsum("ijk,jkl->lij", a, b),
        lambda xp, a, b, v: xp.einsum("ijk,k->ji", a, v),
        lambda xp, a, b, v: xp.einsum("i,i->", v, v),
        lambda xp, a, b, v: xp.einsum("i,j->ji", v, v),
        lambda xp, a, b, v: xp.einsum("ijk,jkl->i", a, b),
        lambda xp, a, b, v: xp.einsum("ijk->kij", a),
        lambda xp, a, b, v: xp.einsum("ijk,jl->il", a, b),
    ):
        check(lambda xp: function(xp, xp.asarray(a), xp.asarray(b), xp.asarray(v)) + 0)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float16", "float64", "complex64", "bool"])
def test_einsum_of_one_array_gives_views_and_sums_as_numpys(device, dtype):
    cube = small((3, 3, 3), dtype)

    def written(xp, subscripts):
        x = xp.asarray(cube.copy())
        seen = xp.einsum(subscripts, x)
        seen[...] = 1
        return x

    for subscripts in ("iii->i", "iij->ij", "iij->ji", "iji->ij", "ijk->kji", " ijk -> jik "):
        check(lambda xp, of=subscripts: xp.einsum(of, xp.asarray(cube)) + 0)
        check(lambda xp, of=subscripts: written(xp, of))
    for subscripts in "iii ijk-> ijk->k iij->j iij iji->i kij Abc ijk->ik iij->i".split():
        check(lambda xp, of=subscripts: xp.einsum(of, xp.asarray(cube)))
    zeros = np.full((2, 2), -0.0)
    check(lambda xp: xp.einsum("ij->j", xp.asarray(zeros)))
    for subscripts in ("ii", "ij->ik", "ij->jj", "ijj", "i...->...", "...i", "ij,", "i2"):
        check(lambda xp, of=subscripts: xp.einsum(of, xp.asarray(np.ones((2, 3)))))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_floats_are_as_near_as_the_specification_says(driver, dtype):
    rng = np.random.default_rng(1)
    real = [rng.standard_normal(shape) for shape in ((70, 300), (300, 50))]
    a, b = (x.astype(dtype) * (1 + 0.5j if dtype[0] == "c" else 1) for x in real)
    a, b = a.astype(dtype), b.astype(dtype)
    exact = a.astype(np.clongdouble) @ b.astype(np.clongdouble)
    got = np.asarray(gpupy.asarray(a) @ gpupy.asarray(b))
    bound = 2 * 300 * np.finfo(dtype).eps / 2 * (abs(a).astype(float) @ abs(b).astype(float))
    assert (abs(got - exact) <= bound).all()


WITH_SCALARS = {
    "dot": lambda xp, a, b: xp.dot(a, b),
    "dot, turned": lambda xp, a, b: xp.dot(b, a),
    "the method": lambda xp, a, b: a.dot(b),
    "inner": lambda xp, a, b: xp.inner(a, b),
    "inner, turned": lambda xp, a, b: xp.inner(b, a),
    "vdot": lambda xp, a, b: xp.vdot(a.ravel()[:1], b),
    "multiply": lambda xp, a, b: xp.multiply(b, a),
    "outer": lambda xp, a, b: xp.outer(a, b),
    "tensordot": lambda xp, a, b: xp.tensordot(a, b, 0),
    "tensordot, turned": lambda xp, a, b: xp.tensordot(b, a, ([], [])),
}
VIEWS_OF_THREE_AXES = {
    "C order": lambda a: a,
    "F order": lambda a: a.T,
    "axes 1 0 2": lambda a: a.transpose(1, 0, 2),
    "two axes": lambda a: a[0],
    "two axes in F order": lambda a: a[0].T,
    "two axes in F order, backwards": lambda a: a[:, :, 1].T[::-1],
    "two axes with steps": lambda a: a[::2, 1],
    "one axis with steps": lambda a: a[::2, 1, 1],
    "no axis": lambda a: a[0, 0, 0, ...],
}


@pytest.mark.parametrize("name", WITH_SCALARS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_with_an_operand_without_axes_lie_in_memory_as_numpys(auto, name, dtype):
    for other in ("bool", "int16", "float32", "complex128"):
        for name_of_view, view in VIEWS_OF_THREE_AXES.items():
            results = []
            for xp in (np, gpupy):
                a, b = xp.asarray(small((4, 3, 2), dtype)), xp.asarray(np.array(2, other))
                made = WITH_SCALARS[name](xp, view(a), b)
                owns = None if made.ndim == 0 else made.base is None
                results.append((made.dtype, made.strides, owns, np.asarray(made).tolist()))
            assert results[0] == results[1], (other, name_of_view)


def test_products_are_no_fallbacks(driver):
    # The host driver does products that a driver lacks.
    gpupy._gpupy.reconfigure(driver, strict=False)
    gpupy.reset_stats()
    a = gpupy.asarray(small((8, 8), "float32"))
    for product in (a @ a, gpupy.dot(a, a[0]), gpupy.einsum("ij,kj->ik", a, a), gpupy.tensordot(a, a, 1)):
        np.asarray(product)
    assert gpupy.stats().fallbacks == 0


@pytest.mark.parametrize("strict", [True, False], ids=["recorded", "at once"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors_that_lie_apart_multiply(dtype, strict):
    gpupy._gpupy.reconfigure("cpu", strict=strict)
    views = {
        "column": lambda xp: xp.asarray(small((500, 6), dtype))[:, 2],
        "reversed": lambda xp: xp.asarray(small(500, dtype))[::-1],
        "every third": lambda xp: xp.asarray(small(1500, dtype))[1::3],
        "plain": lambda xp: xp.asarray(small(500, dtype, 5)),
    }
    for left in views.values():
        for right in views.values():
            check(lambda xp: [left(xp) @ right(xp), xp.dot(left(xp), right(xp))])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_products_that_einsum_does_not_sum_have_numpys_zeros(device, dtype):
    # NumPy adds each of them to a zero.
    signs = np.array([-1, 0, -0.0, 2]).astype(dtype)
    for subscripts in ("i,j->ij", "i,j->ji", "i,i->i", "ij,j->ij", "ij,ik->ijk", "ij,ij->ji"):
        first, second = subscripts.split("->")[0].split(",")
        shape = {1: (4,), 2: (4, 4)}
        operands = [np.resize(signs[::step], shape[len(part)]) for part, step in ((first, 1), (second, -1))]
        check(lambda xp: xp.einsum(subscripts, *map(xp.asarray, operands)), subscripts)


def test_mistakes_of_little_products_are_heard_of_where_a_program_asks(auto):
    large = gpupy.array(np.full(4, 1e200))
    for product in (gpupy.dot, gpupy.matmul):
        assert product(large, large) == np.inf
        with gpupy.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
            product(large, large)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool", "complex128"])
def test_sums_of_products_of_several_operands(forbidding, dtype):
    rng = np.random.default_rng(3)
    extents = dict(zip("abcd", (2, 3, 4, 5), strict=True))
    calls = "ab,bc,cd ab,bc,cd->da ab,ab,b->ab a,b,c->cab abc,bd,cd,a abc,c,bd->d ab,a,b, abb,b,c ab,bc,ca->z"
    for subscripts in [*calls.split(), "ab, bc ,cd->ad", "a...,b,c", "ab,cd,bd->"]:
        given = [
            np.asarray(rng.integers(-2, 4, [extents.get(x, 1) for x in labels.strip() if x.isalpha()]))
            for labels in subscripts.partition("->")[0].split(",")
        ]
        operands = [each.astype(dtype) for each in given]

        def summed(xp, **more):
            return xp.einsum(subscripts, *map(xp.asarray, operands), **more)

        plain = not {"z", ".", "abb"} & {*subscripts, subscripts[:3]} and not subscripts.endswith(",")
        with gpupy.fallback("error" if plain else "warn"):
            check(summed, subscripts)
        with gpupy.fallback("warn"):
            check(lambda xp: summed(xp, optimize=True), subscripts)
    # Of a million products NumPy would make each.
    wide = gpupy.ones((100, 100))
    with gpupy.fallback("error"):
        assert gpupy.einsum("ab,bc,cd->ad", wide, wide, wide)[0, 0] == 10_000
