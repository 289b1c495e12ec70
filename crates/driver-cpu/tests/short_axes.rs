//! Launches with a short inner axis have the bits of a launch for each row, and those of the reference driver where it
//! has the dtype and the program: reductions, maps, scans and sorts over every length up to 70 and some beyond, all
//! dtypes, strides of every sign, offsets, several destinations, one thread and several. Products of many small
//! matrices are within the bound.
//!
//! Not here: rows of other lengths (`loop_orders.rs`), single products (`products.rs`).
#![allow(clippy::unwrap_used)]

mod launches_by_row;

use gpupy_core::driver::{Access, BlockSpec, Dest, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, REDUCE_CHUNK};
use gpupy_core::{DType, Op};
use launches_by_row::{Case, LEN, access, check, contiguous, elements, open};

/// The lengths that are tested.
fn lengths() -> impl Iterator<Item = usize> {
    (1..=70).chain([99, 127, 128, 129, 200, 255, 256])
}

/// Lengths of rows of several chunks, each of which gives a result.
const CHUNKED: [usize; 12] = [257, 271, 300, 511, 512, 513, 768, 1000, 1030, 2047, 2048, 2049];

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
        (vec![rows, k], access((r - 1) * n, &[-n, 1])),
        (vec![rows, k], access(r - 1, &[-1, r])),
        (vec![rows, k], access(3 * n, &[0, -1])),
        (vec![rows, k], access(end, &[-n - 1, -2])),
        (vec![rows, k], access(5, &[0, 1])),
        (vec![rows, k], access(5, &[1, 0])),
        (vec![rows, k], access(1, &[1, 1])),
        (vec![3, 1 + rows / 3, k], access(0, &[1, 3 * n, 3])),
        (vec![3, 1 + rows / 3, k], access(0, &[n, 3 * n, 1])),
    ]
}

#[test]
fn reductions_of_short_rows() {
    let mut cases = Vec::new();
    for (number, dtype) in DType::ALL.into_iter().enumerate() {
        for k in lengths().chain(CHUNKED).filter(|k| dtype == DType::F32 || (k + number) % 9 == 0) {
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
                    *out.last_mut().unwrap() = k.div_ceil(REDUCE_CHUNK);
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
fn places_of_elements_in_rows() {
    let mut cases = Vec::new();
    let dtypes = [DType::F32, DType::F64, DType::F16, DType::Bool, DType::U8, DType::I16];
    for (number, dtype) in dtypes.into_iter().chain([DType::I32, DType::U64]).enumerate() {
        for k in lengths().filter(|k| dtype == DType::F32 || (k + number) % 5 == 0) {
            for (shape, walk) in ways(k) {
                let last = shape.len() - 1;
                let mut b = Builder::new(Form::Reduce { op: Op::Min }, shape.len() as u32);
                let slots = [0; 3].map(|_| b.access(AccessKind::Affine));
                let operand = b.operand(dtype);
                let (x, wanted) = (b.load(operand, slots[0]), b.load(operand, slots[1]));
                let mut found = b.op(Op::Eq, &[x, wanted]);
                if dtype.is_float() {
                    let nan = b.op(Op::IsNan, &[x]);
                    found = b.op(Op::Or, &[found, nan]);
                }
                let place = b.index(slots[2]);
                let other = b.param(DType::I32);
                let place = b.op(Op::Select, &[found, place, other]);
                let place = b.reduce(place);
                b.store(place);
                // An element of each row is the wanted one.
                let mut element = walk.clone();
                element.offset += (k / 2) as i64 * element.strides[last];
                element.strides[last] = 0;
                let mut count = vec![0; shape.len()];
                count[last] = 1;
                let mut out = shape.clone();
                out[last] = 1;
                let dests = vec![access(2, &contiguous(&out))];
                let accesses = vec![walk, element, access(0, &count)];
                cases.push(Case { program: b.finish(), shape, accesses, dests });
            }
        }
    }
    check(cases);
}

#[test]
fn several_reductions_of_what_is_computed() {
    let mut cases = Vec::new();
    for dtype in [DType::F32, DType::F64, DType::I32, DType::U8] {
        for (k, (shape, walk)) in lengths()
            .step_by(3)
            .chain(CHUNKED)
            .flat_map(|k| ways(k).into_iter().map(move |way| (k, way)))
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
            *out.last_mut().unwrap() = k.div_ceil(REDUCE_CHUNK);
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
    for (number, dtype) in DType::ALL.into_iter().enumerate() {
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
fn maps_of_index_values_over_short_rows() {
    let mut cases = Vec::new();
    for (k, dtype) in lengths().flat_map(|k| DType::ALL[..].iter().map(move |dtype| (k, *dtype))) {
        if !(k + dtype as usize).is_multiple_of(5) {
            continue;
        }
        let rows = 1 + (4000 / k).min(290);
        for (first, steps) in [(0, [k as i64, 1]), (9, [0, 1]), (700, [1, 0]), (5000, [-3, -1])] {
            // Elements at places that are computed from index values and from other elements.
            let mut b = Builder::new(Form::Map, 2);
            let slots = [b.access(AccessKind::Affine), b.access(AccessKind::Affine)];
            let (place, operand) = (b.operand(DType::I32), b.operand(dtype));
            let (index, moved) = (b.index(slots[0]), b.load(place, slots[1]));
            let at = b.op(Op::Add, &[index, moved]);
            let element = b.gather(operand, at);
            b.store(element);
            b.store(index);
            let shape = vec![rows, k];
            let dests = vec![access(1, &contiguous(&shape)); 2];
            let accesses = vec![access(first, &steps), access(3, &[1, 0])];
            cases.push(Case { program: b.finish(), shape, accesses, dests });
        }
    }
    check(cases);
}

#[test]
fn sorts_and_scans_of_short_rows() {
    let mut cases = Vec::new();
    for (number, dtype) in DType::ALL.into_iter().enumerate() {
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
                            rest: None,
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
