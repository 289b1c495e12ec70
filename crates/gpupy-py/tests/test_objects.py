"""Objects in arrays of objects and in records are the program's own, as in NumPy: the same, for all writes.

Statements are texts, run with NumPy as ``np`` and with gpupy; what they find has to be the same. Not here:
numeric fields of records (``test_since.py``).
"""

import copy
import operator

import numpy
import pytest

import gpupy


class Thing:
    """An object of the program's, which holds an array."""

    def __init__(self, array):
        self.array = array

    def __eq__(self, other):
        return self is other

    __hash__ = None


ITEMS = {
    "an array": "np.arange(3.0)",
    "a view": "np.arange(6.0)[::2]",
    "an array without axes": "np.array(2.0)",
    "an array of strings": "np.array(['x', 'y'])",
    "an array of objects": "np.empty(2, object)",
    "records": "np.zeros(2, [('x', int)])",
    "an instance of a subclass": "np.arange(3.0).view(type('Own', (np.ndarray,), {}))",
    "NumPy's array": "numpy.arange(3.0)",
    "a list": "[np.arange(3.0), numpy.arange(2)]",
    "a dictionary": "{'k': np.arange(3.0), 'l': [np.ones(2)]}",
    "a tuple": "(np.arange(3.0), [numpy.ones(2)])",
    "an instance": "Thing(np.arange(3.0))",
    "a generator of numbers": "np.random.default_rng(0)",
}
# Ways to put `x` first into an array or a field `o`.
PUT_ONE = """
o[0] = x
o[-3] = x
o[np.int64(0)] = x
o[np.array(0)] = x
o[0,] = x
o.reshape(3, 1)[0, 0] = x
o[None, ::-1].T[2, 0] = x
o.flat[0] = x
o.flat[-3] = x
o.fill(x)
operator.setitem(o, 0, x)
r = np.zeros(3, [('n', int), ('o', object)]); o = r['o']; o[0] = x
r = np.zeros(3, [('n', int), ('o', object)]); r['o'][0] = x; o = r['o']
r = np.zeros(3, [('n', int), ('o', object)]); r[0]['o'] = x; o = r['o']
r = np.zeros(3, [('n', int), ('o', object)]); r[0] = (1, x); o = r['o']
r = np.zeros(3, [('n', int), ('o', object)]); r[:1] = [(1, x)]; o = r['o']
r = np.zeros(3, [('n', int), ('o', object)]); r.fill((1, x)); o = r['o']
o = np.array([(1, x)] * 3, [('n', int), ('o', object)])['o']
o = np.full(3, (1, x), [('n', int), ('o', object)])['o']
o = np.rec.array([(1, x)] * 3, dtype=[('n', int), ('o', object)]).o
o = np.fromiter(iter([x, None, None]), dtype=object)
o = np.frompyfunc(lambda i: x, 1, 1)(np.arange(3))
o = np.vectorize(lambda i: x, otypes=[object])(np.arange(3))
o = np.empty(3, object).view(type('Own', (np.ndarray,), {})); o[0] = x
o = np.ma.array(np.empty(3, object), mask=[False, True, False]); o[0] = x
p = np.empty((), object); p[()] = x; o[:1] = p
""".strip().splitlines()
# Ways to put `xs`, a list of objects of which nothing is taken apart, into `o`, or arrays of them.
PUT_ALL = """
o[:] = xs
o[...] = xs
o[[0, 1, 2]] = xs
o[np.array([2, 1, 0])] = xs
o[np.ones(3, bool)] = xs
o[o == None] = xs
o.reshape(1, 3)[0] = xs
o.reshape(3, 1)[[0, 1, 2], [0, 0, 0]] = xs
o.flat = xs
o.flat[:] = xs
o.flat[[0, 1, 2]] = xs
o.put([0, 1, 2], xs)
np.put(o, [0, 1, 2], xs)
np.put_along_axis(o, np.arange(3), xs, 0)
np.place(o, o == None, xs)
np.putmask(o, np.ones(3, bool), xs)
np.fill_diagonal(m := np.empty((3, 3), object), xs); o = m.diagonal()
o = np.array(xs, dtype=object)
o = np.array([xs, xs], object)[1]
o = np.array(tuple(xs), 'O')
o = np.asarray(xs, dtype=object)
o = np.asanyarray(xs, dtype=object)
o = np.require(xs, object)
o = np.insert(np.empty(0, object), 0, xs)
o = np.array(xs, dtype=object).copy()
o = np.array(np.array(xs, dtype=object))
o = np.asarray(np.array(xs, dtype=object)).astype(object)
o[:] = np.array(xs, dtype=object)
np.copyto(o, np.array(xs, dtype=object))
np.copyto(o, np.array(xs, dtype=object), where=np.array([True, True, False]))
o = np.append(np.array(xs[:1], dtype=object), np.array(xs[1:], dtype=object))
o = np.concatenate([np.array(xs, dtype=object), o])
o = np.where(np.ones(3, bool), np.array(xs, dtype=object), None)
o = np.select([np.ones(3, bool)], [np.array(xs, dtype=object)], None)
o = np.choose(np.zeros(3, int), [np.array(xs, dtype=object), o])
r = np.zeros(3, [('o', object), ('n', int)]); r['o'] = xs; o = r['o']
o[0], o[1], o[2] = xs; o[[0, 2]] = o[[2, 0]]
""".strip().splitlines()
# Readings of the first element of `o`.
READ = """
o[0], o[-3], o[np.int64(0)], o[0,], o[:1][0], o[None][0, 0], o[..., None][0, 0], o[[0]][0]
o[np.array([0])][0], o[np.array([True, False, False])][0], o[0, ...][()]
o.item(0), o.item(-3), o.item((0,)), o.tolist()[0], list(o)[0], next(iter(o))
o.flat[0], next(o.flat), list(o.flat)[0], o.flat[:1][0]
o.take(0), np.take(o, 0), o.take([0])[0], np.take(o, [0])[0]
o.copy()[0], copy.copy(o)[0], np.array(o)[0], np.asarray(o)[0], o.astype(object)[0]
o.reshape(3, 1)[0, 0], o.T[0], o[::-1][2], np.roll(o, 1)[1], np.flip(o)[2], np.broadcast_to(o, (2, 3))[1, 0]
np.tile(o, 2)[3], np.repeat(o, 2)[1], np.concatenate([o, o])[3], np.stack([o, o])[1, 0], np.append(o, o)[3]
np.delete(o, 1)[0], np.insert(o, 1, None)[0], np.resize(o, 5)[3], np.split(o, 3)[0][0], np.pad(o, 1)[1]
np.compress([True, False, False], o)[0], np.extract([True, False, False], o)[0]
np.meshgrid(o, o)[0][0, 0], np.where([True, False, False], o, None)[0], [*zip(o)][0][0]
np.frompyfunc(lambda x: x, 1, 1)(o)[0], [x[()] for x in np.nditer(o, flags=['refs_ok'])][0]
[x for _, x in np.ndenumerate(o)][0], [*reversed(o)][2], dict(enumerate(o))[0]
""".strip().splitlines()
# What NumPy takes apart, or refuses.
APART = """
o[:] = np.arange(3.0)
o[:] = [1, 2.5, 'x']
o[:2] = np.array(5)
o[0, ...] = np.arange(3)
o = np.array([np.arange(3), np.arange(3)], dtype=object)
o = np.array(np.arange(3.0), dtype=object)
o = np.array([np.arange(3.0).sum(), None])
o = np.full(3, np.arange(3), object)
o = np.append(o, [np.arange(2)])
np.put(o, [0, 2], np.arange(2))
o[np.array([True, False, True])] = [np.arange(3), np.arange(3)]
o[[0, 1]] = [np.arange(3), np.arange(2), np.arange(4)]
o = np.array([np.arange(2), np.arange(3)])
o[5] = np.arange(3)
o[0] = np.arange(3.0).sum(); o = o[0] + 1
o[:] = [{'k': 1}] * 2
o.fill(3); o += 1
""".strip().splitlines()


