//! The whole-program forms: scans and sorts to the bit, matrix products within the bound that the
//! specification states, and to the bit where every sum is exact.

use super::Suite;
use crate::drivers::device::Device;
use crate::expect::oracle::{Run, affine, contiguous, points};
use crate::expect::samples::{DTYPES, Rng};
use crate::reporting::outcome::{Outcome, ensure, skip};
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "forms";

const LENGTHS: [usize; 9] = [1, 2, 15, 33, 255, 256, 257, 513, 700];

pub fn run(suite: &mut Suite<'_>) {
    for op in Op::reducing() {
        for dtype in DTYPES.into_iter().filter(|dtype| op.reduces(*dtype)) {
            suite.case(GROUP, &format!("scan {} of {dtype}", op.info().name), |device| {
                LENGTHS.iter().try_for_each(|n| {
                    scan(device, op, dtype, &[*n], contiguous(&[*n]), AccessKind::Contiguous)
                })?;
                scan(device, op, dtype, &[5, 300], affine(0, &[1, 5]), AccessKind::Affine)?;
                scan(
                    device,
                    op,
                    dtype,
                    &[2, 3, 40],
                    affine(239, &[-40, -80, -1]),
                    AccessKind::Affine,
                )?;
                scan(device, op, dtype, &[3, 270], affine(7, &[0, 1]), AccessKind::Affine)
            });
        }
    }
    for op in [Op::Sort, Op::ArgSort] {
        for dtype in DTYPES {
            suite.case(GROUP, &format!("{} of {dtype}", op.info().name), |device| {
                [1, 2, 3, 17, 64, 130].iter().try_for_each(|n| {
                    sort(device, op, dtype, &[*n], contiguous(&[*n]), AccessKind::Contiguous)
                })?;
                sort(device, op, dtype, &[40, 9], contiguous(&[40, 9]), AccessKind::Contiguous)?;
                sort(device, op, dtype, &[9, 40], affine(0, &[1, 9]), AccessKind::Affine)?;
                sort(
                    device,
                    op,
                    dtype,
                    &[2, 3, 20],
                    affine(119, &[-20, -40, -1]),
                    AccessKind::Affine,
                )
            });
        }
    }
    suite.case(GROUP, "sorts keep equal elements in their order", stable);
    suite.case(GROUP, "into part of a block", into_part);
    for dtype in DTYPES {
        suite.case(GROUP, &format!("matmul of {dtype}, exact sums"), |device| {
            for (m, n, k) in
                [(1, 1, 1), (2, 3, 4), (5, 1, 7), (1, 6, 9), (17, 19, 33), (3, 40, 257)]
            {
                product(device, dtype, Product::plain(m, n, k))?;
            }
            Ok(())
        });
        suite.case(
            GROUP,
            &format!("matmul of {dtype}, transposed, flipped and stacked"),
            |device| {
                product(device, dtype, Product::turned(7, 5, 11))?;
                product(device, dtype, Product::stacked(4, 6, 5, 8))
            },
        );
    }
    suite.case(GROUP, "matmul of an array by itself", by_itself);
    suite.case(GROUP, "matmul of float32 within its bound", within_bound);
}

pub(super) fn need(device: &Device, op: Op, dtype: DType) -> Outcome {
    if !op.form().is_some_and(|form| device.caps.has(form)) {
        return skip(format!("no form of `{}`", op.info().name));
    }
    device.need_dtype(dtype)?;
    device.need_method(op, dtype).map(|_| ())
}

/// How many elements an access over a shape needs.
fn reach(access: &Access, shape: &[usize]) -> usize {
    let far = |(stride, extent): (&i64, &usize)| (stride * (*extent as i64 - 1)).max(0);
    (access.offset + access.strides.iter().zip(shape).map(far).sum::<i64>() + 1) as usize
}

