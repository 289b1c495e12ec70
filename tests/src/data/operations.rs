//! Operations of every dtype, parameters and literals, casts.
//!
//! Not here: programs of many operations (`programs.rs`).

use super::named::{Named, map, named, ordinary, random};
use crate::expect::oracle::{affine, contiguous};
use crate::expect::samples::{DTYPES, specials};
use gpupy_core::DType;
use gpupy_core::op::{OPS, Op, OpInfo, Rule};

/// Parameters, literals and exact operations of a dtype.
pub fn operations(dtype: DType) -> Vec<Named> {
    let mut cases = leaves(dtype);
    cases.extend(exact(dtype));
    if dtype == DType::F32 {
        cases.push(no_fusion());
    }
    cases
}

/// Operations on all their special operands, and on random ones.
fn of_row(row: &OpInfo, dtype: DType) -> Vec<Named> {
    let arity = row.arity as usize;
    let mut dtypes = vec![dtype; arity];
    if row.rule == Rule::Select {
        dtypes[0] = DType::Bool;
    }
    if row.op.result_dtype(&dtypes, dtype).is_none() {
        return Vec::new();
    }
    let numbers = specials(dtype);
    let n = numbers.len();
    let (shape, views) = match arity {
        1 => (vec![n], vec![affine(0, &[1])]),
        2 => (vec![n, n], vec![affine(0, &[1, 0]), affine(0, &[0, 1])]),
        _ => {
            let back = affine(n as i64 - 1, &[0, -1]);
            (vec![2, n], vec![affine(0, &[1, 0]), affine(0, &[0, 1]), back])
        }
    };
    let special = dtypes.iter().map(|dtype| specials(*dtype)).zip(views).collect();
    let len = 60;
    let others = dtypes.iter().zip(50..).map(|(dtype, seed)| random(*dtype, len, seed));
    let others = others.map(|data| (data, contiguous(&[len]))).collect();
    let both = [("special", shape, special), ("random", vec![len], others)];
    both.map(|(which, shape, loads)| Named {
        name: format!("{} of {which} {dtype}", row.name),
        run: map(&shape, loads, |b, values| b.op(row.op, values)),
        ulp: row.ulp,
    })
    .into()
}

fn exact(dtype: DType) -> impl Iterator<Item = Named> {
    let exact = |row: &&OpInfo| row.ulp == 0.0 && row.rule != Rule::Special && !row.is_of_complex();
    let rows = OPS.iter().filter(exact);
    let rows = rows.filter(|row| !matches!(row.rule, Rule::Cast | Rule::Bitcast));
    rows.flat_map(move |row| of_row(row, dtype))
}

pub fn functions() -> Vec<Named> {
    OPS.iter().filter(|row| row.ulp > 0.0).flat_map(|row| of_row(row, DType::F32)).collect()
}

/// Parameters and literals, alone and beside an operand.
fn leaves(dtype: DType) -> Vec<Named> {
    let op = if dtype == DType::Bool { Op::Xor } else { Op::Sub };
    let data = || vec![(random(dtype, 40, 60), contiguous(&[40]))];
    let numbers = specials(dtype);
    let mut cases = Vec::new();
    for scalar in [numbers[1], numbers[numbers.len() - 1]] {
        let run = map(&[40], data(), |b, values| {
            let param = b.param(dtype);
            b.op(op, &[values[0], param])
        });
        cases.push(named(format!("a parameter {scalar} of {dtype}"), run.param(scalar)));
        let run = map(&[40], data(), |b, values| {
            let literal = b.constant(scalar);
            b.op(op, &[literal, values[0]])
        });
        cases.push(named(format!("a literal {scalar} of {dtype}"), run));
        let run = map(&[3, 2], Vec::new(), |b, _| b.param(dtype));
        cases.push(named(format!("only a parameter {scalar} of {dtype}"), run.param(scalar)));
    }
    cases
}

/// The product is rounded before it is added to: at these numbers, a fused operation differs.
fn no_fusion() -> Named {
    let loads = (0..3).map(|k| (ordinary(DType::F32, 200, 70 + k), contiguous(&[200])));
    let run = map(&[200], loads.collect(), |b, values| {
        let product = b.op(Op::Mul, &[values[0], values[1]]);
        b.op(Op::Add, &[product, values[2]])
    });
    named("a product rounded before the sum", run)
}

pub fn casts() -> Vec<Named> {
    let mut cases = Vec::new();
    for from in DTYPES {
        for to in DTYPES {
            let mut data = specials(from);
            data.extend(random(from, 40, 80));
            let shape = [data.len()];
            let cast = |op| {
                let loads = vec![(data.clone(), contiguous(&shape))];
                let run = map(&shape, loads, |b, values| b.convert(op, values[0], to));
                named(format!("{} of {from} to {to}", op.info().name), run)
            };
            cases.push(cast(Op::Cast));
            if from != DType::Bool && to != DType::Bool {
                cases.push(cast(Op::Bitcast));
            }
        }
    }
    cases
}