def run(np, text, **names):
    names = {"np": np, "numpy": numpy, "operator": operator, "copy": copy, "o": np.empty(3, object), **names}
    exec(text, names)
    return names["o"]


@pytest.mark.parametrize("put", PUT_ONE)
@pytest.mark.parametrize("item", ITEMS)
def test_an_object_in_an_array_is_the_object_that_was_put_there(item, put):
    found = []
    for np in (numpy, gpupy):
        x = eval(ITEMS[item], {"np": np, "numpy": numpy, "Thing": Thing})
        try:
            found.append(run(np, put, x=x).item(0) is x)
        except Exception as error:
            found.append((type(error), str(error)))
    assert found[1] == found[0]


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize("item", ITEMS)
def test_it_is_the_same_object_however_it_is_read(item, read):
    found = []
    for np in (numpy, gpupy):
        x = eval(ITEMS[item], {"np": np, "numpy": numpy, "Thing": Thing})
        o = run(np, "o[0] = x", x=x)
        names = {"np": np, "o": o, "copy": copy}
        found.append([each is x for each in eval(f"({read},)", names)])
    assert found[1] == found[0]


@pytest.mark.parametrize("put", PUT_ALL)
@pytest.mark.parametrize(
    "items",
    ["[np.arange(2), np.arange(3.0), numpy.arange(4)]", "[{'k': np.arange(3)}, None, Thing(np.ones(2))]"],
)
def test_objects_of_a_list_are_put_there_themselves(items, put):
    found = []
    for np in (numpy, gpupy):
        xs = eval(items, {"np": np, "numpy": numpy, "Thing": Thing})
        try:
            found.append([[k for k, x in enumerate(xs) if x is it] for it in run(np, put, xs=xs).tolist()])
        except Exception as error:
            found.append((type(error), str(error)))
    assert found[1] == found[0]


