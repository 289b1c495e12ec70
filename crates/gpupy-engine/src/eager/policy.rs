//! The eager policy: when work is computed now. The dispatch (`eager_dispatch.rs`) asks once for each operation.
//!
//! An operation is computed now where all of this holds:
//!
//! 1. The placement lets work go to the host driver, and there is one
//!    ([`EagerDispatch::by`](super::eager_dispatch::EagerDispatch::by)).
//! 2. It is little work: recording, planning and launching it would take longer ([`WorkSize::is_little`]).
//! 3. All elements of its operands are in host memory, and no other thread has locked their bases ([`BorrowGuard`]).
//! 4. It does not continue a chain of operations on many elements, which are better fused into one kernel, and stands
//!    in no program that recorded such a chain since it read something: what each turn of a loop computes from the same
//!    array belongs to its kernel ([`is_chain`]).
//! 5. The engine is free, and its host driver is open and does the operation in one launch (`eager_evaluator.rs`).
//!
//! Everything else is recorded. An operation that only moves elements needs no driver, so that 4 and 5 do not apply to
//! it.
//!
//! Not here: which parts of a larger base count as little (`graph/value/residence.rs`), when a base is promoted to host
//! memory (`context/host_promotion.rs`).

use crate::array::base::{ArrayOrScalar, checked_size};
use crate::eager::borrow::BorrowGuard;
use crate::graph::tree_lanes::Products;
use crate::thresholds::T;
use gpupy_core::routines::RoutineCall;
use gpupy_core::shape::{Shape, broadcast_shapes, size_of};
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::Deref;

/// The amount of work of an operation, by its elements and its kind.
#[derive(Clone, Copy)]
pub(crate) enum WorkSize {
    /// So many results of an operation on elements, or elements that are reduced, scanned or moved.
    Elements(usize),
    /// So many elements among which extremes are looked for.
    Searched(usize),
    /// So many elements into which a mask writes, or that are moved to, or in rows from, where index arrays say.
    Masked(usize),
    /// So many numbers of the index arrays of several axes, once they are broadcast.
    Picked(usize),
    /// So many elements of rows that are sorted.
    Sorted(usize),
    /// So many products of a matrix product, or operations of a routine.
    Products(usize),
    /// So many elements of so many parts, one behind the other.
    Joined(usize, usize),
}

impl WorkSize {
    /// The work of so many results of a routine: its operations, as those of a product.
    pub fn of_routine(call: &RoutineCall, results: usize) -> WorkSize {
        WorkSize::Products((call.cost(results) as usize).max(1))
    }

    /// Whether recording it would take longer than computing it; false where there is nothing to compute.
    #[inline(always)]
    pub fn is_little(self) -> bool {
        let (points, most) = match self {
            WorkSize::Elements(points) => (points, T.most_points),
            WorkSize::Searched(points) => (points, T.most_searched),
            WorkSize::Masked(points) => (points, T.most_masked),
            WorkSize::Picked(points) => (points, T.most_picked),
            WorkSize::Sorted(points) => (points, T.most_sorted),
            WorkSize::Products(points) => (points, T.most_products),
            // A join of more parts than a tile has boxes would be computed before it is read.
            WorkSize::Joined(points, parts) if parts > T.most_boxes => {
                (points, T.most_points.max(parts.saturating_mul(T.joined_part)))
            }
            WorkSize::Joined(points, _) => (points, T.most_points),
        };
        (1..=most).contains(&points)
    }
}

thread_local! {
    /// Whether this thread recorded a chain, and evaluated nothing since.
    static RECORDS: Cell<bool> = const { Cell::new(false) };
}

/// Whether an operation with so many results goes on with a chain of this length, or stands beside one, that is better
/// recorded from here on.
#[inline(always)]
pub(crate) fn is_chain(depth: u32, results: &[usize]) -> bool {
    let points = size_of(results);
    if points < T.chained_elements {
        return false;
    }
    if (depth as usize).saturating_mul(points) >= T.chain_points {
        RECORDS.set(true);
    }
    RECORDS.get()
}

/// This thread evaluates something that its program wants.
pub(crate) fn is_read() {
    RECORDS.set(false);
}

/// Whether operands of an operation with results of this shape are there, and it goes on with no chain.
pub(crate) fn are_there(args: &[ArrayOrScalar<'_>], results: &[usize]) -> bool {
    BorrowGuard::of(args).is_some_and(|guard| !is_chain(guard.depth, results))
}

/// The shape to which operands broadcast.
pub(crate) enum Joint<'a> {
    /// All that are arrays have it.
    Same(&'a [usize]),
    Broadcast(Shape),
}

impl Deref for Joint<'_> {
    type Target = [usize];

    #[inline]
    fn deref(&self) -> &[usize] {
        match self {
            Joint::Same(shape) => shape,
            Joint::Broadcast(shape) => shape,
        }
    }
}

