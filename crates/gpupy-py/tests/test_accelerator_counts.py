"""The ten programs of the Accelerator article: NumPy's float64 results, in a bounded number of launches.

The programs are those of ``examples/accelerator``. Not here: their times (``xtask bench --accelerator``).
"""

import importlib.util
import pathlib
import sys

import numpy as np
import pytest

import gpupy as gp

FOLDER = pathlib.Path(__file__).parents[3] / "examples" / "accelerator"
SIZE = 192

# Launches, warm, where nothing is computed at once and no evaluation pauses.
LAUNCHES = {
    "absolute_sum": 2,
    "matrix_vector": 1,
    "matrix_matrix": 1,
    "life": 1,
    # Three channels side by side in one block.
    "demosaic": 1,
    "convolve": 2,
    "rotate": 1,
    "corners": 8,
    # 85 differences, and their sums, as many in a launch as the driver has destinations and reductions.
    "motion": 83,
    "stereo": 3,
}
# A fragment shader reads 16 textures at most. OpenGL has no matrix products: these are the host driver's.
# Corners compute the three products of differences by themselves where operations cost as little as a GPU's.
LAUNCHES_OF = {
    "cpu": {"motion": 63},
    "gl": {"matrix_vector": 0, "matrix_matrix": 0, "stereo": 5, "corners": 9, "motion": 86},
    "vulkan": {"corners": 9},
    "wgpu": {"corners": 9, "motion": 87},
}

# The same of motion estimation at the article's size, whose images a cache does not hold: values that all
# of a step's needs read are stored for them.
ARTICLES_SIZE = 512
LAUNCHES_OF_MOTION = {"cpu": 64, "gl": 99, "vulkan": 77}


def _loading():
    spec = importlib.util.spec_from_file_location("loading", FOLDER / "loading.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


loading = _loading()


def _results(found):
    return found if isinstance(found, tuple) else (found,)


@pytest.fixture(params=LAUNCHES)
def program(request):
    return request.param


def test_a_program_takes_so_many_launches(driver, program):
    gp._gpupy.reconfigure(driver, pauses=False)
    module = loading.load(program, gp)
    operands = module.start(SIZE)
    for _ in range(2):
        gp.reset_stats()
        gp.evaluate(*_results(getattr(module, program)(*operands)))
    if driver != "soft":
        wanted = LAUNCHES_OF.get(driver, {}).get(program, LAUNCHES[program])
        assert gp.stats()["launches"] == wanted


@pytest.mark.parametrize("columns", [257, 262, 264])
def test_edges_of_a_large_image_are_no_launches_of_their_own(driver, columns):
    image = np.random.default_rng(columns).integers(0, 9, (270, columns)).astype(np.float32)

    def sums(xp, x):
        rolled = [xp.roll(x, (down, right), (0, 1)) for down in (-1, 0, 2) for right in (-2, 0, 1)]
        wide = xp.pad(x, ((0, 0), (3, 1)), mode="reflect")
        return sum(rolled), wide[:, 4:] - wide[:, :-4]

    operand = gp.asarray(image)
    for _ in range(2):
        gp.reset_stats()
        found = sums(gp, operand)
        gp.evaluate(*found)
    launches = gp.stats()["launches"]
    for own, wanted in zip(found, sums(np, image), strict=True):
        np.testing.assert_array_equal(np.asarray(own), wanted)
    gp.reset_stats()
    sum_of_rows = sums(gp, operand)[0].sum(1)
    gp.evaluate(sum_of_rows)
    np.testing.assert_array_equal(np.asarray(sum_of_rows), sums(np, image)[0].sum(1))
    if driver != "soft":
        assert launches == 1
        # The sums of rows of more than 256 elements are sums of sums.
        assert gp.stats()["launches"] == 2


def test_motion_of_the_articles_size_takes_hardly_more_launches(driver):
    if driver not in LAUNCHES_OF_MOTION:
        pytest.skip("takes long, and kernels of this driver have room as those of the others")
    gp._gpupy.reconfigure(driver, pauses=False)
    module = loading.load("motion", gp)
    operands = module.start(ARTICLES_SIZE)
    for _ in range(2):
        gp.reset_stats()
        gp.evaluate(module.motion(*operands))
    assert gp.stats()["launches"] == LAUNCHES_OF_MOTION[driver]


def test_a_programs_error_is_the_articles(driver, program):
    ours, theirs = loading.load(program, gp), loading.load(program)
    operands = theirs.start(SIZE)
    in_float64 = [np.asarray(operand, np.float64) for operand in operands]
    wanted = _results(getattr(theirs, program)(*in_float64))
    found = _results(getattr(ours, program)(*map(gp.asarray, operands)))
    for own, exact in zip(found, wanted, strict=True):
        assert loading.error(own, exact) < 1e-6
    assert sys.modules["numpy"] is np


def test_three_channels_that_are_wanted_together_are_one_launch(driver):
    module = loading.load("demosaic", gp)
    operands = module.start(SIZE)
    channels = []
    module.np = _Apart(channels)
    for _ in range(2):
        channels.clear()
        gp.reset_stats()
        module.demosaic(*operands)
        gp.evaluate(*channels)
    if driver != "soft":
        assert gp.stats()["launches"] == 1


class _Apart:
    """gpupy, whose `stack` keeps its operands."""

    def __init__(self, kept):
        self._kept = kept

    def __getattr__(self, name):
        return getattr(gp, name)

    def stack(self, parts, axis):
        self._kept.extend(part.clip(0, 255) for part in parts)
        return parts[0]
