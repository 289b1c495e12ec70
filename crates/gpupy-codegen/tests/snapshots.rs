//! Snapshots of shaders, for review of their changes.
//!
//! `GPUPY_BLESS=1 cargo test -p gpupy-codegen` rewrites `tests/snapshots/`. Each case has a snapshot in every dialect
//! that supports it: GLSL fragment shaders (`.frag`), GLSL compute shaders (`.comp`) and WGSL (`.wgsl`). Tests of the
//! OpenGL and Vulkan drivers compile the first two with a real compiler; the last is validated here.
#![allow(clippy::unwrap_used)]

mod shaders;

use gpupy_codegen::compute::{KernelFeatures, Language};
use gpupy_codegen::emitted_dtypes;
use gpupy_codegen::fragment::TextureLayout;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::{OPS, Op};
use gpupy_core::{DType, Scalar};
use shaders::*;
use std::path::PathBuf;

#[test]
fn every_operation_is_emitted() {
    // All 32-bit dtypes, and some of each other size.
    let short = [DType::F32, DType::I32, DType::U32, DType::Bool];
    let others = [DType::U8, DType::F16, DType::I64, DType::F64];
    for dtype in short.into_iter().chain(others) {
        let mut b = Builder::new(Form::Map, 1);
        let all = b.access(AccessKind::Contiguous);
        let [x, y, c] = [dtype, dtype, DType::Bool].map(|d| {
            let operand = b.operand(d);
            b.load(operand, all)
        });
        for row in OPS.iter().filter(|row| row.op.is_scalar_op()) {
            let value = match (row.op, row.arity) {
                (Op::Cast | Op::Bitcast, _) => continue,
                (Op::Select, _) => b.op(Op::Select, &[c, x, y]),
                (op, arity) if gpupy_codegen::supports(op, dtype, dtype) => {
                    let args = [x, y];
                    if op.result_dtype(&vec![dtype; arity as usize], dtype).is_none() {
                        continue;
                    }
                    b.op(op, &args[..arity as usize])
                }
                _ => continue,
            };
            b.store(value);
        }
        let wide = dtype.size() == 8;
        for to in emitted_dtypes() {
            // Devices without 64-bit types have a snapshot of the other dtypes.
            let told =
                if short.contains(&dtype) { short.contains(&to) } else { wide || to.size() < 8 };
            if told {
                let value = b.convert(Op::Cast, x, to);
                b.store(value);
            }
        }
        let case = Case {
            program: b.finish(),
            shape: vec![1000],
            accesses: vec![access(0, &[1])],
            operands: vec![square(1000); 3],
            target: (square(1000), access(0, &[1]), true),
            specialise: false,
        };
        // As many destinations at once as every device can write.
        let all: Vec<u32> = (0..case.program.dests.len() as u32).collect();
        let most = if wide { 4 } else { 8 };
        for (k, stores) in all.chunks(most).enumerate() {
            check_some(&format!("operations_{dtype}_{k}"), &case, stores);
        }
    }
}

#[test]
fn operands_that_compilers_fold_are_no_literals() {
    let case = unary(DType::F32, |b, x| {
        let [zero, one, odd] = [0.0, 1.0, 2.5].map(|v| b.constant(Scalar::f32(v)));
        let x = b.op(Op::Mul, &[x, zero]);
        let x = b.op(Op::Add, &[x, one]);
        b.op(Op::Mul, &[x, odd])
    });
    check("constants", &case);
}

#[test]
fn numbers_that_are_only_compared_and_chosen_are_literals() {
    let mut case = unary(DType::F32, |b, x| {
        let [zero, one] = [0.0, 1.0].map(|v| b.constant(Scalar::f32(v)));
        let positive = b.op(Op::Gt, &[x, zero]);
        b.op(Op::Select, &[positive, x, one])
    });
    case.specialise = true;
    for text in [case.source(), case.kernel_of(&[0], &BOUND).unwrap()] {
        assert!(text.contains("uintBitsToFloat(0x00000000u)"), "{text}");
        assert!(text.contains("uintBitsToFloat(0x3f800000u)"), "{text}");
    }
    check("compared_and_chosen", &case);
}

