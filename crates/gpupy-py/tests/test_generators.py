"""Numbers that drivers draw by index are NumPy's to the bit, and so is the generator's state after each call.

Not here: what generators of ours are to libraries (``test_fallback.py``, ``test_interop.py``).
"""

import copy
import pickle
import random
import threading
import warnings

import numpy
import pytest
from pairs import assert_same

import gpupy
from gpupy._random import by_index, draws, host_draws

BY_INDEX = tuple(by_index.ROWS)
SIZES = (0, 1, 2, 3, 7, 1023, 1024, 1025, 2047, 2049, (), (1,), (0, 4), (33, 31), (2, 3, 1025))


def pair(bits, seed=7):
    """A generator of ours and NumPy's, with the same bits."""
    return [module.random.Generator(getattr(module.random, bits)(seed)) for module in (gpupy, numpy)]


def equal(ours, theirs):
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(equal(ours[key], value) for key, value in theirs.items())
    return bool(numpy.all(numpy.asarray(ours) == numpy.asarray(theirs)))


def check_state(ours, theirs):
    assert equal(ours.bit_generator.state, theirs.bit_generator.state)


def both(generators, call):
    """The result of a call, or its error, by each generator and its module."""
    made = []
    for generator, module in zip(generators, (gpupy, numpy), strict=True):
        try:
            made.append(call(generator, module))
        except (TypeError, ValueError, OverflowError) as error:
            made.append((type(error), str(error)))
    return made


def drawn(draw, size):
    """A call that draws: ``f8`` and ``f4``, ``uniform``, or a dtype of integers with a range."""
    if draw in ("f8", "f4"):
        return lambda g, xp: g.random(size, dtype=draw)
    if draw == "uniform":
        return lambda g, xp: g.uniform(-1.5, 2.25, size)
    dtype, power = draw
    least = int(numpy.iinfo(dtype).min)
    return lambda g, xp: g.integers(least, least + (1 << power), size, dtype=dtype)


DRAWS = ["f8", "f4", "uniform", ("i8", 64), ("u8", 40), ("i8", 32), ("i8", 3), ("i4", 32), ("u4", 7)]
DRAWS += [("i2", 16), ("u2", 5), ("u1", 8), ("i1", 1)]


@pytest.mark.parametrize("bits", BY_INDEX)
def test_what_is_drawn_by_index_is_numpys_between_other_calls(forbidding, bits):
    gpupy.reset_stats()
    for seed, draw in enumerate(DRAWS):
        generators = ours, theirs = pair(bits, seed)
        late = []
        for number, size in enumerate(SIZES):
            if number % 3 == 1:
                # A call of NumPy's that leaves half a word.
                for each in generators:
                    numpy.random.Generator(each.bit_generator).integers(0, 10, 3)
            if size == ():
                continue
            late.append(both(generators, drawn(draw, size)))
            check_state(ours, theirs)
        assert gpupy.stats().fallbacks == 0
        for got, want in late:
            assert type(got) is gpupy.ndarray
            assert_same(got, want, (bits, draw))


