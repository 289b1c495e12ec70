//! Boxes: a tile evaluated part by part, where its walk meets the ends of joined values.
//!
//! Owns the cutting. The tile's points are halved where a walk says so, until every box has a walk;
//! the boxes go into one block. Mostly a box is everything but the edges, and all boxes are one
//! program. Invariant: nothing is launched before all boxes are known, so that what they need first
//! is computed before.
//!
//! Not here: where a walk is cut (`join.rs`).

use crate::access;
use crate::cache::Part;
use crate::driver::Access;
use crate::error::Result;
use crate::evaluate::{Destination, Engine};
use crate::ir::Form;
use crate::partition::Flow;
use crate::tiling::Tile;
use crate::value::{Kind, NodeOp, Value};
use crate::view::{Shape, contiguous_strides};
use crate::walk::{Obstacle, Start, Walk};

/// The most boxes of one tile of anything but a join: with more, joins are computed first.
const MOST: usize = 256;

/// Some points of a tile: their walk over the value, their place in the tile, their extents.
type Piece = (Access, Access, Shape);

impl Engine {
    /// Evaluates a tile whose walk is cut at point `at` of an axis.
    pub fn run_in_boxes(
        &mut self,
        value: &Value,
        tile: &Tile,
        cut: (usize, usize),
        device: usize,
    ) -> Result<Flow> {
        let is_join = matches!(value.0.kind, Kind::Expr { op: NodeOp::Join(_), .. });
        let (walk, space) = access::space_of_tile(value.shape(), tile);
        let place = access::access(0, &contiguous_strides(&space));
        let mut open: Vec<Piece> = halves((walk, place, space), cut).into();
        let (mut walks, mut needs) = (Vec::new(), Vec::new());
        while let Some((at, place, space)) = open.pop() {
            let much = !is_join && open.len() + walks.len() >= MOST;
            let start = [Start::Value(value)];
            let target = self.device(device)?;
            let found = match much {
                true => {
                    Walk::new(target, &start, at.clone(), space.clone())?.map_err(Obstacle::Needs)
                }
                false => Walk::or_cut(target, &start, at.clone(), space.clone())?,
            };
            match found {
                Ok(walk) => walks.push((walk, place)),
                Err(Obstacle::Needs(more)) => needs.extend(more),
                Err(Obstacle::Cut { axis, at: point }) => {
                    open.extend(halves((at, place, space), (axis, point)));
                }
            }
        }
        if !needs.is_empty() {
            return Ok(Flow::Needs(needs));
        }
        let (open, stats) = self.device_and_stats(device)?;
        let spec = open.spec(value, &tile.range);
        let block = open.alloc(spec, stats)?;
        let mut done = Ok(Flow::Done);
        for (walk, access) in walks {
            let dest = Destination::Block { block, access, whole: false };
            done = self.run(walk, Form::Map, dest, device);
            if !matches!(done, Ok(Flow::Done)) {
                break;
            }
        }
        let open = self.device(device)?;
        if let Ok(Flow::Done) = done {
            open.insert(value, Part::Tile(tile.number), (block, spec), tile.range.clone());
            value.mark_computed(tile.range.clone());
        } else {
            open.driver.block_free(block);
        }
        done
    }
}

/// The points before and from `at` on along an axis.
fn halves((walk, place, space): Piece, (axis, at): (usize, usize)) -> [Piece; 2] {
    let (mut first, mut second) = (space.clone(), space);
    first[axis] = at;
    second[axis] -= at;
    let mut rest = (walk.clone(), place.clone());
    rest.0.offset += rest.0.strides[axis] * at as i64;
    rest.1.offset += rest.1.strides[axis] * at as i64;
    [(rest.0, rest.1, second), (walk, place, first)]
}
