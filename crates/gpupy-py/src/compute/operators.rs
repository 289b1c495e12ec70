//! Python's operators on arrays and scalars of ours.
//!
//! Owns [`binary`] and the number slots of both classes. Invariant: the fast way from a Python
//! operator to a recorded expression runs no Python code.
//!
//! Not here: ufuncs and their promotion (`ufunc.rs`).

use crate::array::classes::subclass::is_plain;
use crate::array::classes::wrap::{wrap_array, wrap_recorded};
use crate::array::lazy_scalar::{self, LazyScalar};
use crate::array::masked_selection;
use crate::array::ndarray::{NdArray, host_of};
use crate::array::operand::{OperandValue, UfuncOperand, classify_exact};
use crate::array::record_fields;
use crate::array::recording;
use crate::compute::operator::Operator;
use crate::compute::subclass_operands::of_instances;
use crate::compute::ufunc::{self, Ufunc};
use crate::convert::dtypes::numpy;
use crate::convert::numpy_arrays;
use crate::fallback::calls::CountedFunction;
use crate::index::setitem;
use crate::session::context::ready;
use crate::session::errors::to_py;
use crate::session::python_objects;
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

/// The ufunc behind the operator.
fn ufunc_of(op: Operator, py: Python<'_>) -> PyResult<&'static Ufunc> {
    static UFUNCS: [PyOnceLock<Py<Ufunc>>; Operator::COUNT] =
        [const { PyOnceLock::new() }; Operator::COUNT];
    let made = UFUNCS[op as usize].get_or_try_init(py, || ufunc::named(py, op.ufunc_name()))?;
    Ok(made.get())
}

/// Python's function of the operator, by which NumPy computes it.
fn pythons(op: Operator, py: Python<'_>) -> PyResult<&'static CountedFunction> {
    static FUNCTIONS: [PyOnceLock<CountedFunction>; Operator::COUNT] =
        [const { PyOnceLock::new() }; Operator::COUNT];
    FUNCTIONS[op as usize].get_or_try_init(py, || {
        let function = py.import("operator")?.getattr(op.python_name())?;
        Ok(CountedFunction::new(op.ufunc_name(), function))
    })
}

/// True when the class of `other` asks to be left alone (`__array_ufunc__ = None`), or is one of ours that has all
/// operators of arrays itself.
fn defers(other: &Bound<'_, PyAny>) -> PyResult<bool> {
    let ufunc = other.get_type().getattr_opt(pyo3::intern!(other.py(), "__array_ufunc__"))?;
    Ok(ufunc.is_some_and(|value| value.is_none()) || has_operators(other)?)
}

fn has_operators(other: &Bound<'_, PyAny>) -> PyResult<bool> {
    other.get_type().hasattr(pyo3::intern!(other.py(), "_has_operators"))
}

/// True when one of two operands leaves the operation to other code, as NumPy decides it: the right one by asking to be
/// left alone, unless both are of one class of ours. What stands to the left was asked before, and NumPy refuses it by
/// name.
fn is_left_alone(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<bool> {
    let numpy = numpy(lhs.py())?;
    let is_common = |operand: &Bound<'_, PyAny>| {
        operand.is_exact_instance_of::<NdArray>()
            || numpy.is_other_scalar_type(&operand.get_type())
            || operand.get_type().is(&numpy.ndarray)
    };
    if is_common(lhs) && is_common(rhs) {
        return Ok(false);
    }
    let ours = lhs.is_instance_of::<NdArray>();
    if defers(rhs)? && !(ours && lhs.get_type().is(rhs.get_type())) {
        return Ok(true);
    }
    Ok(!ours && has_operators(lhs)?)
}

/// `lhs op rhs`, one of which is ours.
pub fn binary<'py>(
    op: Operator,
    lhs: &Bound<'py, PyAny>,
    rhs: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = lhs.py();
    let ufunc = ufunc_of(op, py)?;
    if recording::is_on()
        && let Some(found) = weak(py, op, &[lhs, rhs])?
    {
        return Ok(found);
    }
    if let Some(found) = ufunc.of_two(lhs, rhs)? {
        return Ok(found);
    }
    if let Some(found) = ufunc.of_array_and_float(lhs, rhs)? {
        return Ok(found);
    }
    if let (Some(a), Some(b)) = (classify_exact(lhs)?, classify_exact(rhs)?) {
        let operands = [a, b];
        if operands.iter().all(|operand| !operand.is_array) {
            if let Some(number) = ufunc.of_scalars(py, &operands) {
                return numpy_arrays::numpy_scalar(py, number);
            }
        } else if let Some(array) = ufunc.apply_eagerly(&operands) {
            return Ok(Bound::new(py, NdArray::lazy(array))?.into_any());
        }
        if let (Some(a), Some(b)) = (known(lhs, &operands[0]), known(rhs, &operands[1])) {
            // Both are scalars whose values are here: NumPy's scalars compute them now.
            return py.import("operator")?.call_method1(op.python_name(), (a, b));
        }
        if let Some(array) = ufunc.record_operator(py, op, &operands, None)? {
            return wrap_recorded(py, array, &operands);
        }
    } else if is_left_alone(lhs, rhs)? || recording::is_on() && masked_selection::is_one(rhs)? {
        return Ok(py.NotImplemented().into_bound(py));
    } else if let Some(array) = ufunc.record_mixed(py, &[lhs, rhs])? {
        return wrap_array(py, array);
    } else if let Some(made) = of_instances(ufunc, Some(op), &[lhs, rhs])? {
        return Ok(made);
    }
    pythons(op, py)?.call(py, (lhs, rhs))
}

/// The value of a scalar operand, when no evaluation is needed to tell it.
fn known<'py>(object: &Bound<'py, PyAny>, operand: &UfuncOperand<'_>) -> Option<Bound<'py, PyAny>> {
    if operand.is_array {
        return None;
    }
    match object.cast::<LazyScalar>() {
        Ok(scalar) => scalar.get().known(object.py()),
        Err(_) => Some(object.clone()),
    }
}

/// The result of an operation one of whose operands is a placeholder for a Python float. With Python's numbers it is
/// such a placeholder, or a decision; with other objects the float itself is read. `None` where no operand is a
/// placeholder, or one is an array, with which the operation is recorded.
fn weak<'py>(
    py: Python<'py>,
    op: Operator,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let is_weak = |object: &&&Bound<'_, PyAny>| is_weak(object);
    if !recording::is_on() || objects.iter().find(is_weak).is_none() {
        return Ok(None);
    }
    let operands = objects.iter().map(|object| classify_exact(object));
    let operands = operands.collect::<PyResult<Option<SmallVec<[UfuncOperand<'_>; 2]>>>>()?;
    if let Some(operands) = operands {
        if operands.iter().any(|operand| operand.is_array) && op != Operator::Pow {
            return Ok(None);
        }
        if gives_float(op, &operands) {
            let array = ufunc_of(op, py)?.record(py, &operands, None)?;
            return match array {
                Some(array) if op.compares() => {
                    let truth = recording::materialise::decide(py, &array)?;
                    Ok(Some(truth.into_pyobject(py)?.to_owned().into_any()))
                }
                Some(array) => lazy_scalar::standing(py, array, true).map(Some),
                None => Ok(None),
            };
        }
    }
    let known = objects.iter().map(|object| known_number(object)).collect::<PyResult<Vec<_>>>()?;
    let function = py.import("operator")?.getattr(op.python_name())?;
    function.call1(PyTuple::new(py, known)?).map(Some)
}

/// Whether an object is a placeholder for a Python float.
pub fn is_weak(object: &Bound<'_, PyAny>) -> bool {
    object.cast_exact::<LazyScalar>().is_ok_and(|scalar| scalar.get().is_weak)
}

/// An operand; in place of a placeholder the number itself, which is read.
pub fn known_number<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match object.cast_exact::<LazyScalar>() {
        Ok(scalar) if scalar.get().is_weak => scalar.get().value(object.py()),
        _ => Ok(object.clone()),
    }
}

