//! The contract's 14 functions.
//!
//! Owns [`Vulkan`]. Invariants: nothing is opened before `init`; after the device is lost, nothing stays open.
//!
//! Not here: their work (`open.rs` and its neighbours).

use super::binding_choice::BindingCosts;
use super::commands::queue::MOST_COMMANDS;
use super::gpu::gpu_device::Gpu;
use super::gpu::instance::VulkanInstance;
use super::open::OpenDriver;
use super::trial::Trial;
use crate::NAME;
use gpupy_codegen::OperationSupport;
use gpupy_codegen::compute::resources;
use gpupy_codegen::driver_answers::{self, BlockLimits, WIDEST};
use gpupy_codegen::probe;
use gpupy_codegen::split_storage::{self, SplitStorage};
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources, one_by_one,
};
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use gpupy_core::{DType, ErrorKind, Result};

/// A Vulkan driver, closed.
pub fn new() -> Box<dyn Driver> {
    Box::new(Vulkan::default())
}

/// A closed Vulkan driver for a test.
pub fn new_trial(trial: Trial) -> Box<dyn Driver> {
    Box::new(Vulkan { trial, ..Vulkan::default() })
}

/// The Vulkan driver.
#[derive(Default)]
struct Vulkan {
    open: Option<OpenDriver>,
    longs: SplitStorage,
    limits: Resources,
    abilities: OperationSupport,
    trial: Trial,
}

impl Vulkan {
    fn open(&mut self) -> Result<&mut OpenDriver> {
        self.open.as_mut().ok_or_else(|| driver_answers::is_closed(NAME))
    }

    /// Runs a closure on the open driver, and closes it if the device turns out to be lost.
    fn with<T>(&mut self, work: impl FnOnce(&mut OpenDriver) -> Result<T>) -> Result<T> {
        let outcome = work(self.open()?);
        if outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::DeviceLost) {
            self.open = None;
        }
        outcome
    }

    /// Opens a device; its findings are probed now, or come from an earlier run's cache.
    fn start(&mut self, config: &Config) -> Result<Capabilities> {
        let instance = VulkanInstance::shared(self.trial.watched)?;
        let devices = instance.devices()?;
        let mut gpu = Gpu::open(instance, &devices, config)?;
        self.trial.reduce(&mut gpu.traits);
        let traits = gpu.traits.clone();
        let (buffers, largest) = traits.reach()?;
        let sizes = BlockLimits::of(config, traits.memory, largest / WIDEST);
        self.limits = resources::limits(buffers, &config.resources);
        self.abilities = traits.kernels.abilities();
        self.longs = SplitStorage::new(traits.kernels.split());
        // The probe's launches are not the user's, and are not subject to lowered limits.
        let import_alignment = gpu.import.as_ref().map_or(0, |import| import.alignment);
        let open = self.open.insert(OpenDriver::new(gpu, u64::MAX, sizes.largest)?);
        let found = self.trial.binding_costs;
        let find = |_| found.map_or_else(|| BindingCosts::find_out(open), Ok);
        let addresses = traits.kernels.addresses;
        let binding_costs = traits.bound.filter(|_| addresses).map(find).transpose()?;
        let binds = !addresses || binding_costs.is_some_and(BindingCosts::binds);
        open.binds = binds;
        let compiler = traits.compiler();
        let mut capabilities = Capabilities {
            device: traits.name,
            hardware: traits.hardware,
            dtypes: self.abilities.dtypes.clone(),
            max_block_len: sizes.largest,
            max_dests: self.limits.0[resources::DESTINATIONS] as usize,
            forms: self.abilities.forms.clone(),
            max_reductions: resources::MOST_REDUCTIONS,
            max_launches: MOST_COMMANDS as usize,
            import_alignment,
            resources: resources::named(&self.limits),
            devices: devices.into_iter().map(|device| device.name).collect(),
            ..Capabilities::default()
        };
        let identity = format!("{}\nblocks bound: {binds}\n{compiler}", traits.identity);
        let (findings, costs) = probe::find_out(self, &capabilities, NAME, &identity)?;
        self.open()?.blocks.limit(sizes.memory, sizes.longest);
        capabilities.max_block_len = sizes.longest;
        capabilities.flushes_subnormals = findings.flushes_subnormals;
        capabilities.findings = findings.named();
        capabilities.findings.extend(binding_costs.map(BindingCosts::named));
        capabilities.findings.push(("compiler".into(), compiler.to_owned()));
        capabilities.costs = Some(costs);
        self.abilities.findings = findings;
        Ok(capabilities)
    }

    /// Checks a range of elements of a block (see [`SplitStorage::range`]).
    fn range(
        &self,
        operation: &'static str,
        block: BlockId,
        offset: usize,
        bytes: usize,
    ) -> Result<(usize, Option<[BlockId; 2]>)> {
        self.longs.range((NAME, operation), block, (offset, bytes), || {
            let open = self.open.as_ref().ok_or_else(|| driver_answers::is_closed(NAME))?;
            Ok(open.blocks.get(block)?.spec)
        })
    }
}

impl Driver for Vulkan {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        if self.open.is_some() {
            return Err(driver_answers::is_open(NAME));
        }
        self.start(config).map_err(|error| {
            self.cleanup();
            driver_answers::does_not_work(NAME, error)
        })
    }

    fn cleanup(&mut self) {
        self.open = None;
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.abilities.method(op, dtype)
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        if !self.longs.split().splits(spec.dtype) {
            return self.with(|open| open.alloc(spec));
        }
        let mut longs = std::mem::take(&mut self.longs);
        let block = self.with(|open| longs.alloc(open, spec, OpenDriver::alloc, OpenDriver::free));
        self.longs = longs;
        block
    }

    fn block_free(&mut self, block: BlockId) {
        let high = self.longs.remove(block).map(|long| long.high);
        if let Some(open) = &mut self.open {
            [Some(block), high].into_iter().flatten().for_each(|block| open.free(block));
        }
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        let (_, halves) = self.range("block_read", block, offset, out.len())?;
        self.with(|open| match halves {
            Some(halves) => {
                split_storage::read(halves, out, |half, out| open.read(half, offset, out))
            }
            None => open.read(block, offset, out),
        })
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let (_, halves) = self.range("block_write", block, offset, data.len())?;
        if data.is_empty() {
            return Ok(());
        }
        self.with(|open| match halves {
            Some(halves) => {
                split_storage::write(halves, data, |half, data| open.write(half, offset, data))
            }
            None => open.write(block, offset, data),
        })
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        let (split, need) = (self.longs.split(), resources::of_program);
        driver_answers::check(NAME, &self.abilities, split, program, need, &self.limits)
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        if launch.rest.is_some() && launch.all().any(|launch| self.longs.halved(launch).is_some()) {
            return one_by_one(launch, |launch| self.eval_ir(launch));
        }
        match self.longs.halved(launch) {
            Some(halved) => self.with(|open| open.eval(&halved.launch(launch))),
            None => self.with(|open| open.eval(launch)),
        }
    }

    fn resource_get(&self, part: Part) -> Resources {
        resources::of_part(part, self.longs.split())
    }

    // `resource_zero`, `resource_add` and `resource_sub` are the contract's own: counts add up.

    fn resource_check(&self, resources: &Resources) -> bool {
        driver_answers::fits(resources, &self.limits)
    }
}
