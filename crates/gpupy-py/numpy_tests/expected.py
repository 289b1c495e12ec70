"""The tests of another project's that gpupy is known to fail, each with a reason.

Owns the reading of a list, such as ``expected.toml``, and the comparison. A list says for which versions it
is; what fails with some of them only stands under their words. The list is strict: a listed test that
passes is a surprise, as is one that fails unlisted, and an entry that names no test. An entry is a test, a
class or a file, and stands for all of its parameters. Tests that pass or fail by chance, or by the machine,
are counted, but nothing is expected of them. Not here: running them (``run.py``).
"""

import collections
import dataclasses
import tomllib


@dataclasses.dataclass
class Expected:
    """The contents of a list: versions, whether these are among them, reasons, and random failures."""

    lists: list
    strict: bool
    reasons: dict
    by_chance: dict


def load(path, versions):
    """Reads the list of a file for versions, as ``NumPy 2.5.5, Python 3.12``."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    reasons, by_chance = {}, {}
    for kind, found in (("group", reasons), ("by_chance", by_chance)):
        for group in data.get(kind, ()):
            unknown = group.get("only", {}).keys() - set(data["versions"])
            if unknown:
                raise ValueError(f"{path.name} has tests of `{unknown.pop()}`, which its `versions` lack")
            for test in (*group.get("tests", ()), *group.get("only", {}).get(versions, ())):
                if test in reasons or test in by_chance:
                    raise ValueError(f"{path.name} lists `{test}` twice")
                found[test] = group["reason"]
    return Expected(data["versions"], versions in data["versions"], reasons, by_chance)


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
    """The unexpected outcomes in words, and how many tests failed for each reason."""
    surprises, by_reason, met = [], collections.Counter(), set()
    for test, (outcome, text) in sorted(outcomes.items()):
        if "::" not in test or entry_of(test, expected.by_chance) is not None:
            continue
        entry = entry_of(test, expected.reasons)
        met.add(entry)
        if outcome == "passed":
            if entry is not None:
                surprises.append(f"passes, though the list has it: {test}")
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
