//! The CPU driver behind a function that is called before each call, and may stop it or make it fail.
#![allow(dead_code)] // each test takes a part

use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::Program;
use gpupy_core::{DType, Op, Result};
use gpupy_engine::Registry;
use std::sync::Arc;

/// Called with each call and its number of elements; may stop it or make it fail.
type Watch = Arc<dyn Fn(&str, usize) -> Result<()> + Send + Sync>;

/// The CPU driver, watched.
struct Watched {
    driver: Box<dyn Driver>,
    watch: Watch,
    /// Whether its capabilities say that launches may bring memory.
    memory_launches: bool,
}

/// The CPU driver as host driver, watched, and the reference driver.
pub fn watched(watch: impl Fn(&str, usize) -> Result<()> + Send + Sync + 'static) -> Registry {
    registry(true, watch)
}

/// A registry like that of [`watched`], with or without launches that bring memory.
pub fn registry(
    memory_launches: bool,
    watch: impl Fn(&str, usize) -> Result<()> + Send + Sync + 'static,
) -> Registry {
    let watch: Watch = Arc::new(watch);
    Registry::new()
        .register_host("watched", move || {
            let (driver, watch) = (driver_cpu::new(), watch.clone());
            Box::new(Watched { driver, watch, memory_launches })
        })
        .register(driver_soft::NAME, driver_soft::new)
}

impl Driver for Watched {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        (self.watch)("init", 0)?;
        let caps = self.driver.init(config)?;
        Ok(Capabilities { memory_launches: self.memory_launches, ..caps })
    }
    fn cleanup(&mut self) {
        self.driver.cleanup();
    }
    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.driver.get_method(op, dtype)
    }
    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        (self.watch)("block_alloc", spec.len)?;
        self.driver.block_alloc(spec)
    }
    fn block_free(&mut self, block: BlockId) {
        self.driver.block_free(block);
    }
    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.driver.block_read(block, offset, out)
    }
    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.driver.block_write(block, offset, data)
    }
    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        (self.watch)("check_ir", 0)?;
        self.driver.check_ir(program)
    }
    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        assert!(launch.memory.is_empty() || self.memory_launches);
        (self.watch)("eval_ir", launch.shape.iter().product())?;
        self.driver.eval_ir(launch)
    }
    fn resource_get(&self, part: Part) -> Resources {
        self.driver.resource_get(part)
    }
    fn resource_check(&self, resources: &Resources) -> bool {
        self.driver.resource_check(resources)
    }
}
