"""The README's Python code runs as it stands."""

import re


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
