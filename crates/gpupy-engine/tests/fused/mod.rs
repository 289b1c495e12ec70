//! A driver for the tests of partitioning and placement: it evaluates whole map programs element by
//! element, counts what it was asked, and refuses what it is told to.
//!
//! Reductions and regions it leaves to the reference driver.

use gpupy_core::driver::*;
use gpupy_core::ir::{Form, Program};
use gpupy_core::{DType, Error, ErrorKind, Op, Result, Scalar, op_eval};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// What the driver saw.
#[derive(Default)]
pub struct Log {
    /// Computing instructions of each launch, in order.
    pub launches: Vec<usize>,
    /// Computing instructions at all points of all launches.
    pub operations: usize,
    /// The points of launches that computed nothing, which are copies.
    pub copied: usize,
    /// The distinct programs launched.
    pub programs: BTreeSet<u128>,
    pub checks: usize,
    /// Launches of programs that `check_ir` says no to.
    pub oversized: usize,
    /// Launches that were refused.
    pub refused: usize,
    /// Another number of instructions above which they are, from now on.
    pub refuse_above: Option<usize>,
    /// Blocks that were allocated.
    pub allocated: usize,
    /// The most blocks at once.
    pub most_blocks: usize,
    /// What each opening was told of the device.
    pub openings: Vec<Config>,
    /// How many are open.
    pub open: usize,
    /// The device is gone until it is opened again.
    pub lost: bool,
    /// Blocks over imported memory, and those of them whose elements had changed when they were freed.
    pub imports: usize,
    pub changed: usize,
}

pub struct Fused {
    /// Computing instructions and operands that `check_ir` accepts in one program.
    pub limit: u32,
    /// Operands that it accepts besides.
    most_operands: u32,
    /// More computing instructions than this are refused by `eval_ir` all the same.
    pub refuse_above: usize,
    pub log: Arc<Mutex<Log>>,
    caps: Capabilities,
    lacks: Vec<Op>,
    /// Whether it was written before bfloat16, and must not hear of it.
    is_older: bool,
    /// The bytes of all blocks for which there is room.
    room: u64,
    blocks: BTreeMap<u64, (BlockSpec, Vec<u8>)>,
    next: u64,
}

/// What a program takes of the driver.
fn needed(program: &Program) -> Resources {
    let operands = program.operands.len() as u32;
    Resources([program.operation_count() as u32 + operands, operands, 0, 0, 0, 0, 0, 0])
}

#[allow(dead_code)] // each test needs some of these
impl Fused {
    pub fn new(limit: u32, refuse_above: usize, log: Arc<Mutex<Log>>) -> Fused {
        let caps = Capabilities {
            device: "a test".into(),
            hardware: false,
            dtypes: vec![DType::F32, DType::I32, DType::U32, DType::Bool],
            max_block_len: 1 << 20,
            max_dests: 4,
            forms: Vec::new(),
            flushes_subnormals: false,
            host_memory: false,
            in_place: false,
            resources: vec![("instructions".into(), limit)],
            ..Capabilities::default()
        };
        let (lacks, is_older, blocks) = Default::default();
        let (room, most_operands) = (u64::MAX, u32::MAX);
        Fused {
            limit,
            most_operands,
            refuse_above,
            log,
            caps,
            lacks,
            is_older,
            room,
            blocks,
            next: 0,
        }
    }

    /// This driver, said to be hardware.
    pub fn hardware(mut self) -> Fused {
        self.caps.hardware = true;
        self
    }

    /// This driver, with measured costs of launches and transfers.
    pub fn costing(mut self, costs: Option<Costs>) -> Fused {
        self.caps.costs = costs;
        self
    }

    /// This driver, for programs of so many operands at most.
    pub fn of_operands(mut self, most: u32) -> Fused {
        self.most_operands = most;
        self
    }

    /// This driver with room for so many bytes.
    pub fn with_room(mut self, bytes: u64) -> Fused {
        self.room = bytes;
        self
    }

    /// This driver without these operations.
    pub fn lacking(mut self, lacks: &[Op]) -> Fused {
        self.lacks = lacks.into();
        self
    }

