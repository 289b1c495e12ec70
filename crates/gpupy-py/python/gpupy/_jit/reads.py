"""The reads and stores of a code object, found in its instructions.

Owns ``Reads``. A read is followed from a name on: ``self.grid.dx`` is the local ``self`` and the attributes
``grid`` and ``dx``, also through a local name. Attributes of values that cannot be followed (an item, a
call's result) are listed by their names alone.

Not here: the values of these names in a running program (``watch.py``).
"""

from __future__ import annotations

import dis
import functools
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
    # Attributes of values that are not followed.
    loose: frozenset[str]
    # The last line that stores an attribute, a global or an outer variable of this name.
    stores: dict[str, int]
    # Calls that read attributes in a way that is not followed, with their line.
    unclear: tuple[int, str] | None
    # Whether it asks for identities, but of None.
    asks_identity: bool


_STORES = ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF")
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
    return Reads(frozenset(walk.chains), frozenset(walk.loose), walk.stores, walk.unclear, walk.asks_identity)


class _Walk:
    """One way through the instructions, in the order in which they stand."""

    def __init__(self, code: CodeType, aliases: dict[str, set[Chain]], opaque: set[str]) -> None:
        self.code, self.aliases, self.opaque = code, aliases, opaque
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
        self.arguments = set(code.co_varnames[:count])
        self.chains: set[Chain] = set()
        self.loose: set[str] = set()
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
            self.step(step.opname, step.argval, line)

    def step(self, name: str, value: object, line: int) -> None:
        if name in _NOTHING:
            return
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
            self.load(Chain("global", str(value)))
        elif name in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"):
            if value in self.code.co_freevars:
                self.load(Chain("free", str(value)))
            else:
                self.load_local(str(value))
        elif name in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD"):
            self.attribute(str(value), is_super="SUPER" in name)
        elif name == "IMPORT_NAME":
            whole = str(value)
            self.imported = {Chain("module", whole), Chain("module", whole.partition(".")[0])}
            self.chains |= self.imported
            self.top, self.may_be_other = set(self.imported), False
        elif name == "IMPORT_FROM":
            self.top = {chain.then(str(value)) for chain in self.imported}
            self.chains |= self.top
            self.may_be_other = False
        else:
            if name == "MATCH_CLASS":
                self.unclear = (line, "matches the pattern of a class")
            self.forget()

    def stored(self, name: str, value: str, line: int) -> None:
        """A store is read, too, to check afterwards whether the value has changed."""
        self.stores[value] = line
        if "ATTR" in name:
            self.attribute(value, is_super=False)
        elif "GLOBAL" in name:
            self.chains.add(Chain("global", value))
        elif value in self.code.co_freevars:
            self.chains.add(Chain("free", value))

    def store(self, name: str) -> None:
        self.aliases[name] |= self.top
        if self.may_be_other:
            self.opaque.add(name)

    def load(self, chain: Chain) -> None:
        self.top, self.may_be_other = {chain}, False
        self.chains.add(chain)

    def load_local(self, name: str) -> None:
        self.top = set(self.aliases.get(name, ()))
        if name in self.arguments:
            self.top.add(Chain("local", name))
        self.chains |= self.top
        self.may_be_other = name in self.opaque or not self.top

    def attribute(self, name: str, *, is_super: bool) -> None:
        if self.may_be_other or is_super:
            self.loose.add(name)
        self.top = {chain.then(name) for chain in self.top if len(chain.attributes) < 64}
        self.chains |= self.top

    def forget(self) -> None:
        self.top, self.may_be_other = set(), True
