"""The notes on older NumPys name tests that exist."""

import pathlib

import pytest
from since import SINCE, reason


def test_every_test_that_wants_a_newer_numpy_exists():
    texts = [file.read_text(encoding="utf-8") for file in pathlib.Path(__file__).parent.rglob("test_*.py")]
    for name in SINCE:
        function = f"def {name.partition('[')[0]}("
        assert any(function in text for text in texts), name


@pytest.mark.parametrize(
    ("name", "version", "left_out"),
    [
        ("test_shape_functions_alias_or_copy_as_numpys[cpu-tiny-unstack]", "2.0.2", True),
        ("test_shape_functions_alias_or_copy_as_numpys[cpu-tiny-unstack]", "2.10.0", False),
        ("test_shape_functions_alias_or_copy_as_numpys[cpu-tiny-ravel]", "2.0.2", False),
        ("test_where_and_clip_promote_as_numpys[soft-normal]", "2.0.2", True),
    ],
)
def test_cases_are_left_out_by_name_and_version(name, version, left_out):
    assert (reason(name, version) is not None) == left_out
