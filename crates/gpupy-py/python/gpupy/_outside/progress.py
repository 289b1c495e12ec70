"""How far it is: bytes that are read and written, shown while a program waits.

Owns ``progress`` and ``Bar``. By ``tqdm`` where it is installed, otherwise as a line of the standard error
that is written again. Not here: what is counted (the engine, ``storing.py``).
"""

import importlib
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._gpupy import bytes_read

if TYPE_CHECKING:
    from collections.abc import Iterator

# Seconds between two looks.
_LOOK = 0.2

# The `progress` blocks that are open.
_shown: set[threading.Event] = set()


class Bar:
    """Bytes of a total, or of an unknown number."""

    def __init__(self, words: str, total: int | None = None) -> None:
        self._bar: Any
        self.words, self.total, self.done, self._began, self._told = words, total, 0, time.monotonic(), 0.0
        try:
            tqdm = importlib.import_module("tqdm.auto").tqdm
        except ImportError:
            self._bar = None
        else:
            self._bar = tqdm(desc=words, total=total, unit="B", unit_scale=True, leave=True)

    def to(self, done: int) -> None:
        """Shows that so many bytes are done."""
        more, self.done = done - self.done, done
        if self._bar is not None:
            self._bar.update(more)
        elif time.monotonic() - self._told > _LOOK:
            self._told = time.monotonic()
            self._line("\r")

    def _line(self, start: str, end: str = "") -> None:
        seconds = max(time.monotonic() - self._began, 1e-9)
        of = f" of {self.total / 1e6:.1f}" if self.total else ""
        rate = self.done / seconds / 1e6
        print(
            f"{start}{self.words}: {self.done / 1e6:.1f}{of} MB, {rate:.0f} MB/s",
            end=end,
            file=sys.stderr,
            flush=True,
        )

    def close(self) -> None:
        """Leaves the last words where they are."""
        if self._bar is not None:
            self._bar.close()
        else:
            self._line("\r", "\n")


@contextmanager
def progress() -> "Iterator[None]":
    """``with gpupy.progress():`` shows the bytes read from files, and those that ``store`` writes, until the
    end of the block.
    """
    before, done = bytes_read(), threading.Event()

    def watch() -> None:
        bar = None
        while not done.wait(_LOOK):
            if bar is None and bytes_read() > before:
                bar = Bar("read")
            if bar is not None:
                bar.to(bytes_read() - before)
        if bar is not None or bytes_read() > before:
            bar = bar or Bar("read")
            bar.to(bytes_read() - before)
            bar.close()

    thread = threading.Thread(target=watch, name="gpupy.progress", daemon=True)
    try:
        _shown.add(done)
        thread.start()
        yield
    finally:
        _shown.discard(done)
        done.set()
        if thread.is_alive():
            thread.join()


def is_shown() -> bool:
    """Whether a program asked to be shown how far it is."""
    return bool(_shown)
