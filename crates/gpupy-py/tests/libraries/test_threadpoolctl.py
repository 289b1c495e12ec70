"""The threads of the driver `cpu` beside those of other libraries, as threadpoolctl sees and sets them."""

import os
import subprocess
import sys

import pytest

import gpupy

theirs = pytest.importorskip("threadpoolctl")


def ours():
    (found,) = [row for row in theirs.threadpool_info() if row["user_api"] == "gpupy"]
    return found


def test_the_threads_are_listed():
    found = ours()
    assert found["internal_api"] == "gpupy" and found["version"] == gpupy.__version__
    assert found["filepath"] == os.path.realpath(gpupy._gpupy.__file__)
    assert found["num_threads"] >= 1


@pytest.mark.parametrize("api", [None, "gpupy"])
def test_a_limit_holds_inside_and_no_longer(api):
    before = ours()["num_threads"]
    with theirs.threadpool_limits(limits=1, user_api=api):
        assert ours()["num_threads"] == 1
        assert gpupy.arange(1000.0).sum() == 499500
        with theirs.threadpool_limits(limits={"gpupy": 3}):
            assert ours()["num_threads"] == 3
        assert ours()["num_threads"] == 1
    assert ours()["num_threads"] == before


def test_a_limit_of_others_is_not_ours():
    before = ours()["num_threads"]
    with theirs.threadpool_limits(limits=before + 1, user_api="blas"):
        assert ours()["num_threads"] == before


def test_a_limit_is_of_the_whole_process():
    (found,) = [row for row in theirs.threadpool_info(True) if row["user_api"] == "gpupy"]
    assert found["thread_limit_scope"] == "process"


@pytest.mark.parametrize("wrong", [0, -1, 1025])
def test_what_is_no_number_of_threads_is_refused_and_changes_nothing(wrong):
    before = ours()["num_threads"]
    with pytest.raises(ValueError, match=f"the number of threads is {wrong}, and not from 1 to 1024"):
        gpupy._gpupy.set_threads(wrong)
    assert ours()["num_threads"] == before


WOKEN = """
import pathlib, sys, time
import threadpoolctl
import gpupy

def turns(wanted):
    before = None
    for _ in range(500):
        tasks = [task for task in pathlib.Path("/proc/self/task").iterdir()]
        found = {task.name: (task / "schedstat").read_text() for task in tasks
                 if (task / "comm").read_text().strip() == "gpupy-cpu"}
        if found == before and len(found) == wanted:
            return found
        before = found
        time.sleep(0.02)
    raise AssertionError(f"there are other threads than {wanted} that rest: {before}")

def work():
    return float(gpupy.sqrt(gpupy.arange(3_000_000.0)).sum())

wanted = work()
all = turns(3)
with threadpoolctl.threadpool_limits(limits=1):
    assert work() == wanted
    assert turns(3) == all, "a thread was woken"
with threadpoolctl.threadpool_limits(limits=2):
    assert work() == wanted
    two = len(turns(1))
print(len(all), two)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted by Linux's `/proc`")
def test_a_limit_holds_for_a_driver_that_is_open():
    path = os.pathsep.join(p for p in sys.path if p)
    env = {**os.environ, "PYTHONPATH": path, "GPUPY_DRIVER": "cpu", "GPUPY_THREADS": "4"}
    done = subprocess.run([sys.executable, "-c", WOKEN], env=env, capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (["3", "1"], "")


@pytest.mark.parametrize(
    "given, wanted",
    [
        ({"OMP_NUM_THREADS": "3"}, 3),
        ({"OMP_NUM_THREADS": "2,4"}, 2),
        ({"OMP_NUM_THREADS": "3", "GPUPY_THREADS": "2"}, 2),
        ({"OMP_NUM_THREADS": "none"}, None),
    ],
)
def test_openmps_variable_counts_where_gpupys_says_nothing(given, wanted):
    path = os.pathsep.join(p for p in sys.path if p)
    others = os.environ.keys() - {"OMP_NUM_THREADS", "GPUPY_THREADS"}
    env = {name: os.environ[name] for name in others}
    program = "import gpupy; print(gpupy._gpupy.threads())"
    command = [sys.executable, "-c", program]

    def told(**more):
        more = {**env, "PYTHONPATH": path, **more}
        return int(subprocess.run(command, env=more, capture_output=True, text=True, check=True).stdout)

    assert told(**given) == (wanted or told())
