//! Shapes: extents and strides of arrays, blocks and launches.
//!
//! Owns [`Shape`], [`Strides`] and NumPy's rules for them. Strides are counted in elements.
//!
//! Not here: views of arrays (the engine).

use crate::error::{Error, ErrorKind, Result};
use smallvec::SmallVec;

/// The most axes of an array and of a launch: NumPy's limit.
pub const MAX_RANK: usize = 64;

/// Extents, one for each axis.
pub type Shape = SmallVec<[usize; 4]>;
/// Elements per step along each axis.
pub type Strides = SmallVec<[isize; 4]>;

/// The number of elements of a shape.
#[inline]
pub fn size_of(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// The strides of a C-contiguous array.
#[inline]
pub fn contiguous_strides(shape: &[usize]) -> Strides {
    let mut strides: Strides = SmallVec::from_elem(0, shape.len());
    let mut step = 1isize;
    for (stride, extent) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step *= *extent as isize;
    }
    strides
}

/// A shape as NumPy prints it.
pub fn shape_words(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => {
            let words: Vec<_> = shape.iter().map(ToString::to_string).collect();
            format!("({})", words.join(","))
        }
    }
}

/// Broadcasts shapes by NumPy's rule.
///
/// # Errors
/// - `Shape`: they do not broadcast; the message is NumPy's.
pub fn broadcast_shapes(shapes: &[&[usize]]) -> Result<Shape> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut out: Shape = SmallVec::from_elem(1, rank);
    for shape in shapes {
        let lead = rank - shape.len();
        for (extent, have) in out[lead..].iter_mut().zip(shape.iter()) {
            if *extent == 1 {
                *extent = *have;
            } else if *have != 1 && *have != *extent {
                let words: Vec<_> = shapes.iter().map(|s| shape_words(s)).collect();
                return Err(Error::new(ErrorKind::Shape, "broadcast").says(format!(
                    "operands could not be broadcast together with shapes {} ",
                    words.join(" ")
                )));
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_as_numpy_says() {
        let shape = broadcast_shapes(&[&[5, 1, 3], &[4, 1]]);
        assert_eq!(shape.ok().as_deref(), Some(&[5, 4, 3][..]));
        let error = broadcast_shapes(&[&[3], &[4]]).map_err(|e| e.message().to_string());
        assert_eq!(
            error,
            Err("operands could not be broadcast together with shapes (3,) (4,) ".to_string())
        );
    }
}
