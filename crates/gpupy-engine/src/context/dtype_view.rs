//! Dtype views (reinterpreting views, bitcasts): bases whose elements are those of another base under another dtype,
//! such as the parts of complex numbers, or bits as integers.
//!
//! Owns [`Context::dtype_view`] and [`LastDtypeView`]. Elements of another size are made in steps; each step halves
//! them, pairs them, or keeps their size. A part of a complex array is every second element of its halves. The elements
//! of a dtype view are recorded from those of the whole when they are asked for after the whole was written; a write to
//! a dtype view is a write to the whole. Bools viewed as integers become a dtype view of their bytes, as a byte has
//! more values than a bool. Invariants: both show the same bits after any write to either; a dtype view's lock is taken
//! before the whole's, never after it; nothing is evaluated under them.
//!
//! Not here: what a base asks of its dtype view (`array/base.rs`), which of NumPy's views are dtype views (the front
//! end).

use super::Context;
use crate::array::base::{Array, ArrayOrScalar, DtypeView, WeakArray};
use crate::array::contents::{Contents, Current};
use crate::graph::value::{Origin, Value};
use crate::memory::view::View;
use gpupy_core::op::Op;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Result, Scalar};
use smallvec::{SmallVec, smallvec};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The version of a whole that was never looked at.
const NEVER: u64 = u64::MAX;

/// The elements of another base, reinterpreted.
struct ReinterpretedElements {
    /// The elements that it shows: some that follow each other in their base.
    whole: Array,
    context: Context,
    /// How often the whole's base was written when the dtype view's elements were made.
    seen: AtomicU64,
}

/// An array's most recent dtype view, held weakly: so two reads of `z.real` are one operand of a kernel.
#[derive(Default)]
pub struct LastDtypeView(Mutex<Option<WeakArray>>);

impl LastDtypeView {
    /// As [`Context::dtype_view`] from the first element on.
    pub fn get(&self, context: &Context, array: &Array, dtype: DType) -> Array {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shows = |dtype_view: &Array| {
            let whole = dtype_view.dtype_view().map(|dtype_view| dtype_view.whole());
            dtype_view.dtype() == dtype
                && whole.is_some_and(|whole| whole.shares_base(array) && whole.offset() == 0)
        };
        if let Some(dtype_view) = last.as_ref().and_then(WeakArray::upgrade).filter(shows) {
            return dtype_view;
        }
        let dtype_view = context.dtype_view(array, dtype, 0);
        *last = Some(dtype_view.downgrade());
        dtype_view
    }
}

/// The dtypes through which elements of one dtype become those of another, the last included.
pub fn steps(from: DType, to: DType) -> SmallVec<[DType; 8]> {
    let mut steps = SmallVec::new();
    let mut at = from;
    let mut go = |at: &mut DType, to| {
        if *at != to {
            steps.push(to);
            *at = to;
        }
    };
    if from != to {
        go(&mut at, from.part().unwrap_or(from));
    }
    let last = to.part().filter(|_| from != to).unwrap_or(to);
    while at.size() != last.size() {
        let size = at.size();
        go(&mut at, unsigned(size));
        go(&mut at, unsigned(if size > last.size() { size / 2 } else { size * 2 }));
    }
    go(&mut at, last);
    go(&mut at, to);
    steps
}

/// What makes elements of one dtype those of another of its size. Bits that are no bool's are true, and drivers
/// know bools by their values.
fn between(from: DType, to: DType) -> Op {
    if from == DType::Bool || to == DType::Bool { Op::Cast } else { Op::Bitcast }
}

/// The unsigned integers of a size in bytes.
fn unsigned(size: usize) -> DType {
    match size {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    }
}

impl Context {
    /// The elements of an array's base from `start` on as elements of another dtype, as many as there are whole:
    /// an array of one axis. Writes to either are seen through the other.
    ///
    /// - **Units:** `start` is in elements of the base, and inside it.
    pub fn dtype_view(&self, array: &Array, dtype: DType, start: usize) -> Array {
        let count = array.base_len() - start;
        let view = View::contiguous(&[count]);
        let mut shown = array.seen_as(View { offset: start as isize, ..view });
        if shown.dtype() == DType::Bool && dtype != DType::Bool {
            // Integers say more than bools: these are their dtype view, not the other way round. A base without
            // elements has no use for either.
            let _ = self.let_bools_show_bytes(&shown);
            let bytes = shown
                .dtype_view()
                .map(|dtype_view| dtype_view.whole().slice_axis(0, start, count, 1));
            shown = bytes.unwrap_or(shown);
        }
        for dtype in steps(shown.dtype(), dtype) {
            shown = self.one_step(shown, dtype);
        }
        shown
    }

