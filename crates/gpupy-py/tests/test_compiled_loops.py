"""Loops that run compiled leave behind what they leave in Python: values, types, errors, warnings, all names.

Not here: the second copy (`test_second_copies.py`), which loops qualify (`test_found_loops.py`).
"""

import ast
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from drawn_loops import FILE, Drawn, outcome, shown

from gpupy._loops import entries, running, second_copy
from gpupy._loops.lowering import Unlowered, lowered

SEEDS = int(os.environ.get("GPUPY_LOOP_PROGRAMS", "240"))
MODES = ["compiled", "interpreted"]


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Loops are compiled however short they are."""
    monkeypatch.setattr(entries, "_WORTH_COMPILING", 0)
    monkeypatch.setattr(entries, "_WORTH_ENTERING", 0)
    monkeypatch.setattr(entries.readers, "may_read", lambda tree: False)
    monkeypatch.setattr(entries.readers, "_came", [])


def both(text):
    """The code of a text as written, and with sites."""
    plain = compile(text, FILE, "exec", dont_inherit=True)
    entries.places.clear()
    code = running.with_sites(ast.parse(text), FILE, lambda: plain)
    return plain, code, list(entries.places.values())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("part", range(8))
def test_random_loops_leave_behind_what_they_leave_in_python(part, mode, monkeypatch):
    monkeypatch.setattr(entries, "is_interpreted", mode == "interpreted")
    for seed in range(part, SEEDS, 8):
        drawn = Drawn(seed)
        plain, code, _ = both(drawn.text)
        for again in range(3):
            arguments, strict = drawn.arguments(), again == 2
            wanted = outcome(plain, drawn.text, arguments, strict)
            assert outcome(code, drawn.text, arguments, strict) == wanted, f"{seed}.{again}\n{drawn.text}"


def test_random_loops_run_compiled_and_are_left_in_all_ways():
    found = {"runs": 0, "sites": 0, "leaves": 0}
    for seed in range(120):
        drawn = Drawn(seed)
        _, code, sites = both(drawn.text)
        for _ in range(2):
            outcome(code, drawn.text, drawn.arguments())
        found["sites"] += len(sites)
        found["runs"] += sum(site.runs > 0 for site in sites)
        found["leaves"] += sum(site.leaves > 0 for site in sites)
    assert found["runs"] > 0.6 * found["sites"] > 0
    assert found["leaves"] > 20
