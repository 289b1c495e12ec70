//! Axis coalescing: iteration spaces are reduced to as few axes as their accesses allow.
//!
//! Owns `AffineWalk` and `coalesce_axes`. Invariants: a space keeps at least one axis; coalescing changes neither
//! the order of the points nor the elements that a walk visits.
//!
//! Not here: the blocks or textures that walks address (`fragment/`, `compute/`).

use gpupy_core::driver::Access;

/// An affine walk: element `offset + Σ strides[k] · i[k]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AffineWalk {
    pub offset: i64,
    pub strides: Vec<i64>,
}

impl AffineWalk {
    /// The walk of an access over a launch of `rank` axes.
    pub fn of(access: &Access, rank: usize) -> AffineWalk {
        let strides = (0..rank).map(|k| access.strides.get(k).copied().unwrap_or(0)).collect();
        AffineWalk { offset: access.offset, strides }
    }

    /// True when the walk visits consecutive elements in C order.
    pub fn is_contiguous(&self, shape: &[i64]) -> bool {
        let mut next = 1;
        shape.iter().zip(&self.strides).rev().all(|(n, stride)| {
            let fits = *n == 1 || *stride == next;
            next *= n;
            fits
        })
    }

    /// True when steps along all axes but these go by whole vectors of four: what lies along these is then as far from
    /// an aligned vector everywhere.
    pub fn is_even_beside(&self, shape: &[i64], axes: &[usize]) -> bool {
        let steps = self.strides.iter().zip(shape).enumerate();
        let mut others = steps.filter(|(axis, _)| !axes.contains(axis));
        others.all(|(_, (stride, n))| *n == 1 || stride % 4 == 0)
    }

    /// That of rows along the last axis.
    pub fn has_even_rows(&self, shape: &[i64]) -> bool {
        self.is_even_beside(shape, &[shape.len().saturating_sub(1)])
    }

    /// True when the walk stays at one element.
    pub fn is_uniform(&self, shape: &[i64]) -> bool {
        shape.iter().zip(&self.strides).all(|(n, stride)| *n == 1 || *stride == 0)
    }
}

/// Merges adjacent axes of `shape` where every walk allows it. The last `fixed` axes are not merged.
pub(crate) fn coalesce_axes(shape: &mut Vec<i64>, fixed: usize, walks: &mut [&mut AffineWalk]) {
    // Axes of length one are dropped.
    for k in (0..shape.len() - fixed).rev() {
        if shape[k] == 1 && shape.len() > 1 {
            remove(shape, walks, k);
        }
    }
    let mut k = shape.len().saturating_sub(fixed + 1);
    while k > 0 {
        let n = shape[k];
        if walks.iter().all(|w| w.strides[k - 1] == w.strides[k] * n) {
            shape[k] = shape[k - 1] * n;
            remove(shape, walks, k - 1);
        }
        k -= 1;
    }
}

fn remove(shape: &mut Vec<i64>, walks: &mut [&mut AffineWalk], k: usize) {
    shape.remove(k);
    for walk in walks {
        walk.strides.remove(k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_what_every_walk_allows() {
        let mut dest = AffineWalk { offset: 0, strides: vec![60, 20, 5, 1] };
        let mut rows = AffineWalk { offset: 3, strides: vec![0, 0, 5, 1] };
        let mut shape = vec![1, 3, 4, 5];
        coalesce_axes(&mut shape, 0, &mut [&mut dest, &mut rows]);
        assert_eq!(shape, [3, 20]);
        assert_eq!((dest.strides, rows.strides), (vec![20, 1], vec![0, 1]));
    }

    #[test]
    fn a_single_point_keeps_an_axis() {
        let mut walk = AffineWalk { offset: 7, strides: vec![2, 9] };
        let mut shape = vec![1, 1];
        coalesce_axes(&mut shape, 0, &mut [&mut walk]);
        assert_eq!((shape.len(), walk.strides.len()), (1, 1));
    }
}