    /// Makes a base of bools, that is none yet, the dtype view of one of bytes.
    fn let_bools_show_bytes(&self, bools: &Array) -> Result<()> {
        bools.become_dtype_view(|current| {
            if let Some(mut own) = current.take_pinned() {
                // Exports show the very bytes.
                own.dtype = DType::U8;
                let bytes = Array::of_own(own);
                let whole = bytes.seen_as(View::contiguous(&[bytes.base_len()]));
                let seen = AtomicU64::new(NEVER);
                return Ok(Box::new(ReinterpretedElements { whole, context: self.clone(), seen }));
            }
            let value = current.value()?;
            let len = value.len();
            let shown = Array::with_view(value, View::contiguous(&[len]));
            let whole = self.same(&shown, DType::U8)?;
            let whole = Array::with_view(whole.value()?, View::contiguous(&[len]));
            let seen = AtomicU64::new(whole.version());
            Ok(Box::new(ReinterpretedElements { whole, context: self.clone(), seen }))
        })
    }

    fn one_step(&self, mut shown: Array, dtype: DType) -> Array {
        let (have, want) = (shown.dtype().size(), dtype.size());
        if want > have {
            let even = shown.size() / 2 * 2;
            shown = shown.slice_axis(0, 0, even, 1);
        }
        let back = shown
            .dtype_view()
            .map(|dtype_view| dtype_view.whole())
            .filter(|whole| whole.dtype() == dtype);
        if let Some(whole) = back.filter(|_| shown.is_whole()) {
            return whole.clone();
        }
        let len = shown.size() * have / want;
        let dtype_view = ReinterpretedElements {
            whole: shown,
            context: self.clone(),
            seen: AtomicU64::new(NEVER),
        };
        Array::of_dtype_view(dtype, len, Box::new(dtype_view))
    }

    /// An operation on operands, computed at once or recorded.
    fn made(&self, op: Op, args: &[ArrayOrScalar<'_>], to: DType) -> Result<Array> {
        self.inner.dispatch.convert(op, to, args)
    }

    /// Elements of the same size under another dtype.
    fn same(&self, array: &Array, to: DType) -> Result<Array> {
        self.made(between(array.dtype(), to), &[array.into()], to)
    }

    /// The lower or the upper half of each element: of a complex number, its real or imaginary part.
    fn half(&self, array: &Array, upper: bool, to: DType) -> Result<Array> {
        match (array.dtype().is_complex(), upper) {
            (true, false) => self.made(Op::Real, &[array.into()], to),
            (true, true) => self.made(Op::Imag, &[array.into()], to),
            (false, false) => self.made(Op::Cast, &[array.into()], to),
            (false, true) => {
                let bits = Scalar::new(array.dtype(), 8 * to.size() as u64);
                let moved = self.made(Op::Shr, &[array.into(), bits.into()], to)?;
                self.made(Op::Cast, &[(&moved).into()], to)
            }
        }
    }

    /// Two halves as one element.
    fn paired(
        &self,
        lower: ArrayOrScalar<'_>,
        upper: ArrayOrScalar<'_>,
        to: DType,
    ) -> Result<Array> {
        if to.is_complex() {
            return self.made(Op::Complex, &[lower, upper], to);
        }
        let (lower, upper) =
            (self.made(Op::Cast, &[lower], to)?, self.made(Op::Cast, &[upper], to)?);
        let bits = Scalar::new(to, 4 * to.size() as u64);
        let upper = self.made(Op::Shl, &[(&upper).into(), bits.into()], to)?;
        self.made(Op::Or, &[(&lower).into(), (&upper).into()], to)
    }

    /// All elements of one axis as those of another dtype, in the same order.
    fn reinterpreted(&self, array: &Array, to: DType) -> Result<Array> {
        if let Some(there) = in_memory(array, to) {
            return Ok(there);
        }
        let (have, want, n) = (array.dtype().size(), to.size(), array.size());
        if want == have {
            return self.same(array, to);
        }
        if want < have {
            let halves = [self.half(array, false, to)?, self.half(array, true, to)?];
            let halves = halves.map(|half| half.insert_axis(1));
            return self.inner.dispatch.joining(&halves).join(1, &halves);
        }
        let (lower, upper) = (array.slice_axis(0, 0, n / 2, 2), array.slice_axis(0, 1, n / 2, 2));
        self.paired((&lower).into(), (&upper).into(), to)
    }
}

/// Like `reinterpreted`, for elements in host memory: few are copied, many shared. `None` where they are to be
/// computed.
fn in_memory(array: &Array, to: DType) -> Option<Array> {
    let (have, want, n) = (array.dtype().size(), to.size(), array.size());
    // Other bits than those of 0 and 1 are no bool.
    if to == DType::Bool || !array.is_contiguous() {
        return None;
    }
    let shape: Shape = match have > want {
        true => smallvec![n, have / want],
        false => smallvec![n * have / want],
    };
    let start = usize::try_from(array.offset()).ok()? * have;
    match array.current().held() {
        Contents::Own(own) => {
            let bytes = own.bytes().get(start..start + n * have)?;
            Array::own(to, &shape, Origin::Eager, bytes)
        }
        Contents::Value(value) if start == 0 => {
            let state = value.state();
            let host = state.host.clone().filter(|_| state.on_host.covers(0..n))?;
            Some(Array::from_value(Value::in_memory(to, shape, Origin::Given, 0, host)))
        }
        Contents::Value(_) | Contents::Nothing => None,
    }
}

impl ReinterpretedElements {
    fn follow_since(&self, version: u64, dtype: DType, current: &mut Current) {
        if self.seen.swap(version, Ordering::Relaxed) != version {
            let made = self.context.reinterpreted(&self.whole, dtype);
            match made.and_then(Array::into_held) {
                Ok(held) => current.replace(held),
                Err(error) => {
                    // Where the whole was not disposed of, it may succeed the next time.
                    self.seen.store(NEVER, Ordering::Relaxed);
                    current.lose(error);
                }
            }
        }
    }

