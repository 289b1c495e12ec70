"""The ten programs of Accelerator's article have NumPy's float64 results, on each driver by itself."""

import importlib.util
import pathlib

import numpy
import pytest
from PIL import Image

import gpupy

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "accelerator"
SPEC = importlib.util.spec_from_file_location("accelerator_loading", FOLDER / "loading.py")
loading = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(loading)

# The article's bound on the largest difference, as a part of the largest value.
BOUND = 1e-6

# Odd where a program takes any size; the tests in the middle of a picture want more than its edges.
SIZES = {name: 61 for name in loading.PROGRAMS} | {"demosaic": 62, "motion": 64}
PICTURES = ["life", "demosaic", "convolve", "rotate", "corners", "motion", "stereo"]

# What a driver cannot do by itself yet, by a word of the error that says so. The list is strict. The
# reference driver has no int64, which the coordinates of pixels are.
GOES_TO_NUMPY = {
    ("soft", "demosaic"): "int64",
    ("soft", "rotate"): "int64",
    ("soft", "motion"): "int64",
    ("gl", "matrix_vector"): "matmul",
    ("gl", "matrix_matrix"): "matmul",
}


@pytest.fixture(params=[row["name"] for row in gpupy.drivers()])
def strict(request):
    """Each driver that starts, without the driver `cpu` beside it, and without NumPy."""
    (row,) = (row for row in gpupy.drivers() if row["name"] == request.param)
    if not row["starts"]:
        pytest.skip(f"cannot start: {row['reason']}")
    wanted = gpupy._gpupy.wanted_driver()
    gpupy._gpupy.reconfigure(request.param, strict=True)
    with gpupy.fallback("error"):
        yield request.param
    gpupy._gpupy.reconfigure(wanted, strict=False)


@pytest.mark.parametrize("name", loading.PROGRAMS)
def test_a_program_is_as_near_to_float64_as_the_article_says(strict, name):
    by_numpy, by_gpupy = loading.load(name), loading.load(name, gpupy)
    assert (by_numpy.np, by_gpupy.np) == (numpy, gpupy)
    given = by_numpy.start(SIZES[name])
    assert {array.dtype for array in given} == {numpy.dtype("float32")}
    right = getattr(by_numpy, name)(*(array.astype("f8") for array in given))
    ours = [gpupy.asarray(array) for array in given]
    gpupy.evaluate(*ours)
    gpupy.reset_stats()

    def run():
        result = getattr(by_gpupy, name)(*ours)
        gpupy.evaluate(result)
        return result

    if (strict, name) in GOES_TO_NUMPY:
        with pytest.raises(gpupy.FallbackError, match=GOES_TO_NUMPY[strict, name]):
            run()
        return
    result = run()
    launches = {name: counts["launches"] for name, counts in gpupy.stats()["drivers"].items()}
    assert launches.pop(strict) > 0
    assert not any(launches.values())
    assert result.dtype == numpy.float32
    assert abs(right).max() > 0
    assert loading.error(result, right) < BOUND


@pytest.mark.parametrize("name", loading.PROGRAMS)
def test_a_program_runs_by_numpy_and_by_gpupy_as_it_stands(root, start, tmp_path, name):
    path = root / "examples" / "accelerator" / f"{name}.py"

    def run(by, *words):
        picture = ["--output", tmp_path / f"{by}.png"] if name in PICTURES else []
        return start(*words, path, "--size", SIZES[name], *picture)

    assert run("numpy") == run("gpupy", "-m", "gpupy") != ""
    if name in PICTURES:
        theirs, ours = (
            numpy.asarray(Image.open(tmp_path / f"{by}.png")).astype(int) for by in ("numpy", "gpupy")
        )
        assert theirs.std() > 4, "a picture with nothing on it"
        # A pixel is cut to a whole number: values that differ in the last bit may fall on two sides of one.
        assert abs(theirs - ours).max() <= 1


@pytest.mark.parametrize("value", [3.0, float("nan")])
def test_the_error_is_seen(value):
    reference = numpy.array([1.0, 2.0, 4.0])
    assert loading.error([1, 2, 4], reference) == 0
    assert not loading.error([1, value, 4], reference) < 0.25
    with pytest.raises(ValueError, match="wanted"):
        loading.error([1, 2], reference)
