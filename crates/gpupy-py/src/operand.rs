//! What stands on either side of an operator.
//!
//! Owns [`Operand`] and [`Kind`]. Invariant: classifying an operand calls no Python code and
//! evaluates nothing; what is not one of the kinds is left to NumPy.
//!
//! Not here: what operands become in an operation (`ufunc.rs`).

use crate::array::NdArray;
use crate::dtypes::{Numpy, numpy};
use crate::scalar::LazyScalar;
use gpupy_core::{Array, DType, Scalar};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};

/// How an operand takes part in promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A float32 array or NumPy scalar.
    F32 = 0,
    /// An int32 array or NumPy scalar.
    I32 = 1,
    /// A bool array, NumPy bool, or Python bool.
    Bool = 2,
    /// A Python int: weak, it takes the other operand's dtype.
    WeakInt = 3,
    /// A Python float: weak.
    WeakFloat = 4,
}

/// How many kinds there are.
pub const KINDS: usize = 5;

impl Kind {
    /// The kind of a lazy dtype.
    pub fn of(dtype: DType) -> Option<Kind> {
        match dtype {
            DType::F32 => Some(Kind::F32),
            DType::I32 => Some(Kind::I32),
            DType::Bool => Some(Kind::Bool),
            _ => None,
        }
    }
}

/// An operand's value. Arrays are borrowed: recording clones nothing.
pub enum Held<'py> {
    /// A lazy array of ours.
    Array(PyRef<'py, NdArray>),
    /// A lazy scalar, whose array has no axes.
    Scalar(Bound<'py, LazyScalar>),
    /// An array made for the operation.
    Made(Array),
    /// A Python float, or a NumPy float32.
    Float(f64),
    /// A Python int of at most 64 bits, or a NumPy int32.
    Int(i64),
    /// A truth value.
    Bool(bool),
}

/// A classified operand.
pub struct Operand<'py> {
    /// How it promotes.
    pub kind: Kind,
    /// What it is.
    pub held: Held<'py>,
    /// True for an `ndarray` of ours, even a 0-d one; false for scalars of any sort.
    pub is_array: bool,
}

impl Operand<'_> {
    /// An operand that is an array made for the operation.
    pub fn made(array: Array) -> Option<Operand<'static>> {
        let kind = Kind::of(array.dtype())?;
        Some(Operand { kind, held: Held::Made(array), is_array: true })
    }

    /// The lazy array, if it is one.
    pub fn as_array(&self) -> Option<&Array> {
        match &self.held {
            Held::Array(array) => array.as_lazy(),
            Held::Scalar(scalar) => Some(&scalar.get().array),
            Held::Made(array) => Some(array),
            _ => None,
        }
    }

    /// The operand's shape; scalars have none.
    pub fn shape(&self) -> &[usize] {
        self.as_array().map_or(&[], |array| array.shape())
    }

    /// The value as a scalar of `dtype`, by NumPy's rules for weak scalars; `None` for arrays, and
    /// for values that NumPy would refuse or warn about.
    pub fn scalar(&self, dtype: DType) -> Option<Scalar> {
        match (&self.held, dtype) {
            (Held::Float(v), DType::F32) => Some(Scalar::f32(*v as f32)),
            (Held::Int(v), DType::F32) => Some(Scalar::f32(*v as f64 as f32)),
            (Held::Int(v), DType::I32) => i32::try_from(*v).ok().map(Scalar::i32),
            (Held::Bool(v), DType::F32) => Some(Scalar::f32(f32::from(u8::from(*v)))),
            (Held::Bool(v), DType::I32) => Some(Scalar::i32(i32::from(*v))),
            (Held::Bool(v), DType::Bool) => Some(Scalar::bool(*v)),
            (Held::Int(v), DType::Bool) => Some(Scalar::bool(*v != 0)),
            (Held::Float(v), DType::Bool) => Some(Scalar::bool(*v != 0.0)),
            _ => None,
        }
    }
}

/// Classifies an operand; `None` leaves it to NumPy.
pub fn classify<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Operand<'py>>> {
    let scalar = |kind, held| Ok(Some(Operand { kind, held, is_array: false }));
    if let Ok(array) = object.cast::<NdArray>() {
        let array = array.borrow();
        let kind = array.as_lazy().and_then(|lazy| Kind::of(lazy.dtype()));
        return Ok(kind.map(|kind| Operand { kind, held: Held::Array(array), is_array: true }));
    }
    if let Ok(value) = object.cast_exact::<PyFloat>() {
        return scalar(Kind::WeakFloat, Held::Float(value.value()));
    }
    if let Ok(value) = object.cast_exact::<PyInt>() {
        // An int beyond 64 bits fits no dtype of ours: NumPy has the words for it.
        return match value.extract::<i64>() {
            Ok(value) => scalar(Kind::WeakInt, Held::Int(value)),
            Err(_) => Ok(None),
        };
    }
    if let Ok(value) = object.cast::<LazyScalar>() {
        return match Kind::of(value.get().array.dtype()) {
            Some(kind) => scalar(kind, Held::Scalar(value.clone())),
            None => Ok(None),
        };
    }
    if let Ok(value) = object.cast_exact::<PyBool>() {
        return scalar(Kind::Bool, Held::Bool(value.is_true()));
    }
    numpy_scalar(object, numpy(object.py())?)
}

/// Classifies a NumPy scalar of a lazy dtype.
fn numpy_scalar<'py>(object: &Bound<'py, PyAny>, numpy: &Numpy) -> PyResult<Option<Operand<'py>>> {
    let class = object.get_type();
    let scalar = |kind, held| Ok(Some(Operand { kind, held, is_array: false }));
    if class.is(&numpy.scalars[0]) {
        scalar(Kind::F32, Held::Float(object.extract()?))
    } else if class.is(&numpy.scalars[1]) {
        scalar(Kind::I32, Held::Int(object.extract()?))
    } else if class.is(&numpy.scalars[2]) {
        scalar(Kind::Bool, Held::Bool(object.is_truthy()?))
    } else {
        Ok(None)
    }
}
