"""The reads and stores of a code object, found in its instructions.

Owns ``Reads``. A read is followed from a name on: ``self.grid.dx`` is the local ``self`` and the attributes
``grid`` and ``dx``, also through a local name. Attributes of values that cannot be followed (an item, a
call's result) are listed by their names alone.

Not here: the values of these names in a running program (``watch.py``).
"""

from __future__ import annotations

import dis
import functools
import sys
from collections import defaultdict
from types import CodeType
from typing import Literal, NamedTuple

Root = Literal["local", "free", "global", "module"]


class Chain(NamedTuple):
    """A name, and attributes one after another."""

    root: Root
    name: str
    attributes: tuple[str, ...] = ()

    def then(self, attribute: str) -> Chain:
        """The chain to an attribute of this chain's value."""
        return self._replace(attributes=(*self.attributes, attribute))

    def __str__(self) -> str:
        return ".".join((self.name, *self.attributes))


class Reads(NamedTuple):
    """The reads of a code object, and its stores outside its frame."""

    chains: frozenset[Chain]
    # Those whose value is more than called or asked for an attribute: anything may be done with it.
    taken: frozenset[Chain]
    # Attributes of values that are not followed; and those whose value is taken.
    loose: frozenset[str]
    loose_taken: frozenset[str]
    # The last line that reads or stores an attribute of this name.
    attributes: dict[str, int]
    # The last line that stores an attribute, a global or an outer variable of this name.
    stores: dict[str, int]
    # Calls that read attributes in a way that is not followed, with their line.
    unclear: tuple[int, str] | None
    # Whether it asks for identities, but of None.
    asks_identity: bool


_STORES = ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD")
# Instructions that leave the top of the stack as it is.
_NOTHING = {"NOP", "RESUME", "CACHE", "EXTENDED_ARG", "PUSH_NULL", "PRECALL", "NOT_TAKEN"}


@functools.lru_cache(maxsize=4096)
def reads_of(code: CodeType) -> Reads:
    """The reads and stores of a code object."""
    aliases: dict[str, set[Chain]] = defaultdict(set)
    opaque: set[str] = set()
    # The values of a local name are known only after all of the code.
    _Walk(code, aliases, opaque).go()
    for _ in range(3):
        before = sum(map(len, aliases.values()))
        walk = _Walk(code, aliases, opaque)
        walk.go()
        if sum(map(len, aliases.values())) == before:
            break
    return Reads(
        chains=frozenset(walk.chains),
        taken=frozenset(walk.taken),
        loose=frozenset(walk.loose),
        loose_taken=frozenset(walk.loose_taken),
        attributes=walk.attributes,
        stores=walk.stores,
        unclear=walk.unclear,
        asks_identity=walk.asks_identity,
    )


def _is_called(step: dis.Instruction) -> bool:
    """Whether a load puts a value where only a call takes it."""
    match step.opname:
        case "LOAD_METHOD":
            return True
        case "LOAD_GLOBAL" | "LOAD_SUPER_ATTR":
            return bool((step.arg or 0) & 1)
        case "LOAD_ATTR":
            return sys.version_info >= (3, 12) and bool((step.arg or 0) & 1)
    return False


