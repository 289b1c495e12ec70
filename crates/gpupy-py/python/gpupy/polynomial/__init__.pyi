# Written by stubs/write.py; do not edit.
# Ours stand before NumPy's for Mypy, which keeps the first of a name, and behind for Pyright.
from . import chebyshev as chebyshev
from . import hermite as hermite
from . import hermite_e as hermite_e
from . import laguerre as laguerre
from . import legendre as legendre
from . import polynomial as polynomial
from . import polyutils as polyutils
from numpy.polynomial import *  # type: ignore[no-redef,unused-ignore]
from . import chebyshev as chebyshev
from . import hermite as hermite
from . import hermite_e as hermite_e
from . import laguerre as laguerre
from . import legendre as legendre
from . import polynomial as polynomial
from . import polyutils as polyutils
