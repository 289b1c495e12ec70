//! Launches on a driver that is being probed, and measurements of their costs.
//!
//! Invariant: if nothing fails, no block is left allocated. Not here: the operations that are tried (`mod.rs`).

use gpupy_core::driver::{Access, BlockId, BlockSpec, Capabilities, Costs, Dest, Driver, Launch};
use gpupy_core::ir::{Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Result, Scalar};
use std::time::Instant;

/// Bytes of the timed transfer.
const TIMED_BYTES: usize = 8 << 20;

/// Runs a map over the elements of the operands. Returns the bits of each destination.
///
/// # Errors
/// The errors of the driver's functions.
pub fn run(
    driver: &mut dyn Driver,
    program: &Program,
    operands: &[&[u64]],
) -> Result<Vec<Vec<u64>>> {
    let len = operands[0].len();
    let mut blocks = Vec::new();
    for dtype in program.operands.iter().chain(&program.dests) {
        blocks.push(driver.block_alloc(BlockSpec::new(*dtype, len))?);
    }
    let (inputs, outputs) = blocks.split_at(operands.len());
    for ((block, dtype), elements) in inputs.iter().zip(&program.operands).zip(operands) {
        let bytes = |bits: &u64| Scalar::new(*dtype, *bits).bytes().into_iter().take(dtype.size());
        let bytes: Vec<u8> = elements.iter().flat_map(bytes).collect();
        driver.block_write(*block, 0, &bytes)?;
    }
    launch(driver, program, len, inputs, &[], outputs)?;
    let mut results = Vec::new();
    for (block, dtype) in outputs.iter().zip(&program.dests) {
        let mut bytes = vec![0; len * dtype.size()];
        driver.block_read(*block, 0, &mut bytes)?;
        let elements = bytes.chunks_exact(dtype.size());
        results.push(elements.map(|e| Scalar::read(*dtype, e).map_or(0, |s| s.bits)).collect());
    }
    blocks.into_iter().for_each(|block| driver.block_free(block));
    Ok(results)
}

fn launch(
    driver: &mut dyn Driver,
    program: &Program,
    len: usize,
    operands: &[BlockId],
    params: &[u64],
    dests: &[BlockId],
) -> Result<()> {
    let walk = Access { offset: 0, strides: [1].as_slice().into() };
    let dest = |block: &BlockId| Dest { block: *block, access: walk.clone(), whole: true };
    let dests: Vec<Dest> = dests.iter().map(dest).collect();
    driver.eval_ir(&Launch {
        program,
        fingerprint: program.fingerprint(),
        shape: &[len],
        operands,
        params,
        accesses: &vec![walk.clone(); program.accesses.len()],
        dests: &dests,
        memory: &[],
        lend: None,
        rest: None,
    })?;
    Ok(())
}

/// Measures launches and transfers: the least of several tries.
///
/// # Errors
/// The errors of the driver's functions.
pub fn costs(driver: &mut dyn Driver, known: &Capabilities) -> Result<Costs> {
    let mut b = Builder::new(Form::Map, 1);
    let x = b.param(DType::F32);
    let x = b.op(Op::Neg, &[x]);
    b.store(x);
    let program = b.finish();
    let small = driver.block_alloc(BlockSpec::new(DType::F32, 1))?;
    let mut out = [0; 4];
    let mut round_trip = f64::MAX;
    for _ in 0..10 {
        let begun = Instant::now();
        launch(driver, &program, 1, &[], &[0], &[small])?;
        driver.block_read(small, 0, &mut out)?;
        round_trip = round_trip.min(begun.elapsed().as_nanos() as f64);
    }
    driver.block_free(small);
    let len = (TIMED_BYTES / 4).min(known.max_block_len);
    let mut bytes = vec![0; len * 4];
    let large = driver.block_alloc(BlockSpec::new(DType::F32, len))?;
    let (mut upload, mut download) = (f64::MAX, f64::MAX);
    for _ in 0..4 {
        let begun = Instant::now();
        driver.block_write(large, 0, &bytes)?;
        let written = begun.elapsed();
        driver.block_read(large, 0, &mut bytes)?;
        let read = begun.elapsed() - written;
        upload = upload.min(written.as_nanos() as f64 / bytes.len() as f64);
        download = download.min(read.as_nanos() as f64 / bytes.len() as f64);
    }
    driver.block_free(large);
    Ok(Costs { round_trip, upload, download })
}