def program(chance):
    """Calls of all kinds in any order, with NumPy's beside them; values are compared at the end."""
    bits = chance.choice((*BY_INDEX, *BY_INDEX, "MT19937", "SFC64"))
    ours, theirs = pair(bits, chance.randrange(3))
    late = []
    for _ in range(chance.randint(2, 10)):
        some = chance.choice((None, 3, (700, 3), (3, 4)))
        size, axis, view = chance.choice(SIZES), chance.randrange(2), chance.randrange(5)
        kind = chance.choice(
            "draw draw draw draw out arrays range normal move copy spawn advance set".split()
        )

        way = chance.choice("shuffle permuted permutation choice".split())

        def moved(g, xp, way=way, view=view, axis=axis):
            x = xp.arange(24).reshape(4, 6)
            y = [x, x.T, x[::-1, ::2], xp.asfortranarray(x), x.astype(object)][view]
            if way == "choice":
                return [g.choice(y, 3, axis=axis), x]
            if way == "permuted" and view < 3:
                made = g.permuted(y, axis=axis, out=y)
                assert made is y
                return [made, x]
            return [getattr(g, way)(y, axis=axis), x, y]

        def into(g, xp, view=view):
            x = xp.zeros((30, 40))
            y = [x, x.T, x[::2], x[3:7], xp.zeros((3, 4), "i4")][view]
            assert g.random(out=y) is y
            return [x]

        if kind == "copy":
            again = chance.choice((copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))))
            ours, theirs = again(ours), again(theirs)
        elif kind == "spawn":
            ours, theirs = ours.spawn(1)[0], theirs.spawn(1)[0]
        elif kind == "set":
            ours.bit_generator.state = theirs.bit_generator.state
        elif kind == "advance":
            if hasattr(theirs.bit_generator, "advance"):
                far = chance.choice((1, 5, 2**64 - 3, 2**70))
                ours.bit_generator.advance(far), theirs.bit_generator.advance(far)
        else:
            call = {
                "draw": drawn(chance.choice(DRAWS), size),
                "out": into,
                "arrays": lambda g, xp, some=some: g.uniform(xp.arange(3.0), 9.0, some),
                "range": lambda g, xp, size=size: g.integers(100, size=size),
                "normal": lambda g, xp, size=size: g.normal(size=size),
                "move": moved,
            }[kind]
            late.append((kind, *both((ours, theirs), call)))
        check_state(ours, theirs)
    for kind, got, want in late:
        if isinstance(want, list):
            for one, other in zip(got, want, strict=True):
                assert (one is None) == (other is None) and (other is None or equal(one, other)), kind
        elif isinstance(want, tuple):
            assert got[0] is want[0], kind
        else:
            assert_same(got, want, kind)


def test_programs_of_generators_are_numpys(driver):
    # Where fallbacks warn, drivers draw few numbers, too.
    with gpupy.fallback("warn"), pytest.warns(gpupy.FallbackWarning):
        for seed in range(40):
            program(random.Random(seed))


