//! The other side of the table: the exported functions of a library in Rust, called by a host that passes
//! arbitrary numbers and structs.
//!
//! Owns `Calm`, a driver that does nothing and accepts everything.

use crate::bytes::Bytes;
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::{Builder, Form, FormKind, Program};
use gpupy_core::plugin::driver_table::{
    RawBlockSpec, RawCapabilities, RawCheck, RawConfig, RawError, RawEvaluated, RawLaunch, RawPart,
    Table,
};
use gpupy_core::plugin::{Growing, Plugin, table};
use gpupy_core::{DType, Op, Result};
use std::ptr;

static TABLE: Table = table::<Calm>();

/// Calls the exported functions with the numbers of `bytes` and with a launch. Returns the results.
pub fn call(launch: &RawLaunch, bytes: &mut Bytes) -> Vec<i32> {
    let (Some(init), Some(cleanup)) = (TABLE.init, TABLE.cleanup) else { return Vec::new() };
    let (mut state, mut error) = (ptr::null_mut(), RawError::cleared());
    let (config, mut found) = (RawConfig::cleared(), RawCapabilities::cleared());
    // SAFETY: the structs are whole ones.
    let opened = unsafe { init(&mut state, &config, &mut found, &mut error) };
    let mut results = vec![opened];
    let (mut check, mut evaluated) = (RawCheck::cleared(), RawEvaluated::cleared());
    let mut spec =
        RawBlockSpec { dtype: bytes.u16().into(), len: bytes.u64(), ..RawBlockSpec::cleared() };
    spec.size -= usize::from(bytes.u8() == 1);
    let part = RawPart {
        kind: bytes.u8().into(),
        op: bytes.u16().into(),
        dtype: bytes.u16().into(),
        ..RawPart::cleared()
    };
    let (mut block, mut counts, mut lowered) = (0, [0; 8], ptr::null());
    let (mut data, len) = ([0; 16], bytes.below(17));
    let (op, dtype, offset) = (bytes.u16().into(), bytes.u16().into(), bytes.u64());
    // SAFETY: the state is of `init`; the structs are whole ones, or say that they are shorter; the
    // lists are as long as their counts, or null, or refused before they are read.
    unsafe {
        results.extend(TABLE.check_ir.map(|f| f(state, launch.program, &mut check, &mut error)));
        results.extend(TABLE.eval_ir.map(|f| f(state, launch, &mut evaluated, &mut error)));
        results.extend(TABLE.get_method.map(|f| f(state, op, dtype, &mut lowered)));
        results.extend(TABLE.block_alloc.map(|f| f(state, &spec, &mut block, &mut error)));
        let at = data.as_mut_ptr();
        results.extend(TABLE.block_write.map(|f| f(state, block, offset, at, len, &mut error)));
        let at = if len == 5 { ptr::null_mut() } else { at };
        results.extend(TABLE.block_read.map(|f| f(state, block, offset, at, len, &mut error)));
        if let Some(resource_get) = TABLE.resource_get {
            resource_get(state, &part, counts.as_mut_ptr());
        }
        cleanup(state);
    }
    results
}

/// A driver that does nothing.
struct Calm;

impl Plugin for Calm {
    const NAME: &'static str = "calm";

    fn make() -> Box<dyn Driver> {
        Box::new(Calm)
    }
}

impl Driver for Calm {
    fn init(&mut self, _config: &Config) -> Result<Capabilities> {
        Ok(Capabilities {
            device: "none".into(),
            hardware: false,
            dtypes: DType::ALL.to_vec(),
            max_block_len: 256,
            max_dests: 1,
            forms: FormKind::OFFERED.to_vec(),
            flushes_subnormals: false,
            host_memory: true,
            in_place: true,
            resources: Vec::new(),
            ..Capabilities::default()
        })
    }

    fn cleanup(&mut self) {}

    fn get_method(&self, _op: Op, dtype: DType) -> Method {
        let mut builder = Builder::new(Form::Map, 1);
        let value = builder.param(dtype);
        builder.store(value);
        Method::Lowered(builder.finish())
    }

    fn block_alloc(&mut self, _spec: BlockSpec) -> Result<BlockId> {
        Ok(BlockId(7))
    }

    fn block_free(&mut self, _block: BlockId) {}

    fn block_read(&mut self, _block: BlockId, _offset: usize, out: &mut [u8]) -> Result<()> {
        out.fill(1);
        Ok(())
    }

    fn block_write(&mut self, _block: BlockId, _offset: usize, _data: &[u8]) -> Result<()> {
        Ok(())
    }

    fn check_ir(&mut self, _program: &Program) -> Result<Check> {
        Ok(Check { fits: true, resources: Resources::default() })
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        assert!(launch.accesses.iter().all(|access| access.strides.len() == launch.shape.len()));
        Ok(Evaluated::default())
    }

    fn resource_get(&self, _part: Part) -> Resources {
        Resources::default()
    }

    fn resource_check(&self, _resources: &Resources) -> bool {
        true
    }
}
