"""Traced functions that store what they make: they run each time, and what they stored is what they returned.

Not here: what is stored and not returned, which raises (``test_refused_jit.py``).
"""

import numpy as np
import pytest

import gpupy as gp


@pytest.fixture(autouse=True)
def cpu():
    gp._gpupy.reconfigure("cpu", strict=False)


def x():
    return gp.arange(1.0, 4.0)


class Holder:
    pass


def stores(how):
    holder, listed, named = Holder(), [], {}

    def attribute(value):
        holder.value = value

    def item(value):
        listed.append(value)

    def entry(value):
        named["value"] = value

    def nested(value):
        holder.value = [(value, {"value": value})]

    def outer(value):
        nonlocal holder
        holder = value

    def read():
        if how == "outer":
            return holder
        if how == "nested":
            return holder.value[0][1]["value"]
        return {
            "attribute": vars(holder).get("value"),
            "item": listed and listed[-1],
            "entry": named.get("value"),
        }[how]

    return {"attribute": attribute, "item": item, "entry": entry, "nested": nested, "outer": outer}[how], read


@pytest.mark.parametrize("how", ["attribute", "item", "entry", "nested", "outer"])
@pytest.mark.parametrize(
    "make",
    [
        lambda x: x * 2,
        lambda x: x[1:],
        lambda x: x[::-1],
        lambda x: x.T,
        lambda x: x,
        lambda x: (x + 1)[1:],
        lambda x: x.sum(),
        lambda x: gp.zeros(3),
    ],
)
def test_what_is_stored_and_returned_is_the_result_itself(how, make):
    store, read = stores(how)

    @gp.jit
    def keeps(x):
        x += 1
        made = make(x)
        store(made)
        return made

    for turn in range(4):
        given = x() + turn
        wanted = np.asarray(make(given + 1)).copy()
        found = keeps(given)
        assert read() is found
        assert np.array_equal(np.asarray(found), wanted), turn
        if isinstance(found, gp.ndarray) and gp.shares_memory(found, given):
            given += 1
            assert np.array_equal(np.asarray(found), np.asarray(make(given)))
    assert keeps.stats()["replays"] == 0


USES = [
    lambda items, x: items.append([7.0]),
    lambda items, x: items.append(x),
    lambda items, x: items.insert(0, [5.0]),
    lambda items, x: items.__setitem__(0, items[0] * 2),
    lambda items, x: items.__delitem__(1),
    lambda items, x: [items.append([1.0, 2.0, 3.0]) for _ in range(300)],
    lambda items, x: items.extend([[1.0], [2.0]]),
    lambda items, x: items.data.__iadd__(1),
    lambda items, x: items[0],
    lambda items, x: (items + 1).data,
]


@pytest.mark.parametrize("way", ["cell", "attribute", "item", "argument", "nested", "default"])
def test_lists_of_elements_are_changed_and_read_in_each_call(way):
    def outcomes(wrap):
        items, holder = gp.TypedList([[1.0, 2.0], [3.0]]), Holder()
        holder.items, listed, found = items, [items], []

        def inner(x, use, *, given=items):
            use = USES[use]
            if way == "attribute":
                made = use(holder.items, x)
            elif way == "item":
                made = use(listed[0], x)
            else:
                made = use(given if way in ("argument", "default") else items, x)
            return x + 1 if made is None or type(made) is list else made

        def outer(x, use):
            return inner(x, use)

        called = wrap(outer if way == "nested" else inner)
        named = {"given": items} if way == "argument" else {}
        for turn in range(3):
            for use in range(len(USES)):
                try:
                    found.append(np.asarray(called(gp.arange(2.0) + turn, use, **named)).tolist())
                except (ValueError, IndexError, AttributeError) as error:
                    found.append(str(error))
                found.append(items.data.tolist())
        return found

    assert outcomes(gp.jit) == outcomes(lambda function: function)


def test_lists_of_elements_are_not_recorded():
    listed = gp.TypedList([[1.0, 2.0], [3.0]])

    @gp.jit
    def appends(x):
        listed.append([7.0])
        return x + listed.sum()[0]

    @gp.jit
    def appends_to_it(x, listed):
        listed.append([8.0])
        return x + len(listed)

    @gp.jit
    def within(x):
        return helper(x)

    def helper(x):
        listed.append([9.0])
        return x + listed.sum()[-1]

    for turn in range(4):
        assert appends(gp.arange(2.0)).tolist() == [3, 4]
        assert within(gp.arange(2.0)).tolist() == [9, 10]
        assert appends_to_it(gp.arange(2.0), listed).tolist() == [len(listed), len(listed) + 1]
        assert len(listed) == 2 + 3 * (turn + 1)
