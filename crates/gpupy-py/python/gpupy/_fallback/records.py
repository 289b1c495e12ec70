"""Numeric fields of records, changed in place by drivers.

Not here: calls that read fields (``_namespace/records.py``), what drivers see of records
(``src/array/record_fields.rs``).
"""

from collections.abc import Callable
from typing import Any

from .._gpupy import ndarray, of_field


def changed(target: ndarray, change: Callable[[ndarray], Any]) -> bool:
    """Changes a numeric field of records in place by drivers; false where NumPy has to."""
    elements = of_field(target)
    if elements is None or not target._writable:
        return False
    target._host()[...] = change(elements.copy())._host()
    return True
