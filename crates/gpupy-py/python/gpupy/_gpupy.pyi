"""The native module's types."""

from typing import Any

import numpy as np

class DriverError(RuntimeError): ...
class ndarray(np.ndarray): ...  # what it does is what NumPy's does
class scalar(np.number[Any]): ...
class ufunc(np.ufunc): ...
