//! Accesses: the affine walk of a kernel over a value (the thesis's BuildView, figure 4.4).
//!
//! Owns the composition of views along an expression. A kernel walks over an iteration space; for
//! every value it needs, an access tells which position of that value belongs to a point:
//! `offset + Σ strides[k] · i[k]`. Broadcasting is a stride of 0. Going through an expression to its
//! operands needs the coordinates within the expression's shape, each affine in the point again.
//!
//! Not here: which values a kernel reads (`walk/mod.rs`).

use crate::memory::tiling::Tile;
use gpupy_core::driver::Access;
use gpupy_core::ir::AccessKind;
use gpupy_core::shape::{Shape, contiguous_strides};
use smallvec::SmallVec;
use std::ops::Range;

/// The coordinates of a value, axis by axis, as functions of the point.
pub(crate) type Coordinates = SmallVec<[Access; 4]>;

/// An access with every axis of the iteration space.
pub(crate) fn access(offset: isize, strides: &[isize]) -> Access {
    Access { offset: offset as i64, strides: strides.iter().map(|s| *s as i64).collect() }
}

/// The walk over a tile of a value with these extents, by the tile's own coordinates.
pub(crate) fn of_tile(shape: &[usize], tile: &Tile) -> Access {
    access(tile.range.start as isize, &contiguous_strides(shape))
}

/// The walk over successive elements from a position on, in the order of a space.
pub(crate) fn from(position: usize, space: &[usize]) -> Access {
    access(position as isize, &contiguous_strides(space))
}

/// A space with an axis split so that the coordinates within a value of extents `shape`, which the positions of
/// `access` have, are affine along both parts; `None` where they are along all axes, or no split helps.
pub(crate) fn finer(access: &Access, space: &[usize], shape: &[usize]) -> Option<Shape> {
    let steps = contiguous_strides(shape);
    let split_of = |axis: usize| {
        let (stride, points) = (usize::try_from(access.strides[axis]).ok()?, space[axis]);
        let mut own = steps.iter().zip(shape).filter(|(_, extent)| **extent > 1);
        let (step, extent) = own.find(|(step, _)| stride % **step as usize == 0 && stride > 0)?;
        let far = stride / *step as usize;
        let within = extent / far;
        let is_split = extent.is_multiple_of(far) && within > 1 && points > within;
        (is_split && points.is_multiple_of(within)).then(|| [points / within, within])
    };
    (0..space.len()).find_map(|axis| {
        let split = split_of(axis)?;
        let (before, behind) = (&space[..axis], &space[axis + 1..]);
        Some(before.iter().chain(&split).chain(behind).copied().collect())
    })
}

/// The space of a tile's points, at least of one axis, and the walk over the tile in it.
pub(crate) fn space_of_tile(shape: &[usize], tile: &Tile) -> (Access, Shape) {
    let (mut at, mut space) = (of_tile(shape, tile), tile.shape.clone());
    if space.is_empty() {
        space.push(1);
        at.strides.push(0);
    }
    (at, space)
}

/// The lowest and highest position that an access names.
pub(crate) fn reach(access: &Access, space: &[usize]) -> Range<usize> {
    let (mut low, mut high) = (access.offset, access.offset);
    for (stride, extent) in access.strides.iter().zip(space) {
        let far = (*extent as i64 - 1) * stride;
        low += far.min(0);
        high += far.max(0);
    }
    debug_assert!(low >= 0, "views stay inside their bases");
    low as usize..high as usize + 1
}

/// The access to elements of which only the positions of this range are there.
pub(crate) fn within(access: &Access, range: &Range<usize>) -> Access {
    Access { offset: access.offset - range.start as i64, strides: access.strides.clone() }
}

/// How an access walks over a space. Axes of one point have no step, so their stride is nothing.
pub(crate) fn kind(access: &Access, space: &[usize]) -> AccessKind {
    let steps = || access.strides.iter().zip(space).filter(|(_, extent)| **extent != 1);
    if steps().all(|(stride, _)| *stride == 0) {
        return AccessKind::Uniform;
    }
    let mut step = 1i64;
    for (stride, extent) in steps().rev() {
        if *stride != step {
            return AccessKind::Affine;
        }
        step *= *extent as i64;
    }
    AccessKind::Contiguous
}

