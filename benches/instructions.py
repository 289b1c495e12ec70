"""Instructions of everyday operations on few elements, counted: `cargo xtask bench --record` keeps them.

Owns `instructions.json`: counts by Python, NumPy and vector level, of gpupy's side of the operations of
`python -m gpupy bench --small`. Without `--record` they are counted and compared: more than `MORE` times what
is kept for these versions is an error. Versions of which nothing is kept are skipped, as is a machine without
valgrind. Callgrind counts, so that there is no clock, and hardly another number each time. Invariant: a count
is that of one more call, without the loop's start and without what only a first call does.
"""

import argparse
import gc
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import numpy

import gpupy
from gpupy._bench import small

KEPT = pathlib.Path(__file__).resolve().with_name("instructions.json")
# What is counted may be so many times what is kept.
MORE = 1.05
SIZE = 10
# Calls before and between the marks: the difference of two loops is that of their calls.
FEW, MANY = 100, 300
# How often both loops are counted; the fewest count, as a cache may be met in a bad moment.
TIMES = 3
# The most processes that count. What an operation needs, it needs in each of them.
TURNS = 4
# A chunk of memory that is somewhat longer than it was asked for goes among those of its own length when it
# is freed. Where these are as many as glibc keeps for a thread, seven, it becomes free for all, and the next
# call may be given the same one: whether each call then needs 300 instructions more is a matter of the heap's
# layout, which names of files change. With more kept, the next call gets another, until one is as long as
# was asked for.
ALLOCATOR = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=1000"}
# The function at which callgrind writes down what it counted. Nothing else here calls it.
MARK, mark = "getppid", os.getppid
# Starts this file as a program. Python's cache of attributes has a place for a type's number and a name, and
# two that meet there cost some 300 instructions for each look-up; types made before have the next ones get
# other numbers.
START = """
import runpy, sys
for number in range(97 * int(sys.argv[1])):
    type("Other", (), {"attribute": number})().attribute
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def operations() -> list[str]:
    """What is counted, in its order."""
    return [*small.EXPRESSIONS, *small.STATEMENTS]


def child() -> None:
    """Does the operations with marks between them, under callgrind; prints what they are, and by what."""
    gpupy.use("cpu")
    gc.disable()
    features: dict[str, bool] = numpy._core._multiarray_umath.__cpu_features__
    level = next((level for level in ("AVX512F", "AVX2") if features.get(level)), "neither AVX512F nor AVX2")
    versions = (
        f"Python {sys.version_info[0]}.{sys.version_info[1]}, NumPy {numpy.__version__.rsplit('.', 1)[0]}"
    )
    print(json.dumps({"by": f"{versions}, {level}", "operations": operations()}))
    for operation in operations():
        loop, names = small.repeated(operation), small.setting(gpupy, SIZE)
        # What only first calls do, a new kernel for example.
        for _ in range(TIMES):
            loop(names, MANY)
        for number in (FEW, MANY) * TIMES:
            mark()
            loop(names, number)
        mark()


def counted(turn: int) -> tuple[str, dict[str, int]]:
    """What counts are by, and the instructions of a call of each operation. In each turn, types have other
    places in Python's cache of attributes."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    environment |= {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "GPUPY_THREADS": "1"} | ALLOCATOR
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "counts")
        callgrind = ["valgrind", "--tool=callgrind", f"--dump-before={MARK}", f"--callgrind-out-file={out}"]
        done = subprocess.run(
            [*callgrind, sys.executable, "-c", START, str(turn), __file__, "--child"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"callgrind ended with {done.returncode}: {done.stderr[-2000:]}")
        told = json.loads(done.stdout.splitlines()[-1])
        marks = 2 * TIMES + 1
        totals = [
            total(pathlib.Path(f"{out}.{number + 1}")) for number in range(marks * len(told["operations"]))
        ]
    found = {}
    for place, operation in enumerate(told["operations"]):
        # The first is what came before the operation.
        loops = totals[place * marks + 1 : (place + 1) * marks]
        more = (many - few for few, many in zip(loops[::2], loops[1::2], strict=True))
        found[operation] = round(min(more) / (MANY - FEW))
    return told["by"], found


def total(path: pathlib.Path) -> int:
    """The instructions of one of callgrind's files."""
    found = re.search(r"^totals: (\d+)", path.read_text(), re.MULTILINE)
    if found is None:
        raise SystemExit(f"`{path.name}` of callgrind has no totals")
    return int(found[1])


def compare(kept: dict[str, int], found: dict[str, int]) -> bool:
    """Prints what changed, and tells whether nothing needs more than it may."""
    right = True
    for operation, count in found.items():
        known = kept.get(operation)
        if known is None:
            print(f"{operation}: {count} instructions, and none are kept: `cargo xtask bench --record`")
            right = False
        elif count > known * MORE:
            print(f"{operation}: {count} instructions, {count / known - 1:.1%} more than the {known} kept")
            right = False
        elif count * MORE < known:
            print(f"{operation}: {count} instructions, {1 - count / known:.1%} fewer than the {known} kept")
    print(f"{len(found)} operations counted, of which {'none' if right else 'some'} need too many")
    return right


def main() -> int:
    """Counts, and keeps or compares; the status is 1 where an operation needs more."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="keep the counts")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child()
        return 0
    if shutil.which("valgrind") is None:
        print(f"skipped: {len(operations())} counts of instructions, as there is no valgrind")
        return 0
    kept: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    by, found = counted(0)
    if options.record:
        KEPT.write_text(json.dumps({**kept, by: found}, indent=1, sort_keys=False) + "\n")
        print(f"{len(found)} counts kept in {KEPT.name} for {by}")
        return 0
    if by not in kept:
        print(f"skipped: {len(found)} counts of instructions, as none are kept for {by}")
        return 0
    for turn in range(1, TURNS):
        if compare(kept[by], found):
            return 0
        # Two look-ups of an operation may have met in one place of the cache.
        print("counted again, by another process: the least of all")
        _, again = counted(turn)
        found = {operation: min(count, again[operation]) for operation, count in found.items()}
    return 0 if compare(kept[by], found) else 1


if __name__ == "__main__":
    sys.exit(main())
