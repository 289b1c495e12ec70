"""The Python code of the README and of the pages of docs runs as it stands."""

import importlib.util
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in sorted((ROOT / "docs").glob("*.md"))
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


def test_every_python_block_of_the_readme_runs(root, start):
    blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        assert start("-c", block).strip()


def test_the_first_block_prints_what_numpy_prints(root, start):
    block = re.search(r"```python\n(.*?)```", (root / "README.md").read_text(), re.DOTALL).group(1)
    # The counters are gpupy's own.
    shared = "".join(line for line in block.splitlines(keepends=True) if "stats()" not in line)
    assert start("-c", shared) == start("-c", shared.replace("import gpupy as np", "import numpy as np"))
