"""Results of NumPy's that nothing else refers to are read where they lie; all others are copied."""

import gc
import weakref

import numpy

import gpupy

SIDE = 300


def matrix():
    return gpupy.asarray(numpy.random.default_rng(2).random((SIDE, SIDE)))


def test_what_is_adopted_has_its_elements_and_may_be_written_to(auto):
    host = numpy.asarray(matrix())
    ours, theirs = gpupy.linalg.svd(matrix()), numpy.linalg.svd(host)
    for mine, want in zip(ours, theirs, strict=True):
        assert numpy.array_equal(numpy.asarray(mine), want)
    made = gpupy.linalg.inv(matrix())
    want = numpy.linalg.inv(host)
    before = made * 1
    made[0] = want[0] = 7
    made += 1
    want += 1
    assert numpy.array_equal(numpy.asarray(made), want)
    assert before[0, 0] == numpy.linalg.inv(host)[0, 0]


def test_memory_of_what_is_adopted_goes_with_the_array(auto):
    made = gpupy.linalg.inv(matrix())
    assert made.nbytes == 8 * SIDE * SIDE
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is None


def test_a_result_that_its_function_keeps_is_not_shared(auto):
    kept = []

    def keeps(array):
        kept.append(array + 1)
        return kept[-1]

    def shows(array):
        kept.append(array + 1)
        return kept[-1][1:]

    def is_known_weakly(array):
        made = array + 1
        kept.append(weakref.ref(made))
        return made

    for function in (keeps, shows, is_known_weakly):
        got = gpupy._gpupy.call(function.__name__, function, (matrix(),), {})
        assert type(got) is gpupy.ndarray
        before = numpy.array(got)
        known = kept[-1] if isinstance(kept[-1], numpy.ndarray) else kept[-1]()
        if known is not None:
            known[:] = 0
        assert numpy.array_equal(numpy.asarray(got), before)


def test_several_results_of_which_one_is_kept(auto):
    kept = []

    def two(array):
        kept.append(array + 1)
        return kept[-1], array + 2

    one, other = gpupy._gpupy.call("two", two, (matrix(),), {})
    kept[-1][:] = 0
    assert numpy.array_equal(numpy.asarray(one + 1), numpy.asarray(other))
