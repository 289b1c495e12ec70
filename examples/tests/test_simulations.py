"""The simulations are NumPy programs: they run by either without a change, and end with the same."""

import importlib.util
import sys

import numpy
import pytest
from PIL import Image

import gpupy

SIZES = {"heat": 48, "life": 48, "n_body": 40, "k_means": 500, "mandelbrot": 48, "spectral_poisson": 60}


@pytest.mark.parametrize("program", SIZES)
def test_a_simulation_draws_and_prints_the_same_by_both(root, start, tmp_path, program):
    path = root / "examples" / f"{program}.py"
    options = ["--size", SIZES[program], "--steps", 30, "--output"]
    by_numpy = start(path, *options, tmp_path / "numpy.png")
    by_gpupy = start("-m", "gpupy", path, *options, tmp_path / "gpupy.png")
    assert by_numpy == by_gpupy != ""
    theirs, ours = (
        numpy.asarray(Image.open(tmp_path / f"{by}.png")).astype(int) for by in ("numpy", "gpupy")
    )
    assert theirs.std() > 4, "a picture with nothing on it"
    # Colours are cut to whole numbers: values that differ in the last bit may fall on two sides of one.
    assert (theirs != ours).mean() < 1e-3


@pytest.mark.parametrize("driver", ["cpu", "soft"])
@pytest.mark.parametrize("program", SIZES)
def test_a_simulation_ends_with_the_same_values(root, monkeypatch, program, driver):
    monkeypatch.setattr(sys, "path", [str(root / "examples"), *sys.path])

    def end(module):
        spec = importlib.util.spec_from_file_location(program, root / "examples" / f"{program}.py")
        example = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(example)
        example.np = module
        state = example.start(SIZES[program])
        for _ in range(12):
            example.step(*state)
        return example.result(*state)

    theirs = end(numpy)
    with gpupy.driver(driver):
        ours = numpy.asarray(end(gpupy))
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    # Sums and powers may differ in the last bits, which grow from step to step.
    numpy.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
