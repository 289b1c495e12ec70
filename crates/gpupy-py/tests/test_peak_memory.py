"""How much memory an evaluation takes at its highest, in a process of its own."""

import pathlib

import apart
import numpy
import pytest

STATUS = pathlib.Path("/proc/self/status")

pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="the system does not tell a process its peak")

# Whole huge pages, which some systems give where they can.
SIZE = 1 << 24

# Bytes that the process has now, or had at most.
MEMORY = f"""
def status(name):
    lines = open("{STATUS}").read().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(name + ":"))) * 1024
"""

# The peak above what there was before. The device is open, and both operands lie there.
MEASURE = (
    MEMORY
    + f"""
x = gpupy.asarray(numpy.linspace(0, 1, {SIZE}, dtype=numpy.float32))
y = gpupy.asarray(numpy.linspace(1, 2, {SIZE}, dtype=numpy.float32))
gpupy.evaluate(x, y, x[:5000] * y[:5000])
gpupy.trim()
# A process may forget its peak.
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
result = FORMULA
gpupy.evaluate(result)
print(status("VmHWM") - before)
"""
)


@pytest.mark.skipif("cpu" not in apart.STARTING, reason="the driver on host memory does not start")
@pytest.mark.parametrize(
    "formula",
    [
        "2.5 * x + y",
        "numpy.sqrt(((x * y - 0.5) * (x + y) + abs(x - y)) * 2.5 + numpy.minimum(x, y) / 3)",
    ],
    ids=["two operations", "a chain"],
)
def test_an_evaluation_takes_its_result_and_no_more_than_a_twentieth_more(formula):
    (peak,) = apart.run(MEASURE.replace("FORMULA", formula), "cpu")
    result = 4 * SIZE
    assert result <= int(peak) <= 1.05 * result


NARROW = (
    MEMORY
    + """
row = gpupy.asarray((numpy.arange(1000) % 100).astype(numpy.int8))
whole = gpupy.asarray(numpy.ones(100_000_000, numpy.int8))
int(row.sum()), int(whole[:70_000].sum()), int(gpupy.broadcast_to(row, (70, 1000)).sum())
gpupy.trim()
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
result = int(FORMULA)
print(status("VmHWM") - before, result)
"""
)


@pytest.mark.skipif("cpu" not in apart.STARTING, reason="the driver on host memory does not start")
@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        ("gpupy.broadcast_to(gpupy.int8(1), (100_000, 1000)).sum()", 10**8),
        ("gpupy.broadcast_to(row, (100_000, 1000)).sum()", 49_500 * 100_000),
        ("gpupy.broadcast_to(row.reshape(1000, 1), (1000, 100_000)).sum()", 49_500 * 100_000),
        ("gpupy.broadcast_to(row, (100_000, 1000)).sum(axis=0)[3]", 300_000),
        ("whole.sum()", 10**8),
        ("whole.reshape(100_000, 1000)[:, ::2].sum()", 5 * 10**7),
        ("whole.reshape(100_000, 1000).T.sum()", 10**8),
    ],
)
def test_a_sum_of_narrow_integers_makes_no_wide_copy_of_them(formula, wanted):
    peak, result = apart.run(NARROW.replace("FORMULA", formula), "cpu")
    assert int(result) == wanted
    # A tenth of what they take as int64.
    assert int(peak) < 80_000_000


# Rows that are no whole chunks of the tree that sums follow.
ROWS = (
    MEMORY
    + """
def sum_of(n):
    column = gpupy.asarray(numpy.linspace(0, 1, n, dtype=numpy.float32)[:, None])
    row = gpupy.asarray(numpy.linspace(1, 2, n, dtype=numpy.float32))
    return float(gpupy.sin(column * row).sum())

sum_of(2000)
gpupy.trim()
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
result = sum_of(SIDE)
print(status("VmHWM") - before, result)
"""
)


@pytest.mark.skipif("cpu" not in apart.STARTING, reason="the driver on host memory does not start")
@pytest.mark.parametrize("side", [6000, 6001, 6144])
def test_a_sum_of_an_outer_product_stores_a_piece_of_it_at_most(side):
    peak, result = apart.run(ROWS.replace("SIDE", str(side)), "cpu")
    column, row = numpy.linspace(0, 1, side)[:, None], numpy.linspace(1, 2, side)
    assert numpy.isclose(float(result), numpy.sin(column * row).sum(), rtol=1e-5)
    # A tenth of what all of the product takes.
    assert int(peak) < 4 * side * side / 10
