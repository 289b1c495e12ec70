"""The programs that are timed, as plain NumPy text.

Owns the texts. Each takes the array module as ``np``, so that the same text runs by NumPy, by gpupy, and by
others that follow NumPy. Not here: the sizes and the numbers that they are given (``catalogue``).
"""


def scaled_sum(np, x, y):
    """``2.5*x + y``, the least that is worth a kernel."""
    return 2.5 * x + y


def sine_times_exponential(np, x):
    """A wave in a bell curve."""
    return np.sin(x) * np.exp(-x * x)


def absolute_sum(np, x):
    """The sum of the absolute values."""
    return np.abs(x).sum()


def distance_map(np, size, points):
    """The distance from each pixel to the nearest of the points, as ``examples/distance_map.py`` has it."""

    def distance_to(centre):
        x0, y0 = centre
        return np.fromfunction(
            lambda x, y: ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5, (size, size), dtype=np.float32
        )

    nearest = distance_to(points[0])
    for centre in points[1:]:
        nearest = np.minimum(distance_to(centre), nearest)
    return nearest


def shaded_sphere(np, size):
    """The red, green and blue planes of a lit sphere, as ``examples/shaded_sphere.py`` has it."""
    radius = 0.4 * size
    vx, vy, vz = size / 2, size / 2, size  # the eye
    cx, cy, cz = size / 2, size / 2, 0  # the centre of the sphere
    lx, ly, lz = -1, 1, 1  # direction of the light

    # From the eye through each pixel of the image plane, the direction of a ray.
    x = np.fromfunction(lambda x, y: x, (size, size), dtype=np.float32)
    y = np.fromfunction(lambda x, y: y, (size, size), dtype=np.float32)
    dx, dy, dz = x - vx, y - vy, 0 - vz

    # Where a ray meets the sphere: a quadratic equation in the distance along it.
    a = dx**2 + dy**2 + dz**2
    b = 2 * dx * (vx - cx) + 2 * dy * (vy - cy) + 2 * dz * (vz - cz)
    c = cx**2 + cy**2 + cz**2 + vx**2 + vy**2 + vz**2 - 2 * (cx * vx + cy * vy + cz * vz) - radius**2
    discriminant = b * b - 4 * a * c
    t = (-b - np.sqrt(discriminant)) / (2 * a)
    ix, iy, iz = vx + t * dx, vy + t * dy, vz + t * dz

    # The normal there, of length 1, and how far it is turned to the light.
    nx, ny, nz = (ix - cx) / radius, (iy - cy) / radius, (iz - cz) / radius
    lit = nx * lx + ny * ly + nz * lz
    channels = ((0.0, 0.1, 0.2), (0.0, 0.2, 0.5), (0.5, 0.3, 0.6))  # background, ambient, diffuse
    return tuple(
        255 * np.where(discriminant > 0, np.where(lit > 0, ambient + lit * diffuse, ambient), background)
        for background, ambient, diffuse in channels
    )


def normal_distribution(np, x):
    """The cumulative normal distribution by formula 26.2.17 of Abramowitz and Stegun."""
    k = 1 / (1 + 0.2316419 * np.abs(x))
    series = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804 * np.exp(-0.5 * x * x) * series
    return np.where(x > 0, 1 - tail, tail)


def black_scholes(np, price, strike, years):
    """The prices of European call and put options."""
    rate, volatility = 0.02, 0.3
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    d2 = d1 - spread
    owed = strike * np.exp(-rate * years)
    n1, n2 = normal_distribution(np, d1), normal_distribution(np, d2)
    return price * n1 - owed * n2, owed * (1 - n2) - price * (1 - n1)


def life(np, cells):
    """One generation of Conway's Life on a torus; a living cell is 1."""
    around = sum(
        np.roll(cells, (down, right), (0, 1)) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right
    )
    return np.where((around == 3) | ((around == 2) & (cells == 1)), np.float32(1), np.float32(0))


def convolution(np, image):
    """Binomial smoothing by five taps down and five across; the edge goes on outside."""
    taps = (0.0625, 0.25, 0.375, 0.25, 0.0625)
    height, width = image.shape
    tall = np.pad(image, ((2, 2), (0, 0)), mode="edge")
    smooth = sum(tap * tall[k : k + height] for k, tap in enumerate(taps))
    wide = np.pad(smooth, ((0, 0), (2, 2)), mode="edge")
    return sum(tap * wide[:, k : k + width] for k, tap in enumerate(taps))


def rotation(np, image):
    """The image turned by 10 degrees about its centre, bilinear, black outside."""
    cosine, sine = 0.984807753012208, 0.17364817766693033
    height, width = image.shape
    y = np.arange(height, dtype=np.float32).reshape(-1, 1) - 0.5 * (height - 1)
    x = np.arange(width, dtype=np.float32) - 0.5 * (width - 1)
    row = cosine * y - sine * x + 0.5 * (height - 1)
    column = sine * y + cosine * x + 0.5 * (width - 1)
    top, left = np.floor(row), np.floor(column)
    down, right = row - top, column - left
    i = np.clip(top, 0, height - 2).astype(np.int32)
    j = np.clip(left, 0, width - 2).astype(np.int32)
    above = (1 - right) * image[i, j] + right * image[i, j + 1]
    below = (1 - right) * image[i + 1, j] + right * image[i + 1, j + 1]
    inside = (row >= 0) & (row <= height - 1) & (column >= 0) & (column <= width - 1)
    return np.where(inside, (1 - down) * above + down * below, np.float32(0))


def column_normalisation(np, table):
    """Each column less its mean, over its standard deviation."""
    return (table - table.mean(axis=0)) / table.std(axis=0)


def matrix_product(np, a, b):
    """The product of a matrix with a vector or a matrix."""
    return np.matmul(a, b)


def block_matching(np, before, after, reach, block):
    """The least sum of absolute differences of each block to another image, and the shift that has it."""
    height, width = before.shape
    shape = (height // block, block, width // block, block)
    shifts = [(down, right) for down in range(-reach, reach + 1) for right in range(-reach, reach + 1)]
    least, chosen = None, None
    for number, shift in enumerate(shifts):
        difference = np.abs(before - np.roll(after, shift, (0, 1)))
        total = difference.reshape(shape).sum(axis=(1, 3))
        if least is None:
            least, chosen = total, np.zeros(total.shape, dtype=np.float32)
            continue
        chosen = np.where(total < least, np.float32(number), chosen)
        least = np.minimum(least, total)
    return least, chosen
