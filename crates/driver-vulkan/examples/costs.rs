//! Times the overhead of the driver: `cargo run --release -p driver-vulkan --features shaderc --example costs`.
//!
//! Prints the time of opening, of a block, of a first and of later launches with and without waiting, and of
//! transfers; each the least of some rounds.

use gpupy_core::driver::{Access, BlockId, BlockSpec, Config, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Result, Scalar};
use std::time::Instant;

/// Launches that are queued before the device is waited for.
const QUEUED: usize = 500;

fn main() -> Result<()> {
    let begun = Instant::now();
    let mut driver = driver_vulkan::new();
    let driver = &mut *driver;
    let capabilities = driver.init(&Config::default())?;
    println!("{}", capabilities.device);
    say("opening", begun);

    let spec = BlockSpec::new(DType::F32, 1024);
    least("a block of 4 KiB, allocated and freed", 1000, || {
        let block = driver.block_alloc(spec)?;
        driver.block_free(block);
        Ok(())
    })?;
    let (x, y) = (driver.block_alloc(spec)?, driver.block_alloc(spec)?);
    driver.block_write(x, 0, &[0; 4096])?;
    for (name, operations) in [("1 operation", 1), ("100 operations", 100)] {
        let program = chain(operations);
        let begun = Instant::now();
        launch(driver, &program, x, y)?;
        wait(driver, y)?;
        say(&format!("the first launch of {name}"), begun);
        least(&format!("a launch of {name}, queued"), QUEUED, || launch(driver, &program, x, y))?;
        wait(driver, y)?;
        least(&format!("a launch of {name}, waited for"), 1, || {
            launch(driver, &program, x, y)?;
            wait(driver, y)
        })?;
    }
    let mut bytes = vec![1; 64 << 20];
    let large = driver.block_alloc(BlockSpec::new(DType::F32, bytes.len() / 4))?;
    least("writing 64 MiB", 1, || driver.block_write(large, 0, &bytes))?;
    least("reading 64 MiB", 1, || driver.block_read(large, 0, &mut bytes))
}

/// A map of so many operations.
fn chain(operations: usize) -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let (all, x) = (b.access(AccessKind::Contiguous), b.operand(DType::F32));
    let mut value = b.load(x, all);
    for k in 0..operations {
        let step = b.constant(Scalar::f32(k as f32 + 0.5));
        value = b.op(if k % 2 == 0 { Op::Add } else { Op::Mul }, &[value, step]);
    }
    b.store(value);
    b.finish()
}

fn launch(driver: &mut dyn Driver, program: &Program, x: BlockId, y: BlockId) -> Result<()> {
    let walk = Access { offset: 0, strides: [1].as_slice().into() };
    driver.eval_ir(&Launch {
        program,
        fingerprint: program.fingerprint(),
        shape: &[1024],
        operands: &[x],
        params: &[],
        accesses: std::slice::from_ref(&walk),
        dests: &[Dest { block: y, access: walk.clone(), whole: true }],
        memory: &[],
        lend: None,
        rest: None,
    })?;
    Ok(())
}

fn wait(driver: &mut dyn Driver, block: BlockId) -> Result<()> {
    driver.block_read(block, 0, &mut [0; 4])
}

/// Prints the time of one of `count` works, in the best of some rounds.
fn least(what: &str, count: usize, mut work: impl FnMut() -> Result<()>) -> Result<()> {
    let mut best = f64::MAX;
    for _ in 0..10 {
        let begun = Instant::now();
        for _ in 0..count {
            work()?;
        }
        best = best.min(begun.elapsed().as_secs_f64() / count as f64);
    }
    println!("{:10.1} µs  {what}", best * 1e6);
    Ok(())
}

fn say(what: &str, begun: Instant) {
    println!("{:10.1} µs  {what}", begun.elapsed().as_secs_f64() * 1e6);
}
