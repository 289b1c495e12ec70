"""A site: what stands in front of a loop in a program's code, and decides who runs the loop.

Owns ``Site`` and ``Leave``. A site is a constant of the code object, so that no name of the program stands
for it. Closed, it costs the look-up of one attribute, and the loop runs as it is written; a call would be
seen by profilers. Open, it asks ``enter``, which may run a part of the loop by other means: the names then
get its values, and the second copy of the loop goes on behind that part. Invariants: what marshal or
pickle make of a site is plain bytes, with which the loop runs as written; a leave belongs to the frame
that entered, and is used up before any other code of the program runs. Not here: the copy
(``second_copy.py``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .nests import FoundLoop

# True where a loop runs as written; plain bytes, which marshal makes of a site, have it too.
CLOSED = "isascii"
# True where no leave waits, so that the second copy runs each statement without a call.
BEHIND = "isalnum"


@dataclass(frozen=True)
class Leave:
    """Where the second copy of a loop goes on, and what it finds.

    Statements are counted from the loop on, which is 0, in the order of the text, ``elif`` as an ``if``.
    """

    # The statement that is run next; None behind the loop.
    target: int | None
    # Of the statements around it, the field of theirs in which it stands: `body` or `orelse`.
    blocks: Mapping[int, str] = field(default_factory=dict)
    # What the `for` among them go over: first the present values of the names that they bind, which their
    # statements may have bound anew, then the items that are left; in an `orelse`, nothing.
    iterators: Mapping[int, Iterator[Any]] = field(default_factory=dict)
    # The values of names; others stay as they are.
    names: Mapping[str, Any] = field(default_factory=dict)
    # What is raised there, which a handler of a signal raised meanwhile.
    error: BaseException | None = None


class Site(bytes):
    """One loop's site; its methods are called by the second copy."""

    nest: FoundLoop
    # Runs that are as written, without asking.
    skipped: int
    _enter: Callable[[], Leave | None]
    # By the frame that entered; one that another frame left behind, because it was interrupted, is not found.
    _leaves: dict[int, Leave]

    def __new__(cls, nest: FoundLoop) -> Site:
        site = super().__new__(cls)
        site.nest, site._leaves, site.skipped = nest, {}, 0
        setattr(site, BEHIND, True)
        site.close()
        return site

    def __reduce__(self) -> tuple[Any, ...]:
        return bytes, ()

    @property
    def enter(self) -> Callable[[], Leave | None]:
        """What was asked last before a run of the loop."""
        return self._enter

    def open(self, enter: Callable[[], Leave | None]) -> None:
        """Has a function asked before each run of the loop; it gives None where that is to be as written."""
        self._enter = enter
        setattr(self, CLOSED, False)

    def close(self) -> None:
        """Has the loop run as written."""
        setattr(self, CLOSED, True)

    def stays(self) -> bool:
        """Whether the loop runs as written this time."""
        if self.skipped:
            self.skipped -= 1
            return True
        leave = self._enter()
        if leave is None:
            return True
        self._leaves[id(sys._getframe(1))] = leave
        self.isalnum = False  # type: ignore[method-assign, assignment]
        return False

    def has(self, name: str) -> bool:
        """Whether a name gets a value."""
        return name in self._leaves[id(sys._getframe(1))].names

    def value(self, name: str) -> Any:
        """The value of a name."""
        return self._leaves[id(sys._getframe(1))].names[name]

    def runs(self, statement: int) -> bool:
        """Whether a statement is run: not one that stands before the one where the copy goes on."""
        frame = id(sys._getframe(1))
        leave = self._leaves.get(frame)
        if leave is None:
            return True
        if statement == leave.target or leave.target is None:
            del self._leaves[frame]
            # No call is between the question and the answer, so that no other thread is.
            self.isalnum = not self._leaves  # type: ignore[method-assign, assignment]
            if leave.error is not None:
                raise leave.error.with_traceback(None)
            return leave.target is not None
        return statement in leave.blocks

    def enters(self, statement: int, block: str) -> bool:
        """Whether the copy goes on inside a block of a statement, whose test is not asked then."""
        leave = self._leaves.get(id(sys._getframe(1)))
        return leave is not None and leave.blocks.get(statement) == block

    def rest(self, statement: int) -> Iterator[Any] | None:
        """What a `for` goes over that the copy goes on in; None for one that begins."""
        leave = self._leaves.get(id(sys._getframe(1)))
        return None if leave is None else leave.iterators.get(statement)
