"""Families of masks, choices, gathers and scatters.

Not here: groups, histograms and tables of few entries (`groups.py`), sorts (`orders.py`).
"""

from . import family


@family(lambda data, k: [data.line()], k=(1, 99))
def sum_of_the_chosen(np, k, x):
    chosen = x[x > k / 100]
    return chosen.sum(), chosen.size, (chosen * chosen)[:10]


@family(lambda data, k: [data.line()], k=(1, 99), how=("mask", "where", "in place", "putmask"))
def replaced_where(np, k, x, how):
    low = x < k / 100
    if how == "where":
        return np.where(low, 0, x)
    x = x.copy()
    if how == "mask":
        x[low] = 0
    elif how == "putmask":
        np.putmask(x, low, -1)
    else:
        x *= ~low
    return x


@family(lambda data, k: [data.rows(k)], k=(2, 100))
def rows_by_a_mask(np, k, table):
    return table[table[:, 0] > 0.5] * 2


@family(lambda data, k: [data.line()], k=(2, 16))
def one_of_many_conditions(np, k, x):
    conditions = [x < (i + 1) / k for i in range(k)]
    return np.select(conditions, [i * x + 1 for i in range(k)], default=0)


@family(lambda data, k: [data.line()], k=(2, 20))
def chain_of_where(np, k, x):
    out = np.zeros_like(x)
    for i in range(k):
        out = np.where(x > i / k, x * i, out)
    return out


@family(lambda data, k: [data.numbers(1000, k), data.places(1000, data.n // k)], k=(1, 100))
def rows_by_numbers(np, k, table, index):
    return table[index] + 1


@family(lambda data, k: [data.line(), data.places(data.n, data.n // k)], k=(1, 30))
def elements_by_numbers(np, k, x, index):
    return x[index] * 2 - np.take(x, index[::-1])


@family(lambda data, k: [data.rows(k), data.places(k, data.n // k)], k=(2, 100))
def one_element_of_each_row(np, k, x, labels):
    return x[np.arange(len(x)), labels], np.take_along_axis(x, labels[:, None], axis=1)


@family(lambda data, k: [data.rows(k), data.places(k, k)], k=(2, 60))
def columns_by_numbers(np, k, x, order):
    return x[:, order]


@family(lambda data, k: [data.rows(k), data.places(data.n // k, data.n // k // 2)], k=(1, 60))
def rows_that_are_written(np, k, x, index):
    x = x.copy()
    x[index] = 0
    return x


@family(lambda data, k: [data.grid()], k=(2, 60))
def image_that_is_sampled(np, k, image):
    n = len(image)
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    wave = (k * np.sin(j / 20)).astype(int)
    return image[np.clip(i + wave, 0, n - 1), j]


@family(lambda data, k: [data.rows(k), data.mask(0.5, data.n // k, k)], k=(2, 60))
def mean_under_a_mask(np, k, x, good):
    return (x * good).sum(axis=1) / np.maximum(good.sum(axis=1), 1)


@family(lambda data, k: [data.line()], k=(2, 60))
def where_it_crosses(np, k, x):
    above = x > 1 - 1 / k
    return np.nonzero(above[1:] & ~above[:-1])[0], np.flatnonzero(above)[:5]


@family(lambda data, k: [data.normal(data.n)], k=(1, 20))
def without_numbers_that_are_missing(np, k, x):
    x = np.where(x > 0.1 * k, np.nan, x)
    return np.nan_to_num(x, nan=0.0), np.nanmean(x)


@family(lambda data, k: [data.grid()], k=(1, 60))
def frame_that_is_cleared(np, k, image):
    image = image * 2
    image[:k] = image[-k:] = 0
    image[:, :k] = image[:, -k:] = 0
    return image


@family(lambda data, k: [data.grid()], k=(2, 30))
def every_kth_that_is_written(np, k, image):
    image = image.copy()
    image[::k, ::k] = image[::k, ::k] * 0.5 + 1
    return image
