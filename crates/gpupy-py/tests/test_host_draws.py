"""Numbers that the host draws in bulk are NumPy's to the bit, and so is the generator's state after a call.

Not here: what drivers draw by index, and programs of all kinds of calls (``test_generators.py``).
"""

import random

import numpy
import pytest
from pairs import assert_same
from test_generators import both, check_state, pair

import gpupy
from gpupy._random import host_draws, layers

BITS = ("PCG64", "PCG64DXSM", "Philox", "SFC64")
# Around the words of a buffer, their parts, and numbers that are looked at together.
SIZES = (1, 2, 3, 15, 16, 17, 33, 1023, 1024, 1025, 2049, 4097, 8191, (33, 31), (2, 3, 1025), 40_000)
CALLS = """
    g.standard_normal(size) | g.normal(size=size) | g.normal(-2.5, 0.25, size) | g.normal(3, 0, size)
    g.normal(numpy.float32(0.1), numpy.int8(7), size) | g.standard_exponential(size)
    g.exponential(size=size)
    g.exponential(0.3, size) | g.integers(1000, size=size) | g.integers(-7, 3, size)
    g.integers(3 << 30, size=size) | g.integers((1 << 32) - 1, size=size)
    g.integers((1 << 32) + 1, size=size)
    g.integers(-(3 << 61), 3 << 60, size) | g.integers(0, (1 << 64) - 1, size, "u8")
    g.integers(0, 100, size, "u1") | g.integers(-128, 127, size, "i1") | g.integers(0, 255, size, "u1")
    g.integers(0, 3, size, "i1") | g.integers(0, 40_000, size, "u2")
    g.integers(-5, 6, size, "i2", endpoint=True)
    g.integers(10**6, size=size, dtype="i4") | g.integers(0, (1 << 32) - 1, size, "u4")
    g.integers(0, 3 << 30, size, "u4")
"""
CALLS = [call.strip() for line in CALLS.splitlines() for call in line.split("|") if call.strip()]


def run(call, **names):
    return lambda g, xp: eval(call, {"g": g, "xp": xp, "numpy": numpy, **names})


@pytest.mark.parametrize("bits", BITS)
def test_what_the_host_draws_is_numpys_between_other_calls(forbidding, bits):
    ours, theirs = pair(bits)
    chance = random.Random(bits)
    late = []
    gpupy.reset_stats()
    for call in CALLS:
        for size in chance.sample(SIZES, 5):
            if chance.random() < 0.5:
                # NumPy's own, of a half, of words or of a byte's worth of them.
                between = chance.choice(("random(3, 'f4')", "random(5)", "integers(0, 9, 3, 'u1')"))
                for each in (ours, theirs):
                    eval(f"numpy.random.Generator(g.bit_generator).{between}", {"numpy": numpy, "g": each})
            late.append((call, size, both((ours, theirs), run(call, size=size))))
            check_state(ours, theirs)
    assert gpupy.stats().fallbacks == 0
    for call, size, (got, want) in late:
        assert type(got) is gpupy.ndarray
        assert_same(got, want, (bits, call, size))


@pytest.mark.parametrize("bits", BITS)
def test_many_numbers_are_drawn_without_a_fallback(auto, bits):
    generators = ours, theirs = pair(bits)
    for call in (
        "g.normal(1.0, 2.0, 200_001)",
        "g.integers(77, size=200_001)",
        "g.exponential(3.0, (300, 500))",
    ):
        got, want = both(generators, run(call))
        assert_same(got, want, call)
        check_state(ours, theirs)
    assert gpupy.stats().fallbacks == 0
    # Few are NumPy's.
    assert_same(*both(generators, run("g.normal(size=5)")))
    assert gpupy.stats().fallbacks == 1


