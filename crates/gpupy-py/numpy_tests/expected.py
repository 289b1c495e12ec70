"""The tests of NumPy's that gpupy is known to fail, each with a reason.

Owns the reading of ``expected.toml`` and the comparison. The list is strict: a listed test that passes
is a surprise, as is one that fails unlisted, and an entry that names no test. An entry is a test, a
class or a file, and stands for all of its parameters. Tests that pass or fail by chance, or by the machine,
are counted, but nothing is expected of them. Not here: running them (``run.py``).
"""

import collections
import dataclasses
import pathlib
import tomllib

_FILE = pathlib.Path(__file__).with_name("expected.toml")


@dataclasses.dataclass
class Expected:
    """What ``expected.toml`` says: for which versions, the reasons of entries, those that go by chance."""

    numpy: str
    python: str
    reasons: dict
    by_chance: dict


def load():
    """Reads the list."""
    data = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    reasons, by_chance = {}, {}
    for kind, found in (("group", reasons), ("by_chance", by_chance)):
        for group in data.get(kind, ()):
            for test in group["tests"]:
                if test in reasons or test in by_chance:
                    raise ValueError(f"expected.toml lists `{test}` twice")
                found[test] = group["reason"]
    return Expected(data["numpy"], data["python"], reasons, by_chance)


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
    """What is other than expected, in words, and how many tests failed for each reason."""
    surprises, by_reason, met = [], collections.Counter(), set()
    for test, (outcome, text) in sorted(outcomes.items()):
        if "::" not in test or entry_of(test, expected.by_chance) is not None:
            continue
        entry = entry_of(test, expected.reasons)
        met.add(entry)
        if outcome == "passed":
            if entry is not None:
                surprises.append(f"passes, though expected.toml lists it: {test}")
        elif entry is None:
            last = text.strip().splitlines()[-1:] or [""]
            surprises.append(f"{outcome}: {test}: {last[0]}")
            by_reason["no reason yet"] += 1
        else:
            by_reason[expected.reasons[entry]] += 1
    for entry in expected.reasons:
        if entry not in met and entry.partition("::")[0] in files:
            surprises.append(f"names no test that NumPy passes: {entry}")
    return surprises, by_reason
