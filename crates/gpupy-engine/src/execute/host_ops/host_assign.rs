//! Assignments in host memory: a tile of a value that is another value with some elements replaced.
//!
//! Not here: recording assignments (`flush_recorder.rs`), which elements are written where
//! (`schedule/steps/assignment_step.rs`), assignments on a device (`schedule/commands/assignment_commands.rs`).

use crate::execute::evaluate::Engine;
use crate::explain::tracer::Doing;
use crate::graph::value::{Input, NodeOp, Value, ValueKind};
use crate::memory::access;
use crate::memory::strided;
use crate::memory::tiling::Tile;
use crate::memory::view::View;
use crate::schedule::walk::lost;
use crate::thresholds::T;
use gpupy_core::Result;
use std::ops::Range;

impl Engine {
    /// Writes the missing elements of a tile in host memory.
    pub(in crate::execute) fn assign_on_host(
        &mut self,
        value: &Value,
        missing: &[Range<usize>],
        tile: &Tile,
    ) -> Result<()> {
        let operands = value.state().operands.clone();
        let (ValueKind::Expr { op: NodeOp::Assign(view), inputs }, [Some(old), source]) =
            (&value.0.kind, operands.as_slice())
        else {
            return Err(lost(value.id()));
        };
        let (View { offset, shape, strides }, input) = (&**view, &inputs[1]);
        let began = self.tracer.clock();
        let size = value.dtype().size();
        let data = match (input, source) {
            (Input::Scalar(scalar), _) => scalar.bytes()[..size].to_vec(),
            (input, Some(source)) => {
                let bytes = self.brought(source, 0..source.len())?;
                strided::gather(&bytes, size, &input.access(shape), shape)?
            }
            (_, None) => return Err(lost(value.id())),
        };
        for gap in missing {
            let from = self.brought(old, gap.clone())?;
            let mut within = access::access(*offset, strides);
            within.offset -= gap.start as i64;
            value.write_host(gap.clone(), |to| {
                to.copy_from_slice(&from);
                match input {
                    Input::Scalar(_) => strided::spread(to, &within, shape, &data),
                    _ => strided::scatter(to, size, &within, shape, &data),
                }
                Ok(())
            })?;
            value.mark_computed(gap.clone());
        }
        // Nothing needs the old value any more but this.
        if value.is_computed() && old.is_sole() {
            self.inherit(old.id(), value, || view.positions(T.sent_ranges));
        }
        self.tracer.step(|| {
            let all = tile.range.clone();
            let doing = Doing::on_host("assign").reads(old, all.clone());
            let doing = match source {
                Some(source) => doing.reads(source, access::reach(&input.access(shape), shape)),
                None => doing,
            };
            doing.writes(value, all).since(began)
        });
        Ok(())
    }
}
