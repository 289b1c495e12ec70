"""Registration of our arrays with libraries, imported before gpupy or after it."""

import functools
import importlib
import pathlib
import subprocess
import sys

import numpy
import pytest

import gpupy
from gpupy import _gpupy, _libraries
from gpupy._classes import takers
from gpupy._libraries import calls, lending, masked

ROWS = dict.fromkeys(
    [
        *(name for table in _libraries._TABLES for name in table.ROWS),
        *(name for table in _libraries._EXCHANGED for name in table.EXCHANGED),
        *masked.EXCHANGED,
    ]
)


def imported(module):
    package = module.split(".")[0]
    try:
        importlib.import_module(package)
    except ImportError:
        pytest.skip(f"`{package}` is not installed")
    return importlib.import_module(module)


@pytest.mark.parametrize("module", calls.TAKING)
def test_each_function_that_is_listed_is_there_and_has_a_border(module):
    found = imported(module)
    # They are exchanged when there is an array.
    gpupy.ones(1)
    for name in calls.TAKING[module].split():
        *inside, last = name.split(".")
        owner = functools.reduce(getattr, inside, found)
        function = vars(owner)[last]
        function = getattr(function, "__func__", function)
        assert type(function) is _gpupy.Border, name
        assert function.__name__ == function.__wrapped__.__name__


@pytest.mark.parametrize("first", [True, False])
def test_every_library_is_told_without_a_warning_whenever_it_is_imported(first):
    there = [name for name in ROWS if importlib.util.find_spec(name.split(".")[0])]
    imports = [f"import {name}" for name in there]
    imports.insert(0 if first else len(imports), "import gpupy")
    left = "print(*gpupy._libraries._TOLD, *gpupy._libraries._EXCHANGES, *gpupy._libraries._WAITING)"
    program = "; ".join([*imports, "gpupy.ma.ones(2); gpupy.ones(2)", left])
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert {*done.stdout.split()} == {*ROWS} - {*there}
    assert "gpupy cannot tell" not in done.stderr


@pytest.mark.parametrize("order", ["import gpupy, scipy.sparse.linalg", "import scipy.sparse.linalg, gpupy"])
def test_a_function_has_its_border_under_every_name_that_a_library_gave_it(order):
    imported("scipy.sparse.linalg")
    program = f"{order}\nfrom scipy.sparse import linalg\n"
    program += "print(linalg.cg(gpupy.eye(3) * 2, gpupy.ones(3))[0].tolist())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[0.5, 0.5, 0.5]\n"


def test_no_library_is_imported_by_gpupy():
    program = "import sys, gpupy; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {row.split(".")[0] for row in ROWS if not row.startswith("numpy")} & {*done.stdout.split()}


def test_a_library_that_has_changed_is_imported_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "changed_library.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    told = {"changed_library": [functools.partial(calls.put_all, "changed_library", "gone")]}
    monkeypatch.setattr(gpupy._libraries, "_TOLD", told)
    with pytest.warns(
        RuntimeWarning, match="gpupy cannot tell `changed_library` of its arrays: KeyError: 'gone'"
    ):
        module = importlib.import_module("changed_library")
    assert module.x == 1
    assert type(module.__loader__) is type(module.__spec__.loader) is importlib.machinery.SourceFileLoader


def test_a_border_gives_numpys_arrays_over_our_memory_and_leaves_the_rest():
    a = gpupy.arange(3.0)
    other = object()
    rows = [[1.0, 2.0]] * (calls.SHORT + 1)
    given = calls.numpys((a, [a, other], {"key": a.sum()}, rows, None))
    assert type(given[0]) is type(given[1][0]) is numpy.ndarray
    assert given[1][1] is other and given[3] is rows
    assert type(given[2]["key"]) is numpy.float64 and given[2]["key"] == 3
    given[0][1] = 7
    assert a[1] == 7
    for kept in ([1, 2], (other,), {"key": rows}, "text", rows):
        assert calls.numpys(kept) is kept
    assert type(calls.numpys([a] * (calls.SHORT + 1))[-1]) is numpy.ndarray


def test_classmethods_and_staticmethods_stay_what_they_are():
    class Owner:
        @classmethod
        def of_class(cls, value):
            return cls, type(value)

        @staticmethod
        def of_none(value):
            return type(value)

        def of_instance(self, value):
            return type(value)

    for name in ("of_class", "of_none", "of_instance"):
        calls.put(Owner, name)
    a = gpupy.ones(2)
    assert Owner.of_class(a) == (Owner, numpy.ndarray)
    assert Owner.of_none(a) is Owner().of_none(a) is Owner().of_instance(value=a) is numpy.ndarray


PAGE = (pathlib.Path(__file__).resolve().parents[4] / "docs" / "borders.md").read_text(encoding="utf-8")


def rows_of(heading):
    """The first columns of the table below a heading of the page."""
    text = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): row[1].strip() for row in rows}


def test_the_page_of_borders_lists_each_package_and_each_exchanged_function():
    words = {
        takers.ALL: "all arrays",
        takers.KEYS: "masked arrays, dates, texts, objects and records, and integers and truth"
        " values without axes",
        takers.NO_DRIVERS: "masked arrays, and dates, texts, objects and records",
    }
    lent = {name: words[what] for name, what in lending._LENT.items()}
    assert rows_of("Arrays are lent when a library asks") == lent
    exchanged = rows_of("Functions that are exchanged")
    assert exchanged.keys() == {name for table in _libraries._EXCHANGED for name in table.EXCHANGED} | {
        *masked.EXCHANGED
    }
    for module, names in calls.TAKING.items():
        assert exchanged[module].replace("`", "").split(", ") == names.split()
