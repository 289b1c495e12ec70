//! Functions keep the error bound of their rows.
//!
//! Tested here: every 4099th float32, and the neighbours of hard points. The example `function_errors` tests all.

mod docs;
mod evaluate;
mod reference;

use evaluate::{Evaluator, ROW};
use gpupy_core::op::OPS;
use gpupy_core::op_eval::element::{Element, Half, Wide};
use gpupy_core::{DType, Op, functions};

/// Numbers at or near which functions change their method.
const HARD: [f32; 30] = [
    0.0,
    f32::MIN_POSITIVE,
    1e-40,
    1e-20,
    1e-10,
    0.25,
    0.3465736,
    0.41421357,
    0.5,
    0.625,
    0.70710677,
    1.0,
    std::f32::consts::SQRT_2,
    std::f32::consts::FRAC_PI_2,
    2.0,
    std::f32::consts::PI,
    9.010913,
    10.0,
    88.72284,
    89.41599,
    103.97208,
    128.0,
    149.0,
    8192.0,
    16367173.0,
    1e10,
    1.7014118e38,
    f32::MAX,
    f32::INFINITY,
    f32::NAN,
];

/// Each hard number with its neighbours, of either sign.
fn hard() -> Vec<f32> {
    let near = |x: f32| (-40..40).map(move |k: i32| x.to_bits().wrapping_add_signed(k));
    let magnitudes = HARD.into_iter().flat_map(near).map(|bits| f32::from_bits(bits & !(1 << 31)));
    magnitudes.flat_map(|x| [x, -x]).collect()
}

#[track_caller]
fn check_result(op: Op, args: &[f32], got: u32, exact: f64) {
    let (bound, got) = (f64::from(op.info().ulp), f32::from_bits(got));
    let error = reference::error_single(got, exact);
    assert!(error <= bound, "{op:?} of {args:?} is {got:e}, not {exact:e}: {error} ULP");
}

fn check(op: Op, operands: &[f32]) {
    let program = functions::program(op, DType::F32).expect("a program");
    let exact = reference::unary(op).expect("a reference");
    let mut evaluator = Evaluator::new(program);
    for given in operands.chunks(ROW) {
        let row = std::array::from_fn(|k| given.get(k).map_or(0, |x| x.to_bits()));
        for (x, got) in given.iter().zip(evaluator.run_single(&row)) {
            check_result(op, &[*x], got, exact(f64::from(*x)));
        }
    }
}

fn check_pairs(op: Op, pairs: &[(f32, f32)]) {
    let program = functions::program(op, DType::F32).expect("a program");
    let exact = reference::binary(op).expect("a reference");
    let mut evaluator = Evaluator::new(program);
    for given in pairs.chunks(ROW) {
        let bits = |k: usize| given.get(k).map_or((0, 0), |(x, y)| (x.to_bits(), y.to_bits()));
        let xs = std::array::from_fn(|k| bits(k).0.into());
        let ys = std::array::from_fn(|k| bits(k).1.into());
        for ((x, y), got) in given.iter().zip(evaluator.run(&[&xs, &ys])) {
            check_result(op, &[*x, *y], got as u32, exact(f64::from(*x), f64::from(*y)));
        }
    }
}

/// A generator of bit patterns.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 32) as u32
    }

    /// A float of ordinary magnitude: its exponent is within `spread` of 1's.
    fn float(&mut self, spread: u32) -> f32 {
        let bits = self.bits();
        let exponent = 127 - spread + self.bits() % (2 * spread + 1);
        f32::from_bits(bits & 0x807f_ffff | exponent << 23)
    }
}

#[test]
fn functions_of_one_operand_keep_their_bound() {
    let sample: Vec<f32> = (0..=u32::MAX / 4099).map(|k| f32::from_bits(k * 4099)).collect();
    for row in OPS.iter().filter(|row| row.arity == 1) {
        if functions::program(row.op, DType::F32).is_some() {
            check(row.op, &sample);
            check(row.op, &hard());
        }
    }
}

#[test]
fn functions_of_two_operands_keep_their_bound() {
    let mut random = Random(1);
    let mut pairs: Vec<(f32, f32)> = Vec::new();
    for x in hard().into_iter().step_by(7) {
        pairs.extend(hard().into_iter().step_by(23).map(|y| (x, y)));
    }
    let signed: Vec<f32> = HARD.into_iter().flat_map(|x| [x, -x]).collect();
    for x in &signed {
        pairs.extend(signed.iter().map(|y| (*x, *y)));
    }
    for k in 0..600_000 {
        let (x, y) = (random.float(1 + k % 120), random.float(1 + k % 60));
        pairs.push((x, y));
        pairs.push((x.abs(), y));
        // Powers near the ends of the range.
        let limit = if random.bits() < 1 << 31 { 128.0 } else { -150.0 };
        let exponent = limit / f64::from(x).abs().log2();
        pairs.push((x.abs(), (exponent * (1.0 - f64::from(random.bits()) * 1e-12)) as f32));
        // Points with coordinates of one magnitude.
        pairs.push((x, x * random.float(1)));
        // Any base with an integer exponent.
        pairs.push((x, (random.bits() % 41) as f32 - 20.0));
    }
    for row in OPS.iter().filter(|row| row.arity == 2) {
        if functions::program(row.op, DType::F32).is_some() {
            check_pairs(row.op, &pairs);
        }
    }
}

