//! Operands of operators and ufuncs: Python objects, classified for promotion.
//!
//! Owns [`UfuncOperand`] and [`OperandKind`]. Invariant: classifying an operand calls no Python code but that of
//! NumPy's scalars and arrays, and evaluates nothing unless so much is pending that it has to run. An object of no
//! kind is left to NumPy.
//!
//! Not here: how operands are cast for an operation (`compute`).

use crate::array::classes::subclass::is_plain;
use crate::array::lazy_scalar::LazyScalar;
use crate::array::ndarray::NdArray;
use crate::array::read_cell::ReadGuard;
use crate::array::record_fields;
use crate::array::repr::Repr;
use crate::convert::dtypes::{Numpy, numpy};
use crate::convert::numpy_arrays;
use gpupy_core::{DType, Op, Scalar, op_eval};
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};
use smallvec::SmallVec;

/// How an operand takes part in promotion: by its dtype; or weakly, taking the other operand's dtype
/// where that can express it. Python's bools are NumPy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandKind(u8);

/// How many dtypes there are; the kinds of Python's own numbers come after theirs.
const STRONG: u8 = DType::ALL.len() as u8;

impl OperandKind {
    /// A Python int.
    pub const WEAK_INT: OperandKind = OperandKind(STRONG);
    /// A Python float.
    pub const WEAK_FLOAT: OperandKind = OperandKind(STRONG + 1);
    /// A Python complex.
    pub const WEAK_COMPLEX: OperandKind = OperandKind(STRONG + 2);
    /// How many kinds there are.
    pub const COUNT: usize = STRONG as usize + 3;

    /// The kind of arrays and NumPy scalars of a dtype.
    pub const fn of(dtype: DType) -> OperandKind {
        OperandKind(dtype as u8)
    }

    /// The dtype; Python's own numbers but for bools have none.
    pub fn dtype(self) -> Option<DType> {
        DType::from_code(self.0)
    }

