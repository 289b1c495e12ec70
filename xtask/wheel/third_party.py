"""Writes what a wheel says of the crates that are linked into its module: licences, and a bill of materials.

Owns the choice of crates and files. Invariants: each text stands once; a crate without a text, for which none
of ours stands, is an error; both files depend on ``Cargo.lock`` and the target alone. Not here: which
licences are allowed (``deny.toml``).
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
# The wheel has it by this name, among its bills of materials.
BILL = ROOT / "target" / "gpupy.cdx.json"
_TEXTS = re.compile(r"(?i)(un)?licen[cs]e|copying|copyright|notice")
_HEAD = """\
gpupy's compiled module has parts of the crates below, and of Rust's standard library (MIT OR Apache-2.0, by
the Rust project's developers). Each text stands once, below the names of the crates that come with it.
"""


def linked(metadata: dict) -> list[dict]:
    """The crates from a registry that ``gpupy-py`` is linked with, in the order of their names."""
    crates = {crate["id"]: crate for crate in metadata["packages"]}
    needs = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    found = {name for name, crate in crates.items() if crate["name"] == "gpupy-py"}
    queue = list(found)
    while queue:
        for need in needs[queue.pop()]:
            is_linked = any(kind["kind"] is None for kind in need["dep_kinds"])
            is_macro = any("proc-macro" in target["kind"] for target in crates[need["pkg"]]["targets"])
            if is_linked and not is_macro and need["pkg"] not in found:
                found.add(need["pkg"])
                queue.append(need["pkg"])
    others = [crates[name] for name in found.difference(metadata["workspace_members"])]
    return sorted(others, key=lambda crate: (crate["name"], crate["version"]))


def texts(crate: dict) -> list[str]:
    """The texts that come with a crate; where none does, ours of the licence they chose, with their names."""
    folder = pathlib.Path(crate["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if _TEXTS.match(path.name) and path.is_file())
    found = [path.read_text("utf-8").strip() for path in files]
    for licence in ("Apache-2.0", "MIT"):
        if not found and licence in re.split(r"[\s/()]+", crate["license"] or ""):
            ours = (ROOT / f"LICENSE-{licence.split('-')[0].upper()}").read_text("utf-8").strip()
            found = [re.sub(r"(?m)^Copyright.*$", "Copyright (c) " + ", ".join(crate["authors"]), ours)]
    if not found:
        sys.exit(f"{crate['name']} {crate['version']} has no text of its licence, {crate['license']}")
    return found


def page(crates: list[dict]) -> str:
    """The whole file."""
    owners: dict[str, list[str]] = {}
    for crate in crates:
        name = f"{crate['name']} {crate['version']} ({crate['license']})"
        for text in texts(crate):
            owners.setdefault(text, []).append(name)
    line = "\n" + "=" * 80 + "\n"
    return _HEAD + "".join(f"{line}{chr(10).join(names)}\n\n{text}\n" for text, names in owners.items())


def bill(crates: list[dict], version: str) -> dict:
    """The bill of materials, in the words of CycloneDX."""
    ours = _component("application", "gpupy-array", version, "MIT OR Apache-2.0", "pypi")
    components = [
        _component("library", crate["name"], crate["version"], crate["license"], "cargo") for crate in crates
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": ours},
        "components": components,
        "dependencies": [{"ref": ours["bom-ref"], "dependsOn": [part["bom-ref"] for part in components]}],
    }


def _component(kind: str, name: str, version: str, licence: str, registry: str) -> dict:
    # As PyPI's and cargo's packages are called where no registry is asked.
    place = f"pkg:{registry}/{name}@{version.replace('+', '%2B')}"
    # An old way to write it.
    licences = [{"expression": licence.replace("/", " OR ")}]
    words = {"type": kind, "name": name, "version": version}
    return words | {"bom-ref": place, "purl": place, "licenses": licences}


def main() -> None:
    """Writes both files for a target, or for this machine: ``third_party.py [TARGET]``."""
    target = sys.argv[1] if sys.argv[1:] else re.search(r"host: (\S+)", _said("rustc", "-vV"))[1]
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    metadata = json.loads(_said(*command))
    crates = linked(metadata)
    (version,) = {crate["version"] for crate in metadata["packages"] if crate["name"] == "gpupy-py"}
    (ROOT / "LICENSE-THIRD-PARTY").write_text(page(crates), "utf-8")
    BILL.parent.mkdir(exist_ok=True)
    BILL.write_text(json.dumps(bill(crates, version), indent=1) + "\n", "utf-8")
    print(f"   {len(crates)} crates are linked: LICENSE-THIRD-PARTY, {BILL.relative_to(ROOT)}")


def _said(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
