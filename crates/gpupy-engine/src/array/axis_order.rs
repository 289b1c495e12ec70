//! Memory order of results: NumPy's order `K`, as close to that of the operands as possible.
//!
//! Owns [`AxisOrder`]. If the axes of the operands can be moved so that all lie in C order, the operation is done on
//! the moved operands, and the axes of the result are moved back: the result then lies in memory as the operands do.
//! Elementwise operations do not depend on the order of axes; others are told which of the moved axes is theirs.
//! Invariant: elements are the same in any order; reduced axes keep their order, in which the tree of `docs/ir.md`
//! combines them.
//!
//! Not here: the operations (`recorder.rs`, `eager_evaluator.rs` and its neighbours), which always give results in C
//! order.

use crate::array::base::{Array, ArrayOrScalar};
use crate::memory::view::View;
use gpupy_core::shape::broadcast_shapes;
use smallvec::SmallVec;
use std::cmp::Reverse;

/// Axes by their numbers.
type AxisNumbers = SmallVec<[usize; 4]>;

/// Axes from the outermost in memory to the innermost, where that is not C order.
struct AxisOrder(AxisNumbers);

/// Which axes tell where they lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AxisRole {
    /// Those with a step.
    Any,
    /// Those without one as well: innermost.
    OrNone,
}

