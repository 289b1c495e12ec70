//! Complex numbers: the operations that act on the real and imaginary parts.
//!
//! Owns [`Complex`], [`operation`], [`of_parts`], [`combine`] and [`cast`]. A product is `(ac − bd) + (ad +
//! bc)i`, each step rounded, as NumPy computes it.
//!
//! Not here: division, absolute values and functions, which the IR does not have for complex numbers.

use super::row_fn::{RowFn, RowFnMaker};
use super::row_loops::{Unary, best, binary};
use gpupy_core::op_eval::element::{Element, Stored};
use gpupy_core::{DType, Op, for_real_type};
use std::ops::{Add, Mul, Neg, Sub};

/// A complex number, as it lies in memory.
#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Complex<T> {
    re: T,
    im: T,
}

impl<T: Copy + 'static> Stored for Complex<T> {
    type Raw = Complex<T>;
    #[inline(always)]
    fn load(raw: Complex<T>) -> Complex<T> {
        raw
    }
    #[inline(always)]
    fn store(self) -> Complex<T> {
        self
    }
}

/// The type of the parts of a complex number.
trait ComplexPart:
    Element
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
}
impl ComplexPart for f32 {}
impl ComplexPart for f64 {}

/// The operation on complex rows, or `None` where it does not exist.
pub fn operation(op: Op, dtype: DType, scalars: [bool; 3]) -> Option<RowFn> {
    match dtype {
        DType::C64 => on::<f32>(op, scalars),
        _ => on::<f64>(op, scalars),
    }
}

fn on<T: ComplexPart>(op: Op, scalars: [bool; 3]) -> Option<RowFn> {
    Some(match op {
        Op::Real => unary(|x: Complex<T>| x.re),
        Op::Imag => unary(|x: Complex<T>| x.im),
        Op::Neg => unary(|x: Complex<T>| Complex { re: -x.re, im: -x.im }),
        Op::Add => binary(sum::<T>, scalars),
        Op::Sub => {
            let difference =
                |x: Complex<T>, y: Complex<T>| Complex { re: x.re - y.re, im: x.im - y.im };
            binary(difference, scalars)
        }
        Op::Mul => binary(product::<T>, scalars),
        Op::Eq => binary(|x: Complex<T>, y: Complex<T>| x == y, scalars),
        Op::Ne => binary(|x: Complex<T>, y: Complex<T>| x != y, scalars),
        _ => return None,
    })
}

/// Makes complex numbers of rows of parts; `None` for a dtype that is not a part of one.
pub fn of_parts(part: DType, scalars: [bool; 3]) -> Option<RowFn> {
    match part {
        DType::F32 => Some(binary(|re: f32, im: f32| Complex { re, im }, scalars)),
        DType::F64 => Some(binary(|re: f64, im: f64| Complex { re, im }, scalars)),
        _ => None,
    }
}

#[inline(always)]
fn sum<T: ComplexPart>(x: Complex<T>, y: Complex<T>) -> Complex<T> {
    Complex { re: x.re + y.re, im: x.im + y.im }
}

#[inline(always)]
fn product<T: ComplexPart>(x: Complex<T>, y: Complex<T>) -> Complex<T> {
    Complex { re: x.re * y.re - x.im * y.im, im: x.re * y.im + x.im * y.re }
}

/// Calls the maker with an operation that reduces complex numbers.
pub fn combine<M: RowFnMaker>(op: Op, dtype: DType, maker: M) -> Option<M::Out> {
    Some(match (op, dtype) {
        (Op::Add, DType::C64) => maker.make(sum::<f32>),
        (Op::Add, DType::C128) => maker.make(sum::<f64>),
        (Op::Mul, DType::C64) => maker.make(product::<f32>),
        (Op::Mul, DType::C128) => maker.make(product::<f64>),
        _ => return None,
    })
}

/// A cast from or to complex numbers: real numbers have the imaginary part 0.
pub fn cast(from: DType, to: DType) -> Option<RowFn> {
    for_real_type!(from, A => Some(from_real::<A>(to)), _ => match from {
        DType::C64 => Some(from_complex::<f32>(to)),
        _ => Some(from_complex::<f64>(to)),
    })
}

fn from_real<A: Element>(to: DType) -> RowFn {
    match to {
        DType::C64 => unary(|x: A| Complex { re: f32::narrow(x.wide()), im: 0.0 }),
        _ => unary(|x: A| Complex { re: f64::narrow(x.wide()), im: 0.0 }),
    }
}

fn from_complex<T: ComplexPart>(to: DType) -> RowFn {
    match to {
        DType::Bool => unary(|x: Complex<T>| bool::narrow(x.re.wide()) | bool::narrow(x.im.wide())),
        DType::C64 => to_complex::<T, f32>(),
        DType::C128 => to_complex::<T, f64>(),
        real => for_real_type!(real, R => to_real::<T, R>(), _ => to_complex::<T, f64>()),
    }
}

fn to_real<T: ComplexPart, R: Element>() -> RowFn {
    unary(|x: Complex<T>| R::narrow(x.re.wide()))
}

fn to_complex<T: ComplexPart, R: ComplexPart>() -> RowFn {
    unary(|x: Complex<T>| Complex { re: R::narrow(x.re.wide()), im: R::narrow(x.im.wide()) })
}

fn unary<A: Stored, R: Stored, F: Fn(A) -> R + Copy + 'static>(_: F) -> RowFn {
    best::<Unary<A, R, F>>()
}
