//! The driver's promises beyond the contract: when it compiles, draws, and keeps memory.
#![allow(clippy::unwrap_used)]

use gpupy_core::driver::{
    Access, BlockId, BlockSpec, Capabilities, Config, Dest, Driver, Evaluated, Launch, Method,
    Resources,
};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, ErrorKind, Scalar};

/// An open driver, or `None` (a skip, with the reason) where no context can be opened.
fn open(config: &Config) -> Option<(Box<dyn Driver>, Capabilities)> {
    let mut driver = driver_gl::new();
    match driver.init(config) {
        Ok(capabilities) => Some((driver, capabilities)),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            gpupy_conformance::skipped(error);
            None
        }
    }
}

fn access(offset: i64, strides: &[i64]) -> Access {
    Access { offset, strides: strides.into() }
}

fn alloc(driver: &mut dyn Driver, len: usize) -> BlockId {
    driver.block_alloc(BlockSpec::new(DType::F32, len)).unwrap()
}

fn write(driver: &mut dyn Driver, block: BlockId, values: &[f32]) {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
    driver.block_write(block, 0, &bytes).unwrap();
}

fn read(driver: &mut dyn Driver, block: BlockId, len: usize) -> Vec<f32> {
    let mut bytes = vec![0; len * 4];
    driver.block_read(block, 0, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}

/// A polynomial of one operand with `count` scalars.
fn polynomial(count: usize) -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let (all, x) = (b.access(AccessKind::Contiguous), b.operand(DType::F32));
    let x = b.load(x, all);
    let mut value = x;
    for _ in 0..count {
        let p = b.param(DType::F32);
        value = b.op(Op::Mul, &[value, x]);
        value = b.op(Op::Add, &[value, p]);
    }
    b.store(value);
    b.finish()
}

fn launch(
    driver: &mut dyn Driver,
    program: &Program,
    (operand, dest): (BlockId, BlockId),
    len: usize,
    params: &[f32],
) -> Evaluated {
    let params: Vec<u64> = params.iter().map(|p| Scalar::f32(*p).bits).collect();
    let evaluated = driver.eval_ir(&Launch {
        program,
        fingerprint: program.fingerprint(),
        shape: &[len],
        operands: &[operand],
        params: &params,
        accesses: &[access(0, &[1])],
        dests: &[Dest { block: dest, access: access(0, &[1]), whole: true }],
        memory: &[],
        lend: None,
        rest: None,
    });
    evaluated.unwrap()
}

#[test]
fn a_program_is_compiled_once_for_all_lengths_and_scalars() {
    let Some((mut driver, _)) = open(&Config::default()) else { return };
    let driver = &mut *driver;
    let program = polynomial(2);
    let mut compiled = 0;
    for (len, scalar) in [(1000, 0.5), (5, 1.0), (40_000, f32::NAN), (1000, 0.0)] {
        let (x, y) = (alloc(driver, len), alloc(driver, len));
        write(driver, x, &vec![2.0; len]);
        compiled += launch(driver, &program, (x, y), len, &[scalar, 3.0]).compiled;
        let wanted = (2.0f32 * 2.0 + scalar) * 2.0 + 3.0;
        assert!(
            read(driver, y, len)
                .iter()
                .all(|y| y.to_bits() == wanted.to_bits() || y.is_nan() && wanted.is_nan())
        );
        driver.block_free(x);
        driver.block_free(y);
    }
    assert_eq!(compiled, 1);
}

#[test]
fn scalars_that_come_again_become_literals_with_equal_results() {
    let Some((mut driver, _)) = open(&Config::default()) else { return };
    let driver = &mut *driver;
    let program = polynomial(8);
    let len = 1 << 22;
    let (x, y) = (alloc(driver, len), alloc(driver, len));
    let values: Vec<f32> = (0..len).map(|i| (i % 1024) as f32 / 512.0 - 1.0).collect();
    write(driver, x, &values);
    let params = [0.1, 0.0, -1.0, 7.25, 1e-3, 1.0, 0.3, -0.7];
    let first = launch(driver, &program, (x, y), len, &params);
    assert_eq!((first.compiled, first.specialised), (1, 0));
    let general = read(driver, y, 1024);
    let mut specialised = 0;
    for _ in 0..20 {
        let again = launch(driver, &program, (x, y), len, &params);
        assert_eq!(again.compiled, 0);
        specialised += again.specialised;
    }
    assert_eq!(specialised, 1);
    let special = read(driver, y, 1024);
    assert!(general.iter().zip(&special).all(|(g, s)| g.to_bits() == s.to_bits()));
    // Another length and other scalars go back to the general kernel.
    let shorter = launch(driver, &program, (x, y), 1024, &params);
    assert_eq!((shorter.compiled, shorter.specialised), (0, 0));
    assert!(general.iter().zip(read(driver, y, 1024)).all(|(g, s)| g.to_bits() == s.to_bits()));
    let mut others = params;
    others[0] = 0.2;
    let other = launch(driver, &program, (x, y), len, &others);
    assert_eq!((other.compiled, other.specialised), (0, 0));
    assert_ne!(read(driver, y, 1024)[5].to_bits(), general[5].to_bits());
}

