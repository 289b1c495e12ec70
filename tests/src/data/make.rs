//! Which cases the documents have.
//!
//! Owns [`files`]. Invariant: every exact operation, function, dtype, kind of access, form and
//! instruction occurs.
//!
//! Not here: the programs with regions (`regions.rs`), what the launches give (`oracle.rs`), how
//! documents look (`write.rs`).

use super::regions::REGIONS;
use crate::oracle::{Run, affine, contiguous};
use crate::samples::{DTYPES, Rng, specials};
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::{OPS, Op, OpInfo, Rule};
use gpupy_core::{DType, Scalar};

/// A launch with a name, and the distance that is allowed.
pub struct Named {
    pub name: String,
    pub run: Run,
    pub ulp: f32,
}

/// Each document's name and cases.
pub fn files() -> Vec<(&'static str, Vec<Named>)> {
    let operations = |dtype| {
        let mut cases = leaves(dtype);
        cases.extend(exact(dtype));
        cases
    };
    let mut floats = operations(DType::F32);
    floats.push(no_fusion());
    vec![
        ("accesses", accesses()),
        ("casts", casts()),
        ("destinations", destinations()),
        ("functions", functions()),
        ("operations-bool", operations(DType::Bool)),
        ("operations-float32", floats),
        ("operations-int32", operations(DType::I32)),
        ("operations-uint32", operations(DType::U32)),
        ("reductions", reductions()),
        ("regions", regions()),
    ]
}

fn named(name: impl Into<String>, run: Run) -> Named {
    Named { name: name.into(), run, ulp: 0.0 }
}

fn random(dtype: DType, len: usize, seed: u64) -> Vec<Scalar> {
    let mut rng = Rng::new(seed);
    (0..len).map(|_| rng.scalar(dtype)).collect()
}

fn ordinary(dtype: DType, len: usize, seed: u64) -> Vec<Scalar> {
    let mut rng = Rng::new(seed);
    (0..len).map(|_| rng.ordinary(dtype)).collect()
}

/// The most precise kind of an access that walks over all points of a shape.
fn kind(shape: &[usize], access: &Access) -> AccessKind {
    if access.strides == contiguous(shape).strides {
        AccessKind::Contiguous
    } else if access.strides.iter().all(|stride| *stride == 0) {
        AccessKind::Uniform
    } else {
        AccessKind::Affine
    }
}

/// A map over a shape of one value, computed from loads.
fn map(
    shape: &[usize],
    loads: Vec<(Vec<Scalar>, Access)>,
    compute: impl FnOnce(&mut Builder, &[u32]) -> u32,
) -> Run {
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let values: Vec<_> = loads
        .iter()
        .map(|(data, access)| {
            let (operand, slot) = (b.operand(data[0].dtype), b.access(kind(shape, access)));
            b.load(operand, slot)
        })
        .collect();
    let value = compute(&mut b, &values);
    b.store(value);
    let run = Run::new(b.finish(), shape);
    loads.into_iter().fold(run, |run, (data, access)| run.operand(data).access(access))
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
    let exact = |row: &&OpInfo| row.ulp == 0.0 && row.rule != Rule::Special;
    let rows = OPS.iter().filter(exact);
    let rows = rows.filter(|row| !matches!(row.rule, Rule::Cast | Rule::Bitcast));
    rows.flat_map(move |row| of_row(row, dtype))
}

