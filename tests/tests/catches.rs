//! The suite catches a driver that breaks the contract: a good one is spoiled in one way at a time.

#![allow(clippy::unwrap_used)]

use gpupy_conformance::{Case, Options};
use gpupy_core::driver::{
    Access, BlockId, BlockSpec, Capabilities, Check, Config, Dest, Driver, Evaluated, Launch,
    Method, Part, Resources,
};
use gpupy_core::ir::{Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::collections::HashMap;

/// One way to break the contract.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spoil {
    Nothing,
    /// One operation computes another.
    Swap(Op, Op),
    /// Reductions go from the other end.
    OtherTree,
    /// The last point of each row is not computed.
    LastPoint,
    /// The element before the destination's first is overwritten.
    Outside,
    /// Offsets of destinations are forgotten.
    DestOffset,
    /// Scalars of the first launch of a program are kept.
    StaleScalars,
    /// Operands are overwritten.
    Operands,
    /// Reads begin one element late where they can.
    LateRead,
    /// Writes leave out the last element of several.
    ShortWrite,
    /// The memory limit is not kept.
    NoLimit,
    /// Lack of memory is called something else.
    OtherKind,
    /// Freed memory does not come back.
    Leak,
    /// The needs of parts are not told.
    FreeParts,
    /// Everything is said to fit.
    AllFits,
    /// An operation that exists is denied.
    Denied(Op),
    /// An operation that fails is claimed.
    Claimed(Op),
    /// A launch panics.
    Panic,
    /// The device has another name each time.
    Fickle,
}

struct Spoiled {
    inner: Box<dyn Driver>,
    how: Spoil,
    params: HashMap<u128, Vec<u64>>,
    inits: usize,
}

impl Spoiled {
    fn boxed(how: Spoil) -> Box<dyn Driver> {
        let inner = driver_soft::new();
        Box::new(Spoiled { inner, how, params: HashMap::new(), inits: 0 })
    }
}

fn unlike(program: &Program, from: Op, to: Op) -> Program {
    let mut program = program.clone();
    for inst in program.insts.iter_mut().filter(|inst| inst.op == from) {
        inst.op = to;
    }
    if let Form::Reduce { op } = &mut program.form
        && *op == from
    {
        *op = to;
    }
    program
}

impl Driver for Spoiled {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        let mut config = *config;
        if self.how == Spoil::NoLimit {
            config.device_bytes = config.device_bytes.saturating_mul(4);
        }
        let mut caps = self.inner.init(&config)?;
        self.inits += 1;
        if self.how == Spoil::Fickle {
            caps.device += &self.inits.to_string();
        }
        Ok(caps)
    }

    fn cleanup(&mut self) {
        self.inner.cleanup();
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        match self.how {
            Spoil::Denied(denied) if denied == op => Method::Absent,
            Spoil::Claimed(claimed) if claimed == op => Method::Native,
            _ => self.inner.get_method(op, dtype),
        }
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let block = self.inner.block_alloc(spec);
        match self.how {
            Spoil::OtherKind => block.map_err(|_| Error::new(ErrorKind::Refused, "block_alloc")),
            _ => block,
        }
    }

    fn block_free(&mut self, block: BlockId) {
        if self.how != Spoil::Leak {
            self.inner.block_free(block);
        }
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        if self.how == Spoil::LateRead && self.inner.block_read(block, offset + 1, out).is_ok() {
            return Ok(());
        }
        self.inner.block_read(block, offset, out)
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let short = self.how == Spoil::ShortWrite && data.len() > 4;
        let data = if short { &data[..data.len() - 4] } else { data };
        self.inner.block_write(block, offset, data)
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        let check = self.inner.check_ir(program)?;
        Ok(Check { fits: check.fits || self.how == Spoil::AllFits, ..check })
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let mut program = launch.program.clone();
        let mut shape = launch.shape.to_vec();
        let mut params = launch.params.to_vec();
        let mut accesses = launch.accesses.to_vec();
        let mut dests = launch.dests.to_vec();
        match self.how {
            Spoil::Swap(from, to) => program = unlike(&program, from, to),
            Spoil::OtherTree if program.form != Form::Map => reverse(&mut accesses, &shape),
            Spoil::LastPoint => {
                let last = shape.last_mut().unwrap();
                *last = (*last - 1).max(1);
            }
            Spoil::DestOffset => dests.iter_mut().for_each(|dest| dest.access.offset = 0),
            Spoil::StaleScalars => {
                params = self.params.entry(launch.fingerprint.0).or_insert(params).clone();
            }
            Spoil::Panic => panic!("spoiled"),
            _ => {}
        }
        let evaluated = self.inner.eval_ir(&Launch {
            program: &program,
            shape: &shape,
            params: &params,
            accesses: &accesses,
            dests: &dests,
            ..*launch
        });
        if let (Spoil::Operands, Some(operand)) = (self.how, launch.operands.first()) {
            self.inner.block_write(*operand, 0, &[1])?;
        }
        if let (Spoil::Outside, Some(Dest { block, access, .. })) = (self.how, dests.first())
            && access.offset > 0
        {
            self.inner.block_write(*block, access.offset as usize - 1, &[1])?;
        }
        evaluated
    }

    fn resource_get(&self, part: Part) -> Resources {
        match self.how {
            Spoil::FreeParts => Resources::default(),
            _ => self.inner.resource_get(part),
        }
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        self.inner.resource_check(resources)
    }
}

