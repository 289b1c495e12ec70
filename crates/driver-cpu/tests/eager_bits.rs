//! Eager evaluation has the bits of recorded work, in random programs and whole-program forms.
#![allow(clippy::unwrap_used)]

mod eager_contexts;

use eager_contexts::{auto, bytes, context};
use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Placement};

/// Pseudo-random numbers, equal in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// The first three are dtypes of all drivers.
const DTYPES: [DType; 6] = [DType::F32, DType::I32, DType::Bool, DType::F64, DType::U8, DType::I64];

fn scalar(dice: &mut Dice, dtype: DType) -> Scalar {
    match dtype {
        DType::F32 => Scalar::f32(dice.of(&[0.0, -0.0, 2.5, -1.5, f32::INFINITY, 1e-40])),
        DType::F64 => Scalar::f64(dice.of(&[0.0, -0.0, 2.5, -1.5, 1e300])),
        DType::Bool => Scalar::bool(dice.below(2) == 1),
        _ => Scalar::new(dtype, dice.of(&[0, 1, 3, 200])),
    }
}

fn given(dice: &mut Dice, dtype: DType, shape: &[usize]) -> Array {
    let len = shape.iter().product();
    let element = |_| match dtype {
        DType::F32 => (dice.below(2000) as f32 / 64.0 - 9.0).to_ne_bytes().to_vec(),
        DType::F64 => (dice.below(2000) as f64 / 64.0 - 9.0).to_ne_bytes().to_vec(),
        DType::I32 => (dice.below(40) as i32 - 20).to_ne_bytes().to_vec(),
        DType::I64 => (dice.below(40) as i64 - 20).to_ne_bytes().to_vec(),
        DType::Bool => vec![dice.below(2) as u8],
        _ => vec![dice.below(256) as u8],
    };
    let bytes: Vec<u8> = (0..len).flat_map(element).collect();
    Array::from_bytes(dtype, shape, &bytes).unwrap()
}

/// Some view of an array.
fn view(dice: &mut Dice, array: &Array) -> Array {
    let (shape, ndim) = (array.shape().to_vec(), array.ndim());
    if ndim == 0 {
        return array.insert_axis(0);
    }
    let axis = dice.below(ndim);
    let extent = shape[axis];
    match dice.below(7) {
        0 if extent > 1 => array.slice_axis(axis, 1, extent - 1, 1),
        1 if extent > 0 => array.slice_axis(axis, extent - 1, extent, -1),
        2 if extent > 0 => array.slice_axis(axis, 0, extent.div_ceil(2), 2),
        3 if extent > 0 => array.index_axis(axis, dice.below(extent)),
        4 => array.transpose(&(0..ndim).rev().collect::<Vec<_>>()),
        5 if ndim < 4 => array.insert_axis(axis),
        _ => {
            let rows = [&[3][..], &shape].concat();
            if array.size() < 3000 { array.broadcast_to(&rows).unwrap() } else { array.clone() }
        }
    }
}

/// A random operation on some of these arrays; `None` where they do not fit it.
fn operation(
    context: &Context,
    dtypes: &[DType],
    dice: &mut Dice,
    arrays: &[Array],
) -> Option<Array> {
    let a = &arrays[dice.below(arrays.len())];
    let b = &arrays[dice.below(arrays.len())];
    let apply = |op, args: &[ArrayOrScalar<'_>]| context.apply(op, args).ok();
    match dice.below(12) {
        0 | 1 => {
            let ops =
                [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Min, Op::Max, Op::Lt, Op::Eq, Op::And];
            apply(dice.of(&ops), &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)])
        }
        2 => {
            let number = ArrayOrScalar::Scalar(scalar(dice, a.dtype()));
            let ops = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Ge];
            let args = [ArrayOrScalar::Array(a), number];
            if dice.below(2) == 0 {
                return apply(dice.of(&ops), &args);
            }
            apply(dice.of(&ops), &[args[1], args[0]])
        }
        3 => {
            let ops = [Op::Neg, Op::Abs, Op::Sqrt, Op::Floor, Op::Exp, Op::Sin, Op::Not];
            apply(dice.of(&ops), &[ArrayOrScalar::Array(a)])
        }
        4 => {
            let mask = arrays.iter().find(|array| array.dtype() == DType::Bool)?;
            apply(
                Op::Select,
                &[ArrayOrScalar::Array(mask), ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)],
            )
        }
        5 => context.cast(a, dice.of(dtypes)).ok(),
        6 => {
            let axes: Vec<usize> = (0..a.ndim()).filter(|_| dice.below(3) > 0).collect();
            let op = dice.of(&[Op::Add, Op::Mul, Op::Min, Op::Max, Op::Or]);
            context.reduce(op, a, &axes, dice.below(2) == 0).ok()
        }
        7 => context.copy(&view(dice, a)).ok(),
        8 if a.ndim() > 0 => context.index(a.shape(), dice.below(a.ndim())).ok(),
        9 if a.ndim() > 0 => context.join(dice.below(a.ndim()), &[a.clone(), b.clone()]).ok(),
        10 => {
            // Seen through another view, perhaps of the very array that is read.
            let dest = view(dice, a);
            if dest.strides().iter().zip(dest.shape()).any(|(s, n)| *s == 0 && *n > 1) {
                return None;
            }
            let source = if dice.below(2) == 0 { b.clone() } else { view(dice, &dest) };
            match dice.below(2) {
                0 => {
                    context.assign(&dest, ArrayOrScalar::Scalar(scalar(dice, dest.dtype()))).ok()?
                }
                _ => context.assign(&dest, ArrayOrScalar::Array(&source)).ok()?,
            }
            Some(dest)
        }
        _ => Some(view(dice, a)),
    }
}

