"""Dask's workers with our chunks: processes of their own, with limits, which may end in the middle.

Each test is a program, as workers are processes that start from one. Not here: what goes between them
(``test_dask_chunks.py``), operations (``test_dask_operations.py``).
"""

import json
import os
import subprocess
import sys
import textwrap

import programs
import pytest

import gpupy

pytest.importorskip("distributed")

# The longest that a program may take; on a busy machine ten times what it does.
LIMIT = 600

PROGRAM = """
import faulthandler, json, os, signal, sys, time
import dask, dask.array as da, numpy
from distributed import Client, LocalCluster, Nanny, SpecCluster, Scheduler, get_worker, wait
import gpupy

faulthandler.dump_traceback_later({limit}, exit=True)
dask.config.set({{"array.backend": "gpupy", "distributed.worker.multiprocessing-method": {method!r}}})

def says(**values):
    print(json.dumps(values))

if __name__ == "__main__":
    with {cluster} as cluster, Client(cluster) as client:
{code}
"""
CLUSTER = "LocalCluster(n_workers={workers}, threads_per_worker={threads}, memory_limit={memory!r}, {rest})"


def run(code, tmp_path, *, workers=2, threads=1, memory="1GB", method="spawn", cluster=None, **more):
    """The output of a program that runs beside workers, as a dictionary."""
    rest = f"dashboard_address=None, local_directory={str(tmp_path)!r}"
    cluster = cluster or CLUSTER.format(workers=workers, threads=threads, memory=memory, rest=rest)
    path = tmp_path / "program.py"
    code = textwrap.indent(textwrap.dedent(code), 8 * " ")
    path.write_text(PROGRAM.format(limit=LIMIT, method=method, cluster=cluster, code=code))
    others = os.environ.keys() - {"OMP_NUM_THREADS", "GPUPY_THREADS", "GPUPY_DEVICE_BYTES"}
    env = {name: os.environ[name] for name in others} | more
    env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run([sys.executable, str(path)], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    said = {}
    for line in done.stdout.splitlines():
        said |= json.loads(line)
    return said


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_workers_compute_whatever_starts_them(method, tmp_path):
    code = """
    # The client has computed, and has threads of its own, before the workers start.
    assert float((gpupy.arange(3e6) + 1).sum()) == 4500001500000
    x = da.random.default_rng(1).random((2000, 600), chunks=(500, 600))
    y = (x - x.mean(axis=0)).persist()
    wait(y)
    u, s, v = da.linalg.svd(y)
    elements = numpy.asarray(x.compute())
    elements = elements - elements.mean(axis=0)
    says(
        kind=type(y.compute()).__module__,
        close=bool(numpy.allclose(s.compute(), numpy.linalg.svd(elements, compute_uv=False))),
        median=bool(numpy.allclose(da.median(y, axis=0).compute(), numpy.median(elements, axis=0))),
        processes=len({*client.run(os.getpid).values(), os.getpid()}),
    )
    """
    found = run(code, tmp_path, method=method)
    assert found == {"kind": "gpupy", "close": True, "median": True, "processes": 3}


def test_chunks_go_from_worker_to_worker(tmp_path):
    code = """
    one, other = client.scheduler_info()["workers"]
    made = client.submit(lambda: numpy.sqrt(gpupy.arange(1e6)), workers=one)

    def look(a):
        return type(a).__module__, float(a.sum()), get_worker().address

    there = client.submit(look, made, workers=other)
    given = client.scatter(gpupy.arange(5.0), workers=[one])
    says(
        there=there.result()[:2] + (there.result()[2] == other,),
        back=made.result()[:3].tolist(),
        given=client.submit(lambda a: a * 2, given, workers=other).result().tolist(),
    )
    """
    found = run(code, tmp_path)
    total = sum(n**0.5 for n in range(10**6))
    kind, there, is_other = found["there"]
    assert (kind, is_other) == ("gpupy", True) and there == pytest.approx(total, rel=1e-12)
    assert found["back"] == [0, 1, 2**0.5] and found["given"] == [0, 2, 4, 6, 8]


def test_what_arrives_is_read_where_the_socket_put_it(tmp_path):
    code = """
    one, other = client.scheduler_info()["workers"]

    def watch():
        theirs = gpupy._methods.pickling.from_buffer

        def from_buffer(buffer, *rest):
            array = theirs(buffer, *rest)
            there = numpy.frombuffer(buffer).ctypes.data
            watched.append((len(memoryview(buffer).cast("B")), array._host().ctypes.data == there))
            return array

        gpupy.watched = watched = []
        gpupy._methods.pickling.from_buffer = from_buffer

    client.run(watch, workers=[other])
    sizes = [20_000 + 1001 * n for n in range(12)]
    for n in sizes:
        # Names of other lengths make headers of other lengths.
        made = client.submit(gpupy.arange, float(n), workers=one, key="x" * (n % 7) + str(n))
        assert float(client.submit(lambda a: a[-1], made, workers=other, pure=False).result()) == n - 1
    says(seen=client.run(lambda: gpupy.watched, workers=[other])[other], sizes=sizes)
    """
    found = run(code, tmp_path)
    assert found["seen"] == [[8 * n, True] for n in found["sizes"]]


@pytest.mark.parametrize("method", ["tasks", "p2p"])
def test_other_chunks_are_ours_too(method, tmp_path):
    code = f"""
    x = da.random.default_rng(1).random((600, 400), chunks=(100, 400)).persist()
    y = x.rechunk((600, 70), method={method!r})
    kinds = {{type(chunk).__module__ for chunk in dask.compute(*y.to_delayed().ravel().tolist())}}
    says(meta=type(y._meta).__module__, kinds=sorted(kinds), same=bool((y.compute() == x.compute()).all()))
    """
    assert run(code, tmp_path) == {"meta": "gpupy", "kinds": ["gpupy"], "same": True}


def test_functions_that_name_submodules_reach_workers(tmp_path):
    code = """
    def inverse(n):
        return gpupy.linalg.inv(2 * gpupy.eye(n)).sum()

    says(found=float(client.submit(inverse, 4).result()))
    """
    assert run(code, tmp_path, workers=1) == {"found": 2}


def test_what_is_persisted_is_computed_on_the_workers(tmp_path):
    code = """
    x = da.sqrt(da.arange(4e6, chunks=1_000_000)).persist()
    wait(x)

    def launches():
        return gpupy.stats()["launches"]

    before = client.run(launches)
    here = launches()
    last = float(x[-1].compute())
    says(before=min(before.values()), more=[client.run(launches)[w] - before[w] for w in before],
         here=launches() - here, last=last)
    """
    found = run(code, tmp_path)
    assert found.pop("last") == pytest.approx((4e6 - 1) ** 0.5)
    assert found.pop("before") > 0
    assert found == {"more": [0, 0], "here": 0}


def test_four_times_the_memory_of_the_workers_is_spilled_and_the_work_ends(tmp_path):
    # A chunk has 8 MB; a worker that has done nothing has about 200.
    code = """
    x = da.random.default_rng(1).random((500 * 400, 2000), chunks=(500, 2000)).persist()
    spread = float(((x - x.mean(axis=0)) ** 2).mean().compute())
    spilled = [w["metrics"]["spilled_bytes"]["disk"] for w in client.scheduler_info()["workers"].values()]
    says(times=x.nbytes / 400e6 / 2, spread=spread, spilled=sum(spilled))
    """
    found = run(code, tmp_path, memory="400MB")
    assert found["times"] == 4
    assert found["spread"] == pytest.approx(1 / 12, rel=1e-3)
    assert found["spilled"] > 1.6e9


def test_memory_that_a_worker_lets_go_of_goes_back_to_the_system(tmp_path):
    code = """
    def resident():
        import psutil

        return psutil.Process().memory_info().rss

    before = client.submit(resident, pure=False).result()
    x = da.ones(10_000_000, chunks=2_000_000) * da.arange(10_000_000, chunks=2_000_000)
    x = x.persist()
    wait(x)
    full = client.submit(resident, pure=False).result()
    del x
    for _ in range(100):
        left = client.submit(resident, pure=False).result()
        if left - before < 45e6:
            break
        time.sleep(0.1)
    says(full=full - before, left=left - before)
    """
    found = run(code, tmp_path, workers=1, memory="400MB")
    assert found["full"] > 75e6
    assert found["left"] < 45e6


def test_a_worker_that_is_killed_in_the_middle_costs_only_time(tmp_path):
    code = """
    def slow(block):
        time.sleep(0.05)
        return block + 1

    x = da.arange(2e6, chunks=50_000).map_blocks(slow, meta=gpupy.empty(0))
    future = client.compute((x * 2).sum())
    kept = client.persist(x)
    pids = client.run(os.getpid)
    time.sleep(0.6)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    result = float(future.result())
    wait(kept)
    again = float(kept.sum().compute())
    says(result=result, again=again, killed=len(set(pids.values()) - set(client.run(os.getpid).values())))
    """
    folder = tmp_path / "cache"
    found = run(code, tmp_path, XDG_CACHE_HOME=str(folder))
    wanted = sum(range(1, 2 * 10**6 + 1))
    assert found == {"result": 2 * wanted, "again": wanted, "killed": 1}
    # Of kernels that are kept on disk none is half written.
    left = [path for path in folder.rglob("*") if path.is_file() and ".tmp" in path.name]
    assert not left


SHARE = """
client.gather(client.map(lambda n: n, range(20)))
says(threads=list(client.run(lambda: gpupy._gpupy.threads()).values()))
"""


@pytest.mark.parametrize(
    "threads, more, wanted",
    [
        (1, {}, 1),
        (2, {}, min(2, os.cpu_count() or 1)),
        (1, {"GPUPY_THREADS": "2"}, 2),
        (2, {"GPUPY_THREADS": "1"}, 1),
    ],
)
def test_a_worker_uses_its_share_of_the_cores(threads, more, wanted, tmp_path):
    assert run(SHARE, tmp_path, workers=1, threads=threads, **more) == {"threads": [wanted]}


def test_a_limit_of_threadpoolctl_holds_in_a_task(tmp_path):
    pytest.importorskip("threadpoolctl")
    code = """
    def limited():
        import threadpoolctl

        with threadpoolctl.threadpool_limits(limits=1):
            return gpupy._gpupy.threads()

    says(inside=client.submit(limited).result(), outside=client.submit(gpupy._gpupy.threads).result())
    """
    assert run(code, tmp_path, workers=1, GPUPY_THREADS="2") == {"inside": 1, "outside": 2}


def test_the_programs_of_the_benchmark_give_the_same_on_both_back_ends(tmp_path):
    small = ["--rounds", "1", "--factor", "0.01", "--workers", "2"]
    programs.run(tmp_path, str(programs.ROOT / "benches/scale.py"), *small)
    assert (tmp_path / "out/scale.md").read_text().count("| 2 ×") == 4


# Each worker has an environment of its own.
SPEC = """SpecCluster(
        workers={{
            n: {{"cls": Nanny, "options": {{"nthreads": 1, "env": env, "memory_limit": "1GB",
                "local_directory": {folder!r}}}}} for n, env in enumerate({envs!r})
        }},
        scheduler={{"cls": Scheduler, "options": {{"dashboard": False, "port": 0}}}},
    )"""


def test_each_worker_has_its_own_driver(tmp_path):
    envs = [{"GPUPY_DRIVER": "cpu", "GPUPY_THREADS": "1"}, {"GPUPY_DRIVER": "soft"}]
    code = """
    def opened():
        float((gpupy.arange(1e5) * 2).sum())
        return gpupy.current_driver()

    says(found=sorted(client.run(opened).values()))
    """
    cluster = SPEC.format(folder=str(tmp_path), envs=envs)
    assert run(code, tmp_path, cluster=cluster)["found"] == ["cpu", "soft"]


CHOOSING = [row for row in gpupy.drivers() if row["starts"] and row["devices"]]


@pytest.mark.parametrize("row", CHOOSING, ids=lambda row: row["name"])
def test_each_worker_opens_its_own_device(row, tmp_path):
    last = len(row["devices"]) - 1
    wanted = [str(last), "no such device"]
    envs = [{"GPUPY_DRIVER": row["name"], "GPUPY_DEVICE": device} for device in wanted]
    code = """
    def opened():
        try:
            return float((gpupy.arange(1e5, dtype="f4") * 2)[-1])
        except gpupy.DriverError as error:
            return str(error)

    found = client.run(opened)
    devices = client.run(lambda: os.environ["GPUPY_DEVICE"])
    says(**{devices[worker]: found[worker] for worker in found})
    """
    cluster = SPEC.format(folder=str(tmp_path), envs=envs)
    found = run(code, tmp_path, cluster=cluster)
    assert found[wanted[0]] == 199998
    assert "GPUPY_DEVICE" in found[wanted[1]] and f"{last}: {row['devices'][last]}" in found[wanted[1]]


DEVICES = [row["name"] for row in gpupy.drivers() if row["starts"] and row["name"] not in ("cpu", "soft")]


@pytest.mark.parametrize("driver", DEVICES)
def test_two_workers_share_a_device_by_the_memory_that_each_is_given(driver, tmp_path):
    memory = 4 << 20
    env = {"GPUPY_DRIVER": driver, "GPUPY_DEVICE_BYTES": str(memory), "GPUPY_PLACEMENT": "strict"}
    code = f"""
    # Sixteen times what a worker may use there.
    x = da.arange(1 << 24, chunks=1 << 19, dtype="f4")
    y = (da.sqrt(x) + 1).persist()
    wait(y)
    total = float(y.sum(dtype="f8").compute())

    def used():
        row = gpupy.stats()["drivers"][{driver!r}]
        return row["block_bytes"] + row["pool_bytes"], row["launches"], gpupy.current_driver()

    most, launches, drivers = zip(*client.run(used).values())
    says(total=total, most=max(most), launches=min(launches), drivers=sorted(drivers))
    """
    cluster = SPEC.format(folder=str(tmp_path), envs=[env, env])
    found = run(code, tmp_path, cluster=cluster)
    assert found["total"] == pytest.approx(2 / 3 * 2.0**36 + 2**24, rel=1e-5)
    assert 0 < found["most"] <= memory
    assert found["launches"] > 0 and found["drivers"] == [driver, driver]
