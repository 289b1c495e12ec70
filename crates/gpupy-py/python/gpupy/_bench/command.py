"""The command ``python -m gpupy bench``.

Owns its options, the order of the work, and the files that it writes. Status: 0; 1 if a value was wrong, a
program failed or a driver ended early; 2 for a wrong option; 130 after an interrupt, with what there was
until then. Not here: the process of a driver (``drivers``), the text (``table``) and the picture
(``plot``).
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy

import gpupy

from .._program import versions
from . import catalogue, drivers, importing, memory, plot, small, table

ROUNDS = 7
INTERRUPTED = 130


def add(commands: Any) -> None:
    """Adds the command to those of ``python -m gpupy``."""
    bench = commands.add_parser(
        "bench",
        help="times NumPy beside each driver: a table, and a plot in a file",
        description="Times NumPy beside each driver on this machine; prints a table and writes a plot.",
    )
    bench.add_argument("--driver", action="append", metavar="NAME", help="only this one; may be given again")
    bench.add_argument("--quick", action="store_true", help="small programs, to see that all works")
    bench.add_argument("--small", action="store_true", help="everyday operations on few elements instead")
    bench.add_argument("--sizes", metavar="N,…", help="elements of 2.5*x + y instead of 1 to 10^8, or `none`")
    bench.add_argument("--programs", metavar="WORD,…", help="those with a word in their names, or `none`")
    bench.add_argument("--rounds", type=int, default=ROUNDS, help=f"at most so many runs each; {ROUNDS}")
    bench.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path("gpupy-bench.svg"), metavar="FILE", help="the plot"
    )
    bench.add_argument("--json", type=pathlib.Path, metavar="FILE", help="all times, for programs")
    bench.set_defaults(run=lambda options: run(options, bench.error))


def run(options: argparse.Namespace, refuse: Callable[[str], NoReturn]) -> int:
    """Does the command; ``refuse`` ends it with words about a wrong option. Returns the exit status."""
    if options.rounds < 1:
        refuse(f"--rounds must be at least 1, got {options.rounds}")
    names, left_out = _drivers(options.driver, refuse)
    if options.small:
        return small.run(options.driver, options.rounds)
    sizes, too_large = _sizes(options, refuse)
    programs = _programs(options, refuse)
    for path in filter(None, (options.out, options.json)):
        if not path.absolute().parent.is_dir():
            refuse(f"there is no folder `{path.absolute().parent}` to write `{path.name}` to")
        if path.is_dir():
            refuse(f"`{path}` is a folder; give the name of a file")

    results = _results(sizes, programs, left_out + too_large)
    task = {"sizes": sizes, "programs": programs, "quick": options.quick, "rounds": options.rounds}
    progress = Progress(len(names) * (len(sizes) + len(programs)))
    interrupted = False
    try:
        for name in names:
            _measure(name, task, results, progress)
        progress.show("import")
        results["import_s"] = importing.seconds(options.rounds)
    except KeyboardInterrupt:
        interrupted = True
    progress.close()

    print("\n".join(table.report(results)))
    options.out.write_text(plot.svg(results), encoding="utf-8")
    print(f"\nPlot: {options.out}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(f"Times: {options.json}")
    if interrupted:
        print("Interrupted: this is what there was.", file=sys.stderr)
        return INTERRUPTED
    return 0 if all(_good(seen) for seen in results["drivers"]) else 1


def _measure(name: str, task: dict[str, Any], results: dict[str, Any], progress: "Progress") -> None:
    """Runs the task on one driver; what it says goes into the results at once: an interrupt loses nothing."""
    seen: dict[str, Any] = {"driver": name, "device": "", "rows": [], "failures": [], "costs": None}
    results["drivers"].append(seen)
    for kind, content in drivers.messages(name, task):
        if kind == "step":
            progress.show(f"{name}: {content}")
        elif kind in ("row", "failed"):
            seen["rows" if kind == "row" else "failures"].append(content)
            progress.step()
        elif kind == "ended":
            seen["failures"].append({"program": "the rest", "error": content})
        else:
            seen[kind] = content


def _good(seen: dict[str, Any]) -> bool:
    return not seen["failures"] and all(table.right(measured) for measured in seen["rows"])


def _drivers(wanted: list[str] | None, refuse: Callable[[str], NoReturn]) -> tuple[list[str], list[str]]:
    """The drivers to time: the wanted ones, or all that start, and sentences about those that do not."""
    known = {row["name"]: row for row in gpupy.drivers()}
    if not wanted:
        starting = [name for name, row in known.items() if row["starts"]]
        return starting, [
            f"Skipped: driver {name}, which cannot start: {row['reason']}"
            for name, row in known.items()
            if not row["starts"]
        ]
    for name in wanted:
        if name in known and not known[name]["starts"]:
            refuse(f"driver `{name}` cannot start: {known[name]['reason']}")
        if name not in known and os.path.sep not in name:
            refuse(f"there is no driver `{name}`; there are {', '.join(known)}, and paths of libraries")
    return list(dict.fromkeys(wanted)), []


def _sizes(options: argparse.Namespace, refuse: Callable[[str], NoReturn]) -> tuple[list[int], list[str]]:
    """The sizes to time, and sentences about those for which there is no memory."""
    if options.sizes == "none":
        return [], []
    sizes = list(catalogue.QUICK_SIZES if options.quick else catalogue.SIZES)
    if options.sizes is not None:
        words = options.sizes.split(",")
        if not all(re.fullmatch(r"[1-9][0-9]*", word) for word in words):
            refuse(f"--sizes takes positive numbers with commas between, got `{options.sizes}`")
        sizes = sorted({int(word) for word in words})
    room = memory.available()
    skipped = [
        f"Skipped: {catalogue.swept(size).name}: it takes {memory.needed(size) >> 20} MiB, and "
        f"{room >> 20} MiB are available."
        for size in sizes
        if memory.needed(size) > room
    ]
    return [size for size in sizes if memory.needed(size) <= room], skipped


def _programs(options: argparse.Namespace, refuse: Callable[[str], NoReturn]) -> list[str]:
    """The names of the programs to time."""
    known = [program.name for program in catalogue.catalogue(options.quick)]
    if options.programs is None:
        return known
    if options.programs == "none":
        return []
    words = [word.strip().lower() for word in options.programs.split(",")]
    for word in words:
        if not word or not any(word in name.lower() for name in known):
            refuse(f"no program has `{word}` in its name; there are: {'; '.join(known)}")
    return [name for name in known if any(word in name.lower() for word in words)]


def _results(sizes: list[int], programs: list[str], skipped: list[str]) -> dict[str, Any]:
    """The results before anything is measured."""
    return {
        "gpupy": gpupy.__version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
        "machine": {
            "processor": versions.processor(),
            "processors": os.cpu_count(),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "sizes": sizes,
        "programs": programs,
        "skipped": skipped,
        "drivers": [],
        "import_s": None,
    }


class Progress:
    """One line on a terminal's standard error that is written over; silent elsewhere."""

    def __init__(self, steps: int) -> None:
        self._steps, self._done = steps, 0
        self._shown = sys.stderr.isatty()

    def show(self, words: str) -> None:
        """Says what is being done."""
        self._write(f"[{self._done + 1}/{self._steps}] {words}")

    def step(self) -> None:
        """Counts one program as done."""
        self._done = min(self._done + 1, self._steps - 1)

    def close(self) -> None:
        """Leaves an empty line."""
        self._write("")

    def _write(self, words: str) -> None:
        if self._shown:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[2K{words[:width]}")
            sys.stderr.flush()