/// The coordinates within a C-ordered value of extents `shape` that the positions of `access` have,
/// or `None` when they are not affine (then the value has to be computed before it is viewed so).
///
/// Any coordinates that give the right positions and stay inside every axis are the right ones; each
/// stride is split greedily, from the first axis on.
pub(crate) fn coordinates(
    access: &Access,
    space: &[usize],
    shape: &[usize],
) -> Option<Coordinates> {
    let steps = contiguous_strides(shape);
    let none = || Access { offset: 0, strides: SmallVec::from_elem(0, space.len()) };
    let mut found: Coordinates = (0..shape.len()).map(|_| none()).collect();
    let mut rest = access.offset;
    for (axis, step) in steps.iter().enumerate() {
        found[axis].offset = rest / *step as i64;
        rest %= *step as i64;
    }
    for (k, stride) in access.strides.iter().enumerate() {
        if space[k] == 1 {
            continue;
        }
        let mut rest = *stride;
        for (axis, step) in steps.iter().enumerate() {
            if shape[axis] != 1 {
                found[axis].strides[k] = rest / *step as i64;
                rest %= *step as i64;
            }
        }
    }
    let inside = found.iter().zip(shape).all(|(coordinate, extent)| {
        let (mut low, mut high) = (coordinate.offset, coordinate.offset);
        for (stride, points) in coordinate.strides.iter().zip(space) {
            let far = (*points as i64 - 1) * stride;
            low += far.min(0);
            high += far.max(0);
        }
        low >= 0 && high < *extent as i64
    });
    inside.then_some(found)
}

/// The access to an operand that is viewed with `offset` and `strides` over an expression's shape,
/// at the coordinates of that expression.
pub(crate) fn through(
    offset: isize,
    strides: &[isize],
    coordinates: &[Access],
    rank: usize,
) -> Access {
    let mut composed = Access { offset: offset as i64, strides: SmallVec::from_elem(0, rank) };
    for (stride, coordinate) in strides.iter().zip(coordinates) {
        if *stride == 0 {
            continue;
        }
        composed.offset += *stride as i64 * coordinate.offset;
        for (total, step) in composed.strides.iter_mut().zip(&coordinate.strides) {
            *total += *stride as i64 * step;
        }
    }
    composed
}

/// The axes of the points that move a coordinate, and their steps.
pub(crate) fn moving<'a>(
    coordinate: &'a Access,
    space: &'a [usize],
) -> impl Iterator<Item = (usize, i64)> + 'a {
    let steps = coordinate.strides.iter().copied().enumerate();
    steps
        .zip(space)
        .filter(|((_, step), extent)| *step != 0 && **extent != 1)
        .map(|(moving, _)| moving)
}

/// The lowest coordinate, and the highest.
pub(crate) fn span(coordinate: &Access, space: &[usize]) -> (i64, i64) {
    moving(coordinate, space).fold(
        (coordinate.offset, coordinate.offset),
        |(low, high), (axis, step)| {
            let far = (space[axis] as i64 - 1) * step;
            (low + far.min(0), high + far.max(0))
        },
    )
}

/// Whether no coordinates are any of the others, of the same value: along one of its axes they are apart, or between
/// each other.
pub(crate) fn are_apart(
    (points, space): (&Coordinates, &[usize]),
    (others, extents): (&Coordinates, &[usize]),
) -> bool {
    points.iter().zip(others).any(|(point, other)| {
        let (own, theirs) = (span(point, space), span(other, extents));
        let steps = moving(point, space).chain(moving(other, extents));
        let step = steps.fold(0, |step, (_, next)| gcd(step, next.unsigned_abs()));
        let gap = point.offset.abs_diff(other.offset);
        own.1 < theirs.0 || theirs.1 < own.0 || step > 0 && gap % step != 0
    })
}

