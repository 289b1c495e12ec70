"""The programs on one driver, beside NumPy, loops by hand, and what else fits that driver, in turns.

Owns the process, which is started with its driver in `GPUPY_DRIVER`, reads its task as one object of JSON
from the standard input and prints a line of JSON for each program. JAX is beside the driver `cpu`, shaders by
hand are beside `gl` and `vulkan`; beside a GPU of NVIDIA's there are CuPy and JAX on the same GPU, where they
are installed. Nothing was compiled before: the folder of caches is new.
Not here: who starts it (`comparison.py`).
"""

import importlib
import json
import os
import pathlib
import sys
import tempfile
import time

import by_hand
import numpy

import gpupy
from gpupy._bench import timing

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "examples" / "accelerator"))
import loading  # noqa: E402

BY_NUMPY, BY_HAND, BY_SHADER, BY_GPUPY = "NumPy", "by hand", "shader by hand", "gpupy"


class Side:
    """A call that is timed by the clock here."""

    def __init__(self, call, finish=lambda result: None):
        self._call, self._finish = call, finish

    def seconds(self, repeats):
        """The seconds of a run, by the clock and of processors; what it gives is dropped before the next."""
        start, busy = time.perf_counter(), time.process_time()
        for _ in range(repeats):
            self._finish(self._call())
        return (time.perf_counter() - start) / repeats, (time.process_time() - busy) / repeats

    def value(self):
        """The result."""
        return numpy.array(self._call())


def main():
    """Does the task."""
    task = json.load(sys.stdin)
    driver = gpupy.current_driver()
    devices = {row["name"]: row["device"] for row in gpupy.drivers()}
    print(json.dumps({"device": devices[driver]}), flush=True)
    peers = dict(peers_on(driver, devices[driver]))
    with tempfile.TemporaryDirectory() as folder:
        shaders = None
        if driver in task["apis"]:
            import by_shader  # noqa: PLC0415

            shaders = by_shader.Shaders(task["shaders"], driver)
        for name in task["programs"]:
            row = measured(name, peers, task, lambda *program: shaders and shaders.version(*program, folder))
            print(json.dumps(row), flush=True)


def peers_on(driver, device):
    """The peers that compute where the driver does: names, each with its `version`."""
    on_cuda = "nvidia" in device.lower()
    if not on_cuda and driver != "cpu":
        return
    # Before JAX is imported: it must look for no other device, and leave memory to the others.
    os.environ |= {"JAX_PLATFORMS": "cuda" if on_cuda else "cpu", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    modules = {"CuPy": "by_cupy"} if on_cuda else {}
    for title, module in (modules | {"JAX": "by_jax"}).items():
        try:
            yield title, importlib.import_module(module).version
        except ImportError as error:
            print(f"   {driver}: without {title}: {error}", file=sys.stderr)


def measured(name, peers, task, by_shader):
    """All of one program."""
    by_numpy, by_gpupy = loading.load(name), loading.load(name, gpupy)
    given = by_numpy.start(*([task["sizes"][name]] if task["sizes"] else []))
    right = getattr(by_numpy, name)(*(array.astype("f8") for array in given))
    ours = [gpupy.asarray(array) for array in given]
    gpupy.evaluate(*ours)
    text = getattr(by_gpupy, name)

    sides = {
        BY_NUMPY: Side(lambda: getattr(by_numpy, name)(*given)),
        BY_HAND: Side(by_hand.version(name, given, task["hand"])),
        # It waits for the device, as `synchronize`, `block_until_ready` and the shaders' read do.
        BY_GPUPY: Side(lambda: text(*ours), gpupy.evaluate),
    }
    first = {side: run.seconds(1)[0] for side, run in sides.items()}
    for title, version in peers.items():
        try:
            side = Side(version(name, given))
            first[title] = side.seconds(1)[0]
        except Exception as error:  # A peer may lack what the program needs.
            print(f"   {title} has no {name}: {error}", file=sys.stderr)
        else:
            sides[title] = side
    prepared = by_shader(name, given)
    if prepared:
        sides[BY_SHADER], first[BY_SHADER] = prepared, prepared.first
    errors = {side: loading.error(run.value(), right) for side, run in sides.items()}
    seconds, busy = in_turns(sides, task["rounds"])

    gpupy.reset_stats()
    sides[BY_GPUPY].seconds(1)
    counts = gpupy.stats()
    # What has run often may run by other code than what ran first.
    errors[BY_GPUPY] = max(errors[BY_GPUPY], loading.error(sides[BY_GPUPY].value(), right))
    return {
        "program": name,
        "seconds": seconds,
        "busy": busy,
        "first": first,
        "errors": errors,
        "launches": {which: own["launches"] for which, own in counts["drivers"].items() if own["launches"]},
        "shader_launches": prepared.launches() if prepared else None,
        "to_numpy": sorted({function for function, *_ in counts["fallback_sites"]}),
    }


def in_turns(sides, rounds):
    """The seconds of a run of each side in each round, and those that all its threads were busy."""
    repeats = {
        side: max(1, round(timing.LEAST / min(run.seconds(1)[0] for _ in range(3))))
        for side, run in sides.items()
    }
    seconds, busy = {side: [] for side in sides}, {side: [] for side in sides}
    start = time.perf_counter()
    for _ in range(rounds):
        for side, run in sides.items():
            # Threads of the side before still look for work.
            time.sleep(timing.REST)
            run.seconds(repeats[side])
            took, had = run.seconds(repeats[side])
            seconds[side].append(took)
            busy[side].append(had)
        if time.perf_counter() - start > timing.PATIENCE:
            break
    return seconds, busy


if __name__ == "__main__":
    numpy.seterr(all="ignore")
    assert os.environ["GPUPY_PLACEMENT"] == "strict"
    main()
