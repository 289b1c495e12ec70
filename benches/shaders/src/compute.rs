//! The common part of compute shaders by hand in every language: the dispatches of a program, their buffers and
//! groups, and the parts of the text that two languages share.
//!
//! Owns [`Step`] and [`steps`]. Not here: the rest of the text, and the API (`webgpu.rs`, `vulkan.rs`).

use crate::work::{Scene, Work};

/// Invocations of a group.
pub const GROUP: usize = 256;

/// Fours that one invocation of a sum adds.
pub const RUN: usize = 16;

/// One dispatch. It reads the buffers that the step before wrote, or the inputs.
#[derive(Clone, Debug)]
pub struct Step {
    /// The elements of each buffer that it writes.
    pub writes: Vec<usize>,
    /// The fours of elements that it is about: of a sum those that it reads, otherwise those that it
    /// writes.
    pub fours: usize,
    /// Groups; at most 65535 on one axis.
    pub groups: [u32; 3],
}

impl Step {
    fn new(writes: Vec<usize>, fours: usize, each: usize) -> Step {
        let groups = fours.div_ceil(GROUP * each) as u32;
        let row = groups.min(1 << 12);
        Step { writes, fours, groups: [row, groups.div_ceil(row), 1] }
    }
}

/// The dispatches of a program on so many elements each way, at least 256.
pub fn steps(work: Work, side: usize) -> Vec<Step> {
    let len = side * side;
    match work {
        Work::Sphere => vec![Step::new(vec![len; 3], len / 4, 1)],
        Work::DistanceMap | Work::Scaled | Work::EscapeTimes => {
            vec![Step::new(vec![len], len / 4, 1)]
        }
        Work::Sum => {
            let parts = len / (GROUP * RUN * 4);
            vec![Step::new(vec![parts], len / 4, RUN), Step::new(vec![1], parts / 4, RUN)]
        }
    }
}

/// The sphere from `dx`, a number, and `dy`, four of them, to `lit` and `discriminant`; `four` declares
/// four numbers.
pub fn lighting(side: usize, four: &str) -> String {
    let [radius, _, z, toward, constant] = Scene::of(side).numbers();
    let (square, apart, ahead) = (z * z, 4.0 * constant, toward * toward);
    let back = -toward;
    format!(
        "    {four} a = dx * dx + {square:?} + dy * dy;
    {four} discriminant = {ahead:?} - {apart:?} * a;
    {four} t = ({back:?} - sqrt(discriminant)) / (2.0 * a);
    {four} lit = t * dy / {radius:?} - t * dx / {radius:?} + ({z:?} - t * {z:?}) / {radius:?};
"
    )
}
