"""Families of short rows, blocks and channels: a reduction, or little more, of k numbers side by side.

Not here: windows that overlap (`windows.py`), sorts and orders of short rows (`orders.py`), small matrices
(`products.py`).
"""

from . import family


@family(lambda data, k: [data.rows(k)], k=(2, 100))
def rows_without_their_means(np, k, x):
    return x - x.mean(axis=1, keepdims=True)


@family(lambda data, k: [data.rows(k)], k=(2, 100))
def softmax_of_rows(np, k, x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@family(lambda data, k: [data.normal(data.n // k, k)], k=(2, 100))
def layer_norm(np, k, x):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5)


@family(lambda data, k: [data.normal(data.n // k, k)], k=(2, 100))
def unit_vectors(np, k, v):
    return v / np.linalg.norm(v, axis=1, keepdims=True)


@family(lambda data, k: [data.rows(k), data.numbers(k)], k=(2, 100))
def weighted_rows(np, k, x, w):
    return (x * w).sum(axis=1) / w.sum()


@family(lambda data, k: [data.rows(k)], k=(2, 100))
def range_of_rows(np, k, x):
    return x.max(axis=1) - x.min(axis=1)


@family(lambda data, k: [data.normal(data.n // k, k)], k=(2, 100))
def log_sum_exp(np, k, x):
    top = x.max(axis=1)
    return top + np.log(np.exp(x - top[:, None]).sum(axis=1))


@family(lambda data, k: [data.rows(k)], k=(2, 100), which=("all", "any", "count"))
def rows_that_hold(np, k, x, which):
    high = x > 0.1 if which == "all" else x > 0.9
    if which == "all":
        return high.all(axis=1)
    return high.any(axis=1) if which == "any" else np.count_nonzero(high, axis=1)


@family(lambda data, k: [data.rows(k)], k=(2, 100))
def entropy_of_rows(np, k, x):
    p = x / x.sum(axis=1, keepdims=True)
    return -(p * np.log(p + 1e-12)).sum(axis=1)


@family(lambda data, k: [data.grid(of=k)], k=(2, 33), how=("mean", "max", "sum"))
def blocks(np, k, image, how):
    m, n = image.shape
    tiles = image.reshape(m // k, k, n // k, k)
    return getattr(tiles, how)(axis=(1, 3))


@family(lambda data, k: [data.grid(of=k)], k=(2, 33))
def blocks_without_their_means(np, k, image):
    m, n = image.shape
    tiles = image.reshape(m // k, k, n // k, k)
    return (tiles - tiles.mean(axis=(1, 3), keepdims=True)).reshape(m, n)


@family(lambda data, k: [data.numbers(data.side(2) // k, data.side(2), k), data.numbers(k)], k=(2, 20))
def mixture_of_channels(np, k, image, weights):
    total = image[..., 0] * weights[0]
    for c in range(1, k):
        total = total + image[..., c] * weights[c]
    return total


@family(lambda data, k: [data.numbers(data.side(2) // k, data.side(2), k)], k=(2, 20))
def gamma_by_channel(np, k, image):
    out = np.empty_like(image)
    for c in range(k):
        out[..., c] = np.sqrt(image[..., c]) * (1 + c)
    return out


@family(lambda data, k: [data.numbers(data.n // k, k)], k=(2, 40))
def channels_backwards(np, k, image):
    return 1 - image[:, ::-1]


@family(lambda data, k: [data.numbers(k, data.n // k)], k=(2, 40))
def channels_last(np, k, planes):
    return np.stack([2 * plane for plane in planes], axis=-1)


@family(lambda data, k: [data.rows(k)], k=(2, 100))
def standardised_columns(np, k, table):
    return (table - table.mean(axis=0)) / table.std(axis=0)


@family(lambda data, k: [data.rows(k), data.numbers(k)], k=(1, 30))
def distance_to_a_point(np, k, points, centre):
    return np.sqrt(((points - centre) ** 2).sum(axis=-1))


@family(lambda data, k: [data.numbers(data.side(2) // k, data.side(2) // k)], k=(2, 12))
def enlarged(np, k, image):
    return np.repeat(np.repeat(image, k, axis=0), k, axis=1) * 0.5


@family(lambda data, k: [data.numbers(300, data.n // 300 * k)], k=(2, 12))
def strided_columns(np, k, table):
    return table[:, ::k] + table[:, 1::k]
