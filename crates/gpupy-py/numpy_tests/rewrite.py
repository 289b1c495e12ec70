"""A list of expected failures, written afresh from a run.

Owns ``rewrite``. What fails and is listed stays where it stands; what fails unlisted goes to the reason of
the same test with other parameters, or else to ``UNKNOWN``; what passes is dropped. Other versions keep what
they have. Not here: reading and comparing (``expected.py``).
"""

import collections
import json
import tomllib

from expected import entry_of

UNKNOWN = "What it checks is not yet as NumPy does it."


def rewrite(path, versions, outcomes):
    """Makes the list of a file what these outcomes are, for these versions."""
    text = path.read_text(encoding="utf-8")
    data = tomllib.loads(text)
    known = data["versions"]
    entries = {version: _entries(data, version) for version in known}
    entries[versions] = _of_run(entries.get(versions) or _entries(data, versions), data, outcomes)
    order = [*known, *({versions} - set(known))]
    lines = [text.partition("\nversions")[0].rstrip(), "", f"versions = {_quoted(order)}", ""]
    for group in data.get("by_chance", ()):
        lines += [
            "[[by_chance]]",
            f"reason = {_quoted(group['reason'])}",
            *_listed("tests", group["tests"]),
            "",
        ]
    for reason in dict.fromkeys([*(g["reason"] for g in data.get("group", ())), UNKNOWN]):
        by_version = {v: {t for t, r in entries[v].items() if r == reason} for v in order}
        everywhere = set.intersection(*by_version.values())
        only = {v: tests - everywhere for v, tests in by_version.items() if tests - everywhere}
        if not everywhere and not only:
            continue
        lines += ["[[group]]", f"reason = {_quoted(reason)}", *_listed("tests", everywhere)]
        if only:
            lines.append("[group.only]")
            for version, tests in only.items():
                lines += _listed(_quoted(version), tests)
        lines.append("")
    path.write_text("\n".join(lines), encoding="utf-8")


def _entries(data, version):
    """A dictionary from entry to reason."""
    return {
        test: group["reason"]
        for group in data.get("group", ())
        for test in (*group.get("tests", ()), *group.get("only", {}).get(version, ()))
    }


def _of_run(listed, data, outcomes):
    """The entries for what failed: one for all parameters where all of them did."""
    by_chance = {test: True for group in data.get("by_chance", ()) for test in group["tests"]}
    tests = [t for t in outcomes if "::" in t and entry_of(t, by_chance) is None]
    failed = [t for t in tests if outcomes[t][0] != "passed"]
    passing = {t.partition("[")[0] for t in tests if outcomes[t][0] == "passed"}
    alike = collections.defaultdict(lambda: UNKNOWN)
    alike.update((test.partition("[")[0], reason) for test, reason in listed.items())
    found = {}
    for test in failed:
        base = test.partition("[")[0]
        entry = entry_of(test, listed)
        reason = alike[base] if entry is None else listed[entry]
        found[test if base in passing else base] = reason
    return found


def _listed(name, tests):
    return [f"{name} = [", *(f"    {_quoted(t)}," for t in sorted(tests)), "]"] if tests else []


def _quoted(value):
    return json.dumps(value, ensure_ascii=False)
