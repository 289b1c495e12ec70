"""Whole loops: the same work however they are interrupted, and NumPy's results however they are read.

Programs of a thousand steps (`loops.py`) show what a step does not: the graph grows while nobody reads,
evaluations begin by themselves, pauses come at any moment. All that planning and launching do is counted.
"""

import os
import subprocess
import sys

import loops
import numpy
import pytest

import gpupy

STEPS = 1000
# Counts of planning and of launches; compiled kernels may be known from the program before.
COUNTED = (
    "nodes_walked",
    "launches",
    "instructions",
    "blocks_evaluated",
    "plans_replayed",
    "flushes_replayed",
)
# Those that take long to plan: fewer steps show as much.
DEAR = (loops.wave, loops.particles, loops.life)
# Of every kind one, and those that have most launches a step.
ON_DEVICES = ("heat", "double_buffer", "edit_distance", "gram_schmidt", "relaxation")
STARTING = [row["name"] for row in gpupy.drivers() if row["starts"] and row["name"] != "soft"]

every_loop = pytest.mark.parametrize("loop", loops.LOOPS, ids=lambda loop: loop.__name__)


EXAMPLE = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
import {program} as program

state = program.start(200)
for _ in range({steps}):
    program.step(*state)
np.save({out!r}, np.asarray(program.result(*state)))
"""


def on(driver, strict=True, **limits):
    """Starts again on a driver; strictly, so that small work is recorded, or beside the host driver."""
    gpupy._gpupy.reconfigure(driver, strict=strict, **limits)
    gpupy.reset_stats()


def reader(every):
    """Reads what a loop has after every so many steps; at the end alone if that is zero."""
    seen = []

    def look(array):
        seen.append(None)
        if every and len(seen) % every == 0:
            seen[-1] = numpy.array(array)

    return look, seen


def run(np, loop, every, steps=STEPS):
    """What a loop gives, and what was read on the way, as NumPy's arrays."""
    look, seen = reader(every)
    results = [numpy.array(result) for result in loop(np, steps, look)]
    return results + [array for array in seen if array is not None]


def counts():
    stats = gpupy.stats()
    return {name: stats[name] for name in (*COUNTED, "automatic_flushes")}


def assert_equal(found, wanted):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        # Sums are by another tree than NumPy's.
        exact = other.dtype.kind not in "fc"
        numpy.testing.assert_allclose(one, other, rtol=0 if exact else 2e-4, atol=0 if exact else 1e-5)


@pytest.fixture
def busy():
    """A process beside that takes all of a processor's time."""
    beside = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    yield
    beside.kill()
    beside.wait()


@every_loop
@pytest.mark.parametrize("strict", [True, False], ids=["recorded", "eager"])
@pytest.mark.parametrize("every", [1, 10, 0], ids=["each step", "every tenth", "the end"])
def test_a_loop_gives_numpys_results_whenever_it_is_read(loop, every, strict):
    wanted = run(numpy, loop, every)
    on("cpu", strict)
    assert_equal(run(gpupy, loop, every), wanted)


@every_loop
def test_pauses_and_busy_processes_change_no_plan_and_no_launch(loop, busy):
    steps = STEPS // 10 if loop in DEAR else STEPS
    on("cpu", pauses=False)
    wanted = run(gpupy, loop, 0, steps)
    undisturbed = counts()
    on("cpu", slice=0.001)
    found = run(gpupy, loop, 0, steps)
    assert counts() == undisturbed
    for one, other in zip(found, wanted, strict=True):
        numpy.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", STARTING)
@pytest.mark.parametrize("loop", [getattr(loops, name) for name in ON_DEVICES], ids=ON_DEVICES)
def test_pauses_change_no_plan_and_no_launch_on_a_device(name, loop):
    steps = 150
    on(name, pauses=False, flush_operations=256)
    wanted = run(gpupy, loop, 0, steps)
    undisturbed = counts()
    on(name, slice=0.001, flush_operations=256)
    found = run(gpupy, loop, 0, steps)
    assert counts() == undisturbed
    for one, other in zip(found, wanted, strict=True):
        numpy.testing.assert_array_equal(one, other)
    assert_equal(found, run(numpy, loop, 0, steps))


@every_loop
def test_planning_grows_with_the_steps_alone(loop):
    steps = STEPS // 5 if loop in DEAR else STEPS // 2
    limits = {"pauses": False, "flush_operations": 256}
    on("cpu", **limits)
    run(gpupy, loop, 0, steps)
    few = counts()
    gpupy.reset_stats()
    run(gpupy, loop, 0, 2 * steps)
    many = counts()
    # What is planned once is planned, and a last flush is a part of one.
    assert many["nodes_walked"] <= 2.5 * few["nodes_walked"] + 10_000
    assert many["launches"] <= 2.5 * few["launches"] + 100


@every_loop
def test_what_is_pending_is_bounded_however_long_a_loop_is(loop):
    on("cpu", flush_operations=100)
    pending = []

    def look(_):
        pending.append(gpupy.stats()["values"])

    loop(gpupy, 300, look)
    # Arrays that a program keeps have some pending operations of their own each.
    assert max(pending) < 600


def test_a_loop_that_is_read_at_its_end_is_evaluated_while_it_records():
    on("cpu")
    plate = loops.heat(gpupy, 300, lambda _: None)[0]
    before = gpupy.stats()
    assert before.automatic_flushes >= 2
    numpy.array(plate)
    # Less is left than was done.
    assert gpupy.stats().launches < 2 * before.launches


@pytest.mark.parametrize("program", ["heat", "life"])
def test_the_examples_end_beside_a_busy_process(program, tmp_path, busy):
    folder = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", "examples"))
    found = []
    for words in ([], ["-m", "gpupy"]):
        out = tmp_path / f"{len(words)}.npy"
        script = tmp_path / f"{program}_{len(words)}.py"
        script.write_text(EXAMPLE.format(folder=folder, program=program, steps=STEPS, out=str(out)))
        env = {**os.environ, "GPUPY_DRIVER": "cpu", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        subprocess.run([sys.executable, *words, str(script)], env=env, check=True, timeout=600)
        found.append(numpy.load(out))
    numpy.testing.assert_allclose(found[1], found[0], rtol=1e-12)
