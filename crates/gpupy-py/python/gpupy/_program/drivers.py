"""The choice of a driver for a block of code, and the counters.

Owns ``driver``, ``stats`` and ``reset_stats``. Not here: drivers themselves.
"""

import os
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .. import _gpupy
from .._fallback import policy

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_gpupy.before_fork,
        after_in_parent=_gpupy.after_fork,
        after_in_child=_gpupy.after_fork,
    )


class driver(_gpupy.Bracket):
    """``with gpupy.driver("soft"):`` uses a driver, or what else `use` takes, until the end of the block."""

    __module__ = "gpupy._drivers"

    _lock = None

    def __init__(self, name: str) -> None:
        self._name = name

    def _begin(self, _frame: Any) -> tuple[Any, ...]:
        before = _gpupy.wanted_driver()
        return ((_gpupy.use, self._name),), None, ((_gpupy.use, before),), self


class Stats(dict[str, Any]):
    """Counts by name, as items and as attributes."""

    __module__ = "gpupy._drivers"

    kernels_compiled: int
    kernels_specialised: int
    launches: int
    sequences: int
    instructions: int
    nodes_walked: int
    plans_replayed: int
    flushes_replayed: int
    flushes_not_kept: dict[str, int]
    in_place: int
    blocks_evaluated: int
    computed_at_once: int
    bytes_read: int
    bytes_spilled: int
    bytes_uploaded: int
    extents_uploaded: int
    bytes_imported: int
    bytes_downloaded: int
    evictions: int
    cache_hits: int
    cache_misses: int
    pool_hits: int
    smaller_cuts: int
    blocks: int
    block_bytes: int
    pool_blocks: int
    pool_bytes: int
    automatic_flushes: int
    driver_fallbacks: int
    pins: int
    drivers: dict[str, dict[str, int]]
    groups: dict[str, list[dict[str, Any]]]
    fallbacks: int
    fallback_sites: list[tuple[str, str, int, int]]

    if not TYPE_CHECKING:
        # To checkers a name that is not above is a mistake.
        def __getattr__(self, name):
            try:
                return self[name]
            except KeyError:
                raise AttributeError(f"there is no count `{name}`", name=name, obj=self) from None

        def __dir__(self):
            return [*super().__dir__(), *self]


def stats() -> Stats:
    """Counts of kernels, launches, transfers and fallbacks to NumPy since the last reset."""
    counts = Stats(_gpupy.counters())
    rows = policy.sites()
    counts["fallbacks"] = sum(row[3] for row in rows)
    counts["fallback_sites"] = rows
    return counts


def reset_stats() -> None:
    """Sets all counts to zero."""
    _gpupy.reset_counters()
    policy.reset()


@overload
def info() -> str: ...
@overload
def info(
    object: Any,
    maxwidth: int = 76,
    output: "SupportsWrite[str] | None" = None,
    toplevel: str = "numpy",
) -> None: ...
def info(*args: Any, **kwargs: Any) -> str | None:
    """Every driver as text: its device, abilities and limits; or the reason why it does not start.

    With arguments it is NumPy's ``info``, which prints the documentation of an object.
    """
    if args or kwargs:
        _gpupy.call("info", np.info, args, kwargs)
        return None
    lines = []
    for row in _gpupy.drivers():
        if not row["starts"]:
            lines.append(f"{row['name']}: cannot start: {row['reason']}")
            continue
        kind = "hardware" if row["hardware"] else "software"
        lines.append(f"{row['name']}: {row['device']} ({kind})")
        lines.append(f"    dtypes: {', '.join(row['dtypes'])}")
        limits = {"elements in a block": row["largest_block"], "destinations": row["destinations"]} | row[
            "limits"
        ]
        lines.append("    at most: " + ", ".join(f"{limit} {name}" for name, limit in limits.items()))
        for number, device in enumerate(row["devices"] if len(row["devices"]) > 1 else []):
            lines.append(f"    GPUPY_DEVICE={number}: {device}")
        if row["findings"]:
            found = ", ".join(f"{what}: {answer}" for what, answer in row["findings"].items())
            lines.append(f"    findings: {found}")
        if row["round_trip"] is not None:
            launch, speeds = row["round_trip"] / 1000, [row["upload"], row["download"]]
            up, down = (f"{1 / cost:.1f} GB/s" if cost else "at once" for cost in speeds)
            lines.append(f"    a launch and its answer: {launch:.0f} µs; upload {up}, download {down}")
        notes = ["works on host memory"] if row["host_memory"] else []
        notes += ["reads large arrays in host memory"] if row["imports"] else []
        notes += ["flushes subnormal numbers to zero"] if row["flushes_subnormals"] else []
        lines += [f"    {note}" for note in notes]
    return "\n".join(lines)


for _public in (stats, reset_stats, info):
    _public.__module__ = "gpupy._drivers"
