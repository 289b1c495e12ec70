//! The walks of a program's loads and indices in a draw, over the textures of operands.
//!
//! Owns `DrawWalks` and `LoadWalk`. Invariants: all walks of a `DrawWalks` share one iteration space. A load's walk is
//! over places, unless it is `numbered`.
//!
//! Not here: how walks become shader text (`fetch.rs`, `point_mapping.rs`).

use super::request::{DrawDeclined, DrawRequest};
use super::texture_layout::TextureLayout;
use crate::analysis::axis_coalescing::{AffineWalk, coalesce_axes};
use crate::analysis::uses::Uses;
use gpupy_core::ir::{Form, REDUCE_CHUNK};

/// True if the walk follows the launch texel by texel, so that it needs no coordinates.
pub(super) fn follows(walk: &AffineWalk, shape: &[i64]) -> bool {
    walk.is_contiguous(shape) && walk.offset % 4 == 0
}

/// A load and its walk.
#[derive(Clone, Debug)]
pub(super) struct LoadWalk {
    pub operand: u32,
    pub access: u32,
    pub walk: AffineWalk,
    /// True if the walk is over element numbers, because it is not affine over the places of a texture with padded
    /// rows.
    pub numbered: bool,
}

impl LoadWalk {
    /// True if the load follows the launch texel by texel, so that it needs no coordinates.
    pub fn follows(&self, layout: &TextureLayout, shape: &[i64]) -> bool {
        !layout.is_padded() && follows(&self.walk, shape)
    }
}

/// The walks of a launch over its coalesced space.
pub(super) struct DrawWalks {
    /// The iteration space.
    pub shape: Vec<i64>,
    /// The space of the destination.
    pub out_shape: Vec<i64>,
    /// The destination's walk, over places.
    pub dest: AffineWalk,
    pub loads: Vec<LoadWalk>,
    pub late_loads: Vec<LoadWalk>,
    pub indices: Vec<(u32, AffineWalk)>,
    pub late_indices: Vec<(u32, AffineWalk)>,
}

impl DrawWalks {
    /// The walks of a request.
    pub fn new(request: &DrawRequest<'_>, uses: &Uses) -> Result<DrawWalks, DrawDeclined> {
        let rank = request.shape.len();
        let mut shape: Vec<i64> = request.shape.iter().map(|n| *n as i64).collect();
        let mut raw: Vec<AffineWalk> =
            request.accesses.iter().map(|a| AffineWalk::of(a, rank)).collect();
        let mut dest = AffineWalk::of(request.target.access, rank);
        let reduces = request.program.form != Form::Map;
        if !reduces && let Some(row) = padded_row(request, uses, &shape) {
            split_last(&mut shape, row, raw.iter_mut().chain([&mut dest]));
        }
        let mut out_shape = shape.clone();
        if reduces && let Some(last) = out_shape.last_mut() {
            *last = (*last as usize).div_ceil(REDUCE_CHUNK) as i64;
        }
        let mut dest =
            request.target.layout.in_places(&dest, &out_shape).ok_or(DrawDeclined::Padded)?;
        let place = |list: &[(u32, u32)], shape: &[i64]| -> Vec<LoadWalk> {
            let place = |(operand, access): &(u32, u32)| {
                let (operand, access) = (*operand, *access);
                let elements = &raw[access as usize];
                let places = request.operands[operand as usize].in_places(elements, shape);
                let numbered = places.is_none();
                let walk = places.unwrap_or_else(|| elements.clone());
                LoadWalk { operand, access, walk, numbered }
            };
            list.iter().map(place).collect()
        };
        let number = |list: &[u32]| -> Vec<(u32, AffineWalk)> {
            list.iter().map(|access| (*access, raw[*access as usize].clone())).collect()
        };
        let mut loads = place(&uses.loads, &shape);
        let mut late_loads = place(&uses.late_loads, &out_shape);
        let mut indices = number(&uses.indices);
        let mut late_indices = number(&uses.late_indices);
        // Places of padded rows may nest where elements do not: 32 places two apart end where the next row of 63
        // elements starts, one place behind its end. A walk over both would be neither within rows nor over numbers.
        let is_padded = |load: &&LoadWalk| {
            !load.numbered && request.operands[load.operand as usize].is_padded()
        };
        let padded = loads.iter().chain(&late_loads).filter(is_padded);
        let mut elements: Vec<AffineWalk> =
            padded.map(|load| raw[load.access as usize].clone()).collect();
        let of_loads = loads.iter_mut().chain(&mut late_loads).map(|load| &mut load.walk);
        let of_indices = indices.iter_mut().chain(&mut late_indices).map(|(_, walk)| walk);
        let walks = of_loads.chain(of_indices).chain([&mut dest]);
        let mut all: Vec<&mut AffineWalk> = walks.chain(&mut elements).collect();
        coalesce_axes(&mut shape, usize::from(reduces), &mut all);
        let mut merged_out = shape.clone();
        if reduces && let (Some(last), Some(out)) = (merged_out.last_mut(), out_shape.last()) {
            *last = *out;
        }
        let out_shape = merged_out;
        Ok(DrawWalks { shape, out_shape, dest, loads, late_loads, indices, late_indices })
    }
}

/// The length of padded rows, if the launch's last axis is longer and a multiple of it.
fn padded_row(request: &DrawRequest<'_>, uses: &Uses, shape: &[i64]) -> Option<i64> {
    let operands = uses.loads.iter().map(|(operand, _)| &request.operands[*operand as usize]);
    let mut padded = [&request.target.layout].into_iter().chain(operands).filter(|l| l.is_padded());
    let row = i64::from(padded.next()?.row);
    let last = *shape.last()?;
    (last > row && last % row == 0).then_some(row)
}

/// Splits the last axis in two; the new last axis has `row` points.
fn split_last<'a>(shape: &mut Vec<i64>, row: i64, walks: impl Iterator<Item = &'a mut AffineWalk>) {
    let Some(last) = shape.pop() else { return };
    shape.extend([last / row, row]);
    for walk in walks {
        let stride = walk.strides.pop().unwrap_or(0);
        walk.strides.extend([stride * row, stride]);
    }
}
