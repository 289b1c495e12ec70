"""Families of windows that overlap, and of pyramids, by the texts that people use for them.

Not here: fixed stencils and their edges (`stencils.py`), blocks that do not overlap (`rows.py`).
"""

from . import family

MODES = ("edge", "reflect", "constant", "wrap", "symmetric")


@family(lambda data, k: [data.line()], k=(2, 60))
def moving_mean_by_running_sums(np, k, x):
    total = np.cumsum(x.astype(np.float64))
    total[k:] = total[k:] - total[:-k]
    return total[k - 1 :] / k


@family(lambda data, k: [data.line()], k=(2, 40), how=("mean", "max", "sum", "std"))
def sliding_windows(np, k, x, how):
    windows = np.lib.stride_tricks.sliding_window_view(x, k)
    return getattr(windows, how)(axis=-1)


@family(lambda data, k: [data.grid()], k=(2, 9), how=("mean", "max", "min"))
def sliding_windows_of_an_image(np, k, image, how):
    windows = np.lib.stride_tricks.sliding_window_view(image, (k, k))
    return getattr(windows, how)(axis=(2, 3))


@family(lambda data, k: [data.grid()], k=(2, 9))
def local_variance(np, k, image):
    windows = np.lib.stride_tricks.sliding_window_view(image, (k, k))
    mean = windows.mean(axis=(-2, -1))
    return (windows**2).mean(axis=(-2, -1)) - mean**2


@family(lambda data, k: [data.line(), data.numbers(k)], k=(2, 60))
def convolution_of_a_line(np, k, x, taps):
    return np.convolve(x, taps, mode="valid")


@family(lambda data, k: [data.grid(), data.numbers(k, k)], k=(2, 9))
def convolution_by_offsets(np, k, image, taps):
    m, n = image.shape[0] - k + 1, image.shape[1] - k + 1
    out = np.zeros((m, n), dtype=image.dtype)
    for i in range(k):
        for j in range(k):
            out += taps[i, j] * image[i : i + m, j : j + n]
    return out


@family(lambda data, k: [data.grid()], k=(1, 8), mode=MODES)
def box_filter_with_a_margin(np, k, image, mode):
    m, n = image.shape
    padded = np.pad(image, k, mode=mode)
    rows = sum(padded[i : i + m] for i in range(2 * k + 1))
    return sum(rows[:, j : j + n] for j in range(2 * k + 1)) / (2 * k + 1) ** 2


@family(lambda data, k: [data.grid()], k=(1, 12), axis=(0, 1), mode=MODES)
def blur_along_an_axis(np, k, image, axis, mode):
    width = [(0, 0), (0, 0)]
    width[axis] = (k, k)
    padded = np.pad(image, width, mode=mode)
    taps = np.exp(-(np.linspace(-2, 2, 2 * k + 1) ** 2)).astype(image.dtype)
    out = np.zeros_like(image)
    for i, tap in enumerate(taps):
        part = padded[i : i + len(image)] if axis == 0 else padded[:, i : i + image.shape[1]]
        out = out + tap * part
    return out


@family(lambda data, k: [data.grid()], k=(2, 30))
def box_sums_by_an_integral_image(np, k, image):
    table = np.zeros((image.shape[0] + 1, image.shape[1] + 1))
    table[1:, 1:] = image.cumsum(axis=0, dtype=np.float64).cumsum(axis=1)
    return table[k:, k:] - table[:-k, k:] - table[k:, :-k] + table[:-k, :-k]


@family(lambda data, k: [data.line()], k=(16, 600), hop=(2, 4))
def frames_of_a_signal(np, k, x, hop):
    step = max(1, k // hop)
    frames = np.lib.stride_tricks.sliding_window_view(x, k)[::step]
    return (frames * np.hanning(k)).sum(axis=1)


@family(lambda data, k: [data.numbers(data.side(2) // 2, data.side(2) // 2)], k=(2, 4))
def median_filter(np, k, image):
    m, n = image.shape[0] - k + 1, image.shape[1] - k + 1
    shifted = [image[i : i + m, j : j + n] for i in range(k) for j in range(k)]
    return np.median(np.stack(shifted), axis=0)


@family(lambda data, k: [data.grid(of=2**k)], k=(1, 5))
def pyramid(np, k, image):
    levels = [image]
    for _ in range(k):
        last = levels[-1]
        levels.append((last[::2, ::2] + last[1::2, ::2] + last[::2, 1::2] + last[1::2, 1::2]) / 4)
    return levels[1:]


@family(lambda data, k: [data.grid(of=2**k)], k=(1, 5))
def laplacian_pyramid(np, k, image):
    details = []
    for _ in range(k):
        small = image.reshape(image.shape[0] // 2, 2, image.shape[1] // 2, 2).mean(axis=(1, 3))
        details.append(image - np.kron(small, np.ones((2, 2), dtype=image.dtype)))
        image = small
    return [*details, image]


@family(lambda data, k: [data.grid(), data.numbers(k, k)], k=(2, 8))
def template_by_squared_differences(np, k, image, template):
    m, n = image.shape[0] - k + 1, image.shape[1] - k + 1
    score = np.zeros((m, n))
    for i in range(k):
        for j in range(k):
            score += (image[i : i + m, j : j + n] - template[i, j]) ** 2
    return score


@family(lambda data, k: [data.line()], k=(2, 25))
def running_maximum_of_a_window(np, k, x):
    top = x[: x.size - k + 1]
    for i in range(1, k):
        top = np.maximum(top, x[i : x.size - k + 1 + i])
    return top
