//! Lengths beyond the limits of a device's loops: products, scans, reductions and regions that a kernel with
//! one loop over a whole row would compute wrongly where the device ends the loop.
//!
//! Invariant: few results of many elements each, so that the group takes little time.
//!
//! Not here: many results (`large.rs`).

use super::Suite;
use super::forms::{Product, need, product, product_run, scan};
use super::reductions::reduce;
use super::regions::need_regions;
use crate::drivers::device::Device;
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::{DTYPES, Rng};
use crate::reporting::outcome::{Outcome, ensure};
use gpupy_core::ir::{AccessKind, Builder, Form, FormKind, LOOP_STEPS, PRODUCT_CHUNK};
use gpupy_core::op::Op;
use gpupy_core::{DType, ErrorKind, Scalar};

pub const GROUP: &str = "long";

/// Just beyond 65,535, where some devices end a loop, and well beyond.
const LONG: usize = 65_537;
const LONGER: usize = 100_003;

pub fn run(suite: &mut Suite<'_>) {
    for dtype in DTYPES {
        suite.case(GROUP, &format!("matmul of {dtype}, long sums"), |device| {
            product(device, dtype, Product::plain(2, 3, LONGER))?;
            if dtype != DType::F32 {
                return Ok(());
            }
            product(device, dtype, Product::turned(3, 1, LONG))?;
            product(device, dtype, Product::stacked(2, 1, 2, LONG))
        });
    }
    suite.case(GROUP, "matmul of float32 keeps what is small", small_beside_large);
    for op in [Op::Add, Op::Max] {
        let name = op.info().name;
        suite.case(GROUP, &format!("scan {name}, long rows"), |device| {
            let shape = [1, LONG];
            scan(device, op, DType::I32, &shape, contiguous(&shape), AccessKind::Contiguous)?;
            scan(device, op, DType::F32, &[LONGER], affine(0, &[1]), AccessKind::Affine)
        });
        suite.case(GROUP, &format!("reduce {name}, long rows"), |device| {
            reduce(device, op, DType::F32, &[LONGER], contiguous(&[LONGER]))?;
            reduce(device, op, DType::I32, &[2, LONG], affine(0, &[1, 2]))?;
            reduce(device, op, DType::I32, &[LONG, 2], contiguous(&[LONG, 2]))
        });
    }
    for (name, counts) in LOOPS {
        suite.case(GROUP, name, |device| loops(device, counts, Form::Map));
        let name = format!("{name}, and a sum");
        suite.case(GROUP, &name, |device| loops(device, counts, Form::Reduce { op: Op::Add }));
    }
    suite.case(GROUP, "a loop of as many iterations as an operand says", counted);
}

/// A large number, then ones, so many that one running sum of them all would keep none.
fn small_beside_large(device: &mut Device) -> Outcome {
    need(device, Op::MatMul, DType::F32)?;
    // Few vectors, and matrices, which drivers may do in different ways.
    for (m, n, k) in [(2, 3, PRODUCT_CHUNK + 1), (2, 3, LONGER), (1, 1, 20_001), (6, 5, 20_001)] {
        let large = 1u64 << 25;
        let mut run = product_run(DType::F32, &Product::plain(m, n, k));
        let row = |k| Scalar::f32(if k == 0 { large as f32 } else { 1.0 });
        run.operands =
            vec![(0..m * k).map(|at| row(at % k)).collect(), vec![Scalar::f32(1.0); k * n]];
        let blocks = [
            device.upload(DType::F32, &run.operands[0])?,
            device.upload(DType::F32, &run.operands[1])?,
            device.upload(DType::F32, &vec![Scalar::f32(0.0); m * n])?,
        ];
        let outcome = device.eval(&run, &blocks[..2], &blocks[2..]).and_then(|_| {
            let sum = (large + k as u64 - 1) as f64;
            let terms = (PRODUCT_CHUNK + k / PRODUCT_CHUNK) as f64;
            let bound = terms * 0.5 * f64::from(f32::EPSILON) * sum;
            device.read(blocks[2], DType::F32, 0, m * n)?.iter().try_for_each(|got| {
                let error = (f64::from(got.as_f32()) - sum).abs();
                ensure(error <= bound, || {
                    format!("k = {k}: {got} is {error:e} from {sum}, bound {bound:e}")
                })
            })
        });
        blocks.into_iter().for_each(|block| device.driver.block_free(block));
        outcome?;
    }
    Ok(())
}