fn functions() -> Vec<Named> {
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

fn casts() -> Vec<Named> {
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

/// What is read, over which shape, by which offset and strides.
type View = (&'static str, &'static [usize], i64, &'static [i64]);

const VIEWS: [View; 10] = [
    ("all of it", &[70], 0, &[1]),
    ("a slice", &[21], 7, &[1]),
    ("every second element", &[30], 1, &[2]),
    ("backwards in steps of three", &[20], 58, &[-3]),
    ("a slice of a matrix", &[5, 6], 12, &[10, 1]),
    ("transposed", &[5, 12], 0, &[1, 5]),
    ("a row over all rows", &[5, 12], 5, &[0, 1]),
    ("one element over all", &[5, 12], 11, &[0, 0]),
    ("a diagonal", &[7], 0, &[9]),
    ("five axes, mixed", &[3, 2, 4, 1, 2], 47, &[-16, 0, -4, 7, -1]),
];

fn accesses() -> Vec<Named> {
    let mut cases = Vec::new();
    for (name, shape, offset, strides) in VIEWS {
        let access = affine(offset, strides);
        for dtype in DTYPES {
            let loads = vec![(random(dtype, 71, 90), access.clone())];
            let run = map(shape, loads, |_, values| values[0]);
            cases.push(named(format!("{dtype}, {name}"), run));
        }
        let run = map(shape, Vec::new(), |b, _| {
            let slot = b.access(kind(shape, &access));
            b.index(slot)
        });
        cases.push(named(format!("index, {name}"), run.access(affine(offset - 30, strides))));
    }
    let far = affine(i64::from(i32::MAX) - 2, &[1]);
    let run = map(&[6], Vec::new(), |b, _| {
        let slot = b.access(AccessKind::Contiguous);
        b.index(slot)
    });
    cases.push(named("index, wrapped", run.access(far)));
    for dtype in DTYPES {
        let mut at: Vec<_> = ordinary(DType::I32, 40, 91);
        at.extend([-1, -300, 39, 40, i32::MIN, i32::MAX].map(Scalar::i32));
        let shape = [at.len()];
        let run = map(&shape, vec![(at, contiguous(&shape))], |b, values| {
            let table = b.operand(dtype);
            b.gather(table, values[0])
        });
        cases.push(named(format!("gather of {dtype}"), run.operand(random(dtype, 40, 92))));
    }
    cases
}

/// The launch's shape, and the block, offset and strides where it goes.
type Part = (&'static str, &'static [usize], usize, i64, &'static [i64]);

const PARTS: [Part; 7] = [
    ("all but the ends", &[38], 40, 1, &[1]),
    ("the last element", &[1], 41, 40, &[1]),
    ("every fifth element, backwards", &[8], 40, 38, &[-5]),
    ("a rectangle", &[3, 5], 80, 11, &[20, 1]),
    ("every second row and third column", &[4, 6], 160, 1, &[40, 3]),
    ("transposed", &[5, 8], 40, 0, &[1, 5]),
    ("three axes, permuted and apart", &[2, 3, 4], 100, 7, &[4, 30, 1]),
];

fn destinations() -> Vec<Named> {
    let mut cases = Vec::new();
    for (name, shape, len, offset, strides) in PARTS {
        for dtype in DTYPES {
            let data = random(dtype, shape.iter().product(), 100);
            let run = map(shape, vec![(data, contiguous(shape))], |_, values| values[0]);
            let run = run.target(0, len, affine(offset, strides));
            cases.push(named(format!("{dtype} into {name}"), run));
        }
    }
    for n in [2, 4] {
        let shape = [5, 6];
        let mut run = map(&shape, vec![(ordinary(DType::F32, 30, 101), contiguous(&shape))], {
            |b, values| {
                b.store(values[0]);
                for dtype in &DTYPES[..n - 2] {
                    let operand = b.operand(*dtype);
                    let value = b.load(operand, 0);
                    b.store(value);
                }
                b.op(Op::Mul, &[values[0], values[0]])
            }
        });
        for dtype in &DTYPES[..n - 2] {
            run = run.operand(random(*dtype, 30, 102));
        }
        cases.push(named(format!("{n} destinations"), run.clone()));
        for slot in 0..n {
            run = run.target(slot, 90, affine(slot as i64, &[14, 2]));
        }
        cases.push(named(format!("{n} destinations, parts of blocks"), run));
    }
    cases
}

fn reduce(op: Op, data: Vec<Scalar>, shape: &[usize], access: Access) -> Run {
    let mut b = Builder::new(Form::Reduce { op }, shape.len() as u32);
    let (operand, slot) = (b.operand(data[0].dtype), b.access(kind(shape, &access)));
    let value = b.load(operand, slot);
    let value = b.reduce(value);
    b.store(value);
    Run::new(b.finish(), shape).operand(data).access(access)
}

fn reductions() -> Vec<Named> {
    const LENGTHS: [usize; 11] = [1, 2, 3, 8, 15, 16, 17, 255, 256, 257, 300];
    let mut cases = Vec::new();
    for op in [Op::Add, Op::Mul, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor] {
        for dtype in DTYPES.into_iter().filter(|dtype| op.reduces(*dtype)) {
            let extreme = matches!(op, Op::Min | Op::Max) || dtype != DType::F32;
            // Sums of special floats are all NaN.
            let data =
                |len| if extreme { random(dtype, len, 110) } else { ordinary(dtype, len, 110) };
            let lengths = if dtype == DType::F32 { &LENGTHS[..] } else { &[17, 300] };
            for n in lengths {
                let run = reduce(op, data(*n), &[*n], contiguous(&[*n]));
                cases.push(named(format!("{} of {n} {dtype}", op.info().name), run));
            }
        }
    }
    let float = |len| ordinary(DType::F32, len, 111);
    let mut add = |name: &str, shape: &[usize], access: Access| {
        let len = shape.iter().product();
        cases.push(named(name, reduce(Op::Add, float(len), shape, access)));
    };
    add("sums of rows", &[3, 270], contiguous(&[3, 270]));
    add("sums of columns", &[6, 40], affine(0, &[1, 6]));
    add("sums of columns from the end", &[6, 33], affine(197, &[-33, -1]));
    add("sums over the first two of three axes of (5, 8, 6)", &[6, 40], affine(0, &[1, 6]));
    add("sums over the middle axis of (2, 20, 3)", &[2, 3, 20], affine(0, &[60, 1, 3]));
    add("sums of one row again and again", &[4, 20], affine(0, &[0, 1]));
    cases.push(with_prologue_and_epilogue());
    cases
}

/// The square root of a scaled sum of squares, plus what lies beside each output point.
fn with_prologue_and_epilogue() -> Named {
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 2);
    let (x, inputs) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let (y, outputs) = (b.operand(DType::F32), b.access(AccessKind::Affine));
    let x = b.load(x, inputs);
    let square = b.op(Op::Mul, &[x, x]);
    let sum = b.reduce(square);
    let scale = b.param(DType::F32);
    let scaled = b.op(Op::Mul, &[sum, scale]);
    let root = b.op(Op::Sqrt, &[scaled]);
    let y = b.load(y, outputs);
    let result = b.op(Op::Add, &[root, y]);
    b.store(result);
    let run = Run::new(b.finish(), &[3, 270])
        .operand(ordinary(DType::F32, 810, 112))
        .operand(ordinary(DType::F32, 40, 113))
        .param(Scalar::f32(0.3))
        .access(contiguous(&[3, 270]))
        .access(affine(2, &[9, 3]))
        .target(0, 30, affine(25, &[-7, 2]));
    named("loads before the reduction count input points, after it output points", run)
}

fn regions() -> Vec<Named> {
    let case = |(name, text): &(&str, &str)| {
        let program: Program = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
        let shape = [50];
        let mut run = Run::new(program, &shape);
        for dtype in run.program.operands.clone() {
            run = run.operand(match dtype {
                // Of counts, some are 0 and less.
                DType::I32 => (0..50).map(|k| Scalar::i32(k * 7 % 12 - 3)).collect(),
                dtype => ordinary(dtype, 50, 120),
            });
        }
        for kind in run.program.accesses.clone() {
            let affine = affine(-3, &[1]);
            run = run.access(if kind == AccessKind::Affine { affine } else { contiguous(&shape) });
        }
        for dtype in run.program.params.clone() {
            run = run.param(ordinary(dtype, 1, 121)[0]);
        }
        named(*name, run)
    };
    REGIONS.iter().map(case).collect()
}