/// The shape of the results of a scalar operation or a function, where they are little work; `None` also where no
/// operand is an array, or they do not broadcast.
#[inline(always)]
pub(crate) fn little<'a>(args: &[ArrayOrScalar<'a>]) -> Option<Joint<'a>> {
    let shape = joint(args)?;
    // A filter would move the shape.
    if WorkSize::Elements(size_of(&shape)).is_little() { Some(shape) } else { None }
}

/// The shape that operands have together; `None` where none is an array, or they do not broadcast.
#[inline(always)]
fn joint<'a>(args: &[ArrayOrScalar<'a>]) -> Option<Joint<'a>> {
    // The common cases.
    match args {
        [ArrayOrScalar::Array(a)]
        | [ArrayOrScalar::Array(a), ArrayOrScalar::Scalar(_)]
        | [ArrayOrScalar::Scalar(_), ArrayOrScalar::Array(a)] => {
            return Some(Joint::Same(a.shape()));
        }
        [ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)] if a.shape() == b.shape() => {
            return Some(Joint::Same(a.shape()));
        }
        [ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)] if b.ndim() == 0 => {
            return Some(Joint::Broadcast(a.shape().into()));
        }
        _ => {}
    }
    let mut shapes = args.iter().filter_map(|arg| match arg {
        ArrayOrScalar::Array(array) => Some(array.shape()),
        ArrayOrScalar::Scalar(_) => None,
    });
    let first = shapes.next()?;
    Some(match shapes.clone().all(|shape| shape == first) {
        true => Joint::Same(first),
        false => {
            Joint::Broadcast(broadcast(&[first].into_iter().chain(shapes).collect::<Shapes>())?)
        }
    })
}

/// The shapes of operands.
type Shapes<'a> = SmallVec<[&'a [usize]; 3]>;

/// The shape to which shapes broadcast, if they do.
#[cold]
fn broadcast(shapes: &[&[usize]]) -> Option<Shape> {
    let shape = broadcast_shapes(shapes).ok()?;
    checked_size(&shape).ok().map(|_| shape)
}

/// The extents of a product of stacks of matrices. A vector is a row on the left and a column on the right.
pub(crate) struct ProductExtents {
    /// The extents to which the operands' stacks broadcast.
    pub stack: Shape,
    pub rows: usize,
    pub columns: usize,
    /// The number of products whose sum is an element.
    pub terms: usize,
}

impl ProductExtents {
    /// Those of operands of these shapes; `None` where they do not fit, or one has no axes.
    pub fn of(left: &[usize], right: &[usize]) -> Option<ProductExtents> {
        let (left_stack, rows, terms) = match left {
            [stack @ .., rows, terms] => (stack, *rows, *terms),
            [terms] => (&[][..], 1, *terms),
            [] => return None,
        };
        let (right_stack, same, columns) = match right {
            [stack @ .., same, columns] => (stack, *same, *columns),
            [same] => (&[][..], *same, 1),
            [] => return None,
        };
        let stack = match (left_stack, right_stack) {
            ([], []) => Shape::new(),
            stacks => broadcast_shapes(&[stacks.0, stacks.1]).ok()?,
        };
        (same == terms).then_some(ProductExtents { stack, rows, columns, terms })
    }

    /// The number of products.
    pub fn work(&self) -> WorkSize {
        let ProductExtents { stack, rows, columns, terms } = self;
        let all = stack.iter().chain([rows, columns, terms]);
        WorkSize::Products(all.fold(1, |all, extent| all.saturating_mul(*extent)))
    }

    /// Whether a tile of a library's would compute few elements of a matrix, and nothing besides.
    pub fn have_few_results(&self) -> bool {
        self.rows.min(self.columns) == 1 || self.rows.saturating_mul(self.columns) <= T.few_results
    }

    /// Whether the elements are sums like others, and not a library's ([`Products::are_few`], [`Products::are_dots`]).
    pub fn are_sums(&self) -> bool {
        if self.stack.is_empty() {
            return false;
        }
        let mut shape = self.stack.clone();
        shape.extend([self.rows, self.columns]);
        Products::are_few(&shape, self.terms) || Products::are_dots(&shape, self.terms)
    }

    /// The shape of the product of operands of so many axes: a vector has no axis in it.
    pub fn results(&self, left: usize, right: usize) -> Shape {
        let mut shape = self.stack.clone();
        shape.extend((left > 1).then_some(self.rows));
        shape.extend((right > 1).then_some(self.columns));
        shape
    }
}
