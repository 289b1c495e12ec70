//! An open driver, its blocks, and guarded host memory.
//!
//! Owns [`Device`]. Invariant: host memory on both sides of a read is guarded.
//!
//! Not here: launches with comparisons (`launch.rs`).

use crate::reporting::outcome::{Outcome, ensure, fail, fine, skip};
use gpupy_core::driver::{BlockId, BlockSpec, Capabilities, Check, Config, Driver, Method};
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Scalar};

/// A driver that has been opened.
pub struct Device {
    pub driver: Box<dyn Driver>,
    pub caps: Capabilities,
}

/// The contents of host memory before a read.
const GUARD_BYTE: u8 = 0xa5;

/// Guard bytes on each side of host memory; odd, so that it is not aligned for any dtype.
const MARGIN: usize = 13;

impl Device {
    pub fn open(make: &dyn Fn() -> Box<dyn Driver>, config: &Config) -> Result<Device, Error> {
        let mut driver = make();
        let caps = driver.init(config)?;
        Ok(Device { driver, caps })
    }

    /// A driver that has not been opened.
    pub fn closed(driver: Box<dyn Driver>) -> Device {
        let caps = Capabilities::default();
        Device { driver, caps }
    }

    /// Skips unless blocks may have this dtype.
    pub fn need_dtype(&self, dtype: DType) -> Outcome {
        if self.caps.dtypes.contains(&dtype) {
            return Ok(());
        }
        skip(format!("no dtype {dtype}"))
    }

    /// The dtypes that blocks may not have.
    pub fn other_dtypes(&self) -> Vec<DType> {
        DType::ALL.into_iter().filter(|dtype| !self.caps.dtypes.contains(dtype)).collect()
    }

    /// How the driver does an operation; skips where it does not.
    pub fn need_method(&self, op: Op, dtype: DType) -> Outcome<Method> {
        match self.driver.get_method(op, dtype) {
            Method::Absent => skip("absent methods, which the core does elsewhere"),
            method => Ok(method),
        }
    }

    pub fn alloc(&mut self, dtype: DType, len: usize) -> Outcome<BlockId> {
        if len > self.caps.max_block_len {
            return skip("larger than the largest block");
        }
        let spec = BlockSpec::new(dtype, len);
        fine(self.driver.block_alloc(spec), "block_alloc")
    }

    pub fn write(&mut self, block: BlockId, offset: usize, data: &[Scalar]) -> Outcome {
        let bytes = to_bytes(data);
        fine(self.driver.block_write(block, offset, &bytes), "block_write")
    }

    pub fn read(
        &mut self,
        block: BlockId,
        dtype: DType,
        offset: usize,
        len: usize,
    ) -> Outcome<Vec<Scalar>> {
        // Elements that the driver does not write must not look like data.
        let mut bytes = vec![GUARD_BYTE; MARGIN + len * dtype.size() + MARGIN];
        let (before, rest) = bytes.split_at_mut(MARGIN);
        let (out, after) = rest.split_at_mut(len * dtype.size());
        fine(self.driver.block_read(block, offset, out), "block_read")?;
        let inside = before.iter().chain(&*after).all(|byte| *byte == GUARD_BYTE);
        ensure(inside, || format!("host memory beside what was read has changed: {bytes:?}"))?;
        Ok(from_bytes(dtype, &bytes[MARGIN..bytes.len() - MARGIN]))
    }

    /// A block that holds this data.
    pub fn upload(&mut self, dtype: DType, data: &[Scalar]) -> Outcome<BlockId> {
        let block = self.alloc(dtype, data.len())?;
        self.write(block, 0, data).map(|()| block)
    }

    /// The driver's answer about a program; skips the case where it lacks support.
    pub fn check_ir(&mut self, program: &Program) -> Outcome<Check> {
        program.verify().or_else(|error| fail(format!("the suite's own program: {error}")))?;
        self.driver.check_ir(program).or_else(|error| match error.kind() {
            ErrorKind::Unsupported => skip(format!("unsupported: {error}")),
            _ => fail(format!("{error}")),
        })
    }
}

/// Elements as host memory.
pub fn to_bytes(data: &[Scalar]) -> Vec<u8> {
    data.iter().flat_map(|x| x.bytes().into_iter().take(x.dtype.size())).collect()
}

/// Host memory as elements.
pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Vec<Scalar> {
    bytes.chunks_exact(dtype.size()).filter_map(|bytes| Scalar::read(dtype, bytes)).collect()
}
