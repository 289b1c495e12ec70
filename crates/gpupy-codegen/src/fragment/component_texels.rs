//! Texels of points whose two or three components lie beside each other.
//!
//! Four points with three components fill three texels: the first has all of point 0 and a component of point 1, and
//! so on. Which texel of these it is tells a fragment which points it has, without a division for each element, and a
//! texel of an array that has one element for each point serves all three. Owns `ComponentTexels`. Invariant: points
//! begin at a texel of the destination, and there are a multiple of four of them in a row.
//!
//! Not here: four components, each point a texel of its own, as any other row of four; other launches
//! (`point_mapping.rs`).

use crate::analysis::axis_coalescing::AffineWalk;
use crate::dialect::COMPONENTS;

/// The two axes of points and components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ComponentTexels {
    /// The axis of points.
    pub points: u8,
    /// That of components, the last one.
    pub components: u8,
    /// The number of components, and of texels that four points fill.
    pub count: u8,
}

impl ComponentTexels {
    /// Those of a destination's walk over a space.
    pub fn of(shape: &[i64], dest: &AffineWalk) -> Option<ComponentTexels> {
        let ([.., points, count], [.., step, along]) = (shape, &dest.strides[..]) else {
            return None;
        };
        let is_suitable = matches!(count, 2 | 3)
            && (step, *along) == (count, 1)
            && points % 4 == 0
            && dest.offset % 4 == 0
            && dest.is_even_beside(shape, &[shape.len() - 2, shape.len() - 1]);
        let last = shape.len() as u8 - 1;
        is_suitable.then_some(ComponentTexels {
            points: last - 1,
            components: last,
            count: *count as u8,
        })
    }

    /// Whether the coordinate of an axis comes from the texel's number.
    pub fn has(self, axis: u8) -> bool {
        axis == self.points || axis == self.components
    }

    /// For each texel of four points, the points of its elements.
    fn all_points(self) -> Vec<[u8; 4]> {
        let of = |texel: u8| [0, 1, 2, 3].map(|element| (4 * texel + element) / self.count);
        (0..self.count).map(of).collect()
    }

    /// Chooses by the texel's number `part`.
    fn chosen(self, of: impl Fn([u8; 4]) -> String) -> String {
        let all: Vec<String> = self.all_points().into_iter().map(of).collect();
        match &all[..] {
            [first, second] => format!("part == 0 ? {first} : {second}"),
            [first, second, third] => {
                format!("part == 0 ? {first} : (part == 1 ? {second} : {third})")
            }
            _ => String::new(),
        }
    }

    /// The statements that declare both coordinates, given the number of the texel among those of the axes.
    pub fn coordinates(self, texel: &str, first: &str) -> Vec<String> {
        let (points, components, count) = (self.points, self.components, self.count);
        let lanes = self.chosen(|[x, y, z, w]| format!("ivec4({x}, {y}, {z}, {w})"));
        vec![
            format!("int part = {texel};"),
            format!("ivec4 ahead = {lanes};"),
            format!("ivec4 i{points} = {first} + ahead;"),
            format!("ivec4 i{components} = 4 * part + ivec4(0, 1, 2, 3) - {count} * ahead;"),
        ]
    }

    /// The function that gives each element of a fragment that of its point, in a texel with one for each of the four.
    pub fn definitions(self) -> String {
        let swizzle = |points: [u8; 4]| -> String {
            let lanes = points.map(|point| COMPONENTS[usize::from(point)]);
            format!("texel.{}", lanes.concat())
        };
        let chosen = self.chosen(swizzle);
        let of =
            |kind: &str| format!("{kind} spread({kind} texel, int part) {{ return {chosen}; }}\n");
        ["vec4", "ivec4", "uvec4"].map(of).concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_have_the_points_that_their_elements_belong_to() {
        let texels = |count| ComponentTexels { points: 0, components: 1, count };
        assert_eq!(texels(2).all_points(), [[0, 0, 1, 1], [2, 2, 3, 3]]);
        assert_eq!(texels(3).all_points(), [[0, 0, 0, 1], [1, 1, 2, 2], [2, 3, 3, 3]]);
        assert!(texels(2).definitions().contains("return part == 0 ? texel.xxyy : texel.zzww;"));
        let dest = |offset, strides: &[i64]| AffineWalk { offset, strides: strides.to_vec() };
        assert_eq!(
            ComponentTexels::of(&[5, 8, 3], &dest(12, &[60, 3, 1])),
            Some(ComponentTexels { points: 1, components: 2, count: 3 })
        );
        assert_eq!(ComponentTexels::of(&[5, 8, 3], &dest(12, &[63, 3, 1])), None);
        assert_eq!(ComponentTexels::of(&[5, 6, 3], &dest(0, &[60, 3, 1])), None);
        assert_eq!(ComponentTexels::of(&[8, 3], &dest(2, &[3, 1])), None);
        assert_eq!(ComponentTexels::of(&[8, 3], &dest(0, &[6, 2])), None);
        assert_eq!(ComponentTexels::of(&[8, 4], &dest(0, &[4, 1])), None);
    }
}