pub(super) fn scan(
    device: &mut Device,
    op: Op,
    dtype: DType,
    shape: &[usize],
    access: Access,
    kind: AccessKind,
) -> Outcome {
    need(device, Op::Scan, dtype)?;
    let mut b = Builder::new(Form::Scan { op }, shape.len() as u32);
    let (elements, starts) = (b.operand(dtype), b.operand(dtype));
    let (slot, chunks) = (b.access(kind), b.access(AccessKind::Contiguous));
    let loads = [b.load(elements, slot), b.load(starts, chunks)];
    let result = b.library_op(Op::Scan, &loads);
    b.store(result);
    let mut of_chunks = shape.to_vec();
    of_chunks[shape.len() - 1] = shape[shape.len() - 1].div_ceil(256);
    let mut rng = Rng::new(51);
    let run = |mut make: Box<dyn FnMut() -> Scalar>| {
        let elements = (0..reach(&access, shape)).map(|_| make()).collect();
        let starts = (0..of_chunks.iter().product()).map(|_| make()).collect();
        Run::new(b.finish(), shape)
            .operand(elements)
            .operand(starts)
            .access(access)
            .access(contiguous(&of_chunks))
    };
    // Sums of special floats are all NaN.
    let extreme = matches!(op, Op::Min | Op::Max) || dtype != DType::F32;
    let make = move || if extreme { rng.scalar(dtype) } else { rng.ordinary(dtype) };
    device.check_one(&run(Box::new(make)), 0.0)
}

fn sort_run(op: Op, dtype: DType, shape: &[usize], access: Access, kind: AccessKind) -> Run {
    let mut b = Builder::new(Form::Sort, shape.len() as u32);
    let (operand, slot) = (b.operand(dtype), b.access(kind));
    let value = b.load(operand, slot);
    let value = b.library_op(op, &[value]);
    b.store(value);
    Run::new(b.finish(), shape).access(access)
}

fn sort(
    device: &mut Device,
    op: Op,
    dtype: DType,
    shape: &[usize],
    access: Access,
    kind: AccessKind,
) -> Outcome {
    need(device, op, dtype)?;
    let len = reach(&access, shape);
    let run = sort_run(op, dtype, shape, access, kind);
    let mut rng = Rng::new(52);
    let ordinary = (0..len).map(|_| rng.ordinary(dtype)).collect();
    device.check_one(&run.clone().operand(ordinary), 0.0)?;
    let special = (0..len).map(|_| rng.scalar(dtype)).collect();
    device.check_one(&run.operand(special), 0.0)
}

/// Zeros of both signs, NaN of several payloads, and infinities, many times each.
fn stable(device: &mut Device) -> Outcome {
    const SOME: [u32; 9] = [
        0,
        0x8000_0000,
        0x7fc0_0000,
        0xffc0_0001,
        0x7f80_0001,
        0x7f80_0000,
        0xff80_0000,
        0x3f80_0000,
        0xbf80_0000,
    ];
    for op in [Op::Sort, Op::ArgSort] {
        need(device, op, DType::F32)?;
        for n in [9, 50, 120] {
            let mut rng = Rng::new(53);
            let data = (0..n).map(|_| Scalar::new(DType::F32, SOME[rng.below(9)].into())).collect();
            let run = sort_run(op, DType::F32, &[n], contiguous(&[n]), AccessKind::Contiguous);
            device.check_one(&run.operand(data), 0.0)?;
        }
    }
    Ok(())
}

fn into_part(device: &mut Device) -> Outcome {
    need(device, Op::Sort, DType::I32)?;
    let mut rng = Rng::new(54);
    let run = sort_run(Op::Sort, DType::I32, &[3, 7], contiguous(&[3, 7]), AccessKind::Contiguous)
        .operand((0..21).map(|_| rng.ordinary(DType::I32)).collect())
        .target(0, 60, affine(45, &[-20, 2]));
    device.check_one(&run, 0.0)?;
    need(device, Op::MatMul, DType::I32)?;
    let run =
        product_run(DType::I32, &Product::plain(3, 4, 5)).target(0, 60, affine(50, &[-20, 3, 0]));
    device.check_one(&run, 0.0)
}

/// The numbers of a matrix product.
pub(super) struct Product {
    shape: Vec<usize>,
    accesses: [Access; 2],
}

impl Product {
    /// C-contiguous matrices.
    pub(super) fn plain(m: usize, n: usize, k: usize) -> Product {
        let (n_, k_) = (n as i64, k as i64);
        Product { shape: vec![m, n, k], accesses: [affine(0, &[k_, 0, 1]), affine(0, &[0, 1, n_])] }
    }

    /// The first transposed, the second transposed and from its end.
    pub(super) fn turned(m: usize, n: usize, k: usize) -> Product {
        let (m_, n_, k_) = (m as i64, n as i64, k as i64);
        Product {
            shape: vec![m, n, k],
            accesses: [affine(3, &[1, 0, m_]), affine(n_ * k_ - 1, &[0, -k_, -1])],
        }
    }

