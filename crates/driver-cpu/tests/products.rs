//! Skinny matrix products, of vectors with matrices, are within the bound of every product, for all strides of
//! their operands.

use gpupy_core::driver::{Access, BlockId, BlockSpec, Config, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::{DType, Op};

/// A number in `-1 ..= 1`.
fn number(at: usize) -> f64 {
    (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 23) - 1.0
}

fn parts(dtype: DType) -> usize {
    1 + usize::from(matches!(dtype, DType::C64 | DType::C128))
}

/// The bytes of some reals, of the dtype's parts.
fn bytes(dtype: DType, reals: &[f64]) -> Vec<u8> {
    match dtype {
        DType::F32 | DType::C64 => reals.iter().flat_map(|x| (*x as f32).to_le_bytes()).collect(),
        _ => reals.iter().flat_map(|x| x.to_le_bytes()).collect(),
    }
}

/// The reals of some bytes.
fn reals(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    match dtype {
        DType::F32 | DType::C64 => {
            let (words, _) = bytes.as_chunks();
            words.iter().map(|word| f64::from(f32::from_le_bytes(*word))).collect()
        }
        _ => bytes.as_chunks().0.iter().map(|word| f64::from_le_bytes(*word)).collect(),
    }
}

/// A stack of 2 products: extents, and the strides of `a` along rows and terms, of `b` along columns
/// and terms, and of the results along rows and columns.
#[derive(Debug)]
struct Case {
    extents: [usize; 3],
    a: [i64; 2],
    b: [i64; 2],
    c: [i64; 2],
}

/// The distance of the matrices of a stack, in elements, with some slack.
fn reach(extents: [usize; 2], strides: [i64; 2]) -> usize {
    extents
        .iter()
        .zip(strides)
        .map(|(n, stride)| (n - 1) * stride.unsigned_abs() as usize)
        .sum::<usize>()
        + 1
}

impl Case {
    /// Computes the products and checks every sum; returns the bytes of the results.
    fn check(&self, driver: &mut dyn Driver, dtype: DType) -> Vec<u8> {
        self.check_some(driver, dtype, 1)
    }

    /// Computes the products and checks the last sum, and one of so many others.
    fn check_some(&self, driver: &mut dyn Driver, dtype: DType, every: usize) -> Vec<u8> {
        let [m, n, k] = self.extents;
        let parts = parts(dtype);
        let size = [reach([m, k], self.a), reach([n, k], self.b), reach([m, n], self.c)];
        let elements: [Vec<f64>; 2] = [0, 1].map(|operand| {
            let raw: Vec<f64> =
                (0..2 * size[operand] * parts).map(|at| number(at + 77 * operand)).collect();
            // As the dtype has them.
            reals(dtype, &bytes(dtype, &raw))
        });
        let mut b = Builder::new(Form::MatMul, 4);
        let loads = [b.operand(dtype), b.operand(dtype)].map(|operand| {
            let slot = b.access(AccessKind::Affine);
            b.load(operand, slot)
        });
        let product = b.library_op(Op::MatMul, &loads);
        b.store(product);
        let program = b.finish();
        let mut block = |data: &[f64]| -> BlockId {
            let spec = BlockSpec::new(dtype, data.len() / parts);
            let block = driver.block_alloc(spec).expect("a block");
            driver.block_write(block, 0, &bytes(dtype, data)).expect("a write");
            block
        };
        let operands = [block(&elements[0]), block(&elements[1])];
        let dest = block(&vec![9.0; 2 * size[2] * parts]);
        // Flipped axes begin at their end.
        let extents = [2, m, n, k];
        let access = |strides: [i64; 4]| {
            let back = strides.iter().zip(extents).map(|(s, n)| (n as i64 - 1) * (-*s).max(0));
            Access { offset: back.sum(), strides: strides.into() }
        };
        let far = size.map(|size| size as i64);
        let accesses =
            [access([far[0], self.a[0], 0, self.a[1]]), access([far[1], 0, self.b[0], self.b[1]])];
        let to = access([far[2], self.c[0], self.c[1], 0]);
        let launch = Launch {
            program: &program,
            fingerprint: program.fingerprint(),
            shape: &extents,
            operands: &operands,
            params: &[],
            accesses: &accesses,
            dests: &[Dest { block: dest, access: to.clone(), whole: false }],
            memory: &[],
            lend: None,
            rest: None,
        };
        driver.eval_ir(&launch).expect("an evaluation");
        let mut got = vec![0; 2 * size[2] * dtype.size()];
        driver.block_read(dest, 0, &mut got).expect("a read");
        operands.into_iter().chain([dest]).for_each(|block| driver.block_free(block));
        self.compare(
            dtype,
            &elements,
            [&accesses[0], &accesses[1], &to],
            &reals(dtype, &got),
            every,
        );
        got
    }

    /// Compares every result with the sum in float64.
    fn compare(
        &self,
        dtype: DType,
        elements: &[Vec<f64>; 2],
        [left, right, to]: [&Access; 3],
        got: &[f64],
        every: usize,
    ) {
        let [m, n, k] = self.extents;
        let parts = parts(dtype);
        let unit = match dtype {
            DType::F32 | DType::C64 => f64::from(f32::EPSILON) / 2.0,
            _ => f64::EPSILON / 2.0,
        };
        let at = |access: &Access, point: [usize; 4]| {
            let steps = access.strides.iter().zip(point);
            steps.fold(access.offset, |at, (stride, i)| at + stride * i as i64) as usize * parts
        };
        for (stack, row, column) in
            (0..2).flat_map(|s| (0..m).flat_map(move |r| (0..n).map(move |c| (s, r, c))))
        {
            let number = row * n + column;
            if number % every != 0 && number + 1 != m * n {
                continue;
            }
            let (mut sum, mut size) = ([0.0, 0.0], 0.0);
            for term in 0..k {
                let point = [stack, row, column, term];
                let [x, y] = [0, 1].map(|operand| {
                    let from = at([left, right][operand], point);
                    let all = &elements[operand];
                    [all[from], if parts == 2 { all[from + 1] } else { 0.0 }]
                });
                sum[0] += x[0] * y[0] - x[1] * y[1];
                sum[1] += x[0] * y[1] + x[1] * y[0];
                size += x[0].hypot(x[1]) * y[0].hypot(y[1]);
            }
            // A complex product is rounded as a sum of two; the reference is rounded too.
            let bound = 2.0 * (parts * (k + 1)) as f64 * unit * size;
            let from = at(to, [stack, row, column, 0]);
            for part in 0..parts {
                let error = (got[from + part] - sum[part]).abs();
                assert!(
                    error <= bound,
                    "{dtype} {self:?} at {stack}, {row}, {column}, part {part}: {} beside {}",
                    got[from + part],
                    sum[part]
                );
            }
        }
    }
}

/// A case for each layout of the operands of a product.
fn ways(extents: [usize; 3]) -> Vec<Case> {
    let [m, n, k] = extents.map(|extent| extent as i64);
    let all = |a, b| Case { extents, a, b, c: [n, 1] };
    vec![
        all([k, 1], [1, n]),
        all([1, m], [1, n]),
        all([k, 1], [k, 1]),
        all([1, m], [k, 1]),
        // Rows from the last to the first, with gaps; vectors apart.
        all([-k - 3, 1], [2 * k, 2]),
        all([1, m + 5], [-1, -n]),
        all([2 * k, 2], [1, n + 1]),
        Case { extents, a: [k, 1], b: [1, n], c: [1, m] },
        Case { extents, a: [1, m], b: [1, n], c: [-2 * n, 2] },
    ]
}

const EXTENTS: [[usize; 3]; 11] = [
    [1, 1, 1],
    [1, 1, 5000],
    [7, 1, 3],
    [9, 2, 17],
    [3, 50, 70],
    [4, 33, 300],
    [130, 1, 65],
    [1, 5000, 9],
    [21, 3, 4500],
    [1, 70, 900],
    [2, 4, 1000],
];

const FLOATS: [DType; 4] = [DType::F32, DType::F64, DType::C64, DType::C128];

fn open(threads: u32) -> Box<dyn Driver> {
    let mut driver = driver_cpu::new();
    driver.init(&Config { threads, ..Config::default() }).expect("an open driver");
    driver
}

#[test]
fn skinny_products_are_within_their_bound_however_they_lie() {
    let mut driver = open(1);
    for dtype in FLOATS {
        for case in EXTENTS.into_iter().flat_map(ways) {
            case.check(&mut *driver, dtype);
        }
    }
}

/// Rows and terms around the thresholds of loops and strips, for elements of `size` bytes: a last strip of one
/// term is a vector of any stride.
fn around_thresholds(size: usize) -> Vec<[usize; 2]> {
    let near = (16 << 10) / size;
    let mut all = vec![[600, 128], [600, 129], [513, 257]];
    all.extend([near, near + 1].map(|rows| [rows, 3]));
    all.extend([near - 1, near, near + 1, 2 * near + 1].map(|terms| [2, terms]));
    all.extend([1, near + 1, 4 * near + 1].map(|terms| [1, terms]));
    all.extend([1, 3, 4, 5, 15, 16, 17, 33, 63, 64, 65].map(|terms| [9, terms]));
    all
}

/// How many vectors there are, and the elements from a term of one to the next.
const VECTORS: [(usize, i64); 9] =
    [(1, 1), (1, -1), (1, 2), (1, -3), (1, 0), (2, -2), (3, 3), (4, -1), (5, 2)];

#[test]
fn skinny_products_take_vectors_of_every_stride_around_every_threshold() {
    let mut driver = open(1);
    for dtype in FLOATS {
        for [rows, terms] in around_thresholds(dtype.size()) {
            let (m, k) = (rows as i64, terms as i64);
            for (number, (n, step)) in VECTORS.into_iter().enumerate() {
                let far = if n == 3 { 0 } else { k * step.abs().max(1) + 2 };
                let vectors = if n == 2 { [-far, step] } else { [far, step] };
                let turned_too = [[1, m], [k, 1], [-m, -1]];
                let matrices = [[k, 1], [1, m], turned_too[number % 3]];
                for (which, matrix) in matrices.into_iter().enumerate() {
                    // The vectors from the left, in the last case: rows of them times a matrix.
                    let case = match which {
                        2 => Case { extents: [n, rows, terms], a: vectors, b: matrix, c: [m, 1] },
                        _ => {
                            let c = [n as i64, 1];
                            Case { extents: [rows, n, terms], a: matrix, b: vectors, c }
                        }
                    };
                    case.check_some(&mut *driver, dtype, 31);
                }
            }
        }
    }
}

/// Rows, columns and terms of small products, and of long ones with a small matrix, around where they begin.
const SMALL: [[usize; 3]; 14] = [
    [2, 2, 2],
    [5, 5, 5],
    [15, 15, 15],
    [16, 16, 16],
    [1, 15, 15],
    [15, 1, 15],
    [5, 5, 300],
    [63, 7, 3],
    [64, 25, 9],
    [129, 24, 70],
    [5, 700, 23],
    [5, 700, 24],
    [70, 49, 330],
    [70, 128, 128],
];

#[test]
fn small_products_are_within_their_bound_however_they_lie() {
    let mut driver = open(1);
    for dtype in FLOATS {
        for case in SMALL.into_iter().flat_map(ways) {
            case.check_some(&mut *driver, dtype, 7);
        }
    }
}

#[test]
fn threads_change_no_bits_of_small_products() {
    let (mut one, mut three) = (open(1), open(3));
    for dtype in [DType::F32, DType::F64] {
        for extents in SMALL {
            let cases = ways(extents);
            for case in &cases {
                let bits = case.check_some(&mut *one, dtype, 1000);
                let again = case.check_some(&mut *three, dtype, 1000);
                assert_eq!(again, bits, "{dtype} {case:?}");
            }
        }
    }
}

#[test]
fn threads_change_no_bits_of_skinny_products() {
    let (mut one, mut three) = (open(1), open(3));
    for extents in [[700, 1, 800], [1, 3000, 500], [1, 1, 300_000]] {
        for case in ways(extents).into_iter().take(2) {
            let bits = case.check(&mut *one, DType::F32);
            assert_eq!(case.check(&mut *three, DType::F32), bits, "{case:?}");
        }
    }
}