    /// This driver in host memory, in place, for all dtypes.
    pub fn host(mut self) -> Fused {
        self.caps.host_memory = true;
        self.caps.in_place = true;
        self.caps.dtypes = DType::ALL.into();
        self
    }

    /// This driver for all dtypes but bfloat16, which was not there when it was written.
    pub fn older(mut self) -> Fused {
        self.caps.dtypes = DType::ALL.into_iter().filter(|dtype| *dtype != DType::BF16).collect();
        self.is_older = true;
        self
    }

    /// Panics for a dtype that an older driver does not know.
    fn hears(&self, dtype: DType) {
        assert!(!self.is_older || dtype != DType::BF16, "an older driver was sent {dtype}");
    }

    /// Panics for a program with a dtype that an older driver does not know.
    fn hears_all(&self, program: &Program) {
        let lists = [&program.operands, &program.params, &program.dests];
        lists.into_iter().flatten().for_each(|dtype| self.hears(*dtype));
        program.insts.iter().for_each(|inst| self.hears(inst.dtype));
    }

    /// This driver with imported host memory, at multiples of `alignment` bytes.
    pub fn importing(mut self, alignment: usize) -> Fused {
        self.caps.import_alignment = alignment;
        self
    }

    /// Notes that a block over imported memory is freed.
    fn let_go(&mut self, spec: BlockSpec, then: &[u8]) {
        let Some(memory) = spec.memory.filter(|_| self.caps.import_alignment > 0) else { return };
        // SAFETY: the memory is the block's until it is freed.
        let now = unsafe { std::slice::from_raw_parts(memory.as_ptr(), spec.bytes() as usize) };
        self.log.lock().expect("log").changed += usize::from(now != then);
    }

    /// The bytes of a live block.
    fn bytes(&mut self, block: BlockId) -> (usize, &mut [u8]) {
        let (spec, own) = self.blocks.get_mut(&block.0).expect("a live block");
        let bytes = match spec.memory {
            // SAFETY: the core gives memory as large as the elements, and leaves it alone during
            // the call that named the block.
            Some(memory) => unsafe {
                std::slice::from_raw_parts_mut(memory.as_ptr(), spec.bytes() as usize)
            },
            None => own,
        };
        (spec.dtype.size(), bytes)
    }

    fn still_there(&self) -> Result<()> {
        match self.log.lock().expect("log").lost {
            true => Err(Error::new(ErrorKind::DeviceLost, "fused")),
            false => Ok(()),
        }
    }
}

fn at(access: &Access, point: &[usize]) -> usize {
    let steps = access.strides.iter().zip(point).map(|(s, i)| s * *i as i64);
    (access.offset + steps.sum::<i64>()) as usize
}

