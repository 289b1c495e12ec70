"""Families of groups: k classes, bins, edges, labels or entries of a table.

Not here: rows of equal length (`rows.py`), single elements by their numbers (`selections.py`).
"""

from . import family


def labelled(data, k):
    """Numbers with labels below k."""
    return [data.line(), data.places(k, data.n)]


@family(labelled, k=(2, 300))
def sums_of_groups(np, k, x, labels):
    return np.bincount(labels, weights=x, minlength=k)


@family(labelled, k=(2, 16))
def means_of_groups_by_masks(np, k, x, labels):
    return np.array([x[labels == label].mean() for label in range(k)])


@family(labelled, k=(2, 300))
def sums_of_groups_by_at(np, k, x, labels):
    out = np.zeros(k)
    np.add.at(out, labels, x)
    return out


@family(lambda data, k: [data.line()], k=(2, 300))
def histogram(np, k, x):
    return np.histogram(x, bins=k, range=(0, 1))[0]


@family(lambda data, k: [data.numbers(data.n // 4), data.numbers(data.n // 4)], k=(2, 60))
def histogram_of_pairs(np, k, x, y):
    i, j = (x * k).astype(int), (y * k).astype(int)
    return np.bincount(i * k + j, minlength=k * k).reshape(k, k)


@family(lambda data, k: [data.line()], k=(2, 100))
def bins_by_edges(np, k, x):
    return np.searchsorted(np.linspace(0, 1, k), x), np.digitize(x[:1000], np.linspace(0, 1, k))


@family(lambda data, k: [data.places(k, data.side(2), data.side(2)), data.numbers(k)], k=(2, 3000))
def table_of_values(np, k, image, table):
    return table[image]


@family(lambda data, k: [data.places(k, data.side(2), data.side(2)), data.numbers(k, 3)], k=(2, 300))
def palette(np, k, image, colours):
    return colours[image]


@family(lambda data, k: [data.places(k, data.n // k)], k=(2, 100))
def one_hot(np, k, labels):
    return np.eye(k)[labels]


@family(lambda data, k: [data.places(k, data.n // k)], k=(2, 100))
def one_hot_by_comparison(np, k, labels):
    return (labels[:, None] == np.arange(k)).astype(np.float32)


@family(lambda data, k: [data.places(4 * k, data.n), data.places(4 * k, k)], k=(1, 40))
def membership(np, k, x, wanted):
    return np.isin(x, wanted)


@family(lambda data, k: [data.places(k, data.n)], k=(2, 300))
def distinct_values(np, k, x):
    return np.unique(x, return_counts=True)


@family(lambda data, k: [data.line(), data.numbers(k)], k=(2, 60))
def interpolation_between_knots(np, k, x, values):
    return np.interp(x, np.linspace(0, 1, k), values)


@family(lambda data, k: [data.line()], k=(2, 60))
def segments_by_reduceat(np, k, x):
    return np.add.reduceat(x, np.arange(0, x.size, k))


@family(lambda data, k: [data.numbers(data.n // (3 * k), 3), data.numbers(k, 3)], k=(2, 20))
def nearest_of_k_centres(np, k, points, centres):
    far = ((points[:, None] - centres) ** 2).sum(axis=2)
    return far.argmin(axis=1), far.min(axis=1)


@family(lambda data, k: [data.places(k, data.side(2), data.side(2))], k=(2, 20))
def neighbours_of_the_same_label(np, k, labels):
    same = (labels[1:] == labels[:-1]).sum() + (labels[:, 1:] == labels[:, :-1]).sum()
    return np.array([(labels == label).sum() for label in range(k)]), same
