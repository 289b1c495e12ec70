"""``gpupy.benchmark``: what it calls, how often, in which order, and what is timed; never how long."""

import numpy
import pytest

import gpupy as np

DRIVERS = ["cpu", "soft"]


@pytest.fixture(params=DRIVERS, autouse=True)
def a_driver(request):
    with np.driver(request.param):
        yield


def test_each_call_gets_the_arguments_and_its_result_is_computed_when_its_time_ends():
    x = np.linspace(0, 1, 100_000)
    calls = []

    def double(array, number):
        calls.append((array is x, number))
        np.reset_stats()
        return {"all": [array * number, (array + number,)]}

    timings = np.benchmark(double, x, 2, rounds=4)
    assert set(calls) == {(True, 2)}
    # What the last call gave, with nothing read by us.
    assert np.stats().launches > 0
    (timing,) = timings
    assert timing.name == "double"
    assert len(timing.host) == len(timing.device) == len(timing.seconds) == 4
    assert min(*timing.host, *timing.device, timing.first) >= 0
    low, high = timing.quartiles
    assert min(timing.seconds) <= low <= timing.median <= high <= max(timing.seconds)


@pytest.mark.parametrize(
    "value",
    [
        lambda x: x,
        lambda x: np.ma.array(x, mask=x > 0.5),
        lambda x: np.vec2(x, 1),
        lambda x: np.TypedList(x, 2),
        lambda x: ({"a": [x]},),
    ],
)
def test_arrays_in_results_of_any_class_are_computed(value):
    x = np.linspace(0, 1, 100_000)
    np.evaluate(x)

    def call():
        np.reset_stats()
        return value(x * 3)

    np.benchmark(call, rounds=3)
    assert np.stats().launches > 0


def test_what_a_call_writes_is_computed_too():
    x = np.linspace(0, 1, 100_000)
    np.evaluate(x)

    def write(array):
        np.reset_stats()
        array[...] = array[::-1] + 1

    np.benchmark(write, x, rounds=3)
    assert np.stats().launches > 0


def test_arguments_are_computed_before_anything_is_timed():
    x = np.linspace(0, 1, 100_000) + 1
    before = []

    def call(array):
        before.append(np.stats().launches)

    np.reset_stats()
    np.benchmark(call, x, rounds=3)
    assert before[0] > 0


def test_functions_are_called_in_turns_and_keep_their_names():
    order = []

    def first():
        order.append("first")

    def second():
        order.append("second")

    timings = np.benchmark([first, second], rounds=5, seconds=60)
    assert [timing.name for timing in timings] == ["first", "second"]
    # Runs of one name: warm up of both, and then of each round both.
    runs = [name for k, name in enumerate(order) if k == 0 or order[k - 1] != name]
    assert runs == ["first", "second"] * 6
    for timing in timings:
        assert timing.repeats > 1
        assert order.count(timing.name) >= 5 * (timing.repeats + 1)
    named = np.benchmark({"a": first}, rounds=3)
    assert [timing.name for timing in named] == ["a"]


def test_no_more_rounds_begin_once_the_time_is_over_but_the_first_three():
    (timing,) = np.benchmark(lambda: None, rounds=1000, seconds=0)
    assert len(timing.host) == 3


def test_the_text_is_a_table_with_a_row_for_each():
    lines = repr(np.benchmark({"one": lambda: None, "two": lambda: None}, rounds=3)).splitlines()
    assert [line.split("|")[1].strip() for line in (lines[0], *lines[2:])] == ["function", "one", "two"]
    assert lines[2].rstrip("| ").endswith(" 1.00")


def test_functions_of_numpy_leave_nothing_to_the_device():
    x = numpy.linspace(0, 1, 1000)
    np.reset_stats()
    np.benchmark(numpy.sin, x, rounds=3)
    assert np.stats().launches == 0


def test_errors_of_a_function_are_its_own_and_mistakes_are_said():
    with pytest.raises(ZeroDivisionError):
        np.benchmark(lambda: 1 / 0)
    with pytest.raises(TypeError, match="no function to time"):
        np.benchmark([])
    with pytest.raises(TypeError, match="`float` is no function"):
        np.benchmark([1.0])
    with pytest.raises(ValueError, match="rounds is 2, and at least 3"):
        np.benchmark(len, [], rounds=2)