/// Whether an operation on Python's real numbers gives a float or a truth, and has no errors of its own.
fn gives_float(op: Operator, operands: &[UfuncOperand<'_>]) -> bool {
    let is_number = |operand: &UfuncOperand<'_>| match &operand.held {
        OperandValue::Float(_) | OperandValue::Int(_) => true,
        OperandValue::Scalar(scalar) => scalar.is_weak,
        _ => false,
    };
    let has_no_error = match (op, operands) {
        (Operator::TrueDiv, [_, divisor]) => match divisor.held {
            OperandValue::Float(divisor) => divisor != 0.0,
            OperandValue::Int(divisor) => divisor != 0,
            _ => false,
        },
        (Operator::Add | Operator::Sub | Operator::Mul, _) => true,
        (Operator::Neg | Operator::Pos | Operator::Abs, _) => true,
        _ => op.compares(),
    };
    has_no_error && operands.iter().all(is_number)
}

/// `op value`.
fn unary<'py>(op: Operator, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if recording::is_on()
        && let Some(found) = weak(py, op, &[value])?
    {
        return Ok(found);
    }
    if let Some(found) = ufunc_of(op, py)?.of_one(value)? {
        return Ok(found);
    }
    if let Some(a) = classify_exact(value)? {
        let (ufunc, operands) = (ufunc_of(op, py)?, [a]);
        let [a] = &operands;
        if let Some(known) = known(value, a) {
            // NumPy's scalar computes it now.
            return py.import("operator")?.call_method1(op.python_name(), (known,));
        }
        if let Some(array) = ufunc.apply_eagerly(&operands) {
            return Ok(Bound::new(py, NdArray::lazy(array))?.into_any());
        }
        if let Some(array) = ufunc.record(py, &operands, None)? {
            return wrap_recorded(py, array, &operands);
        }
    } else if let Some(made) = of_instances(ufunc_of(op, py)?, Some(op), &[value])? {
        return Ok(made);
    }
    pythons(op, py)?.call(py, (value,))
}

