"""Each example runs, with the same results on gpupy as on NumPy."""

import sys

import numpy
import pytest
from PIL import Image

import gpupy
from gpupy._bench import programs


def test_the_simple_program_prints_what_numpy_prints(root, start):
    program = root / "examples" / "simple_program.py"
    text = program.read_text()
    by_numpy = text.replace("from gpupy", "from numpy").replace("gpufloat32", "float32")
    assert by_numpy != text
    ours, theirs = start(program), start("-c", by_numpy)
    assert ours[0] == theirs[0] == "["
    # Each cosine is within 2 ULP of the true one, as NumPy's is.
    numbers = [numpy.array(printed.strip("[]\n").split(), dtype="f4") for printed in (ours, theirs)]
    assert numbers[0].size == 8
    numpy.testing.assert_allclose(*numbers, rtol=5 * 2.0**-23)


@pytest.mark.parametrize("program", ["shaded_sphere", "distance_map"])
def test_a_program_draws_the_same_picture_by_both(root, start, tmp_path, program):
    path = root / "examples" / f"{program}.py"
    start(path, "--size", 64, "--output", tmp_path / "numpy.png")
    start(path, "--size", 64, "--output", tmp_path / "gpupy.png", "--gpupy")
    by_numpy, by_gpupy = (
        numpy.asarray(Image.open(tmp_path / f"{by}.png")).astype(int) for by in ("numpy", "gpupy")
    )
    assert by_numpy.std() > 10, "a picture with nothing on it"
    # A pixel is cut to a whole number: values that differ in the last bit may fall on two sides of one.
    assert numpy.abs(by_numpy - by_gpupy).max() <= 1


# With the options that make each a small one.
UNMODIFIED = {
    "asian_option": ["--count", 500, "--steps", 50],
    "conjugate_gradients": ["--size", 40],
    "equalisation": ["--size", 70],
    "grain": ["--size", 60],
    "implicit_heat": ["--size", 24, "--steps", 4],
    "ising": ["--size", 32, "--sweeps", 20],
    "nearest": ["--size", 70],
    "tracks": ["--size", 60, "--count", 300, "--steps", 10],
}


@pytest.mark.parametrize("driver", [row["name"] for row in gpupy.drivers() if row["starts"]])
@pytest.mark.parametrize("program", UNMODIFIED)
def test_an_unmodified_program_needs_no_function_of_numpys(root, start, tmp_path, program, driver):
    path = root / "examples" / f"{program}.py"
    options = [path, *UNMODIFIED[program], "--output"]
    by_numpy = start(*options, tmp_path / "numpy.png")
    more = {"GPUPY_DRIVER": driver, "GPUPY_FALLBACK": "error"}
    assert start("-W", "ignore", "-m", "gpupy", *options, tmp_path / "gpupy.png", **more) == by_numpy
    theirs, ours = (numpy.asarray(Image.open(tmp_path / f"{by}.png")) for by in ("numpy", "gpupy"))
    assert theirs.std() > 4, "a picture with nothing on it"
    # Functions, products and sums may differ in the last bits, which decide the colour of few pixels.
    assert (
        (theirs == ours).all() if program in ("equalisation", "nearest") else (theirs != ours).mean() < 0.01
    )


def test_the_sphere_in_vectors_is_the_sphere_in_scalars(root, start, tmp_path):
    for program, *options in (["shaded_sphere", "--gpupy"], ["sphere_in_vectors"]):
        path = root / "examples" / f"{program}.py"
        start(path, "--size", 64, "--output", tmp_path / f"{program}.png", *options)
    scalars, vectors = (
        numpy.asarray(Image.open(tmp_path / f"{name}.png")).astype(int)
        for name in ("shaded_sphere", "sphere_in_vectors")
    )
    assert vectors.std() > 10, "a picture with nothing on it"
    assert numpy.abs(scalars - vectors).max() <= 1


@pytest.mark.parametrize("exponent", ["2", "4"])
def test_the_distance_map_writes_the_same_numbers_by_both(root, start, tmp_path, exponent):
    path = root / "examples" / "distance_map.py"
    options = ["--size", 48, "--points", 20, "--exponent", exponent]
    start(path, *options, "--raw", tmp_path / "numpy.raw")
    start(path, *options, "--raw", tmp_path / "gpupy.raw", "--gpupy")
    by_numpy, by_gpupy = (
        numpy.fromfile(tmp_path / f"{by}.raw", dtype=numpy.float32) for by in ("numpy", "gpupy")
    )
    assert by_numpy.shape == (48 * 48,)
    numpy.testing.assert_allclose(by_gpupy, by_numpy, rtol=1e-6, atol=0)


