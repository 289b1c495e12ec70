//! Shared views: views of one value that lie close together are one row of its positions, gathered once.
//!
//! A kernel that reads a value at several shifts finds all of them in the value's tile, where that is all of the value.
//! Where the value is cut, most shifts go beyond a tile, and would be gathered one by one: a stencil of six points
//! would take the memory of six tiles, and as many transfers. Invariants: a row is shorter than the views that it
//! stands for are together, and no longer than the largest block; it has no elements that no view reaches, which may be
//! pending; a view that is alone stays one, in the order in which it is read.
//!
//! Not here: which operands are views (`operand_lookup.rs`), bringing them (`execute/transfer.rs`).

use super::{BlockCache, BlockPart, Placed};
use crate::graph::value::{Value, ValueId};
use crate::memory::access;
use gpupy_core::driver::Access;
use gpupy_core::shape::{Shape, size_of};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;
use std::ops::Range;

/// Views of one value, by their places in the list of operands.
struct ViewRow {
    reach: Range<usize>,
    /// The elements of the views, one by one.
    elements: usize,
    places: Vec<usize>,
    views: usize,
}

impl BlockCache {
    /// Lets views of these operands that lie close together be one block.
    pub fn share_views(&self, operands: &mut [(&Value, Placed)]) {
        let mut views: FxHashMap<ValueId, Vec<usize>> = FxHashMap::default();
        for (number, (value, placed)) in operands.iter().enumerate() {
            // Of a value outside, no more is read than is wanted.
            if matches!(placed.part, BlockPart::View(_)) && !value.is_external() {
                views.entry(value.id()).or_default().push(number);
            }
        }
        for places in views.into_values().filter(|places| places.len() > 1) {
            for row in self.rows(operands, places) {
                for place in row.places {
                    let placed = &mut operands[place].1;
                    let BlockPart::View(view) = &placed.part else { continue };
                    let access = access::within(&view.0, &row.reach);
                    let whole = access::access(row.reach.start as isize, &[1]);
                    let part = BlockPart::View(Box::new((whole, smallvec![row.reach.len()])));
                    *placed = Placed { part, access };
                }
            }
        }
    }

    /// The rows of more than one view.
    fn rows(&self, operands: &[(&Value, Placed)], mut places: Vec<usize>) -> Vec<ViewRow> {
        let reach = |place: usize| match &operands[place].1.part {
            BlockPart::View(view) => access::reach(&view.0, &view.1),
            BlockPart::Tile(_) => 0..0,
        };
        places.sort_by_cached_key(|place| (reach(*place).start, reach(*place).end, *place));
        let mut known: FxHashSet<&(Access, Shape)> = FxHashSet::default();
        let mut rows: Vec<ViewRow> = Vec::new();
        for place in places {
            let BlockPart::View(view) = &operands[place].1.part else { continue };
            let is_new = known.insert(view);
            let (reach, elements) = (reach(place), if is_new { size_of(&view.1) } else { 0 });
            if let Some(row) = rows.last_mut() {
                let end = row.reach.end.max(reach.end);
                let len = end - row.reach.start;
                // Elements between two views may be pending.
                let is_gapless = reach.start <= row.reach.end;
                if is_gapless && len <= row.elements + elements && len <= self.caps.max_block_len {
                    row.reach.end = end;
                    row.elements += elements;
                    row.places.push(place);
                    row.views += usize::from(is_new);
                    continue;
                }
            }
            rows.push(ViewRow { reach, elements, places: vec![place], views: 1 });
        }
        rows.retain(|row| row.views > 1);
        rows
    }
}