/// `target op= value`: the array keeps its identity and dtype.
fn in_place<'py>(
    op: Operator,
    target: &Bound<'py, NdArray>,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let py = target.py();
    let is_lazy = target.get().read(py).as_lazy().is_some();
    if is_lazy
        && let (Some(a), Some(b)) = (classify_exact(target.as_any())?, classify_exact(value)?)
        && let operands = [a, b]
        && let Some(dest) = operands[0].as_array()
    {
        let ufunc = ufunc_of(op, py)?;
        let writable = target.get().check_writable(py).is_ok();
        if writable && ufunc.update_eagerly(&operands, dest) {
            return Ok(());
        }
        let dest = dest.clone();
        if let Some(result) = ufunc.apply_eagerly(&operands)
            && result.dtype() == dest.dtype()
            && result.shape() == dest.shape()
        {
            target.get().check_writable(py)?;
            return setitem::output(&dest, &result);
        }
        if ufunc.result_dtype(py, &operands)? == Some(dest.dtype()) {
            // Before the shapes, as NumPy looks at them.
            target.get().check_writable(py)?;
            let result = ufunc.record_operator(py, op, &operands, Some(&dest))?;
            if let Some(result) = result {
                return setitem::output(&dest, &result);
            }
        }
    }
    if !is_lazy && change_field(op, target, value)? {
        return Ok(());
    }
    let given = (op.python_name(), op.ufunc_name(), target, value);
    python_objects::IN_PLACE.get(py)?.call1(given).map(drop)
}

/// `target op= value`, by drivers, where the target is a numeric field of records; false, with nothing done, for
/// others.
fn change_field<'py>(
    op: Operator,
    target: &Bound<'py, NdArray>,
    value: &Bound<'py, PyAny>,
) -> PyResult<bool> {
    let py = target.py();
    if !is_plain(target) || !target.get().is_writable() || classify_exact(value)?.is_none() {
        return Ok(false);
    }
    let Some(field) = record_fields::field(target)? else { return Ok(false) };
    let field = Bound::new(py, NdArray::lazy(ready(py)?.copy(&field).map_err(to_py)?))?;
    in_place(op, &field, value)?;
    host_of(target)?.set_item(py.Ellipsis(), host_of(&field)?)?;
    Ok(true)
}

macro_rules! number_slots {
    ($class:ident: $($op:ident $forward:ident $reflected:ident;)*) => {
        #[pymethods]
        impl $class {
            $(
                fn $forward<'py>(
                    slf: &Bound<'py, Self>,
                    other: &Bound<'py, PyAny>,
                ) -> PyResult<Bound<'py, PyAny>> {
                    binary(Operator::$op, slf.as_any(), other)
                }

                fn $reflected<'py>(
                    slf: &Bound<'py, Self>,
                    other: &Bound<'py, PyAny>,
                ) -> PyResult<Bound<'py, PyAny>> {
                    binary(Operator::$op, other, slf.as_any())
                }
            )*

            fn __pow__<'py>(
                slf: &Bound<'py, Self>,
                other: &Bound<'py, PyAny>,
                modulo: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                match modulo {
                    None => binary(Operator::Pow, slf.as_any(), other),
                    Some(_) => Ok(slf.py().NotImplemented().into_bound(slf.py())),
                }
            }

            fn __rpow__<'py>(
                slf: &Bound<'py, Self>,
                other: &Bound<'py, PyAny>,
                _modulo: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                binary(Operator::Pow, other, slf.as_any())
            }

            fn __divmod__<'py>(
                slf: &Bound<'py, Self>,
                other: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, PyAny>> {
                divmod(slf.as_any(), other)
            }

            fn __rdivmod__<'py>(
                slf: &Bound<'py, Self>,
                other: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, PyAny>> {
                divmod(other, slf.as_any())
            }

            fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                unary(Operator::Neg, slf.as_any())
            }

            fn __pos__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                unary(Operator::Pos, slf.as_any())
            }

            fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                unary(Operator::Abs, slf.as_any())
            }

            fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                unary(Operator::Invert, slf.as_any())
            }
        }
    };
}

