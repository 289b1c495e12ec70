"""Typed lists: as lists of NumPy's arrays do it, whatever the items' sizes.

Not here: awkward's and Arrow's arrays (``libraries/``).
"""

import copy
import pickle

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import gpupy as gp

ITEMS = [[0], [1, 2], [3, 4, 5], [6, 7, 8, 9]]


def same(ours, theirs):
    """That a typed list has these items, and its parts fit each other."""
    assert isinstance(ours, gp.TypedList)
    assert ours.tolist() == [list(item) for item in theirs]
    assert len(ours) == len(theirs)
    assert ours.sizes.tolist() == [len(item) for item in theirs]
    assert ours.offsets.tolist() == [0, *np.cumsum([len(item) for item in theirs], dtype=int).tolist()]
    assert ours.data.tolist() == [element for item in theirs for element in item]
    for own, item in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(own, item)


def test_ways_to_make_one(driver):
    for made in (
        gp.TypedList(ITEMS),
        gp.TypedList(np.arange(10), [1, 2, 3, 4]),
        gp.TypedList(gp.arange(10), np.array([1, 2, 3, 4])),
        gp.TypedList([np.array([0]), (1, 2), range(3, 6), gp.arange(6, 10)]),
        gp.TypedList(gp.TypedList(ITEMS)),
    ):
        same(made, ITEMS)
        assert made.dtype == np.int64
    same(gp.TypedList(np.arange(6), 2), [[0, 1], [2, 3], [4, 5]])
    same(gp.TypedList(np.arange(3)), [[0], [1], [2]])
    same(gp.TypedList(range(3)), [[0], [1], [2]])
    same(gp.TypedList(np.arange(6).reshape(2, 3)), [[0, 1, 2], [3, 4, 5]])
    same(gp.TypedList([[], [1.5], []]), [[], [1.5], []])
    same(gp.TypedList([[], []]), [[], []])
    same(gp.TypedList(np.arange(2), [0, 2, 0]), [[], [0, 1], []])
    same(gp.TypedList(), [])
    assert gp.TypedList().dtype == float and gp.TypedList(dtype="i4", reserve=7).dtype == np.int32
    assert gp.TypedList(ITEMS, dtype=np.float32).dtype == np.float32


def test_elements_are_shared_with_an_array_until_the_list_grows(driver):
    a = gp.arange(4)
    typed = gp.TypedList(a, 2)
    typed[0][1] = 9
    assert a.tolist() == [0, 9, 2, 3]
    view = a[2:]
    typed.append([7])
    typed[1][0] = 5
    assert typed.tolist() == [[0, 9], [5, 3], [7]] and view.tolist() == [2, 3]


def test_printed_and_pickled(driver):
    typed = gp.TypedList(ITEMS)
    assert str(typed) == "[ [0] [1 2] [3 4 5] [6 7 8 9] ]"
    assert repr(typed) == "TypedList([[0], [1, 2], [3, 4, 5], [6, 7, 8, 9]], dtype=int64)"
    assert str(gp.TypedList()) == "[ ]" and repr(gp.TypedList()) == "TypedList([], dtype=float64)"
    assert str(gp.TypedList(range(2000))) == "[ [0] [1] [2] ... [1997] [1998] [1999] ]"
    for other in (pickle.loads(pickle.dumps(typed)), copy.copy(typed), copy.deepcopy(typed), typed.copy()):
        same(other, ITEMS)
        other[0] = 5
        same(typed, ITEMS)


def test_items_are_views(driver):
    typed = gp.TypedList(ITEMS)
    typed[2][1] = 40
    typed[-1][...] = 0
    typed[0] += 3
    same(typed, [[3], [1, 2], [3, 40, 5], [0, 0, 0, 0]])
    assert typed[1:3].tolist() == [1, 2, 3, 40, 5]
    assert typed[3:1].tolist() == [] and typed[...].tolist() == typed.data.tolist()
    same(typed[::-2], [[0, 0, 0, 0], [1, 2]])
    same(typed[5:1:-1], [[0, 0, 0, 0], [3, 40, 5]])


def test_a_row_of_elements_is_written_into_items_that_have_as_many(driver):
    for row in (np.array([7, 8, 9]), gp.array([7, 8, 9]), [7, 8, 9], np.array([7])):
        typed = gp.TypedList([[0], [1, 2], [3]])
        typed[:2] = row
        same(typed, [[7], [8, 9] if len(row) > 1 else [7, 7], [3]])


