"""Loads the ten programs with another array module in NumPy's place, for tests and benchmarks.

Owns ``PROGRAMS`` and ``load``. A program is a function of the same name as its file; its operands are what
the file's ``start`` returns.
"""

import importlib
import pathlib
import sys
from unittest import mock

import numpy

# The programs' files import these, which must be there before: they are to have NumPy itself.
import PIL.Image
import PIL.ImageDraw  # noqa: F401

FOLDER = pathlib.Path(__file__).resolve().parent

# In the article's order, with its names.
PROGRAMS = {
    "absolute_sum": "Sum",
    "matrix_vector": "Matrix × vector",
    "matrix_matrix": "Matrix × matrix",
    "life": "Life",
    "demosaic": "Demosaic",
    "convolve": "Convolve",
    "rotate": "Rotate",
    "corners": "Corner detection",
    "motion": "Motion estimation",
    "stereo": "Stereo matching",
}


def load(name, module=numpy):
    """The file of a program, whose ``import numpy as np`` has given another array module."""
    with (
        mock.patch.dict(sys.modules, {"numpy": module}),
        mock.patch.object(sys, "path", [str(FOLDER), *sys.path]),
    ):
        for own in FOLDER.glob("*.py"):
            sys.modules.pop(own.stem, None)
        return importlib.import_module(name)


def error(value, reference):
    """The article's error: the largest difference, as a part of the reference's largest value."""
    value, reference = numpy.asarray(value, dtype=numpy.float64), numpy.asarray(reference)
    if value.shape != reference.shape:
        raise ValueError(f"got {value.shape}, wanted {reference.shape}")
    return float(abs(value - reference).max() / abs(reference).max())
