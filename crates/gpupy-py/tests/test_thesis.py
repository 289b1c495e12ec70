"""Programs of the GpuPy thesis, with the changes for Python 3 and NumPy 2."""

import io
import random

import numpy
import pytest

import gpupy


def run(text, **names):
    """Runs a program text in a namespace of its own."""
    space = dict(names)
    exec(compile(text, "program", "exec"), space)
    return space


SIMPLE = """
from gpupy import *
a = arange(8, dtype=gpufloat32)
b = cos(a) + 1
e3 = a * b + a
print(e3)
"""


def test_the_simple_program_prints_what_numpy_prints(driver, capsys):
    run(SIMPLE)
    ours = capsys.readouterr().out
    run(SIMPLE.replace("from gpupy", "from numpy").replace("gpufloat32", "float32"))
    assert ours.split() and len(ours.split()) == len(capsys.readouterr().out.split())


DISTANCES = """
def dist(p, q):
    (x, y), (x0, y0) = p, q
    return ((x - x0) ** expo + (y - y0) ** expo) ** (1.0 / expo)


def dist_array(q):
    f = lambda x, y: dist((x, y), q)
    return fromfunction(f, (nGrid, nGrid), dtype=dtype)


distMin = dist_array(pt[0])
for i in range(1, len(pt)):
    distMin = minimum(dist_array(pt[i]), distMin)

pxlMin = 0
pxlMax = max(distMin.flat)
pxls = 255 * ((distMin - pxlMin) / (pxlMax - pxlMin))
img = Image.frombuffer("F", (nGrid, nGrid), pxls.astype(float32), "raw", "F", 0, 1).convert("L")
"""


@pytest.mark.parametrize("expo", [2, 2.0])
def test_the_distance_map_draws_the_same_picture(driver, expo):
    Image = pytest.importorskip("PIL.Image")
    chance = random.Random(3)
    points = [(32 * chance.random(), 32 * chance.random()) for _ in range(12)]
    given = {"pt": points, "nGrid": 32, "expo": expo, "Image": Image}
    ours = run("from gpupy import *\ndtype = gpufloat32\n" + DISTANCES, **given)
    theirs = run("from numpy import *\ndtype = float32\n" + DISTANCES, **given)
    assert type(ours["pxls"]) is gpupy.ndarray
    numpy.testing.assert_array_equal(ours["pxls"], theirs["pxls"])
    assert ours["img"].tobytes() == theirs["img"].tobytes()
    stats = gpupy.stats()
    assert stats.fallbacks == 0, stats.fallback_sites
    file = io.BytesIO()
    ours["img"].save(file, format="png")
    assert file.tell()


BASIC = """
def check_result(value, actual):
    count = len(value)
    re_sum = 0.0
    for i in range(0, count):
        if actual[i] != 0:
            re = abs((value[i] - actual[i]) / actual[i])
        else:
            re = abs(value[i] - actual[i])
        re_sum += re
    return re_sum / count
"""


def test_the_basic_functionality_test_runs(driver):
    """References are computed by real NumPy; errors are at most those of float32."""
    check_result = run("from gpupy import *\n" + BASIC)["check_result"]
    chance = numpy.random.default_rng(5)
    data = [chance.random(64), chance.random(64)]
    unary = "absolute arccos arcsin arctan cos cosh exp fabs log log10 sin sinh sqrt tan tanh"
    binary = "add arctan2 divide fmod maximum multiply pow power subtract equal"
    for name in (unary + " " + binary).split():
        count = 1 if name in unary.split() else 2
        ours = [gpupy.array(d, dtype=gpupy.gpufloat32) for d in data[:count]]
        theirs = [numpy.array(d, dtype=numpy.float32) for d in data[:count]]
        value, actual = getattr(gpupy, name)(*ours), getattr(numpy, name)(*theirs)
        if name == "equal":
            assert numpy.array_equal(value, actual)
            continue
        assert check_result(value, actual) < 3e-7, name
        assert gpupy.add.__name__ == "add"
