"""The programs of ``docs/scale.md`` and the example of workers run as they stand."""

import importlib
import re

import programs
import pytest

BLOCKS = re.findall(r"```python\n(.*?)```", (programs.ROOT / "docs/scale.md").read_text(), re.DOTALL)
LIBRARIES = ["gpupy", "distributed", "cubed", "xarray"]


def test_each_library_of_the_page_has_a_program():
    assert [len(re.findall(name, block)) > 0 for name, block in zip(LIBRARIES, BLOCKS, strict=True)] == [
        True
    ] * len(LIBRARIES)


@pytest.mark.parametrize("library, block", list(zip(LIBRARIES, BLOCKS, strict=True)), ids=LIBRARIES)
def test_a_program_of_the_page_runs(library, block, tmp_path):
    pytest.importorskip(library)
    (tmp_path / "program.py").write_text(block)
    assert programs.run(tmp_path, "program.py").strip()


def test_the_example_gives_what_numpy_gives(tmp_path):
    pytest.importorskip("distributed")
    pytest.importorskip("matplotlib")
    small = ["--size", "120", "--steps", "40", "--pictures", "4000"]
    text = programs.run(tmp_path, str(programs.ROOT / "examples/workers.py"), *small)
    found = dict(re.findall(r"(\w+): largest difference (\S+)", text))
    assert found.pop("heat") == "0.0e+00"
    assert set(found) == {"variances", "components"}
    assert all(float(value) < 1e-9 for value in found.values()), text
    assert (tmp_path / "workers.png").stat().st_size > 10_000


def test_chunks_of_ours_stay_in_named_arrays():
    xarray = pytest.importorskip("xarray")
    dask = pytest.importorskip("dask")
    gpupy = importlib.import_module("gpupy")
    table = xarray.DataArray(gpupy.arange(12.0).reshape(3, 4), dims=("t", "x")).chunk({"t": 1})
    for made in [table * 2, table.sum("t"), table.diff("x"), table.rolling(x=2).mean(), table[:, ::-1]]:
        assert type(made.data._meta) is gpupy.ndarray
        with dask.config.set(scheduler="threads"):
            assert type(made.compute().data) is gpupy.ndarray
