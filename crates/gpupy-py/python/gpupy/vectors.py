"""GLSL's functions of vectors, over arrays of them: ``from gpupy import vectors``.

Names and meanings are those of the OpenGL Shading Language, version 4.60, section 8: a function that it has
for vectors takes ``vec2``, ``vec3`` and ``vec4``, and gives vectors of that size, or arrays of their shape
where it gives numbers. Each is the line of NumPy over components that ends its docstring. Not here: the types
(``_typed/vector.py``), what is component by component in NumPy's own functions (``np.sin(v)``).
"""

from typing import Any

import gpupy as np

from ._typed.vector import Matrix, Vector, mat2, mat3, mat4, vec2, vec3, vec4

__all__ = [
    "Matrix",
    "Vector",
    "all",
    "any",
    "clamp",
    "cross",
    "distance",
    "dot",
    "length",
    "mat2",
    "mat3",
    "mat4",
    "max",
    "min",
    "mix",
    "normalize",
    "reflect",
    "select",
    "vec2",
    "vec3",
    "vec4",
]


def dot(a: Vector, b: Vector) -> Any:
    """The sums of the products of components.

    NumPy: ``(a * b).sum(-1)``
    """
    return (a * b).array.sum(-1)


def cross(a: vec3, b: vec3) -> vec3:
    """The vectors that are perpendicular to both.

    NumPy: ``np.cross(a, b)``
    """
    if a._inner != (3,) or b._inner != (3,):
        raise ValueError("cross products are of vec3")
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


def length(v: Vector) -> Any:
    """The vectors' lengths.

    NumPy: ``np.sqrt((v * v).sum(-1))``
    """
    return np.sqrt(dot(v, v))


def distance(a: Vector, b: Vector) -> Any:
    """How far points are from each other.

    NumPy: ``np.sqrt(((a - b) ** 2).sum(-1))``
    """
    return length(a - b)


def normalize(v: Vector) -> Any:
    """The vectors of length 1 in the same directions; of length 0, NaN.

    NumPy: ``v / np.sqrt((v * v).sum(-1))[..., np.newaxis]``
    """
    return v / length(v)


def reflect(v: Vector, normal: Vector) -> Any:
    """The directions in which planes with these normals, of length 1, reflect.

    NumPy: ``v - (2 * (normal * v).sum(-1))[..., np.newaxis] * normal``
    """
    return v - (2 * dot(normal, v)) * normal


def mix(a: Any, b: Any, share: Any) -> Any:
    """Between two: ``a`` where the share is 0, ``b`` where it is 1.

    NumPy: ``a * (1 - share) + b * share``
    """
    return a * (1 - share) + b * share


def clamp(v: Any, low: Any, high: Any) -> Any:
    """The components, none less than the low ones or greater than the high ones.

    NumPy: ``np.minimum(np.maximum(v, low), high)``
    """
    return np.minimum(np.maximum(v, low), high)


def min(a: Any, b: Any) -> Any:
    """The lesser components.

    NumPy: ``np.minimum(a, b)``
    """
    return np.minimum(a, b)


def max(a: Any, b: Any) -> Any:
    """The greater components.

    NumPy: ``np.maximum(a, b)``
    """
    return np.maximum(a, b)


def any(v: Vector) -> Any:
    """Whether a component is true.

    NumPy: ``v.any(-1)``
    """
    return v.array.any(-1)


def all(v: Vector) -> Any:
    """Whether all components are true.

    NumPy: ``v.all(-1)``
    """
    return v.array.all(-1)


def select(condition: Any, a: Any, b: Any) -> Any:
    """The components of ``a`` where a condition holds, else of ``b``.

    A bool vector has a condition for each component, an array one for each vector.

    NumPy: ``np.where(condition, a, b)``
    """
    first = a if isinstance(a, Vector) else b if isinstance(b, Vector) else condition
    if not isinstance(first, Vector):
        return np.where(condition, a, b)
    return first.from_array(np.where(*(first._operand(value) for value in (condition, a, b))))
