"""Instructions of everyday operations on few elements, counted: `cargo xtask bench --record` keeps them.

Owns `instructions.json`: counts by Python, NumPy and vector level, of gpupy's side of the operations of
`python -m gpupy bench --small`: those of the module's own code, and those of all code. Without `--record`
they are counted and compared: more than `MORE` times what is kept for these versions is an error, and of all
code some `LUCK` besides. Versions of which nothing is kept are skipped, as is a machine without valgrind.
Callgrind counts, so that there is no clock. Invariant: a count is that of one more call, without the loop's
start and without what only a first call does.
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
# What is counted may be so many times what is kept. The folder in which a commit is built changes what the
# compiler makes one function of, by up to 5 %.
MORE = 1.08
# Outside the module a call may need so many more: where glibc finds a chunk of memory, and whether two look-
# ups meet in a place of Python's cache of attributes, takes some 300 instructions each, and the heap's layout
# decides it. The module's own code needs the same number in each process.
LUCK = 600
MODULE = pathlib.Path(gpupy._gpupy.__file__).name
SIZE = 10
# Calls before and between the marks: the difference of two loops is that of their calls.
FEW, MANY = 100, 300
# How often both loops are counted; the fewest count, as a cache may be met in a bad moment.
TIMES = 3
# A chunk of memory that is somewhat longer than it was asked for goes among those of its own length when it
# is freed. Where these are as many as glibc keeps for a thread, seven, it becomes free for all, and the next
# call may be given the same one: whether each call then needs 300 instructions more is a matter of the heap's
# layout, which names of files change. With more kept, the next call gets another, until one is as long as
# was asked for.
ALLOCATOR = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=1000"}
# The function at which callgrind writes down what it counted. Nothing else here calls it.
MARK, mark = "getppid", os.getppid


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


def counted() -> tuple[str, dict[str, list[int]]]:
    """What counts are by, and the instructions of a call of each operation: the module's own, and all."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    environment |= {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "GPUPY_THREADS": "1"} | ALLOCATOR
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "counts")
        callgrind = ["valgrind", "--tool=callgrind", f"--dump-before={MARK}", f"--callgrind-out-file={out}"]
        done = subprocess.run(
            [*callgrind, sys.executable, __file__, "--child"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"callgrind ended with {done.returncode}: {done.stderr[-2000:]}")
        told = json.loads(done.stdout.splitlines()[-1])
        marks = 2 * TIMES + 1
        parts = range(1, marks * len(told["operations"]) + 1)
        totals = [of_file(pathlib.Path(f"{out}.{part}")) for part in parts]
    found = {}
    for place, operation in enumerate(told["operations"]):
        # The first is what came before the operation.
        loops = totals[place * marks + 1 : (place + 1) * marks]
        found[operation] = [
            round(min(many - few for few, many in zip(of[::2], of[1::2], strict=True)) / (MANY - FEW))
            for of in zip(*loops, strict=True)
        ]
    return told["by"], found


def of_file(path: pathlib.Path) -> tuple[int, int]:
    """The instructions of the module's own code in one of callgrind's files, and those of all code."""
    names: dict[str, str] = {}
    ours = every = 0
    is_ours = is_of_callee = False
    for line in path.read_text().splitlines():
        word, _, rest = line.partition("=")
        if word in ("ob", "cob"):
            # A name is given once, with its number.
            number, _, name = rest.partition(" ")
            names |= {number: name} if name else {}
            if word == "ob":
                is_ours = pathlib.Path(names[number]).name == MODULE
        elif word == "calls":
            # The next line has what the called function needed.
            is_of_callee = True
        elif re.match(r"[\d+*-]", line):
            if not is_of_callee:
                count = int(line.split()[1])
                every += count
                ours += count * is_ours
            is_of_callee = False
        elif line.startswith("totals: ") and int(line.split()[1]) != every:
            raise SystemExit(
                f"`{path.name}` of callgrind has {line.split()[1]} instructions, of which {every} were read"
            )
    return ours, every


def text(kept: dict[str, dict[str, list[int]]]) -> str:
    """The file's text, with a line for each operation."""
    versions = [
        f" {json.dumps(by)}: {{\n"
        + ",\n".join(f"  {json.dumps(name)}: {json.dumps(counts)}" for name, counts in found.items())
        + "\n }"
        for by, found in kept.items()
    ]
    return "{\n" + ",\n".join(versions) + "\n}\n"


def compare(kept: dict[str, list[int]], found: dict[str, list[int]]) -> bool:
    """Prints what changed, and tells whether nothing needs more than it may."""
    right = True
    for operation, counts in found.items():
        if operation not in kept:
            print(f"{operation}: {counts[0]} instructions, and none are kept: `cargo xtask bench --record`")
            right = False
            continue
        for whose, luck, count, known in zip(
            ("its own", "all"), (0, LUCK), counts, kept[operation], strict=True
        ):
            said = f"{operation}: {count} instructions of {whose}, {abs(count / known - 1):.1%}"
            if count > known * MORE + luck:
                print(f"{said} more than the {known} kept")
                right = False
            elif count * MORE + luck < known:
                print(f"{said} fewer than the {known} kept")
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
    by, found = counted()
    if options.record:
        KEPT.write_text(text({**kept, by: found}))
        print(f"{len(found)} counts kept in {KEPT.name} for {by}")
        return 0
    if by not in kept:
        print(f"skipped: {len(found)} counts of instructions, as none are kept for {by}")
        return 0
    return 0 if compare(kept[by], found) else 1


if __name__ == "__main__":
    sys.exit(main())
