//! Mutations of a good driver's error handling: it treats its caller's mistakes, threads or errors in the wrong
//! way.

use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, HostBlock, Launch, Method,
    Part, Resources,
};
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::thread::ThreadId;

/// One way to be careless.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Careless {
    /// Dead handles may be read and written, and positions of memory start again behind the last.
    TakesDead,
    /// Freed numbers are given out again.
    ReusesNumbers,
    /// A range outside a block panics.
    Panics,
    /// For a range outside a block, the part inside is used.
    Clips,
    /// The part inside is used, and then the range is refused.
    ClipsAndRefuses,
    /// An empty range may lie anywhere.
    TakesEmpty,
    /// A block of no elements is given out, and memory of none is taken for more.
    TakesNothing,
    /// A second free panics.
    PanicsAtSecondFree,
    /// After an error nothing works.
    Gone,
    /// An error destroys the contents of blocks.
    Forgets,
    /// A refused launch has written.
    WritesFirst,
    /// A launch writes past the end of its destination, into neighbouring memory.
    PastTheEnd,
    /// A write reaches the element after it.
    WritesOnwards,
    /// Memory that a launch brings is mistaken for blocks with these handles.
    TakesPositionsForHandles,
    /// A second `init` opens the device anew.
    OpensTwice,
    /// `cleanup` does nothing.
    StaysOpen,
    /// It works only on the thread that opened it.
    BoundToThread,
    /// An unsupported operation panics.
    PanicsAtUnsupported,
}

/// The careless driver.
pub struct Driven {
    inner: Box<dyn Driver>,
    how: Careless,
    /// Each number that was given out, with the block's own and its length.
    blocks: BTreeMap<u64, (BlockId, BlockSpec)>,
    freed: Vec<u64>,
    gone: bool,
    thread: Option<ThreadId>,
}

impl Driven {
    pub fn boxed(how: Careless) -> Box<dyn Driver> {
        Box::new(Driven {
            inner: driver_soft::new(),
            how,
            blocks: BTreeMap::new(),
            freed: Vec::new(),
            gone: false,
            thread: None,
        })
    }

    /// The block behind a number.
    fn block(&self, number: BlockId) -> BlockId {
        self.blocks.get(&number.0).map_or(number, |(block, _)| *block)
    }

    fn is(&self, how: Careless) -> bool {
        self.how == how
    }

    /// Takes an answer as this driver does.
    fn answer<T>(&mut self, answer: Result<T>) -> Result<T> {
        if answer.is_err() && self.is(Careless::Forgets) {
            for (block, spec) in self.blocks.values() {
                let _ = self.inner.block_write(*block, 0, &vec![0; spec.bytes() as usize]);
            }
        }
        self.gone |= answer.is_err() && self.is(Careless::Gone);
        answer
    }

    fn ready(&self) -> Result<()> {
        let strange = self.is(Careless::BoundToThread)
            && self.thread.is_some_and(|thread| thread != std::thread::current().id());
        if self.gone || strange {
            return Err(Error::new(ErrorKind::DeviceLost, "careless"));
        }
        Ok(())
    }

    /// Evaluates on memory that the launch brings.
    fn eval_on_memory(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let nothing = if self.is(Careless::TakesNothing) { 40 } else { 0 };
        // Other memory is as long as it says: what lies behind it isn't the launch's.
        let taken = |piece: &HostBlock| HostBlock {
            len: if piece.len == 0 { nothing } else { piece.len },
            ..*piece
        };
        let mut memory: Vec<HostBlock> = launch.memory.iter().map(taken).collect();
        let count = if self.is(Careless::TakesDead) { memory.len() as u64 } else { u64::MAX };
        let operands: Vec<_> = launch.operands.iter().map(|id| BlockId(id.0 % count)).collect();
        let mut dests = launch.dests.to_vec();
        dests.iter_mut().for_each(|dest| dest.block.0 %= count);
        if self.is(Careless::TakesPositionsForHandles) {
            memory.clear();
        }
        let (operands, dests) = (&operands[..], &dests[..]);
        let answer =
            self.inner.eval_ir(&Launch { operands, dests, memory: &memory, ..launch.clone() });
        if answer.is_ok() && self.is(Careless::PastTheEnd) {
            let HostBlock { memory, len } = memory[dests[0].block.0 as usize];
            let bytes = len * launch.program.dests[0].size();
            // SAFETY: the suite has guard bytes after the memory.
            unsafe { memory.as_ptr().add(bytes).write(1) };
        }
        self.answer(answer)
    }

