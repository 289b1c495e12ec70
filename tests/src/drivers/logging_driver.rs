//! A logging driver: it logs every call and its answer.
//!
//! Owns [`LoggingDriver`], which wraps the driver under test when a case is repeated.
//!
//! Not here: the comparisons of cases (`compare.rs`).

use crate::reporting::describe::{elements, numbers};
use crate::reporting::trace::trace;
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::{Fingerprint, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Result};
use std::collections::HashMap;
use std::fmt::Debug;

/// The driver under test, with a log.
pub struct LoggingDriver {
    inner: Box<dyn Driver>,
    /// Every block that there ever was, because reads of dead ones are logged as well.
    specs: HashMap<BlockId, BlockSpec>,
    /// The program that was logged last, which is not logged again.
    last: Option<Fingerprint>,
}

impl LoggingDriver {
    pub fn boxed(inner: Box<dyn Driver>) -> Box<dyn Driver> {
        Box::new(LoggingDriver { inner, specs: HashMap::new(), last: None })
    }

    fn name(&self, block: BlockId) -> String {
        match self.specs.get(&block) {
            Some(spec) => format!("block {} of {} {}", block.0, spec.len, spec.dtype),
            None => format!("block {}, which was never given out", block.0),
        }
    }

    fn program(&mut self, program: &Program) -> String {
        let name = Some(program.fingerprint());
        if std::mem::replace(&mut self.last, name) == name {
            return "the same program".to_string();
        }
        format!("this program:\n{program}")
    }

    fn data(&self, block: BlockId, bytes: &[u8]) -> String {
        elements(self.specs.get(&block).map_or(DType::U8, |spec| spec.dtype), bytes)
    }
}

fn answer<T: Debug>(result: &Result<T>) -> String {
    match result {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => format!("error: {error}"),
    }
}

impl Driver for LoggingDriver {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        let result = self.inner.init(config);
        trace(|| format!("init {config:?}\n  → {}", answer(&result)));
        result
    }

    fn cleanup(&mut self) {
        self.inner.cleanup();
        trace(|| "cleanup".to_string());
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        // This is called for every operation of every program, so it is not logged.
        self.inner.get_method(op, dtype)
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let result = self.inner.block_alloc(spec);
        if let Ok(block) = result {
            self.specs.insert(block, spec);
        }
        trace(|| format!("block_alloc {} {} → {}", spec.len, spec.dtype, answer(&result)));
        result
    }

    fn block_free(&mut self, block: BlockId) {
        self.inner.block_free(block);
        trace(|| format!("block_free {}", self.name(block)));
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        let result = self.inner.block_read(block, offset, out);
        trace(|| {
            let (name, answer) = (self.name(block), answer(&result));
            format!("block_read {name}, from {offset} → {answer}: {}", self.data(block, out))
        });
        result
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let result = self.inner.block_write(block, offset, data);
        trace(|| {
            let (name, answer) = (self.name(block), answer(&result));
            format!("block_write {name}, from {offset}: {} → {answer}", self.data(block, data))
        });
        result
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        let result = self.inner.check_ir(program);
        let program = self.program(program);
        trace(|| format!("check_ir of {program}\n  → {}", answer(&result)));
        result
    }

    fn eval_ir(&mut self, asked: &Launch<'_>) -> Result<Evaluated> {
        let result = self.inner.eval_ir(asked);
        let program = self.program(asked.program);
        trace(|| {
            let operands: Vec<_> = asked.operands.iter().map(|block| self.name(*block)).collect();
            let dests = asked.dests.iter().map(|dest| (self.name(dest.block), &dest.access));
            let words = numbers(asked.program, asked.shape, asked.params, asked.accesses, dests);
            let (operands, answer) = (operands.join("; "), answer(&result));
            format!("eval_ir of [{operands}], {words}{program}\n  → {answer}")
        });
        result
    }

    fn resource_get(&self, part: Part) -> Resources {
        let need = self.inner.resource_get(part);
        trace(|| format!("resource_get {part:?} → {:?}", need.0));
        need
    }

    fn resource_zero(&self) -> Resources {
        self.inner.resource_zero()
    }

    fn resource_add(&self, total: &mut Resources, other: &Resources) {
        self.inner.resource_add(total, other);
        trace(|| format!("resource_add {:?} → {:?}", other.0, total.0));
    }

    fn resource_sub(&self, total: &mut Resources, other: &Resources) {
        self.inner.resource_sub(total, other);
        trace(|| format!("resource_sub {:?} → {:?}", other.0, total.0));
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        let fits = self.inner.resource_check(resources);
        trace(|| format!("resource_check {:?} → {fits}", resources.0));
        fits
    }
}