#[test]
fn several_whole_destinations_are_one_draw() {
    let Some((mut driver, capabilities)) = open(&Config::default()) else { return };
    let driver = &mut *driver;
    let mut b = Builder::new(Form::Map, 1);
    let (all, x) = (b.access(AccessKind::Contiguous), b.operand(DType::F32));
    let x = b.load(x, all);
    let count = capabilities.max_dests.min(3);
    for _ in 0..count {
        let p = b.param(DType::F32);
        let value = b.op(Op::Add, &[x, p]);
        b.store(value);
    }
    let program = b.finish();
    let x = alloc(driver, 100);
    write(driver, x, &vec![1.0; 100]);
    let blocks: Vec<BlockId> = (0..count).map(|_| alloc(driver, 100)).collect();
    let dest = |block: &BlockId| Dest { block: *block, access: access(0, &[1]), whole: true };
    let dests: Vec<Dest> = blocks.iter().map(dest).collect();
    let params: Vec<u64> = (0..count).map(|k| Scalar::f32(k as f32).bits).collect();
    let evaluated = driver.eval_ir(&Launch {
        program: &program,
        fingerprint: program.fingerprint(),
        shape: &[100],
        operands: &[x],
        params: &params,
        accesses: &[access(0, &[1])],
        dests: &dests,
        memory: &[],
        lend: None,
        rest: None,
    });
    let evaluated = evaluated.unwrap();
    assert_eq!((evaluated.compiled, evaluated.launches), (1, 1));
    for (k, block) in blocks.iter().enumerate() {
        assert_eq!(read(driver, *block, 100), vec![1.0 + k as f32; 100]);
    }
}

/// Column sums are computed next to each other in one draw, and copied in another to where chunks of a column
/// are neighbours.
#[test]
fn several_reductions_of_columns_are_two_draws() {
    let Some((mut driver, capabilities)) = open(&Config::default()) else { return };
    let driver = &mut *driver;
    let (columns, points) = (70, 300);
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 2);
    let (all, x) = (b.access(AccessKind::Affine), b.operand(DType::F32));
    let x = b.load(x, all);
    let ops = [Op::Add, Op::Min, Op::Max];
    let ops = &ops[..capabilities.max_reductions.min(capabilities.max_dests).min(ops.len())];
    let reduced: Vec<u32> = ops.iter().map(|op| b.reduce_by(*op, x)).collect();
    reduced.into_iter().for_each(|value| b.store(value));
    let program = b.finish();
    let x = alloc(driver, columns * points);
    let elements: Vec<f32> = (0..columns * points).map(|k| (k % 1000) as f32).collect();
    write(driver, x, &elements);
    let blocks: Vec<BlockId> = ops.iter().map(|_| alloc(driver, 2 * columns)).collect();
    let dest = |block: &BlockId| Dest { block: *block, access: access(0, &[2, 1]), whole: true };
    let dests: Vec<Dest> = blocks.iter().map(dest).collect();
    let evaluated = driver.eval_ir(&Launch {
        program: &program,
        fingerprint: program.fingerprint(),
        shape: &[columns, points],
        operands: &[x],
        params: &[],
        accesses: &[access(0, &[1, columns as i64])],
        dests: &dests,
        memory: &[],
        lend: None,
        rest: None,
    });
    let evaluated = evaluated.unwrap();
    assert_eq!((evaluated.compiled, evaluated.launches), (2, 2));
    let of = |column: usize, chunk: usize| {
        let chunk = 256 * chunk..points.min(256 * chunk + 256);
        let column: Vec<f32> = chunk.map(|point| elements[columns * point + column]).collect();
        move |op: Op| match op {
            // Of whole numbers, exact in any order.
            Op::Add => column.iter().sum::<f32>(),
            Op::Min => column.iter().copied().fold(f32::INFINITY, f32::min),
            _ => column.iter().copied().fold(0.0, f32::max),
        }
    };
    for (op, block) in ops.iter().zip(&blocks) {
        let wanted: Vec<f32> = (0..2 * columns).map(|k| of(k / 2, k % 2)(*op)).collect();
        assert_eq!(read(driver, *block, 2 * columns), wanted, "{op:?}");
    }
}

