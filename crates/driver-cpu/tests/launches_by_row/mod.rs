//! Launches beside the same launch for each row by itself, and beside the reference driver where it has the dtype and
//! the program.
//!
//! Owns [`Case`] and [`check`]. Not here: the cases, which each test has for itself.
#![allow(dead_code, clippy::unwrap_used)] // each test takes a part

use gpupy_core::driver::{Access, BlockSpec, Config, Dest, Driver, Launch};
use gpupy_core::ir::Program;
use gpupy_core::{DType, Op};
use std::sync::{Arc, Mutex, PoisonError};

/// Elements of each operand and of each destination.
pub const LEN: usize = 12_000;

/// Every parameter of a program.
const PARAMETER: u64 = 200;

/// The bytes that a dtype and a seed give.
type Made = (DType, usize, Arc<Vec<u8>>);

/// The bytes of a block, made once.
pub fn elements(dtype: DType, seed: usize) -> Arc<Vec<u8>> {
    static KNOWN: Mutex<Vec<Made>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., bytes)) = known.iter().find(|(d, s, _)| (*d, *s) == (dtype, seed)) {
        return bytes.clone();
    }
    let made = Arc::new(made(dtype, LEN, seed));
    known.push((dtype, seed, made.clone()));
    made
}

/// Bytes of some elements: NaN, infinities, zeros of both signs and subnormals among ordinary numbers.
pub fn made(dtype: DType, len: usize, seed: usize) -> Vec<u8> {
    let number = |k: usize| {
        let mixed = (k + 31 * seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (mixed as f64 / f64::from(1 << 20) - 8.0, mixed % 211)
    };
    let one = |k: usize| -> Vec<u8> {
        let (x, kind) = number(k);
        let x = match kind {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2..6 => 0.0,
            6..9 => -0.0,
            9 => 1e-310,
            10..40 => x.round(),
            _ => x,
        };
        let upper = (x as f32).to_bits() >> 16;
        match dtype {
            DType::F32 => (x as f32).to_le_bytes().to_vec(),
            DType::F64 => x.to_le_bytes().to_vec(),
            DType::C64 => [x as f32, number(k + 1).0 as f32].map(f32::to_le_bytes).concat(),
            DType::C128 => [x, number(k + 1).0].map(f64::to_le_bytes).concat(),
            DType::Bool => vec![u8::from(kind % 3 == 0)],
            // Any bits are a number of two bytes.
            DType::F16 | DType::BF16 => (upper as u16).to_le_bytes().to_vec(),
            _ => ((x * 16.0) as i64).to_le_bytes()[..dtype.size()].to_vec(),
        }
    };
    (0..len).flat_map(one).collect()
}

pub fn access(offset: i64, strides: &[i64]) -> Access {
    Access { offset, strides: strides.into() }
}

/// A launch over operands of `LEN` elements.
pub struct Case {
    pub program: Program,
    pub shape: Vec<usize>,
    pub accesses: Vec<Access>,
    pub dests: Vec<Access>,
}

/// How a case is launched.
#[derive(Clone, Copy, Debug)]
enum How {
    /// All rows at once, so often: interpreted at first, as machine code later.
    Times(usize),
    /// Each row by itself.
    RowByRow,
}

/// The destinations after the launches.
fn run(driver: &mut dyn Driver, case: &Case, how: How) -> Vec<Vec<u8>> {
    let mut block = |dtype: DType, seed: usize| {
        let block = driver.block_alloc(BlockSpec::new(dtype, LEN)).unwrap();
        driver.block_write(block, 0, &elements(dtype, seed)).unwrap();
        block
    };
    let operands: Vec<_> =
        case.program.operands.iter().zip(1..).map(|(dtype, seed)| block(*dtype, seed)).collect();
    let dests: Vec<_> = case.program.dests.iter().map(|dtype| block(*dtype, 99)).collect();
    let all: Vec<Dest> = dests
        .iter()
        .zip(&case.dests)
        .map(|(block, access)| Dest { block: *block, access: access.clone(), whole: false })
        .collect();
    let params = vec![PARAMETER; case.program.params.len()];
    let mut launch = |shape: &[usize], accesses: &[Access], dests: &[Dest]| {
        let launch = Launch {
            program: &case.program,
            fingerprint: case.program.fingerprint(),
            shape,
            operands: &operands,
            params: &params,
            accesses,
            dests,
            memory: &[],
            lend: None,
            rest: None,
        };
        driver.eval_ir(&launch).unwrap();
    };
    match how {
        How::Times(times) => (0..times).for_each(|_| launch(&case.shape, &case.accesses, &all)),
        How::RowByRow => {
            let (last, outer) = case.shape.split_last().unwrap();
            let mut shape = vec![1; outer.len()];
            shape.push(*last);
            for number in 0..outer.iter().product::<usize>() {
                let (mut point, mut left) = (vec![0; shape.len()], number);
                for (i, extent) in point[..outer.len()].iter_mut().zip(outer).rev() {
                    (*i, left) = (left % extent, left / extent);
                }
                let moved = |access: &Access| {
                    let steps = access.strides.iter().zip(&point).map(|(step, i)| step * *i as i64);
                    Access { offset: access.offset + steps.sum::<i64>(), ..access.clone() }
                };
                let accesses: Vec<Access> = case.accesses.iter().map(moved).collect();
                let dests: Vec<Dest> = all
                    .iter()
                    .map(|dest| Dest { access: moved(&dest.access), ..dest.clone() })
                    .collect();
                launch(&shape, &accesses, &dests);
            }
        }
    }
    let results = dests.iter().zip(&case.program.dests).map(|(block, dtype)| {
        let mut bytes = vec![0; LEN * dtype.size()];
        driver.block_read(*block, 0, &mut bytes).unwrap();
        bytes
    });
    let results = results.collect();
    operands.into_iter().chain(dests).for_each(|block| driver.block_free(block));
    results
}

/// An open driver with some threads.
pub fn open(mut driver: Box<dyn Driver>, threads: u32) -> Box<dyn Driver> {
    driver.init(&Config { threads, ..Config::default() }).unwrap();
    driver
}

/// Bytes of a NaN may be any, so elements with one are compared as that.
pub fn same(dtype: DType, got: &[u8], want: &[u8]) -> bool {
    let part = match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        other => other,
    };
    if !part.is_float() {
        return got == want;
    }
    let (size, infinity) = (part.size(), part.infinity());
    let is_nan = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..size].copy_from_slice(bytes);
        u64::from_le_bytes(word) & !(1 << (8 * size - 1)) > infinity
    };
    let pairs = got.chunks(size).zip(want.chunks(size));
    pairs.into_iter().all(|(got, want)| got == want || is_nan(got) && is_nan(want))
}

