//! Rows have the bits of the reference for their elements.

use driver_cpu::rows;
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op::{OPS, Rule};
use gpupy_core::op_eval::function;
use gpupy_core::{DType, Op, Scalar};

/// The real dtypes, whose elements are one word.
const DTYPES: [DType; 13] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

/// Elements at which operations go wrong, and many others; an odd number.
fn samples(dtype: DType, seed: u64) -> Vec<u64> {
    let mut all: Vec<u64> = match dtype {
        DType::Bool => vec![0, 1],
        DType::F16 => {
            vec![0, 0x8000, 1, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7e00]
        }
        DType::BF16 => {
            vec![0, 0x8000, 1, 0x7f, 0x80, 0x3f80, 0xbf80, 0x7f7f, 0x7f80, 0xff80, 0x7fc0]
        }
        DType::F32 => [0.0, -0.0, 1.0, -1.5, 2.5, 1e-45, f32::MAX, f32::INFINITY, f32::NAN, 3e9]
            .map(|x: f32| u64::from(x.to_bits()))
            .to_vec(),
        DType::F64 => [0.0, -0.0, 1.0, -1.5, 2.5, 5e-324, f64::MAX, f64::INFINITY, f64::NAN, 1e19]
            .map(|x: f64| x.to_bits())
            .to_vec(),
        _ => {
            let top = 1u64 << (8 * dtype.size() - 1);
            vec![0, 1, 2, 3, 7, u64::MAX, u64::MAX - 1, top, top - 1, top + 1, 31, 32, 33, 64]
        }
    };
    let mut state = seed | 1;
    while all.len() < 301 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Small numbers as often as any bits.
        all.push(if state & 1 == 0 { state >> 3 } else { (state >> 3) % 50 });
    }
    // Every pair of special elements meets at some place.
    let by = seed as usize % all.len();
    all.rotate_left(by);
    let bits = |bits: u64| match dtype {
        DType::Bool => bits & 1,
        _ => Scalar::new(dtype, bits).bits,
    };
    all.into_iter().map(bits).collect()
}

fn bytes(dtype: DType, elements: &[u64]) -> Vec<u8> {
    elements.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(dtype.size())).collect()
}

fn elements(dtype: DType, bytes: &[u8]) -> Vec<u64> {
    let read = |bytes: &[u8]| Scalar::read(dtype, bytes).map_or(0, |scalar| scalar.bits);
    bytes.chunks_exact(dtype.size()).map(read).collect()
}

/// True for equal bits, and for two NaN.
fn same(dtype: DType, a: u64, b: u64) -> bool {
    let nan = |bits: u64| match dtype {
        DType::F16 => bits & 0x7fff > 0x7c00,
        DType::BF16 => bits & 0x7fff > 0x7f80,
        DType::F32 => f32::from_bits(bits as u32).is_nan(),
        DType::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    };
    a == b || nan(a) && nan(b)
}

/// Compares an operation with the reference, with every mixture of rows and scalars.
fn check(op: Op, operands: &[DType], from: DType, to: DType, result: DType) {
    let Some(reference) = function(op, from, to) else {
        let row = rows::operation(op, from, to, [false; 3]);
        assert!(row.is_none(), "{op:?} {from} {to}: rows of what has no reference");
        return;
    };
    for scalars in 0..1usize << operands.len() {
        let scalars = [scalars & 1 != 0, scalars & 2 != 0, scalars & 4 != 0];
        if operands.iter().zip(scalars).all(|(_, scalar)| scalar) {
            continue;
        }
        for seed in [1, 5, 12] {
            let args: Vec<Vec<u64>> = (operands.iter().enumerate())
                .map(|(k, dtype)| samples(*dtype, seed * (2 * k as u64 + 1)))
                .collect();
            let n = args[0].len();
            let rows_of: Vec<_> =
                operands.iter().zip(&args).map(|(dtype, args)| bytes(*dtype, args)).collect();
            let mut pointers = [std::ptr::null(); 3];
            rows_of.iter().zip(&mut pointers).for_each(|(row, pointer)| *pointer = row.as_ptr());
            let mut out = vec![0xaa; (n + 1) * result.size()];
            let row = rows::operation(op, from, to, scalars);
            let row = row.unwrap_or_else(|| panic!("{op:?} {from} {to}: no rows"));
            // SAFETY: all rows have `n` elements.
            unsafe { row(out.as_mut_ptr(), pointers, n) };
            let guard = &out[n * result.size()..];
            assert!(guard.iter().all(|byte| *byte == 0xaa), "{op:?}: beyond the row");
            for (i, got) in elements(result, &out[..n * result.size()]).into_iter().enumerate() {
                let mut bits = [0; 3];
                for (k, list) in args.iter().enumerate() {
                    bits[k] = list[if scalars[k] { 0 } else { i }];
                }
                let want = reference(bits[0], bits[1], bits[2]);
                let want = Scalar::new(result, want).bits;
                assert!(
                    same(result, got, want),
                    "{op:?} {from} {to} of {bits:x?}: {got:x}, not {want:x}"
                );
            }
        }
    }
}

