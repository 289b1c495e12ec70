# Written by stubs/write.py; do not edit.
# Ours stand before NumPy's for Mypy, which keeps the first of a name, and behind for Pyright.
from . import core as core
from . import extras as extras
from . import mrecords as mrecords
from . import testutils as testutils
from numpy.ma import *  # type: ignore[no-redef,unused-ignore]
from . import core as core
from . import extras as extras
from . import mrecords as mrecords
from . import testutils as testutils