#[test]
fn only_minima_that_may_meet_nan_test_for_it() {
    let squares = |b: &mut Builder, x| {
        let p = b.param(DType::F32);
        let difference = b.op(Op::Sub, &[x, p]);
        b.op(Op::Mul, &[difference, difference])
    };
    let loaded = unary(DType::F32, |b, x| {
        let [one, other] = [squares(b, x), squares(b, x)];
        b.op(Op::Min, &[one, other])
    });
    let counted = unary(DType::I32, |b, x| {
        let x = b.convert(Op::Cast, x, DType::F32);
        let [one, other] = [squares(b, x), squares(b, x)];
        let nearest = b.op(Op::Min, &[one, other]);
        b.convert(Op::Cast, nearest, DType::I32)
    });
    assert!(loaded.source().contains("isnan("), "{}", loaded.source());
    assert!(!counted.source().contains("isnan("), "{}", counted.source());
    check("minimum_of_anything", &loaded);
    check("minimum_of_squares", &counted);
}

#[test]
fn many_scalars_are_read_before_anything_is_fetched() {
    let case = unary(DType::F32, |b, x| {
        (0..48).fold(x, |x, _| {
            let p = b.param(DType::F32);
            b.op(Op::Sub, &[x, p])
        })
    });
    let source = case.source();
    let fetched = source.find("texelFetch").unwrap();
    assert!(source.rfind("= k[").unwrap() < fetched, "{source}");
    check("many_scalars", &case);
}

#[test]
fn scalars_become_literals_when_specialised() {
    let mut case = unary(DType::F32, |b, x| {
        let p = b.param(DType::F32);
        b.op(Op::Mul, &[x, p])
    });
    check("scalar_general", &case);
    case.specialise = true;
    check("scalar_specialised", &case);
}

#[test]
fn views_are_addressed_without_division_where_rows_allow() {
    use AccessKind::Affine;
    for (name, operand, offset, strides) in [
        ("view_interior", rows(80 * 80, 80), 84, [80, 1]),
        ("view_shifted", rows(80 * 80, 80), 81, [80, 1]),
        ("view_backwards", rows(4096, 64), 4095, [-64, -1]),
        ("view_transposed", rows(4096, 64), 0, [1, 64]),
        ("view_column_for_all", rows(4096, 64), 3, [64, 0]),
        ("view_of_square_layout", square(6400), 81, [80, 1]),
        ("view_of_odd_layout", rows(60 * 70, 60), 1, [61, 2]),
    ] {
        check(name, &view(Affine, operand, offset, &strides));
    }
}

#[test]
fn coordinates_follow_from_the_position() {
    let mut b = Builder::new(Form::Map, 3);
    let mut sum = None;
    for _ in 0..3 {
        let a = b.access(AccessKind::Affine);
        let i = b.index(a);
        sum = Some(sum.map_or(i, |s| b.op(Op::Add, &[s, i])));
    }
    b.store(sum.unwrap());
    let program = b.finish();
    let accesses = [[1, 0, 0], [0, 10, 0], [0, 0, 100]];
    let case = |shape: [usize; 3], layout| Case {
        program: program.clone(),
        shape: shape.to_vec(),
        accesses: accesses.iter().map(|s| access(0, s)).collect(),
        operands: vec![],
        target: (layout, access(0, &[(shape[1] * shape[2]) as i64, shape[2] as i64, 1]), true),
        specialise: false,
    };
    check("index_rows", &case([3, 20, 64], rows(3 * 20 * 64, 64)));
    check("index_quads", &case([3, 20, 64], square(3 * 20 * 64)));
    check("index_elements", &case([3, 20, 63], square(3 * 20 * 63)));
    let specialised = |case: Case| Case { specialise: true, ..case };
    check("index_rows_specialised", &specialised(case([3, 20, 64], rows(3 * 20 * 64, 64))));
    check("index_elements_specialised", &specialised(case([3, 20, 63], square(3 * 20 * 63))));
}

#[test]
fn destinations_keep_what_the_launch_does_not_name() {
    for (name, shape, layout, dest) in [
        ("dest_tile_of_rows", vec![640], square(6400), access(64, &[1])),
        ("dest_odd_run", vec![641], square(6400), access(64, &[1])),
        ("dest_interior", vec![62, 62], rows(4096, 64), access(65, &[64, 1])),
        ("dest_every_second", vec![32, 32], rows(4096, 64), access(1, &[128, 2])),
        ("dest_backwards", vec![4096], square(4096), access(4095, &[-1])),
        ("dest_column", vec![64], rows(4096, 64), access(5, &[64])),
    ] {
        let mut case = unary(DType::I32, |_, x| x);
        let mut strides: Vec<i64> = vec![1; shape.len()];
        if let [_, cols] = shape[..] {
            strides = vec![cols as i64, 1];
        }
        case.program.rank = shape.len() as u32;
        case.operands = vec![square(shape.iter().product())];
        case.shape = shape;
        case.accesses = vec![access(0, &strides)];
        case.target = (layout, dest, false);
        check(name, &case);
    }
}