#[test]
fn rows_have_the_bits_of_the_reference_for_every_operation_and_dtype() {
    for row in OPS.iter().filter(|row| row.op.is_scalar_op()) {
        for from in DTYPES {
            match row.rule {
                Rule::Cast => DTYPES.iter().for_each(|to| check(row.op, &[from], from, *to, *to)),
                Rule::Bitcast => {
                    let possible = DTYPES.into_iter().filter(|to| to.size() == from.size());
                    possible.for_each(|to| check(row.op, &[from], from, to, to));
                }
                Rule::Select => check(row.op, &[DType::Bool, from, from], from, from, from),
                // The reference has no complex numbers; a test of their own is below.
                Rule::Part | Rule::Complex => {}
                _ => {
                    let operands = vec![from; row.arity as usize];
                    if let Some(result) = row.op.result_dtype(&operands, from) {
                        check(row.op, &operands, from, from, result);
                    }
                }
            }
        }
    }
}

#[test]
fn every_quotient_of_small_integers_is_exact() {
    let all: Vec<u64> = (0..=u64::from(u16::MAX)).collect();
    for (op, dtype) in [(Op::FloorDiv, DType::I16), (Op::Mod, DType::U16), (Op::Mod, DType::I16)] {
        let (Some(reference), Some(row)) =
            (function(op, dtype, dtype), rows::operation(op, dtype, dtype, [false, true, false]))
        else {
            panic!("{op:?} {dtype} is missing")
        };
        let from = bytes(dtype, &all);
        let mut out = from.clone();
        for divisor in [1, 2, 3, 7, 10, 255, 256, 32767, 32768, 32769, 65535, 65534, 0] {
            let by = bytes(dtype, &[divisor]);
            // SAFETY: the rows have this many elements, and the scalar one.
            unsafe { row(out.as_mut_ptr(), [from.as_ptr(), by.as_ptr(), by.as_ptr()], all.len()) };
            for (x, got) in all.iter().zip(elements(dtype, &out)) {
                let exact = match (dtype, divisor) {
                    (_, 0) => 0,
                    (DType::U16, y) => x % y,
                    (_, y) => {
                        let (x, y) = (i64::from(*x as i16), i64::from(y as i16));
                        let rest = x - y * (x as f64 / y as f64).floor() as i64;
                        let value = if op == Op::Mod { rest } else { (x - rest) / y };
                        u64::from(value as u16)
                    }
                };
                assert_eq!(got, exact, "{op:?} {dtype} of {x} and {divisor}");
                assert_eq!(reference(*x, divisor, 0) & 0xffff, exact);
            }
        }
    }
}

#[test]
fn lanes_follow_the_canonical_tree() {
    for dtype in DTYPES {
        for op in Op::reducing() {
            assert_eq!(
                op.reduces(dtype),
                rows::reduce_chunks(op, dtype).is_some(),
                "{op:?} {dtype}"
            );
            let (Some(row), Some(f)) = (rows::reduce_chunks(op, dtype), function(op, dtype, dtype))
            else {
                continue;
            };
            let all = samples(dtype, 9).repeat(8);
            // Without NaN, and with zeros of both signs among the extremes, where lanes tell.
            let zero_or = |bits: &u64| {
                let sign = 1 << (8 * dtype.size() - 1);
                if same(dtype, *bits, !0) || bits & 2 == 0 { bits & sign } else { *bits }
            };
            let signed = |bits: &u64| zero_or(bits) & (1 << (8 * dtype.size() - 1));
            let floats: [Vec<u64>; 2] = match dtype.is_float() {
                true => [all.iter().map(zero_or).collect(), all.iter().map(signed).collect()],
                false => Default::default(),
            };
            let lengths = [1, 2, 3, 15, 16, 17, 31, 100, 255, 256, 257, 1023, 1024, 1100, 2313];
            let cases = [&all, &floats[0], &floats[1]];
            for (elements_in, n) in cases.iter().flat_map(|all| lengths.map(|n| (all, n))) {
                let Some(elements_in) = elements_in.get(..n) else { continue };
                let from = bytes(dtype, elements_in);
                let mut out = vec![0; n.div_ceil(REDUCE_CHUNK) * dtype.size()];
                // SAFETY: there is room for a result of each chunk.
                unsafe { row(out.as_mut_ptr(), [from.as_ptr(); 3], n) };
                for (chunk, got) in elements_in.chunks(REDUCE_CHUNK).zip(elements(dtype, &out)) {
                    let mut lanes = chunk.to_vec();
                    for k in REDUCE_LANES..lanes.len() {
                        lanes[k % REDUCE_LANES] = f(lanes[k % REDUCE_LANES], lanes[k], 0);
                    }
                    for half in [8, 4, 2, 1] {
                        for l in 0..half.min(lanes.len().saturating_sub(half)) {
                            lanes[l] = f(lanes[l], lanes[l + half], 0);
                        }
                    }
                    assert!(same(dtype, got, lanes[0]), "{op:?} of {n} {dtype}");
                }
            }
        }
    }
}

