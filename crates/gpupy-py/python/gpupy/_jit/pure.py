"""What a trace may hold, call and read: the lists of what is pure.

Owns the lists. A function is listed if its result depends on its arguments alone, and if it changes nothing
but them; a class, if calling it does no more, and if its objects cannot change, or are arrays. Invariant:
what is not listed here, and is not made by Python code that is watched, is refused, so that a new function of
any library is.

Not here: how a function comes upon these (``reach.py``, ``watch.py``).
"""

from __future__ import annotations

import builtins
import cmath
import collections
import functools
import itertools
import math
import operator
import os
import types
from typing import Any

import numpy as np

import gpupy

from .forms import Array, Scalar

_PACKAGES = tuple(os.path.dirname(str(module.__file__)) + os.sep for module in (np, gpupy))

_SCALARS = "bool_ float16 float32 float64 longdouble complex64 complex128 clongdouble str_ bytes_".split()
_INTEGERS = "byte ubyte short ushort intc uintc int_ uint long ulong longlong ulonglong intp uintp".split()

# Exact classes of objects that never change and have no attributes of their own.
_LEAVES: frozenset[type] = frozenset(
    [
        *(int, float, complex, bool, str, bytes, range, type(None), type(Ellipsis), type(NotImplemented)),
        *(types.CodeType, types.GetSetDescriptorType, types.MemberDescriptorType),
        # What named tuples have for their items.
        type(collections.namedtuple("Items", "item").__dict__["item"]),
        *(getattr(np, name) for name in (*_SCALARS, *_INTEGERS) if hasattr(np, name)),
        *(np.datetime64, np.timedelta64),
    ]
)

# Classes of built-in objects whose methods change nothing but the object, which is compared.
CONTAINERS = (list, dict, set, tuple, frozenset)
_BASES = (object, int, float, complex, str, bytes, type, property, *CONTAINERS)

# Classes that may be called, be tested for, and be bases.
_CLASSES: frozenset[type] = frozenset(
    [
        *(*_BASES, bool, range, slice, bytearray, memoryview, enumerate, zip, map, filter, reversed),
        *(staticmethod, classmethod, super, functools.partial, types.NoneType, types.EllipsisType),
        *(collections.deque, collections.OrderedDict, collections.defaultdict, operator.itemgetter),
        *(one for one in vars(builtins).values() if isinstance(one, type) and issubclass(one, BaseException)),
        *(one for one in vars(itertools).values() if isinstance(one, type)),
        *(np.ndarray, np.dtype, np.ufunc, np.finfo, np.iinfo, np.broadcast, np.ndindex, np.ndenumerate),
        *(Array, Scalar, gpupy.ufunc),
        *(one for one in _LEAVES if issubclass(one, np.generic) and one is not np.datetime64),
        *(np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact, np.floating),
        *(np.complexfloating, np.flexible, np.character),
    ]
)
# Classes of gpupy's and NumPy's by their names, so that nothing is imported for them.
_CLASSES_OF_OURS = frozenset("errstate vec2 vec3 vec4 mat2 mat3 mat4 LinAlgError AxisError".split())

_BUILTINS = (
    "__build_class__ abs all any ascii bin callable chr divmod format hash hex isinstance issubclass"
    " iter len max min next oct ord pow repr round sorted sum"
).split()
_OPERATORS = (
    "abs add and_ concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat ifloordiv"
    " ilshift imatmul imod imul index indexOf inv invert ior ipow irshift isub itruediv ixor le lshift"
    " lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor"
).split()


def _functions_of(module: Any) -> list[Any]:
    return [one for one in vars(module).values() if type(one) is types.BuiltinFunctionType]


# Built-in functions, by identity.
_FUNCTIONS: dict[int, Any] = {
    id(one): one
    for one in (
        *(getattr(builtins, name) for name in _BUILTINS),
        *(getattr(operator, name) for name in _OPERATORS),
        *(*_functions_of(math), *_functions_of(cmath)),
        *(functools.reduce, functools.cmp_to_key),
    )
}

