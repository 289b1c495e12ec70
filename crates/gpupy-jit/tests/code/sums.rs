//! Destinations of `Lanes`: points are added to lanes of a sum.

use crate::check::isas;
use gpupy_core::DType;
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_jit::{KernelStrides, RowArguments, RowStride, StridedPointer, compile_for};

/// Chunks of 256 points.
const CHUNKS: usize = 5;

/// A program under construction that has loaded `x` and `y`.
fn begun(dtype: DType) -> (Builder, [u32; 2]) {
    let mut b = Builder::new(Form::Map, 1);
    let slot = b.access(AccessKind::Affine);
    let operands = [b.operand(dtype), b.operand(dtype)];
    let loaded = operands.map(|operand| b.load(operand, slot));
    (b, loaded)
}

/// `x * y + x`
fn program(dtype: DType) -> Program {
    let (mut b, [x, y]) = begun(dtype);
    let product = b.op(Op::Mul, &[x, y]);
    let sum = b.op(Op::Add, &[product, x]);
    b.store(sum);
    b.finish()
}

/// `x * y + x`, with `alive` products of `x` that are live at once, and cancel to the bit.
fn crowded(dtype: DType, alive: usize) -> Program {
    let (mut b, [x, y]) = begun(dtype);
    let product = b.op(Op::Mul, &[x, y]);
    let sum = b.op(Op::Add, &[product, x]);
    let mut powers = vec![x];
    for k in 0..alive {
        powers.push(b.op(Op::Mul, &[powers[k], y]));
    }
    // The minimum of a number and others that are no smaller.
    let result = powers.into_iter().rev().fold(sum, |result, power| {
        let most = b.op(Op::Max, &[sum, power]);
        b.op(Op::Min, &[result, most])
    });
    b.store(result);
    b.finish()
}

/// What one kind of float sums up to by a kernel that computes this of `x` and `y`, which is one element for all or
/// one for each.
macro_rules! check_sums {
    ($float:ty, $isa:expr, $step:expr, $kernel:expr) => {
        check_sums!($float, $isa, $step, $kernel, |x: $float, y: $float| x * y + x)
    };
    ($float:ty, $isa:expr, $step:expr, $kernel:expr, $function:expr) => {{
        let x: Vec<$float> = (0..256 * CHUNKS).map(|k| (k as $float * 0.37).sin()).collect();
        let y: Vec<$float> = (0..256 * CHUNKS).map(|k| (k as $float * 0.11).cos()).collect();
        let mut sums: Vec<$float> = vec![-0.0; 16 * CHUNKS];
        let mut wanted = sums.clone();
        let at = |k: usize| if $step == RowStride::Zero { 0 } else { k };
        for k in 0..x.len() {
            wanted[k / 256 * 16 + k % 16] += $function(x[k], y[at(k)]);
        }
        let size = size_of::<$float>() as isize;
        let walk = |row: *const $float, step| StridedPointer { ptr: row.cast_mut().cast(), step };
        let accesses = [walk(x.as_ptr(), size), walk(y.as_ptr(), size * at(1) as isize)];
        let dests = [StridedPointer { ptr: sums.as_mut_ptr().cast(), step: size }];
        let row = RowArguments {
            n: x.len(),
            accesses: accesses.as_ptr(),
            dests: dests.as_ptr(),
            params: std::ptr::null(),
            tables: std::ptr::null(),
        };
        // SAFETY: operands have `n` elements or one, and the destination has 16 for each chunk.
        unsafe { $kernel.run(&row) };
        let bits = |sums: Vec<$float>| sums.into_iter().map(<$float>::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(sums), bits(wanted), "{:?} {:?}", $isa, $step);
    }};
}

/// `check_sums` with the kernel of `program`.
macro_rules! check {
    ($float:ty, $dtype:expr, $isa:expr, $step:expr) => {{
        let variant =
            KernelStrides { accesses: vec![RowStride::Unit, $step], dests: vec![RowStride::Lanes] };
        let kernel = compile_for(&program($dtype), &variant, $isa).expect("sums have code");
        check_sums!($float, $isa, $step, kernel)
    }};
}

#[test]
fn points_are_added_to_the_lanes_of_their_chunk() {
    for isa in isas() {
        for step in [RowStride::Unit, RowStride::Zero] {
            check!(f32, DType::F32, isa, step);
            check!(f64, DType::F64, isa, step);
        }
    }
}

/// A chain of `steps` products and sums.
fn long(dtype: DType, steps: usize) -> Program {
    let (mut b, [x, y]) = begun(dtype);
    let value = (0..steps).fold(x, |value, k| {
        let op = if k % 2 == 0 { Op::Mul } else { Op::Add };
        b.op(op, &[value, y])
    });
    b.store(value);
    b.finish()
}