@pytest.mark.parametrize("driver", [row["name"] for row in gpupy.drivers() if row["starts"]])
def test_basic_operations_agree_with_numpy_on_the_driver_in_use(root, start, driver):
    table = start(root / "examples" / "basic_functionality.py", GPUPY_DRIVER=driver).splitlines()
    rows = [line.split() for line in table[2:]]
    names = [row[0] for row in rows]
    assert len(names) >= 26
    assert names == sorted(names)
    elsewhere = {row[0]: row[4:] for row in rows if row[4:] != [driver]}
    # No driver of GPUs has remainders of floats.
    assert elsewhere == ({} if driver in ("cpu", "soft") else {"fmod": ["NumPy"]})


def test_the_demo_prints_its_table_and_writes_its_pictures(root, start, tmp_path):
    output = start(root / "examples" / "demo.py", "--size", 32, "--points", 5, "--out", tmp_path / "out")
    for row in ("driver", "NumPy", "gpupy, warm", "largest difference", "launches", "fallbacks"):
        assert f"\n{row}" in output
    written = {path.name for path in (tmp_path / "out").iterdir()}
    pictures = {f"{name}_{by}.png" for name in ("shaded_sphere", "distance_map") for by in ("numpy", "gpupy")}
    assert written == pictures | {"side_by_side.png"}


def test_the_demo_runs_on_the_reference_driver(root, start):
    output = start(root / "examples" / "demo.py", "--size", 16, "--points", 2, "--driver", "soft")
    assert "driver soft on" in output


def test_the_benchmark_times_what_the_examples_compute(root, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(root / "examples"), *sys.path])
    import distance_map  # noqa: PLC0415
    import shaded_sphere  # noqa: PLC0415

    points = distance_map.random_points(5, 40, 3)
    numpy.testing.assert_array_equal(
        programs.distance_map(numpy, 40, points), distance_map.distance_map(numpy, numpy.float32, points, 40)
    )
    with numpy.errstate(invalid="ignore"):
        timed = programs.shaded_sphere(numpy, 40)
        shown = shaded_sphere.shaded_sphere(numpy, numpy.float32, 40)
    numpy.testing.assert_array_equal(timed, shown)


def test_the_c_program_computes_what_numpy_computes(root, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(root / "examples"), *sys.path])
    import distance_map  # noqa: PLC0415
    import sweep  # noqa: PLC0415

    points = distance_map.random_points(7, 40, 3)
    seconds, pixels = sweep.CProgram(tmp_path).run(points, 40)
    wanted = distance_map.shades(numpy, distance_map.distance_map(numpy, numpy.float32, points, 40))
    assert seconds > 0
    numpy.testing.assert_allclose(pixels, wanted, rtol=1e-6, atol=0)


LOOPING = [row["name"] for row in gpupy.drivers() if row["starts"]]


@pytest.mark.parametrize("driver", LOOPING)
@pytest.mark.parametrize("program", ["escape_time", "collatz", "black_scholes", "ray_marcher"])
def test_a_program_with_a_compiled_function_draws_a_picture(root, start, tmp_path, program, driver):
    path = tmp_path / f"{program}.png"
    start(root / "examples" / f"{program}.py", "--size", 48, "--output", path, GPUPY_DRIVER=driver)
    drawn = numpy.asarray(Image.open(path)).astype(int)
    assert drawn.std() > 10, "a picture with nothing on it"


def test_compiled_functions_give_what_they_give_for_numbers(root, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(root / "examples"), *sys.path])
    import black_scholes  # noqa: PLC0415
    import collatz  # noqa: PLC0415
    import escape_time  # noqa: PLC0415
    import ray_marcher  # noqa: PLC0415

    programs_with = [
        (escape_time.escape_time, escape_time.plane(24), 0),
        (collatz.length, (gpupy.arange(1, 300),), 0),
        (black_scholes.price, black_scholes.options_of(12), 1e-5),
        (ray_marcher.brightness, ray_marcher.directions(16), 1e-3),
    ]
    for kernel, arguments, tolerance in programs_with:
        ours = numpy.asarray(kernel(*arguments))
        points = [numpy.asarray(argument) for argument in arguments]
        points = zip(*(argument.ravel() for argument in numpy.broadcast_arrays(*points)), strict=True)
        with numpy.errstate(all="ignore"):
            wanted = [kernel.__wrapped__(*point) for point in points]
        # A ray that grazes a sphere, and functions within their bound, decide a few pixels.
        far = ~numpy.isclose(ours.ravel(), wanted, rtol=tolerance, atol=tolerance)
        assert far.mean() <= (0.02 if tolerance == 1e-3 else 0), kernel
