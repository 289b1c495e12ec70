"""Views that NumPy's functions give, and writes of NumPy's functions through views."""

import numpy as np
import pytest
from pairs import check

import gpupy

VIEW_FUNCTIONS = {
    "as_strided": lambda xp, a: xp.lib.stride_tricks.as_strided(a[1:], (2, 2), a[1:].strides),
    "einsum": lambda xp, a: xp.einsum("ii->i", a[:, :3]),
    "require": lambda xp, a: xp.require(a, requirements="W"),
    "sliding window": lambda xp, a: xp.lib.stride_tricks.sliding_window_view(a, 2, axis=1),
    "diag": lambda xp, a: xp.diag(a[:, :3]),
    "linalg.diagonal": lambda xp, a: xp.linalg.diagonal(a, offset=1),
    "require C": lambda xp, a: xp.require(a, requirements=["C", "W"]),
    "require F": lambda xp, a: xp.require(a, requirements=["F_CONTIGUOUS"]),
    "trim_zeros": lambda xp, a: xp.trim_zeros(a[1]),
    "ix_": lambda xp, a: xp.ix_(a[1], a[:, 1])[0],
}

# How an array of 6 by 8 is seen before a function sees it.
SEEN = {
    "plain": lambda a: a,
    "flipped": lambda a: a[::-1, ::-1],
    "across": lambda a: a.T,
    "stepped": lambda a: a[::2, ::2],
    "inside": lambda a: a[1:4, 2:6],
    "backwards": lambda a: a[::-2, 7:0:-2],
}


@pytest.mark.parametrize("name", VIEW_FUNCTIONS)
@pytest.mark.parametrize("seen", SEEN)
def test_views_that_numpys_functions_give_are_views_of_ours(device, name, seen):
    def function(xp):
        a = xp.arange(48, dtype=xp.int32).reshape(6, 8)
        view = VIEW_FUNCTIONS[name](xp, SEEN[seen](a))
        a[1] = 50
        after = view + 0
        words = ""
        try:
            view[0] = -1
        except ValueError as error:
            words = str(error)
        return [a, after, words]

    check(function, name)


EMPTY_VIEWS = {
    "einsum": lambda xp, a: xp.einsum("ij->ji", a),
    "einsum of one axis order": lambda xp, a: xp.einsum("ij", a),
    "diagonal": lambda xp, a: xp.diagonal(a),
    "moveaxis": lambda xp, a: xp.moveaxis(a, 0, 1),
    "atleast_3d": lambda xp, a: xp.atleast_3d(a),
    "rot90": lambda xp, a: xp.rot90(a),
    "copy": lambda xp, a: xp.copy(a),
    "nothing of something": lambda xp, a: xp.trim_zeros(a),
}


@pytest.mark.parametrize("name", EMPTY_VIEWS)
def test_views_without_elements_have_the_array_for_their_base(driver, name):
    bases = []
    for xp in (np, gpupy):
        a = xp.zeros(4) if name == "nothing of something" else xp.zeros((0, 3))
        view = EMPTY_VIEWS[name](xp, a)
        bases.append((view.shape, view.base is a))
    assert bases[0] == bases[1]


THROUGH = {
    "copyto": lambda xp, v: xp.copyto(v, xp.arange(2), casting="unsafe"),
    "copyto where": lambda xp, v: xp.copyto(v, 7, where=xp.array([True, False])),
    "out": lambda xp, v: xp.add(v, 5, out=v),
    "at": lambda xp, v: xp.add.at(v, [1], 3),
    "put": lambda xp, v: xp.put(v, [1], 9),
    "place": lambda xp, v: xp.place(v, xp.array([False, True]), [4]),
    "putmask": lambda xp, v: xp.putmask(v, xp.array([True, True]), [4, 6]),
    "fill_diagonal": lambda xp, v: xp.fill_diagonal(v.reshape(1, 2), 8),
    "put_along_axis": lambda xp, v: xp.put_along_axis(v, xp.array([0]), 6, 0),
    "a reversed part": lambda xp, v: v[::-1].__setitem__(0, 7),
    "reshaped": lambda xp, v: v.reshape(1, 2).__setitem__((0, 1), 5),
    "transposed": lambda xp, v: xp.copyto(v.reshape(1, 2).T[1:], 3),
    "swapped": lambda xp, v: xp.swapaxes(v.reshape(1, 2), 0, 1).fill(4),
    "strided": lambda xp, v: xp.lib.stride_tricks.as_strided(v, (1, 1), (16, 8)).fill(4),
}


@pytest.mark.parametrize("name", THROUGH)
def test_functions_write_through_views_of_other_places_and_dtypes(driver, name):
    found = []
    for xp in (np, gpupy):
        a = xp.arange(24, dtype="u1")
        THROUGH[name](xp, a[1:17].view("i8"))
        found.append(a.tolist())
    assert found[0] == found[1]
    texts = []
    for xp in (np, gpupy):
        a = xp.zeros(8, "u1")
        xp.copyto(a.view("S4"), xp.array([b"ab", b"cd"]))
        texts.append(a.tolist())
    assert texts[0] == texts[1]


def test_functions_write_through_no_view_of_a_read_only_array(driver):
    a = gpupy.arange(24, dtype="u1")
    a.flags.writeable = False
    view = a[1:17].view("i8")
    for write in (lambda: gpupy.add(view, 5, out=view), lambda: gpupy.copyto(view, 7)):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert a.tolist() == list(range(24))
