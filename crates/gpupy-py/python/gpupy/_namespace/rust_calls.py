"""The functions in Python that Rust calls: they are registered once, when the package is imported.

Not here: the table of their names (``src/session/python_objects.rs``), what recordings register
when the first one loads it (``_jit/recording.py``).
"""

from .._classes import flags, subclass, ufuncs
from .._compute import composed_ufuncs, ufunc_methods
from .._creation import constants, conversion, ranges
from .._fallback import calls, containers, hosts, policy, results, text
from .._gpupy import register_python
from .._indexing import index_arrays
from .._methods import elements, memory
from .._scalars import sites
from .._views import shape
from . import array_api, dispatch, divisors, records

register_python(
    arange=ranges.arange,
    array=conversion.array,
    asanyarray=conversion.any_array,
    asarray=conversion.asarray,
    array_function=dispatch.array_function,
    array_ufunc=dispatch.array_ufunc,
    called=ufunc_methods.called,
    constants=constants.CONSTANTS,
    copy=elements.copy,
    fate=sites.fate,
    flags=flags.flags,
    getitem=index_arrays.getitem,
    given_back=results.given_back,
    in_place=calls.in_place,
    longer_call=calls.longer_call,
    namespace=array_api.namespace,
    onward=calls.Onward,
    own_of_fields=records.own_of_fields,
    packages=policy.PACKAGES,
    refused=calls.refused,
    reshape_as=shape.reshape_as,
    resize=memory.resize,
    set_dtype=memory.set_dtype,
    setitem=index_arrays.setitem,
    tell=policy.tell,
    text=text.text,
    to_host=hosts.to_host,
    twin=subclass.twin,
    ufunc_of=ufuncs.ufunc_of,
    ufuncs_as_composed={**composed_ufuncs.COMPOSED, **divisors.COMPOSED},
    warn_of_none=subclass.warn_of_none,
    warn_of_position=ufunc_methods.warn_of_position,
    wrap_inside=containers.wrap_inside,
    wrapped=results.wrapped,
)