    /// The kind's place among all, below [`OperandKind::COUNT`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// An operand's value. Arrays are borrowed: recording clones nothing.
pub enum OperandValue<'a> {
    /// A lazy array of ours.
    Array(ReadGuard<'a, Repr>),
    /// A lazy scalar, whose array has no axes.
    Scalar(&'a LazyScalar),
    /// An array made for the operation.
    Made(Box<Array>),
    /// A real number of NumPy's.
    Known(Scalar),
    /// A Python float.
    Float(f64),
    /// A Python int that fits into int64 or uint64.
    Int(i128),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
    /// A truth value.
    Bool(bool),
}

/// A classified operand.
pub struct UfuncOperand<'a> {
    /// How it takes part in promotion.
    pub kind: OperandKind,
    /// Its value.
    pub held: OperandValue<'a>,
    /// True for an `ndarray` of ours, even a 0-d one; false for scalars of any sort.
    pub is_array: bool,
}

impl UfuncOperand<'_> {
    /// An operand that is an array made for the operation.
    pub fn made(array: Array) -> UfuncOperand<'static> {
        UfuncOperand {
            kind: OperandKind::of(array.dtype()),
            held: OperandValue::Made(Box::new(array)),
            is_array: true,
        }
    }

    /// An operand that is a real number of NumPy's.
    pub fn known(number: Scalar) -> UfuncOperand<'static> {
        UfuncOperand {
            kind: OperandKind::of(number.dtype),
            held: OperandValue::Known(number),
            is_array: false,
        }
    }

    /// The lazy array, if it is one.
    pub fn as_array(&self) -> Option<&Array> {
        match &self.held {
            OperandValue::Array(array) => array.as_lazy(),
            OperandValue::Scalar(scalar) => Some(scalar.as_array()),
            OperandValue::Made(array) => Some(array),
            _ => None,
        }
    }

    /// The operand's shape; scalars have none.
    pub fn shape(&self) -> &[usize] {
        self.as_array().map_or(&[], |array| array.shape())
    }

    /// The value as a scalar of `dtype`, by NumPy's rules for weak scalars; `None` for arrays, for
    /// complex numbers (see [`UfuncOperand::complex`]), and for ints that the dtype does not hold.
    pub fn scalar(&self, dtype: DType) -> Option<Scalar> {
        let own = match (&self.held, dtype) {
            (OperandValue::Known(scalar), _) if scalar.dtype == dtype => return Some(*scalar),
            (OperandValue::Known(scalar), _) => *scalar,
            (OperandValue::Float(v), _) => return float_scalar(*v, dtype),
            (OperandValue::Int(v), _) if dtype.is_int() => return int_scalar(*v, dtype),
            (OperandValue::Int(v), DType::Bool) => Scalar::bool(*v != 0),
            // NumPy warns of those beyond.
            (OperandValue::Int(v), DType::F16) if v.unsigned_abs() > 65504 => return None,
            (OperandValue::Int(v), _) => Scalar::f64(*v as f64),
            (OperandValue::Bool(v), _) => Scalar::bool(*v),
            _ => return None,
        };
        op_eval::eval(Op::Cast, dtype, &[own])
    }

    /// Gives a real number of Python's the dtype that NumPy gives it beside no other.
    pub fn take_own_dtype(&mut self) {
        let scalar = match self.held {
            OperandValue::Float(value) => Some(Scalar::f64(value)),
            OperandValue::Int(value) => int_scalar(value, DType::I64),
            OperandValue::Bool(value) => Some(Scalar::bool(value)),
            _ => None,
        };
        if let Some(scalar) = scalar {
            *self = UfuncOperand::known(scalar);
        }
    }

    /// A copy of an operand that is a number, with NumPy's numbers as arrays without axes; `None` for arrays.
    pub fn without_axes(&self) -> Option<UfuncOperand<'static>> {
        let held = match self.held {
            OperandValue::Known(scalar) => {
                let bytes = scalar.bytes();
                let element = bytes.get(..scalar.dtype.size())?;
                OperandValue::Made(Box::new(Array::from_bytes(scalar.dtype, &[], element).ok()?))
            }
            OperandValue::Float(value) => OperandValue::Float(value),
            OperandValue::Int(value) => OperandValue::Int(value),
            OperandValue::Bool(value) => OperandValue::Bool(value),
            OperandValue::Complex(re, im) => OperandValue::Complex(re, im),
            OperandValue::Array(_) | OperandValue::Scalar(_) | OperandValue::Made(_) => {
                return None;
            }
        };
        Some(UfuncOperand { kind: self.kind, held, is_array: false })
    }

    /// The value as an array of a complex dtype without axes: complex numbers have no scalar form.
    /// `None` for arrays and other dtypes.
    pub fn complex(&self, dtype: DType) -> Option<Array> {
        let (re, im) = self.complex_parts()?;
        complex_array(dtype, re, im)
    }

    /// The real and the imaginary part of the value; `None` for arrays.
    pub fn complex_parts(&self) -> Option<(f64, f64)> {
        Some(match &self.held {
            OperandValue::Complex(re, im) => (*re, *im),
            OperandValue::Float(v) => (*v, 0.0),
            OperandValue::Int(v) => (*v as f64, 0.0),
            OperandValue::Bool(v) => (f64::from(u8::from(*v)), 0.0),
            OperandValue::Known(_) => (f64::from_bits(self.scalar(DType::F64)?.bits), 0.0),
            _ => return None,
        })
    }
}

/// A complex number as an array without axes; `None` for dtypes that are not complex.
pub fn complex_array(dtype: DType, re: f64, im: f64) -> Option<Array> {
    Array::from_bytes(dtype, &[], &complex_bytes(dtype, re, im)?).ok()
}

/// The bytes of a complex number; `None` for dtypes that are not complex.
pub fn complex_bytes(dtype: DType, re: f64, im: f64) -> Option<SmallVec<[u8; 16]>> {
    let bytes: [&[u8]; 2] = match dtype {
        DType::C64 => [&(re as f32).to_ne_bytes(), &(im as f32).to_ne_bytes()],
        DType::C128 => [&re.to_ne_bytes(), &im.to_ne_bytes()],
        _ => return None,
    };
    Some(bytes.iter().flat_map(|part| *part).copied().collect())
}

/// A Python float as a scalar of a real dtype.
#[inline]
pub fn float_scalar(value: f64, dtype: DType) -> Option<Scalar> {
    match dtype {
        DType::F32 => Some(Scalar::f32(value as f32)),
        _ => op_eval::eval(Op::Cast, dtype, &[Scalar::f64(value)]),
    }
}