#[test]
fn passes_that_are_shorter_than_the_lanes_go_on_where_the_one_before_ended() {
    let variant =
        KernelStrides { accesses: vec![RowStride::Unit; 2], dests: vec![RowStride::Lanes] };
    for isa in isas() {
        // Longer programs have fewer vectors in a pass.
        for steps in [10, 100, 1100] {
            let kernel = compile_for(&long(DType::F64, steps), &variant, isa).expect("code");
            let next =
                |y: f64| move |value: f64, step| if step % 2 == 0 { value * y } else { value + y };
            let wanted = |x: f64, y: f64| (0..steps).fold(x, next(y));
            check_sums!(f64, isa, RowStride::Unit, kernel, wanted);
        }
    }
}

#[test]
fn programs_that_fill_the_registers_add_to_the_same_lanes() {
    let variant =
        KernelStrides { accesses: vec![RowStride::Unit; 2], dests: vec![RowStride::Lanes] };
    for (isa, alive) in isas().into_iter().flat_map(|isa| (1..24).map(move |n| (isa, n))) {
        // There may be no kernel: then a driver computes the points to a row, and combines them there.
        if let Some(kernel) = compile_for(&crowded(DType::F32, alive), &variant, isa) {
            check_sums!(f32, isa, RowStride::Unit, kernel);
        }
        if let Some(kernel) = compile_for(&crowded(DType::F64, alive), &variant, isa) {
            check_sums!(f64, isa, RowStride::Unit, kernel);
        }
    }
}

#[test]
fn what_has_no_such_lanes_has_no_such_code() {
    let steps = |access| KernelStrides {
        accesses: vec![RowStride::Unit, access],
        dests: vec![RowStride::Lanes],
    };
    for isa in isas() {
        assert!(compile_for(&program(DType::F32), &steps(RowStride::Any), isa).is_none());
        for dtype in [DType::I32, DType::C64] {
            assert!(
                compile_for(&program(dtype), &steps(RowStride::Unit), isa).is_none(),
                "{dtype}"
            );
        }
    }
}

#[test]
fn lanes_and_rows_are_written_side_by_side() {
    let mut b = Builder::new(Form::Map, 1);
    let slot = b.access(AccessKind::Contiguous);
    let [x, y] = [DType::F32, DType::I32].map(|dtype| {
        let operand = b.operand(dtype);
        b.load(operand, slot)
    });
    let values = [b.op(Op::Mul, &[x, x]), b.op(Op::Add, &[y, y]), b.op(Op::Neg, &[x])];
    values.into_iter().for_each(|value| b.store(value));
    let program = b.finish();
    let n = 256 * CHUNKS;
    let x: Vec<f32> = (0..n).map(|k| (k as f32 * 0.37).sin()).collect();
    let y: Vec<i32> = (0..n as i32).map(|k| k * 7 - 900).collect();
    for isa in isas() {
        let dests = vec![RowStride::Lanes, RowStride::Unit, RowStride::Lanes];
        let variant = KernelStrides { accesses: vec![RowStride::Unit; 2], dests };
        let kernel = compile_for(&program, &variant, isa).expect("sums have code");
        let mut sums = [vec![-0.0_f32; 16 * CHUNKS], vec![-0.0_f32; 16 * CHUNKS]];
        let mut twice = vec![0_i32; n];
        let mut wanted = sums.clone();
        for (k, x) in x.iter().enumerate() {
            wanted[0][k / 256 * 16 + k % 16] += x * x;
            wanted[1][k / 256 * 16 + k % 16] -= x;
        }
        let walk = |ptr: *mut u8| StridedPointer { ptr, step: 4 };
        let accesses = [walk(x.as_ptr().cast_mut().cast()), walk(y.as_ptr().cast_mut().cast())];
        let [squares, negative] = &mut sums;
        let dests = [
            walk(squares.as_mut_ptr().cast()),
            walk(twice.as_mut_ptr().cast()),
            walk(negative.as_mut_ptr().cast()),
        ];
        let row = RowArguments {
            n,
            accesses: accesses.as_ptr(),
            dests: dests.as_ptr(),
            params: std::ptr::null(),
            tables: std::ptr::null(),
        };
        // SAFETY: operands and the second destination have `n` elements, the others 16 for each chunk.
        unsafe { kernel.run(&row) };
        let bits =
            |sums: &[Vec<f32>; 2]| sums.concat().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&sums), bits(&wanted), "{isa:?}");
        assert!(twice.iter().zip(&y).all(|(twice, y)| *twice == 2 * y), "{isa:?}");
    }
}
