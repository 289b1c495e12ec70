"""Documentation of single objects: of each ufunc, submodule and index trick, the text of NumPy's.

Owns ``TextOf``. Not here: functions in Python, which have attributes of their own (``_namespace``).
"""

from collections.abc import Callable
from typing import Any


class TextOf:
    """The ``__doc__`` of a class whose instances have texts of their own."""

    def __init__(self, of_class: str | None, of_instance: Callable[[Any], str | None]) -> None:
        self._of_class, self._of_instance = of_class, of_instance

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> str | None:
        return self._of_class if instance is None else self._of_instance(instance)

    def __set__(self, instance: Any, value: Any) -> None:
        # With this, it comes before what an instance has under the name.
        raise AttributeError("attribute `__doc__` is NumPy's", name="__doc__", obj=instance)
