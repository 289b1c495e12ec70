"""Families of orders: sorts, ranks, medians, places of extremes; of short rows and columns, and of all.

Not here: groups by labels (`groups.py`).
"""

from . import family


@family(lambda data, k: [data.rows(k)], k=(2, 100), how=("sort", "argsort"))
def order_of_rows(np, k, x, how):
    return np.sort(x, axis=1) if how == "sort" else np.argsort(x, axis=1, kind="stable")


@family(lambda data, k: [data.numbers(k, data.n // k)], k=(2, 60), how=("sort", "argsort", "median"))
def order_of_columns(np, k, x, how):
    if how == "argsort":
        return np.argsort(x, axis=0, kind="stable")
    return getattr(np, how)(x, axis=0)


@family(lambda data, k: [data.rows(k)], k=(2, 100), how=("argmin", "argmax"))
def place_in_rows(np, k, x, how):
    return getattr(x, how)(axis=1)


@family(lambda data, k: [data.numbers(k, data.n // k)], k=(2, 100), how=("argmin", "argmax"))
def place_in_columns(np, k, x, how):
    return getattr(x, how)(axis=0)


@family(lambda data, k: [data.rows(k)], k=(3, 60))
def median_of_rows(np, k, x):
    return np.median(x, axis=1)


@family(lambda data, k: [data.rows(k)], k=(4, 60))
def quantiles_of_rows(np, k, x):
    return np.percentile(x, [25, 75], axis=1)


@family(lambda data, k: [data.rows(k)], k=(4, 60))
def largest_of_rows(np, k, x):
    part = np.partition(x, k - 2, axis=1)
    return part[:, -2:].sum(axis=1)


@family(lambda data, k: [data.line()], k=(1, 60))
def largest_of_all(np, k, x):
    return np.sort(x)[-k:][::-1], x.argmax()


@family(lambda data, k: [data.places(k, data.n), data.line()], k=(2, 3000))
def values_sorted_by_keys(np, k, keys, x):
    return x[np.argsort(keys, kind="stable")]


@family(lambda data, k: [data.rows(k)], k=(2, 30))
def ranks_in_rows(np, k, x):
    return x.argsort(axis=1, kind="stable").argsort(axis=1)


@family(lambda data, k: [data.places(100, data.n // k, k, dtype="int32")], k=(2, 60))
def majority_of_rows(np, k, votes):
    votes = np.sort(votes, axis=-1)
    return votes[:, k // 2], (votes[:, 1:] != votes[:, :-1]).sum(axis=1) + 1


@family(lambda data, k: [data.rows(k)], k=(2, 60))
def trimmed_mean_of_rows(np, k, x):
    x = np.sort(x, axis=1)
    cut = k // 4
    return x[:, cut : k - cut].mean(axis=1)
