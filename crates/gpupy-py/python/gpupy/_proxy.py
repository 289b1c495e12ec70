"""Objects of NumPy's whose methods and items give arrays: generators, ``mgrid``, ``r_``.

Owns ``Proxy``, which is the object but for wrapping what comes out. Not here: functions
(``_namespace.py``).
"""

from ._fallback import call, to_host
from ._gpupy import wrap


class Proxy:
    """The object itself, with arrays of ours going in and coming out."""

    __slots__ = ("_object",)

    def __init__(self, value):
        object.__setattr__(self, "_object", value)

    @property
    def __class__(self):
        return type(self._object)

    def __gpupy_host__(self):
        return self._object

    def __getattr__(self, name):
        value = getattr(self._object, name)
        if callable(value) and not isinstance(value, type):

            def method(*args, **kwargs):
                return call(name, value, args, kwargs)

            method.__name__ = name
            return method
        return wrap(value)

    def __setattr__(self, name, value):
        setattr(self._object, name, to_host(value))

    def __getitem__(self, key):
        return call("__getitem__", self._object.__getitem__, (key,), {})

    def __len__(self):
        return len(self._object)

    def __repr__(self):
        return repr(self._object)

    def __reduce__(self):
        return Proxy, (self._object,)
