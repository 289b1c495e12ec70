//! The contract's 14 functions.
//!
//! Owns [`Wgpu`]. Invariants: a panic of wgpu does not leave this crate, and its device counts as lost
//! (`faults.rs`); every call reports the errors that occurred in it.
//!
//! Not here: their work (`open.rs` and its neighbours), the choice of the device (`gpu_device.rs`).

use crate::blocks::Blocks;
use crate::gpu_device::Adapters;
use crate::open::{OpenDriver, shaping};
use crate::{NAME, faults, memory_budget};
use gpupy_codegen::OperationSupport;
use gpupy_codegen::compute::resources;
use gpupy_codegen::driver_answers::{self, BlockLimits, WIDEST};
use gpupy_codegen::probe;
use gpupy_codegen::split_storage::{self, SplitStorage};
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result};

/// A wgpu driver, closed.
pub fn new() -> Box<dyn Driver> {
    Box::new(Wgpu::default())
}

/// A closed wgpu driver that opens this device (see [`Config::device`]) if the configuration names none: for
/// tests of one API after another.
pub fn new_on(device: &str) -> Box<dyn Driver> {
    Box::new(Wgpu { usual: device.to_owned(), ..Wgpu::default() })
}

/// A closed wgpu driver for tests, on whose device there seem to be no integers of 64 bits and no float64.
pub fn new_short() -> Box<dyn Driver> {
    Box::new(Wgpu { short: true, ..Wgpu::default() })
}

/// The wgpu driver.
#[derive(Default)]
struct Wgpu {
    open: Option<OpenDriver>,
    usual: String,
    /// Whether integers of 64 bits are hidden, for a test.
    short: bool,
    split_storage: SplitStorage,
    limits: Resources,
    abilities: OperationSupport,
}

impl Wgpu {
    fn open(&mut self) -> Result<&mut OpenDriver> {
        self.open.as_mut().ok_or_else(|| driver_answers::is_closed(NAME))
    }

    /// Calls `work` on the open driver, and reports errors of the device.
    fn guard<T>(
        &mut self,
        operation: &'static str,
        work: impl FnOnce(&mut OpenDriver) -> Result<T>,
    ) -> Result<T> {
        let open = self.open()?;
        let faults = open.gpu.faults.clone();
        faults.guard(operation, || work(open))
    }

    fn start(&mut self, config: &Config) -> Result<Capabilities> {
        let mut config = config.clone();
        if config.device.is_empty() {
            config.device.clone_from(&self.usual);
        }
        let adapters = Adapters::new(&config);
        let gpu = adapters.open(&config)?;
        let mut shaping = shaping(&gpu);
        shaping.int64 &= !self.short;
        self.abilities = shaping.abilities();
        self.split_storage = SplitStorage::new(shaping.split());
        self.limits =
            resources::limits(gpu.limits.max_storage_buffers_per_shader_stage, &config.resources);
        let bytes = gpu.limits.max_storage_buffer_binding_size.min(gpu.limits.max_buffer_size);
        let hardware = gpu.is_hardware();
        let sizes = BlockLimits::of(&config, memory_budget::available(hardware), bytes / WIDEST);
        let device = gpu.name.clone();
        let identity = gpu.identity();
        // The probe's launches are not the user's, and are not subject to lowered limits.
        self.open = Some(OpenDriver::new(gpu, shaping, Blocks::new(u64::MAX, sizes.largest))?);
        let mut known = Capabilities {
            device,
            hardware,
            dtypes: self.abilities.dtypes.clone(),
            max_block_len: sizes.longest,
            max_dests: self.limits.0[resources::DESTINATIONS] as usize,
            forms: self.abilities.forms.clone(),
            max_reductions: resources::MOST_REDUCTIONS,
            resources: resources::named(&self.limits),
            devices: adapters.names,
            ..Capabilities::default()
        };
        let (findings, costs) = probe::find_out(self, &known, NAME, &identity)?;
        known.flushes_subnormals = findings.flushes_subnormals;
        known.findings = findings.named();
        known.costs = Some(costs);
        self.abilities.findings = findings;
        self.open()?.blocks = Blocks::new(sizes.memory, sizes.longest);
        Ok(known)
    }

    /// Checks a range of elements of a block (see [`SplitStorage::range`]).
    fn range(
        &self,
        operation: &'static str,
        block: BlockId,
        offset: usize,
        bytes: usize,
    ) -> Result<(usize, Option<[BlockId; 2]>)> {
        self.split_storage.range((NAME, operation), block, (offset, bytes), || {
            let open = self.open.as_ref().ok_or_else(|| driver_answers::is_closed(NAME))?;
            Ok(open.blocks.get(block)?.spec)
        })
    }
}