#[test]
fn strides_that_interleave_are_several_draws() {
    let Some((mut driver, _)) = open(&Config::default()) else { return };
    let driver = &mut *driver;
    let mut b = Builder::new(Form::Map, 2);
    let (all, x) = (b.access(AccessKind::Contiguous), b.operand(DType::F32));
    let x = b.load(x, all);
    b.store(x);
    let program = b.finish();
    let (x, y) = (alloc(driver, 6), alloc(driver, 8));
    write(driver, x, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    write(driver, y, &[9.0; 8]);
    let evaluated = driver.eval_ir(&Launch {
        program: &program,
        fingerprint: program.fingerprint(),
        shape: &[3, 2],
        operands: &[x],
        params: &[],
        accesses: &[access(0, &[2, 1])],
        dests: &[Dest { block: y, access: access(0, &[2, 3]), whole: false }],
        memory: &[],
        lend: None,
        rest: None,
    });
    assert_eq!(evaluated.unwrap().launches, 3);
    assert_eq!(read(driver, y, 8), [1.0, 9.0, 3.0, 2.0, 5.0, 4.0, 9.0, 6.0]);
}

#[test]
fn memory_is_counted_and_given_back() {
    let config = Config { device_bytes: 4096, ..Config::default() };
    let Some((mut driver, _)) = open(&config) else { return };
    let spec = BlockSpec::new(DType::F32, 512);
    for _ in 0..3 {
        let blocks = [driver.block_alloc(spec).unwrap(), driver.block_alloc(spec).unwrap()];
        let full = driver.block_alloc(spec).unwrap_err();
        assert_eq!(full.kind(), ErrorKind::OutOfMemory, "{full}");
        write(&mut *driver, blocks[0], &[1.0; 512]);
        blocks.into_iter().for_each(|block| driver.block_free(block));
    }
}

#[test]
fn lowered_limits_are_in_force_and_others_are_not_raised() {
    let mut resources = Resources::default();
    resources.0[1] = 5;
    resources.0[7] = u32::MAX;
    let Some((mut driver, capabilities)) = open(&Config { resources, ..Config::default() }) else {
        return;
    };
    assert_eq!(capabilities.resources[1].1, 5);
    assert!(capabilities.resources[7].1 < 1000);
    assert!(driver.check_ir(&polynomial(2)).unwrap().fits);
    assert!(!driver.check_ir(&polynomial(3)).unwrap().fits);
}

#[test]
fn what_is_not_numpy_grade_is_absent() {
    let Some((driver, _)) = open(&Config::default()) else { return };
    for op in [Op::Sin, Op::Exp, Op::Pow, Op::Atan2, Op::Fmod, Op::Hypot] {
        assert_eq!(driver.get_method(op, DType::F32), Method::Absent, "{op:?}");
    }
    for op in [Op::Sqrt, Op::Div, Op::Add, Op::Rint] {
        assert_eq!(driver.get_method(op, DType::F32), Method::Native, "{op:?}");
    }
}

#[test]
fn two_drivers_at_once_and_one_after_another() {
    for _ in 0..2 {
        let Some((mut a, _)) = open(&Config::default()) else { return };
        let Some((mut b, _)) = open(&Config::default()) else { return };
        for driver in [&mut a, &mut b] {
            let block = alloc(&mut **driver, 10);
            write(&mut **driver, block, &[3.5; 10]);
            assert_eq!(read(&mut **driver, block, 10), [3.5; 10]);
        }
        a.cleanup();
        let block = alloc(&mut *b, 3);
        write(&mut *b, block, &[1.0, 2.0, 3.0]);
        assert_eq!(read(&mut *b, block, 3), [1.0, 2.0, 3.0]);
        let closed = a.block_alloc(BlockSpec::new(DType::F32, 1)).unwrap_err();
        assert_eq!(closed.kind(), ErrorKind::Invalid);
    }
}
