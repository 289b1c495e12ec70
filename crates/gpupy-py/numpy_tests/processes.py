"""Test files run in processes of their own, with what became of each test.

Owns ``outcomes``. A process that dies takes one test with it, which counts as a crash; one that says
nothing for ``LIMIT`` seconds is killed, and its test counts as a hang. Another goes on with the rest.
Not here: what runs in a process (``worker.py``).
"""

import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 240
"""Seconds without a word after which a process is taken to hang."""

_WORKER = pathlib.Path(__file__).with_name("worker.py")


def outcomes(suite, package, groups, jobs, only=()):
    """A dictionary from test to (outcome, text).

    ``groups`` are lists of files, each for one process; ``only`` names the tests to run, or is empty
    for all. Outcomes are ``passed``, ``failed``, ``skipped``, ``crashed``, ``hung``, and for a module
    that cannot be imported ``failed`` under the module's name.
    """
    found = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for part in pool.map(lambda files: _group(suite, package, files, only), groups):
            found.update(part)
    return found


def _group(suite, package, files, only):
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "outcomes.jsonl")
        log.touch()
        while True:
            # Names may have ends of lines in them.
            selection = [*("-" + json.dumps(t) for t in found), *("+" + json.dumps(t) for t in only)]
            status = _process((suite, package), files, log, folder, selection)
            running = _read(log, found)
            if running is None:
                if status:
                    found[files[0]] = ("crashed", f"the process ended with status {status} outside of a test")
                return found
            how = "hung" if status is None else "crashed"
            found[running] = (how, f"{how}; status {status}")
            log.write_text("", encoding="utf-8")


def _process(what, files, log, folder, selection):
    """Runs a worker; its exit status, or ``None`` if it hung."""
    suite, package = what
    command = [sys.executable, "-X", "faulthandler", str(_WORKER), suite.name, str(suite.root)]
    command += [package, str(log), *files]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "NPY_AVAILABLE_MEM": "1 GB"}
    output = pathlib.Path(folder, "output.txt")
    with output.open("a", encoding="utf-8") as out:
        worker = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
            start_new_session=True,
            cwd=folder,
            env=environment,
            text=True,
        )
        worker.stdin.write("\n".join(selection))
        worker.stdin.close()
        size, since = 0, time.monotonic()
        while True:
            try:
                return worker.wait(timeout=1)
            except subprocess.TimeoutExpired:
                pass
            if log.stat().st_size != size:
                size, since = log.stat().st_size, time.monotonic()
            elif time.monotonic() - since > LIMIT:
                # With what it started itself.
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait()
                return None


def _read(log, found):
    """Takes up the outcomes in a file; the test that had begun and not ended, or ``None``."""
    running = None
    for line in log.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if "begins" in record:
            running = record["begins"]
        elif "test" in record:
            found[record["test"]] = (record["outcome"], record["text"])
            running = None
        else:
            found[record["module"]] = ("failed", record["text"])
    return running