#[test]
fn regions_and_gathers_run_element_by_element() {
    let mut b = Builder::new(Form::Map, 1);
    let (all, x, table) =
        (b.access(AccessKind::Contiguous), b.operand(DType::I32), b.operand(DType::F32));
    let x = b.load(x, all);
    let start = b.constant(Scalar::f32(2.0));
    let region = b.begin_loop(x, &[start, x]);
    let (sum, at) = (b.carry(region, 0), b.carry(region, 1));
    let found = b.gather(table, at);
    let sum = b.op(Op::Add, &[sum, found]);
    let i = b.iter(region);
    let next = b.op(Op::Add, &[at, i]);
    b.end(region, &[sum, next]);
    let (sum, at) = (b.result(region, 0, DType::F32), b.result(region, 1, DType::I32));
    let odd = b.constant(Scalar::i32(7));
    let above = b.op(Op::Gt, &[at, odd]);
    let choice = b.begin_if(above);
    let root = b.op(Op::Sqrt, &[sum]);
    b.begin_else(choice, &[root]);
    b.end(choice, &[sum]);
    let value = b.result(choice, 0, DType::F32);
    b.store(value);
    let case = Case {
        program: b.finish(),
        shape: vec![1000],
        accesses: vec![access(0, &[1])],
        operands: vec![square(1000), square(77)],
        target: (square(1000), access(0, &[1]), true),
        specialise: false,
    };
    check("regions", &case);
}

#[test]
fn a_point_that_leaves_its_loop_takes_no_other_branch() {
    let mut b = Builder::new(Form::Map, 1);
    let (all, x) = (b.access(AccessKind::Contiguous), b.operand(DType::I32));
    let x = b.load(x, all);
    let (count, one) = (b.constant(Scalar::i32(100)), b.constant(Scalar::i32(1)));
    let region = b.begin_loop(count, &[x, count]);
    let carried = [b.carry(region, 0), b.carry(region, 1)];
    let is_above = b.op(Op::Gt, &[carried[0], one]);
    let choice = b.begin_if(is_above);
    let half = b.op(Op::Shr, &[carried[0], one]);
    b.begin_else(choice, &[half, carried[0]]);
    b.end(choice, &carried);
    let next = [b.result(choice, 0, DType::I32), b.result(choice, 1, DType::I32)];
    b.end(region, &next);
    let last = b.result(region, 1, DType::I32);
    b.store(last);
    let case = Case {
        program: b.finish(),
        shape: vec![1000],
        accesses: vec![access(0, &[1])],
        operands: vec![square(1000)],
        target: (square(1000), access(0, &[1]), true),
        specialise: false,
    };
    check("leaving", &case);
}

#[test]
fn reductions_keep_sixteen_lanes() {
    for (name, op, dtype) in
        [("reduce_add", Op::Add, DType::F32), ("reduce_min_bool", Op::Min, DType::Bool)]
    {
        let mut b = Builder::new(Form::Reduce { op }, 2);
        let (all, x) = (b.access(AccessKind::Contiguous), b.operand(dtype));
        let x = b.load(x, all);
        let x = b.op(op, &[x, x]);
        let total = b.reduce(x);
        let total = b.op(op, &[total, total]);
        b.store(total);
        let case = Case {
            program: b.finish(),
            shape: vec![10, 1000],
            accesses: vec![access(0, &[1000, 1])],
            operands: vec![square(10_000)],
            target: (square(40), access(0, &[4, 1]), true),
            specialise: false,
        };
        check(name, &case);
        // A kernel with shared points has a barrier.
        let shared = case.kernel_of(&[0], &KernelFeatures { shares: true, ..WEB }).unwrap();
        assert!(shared.contains("workgroupBarrier();"), "{shared}");
        validate(name, &shared);
    }
}

