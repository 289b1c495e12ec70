"""The values of expressions: Python's operators, NumPy's ufuncs and the functions of ``math`` on values
(``kinds.py``).

Owns ``Expressions``. Known values are computed by Python and NumPy themselves; everything else is recorded by
gpupy's own ufuncs, with NumPy's dtypes. Functions of ``math`` give Python's floats, as in Python, and NumPy's
result where ``math`` raises an error.

Not here: statements (``segments.py``), which functions are inlined (``flow.py``), Python's own numbers and
errors (``_vectorize/python.py``).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

import gpupy

from .._gpupy import DriverError, operation
from .functions import arity, known, math_value, of_math, ufunc_of_math
from .kinds import NUMPYS, Kinds, Weak, computed, dtype_of, is_array, is_number, is_outside, of_kind
from .source import Guard, KernelError, Place, copied, own_name

_BINARY: dict[type, tuple[Callable[..., Any], np.ufunc]] = {
    ast.Add: (operator.add, np.add),
    ast.Sub: (operator.sub, np.subtract),
    ast.Mult: (operator.mul, np.multiply),
    ast.Div: (operator.truediv, np.true_divide),
    ast.FloorDiv: (operator.floordiv, np.floor_divide),
    ast.Mod: (operator.mod, np.remainder),
    ast.Pow: (operator.pow, np.power),
    ast.LShift: (operator.lshift, np.left_shift),
    ast.RShift: (operator.rshift, np.right_shift),
    ast.BitAnd: (operator.and_, np.bitwise_and),
    ast.BitOr: (operator.or_, np.bitwise_or),
    ast.BitXor: (operator.xor, np.bitwise_xor),
}
_COMPARE: dict[type, tuple[Callable[..., Any], np.ufunc]] = {
    ast.Eq: (operator.eq, np.equal),
    ast.NotEq: (operator.ne, np.not_equal),
    ast.Lt: (operator.lt, np.less),
    ast.LtE: (operator.le, np.less_equal),
    ast.Gt: (operator.gt, np.greater),
    ast.GtE: (operator.ge, np.greater_equal),
}
_UNARY: dict[type, tuple[Callable[..., Any], np.ufunc]] = {
    ast.USub: (operator.neg, np.negative),
    ast.UAdd: (operator.pos, np.positive),
    ast.Invert: (operator.invert, np.invert),
}


class Expressions:
    """Expressions of one function, over the values of names."""

    kinds: Kinds = NUMPYS
    # Names that have a value all the way through a function, besides those in its text.
    hidden: frozenset[str] = frozenset()

    def __init__(self, names: dict[str, Any], place: Place, guards: list[Guard]) -> None:
        self.names, self.place, self._guards = names, place, guards

    def value(self, node: ast.expr) -> Any:
        """The value of an expression.

        Raises ``KernelError``, whatever it is that nothing is known of.
        """
        try:
            return self._value(node)
        except KernelError as error:
            # Of the expressions around it, it is in the innermost one.
            if error.place is self.place:
                error.put(self.place.within(node))
            raise
        except DriverError:
            return self._refuse(f"`{_text(node)}` is not known in kernels")
        except Exception as error:
            return self._refuse(f"`{_text(node)}`: {error}")

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                if isinstance(value, gpupy.ndarray):
                    self._refuse("a kernel reads no arrays but its arguments")
                return value
            case ast.Name(id=name):
                if name not in self.names:
                    self._refuse(f"`{own_name(name)}` may have no value here: give it one before")
                return self.names[name]
            case ast.Tuple(elts=parts):
                return tuple(self.value(part) for part in parts)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return self.operation(*_BINARY[type(op)], [self.value(left), self.value(right)])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.as_bool(self._not(self.truth(self.value(operand))))
            case ast.UnaryOp(op=op, operand=operand):
                return self.operation(*_UNARY[type(op)], [self.value(operand)])
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp(op=op, values=operands):
                return self._bool(op, operands)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.choose(
                    self.truth(self.value(test)), lambda: self.value(body), lambda: self.value(orelse)
                )
            case ast.Attribute(value=value, attr=name):
                return self._attribute(self.value(value), name)
            case ast.Subscript(value=value, slice=index):
                return self._item(self.value(value), self.value(index))
            case ast.Call():
                return self._call(node)
        return self._refuse(f"`{_text(node)}` is no expression of a kernel")

    def truth(self, value: Any) -> Any:
        """Whether a value is true: a bool of Python's where it is known, else an array of bools."""
        if not is_array(value):
            return bool(value)
        array = value.array if isinstance(value, Weak) else value
        return array if array.dtype == np.bool_ else self.ufunc(np.not_equal, [array, array.dtype.type(0)])

    def as_bool(self, mask: Any) -> Any:
        """The condition of an expression, true where a mask holds."""
        return mask

    def choose(self, mask: Any, value: Callable[[], Any], other: Callable[[], Any]) -> Any:
        """One of two values."""
        if isinstance(mask, bool):
            return value() if mask else other()
        return self.chosen(mask, self.where(mask, value), self.where(self._not(mask), other))

    def where(self, mask: Any, value: Callable[[], Any]) -> Any:
        """A value that is wanted where a mask holds alone."""
        return value()

    def as_float(self, found: Any) -> Any:
        """A float of Python's."""
        return Weak(float, found)

    def error_where(self, mask: Any) -> None:
        """Notes that Python raises an error for these points: NumPy's numbers raise none."""

    def chosen(self, mask: Any, value: Any, other: Any) -> Any:
        """One of two values that are there."""
        if isinstance(mask, bool):
            return value if mask else other
        found = self.kinds.chosen(mask, value, other)
        if found is None:
            self._refuse("these values have no kind in common")
        return found

    def operation(self, python: Callable[..., Any], ufunc: np.ufunc, values: list[Any]) -> Any:
        """An operator on values: Python's own for known values, else a ufunc; Python's numbers stay weak."""
        if not any(map(is_array, values)):
            try:
                with np.errstate(all="ignore"):
                    return python(*values)
            except (ArithmeticError, ValueError) as error:
                return self._by_numpy(ufunc, values, error)
            except Exception as error:
                self._refuse(str(error))
        is_weak = all(isinstance(self.kinds.of(value), type) for value in values if is_number(value))
        result = self.ufunc(ufunc, values)
        if is_weak and is_array(result) and result.dtype != np.bool_:
            return Weak(_python_kind(result.dtype), result)
        return result

    def _by_numpy(self, ufunc: np.ufunc, values: list[Any], error: Exception) -> Any:
        """NumPy's result for numbers for which Python raises an error; one of Python's kinds."""
        with np.errstate(all="ignore"):
            try:
                result = ufunc(*values)
            except Exception:
                self._refuse(str(error))
        return result.item() if all(type(value) in (int, float) for value in values) else result

    def ufunc(self, ufunc: np.ufunc, values: list[Any]) -> Any:
        """A ufunc of NumPy's on values, of which one is not known."""
        for value in values:
            if not is_number(value):
                self._refuse(f"`{ufunc.__name__}` takes numbers, not {type(value).__name__}")
        kinds = [self.kinds.of(value) for value in values]
        if len(values) != ufunc.nin or ufunc.nout != 1 or ufunc.signature is not None:
            self._refuse(f"`{ufunc.__name__}` with {len(values)} arguments is no function of a kernel")
        if all(isinstance(kind, type) for kind in kinds):
            kinds = [dtype_of(kind) for kind in kinds]
        try:
            dtypes = ufunc.resolve_dtypes((*kinds, None))
            is_test = dtypes[-1] == np.bool_ and ufunc.nin == 2
            for place, (value, dtype) in enumerate(zip(values, dtypes, strict=False)):
                if is_outside(value, dtype):
                    if not is_test:
                        self._refuse(f"Python integer {value} out of bounds for {dtype}")
                    # Less or greater than whatever the other one is.
                    beyond = np.sign(value)
                    return ufunc(beyond, 0) if place == 0 else ufunc(0, beyond)
            given = [self._given(*both, is_test) for both in zip(values, dtypes, strict=False)]
            return getattr(gpupy, ufunc.__name__)(*given)
        except KernelError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            self._refuse(str(error))
        except DriverError:
            self._refuse(f"`{ufunc.__name__}` of {', '.join(map(_said, kinds))} is not known in kernels")

    @staticmethod
    def _given(value: Any, dtype: np.dtype[Any], is_test: bool) -> Any:
        if type(value) is int and dtype.kind in "fc":
            return dtype.type(value)
        if not isinstance(value, Weak):
            return value
        # Python's ints are compared as they are.
        is_exact = is_test and value.kind is int and dtype.kind in "iu"
        return value.array if is_exact else computed(value, dtype)

    def _not(self, truth: Any) -> Any:
        return not truth if isinstance(truth, bool) else gpupy.logical_not(truth)

    def _compare(self, node: ast.Compare) -> Any:
        left, result = self.value(node.left), None
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, (ast.In, ast.NotIn)) and len(node.ops) == 1:
                is_one = self._is_one_of(left, right)
                return self.as_bool(is_one if isinstance(op, ast.In) else self._not(is_one))
            value = self.value(right)
            if isinstance(op, (ast.Is, ast.IsNot)) and not is_array(left) and not is_array(value):
                found: Any = (left is value) == isinstance(op, ast.Is)
            elif type(op) in _COMPARE:
                found = self.operation(*_COMPARE[type(op)], [left, value])
            else:
                self._refuse(f"`{_text(node)}` is no comparison of a kernel")
            left, result = value, found if result is None else self._both(result, found)
        return result

    def _is_one_of(self, value: Any, items: ast.expr) -> Any:
        """Where a number is one of several that are known."""
        if isinstance(items, (ast.Tuple, ast.List, ast.Set)):
            known: Any = [self.value(item) for item in items.elts]
        else:
            known = self.value(items)
        # NaN is in a tuple that it is an item of, and equal to nothing.
        if not isinstance(known, (tuple, list)) or any(is_array(item) or np.isnan(item) for item in known):
            self._refuse(f"`{_text(items)}` is no tuple of numbers that are known")
        found: Any = False
        for item in known:
            one = self.truth(self.operation(operator.eq, np.equal, [value, item]))
            found = one if found is False else found if one is False else found | one
        return found

    def _both(self, one: Any, other: Any) -> Any:
        for fixed, rest in ((one, other), (other, one)):
            if not is_array(fixed):
                return rest if fixed else fixed
        return self.both(one, other)

    def both(self, one: Any, other: Any) -> Any:
        """Whether two comparisons hold that are not known."""
        return self.ufunc(np.logical_and, [one, other])

    def _bool(self, op: ast.boolop, operands: list[ast.expr]) -> Any:
        first, *rest = operands
        value = self.value(first)
        if not rest:
            return value
        # `a and b` is `b` where `a` is true, else `a`; `or` the other way round.
        both: tuple[Callable[[], Any], ...] = (lambda: self._bool(op, rest), lambda: value)
        return self.choose(self.truth(value), *(both if isinstance(op, ast.And) else both[::-1]))

    def _attribute(self, value: Any, name: str) -> Any:
        if not is_array(value):
            found = getattr(value, name)
            self._guards.append(Guard(value, name, found))
            return found
        if name in ("real", "imag"):
            return self._part(value, name)
        if name in ("conjugate", "astype"):
            return _Method(value, name)
        return self._refuse(f"`.{name}` of a number is not known in kernels")

    def _part(self, value: Any, name: str) -> Any:
        array = value.array if isinstance(value, Weak) else value
        if array.dtype.kind != "c":
            part = array if name == "real" else computed(0, array.dtype)
        else:
            part = operation(name, [array])
        return (
            Weak(value.kind if value.kind is not complex else float, part)
            if isinstance(value, Weak)
            else part
        )

    def _item(self, value: Any, index: Any) -> Any:
        if isinstance(value, tuple) and isinstance(index, int) and -len(value) <= index < len(value):
            return value[index]
        return self._refuse("only tuples have items in a kernel, by indices that are known")

    def _call(self, node: ast.Call) -> Any:
        called = self.value(node.func)
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            self._refuse(f"`{_text(node.func)}` takes its arguments by position in a kernel")
        values = [self.value(argument) for argument in node.args]
        return self.call(called, values, _text(node))

    def call(self, called: Any, values: list[Any], words: str) -> Any:
        """The result of a function."""
        if isinstance(called, _Method):
            return self._method(called, values)
        found = known(called)
        if found is not None:
            least, most = arity(called)
            if not least <= len(values) <= most:
                self._refuse(f"`{words}` has {len(values)} arguments")
            return found(self, values)
        name = of_math(called)
        if not any(map(_holds_array, values)) and (name is not None or isinstance(called, type)):
            return self.operation(called, np.add if name is None else ufunc_of_math(name), values)
        if name is not None:
            return self.math(name, values)
        ufunc = getattr(np, called.__name__) if isinstance(called, gpupy.ufunc) else called
        if isinstance(ufunc, np.ufunc):
            if ufunc is np.conjugate and any(map(is_array, values)):
                return self._conjugate(values[0])
            if not any(map(is_array, values)):
                return self.operation(ufunc, ufunc, values)
            return self.numpys(ufunc, values)
        return self._refuse(f"`{words}` calls what is no function of a kernel")

    def numpys(self, ufunc: np.ufunc, values: list[Any]) -> Any:
        """A ufunc that the function itself calls."""
        return self.ufunc(ufunc, values)

    def math(self, name: str, values: list[Any]) -> Any:
        """A function of ``math``."""
        return math_value(self, name, values)

    def _conjugate(self, value: Any) -> Any:
        array = value.array if isinstance(value, Weak) else value
        if array.dtype.kind != "c":
            return array
        return operation("complex", [operation("real", [array]), -operation("imag", [array])])

    def _method(self, method: _Method, values: list[Any]) -> Any:
        if method.name == "conjugate" and not values:
            return self._conjugate(method.of)
        if method.name == "astype" and len(values) == 1:
            return self.to(np.dtype(values[0]), method.of)
        return self._refuse(f"`.{method.name}` has {len(values)} arguments")

    def to(self, kind: Any, value: Any) -> Any:
        """A number as one of another kind: Python's `int`, `float` and `complex`, or a dtype."""
        if not is_number(value):
            self._refuse("only numbers become numbers of another kind")
        if not is_array(value):
            return self.operation(kind if isinstance(kind, type) else kind.type, np.add, [value])
        own = dtype_of(self.kinds.of(value))
        if own.kind == "c" and dtype_of(kind).kind != "c":
            self._refuse("a complex number is no real one: take its `.real`")
        return of_kind(computed(value, kind), kind)

    def _refuse(self, words: str) -> NoReturn:
        self.place.refuse(words)


def _text(node: ast.expr) -> str:
    """An expression as it was written, with the objects that replaced names shown by these names."""
    shown = copied(node)
    for found in ast.walk(shown):
        if isinstance(found, ast.Constant) and not isinstance(
            found.value, (bool, int, float, complex, str, type(None))
        ):
            shown_as: Any = _Shown(getattr(found.value, "__name__", type(found.value).__name__))
            found.value = shown_as
        if isinstance(found, ast.Name):
            found.id = found.id.split(".")[-1]
    return ast.unparse(shown)


@dataclass(frozen=True)
class _Method:
    """A method of a number."""

    of: Any
    name: str


class _Shown:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def _said(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)


def _python_kind(dtype: np.dtype[Any]) -> type:
    return {"i": int, "u": int, "f": float, "c": complex}[dtype.kind]


def _holds_array(value: Any) -> bool:
    return any(map(_holds_array, value)) if isinstance(value, tuple) else is_array(value)
