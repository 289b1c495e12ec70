//! Blocks laid out in every way, under random views: copies between them, reads and writes of parts.
//!
//! The conformance suite's arrays are small; these have rows that are padded, and are moved.
#![allow(clippy::unwrap_used)]

use gpupy_core::DType;
use gpupy_core::driver::{Access, BlockId, BlockSpec, Config, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::Op;

/// Rows and columns of the arrays; 131 is no multiple of the elements in a texel.
const ROWS: usize = 150;
const COLS: usize = 131;
const LEN: usize = ROWS * COLS;

/// A small generator of random numbers: SplitMix64.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// A block and its expected contents.
struct Held {
    block: BlockId,
    model: Vec<u32>,
}

/// A slice of `count` elements of an axis of `n`: first element and step.
fn slice_of(rng: &mut Rng, n: usize, count: usize) -> (i64, i64) {
    let most = if count > 1 { (n - 1) / (count - 1) } else { 1 };
    let step = 1 + rng.below(most.min(3));
    let first = rng.below(n - (count - 1) * step);
    match rng.below(4) {
        0 => ((first + (count - 1) * step) as i64, -(step as i64)),
        _ => (first as i64, step as i64),
    }
}

/// A random shape that views of an array can have.
fn shape(rng: &mut Rng) -> Vec<usize> {
    match rng.below(6) {
        0 => vec![ROWS, COLS],
        1 => vec![LEN],
        2 => vec![1 + rng.below(LEN)],
        3 => vec![1 + rng.below(COLS), 1 + rng.below(ROWS)],
        _ => vec![1 + rng.below(ROWS), 1 + rng.below(COLS)],
    }
}

/// A random view of this shape.
fn view(rng: &mut Rng, shape: &[usize], dest: bool) -> Access {
    let cols = COLS as i64;
    let access = |offset: i64, strides: &[i64]| Access { offset, strides: strides.into() };
    let [rows, row] = match shape[..] {
        [rows, row] => [rows, row],
        _ => {
            let (first, step) = slice_of(rng, LEN, shape[0]);
            return access(first, &[step]);
        }
    };
    if !dest && row <= COLS && rng.below(6) == 0 {
        return access(rng.below(LEN - row + 1) as i64, &[0, 1]);
    }
    let straight = rows <= ROWS && row <= COLS;
    let across = rows <= COLS && row <= ROWS;
    if across && (!straight || rng.below(3) == 0) {
        let (i, j) = (slice_of(rng, ROWS, row), slice_of(rng, COLS, rows));
        return access(i.0 * cols + j.0, &[j.1, i.1 * cols]);
    }
    let (i, j) = (slice_of(rng, ROWS, rows), slice_of(rng, COLS, row));
    access(i.0 * cols + j.0, &[i.1 * cols, j.1])
}

fn place(access: &Access, at: &[usize]) -> usize {
    let steps = access.strides.iter().zip(at).map(|(s, i)| s * *i as i64);
    (access.offset + steps.sum::<i64>()) as usize
}

fn points(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut points = vec![vec![]];
    for n in shape {
        points = points
            .into_iter()
            .flat_map(|p: Vec<usize>| (0..*n).map(move |i| p.iter().copied().chain([i]).collect()))
            .collect();
    }
    points
}

/// Copies one operand, by a load or (of the element's own number) by a gather.
fn copy(dtype: DType, rank: usize, gathers: bool) -> Program {
    let mut b = Builder::new(Form::Map, rank as u32);
    let (walk, x) = (b.access(AccessKind::Affine), b.operand(dtype));
    let value = if gathers {
        let index = b.index(walk);
        b.gather(x, index)
    } else {
        b.load(x, walk)
    };
    b.store(value);
    b.finish()
}

fn bytes(dtype: DType, values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(dtype.size())).collect()
}

fn check(driver: &mut dyn Driver, dtype: DType, held: &Held, from: usize, to: usize, log: &str) {
    let mut got = vec![0; (to - from) * dtype.size()];
    driver.block_read(held.block, from, &mut got).unwrap();
    let wanted = bytes(dtype, &held.model[from..to]);
    if let Some(at) = got.iter().zip(&wanted).position(|(g, w)| g != w) {
        let element = from + at / dtype.size();
        panic!("{dtype}: element {element} of {from}..{to} differs, after{log}");
    }
}

