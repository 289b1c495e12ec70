//! The contract's 14 functions.
//!
//! Owns [`Vulkan`]. Invariants: nothing is opened before `init`; once the device is lost, nothing is open
//! any more.
//!
//! Not here: what is done (`open.rs` and its neighbours).

use super::device::Gpu;
use super::instance::Instance;
use super::open::Open;
use super::resources;
use super::trial::Trial;
use crate::NAME;
use gpupy_codegen::disk::Shelf;
use gpupy_codegen::probe::{self, Findings};
use gpupy_codegen::supports;
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Costs, Driver, Evaluated, Launch, Method,
    Part, Resources,
};
use gpupy_core::ir::{Form, FormKind, Program};
use gpupy_core::op::{Op, Rule};
use gpupy_core::{DType, Error, ErrorKind, Result};

/// Elements of the largest block, however large allocations may be.
const MAX_BLOCK_LEN: u64 = 1 << 28;

/// Bytes of the widest element.
const WIDEST: u64 = 8;

/// A Vulkan driver, closed.
pub fn new() -> Box<dyn Driver> {
    Box::new(Vulkan::default())
}

/// A Vulkan driver, closed, for a test.
pub fn new_trial(trial: Trial) -> Box<dyn Driver> {
    Box::new(Vulkan { trial, ..Vulkan::default() })
}

/// The Vulkan driver.
#[derive(Default)]
struct Vulkan {
    open: Option<Open>,
    dtypes: Vec<DType>,
    limits: Resources,
    findings: Findings,
    /// What was found out about which device, for the next opening.
    known: Option<(String, Findings, Costs)>,
    trial: Trial,
}

impl Vulkan {
    fn open(&mut self) -> Result<&mut Open> {
        self.open.as_mut().ok_or_else(|| {
            Error::new(ErrorKind::Invalid, NAME).says("the driver is not open").with("driver", NAME)
        })
    }

    /// Does something with the open device, which is closed if it turns out to be lost.
    fn with<T>(&mut self, work: impl FnOnce(&mut Open) -> Result<T>) -> Result<T> {
        let outcome = work(self.open()?);
        if outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::DeviceLost) {
            self.open = None;
        }
        outcome
    }

    /// Opens a device; what is found out about it is tried now, or was on an earlier day.
    fn start(&mut self, config: &Config) -> Result<Capabilities> {
        let instance = Instance::new(self.trial.watched)?;
        let devices = instance.devices()?;
        let mut gpu = Gpu::open(instance, &devices, config)?;
        self.trial.reduce(&mut gpu.traits);
        let traits = gpu.traits.clone();
        let at_most = |wanted: u64, ours: u64| if wanted == 0 { ours } else { wanted.min(ours) };
        let memory = at_most(config.device_bytes, traits.memory);
        let largest = MAX_BLOCK_LEN.min(traits.largest / WIDEST);
        let wanted = match config.block_bytes {
            0 => 0,
            bytes => (bytes / WIDEST).max(256),
        };
        let max_block_len = at_most(wanted, largest) as usize;
        self.dtypes = traits.kernels.dtypes();
        self.limits = resources::limits(&config.resources);
        self.findings = Findings::default();
        // What is tried is not the user's, and needs no room in a lowered limit.
        self.open = Some(Open::new(gpu, u64::MAX, largest as usize)?);
        let forms = FormKind::ALL.into_iter().filter(|form| *form != FormKind::Map);
        let mut capabilities = Capabilities {
            device: traits.name,
            hardware: traits.hardware,
            dtypes: self.dtypes.clone(),
            max_block_len: largest as usize,
            max_dests: self.limits.0[resources::DESTINATIONS] as usize,
            forms: forms.filter(|form| traits.kernels.supports_form(*form)).collect(),
            resources: resources::named(&self.limits),
            devices: devices.into_iter().map(|device| device.name).collect(),
            ..Capabilities::default()
        };
        let (findings, costs) = self.try_out(&capabilities, &traits.identity)?;
        self.open()?.blocks.limit(memory, max_block_len);
        capabilities.max_block_len = max_block_len;
        capabilities.flushes_subnormals = findings.flushes_subnormals;
        capabilities.findings = findings.named();
        capabilities.costs = Some(costs);
        self.findings = findings;
        Ok(capabilities)
    }

    fn try_out(&mut self, known: &Capabilities, identity: &str) -> Result<(Findings, Costs)> {
        if let Some((_, findings, costs)) = self.known.as_ref().filter(|(of, ..)| of == identity) {
            return Ok((findings.clone(), *costs));
        }
        let shelf = Shelf::of(NAME);
        let key = probe::key(identity);
        let kept = shelf.as_ref().and_then(|shelf| probe::from_bytes(&shelf.take(&key)?));
        let (findings, costs) = match kept {
            Some(kept) => kept,
            None => {
                let tried = (Findings::of(self, known)?, probe::costs(self, known)?);
                if let Some(shelf) = shelf {
                    shelf.put(&key, &probe::to_bytes(&tried.0, &tried.1));
                }
                tried
            }
        };
        self.known = Some((identity.to_owned(), findings.clone(), costs));
        Ok((findings, costs))
    }
}

