//! Functions keep the bound of their rows, wherever they are computed.
//!
//! Every 4099th float32 and what is next to hard points here; all of them in the example
//! `function_errors`.

mod evaluate;
mod reference;

use evaluate::{Evaluator, ROW};
use gpupy_core::op::OPS;
use gpupy_core::{DType, Op, functions};

/// Numbers where functions change their way, or nearly.
const HARD: [f32; 30] = [
    0.0,
    f32::MIN_POSITIVE,
    1e-40,
    1e-20,
    1e-10,
    0.25,
    0.34657359,
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
fn check(op: Op, operands: &[Vec<f32>]) {
    let mut worst = (0.0, Vec::new());
    let program = functions::program(op, DType::F32).expect("a program");
    let bound = f64::from(op.info().ulp);
    let mut evaluator = Evaluator::new(program);
    for start in (0..operands[0].len()).step_by(ROW) {
        let rows: Vec<[u64; ROW]> = operands
            .iter()
            .map(|row| {
                std::array::from_fn(|k| row.get(start + k).map_or(0, |x| x.to_bits().into()))
            })
            .collect();
        let results = evaluator.run(&rows.iter().collect::<Vec<_>>());
        for (k, got) in results.into_iter().enumerate().take(operands[0].len() - start) {
            let args: Vec<f64> = operands.iter().map(|row| row[start + k].into()).collect();
            let exact = match args[..] {
                [x] => reference::unary(op).expect("a reference")(x),
                [x, y] => reference::binary(op).expect("a reference")(x, y),
                _ => unreachable!("operands"),
            };
            let got = f32::from_bits(got as u32);
            let error = reference::error_single(got, exact);
            if error > worst.0 {
                worst = (error, args.clone());
            }
            assert!(error <= bound, "{op:?} of {args:?} is {got:e}, not {exact:e}: {error} ULP");
        }
    }
    println!("{op:?}: at most {:.3} ULP, of {:?}", worst.0, worst.1);
}

/// A generator of bit patterns.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 32) as u32
    }

    /// A float of ordinary size: its exponent lies within `spread` of 1's.
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
            check(row.op, &[sample.clone()]);
            check(row.op, &[hard()]);
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
        let limit = if random.bits() % 2 == 0 { 128.0 } else { -150.0 };
        let exponent = limit / f64::from(x).abs().log2();
        pairs.push((x.abs(), (exponent * (1.0 - f64::from(random.bits()) * 1e-12)) as f32));
        // Points whose coordinates are of one size.
        pairs.push((x, x * random.float(1)));
        // Whole exponents of any base.
        pairs.push((x, (random.bits() % 41) as f32 - 20.0));
    }
    let (x, y): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
    for row in OPS.iter().filter(|row| row.arity == 2) {
        if functions::program(row.op, DType::F32).is_some() {
            check(row.op, &[x.clone(), y.clone()]);
        }
    }
}

#[test]
fn programs_use_exact_operations_only() {
    for row in OPS {
        for dtype in [DType::F32, DType::F64] {
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
