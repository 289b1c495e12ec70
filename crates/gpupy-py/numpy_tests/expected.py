"""The tests of NumPy's that gpupy is known to fail, each with a reason.

Owns the reading of ``expected.toml`` and the comparison. The list is strict: a listed test that passes
is a surprise, as is one that fails unlisted, and an entry that names no test. An entry is a test, a
class or a file, and stands for all of its parameters. Not here: running them (``run.py``).
"""

import collections
import dataclasses
import pathlib
import tomllib

_FILE = pathlib.Path(__file__).with_name("expected.toml")


@dataclasses.dataclass
class Expected:
    """What ``expected.toml`` says: NumPy's version, files that are not judged, the reason for each entry."""

    numpy: str
    unjudged: list
    reasons: dict


@dataclasses.dataclass
class Surprise:
    """Something other than expected, in a file."""

    file: str
    text: str


def load():
    """Reads the list."""
    data = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    reasons = {}
    for group in data.get("group", ()):
        for test in group["tests"]:
            if test in reasons:
                raise ValueError(f"expected.toml lists `{test}` twice")
            reasons[test] = group["reason"]
    return Expected(data["numpy"], data["unjudged"], reasons)


def entry_of(test, reasons):
    """The narrowest entry that a test falls under, or ``None``."""
    while test not in reasons:
        for mark in ("[", "::"):
            before, found, _ = test.partition(mark) if mark == "[" else test.rpartition(mark)
            if found:
                test = before
                break
        else:
            return None
    return test


def compare(expected, outcomes, files):
    """What is other than expected, and how many tests failed for each reason."""
    surprises, by_reason, met = [], collections.Counter(), set()

    def surprise(test, text):
        surprises.append(Surprise(test.partition("::")[0], text))

    for test, (outcome, text) in sorted(outcomes.items()):
        if "::" not in test:
            continue
        entry = entry_of(test, expected.reasons)
        met.add(entry)
        if outcome == "passed":
            if entry is not None:
                surprise(test, f"passes, though expected.toml lists it: {test}")
        elif entry is None:
            last = text.strip().splitlines()[-1:] or [""]
            surprise(test, f"{outcome}: {test}: {last[0]}")
            by_reason["no reason yet"] += 1
        else:
            by_reason[expected.reasons[entry]] += 1
    for entry in expected.reasons:
        if entry not in met and entry.partition("::")[0] in files:
            surprise(entry, f"names no test that NumPy passes: {entry}")
    return surprises, by_reason
