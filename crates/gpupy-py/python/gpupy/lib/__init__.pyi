# Written by stubs/write.py; do not edit.
# Ours stand before NumPy's for Mypy, which keeps the first of a name, and behind for Pyright.
from . import array_utils as array_utils
from . import format as format
from . import mixins as mixins
from . import npyio as npyio
from . import recfunctions as recfunctions
from . import scimath as scimath
from . import stride_tricks as stride_tricks
from numpy.lib import *  # type: ignore[no-redef,unused-ignore]
from . import array_utils as array_utils
from . import format as format
from . import mixins as mixins
from . import npyio as npyio
from . import recfunctions as recfunctions
from . import scimath as scimath
from . import stride_tricks as stride_tricks
