"""Loops of linear algebra: eliminations, orthogonalizations, iterations, shortest ways.

Those that go through the columns of a matrix do as many of them as there are steps. Not here: recurrences
that go through rows without products (`rows`).
"""

from . import text
from .beginnings import autocorrelation, distances, matrix, noise, stochastic, symmetric, vector


@text(matrix)
def gauss_jordan(np, a, steps, see):
    n = len(a)
    a = np.hstack([a, np.eye(n)])
    for k in range(min(steps, n)):
        a[k] /= a[k, k]
        factors = a[:, k].copy()
        factors[k] = 0
        a -= np.outer(factors, a[k])
        see(k, a)
    return a


@text(symmetric)
def cholesky_by_columns(np, a, steps, see):
    for k in range(min(steps, len(a))):
        a[k, k] = np.sqrt(a[k, k])
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k + 1 :, k]
        see(k, a)
    return a


@text(matrix, is_exact=False)
def householder(np, a, steps, see):
    n = len(a)
    for k in range(min(steps, n - 1)):
        v = a[k:, k].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v)
        a[k:, k:] -= 2 * np.outer(v, v @ a[k:, k:])
        see(k, a)
    return a


@text(matrix, is_exact=False)
def gram_schmidt(np, a, steps, see):
    for k in range(min(steps, len(a))):
        q = a[:, k] / np.sqrt((a[:, k] * a[:, k]).sum())
        a[:, k] = q
        a[:, k + 1 :] -= np.outer(q, q @ a[:, k + 1 :])
        see(k, a)
    return a


@text(autocorrelation, is_exact=False)
def levinson(np, r, steps, see):
    n = len(r)
    a = np.zeros(n)
    a[0] = 1
    error = r[0]
    for k in range(1, min(steps + 1, n)):
        reflection = -(a[:k] * r[k:0:-1]).sum() / error
        a[1 : k + 1] = a[1 : k + 1] + reflection * a[k - 1 :: -1][:k]
        error = error * (1 - reflection * reflection)
        see(k - 1, a)
    return a, error


@text(distances)
def floyd_warshall(np, d, steps, see):
    for k in range(min(steps, len(d))):
        d = np.minimum(d, d[:, k, None] + d[k])
        see(k, d)
    return d


@text(distances)
def floyd_warshall_by_out(np, d, steps, see):
    way = np.empty_like(d)
    for k in range(min(steps, len(d))):
        np.add(d[:, k : k + 1], d[k : k + 1], out=way)
        np.minimum(d, way, out=d)
        see(k, d)
    return d


@text(matrix, vector, is_exact=False)
def power_iteration(np, a, v, steps, see):
    for step in range(steps):
        v = a @ v
        v = v / np.sqrt(v @ v)
        see(step, v)
    return v, v @ (a @ v)


@text(stochastic, vector, is_exact=False)
def page_rank(np, links, rank, steps, see):
    rank = rank / rank.sum()
    for step in range(steps):
        rank = 0.85 * (links @ rank) + 0.15 / len(rank)
        see(step, rank)
    return rank


@text(symmetric, vector, is_exact=False)
def conjugate_gradient(np, a, b, steps, see):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    square = r @ r
    for step in range(min(steps, 10)):
        ap = a @ p
        alpha = square / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + (new / square) * p
        square = new
        see(step, x)
    return x


@text(noise, is_exact=False)
def sinkhorn(np, k, steps, see):
    k = k + 0.1
    for step in range(steps):
        k /= k.sum(axis=1, keepdims=True)
        k /= k.sum(axis=0)
        see(step, k)
    return k