fn run(dtype: DType, seed: u64, steps: usize) {
    let mut driver = driver_gl::new();
    if let Err(error) = driver.init(&Config::default()) {
        return gpupy_conformance::skipped(error);
    }
    let driver = &mut *driver;
    let mut rng = Rng(seed);
    let modulus = if dtype == DType::Bool { 2 } else { 1 << 20 };
    let mut held = Vec::new();
    for k in 0..3 {
        let model: Vec<u32> = (0..LEN).map(|i| (i * 7 + k * 1_000) as u32 % modulus).collect();
        let block = driver.block_alloc(BlockSpec::new(dtype, LEN)).unwrap();
        driver.block_write(block, 0, &bytes(dtype, &model)).unwrap();
        held.push(Held { block, model });
    }
    let mut log = String::new();
    for step in 0..steps {
        let (from, to) = (rng.below(3), rng.below(3));
        match rng.below(6) {
            0 => {
                let first = rng.below(LEN);
                let most = [3, 500, LEN][rng.below(3)];
                let end = first + 1 + rng.below((LEN - first).min(most));
                log += &format!("\n  write {first}..{end} of {to}");
                let values: Vec<u32> = (first..end).map(|i| (i + step) as u32 % modulus).collect();
                driver.block_write(held[to].block, first, &bytes(dtype, &values)).unwrap();
                held[to].model[first..end].copy_from_slice(&values);
            }
            1 => {
                let first = rng.below(LEN);
                let end = first + 1 + rng.below(LEN - first);
                check(driver, dtype, &held[from], first, end, &log);
            }
            _ if from == to => {}
            _ => {
                let shape = shape(&mut rng);
                let source = view(&mut rng, &shape, false);
                let target = view(&mut rng, &shape, true);
                let row = *shape.last().unwrap_or(&1) as i64;
                let strides: &[i64] = if shape.len() == 1 { &[1] } else { &[row, 1] };
                let all = shape.iter().product::<usize>() == LEN;
                let whole = all && target.offset == 0 && target.strides[..] == *strides;
                if whole {
                    // A new block's layout follows from its first launch.
                    driver.block_free(held[to].block);
                    held[to].block = driver.block_alloc(BlockSpec::new(dtype, LEN)).unwrap();
                }
                let gathers = rng.below(5) == 0;
                log += &format!(
                    "\n  {from}{source:?} to {to}{target:?} of {shape:?}, whole {whole}, \
                     gathers {gathers}"
                );
                let program = copy(dtype, shape.len(), gathers);
                let dest = Dest { block: held[to].block, access: target.clone(), whole };
                let launch = Launch {
                    program: &program,
                    fingerprint: program.fingerprint(),
                    shape: &shape,
                    operands: &[held[from].block],
                    params: &[],
                    accesses: std::slice::from_ref(&source),
                    dests: &[dest],
                    memory: &[],
                    lend: None,
                    rest: None,
                };
                driver.eval_ir(&launch).unwrap_or_else(|e| panic!("{e}{log}"));
                for point in points(&shape) {
                    held[to].model[place(&target, &point)] =
                        held[from].model[place(&source, &point)];
                }
            }
        }
        if step % 4 == 3 {
            held.iter().for_each(|held| check(driver, dtype, held, 0, LEN, &log));
        }
    }
}

#[test]
fn copies_between_random_views_are_exact() {
    for (dtype, seed) in [(DType::F32, 1), (DType::I32, 2), (DType::Bool, 3), (DType::F32, 4)] {
        run(dtype, seed, 120);
    }
}

#[test]
fn reductions_along_rows_and_columns_are_those_of_their_elements() {
    // Columns of one chunk and of several, rows that are padded and rows that are not.
    for (rows, cols) in [(150, 131), (700, 131), (700, 128), (300, 64)] {
        reductions(rows, cols);
    }
}

fn reductions(all_rows: usize, row: usize) {
    let len = all_rows * row;
    let mut driver = driver_gl::new();
    if let Err(error) = driver.init(&Config::default()) {
        return gpupy_conformance::skipped(error);
    }
    let spec = |len| BlockSpec::new(DType::I32, len);
    let source = driver.block_alloc(spec(len)).unwrap();
    let padded = driver.block_alloc(spec(len - 2 * row)).unwrap();
    let model: Vec<u32> = (0..len as u32).collect();
    driver.block_write(source, 0, &bytes(DType::I32, &model)).unwrap();
    let walk = |offset, strides: &[i64]| Access { offset, strides: strides.into() };
    let copy = copy(DType::I32, 2, false);
    let (rows, cols) = (all_rows - 2, row as i64);
    driver
        .eval_ir(&Launch {
            program: &copy,
            fingerprint: copy.fingerprint(),
            shape: &[rows, row],
            operands: &[source],
            params: &[],
            accesses: &[walk(cols, &[cols, 1])],
            dests: &[Dest { block: padded, access: walk(0, &[cols, 1]), whole: true }],
            memory: &[],
            lend: None,
            rest: None,
        })
        .unwrap();
    // Flat, along rows, and along columns.
    for (shape, strides) in [
        (vec![rows * row], vec![1]),
        (vec![rows, row], vec![cols, 1]),
        (vec![row, rows], vec![1, cols]),
    ] {
        let rank = shape.len();
        let mut b = Builder::new(Form::Reduce { op: Op::Add }, rank as u32);
        let (all, x) = (b.access(AccessKind::Affine), b.operand(DType::I32));
        let x = b.load(x, all);
        let total = b.reduce(x);
        b.store(total);
        let program = b.finish();
        let chunks = shape[rank - 1].div_ceil(256);
        let lead = shape[..rank - 1].iter().product::<usize>();
        let out = driver.block_alloc(spec(lead * chunks)).unwrap();
        let out_strides = if rank == 1 { vec![1] } else { vec![chunks as i64, 1] };
        driver
            .eval_ir(&Launch {
                program: &program,
                fingerprint: program.fingerprint(),
                shape: &shape,
                operands: &[padded],
                params: &[],
                accesses: &[walk(0, &strides)],
                dests: &[Dest { block: out, access: walk(0, &out_strides), whole: true }],
                memory: &[],
                lend: None,
                rest: None,
            })
            .unwrap();
        let mut got = vec![0; lead * chunks * 4];
        driver.block_read(out, 0, &mut got).unwrap();
        let inner = shape[rank - 1];
        for (k, got) in got.chunks_exact(4).enumerate() {
            let (line, chunk) = (k / chunks, k % chunks);
            let part = chunk * 256..inner.min(chunk * 256 + 256);
            let wanted: u32 = part
                .map(|i| match rank {
                    1 => model[row + i],
                    _ => model[row + (line as i64 * strides[0] + i as i64 * strides[1]) as usize],
                })
                .fold(0, u32::wrapping_add);
            assert_eq!(u32::from_le_bytes(got.try_into().unwrap()), wanted, "{shape:?} {k}");
        }
    }
}