def test_the_exercise_of_the_text(driver):
    def given():
        return gp.TypedList([[0, 0], [1, 1], [0, 0]])

    typed = given()
    typed[1] = 1, 1, 1
    same(typed, [[0, 0], [1, 1, 1], [0, 0]])
    typed = given()
    del typed[1]
    same(typed, [[0, 0], [0, 0]])
    typed = given()
    typed.insert(1, [3, 3])
    same(typed, [[0, 0], [3, 3], [1, 1], [0, 0]])


_item = st.lists(st.integers(-9, 9), max_size=5)
_index = st.integers(-6, 6)
_slice = st.builds(slice, _index | st.none(), _index | st.none(), st.sampled_from([None, 1, 2, -1, -2]))
_edit = st.one_of(
    st.tuples(st.just("set"), _index, _item),
    st.tuples(st.just("fill"), _index, st.integers(-9, 9)),
    st.tuples(st.just("replace"), _slice, st.lists(_item, max_size=4)),
    st.tuples(st.just("delete"), _index | _slice, st.none()),
    st.tuples(st.just("insert"), _index, _item),
    st.tuples(st.just("append"), st.none(), _item),
    st.tuples(st.just("extend"), st.none(), st.lists(_item, max_size=4)),
    st.tuples(st.just("pop"), _index, st.none()),
    st.tuples(st.just("move"), _index, _index),
)


def _edited(items, edit, own):
    """The items after an edit, and the error of Python's lists."""
    word, key, value = edit
    if word == "set":
        items[key] = own(value)
    elif word == "fill":
        items[key] = value if isinstance(items, gp.TypedList) else [value] * len(items[key])
    elif word == "replace":
        items[key] = [own(item) for item in value]
    elif word == "delete":
        del items[key]
    elif word == "insert":
        items.insert(key, own(value))
    elif word == "append":
        items.append(own(value))
    elif word == "extend":
        items.extend([own(item) for item in value])
    elif word == "pop":
        items.pop(key)
    elif word == "move":
        items[key] = items[value]


@hypothesis.given(st.lists(_item, max_size=5), st.lists(_edit, max_size=12), st.booleans())
def test_edits_are_those_of_a_list_of_lists(driver, items, edits, is_ours):
    ours, theirs = gp.TypedList(items, dtype=int), [list(item) for item in items]
    if not items:
        ours = gp.TypedList(dtype=int, reserve=1)
    for edit in edits:
        try:
            _edited(theirs, edit, list)
        except (IndexError, ValueError) as error:
            with pytest.raises(type(error)):
                _edited(ours, edit, lambda item: item)
        else:
            _edited(
                ours, edit, lambda item: gp.array(item, dtype=int) if is_ours else np.array(item, dtype=int)
            )
    same(ours, theirs)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.bool])
def test_operators_and_sums_of_items(driver, dtype):
    chance = np.random.default_rng(3)
    sizes = [*chance.integers(0, 11, 40).tolist(), 100, 1, 33, 32, 31, 0]
    data = chance.integers(-3, 4, sum(sizes)).astype(dtype)
    items = np.split(data, np.cumsum(sizes)[:-1])
    typed = gp.TypedList(gp.asarray(data), sizes)
    for word in ("sum", "prod", "any", "all"):
        found = getattr(typed, word)()
        wanted = np.array([getattr(item, word)() for item in items])
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    with np.errstate(all="ignore"):
        wanted = [item.mean(dtype=float) if item.size else np.nan for item in items]
    np.testing.assert_allclose(typed.mean(), wanted, rtol=1e-5)
    full = [item for item in items if item.size]
    typed = gp.TypedList(full)
    for word in ("min", "max"):
        np.testing.assert_array_equal(getattr(typed, word)(), [getattr(item, word)() for item in full])
    if dtype == np.bool:
        return
    each = gp.arange(len(full), dtype=dtype)
    for found, wanted in [
        (typed + 1, [item + 1 for item in full]),
        (2 - typed, [2 - item for item in full]),
        (typed * typed, [item * item for item in full]),
        (typed < 0, [item < 0 for item in full]),
        (np.abs(typed), [abs(item) for item in full]),
        (gp.maximum(typed, 0), [np.maximum(item, 0) for item in full]),
        (typed - each, [item - np.asarray(each)[k] for k, item in enumerate(full)]),
        (gp.divmod(typed, 2)[1], [item % 2 for item in full]),
    ]:
        assert found.dtype == wanted[0].dtype
        same(found, [item.tolist() for item in wanted])
    before = typed.copy()
    typed += before
    same(typed, [(item + item).tolist() for item in full])


