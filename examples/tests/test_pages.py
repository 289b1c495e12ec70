"""The Python code of the README and of the pages of docs runs as it stands."""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib

import pytest

import gpupy

ROOT = pathlib.Path(__file__).parents[2]
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_every_python_block_of_the_docs_runs(start, tmp_path, block):
    for name in re.findall(r"^\s*(?:import|from) (\w+)", block, re.MULTILINE):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"the package {name} is not installed")
    # A kernel is compiled from its source, which a file has.
    program = tmp_path / "program.py"
    program.write_text(block)
    start(program)


def test_the_program_of_the_readme_prints_what_numpy_prints_and_what_the_text_says(root, start):
    text = (root / "README.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    printed = start("-c", program)
    assert printed == start("-c", program.replace("import gpupy as np", "import numpy as np"))
    assert f"`{printed.strip()}`" in text


def test_the_readme_has_at_most_700_words_and_the_stored_times(root):
    text = (root / "README.md").read_text()
    assert len(text.split()) <= 700
    times = json.loads((root / "docs/pictures/beside_others.json").read_text())["readme"]
    sentence = " ".join(text.split())
    assert f"{times['numpy_ms']:g} ms with NumPy and {times['gpupy_ms']:g} ms with gpupy" in sentence


def test_the_chart_of_the_readme_is_that_of_the_stored_results(root):
    found = importlib.util.spec_from_file_location("chart", root / "benches/chart.py")
    chart = importlib.util.module_from_spec(found)
    found.loader.exec_module(chart)
    results = json.loads(chart.RESULTS.read_text())
    assert chart.svg(results) == chart.PICTURE.read_text()
    for panel in results["panels"]:
        assert panel["machine"] and panel["date"] and panel["commit"]
        assert all(panel["baseline"] in row and "gpupy" in row for row in panel["seconds"].values())


# Runs the examples of a page, in one namespace, as Python's own documentation is tested.
EXAMPLES = """
import doctest, pathlib, re, sys
text = pathlib.Path(sys.argv[1]).read_text()
examples = "\\n".join(re.findall(r"```pycon\\n(.*?)```", text, re.DOTALL))
test = doctest.DocTestParser().get_doctest(examples, {}, sys.argv[1], sys.argv[1], 0)
failed, tried = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
sys.exit(f"{failed} of {tried} examples failed" if failed or not tried else 0)
"""
WITH_EXAMPLES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "```pycon" in page.read_text()]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_every_example_of_a_page_gives_what_the_page_says(start, page):
    start("-c", EXAMPLES, page, GPUPY_DRIVER="cpu")


def test_every_function_of_gpupys_own_is_on_the_page_of_the_api_with_an_example(root):
    text = (root / "docs/api.md").read_text()
    sections = re.split(r"^##+ ", text, flags=re.MULTILINE)
    documented = set()
    for section in sections:
        names = re.findall(
            r"^\.\. (?:auto)?(?:function|class|exception|data|module):: gpupy\.(\w+)$", section, re.MULTILINE
        )
        documented.update(names)
        assert not names or "```pycon" in section, names
    assert documented == set(gpupy._OURS)


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_the_first_commands_of_the_page_for_drivers_authors_build_a_driver_that_computes(root, tmp_path):
    commands = re.search(r"```sh\n(cc .*?)```", (root / "docs/start/driver.md").read_text(), re.DOTALL)[1]
    for name, path in (
        ("include", root / "include"),
        ("examples/", f"{root}/examples/"),
        ("python ", f"{sys.executable} "),
    ):
        assert name in commands
        commands = commands.replace(name, str(path), 1)
    done = subprocess.run(["sh", "-ec", commands], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[2. 2. 2. 2. 2.] ./libmine.so\n"), done.stderr


@pytest.mark.skipif(importlib.util.find_spec("maturin") is None, reason="maturin is not installed")
def test_the_source_distribution_has_pages_examples_and_the_header_for_drivers(root, tmp_path):
    build = [
        sys.executable,
        "-m",
        "maturin",
        "sdist",
        "--out",
        tmp_path,
        "-m",
        root / "crates/gpupy-py/Cargo.toml",
    ]
    subprocess.run(build, cwd=root, capture_output=True, check=True)
    (archive,) = tmp_path.iterdir()
    with tarfile.open(archive) as inside:
        names = {name.partition("/")[2] for name in inside.getnames()}
    wanted = {"CHANGELOG.md", "CITATION.cff", "LICENSE-MIT", "include/gpupy_driver.h", "examples/heat.py"}
    wanted |= {"docs/timing.md", "docs/start/notebook.ipynb", "docs/pictures/simulations.png", "Cargo.lock"}
    assert wanted <= names
    assert not any("__pycache__" in name or name.endswith((".so", ".pyc")) for name in names)
    assert not any(name.startswith("examples/tests/") for name in names), "they need the rest of a checkout"


def test_the_version_is_the_same_wherever_it_stands(root):
    cargo = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    cited = re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text(), re.MULTILINE)[1]
    conda = re.search(r'^  version: "(.+)"$', (root / "conda/recipe.yaml").read_text(), re.MULTILINE)[1]
    assert {cargo, cited, conda} == {gpupy._VERSION}