@pytest.mark.parametrize("text", APART)
def test_what_numpy_takes_apart_or_refuses_is_taken_apart_or_refused(text):
    found = []
    for np in (numpy, gpupy):
        try:
            made = run(np, text)
            found.append((repr(made), [type(x).__name__ for x in numpy.asarray(made).ravel().tolist()]))
        except Exception as error:
            found.append((type(error), str(error)))
    assert found[1] == found[0]


def test_writes_reach_an_array_from_its_variable_and_from_the_array_of_objects(device):
    a, o = gpupy.arange(1000.0), gpupy.empty(3, object)
    o[0], o[1], o[2] = a, [a], {"k": a[10:]}
    a[0] = 5
    o[0][1] = 6
    o[1][0][2] = 7
    o[2]["k"][0] = 8
    o[0] += 1
    o[2]["new"] = a * 2
    assert a[[0, 1, 2, 3, 10]].tolist() == [6, 7, 8, 4, 9]
    assert float(o[2]["new"][10]) == 18 and (o[0] + o[1][0]).tolist() == (a * 2).tolist()


def test_an_array_of_objects_may_hold_itself():
    o = gpupy.empty(2, object)
    o[0] = o
    assert o[0] is o and o[0][0][0] is o


def test_functions_of_the_program_get_the_objects_themselves():
    a, seen = gpupy.arange(3.0), []
    o = gpupy.empty(2, object)
    o[0], o[1] = a, {"k": a}
    gpupy.frompyfunc(lambda x: seen.append(x), 1, 1)(o)
    gpupy.vectorize(lambda x: seen.append(x), otypes=[object])(o)
    assert [x is y for x, y in zip(seen, [a, o[1], a, o[1]], strict=True)] == [True] * 4


def test_a_deep_copy_copies_the_objects():
    a, o = gpupy.arange(3.0), gpupy.empty(2, object)
    o[0] = o[1] = a
    made = copy.deepcopy(o)
    assert made[0] is made[1] and made[0] is not a and made[0].tolist() == [0, 1, 2]