impl Driver for Wgpu {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        if self.open.is_some() {
            return Err(driver_answers::is_open(NAME));
        }
        let started = faults::caught(|| self.start(config)).unwrap_or_else(|panic| {
            Err(Error::new(ErrorKind::Unavailable, "init").says(panic).with("driver", NAME))
        });
        started.map_err(|error| {
            self.cleanup();
            driver_answers::does_not_work(NAME, error)
        })
    }

    fn cleanup(&mut self) {
        if let Some(mut open) = self.open.take() {
            // Errors while closing are ignored.
            let _ = faults::caught(|| {
                let _ = open.queue.finish(&open.gpu);
                open.compiler.save();
                open.gpu.device.destroy();
                drop(open);
            });
        }
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.abilities.method(op, dtype)
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let mut split_storage = std::mem::take(&mut self.split_storage);
        let block =
            self.guard("block_alloc", |open| match split_storage.split().splits(spec.dtype) {
                true => split_storage.alloc(open, spec, OpenDriver::alloc, OpenDriver::free),
                false => open.alloc(spec),
            });
        self.split_storage = split_storage;
        block
    }

    fn block_free(&mut self, block: BlockId) {
        let high = self.split_storage.remove(block).map(|long| long.high);
        // A lost device has no blocks; freeing one twice is ignored.
        let _ = self.guard("block_free", |open| {
            [Some(block), high].into_iter().flatten().for_each(|block| open.free(block));
            Ok(())
        });
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        let (_, halves) = self.range("block_read", block, offset, out.len())?;
        self.guard("block_read", |open| match halves {
            Some(halves) => {
                split_storage::read(halves, out, |half, out| open.read(half, offset, out))
            }
            None => open.read(block, offset, out),
        })
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let (_, halves) = self.range("block_write", block, offset, data.len())?;
        self.guard("block_write", |open| match halves {
            _ if data.is_empty() => Ok(()),
            Some(halves) => {
                split_storage::write(halves, data, |half, data| open.write(half, offset, data))
            }
            None => open.write(block, offset, data),
        })
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        let (split, need) = (self.split_storage.split(), resources::of_program);
        driver_answers::check(NAME, &self.abilities, split, program, need, &self.limits)
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let halved = self.split_storage.halved(launch);
        self.guard("eval_ir", |open| match &halved {
            Some(halved) => open.evaluator().eval(&halved.launch(launch)),
            None => open.evaluator().eval(launch),
        })
    }

    fn resource_get(&self, part: Part) -> Resources {
        resources::of_part(part, self.split_storage.split())
    }

    // `resource_zero`, `resource_add` and `resource_sub` are the contract's own: counts add up.

    fn resource_check(&self, resources: &Resources) -> bool {
        driver_answers::fits(resources, &self.limits)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gpupy_core::driver::{Access, Dest};
    use gpupy_core::ir::{Builder, Form};

    /// An open driver, where there is a device.
    fn opened() -> Option<Wgpu> {
        let mut wgpu = Wgpu::default();
        match wgpu.init(&Config::default()) {
            Ok(_) => Some(wgpu),
            Err(error) => {
                gpupy_conformance::skipped(error);
                None
            }
        }
    }

    #[test]
    fn a_lost_device_is_an_error_everywhere_until_it_is_opened_again() {
        let Some(mut wgpu) = opened() else { return };
        let spec = BlockSpec::new(DType::F32, 100);
        let block = wgpu.block_alloc(spec).unwrap();
        wgpu.block_write(block, 0, &[1; 400]).unwrap();
        let mut b = Builder::new(Form::Map, 1);
        let x = b.param(DType::F32);
        b.store(x);
        let program = b.finish();
        let access = Access { offset: 0, strides: [1].as_slice().into() };
        let launch = Launch {
            program: &program,
            fingerprint: program.fingerprint(),
            shape: &[100],
            operands: &[],
            params: &[0],
            accesses: &[],
            dests: &[Dest { block, access, whole: true }],
            memory: &[],
            lend: None,
            rest: None,
        };
        wgpu.eval_ir(&launch).unwrap();
        wgpu.open().unwrap().gpu.device.destroy();
        // The first call may come before wgpu reports the loss.
        let _ = wgpu.block_read(block, 0, &mut [0; 400]);
        let lost = |error: Error| assert_eq!(error.kind(), ErrorKind::DeviceLost, "{error}");
        lost(wgpu.block_read(block, 0, &mut [0; 400]).unwrap_err());
        lost(wgpu.block_write(block, 0, &[0; 400]).unwrap_err());
        lost(wgpu.block_alloc(spec).unwrap_err());
        lost(wgpu.eval_ir(&launch).unwrap_err());
        wgpu.block_free(block);
        wgpu.cleanup();
        wgpu.init(&Config::default()).unwrap();
        let block = wgpu.block_alloc(spec).unwrap();
        wgpu.block_write(block, 0, &[1; 400]).unwrap();
        let mut out = [0; 400];
        wgpu.block_read(block, 0, &mut out).unwrap();
        assert_eq!(out, [1; 400]);
    }
}