/// An int as a scalar of an integer dtype that holds it.
pub fn int_scalar(value: i128, dtype: DType) -> Option<Scalar> {
    let (low, high) = range(dtype);
    (low <= value && value <= high).then(|| Scalar::new(dtype, value as u64))
}

/// The least and the greatest number of an integer dtype.
pub fn range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.size() as u32;
    if dtype.is_signed_int() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

/// Classifies an operand whose class does not matter; `None` leaves it to NumPy.
pub fn classify<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Option<UfuncOperand<'a>>> {
    if let Some(operand) = classify_exact(object)? {
        return Ok(Some(operand));
    }
    match object.cast::<NdArray>() {
        Ok(array) if !is_plain(array) => of_array(array),
        _ => Ok(None),
    }
}

/// Classifies an operand; `None` leaves it to NumPy, or to its class where that is a subclass of `gpupy.ndarray`.
pub fn classify_exact<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Option<UfuncOperand<'a>>> {
    let scalar = |kind, held| Ok(Some(UfuncOperand { kind, held, is_array: false }));
    if let Ok(array) = object.cast_exact::<NdArray>() {
        return of_array(array);
    }
    if let Ok(value) = object.cast_exact::<PyFloat>() {
        return scalar(OperandKind::WEAK_FLOAT, OperandValue::Float(value.value()));
    }
    if let Ok(value) = object.cast_exact::<PyInt>() {
        // An int beyond 64 bits fits no dtype of ours: NumPy has the words for it.
        return match int(value) {
            Some(value) => scalar(OperandKind::WEAK_INT, OperandValue::Int(value)),
            None => Ok(None),
        };
    }
    if let Ok(value) = object.cast_exact::<LazyScalar>() {
        let value = value.get();
        let kind =
            if value.is_weak { OperandKind::WEAK_FLOAT } else { OperandKind::of(value.dtype_of()) };
        return scalar(kind, OperandValue::Scalar(value));
    }
    if let Ok(value) = object.cast_exact::<PyBool>() {
        return scalar(OperandKind::of(DType::Bool), OperandValue::Bool(value.is_true()));
    }
    if let Ok(value) = object.cast_exact::<PyComplex>() {
        return scalar(
            OperandKind::WEAK_COMPLEX,
            OperandValue::Complex(value.real(), value.imag()),
        );
    }
    if let Some(number) = numpy_arrays::real(object)? {
        return Ok(Some(UfuncOperand::known(number)));
    }
    numpy_scalar(object, numpy(object.py())?)
}

/// Classifies an array of ours; `None` for NumPy's own, but for numeric fields of records.
#[inline(always)]
fn of_array<'a>(array: &'a Bound<'_, NdArray>) -> PyResult<Option<UfuncOperand<'a>>> {
    let held = array.get().read(array.py());
    match held.as_lazy().map(Array::dtype) {
        Some(dtype) => Ok(Some(UfuncOperand {
            kind: OperandKind::of(dtype),
            held: OperandValue::Array(held),
            is_array: true,
        })),
        None => Ok(record_fields::field(array)?.map(UfuncOperand::made)),
    }
}

/// An int of at most 64 bits, with a sign or without.
fn int(value: &Bound<'_, PyAny>) -> Option<i128> {
    let signed = value.extract::<i64>().map(i128::from);
    signed.or_else(|_| value.extract::<u64>().map(i128::from)).ok()
}

/// Classifies a truth value or a complex number of NumPy's.
fn numpy_scalar(
    object: &Bound<'_, PyAny>,
    numpy: &Numpy,
) -> PyResult<Option<UfuncOperand<'static>>> {
    let Some(dtype) = numpy.dtype_of_scalar(&object.get_type()) else { return Ok(None) };
    let held = match dtype {
        DType::Bool => OperandValue::Bool(object.is_truthy()?),
        _ => match numpy_arrays::complex_parts(object)? {
            Some((real, imaginary)) => OperandValue::Complex(real, imaginary),
            None => return Ok(None),
        },
    };
    Ok(Some(UfuncOperand { kind: OperandKind::of(dtype), held, is_array: false }))
}
