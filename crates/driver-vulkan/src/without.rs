//! The driver of a build without a compiler of shaders: it says what to install.
//!
//! Owns [`new`]. Not here: the driver (`driver.rs`).

use crate::NAME;
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result};

/// A driver that does not start.
pub fn new() -> Box<dyn Driver> {
    Box::new(Without)
}

struct Without;

fn unavailable<T>(operation: &'static str) -> Result<T> {
    Err(Error::new(ErrorKind::Unavailable, operation)
        .says(
            "this build has no compiler of shaders; install libshaderc-dev and spirv-tools, and build \
             with the feature `vulkan` (README.md, Vulkan)",
        )
        .with("driver", NAME))
}

impl Driver for Without {
    fn init(&mut self, _: &Config) -> Result<Capabilities> {
        unavailable("init")
    }

    fn cleanup(&mut self) {}

    fn get_method(&self, _: Op, _: DType) -> Method {
        Method::Absent
    }

    fn block_alloc(&mut self, _: BlockSpec) -> Result<BlockId> {
        unavailable("block_alloc")
    }

    fn block_free(&mut self, _: BlockId) {}

    fn block_read(&mut self, _: BlockId, _: usize, _: &mut [u8]) -> Result<()> {
        unavailable("block_read")
    }

    fn block_write(&mut self, _: BlockId, _: usize, _: &[u8]) -> Result<()> {
        unavailable("block_write")
    }

    fn check_ir(&mut self, _: &Program) -> Result<Check> {
        unavailable("check_ir")
    }

    fn eval_ir(&mut self, _: &Launch<'_>) -> Result<Evaluated> {
        unavailable("eval_ir")
    }

    fn resource_get(&self, _: Part) -> Resources {
        Resources::default()
    }

    fn resource_check(&self, _: &Resources) -> bool {
        false
    }
}
