# Written by stubs/write.py; do not edit.
# Ours stand before NumPy's for Mypy, which keeps the first of a name, and behind for Pyright.
from . import testutils as testutils
from numpy.ma import *  # type: ignore[no-redef,unused-ignore]
from . import testutils as testutils