@pytest.mark.parametrize("kind", ["normal", "exponential"])
def test_words_at_the_edges_of_layers_are_numpys_numbers(kind):
    # Words that a generator would not make in a year: a layer's last bits inside, and the first ones outside.
    ziggurat = layers._ZIGGURATS[kind]
    thresholds = numpy.frombuffer(layers.layers_of(kind)[0], numpy.uint64)
    draw = host_draws.METHODS[ziggurat.method](2)
    words = numpy.random.default_rng(1).integers(0, (1 << 64) - 1, (256, 2, 3), numpy.uint64, endpoint=True)
    for layer, threshold in enumerate(thresholds.tolist()):
        for outside in (0, 1):
            bits = max(threshold - 1 + outside, 0)
            buffer = [int(ziggurat.words(layer, bits)), *words[layer, outside].tolist()]
            state = numpy.random.Philox(3).state
            state.update(buffer=numpy.array(buffer, numpy.uint64), buffer_pos=0)
            theirs = numpy.random.Generator(numpy.random.Philox())
            theirs.bit_generator.state = state
            got, after = host_draws._numbers(state, draw)
            want = getattr(theirs, ziggurat.method)(2)
            assert numpy.asarray(got).tobytes() == want.tobytes(), (layer, bits)
            assert host_draws.same_state(after, theirs.bit_generator.state), (layer, bits)


WORDS = """
    g.normal(0, -1, 50_000) | g.normal(0, -0.0, 50_000) | g.normal(0, numpy.nan, 50_000) | g.normal(0, 1, -1)
    g.normal(numpy.nan, 1, 50_000) | g.normal(10**400, 1, 50_000) | g.normal(True, True, 50_000)
    g.normal(0, numpy.inf, 50_000) | g.normal("a", 1, 50_000) | g.normal(0, 1, 2.5) | g.normal(0, 1j, 50_000)
    g.exponential(-1, 50_000) | g.exponential(0, 50_000) | g.exponential(numpy.inf, 50_000)
    g.standard_normal(50_000, "f4") | g.standard_normal(50_000, "i4") | g.standard_normal(50_000, ">f8")
    g.standard_normal(20_000, out=xp.zeros(20_000)) | g.standard_exponential(50_000, method="inv")
    g.standard_exponential(50_000, method="other") | g.standard_exponential(20_000, "f4")
    g.integers(5, 5, 200_000) | g.integers(5, 6, 200_000) | g.integers(6, 5, 200_000)
    g.integers(0, 300, 200_000, "u1") | g.integers(0, 3, 200_000, bool) | g.integers(0, 9.0, 200_000)
    g.integers(0, 1 << 65, 200_000) | g.normal([0.0, 1.0], 1.0, (30_000, 2)) | g.normal(xp.zeros(3), 1.0)
    g.normal(scale=2.0, loc=-1.0, size=50_000) | g.normal(0, 1, (200, 0, 300))
    g.normal(0, 1, (True, 50_000))
"""


@pytest.mark.parametrize(
    "call", [c.strip() for line in WORDS.splitlines() for c in line.split("|") if c.strip()]
)
@pytest.mark.filterwarnings("ignore")
def test_arguments_are_those_of_numpys_methods(auto, call):
    generators = ours, theirs = pair("PCG64")
    got, want = both(generators, run(call))
    if isinstance(want, numpy.ndarray):
        assert_same(got, want, call)
    else:
        assert (type(got), got) == (type(want), want)
    check_state(ours, theirs)


def test_a_release_with_other_layers_draws_by_itself(auto, monkeypatch):
    ours, theirs = pair("PCG64")
    thresholds, units, heights = layers.layers_of("normal")
    monkeypatch.setattr(host_draws, "_agreeing", {})
    monkeypatch.setattr(host_draws, "layers_of", lambda name: [thresholds, heights, units])
    assert_same(ours.normal(0, 1, 1 << 18), theirs.normal(0, 1, 1 << 18))
    monkeypatch.setattr(host_draws, "_agreeing", {})
    monkeypatch.setattr(host_draws, "layers_of", lambda name: None)
    assert_same(ours.normal(0, 1, 1 << 18), theirs.normal(0, 1, 1 << 18))
    assert gpupy.stats().fallbacks == 2
    check_state(ours, theirs)
