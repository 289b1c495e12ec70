//! A driver behind the C table is the driver itself; and neither side believes nonsense.
//!
//! Everything here is in one process and quick, so that Miri can judge the unsafe code:
//! `cargo +nightly miri test -p gpupy-engine --test plugin`.

#![allow(clippy::unwrap_used)]

mod nonsense;
mod tiny;

use gpupy_core::driver::{
    Access, BlockId, BlockSpec, Capabilities, Config, Dest, Driver, HostBlock, HostMemory, Launch,
    Lend, LendKind, Method, Part, Resources, Sequence,
};
use gpupy_core::ir::{AccessKind, Builder, Fingerprint, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::plugin::driver_table::Table;
use gpupy_core::plugin::{Plugin, table};
use gpupy_core::{DType, Error, ErrorKind, Scalar};
use gpupy_engine::plugin::{Imported, checked};
use std::ptr::NonNull;
use tiny::{OPEN, Tiny, done, routine};

static TABLE: Table = table::<Tiny>();

/// The tiny driver behind its table.
fn imported() -> Imported {
    // SAFETY: the table is a whole one, of functions that keep the contract.
    unsafe { Imported::new(|| checked(&TABLE)) }
}

/// A driver behind its table and the same one without, both open.
fn pair(config: &Config) -> (Imported, Box<dyn Driver>) {
    let (mut behind, mut plain) = (imported(), Tiny::make());
    assert_eq!(behind.init(config).unwrap(), plain.init(config).unwrap());
    (behind, plain)
}

/// Kind and words.
fn said<T>(result: Result<T, Error>) -> Result<T, (ErrorKind, String)> {
    result.map_err(|error| (error.kind(), error.to_string()))
}

/// A program in which everything occurs: operands, a parameter, kinds of accesses, a region, lists.
fn program(form: Form, rank: u32) -> Program {
    let mut b = Builder::new(form, rank);
    let (operand, near) = (b.operand(DType::F32), b.access(AccessKind::Affine));
    let loaded = b.load(operand, near);
    let scalar = b.param(DType::F32);
    let three = b.constant(Scalar::i32(3));
    let region = b.begin_loop(three, &[loaded, scalar]);
    let (x, y) = (b.carry(region, 0), b.carry(region, 1));
    let sum = b.op(Op::Add, &[x, y]);
    b.end(region, &[sum, x]);
    let mut value = b.result(region, 0, DType::F32);
    if form != Form::Map {
        value = b.reduce(value);
    }
    b.store(value);
    if form == Form::Map {
        let at = b.access(AccessKind::Uniform);
        let at = b.index(at);
        b.store(at);
    }
    let program = b.finish();
    program.verify().unwrap();
    program
}

/// A program of the routine that the driver offers.
fn routine_program(rank: u32) -> Program {
    let routine = routine();
    let mut b = Builder::new(Form::Routine { routine }, rank);
    let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Affine));
    let load = b.load(operand, access);
    let result = b.routine(routine, load, DType::C64);
    b.store(result);
    let program = b.finish();
    program.verify().unwrap();
    program
}