pub fn check(cases: impl IntoIterator<Item = Case>) {
    let mut soft = open(driver_soft::new(), 1);
    let mut cpu = [1, 3].map(|threads| open(driver_cpu::new(), threads));
    for case in cases {
        let want = run(&mut *cpu[0], &case, How::RowByRow);
        let dtypes = case.program.operands.iter().chain(&case.program.dests);
        let mut all = vec![];
        for (driver, times) in cpu.iter_mut().zip([1, 4]) {
            all.push(run(&mut **driver, &case, How::Times(times)));
        }
        let is_one = case.program.operation_count() < 2
            && !case.program.insts.iter().any(|inst| inst.op == Op::Gather);
        if dtypes.clone().all(|dtype| OF_SOFT.contains(dtype)) && is_one {
            all.push(run(&mut *soft, &case, How::Times(1)));
        }
        for (number, got) in all.iter().enumerate() {
            for (dest, dtype) in case.program.dests.iter().enumerate() {
                assert!(
                    same(*dtype, &got[dest], &want[dest]),
                    "destination {dest}, run {number}: {:?} {:?} to {:?}\n{}",
                    case.shape,
                    case.accesses,
                    case.dests,
                    case.program
                );
            }
        }
    }
}

/// The dtypes of the reference driver.
const OF_SOFT: [DType; 4] = [DType::Bool, DType::I32, DType::U32, DType::F32];

/// Strides of a contiguous array.
pub fn contiguous(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for k in (1..shape.len()).rev() {
        strides[k - 1] = strides[k] * shape[k] as i64;
    }
    strides
}
