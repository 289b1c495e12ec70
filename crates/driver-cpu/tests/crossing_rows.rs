//! Maps whose operands or results lie across their rows have the bits of a launch for each row, and those of the
//! reference driver where it has the dtype and the program: all dtypes, rows of few and of many elements, few and many
//! of them, strides of both signs, offsets, one thread and several.
//!
//! Not here: short rows (`short_axes.rs`), other loop orders (`loop_orders.rs`).

mod launches_by_row;

use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::{DType, Op};
use launches_by_row::{Case, access, check, contiguous};

/// Rows and columns: around the extents from which rows are transposed together, and those that are taken at a time.
const SHAPES: [[usize; 2]; 14] = [
    [1, 300],
    [2, 300],
    [7, 300],
    [8, 129],
    [9, 150],
    [15, 192],
    [16, 193],
    [17, 200],
    [31, 143],
    [33, 191],
    [63, 150],
    [65, 150],
    [70, 160],
    [130, 81],
];

/// How a matrix may lie across its rows.
fn ways([rows, columns]: [usize; 2]) -> Vec<Access> {
    let [r, c] = [rows as i64, columns as i64];
    vec![
        access(0, &[1, r]),
        access(5, &[1, r + 3]),
        access(r - 1, &[-1, r]),
        access(r * (c - 1), &[1, -r]),
        access(r * c - 1 + 7, &[-1, -r]),
        access(2, &[1, 2]),
        access(c, &[c, -1]),
    ]
}

/// A map of two operands into their product, and the second of them.
fn map(dtype: DType, shape: &[usize], accesses: [&Access; 2], dests: [Access; 2]) -> Case {
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let slots = [b.access(AccessKind::Affine), b.access(AccessKind::Affine)];
    let operands = [b.operand(dtype), b.operand(dtype)];
    let [x, y] = [0, 1].map(|which| b.load(operands[which], slots[which]));
    let product = b.op(if dtype == DType::Bool { Op::And } else { Op::Mul }, &[x, y]);
    b.store(product);
    b.store(y);
    let accesses = accesses.map(Access::clone).to_vec();
    Case { program: b.finish(), shape: shape.to_vec(), accesses, dests: dests.to_vec() }
}

#[test]
fn maps_across_rows() {
    let mut cases = Vec::new();
    for (number, dtype) in DType::ALL.into_iter().enumerate() {
        for (at, shape) in SHAPES.into_iter().enumerate() {
            let (all, whole) = (ways(shape), access(1, &contiguous(&shape)));
            for (first, walk) in all.iter().enumerate() {
                let other = match (first + number) % 3 {
                    0 => whole.clone(),
                    1 => access(3, &[0, 1]),
                    _ => all[(first + at) % 5].clone(),
                };
                let dest = match (first + at) % 3 {
                    0 => whole.clone(),
                    // The elements of no way but the first five are different ones.
                    _ => all[(first + number) % 5].clone(),
                };
                cases.push(map(dtype, &shape, [walk, &other], [whole.clone(), dest]));
            }
        }
    }
    check(cases);
}

#[test]
fn maps_of_cubes_across_rows() {
    let mut cases = Vec::new();
    for dtype in [DType::U8, DType::F16, DType::F32, DType::F64, DType::C64, DType::C128] {
        for shape in [[3, 20, 150], [20, 3, 150], [9, 9, 140], [2, 33, 170]] {
            let [a, b, c] = shape.map(|extent| extent as i64);
            let whole = access(0, &[b * c, c, 1]);
            let all = [
                access(0, &[1, a, a * b]),
                access(0, &[b, 1, a * b]),
                access(a * b - 1, &[-b, -1, a * b]),
                access(b * (c - 1), &[b * c, 1, -b]),
            ];
            for (first, walk) in all.iter().enumerate() {
                for other in [&whole, &all[(first + 1) % 4]] {
                    let dests = [whole.clone(), all[(first + 2) % 4].clone()];
                    cases.push(map(dtype, &shape, [walk, other], dests));
                }
            }
        }
    }
    check(cases);
}
