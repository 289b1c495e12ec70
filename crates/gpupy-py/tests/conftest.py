"""Every test runs on every driver that starts, with normal and with tiny limits.

On GPU drivers this is a share of the tests of the front end: ``duties.py`` says which file has which duty.
"""

import functools
import os

import duties
import hypothesis
import pytest
import since
from duties import (  # noqa: F401  (hooks of pytest)
    pytest_addoption,
    pytest_configure,
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
)

import gpupy

hypothesis.settings.register_profile(
    "gpupy",
    deadline=None,
    suppress_health_check=[
        hypothesis.HealthCheck.function_scoped_fixture,
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.data_too_large,
    ],
)
# Where a change is judged, the same examples every time; everywhere else new ones, to find more.
hypothesis.settings.register_profile(
    "judged", parent=hypothesis.settings.get_profile("gpupy"), derandomize=True
)
hypothesis.settings.load_profile("judged" if os.environ.get("CI") else "gpupy")

# Every driver is asked for by name here; programs that tests start say nothing of software devices.
os.environ["PYTHONWARNINGS"] = "ignore:driver `:UserWarning"

DRIVERS = gpupy.drivers()
# Enough for any one operation of random programs, of int64 too, which a bool and the number 5 give; what each
# number limits is the driver's own (`gpupy.drivers()` names them).
COMPUTE = [8, 3, 8, 3, 1, 4]
TIGHT = {"gl": [48, 48, 6, 1, 0, 0, 2, 6], "vulkan": COMPUTE, "wgpu": COMPUTE}
TINY = {"block_bytes": 64, "device_bytes": 4096}


def _cases(limits):
    cases = []
    for row in DRIVERS:
        marks = [] if row["starts"] else [pytest.mark.skip(reason=f"cannot start: {row['reason']}")]
        tight = {"resources": (TIGHT.get(row["name"], [8]) + [0] * 8)[:8]}
        for name, given in limits.items():
            own = tight if given is None else given
            case = pytest.param((row["name"], own), id=f"{row['name']}-{name}", marks=marks)
            cases.append(case)
    return cases


def _open(case):
    name, limits = case
    gpupy._gpupy.reconfigure(name, **limits)
    gpupy.reset_stats()
    return name


@pytest.fixture(params=_cases({"normal": {}, "tiny": TINY}))
def device(request):
    """Each driver, with its own limits and with blocks of 16 elements in 4 KiB of memory."""
    return _open(request.param)


@pytest.fixture(params=_cases({"normal": {}, "tiny": TINY, "tight": None}))
def limited(request):
    """Each driver as above, and with so few resources that every expression is cut to pieces."""
    return _open(request.param)


@pytest.fixture(params=_cases({"normal": {}}))
def driver(request):
    """Each driver with its own limits."""
    return _open(request.param)


@pytest.fixture(params=[row["name"] for row in DRIVERS if row["starts"]])
def forbidding(request):
    """A driver, with the host driver beside it, while calls may not go to NumPy."""
    gpupy._gpupy.reconfigure(request.param, strict=False)
    with gpupy.fallback("error"):
        yield request.param


@pytest.fixture(params=["cpu", "soft"])
def auto(request):
    """A driver with the host driver beside it, as users have them."""
    gpupy._gpupy.reconfigure(request.param, strict=False)
    gpupy.reset_stats()


@pytest.fixture
def compiles_loops(monkeypatch):
    """Loops are compiled, however short and on however busy a machine, on the driver of most users."""
    from gpupy._loops import entries, readers
    from gpupy._session import written_code

    gpupy._gpupy.reconfigure("cpu", strict=False)
    monkeypatch.setattr(entries, "_WORTH_COMPILING", 0)
    monkeypatch.setattr(entries, "_WORTH_ENTERING", 0)
    monkeypatch.setattr(entries, "_SOON", 60)
    monkeypatch.setattr(readers, "may_read", lambda tree: False)
    monkeypatch.setattr(written_code, "_readers", [])


@pytest.fixture
def some(request):
    """The cases that a test goes through: of ``some(cases, parts)`` one of so many on a GPU driver."""
    return functools.partial(duties.some, request.node)


def pytest_collection_modifyitems(config, items):
    since.leave_out(items)
    duties.leave_out(config, items)
