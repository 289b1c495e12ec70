"""A class of the program's sees NumPy's numbers beside its objects, however it comes to stand there.

The same program gets a pending number where nothing can tell: that is counted here, too.

Not here: functions that get numbers (``test_known_scalars.py``).
"""

import numpy as np
import pytest

import gpupy

# Computed at once, and pending.
SIZES = [1_000, 1_000_000]


def numbers(xp, size):
    return xp.arange(float(size)) * 0.5


class Watcher:
    """Notes the classes of what stands beside it."""

    def __init__(self):
        self.saw = []

    def _note(self, other):
        self.saw.append(type(other))
        return self

    __add__ = __sub__ = __mul__ = __iadd__ = __lt__ = __radd__ = _note


class Ufuncs(Watcher):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        self.saw.extend(type(one) for one in inputs if one is not self)
        return self


class Holder:
    pass


def an_attribute(x, watcher):
    holder = Holder()
    holder.kept = watcher
    holder.kept + x.mean()


def an_attribute_that_is_added_to(x, watcher):
    holder = Holder()
    holder.kept = watcher
    holder.kept += x.mean()


def an_element(x, watcher):
    kept = {"it": watcher}
    kept["it"] - x.mean()


def a_result(x, watcher):
    def give():
        return watcher

    assert give() < x.mean()


def a_name(x, watcher):
    watcher * x.mean()


def a_name_that_is_bound_later(x, watcher):
    mean = x.mean()
    later = [watcher][0]
    later + mean


def a_name_that_is_bound_anew(x, watcher):
    later = 0
    mean = x.mean()
    later = [watcher][0]
    later + mean


def a_name_in_a_loop(x, watcher):
    for _ in range(2):
        mean = x.mean()
        later = [watcher][0]
        later + mean


def the_right_side(x, watcher):
    x.mean() + watcher


BESIDE = [
    an_attribute,
    an_attribute_that_is_added_to,
    an_element,
    a_result,
    a_name,
    a_name_that_is_bound_later,
    a_name_that_is_bound_anew,
    a_name_in_a_loop,
    the_right_side,
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("beside", BESIDE)
def test_an_operator_of_the_programs_sees_numpys_number(auto, beside, size):
    watcher, wanted = Watcher(), Watcher()
    beside(numbers(gpupy, size), watcher)
    beside(numbers(np, size), wanted)
    assert watcher.saw == wanted.saw and watcher.saw


@pytest.mark.parametrize("size", SIZES)
def test_a_ufunc_of_the_programs_sees_numpys_number(auto, size):
    x, other, holder = numbers(gpupy, size), Ufuncs(), Holder()
    holder.kept = other
    np.add(x.mean(), other)
    np.add(other, x.mean())
    np.multiply(x.mean(), holder.kept)
    x.mean() + other
    assert other.saw == [np.float64] * 4


class Operators(Ufuncs):
    """Its ufunc gives an array of NumPy's, which stays one."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        return np.ones(2)


@pytest.mark.parametrize("size", SIZES)
def test_a_ufunc_to_the_right_without_a_name_sees_numpys_number(auto, size):
    def program(xp, holder):
        x = numbers(xp, size)
        mean = x.mean()
        made = [x.mean() + holder.kept, x.mean() ** holder.all["kept"], x.max() % dict(holder.all)["kept"]]
        made += [mean / holder.kept, mean < holder.kept, mean != holder.all["kept"], -mean - holder.kept]
        mean *= holder.kept
        return [type(one) for one in (*made, *divmod(x.max(), holder.kept), mean)]

    seen = []
    for xp in (gpupy, np):
        holder = Holder()
        holder.kept = Operators()
        holder.all = {"kept": holder.kept}
        seen.append((program(xp, holder), holder.kept.saw))
    assert seen[0] == seen[1] and len(seen[0][1]) == 9


def instance_of(xp, members):
    """An instance of a subclass of arrays with these methods, in an object."""
    holder = Holder()
    holder.kept = xp.ones(3).view(type("Instance", (xp.ndarray,), members))
    return holder


@pytest.mark.parametrize("size", SIZES)
def test_an_instance_to_the_right_without_a_name_sees_numpys_number(auto, size):
    def seen(xp, holder_of):
        saw = []

        def decides(self, ufunc, method, *inputs, **kwargs):
            saw.extend(type(one).__name__ for one in inputs if one is not self)
            return 1

        def wraps(self, array, context=None, return_scalar=False):
            saw.extend(type(one).__name__ for one in context[1] if type(one) is not type(self))
            return 1

        x = numbers(xp, size)
        for members in ({"__array_ufunc__": decides}, {"__array_wrap__": wraps}):
            holder = holder_of(xp, members)
            assert [x.mean() + holder.kept, x.max() * holder.kept, xp.add(x.sum(), holder.kept)] == [1] * 3
            if "__array_ufunc__" in members:
                assert (x.max() > holder.kept) == 1
        return saw

    assert seen(gpupy, instance_of) == seen(np, instance_of)


@pytest.mark.parametrize("size", SIZES)
def test_a_name_of_the_function_around_is_not_pythons(auto, size):
    x, saw = numbers(gpupy, size), []

    def float(number):
        saw.append(type(number))

    def inner():
        float(x.mean())

    inner()
    assert saw == [np.float64]


@pytest.mark.parametrize("size", SIZES)
def test_an_attribute_of_a_class_is_numpys_number(auto, size):
    total = numbers(gpupy, size).mean()

    class Kept:
        mean = total

    mean = total + 1
    assert type(Kept.mean) is np.float64 and mean == total + 1


def flushes(function):
    x = numbers(gpupy, SIZES[1])
    gpupy.evaluate(x)
    gpupy.reset_stats()
    function(x)
    stats = gpupy.stats()
    return stats.blocks_evaluated + stats.computed_at_once


def test_a_number_stays_pending_where_only_plain_ones_are_beside_it(auto):
    def beside_numbers(x):
        scale, turns = 2.0, 3
        mean = x.mean()
        shifted = scale * mean + turns * (1 + mean)
        for k in range(turns):
            shifted = k + shifted
        return x - shifted

    def beside_elements_and_attributes(x):
        known = np.arange(3.0)
        return x - (known[1] + x.mean()) - (np.pi + x.mean()) - (len(known) - x.max())

    def beside_results(x):
        return (x - x.mean()) / (np.sqrt(2.0) * x.std()) + np.maximum(x.max(), x.min())

    for function in (beside_numbers, beside_elements_and_attributes, beside_results):
        assert flushes(function) == 0, function.__name__
