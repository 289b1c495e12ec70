//! Blocks that renderers draw: lent to a context of a device's API that shares its objects with the driver.
//!
//! Owns [`LentBlock`]. A block stays where it is while it is lent to be read: it is pinned, and its value is held, so
//! that nothing evicts, writes or frees it. What is lent to be written is a copy, made on the device, which becomes
//! the array's value when it comes back; the array has its old elements until then. Invariants: what renderers
//! write is in no value that anything else has; a block that was lent comes back, at the latest when what lent it is
//! dropped.
//!
//! Not here: fences and names, which are the driver's, drivers that share (`ladder.rs`).

use crate::array::base::{Arg, Array};
use crate::blocks::cache::Part;
use crate::context::Context;
use crate::execute::state::State;
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
    /// The array that gets what is written.
    dest: Option<Array>,
    is_back: bool,
}

/// An array's only part.
const ALL: Part = Part::Tile(0);

fn refused(kind: ErrorKind, said: impl Into<String>) -> Error {
    Error::new(kind, "lend").says(said)
}

impl LentBlock {
    /// What the block is lent as.
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
    /// - `Invalid`: the context to which it was lent is not current in this thread, so that nothing waits for what is queued
    ///   there; it is back all the same.
    /// - `DeviceLost`: the driver was closed meanwhile, and what was written is lost with it.
    /// - `Busy`: a reader asks; it is not back.
    pub fn give_back(&mut self) -> Result<()> {
        if self.is_back {
            return Ok(());
        }
        let mut state = self.context.state()?;
        self.is_back = true;
        let found = state.engine.device(self.position).ok().and_then(|device| {
            (device.find(self.value.id(), &ALL) == Some(self.block)).then_some(device)
        });
        let Some(device) = found else {
            let lost =
                "the driver was closed while a block of its was lent, and what was written is lost";
            let is_lost = self.dest.is_some();
            return if is_lost { Err(refused(ErrorKind::DeviceLost, lost)) } else { Ok(()) };
        };
        let back = Lend { back: Some(self.lent.name), ..self.lend };
        let done = launch(&mut *device.driver, &self.value, self.block, back);
        device.unpin(self.value.id(), &ALL);
        drop(state);
        if let Some(dest) = &self.dest {
            let written = Array::from_value(self.value.clone());
            self.context.assign(dest, Arg::Array(&written))?;
        }
        done.map(drop)
    }
}

impl Drop for LentBlock {
    fn drop(&mut self) {
        // Nobody hears of it; what was to be written is not given to the array.
        self.dest = None;
        let _ = self.give_back();
    }
}

impl Context {
    /// Lends the block of an array to the context that the driver in use shares its objects with, which is current in this
    /// thread: the block itself, or a copy of what a view shows, or of a pinned base. With `writes` it may be written,
    /// and the array has what it holds when it comes back.
    ///
    /// # Errors
    /// - `Unsupported`: the driver lends nothing so; the array is larger than one block, or has no elements.
    /// - `Invalid`: another context is current. To be written: the array is not the whole of its base, or pinned.
    /// - any of an evaluation.
    pub fn lend(&self, array: &Array, kind: LendKind, writes: bool) -> Result<LentBlock> {
        let is_whole = array.is_whole() && array.face().is_none();
        if writes && array.is_pinned() {
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
        self.evaluate(&[&Array::from_value(value.clone())])?;
        let mut state = self.state()?;
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
        drop(state);
        let (context, dest) = (self.clone(), writes.then(|| array.clone()));
        Ok(LentBlock { context, position, value, block, lend, lent, dest, is_back: false })
    }

    /// The one block of a value on a device that lends blocks so, brought there at need.
    fn own_block(
        &self,
        state: &mut State,
        position: usize,
        value: &Value,
        kind: LendKind,
    ) -> Result<BlockId> {
        let device = state.engine.device(position)?;
        if device.caps.lends >> kind as u32 & 1 == 0 {
            return Err(refused(
                ErrorKind::Unsupported,
                "the driver in use shares its objects with no renderer: choose one that does, with share=True",
            )
            .with("driver", device.name));
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
    state: &mut State,
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
    })
}

/// The program of a launch that evaluates nothing.
fn nothing(dtype: DType) -> Program {
    let mut builder = Builder::new(Form::Map, 1);
    let parameter = builder.param(dtype);
    builder.store(parameter);
    builder.finish()
}