def test_many_numbers_are_drawn_where_they_are_used(forbidding):
    def used(bits):
        rng = pair(bits)[0]
        x = rng.random(1 << 18)
        total = float(((x - 0.5) ** 2 + x).sum())
        return total, float(x.max())

    for bits in BY_INDEX:
        used(bits)
        gpupy.reset_stats()
        used(bits)
        stats = gpupy.stats()
        # A PCG's states after each thousand of numbers, and nothing of the numbers themselves.
        assert stats.bytes_uploaded <= (0 if bits == "Philox" else 8 * (1 << 18) // 64), bits
        assert stats.fallbacks == 0 and stats.bytes_downloaded <= 4096
        # A value that is used again is not drawn again.
        x = pair(bits)[0].random(1 << 18)
        float(x.sum()), float((x * 2).sum())
        gpupy.reset_stats()
        for number in range(5):
            float((x * number).sum())
        assert gpupy.stats().launches <= 5 * 5


def test_few_numbers_are_numpys_draws_and_counted(auto):
    ours, theirs = pair("PCG64")
    assert ours.random(5).tolist() == theirs.random(5).tolist()
    assert gpupy.stats().fallbacks == 1
    assert_same(ours.random(1 << 18), theirs.random(1 << 18))
    assert gpupy.stats().fallbacks == 1
    check_state(ours, theirs)
    # Bits that are not told by an index are drawn by the host, if it knows them.
    for bits, counted in (("SFC64", 1), ("MT19937", 2)):
        ours, theirs = pair(bits)
        assert_same(ours.random(1 << 18), theirs.random(1 << 18))
        assert gpupy.stats().fallbacks == counted
        check_state(ours, theirs)


def test_a_release_with_other_streams_draws_by_itself(auto, monkeypatch):
    def other(row):
        def words(state, count, xp):
            return row.words(state, count, xp) ^ numpy.uint64(1 << 63)

        return by_index.Row(words, row.halves, row.after)

    ours, theirs = pair("PCG64DXSM")
    monkeypatch.setattr(draws, "_agreeing", {})
    monkeypatch.setitem(by_index.ROWS, "PCG64DXSM", other(by_index.ROWS["PCG64DXSM"]))
    # The host knows the stream still.
    assert_same(ours.integers(0, 1 << 40, 1 << 18), theirs.integers(0, 1 << 40, 1 << 18))
    assert gpupy.stats().fallbacks == 0
    monkeypatch.setattr(host_draws, "_agreeing", {})
    monkeypatch.delitem(host_draws._WORDS, "PCG64DXSM")
    assert_same(ours.integers(0, 1 << 40, 1 << 18), theirs.integers(0, 1 << 40, 1 << 18))
    assert gpupy.stats().fallbacks == 1
    # Halves are as they were.
    assert_same(ours.random(1 << 18, "f4"), theirs.random(1 << 18, "f4"))
    assert gpupy.stats().fallbacks == 1
    check_state(ours, theirs)


def test_words_that_a_counter_does_not_tell_are_numpys(forbidding):
    ours, theirs = pair("Philox")
    for each in (ours, theirs):
        state = each.bit_generator.state
        state["buffer"], state["buffer_pos"] = numpy.arange(4, dtype="u8"), 1
        each.bit_generator.state = state
    with gpupy.fallback("allow"):
        assert_same(ours.random(1 << 18), theirs.random(1 << 18))
    for each in (ours, theirs):
        state = each.bit_generator.state
        state["state"]["counter"][:] = 2**64 - 5
        state["buffer_pos"] = 4
        each.bit_generator.state = state
    with gpupy.fallback("allow"):
        assert_same(ours.random(1 << 18), theirs.random(1 << 18))
    check_state(ours, theirs)


def test_methods_of_a_programs_generators_are_its_own(auto):
    class Halved(gpupy.random.Generator):
        def random(self, size):
            return super().random(size) / 2

    ours, theirs = Halved(gpupy.random.PCG64(3)), numpy.random.default_rng(3)
    assert_same(ours.random(1 << 18), theirs.random(1 << 18) / 2)
    assert_same(ours.uniform(0, 1, 1 << 18), theirs.random(1 << 18))
    check_state(ours, theirs)


CALLS = """
    g.random(None) | g.random(dtype="f4") | g.random(True) | g.random(-1) | g.random(2.5) | g.random([2, 3])
    g.random(xp.array(3)) | g.random(xp.array([2, 3])) | g.random(3, dtype=">f8") | g.random(3, dtype=object)
    g.random(3, sz=3) | g.random(1 << 60) | g.uniform(0, 1) | g.uniform(0, numpy.nan, 3)
    g.uniform(0, 10**400, 3) | g.uniform(5, 1, 3)
    g.uniform(xp.arange(3), xp.arange(3) + 1) | g.uniform(xp.arange(3), 9, (2, 4))
    g.uniform(xp.arange(3), xp.arange(3) - 1, (2, 3)) | g.uniform(xp.array(0.0), xp.array(2.0))
    g.uniform(xp.array(0.0), 2, 3) | g.uniform(xp.arange(3) * 1j, 9) | g.uniform(xp.zeros(0), 9)
    g.uniform(xp.arange(6.0).reshape(2, 3).T, 9) | g.uniform(numpy.zeros(3), xp.ones(3))
    g.uniform(False, True, 3)
    g.uniform(numpy.int8(-100), numpy.int8(100), 3) | g.integers(8) | g.integers(0, 8.0, 5)
    g.integers(8, 0, 5)
    g.integers(0, 2, 5, dtype=bool) | g.integers(0, 8, 5, dtype=">i4") | g.integers(0, 8, 5, dtype="f8")
    g.integers(xp.array([0, 4]), 8) | g.integers(0, 7, 5, endpoint=True) | g.integers(-1, 300, 5, dtype="u1")
    g.integers(0, 8, 5, dtype="Q") | g.integers(0, 8, 5, dtype=numpy.intp) | g.integers(0, 1 << 65, 5)
"""


@pytest.mark.parametrize(
    "call", [call.strip() for line in CALLS.splitlines() for call in line.split("|") if call]
)
def test_arguments_are_those_of_numpys_methods(auto, call):
    generators = ours, theirs = pair("PCG64")

    def run(g, xp):
        try:
            return eval(call, {"g": g, "xp": xp, "numpy": numpy})
        except MemoryError as error:
            return type(error), ""

    with warnings.catch_warnings(), gpupy.fallback("warn"):
        warnings.simplefilter("ignore")
        got, want = both(generators, run)
    if not isinstance(want, numpy.ndarray):
        assert (type(got), got) == (type(want), want)
    else:
        assert_same(got, want, call)
        assert (type(got) is gpupy.ndarray) == (type(want) is numpy.ndarray)
    check_state(ours, theirs)


ONE_NUMBER = {
    "choice": [(5,), ([3, 4],), (5, None, True, [0.1, 0.2, 0.3, 0.2, 0.2]), (5, 2), (5, 2, False)],
    "permutation": [(5,), ([1, 2, 3],)],
    "standard_normal": [()],
    "multivariate_normal": [([0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]])],
    "multinomial": [(5, [0.5, 0.5])],
    "dirichlet": [([1.0, 2.0],)],
}