    fn pass(&self, current: &mut Current) -> Result<bool> {
        let value = current.value()?;
        let len = value.len();
        let shown = Array::with_view(value, View::contiguous(&[len]));
        let written = self.context.reinterpreted(&shown, self.whole.dtype())?;
        let written = written.reshape(self.whole.shape()).unwrap_or(written);
        let passed = self.context.put_value(&self.whole, &written)?;
        self.seen.store(self.whole.version(), Ordering::Relaxed);
        Ok(passed)
    }
}

impl DtypeView for ReinterpretedElements {
    fn follow(&self, dtype: DType, current: &mut Current) {
        self.follow_since(self.whole.version(), dtype, current);
    }

    fn follow_now(&self, dtype: DType, current: &mut Current) -> Option<()> {
        let version = self.whole.current_now()?.seen();
        self.follow_since(version, dtype, current);
        Some(())
    }

    fn pass_on(&self, current: &mut Current) -> Result<bool> {
        let passed = self.pass(current);
        if !matches!(passed, Ok(true)) {
            // The dtype view shows what the whole has, once it is looked at again.
            self.seen.store(NEVER, Ordering::Relaxed);
        }
        passed
    }

    fn through(&self, dest: &Array, source: ArrayOrScalar<'_>) -> Result<Option<(Array, Array)>> {
        let (whole, view) = (&self.whole, dest.layout());
        let (have, want) = (whole.dtype().size(), dest.dtype().size());
        if have == want {
            let target = whole.within(&view.shape, &view.strides, view.offset)?;
            let op = between(dest.dtype(), whole.dtype());
            return Ok(Some((target, self.context.made(op, &[source], whole.dtype())?)));
        }
        let mut steps = view.strides.iter().zip(&view.shape).filter(|(_, extent)| **extent > 1);
        if have < want || steps.any(|(stride, _)| stride % 2 != 0) {
            return Ok(None);
        }
        // One half of each element is written, and the other one stays.
        let strides: SmallVec<[isize; 4]> = view.strides.iter().map(|stride| stride / 2).collect();
        let target = whole.within(&view.shape, &strides, view.offset.div_euclid(2))?;
        let is_upper = view.offset % 2 != 0;
        let other = self.context.half(&target, !is_upper, dest.dtype())?;
        let (lower, upper) =
            if is_upper { ((&other).into(), source) } else { (source, (&other).into()) };
        let written = self.context.paired(lower, upper, whole.dtype())?;
        Ok(Some((target, written)))
    }

    fn whole(&self) -> &Array {
        &self.whole
    }
}