# Modules of NumPy's and ours that have the functions below.
_MODULES = frozenset(
    f"{root}{inner}"
    for root in ("numpy", "gpupy")
    for inner in (
        *("", ".linalg", ".fft", ".lib.stride_tricks", ".lib.scimath", ".emath", ".vectors", "._gpupy"),
        *(".linalg._linalg", ".linalg.linalg", ".fft._pocketfft", ".fft._helper", ".core.multiarray"),
        *("._core.multiarray", "._core.umath", ".core.umath"),
    )
)
# Their functions whose results depend on their arguments alone.
_NAMES = frozenset(
    (
        # All over the elements.
        "abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh"
        " atan atan2 atanh bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not"
        " bitwise_or bitwise_right_shift bitwise_xor cbrt ceil conj conjugate copysign cos cosh deg2rad"
        " degrees divide divmod equal exp exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod"
        " frexp gcd greater greater_equal heaviside hypot invert isfinite isinf isnan isnat lcm ldexp"
        " left_shift less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not"
        " logical_or logical_xor matmul matvec maximum minimum mod modf multiply negative nextafter"
        " not_equal positive pow power rad2deg radians reciprocal remainder right_shift rint sign"
        " signbit sin sinh spacing sqrt square subtract tan tanh true_divide trunc vecdot vecmat angle"
        " around clip fix i0 imag isclose iscomplex isneginf isposinf isreal nan_to_num real"
        " real_if_close round round_ sinc unwrap"
        # Reductions, scans, sorts, products.
        " all allclose amax amin any argmax argmin argpartition argsort argwhere array_equal array_equiv"
        " average bincount corrcoef count_nonzero cov cross cumprod cumsum cumulative_prod"
        " cumulative_sum digitize dot ediff1d diff einsum einsum_path flatnonzero gradient histogram"
        " histogram2d histogram_bin_edges histogramdd inner interp convolve correlate kron lexsort max"
        " mean median min nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin"
        " nanpercentile nanprod nanquantile nanstd nansum nanvar nonzero outer partition percentile prod"
        " product ptp quantile searchsorted sort sort_complex std sum cumproduct sometrue alltrue"
        " tensordot trace trapezoid trapz var vdot"
        # New arrays, shapes, and parts of arrays.
        " append apply_along_axis apply_over_axes arange array array_split asanyarray asarray"
        " asarray_chkfinite ascontiguousarray asfortranarray astype atleast_1d atleast_2d atleast_3d"
        " bartlett blackman block broadcast_arrays broadcast_shapes broadcast_to choose column_stack"
        " compress concat concatenate copy copyto delete diag diag_indices diag_indices_from diagflat"
        " diagonal dsplit dstack empty empty_like expand_dims extract eye fill_diagonal flip fliplr"
        " flipud fromfunction fromiter fromstring full full_like geomspace hamming hanning hsplit hstack"
        " identity indices insert ix_ kaiser linspace logspace mask_indices matrix_transpose meshgrid"
        " moveaxis ones ones_like packbits pad permute_dims piecewise place put put_along_axis putmask"
        " ravel ravel_multi_index repeat require reshape resize roll rollaxis rot90 row_stack select"
        " split squeeze stack swapaxes take take_along_axis tile transpose tri tril tril_indices"
        " tril_indices_from trim_zeros triu triu_indices triu_indices_from unpackbits unravel_index"
        " unstack vander vsplit vstack where zeros zeros_like as_strided sliding_window_view"
        # Sets and polynomials.
        " in1d intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts"
        " unique_inverse unique_values poly polyadd polyder polydiv polyfit polyint polymul polysub"
        " polyval roots"
        # Questions about arrays and dtypes.
        " base_repr binary_repr can_cast common_type datetime_data find_common_type iscomplexobj isdtype"
        " isfortran isrealobj isscalar issubdtype iterable may_share_memory min_scalar_type mintypecode"
        " ndim obj2sctype promote_types result_type shape shares_memory size typename"
        # Of the submodules.
        " cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_norm matrix_power matrix_rank"
        " multi_dot norm pinv qr slogdet solve svd svdvals tensorinv tensorsolve vector_norm fft fft2"
        " fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2"
        " rfftfreq rfftn logn length distance normalize reflect mix clamp"
    ).split()
)

# Methods and attributes of arrays and numbers; others reach memory, files or hidden state.
_OF_ARRAYS = frozenset(
    (
        "T all any argmax argmin argpartition argsort astype base byteswap choose clip compress conj"
        " conjugate copy cumprod cumsum device diagonal dot dtype fill flat flatten flags getfield imag"
        " item itemset itemsize mT max mean min nbytes ndim newbyteorder nonzero partition prod ptp put"
        " ravel real repeat reshape resize round searchsorted setfield setflags shape size sort squeeze"
        " std strides sum swapaxes take to_device tobytes tolist trace transpose var view"
        " as_integer_ratio is_integer bit_count denominator numerator data ctypes"
    ).split()
)
# Names that reach files wherever they stand.
_REFUSED_OF_ARRAYS = frozenset(
    name for name in (*dir(np.ndarray), *dir(np.generic)) if name[0] != "_" and name not in _OF_ARRAYS
)

# Text that NumPy takes for a time that is another each time.
_CLOCKS = ("now", "today")

