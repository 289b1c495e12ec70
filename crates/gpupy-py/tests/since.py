"""Tests that need a newer NumPy than the oldest supported one, with the missing feature.

The tests compare with the NumPy that is installed. Where an older one has no such function, or other words,
there is nothing to compare with. Owns this list; ``conftest.py`` skips what is in it, with the reason.
"""

import numpy as np
import pytest

_KEYWORDS = "without the keywords `copy` and `device` of `asanyarray`, `astype` and `from_dlpack`"
_NAMES = "without `unstack` and `cumulative_sum`"
_FLAT = "whose `flat` takes fewer keys, and words its refusals otherwise"

# By the name of a test or a case, of which `*` is any part: the first NumPy that will do, and what is older.
SINCE = {
    "test_an_array_without_axes_has_a_conjugate": ("2.3", "which has conjugates of numbers alone"),
    "test_an_ellipsis_as_output_keeps_an_array_without_axes": ("2.3", "which takes no `out=...`"),
    "test_calls_give_what_numpys_give[*full nan int]": ("2.1", "which wraps a number too large for `full`"),
    "test_dlpack_gives_the_memory": ("2.1", _KEYWORDS),
    "test_flat_reads_writes_and_iterates": ("2.4", _FLAT),
    "test_flat_takes_the_keys_that_numpys_takes": ("2.4", _FLAT),
    "test_functions_of_ours_take_every_parameter_of_numpys": ("2.4", "whose `reshape` takes `newshape`"),
    "test_like_leaves_the_making_to_the_class_of_another_array[asanyarray-*]": ("2.1", _KEYWORDS),
    "test_mistakes_are_refused_in_numpys_words[a number's astype]": ("2.1", _KEYWORDS),
    "test_mistakes_are_refused_in_numpys_words[conjugate text]": ("2.3", "which words this otherwise"),
    "test_no_plain_ndarray_leaves_methods": ("2.4", "which lists methods that it refuses"),
    "test_numpy_takes_a_scalar_of_ours_for_the_number_that_it_is[resize-uint32]": (
        "2.3",
        "whose `resize` wraps",
    ),
    "test_numpy_takes_a_scalar_of_ours_for_the_number_that_it_is[take-uint64]": (
        "2.1",
        "which takes no uint64",
    ),
    "test_numbers_that_do_not_fit_are_taken_or_refused_through_every_door_as_by_numpy": (
        "2.4",
        "which wraps some, or words its refusals otherwise",
    ),
    "test_other_devices_than_numpys_are_refused_in_its_words": ("2.1", _KEYWORDS),
    "test_random_programs_do_what_numpys_do": ("2.4", f"{_NAMES}, or {_FLAT}"),
    "test_scalars_give_tensors_and_pending_ones_are_of_our_namespace": ("2.1", _KEYWORDS),
    "test_shape_functions_alias_or_copy_as_numpys[*-unstack]": ("2.1", _NAMES),
    "test_the_parts_of_an_array_of_one_axis_are_numbers": ("2.1", _NAMES),
    "test_what_is_no_axis_is_refused_in_numpys_words[unstack-*]": ("2.1", _NAMES),
    "test_where_and_clip_promote_as_numpys": ("2.1", "whose `clip` has another zero of two equal ones"),
}


def reason(name, version=np.__version__):
    """Why a test of this name is left out with a NumPy of this version, or ``None``."""
    for wanted, (since, older) in SINCE.items():
        begin, star, end = wanted.partition("*")
        whole = star and name.startswith(begin) and name.endswith(end)
        if (whole or name == wanted or name.startswith(f"{wanted}[")) and _pair(version) < _pair(since):
            return f"wants NumPy {since}, not {version}, {older}"
    return None


def _pair(version):
    return tuple(int(part) for part in version.split(".")[:2])


def leave_out(items):
    """Skips what wants a newer NumPy than the one that is here."""
    for item in items:
        if why := reason(item.name):
            item.add_marker(pytest.mark.skip(reason=why))
