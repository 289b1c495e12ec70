//! The order of results in memory: NumPy's `K`, as near to that of the operands as can be.
//!
//! Owns [`Order`]. Elementwise operations know no order of axes: operands whose axes are moved so that
//! they lie in C order give results that do, and moving the axes back gives results that lie as the
//! operands did. Invariant: elements are the same in any order.
//!
//! Not here: the operations (`record.rs`, `at_once.rs`), which always give results in C order.

use crate::array::{Arg, Array};
use crate::view::broadcast_shapes;
use smallvec::SmallVec;

/// Axes from the outermost in memory to the innermost, where that is not C order.
struct Order(SmallVec<[usize; 4]>);

/// What an elementwise operation gives for operands, with its elements in memory as near to theirs as can
/// be.
#[inline]
pub(crate) fn kept<E>(
    args: &[Arg<'_>],
    compute: impl FnOnce(&[Arg<'_>]) -> Result<Array, E>,
) -> Result<Array, E> {
    let in_c_order = |arg: &Arg<'_>| match arg {
        Arg::Array(array) => array.ndim() < 2 || array.is_contiguous(),
        Arg::Scalar(_) => true,
    };
    if args.iter().all(in_c_order) {
        return compute(args);
    }
    match Order::of(args) {
        None => compute(args),
        Some(order) => {
            let moved: SmallVec<[Option<Array>; 3]> =
                args.iter().map(|arg| order.moved(arg)).collect();
            let moved = args.iter().zip(&moved);
            let moved = moved.map(|(arg, moved)| moved.as_ref().map_or(*arg, Arg::Array));
            let moved: SmallVec<[Arg<'_>; 3]> = moved.collect();
            compute(&moved).map(|result| order.back(&result))
        }
    }
}

impl Order {
    /// The order of the results of operands; `None` where that is C order, or they do not broadcast.
    fn of(args: &[Arg<'_>]) -> Option<Order> {
        let arrays = args.iter().filter_map(|arg| match arg {
            Arg::Array(array) => Some(*array),
            Arg::Scalar(_) => None,
        });
        let arrays: SmallVec<[&Array; 3]> = arrays.collect();
        let shapes: SmallVec<[&[usize]; 3]> = arrays.iter().map(|array| array.shape()).collect();
        let rank = broadcast_shapes(&shapes).ok()?.len();
        // As NumPy's iterator sorts axes: from the innermost out, each as far in as nothing speaks
        // against it.
        let mut axes: SmallVec<[usize; 4]> = (0..rank).rev().collect();
        for k in 1..rank {
            let mut to = k;
            for at in (0..k).rev() {
                match goes_inside(&arrays, rank, axes[k], axes[at]) {
                    Some(true) => to = at,
                    Some(false) => break,
                    None => {}
                }
            }
            axes[to..=k].rotate_right(1);
        }
        axes.reverse();
        (!axes.is_sorted()).then_some(Order(axes))
    }

    /// An array with its axes so that what comes first lies outermost; `None` for a scalar.
    fn moved(&self, arg: &Arg<'_>) -> Option<Array> {
        let Arg::Array(array) = arg else { return None };
        let mut whole = (*array).clone();
        while whole.ndim() < self.0.len() {
            whole = whole.insert_axis(0);
        }
        Some(whole.transpose(&self.0))
    }

    /// A result with its axes where they were.
    fn back(&self, result: &Array) -> Array {
        let mut back: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.0.len());
        self.0.iter().enumerate().for_each(|(to, from)| back[*from] = to);
        result.transpose(&back)
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
