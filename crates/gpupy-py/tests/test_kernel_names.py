"""Names, ranges and arguments of compiled functions: bindings of loops, ends of ranges, arguments.

Not here: what functions compute (``test_kernels.py``).
"""

import numpy as np
import pytest
from test_kernels import SOME, WHOLE, check, has_loops

import gpupy as gp

NONE = ()


@pytest.fixture
def of_loops(driver):
    if not has_loops(driver):
        pytest.skip("the driver has no loops")


def bound_by_a_loop(x):
    for i in range(2, 5):
        y = x * i
        if y > 6:
            break
    return y + i


def bound_by_loops_within(x):
    total = x - x
    for i in range(3):
        for j in range(i + 1):
            last = x + j
        total = total + last
    return total + j


def bound_by_a_loop_that_is_left_at_once(x):
    for _ in range(4):
        for n in range(3):
            x = x + n
        y = x
        if n == 2:
            break
    return y


@pytest.mark.parametrize(
    "function", [bound_by_a_loop, bound_by_loops_within, bound_by_a_loop_that_is_left_at_once]
)
def test_what_a_loop_binds_that_goes_round_has_a_value_behind_it(of_loops, function):
    check(function, np.arange(6, dtype=np.int32))


@pytest.mark.parametrize("step", [1, 2, -1, -3, 2**62, -(2**62), 2**63 - 1])
def test_ranges_end_where_ints_do(auto, step):
    def count(start, stop, by):
        turns = 0
        for _ in range(start, stop, by):
            turns += 1
            if turns > 5:
                break
        return turns

    ends = [0, 1, -1, 5, 2**63 - 1, 2**63 - 3, -(2**63), -(2**63) + 2, 2**62]
    starts, stops = (np.array(part).ravel() for part in np.meshgrid(ends, ends))
    wanted = [count(int(start), int(stop), step) for start, stop in zip(starts, stops, strict=True)]
    for by in (step, np.full(starts.shape, step)):
        np.testing.assert_array_equal(gp.kernel(count)(gp.asarray(starts), gp.asarray(stops), by), wanted)


def test_numbers_of_a_range_that_is_known_are_its_own(auto):
    def last(x):
        for n in range(2**63 - 3, 2**63 - 1):
            x = x // 2 + n // 2
        return x // 2 + n - n // 2

    check(last, np.zeros(2, np.int64))


def weighted(x, scale=2, *, shift=0.5, power=1):
    for _ in range(power):
        x = x * scale
    return x + shift


def test_arguments_of_inlined_functions_are_given_by_name_or_have_defaults(auto):
    check(lambda x: weighted(x) + weighted(x, shift=3, scale=x) + weighted(power=2, x=x), SOME)
    check(weighted, SOME)
    np.testing.assert_array_equal(gp.kernel(weighted)(gp.asarray(SOME), shift=gp.asarray(SOME)), 3 * SOME)
    for wrong, words in [
        (lambda x: weighted(x, 1, 2), "by position, not 3"),
        (lambda x: weighted(scale=x), "without its argument `x`"),
        (lambda x: weighted(x, x=x), "no such argument, or twice"),
        (lambda x: weighted(x, size=1), "no such argument, or twice"),
    ]:
        with pytest.raises(gp.KernelError, match=words):
            gp.kernel(wrong)(gp.asarray(SOME))


def test_defaults_are_looked_up_again(auto):
    def shifted(x, *, by=1):
        return x + by

    kernel = gp.kernel(lambda x: shifted(x))
    assert kernel(gp.zeros(2))[0] == 1
    shifted.__kwdefaults__ = {"by": 5}
    assert kernel(gp.zeros(2))[0] == 5


def test_what_a_conditional_expression_calls_is_left_out_where_it_is_not_chosen(of_loops):
    def halved(n):
        turns = 0
        while n != 1:
            n = n // 2
            turns += 1
        return turns

    # Of 0 and less, the loop would not end.
    n = gp.asarray(np.arange(-2, 9, dtype=np.int32))
    kernel = gp.kernel(most_turns=1000)(lambda n: halved(n) if n > 0 else -1)
    np.testing.assert_array_equal(kernel(n), [-1, -1, -1, 0, 1, 1, 2, 2, 2, 2, 3])


def test_a_number_is_one_of_several(auto):
    check(lambda x: x in (1, 2.5, 7.25), SOME)
    check(lambda n: 3 if n not in {0, -2} else n, WHOLE)
    check(lambda n: n in NONE, WHOLE)
    with pytest.raises(gp.KernelError, match="no tuple of numbers that are known"):
        gp.kernel(lambda x: x in (x, 1))(gp.asarray(SOME))