#[test]
fn functions_of_float64_keep_their_bound() {
    let vectors = reference::vectors(include_str!("float64.txt")).expect("vectors");
    assert!(vectors.len() > 3000);
    for row in OPS {
        let Some(program) = functions::program(row.op, DType::F64) else { continue };
        let mut evaluator = Evaluator::new(program);
        let ours: Vec<_> = vectors.iter().filter(|vector| vector.op == row.op).collect();
        assert!(ours.len() > 50, "{} has vectors", row.name);
        for vector in ours {
            let got = evaluator.run_one(&vector.operands);
            let error = reference::error_double(got, vector);
            assert!(
                error <= row.ulp.into(),
                "{} of {:?} is {got:e}, not {:e}: {error} ULP",
                row.name,
                vector.operands,
                vector.rounded
            );
        }
    }
}

#[test]
fn functions_of_float16_are_the_nearest_float16_but_for_ties() {
    let value = |bits: u16| f64::from(f32::from(Half(bits)));
    for row in OPS.iter().filter(|row| row.arity == 1) {
        let Some(program) = functions::program(row.op, DType::F16) else { continue };
        let exact = reference::unary(row.op).expect("a reference");
        let mut evaluator = Evaluator::new(program);
        for first in (0..1 << 16).step_by(ROW) {
            let operands = std::array::from_fn(|k| (first + k) as u64);
            for (x, got) in operands.into_iter().zip(evaluator.run(&[&operands])) {
                let (wanted, got) = (exact(value(x as u16)), got as u16);
                let nearest = Half::narrow(Wide::Float(wanted)).0;
                let (near, both) = (value(nearest), value(got));
                let tie = (wanted - near).abs() - (wanted - both).abs();
                let is_near = nearest.abs_diff(got) == 1 && tie.abs() < 1e-3 * (near - both).abs();
                let alike = nearest == got || near.is_nan() && both.is_nan();
                assert!(alike || is_near, "{} of {x:#x} is {got:#x}, not {nearest:#x}", row.name);
            }
        }
    }
}

#[test]
fn special_numbers_are_float64s_too() {
    let specials = [0.0, 0.5, 1.0, 2.0, 3.0, f64::MIN_POSITIVE, 5e-324, 1e300, f64::INFINITY];
    let specials = specials.into_iter().chain([f64::NAN]).flat_map(|x| [x, -x]);
    let specials: Vec<f64> = specials.collect();
    // Zeros, infinities and NaN equal the platform's; other results are near.
    let alike = |got: f64, wanted: f64| match wanted {
        wanted if wanted.is_nan() => got.is_nan(),
        wanted if wanted == 0.0 || wanted.is_infinite() => got.to_bits() == wanted.to_bits(),
        _ => (got - wanted).abs() <= wanted.abs() * 1e-15,
    };
    for row in OPS {
        let Some(program) = functions::program(row.op, DType::F64) else { continue };
        let mut evaluator = Evaluator::new(program);
        for x in &specials {
            if let Some(exact) = reference::unary(row.op) {
                let (got, wanted) = (evaluator.run_one(&[*x]), exact(*x));
                assert!(alike(got, wanted), "{} of {x:e} is {got:e}, not {wanted:e}", row.name);
            }
            for y in &specials {
                let Some(exact) = reference::binary(row.op) else { continue };
                let (got, wanted) = (evaluator.run_one(&[*x, *y]), exact(*x, *y));
                let name = row.name;
                assert!(alike(got, wanted), "{name} of {x:e}, {y:e} is {got:e}, not {wanted:e}");
            }
        }
    }
}

#[test]
fn programs_use_exact_operations_only() {
    for row in OPS {
        for dtype in [DType::F16, DType::F32, DType::F64] {
            let Some(program) = functions::program(row.op, dtype) else { continue };
            program.verify().unwrap_or_else(|error| panic!("{}: {error}", row.name));
            for inst in &program.insts {
                let op = inst.op.info();
                assert_eq!(op.ulp, 0.0, "{} in {}", op.name, row.name);
                let narrow = dtype == DType::F64 || inst.dtype.size() <= 4;
                assert!(narrow, "{} in {}", inst.dtype, row.name);
            }
        }
    }
}
