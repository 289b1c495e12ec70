"""Effects of traced functions on objects of every kind: they happen in each call.

Not here: effects that raise (``test_refused_jit.py``), what is stored (``test_jit_stores.py``).
"""

import collections
import functools
import heapq
import io
import itertools
import operator
import random

import numpy as np
import pytest

import gpupy as gp

EFFECTS = []


def effect(function):
    EFFECTS.append(function)
    return function


@pytest.fixture(autouse=True)
def cpu():
    gp._gpupy.reconfigure("cpu", strict=False)


@effect
def effect_1():
    s = {3, 1, 2}

    def h(x):
        v = s.pop() if s else 0
        return x + v

    return h


@effect
def effect_2():
    items = [3, 1, 2]

    def h(x):
        v = items[0]
        items.reverse()
        return x + v

    return h


@effect
def effect_3():
    d = {}

    def h(x):
        return x + d.setdefault(len(d), len(d))

    return h


@effect
def effect_4():
    it = iter([1, 2, 3, 4, 5, 6, 7, 8])
    return lambda x: x + next(it)


@effect
def effect_5():
    c = itertools.count()
    return lambda x: x + next(c)


@effect
def effect_6():
    c = itertools.cycle([1, 2])

    def h(x):
        for v in c:
            return x + v

    return h


@effect
def effect_7():
    q = collections.deque([1, 2, 3])

    def h(x):
        q.rotate(1)
        return x + q[0]

    return h


@effect
def effect_8():
    h = [5, 4, 3, 2, 1, 0, -1]
    heapq.heapify(h)
    return lambda x: x + heapq.heappop(h)


@effect
def effect_9():
    r = random.Random(3)
    return lambda x: x + r.random()


@effect
def effect_10():
    r = np.random.default_rng(3)
    return lambda x: x + float(r.random())


@effect
def effect_11():
    r = gp.random.default_rng(3)
    return lambda x: x + r.random(2)


@effect
def effect_12():
    class C:
        def __init__(s):
            s.n = 0

        @property
        def p(s):
            s.n += 1
            return s.n

    c = C()
    return lambda x: x + c.p


@effect
def effect_13():
    class C:
        n = [0]  # noqa: RUF012  (it is all's)

        def __getattr__(s, name):
            s.n[0] += 1
            return s.n[0]

    c = C()
    return lambda x: x + c.foo


@effect
def effect_14():
    class C:
        n = 0

        def __len__(s):
            type(s).n += 1
            return type(s).n

    c = C()
    return lambda x: x + len(c)


@effect
def effect_15():
    o = np.array([1, 2, 3], object)

    def h(x):
        o[0] += 1
        return x + o[0]

    return h


@effect
def effect_16():
    def gen():
        n = 0
        while True:
            n += 1
            yield n

    g = gen()
    return lambda x: x + next(g)


@effect
def effect_17():
    def gen():
        n = 0
        while True:
            n += (yield n) or 1

    g = gen()
    next(g)
    return lambda x: x + g.send(2)


@effect
def effect_18():
    a = bytearray(b"\0")

    def h(x):
        a[0] += 1
        return x + a[0]

    return h


@effect
def effect_19():
    f = functools.partial(next, itertools.count())
    return lambda x: x + f()


@effect
def effect_20():
    items = [1, 2, 3, 4, 5, 6, 7]
    return lambda x: x + sum(map(lambda _: items.pop(), [0]))


@effect
def effect_21():
    items = [1, 2, 3, 4, 5, 6, 7]
    f = items.pop
    return lambda x: x + f()


@effect
def effect_22():
    d = {"n": 0}

    def bump():
        d["n"] += 1
        return d["n"]

    return lambda x: x + next(iter(bump, None))


@effect
def effect_23():
    class N:
        n = 0

    def h(x):
        N.n = N.n + 1
        return x + N.n

    return h


@effect
def effect_24():
    class N:
        n = 0

    def h(x):
        type.__setattr__(N, "n", N.n + 1)
        return x + N.n

    return h


@effect
def effect_25():
    class N:
        pass

    o = N()
    o.n = 0

    def h(x):
        o.__dict__.update(n=o.n + 1)
        return x + o.n

    return h


@effect
def effect_26():
    class N:
        pass

    o = N()
    o.n = 0

    def h(x):
        vars(o)["n"] += 1
        return x + o.n

    return h


@effect
def effect_27():
    f = lambda: 0
    f.n = 0

    def h(x):
        f.n += 1
        return x + f.n

    return h


@effect
def effect_28():
    items = [0]

    def h(x):
        items[:] = [items[0] + 1]
        return x + items[0]

    return h


@effect
def effect_29():
    items = [[0]]

    def h(x):
        operator.setitem(items[0], 0, items[0][0] + 1)
        return x + items[0][0]

    return h


@effect
def effect_30():
    items = [0]

    def h(x):
        items.__setitem__(0, items[0] + 1)
        return x + items[0]

    return h


@effect
def effect_31():
    items = [0]

    def h(x):
        list.append(items, 1)
        return x + len(items)

    return h


@effect
def effect_32():
    items = [0]

    def h(x):
        nonlocal items
        items += [1]
        return x + len(items)

    return h


@effect
def effect_33():
    g = {"n": 0}

    def h(x):
        exec("n+=1", g)
        return x + g["n"]

    return h


@effect
def effect_34():
    class E(Exception):
        pass

    e = E()
    e.n = 0

    def h(x):
        try:
            raise e
        except E as f:
            f.n += 1
            return x + f.n

    return h


@effect
def effect_35():
    s = io.StringIO("1\n2\n3\n4\n5\n6\n7\n")
    return lambda x: x + float(s.readline())


@effect
def effect_36():
    class It:
        n = 0

        def __iter__(s):
            return s

        def __next__(s):
            s.n += 1
            return s.n

    i = It()
    return lambda x: x + next(i)


@effect
def effect_37():
    n = [0]

    class D:
        def __get__(s, o, t):
            n[0] += 1
            return n[0]

    class C:
        d = D()

    c = C()
    return lambda x: x + c.d


@effect
def effect_38():
    n = [0]

    class C:
        def __format__(s, f):
            n[0] += 1
            return str(n[0])

    c = C()
    return lambda x: x + float(f"{c}")


@effect
def effect_39():
    n = [0]

    class C(float):
        def __float__(s):
            n[0] += 1
            return float(n[0])

    c = C(0)
    return lambda x: x + float(c)


@effect
def effect_40():
    a = gp.zeros(2)

    def h(x):
        a[...] += 1
        return x + a

    return h


@effect
def effect_41():
    a = gp.zeros(3)
    items = [a]

    def h(x):
        items[0] = items[0] + 1
        return x + 1

    return lambda x: x


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect.__name__)
def test_effects_happen_in_each_call(effect):
    jitted, function = gp.jit(effect()), effect()
    for _ in range(6):
        found, wanted = jitted(gp.ones(2)), function(gp.ones(2))
        assert np.array_equal(np.asarray(found), np.asarray(wanted)), jitted.stats()
