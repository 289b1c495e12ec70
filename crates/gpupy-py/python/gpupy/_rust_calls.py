"""The functions in Python that Rust calls: they are registered once, when the package is imported.

Not here: the table of their names (``src/session/python_objects.rs``), those of recordings, which are
registered with these (``_jit/recording.py``).
"""

import gpupy

from . import (
    _creation,
    _fallback,
    _flags,
    _indexing,
    _methods,
    _namespace,
    _records,
    _shape,
    _subclass,
    _text,
    _ufunc,
)
from ._gpupy import register_python

register_python(
    arange=_creation.arange,
    array=_creation.array,
    array_function=_fallback.array_function,
    array_ufunc=_fallback.array_ufunc,
    called=_ufunc.called,
    constants=_creation.CONSTANTS,
    copy=_methods.copy,
    flags=_flags.flags,
    getitem=_indexing.getitem,
    given_back=_fallback._given_back,
    in_place=_fallback.in_place,
    longer_call=_fallback._longer_call,
    namespace=gpupy,
    own_of_fields=_records.own_of_fields,
    packages=_fallback._INSIDE,
    refused=_fallback._refused,
    reshape_as=_shape.reshape_as,
    resize=_methods.resize,
    set_dtype=_methods.set_dtype,
    setitem=_indexing.setitem,
    tell=_fallback._tell,
    text=_text.text,
    to_host=_fallback.to_host,
    twin=_subclass.twin,
    ufunc_of=_namespace.ufunc_of,
    warn_of_none=_subclass.warn_of_none,
    warn_of_position=_ufunc.warn_of_position,
    wrap_inside=_fallback.wrap_inside,
    wrapped=_fallback.wrapped,
)