/// The elements with one bit pattern for every NaN.
fn plain(dtype: DType, mut bytes: Vec<u8>) -> Vec<u8> {
    let is_nan = |element: &[u8]| match dtype {
        DType::F32 => f32::from_ne_bytes(element.try_into().unwrap()).is_nan(),
        DType::F64 => f64::from_ne_bytes(element.try_into().unwrap()).is_nan(),
        _ => false,
    };
    bytes.chunks_exact_mut(dtype.size()).filter(|e| is_nan(e)).for_each(|e| e.fill(255));
    bytes
}

/// Runs a random program; its arrays with their elements, at the end and on the way.
fn run(context: &Context, dtypes: &[DType], seed: u64) -> Vec<(DType, Vec<usize>, Vec<u8>)> {
    let mut dice = Dice(seed);
    let shapes = [&[10][..], &[4, 6], &[1], &[], &[2, 3, 5], &[300], &[33_000], &[0, 3]];
    let mut arrays: Vec<Array> = (0..4)
        .map(|_| {
            let (dtype, shape) = (dice.of(dtypes), dice.of(&shapes));
            given(&mut dice, dtype, shape)
        })
        .collect();
    let mut seen = Vec::new();
    let mut see = |array: &Array| {
        let elements = plain(array.dtype(), bytes(context, array));
        seen.push((array.dtype(), array.shape().to_vec(), elements));
    };
    for _ in 0..24 {
        let Some(array) = operation(context, dtypes, &mut dice, &arrays) else { continue };
        if array.size() > 140_000 {
            continue;
        }
        if dice.below(5) == 0 {
            see(&array);
        }
        if arrays.len() > 8 {
            let gone = dice.below(arrays.len());
            arrays.swap_remove(gone);
        }
        arrays.push(array);
    }
    arrays.iter().for_each(see);
    seen
}

#[test]
fn what_is_computed_at_once_has_the_bits_of_what_is_recorded() {
    let now = auto();
    let recorded = context(driver_cpu::NAME, Placement::Strict);
    // A device of its own memory, and the host driver beside it.
    let beside = context(driver_soft::NAME, Placement::Auto);
    for seed in 0..400 {
        let want = run(&recorded, &DTYPES, seed);
        assert_eq!(run(&now, &DTYPES, seed), want, "program {seed}");
        let want = run(&recorded, &DTYPES[..3], seed);
        assert_eq!(run(&beside, &DTYPES[..3], seed), want, "program {seed}, beside another driver");
    }
    let stats = now.stats();
    assert!(stats.computed_at_once > 1000 && stats.blocks_evaluated > 100, "{stats:?}");
    assert_eq!(recorded.stats().computed_at_once, 0);
}

#[test]
fn scans_sorts_and_products_at_once_have_the_bits_of_what_is_recorded() {
    let (now, recorded) = (auto(), context(driver_cpu::NAME, Placement::Strict));
    let mut dice = Dice(7);
    let mut check = |shape: &[usize], dtype: DType, run: &dyn Fn(&Context, &Array) -> Array| {
        let array = given(&mut dice, dtype, shape);
        // In C order, and seen through strides.
        for array in [array.clone(), array.transpose(&[1, 0])] {
            let (found, want) = (run(&now, &array), run(&recorded, &array));
            assert!(found.in_memory().is_some(), "{shape:?} is computed at once");
            let wanted = plain(dtype, bytes(&recorded, &want));
            assert_eq!(found.shape(), want.shape());
            assert_eq!(plain(dtype, bytes(&now, &found)), wanted, "{shape:?} of {dtype}");
        }
    };
    for dtype in [DType::F32, DType::F64, DType::I32] {
        for shape in [[1, 1], [3, 5], [2, 300], [40, 7]] {
            check(&shape, dtype, &|context, array| context.sort(array, 1).unwrap());
            check(&shape, dtype, &|context, array| context.argsort(array, 0).unwrap());
            check(&shape, dtype, &|context, array| context.scan(Op::Add, array, 0).unwrap());
            check(&shape, dtype, &|context, array| {
                context.matmul(array, &array.transpose(&[1, 0])).unwrap()
            });
        }
    }
    assert_eq!(now.stats().blocks_evaluated, 0);
}
