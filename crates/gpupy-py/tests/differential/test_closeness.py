"""The tolerances of the random programs, and that they are no larger than needed.

Not here: the rules themselves (``closeness.py``, ``draft.py``, ``replay.py``).
"""

import numpy as np
import pytest

from .closeness import settle
from .draft import Draft
from .replay import _scale, magnitude


def _drafted(text, loose=None, makes=True, **arrays):
    """The lines that become of a statement with these variables."""
    draft = Draft(lambda n: 0)
    draft.space |= arrays
    try:
        draft._add(text, makes=makes, loose=loose)
    except type(draft.unsuitable):
        return []
    return draft.lines


def _passes(got, want, text, loose=None, **arrays):
    (line,) = _drafted(text, loose, **arrays)
    scale = _scale(line, {"np": np, "mag": magnitude, **arrays})
    return settle(np.asarray(got), np.array(want), scale)[0] is None


@pytest.mark.parametrize(
    ("factors", "got", "want", "passes"),
    [
        # 9 · 10000 is infinite, so that a zero makes it NaN unless it comes first.
        ([9, 10_000, 0], 0, np.nan, True),
        ([9, 1000, 0], 0, np.nan, False),
        ([np.inf, 1000, 0], 0, np.nan, False),
        ([9, 1000, 2], 18_000, 18_016, True),
        ([9, 1000, 2], 18_000, 19_000, False),
        # Digits lost in the first two factors do not come back.
        ([2e-4, 2e-4, 10_000, 10_000], 4, 3.576, True),
        ([2e-2, 2e-2, 100, 100], 4, 3.576, False),
    ],
)
def test_only_products_that_leave_the_dtype_go_by_their_order(factors, got, want, passes):
    got, want, factors = (np.array(x, dtype=np.float16) for x in (got, want, factors))
    assert _passes(got, want, "np.prod(v0)", 14, v0=factors) == passes


def test_a_mask_of_a_sum_picks_the_elements_themselves():
    v0 = np.array([-1000, 8, 0], dtype=np.float32)
    assert _passes(np.float32(-1000 - 1e-3), np.float32(-1000), "np.sum(v0, where=v0 <= 0)", 14, v0=v0)
    assert not _passes(np.float32(8 + 1e-3), np.float32(8), "np.sum(v0, where=v0 > 0)", 14, v0=v0)


@pytest.mark.parametrize("text", ["v0.min(axis=-1)", "np.max(v0, axis=-1)", "np.nanmin(v0, axis=-1)"])
def test_only_of_zeros_of_both_signs_either_is_an_extreme(text):
    both, one = np.array([[0.0, -0.0, 0.0]]), np.array([[-0.0, -0.0, -0.0]])
    assert _passes([0.0], [-0.0], text, v0=both) and not _passes([1.0], [-0.0], text, v0=both)
    (line,) = _drafted(text, v0=one)
    assert line.scale is None


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("v0[v0 > -1] = v1", False),
        ("v0[v2] = v1", False),
        ("v0[v2] = v3", True),
        ("v0[:3] = v1[:3]", True),
        ("v0[[3, 2, 1, 0]] = v1", True),
        ("v0[v0 > -1] += v1", True),
    ],
)
def test_only_masks_of_all_elements_write_over_what_numpy_still_reads(text, drawn):
    v0 = np.arange(4)
    arrays = {"v0": v0, "v1": v0[::-1], "v2": np.ones(4, dtype=bool), "v3": np.arange(4)}
    assert bool(_drafted(text, makes=False, **arrays)) == drawn


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("np.copyto(v0, v0[::-1], where=v2)", False),
        ("np.copyto(v0, np.broadcast_to(v0[:, 2:], (3, 0)), where=v2)", False),
        ("np.copyto(v0, v1, where=v2)", True),
        ("np.copyto(v0, v0[::-1])", True),
        ("np.copyto(v3, v3[::-1], where=v2)", True),
    ],
)
def test_only_of_no_elements_numpy_may_look_at_no_mask(text, drawn):
    arrays = {
        "v0": np.zeros((3, 0)),
        "v1": np.zeros((3, 0)),
        "v2": np.ones(3, dtype=bool),
        "v3": np.arange(3),
    }
    assert bool(_drafted(text, makes=False, **arrays)) == drawn


def test_only_what_numpys_broadcasting_stumbles_over_is_not_drawn():
    owner = np.arange(3)
    view = owner[:]
    owner.setflags(write=False)
    text, wide = "np.select([v1 > 1, v2 > 1], [v1, v2])", np.zeros((2, 3))
    assert not _drafted(text, v1=view, v2=wide) and _drafted(text, v1=np.arange(3), v2=wide)
    owned = owner.view()
    assert _drafted("v0.setflags(write=True)", makes=False, v0=owned)


@pytest.mark.parametrize(
    ("bits", "drawn"), [(0x7E00, True), (0x3C00, True), (0xFE00, False), (0x7C01, False), (0x7C00, True)]
)
def test_only_bits_of_computed_nan_are_not_read(bits, drawn):
    v0 = np.array([0x3C00, bits], dtype=np.uint16).view(np.float16)
    assert bool(_drafted("v0.tobytes()", v0=v0)) == bool(_drafted("v0.byteswap()", v0=v0)) == drawn
    assert _drafted("v0[::-1]", v0=v0)
