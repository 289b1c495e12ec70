//! What evaluations cost, beside loops written by hand: nanoseconds an element, medians.
//!
//! `cargo run --release -p driver-cpu --example timing [word]`: only lines with that word; `rows` times every
//! operation on a row.
#![allow(clippy::unwrap_used)] // nobody depends on it

use gpupy_core::driver::{Access, BlockId, BlockSpec, Config, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::{DType, Op, Scalar, functions};
use std::hint::black_box;
use std::time::Instant;

/// A program with everything that its launch needs.
struct Case {
    program: Program,
    shape: Vec<usize>,
    operands: Vec<usize>,
    params: Vec<u64>,
    accesses: Vec<Access>,
    dest: (usize, Access),
}

fn access(offset: i64, strides: &[i64]) -> Access {
    Access { offset, strides: strides.into() }
}

/// The median of how long a call takes, in nanoseconds.
fn median(mut call: impl FnMut()) -> f64 {
    call();
    let mut times = Vec::new();
    let begun = Instant::now();
    while times.len() < 5 || begun.elapsed().as_millis() < 200 && times.len() < 200 {
        let mut calls = 1;
        loop {
            let start = Instant::now();
            (0..calls).for_each(|_| call());
            let time = start.elapsed().as_nanos();
            if time > 5_000 {
                times.push(time as f64 / f64::from(calls));
                break;
            }
            calls *= 4;
        }
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

impl Case {
    fn time(&self, driver: &mut dyn Driver) -> f64 {
        let block = |driver: &mut dyn Driver, dtype: DType, len: usize| -> BlockId {
            let block = driver.block_alloc(BlockSpec::new(dtype, len)).unwrap();
            let one = match dtype {
                DType::F32 => 0.7f32.to_le_bytes().to_vec(),
                DType::F64 => 0.7f64.to_le_bytes().to_vec(),
                _ => vec![1; dtype.size()],
            };
            driver.block_write(block, 0, &one.repeat(len)).unwrap();
            block
        };
        let operands: Vec<_> = (self.program.operands.iter().zip(&self.operands))
            .map(|(dtype, len)| block(driver, *dtype, *len))
            .collect();
        let dest = block(driver, self.program.dests[0], self.dest.0);
        let launch = Launch {
            program: &self.program,
            fingerprint: self.program.fingerprint(),
            shape: &self.shape,
            operands: &operands,
            params: &self.params,
            accesses: &self.accesses,
            dests: &[Dest { block: dest, access: self.dest.1.clone(), whole: true }],
            memory: &[],
        };
        let time = median(|| {
            driver.eval_ir(&launch).unwrap();
        });
        operands.into_iter().chain([dest]).for_each(|block| driver.block_free(block));
        time
    }
}

/// A map over `n` elements of `count` operands.
fn map(n: usize, count: usize, body: impl Fn(&mut Builder, &[u32]) -> u32) -> Case {
    map_of(DType::F32, n, count, body)
}

fn map_of(
    dtype: DType,
    n: usize,
    count: usize,
    body: impl Fn(&mut Builder, &[u32]) -> u32,
) -> Case {
    let mut b = Builder::new(Form::Map, 1);
    let walk = b.access(AccessKind::Contiguous);
    let values: Vec<u32> = (0..count)
        .map(|_| {
            let operand = b.operand(dtype);
            b.load(operand, walk)
        })
        .collect();
    let value = body(&mut b, &values);
    b.store(value);
    let program = b.finish();
    let params = program.params.iter().map(|_| Scalar::f32(0.37).bits).collect();
    Case {
        program,
        shape: vec![n],
        operands: vec![n; count],
        params,
        accesses: vec![access(0, &[1])],
        dest: (n, access(0, &[1])),
    }
}

fn function(b: &mut Builder, op: Op, values: &[u32]) -> u32 {
    b.inline(functions::branching(op, DType::F32).unwrap(), values)
}

fn saxpy(b: &mut Builder, v: &[u32]) -> u32 {
    let a = b.param(DType::F32);
    let x = b.op(Op::Mul, &[a, v[0]]);
    b.op(Op::Add, &[x, v[1]])
}

fn wave(b: &mut Builder, v: &[u32]) -> u32 {
    let sine = function(b, Op::Sin, v);
    let square = b.op(Op::Mul, &[v[0], v[0]]);
    let minus = b.op(Op::Neg, &[square]);
    let bell = function(b, Op::Exp, &[minus]);
    b.op(Op::Mul, &[sine, bell])
}

fn distances(b: &mut Builder, v: &[u32]) -> u32 {
    let mut least = None;
    for _ in 0..50 {
        let (px, py) = (b.param(DType::F32), b.param(DType::F32));
        let (dx, dy) = (b.op(Op::Sub, &[v[0], px]), b.op(Op::Sub, &[v[1], py]));
        let (dx, dy) = (b.op(Op::Mul, &[dx, dx]), b.op(Op::Mul, &[dy, dy]));
        let d = b.op(Op::Add, &[dx, dy]);
        let d = b.op(Op::Sqrt, &[d]);
        least = Some(match least {
            None => d,
            Some(least) => b.op(Op::Min, &[least, d]),
        });
    }
    least.unwrap()
}

fn black_scholes(b: &mut Builder, v: &[u32]) -> u32 {
    let [s, k, t] = [v[0], v[1], v[2]];
    let (r, sigma, half) = (b.param(DType::F32), b.param(DType::F32), b.param(DType::F32));
    let ratio = b.op(Op::Div, &[s, k]);
    let log = function(b, Op::Log, &[ratio]);
    let root = b.op(Op::Sqrt, &[t]);
    let scale = b.op(Op::Mul, &[sigma, root]);
    let drift = b.op(Op::Mul, &[half, t]);
    let sum = b.op(Op::Add, &[log, drift]);
    let d1 = b.op(Op::Div, &[sum, scale]);
    let d2 = b.op(Op::Sub, &[d1, scale]);
    // The logistic function, in place of the normal distribution's.
    let mut normal = |d: u32| {
        let minus = b.op(Op::Neg, &[d]);
        let e = function(b, Op::Exp, &[minus]);
        let one = b.constant(Scalar::f32(1.0));
        let below = b.op(Op::Add, &[e, one]);
        b.op(Op::Div, &[one, below])
    };
    let (n1, n2) = (normal(d1), normal(d2));
    let rt = b.op(Op::Mul, &[r, t]);
    let minus = b.op(Op::Neg, &[rt]);
    let discount = function(b, Op::Exp, &[minus]);
    let first = b.op(Op::Mul, &[s, n1]);
    let second = b.op(Op::Mul, &[k, discount]);
    let second = b.op(Op::Mul, &[second, n2]);
    b.op(Op::Sub, &[first, second])
}

/// The sum along one axis of a matrix: one step of the reduction.
fn sum(rows: usize, columns: usize, across: bool, dtype: DType) -> Case {
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 2);
    let walk = b.access(AccessKind::Affine);
    let operand = b.operand(dtype);
    let x = b.load(operand, walk);
    let total = b.reduce(x);
    b.store(total);
    let (outer, n, strides) = match across {
        true => (columns, rows, [1, columns as i64]),
        false => (rows, columns, [columns as i64, 1]),
    };
    let chunks = n.div_ceil(256);
    Case {
        program: b.finish(),
        shape: vec![outer, n],
        operands: vec![rows * columns],
        params: vec![],
        accesses: vec![access(0, &strides)],
        dest: (outer * chunks, access(0, &[chunks as i64, 1])),
    }
}

/// Every operation on rows of 1024 elements.
fn rows() {
    let n = 1024;
    let (mut to, from) = (vec![0u8; 16 * n], vec![1u8; 16 * n]);
    for row in gpupy_core::op::OPS {
        let mut words = String::new();
        for dtype in DType::ALL {
            let Some(f) = driver_cpu::rows::operation(row.op, dtype, dtype, [false; 3]) else {
                continue;
            };
            let args = [from.as_ptr(); 3];
            // SAFETY: the rows have room for so many elements of any dtype.
            let time = median(|| unsafe { f(to.as_mut_ptr(), args, n) });
            words += &format!(" {dtype} {:.3}", time / n as f64);
        }
        if !words.is_empty() {
            println!("{:10}{words}", row.name);
        }
    }
    for from_dtype in DType::ALL {
        let mut words = String::new();
        for dtype in DType::ALL {
            let f = driver_cpu::rows::operation(Op::Cast, from_dtype, dtype, [false; 3]).unwrap();
            let args = [from.as_ptr(); 3];
            // SAFETY: as above.
            let time = median(|| unsafe { f(to.as_mut_ptr(), args, n) });
            words += &format!(" {dtype} {:.3}", time / n as f64);
        }
        println!("from {from_dtype}:{words}");
    }
}

fn main() {
    let word = std::env::args().nth(1).unwrap_or_default();
    if word == "rows" {
        return rows();
    }
    let mut driver = driver_cpu::new();
    println!("{}", driver.init(&Config::default()).unwrap().device);
    let mut line = |name: &str, n: usize, case: &dyn Fn() -> Case| {
        if name.contains(&word) {
            let case = case();
            let time = case.time(&mut *driver);
            println!("{name:32} {n:>10} {time:>14.0} ns a call {:>8.3} ns", time / n as f64);
        }
    };
    for n in [10, 100, 1000, 10_000] {
        line("add", n, &|| map(n, 2, |b, v| b.op(Op::Add, v)));
        line("sqrt", n, &|| map(n, 1, |b, v| b.op(Op::Sqrt, v)));
        line("float64 add", n, &|| map_of(DType::F64, n, 2, |b, v| b.op(Op::Add, v)));
        line("int32 less", n, &|| map_of(DType::I32, n, 2, |b, v| b.op(Op::Lt, v)));
    }
    for n in [10, 1000, 10_000, 100_000, 1_000_000, 16_000_000] {
        line("2.5*x+y", n, &|| map(n, 2, saxpy));
        line("sin(x)*exp(-x*x)", n, &|| map(n, 1, wave));
    }
    for n in [1000, 100_000, 1_000_000] {
        line("distance map", n, &|| map(n, 2, distances));
        line("Black-Scholes", n, &|| map(n, 3, black_scholes));
    }
    for n in [1000, 100_000, 16_000_000] {
        line("sum", n, &|| sum(1, n, false, DType::F32));
    }
    line("sum of float64", 8_000_000, &|| sum(1, 8_000_000, false, DType::F64));
    for (rows, columns) in
        [(4000, 4000), (1000, 1000), (100_000, 64), (64, 100_000), (100_000, 10), (1_000_000, 3)]
    {
        let n = rows * columns;
        line(&format!("row sums {rows}x{columns}"), n, &|| sum(rows, columns, false, DType::F32));
        line(&format!("column sums {rows}x{columns}"), n, &|| sum(rows, columns, true, DType::F32));
    }
    line("sum of sin(x)", 1_000_000, &|| {
        let mut b = Builder::new(Form::Reduce { op: Op::Add }, 1);
        let walk = b.access(AccessKind::Contiguous);
        let operand = b.operand(DType::F32);
        let x = b.load(operand, walk);
        let sine = function(&mut b, Op::Sin, &[x]);
        let total = b.reduce(sine);
        b.store(total);
        Case {
            program: b.finish(),
            shape: vec![1_000_000],
            operands: vec![1_000_000],
            params: vec![],
            accesses: vec![access(0, &[1])],
            dest: (4000, access(0, &[1])),
        }
    });
    for (rows, columns) in [(1_000_000, 3), (100_000, 10), (30_000, 30), (1000, 1000)] {
        line(&format!("row added {rows}x{columns}"), rows * columns, &|| {
            let mut b = Builder::new(Form::Map, 2);
            let (matrix, row) = (b.access(AccessKind::Contiguous), b.access(AccessKind::Affine));
            let (x, y) = (b.operand(DType::F32), b.operand(DType::F32));
            let (x, y) = (b.load(x, matrix), b.load(y, row));
            let sum = b.op(Op::Add, &[x, y]);
            b.store(sum);
            let strides = [columns as i64, 1];
            Case {
                program: b.finish(),
                shape: vec![rows, columns],
                operands: vec![rows * columns, columns],
                params: vec![],
                accesses: vec![access(0, &strides), access(0, &[0, 1])],
                dest: (rows * columns, access(0, &strides)),
            }
        });
    }
    line("transposed add 4000x4000", 16_000_000, &|| {
        let mut b = Builder::new(Form::Map, 2);
        let (straight, crossed) = (b.access(AccessKind::Affine), b.access(AccessKind::Affine));
        let operand = b.operand(DType::F32);
        let (x, y) = (b.load(operand, straight), b.load(operand, crossed));
        let sum = b.op(Op::Add, &[x, y]);
        b.store(sum);
        Case {
            program: b.finish(),
            shape: vec![4000, 4000],
            operands: vec![16_000_000],
            params: vec![],
            accesses: vec![access(0, &[4000, 1]), access(0, &[1, 4000])],
            dest: (16_000_000, access(0, &[4000, 1])),
        }
    });
    line("blocks of 8x8 of 512x512", 512 * 512, &|| {
        let mut b = Builder::new(Form::Map, 4);
        let image = b.access(AccessKind::Affine);
        let (x, y) = (b.operand(DType::F32), b.operand(DType::F32));
        let (x, y) = (b.load(x, image), b.load(y, image));
        let difference = b.op(Op::Sub, &[x, y]);
        let size = b.op(Op::Abs, &[difference]);
        b.store(size);
        Case {
            program: b.finish(),
            shape: vec![64, 64, 8, 8],
            operands: vec![512 * 512; 2],
            params: vec![],
            accesses: vec![access(0, &[4096, 8, 512, 1])],
            dest: (512 * 512, access(0, &[4096, 64, 8, 1])),
        }
    });
    by_hand(&word);
}

/// The same work as loops, as the compiler makes them of plain code.
fn by_hand(word: &str) {
    let line = |name: &str, n: usize, call: &mut dyn FnMut()| {
        if name.contains(word) {
            let time = median(call);
            println!(
                "by hand: {name:23} {n:>10} {time:>14.0} ns a call {:>8.3} ns",
                time / n as f64
            );
        }
    };
    for n in [1000, 10_000, 1_000_000, 16_000_000] {
        let (x, y, mut z) = (vec![0.7f32; n], vec![0.7f32; n], vec![0.7f32; n]);
        line("2.5*x+y", n, &mut || {
            let a = black_box(2.5);
            z.iter_mut().zip(&x).zip(&y).for_each(|((z, x), y)| *z = a * x + y);
            black_box(&mut z);
        });
        let points: Vec<_> = (0..50).map(|k| (black_box(k as f32), black_box(0.5f32))).collect();
        if n == 1_000_000 {
            line("distance map", n, &mut || {
                for ((z, x), y) in z.iter_mut().zip(&x).zip(&y) {
                    let d =
                        |(px, py): &(f32, f32)| ((x - px) * (x - px) + (y - py) * (y - py)).sqrt();
                    *z = points.iter().map(d).fold(f32::MAX, |a, b| if a < b { a } else { b });
                }
                black_box(&mut z);
            });
        }
    }
}
