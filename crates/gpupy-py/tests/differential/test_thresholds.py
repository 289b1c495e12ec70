"""Random programs draw their sizes around the thresholds that the sources name."""

import random

import numpy as np

from .draft import Draft
from .literals import near
from .thresholds import _FIELD, SIZES, constants, of_text


def test_a_new_threshold_is_drawn_by_itself():
    text = """
        /// Elements from which on it is worth a thread.
        pub(crate) const WORTH: usize = 3 << 10;
            const HALF: u64 = WORTH as u64 / 2 - 1;
        const OF_A_TYPE: usize = size_of::<f64>();
        const SHARE: f64 = 0.5;
    """
    assert of_text(text) == {"WORTH": 3072, "HALF": 1535}


def test_a_field_of_a_crate_s_thresholds_is_drawn():
    text = """
    /// The most points at once.
    most: usize = 32 << 10,
    cost: f64 = 0.5,
    """
    assert of_text(text, _FIELD) == {"most": 32768}
    assert {"gpupy-engine/src/thresholds.rs", "driver-cpu/src/thresholds.rs"} <= set(constants())


def test_thresholds_of_every_crate_are_drawn_with_their_neighbours():
    found = constants()
    crates = {path.split("/")[0] for path in found}
    assert {
        "gpupy-core",
        "gpupy-engine",
        "gpupy-py",
        "gpupy-jit",
        "gpupy-codegen",
        "driver-cpu",
        "driver-soft",
    } <= crates
    small = [value for named in found.values() for value in named.values() if 2 <= value <= 1 << 20]
    assert {near for value in small for near in (value - 1, value, value + 1)} <= set(SIZES)
    # As bytes of float64.
    assert {value // 8 for value in small if value >= 16} <= set(SIZES)


def test_small_sizes_come_often_and_large_ones_seldom():
    draft = Draft(random.Random(1).randrange)
    drawn = [near(draft) for _ in range(20_000)]
    assert {size for size in SIZES if size <= 300} <= set(drawn)
    assert np.median(drawn) < 70 and np.mean(drawn) < 1000 and max(drawn) > 20_000
    tiny = Draft(random.Random(1).randrange, 100)
    assert max(near(tiny) for _ in range(1000)) <= 100


def test_programs_reach_beyond_every_small_size():
    largest = 0
    for number in range(300):
        draft = Draft(random.Random(number).randrange)
        draft.program(20)
        arrays = [value for name, value in draft.space.items() if name[0] == "v" and hasattr(value, "size")]
        largest = max([largest, *(array.size for array in arrays)])
        # Spread over each other, operands of one statement are not larger either.
        assert all(array.size <= 3 * draft.most for array in arrays)
    assert largest > 2048