/// Turns every access around along the last axis.
fn reverse(accesses: &mut [Access], shape: &[usize]) {
    for access in accesses {
        if let (Some(stride), Some(n)) = (access.strides.last_mut(), shape.last()) {
            access.offset += *stride * (*n as i64 - 1);
            *stride = -*stride;
        }
    }
}

#[track_caller]
fn check(how: Spoil, wanted: &str) {
    let group = wanted.split('/').next();
    let wanted_group = |name: &str, _: &str| group == Some(name);
    let options = Options { wanted: Some(&wanted_group), ..Options::default() };
    let report = gpupy_conformance::run(move || Spoiled::boxed(how), options).unwrap();
    let failed: Vec<_> = report.failures().map(Case::full_name).collect();
    assert!(failed.iter().any(|case| case.starts_with(wanted)), "{how:?}: failed are {failed:#?}");
}

#[test]
fn a_driver_that_is_not_spoiled_passes() {
    gpupy_conformance::check(|| Spoiled::boxed(Spoil::Nothing));
}

#[test]
fn wrong_operations_are_caught() {
    check(Spoil::Swap(Op::Floor, Op::Trunc), "elementwise/floor");
    check(Spoil::Swap(Op::Lt, Op::Le), "elementwise/lt");
    check(Spoil::Swap(Op::Shr, Op::Shl), "elementwise/shr");
    check(Spoil::Swap(Op::Fmod, Op::Copysign), "elementwise/fmod");
    check(Spoil::Swap(Op::Cast, Op::Bitcast), "dtypes/");
    check(Spoil::Swap(Op::Max, Op::Min), "reductions/max");
}

#[test]
fn wrong_launches_are_caught() {
    check(Spoil::OtherTree, "reductions/add of float32");
    check(Spoil::LastPoint, "views/");
    check(Spoil::Outside, "eval_ir/");
    check(Spoil::DestOffset, "eval_ir/");
    check(Spoil::StaleScalars, "eval_ir/again and again");
    check(Spoil::Operands, "elementwise/");
    check(Spoil::Panic, "eval_ir/");
}

#[test]
fn wrong_blocks_are_caught() {
    check(Spoil::LateRead, "block_read/parts of a block");
    check(Spoil::ShortWrite, "block_write/whole blocks");
    check(Spoil::NoLimit, "block_alloc/a device");
    check(Spoil::OtherKind, "block_alloc/a device");
    check(Spoil::Leak, "block_alloc/a device");
}

#[test]
fn wrong_answers_are_caught() {
    check(Spoil::FreeParts, "resource_get/is an upper bound");
    check(Spoil::AllFits, "resource_check/agrees");
    check(Spoil::Denied(Op::Sqrt), "get_method/agrees");
    check(Spoil::Claimed(Op::Loop), "regions/");
    check(Spoil::Fickle, "init/again after cleanup");
}
