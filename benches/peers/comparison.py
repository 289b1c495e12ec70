"""gpupy beside its peers on one program, and the report of all.

Owns `compare` and `report`. All sides run in this process, in turns, each after as many untimed runs of its
own, on operands in its own arrays; their values are compared with NumPy's. Not here: the programs
(`gpupy._bench.programs`), and how each peer has them (`by_*.py`).
"""

import statistics

import by_hand
import by_jax
import by_numexpr
import jax
import numexpr
import numpy

import gpupy
from gpupy._bench import catalogue, difference, table, timing

PEERS = ("JAX", "numexpr", "by hand")
OTHERS = ("NumPy", *PEERS)
OURS = ("gpupy", "by hand")

# The programs have square roots of negative numbers, which they do not choose.
numpy.seterr(all="ignore")


def programs(words, quick):
    """The programs that have one of some words, with commas between, in their names."""
    words = words.lower().split(",")
    return [p for p in catalogue.catalogue(quick) if any(word in p.name.lower() for word in words)]


def compare(program, library, rounds):
    """Times one program on every side that has it; returns its row."""
    arrays = program.arrays()
    ours = tuple(gpupy.asarray(array) for array in arrays)
    gpupy.evaluate(*ours)
    by_numpy, by_gpupy = program.by(numpy, arrays), program.by(gpupy, ours)
    reference, repeats = timing.once(by_numpy)
    leave, read = timing.finishes(reference)
    sides = {"NumPy": (by_numpy, None), "gpupy": (by_gpupy, leave)}
    differences = {"gpupy": difference.largest(reference, read(by_gpupy()))}
    peers = (
        by_jax.version(program, arrays),
        by_numexpr.version(program, arrays),
        by_hand.version(program, arrays, library) if library else None,
    )
    for name, call in zip(PEERS, peers, strict=True):
        if call is not None:
            differences[name] = difference.largest(reference, call())
            sides[name] = (call, None)
    times, busy = timing.in_turns(sides, repeats, rounds, lambda _: None)
    return {
        "program": program.name,
        "seconds": times,
        "busy_s": busy,
        "differences": differences,
        "tolerance": program.tolerance,
    }


def report(rows, processors):
    """The lines of the report, in Markdown."""
    ratios = {side: [] for side in OTHERS}
    for row in rows:
        for side, ratio in _ratios(_medians(row["seconds"])).items():
            ratios[side].append(ratio)
    return [
        f"# gpupy beside its peers on {processors} processors",
        "",
        f"NumPy {numpy.__version__}, JAX {jax.__version__} (jit, CPU), numexpr {numexpr.__version__}, "
        "and loops by hand in Rust (vectors, threads, the same arithmetic, results into arrays that are used "
        "again). Medians of runs in turns. A ratio above 1: gpupy is faster.",
        "",
        *_table(rows, "seconds"),
        "",
        *(_summary(side, known) for side, known in ratios.items() if known),
        *_differences(rows),
        "",
        "Processor time, of all threads together, which another program on the machine changes less:",
        "",
        *_table(rows, "busy_s"),
    ]


def _table(rows, kind):
    """The times of one kind, and their ratios to gpupy's."""
    heads = ("program", "NumPy", "gpupy", *PEERS, *(f"{side} / gpupy" for side in OTHERS))
    cells = []
    for row in rows:
        medians = _medians(row[kind])
        ratios = _ratios(medians)
        times = (table.duration(medians[side]) if side in medians else "" for side in heads[1:6])
        shares = (table.three(ratios[side]) if side in ratios else "" for side in OTHERS)
        cells.append((row["program"], *times, *shares))
    return table.aligned(heads, cells)


def _medians(times):
    return {side: statistics.median(runs) for side, runs in times.items()}


def _ratios(medians):
    return {side: medians[side] / medians["gpupy"] for side in OTHERS if side in medians}


def _summary(side, ratios):
    fast = sum(ratio >= 1 for ratio in ratios)
    mean = table.three(statistics.geometric_mean(ratios))
    return f"- {side}: gpupy is at least as fast on {fast} of {len(ratios)}; geometric mean {mean}."


def _differences(rows):
    for row in rows:
        for side, apart in row["differences"].items():
            if not apart <= row["tolerance"]:
                word = "WRONG" if side in OURS else "apart"
                yield f"- {word}: {row['program']}: {side} differs from NumPy by {apart:.3g}."


def wrong(row):
    """Whether what is ours lies further from NumPy than the program allows; other peers may."""
    return any(not row["differences"].get(side, 0) <= row["tolerance"] for side in OURS)
