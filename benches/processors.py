"""The processors that all sides of a comparison share: of each benchmark that starts others."""

import os


def share():
    """Keeps this process and its children to as many as `GPUPY_THREADS` says, or all; returns how many."""
    if not hasattr(os, "sched_setaffinity"):
        return os.cpu_count()
    allowed = sorted(os.sched_getaffinity(0))
    shared = allowed[: int(os.environ.get("GPUPY_THREADS") or len(allowed))]
    os.sched_setaffinity(0, shared)
    for name in ("GPUPY_THREADS", "NUMEXPR_MAX_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = str(len(shared))
    return len(shared)
