//! Mutations of a good driver's results: it computes, moves, counts or answers wrongly in one way.

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
pub enum Spoil {
    Nothing,
    /// One operation computes another.
    Swap(Op, Op),
    /// Reductions go from the other end.
    OtherTree,
    /// Every reduction of a program combines as the first.
    OneOperation,
    /// Every reduction of a program is of the first one's value, where the dtypes agree.
    OneValue,
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
    /// Evaluations write only one NaN.
    QuietNan,
    /// Evaluations write no negative zero.
    PositiveZero,
    /// Evaluations write no subnormal numbers, although the capabilities do not say so.
    Flushes,
}

/// The spoiled driver.
pub struct Spoiled {
    inner: Box<dyn Driver>,
    how: Spoil,
    params: HashMap<u128, Vec<u64>>,
    specs: HashMap<BlockId, BlockSpec>,
    inits: usize,
}

impl Spoiled {
    pub fn boxed(how: Spoil) -> Box<dyn Driver> {
        let inner = driver_soft::new();
        Box::new(Spoiled { inner, how, params: HashMap::new(), specs: HashMap::new(), inits: 0 })
    }
}

impl Spoiled {
    /// Spoils bits of float32 that stand in a block.
    fn spoil_bits(&mut self, block: BlockId) -> Result<()> {
        let spoil = match self.how {
            Spoil::QuietNan => |x: f32| if x.is_nan() { f32::NAN } else { x },
            Spoil::PositiveZero => |x: f32| if x == 0.0 { 0.0 } else { x },
            Spoil::Flushes => |x: f32| if x.is_subnormal() { 0.0 } else { x },
            _ => return Ok(()),
        };
        let Some(spec) = self.specs.get(&block).filter(|spec| spec.dtype == DType::F32) else {
            return Ok(());
        };
        let mut bytes = vec![0; 4 * spec.len];
        self.inner.block_read(block, 0, &mut bytes)?;
        for bytes in bytes.chunks_exact_mut(4) {
            let x = f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            bytes.copy_from_slice(&spoil(x).to_ne_bytes());
        }
        self.inner.block_write(block, 0, &bytes)
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

/// Makes further reductions as the first is, where they can be.
fn like_the_first(program: &mut Program, how: Spoil) {
    let Some(first) = program.reductions().next() else { return };
    for inst in program.insts.iter_mut().filter(|inst| inst.op == Op::Reduce) {
        match how {
            Spoil::OneValue if inst.dtype == first.dtype => inst.args[0] = first.value,
            Spoil::OneOperation if inst.args[1] != 0 && first.op.reduces(inst.dtype) => {
                inst.args[1] = first.op as u32;
            }
            _ => {}
        }
    }
}

impl Driver for Spoiled {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        let mut config = config.clone();
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
        if let Ok(block) = block {
            self.specs.insert(block, spec);
        }
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
            Spoil::OneOperation | Spoil::OneValue => like_the_first(&mut program, self.how),
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
        for dest in &dests {
            self.spoil_bits(dest.block)?;
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
