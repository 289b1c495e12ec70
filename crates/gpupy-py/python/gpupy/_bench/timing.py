"""Runs one program by NumPy and by gpupy in turns, and times what no program shows.

Owns ``compare``, ``in_turns`` and ``costs``. Invariants: every time ends with the values computed; equal
expressions are one value to gpupy while the first lives, so no run leaves anything to the next; each side
runs as often before it is timed, or it would pay for caches and a heap that the other side left, and for a
processor that has rested. Not here: what is made of the times (``table``, ``plot``).
"""

import functools
import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy

import gpupy

from . import difference
from .catalogue import Program

# A shorter run is repeated until it takes as long, so that the clock's own time does not count.
LEAST = 2e-3  # seconds
# So often it is run to see how long it takes: first runs take several times as long as later ones.
FIRST = 5
# After so much time a program gets no further round.
PATIENCE = 8.0  # seconds
# Between sides. OpenBLAS's threads look for more work for 0.1 s, and a processor that they have is not free.
REST = 0.15  # seconds

OPERATIONS = 100
ELEMENTS = 100_000


def compare(program: Program, rounds: int, say: Callable[[str], object]) -> dict[str, Any]:
    """Times a program in rounds; returns a row for the results.

    ``numpy_s``, ``left_s`` and ``read_s`` are the seconds of one run in each round: by NumPy; by gpupy, its
    values computed and left there; by gpupy, its values read as arrays of NumPy. ``busy`` has the seconds
    that all threads were busy meanwhile, under the same names. ``first_s`` is gpupy's first run, whose
    fallbacks are counted.
    """
    given = program.arrays()
    ours = tuple(gpupy.asarray(array) for array in given)
    gpupy.evaluate(*ours)
    by_numpy, by_gpupy = program.by(numpy, given), program.by(gpupy, ours)

    say("NumPy")
    reference, repeats = once(by_numpy)
    leave, read = finishes(reference)

    say("first call")
    gpupy.reset_stats()
    first = _seconds(by_gpupy, leave)
    counts = gpupy.stats()
    apart = difference.largest(reference, read(by_gpupy()))

    sides = {"numpy_s": (by_numpy, None), "left_s": (by_gpupy, leave), "read_s": (by_gpupy, read)}
    times, busy = in_turns(sides, repeats, rounds, say)
    # Once more: what has run often may run by other code than what runs first.
    apart = max(apart, difference.largest(reference, read(by_gpupy())))
    return {
        "program": program.name,
        "first_s": first,
        **times,
        "busy": busy,
        "repeats": repeats,
        "launches": counts["launches"],
        "fallbacks": counts["fallbacks"],
        "fallback_functions": sorted({row[0] for row in counts["fallback_sites"]}),
        "difference": apart,
        "tolerance": program.tolerance,
    }


def once(call: Callable[[], Any]) -> tuple[Any, int]:
    """What a call gives, and how often it has to be repeated to be timed."""
    start = time.perf_counter()
    given = call()
    took = time.perf_counter() - start
    if took < FIRST * LEAST:
        took = min(_seconds(call, None) for _ in range(FIRST))
    return given, max(1, round(LEAST / took))


def finishes(result: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """What computes results like this one and leaves them in gpupy, and what reads them as NumPy's arrays."""
    return (_leave_all, _read_all) if isinstance(result, tuple) else (gpupy.evaluate, numpy.asarray)


def in_turns(
    sides: Mapping[str, tuple[Callable[[], Any], Callable[[Any], Any] | None]],
    repeats: int,
    rounds: int,
    say: Callable[[str], object],
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """The seconds of a run of each side in each round, and those that all its threads were busy.

    A side is a call, and what finishes its result.
    """
    times: dict[str, list[float]] = {side: [] for side in sides}
    busy: dict[str, list[float]] = {side: [] for side in sides}
    start = time.perf_counter()
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        for side, (call, finish) in sides.items():
            # Threads of the side before still look for work.
            time.sleep(REST)
            _seconds(call, finish, repeats)
            start_busy = time.process_time()
            times[side].append(_seconds(call, finish, repeats))
            busy[side].append((time.process_time() - start_busy) / repeats)
        if time.perf_counter() - start > PATIENCE:
            break
    return times, busy


def _leave_all(values: Iterable[Any]) -> None:
    gpupy.evaluate(*values)


def _read_all(values: Iterable[Any]) -> list[Any]:
    return [numpy.asarray(value) for value in values]


def _seconds(call: Callable[[], Any], finish: Callable[[Any], Any] | None, repeats: int = 1) -> float:
    """The seconds of one call and of what finishes it; what it gives is dropped before the next."""
    turns = range(repeats)
    start = time.perf_counter()
    if finish is None:
        for _ in turns:
            call()
    else:
        for _ in turns:
            finish(call())
    return (time.perf_counter() - start) / repeats


def costs(rounds: int) -> dict[str, float]:
    """The seconds of what no program shows, as medians.

    ``record_s``: recording one operation. ``new_s`` and ``again_s``: the first and the next run of an
    expression of 100 operations that was never seen before; ``new_more_s``: what the first took more.
    """
    given = (numpy.linspace(1, 2, ELEMENTS, dtype=numpy.float32) + k for k in range(2))
    x, y = (gpupy.asarray(array) for array in given)
    gpupy.evaluate(x, y)
    news = []
    for number in range(rounds):
        call = functools.partial(_expression, x, y, number)
        news.append((_seconds(call, gpupy.evaluate), _seconds(call, gpupy.evaluate)))
    return {
        "record_s": statistics.median(_recording(x, y) for _ in range(20 * rounds)),
        "new_s": statistics.median(first for first, _ in news),
        "again_s": statistics.median(again for _, again in news),
        "new_more_s": statistics.median(first - again for first, again in news),
    }


def _recording(x: Any, y: Any) -> float:
    """The seconds to record one operation of a chain that is dropped, never evaluated."""
    start = time.perf_counter()
    for _ in range(OPERATIONS // 2):
        x = x * 0.999 + y
    return (time.perf_counter() - start) / OPERATIONS


def _expression(x: Any, y: Any, seed: int) -> Any:
    """An expression of 100 operations; another seed is another structure."""
    chance = random.Random(seed)
    values = [x, y]
    for _ in range(OPERATIONS):
        operation = chance.choice((gpupy.add, gpupy.subtract, gpupy.multiply, gpupy.minimum, gpupy.maximum))
        # Each takes the last value, so that none is left out.
        values.append(operation(values[-1], chance.choice(values)))
    return values[-1]