/// Quotient and remainder.
pub fn divmod<'py>(
    lhs: &Bound<'py, PyAny>,
    rhs: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = lhs.py();
    if recording::is_on() && (is_weak(lhs) || is_weak(rhs)) {
        let function = py.import("builtins")?.getattr("divmod")?;
        return function.call1((known_number(lhs)?, known_number(rhs)?));
    }
    if let (Some(a), Some(b)) = (classify_exact(lhs)?, classify_exact(rhs)?)
        && (known(lhs, &a).is_none() || known(rhs, &b).is_none())
    {
        let operands = [a, b];
        let both = [Operator::FloorDiv, Operator::Mod];
        let [quotient, rest] = both.map(|op| ufunc_of(op, py)?.record(py, &operands, None));
        if let (Some(quotient), Some(rest)) = (quotient?, rest?) {
            let pair = [quotient, rest].map(|array| wrap_recorded(py, array, &operands));
            let [quotient, rest] = pair;
            return Ok(PyTuple::new(py, [quotient?, rest?])?.into_any());
        }
    }
    let function = py.import("builtins")?.getattr("divmod")?;
    CountedFunction::new("divmod", function).call(py, (lhs, rhs))
}

number_slots! { NdArray:
    Add __add__ __radd__;
    Sub __sub__ __rsub__;
    Mul __mul__ __rmul__;
    TrueDiv __truediv__ __rtruediv__;
    FloorDiv __floordiv__ __rfloordiv__;
    Mod __mod__ __rmod__;
    MatMul __matmul__ __rmatmul__;
    And __and__ __rand__;
    Or __or__ __ror__;
    Xor __xor__ __rxor__;
    LeftShift __lshift__ __rlshift__;
    RightShift __rshift__ __rrshift__;
}

number_slots! { LazyScalar:
    Add __add__ __radd__;
    Sub __sub__ __rsub__;
    Mul __mul__ __rmul__;
    TrueDiv __truediv__ __rtruediv__;
    FloorDiv __floordiv__ __rfloordiv__;
    Mod __mod__ __rmod__;
    MatMul __matmul__ __rmatmul__;
    And __and__ __rand__;
    Or __or__ __ror__;
    Xor __xor__ __rxor__;
    LeftShift __lshift__ __rlshift__;
    RightShift __rshift__ __rrshift__;
}

macro_rules! in_place_slots {
    ($($op:ident $slot:ident;)*) => {
        #[pymethods]
        impl NdArray {
            $(
                fn $slot<'py>(
                    slf: &Bound<'py, Self>,
                    other: &Bound<'py, PyAny>,
                ) -> PyResult<()> {
                    in_place(Operator::$op, slf, other)
                }
            )*

            fn __ipow__<'py>(
                slf: &Bound<'py, Self>,
                other: &Bound<'py, PyAny>,
                modulo: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<()> {
                if modulo.is_some() {
                    return Err(PyTypeError::new_err("pow() with a modulus takes no arrays"));
                }
                in_place(Operator::Pow, slf, other)
            }

            fn __richcmp__<'py>(
                slf: &Bound<'py, Self>,
                other: &Bound<'py, PyAny>,
                op: CompareOp,
            ) -> PyResult<Bound<'py, PyAny>> {
                binary(Operator::comparison(op), slf.as_any(), other)
            }
        }
    };
}

in_place_slots! {
    Add __iadd__;
    Sub __isub__;
    Mul __imul__;
    TrueDiv __itruediv__;
    FloorDiv __ifloordiv__;
    Mod __imod__;
    MatMul __imatmul__;
    And __iand__;
    Or __ior__;
    Xor __ixor__;
    LeftShift __ilshift__;
    RightShift __irshift__;
}

impl NdArray {
    /// NumPy's refusal to write to a read-only array.
    pub fn check_writable(&self, py: Python<'_>) -> PyResult<()> {
        // A warning runs code of the program, which may read the array.
        let is_lazy = self.read(py).as_lazy().is_some();
        if is_lazy && !self.may_write(py)? {
            return Err(pyo3::exceptions::PyValueError::new_err("output array is read-only"));
        }
        Ok(())
    }
}
