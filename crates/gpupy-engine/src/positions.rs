//! Positions of masks: the places of the elements that are true.
//!
//! Owns [`Context::where_true`] and its evaluation. How many there are is an extent and counted at once;
//! the positions of a large mask are an expression, found in host memory when they are needed. A write by
//! a mask that becomes a choice of elements (`dense.rs`) never needs them. Invariant: positions are
//! int32 numbers, rising, inside the mask.
//!
//! Not here: what positions are for (`pick.rs`), masks of few elements (`masked.rs`).

use crate::array::Array;
use crate::bounds::Bounds;
use crate::context::Context;
use crate::evaluate::Engine;
use crate::partition::Flow;
use crate::value::{Input, Kind, NodeOp, Value};
use crate::walk::lost;
use gpupy_core::memory;
use gpupy_core::{DType, Error, ErrorKind, Result};
use smallvec::smallvec;

/// The positions of fewer elements are found sooner than recorded.
const FEW: usize = 1 << 12;
/// Bytes of a position.
const NUMBER: usize = DType::I32.size();

impl Context {
    /// The positions in C order of a mask's true elements: an int32 array of one axis. The mask is
    /// evaluated.
    ///
    /// # Errors
    /// - `DType`: the array is no mask.
    /// - `Unsupported`: the mask has more elements than an int32 counts.
    /// - any error of the driver; no value is lost.
    pub fn where_true(&self, mask: &Array) -> Result<Array> {
        let wrong = |kind| Error::new(kind, "where_true").with("dtype", mask.dtype());
        if mask.dtype() != DType::Bool {
            return Err(wrong(ErrorKind::DType).says("a mask is of bools"));
        }
        let size = i32::try_from(mask.size()).map_err(|_| {
            let error = wrong(ErrorKind::Unsupported).with("elements", mask.size());
            error.says("there are more elements than an int32 counts")
        })?;
        let read = self.read(mask)?;
        let (operand, bytes) = (mask.operand(mask.shape())?, read.bytes());
        let is_large = mask.size() >= FEW && mask.is_whole() && operand.1.is_some();
        let Some(bytes) = bytes.filter(|_| is_large) else {
            return Array::where_true(&read.to_vec()?);
        };
        let count = count(bytes);
        if count == 0 {
            return Array::where_true(&[]);
        }
        let interner = &self.inner.recorder.interner;
        let (op, shape) = (NodeOp::WhereTrue, smallvec![count]);
        let positions = Value::expr(interner, DType::I32, shape, op, smallvec![operand]);
        let bounds = Bounds::Whole { low: 0, high: i128::from(size) - 1 };
        positions.state().bounds = Some(Box::new(bounds));
        Ok(Array::from_value(positions))
    }
}

impl Array {
    /// The positions of the bytes that are not 0, an int32 array. There are at most `i32::MAX` bytes.
    ///
    /// # Errors
    /// - any error of memory that has no room for them.
    pub fn where_true(mask: &[u8]) -> Result<Array> {
        let count = count(mask);
        let mut bytes = memory::zeroed(count * NUMBER)?;
        find(mask, &mut bytes);
        Array::from_bytes(DType::I32, &[count], &bytes)
    }
}

impl Engine {
    /// Evaluates all positions of a mask, or tells what they need first.
    pub fn where_true(&mut self, value: &Value) -> Result<Flow> {
        let operands = value.state().operands.clone();
        let (Kind::Expr { inputs, .. }, [Some(mask)]) = (&value.0.kind, operands.as_slice()) else {
            return Err(lost(value.id()));
        };
        debug_assert!(matches!(inputs.as_slice(), [Input::Whole(_)]), "masks are seen whole");
        let all = 0..mask.len();
        if !mask.state().computed.covers(all.clone()) {
            return Ok(Flow::Needs(vec![(mask.clone(), all)]));
        }
        self.bring_to_host(mask, all.clone())?;
        let (from, to) = (mask.host_buffer()?, value.host_buffer()?);
        let len = value.len();
        // SAFETY: all of the mask is in its evaluated map, so nobody writes it; nothing of the positions
        // is, so nobody reads them; we hold the engine's lock.
        let (from, to) = unsafe { (from.bytes(all), to.bytes_mut(0..len * NUMBER)) };
        find(from, to);
        value.state().on_host.insert(0..len);
        value.mark_computed(0..len);
        Ok(Flow::Done)
    }
}

/// How many bytes are not 0: in pieces of so few that a byte counts them, which is vector code.
fn count(mask: &[u8]) -> usize {
    let pieces = mask.chunks(usize::from(u8::MAX));
    let of_piece = |piece: &[u8]| piece.iter().map(|byte| u8::from(*byte != 0)).sum::<u8>();
    pieces.map(|piece| usize::from(of_piece(piece))).sum()
}

/// Writes the positions of the bytes that are not 0, as many as there is room for.
fn find(mask: &[u8], to: &mut [u8]) {
    let (places, _) = to.as_chunks_mut::<NUMBER>();
    let mut found = 0;
    for (position, byte) in (0i32..).zip(mask) {
        // Every position is written, and the place moves on behind those that count.
        let Some(place) = places.get_mut(found) else { break };
        *place = position.to_ne_bytes();
        found += usize::from(*byte != 0);
    }
}
