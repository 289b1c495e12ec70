"""Dask's tasks and workers: results are computed by their task, and go between workers without a copy.

Owns ``ROWS`` and ``computed``. Invariants: nothing that a task gives is pending when it has ended, so that
errors, times and memory are its own; memory that came from another worker is read where it lies. Not here:
Dask's arrays (``dask_arrays.py``), pickle (``_methods/methods.py``), when this is done (``__init__.py``).
"""

import functools
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import _gpupy
from .._gpupy import ndarray, scalar
from . import calls


def computed(result: Any) -> Any:
    """A task's result, after all arrays of ours in it were evaluated together."""
    pending = list(_ours(result))
    if pending:
        _gpupy.evaluate(*pending)
    return result


_ARRAYS = (ndarray, scalar)
_CONTAINERS = (tuple, list, dict)


def _ours(result: Any) -> Iterator[Any]:
    """The arrays and scalars of ours in a task's result, also inside tuples, lists and dictionaries."""
    left, seen = [result], set()
    while left:
        item = left.pop()
        if type(item) in _ARRAYS:
            yield item
        elif isinstance(item, ndarray):
            yield item
            # Such as a mask.
            left.extend(kept for kept in vars(item).values() if type(kept) is ndarray)
        elif type(item) in _CONTAINERS and id(item) not in seen:
            # One may be inside of itself.
            seen.add(id(item))
            items = item.values() if type(item) is dict else item
            # Long ones are numbers, or all alike.
            if len(items) <= calls.SHORT or type(next(iter(items))) in (*_ARRAYS, *_CONTAINERS):
                left.extend(items)


def _and_computed(task: Callable[..., Any]) -> Callable[..., Any]:
    return lambda data: computed(task(data))


def _local(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A task of the schedulers in this process, and of those of processes."""

    @functools.wraps(theirs)
    def execute_task(key: Any, info: Any, dumps: Any, loads: Any, *rest: Any) -> Any:
        def loaded(info: Any) -> Any:
            task, data = loads(info)
            return _and_computed(task), data

        return theirs(key, info, dumps, loaded, *rest)

    return execute_task


def _distributed(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A task of a worker."""

    @functools.wraps(theirs)
    def run_task(task: Any, *rest: Any) -> Any:
        _keep_within_share()
        return theirs(_and_computed(task), *rest)

    return run_task


# The part of a worker's memory that may be kept free for reuse.
POOL = 1 / 16


@functools.cache
def _keep_within_share() -> None:
    """Keeps the process to the threads and the memory that its worker has; done once.

    ``OMP_NUM_THREADS``, which Dask sets to 1 for its worker processes, is a number for each thread of a
    worker. Evaluations come one after the other here, so each may use what all the threads may. Memory that
    is kept free looks to Dask like memory in use, which it would spill other data for.
    """
    from dask.system import CPU_COUNT
    from distributed.worker import get_worker

    try:
        worker = get_worker()
    except ValueError:
        # A process of a worker's pool.
        return
    if worker.nanny is None:
        # The process is the client's, or another program's.
        return
    share = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if not os.environ.get("GPUPY_THREADS") and share.isdecimal() and int(share):
        _gpupy.set_threads(max(1, min(int(share) * worker.state.nthreads, CPU_COUNT)))
    limit = worker.memory_manager.memory_limit
    if limit:
        _gpupy.set_pool_bytes(int(limit * POOL))


def _serializers() -> None:
    protocol: Any = sys.modules["distributed.protocol.serialize"]

    @protocol.dask_serialize.register(ndarray)
    def serialize(array: ndarray, context: Any = None) -> tuple[dict[str, Any], list[Any]]:
        if not array._lazy or type(array) is not ndarray:
            # A dtype of NumPy's own, or attributes of a subclass.
            frames: list[Any] = []
            pickled = protocol.pickle.dumps(array, buffer_callback=lambda f: frames.append(memoryview(f)))
            return {"pickle": True}, [pickled, *frames]
        host = array._constant()
        shape = host.shape
        # Elements that an axis repeats are sent once.
        host = host[tuple(slice(None) if stride else slice(1) for stride in host.strides)]
        if not host.flags.forc:
            host = np.ascontiguousarray(host)
        header = {"dtype": host.dtype.str, "once": host.shape, "shape": shape}
        header["order"] = "F" if host.flags.fnc else "C"
        # The first frame that is no bytes object is received behind headers, at any address; the others are
        # each received into memory of their own.
        return header, [memoryview(bytearray()), host.ravel(order="K").data]

    @protocol.dask_deserialize.register(ndarray)
    def deserialize(header: dict[str, Any], frames: list[Any]) -> Any:
        if header.get("pickle"):
            return protocol.pickle.loads(frames[0], buffers=frames[1:])
        once, shape = tuple(header["once"]), tuple(header["shape"])
        gpupy: Any = sys.modules["gpupy"]
        array = gpupy._methods.from_buffer(frames[-1], header["dtype"], once, header["order"])
        return array if once == shape else gpupy.broadcast_to(array, shape)


def _schedulers() -> None:
    calls.put(sys.modules["dask.local"], "execute_task", _local, always=True)


def _workers() -> None:
    calls.put(sys.modules["distributed.worker"], "_run_task_simple", _distributed, always=True)


ROWS: dict[str, Callable[[], None]] = {
    "distributed.protocol.serialize": _serializers,
    "distributed.worker": _workers,
}
EXCHANGED: dict[str, Callable[[], None]] = {
    "dask.local": _schedulers,
}
