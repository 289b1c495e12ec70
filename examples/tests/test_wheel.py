"""What `cargo xtask dist` says of linked crates, and finds in a wheel; the build itself is no test."""

import importlib.util
import json
import pathlib
import shutil
import subprocess
import zipfile

import pytest


@pytest.fixture(scope="module")
def third_party():
    return program("third_party")


@pytest.fixture(scope="module")
def contents():
    return program("contents")


def program(name):
    path = pathlib.Path(__file__).parents[2] / "xtask/wheel" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(shutil.which("cargo") is None, reason="there is no cargo")
def test_every_crate_that_is_linked_has_its_licence_and_no_other(third_party):
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    said = subprocess.run(command, cwd=third_party.ROOT, capture_output=True, check=False)
    if said.returncode:
        pytest.skip("cargo has not all crates here")
    crates = third_party.linked(json.loads(said.stdout))
    names = {crate["name"] for crate in crates}
    assert {"naga", "pyo3", "wgpu", "ash", "glutin", "gemm"} <= names
    # What tests and builds use, macros, ours, and C++ of this system.
    assert not names & {"proptest", "cbindgen", "serde_derive", "bytemuck_derive", "gpupy-core", "shaderc"}
    page = third_party.page(crates)
    bill = third_party.bill(crates, "1.2.3")
    assert all(f"\n{crate['name']} {crate['version']} (" in page for crate in crates)
    assert [(part["name"], part["version"]) for part in bill["components"]] == [
        (crate["name"], crate["version"]) for crate in crates
    ]
    assert page.count("=" * 80) < sum(len(third_party.texts(crate)) for crate in crates), "none stands once"


@pytest.mark.parametrize(
    ("licence", "want"),
    [
        ("MIT", "Copyright (c) Ada, Ben\n"),
        ("MIT/Apache-2.0", "Apache License"),
        ("Zlib", None),
        (None, None),
    ],
)
def test_a_crate_without_a_text_gets_ours_of_its_licence_or_is_an_error(third_party, tmp_path, licence, want):
    crate = {"manifest_path": str(tmp_path / "Cargo.toml"), "license": licence, "authors": ["Ada", "Ben"]}
    crate |= {"name": "x", "version": "1"}
    if want is None:
        with pytest.raises(SystemExit, match="x 1 has no text of its licence"):
            third_party.texts(crate)
    else:
        (text,) = third_party.texts(crate)
        assert want in text
    (tmp_path / "LICENSE.txt").write_text("their own\n")
    assert third_party.texts(crate) == ["their own"]


DATE = 1_700_000_001


def faults(contents, path, files, date_time=(2023, 11, 14, 22, 13, 20)):
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in files.items():
            wheel.writestr(zipfile.ZipInfo(name, date_time), data)
    with zipfile.ZipFile(path) as wheel:
        return contents.faults(wheel, DATE, ["/home/ada"])


def test_a_wheel_with_paths_other_dates_symbols_or_without_licences_is_found(contents, tmp_path):
    bill = {"bomFormat": "CycloneDX", "components": [{"name": str(number)} for number in range(60)]}
    names = ("LICENSE-APACHE", "LICENSE-MIT", "LICENSE-THIRD-PARTY")
    good = {f"x.dist-info/licenses/{name}": "a text" for name in names}
    good |= {"x.dist-info/sboms/x.cdx.json": json.dumps(bill), "x/x.abi3.so": b"\x7fELF.text\0"}
    wheel = tmp_path / "x.whl"
    assert faults(contents, wheel, good) == []
    assert faults(contents, wheel, good, (2024, 1, 1, 0, 0, 0)) != []
    (said,) = faults(contents, wheel, good | {"x/x.abi3.so": b"\x7fELF /home/ada/x.rs"})
    assert said == "x/x.abi3.so has `/home/ada` in it"
    (said,) = faults(contents, wheel, good | {"x/x.abi3.so": b"\x7fELF.text\0.symtab\0"})
    assert said == "x/x.abi3.so has .symtab"
    for name in good:
        others = {other: data for other, data in good.items() if other != name}
        assert len(faults(contents, wheel, others)) == (not name.endswith(".so"))
