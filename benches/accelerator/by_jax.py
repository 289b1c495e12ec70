"""The programs as a JAX user writes them, compiled by `jax.jit` for the platform in `JAX_PLATFORMS`.

Of the ways that JAX has, the fastest on a CPU is taken, on GPUs too: for convolutions `jnp.pad` and slices,
which XLA fuses (`lax.conv_general_dilated` took 40 times as long), for sums of windows `lax.reduce_window`
in a `fori_loop` (an unrolled loop took twice as long, slices more), for candidates `jax.vmap` (`lax.map` took
half as long again), for pixels at computed places `promise_in_bounds` (`map_coordinates` took twice as long).
A run ends with `block_until_ready`. Operands lie in JAX's arrays, results are JAX's new arrays. Products are
of float32, which a GPU would round to fewer bits by itself.
"""

import math

import jax
import jax.numpy as jnp
from jax import lax

ANGLE = math.radians(10)
FIVE_TAPS = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)
NINE_TAPS = tuple(tap / 256 for tap in (1, 8, 28, 56, 70, 56, 28, 8, 1))
BLOCK = 16
OFFSETS = 16

jax.config.update("jax_default_matmul_precision", "highest")


def version(name, given):
    """The program as a call without arguments, compiled at its first run."""
    arrays = tuple(jnp.asarray(array) for array in given)
    compiled = jax.jit(globals()[name])
    return lambda: jax.block_until_ready(compiled(*arrays))


def absolute_sum(matrix):
    """Sum."""
    return jnp.abs(matrix).sum()


def matrix_vector(matrix, vector):
    """Matrix × vector."""
    return matrix @ vector


def matrix_matrix(left, right):
    """Matrix × matrix."""
    return left @ right


def life(cells):
    """Life."""
    around = sum(
        jnp.roll(cells, (down, right), axis=(0, 1))
        for down in (-1, 0, 1)
        for right in (-1, 0, 1)
        if (down, right) != (0, 0)
    )
    return ((around == 3) | ((around == 2) & (cells == 1))).astype(cells.dtype)


def demosaic(raw):
    """Demosaic."""
    height, width = raw.shape
    mirrored = jnp.pad(raw, 2, mode="reflect")

    def near(down, right):
        return mirrored[2 + down : 2 + down + height, 2 + right : 2 + right + width]

    beside = near(0, -1) + near(0, 1)
    above_below = near(-1, 0) + near(1, 0)
    diagonal = near(-1, -1) + near(-1, 1) + near(1, -1) + near(1, 1)
    far_beside = near(0, -2) + near(0, 2)
    far_above_below = near(-2, 0) + near(2, 0)
    cross = (4 * raw + 2 * (beside + above_below) - (far_beside + far_above_below)) / 8
    of_row = (5 * raw + 4 * beside - diagonal - far_beside + 0.5 * far_above_below) / 8
    of_column = (5 * raw + 4 * above_below - diagonal - far_above_below + 0.5 * far_beside) / 8
    opposite = (6 * raw + 2 * diagonal - 1.5 * (far_beside + far_above_below)) / 8
    even_row = jnp.arange(height)[:, jnp.newaxis] % 2 == 0
    even_column = jnp.arange(width) % 2 == 0
    red = jnp.where(
        even_row, jnp.where(even_column, raw, of_row), jnp.where(even_column, of_column, opposite)
    )
    green = jnp.where(even_row == even_column, cross, raw)
    blue = jnp.where(
        even_row, jnp.where(even_column, opposite, of_column), jnp.where(even_column, of_row, raw)
    )
    return jnp.stack([red, green, blue], axis=-1).clip(0, 255)


def convolve(image, taps=FIVE_TAPS):
    """Convolve."""
    height, width = image.shape
    reach = len(taps) // 2
    tall = jnp.pad(image, ((reach, reach), (0, 0)), mode="edge")
    smooth = sum(tap * tall[k : k + height] for k, tap in enumerate(taps))
    wide = jnp.pad(smooth, ((0, 0), (reach, reach)), mode="edge")
    return sum(tap * wide[:, k : k + width] for k, tap in enumerate(taps))