class _Walk:
    """One way through the instructions, in the order in which they stand."""

    def __init__(self, code: CodeType, aliases: dict[str, set[Chain]], opaque: set[str]) -> None:
        self.code, self.aliases, self.opaque = code, aliases, opaque
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
        self.arguments = set(code.co_varnames[:count])
        self.chains: set[Chain] = set()
        self.taken: set[Chain] = set()
        self.loose: set[str] = set()
        self.loose_taken: set[str] = set()
        self.attributes: dict[str, int] = {}
        # What was loaded as a value by the instruction before; and whether the load put it where a call takes
        # it, with the attributes that come next.
        self.value: tuple[set[Chain], str | None] = (set(), None)
        self.is_callee = False
        self.stores: dict[str, int] = {}
        self.unclear: tuple[int, str] | None = None
        self.asks_identity = False
        self.is_none = False
        # The module that is imported, as names of it are.
        self.imported: set[Chain] = set()
        # The top of the stack, as far as it is known, and whether it may be something else.
        self.top: set[Chain] = set()
        self.may_be_other = True

    def go(self) -> None:
        line = self.code.co_firstlineno
        for step in dis.get_instructions(self.code):
            if step.positions is not None and step.positions.lineno is not None:
                line = step.positions.lineno
            if step.is_jump_target:
                # It may have come another way.
                self.may_be_other = True
            self.asks_identity |= step.opname == "IS_OP" and not self.is_none
            self.is_none = step.opname == "LOAD_CONST" and step.argval is None
            if step.opname == "PUSH_NULL" and sys.version_info >= (3, 13):
                # What was loaded before is called.
                self.value = (set(), None)
            if step.opname not in _NOTHING:
                self.step(step.opname, step.argval, line, is_called=_is_called(step))
        self.take()

    def step(self, name: str, value: object, line: int, *, is_called: bool) -> None:
        if name not in _ATTRIBUTES:
            self.take()
            self.is_callee = False
        if name in _STORES:
            self.stored(name, str(value), line)
        if name.startswith(("STORE_FAST", "STORE_DEREF", "STORE_NAME")):
            names = value if isinstance(value, tuple) else (value,)
            self.store(str(names[0]))
            if name == "STORE_FAST_LOAD_FAST":
                self.load_local(str(names[1]))
            elif len(names) > 1:
                self.forget()
                self.store(str(names[1]))
            else:
                self.forget()
        elif name.startswith("LOAD_FAST"):
            names = value if isinstance(value, tuple) else (value,)
            for one in names:
                self.load_local(str(one))
        elif name in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            self.load(Chain("global", str(value)), is_called=is_called)
        elif name in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"):
            if value in self.code.co_freevars:
                self.load(Chain("free", str(value)))
            else:
                self.load_local(str(value))
        elif name in _ATTRIBUTES:
            self.attributes[str(value)] = line
            self.attribute(str(value), is_super="SUPER" in name, is_called=is_called)
        elif name == "IMPORT_NAME":
            whole = str(value)
            self.imported = {Chain("module", whole), Chain("module", whole.partition(".")[0])}
            self.chains |= self.imported
            self.top, self.may_be_other = set(self.imported), False
            self.value = (self.top, None)
        elif name == "IMPORT_FROM":
            self.top = {chain.then(str(value)) for chain in self.imported}
            self.chains |= self.top
            self.value = (self.top, None)
            self.may_be_other = False
        else:
            if name == "MATCH_CLASS":
                self.unclear = (line, "matches the pattern of a class")
            self.forget()

    def stored(self, name: str, value: str, line: int) -> None:
        """A store is read, too, to check afterwards whether the value has changed."""
        self.stores[value] = line
        if "ATTR" in name:
            self.attributes[value] = line
            self.attribute(value, is_super=False, is_called=True)
        elif "GLOBAL" in name:
            self.chains.add(Chain("global", value))
        elif value in self.code.co_freevars:
            self.chains.add(Chain("free", value))

    def store(self, name: str) -> None:
        self.aliases[name] |= self.top
        if self.may_be_other:
            self.opaque.add(name)

    def take(self) -> None:
        """What was loaded was not asked for an attribute at once."""
        chains, loose = self.value
        self.taken |= chains
        if loose is not None:
            self.loose_taken.add(loose)
        self.value = (set(), None)

    def load(self, chain: Chain, *, is_called: bool = False) -> None:
        self.top, self.may_be_other = {chain}, False
        self.chains.add(chain)
        self.is_callee = is_called
        if not is_called:
            self.value = (self.top, None)

    def load_local(self, name: str) -> None:
        self.top = set(self.aliases.get(name, ()))
        if name in self.arguments:
            self.top.add(Chain("local", name))
        self.chains |= self.top
        self.value = (self.top, None)
        self.may_be_other = name in self.opaque or not self.top

    def attribute(self, name: str, *, is_super: bool, is_called: bool) -> None:
        is_loose = self.may_be_other or is_super
        if is_loose:
            self.loose.add(name)
        self.top = {chain.then(name) for chain in self.top if len(chain.attributes) < 64}
        self.chains |= self.top
        is_value = not (is_called or self.is_callee)
        self.value = (self.top, name if is_loose else None) if is_value else (set(), None)

    def forget(self) -> None:
        self.top, self.may_be_other = set(), True
