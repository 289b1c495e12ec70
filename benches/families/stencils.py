"""Families of stencils: some neighbours of each element, in one to four axes, with all edges.

Owns `shifted`, which moves an array by each text that people use. Not here: steps in a loop (`steps.py`),
windows of k by k (`windows.py`).
"""

from . import family

MODES = ("edge", "reflect", "constant", "wrap", "symmetric")
TEXTS = ("roll", "slices", "concatenate", "pad")


def grid(data, k):
    """A grid of k axes."""
    return [data.grid(k)]


def shifted(np, x, by, axis, how):
    """An array moved along an axis; by `roll` and `concatenate` its other end comes in, otherwise zeros."""
    if how == "roll":
        return np.roll(x, by, axis=axis)
    x = np.moveaxis(x, axis, 0)
    kept, free = (x[:-by], slice(by, None)) if by > 0 else (x[-by:], slice(None, by))
    if how == "concatenate":
        out = np.concatenate([x[-by:], x[:-by]])
    elif how == "pad":
        out = np.pad(kept, [(max(by, 0), max(-by, 0))] + [(0, 0)] * (x.ndim - 1))
    else:
        out = np.zeros_like(x)
        out[free] = kept
    return np.moveaxis(out, 0, axis)


@family(grid, k=(1, 4), how=TEXTS)
def laplacian_by_shifts(np, k, u, how):
    total = -2 * k * u
    for axis in range(k):
        total = total + shifted(np, u, 1, axis, how) + shifted(np, u, -1, axis, how)
    return total


@family(grid, k=(1, 4), mode=MODES)
def laplacian_with_a_margin(np, k, u, mode):
    p = np.pad(u, 1, mode=mode)
    inner = (slice(1, -1),) * k
    total = -2 * k * u
    for axis in range(k):
        for move in (slice(None, -2), slice(2, None)):
            total = total + p[(*inner[:axis], move, *inner[axis + 1 :])]
    return total


@family(grid, k=(1, 4), in_place=(True, False))
def smoothing_of_the_inside(np, k, u, in_place):
    inner = (slice(1, -1),) * k
    total = 0
    for axis in range(k):
        for move in (slice(None, -2), slice(2, None)):
            total = total + u[(*inner[:axis], move, *inner[axis + 1 :])]
    out = u.copy() if in_place else np.zeros_like(u)
    out[inner] = total / (2 * k)
    return out


@family(grid, k=(1, 4))
def gradient_of_each_axis(np, k, u):
    parts = np.gradient(u)
    return sum(part**2 for part in parts) if k > 1 else parts**2


@family(lambda data, k: [data.line()], k=(1, 300), how=TEXTS)
def difference_to_a_shifted_line(np, k, x, how):
    return x - shifted(np, x, k, 0, how)


@family(lambda data, k: [data.grid()], k=(1, 70), axis=(0, 1), how=TEXTS)
def mean_with_a_shifted_image(np, k, x, axis, how):
    return (x + shifted(np, x, k, axis, how)) / 2


@family(lambda data, k: [data.numbers(data.n // k, k)], k=(3, 200), how=TEXTS)
def neighbours_in_a_narrow_grid(np, k, u, how):
    return u + shifted(np, u, 1, 0, how) + 2 * shifted(np, u, 1, 1, how)


@family(lambda data, k: [data.mask(0.6, data.side(2), data.side(2))], k=(1, 5), how=("erosion", "dilation"))
def morphology(np, k, image, how):
    m, n = image.shape
    p = np.pad(image, k, mode="edge")
    out = image.copy()
    for i in range(2 * k + 1):
        for j in range(2 * k + 1):
            part = p[i : i + m, j : j + n]
            out = out & part if how == "erosion" else out | part
    return out


@family(lambda data, k: [data.grid()], k=(1, 6))
def finite_difference_of_high_order(np, k, u):
    n = u.shape[1]
    out = np.zeros_like(u)
    for i in range(1, k + 1):
        out[:, k:-k] += (u[:, k + i : n - k + i] - u[:, k - i : n - k - i]) / (2 * i)
    return out


@family(lambda data, k: [data.numbers(k, data.side(2) // k, data.side(2))], k=(1, 12), mode=MODES)
def edges_of_planes(np, k, planes, mode):
    p = np.pad(planes, ((0, 0), (1, 1), (1, 1)), mode=mode)
    dx = p[:, 1:-1, 2:] - p[:, 1:-1, :-2]
    dy = p[:, 2:, 1:-1] - p[:, :-2, 1:-1]
    return np.hypot(dx, dy)


@family(lambda data, k: [data.numbers(data.side(2) // k, data.side(2), k)], k=(1, 12))
def edges_of_channels(np, k, image):
    out = np.zeros_like(image)
    out[1:-1, 1:-1] = np.abs(image[1:-1, 2:] - image[1:-1, :-2]) + np.abs(image[2:, 1:-1] - image[:-2, 1:-1])
    return out


@family(lambda data, k: [data.numbers(k, *[data.side(k + 1)] * k)], k=(2, 3))
def divergence(np, k, field):
    inner = (slice(1, -1),) * k
    total = 0
    for axis in range(k):
        ahead = (*inner[:axis], slice(2, None), *inner[axis + 1 :])
        behind = (*inner[:axis], slice(None, -2), *inner[axis + 1 :])
        total = total + (field[axis][ahead] - field[axis][behind]) / 2
    return total


@family(lambda data, k: [data.grid()], k=(1, 4))
def flux_limited_slopes(np, k, u):
    for _ in range(k):
        left = u - np.roll(u, 1, axis=1)
        right = np.roll(u, -1, axis=1) - u
        slope = np.where(left * right > 0, np.where(np.abs(left) < np.abs(right), left, right), 0)
        flux = u + 0.4 * slope
        u = u - 0.2 * (flux - np.roll(flux, 1, axis=1))
    return u
