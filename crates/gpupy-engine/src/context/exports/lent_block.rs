//! Graphics interop: blocks lent to a graphics context whose API shares its objects with the driver.
//!
//! Owns [`LentBlock`]. A block that is lent for reading stays where it is: it is pinned, and its value is held, so that
//! it is not evicted, written or freed. A block that is lent for writing is a copy, made on the device, which becomes
//! the array's value when it comes back; the array has its old elements until then. Invariants: memory that renderers
//! write belongs to no value that anything else has; writes to the array meanwhile are not lost silently; a lent block
//! comes back, at the latest when its handle is dropped.
//!
//! Not here: fences and names (the driver), drivers that share (`driver_selection.rs`).

use crate::array::base::{Array, ArrayOrScalar, WeakArray};
use crate::blocks::cache::BlockPart;
use crate::context::Context;
use crate::execute::engine_state::EngineState;
use crate::graph::value::Value;
use gpupy_core::driver::{
    Access, BlockId, BlockSpec, Dest, Evaluated, Launch, Lend, LendKind, Lent,
};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::{DType, Error, ErrorKind, Result};
use smallvec::smallvec;

/// A block that is lent.
pub struct LentBlock {
    context: Context,
    /// Which of the drivers lends it.
    position: usize,
    value: Value,
    block: BlockId,
    lend: Lend,
    lent: Lent,
    /// The array that gets what is written, with the value that it had.
    dest: Option<(Array, Value)>,
    is_back: bool,
}

/// An array's only part.
const ALL: BlockPart = BlockPart::Tile(0);

fn refused(kind: ErrorKind, said: impl Into<String>) -> Error {
    Error::new(kind, "lend").says(said)
}

impl LentBlock {
    /// The form in which the block is lent.
    pub fn lent(&self) -> Lent {
        self.lent
    }

    /// The elements' dtype.
    pub fn dtype(&self) -> DType {
        self.value.dtype()
    }

    /// How many elements there are.
    pub fn size(&self) -> usize {
        self.value.len()
    }

    /// Takes the block back; an array that was lent to be written has what was written from now on.
    ///
    /// # Errors
    /// - `Invalid`: the context to which it was lent is not current in this thread, so that nothing waits for what is
    ///   queued there; it is back all the same. Or the array has other elements than when it was lent to be written,
    ///   and keeps them.
    /// - `DeviceLost`: the driver was closed meanwhile, and what was written is lost with it.
    /// - `Busy`: a reader asks; it is not back.
    pub fn give_back(&mut self) -> Result<()> {
        self.back(true)
    }

    /// Takes the block back, like `give_back`, but gives an array that was lent to be written its elements only if
    /// `keeps`.
    fn back(&mut self, keeps: bool) -> Result<()> {
        if self.is_back {
            return Ok(());
        }
        let mut state = self.context.state()?;
        self.is_back = true;
        if let Some((dest, _)) = &self.dest {
            state.lent.retain(|lent| lent.upgrade().is_some_and(|lent| !lent.shares_base(dest)));
        }
        let found = state.engine.device(self.position).ok().and_then(|device| {
            (device.find(self.value.id(), &ALL) == Some(self.block)).then_some(device)
        });
        let Some(device) = found else {
            let lost =
                "the driver was closed while a block of its was lent, and what was written is lost";
            let is_lost = keeps && self.dest.is_some();
            return if is_lost { Err(refused(ErrorKind::DeviceLost, lost)) } else { Ok(()) };
        };
        let back = Lend { back: Some(self.lent.name), ..self.lend };
        let done = launch(&mut *device.driver, &self.value, self.block, back);
        device.unpin(self.value.id(), &ALL);
        drop(state);
        if let Some((dest, before)) = self.dest.take().filter(|_| keeps) {
            let (now, before) = (dest.value()?, Array::from_value(before));
            if now.id() != before.value()?.id()
                && !self.are_alike(&Array::from_value(now), &before)?
            {
                return Err(refused(
                    ErrorKind::Invalid,
                    "the array was written while it was lent to be written, and keeps that; what was drawn is lost: \
                     write it before or after",
                ));
            }
            let written = Array::from_value(self.value.clone());
            // The base may have been made in another shape than the array has.
            let whole = dest.reshape(written.shape());
            self.context.assign(whole.as_ref().unwrap_or(&dest), ArrayOrScalar::Array(&written))?;
        }
        done.map(drop)
    }

    /// Whether two arrays of a kind have the same elements, to the bit.
    fn are_alike(&self, one: &Array, other: &Array) -> Result<bool> {
        Ok(self.context.read(one)?.to_vec()? == self.context.read(other)?.to_vec()?)
    }
}

impl Drop for LentBlock {
    fn drop(&mut self) {
        // An error cannot be reported here; elements that were to be written are not given to the array.
        let _ = self.back(false);
    }
}

