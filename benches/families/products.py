"""Families of products: small matrices, skinny ones, layers, outer and inner products.

Not here: sums of squares of short rows (`rows.py`).
"""

from . import family


def matrices(data, k):
    """As many matrices of k by k as there is room for."""
    return data.numbers(data.n // k**2, k, k)


@family(lambda data, k: [matrices(data, k), matrices(data, k)], k=(2, 40))
def small_matrices_multiplied(np, k, a, b):
    return a @ b


@family(lambda data, k: [matrices(data, k), data.numbers(data.n // k**2, k)], k=(2, 40))
def small_matrices_by_vectors(np, k, m, v):
    return np.einsum("nij,nj->ni", m, v)


@family(lambda data, k: [data.numbers(k, k), data.rows(k)], k=(2, 60))
def points_that_are_turned(np, k, turn, points):
    return points @ turn.T


@family(lambda data, k: [data.rows(k)], k=(2, 60))
def gram_matrix(np, k, x):
    return x.T @ x


@family(lambda data, k: [data.rows(64), data.normal(64, k), data.normal(k)], k=(1, 60))
def layer(np, k, x, w, b):
    return np.maximum(x @ w + b, 0)


@family(lambda data, k: [data.rows(k), data.rows(k)], k=(2, 100), how=("einsum", "sum", "vecdot"))
def inner_products_of_rows(np, k, a, b, how):
    if how == "einsum":
        return np.einsum("ij,ij->i", a, b)
    return np.vecdot(a, b) if how == "vecdot" else np.sum(a * b, axis=-1)


@family(lambda data, k: [data.numbers(data.n // k**2, k), data.numbers(data.n // k**2, k)], k=(2, 30))
def outer_products_of_rows(np, k, a, b):
    return a[:, :, None] * b[:, None, :]


@family(lambda data, k: [matrices(data, k)], k=(2, 40))
def traces(np, k, m):
    return np.trace(m, axis1=1, axis2=2), np.einsum("nii->ni", m)


@family(lambda data, k: [data.rows(k), data.numbers(k), data.numbers(k, k)], k=(2, 30))
def quadratic_forms(np, k, x, mean, precision):
    d = x - mean
    return np.einsum("ni,ij,nj->n", d, precision, d) if k < 8 else ((d @ precision) * d).sum(axis=1)


@family(lambda data, k: [matrices(data, k) + 2 * k, data.numbers(data.n // k**2, k, 1)], k=(2, 12))
def small_systems(np, k, a, b):
    a = a * (1 + np.eye(k, dtype=a.dtype))
    return np.linalg.solve(a, b)


@family(lambda data, k: [matrices(data, k)], k=(2, 12), how=("det", "inv"))
def small_matrices_inverted(np, k, m, how):
    return getattr(np.linalg, how)(m + k * np.eye(k, dtype=m.dtype))


@family(lambda data, k: [matrices(data, k)], k=(2, 6), how=("eigvalsh", "cholesky"))
def small_matrices_decomposed(np, k, m, how):
    return getattr(np.linalg, how)(m @ m.transpose(0, 2, 1) + k * np.eye(k, dtype=m.dtype))


@family(lambda data, k: [data.numbers(data.side(2), k), data.numbers(k, data.side(2))], k=(1, 60))
def product_of_low_rank(np, k, u, v):
    return u @ v


@family(lambda data, k: [data.grid(), data.numbers(data.side(2), k)], k=(1, 40))
def matrix_by_some_vectors(np, k, m, v):
    return m @ v


@family(lambda data, k: [data.numbers(data.n // (64 * k), 64, k)], k=(4, 64))
def attention_scores(np, k, x):
    scores = x @ x.transpose(0, 2, 1) / np.sqrt(k)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) @ x


@family(lambda data, k: [data.rows(3), data.rows(3)], k=(1, 8))
def cross_products(np, k, a, b):
    for _ in range(k):
        a = np.cross(a, b)
    return a


@family(lambda data, k: [data.numbers(data.n // (k * 10), k, 10), data.numbers(10, k)], k=(2, 40))
def tensor_products(np, k, x, w):
    return np.tensordot(x, w, axes=([1, 2], [1, 0]))


@family(lambda data, k: [data.numbers(data.n // k)], k=(2, 12))
def powers_as_features(np, k, x):
    features = np.vander(x, k, increasing=True)
    return features, features.T @ features
