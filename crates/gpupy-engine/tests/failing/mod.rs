//! A driver of which one launch fails.

use gpupy_core::driver::*;
use gpupy_core::ir::Program;
use gpupy_core::{DType, Error, ErrorKind, Op, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Another driver, whose launch after so many others fails once.
pub struct Failing {
    pub inner: Box<dyn Driver>,
    /// How many launches come before it; `usize::MAX` when none fails any more.
    pub left: Arc<AtomicUsize>,
    pub kind: ErrorKind,
    /// The most launches of a sequence, each of which may be the one that fails.
    pub max_launches: usize,
}

impl Driver for Failing {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        Ok(Capabilities { max_launches: self.max_launches, ..self.inner.init(config)? })
    }
    fn cleanup(&mut self) {
        self.inner.cleanup();
    }
    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.inner.get_method(op, dtype)
    }
    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.inner.block_alloc(spec)
    }
    fn block_free(&mut self, block: BlockId) {
        self.inner.block_free(block);
    }
    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.inner.block_read(block, offset, out)
    }
    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.inner.block_write(block, offset, data)
    }
    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        self.inner.check_ir(program)
    }
    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        if launch.rest.is_some() {
            return one_by_one(launch, |launch| self.eval_ir(launch));
        }
        let left = self.left.load(Ordering::Relaxed);
        if left != usize::MAX {
            self.left.store(left.wrapping_sub(1), Ordering::Relaxed);
        }
        match left {
            0 => Err(Error::new(self.kind, "eval_ir").says("this launch fails")),
            _ => self.inner.eval_ir(launch),
        }
    }
    fn resource_get(&self, part: Part) -> Resources {
        self.inner.resource_get(part)
    }
    fn resource_check(&self, resources: &Resources) -> bool {
        self.inner.resource_check(resources)
    }
}
