"""Families of whole programs in the manner of other authors, none of them ever timed here before.

They follow From Python to NumPy, the Scientific Python Lectures, Benchpress and NPBench: simulations, images,
sequences, networks. Invariant: no mechanism of gpupy was made for one of these; one that
is tuned for moves to another file, and a new one takes its place. Not here: programs of other benchmarks
(`benches/loops.py`, `benches/kernels.py`).
"""

from . import family


@family(
    lambda data, k: [data.normal(int((data.n / 4) ** 0.5), 2), data.normal(int((data.n / 4) ** 0.5), 2)],
    k=(1, 4),
)
def boids(np, k, position, velocity):
    for _ in range(k):
        apart = position[:, None] - position
        distance = np.hypot(apart[..., 0], apart[..., 1])
        near = (distance > 0) & (distance < 0.5)
        count = np.maximum(near.sum(axis=1), 1).reshape(-1, 1)
        alignment = near.astype(position.dtype) @ velocity / count - velocity
        cohesion = near.astype(position.dtype) @ position / count - position
        separation = (apart * (near & (distance < 0.25))[..., None]).sum(axis=1) / count
        velocity = velocity + 0.1 * (alignment + cohesion + 1.5 * separation)
        speed = np.sqrt((velocity**2).sum(axis=1, keepdims=True))
        velocity = np.where(speed > 1, velocity / speed, velocity)
        position = position + 0.01 * velocity
    return position, velocity


