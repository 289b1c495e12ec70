//! The contract monitor: a driver that checks the core's half of the contract.
//!
//! Owns [`ContractMonitor`], which stands between the core and the driver under test. The core's promises ("who
//! checks what" in the contract) are checked before the driver sees a call. A broken promise is an `Invalid`
//! error, which the core may not hide.
//!
//! Not here: whether results are right (`model_based.rs`).

use crate::expect::oracle::{contiguous, points};
use gpupy_core::driver::{
    Access, BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, HostBlock, Launch,
    Lend, Method, Part, Resources,
};
use gpupy_core::ir::{AccessKind, Form, Inst, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The driver under test, monitored.
pub struct ContractMonitor {
    inner: Box<dyn Driver>,
    caps: Option<Capabilities>,
    live: HashMap<BlockId, BlockSpec>,
}

impl ContractMonitor {
    pub fn boxed(inner: Box<dyn Driver>) -> Box<dyn Driver> {
        Box::new(ContractMonitor { inner, caps: None, live: HashMap::new() })
    }

    fn block(&self, id: BlockId) -> Result<BlockSpec> {
        self.live.get(&id).copied().ok_or_else(|| broken(format!("block {} is not live", id.0)))
    }

    /// The block, or the memory in its place, that a launch names as one of this dtype.
    fn named(&self, launch: &Launch<'_>, id: BlockId, dtype: DType) -> Result<BlockSpec> {
        if launch.memory.is_empty() {
            return self.block(id);
        }
        let piece = launch.memory.get(id.0 as usize);
        let HostBlock { memory, len } =
            *piece.ok_or_else(|| broken(format!("there is no memory {}", id.0)))?;
        Ok(BlockSpec { dtype, len, memory: Some(memory) })
    }

    /// A range of elements of a block, as host memory of so many bytes.
    fn range(&self, id: BlockId, offset: usize, bytes: usize) -> Result<()> {
        let spec = self.block(id)?;
        let whole = bytes.is_multiple_of(spec.dtype.size());
        let end = offset + bytes / spec.dtype.size();
        promise(whole && end <= spec.len, || format!("{bytes} bytes from {offset} of {spec:?}"))
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<()> {
        let program = launch.program;
        verified(program)?;
        let caps = self.caps.as_ref().ok_or_else(|| broken("the driver is not open".into()))?;
        let (rank, shape) = (program.rank as usize, launch.shape);
        promise(launch.fingerprint == program.fingerprint(), || "another fingerprint".into())?;
        promise(shape.len() == rank && !shape.contains(&0), || format!("shape {shape:?}"))?;
        promise(launch.params.len() == program.params.len(), || "other parameters".into())?;
        for (dtype, bits) in program.params.iter().zip(launch.params) {
            let most = u64::MAX >> (64 - 8 * dtype.size().min(8));
            promise(*bits <= most, || format!("a {dtype} parameter of {bits:#x}"))?;
        }
        promise(launch.dests.len() <= caps.max_dests, || "too many destinations".into())?;
        self.reductions(program)?;
        self.memory(launch, caps)?;
        self.accesses(launch)?;
        self.operands(launch)?;
        self.dests(launch)
    }

    /// A sequence has no more launches than the driver takes, each of which is an evaluation of blocks by itself.
    fn sequence(&self, launch: &Launch<'_>) -> Result<()> {
        let Some(rest) = launch.rest else { return Ok(()) };
        let most = self.caps.as_ref().map_or(1, |caps| caps.max_launches);
        let count = launch.all().count();
        promise(2 <= most && count <= most, || format!("{count} launches of at most {most}"))?;
        let is_plain = |launch: &Launch<'_>| launch.memory.is_empty() && launch.lend.is_none();
        promise(launch.all().all(is_plain), || "a sequence brings memory or lends".into())?;
        let is_last = |launch: &Launch<'_>| launch.rest.is_none();
        promise(rest.launches.iter().all(is_last), || "a sequence in a sequence".into())
    }

    /// A program has no more reductions than the driver takes.
    fn reductions(&self, program: &Program) -> Result<()> {
        let reduces = program.insts.iter().filter(|inst| inst.op == Op::Reduce).count();
        let most = self.caps.as_ref().map_or(1, |caps| caps.max_reductions.max(1));
        promise(reduces <= most, || format!("{reduces} reductions of at most {most}"))
    }

    /// Memory is only brought to drivers that accept it, and aligned; destinations do not overlap other pieces.
    fn memory(&self, launch: &Launch<'_>, caps: &Capabilities) -> Result<()> {
        let (memory, program) = (launch.memory, launch.program);
        promise(memory.is_empty() || caps.memory_launches, || "it brings memory".into())?;
        let is_lent = |lend: Lend| caps.lends >> lend.kind as u32 & 1 == 1;
        promise(launch.lend.is_none_or(is_lent), || "it lends a block".into())?;
        let operands = launch.operands.iter().zip(&program.operands);
        let dests = launch.dests.iter().map(|dest| &dest.block).zip(&program.dests);
        let mut spans = Vec::new();
        for (at, (id, dtype)) in operands.chain(dests).enumerate().filter(|_| !memory.is_empty()) {
            let spec = self.named(launch, *id, *dtype)?;
            let start = spec.memory.map_or(0, |memory| memory.as_ptr().addr());
            let fits = (1..=caps.max_block_len).contains(&spec.len);
            promise(fits && start % dtype.size() == 0, || format!("memory of {spec:?}"))?;
            spans.push((*id, start..start + spec.bytes() as usize, at >= launch.operands.len()));
        }
        for (at, (id, span, _)) in spans.iter().enumerate() {
            let meets = |(other, at, _): &&(BlockId, Range<usize>, bool)| {
                other != id && at.start < span.end && span.start < at.end
            };
            let met = spans[at..].iter().find(meets);
            let written = met.is_some_and(|(_, _, dest)| *dest);
            promise(!written, || "a destination overlaps other memory".into())?;
        }
        Ok(())
    }

    /// A block is not one over imported memory.
    fn writable(&self, block: BlockId) -> Result<()> {
        let works_there = self.caps.as_ref().is_some_and(|caps| caps.host_memory);
        let spec = self.block(block)?;
        promise(spec.memory.is_none() || works_there, || format!("{spec:?} is imported"))
    }

    /// The numbers of accesses are of their kinds, and stay inside the operands.
    fn accesses(&self, launch: &Launch<'_>) -> Result<()> {
        let program = launch.program;
        let rank = program.rank as usize;
        promise(launch.accesses.len() == program.accesses.len(), || "other accesses".into())?;
        for (at, (kind, access)) in program.accesses.iter().zip(launch.accesses).enumerate() {
            promise(access.strides.len() == rank, || format!("a{at} has other axes: {access:?}"))?;
            // Whole-program forms have an access for each load.
            let whole = matches!(program.form, Form::Scan { .. });
            let shape = if whole { load_shape(launch, at) } else { launch.shape.to_vec() };
            let strides = access.strides.iter().zip(contiguous(&shape).strides);
            let mut strides = strides.zip(&shape).filter(|(_, extent)| **extent > 1);
            let kept = match kind {
                AccessKind::Contiguous => strides.all(|((have, want), _)| *have == want),
                AccessKind::Uniform => strides.all(|((have, _), _)| *have == 0),
                AccessKind::Affine => true,
            };
            promise(kept, || format!("a{at} over {:?} is not {kind}: {access:?}", launch.shape))?;
        }
        for (at, inst) in program.insts.iter().enumerate().filter(|(_, i)| i.op == Op::Load) {
            let [operand, slot, _] = inst.args.map(|arg| arg as usize);
            let shape = load_shape(launch, at);
            if program.form == Form::MatMul {
                // The first operand does not move along n, the second not along m.
                let still = shape.len() - 2 - at;
                let rests = launch.accesses[slot].strides[still] == 0 || shape[still] == 1;
                promise(rests, || format!("a{slot} moves along axis {still}"))?;
            }
            let len = self.named(launch, launch.operands[operand], inst.dtype)?.len as i64;
            let (low, high) = extent(&launch.accesses[slot], &shape);
            promise(0 <= low && high < len, || {
                format!("a{slot} is {low}..={high} of {len} elements")
            })?;
        }
        Ok(())
    }

    fn operands(&self, launch: &Launch<'_>) -> Result<()> {
        promise(launch.operands.len() == launch.program.operands.len(), || {
            "other operands".into()
        })?;
        for (block, dtype) in launch.operands.iter().zip(&launch.program.operands) {
            let spec = self.named(launch, *block, *dtype)?;
            promise(spec.dtype == *dtype, || format!("{spec:?} is no operand of {dtype}"))?;
            let apart = launch.dests.iter().all(|dest| dest.block != *block);
            promise(apart || self.in_place(launch, *block), || {
                "an operand is also a destination".into()
            })?;
        }
        Ok(())
    }

    /// Whether a driver in host memory has declared that it writes into operands, and each point of the launch
    /// reads only its own element of this block.
    fn in_place(&self, launch: &Launch<'_>, block: BlockId) -> bool {
        let may = self.caps.as_ref().is_some_and(|caps| caps.in_place && caps.host_memory);
        let [dest] = launch.dests else { return false };
        let own = |inst: &Inst| match inst.op {
            Op::Load if launch.operands[inst.args[0] as usize] == block => {
                launch.accesses[inst.args[1] as usize] == dest.access
            }
            Op::Gather => launch.operands[inst.args[0] as usize] != block,
            _ => true,
        };
        may && launch.program.form == Form::Map && launch.program.insts.iter().all(own)
    }

    /// Destinations lie inside their blocks, and no two points share an element.
    fn dests(&self, launch: &Launch<'_>) -> Result<()> {
        promise(launch.dests.len() == launch.program.dests.len(), || "other destinations".into())?;
        let shape = out_shape(launch);
        for (dest, dtype) in launch.dests.iter().zip(&launch.program.dests) {
            if launch.memory.is_empty() {
                self.writable(dest.block)?;
            }
            let spec = self.named(launch, dest.block, *dtype)?;
            let about = || format!("{dest:?} of {spec:?} over {shape:?}, a {dtype}");
            let (low, high) = extent(&dest.access, &shape);
            let inside = 0 <= low && high < spec.len as i64 && spec.dtype == *dtype;
            promise(inside && dest.access.strides.len() == shape.len(), about)?;
            let place = |point: Vec<usize>| {
                let steps = dest.access.strides.iter().zip(&point);
                dest.access.offset + steps.map(|(stride, i)| stride * *i as i64).sum::<i64>()
            };
            let places: HashSet<i64> = points(&shape).map(place).collect();
            promise(places.len() == shape.iter().product::<usize>(), about)?;
            let in_order = || points(&shape).map(place).eq(0..spec.len as i64);
            promise(!dest.whole || in_order(), about)?;
        }
        Ok(())
    }
}

/// The shape of the output space.
fn out_shape(launch: &Launch<'_>) -> Vec<usize> {
    let mut shape = launch.shape.to_vec();
    let last = shape.len() - 1;
    match launch.program.form {
        Form::Reduce { .. } => shape[last] = shape[last].div_ceil(256),
        Form::MatMul => shape[last] = 1,
        Form::Map | Form::Scan { .. } | Form::Sort | Form::Routine { .. } => {}
    }
    shape
}

/// The shape of the space in which a load stands.
fn load_shape(launch: &Launch<'_>, at: usize) -> Vec<usize> {
    let program = launch.program;
    let mut shape = launch.shape.to_vec();
    let reduce = program.insts.iter().position(|inst| inst.op == Op::Reduce);
    if reduce.is_some_and(|reduce| at > reduce) {
        return out_shape(launch);
    }
    if let (Form::Scan { .. }, 1, Some(n)) = (program.form, at, shape.last_mut()) {
        *n = n.div_ceil(256);
    }
    if let Form::Routine { .. } = program.form {
        return program.form.operand_shape(at, &shape, launch.params).to_vec();
    }
    shape
}

/// The lowest and the highest number of an access.
fn extent(access: &Access, shape: &[usize]) -> (i64, i64) {
    let mut range = (access.offset, access.offset);
    for (stride, extent) in access.strides.iter().zip(shape) {
        let reach = stride * (*extent as i64 - 1);
        range = (range.0 + reach.min(0), range.1 + reach.max(0));
    }
    range
}

fn verified(program: &Program) -> Result<()> {
    program.verify().map_err(|error| broken(format!("{error}\n{program}")))
}

fn promise(kept: bool, about: impl FnOnce() -> String) -> Result<()> {
    if kept { Ok(()) } else { Err(broken(about())) }
}

fn broken(said: String) -> Error {
    Error::new(ErrorKind::Invalid, "promise").says(format!("the core does not keep it: {said}"))
}

impl Driver for ContractMonitor {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        promise(self.caps.is_none(), || "a second init".into())?;
        let caps = self.inner.init(config)?;
        self.caps = Some(caps.clone());
        Ok(caps)
    }

    fn cleanup(&mut self) {
        self.caps = None;
        self.live.clear();
        self.inner.cleanup();
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.inner.get_method(op, dtype)
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let fits = self.caps.as_ref().is_some_and(|caps| {
            (1..=caps.max_block_len).contains(&spec.len) && caps.dtypes.contains(&spec.dtype)
        });
        promise(fits, || format!("a block of {spec:?}"))?;
        let block = self.inner.block_alloc(spec)?;
        let before = self.live.insert(block, spec);
        promise(before.is_none(), || format!("block {} is given out twice", block.0))?;
        Ok(block)
    }

    fn block_free(&mut self, block: BlockId) {
        // This function cannot report an error, so the block is kept, and the memory limit reports it.
        if self.live.remove(&block).is_some() {
            self.inner.block_free(block);
        }
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.range(block, offset, out.len())?;
        self.inner.block_read(block, offset, out)
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.range(block, offset, data.len())?;
        self.writable(block)?;
        self.inner.block_write(block, offset, data)
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        verified(program)?;
        self.reductions(program)?;
        self.inner.check_ir(program)
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        launch.all().try_for_each(|launch| self.launch(launch))?;
        self.sequence(launch)?;
        self.inner.eval_ir(launch)
    }

    fn resource_get(&self, part: Part) -> Resources {
        self.inner.resource_get(part)
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        self.inner.resource_check(resources)
    }
}

#[cfg(all(test, feature = "soft"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::expect::oracle::affine;
    use gpupy_core::driver::Dest;
    use gpupy_core::ir::Builder;

    /// A copy of 10 elements by these accesses, between blocks of 10.
    fn copy(from: Access, kind: AccessKind, to: Access, whole: bool, same: bool) -> Result<()> {
        let mut driver = ContractMonitor::boxed(driver_soft::new());
        driver.init(&Config::default())?;
        let spec = BlockSpec::new(DType::F32, 10);
        let (source, other) = (driver.block_alloc(spec)?, driver.block_alloc(spec)?);
        let mut b = Builder::new(Form::Map, 1);
        let (operand, access) = (b.operand(DType::F32), b.access(kind));
        let value = b.load(operand, access);
        b.store(value);
        let program = b.finish();
        let dest = Dest { block: if same { source } else { other }, access: to, whole };
        let launch = Launch {
            program: &program,
            fingerprint: program.fingerprint(),
            shape: &[5],
            operands: &[source],
            params: &[],
            accesses: &[from],
            dests: &[dest],
            memory: &[],
            lend: None,
            rest: None,
        };
        driver.eval_ir(&launch).map(|_| ())
    }

    #[test]
    fn broken_promises_are_errors() {
        let good = || affine(0, &[1]);
        let check = |result: Result<()>, wanted: &str| {
            let said = result.unwrap_err().to_string();
            assert!(said.contains(wanted), "{said}, not {wanted}");
        };
        let kind = AccessKind::Affine;
        copy(good(), kind, affine(5, &[1]), false, false).unwrap();
        check(copy(affine(6, &[1]), kind, good(), false, false), "a0 is 6..=10 of 10 elements");
        check(copy(affine(1, &[-1]), kind, good(), false, false), "a0 is -3..=1 of 10");
        check(copy(good(), AccessKind::Uniform, good(), false, false), "is not uniform");
        check(copy(good(), kind, affine(6, &[1]), false, false), "offset: 6");
        check(copy(good(), kind, affine(0, &[0]), false, false), "strides: [0]");
        check(copy(good(), kind, good(), true, false), "whole: true");
        check(copy(good(), kind, good(), false, true), "an operand is also a destination");
    }

    #[test]
    fn more_reductions_than_a_driver_takes_are_a_broken_promise() {
        let mut driver = ContractMonitor::boxed(driver_soft::new());
        let most = driver.init(&Config::default()).unwrap().max_reductions;
        let mut b = Builder::new(Form::Reduce { op: Op::Add }, 1);
        let slot = b.access(AccessKind::Affine);
        let value = b.index(slot);
        let by = [Op::Add, Op::Mul, Op::Min, Op::Max, Op::And];
        let results: Vec<u32> = by.into_iter().map(|op| b.reduce_by(op, value)).collect();
        b.store(results[0]);
        let program = b.finish();
        let said = driver.check_ir(&program).unwrap_err().to_string();
        assert!(said.contains(&format!("5 reductions of at most {most}")), "{said}");
        let launch = Launch {
            program: &program,
            fingerprint: program.fingerprint(),
            shape: &[5],
            operands: &[],
            params: &[],
            accesses: &[affine(0, &[1])],
            dests: &[],
            memory: &[],
            lend: None,
            rest: None,
        };
        let said = driver.eval_ir(&launch).unwrap_err().to_string();
        assert!(said.contains(&format!("5 reductions of at most {most}")), "{said}");
    }
}