    /// How many of so many bytes from `offset` lie inside the block.
    fn inside(&self, number: BlockId, offset: usize, bytes: usize) -> Option<usize> {
        let (_, spec) = self.blocks.get(&number.0)?;
        let size = spec.dtype.size();
        Some((spec.len.checked_sub(offset)? * size).min(bytes / size * size))
    }
}

impl Driver for Driven {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        if self.is(Careless::OpensTwice) {
            self.inner.cleanup();
        }
        self.thread = Some(std::thread::current().id());
        self.inner.init(config)
    }

    fn cleanup(&mut self) {
        if !self.is(Careless::StaysOpen) {
            self.inner.cleanup();
        }
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.inner.get_method(op, dtype)
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.ready()?;
        let nothing = spec.len == 0 && self.is(Careless::TakesNothing);
        let asked = if nothing { BlockSpec { len: 1, ..spec } } else { spec };
        let block = self.inner.block_alloc(asked);
        let block = self.answer(block)?;
        let old = self.freed.pop().filter(|_| self.is(Careless::ReusesNumbers));
        let number = old.unwrap_or(block.0);
        self.blocks.insert(number, (block, spec));
        Ok(BlockId(number))
    }

    fn block_free(&mut self, block: BlockId) {
        if self.is(Careless::PanicsAtSecondFree) {
            assert!(self.blocks.contains_key(&block.0), "freed twice");
        }
        if !self.is(Careless::TakesDead) {
            self.inner.block_free(self.block(block));
            if self.blocks.remove(&block.0).is_some() {
                self.freed.push(block.0);
            }
        }
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.ready()?;
        if self.is(Careless::TakesEmpty) && out.is_empty() {
            return Ok(());
        }
        let inside = self.inside(block, offset, out.len());
        let answer = self.inner.block_read(self.block(block), offset, out);
        match (self.how, inside) {
            (Careless::Panics, _) => assert!(answer.is_ok(), "a range outside"),
            (Careless::Clips | Careless::ClipsAndRefuses, Some(inside)) => {
                self.inner.block_read(self.block(block), offset, &mut out[..inside])?;
                return if self.is(Careless::Clips) { Ok(()) } else { answer };
            }
            _ => {}
        }
        self.answer(answer)
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.ready()?;
        let inside = self.inside(block, offset, data.len());
        let answer = self.inner.block_write(self.block(block), offset, data);
        match (self.how, inside) {
            (Careless::Panics, _) => assert!(answer.is_ok(), "a range outside"),
            (Careless::Clips | Careless::ClipsAndRefuses, Some(inside)) => {
                self.inner.block_write(self.block(block), offset, &data[..inside])?;
                return if self.is(Careless::Clips) { Ok(()) } else { answer };
            }
            (Careless::WritesOnwards, Some(_)) if answer.is_ok() => {
                let size = self.blocks.get(&block.0).map_or(1, |(_, spec)| spec.dtype.size());
                let after = offset + data.len() / size;
                let _ = self.inner.block_write(self.block(block), after, &vec![1; size]);
            }
            _ => {}
        }
        self.answer(answer)
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        let answer = self.inner.check_ir(program);
        assert!(answer.is_ok() || !self.is(Careless::PanicsAtUnsupported), "unsupported");
        self.answer(answer)
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        self.ready()?;
        if !launch.memory.is_empty() {
            return self.eval_on_memory(launch);
        }
        let operands: Vec<_> = launch.operands.iter().map(|block| self.block(*block)).collect();
        let mut dests = launch.dests.to_vec();
        dests.iter_mut().for_each(|dest| dest.block = self.block(dest.block));
        let answer =
            self.inner.eval_ir(&Launch { operands: &operands, dests: &dests, ..launch.clone() });
        if self.is(Careless::WritesFirst) && answer.is_err() {
            let _ = self.inner.block_write(dests[0].block, 3, &[1; 4]);
        }
        if self.is(Careless::PastTheEnd) {
            let _ = self.inner.block_write(BlockId(dests[0].block.0 + 1), 0, &[1; 4]);
        }
        self.answer(answer)
    }

    fn resource_get(&self, part: Part) -> Resources {
        self.inner.resource_get(part)
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        self.inner.resource_check(resources)
    }
}