/// Reductions of floats: the sum, the maximum, the sum of squares, and whether any is negative; and the difference of
/// the sums.
fn several_reductions(shape: [usize; 2], strides: [i64; 2], operand: TextureLayout) -> Case {
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 2);
    let (elements, x) = (b.access(AccessKind::Affine), b.operand(DType::F32));
    let x = b.load(x, elements);
    let squared = b.op(Op::Mul, &[x, x]);
    let negative = b.op(Op::SignBit, &[x]);
    let by = [(Op::Add, x), (Op::Max, x), (Op::Add, squared), (Op::Or, negative)];
    let [sum, most, squares, any] = by.map(|(op, value)| b.reduce_by(op, value));
    let between = b.op(Op::Sub, &[squares, sum]);
    [between, most, squares, any].into_iter().for_each(|value| b.store(value));
    let chunks = shape[1].div_ceil(256);
    let whole = strides[0] != 1;
    let dest = if whole { [chunks as i64, 1] } else { [1, shape[0] as i64] };
    let len = shape[0] * chunks;
    Case {
        program: b.finish(),
        shape: shape.to_vec(),
        accesses: vec![access(0, &strides)],
        operands: vec![operand],
        target: (if whole { square(len) } else { rows(len, shape[0]) }, access(0, &dest), true),
        specialise: false,
    }
}

#[test]
fn several_reductions_keep_lanes_side_by_side() {
    let all = [0, 1, 2, 3];
    let rows_of = several_reductions([10, 1000], [1000, 1], square(10_000));
    check("reduce_several", &rows_of);
    let across = several_reductions([64, 1000], [1, 64], rows(64_000, 64));
    check("reduce_several_across", &across);
    // Four invocations share an output point if workgroup memory has room for the lanes of all reductions.
    for (group_bytes, shared) in [(16 << 10, 4), ((16 << 10) - 1, 0)] {
        for device in [WEB, BOUND] {
            let device = KernelFeatures { shares: true, group_bytes, ..device };
            let text = rows_of.kernel_of(&all, &device).unwrap();
            assert_eq!(text.matches("[local] = ").count(), shared, "{text}");
            if device.language == Language::Wgsl {
                validate("reduce_several", &text);
            }
        }
    }
}

#[test]
fn reductions_across_rows_take_whole_texels() {
    let mut b = Builder::new(Form::Reduce { op: Op::Max }, 2);
    let (columns, x) = (b.access(AccessKind::Affine), b.operand(DType::F32));
    let x = b.load(x, columns);
    let most = b.reduce(x);
    b.store(most);
    let case = Case {
        program: b.finish(),
        shape: vec![64, 1000],
        accesses: vec![access(0, &[1, 64])],
        operands: vec![rows(64_000, 64)],
        target: (rows(256, 64), access(0, &[1, 64]), true),
        specialise: false,
    };
    check("reduce_across", &case);
}

#[test]
fn scans_and_products_are_kernels() {
    let mut b = Builder::new(Form::Scan { op: Op::Add }, 2);
    let [all, chunks] = [AccessKind::Contiguous, AccessKind::Affine].map(|kind| b.access(kind));
    let [x, starts] = [DType::F32; 2].map(|dtype| b.operand(dtype));
    let values = [b.load(x, all), b.load(starts, chunks)];
    let running = b.library_op(Op::Scan, &values);
    b.store(running);
    let scan = Case {
        program: b.finish(),
        shape: vec![10, 1000],
        accesses: vec![access(0, &[1000, 1]), access(0, &[4, 1])],
        operands: vec![square(10_000), square(40)],
        target: (square(10_000), access(0, &[1000, 1]), true),
        specialise: false,
    };
    check_kernels("scan_add", &scan, &[0]);
    for (name, dtype) in [("product", DType::F32), ("product_bool", DType::Bool)] {
        let mut b = Builder::new(Form::MatMul, 4);
        let [left, right] = [AccessKind::Affine; 2].map(|kind| b.access(kind));
        let [x, y] = [dtype; 2].map(|dtype| b.operand(dtype));
        let values = [b.load(x, left), b.load(y, right)];
        let product = b.library_op(Op::MatMul, &values);
        b.store(product);
        let case = Case {
            program: b.finish(),
            shape: vec![3, 70, 80, 90],
            accesses: vec![access(0, &[6300, 90, 0, 1]), access(0, &[0, 0, 1, 80])],
            operands: vec![square(18_900), square(7200)],
            target: (square(16_800), access(0, &[5600, 80, 1, 0]), true),
            specialise: false,
        };
        check_kernels(name, &case, &[0]);
    }
}

#[test]
fn every_snapshot_belongs_to_a_test() {
    let text = include_str!("snapshots.rs");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let stem = name.split('.').next().unwrap();
        let known = text.contains(&format!("\"{stem}\""));
        assert!(known || stem.starts_with("operations_"), "nothing makes `{name}`");
    }
}