impl Context {
    /// Lends the block of an array to the context that the driver in use shares its objects with, which is current in
    /// this thread: the block itself, or a copy of what a view shows, or of a pinned base. With `writes` it may be
    /// written, and the array has what it holds when it comes back.
    ///
    /// # Errors
    /// - `Unsupported`: the driver lends nothing so; the array is larger than one block, or has no elements.
    /// - `Invalid`: another context is current. To be written: the array is not the whole of its base, pinned, or lent
    ///   to be written already.
    /// - any of an evaluation.
    pub fn lend(&self, array: &Array, kind: LendKind, writes: bool) -> Result<LentBlock> {
        let is_whole = array.is_whole() && array.dtype_view().is_none();
        if writes && array.is_shown() {
            return Err(refused(
                ErrorKind::Invalid,
                "other code has the array's memory and may write it too, so that it is only lent to be read",
            ));
        }
        if writes && !is_whole {
            return Err(refused(
                ErrorKind::Invalid,
                "a view is only lent to be read, as a copy: lend the array itself to be written",
            ));
        }
        let value = if is_whole { array.value()? } else { self.copy(array)?.value()? };
        let before = value.clone();
        self.evaluate(&[&Array::from_value(value.clone())])?;
        let mut state = self.state()?;
        if writes
            && state.lent.iter().filter_map(WeakArray::upgrade).any(|lent| lent.shares_base(array))
        {
            return Err(refused(
                ErrorKind::Invalid,
                "the array is lent to be written already: end that block first",
            ));
        }
        let position = self.current(&mut state)?;
        let block = self.own_block(&mut state, position, &value, kind)?;
        let (value, block) = match writes {
            false => (value, block),
            true => copied(&mut state, position, &value, block)?,
        };
        let device = state.engine.device(position)?;
        let lend = Lend { kind, writes, back: None };
        device.pin(value.id(), &ALL);
        let lent = launch(&mut *device.driver, &value, block, lend).and_then(|done| {
            done.lent.ok_or_else(|| refused(ErrorKind::Invalid, "nothing was lent"))
        });
        let lent = lent.inspect_err(|_| device.unpin(value.id(), &ALL))?;
        let dest = writes.then(|| (array.clone(), before));
        state.lent.extend(dest.as_ref().map(|(array, _)| array.downgrade()));
        drop(state);
        let context = self.clone();
        Ok(LentBlock { context, position, value, block, lend, lent, dest, is_back: false })
    }

    /// The one block of a value on a device that lends blocks so, brought there at need.
    fn own_block(
        &self,
        state: &mut EngineState,
        position: usize,
        value: &Value,
        kind: LendKind,
    ) -> Result<BlockId> {
        let device = state.engine.device(position)?;
        if device.caps.lends >> kind as u32 & 1 == 0 {
            let said = match state.shared_before {
                true => {
                    "the driver in use was closed, as before a fork, and shares its objects with no renderer any more: \
                     choose it again, with share=True"
                }
                false => {
                    "the driver in use shares its objects with no renderer: choose one that does, with share=True"
                }
            };
            return Err(refused(ErrorKind::Unsupported, said).with("driver", device.name));
        }
        if value.is_empty() || !device.tiling_of(value).is_one() {
            return Err(refused(ErrorKind::Unsupported, "only an array of one block is lent")
                .with("elements", value.len())
                .with("most", device.reach_len(value)));
        }
        state.engine.operand_block(position, value, &ALL)
    }
}

/// A value of its own with a copy of another one's block, made on the device.
fn copied(
    state: &mut EngineState,
    position: usize,
    value: &Value,
    block: BlockId,
) -> Result<(Value, BlockId)> {
    let (device, stats) = state.engine.device_and_stats(position)?;
    device.pin(value.id(), &ALL);
    let spec = BlockSpec::new(value.dtype(), value.len());
    let made = device.alloc(spec, stats);
    device.unpin(value.id(), &ALL);
    let made = made?;
    let mut builder = Builder::new(Form::Map, 1);
    let operand = builder.operand(value.dtype());
    let access = builder.access(AccessKind::Contiguous);
    let loaded = builder.load(operand, access);
    builder.store(loaded);
    let program = builder.finish();
    let access = Access { offset: 0, strides: smallvec![1] };
    let done = device.driver.eval_ir(&Launch {
        program: &program,
        fingerprint: program.fingerprint(),
        shape: &[value.len()],
        operands: &[block],
        params: &[],
        accesses: std::slice::from_ref(&access),
        dests: &[Dest { block: made, access: access.clone(), whole: true }],
        memory: &[],
        lend: None,
        rest: None,
    });
    if let Err(error) = done {
        device.driver.block_free(made);
        return Err(error);
    }
    let copy = Value::on_device(value.dtype(), value.shape());
    device.insert(&copy, ALL, (made, spec), 0..value.len());
    Ok((copy, made))
}

/// Tells a driver that a block goes or comes back.
fn launch(
    driver: &mut dyn gpupy_core::driver::Driver,
    value: &Value,
    block: BlockId,
    lend: Lend,
) -> Result<Evaluated> {
    let program = nothing(value.dtype());
    let access = Access { offset: 0, strides: smallvec![1] };
    driver.eval_ir(&Launch {
        program: &program,
        fingerprint: program.fingerprint(),
        shape: &[value.len()],
        operands: &[],
        params: &[0],
        accesses: &[],
        dests: &[Dest { block, access, whole: false }],
        memory: &[],
        lend: Some(lend),
        rest: None,
    })
}

/// The program of a launch that evaluates nothing.
fn nothing(dtype: DType) -> Program {
    let mut builder = Builder::new(Form::Map, 1);
    let parameter = builder.param(dtype);
    builder.store(parameter);
    builder.finish()
}
