"""Programs that are run as after an installation of the wheel.

Owns ``ROOT`` and ``run``. The wheel's entry points are in the metadata of an installed distribution, which
the sources have not: a folder gets what ``pyproject.toml`` says of them. Not here: programs beside workers
(``test_dask_workers.py``).
"""

import os
import pathlib
import subprocess
import sys
import tomllib

ROOT = next(p for p in pathlib.Path(__file__).parents if (p / "pyproject.toml").exists())


def run(folder, *command):
    """The output of a program that is run in a folder; it ends well."""
    metadata = folder / "gpupy_array-0.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: gpupy-array\nVersion: 0\n")
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    lines = [f"[{group}]\n{name} = {value}" for group in groups for name, value in groups[group].items()]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    path = os.pathsep.join([str(folder), *(p for p in sys.path if p)])
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, *command], env=env, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
