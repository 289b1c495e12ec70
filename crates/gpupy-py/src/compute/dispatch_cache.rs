//! The inline dispatch cache of ufuncs: the operation, or composed function, for each combination of operand kinds.
//!
//! Owns [`DispatchCache`], which skips promotion and lowering for operands that need no cast. For small arrays
//! these cost more than the operation. Invariant: an entry is only made after the slow path (`Ufunc::record`) came
//! to the same operation, with the drivers now in use.
//!
//! Not here: whether work is small enough to be done eagerly (`gpupy_engine::Context::apply_eagerly`).

use crate::array::operand::{OperandKind, UfuncOperand, float_scalar};
use crate::session::context;
use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, ScalarFunction};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A cache of operations by the kinds of their operands.
pub struct DispatchCache {
    /// The opening of drivers for which it holds, the operands' dtype, and the operation; 0 for an empty entry.
    operations: [AtomicU64; OperandKind::COUNT * OperandKind::COUNT],
    functions: Mutex<FunctionCache>,
}

/// The functions of one opening, by the places of the kinds; `None` where there is none.
#[derive(Default)]
struct FunctionCache {
    opening: u32,
    known: Vec<(OperandKinds, Option<Arc<ScalarFunction>>)>,
}

type OperandKinds = SmallVec<[OperandKind; 2]>;

impl DispatchCache {
    /// An empty cache.
    pub fn new() -> DispatchCache {
        let operations = [const { AtomicU64::new(0) }; OperandKind::COUNT * OperandKind::COUNT];
        DispatchCache { operations, functions: Mutex::default() }
    }

    /// The function that does several operations on operands of these kinds, which is made at first need.
    pub fn function(
        &self,
        kinds: &[OperandKind],
        make: impl FnOnce() -> Option<ScalarFunction>,
    ) -> Option<Arc<ScalarFunction>> {
        let lock = || self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        let opening = context::opening();
        {
            let mut functions = lock();
            if functions.opening != opening {
                *functions = FunctionCache { opening, known: Vec::new() };
            }
            if let Some((_, known)) = functions.known.iter().find(|(own, _)| own[..] == *kinds) {
                return known.clone();
            }
        }
        // Without the lock: NumPy may be asked on the way.
        let made = make().map(Arc::new);
        let mut functions = lock();
        if functions.opening == opening {
            functions.known.push((kinds.into(), made.clone()));
        }
        made
    }

    #[inline(always)]
    fn at(&self, kinds: &[OperandKind]) -> Option<&AtomicU64> {
        match kinds {
            [a] => self.operations.get(a.index()),
            [a, b] => self.operations.get(a.index() * OperandKind::COUNT + b.index()),
            _ => None,
        }
    }

