"""Families of whole arrays of several axes: reductions of each, transposes, broadcasts, statistics.

Not here: short rows (`rows.py`), sums of products (`products.py`).
"""

from . import family


def box(data, k):
    """An array of k axes; the first is the longest."""
    side = max(2, round((data.n / 4) ** (1 / k)))
    return [data.numbers(4 * side, *[side] * (k - 1))]


@family(box, k=(1, 6), at=(0, 0.5, 1), how=("sum", "mean", "max", "std"), order=("C", "F"))
def reduction_of_an_axis(np, k, x, *, at, how, order):
    x = x if order == "C" else x.T
    return getattr(x, how)(axis=round(at * (k - 1)))


@family(box, k=(2, 6), how=("sum", "min", "var"))
def reduction_of_all_axes_but_one(np, k, x, how):
    return getattr(x, how)(axis=tuple(range(k - 1))), getattr(x, how)(axis=tuple(range(1, k)))


@family(box, k=(2, 6))
def transposed_and_added(np, k, x):
    return np.ascontiguousarray(x.transpose()) + 1


@family(box, k=(2, 6))
def last_axis_to_the_front(np, k, x):
    moved = np.moveaxis(x, -1, 0)
    return moved / moved.shape[0] + 0.5


@family(lambda data, k: [data.numbers(data.n // (20 * k), 20, k)], k=(2, 100))
def each_matrix_transposed(np, k, x):
    return x.transpose(0, 2, 1).copy()


@family(lambda data, k: [data.numbers(k), data.numbers(data.n // k)], k=(2, 1000))
def outer_sum(np, k, a, b):
    return a[:, None] + b[None, :]


@family(lambda data, k: [data.numbers(k), data.numbers(data.n // k)], k=(2, 500), how=("rows", "columns"))
def outer_comparison_counted(np, k, a, b, how):
    less = a[:, None] < b
    return less.sum(axis=0 if how == "rows" else 1)


@family(lambda data, k: [data.numbers(data.n // (16 * k), k, 16), data.numbers(k)], k=(2, 100))
def scale_of_a_middle_axis(np, k, x, w):
    return x * w[None, :, None] + w.reshape(1, -1, 1)


@family(lambda data, k: [data.rows(k), data.numbers(data.n // k), data.numbers(k)], k=(2, 200))
def rows_and_columns_added(np, k, x, a, b):
    return x + a[:, np.newaxis] - b


@family(
    lambda data, k: [data.numbers(int((data.n / k) ** 0.5), k), data.numbers(int((data.n / k) ** 0.5), k)],
    k=(1, 20),
)
def pairwise_distances(np, k, p, q):
    return np.sqrt(((p[:, None, :] - q[None, :, :]) ** 2).sum(axis=-1))


@family(lambda data, k: [data.rows(k)], k=(2, 300), axis=(0, 1), how=("cumsum", "cumprod", "maximum"))
def running(np, k, x, axis, how):
    if how == "maximum":
        return np.maximum.accumulate(x, axis=axis)
    return getattr(np, how)(x, axis=axis)


@family(lambda data, k: [data.grid()], k=(0, 3), flip=(None, 0, 1))
def turned(np, k, image, flip):
    image = np.rot90(image, k)
    return np.ascontiguousarray(image if flip is None else np.flip(image, flip))


@family(lambda data, k: [data.normal(data.n // k, k)], k=(2, 40))
def skewness_of_columns(np, k, x):
    d = x - x.mean(axis=0)
    s = (d**2).mean(axis=0)
    return (d**3).mean(axis=0) / s**1.5, (d**4).mean(axis=0) / s**2


@family(lambda data, k: [data.normal(k, data.n // k)], k=(2, 30), how=("corrcoef", "cov"))
def correlation_of_rows(np, k, x, how):
    return getattr(np, how)(x)


@family(lambda data, k: [data.normal(data.n)], k=(1, 30))
def autocorrelation(np, k, x):
    x = x - x.mean()
    return np.array([(x[: x.size - lag] * x[lag:]).mean() for lag in range(k + 1)])


@family(lambda data, k: [data.numbers(k, data.n // k), data.numbers(k)], k=(2, 40))
def weighted_average_of_images(np, k, images, weights):
    return np.average(images, axis=0, weights=weights)


@family(lambda data, k: [data.numbers(data.n // k)], k=(4, 40))
def kernel_density(np, k, sample):
    points = np.linspace(0, 1, k)
    u = (points[:, None] - sample) / 0.1
    return np.exp(-0.5 * u * u).mean(axis=1)


@family(lambda data, k: [data.rows(k)], k=(3, 60))
def differences(np, k, x):
    return np.diff(x, axis=1), np.diff(x, n=2, axis=0)
