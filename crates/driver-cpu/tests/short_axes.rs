//! Launches with a short inner axis have the bits of a launch for each row, and those of the reference driver where it
//! has the dtype and the program: reductions, maps, scans and sorts over every length up to 70, all dtypes, strides of
//! every sign, offsets, several destinations, one thread and several. Products of many small matrices are within the
//! bound.
//!
//! Not here: rows of other lengths (`loop_orders.rs`), single products (`products.rs`).
#![allow(clippy::unwrap_used)]

use gpupy_core::driver::{Access, BlockSpec, Config, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::{DType, Op};
use std::sync::{Arc, Mutex, PoisonError};

/// Elements of each operand and of each destination.
const LEN: usize = 12_000;

/// The bytes that a dtype and a seed give.
type Made = (DType, usize, Arc<Vec<u8>>);

/// The bytes of a block, made once.
fn elements(dtype: DType, seed: usize) -> Arc<Vec<u8>> {
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
fn made(dtype: DType, len: usize, seed: usize) -> Vec<u8> {
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

fn access(offset: i64, strides: &[i64]) -> Access {
    Access { offset, strides: strides.into() }
}

/// A launch over operands of `LEN` elements.
struct Case {
    program: Program,
    shape: Vec<usize>,
    accesses: Vec<Access>,
    dests: Vec<Access>,
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
    let mut launch = |shape: &[usize], accesses: &[Access], dests: &[Dest]| {
        let launch = Launch {
            program: &case.program,
            fingerprint: case.program.fingerprint(),
            shape,
            operands: &operands,
            params: &[],
            accesses,
            dests,
            memory: &[],
            lend: None,
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
fn open(mut driver: Box<dyn Driver>, threads: u32) -> Box<dyn Driver> {
    driver.init(&Config { threads, ..Config::default() }).unwrap();
    driver
}

/// Bytes of a NaN may be any, so elements with one are compared as that.
fn same(dtype: DType, got: &[u8], want: &[u8]) -> bool {
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

fn check(cases: impl IntoIterator<Item = Case>) {
    let mut soft = open(driver_soft::new(), 1);
    let mut cpu = [1, 3].map(|threads| open(driver_cpu::new(), threads));
    for case in cases {
        let want = run(&mut *cpu[0], &case, How::RowByRow);
        let dtypes = case.program.operands.iter().chain(&case.program.dests);
        let mut all = vec![];
        for (driver, times) in cpu.iter_mut().zip([1, 4]) {
            all.push(run(&mut **driver, &case, How::Times(times)));
        }
        if dtypes.clone().all(|dtype| OF_SOFT.contains(dtype)) && case.program.operation_count() < 2
        {
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

/// The lengths that are tested.
fn lengths() -> impl Iterator<Item = usize> {
    1..=70
}

const DTYPES: [DType; 15] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];

/// How short rows may lie: some rows of `k` elements, in three axes of the space.
fn ways(k: usize) -> Vec<(Vec<usize>, Access)> {
    let (rows, n) = (1 + (4000 / k).min(290), k as i64);
    let r = rows as i64;
    let end = LEN as i64 - 1;
    vec![
        (vec![rows, k], access(3, &[n, 1])),
        (vec![rows, k], access(0, &[1, r])),
        (vec![rows, k], access(end, &[-n, -1])),
        (vec![rows, k], access(n, &[n, -1])),
        (vec![rows, k], access(2, &[2 * n + 1, 2])),
        (vec![rows, k], access(5, &[0, 1])),
        (vec![rows, k], access(5, &[1, 0])),
        (vec![rows, k], access(1, &[1, 1])),
        (vec![3, 1 + rows / 3, k], access(0, &[1, 3 * n, 3])),
        (vec![3, 1 + rows / 3, k], access(0, &[n, 3 * n, 1])),
    ]
}

/// Strides of a contiguous array.
fn contiguous(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for k in (1..shape.len()).rev() {
        strides[k - 1] = strides[k] * shape[k] as i64;
    }
    strides
}

#[test]
fn reductions_of_short_rows() {
    let mut cases = Vec::new();
    for (number, dtype) in DTYPES.into_iter().enumerate() {
        for k in lengths().filter(|k| dtype == DType::F32 || (k + number) % 9 == 0) {
            for (way, (shape, walk)) in ways(k).into_iter().enumerate() {
                let all = Op::reducing().filter(|op| op.reduces(dtype));
                for op in all.filter(|op| (*op as usize + way + k).is_multiple_of(2)) {
                    let mut b = Builder::new(Form::Reduce { op }, shape.len() as u32);
                    let slot = b.access(AccessKind::Affine);
                    let operand = b.operand(dtype);
                    let x = b.load(operand, slot);
                    let result = b.reduce(x);
                    b.store(result);
                    let mut out = shape.clone();
                    *out.last_mut().unwrap() = 1;
                    let dests = vec![access(2, &contiguous(&out))];
                    let accesses = vec![walk.clone()];
                    cases.push(Case { program: b.finish(), shape: shape.clone(), accesses, dests });
                }
            }
        }
    }
    check(cases);
}

#[test]
fn several_reductions_of_what_is_computed() {
    let mut cases = Vec::new();
    for dtype in [DType::F32, DType::F64, DType::I32, DType::U8] {
        for (k, (shape, walk)) in
            lengths().step_by(3).flat_map(|k| ways(k).into_iter().map(move |way| (k, way)))
        {
            let ops = match k / 3 % 3 {
                0 => vec![Op::Add],
                1 => vec![Op::Max, Op::Add],
                _ => vec![Op::Min, Op::Max, Op::Mul],
            };
            let mut b = Builder::new(Form::Reduce { op: ops[0] }, shape.len() as u32);
            let slots = [b.access(AccessKind::Affine), b.access(AccessKind::Affine)];
            let operands = [b.operand(dtype), b.operand(dtype)];
            let [x, y] = [0, 1].map(|which| b.load(operands[which], slots[which]));
            let product = b.op(Op::Mul, &[x, y]);
            let results: Vec<u32> = ops.iter().map(|op| b.reduce_by(*op, product)).collect();
            // Something of all results, and each of them.
            let last = *results.last().unwrap();
            let sum = b.op(Op::Add, &[results[0], last]);
            b.store(sum);
            results.iter().for_each(|result| b.store(*result));
            let mut out = shape.clone();
            *out.last_mut().unwrap() = 1;
            let other = access(7, &vec![1; shape.len()]);
            let dests = vec![access(0, &contiguous(&out)); 1 + ops.len()];
            cases.push(Case { program: b.finish(), shape, accesses: vec![walk, other], dests });
        }
    }
    check(cases);
}

#[test]
fn maps_over_short_rows() {
    let mut cases = Vec::new();
    for (number, dtype) in DTYPES.into_iter().enumerate() {
        for k in lengths().filter(|k| dtype == DType::F32 || (k + number) % 9 == 0) {
            let all = ways(k);
            for (first, (shape, walk)) in all.iter().enumerate() {
                for (second, (_, other)) in all.iter().enumerate() {
                    if other.strides.len() != shape.len() || (first + second + k) % 7 > 0 {
                        continue;
                    }
                    let mut b = Builder::new(Form::Map, shape.len() as u32);
                    let slots = [b.access(AccessKind::Affine), b.access(AccessKind::Affine)];
                    let operands = [b.operand(dtype), b.operand(dtype)];
                    let [x, y] = [0, 1].map(|which| b.load(operands[which], slots[which]));
                    let op = if dtype == DType::Bool { Op::And } else { Op::Mul };
                    let product = b.op(op, &[x, y]);
                    b.store(product);
                    b.store(y);
                    let whole = contiguous(shape);
                    // Contiguous, with gaps, and transposed.
                    let dest = match (first + second) % 3 {
                        0 => whole.clone(),
                        1 if shape.len() == 2 => vec![k as i64 + 2, 1],
                        _ => {
                            let (mut strides, mut step) = (whole.clone(), 1);
                            for (stride, extent) in strides.iter_mut().zip(shape) {
                                *stride = step;
                                step *= *extent as i64;
                            }
                            strides
                        }
                    };
                    let dests = vec![access(1, &whole), access(3, &dest)];
                    let accesses = vec![walk.clone(), other.clone()];
                    cases.push(Case { program: b.finish(), shape: shape.clone(), accesses, dests });
                }
            }
        }
    }
    check(cases);
}

#[test]
fn sorts_and_scans_of_short_rows() {
    let mut cases = Vec::new();
    for (number, dtype) in DTYPES.into_iter().enumerate() {
        for k in lengths().filter(|k| dtype == DType::F32 || (k + number) % 9 == 0) {
            for (way, (shape, walk)) in ways(k).into_iter().enumerate() {
                let whole = contiguous(&shape);
                let transposed = way % 2 == 1 && shape.len() == 2;
                let strides = if transposed { vec![1, shape[0] as i64] } else { whole };
                for op in [Op::Sort, Op::ArgSort] {
                    let mut b = Builder::new(Form::Sort, shape.len() as u32);
                    let slot = b.access(AccessKind::Affine);
                    let operand = b.operand(dtype);
                    let x = b.load(operand, slot);
                    let sorted = b.library_op(op, &[x]);
                    b.store(sorted);
                    let (accesses, dests) = (vec![walk.clone()], vec![access(1, &strides)]);
                    cases.push(Case { program: b.finish(), shape: shape.clone(), accesses, dests });
                }
                let all = Op::reducing().filter(|op| op.reduces(dtype));
                for op in all.filter(|op| (*op as usize + way).is_multiple_of(2)) {
                    let mut b = Builder::new(Form::Scan { op }, shape.len() as u32);
                    let slots = [b.access(AccessKind::Affine), b.access(AccessKind::Affine)];
                    let operands = [b.operand(dtype), b.operand(dtype)];
                    let loads = [0, 1].map(|which| b.load(operands[which], slots[which]));
                    let scanned = b.library_op(Op::Scan, &loads);
                    b.store(scanned);
                    let starts = access(4, &vec![(way % 3) as i64; shape.len()]);
                    let (accesses, dests) = (vec![walk.clone(), starts], vec![access(1, &strides)]);
                    cases.push(Case { program: b.finish(), shape: shape.clone(), accesses, dests });
                }
            }
        }
    }
    check(cases);
}

/// Numbers of moderate size.
fn reals(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    match dtype {
        DType::F32 => {
            bytes.as_chunks().0.iter().map(|x| f64::from(f32::from_le_bytes(*x))).collect()
        }
        _ => bytes.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)).collect(),
    }
}

#[test]
fn products_of_many_small_matrices() {
    let mut cpu = [1, 3].map(|threads| open(driver_cpu::new(), threads));
    for dtype in [DType::F32, DType::F64] {
        let raw = elements(dtype, 1);
        let zero = vec![0; dtype.size()];
        // NaN and infinities are left out: sums in any order may meet them otherwise.
        let finite: Vec<u8> = raw
            .chunks(dtype.size())
            .zip(reals(dtype, &raw))
            .flat_map(|(bytes, x)| if x.is_finite() { bytes } else { &zero[..] }.to_vec())
            .collect();
        let numbers = reals(dtype, &finite);
        for (m, n, k) in
            (1..=17).flat_map(|k| [(k, k, k), (k, 1, k), (1, k, k), (3, k, 2), (k, 2, 5)])
        {
            let (rows, columns, terms) = (m as i64, n as i64, k as i64);
            let count = 17 + k % 7;
            let a_ways = [[terms, 1], [1, rows], [terms + 1, 1], [2 * terms, 2]];
            let b_ways = [[columns, 1], [1, terms], [1, terms + 2], [2 * columns, 2]];
            for (way, (a, b)) in a_ways.into_iter().zip(b_ways).enumerate() {
                let (of_a, of_b) = ([0, 2][way % 2] + rows * terms * 2, terms * columns * 2 + 40);
                let c = if way == 3 { [1, rows] } else { [columns, 1] };
                let mut builder = Builder::new(Form::MatMul, 4);
                let loads = [builder.operand(dtype), builder.operand(dtype)].map(|operand| {
                    let slot = builder.access(AccessKind::Affine);
                    builder.load(operand, slot)
                });
                let product = builder.library_op(Op::MatMul, &loads);
                builder.store(product);
                let program = builder.finish();
                let shape = [count, m, n, k];
                let whole = rows * columns;
                let accesses =
                    [access(1, &[of_a, a[0], 0, a[1]]), access(2, &[of_b, 0, b[1], b[0]])];
                if (count as i64 + 1) * of_a.max(of_b).max(whole) + 2 > LEN as i64 {
                    continue;
                }
                for driver in &mut cpu {
                    let blocks: Vec<_> = (0..3)
                        .map(|_| {
                            let block = driver.block_alloc(BlockSpec::new(dtype, LEN)).unwrap();
                            driver.block_write(block, 0, &finite).unwrap();
                            block
                        })
                        .collect();
                    let dest = access(0, &[whole, c[0], c[1], 1]);
                    driver
                        .eval_ir(&Launch {
                            program: &program,
                            fingerprint: program.fingerprint(),
                            shape: &shape,
                            operands: &blocks[..2],
                            params: &[],
                            accesses: &accesses,
                            dests: &[Dest { block: blocks[2], access: dest, whole: false }],
                            memory: &[],
                            lend: None,
                        })
                        .unwrap();
                    let mut bytes = vec![0; LEN * dtype.size()];
                    driver.block_read(blocks[2], 0, &mut bytes).unwrap();
                    blocks.into_iter().for_each(|block| driver.block_free(block));
                    let got = reals(dtype, &bytes);
                    let unit =
                        if dtype == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
                    for number in 0..count as i64 {
                        for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                            let term = |l: i64| {
                                let x = numbers[(1 + number * of_a + i * a[0] + l * a[1]) as usize];
                                x * numbers[(2 + number * of_b + l * b[0] + j * b[1]) as usize]
                            };
                            let want: f64 = (0..terms).map(term).sum();
                            let size: f64 = (0..terms).map(|l| term(l).abs()).sum();
                            let got = got[(number * whole + i * c[0] + j * c[1]) as usize];
                            let bound = terms as f64 * unit * size + 1e-300;
                            assert!(
                                (got - want).abs() <= bound,
                                "{shape:?} {a:?} {b:?} {c:?} {number} {i} {j}: {got} {want}"
                            );
                        }
                    }
                    // What lies behind the results is unchanged.
                    let end = count * (whole as usize) * dtype.size();
                    assert!(bytes[end..] == finite[end..], "{shape:?}");
                }
            }
        }
    }
}