    /// Notes that the operation on operands like these is `op` on this dtype, if none has to be cast.
    pub fn remember(&self, operands: &[UfuncOperand<'_>], op: Op, dtype: DType) {
        let as_they_are = operands.iter().all(|o| o.kind.dtype().is_none_or(|own| own == dtype));
        let kinds: SmallVec<[OperandKind; 2]> = operands.iter().map(|o| o.kind).collect();
        if let Some(place) = self.at(&kinds)
            && as_they_are
        {
            let code = u64::from(context::opening()) << 24 | (dtype as u64) << 16 | op as u64;
            place.store(code, Ordering::Relaxed);
        }
    }

    /// The result of arrays, as they are, if the operation is known and can be computed eagerly. It has axes:
    /// scalars take the slow path.
    #[inline(always)]
    pub fn of_arrays<const N: usize>(&self, arrays: [&Array; N]) -> Option<Array> {
        let (context, op, _) = self.known(&arrays.map(|array| OperandKind::of(array.dtype())))?;
        if arrays.iter().all(|array| array.ndim() == 0) {
            return None;
        }
        context.apply_eagerly(op, &arrays.map(ArrayOrScalar::Array))
    }

    /// Like [`Self::of_arrays`], but of an array and a float; `swapped` puts the float first.
    #[inline(always)]
    pub fn of_array_and_float(&self, array: &Array, value: f64, swapped: bool) -> Option<Array> {
        let (own, weak) = (OperandKind::of(array.dtype()), OperandKind::WEAK_FLOAT);
        let kinds = if swapped { [weak, own] } else { [own, weak] };
        let (context, op, dtype) = self.known(&kinds)?;
        if array.ndim() == 0 {
            return None;
        }
        let (array, value) =
            (ArrayOrScalar::Array(array), ArrayOrScalar::Scalar(float_scalar(value, dtype)?));
        context.apply_eagerly(op, &if swapped { [value, array] } else { [array, value] })
    }

    /// Like [`Self::of_arrays`], but of any operands.
    pub fn take(&self, operands: &[UfuncOperand<'_>]) -> Option<Array> {
        self.apply(operands, |context, op, args| context.apply_eagerly(op, args))
    }

    /// The result of numbers alone, with the bits of an element of an array.
    pub fn of_numbers(&self, operands: &[UfuncOperand<'_>]) -> Option<Scalar> {
        let (context, op, dtype) = match operands {
            [a] => self.known(&[a.kind]),
            [a, b] => self.known(&[a.kind, b.kind]),
            _ => None,
        }?;
        let mut numbers: SmallVec<[Scalar; 2]> = SmallVec::new();
        for operand in operands {
            numbers.push(operand.scalar(dtype)?);
        }
        context.number_eagerly(op, &numbers)
    }

    /// Writes the result in place to `dest`; false, with nothing done, where the operation is not known or cannot be
    /// done eagerly.
    pub fn update(&self, operands: &[UfuncOperand<'_>], dest: &Array) -> bool {
        let put = |context: &Context, op, args: &[ArrayOrScalar<'_>]| {
            context.update_eagerly(op, args, dest).then_some(())
        };
        self.apply(operands, put).is_some()
    }

    /// The operation on operands of these kinds and the dtype that it takes them in, if it is known.
    #[inline(always)]
    fn known(&self, kinds: &[OperandKind]) -> Option<(&'static Context, Op, DType)> {
        let code = self.at(kinds)?.load(Ordering::Relaxed);
        let (context, opening) = context::open()?;
        if code >> 24 != u64::from(opening) {
            return None;
        }
        Some((context, Op::from_code(code as u16)?, DType::from_code((code >> 16) as u8)?))
    }

    /// Does the operation, if it is known.
    #[inline(always)]
    fn apply<T>(
        &self,
        operands: &[UfuncOperand<'_>],
        compute: impl FnOnce(&Context, Op, &[ArrayOrScalar<'_>]) -> Option<T>,
    ) -> Option<T> {
        let (context, op, dtype) = match operands {
            [a] => self.known(&[a.kind]),
            [a, b] => self.known(&[a.kind, b.kind]),
            _ => None,
        }?;
        // Complex numbers have no scalar form.
        let mut numbers: SmallVec<[Array; 1]> = SmallVec::new();
        if dtype.is_complex() {
            for operand in operands.iter().filter(|operand| operand.as_array().is_none()) {
                numbers.push(operand.complex(dtype)?);
            }
        }
        let mut numbers = numbers.iter();
        let mut args: SmallVec<[ArrayOrScalar<'_>; 2]> = SmallVec::new();
        let mut axes = 0;
        for operand in operands {
            args.push(match operand.as_array() {
                Some(array) => {
                    axes += array.ndim();
                    ArrayOrScalar::Array(array)
                }
                None if dtype.is_complex() => ArrayOrScalar::Array(numbers.next()?),
                None => ArrayOrScalar::Scalar(operand.scalar(dtype)?),
            });
        }
        if axes == 0 { None } else { compute(context, op, &args) }
    }
}