impl Driver for Vulkan {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        if self.open.is_some() {
            return Err(Error::new(ErrorKind::Invalid, "init")
                .says("the driver is open already")
                .with("driver", NAME));
        }
        self.start(config).map_err(|error| {
            self.cleanup();
            if error.kind() == ErrorKind::Unavailable {
                return error;
            }
            Error::new(ErrorKind::Unavailable, "init")
                .says("the device does not work")
                .with("driver", NAME)
                .with("reason", &error)
                .from_source(error)
        })
    }

    fn cleanup(&mut self) {
        self.open = None;
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        if let Some(method) = self.findings.method(op, dtype) {
            return method;
        }
        let native = match op {
            _ if op.form().is_some() => self.open.as_ref().is_some_and(|open| {
                op.form().is_some_and(|form| open.gpu.traits.kernels.supports_form(form))
            }),
            _ if op.info().rule == Rule::Special => true,
            // Of a cast, `dtype` is what comes out; what goes in is then any of ours.
            Op::Cast => self.dtypes.iter().all(|from| supports(op, *from, dtype)),
            _ => supports(op, dtype, dtype),
        };
        if native && self.dtypes.contains(&dtype) { Method::Native } else { Method::Absent }
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.with(|open| open.alloc(spec))
    }

    fn block_free(&mut self, block: BlockId) {
        if let Some(open) = &mut self.open {
            open.free(block);
        }
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.with(|open| {
            within("block_read", open.blocks.get(block)?.spec, offset, out.len())?;
            open.read(block, offset, out)
        })
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.with(|open| {
            within("block_write", open.blocks.get(block)?.spec, offset, data.len())?;
            if data.is_empty() {
                return Ok(());
            }
            open.write(block, offset, data)
        })
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        for inst in &program.insts {
            let operand = usize::from(inst.op == Op::Select);
            let first = program.uses(inst).nth(operand).map(|v| program.insts[v as usize].dtype);
            let from = first.unwrap_or(inst.dtype);
            let known = self.dtypes.contains(&inst.dtype) && self.dtypes.contains(&from);
            let spelled =
                inst.op.info().rule == Rule::Special || supports(inst.op, from, inst.dtype);
            let formed = match (inst.op.form(), program.form) {
                (None, _) => true,
                (Some(FormKind::Reduce), Form::Reduce { op }) => {
                    self.get_method(inst.op, inst.dtype) == Method::Native
                        && supports(op, inst.dtype, inst.dtype)
                }
                (Some(_), _) => self.get_method(inst.op, inst.dtype) == Method::Native,
            };
            let wrong = self.findings.method(inst.op, from).is_some();
            if !(known && spelled && formed) || wrong {
                return Err(Error::new(ErrorKind::Unsupported, "check_ir")
                    .with("driver", NAME)
                    .with("operation", inst.op.info().name)
                    .with("dtype", from));
            }
        }
        let resources = resources::of_program(program);
        Ok(Check { fits: self.resource_check(&resources), resources })
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        self.with(|open| open.eval(launch))
    }

    fn resource_get(&self, part: Part) -> Resources {
        resources::of_part(part)
    }

    // `resource_zero`, `resource_add` and `resource_sub` are the contract's own: counts add up.

    fn resource_check(&self, resources: &Resources) -> bool {
        resources.0.iter().zip(self.limits.0).all(|(need, limit)| *need <= limit)
    }
}

/// Checks that a range of elements lies inside the block.
fn within(operation: &'static str, spec: BlockSpec, offset: usize, bytes: usize) -> Result<()> {
    let end = offset.saturating_add(bytes / spec.dtype.size());
    if end <= spec.len && bytes.is_multiple_of(spec.dtype.size()) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Invalid, operation)
        .says("the range is not one of whole elements inside the block")
        .with("driver", NAME)
        .with("bytes", bytes)
        .with("end", end)
        .with("block", spec.len))
}