# Attributes by which Python's own protocols are called, and names; others show what is behind an object.
_DUNDERS = frozenset(
    f"__{name}__"
    for name in (
        "init new call name qualname doc module class len bool iter next getitem setitem delitem"
        " contains enter exit eq ne lt le gt ge hash repr str int float complex index abs neg pos invert"
        " round trunc floor ceil missing add radd iadd sub rsub isub mul rmul imul truediv rtruediv"
        " itruediv floordiv rfloordiv ifloordiv mod rmod imod pow rpow ipow matmul rmatmul imatmul and"
        " rand iand or ror ior xor rxor ixor lshift rlshift ilshift rshift rrshift irshift divmod"
        " rdivmod reversed length_hint post_init version"
    ).split()
)
# Names under which attributes are read, and functions found, in ways that are not followed.
_UNCLEAR = frozenset(
    "attrgetter methodcaller format format_map mro f_globals f_locals f_back gi_frame tb_frame".split()
)


def is_attribute(name: str) -> bool:
    """Whether a read of an attribute of this name can be followed, whatever has it."""
    if name.startswith("__") and name.endswith("__"):
        return name in _DUNDERS
    return name not in _UNCLEAR and name not in _REFUSED_OF_ARRAYS


def is_clock(value: Any) -> bool:
    """Whether NumPy reads the clock where it makes a time of this text."""
    if type(value) is tuple:
        return any(map(is_clock, value))
    return type(value) is str and value.lower() in _CLOCKS


def is_leaf(value: Any) -> bool:
    """Whether an object never changes, and nothing is behind it."""
    kind = type(value)
    if kind in _LEAVES:
        return True
    if kind is slice:
        return all(map(is_leaf, (value.start, value.stop, value.step)))
    return issubclass(kind, np.dtype) and kind.__module__.startswith("numpy") and value.kind != "V"


def is_class(kind: type) -> bool:
    """Whether a class is listed."""
    if kind in _CLASSES:
        return True
    if kind.__module__.partition(".")[0] not in ("numpy", "gpupy"):
        return False
    if kind.__name__ in _CLASSES_OF_OURS:
        return True
    # The class of a dtype.
    return issubclass(kind, np.dtype) and kind is not np.dtypes.VoidDType


def is_pythons(kind: type) -> bool:
    """Whether a class and all its bases are made by Python code, or have no hidden state."""
    return all(one in _BASES or _is_error(one) or is_pythons_own(one) for one in kind.__mro__)


def _is_error(kind: type) -> bool:
    return issubclass(kind, BaseException) and kind in _CLASSES


_HEAP, _IMMUTABLE = 1 << 9, 1 << 8


def may_change(kind: type) -> bool:
    """Whether attributes of a class can be set."""
    return bool(kind.__flags__ & _HEAP and not kind.__flags__ & _IMMUTABLE)


def is_pythons_own(kind: type) -> bool:
    """Whether Python code makes a class, other than that of arrays, which is not watched."""
    if kind.__module__.partition(".")[0] in ("numpy", "gpupy"):
        return False
    own, base = kind.__dict__, getattr(kind.__base__, "__basicsize__", 0)
    return may_change(kind) and ("__dict__" in own or "__slots__" in own or kind.__basicsize__ == base)


def is_function(value: Any) -> bool:
    """Whether a function that is not watched is listed: a built-in one, or one of NumPy's or gpupy's."""
    if id(value) in _FUNCTIONS:
        return True
    name, module = getattr(value, "__name__", ""), getattr(value, "__module__", None)
    return module in _MODULES and name in _NAMES


def is_ufunc(value: Any) -> bool:
    """Whether a ufunc is NumPy's or gpupy's own: others may call anything."""
    name = getattr(value, "__name__", "")
    return name in _NAMES and any(getattr(module, name, None) is value for module in (np, gpupy, np.linalg))


def is_method(owner: type, name: str) -> bool:
    """Whether a built-in method is listed, by the class that has it."""
    if owner in _BASES:
        return is_attribute(name)
    if owner in (np.ufunc, gpupy.ufunc):
        return True
    if issubclass(owner, (Array, Scalar, np.ndarray, np.generic)):
        return name in _OF_ARRAYS or name in _DUNDERS
    return (owner in _CLASSES or issubclass(owner, np.dtype)) and is_attribute(name)


@functools.lru_cache(maxsize=4096)
def is_ours(file: str) -> bool:
    """Whether code is of the packages, which is not watched."""
    return file.startswith(_PACKAGES)


def is_compiled(kind: type) -> bool:
    """Whether an object's class is that of functions of numbers, which read what their function reads."""
    return kind.__module__.startswith("gpupy._kernel.") and kind.__name__ in ("Kernel", "Reduction")