    /// A stack of first matrices, with the same second one for all.
    pub(super) fn stacked(stack: usize, m: usize, n: usize, k: usize) -> Product {
        let (m_, n_, k_) = (m as i64, n as i64, k as i64);
        Product {
            shape: vec![stack, m, n, k],
            accesses: [affine(0, &[m_ * k_, k_, 0, 1]), affine(0, &[0, 0, 1, n_])],
        }
    }
}

/// A product of small numbers other than 0, so that every sum is exact.
pub(super) fn product_run(dtype: DType, product: &Product) -> Run {
    let mut b = Builder::new(Form::MatMul, product.shape.len() as u32);
    let operands = [b.operand(dtype), b.operand(dtype)];
    let loads = operands.map(|operand| {
        let slot = b.access(AccessKind::Affine);
        b.load(operand, slot)
    });
    let result = b.library_op(Op::MatMul, &loads);
    b.store(result);
    let mut rng = Rng::new(55);
    let mut run = Run::new(b.finish(), &product.shape);
    for access in &product.accesses {
        let small = |rng: &mut Rng| {
            let number = rng.below(5) as i32 + 1;
            let number = if rng.below(2) == 0 { number } else { -number };
            match dtype {
                DType::F32 => Scalar::f32(number as f32 * 0.5),
                DType::Bool => Scalar::bool(number > 3),
                _ => Scalar::new(dtype, number as u32 as u64),
            }
        };
        let len = reach(access, &product.shape);
        run = run.operand((0..len).map(|_| small(&mut rng)).collect()).access(access.clone());
    }
    run
}

pub(super) fn product(device: &mut Device, dtype: DType, product: Product) -> Outcome {
    need(device, Op::MatMul, dtype)?;
    device.check_one(&product_run(dtype, &product), 0.0)
}

/// A matrix times itself, turned: both operands are one block.
fn by_itself(device: &mut Device) -> Outcome {
    need(device, Op::MatMul, DType::I32)?;
    let mut b = Builder::new(Form::MatMul, 3);
    let operand = b.operand(DType::I32);
    let loads = [(); 2].map(|()| {
        let slot = b.access(AccessKind::Affine);
        b.load(operand, slot)
    });
    let result = b.library_op(Op::MatMul, &loads);
    b.store(result);
    let run = Run::new(b.finish(), &[3, 3, 7])
        .operand((0..21).map(|k| Scalar::i32(k * k % 23 - 11)).collect())
        .access(affine(0, &[7, 0, 1]))
        .access(affine(0, &[0, 7, 1]));
    device.check_one(&run, 0.0)
}

/// Sums of any numbers, as far from the exact ones as the specification allows.
fn within_bound(device: &mut Device) -> Outcome {
    need(device, Op::MatMul, DType::F32)?;
    let (m, n, k) = (13, 21, 300);
    let mut run = product_run(DType::F32, &Product::plain(m, n, k));
    let mut rng = Rng::new(56);
    for operand in &mut run.operands {
        operand.iter_mut().for_each(|x| *x = Scalar::f32((rng.below(20001) as f32 - 1e4) / 7e3));
    }
    let blocks = [
        device.upload(DType::F32, &run.operands[0])?,
        device.upload(DType::F32, &run.operands[1])?,
        device.upload(DType::F32, &vec![Scalar::f32(0.0); m * n])?,
    ];
    let outcome = device.eval(&run, &blocks[..2], &blocks[2..]).and_then(|_| {
        let got = device.read(blocks[2], DType::F32, 0, m * n)?;
        for (point, got) in points(&[m, n]).zip(got) {
            let pairs = (0..k).map(|i| {
                let (a, b) =
                    (&run.operands[0][point[0] * k + i], &run.operands[1][i * n + point[1]]);
                f64::from(a.as_f32()) * f64::from(b.as_f32())
            });
            let (sum, size) = pairs.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
            let error = (f64::from(got.as_f32()) - sum).abs();
            let bound = k as f64 * 0.5 * f64::from(f32::EPSILON) * size;
            ensure(error <= bound, || {
                format!("{point:?}: {got} is {error:e} from {sum}, bound {bound:e}")
            })?;
        }
        Ok(())
    });
    blocks.into_iter().for_each(|block| device.driver.block_free(block));
    outcome
}
