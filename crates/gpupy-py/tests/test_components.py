"""Maps whose last axis is short: what is the same for all components of a point is computed once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import check

import gpupy

HEIGHT, WIDTH = 60, 71


def picture(components, dtype="float32"):
    numbers = np.random.default_rng(4).integers(-50, 50, (HEIGHT, WIDTH, components))
    return (numbers / 16).astype(dtype)


def shared(xp, dtype):
    """A value of each point, by some ten operations."""
    i, j = xp.arange(HEIGHT)[:, np.newaxis].astype(dtype), xp.arange(WIDTH).astype(dtype)
    x = i * 0.5 - j * 0.25
    return xp.where(x > 3, x * 0.5 + i, j - xp.abs(x) * 2) * 0.125 + xp.floor(x * 0.25)


def launched(value):
    """The launches that evaluate a value."""
    before = gpupy.stats()["launches"]
    gpupy.evaluate(value)
    return gpupy.stats()["launches"] - before


PROGRAMS = {
    "scaled": lambda xp, p, s: p * s[..., np.newaxis],
    "chosen": lambda xp, p, s: xp.where(s[..., np.newaxis] > 0, p, -p),
    "mirrored": lambda xp, p, s: p[:, ::-1, ::-1] + s[..., np.newaxis],
    "by component": lambda xp, p, s: p * xp.arange(p.shape[-1]) + s[..., np.newaxis],
    "of rows": lambda xp, p, s: p + s[:, :1, np.newaxis] * s[..., np.newaxis],
    "of another's components": lambda xp, p, s: p[..., :1] * s[..., np.newaxis] + p,
    "transposed": lambda xp, p, s: (p.transpose(1, 0, 2) * s.T[..., np.newaxis])[3:, 1:],
    "gathered": lambda xp, p, s: (
        p[s.astype(np.int32).clip(0, HEIGHT - 1), s.astype(np.int32).clip(0, 20)] * s[..., np.newaxis]
    ),
    "reduced": lambda xp, p, s: (p * s[..., np.newaxis]).sum(axis=(0, 1)),
    "along the components": lambda xp, p, s: (p * s[..., np.newaxis]).max(axis=-1),
}


@pytest.mark.parametrize("components", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", PROGRAMS)
def test_components_are_numpys(limited, name, components):
    results = [
        PROGRAMS[name](xp, xp.asarray(picture(components)), shared(xp, np.float32)) for xp in (np, gpupy)
    ]
    np.testing.assert_allclose(np.asarray(results[1]), results[0], rtol=2e-6, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_components_have_the_bits_of_each_by_itself(driver, dtype):
    pixels = gpupy.asarray(picture(3, dtype))
    factor = shared(gpupy, np.float32).astype(dtype)
    together = np.asarray(pixels * factor[..., np.newaxis] + pixels)
    for component in range(3):
        plane = pixels[..., component]
        np.testing.assert_array_equal(together[..., component], np.asarray(plane * factor + plane))


def test_positions_of_pixels_are_computed_in_the_launch_that_gathers():
    gpupy._gpupy.reconfigure("cpu", strict=True)
    pixels = gpupy.asarray(np.random.default_rng(1).random((1000, 1000, 3), np.float32))
    gpupy.evaluate(pixels)
    i, j = gpupy.arange(1000)[:, np.newaxis], gpupy.arange(1000)
    down = (i * 0.98 - j * 0.17).astype(np.int32).clip(0, 998)
    right = (i * 0.17 + j * 0.98).astype(np.int32).clip(0, 998)
    turned = pixels[down, right] * 0.5 + pixels[down + 1, right + 1] * 0.5
    assert launched(turned) == 1
    host = np.asarray(pixels)
    down, right = np.asarray(down), np.asarray(right)
    want = host[down, right] * np.float32(0.5) + host[down + 1, right + 1] * np.float32(0.5)
    np.testing.assert_array_equal(np.asarray(turned), want)


@given(
    components=st.integers(2, 4),
    rows=st.integers(1, 40),
    columns=st.integers(1, 40),
    dtypes=st.tuples(*[st.sampled_from(["?", "u1", "i2", "i4", "f4", "f8", "c8"])] * 2),
    part=st.sampled_from([slice(None), slice(None, None, -1), slice(1, None)]),
)
def test_dtypes_and_extents(components, rows, columns, dtypes, part):
    gpupy._gpupy.reconfigure("cpu", strict=True)
    rng = np.random.default_rng(rows * columns)
    pixels = rng.integers(0, 2, (rows, columns, components)).astype(dtypes[0])
    plane = rng.integers(0, 2, (rows, columns)).astype(dtypes[1])

    def program(xp):
        p, x = xp.asarray(pixels), xp.asarray(plane).astype(np.float32)
        for step in range(5):
            x = x * 0.5 + step
        return p[..., part] * x.astype(dtypes[1])[..., np.newaxis]

    check(program)
