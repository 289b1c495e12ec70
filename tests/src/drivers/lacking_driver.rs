//! A driver without some operations: the driver under test, which denies them.
//!
//! Owns [`LackingDriver`]. A launch of an operation that it denies is `Invalid`, which the core may not hide.
//!
//! Not here: the driver that takes over these operations (`cases/arrays.rs`).

use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::Program;
use gpupy_core::op::{Op, Rule};
use gpupy_core::{DType, Error, ErrorKind, Result};

/// The driver under test without about a third of its operations.
pub struct LackingDriver {
    inner: Box<dyn Driver>,
    /// Which third.
    third: u64,
}

impl LackingDriver {
    pub fn boxed(inner: Box<dyn Driver>, third: u64) -> Box<dyn Driver> {
        Box::new(LackingDriver { inner, third })
    }

    fn lacks(&self, op: Op) -> bool {
        op.info().rule != Rule::Special && op as u64 % 3 == self.third % 3
    }

    /// The first operation of a program that is lacking.
    fn missing(&self, program: &Program) -> Option<Op> {
        let combines = program.reductions().map(|reduction| reduction.op);
        let computes = program.insts.iter().map(|inst| inst.op).filter(|op| op.is_scalar_op());
        combines.chain(computes).find(|op| self.lacks(*op))
    }
}

impl Driver for LackingDriver {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        self.inner.init(config)
    }

    fn cleanup(&mut self) {
        self.inner.cleanup();
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        match self.inner.get_method(op, dtype) {
            _ if self.lacks(op) => Method::Absent,
            Method::Lowered(program) if self.missing(&program).is_some() => Method::Absent,
            method => method,
        }
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
        match self.missing(program) {
            Some(op) => Err(Error::new(ErrorKind::Unsupported, "check_ir")
                .says("this operation is lacking")
                .with("operation", op.info().name)),
            None => self.inner.check_ir(program),
        }
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        match self.missing(launch.program) {
            Some(op) => Err(Error::new(ErrorKind::Invalid, "eval_ir")
                .says("the core launched what the driver says it lacks")
                .with("operation", op.info().name)),
            None => self.inner.eval_ir(launch),
        }
    }

    fn resource_get(&self, part: Part) -> Resources {
        self.inner.resource_get(part)
    }

    fn resource_zero(&self) -> Resources {
        self.inner.resource_zero()
    }

    fn resource_add(&self, total: &mut Resources, other: &Resources) {
        self.inner.resource_add(total, other);
    }

    fn resource_sub(&self, total: &mut Resources, other: &Resources) {
        self.inner.resource_sub(total, other);
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        self.inner.resource_check(resources)
    }
}