def test_an_operator_is_computed_by_the_driver(driver):
    typed = gp.TypedList(gp.arange(30000, dtype=np.float32), 3)
    with gp.fallback("error"):
        result = (typed * 2 + 1).sum()
        np.testing.assert_array_equal(
            result, (np.arange(30000, dtype=np.float32) * 2 + 1).reshape(-1, 3).sum(1)
        )


def test_equal(driver):
    typed = gp.TypedList(ITEMS)
    assert typed.equals(gp.TypedList(ITEMS)) and not typed.equals(gp.TypedList(np.arange(10), 5))
    assert not typed.equals(typed + 1) and not typed.equals(ITEMS)
    other = typed.copy()
    assert (typed == other).all().all() and not (typed != other).any().any()
    with pytest.raises(ValueError, match="ambiguous"):
        bool(typed == other)
    assert typed and not gp.TypedList()
    with pytest.raises(TypeError, match="unhashable"):
        hash(typed)


def test_fields(driver):
    kind = np.dtype([("at", np.float32), ("colour", np.int32)])
    typed = gp.TypedList(np.zeros(6, kind), [1, 2, 3])
    typed["at"] = np.arange(6)
    typed[1]["colour"] = 7
    typed[0] = (2.5, 3)
    assert typed["at"].tolist() == [2.5, 1, 2, 3, 4, 5] and typed["colour"].tolist() == [3, 7, 7, 0, 0, 0]
    typed.append(np.ones(2, kind))
    assert typed["colour"].tolist()[-2:] == [1, 1]


def test_what_is_wrong_is_said_in_words(driver):
    typed = gp.TypedList(ITEMS)
    for error, words, call in [
        (ValueError, "7 elements are no items of 2", lambda: gp.TypedList(range(7), 2)),
        (ValueError, "no items of 0", lambda: gp.TypedList(range(7), 0)),
        (ValueError, "6 altogether, but there are 7", lambda: gp.TypedList(range(7), [3, 3])),
        (ValueError, "item 1 has a negative size", lambda: gp.TypedList(range(7), [8, -1])),
        (TypeError, "integers, not float64", lambda: gp.TypedList(range(7), [3.5, 3.5])),
        (ValueError, "item 1 has 2 axes", lambda: gp.TypedList([[1], [[2]]])),
        (ValueError, "no data", lambda: gp.TypedList(sizes=[1])),
        (IndexError, "no item 4 among 4", lambda: typed[4]),
        (IndexError, "no item -5 among 4", lambda: typed[-5]),
        (TypeError, "not float", lambda: typed[1.0]),
        (TypeError, "float64 does not fit a list of int64", lambda: typed.append([0.5])),
        (TypeError, "does not fit", lambda: typed.__setitem__(0, [0.5, 1])),
        (ValueError, "row of elements", lambda: typed.append([[1]])),
        (ValueError, "4 and 1 items", lambda: typed + gp.TypedList([[1]])),
        (ValueError, "items 1 have 2 and 3", lambda: typed + gp.TypedList(range(10), [1, 3, 2, 4])),
        (ValueError, "one element for each item: 4", lambda: typed + np.arange(10)),
        (ValueError, "item 0 has no elements", lambda: gp.TypedList([[], [1]]).max()),
        (ValueError, "not next to each other", lambda: typed.__setitem__(slice(None, None, 2), [[1]])),
        (TypeError, "no array", lambda: np.asarray(typed)),
    ]:
        with pytest.raises(error, match=words):
            call()
    same(typed, ITEMS)


def test_a_view_of_a_list_that_has_moved_says_so(driver):
    typed = gp.TypedList(dtype=np.float32, reserve=2)
    typed.append([1, 2])
    view = typed[0]
    later = view + 1
    typed.append([3])
    assert len(typed[1]) == 1
    with pytest.raises(ValueError, match="disposed"):
        view.tolist()
    assert later.tolist() == [2, 3] and typed.tolist() == [[1, 2], [3]]


def test_appending_takes_the_same_time_however_long_the_list_is(driver):
    moves = []
    typed = gp.TypedList(dtype=np.float32)
    for number in range(20000):
        typed.append([number, number])
        if number % 7 == 0:
            assert typed[-1].tolist() == [number, number]
            moves.append(len(typed._data))
    assert len(set(moves)) < 12
    assert len(typed) == 20000 and typed.data.sum() == np.float32(2) * np.arange(20000).sum()
