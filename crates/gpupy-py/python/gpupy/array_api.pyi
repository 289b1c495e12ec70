"""The types of the Array API's namespace: NumPy's functions, whose results are arrays also without axes."""

from types import ModuleType
from typing import Any

from numpy import *
from numpy import dtype, ndarray

class Array(ndarray[Any, dtype[Any]]):
    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType: ...

def namespace(api_version: str | None = None) -> ModuleType: ...
