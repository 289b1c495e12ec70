"""Checks what is in a wheel: ``contents.py WHEEL DATE TEXT...``.

Invariants: no file has one of the texts in it, which are paths of the machine that built it; every file has
the date of the commit; the licences, and the bill of materials of all crates, are there; the module has no
symbols. Not here: whether it runs (``trial.py``).
"""

import json
import pathlib
import re
import sys
import zipfile
from datetime import UTC, datetime

_SYMBOLS = (b".symtab\0", b".debug_info\0")
_LICENCES = ("LICENSE-APACHE", "LICENSE-MIT", "LICENSE-THIRD-PARTY")


def faults(wheel: zipfile.ZipFile, date: int, texts: list[str]) -> list[str]:
    """What is wrong with a wheel, in words."""
    # A date in an archive has two seconds for a unit, and begins in 1980.
    want = datetime.fromtimestamp(max(date, 315532800) // 2 * 2, UTC).timetuple()[:6]
    found = []
    for entry in wheel.infolist():
        data = wheel.read(entry)
        found += [f"{entry.filename} has `{text}` in it" for text in texts if text.encode() in data]
        found += [f"{entry.filename} has another date, {entry.date_time}"] * (entry.date_time != want)
        if entry.filename.endswith(".so"):
            found += [f"{entry.filename} has {name[:-1].decode()}" for name in _SYMBOLS if name in data]
    names = wheel.namelist()
    found += [f"{name} is missing" for name in _LICENCES if not any(n.endswith("/" + name) for n in names)]
    bills = [name for name in names if re.search(r"\.dist-info/sboms/.*\.json$", name)]
    if not bills or not all(_is_bill(json.loads(wheel.read(name))) for name in bills):
        found.append("there is no bill of materials")
    return found


def _is_bill(bill: dict) -> bool:
    return bill.get("bomFormat") == "CycloneDX" and len(bill.get("components", ())) > 50


def main() -> None:
    """Ends with the faults, or prints the sizes."""
    path, date, *texts = sys.argv[1:]
    with zipfile.ZipFile(path) as wheel:
        sys.exit("\n".join(faults(wheel, int(date), texts)) or _say(pathlib.Path(path), wheel))


def _say(path: pathlib.Path, wheel: zipfile.ZipFile) -> None:
    installed = sum(entry.file_size for entry in wheel.infolist())
    print(f"   {path.name}: {path.stat().st_size / 2**20:.1f} MiB, {installed / 2**20:.1f} MiB installed")


if __name__ == "__main__":
    main()
