"""Arrays of vectors of two to four components, and of small matrices: GLSL's types over NumPy's shapes.

Owns ``Vector``, ``Matrix`` and their sizes. A vector is an array with one axis more, the last, of whatever
stride; what is computed is computed by arrays, component by component, so that all of it fuses. Invariant:
``shape`` has no component axis, ``array`` has. Not here: GLSL's functions (``vectors.py``).
"""

import itertools
import operator
from typing import Any, ClassVar

import numpy
from numpy.lib.array_utils import normalize_axis_index
from numpy.lib.mixins import NDArrayOperatorsMixin

import gpupy as np

_NAMES = ("xyzw", "rgba", "stpq")


class _Small(NDArrayOperatorsMixin):
    """The common base of vectors and matrices: an array whose last axes are no part of the shape."""

    __slots__ = ("_array",)
    __hash__ = None  # type: ignore[assignment]
    # Arrays leave operators with vectors to them.
    _has_operators = True
    _inner: ClassVar[tuple[int, ...]]
    _array: Any

    @classmethod
    def from_array(cls, array: Any) -> Any:
        """A view of an array whose last axis has the components; of a matrix, the last two.

        The fields of a structured array are the components, too: a view where they lie one behind the other
        and have one dtype, else a copy.

        Raises
        ------
        ValueError
            The array has other axes, or its fields are more or fewer.
        """
        array = _fields(array, cls._inner)
        if array.shape[array.ndim - len(cls._inner) :] != cls._inner or array.ndim < len(cls._inner):
            raise ValueError(f"{cls.__name__} has components {cls._inner}, but the array is {array.shape}")
        return cls._made(array)

    @classmethod
    def _made(cls, array: Any) -> Any:
        made = cls.__new__(cls)
        object.__setattr__(made, "_array", array)
        return made

    @property
    def array(self) -> Any:
        """The view with the axes of components."""
        return self._array

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, without those of components."""
        return self._array.shape[: self._array.ndim - len(self._inner)]

    @property
    def ndim(self) -> int:
        """The number of axes, without those of components."""
        return self._array.ndim - len(self._inner)

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """The components' dtype."""
        return self._array.dtype

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError(f"a single {type(self).__name__} has no length of an array")
        return self.shape[0]

    def __bool__(self) -> bool:
        raise ValueError(
            f"whether a {type(self).__name__} is true is ambiguous: use vectors.any or vectors.all"
        )

    def sum(self, axis: Any = None) -> Any:
        """The sums along axes of the shape, of all of them where none is named."""
        if isinstance(axis, int):
            return self._made(self._array.sum(normalize_axis_index(axis, self.ndim)))
        axes = range(self.ndim) if axis is None else axis
        return self._made(self._array.sum(tuple(normalize_axis_index(each, self.ndim) for each in axes)))

    def _key(self, key: Any) -> tuple[Any, ...]:
        whole = _WHOLE[len(self._inner)]
        keys = key if isinstance(key, tuple) else (key,)
        for part in keys:
            if part is Ellipsis:
                return keys + whole
        return (*keys, Ellipsis, *whole)

    def __getitem__(self, key: Any) -> Any:
        return self._made(self._array[self._key(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[self._key(key)] = self._operand(value)

    def __repr__(self) -> str:
        text = numpy.array2string(
            numpy.asarray(self._array), separator=", ", prefix=f"{type(self).__name__}("
        )
        return f"{type(self).__name__}({text}, dtype={self.dtype})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), numpy.asarray(self._array))

    def __array__(self, dtype: Any = None, copy: Any = None) -> numpy.ndarray[Any, Any]:
        array = numpy.asarray(self._array, dtype=dtype)
        return array.copy() if copy else array

    def copy(self) -> Any:
        """Components of its own."""
        return self.from_array(self._array.copy())

    def astype(self, dtype: Any) -> Any:
        """A copy in another dtype."""
        return self.from_array(self._array.astype(dtype))

    def reshape(self, *shape: Any) -> Any:
        """The vectors in another shape, given without the component axis."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        return self.from_array(self._array.reshape((*wanted, *self._inner)))

    def _operand(self, value: Any) -> Any:
        """An operand beside the components: a number or an array has one element for all components."""
        if isinstance(value, _Small):
            if value._inner != self._inner:
                names = f"{type(self).__name__} and {type(value).__name__}"
                raise ValueError(f"{names} have other components")
            return value._array
        if type(value) in _NUMBERS or not getattr(value, "ndim", True):
            return value
        return np.asarray(value)[_BESIDE[len(self._inner)]]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__":
            return NotImplemented
        if ufunc.__name__ == "matmul":
            return NotImplemented if options else _product(*inputs)
        first = next(value for value in inputs if isinstance(value, _Small))
        outs = options.get("out")
        if outs:
            options["out"] = tuple(out._array if isinstance(out, _Small) else out for out in outs)
        if not isinstance(options.get("where", True), bool):
            options["where"] = first._operand(options["where"])
        results = ufunc(*(first._operand(value) for value in inputs), **options)
        if outs:
            return outs[0] if len(outs) == 1 else outs
        if isinstance(results, tuple):
            return tuple(first._made(result) for result in results)
        return first._made(results)


_NUMBERS = frozenset((int, float, bool, complex))
# By the number of component axes: all components, and an array's axes in their place.
_WHOLE = {axes: (slice(None),) * axes for axes in (1, 2)}
_BESIDE = {axes: (Ellipsis, *[None] * axes) for axes in (1, 2)}


def _operator(name: str) -> None:
    """Gives the types an operator, reflected and in place too, without the way through NumPy's ufunc."""
    function, word = getattr(operator, name), name.strip("_")

    def forward(self: _Small, other: Any) -> Any:
        return self._made(function(self._array, self._operand(other)))

    def reflected(self: _Small, other: Any) -> Any:
        return self._made(function(self._operand(other), self._array))

    setattr(_Small, f"__{word}__", forward)
    if word in _COMPARISONS:
        return
    setattr(_Small, f"__r{word}__", reflected)
    changed = getattr(operator, f"i{word}")

    def in_place(self: _Small, other: Any) -> Any:
        object.__setattr__(self, "_array", changed(self._array, self._operand(other)))
        return self

    setattr(_Small, f"__i{word}__", in_place)


_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")

for _name in (*_COMPARISONS, "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor"):
    _operator(_name)


class Vector(_Small):
    """An array of vectors; made as ``vec2``, ``vec3`` or ``vec4``.

    ``vec3(x, y, z)`` has these components, which broadcast; a vector among them gives all of its own.
    ``vec3(a)`` has one array three times. Numbers alone make float32, as in GLSL, and ``dtype`` says
    otherwise; ``vec3.from_array(a)`` is a view of an array with an axis of components.

    Arithmetic, comparisons and ufuncs go component by component, with vectors, numbers, and arrays of the
    vectors' shape. ``v.x``, ``v.rg`` and ``v.zyx`` are components, read and assigned.

    Raises
    ------
    ValueError
        The components are more or fewer, or do not broadcast.
    """

    __slots__ = ()

    def __init__(self, *parts: Any, dtype: Any = None) -> None:
        count = self._inner[0]
        components: list[Any] = []
        for part in parts:
            components.extend(part._components() if isinstance(part, Vector) else [part])
        if len(components) == 1 and not isinstance(parts[0], Vector):
            components *= count
        if len(components) != count:
            raise ValueError(f"{type(self).__name__} has {count} components, not {len(components)}")
        self._array = _stacked(components, dtype)

    def _components(self) -> list[Any]:
        return [self._array[..., number] for number in range(self._inner[0])]

    def __getattr__(self, name: str) -> Any:
        numbers = self._numbers(name)
        if len(numbers) == 1:
            return self._array[..., numbers[0]]
        step = numbers[1] - numbers[0]
        if step and all(b - a == step for a, b in itertools.pairwise(numbers)):
            end = numbers[-1] + step
            view = self._array[..., slice(numbers[0], None if end < 0 else end, step)]
            return SIZES[len(numbers)].from_array(view)
        return SIZES[len(numbers)](*(self._array[..., number] for number in numbers))

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_array":
            object.__setattr__(self, name, value)
            return
        numbers = self._numbers(name)
        if len(set(numbers)) < len(numbers):
            raise AttributeError(f"{name} names a component twice, so that nothing is assigned to it")
        if isinstance(value, Vector):
            if value._inner != (len(numbers),):
                raise ValueError(f"{type(value).__name__} has no {len(numbers)} components")
            # The components may be each other's.
            values = [component.copy() for component in value._components()]
        else:
            values = [value] * len(numbers)
        for number, component in zip(numbers, values, strict=True):
            self._array[..., number] = component

    def _numbers(self, name: str) -> list[int]:
        for names in _NAMES if 1 <= len(name) <= 4 else ():
            numbers = [names.find(letter) for letter in name]
            if min(numbers) >= 0 and max(numbers) < self._inner[0]:
                return numbers
        words = f"{type(self).__name__} has no attribute or components {name!r}"
        raise AttributeError(words, name=name, obj=self)


class vec2(Vector):
    __doc__ = Vector.__doc__
    __module__ = "gpupy._vector"
    __slots__ = ()
    _inner = (2,)


class vec3(Vector):
    __doc__ = Vector.__doc__
    __module__ = "gpupy._vector"
    __slots__ = ()
    _inner = (3,)


class vec4(Vector):
    __doc__ = Vector.__doc__
    __module__ = "gpupy._vector"
    __slots__ = ()
    _inner = (4,)


SIZES: dict[int, type[Vector]] = {2: vec2, 3: vec3, 4: vec4}


class Matrix(_Small):
    """An array of matrices; made as ``mat2``, ``mat3`` or ``mat4``.

    ``mat2(u, v)`` has these columns, as in GLSL; ``mat3(1)`` is that number times the identity; an array with
    two axes of rows and columns is seen by ``mat3.from_array(a)``. ``m @ v``, ``v @ m`` and ``m @ n`` are
    products, ``m * n`` goes element by element.

    Raises
    ------
    ValueError
        The columns are more or fewer, or not of this size.
    """

    __slots__ = ()

    def __init__(self, *columns: Any, dtype: Any = None) -> None:
        count = self._inner[0]
        if len(columns) == 1 and not isinstance(columns[0], Vector):
            zero = [[columns[0] if i == j else 0 for i in range(count)] for j in range(count)]
            columns = tuple(SIZES[count](*column, dtype=dtype) for column in zero)
        sizes = [getattr(column, "_inner", None) for column in columns]
        if sizes != [(count,)] * count:
            raise ValueError(f"{type(self).__name__} has {count} columns that are vec{count}")
        self._array = _stacked([column._array for column in columns], dtype)

    @property
    def T(self) -> Any:
        """The transposes."""
        return self.from_array(self._array.swapaxes(-1, -2))


class mat2(Matrix):
    __doc__ = Matrix.__doc__
    __module__ = "gpupy._vector"
    __slots__ = ()
    _inner = (2, 2)


class mat3(Matrix):
    __doc__ = Matrix.__doc__
    __module__ = "gpupy._vector"
    __slots__ = ()
    _inner = (3, 3)


class mat4(Matrix):
    __doc__ = Matrix.__doc__
    __module__ = "gpupy._vector"
    __slots__ = ()
    _inner = (4, 4)


def _stacked(components: Any, dtype: Any) -> Any:
    """Components that broadcast, each in its own plane, with their axis as the last one."""
    if all(isinstance(component, bool | int | float) for component in components):
        are_bools = all(isinstance(component, bool) for component in components)
        return np.array(components, dtype or (bool if are_bools else numpy.float32))
    if dtype is None:
        kinds = [getattr(component, "dtype", None) or component for component in components]
        dtype = numpy.result_type(*kinds)
    shapes = {getattr(component, "shape", None) or numpy.shape(component) for component in components}
    shape = shapes.pop() if len(shapes) == 1 else numpy.broadcast_shapes(*shapes)

    def part(component: Any) -> Any:
        # A number is none that is stored.
        if isinstance(component, bool | int | float):
            component = np.full(shape, component, dtype)
        component = np.asarray(component, dtype=dtype)
        component = component if component.shape == shape else np.broadcast_to(component, shape)
        return component[numpy.newaxis]

    planes = np.concatenate([part(component) for component in components])
    return planes.transpose(*range(1, planes.ndim), 0)


def _fields(array: Any, inner: tuple[int, ...]) -> Any:
    names = getattr(getattr(array, "dtype", None), "names", None)
    if names is None:
        return np.asarray(array)
    array = numpy.asarray(array)
    kinds = [array.dtype[name] for name in names]
    offsets = [array.dtype.fields[name][1] for name in names]
    size = kinds[0].itemsize
    if len(names) == 1 and kinds[0].subdtype:
        return np.asarray(array[names[0]])
    is_row = all(kind == kinds[0] for kind in kinds) and offsets == [size * k for k in range(len(names))]
    if is_row and array.dtype.itemsize == size * len(names) and array.flags.c_contiguous:
        return np.asarray(array.view(kinds[0]).reshape((*array.shape, *inner)[: array.ndim + 1]))
    return np.asarray(numpy.stack([array[name] for name in names], axis=-1))


def _product(a: Any, b: Any) -> Any:
    if isinstance(a, Matrix) and isinstance(b, Vector) and a._inner[0] == b._inner[0]:
        return b.from_array((a._array * b._array[..., numpy.newaxis, :]).sum(-1))
    if isinstance(a, Vector) and isinstance(b, Matrix) and a._inner[0] == b._inner[0]:
        return a.from_array((a._array[..., numpy.newaxis] * b._array).sum(-2))
    if isinstance(a, Matrix) and isinstance(b, Matrix) and a._inner == b._inner:
        return a.from_array(np.matmul(a._array, b._array))
    return NotImplemented


def _restored(kind: type[_Small], array: numpy.ndarray[Any, Any]) -> Any:
    return kind.from_array(np.array(array))
