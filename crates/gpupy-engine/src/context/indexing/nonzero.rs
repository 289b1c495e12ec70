//! Nonzero: the positions of a mask's true elements.
//!
//! Owns [`Context::where_true`]. The number of true elements is an extent, so they are counted at once; the positions
//! of a large mask are an expression. A write by a mask that becomes a select (`predicated_write.rs`) never needs them.
//!
//! Not here: how positions are found (`execute/host_ops/host_nonzero.rs`), their use (`fancy_index.rs`), small masks
//! (`small_boolean_mask.rs`).

use crate::array::base::Array;
use crate::context::Context;
use crate::execute::host_ops::host_nonzero::{NUMBER, find};
use crate::execute::host_ops::mask_bytes::count;
use crate::graph::interval::Bounds;
use crate::graph::value::{NodeOp, Value};
use crate::thresholds::T;
use gpupy_core::memory;
use gpupy_core::{DType, Error, ErrorKind, Result};
use smallvec::smallvec;

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
        let is_large = mask.size() >= T.positions_later && mask.is_whole() && operand.1.is_some();
        // Of a mask that is open, positions as an expression would be open in their number, too.
        let is_later = is_large && !mask.is_open();
        let Some(bytes) = bytes.filter(|_| is_later) else {
            return Array::where_true(&read.to_vec()?);
        };
        let count = count(bytes);
        if count == 0 {
            return Array::where_true(&[]);
        }
        let expressions = &self.inner.dispatch.recorder().expressions;
        let (op, shape) = (NodeOp::WhereTrue, smallvec![count]);
        let positions = Value::expr(expressions, DType::I32, shape, op, smallvec![operand]);
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
