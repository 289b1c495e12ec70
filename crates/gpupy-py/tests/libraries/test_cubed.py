"""cubed: arrays larger than memory, whose chunks are computed by ours or by NumPy's."""

import importlib.util
import os
import subprocess
import sys

import pytest

# Each line is a step. cubed asks the environment for the module that computes its chunks when it is imported.
STEPS = {
    "from an array": "cubed.from_array(elements, chunks=(5, 7))",
    "from a chunk of ours": "cubed.from_array(chunks.asarray(elements), chunks=(5, 7))",
    "ones": "xp.ones((12, 20), chunks=(5, 7))",
    "a range": "xp.arange(50.0, chunks=9)",
    "arithmetic": "x * 2 + x",
    "a ufunc": "xp.sqrt(x)",
    "a choice": "xp.where(x > 100, x, -x)",
    "a sum": "xp.sum(x)",
    "a mean of an axis": "xp.mean(x, axis=0)",
    "the largest of each row": "xp.max(x, axis=1)",
    "the place of the least": "xp.argmin(-x, axis=1)",
    "a product of matrices": "xp.matmul(x, xp.permute_dims(x, (1, 0)))",
    "transposed": "xp.permute_dims(x, (1, 0))",
    "a slice": "x[3:11, ::2]",
    "an index array": "x[:, [3, 1, 14]]",
    "joined": "xp.concat([x, x], axis=0)",
    "in other chunks": "x.rechunk((3, 20))",
    "with an axis more": "xp.expand_dims(x, axis=0)",
    "blocks by a function": "cubed.map_blocks(lambda block: block * block, x, dtype=x.dtype)",
    "as another dtype": "xp.astype(x, xp.int32)",
}

PROGRAM = """
import importlib, os, sys
import numpy
import cubed
import cubed.array_api as xp

chunks = importlib.import_module(os.environ["CUBED_BACKEND_ARRAY_API_MODULE"])
elements = numpy.arange(240.0).reshape(12, 20)
x = cubed.from_array(elements, chunks=(5, 7))
for name, step in {steps!r}.items():
    try:
        result = numpy.asarray(eval(step).compute())
        print(f"{{name}}: {{result.dtype}} {{result.shape}} {{result.tobytes().hex()}}")
    except Exception as error:
        print(f"{{name}}: {{type(error).__name__}}: {{error}}".splitlines()[0])
"""


def computed(module):
    """The result of each step with this module's chunks."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM.format(steps=STEPS)],
        env={**os.environ, "CUBED_BACKEND_ARRAY_API_MODULE": module},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


@pytest.fixture(scope="module")
def both():
    if importlib.util.find_spec("cubed") is None:
        pytest.skip("`cubed` is not installed")
    return computed("numpy"), computed("gpupy")


@pytest.mark.parametrize("step", STEPS)
def test_a_step_gives_with_our_chunks_what_it_gives_with_numpys(step, both):
    by_numpy, by_gpupy = both
    assert "Error" not in by_numpy[step].split()[0], by_numpy[step]
    assert by_gpupy[step] == by_numpy[step]
