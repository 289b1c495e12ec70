"""Objects of Python's library that traced functions read or change: each call gives what the function gives.

Not here: state of a program's own objects (``test_jit_state.py``), clocks (``test_jit_pure.py``).
"""

import builtins
import collections
import contextlib
import copy
import dataclasses
import decimal
import fractions
import functools
import json
import math
import operator
import os
import pathlib
import pickle
import tempfile
import threading
import types
import weakref

import numpy as np
import pytest

import gpupy as gp

CASES = []
tmp = tempfile.mkdtemp()


def case(function):
    CASES.append(function)
    return function


@pytest.fixture(autouse=True)
def cpu():
    gp._gpupy.reconfigure("cpu", strict=False)


class T:
    k = 1.0


@case
def reads_environ():
    os.environ["KK"] = "2"
    yield lambda x: x * float(os.environ["KK"])
    os.environ["KK"] = "3"


@case
def reads_getenv():
    os.environ["KK"] = "2"
    yield lambda x: x * float(os.getenv("KK"))
    os.environ["KK"] = "3"


@case
def reads_files():
    p = pathlib.Path(tmp) / "a"
    p.write_text("2")
    yield lambda x: x * float(p.read_text())
    p.write_text("3")
    yield
    p.write_text("4")


@case
def reads_files2():
    p = os.path.join(tmp, "b")
    open(p, "w").write("[2]")

    def f(x):
        with open(p) as h:
            return x * json.load(h)[0]

    yield f
    open(p, "w").write("[5]")


@case
def reads_exists():
    p = os.path.join(tmp, "c")
    yield lambda x: x * (2 if os.path.exists(p) else 3)
    open(p, "w").close()


@case
def reads_exists2():
    p = pathlib.Path(tmp) / "d"
    yield lambda x: x * (2 if p.exists() else 3)
    p.write_text("")


@case
def reads_lru():
    k = [2.0]

    @functools.lru_cache
    def h():
        return k[0]

    yield lambda x: x * h()
    k[0] = 3
    yield
    h.cache_clear()


@case
def reads_local():
    items = threading.local()
    items.k = 2
    yield lambda x: x * items.k
    items.k = 3


@case
def reads_sublocal():
    class L(threading.local):
        pass

    items = L()
    items.k = 2
    yield lambda x: x * items.k
    items.k = 3


@case
def reads_chainmap():
    m = collections.ChainMap({"a": 2}, {"b": 3})
    yield lambda x: x * m["a"] * m["b"]
    m.maps[1]["b"] = 5
    yield
    m["a"] = 7


@case
def reads_userdict():
    m = collections.UserDict(a=2)
    yield lambda x: x * m["a"]
    m["a"] = 7


@case
def reads_counter():
    m = collections.Counter("aab")
    yield lambda x: x * m["a"] * (m["z"] + 1)
    m["z"] = 7
    yield
    m.update("aaa")


@case
def reads_ddict():
    m = collections.defaultdict(lambda: 2.0)
    yield lambda x: x * m["a"]
    m["a"] = 5.0


@case
def reads_proxy():
    d = {"a": 2}
    m = types.MappingProxyType(d)
    yield lambda x: x * m["a"]
    d["a"] = 5.0


@case
def reads_mathpatched():
    o = math.sin
    yield lambda x: x * math.sin(1.0)
    math.sin = lambda v: 7.0
    yield
    math.sin = o


@case
def reads_nppatched():
    o = gp.sin
    yield lambda x: gp.sin(x)
    gp.sin = lambda v: v * 7.0
    yield
    gp.sin = o


@case
def reads_builtinpatched():
    o = builtins.max
    yield lambda x: x * max(1, 2)
    builtins.max = lambda *a: 7
    yield
    builtins.max = o


@case
def reads_instancemethod():
    class C:
        def get(self):
            return 2

    c = C()
    yield lambda x: x * c.get()
    c.get = lambda: 5
    yield
    del c.get


@case
def reads_typeof():
    class C:
        k = 2

    c = C()
    yield lambda x: x * type(c).k * c.__class__.k
    C.k = 3


@case
def reads_objget():
    c = T()
    c.k = 2
    yield lambda x: x * object.__getattribute__(c, "k")
    c.k = 3


@case
def reads_slotdescr():
    class C:
        __slots__ = ("k",)

    c = C()
    c.k = 2
    yield lambda x: x * C.k.__get__(c)
    c.k = 3


@case
def reads_itemgetter():
    d = {"a": 2.0}
    g = operator.itemgetter("a")
    yield lambda x: x * g(d) * operator.itemgetter("a")(d)
    d["a"] = 5


@case
def reads_attrget():
    c = T()
    c.k = 2
    yield lambda x: x * operator.attrgetter("k")(c)
    c.k = 5


@case
def reads_sortedattr():
    a, b = T(), T()
    a.k, b.k = 1, 2
    items = [a, b]
    yield lambda x: x * sorted(items, key=lambda o: o.k)[0].k + max(items, key=lambda o: -o.k).k
    a.k = 9


@case
def reads_deepcopy():
    c = T()
    c.k = [2]
    yield lambda x: x * copy.deepcopy(c).k[0] * copy.copy(c).k[0]
    c.k[0] = 5


@case
def reads_asdict():
    @dataclasses.dataclass
    class D:
        k: float

    d = D(2.0)
    yield lambda x: x * dataclasses.asdict(d)["k"] * dataclasses.replace(d).k
    d.k = 5


@case
def reads_frozen():
    @dataclasses.dataclass(frozen=True, slots=True)
    class D:
        k: float
        items: list

    d = D(2.0, [1])
    yield lambda x: x * d.k * d.items[0] * D(3.0, [2]).k
    d.items[0] = 5
    yield
    object.__setattr__(d, "k", 7)


@case
def reads_pick():
    c = [2]
    yield lambda x: x * pickle.loads(pickle.dumps(c))[0]
    c[0] = 3


@case
def reads_weak_references():
    class Kept:
        k = 2.0

    kept = Kept()
    found = weakref.ref(kept)
    kept.k = 2.0

    def read(x, kept=kept):
        return x * found().k

    yield read
    kept.k = 3.0


@case
def reads_ctx():
    state = [2]

    @contextlib.contextmanager
    def c():
        yield state[0]

    def f(x):
        with c() as k:
            return x * k

    yield f
    state[0] = 5


@case
def reads_suppress():
    d = {}

    def f(x):
        with contextlib.suppress(KeyError):
            return x * d["k"]
        return x

    yield f
    d["k"] = 5


@case
def reads_dec():
    yield lambda x: x * float(decimal.Decimal(1) / decimal.Decimal(3))
    decimal.getcontext().prec = 3


@case
def reads_frac():
    q = fractions.Fraction(1, 3)
    yield lambda x: x * float(q)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_objects_that_change_are_read_as_they_are(case):
    steps = case()
    function = next(steps)
    jitted = gp.jit(function)

    def agree():
        for turn in range(3):
            given = gp.arange(3.0) + turn
            found, wanted = jitted(given), function(given)
            assert np.array_equal(np.asarray(found), np.asarray(wanted)), jitted.stats()

    agree()
    for _ in steps:
        agree()
    agree()
