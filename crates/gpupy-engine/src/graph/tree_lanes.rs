//! The lanes of the canonical reduction tree, as operands of scalar operations.
//!
//! Owns [`folded`], which combines up to [`FEW`] points so, and [`Products`], which may be the points. Invariant: the
//! order is that of `docs/ir.md`.
//!
//! Not here: which points are lanes (`record/reduction_recording.rs`, `schedule/program/single_operation.rs`), steps of
//! reductions (drivers).

use gpupy_core::DType;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::op::Op;

/// The most points that are combined by scalar operations, each read by itself: the components of vectors and colours.
/// They fuse with their operands and with readers of the result; and a million rows of three take a fifth of the time
/// that a step of a reduction takes on the driver `cpu`.
pub(crate) const FEW: usize = 4;

/// The combination of lanes, at most as many as the tree has: each of the lower half is combined with the one above it,
/// if that exists, until one is left. `None` where there are none.
///
/// # Errors
/// The first error of the combining function.
pub(crate) fn folded<T, E>(
    mut lanes: Vec<T>,
    mut combine: impl FnMut(T, T) -> Result<T, E>,
) -> Result<Option<T>, E> {
    let mut half = lanes.len().next_power_of_two() / 2;
    while half > 0 {
        let mut above = lanes.split_off(half).into_iter();
        let mut both = |lane| match above.next() {
            Some(above) => combine(lane, above),
            None => Ok(lane),
        };
        lanes = lanes.into_iter().map(&mut both).collect::<Result<_, _>>()?;
        half /= 2;
    }
    Ok(lanes.pop())
}

/// The scalar operations of a sum of products, as of rows and columns of matrices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Products {
    pub multiply: Op,
    pub add: Op,
    /// The dtype to which factors are cast before they are multiplied.
    pub wide: DType,
}

impl Products {
    /// Whether each element of a stack of matrices of this shape is the sum of so many products, the matrices being as
    /// small: a library takes longer to begin each of them. One product of matrices is the library's, which is faster
    /// at it. The answer, and so the bits, depend on nothing else.
    pub fn are_few(shape: &[usize], products: usize) -> bool {
        let [stack @ .., rows, columns] = shape else { return false };
        let is_stack = stack.iter().any(|extent| *extent > 1);
        is_stack && [*rows, *columns, products].iter().all(|extent| *extent <= FEW)
    }

    /// Whether a stack of matrices of this shape has one sum in each, of so many products: where these are no more than
    /// two chunks of the canonical tree, rows are multiplied and summed faster than a library begins each. As of few.
    pub fn are_dots(shape: &[usize], products: usize) -> bool {
        let [stack @ .., 1, 1] = shape else { return false };
        stack.iter().any(|extent| *extent > 1) && products <= 2 * REDUCE_CHUNK
    }

    /// Those of a dtype.
    pub fn of(dtype: DType) -> Products {
        let (multiply, add) = match dtype {
            DType::Bool => (Op::And, Op::Or),
            _ => (Op::Mul, Op::Add),
        };
        Products { multiply, add, wide: dtype.accumulated() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_lane_is_on_the_left_and_lanes_that_do_not_exist_are_skipped() {
        let text = |n: usize| -> Option<String> {
            let lanes = (0..n).map(|k| k.to_string()).collect();
            let combine = |a, b| Ok::<_, ()>(format!("({a} {b})"));
            folded(lanes, combine).ok().flatten()
        };
        assert_eq!(text(0), None);
        assert_eq!(text(1).as_deref(), Some("0"));
        assert_eq!(text(2).as_deref(), Some("(0 1)"));
        assert_eq!(text(3).as_deref(), Some("((0 2) 1)"));
        assert_eq!(text(4).as_deref(), Some("((0 2) (1 3))"));
        assert_eq!(text(6).as_deref(), Some("(((0 4) 2) ((1 5) 3))"));
    }

    #[test]
    fn small_matrices_of_a_stack_are_few_products_and_no_others() {
        for few in [&[2, 3, 3][..], &[5, 1, 4, 1]] {
            assert!(Products::are_few(few, 3), "{few:?}");
            assert!(!Products::are_few(few, 5), "{few:?}");
        }
        for other in [&[3, 3][..], &[1, 3, 3], &[2, 5, 3], &[2, 3, 5], &[3], &[]] {
            assert!(!Products::are_few(other, 3), "{other:?}");
        }
    }

    #[test]
    fn the_first_error_is_given() {
        let combine = |a: u32, b| if b == 2 { Err(b) } else { Ok(a + b) };
        assert_eq!(folded(vec![0, 1, 2], combine), Err(2));
    }
}