@family(lambda data, k: [data.numbers(data.n // k, 2), data.numbers(k, 2)], k=(1, 40))
def haversine(np, k, places, cities):
    lat, lon = places[:, 0, None], places[:, 1, None]
    a = np.sin((cities[:, 0] - lat) / 2) ** 2
    a = a + np.cos(lat) * np.cos(cities[:, 0]) * np.sin((cities[:, 1] - lon) / 2) ** 2
    return (2 * 6371 * np.arcsin(np.sqrt(a))).min(axis=1)


@family(lambda data, k: [data.grid(of=k), data.numbers(k, k)], k=(2, 16))
def ordered_dither(np, k, image, matrix):
    tiled = np.tile(matrix, (image.shape[0] // k, image.shape[1] // k))
    return (image > tiled).astype(np.uint8) * 255


@family(lambda data, k: [data.grid()], k=(16, 300))
def otsu_threshold(np, k, image):
    counts, edges = np.histogram(image, bins=k)
    centres = (edges[1:] + edges[:-1]) / 2
    below, above = np.cumsum(counts), np.cumsum(counts[::-1])[::-1]
    mean_below = np.cumsum(counts * centres) / below
    mean_above = (np.cumsum((counts * centres)[::-1]) / above[::-1])[::-1]
    between = below[:-1] * above[1:] * (mean_below[:-1] - mean_above[1:]) ** 2
    return image > centres[:-1][np.argmax(between)]


@family(lambda data, k: [data.places(k, data.side(2), data.side(2))], k=(16, 300))
def histogram_equalised(np, k, image):
    counts = np.bincount(image.ravel(), minlength=k)
    total = counts.cumsum()
    table = np.round((total - total.min()) * (k - 1) / (total[-1] - total.min())).astype(np.uint16)
    return table[image]


@family(lambda data, k: [data.grid()], k=(1, 5))
def bilateral_filter(np, k, image):
    m, n = image.shape
    padded = np.pad(image, k, mode="reflect")
    total, weights = np.zeros_like(image), np.zeros_like(image)
    for i in range(-k, k + 1):
        for j in range(-k, k + 1):
            near = padded[k + i : k + i + m, k + j : k + j + n]
            w = np.exp(-(i * i + j * j) / (2 * k * k) - (near - image) ** 2 / 0.02)
            total += w * near
            weights += w
    return total / weights


@family(lambda data, k: [data.grid(), data.grid()], k=(3, 16))
def structural_similarity(np, k, a, b):
    def mean(x):
        s = np.cumsum(np.cumsum(x, axis=0), axis=1)
        return (s[k:, k:] - s[:-k, k:] - s[k:, :-k] + s[:-k, :-k]) / k**2

    a, b = a.astype(np.float64), b.astype(np.float64)
    ma, mb = mean(a), mean(b)
    va, vb, cab = mean(a * a) - ma**2, mean(b * b) - mb**2, mean(a * b) - ma * mb
    return ((2 * ma * mb + 1e-4) * (2 * cab + 9e-4) / ((ma**2 + mb**2 + 1e-4) * (va + vb + 9e-4))).mean()


@family(lambda data, k: [data.numbers(data.side(2)) * 6, data.numbers(data.side(2))], k=(1, 6))
def kuramoto_oscillators(np, k, theta, omega):
    for _ in range(k):
        pull = np.sin(theta[None, :] - theta[:, None]).mean(axis=1)
        theta = (theta + 0.05 * (omega + 2 * pull)) % (2 * np.pi)
    return theta, np.abs(np.exp(1j * theta).mean())


@family(lambda data, k: [data.grid(), data.grid()], k=(1, 20))
def excitable_medium(np, k, u, v):
    def laplacian(z):
        return z[:-2, 1:-1] + z[1:-1, :-2] + z[2:, 1:-1] + z[1:-1, 2:] - 4 * z[1:-1, 1:-1]

    u, v = u.copy(), v.copy()
    for _ in range(k):
        uc, vc = u[1:-1, 1:-1], v[1:-1, 1:-1]
        du, dv = laplacian(u), laplacian(v)
        u[1:-1, 1:-1], v[1:-1, 1:-1] = (
            uc + 0.01 * (0.3 * du + uc - uc**3 - vc - 0.005),
            vc + 0.01 * (0.5 * dv + uc - vc) / 0.1,
        )
        for z in (u, v):
            z[0, :], z[-1, :] = z[1, :], z[-2, :]
            z[:, 0], z[:, -1] = z[:, 1], z[:, -2]
    return u, v


@family(lambda data, k: [data.numbers(64, 64) * 6], k=(1, 5))
def octaves_of_gradient_noise(np, k, angles):
    n = 350
    image = np.zeros((n, n))
    for octave in range(k):
        x = np.linspace(0, 2 ** (octave + 1), n, endpoint=False)
        cell, t = x.astype(int), x % 1
        fade = t * t * t * (t * (t * 6 - 15) + 10)
        i, j = np.meshgrid(cell, cell, indexing="ij")
        corners = []
        for di in (0, 1):
            for dj in (0, 1):
                angle = angles[i + di, j + dj]
                corners.append(np.cos(angle) * (t[:, None] - di) + np.sin(angle) * (t - dj))
        low = corners[0] + fade * (corners[1] - corners[0])
        high = corners[2] + fade * (corners[3] - corners[2])
        image += (low + fade[:, None] * (high - low)) / 2**octave
    return image


@family(lambda data, k: [data.places(256, data.n // k, k, dtype="uint8")], k=(4, 300))
def checksums_of_packets(np, k, packets):
    a = 1 + packets.sum(axis=1, dtype=np.uint32)
    weights = np.arange(k, 0, -1, dtype=np.uint32)
    b = k + (packets * weights).sum(axis=1)
    return (b % 65521) * 65536 + a % 65521


def sequences(data, k):
    """Pairs of sequences of letters."""
    length = max(16, int((data.n / k) ** 0.5))
    return [data.places(4, k, length, dtype="int8"), data.places(4, k, length, dtype="int8")]


@family(sequences, k=(8, 300))
def alignment_by_antidiagonals(np, k, a, b):
    n = a.shape[1]
    before = np.zeros((k, n + 1), dtype=np.int32)
    last = np.zeros((k, n + 1), dtype=np.int32)
    best = np.zeros(k, dtype=np.int32)
    for d in range(2, n + 2):
        i = np.arange(1, d)
        match = np.where(a[:, i - 1] == b[:, d - i - 1], 2, -1)
        new = np.zeros_like(last)
        new[:, 1:d] = np.maximum(
            0, np.maximum(before[:, 0 : d - 1] + match, np.maximum(last[:, 0 : d - 1], last[:, 1:d]) - 1)
        )
        best = np.maximum(best, new.max(axis=1))
        before, last = last, new
    return best


@family(
    lambda data, k: [
        data.normal(k, data.n // (32 * k) + 1, 16),
        data.normal(16, 128) / 4,
        data.normal(32, 128) / 6,
    ],
    k=(1, 30),
)
def recurrent_cell(np, k, x, w, u):
    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    h = np.zeros((x.shape[1], 32), dtype=x.dtype)
    c = np.zeros_like(h)
    for t in range(k):
        i, f, o, g = np.split(x[t] @ w + h @ u, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return h


@family(
    lambda data, k: [data.numbers(data.side(2) // k + 3, data.side(2), k), data.numbers(3, 3, k)], k=(1, 40)
)
def depthwise_convolution(np, k, image, weights):
    m, n = image.shape[0] - 2, image.shape[1] - 2
    out = np.zeros((m, n, k), dtype=image.dtype)
    for i in range(3):
        for j in range(3):
            out += image[i : i + m, j : j + n] * weights[i, j]
    return np.maximum(out - out.mean(axis=(0, 1)), 0)


@family(lambda data, k: [data.normal(k, data.n // k), data.normal(k, data.n // k)], k=(1, 60))
def paths_of_stochastic_volatility(np, k, z1, z2):
    price = np.full(z1.shape[1], 100, dtype=z1.dtype)
    var = np.full(z1.shape[1], 0.04, dtype=z1.dtype)
    for a, b in zip(z1, z2, strict=True):
        root = np.sqrt(np.maximum(var, 0) / k)
        price = price * np.exp((0.02 - var / 2) / k + root * a)
        var = var + 1.5 * (0.04 - var) / k + 0.3 * root * (-0.7 * a + 0.51**0.5 * b)
    return np.maximum(price - 100, 0).mean(), price


@family(lambda data, k: [data.grid(of=2**k)], k=(1, 6))
def haar_wavelets(np, k, image):
    out = image.copy()
    n = len(image)
    for _ in range(k):
        part = out[:n, :n]
        rows = np.hstack([part[:, ::2] + part[:, 1::2], part[:, ::2] - part[:, 1::2]]) / 2
        out[:n, :n] = np.vstack([rows[::2] + rows[1::2], rows[::2] - rows[1::2]]) / 2
        n //= 2
    return out


@family(lambda data, k: [data.numbers(k, data.n // (3 * k), 3)], k=(1, 20))
def hue_saturation_value(np, k, frames):
    r, g, b = frames[..., 0], frames[..., 1], frames[..., 2]
    high, low = frames.max(axis=-1), frames.min(axis=-1)
    range_ = np.where(high == low, 1, high - low)
    hue = np.where(
        high == r, (g - b) / range_ % 6, np.where(high == g, (b - r) / range_ + 2, (r - g) / range_ + 4)
    )
    return np.stack([hue / 6, np.where(high > 0, (high - low) / high, 0), high], axis=-1)


@family(lambda data, k: [data.numbers(k, k), data.numbers(10, data.n // (10 * k), k)], k=(2, 20))
def most_likely_states(np, k, change, seen):
    score = seen[0]
    back = []
    for now in seen[1:]:
        ways = score[:, :, None] + change
        back.append(ways.argmax(axis=1))
        score = ways.max(axis=1) + now
    state = score.argmax(axis=1)
    path = [state]
    for places in back[::-1]:
        state = places[np.arange(len(state)), state]
        path.append(state)
    return np.stack(path[::-1], axis=1)


@family(lambda data, k: [data.places(5, data.n // k, k).astype(data.dtype)], k=(4, 200))
def frequencies_of_words(np, k, counts):
    tf = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    idf = np.log((1 + len(counts)) / (1 + (counts > 0).sum(axis=0))) + 1
    weighted = tf * idf
    return weighted / np.maximum(np.sqrt((weighted**2).sum(axis=1, keepdims=True)), 1e-9)


@family(lambda data, k: [data.grid()], k=(1, 6))
def local_binary_patterns(np, k, image):
    c = image[k:-k, k:-k]
    m, n = image.shape
    code = np.zeros(c.shape, dtype=np.uint8)
    offsets = [(-k, -k), (-k, 0), (-k, k), (0, k), (k, k), (k, 0), (k, -k), (0, -k)]
    for bit, (i, j) in enumerate(offsets):
        code |= (image[k + i : m - k + i, k + j : n - k + j] >= c).astype(np.uint8) << bit
    return np.bincount(code.ravel(), minlength=256)


@family(lambda data, k: [data.places(3, data.side(2), data.side(2), dtype="int8")], k=(1, 12))
def brain_of_three_states(np, k, cells):
    for _ in range(k):
        firing = np.pad((cells == 1).astype(np.int8), 1, mode="wrap")
        rows = firing[:-2] + firing[1:-1] + firing[2:]
        count = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:] - firing[1:-1, 1:-1]
        cells = np.where(cells == 1, 2, np.where((cells == 0) & (count == 2), 1, 0)).astype(np.int8)
    return cells


@family(lambda data, k: [data.grid(), data.normal(data.side(2), data.side(2)), data.grid()], k=(1, 10))
def smoke(np, k, density, u, v):
    n = len(density)
    x = density.copy()
    for _ in range(k):
        x[1:-1, 1:-1] = (
            density[1:-1, 1:-1] + 0.2 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
        ) / 1.8
    i, j = np.mgrid[0:n, 0:n]
    y, z = np.clip(i - u, 0.5, n - 1.5), np.clip(j - v, 0.5, n - 1.5)
    i, j = y.astype(int), z.astype(int)
    s, t = y - i, z - j
    return (1 - s) * ((1 - t) * x[i, j] + t * x[i, j + 1]) + s * ((1 - t) * x[i + 1, j] + t * x[i + 1, j + 1])


@family(lambda data, k: [data.grid(of=k), data.numbers(k, k)], k=(2, 24))
def blocks_by_cosines(np, k, image, quality):
    i = np.arange(k)
    basis = np.cos(np.pi * (2 * i[None, :] + 1) * i[:, None] / (2 * k)).astype(image.dtype)
    m, n = image.shape
    blocks = image.reshape(m // k, k, n // k, k).swapaxes(1, 2)
    coefficients = basis @ (blocks - 0.5) @ basis.T
    return (coefficients * (quality + 1)).swapaxes(1, 2).reshape(m, n)


@family(lambda data, k: [data.numbers(data.n) / 2 + 0.1, data.numbers(data.n) / 5 + 0.05], k=(1, 30))
def epidemics_side_by_side(np, k, beta, gamma):
    s, i, r = np.full_like(beta, 0.99), np.full_like(beta, 0.01), np.zeros_like(beta)
    peak = i
    for _ in range(k):
        new, well = beta * s * i, gamma * i
        s, i, r = s - new, i + new - well, r + well
        peak = np.maximum(peak, i)
    return s, i, r, peak


@family(lambda data, k: [data.normal(data.n // (3 * k), 3), data.normal(k, 3), data.numbers(k)], k=(2, 20))
def mixture_of_gaussians(np, k, x, means, weights):
    d = x[:, None, :] - means[None, :, :]
    logs = np.log(weights + 0.1) - 0.5 * np.sum(d * d, axis=2)
    top = logs.max(axis=1, keepdims=True)
    share = np.exp(logs - top)
    share /= share.sum(axis=1, keepdims=True)
    size = share.sum(axis=0)
    return share.T @ x / size[:, None], size / len(x)
