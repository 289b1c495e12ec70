//! Contexts in several threads use no memory that another thread frees or has not set yet (`context/turns.rs`).
//!
//! A child process computes while the C library fills memory that is allocated or freed with a pattern, so that
//! such a use ends it. Other C libraries than GNU's ignore the variable, and the test shows less.
#![allow(clippy::unwrap_used)]

use gpupy_core::driver::{Access, BlockId, BlockSpec, Config, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::{DType, Op};
use std::process::Command;

const PATTERN: &str = "MALLOC_PERTURB_";
const LEN: usize = 1000;

fn doubling() -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let (all, x) = (b.access(AccessKind::Contiguous), b.operand(DType::F32));
    let x = b.load(x, all);
    let sum = b.op(Op::Add, &[x, x]);
    b.store(sum);
    b.finish()
}

fn double(driver: &mut dyn Driver, program: &Program, operand: BlockId, block: BlockId) {
    let access = || Access { offset: 0, strides: [1].as_slice().into() };
    let launch = Launch {
        program,
        fingerprint: program.fingerprint(),
        shape: &[LEN],
        operands: &[operand],
        params: &[],
        accesses: &[access()],
        dests: &[Dest { block, access: access(), whole: true }],
        memory: &[],
        lend: None,
        rest: None,
    };
    driver.eval_ir(&launch).unwrap();
}

/// Uploads, computes and reads in one context; `None` where there is no OpenGL.
fn rounds(seed: f32) -> Option<()> {
    let mut driver = driver_gl::new();
    driver.init(&Config::default()).ok()?;
    let program = doubling();
    let data = |factor: f32| -> Vec<u8> {
        (0..LEN).flat_map(|k| ((seed + k as f32) * factor).to_ne_bytes()).collect()
    };
    for _ in 0..30 {
        let spec = BlockSpec::new(DType::F32, LEN);
        let blocks = [(); 4].map(|()| driver.block_alloc(spec).unwrap());
        driver.block_write(blocks[0], 0, &data(1.0)).unwrap();
        for pair in blocks.windows(2) {
            double(&mut *driver, &program, pair[0], pair[1]);
        }
        let mut out = vec![0; LEN * 4];
        driver.block_read(blocks[3], 0, &mut out).unwrap();
        assert!(out == data(8.0));
        blocks.into_iter().for_each(|block| driver.block_free(block));
    }
    driver.cleanup();
    Some(())
}

#[test]
fn several_threads_use_no_memory_that_is_not_set() {
    if rounds(0.0).is_none() {
        return gpupy_conformance::skipped("no OpenGL");
    }
    if std::env::var_os(PATTERN).is_none() {
        let child = Command::new(std::env::current_exe().unwrap()).env(PATTERN, "165").output();
        let child = child.unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        return assert!(child.status.success(), "{}: {said}", child.status);
    }
    // Lists that a context has just made are the likeliest to be seen unset.
    for _ in 0..8 {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || rounds(thread as f32).unwrap());
            }
        });
    }
}