/// The result of an elementwise operation, with its memory order as close to that of the operands as possible.
#[inline]
pub(crate) fn kept<E>(
    args: &[ArrayOrScalar<'_>],
    compute: impl FnOnce(&[ArrayOrScalar<'_>]) -> Result<Array, E>,
) -> Result<Array, E> {
    let in_c_order = |arg: &ArrayOrScalar<'_>| match arg {
        ArrayOrScalar::Array(array) => falls(array.strides()) || array.is_contiguous(),
        ArrayOrScalar::Scalar(_) => true,
    };
    if args.iter().all(in_c_order) {
        return compute(args);
    }
    match AxisOrder::of(args) {
        None => compute(args),
        Some(order) => {
            let moved: SmallVec<[Option<Array>; 3]> =
                args.iter().map(|arg| order.moved(arg)).collect();
            let moved = args.iter().zip(&moved);
            let moved = moved.map(|(arg, moved)| moved.as_ref().map_or(*arg, ArrayOrScalar::Array));
            let moved: SmallVec<[ArrayOrScalar<'_>; 3]> = moved.collect();
            compute(&moved).map(|result| order.back(&result))
        }
    }
}

/// Whether no axis lies further out than one before it.
#[inline]
fn falls(strides: &[isize]) -> bool {
    strides.windows(2).all(|pair| pair[0].unsigned_abs() >= pair[1].unsigned_abs())
}

/// A copy of an array, with its axes from the longest stride to the shortest. This is NumPy's `K` for copies and casts,
/// where axes without a stride lie innermost; for operations they may lie anywhere.
pub(crate) fn kept_by_strides<E>(
    array: &Array,
    compute: impl FnOnce(&Array) -> Result<Array, E>,
) -> Result<Array, E> {
    if falls(array.strides()) || array.is_contiguous() {
        return compute(array);
    }
    let (view, back) = descending(array.layout());
    compute(&array.seen_as(view)).map(|result| result.transpose(&back))
}

/// The result of an operation along an axis, for arrays of one rank that agree in their other extents. Axes without a
/// step lie innermost where the result is made as copies are, and anywhere otherwise.
pub(crate) fn kept_along<E>(
    arrays: &[Array],
    axis: usize,
    steps: AxisRole,
    compute: impl FnOnce(&[Array], usize) -> Result<Array, E>,
) -> Result<Array, E> {
    let rank = arrays.first().map_or(0, Array::ndim);
    let is_one_rank = axis < rank && arrays.iter().all(|array| array.ndim() == rank);
    if !is_one_rank || arrays.iter().all(Array::is_contiguous) {
        return compute(arrays, axis);
    }
    match AxisOrder::of_arrays(&arrays.iter().collect::<SmallVec<[&Array; 3]>>(), rank, steps) {
        None => compute(arrays, axis),
        Some(order) => {
            let moved: SmallVec<[Array; 3]> =
                arrays.iter().map(|array| array.transpose(&order.0)).collect();
            let there = order.0.iter().position(|from| *from == axis).unwrap_or(axis);
            compute(&moved, there).map(|result| order.back(&result))
        }
    }
}

/// The result of a reduction over the axes `gone`, which stay with one element, or not.
pub(crate) fn kept_but<E>(
    array: &Array,
    gone: &[usize],
    keepdims: bool,
    compute: impl FnOnce(&Array, &[usize]) -> Result<Array, E>,
) -> Result<Array, E> {
    let rank = array.ndim();
    let order = match rank < gone.len() + 2 || array.is_contiguous() {
        true => None,
        false => AxisOrder::of_arrays(&[array], rank, AxisRole::Any),
    };
    let Some(AxisOrder(all)) = order else { return compute(array, gone) };
    let kept: AxisNumbers = all.into_iter().filter(|axis| !gone.contains(axis)).collect();
    if kept.is_sorted() {
        return compute(array, gone);
    }
    let behind = (0..rank).filter(|axis| gone.contains(axis));
    let there: AxisNumbers = kept.iter().copied().chain(behind).collect();
    let last: AxisNumbers = (kept.len()..rank).collect();
    let result = compute(&array.transpose(&there), &last)?;
    let place = |axis: &usize| kept.iter().filter(|other| *other < axis).count();
    let axes = if keepdims { there } else { kept.iter().map(place).collect() };
    Ok(AxisOrder(axes).back(&result))
}

/// A view with its axes from the longest stride to the shortest, and the order that puts them back.
pub(crate) fn descending(view: &View) -> (View, AxisNumbers) {
    let mut axes: AxisNumbers = (0..view.shape.len()).collect();
    axes.sort_by_key(|axis| Reverse(view.strides[*axis].unsigned_abs()));
    (view.transpose(&axes), inverse(&axes))
}

/// The order of axes that undoes another.
fn inverse(axes: &[usize]) -> AxisNumbers {
    let mut back: AxisNumbers = SmallVec::from_elem(0, axes.len());
    axes.iter().enumerate().for_each(|(to, from)| back[*from] = to);
    back
}

impl AxisOrder {
    /// The order of the results of operands; `None` where that is C order, or they do not broadcast.
    fn of(args: &[ArrayOrScalar<'_>]) -> Option<AxisOrder> {
        let arrays = args.iter().filter_map(|arg| match arg {
            ArrayOrScalar::Array(array) => Some(*array),
            ArrayOrScalar::Scalar(_) => None,
        });
        let arrays: SmallVec<[&Array; 3]> = arrays.collect();
        let shapes: SmallVec<[&[usize]; 3]> = arrays.iter().map(|array| array.shape()).collect();
        let rank = broadcast_shapes(&shapes).ok()?.len();
        AxisOrder::of_arrays(&arrays, rank, AxisRole::Any)
    }

    /// The order of results with `rank` axes; `None` where that is C order.
    fn of_arrays(arrays: &[&Array], rank: usize, steps: AxisRole) -> Option<AxisOrder> {
        if steps == AxisRole::OrNone {
            return AxisOrder::of_copies(arrays, rank);
        }
        // As NumPy's iterator sorts axes: from the innermost out, each as far in as nothing speaks
        // against it.
        let mut axes: AxisNumbers = (0..rank).rev().collect();
        for k in 1..rank {
            let mut to = k;
            for at in (0..k).rev() {
                match goes_inside(arrays, rank, axes[k], axes[at]) {
                    Some(true) => to = at,
                    Some(false) => break,
                    None => {}
                }
            }
            axes[to..=k].rotate_right(1);
        }
        axes.reverse();
        (!axes.is_sorted()).then_some(AxisOrder(axes))
    }

    /// Like `of`, for results that are made as copies are, of arrays of that rank: each axis, from the outermost in,
    /// lies as far out as the strides allow; axes without a stride lie innermost.
    fn of_copies(arrays: &[&Array], rank: usize) -> Option<AxisOrder> {
        let goes_outside = |axis: usize, other: usize| {
            let mut outside = None;
            for array in arrays.iter().filter(|it| it.shape()[axis] != 1 && it.shape()[other] != 1)
            {
                let stride = |axis: usize| array.strides()[axis].unsigned_abs();
                outside = Some(stride(axis) > stride(other) && outside != Some(false));
            }
            outside
        };
        let mut axes: AxisNumbers = (0..rank).collect();
        for k in 1..rank {
            let mut to = k;
            for at in (0..k).rev() {
                match goes_outside(axes[k], axes[at]) {
                    Some(true) => to = at,
                    Some(false) => break,
                    None => {}
                }
            }
            axes[to..=k].rotate_right(1);
        }
        (!axes.is_sorted()).then_some(AxisOrder(axes))
    }

    /// An array with its axes moved to this order, outermost first; `None` for a scalar.
    fn moved(&self, arg: &ArrayOrScalar<'_>) -> Option<Array> {
        let ArrayOrScalar::Array(array) = arg else { return None };
        let mut whole = (*array).clone();
        while whole.ndim() < self.0.len() {
            whole = whole.insert_axis(0);
        }
        Some(whole.transpose(&self.0))
    }

    /// A result with its axes where they were.
    fn back(&self, result: &Array) -> Array {
        result.transpose(&inverse(&self.0))
    }
}

/// Whether an axis lies further in than another, by its strides; `None` where they do not tell. Where
/// operands disagree, it does not.
fn goes_inside(arrays: &[&Array], rank: usize, axis: usize, other: usize) -> Option<bool> {
    let mut inside = None;
    for array in arrays {
        let stride = |axis: usize| {
            let axis = axis.checked_sub(rank - array.ndim())?;
            let stride = array.strides()[axis].unsigned_abs();
            (array.shape()[axis] != 1 && stride != 0).then_some(stride)
        };
        if let (Some(this), Some(that)) = (stride(axis), stride(other)) {
            inside = Some(this < that && inside != Some(false));
        }
    }
    inside
}
