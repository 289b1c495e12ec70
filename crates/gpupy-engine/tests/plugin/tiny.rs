//! A driver that computes nothing and says what it was asked, so that both sides can be compared.

use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Costs, Driver, Evaluated, Launch, Lent,
    Method, Part, Resources,
};
use gpupy_core::ir::{Builder, Form, FormKind, Program};
use gpupy_core::op::Op;
use gpupy_core::plugin::Plugin;
use gpupy_core::routines::Routine;
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::cell::Cell;

thread_local! {
    /// How many drivers this thread, and so this test, has open.
    pub static OPEN: Cell<usize> = const { Cell::new(0) };
}

/// The smallest driver: blocks of bytes.
#[derive(Default)]
pub struct Tiny {
    config: Config,
    blocks: Vec<(DType, Vec<u8>)>,
    is_open: bool,
}

impl Plugin for Tiny {
    const NAME: &'static str = "tiny";

    fn make() -> Box<dyn Driver> {
        Box::new(Tiny::default())
    }
}

impl Tiny {
    fn bytes(&mut self, block: BlockId, offset: usize) -> &mut [u8] {
        let (dtype, bytes) = &mut self.blocks[block.0 as usize];
        &mut bytes[offset * dtype.size()..]
    }
}

/// The routine that the driver offers, which is not the first of all.
pub fn routine() -> Routine {
    Routine::all().nth(1).unwrap()
}

/// The program that stands in the place of an operation.
fn lowered(dtype: DType) -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let value = b.param(dtype);
    let value = b.op(Op::Neg, &[value]);
    b.store(value);
    b.finish()
}

/// What an evaluation answers.
pub fn done() -> Evaluated {
    let lent = Lent { name: 1 << 40, target: 4, format: 5, width: 6, height: 7, row: 1 << 41 };
    let code = Some("one; größer".into());
    Evaluated { compiled: 1, specialised: 2, launches: 3, code, lent: Some(lent) }
}

impl Driver for Tiny {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        if config.device_bytes == 13 {
            return Err(Error::new(ErrorKind::Unavailable, "init").says("13 bytes bring bad luck"));
        }
        self.config = config.clone();
        self.is_open = true;
        OPEN.set(OPEN.get() + 1);
        Ok(Capabilities {
            device: "größer als 1".into(),
            hardware: true,
            dtypes: vec![DType::F32, DType::I32, DType::C64],
            max_block_len: 300,
            max_dests: 3,
            forms: vec![FormKind::Reduce],
            flushes_subnormals: true,
            host_memory: true,
            import_alignment: 0,
            in_place: true,
            resources: vec![("words".into(), 5), ("deeds".into(), u32::MAX)],
            devices: vec!["größer als 1".into(), self.config.device.clone()],
            findings: vec![("division".into(), "exact".into())],
            costs: Some(Costs { round_trip: 20_000.0, upload: 0.25, download: 0.5 }),
            max_reductions: 6,
            memory_launches: true,
            pieces: false,
            lends: if config.share { 3 } else { 0 },
            routines: vec![(routine(), DType::F32)],
            max_launches: 7,
        })
    }

    fn cleanup(&mut self) {
        if std::mem::take(&mut self.is_open) {
            OPEN.set(OPEN.get() - 1);
        }
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        match op {
            Op::Neg => Method::Native,
            Op::Abs | Op::Sign if dtype != DType::Bool => Method::Lowered(lowered(dtype)),
            _ => Method::Absent,
        }
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        if self.blocks.len() == 4 {
            return Err(Error::new(ErrorKind::OutOfMemory, "block_alloc").with("blocks", 4));
        }
        let mut bytes = vec![0; spec.len * spec.dtype.size()];
        if let Some(memory) = spec.memory {
            // SAFETY: the tests give as much memory as the block has elements.
            unsafe { bytes.as_mut_ptr().copy_from(memory.as_ptr(), bytes.len()) };
        }
        self.blocks.push((spec.dtype, bytes));
        Ok(BlockId(self.blocks.len() as u64 - 1))
    }

    fn block_free(&mut self, block: BlockId) {
        self.blocks[block.0 as usize].1.clear();
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        let len = out.len();
        out.copy_from_slice(&self.bytes(block, offset)[..len]);
        Ok(())
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.bytes(block, offset)[..data.len()].copy_from_slice(data);
        Ok(())
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        let mut resources = self.config.resources;
        resources.0[7] = program.insts.len() as u32;
        Ok(Check { fits: program.rank < 3, resources })
    }

    /// Refuses everything, and says what it was.
    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        match launch.params {
            [0, ..] => panic!("a scalar is zero"),
            [1, ..] => Ok(done()),
            _ => {
                let behind = launch.all().count() - 1;
                let said = format!("{:?} {launch:?}", launch.rest);
                Err(Error::new(ErrorKind::Refused, "eval_ir").says(said).after(behind))
            }
        }
    }

    fn resource_get(&self, part: Part) -> Resources {
        let mut counts = Resources::default();
        let text = format!("{part:?}");
        for (count, byte) in counts.0.iter_mut().zip(text.bytes().rev()) {
            *count = byte.into();
        }
        counts
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        resources.0[0] < 10
    }
}