@pytest.mark.parametrize("name", ONE_NUMBER)
@pytest.mark.parametrize(
    "made",
    [
        lambda xp: xp.random.default_rng(1),
        lambda xp: xp.random.Generator(xp.random.PCG64(1)),
        lambda xp: xp.random.Generator(xp.random.MT19937(1)),
        lambda xp: xp.random.RandomState(1),
    ],
    ids=["default", "pcg", "twister", "old"],
)
def test_methods_that_call_others_of_their_generator_give_numpys_types(auto, made, name):
    for call in ONE_NUMBER[name]:
        ours, theirs = (getattr(made(xp), name)(*call) for xp in (gpupy, numpy))
        assert type(ours) is (gpupy.ndarray if isinstance(theirs, numpy.ndarray) else type(theirs)), call
        numpy.testing.assert_array_equal(ours, theirs)


def test_generators_that_share_bits_share_their_words(auto):
    bits = gpupy.random.PCG64(5)
    first, second, third = (
        gpupy.random.default_rng(bits),
        gpupy.random.Generator(bits),
        numpy.random.Generator(bits),
    )
    theirs = numpy.random.default_rng(5)
    for generator in (first, second, third, first):
        assert_same(gpupy.asarray(generator.random(1 << 18)), theirs.random(1 << 18))
        assert generator.normal() == theirs.normal()
    check_state(first, theirs)


def test_threads_draw_each_word_once(auto):
    rng, found = gpupy.random.default_rng(5), []

    def work():
        for _ in range(20):
            found.append(rng.random(140000))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    got = sorted(float(part[0]) for part in found)
    want = numpy.random.default_rng(5).random((80, 140000))
    assert got == sorted(want[:, 0].tolist())


@pytest.mark.parametrize("bits", "MT19937 PCG64 PCG64DXSM Philox SFC64 SeedSequence".split())
def test_seeds_are_arrays_of_ours(auto, bits):
    for seed in ([1, 2], numpy.arange(3, dtype="u4")):
        ours = getattr(gpupy.random, bits)(gpupy.array(seed))
        theirs = getattr(numpy.random, bits)(seed)
        if bits == "SeedSequence":
            assert ours.generate_state(3).tolist() == theirs.generate_state(3).tolist()
            assert isinstance(ours, numpy.random.SeedSequence) and ours.spawn(1)[0].spawn_key == (0,)
            assert isinstance(theirs, gpupy.random.SeedSequence)
            continue
        assert ours.random_raw() == theirs.random_raw()
        again = pickle.loads(pickle.dumps(ours))
        assert type(again) is type(ours) and again.random_raw() == theirs.random_raw()


def test_copies_of_generators_of_ours_are_ours(auto):
    rng = gpupy.random.Generator(gpupy.random.PCG64(1))
    for again in (
        copy.deepcopy(rng),
        pickle.loads(pickle.dumps(rng)),
        rng.spawn(1)[0],
        rng.spawn(1)[0].spawn(1)[0],
    ):
        assert type(again.random(3)) is gpupy.ndarray and isinstance(again, gpupy.random.Generator)
    state = gpupy.random.RandomState(3)
    assert pickle.loads(pickle.dumps(state)).rand(2).tolist() == state.rand(2).tolist()
    assert type(copy.deepcopy(state).rand(2)) is gpupy.ndarray
