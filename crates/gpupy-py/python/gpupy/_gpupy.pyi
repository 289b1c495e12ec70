"""The native module's types."""

from typing import Any

import numpy as np

class DriverError(RuntimeError): ...

class Explanation:
    @property
    def text(self) -> str: ...
    @property
    def svg(self) -> str: ...

class ndarray(np.ndarray): ...  # what it does is what NumPy's does
class scalar(np.number[Any]): ...
class ufunc(np.ufunc): ...
