//! Plans how a fragment finds an operand's elements for its points.
//!
//! Owns `TexelFetch` and `Wrap`. Invariant: at every valid point, a fetch reads the element of the access. At other
//! points it may read any element, or none.
//!
//! Not here: the functions that fetches call (`texel_reader.rs`), the points (`point_mapping.rs`).

use super::texture_layout::{RowColumn, TextureLayout, split};
use super::walks::LoadWalk;
use crate::analysis::kernel_arguments::{AffineIndex, ArgumentWords, Divisor};
use crate::thresholds::T;
use std::cell::{Cell, RefCell};

/// How a texel's number becomes a row and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wrap {
    /// For widths that are powers of two: the words of the mask and of the shift.
    Mask { mask: u16, shift: u16 },
    /// For other widths.
    Divide(Divisor),
    /// For padded rows: the divisor is the row's length in elements, and element numbers are divided.
    Rows(Divisor),
}

impl Wrap {
    pub fn new(words: &mut ArgumentWords, layout: &TextureLayout) -> Wrap {
        let width = i64::from(layout.width);
        if layout.is_padded() {
            Wrap::Rows(Divisor::new(words, layout.row.into()))
        } else if layout.width.is_power_of_two() {
            let shift = i64::from(layout.width.trailing_zeros());
            Wrap::Mask { mask: words.int(width - 1), shift: words.int(shift) }
        } else {
            Wrap::Divide(Divisor::new(words, width))
        }
    }
}

/// The position of an element in its texture.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum TexelPlace {
    /// The row, and the column in elements.
    Split { row: AffineIndex, col: AffineIndex },
    /// The element's number. The operand's [`Wrap`] splits it into row and column.
    Flat(AffineIndex),
    /// A distance in whole texels and rows from load number `base`, which has the same strides. So compilers see which
    /// texels the loads of a stencil share.
    Near { base: u16, texels: i8, rows: i8 },
}

/// A load that others may be positioned relative to.
pub(super) struct BaseLoad {
    pub load: u16,
    pub operand: u32,
    pub parts: RowColumn,
    /// The component of the load's first texel where it begins.
    pub lane: i64,
}

impl BaseLoad {
    /// The distance from here to another load, in texels and rows.
    fn step_to(&self, operand: u32, parts: &RowColumn, lane: i64) -> Option<(i8, i8)> {
        let alike = self.operand == operand
            && self.parts.row_strides == parts.row_strides
            && self.parts.col_strides == parts.col_strides;
        let texels = ((parts.col - lane) - (self.parts.col - self.lane)) / 4;
        let rows = parts.row - self.parts.row;
        let near = texels.abs() <= T.literal_texels && rows.abs() <= T.literal_rows;
        (alike && near).then_some((texels as i8, rows as i8))
    }
}

/// How the elements for a texel's four points lie in the operand's texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Quad {
    /// All points have the same element.
    Splat,
    /// The elements are one texel.
    Aligned,
    /// They start at this component of one texel and end in the next.
    Pair(u8),
    /// Each element is fetched separately.
    Each,
}

/// How a load finds its elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum TexelFetch {
    /// One element for all points: the words of its column, row and component.
    Uniform { x: u16, y: u16, lane: u16 },
    /// The fragment's own position, or a word of rows further.
    Same { rows: Option<u16> },
    /// The launch's texel number plus a word.
    Linear { first: u16 },
    /// Computed from the coordinates.
    Element { place: TexelPlace, quad: Quad },
}

/// The context of fetches: all that a fetch depends on besides its access.
pub(super) struct Surroundings<'a> {
    /// The space that the access walks over.
    pub shape: &'a [i64],
    /// For a launch that writes consecutive texels: the width of the destination, and its first texel.
    pub linear: Option<(u32, i64)>,
    /// The axis along which the four points of a texel lie, and its first coordinate modulo 4.
    pub quad: Option<(u8, u8)>,
    /// The base loads so far, and the number of the next load.
    pub bases: RefCell<Vec<BaseLoad>>,
    pub next: Cell<u16>,
}

/// Plans one load. Calls `wrap` if the fetch needs the operand's wrap.
pub(super) fn plan(
    words: &mut ArgumentWords,
    around: &Surroundings<'_>,
    load: &LoadWalk,
    layout: &TextureLayout,
    wrap: &mut dyn FnMut(&mut ArgumentWords),
) -> TexelFetch {
    let number = around.next.replace(around.next.get() + 1);
    let (walk, width) = (&load.walk, i64::from(layout.width));
    // A uniform walk is always one over places.
    if walk.is_uniform(around.shape) {
        let texel = walk.offset / 4;
        return TexelFetch::Uniform {
            x: words.int(texel % width),
            y: words.int(texel / width),
            lane: words.int(walk.offset % 4),
        };
    }
    if let Some((dest_width, first)) = around.linear
        && load.follows(layout, around.shape)
    {
        let ahead = walk.offset / 4 - first;
        if dest_width == layout.width && ahead % width == 0 {
            return TexelFetch::Same { rows: words.offset(ahead / width) };
        }
        let fetch = TexelFetch::Linear { first: words.int(walk.offset / 4) };
        wrap(words);
        return fetch;
    }
    let quad = around.quad.map_or(Quad::Each, |(axis, start)| {
        let aligned = walk.is_even_beside(around.shape, &[axis as usize]);
        match walk.strides[axis as usize] {
            _ if load.numbered => Quad::Each,
            0 => Quad::Splat,
            1 if aligned => match (walk.offset + i64::from(start)).rem_euclid(4) {
                0 => Quad::Aligned,
                lane => Quad::Pair(lane as u8),
            },
            _ => Quad::Each,
        }
    });
    let parts = split(walk.offset, &walk.strides, around.shape, layout.pitch());
    let parts = parts.filter(|_| !load.numbered);
    let lane = match quad {
        Quad::Aligned => Some(0),
        Quad::Pair(lane) => Some(i64::from(lane)),
        _ => None,
    };
    let mut bases = around.bases.borrow_mut();
    if let (Some(parts), Some(lane)) = (&parts, lane) {
        for base in bases.iter() {
            if let Some((texels, rows)) = base.step_to(load.operand, parts, lane) {
                let place = TexelPlace::Near { base: base.load, texels, rows };
                return TexelFetch::Element { place, quad };
            }
        }
        let parts = parts.clone();
        bases.push(BaseLoad { load: number, operand: load.operand, parts, lane });
    }
    let place = match parts {
        Some(parts) => TexelPlace::Split {
            row: AffineIndex::new(words, parts.row, &parts.row_strides, around.shape),
            col: AffineIndex::new(words, parts.col, &parts.col_strides, around.shape),
        },
        None => {
            let sum = AffineIndex::new(words, walk.offset, &walk.strides, around.shape);
            wrap(words);
            TexelPlace::Flat(sum)
        }
    };
    TexelFetch::Element { place, quad }
}
