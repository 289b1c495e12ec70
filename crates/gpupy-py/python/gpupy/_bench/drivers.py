"""One process for each driver.

Owns ``messages`` and the ``environment``. A driver's process has ``GPUPY_DRIVER`` set and everything else
as the person has it, so that what is timed is what a program gets; one that crashes takes nothing with it.
Not here: what the process does (``worker``).
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import IO, Any


def messages(driver: str, task: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Runs a task on a driver; gives what its process says, as pairs of kind and content.

    From a process that fails the last kind is ``ended``. The process is killed when this generator is closed.
    """
    env = environment() | {"GPUPY_DRIVER": driver}
    command = [sys.executable, "-m", "gpupy._bench.worker"]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        with process:
            try:
                assert process.stdin is not None and process.stdout is not None
                _send(process.stdin, task)
                for line in process.stdout:
                    yield from json.loads(line).items()
            except BaseException:
                # An interrupt, or the generator was closed.
                process.kill()
                raise
        if process.returncode:
            errors.seek(0)
            said = errors.read().strip().splitlines()
            how = f"its process ended with status {process.returncode}"
            yield "ended", f"{how}: {said[-1]}" if said else how


def environment() -> dict[str, str]:
    """The environment in which a process finds the modules that this one has."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _send(pipe: IO[str], task: dict[str, Any]) -> None:
    try:
        pipe.write(json.dumps(task))
        pipe.close()
    except BrokenPipeError:
        # It has ended already; its status and its last words tell why.
        pass
