"""What runs on one driver, in a process of its own: ``python -m gpupy._bench.worker``.

Owns the process. It reads its task as one object of JSON from the standard input and writes one line of
JSON for each thing that it has to say: ``device`` first, then ``step`` when something begins, and ``row``,
``failed`` or ``costs`` when it has ended. Not here: the process that starts it and reads its
output (``drivers``).
"""

import functools
import json
import sys
from typing import Any

import numpy

import gpupy

from . import catalogue, timing


def main() -> None:
    """Does the task; an interrupt ends it silently, because the parent gets it too."""
    task = json.load(sys.stdin)
    try:
        _run(task)
    except KeyboardInterrupt:
        sys.exit(130)


def _run(task: dict[str, Any]) -> None:
    # The programs have square roots of negative numbers, which they do not choose.
    numpy.seterr(all="ignore")
    used = gpupy.current_driver()
    devices = {row["name"]: row["device"] for row in gpupy.drivers()}
    _say("device", devices.get(used) or used)
    swept = [catalogue.swept(size) for size in task["sizes"]]
    others = [program for program in catalogue.catalogue(task["quick"]) if program.name in task["programs"]]
    # A size of the sweep may be one of the programs.
    for program in {program.name: program for program in swept + others}.values():
        try:
            row = timing.compare(program, task["rounds"], functools.partial(_step, program))
        except Exception as error:
            # One program's failure is a line of the report; the others go on.
            _say("failed", {"program": program.name, "error": f"{type(error).__name__}: {error}"})
        else:
            _say("row", row)
    _say("step", "new expressions")
    _say("costs", timing.costs(task["rounds"]))


def _step(program: catalogue.Program, doing: str) -> None:
    _say("step", f"{program.name}: {doing}")


def _say(kind: str, content: Any) -> None:
    print(json.dumps({kind: content}), flush=True)


if __name__ == "__main__":
    main()