/// Counts of nested loops. A driver may refuse counts beyond the steps of a point, but must compute those that
/// it accepts correctly.
const LOOPS: [(&str, &[i32]); 6] = [
    ("a loop of as many iterations as there may be", &[LOOP_STEPS as i32 - 1]),
    ("loops in each other of as many iterations as there may be", &[89, 90]),
    ("a loop in a loop, beyond what there may be", &[300, 300]),
    ("a loop of 65,537 iterations", &[65_537]),
    ("a loop of 100,000 iterations", &[100_000]),
    ("a loop of 300 iterations", &[300]),
];

fn loops(device: &mut Device, counts: &[i32], form: Form) -> Outcome {
    need_regions(device)?;
    let len = if form == Form::Map { 7 } else { 19 };
    if form != Form::Map {
        if !device.caps.has(FormKind::Reduce) {
            return crate::reporting::outcome::skip("no reduce form");
        }
        // The oracle is an interpreter, and slow.
        if counts.iter().map(|count| i64::from(*count)).product::<i64>() > 1 << 14 {
            return Ok(());
        }
    }
    let mut b = Builder::new(form, 1);
    let access = b.access(AccessKind::Contiguous);
    let x = b.operand(DType::I32);
    let x = b.load(x, access);
    let counts: Vec<u32> = counts.iter().map(|n| b.constant(Scalar::i32(*n))).collect();
    let value = around(&mut b, &counts, x);
    let value = if form == Form::Map { value } else { b.reduce(value) };
    b.store(value);
    let mut rng = Rng::new(71);
    let run = Run::new(b.finish(), &[len])
        .operand((0..len).map(|_| rng.ordinary(DType::I32)).collect())
        .access(contiguous(&[len]));
    checked(device, &run)
}

/// Adds the iteration's number to a value, in loops of these counts in each other.
fn around(b: &mut Builder, counts: &[u32], value: u32) -> u32 {
    let Some((count, inner)) = counts.split_first() else { return value };
    let region = b.begin_loop(*count, &[value]);
    let (i, so_far) = (b.iter(region), b.carry(region, 0));
    let next = b.op(Op::Add, &[so_far, i]);
    let next = around(b, inner, next);
    b.end(region, &[next]);
    b.result(region, 0, DType::I32)
}

/// Either refused for its loops, or right.
fn checked(device: &mut Device, run: &Run) -> Outcome {
    match device.driver.check_ir(&run.program) {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(()),
        _ => device.check_claimed(run, 0.0),
    }
}

fn counted(device: &mut Device) -> Outcome {
    need_regions(device)?;
    let mut b = Builder::new(Form::Map, 1);
    let access = b.access(AccessKind::Contiguous);
    let (x, n) = (b.operand(DType::I32), b.operand(DType::I32));
    let (x, n) = (b.load(x, access), b.load(n, access));
    let value = around(&mut b, &[n], x);
    b.store(value);
    let counts = [0, 1, 7000, LOOP_STEPS as i32 - 1, -5, 4096, 8000, 3, 8190];
    let run = Run::new(b.finish(), &[counts.len()])
        .operand((0..counts.len() as i32).map(Scalar::i32).collect())
        .operand(counts.map(Scalar::i32).to_vec())
        .access(contiguous(&[counts.len()]));
    device.check_claimed(&run, 0.0)
}