def rotate(picture):
    """Rotate."""
    height, width, _ = picture.shape
    i, j = jnp.arange(height)[:, jnp.newaxis], jnp.arange(width)
    y, x = i - (height - 1) / 2, j - (width - 1) / 2
    down = (math.cos(ANGLE) - 1) * y - math.sin(ANGLE) * x
    right = math.sin(ANGLE) * y + (math.cos(ANGLE) - 1) * x
    rows, columns = jnp.floor(down), jnp.floor(right)
    lower, righter = (down - rows)[..., jnp.newaxis], (right - columns)[..., jnp.newaxis]
    top, left = i + rows.astype(jnp.int32), j + columns.astype(jnp.int32)
    inside = (top >= 0) & (top < height - 1) & (left >= 0) & (left < width - 1)
    top, left = top.clip(0, height - 2), left.clip(0, width - 2)

    def pixel(down, right):
        # What lies outside is never asked for.
        return picture.at[top + down, left + right].get(mode="promise_in_bounds")

    above = (1 - righter) * pixel(0, 0) + righter * pixel(0, 1)
    below = (1 - righter) * pixel(1, 0) + righter * pixel(1, 1)
    return jnp.where(inside[..., jnp.newaxis], (1 - lower) * above + lower * below, 0)


def corners(image):
    """Corner detection."""
    down, right = jnp.gradient(convolve(image))
    down_down, right_right = convolve(down * down, NINE_TAPS), convolve(right * right, NINE_TAPS)
    down_right = convolve(down * right, NINE_TAPS)
    mean = (down_down + right_right) / 2
    apart = jnp.sqrt(((down_down - right_right) / 2) ** 2 + down_right**2)
    return 0.5 * (mean + apart) + (mean - apart)


def motion(before, after):
    """Motion estimation."""
    vectors = jnp.zeros((before.shape[0] // BLOCK, before.shape[1] // BLOCK, 2), dtype=jnp.int32)
    half_before, half_after = _halved(before), _halved(after)
    vectors = _best(_halved(half_before), _halved(half_after), vectors, block=4, reach=3)
    vectors = _best(half_before, half_after, 2 * vectors, block=8, reach=1)
    vectors = _best(before, after, 2 * vectors, block=16, reach=1)
    double_after = _doubled(after)
    vectors = _best(before, double_after, 2 * vectors, block=16, reach=1, scale=2)
    vectors = _best(before, _doubled(double_after), 2 * vectors, block=16, reach=1, scale=4)
    return vectors.astype(before.dtype) / 4


def _best(before, after, vectors, *, block, reach, scale=1):
    down, across = vectors.shape[:2]
    blocks = before.reshape(down, block, across, block)
    rows = scale * jnp.arange(down * block).reshape(down, block, 1, 1) + vectors[:, None, :, None, 0]
    columns = scale * jnp.arange(across * block).reshape(across, block) + vectors[:, None, :, None, 1]
    side = jnp.arange(-reach, reach + 1)
    steps = jnp.stack(jnp.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)

    def cost(step):
        row = (rows + step[0]).clip(0, after.shape[0] - 1)
        column = (columns + step[1]).clip(0, after.shape[1] - 1)
        moved = after.at[row, column].get(mode="promise_in_bounds")
        return jnp.abs(blocks - moved).sum(axis=(1, 3))

    return vectors + steps[jnp.argmin(jax.vmap(cost)(steps), axis=0)]


def _halved(image):
    height, width = image.shape
    return image.reshape(height // 2, 2, width // 2, 2).mean(axis=(1, 3))


def _doubled(image):
    return _taller(_taller(image).T).T


def _taller(image):
    height, width = image.shape
    between = (image + jnp.concatenate([image[1:], image[-1:]])) / 2
    return jnp.stack([image, between], axis=1).reshape(2 * height, width)


def stereo(left, right):
    """Stereo matching."""
    width = left.shape[1]
    wide = jnp.pad(right, ((0, 0), (OFFSETS - 1, 0)), mode="edge")

    def keep(offset, kept):
        nearest, least = kept
        shifted = lax.dynamic_slice_in_dim(wide, OFFSETS - 1 - offset, width, axis=1)
        cost = _window_sums((left - shifted) ** 2)
        nearest = jnp.where(cost < least, offset.astype(left.dtype), nearest)
        return nearest, jnp.minimum(cost, least)

    return lax.fori_loop(0, OFFSETS, keep, (jnp.zeros_like(left), jnp.full_like(left, jnp.inf)))[0]


def _window_sums(image):
    padded = jnp.pad(image, 3, mode="edge")
    sums = lax.reduce_window(padded, 0.0, lax.add, (7, 1), (1, 1), "VALID")
    return lax.reduce_window(sums, 0.0, lax.add, (1, 7), (1, 1), "VALID")
