"""Code that `gpupy.kernel` does not compile is an error of one line: construct, file and line."""

import pytest

import gpupy as gp


def no_return(x):
    if x > 0:
        return x


def unbound(x):
    if x > 0:
        y = x
    return y


def recursive(x):
    return recursive(x - 1) if x > 0 else x


def undefined(x):
    return x + nowhere  # noqa: F821


def items(x):
    return x[0]


def mutates(x):
    x[0] = 1
    return x


def comprehends(x):
    return sum([x for _ in range(3)])


def in_words(x):
    return str(x)


def over_a_list(x):
    for i in [1, 2]:
        x += i
    return x


def tries(x):
    try:
        return x
    finally:
        x = 1


def in_a_loop(x):
    while x > 2:
        y = x
        x -= 1
    return y


def of_words(x):
    return "a" if x > 0 else "b"


def two_kinds(x):
    if x > 0:
        return x, x
    return x


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (no_return, "`no_return` ends without `return`"),
        (unbound, "`y` may have no value"),
        (recursive, "calls itself"),
        (undefined, "name `nowhere` is not defined"),
        (items, "only tuples have items"),
        (mutates, "assigns to names alone"),
        (comprehends, "is no expression of a kernel"),
        (in_words, "no function of a kernel"),
        (over_a_list, "goes over a `range`"),
        (tries, "is no statement of a kernel"),
        (in_a_loop, "`y` may have no value"),
        (of_words, "no kind in common"),
        (two_kinds, "on all ways"),
    ],
)
def test_what_is_no_kernel_is_said(auto, function, words):
    with pytest.raises(gp.KernelError, match=words) as caught:
        gp.kernel(function)(gp.ones(3))
    assert "\n" not in str(caught.value)
    assert "test_refused_kernels.py, line" in str(caught.value)