/// The greatest common divisor; of 0 and a number, the number.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::view::View;
    use gpupy_core::shape::size_of;
    use proptest::prelude::*;

    fn points(space: &[usize]) -> impl Iterator<Item = Vec<i64>> + '_ {
        (0..size_of(space)).map(move |mut n| {
            let mut point = vec![0; space.len()];
            for (p, extent) in point.iter_mut().zip(space).rev() {
                *p = (n % extent) as i64;
                n /= extent;
            }
            point
        })
    }

    fn at(access: &Access, point: &[i64]) -> i64 {
        access.offset + access.strides.iter().zip(point).map(|(s, i)| s * i).sum::<i64>()
    }

    proptest! {
        #[test]
        fn what_is_apart_has_no_position_in_common(
            shape in prop::collection::vec(1usize..7, 1..3),
            ends in prop::collection::vec((0usize..7, 0usize..7, 1usize..4, any::<bool>()), 4),
        ) {
            let view = |ends: &[(usize, usize, usize, bool)]| {
                let axes = ends.iter().zip(&shape).enumerate();
                axes.fold(View::contiguous(&shape), |view, (axis, ((start, len, step, turns), extent))| {
                    let start = start % extent;
                    let room = if *turns { start } else { extent - 1 - start };
                    let len = 1 + len % (room / step + 1);
                    let step = if *turns { -(*step as isize) } else { *step as isize };
                    view.slice_axis(axis, start, len, step)
                })
            };
            let found = |view: &View| {
                coordinates(&access(view.offset, &view.strides), &view.shape, &shape).unwrap()
            };
            let (one, other) = (view(&ends[..2]), view(&ends[2..]));
            let positions = |view: &View| -> Vec<i64> {
                let walk = access(view.offset, &view.strides);
                points(&view.shape).map(|point| at(&walk, &point)).collect()
            };
            let theirs = positions(&other);
            let meet = positions(&one).iter().any(|own| theirs.contains(own));
            let (a, b) = (found(&one), found(&other));
            prop_assert!(!(are_apart((&a, &one.shape), (&b, &other.shape)) && meet));
        }

        #[test]
        fn coordinates_are_the_positions_taken_apart(
            shape in prop::collection::vec(1usize..5, 1..4),
            order in Just(vec![0usize, 1, 2]).prop_shuffle(),
            flips in prop::collection::vec(any::<bool>(), 3),
            steps in prop::collection::vec(1isize..3, 3),
        ) {
            let mut view = View::contiguous(&shape);
            for axis in 0..shape.len() {
                let len = shape[axis].div_ceil(steps[axis] as usize);
                view = if flips[axis] {
                    view.slice_axis(axis, shape[axis] - 1, len, -steps[axis])
                } else {
                    view.slice_axis(axis, 0, len, steps[axis])
                };
            }
            let order: Vec<usize> = order.into_iter().filter(|a| *a < shape.len()).collect();
            let view = view.transpose(&order);
            let walk = access(view.offset, &view.strides);
            let found = coordinates(&walk, &view.shape, &shape).unwrap();
            for point in points(&view.shape) {
                let mut position = 0;
                for (coordinate, extent) in found.iter().zip(&shape) {
                    let c = at(coordinate, &point);
                    prop_assert!(c >= 0 && c < *extent as i64);
                    position = position * *extent as i64 + c;
                }
                prop_assert_eq!(position, at(&walk, &point));
            }
        }
    }

    #[test]
    fn a_space_is_split_where_an_axis_of_the_value_ends() {
        let split = |strides: &[isize], space: &[usize], shape: &[usize]| {
            finer(&access(0, strides), space, shape).map(|space| space.to_vec())
        };
        assert_eq!(split(&[35, 1], &[6, 35], &[6, 5, 7]), Some(vec![6, 5, 7]));
        assert_eq!(split(&[35, 1], &[6, 35], &[2, 3, 35]), Some(vec![2, 3, 35]));
        assert_eq!(split(&[35, 1, 0], &[6, 35, 4], &[2, 1, 3, 35]), Some(vec![2, 3, 35, 4]));
        assert_eq!(split(&[2], &[12], &[4, 6]), Some(vec![4, 3]));
        // Nothing is to be split, or no split helps.
        assert_eq!(split(&[35, 7, 1], &[6, 5, 7], &[6, 5, 7]), None);
        assert_eq!(split(&[35, 1], &[6, 35], &[6, 35]), None);
        assert_eq!(split(&[6, 1], &[4, 6], &[6, 4]), None);
        assert_eq!(split(&[1], &[10], &[2, 4]), None);
        assert_eq!(split(&[-1], &[6], &[2, 3]), None);
        // From each element to the next it leaves the axis.
        assert_eq!(split(&[100, 1], &[6, 3], &[300, 3]), None);
        assert_eq!(split(&[4, 1], &[3, 2], &[2, 3, 1, 2]), None);
    }

    #[test]
    fn merged_axes_have_no_affine_coordinates_but_split_ones_do() {
        let line = access(0, &[1]);
        assert!(coordinates(&line, &[6], &[2, 3]).is_none());
        let split = access(0, &[3, 1]);
        let found = coordinates(&split, &[2, 3], &[6]).unwrap();
        assert_eq!(found[0].strides[..], [3, 1]);
    }
}