/// A launch with numbers that all differ.
fn launch(program: &Program, first: u64, call: impl FnOnce(&Launch<'_>)) {
    let rank = program.rank as usize;
    let access = |from: i64| Access {
        offset: from,
        strides: (1..=rank as i64).map(|k| from * 10 * k).collect(),
    };
    let accesses: Vec<_> = (0..program.accesses.len()).map(|k| access(-7 - k as i64)).collect();
    let dests: Vec<_> = (0..program.dests.len())
        .map(|k| Dest { block: BlockId(90 + k as u64), access: access(k as i64), whole: k == 0 })
        .collect();
    let shape: Vec<_> = (0..rank).map(|k| 5 + k).collect();
    let memory = [16, 48].map(|at| {
        let start = NonNull::<u8>::dangling().map_addr(|one| one.saturating_add(at));
        HostBlock { memory: HostMemory::new(start), len: at }
    });
    let params: Vec<u64> = (0..program.params.len() as u64).map(|k| first + k).collect();
    call(&Launch {
        program,
        fingerprint: program.fingerprint(),
        shape: &shape,
        operands: &[BlockId(u64::MAX)],
        params: &params,
        accesses: &accesses,
        dests: &dests,
        memory: &memory,
        lend: Some(Lend { kind: LendKind::Buffer, writes: true, back: Some(1 << 33) }),
        rest: None,
    });
}

#[test]
fn a_driver_behind_a_table_answers_as_the_driver_itself() {
    let resources = Resources([3, 4, 5, 6, 7, 8, 9, 10]);
    let device = "größer".to_owned();
    let (hardware, share) = (true, true);
    let config =
        Config { block_bytes: 1, device_bytes: 2, resources, threads: 11, device, hardware, share };
    let (mut behind, mut plain) = pair(&config);
    for op in [Op::Neg, Op::Abs, Op::Sign, Op::Add, Op::Abs, Op::Store] {
        for dtype in DType::ALL {
            if !dtype.name().starts_with("complex") {
                assert_eq!(behind.get_method(op, dtype), plain.get_method(op, dtype), "{op:?}");
            }
        }
    }
    let parts = [
        Part::Op(Op::Gather, DType::I32),
        Part::Operand(DType::F32),
        Part::Param(DType::Bool),
        Part::Index,
        Part::Dest(DType::I32),
    ];
    for part in parts {
        let mut sums = [behind.resource_zero(), plain.resource_zero()];
        let drivers: [&dyn Driver; 2] = [&behind, &*plain];
        for (driver, sum) in drivers.into_iter().zip(&mut sums) {
            driver.resource_add(sum, &driver.resource_get(part));
            driver.resource_add(sum, &Resources([u32::MAX; 8]));
            driver.resource_sub(sum, &driver.resource_get(Part::Index));
            assert!(!driver.resource_check(sum));
            assert!(driver.resource_check(&Resources::default()));
        }
        assert_eq!(sums[0], sums[1], "{part:?}");
    }
    let programs = [Form::Map, Form::Reduce { op: Op::Max }]
        .map(|form| [1, 2, 5].map(|rank| program(form, rank)));
    for program in programs.into_iter().flatten().chain([routine_program(2)]) {
        assert_eq!(said(behind.check_ir(&program)), said(plain.check_ir(&program)));
        launch(&program, 2, |launch| {
            let (got, want) = (behind.eval_ir(launch), plain.eval_ir(launch));
            let (got, want) = (got.unwrap_err(), want.unwrap_err());
            assert_eq!(got.kind(), want.kind());
            // The words are a whole launch, which may be longer than an error's words.
            assert!(want.message().starts_with(got.message()), "{got}\n{want}");
            assert!(got.message().len() == want.message().len().min(2047));
        });
        launch(&program, 1, |launch| {
            assert_eq!(behind.eval_ir(launch).unwrap(), done());
        });
    }
}

#[test]
fn a_sequence_reaches_the_driver_whole() {
    let (mut behind, mut plain) = pair(&Config::default());
    let [first, second] = [1, 2].map(|rank| program(Form::Map, rank));
    launch(&first, 2, |first| {
        launch(&second, 3, |second| {
            let launches = [second.clone(), first.clone()];
            for count in [0, 1, 2] {
                let fingerprint = Fingerprint(u128::MAX - count as u128);
                let rest = Some(Sequence { launches: &launches[..count], fingerprint });
                let all = Launch { rest, ..first.clone() };
                let (got, want) = (behind.eval_ir(&all), plain.eval_ir(&all));
                let (got, want) = (got.unwrap_err(), want.unwrap_err());
                assert!(want.message().starts_with(got.message()), "{got}\n{want}");
                assert_eq!((got.done(), want.done()), (count, count));
            }
        });
    });
}

#[test]
fn blocks_behind_a_table_hold_what_was_written() {
    let (mut behind, mut plain) = pair(&Config::default());
    for driver in [&mut behind as &mut dyn Driver, &mut *plain] {
        let mut memory: [i32; 4] = [1, -1, 2, -2];
        let given = Some(HostMemory::new(NonNull::from(&mut memory).cast()));
        let spec = BlockSpec::new(DType::I32, 4);
        let held = driver.block_alloc(BlockSpec { memory: given, ..spec }).unwrap();
        let mut got = [0; 8];
        driver.block_read(held, 1, &mut got).unwrap();
        assert_eq!(got, [255, 255, 255, 255, 2, 0, 0, 0]);
        let blocks: Vec<_> = (0..3).map(|_| driver.block_alloc(spec).unwrap()).collect();
        let full = said(driver.block_alloc(spec));
        let words = "block_alloc: out of memory (blocks: 4)";
        assert_eq!(full, Err((ErrorKind::OutOfMemory, words.to_string())));
        driver.block_write(blocks[2], 1, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        driver.block_write(blocks[2], 4, &[]).unwrap();
        driver.block_read(blocks[2], 4, &mut []).unwrap();
        let mut got = [9; 8];
        driver.block_read(blocks[2], 2, &mut got).unwrap();
        assert_eq!(got, [5, 6, 7, 8, 0, 0, 0, 0]);
        driver.block_free(blocks[0]);
    }
}

#[test]
fn each_open_driver_is_closed_once() {
    let mut behind = imported();
    behind.cleanup();
    assert_eq!(OPEN.get(), 0);
    let refused = said(behind.init(&Config { device_bytes: 13, ..Config::default() }));
    let words = "init: 13 bytes bring bad luck";
    assert_eq!(refused, Err((ErrorKind::Unavailable, words.to_string())));
    assert_eq!(OPEN.get(), 0);
    behind.init(&Config::default()).unwrap();
    assert_eq!(OPEN.get(), 1);
    behind.cleanup();
    behind.cleanup();
    assert_eq!(OPEN.get(), 0);
    behind.init(&Config::default()).unwrap();
    assert_eq!(behind.init(&Config::default()).unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(OPEN.get(), 1);
    drop(behind);
    assert_eq!(OPEN.get(), 0);
}

#[test]
fn a_closed_driver_answers_without_its_table() {
    let mut behind = imported();
    assert_eq!(behind.get_method(Op::Neg, DType::F32), Method::Absent);
    assert_eq!(behind.resource_get(Part::Index), Resources::default());
    assert!(!behind.resource_check(&Resources::default()));
    behind.block_free(BlockId(0));
    let error = behind.check_ir(&program(Form::Map, 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn a_driver_that_panicked_is_lost_until_it_is_opened_again() {
    let mut behind = imported();
    behind.init(&Config::default()).unwrap();
    let words = "the driver panicked: a scalar is zero";
    launch(&program(Form::Map, 1), 0, |launch| {
        for _ in 0..2 {
            let error = behind.eval_ir(launch).unwrap_err();
            assert_eq!((error.kind(), error.message()), (ErrorKind::DeviceLost, words));
        }
    });
    let error = behind.block_alloc(BlockSpec::new(DType::F32, 1)).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::DeviceLost, words));
    assert_eq!(behind.get_method(Op::Neg, DType::F32), Method::Absent);
    behind.cleanup();
    let found: Capabilities = behind.init(&Config::default()).unwrap();
    assert_eq!(found.max_block_len, 300);
    assert_eq!(behind.get_method(Op::Neg, DType::F32), Method::Native);
}

#[test]
fn a_panic_while_opening_or_closing_stays_inside() {
    struct Nervous;
    impl Plugin for Nervous {
        const NAME: &'static str = "nervous";
        fn make() -> Box<dyn Driver> {
            panic!("not today")
        }
    }
    static NERVOUS: Table = table::<Nervous>();
    // SAFETY: the table is a whole one.
    let mut behind = unsafe { Imported::new(|| checked(&NERVOUS)) };
    let words = "init: the driver panicked: not today".to_string();
    assert_eq!(said(behind.init(&Config::default())), Err((ErrorKind::Unavailable, words)));
}
