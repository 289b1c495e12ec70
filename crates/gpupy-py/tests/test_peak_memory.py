"""How much memory an evaluation takes at its highest, in a process of its own."""

import pathlib

import apart
import pytest

STATUS = pathlib.Path("/proc/self/status")

pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="the system does not tell a process its peak")

# Whole huge pages, which some systems give where they can.
SIZE = 1 << 24

# The peak above what there was before. The device is open, and both operands lie there.
MEASURE = f"""
def status(name):
    lines = open("{STATUS}").read().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(name + ":"))) * 1024

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