#[test]
fn short_rows_together_have_the_bits_of_each() {
    for dtype in DTYPES {
        let all = bytes(dtype, &samples(dtype, 11).repeat(16));
        let size = dtype.size();
        for (op, extent) in Op::reducing().flat_map(|op| (1..=rows::SHORT).map(move |n| (op, n))) {
            let Some(row) = rows::reduce_chunks(op, dtype) else {
                assert!(!op.reduces(dtype), "{op:?} {dtype}");
                continue;
            };
            let together = rows::ShortRowReducer::of(op, dtype);
            let together = together.unwrap_or_else(|| panic!("{op:?} is missing"));
            // More than a tile where rows are long.
            let count = (all.len() / size / extent).min(if extent % 3 == 0 { 37 } else { 301 });
            // The rows end where their memory does.
            let from = &all[all.len() - count * extent * size..];
            let (mut got, mut want) = (vec![0; count * size], vec![0; count * size]);
            // SAFETY: the input has this many rows, and there is room for a result of each.
            unsafe {
                together.run(got.as_mut_ptr(), from.as_ptr(), count, extent);
                for k in 0..count {
                    let first = from.as_ptr().add(k * extent * size);
                    row(want.as_mut_ptr().add(k * size), [first; 3], extent);
                }
            }
            for (got, want) in elements(dtype, &got).into_iter().zip(elements(dtype, &want)) {
                assert!(same(dtype, got, want), "{op:?} of {extent} {dtype}");
            }
        }
    }
}

#[test]
fn complex_numbers_are_computed_from_their_parts() {
    let parts = [0.0f32, -0.0, 1.5, -2.25, 3e20, f32::INFINITY, 1e-30, 7.0];
    let mut numbers: Vec<[f32; 2]> = Vec::new();
    parts.iter().for_each(|re| numbers.extend(parts.iter().map(|im| [*re, *im])));
    let others: Vec<_> = numbers.iter().rev().map(|[re, im]| [*im, *re + 1.0]).collect();
    let raw = |list: &[[f32; 2]]| -> Vec<u8> {
        list.iter().flatten().flat_map(|x| x.to_le_bytes()).collect()
    };
    let (a, b) = (raw(&numbers), raw(&others));
    let run = |op: Op, size: usize| {
        let row = rows::operation(op, DType::C64, DType::C64, [false; 3]);
        let mut out = vec![0; numbers.len() * size];
        let row = row.unwrap_or_else(|| panic!("{op:?} is missing"));
        // SAFETY: the rows have this many elements.
        unsafe { row(out.as_mut_ptr(), [a.as_ptr(), b.as_ptr(), b.as_ptr()], numbers.len()) };
        out
    };
    type Formula = fn([f32; 2], [f32; 2]) -> [f32; 2];
    let formulas: [(Op, Formula); 4] = [
        (Op::Add, |[a, b], [c, d]| [a + c, b + d]),
        (Op::Sub, |[a, b], [c, d]| [a - c, b - d]),
        (Op::Mul, |[a, b], [c, d]| [a * c - b * d, a * d + b * c]),
        (Op::Neg, |[a, b], _| [-a, -b]),
    ];
    for (op, part) in [(Op::Real, 0), (Op::Imag, 1)] {
        for (got, number) in run(op, 4).chunks_exact(4).zip(&numbers) {
            assert_eq!(got, number[part].to_le_bytes(), "{op:?}");
        }
    }
    let row = rows::operation(Op::Complex, DType::F32, DType::C64, [false; 3]);
    let mut pairs = vec![0; numbers.len() * 8];
    let row = row.unwrap_or_else(|| panic!("complex is missing"));
    // SAFETY: the rows have at least this many elements.
    unsafe { row(pairs.as_mut_ptr(), [a.as_ptr(), b.as_ptr(), b.as_ptr()], numbers.len()) };
    let first = a.chunks_exact(4).zip(b.chunks_exact(4)).take(numbers.len());
    assert_eq!(pairs, first.flat_map(|(re, im)| [re, im].concat()).collect::<Vec<_>>());
    for (op, formula) in formulas {
        let want: Vec<_> = numbers.iter().zip(&others).flat_map(|(x, y)| formula(*x, *y)).collect();
        for (got, want) in run(op, 8).chunks_exact(4).zip(want) {
            let got = f32::from_le_bytes([got[0], got[1], got[2], got[3]]);
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{op:?}");
        }
    }
    for (op, equal) in [(Op::Eq, true), (Op::Ne, false)] {
        for (got, (x, y)) in run(op, 1).into_iter().zip(numbers.iter().zip(&others)) {
            assert_eq!(got == 1, (x == y) == equal, "{op:?} of {x:?} and {y:?}");
        }
    }
}