impl Driver for Fused {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        let mut log = self.log.lock().expect("log");
        log.lost = false;
        log.openings.push(config.clone());
        log.open += 1;
        Ok(self.caps.clone())
    }

    fn cleanup(&mut self) {
        for (spec, then) in std::mem::take(&mut self.blocks).into_values() {
            self.let_go(spec, &then);
        }
        self.log.lock().expect("log").open -= 1;
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.hears(dtype);
        let native = op.is_scalar_op() && op.info().ulp == 0.0 || op == Op::Gather;
        if native && !self.lacks.contains(&op) { Method::Native } else { Method::Absent }
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.still_there()?;
        self.hears(spec.dtype);
        let taken: u64 = self.blocks.values().map(|(spec, _)| spec.bytes()).sum();
        if taken + spec.bytes() > self.room {
            return Err(Error::new(ErrorKind::OutOfMemory, "block_alloc"));
        }
        self.next += 1;
        let imports = spec.memory.is_some() && self.caps.import_alignment > 0;
        let own = if spec.memory.is_some() { 0 } else { spec.bytes() as usize };
        self.blocks.insert(self.next, (spec, vec![0; own]));
        if imports {
            let then = self.bytes(BlockId(self.next)).1.to_vec();
            self.blocks.insert(self.next, (spec, then));
        }
        let mut log = self.log.lock().expect("log");
        log.imports += usize::from(imports);
        log.allocated += 1;
        log.most_blocks = log.most_blocks.max(self.blocks.len());
        Ok(BlockId(self.next))
    }

    fn block_free(&mut self, block: BlockId) {
        if let Some((spec, then)) = self.blocks.remove(&block.0) {
            self.let_go(spec, &then);
        }
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.still_there()?;
        let (size, data) = self.bytes(block);
        let from = offset * size;
        out.copy_from_slice(&data[from..from + out.len()]);
        Ok(())
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let (size, bytes) = self.bytes(block);
        let from = offset * size;
        bytes[from..from + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        self.hears_all(program);
        self.log.lock().expect("log").checks += 1;
        if program.form != Form::Map {
            return Err(Error::new(ErrorKind::Unsupported, "check_ir"));
        }
        let resources = needed(program);
        Ok(Check { fits: self.resource_check(&resources), resources })
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let program = launch.program;
        self.hears_all(program);
        if program.form != Form::Map {
            return Err(Error::new(ErrorKind::Unsupported, "eval_ir"));
        }
        let fits = self.resource_check(&needed(program));
        self.log.lock().expect("log").oversized += usize::from(!fits);
        let refuse_above = self.log.lock().expect("log").refuse_above.unwrap_or(self.refuse_above);
        if program.operation_count() > refuse_above {
            self.log.lock().expect("log").refused += 1;
            return Err(Error::new(ErrorKind::Refused, "eval_ir"));
        }
        for n in 0..launch.shape.iter().product::<usize>() {
            let mut rest = n;
            let mut point = vec![0; launch.shape.len()];
            for (p, extent) in point.iter_mut().zip(launch.shape).rev() {
                *p = rest % extent;
                rest /= extent;
            }
            let mut values: Vec<Scalar> = Vec::new();
            for inst in &program.insts {
                let [a, b, _] = inst.args;
                let value = match inst.op {
                    Op::Param => Scalar::new(inst.dtype, launch.params[a as usize]),
                    Op::Const => Scalar::new(inst.dtype, u64::from(a) | u64::from(b) << 32),
                    Op::Index => Scalar::i32(at(&launch.accesses[a as usize], &point) as i32),
                    Op::Load => {
                        let (size, data) = self.bytes(launch.operands[a as usize]);
                        let from = at(&launch.accesses[b as usize], &point) * size;
                        Scalar::read(inst.dtype, &data[from..]).expect("an element")
                    }
                    Op::Gather => {
                        let (size, data) = self.bytes(launch.operands[a as usize]);
                        let last = (data.len() / size) as i32 - 1;
                        let from = values[b as usize].as_i32().clamp(0, last) as usize;
                        Scalar::read(inst.dtype, &data[from * size..]).expect("an element")
                    }
                    Op::Store => {
                        let dest = &launch.dests[a as usize];
                        let (size, data) = self.bytes(dest.block);
                        let to = at(&dest.access, &point) * size;
                        data[to..to + size].copy_from_slice(&values[b as usize].bytes()[..size]);
                        values[b as usize]
                    }
                    op => {
                        let arity = op.info().arity as usize;
                        let args: Vec<Scalar> =
                            inst.args[..arity].iter().map(|v| values[*v as usize]).collect();
                        op_eval::eval(op, inst.dtype, &args).expect("an operation")
                    }
                };
                values.push(value);
            }
        }
        let mut log = self.log.lock().expect("log");
        let points = launch.shape.iter().product::<usize>();
        log.launches.push(program.operation_count());
        log.operations += program.operation_count() * points;
        if program.operation_count() == 0 {
            log.copied += points;
        }
        let compiled = u32::from(log.programs.insert(launch.fingerprint.0));
        Ok(Evaluated { compiled, launches: 1, ..Evaluated::default() })
    }

    fn resource_get(&self, part: Part) -> Resources {
        if let Part::Op(_, dtype) | Part::Operand(dtype) | Part::Param(dtype) | Part::Dest(dtype) =
            part
        {
            self.hears(dtype);
        }
        let count = u32::from(matches!(part, Part::Op(..) | Part::Operand(_)));
        let operands = u32::from(matches!(part, Part::Operand(_)));
        Resources([count, operands, 0, 0, 0, 0, 0, 0])
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        resources.0[0] <= self.limit && resources.0[1] <= self.most_operands
    }
}
