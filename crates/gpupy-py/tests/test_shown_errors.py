"""An error in a function that is compiled or recorded leads to its line, and underlines what is wrong there.

The frames of the package are none of the reader's. Not here: the words (``test_refused_kernels.py``,
``test_refused_jit.py``).
"""

import math
import pathlib
import traceback

import pytest

import gpupy as gp

PACKAGE = str(pathlib.Path(gp.__file__).parent)


def a_list(x):
    y = x + 1
    z = [y, 2]
    return z


def an_unknown_name(x):
    while x < 3:
        x = x + nowhere(x)  # noqa: F821
    return x


def a_range_of_floats(x):
    for _ in range(x):
        x = x + 1
    return x


def an_inner_function(x):
    return added(x) * 2


def added(x):
    return 3 * (x + "é") - 2


def a_written_function(x):
    return 1 + math.gcd(x, 2)


def two_lines(x):
    return (
        x + x.real.nothing  # of a number
    )


def a_test(x):
    if x.nothing:
        return 1
    return x


def an_attribute(x):
    y = x
    y.name = 3
    return y


def no_result(x):
    if x > 0:
        return x


def a_matrix_product(x):
    return x @ x


POINTS = [
    (a_list, "z = [y, 2]", "[y, 2]"),
    (an_unknown_name, "x = x + nowhere(x)", "nowhere"),
    (a_range_of_floats, "for _ in range(x):", "range(x)"),
    (an_inner_function, 'return 3 * (x + "é") - 2', 'x + "é"'),
    (a_written_function, "return 1 + math.gcd(x, 2)", "math.gcd(x, 2)"),
    (two_lines, "+ x.real.nothing", "x.real.nothing"),
    (a_test, "if x.nothing:", "x.nothing"),
    (an_attribute, "y.name = 3", "y.name"),
    (no_result, "def no_result(x):", "def no_result"),
    (a_matrix_product, "return x @ x", "x @ x"),
    (lambda x: x * {1}, "lambda x: x * {1}", "{1}"),
]


def below(call):
    """The frames below this one of the error of a call, and what Python underlines of the last one's line."""
    with pytest.raises(Exception) as caught:
        call()
    # Behind this frame, and that of the call itself.
    frames = traceback.extract_tb(caught.value.__traceback__)[2:]
    if not frames or frames[-1].filename != __file__:
        return caught.value, frames, None
    last = frames[-1]
    line = pathlib.Path(__file__).read_bytes().splitlines()[last.lineno - 1]
    end = last.end_colno if last.end_lineno == last.lineno else len(line)
    return caught.value, frames, line[last.colno : end].decode()


@pytest.mark.parametrize(("function", "line", "construct"), POINTS)
def test_an_error_of_a_kernel_underlines_its_construct(auto, function, line, construct):
    kernel, x = gp.kernel(function), gp.ones(3)
    error, frames, underlined = below(lambda: kernel(x))
    assert isinstance(error, gp.KernelError)
    assert not any(frame.filename.startswith(PACKAGE) for frame in frames)
    assert frames[-1].filename == __file__ and line in frames[-1].line
    assert underlined == construct
    assert f"test_shown_errors.py, line {frames[-1].lineno})" in str(error)
    assert error.__cause__ is None and (error.__context__ is None or error.__suppress_context__)


@gp.kernel
def plus(x, y):
    return x + y


@gp.kernel
def of_lists(x, y):
    return [x, y]


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: plus(gp.ones(3)), TypeError, r"plus\(\): missing a required argument: 'y'"),
        (lambda: plus(gp.ones(3), 1, 2), TypeError, r"plus\(\): too many positional arguments"),
        (lambda: plus(gp.ones(3), z=2), TypeError, r"plus\(\): "),
        (lambda: plus(gp.ones(3), gp.ones(4)), ValueError, "broadcast"),
        (lambda: plus("a", 1), gp.KernelError, "takes numbers"),
        (lambda: plus.reduce(gp.ones((0, 3))), ValueError, "identity"),
    ],
)
def test_the_error_of_a_call_has_no_frames_of_ours(auto, call, kind, words):
    with pytest.raises(kind, match=words):
        call()
    _, frames, _ = below(call)
    assert not any(frame.filename.startswith(PACKAGE) for frame in frames)


@pytest.mark.parametrize(
    "call",
    [
        lambda: of_lists.reduce(gp.ones(3)),
        lambda: of_lists.accumulate(gp.ones(3)),
        lambda: gp.reduction(lambda x: x, of_lists)(gp.ones(3)),
    ],
)
def test_reductions_by_a_kernel_show_it_too(auto, call):
    _, frames, underlined = below(call)
    assert not any(frame.filename.startswith(PACKAGE) for frame in frames)
    assert (frames[-1].name, underlined) == ("of_lists", "[x, y]")


def test_a_kernel_without_source_shows_where_its_operations_failed(auto):
    names = {}
    exec("def sourceless(x):\n    return x.nothing", names)
    _, frames, _ = below(lambda: gp.kernel(names["sourceless"])(gp.ones(3)))
    assert [(frame.filename, frame.name, frame.lineno) for frame in frames] == [("<string>", "sourceless", 2)]


@gp.jit
def in_words(x):
    y = x * 2
    return str(y) + "a"


@gp.jit
def in_a_format(x):
    return f"{x * 2:.3f}"


@gp.jit
def of_no_attribute(x):
    return (x * 2).nothing + 1


@gp.jit
def inside(x):
    return outside(x)


def outside(x):
    return x + gp.ones(7)


@gp.jit
def has_a_cause(x):
    try:
        return x.nothing
    except AttributeError as error:
        raise KeyError("none") from error


@pytest.mark.parametrize(
    ("function", "kind", "names", "construct"),
    [
        (in_words, gp.JitError, ["in_words"], "str(y)"),
        (in_a_format, gp.JitError, ["in_a_format"], None),
        (of_no_attribute, AttributeError, ["of_no_attribute"], "(x * 2).nothing"),
        (inside, ValueError, ["inside", "outside"], "x + gp.ones(7)"),
        (has_a_cause, KeyError, ["has_a_cause"], None),
    ],
)
def test_an_error_of_a_recorded_function_shows_its_own_frames(auto, function, kind, names, construct):
    x = gp.ones(300_000)
    error, frames, underlined = below(lambda: function(x))
    assert isinstance(error, kind)
    assert [frame.name for frame in frames] == names
    assert construct is None or underlined == construct
    assert (error.__cause__ is not None) == (function is has_a_cause)


def test_a_call_with_other_arguments_is_an_error_of_the_call(auto):
    error, frames, _ = below(lambda: in_words())
    assert not frames and "missing 1 required positional argument: 'x'" in str(error)


OF_NUMPYS_CODE = {
    "inv": lambda x: gp.linalg.inv(x),
    "cholesky": lambda x: gp.linalg.cholesky(x - 1),
    "histogram": lambda x: gp.histogram(x, bins=-1),
    "percentile": lambda x: gp.percentile(x, 101),
    "interp": lambda x: gp.interp(x, [1], []),
    "trapezoid": lambda x: gp.trapezoid(x, gp.ones(7)),
}


@pytest.mark.parametrize("name", OF_NUMPYS_CODE)
def test_an_error_of_numpys_code_has_one_frame_of_the_package_at_most(auto, name):
    x = gp.zeros((3, 3))
    with pytest.raises(ValueError) as caught:
        OF_NUMPYS_CODE[name](x)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert sum(frame.filename.startswith(PACKAGE) for frame in frames) <= 1
