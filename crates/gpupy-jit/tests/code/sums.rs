//! Destinations to whose lanes points are added.

use crate::check::isas;
use gpupy_core::DType;
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_jit::{Row, Step, Variant, Walk, compile_for};

/// Chunks of 256 points.
const CHUNKS: usize = 5;

/// `x * y + x`
fn program(dtype: DType) -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let slot = b.access(AccessKind::Affine);
    let operands = [b.operand(dtype), b.operand(dtype)];
    let [x, y] = operands.map(|operand| b.load(operand, slot));
    let product = b.op(Op::Mul, &[x, y]);
    let sum = b.op(Op::Add, &[product, x]);
    b.store(sum);
    b.finish()
}

/// What one kind of float sums up to, `y` being one element for all or one for each.
macro_rules! check {
    ($float:ty, $dtype:expr, $isa:expr, $step:expr) => {{
        let variant = Variant { accesses: vec![Step::Unit, $step], dests: vec![Step::Lanes] };
        let kernel = compile_for(&program($dtype), &variant, $isa).expect("sums have code");
        let x: Vec<$float> = (0..256 * CHUNKS).map(|k| (k as $float * 0.37).sin()).collect();
        let y: Vec<$float> = (0..256 * CHUNKS).map(|k| (k as $float * 0.11).cos()).collect();
        let mut sums: Vec<$float> = vec![-0.0; 16 * CHUNKS];
        let mut wanted = sums.clone();
        let at = |k: usize| if $step == Step::Zero { 0 } else { k };
        for k in 0..x.len() {
            wanted[k / 256 * 16 + k % 16] += x[k] * y[at(k)] + x[k];
        }
        let size = size_of::<$float>() as isize;
        let walk = |row: *const $float, step| Walk { ptr: row.cast_mut().cast(), step };
        let accesses = [walk(x.as_ptr(), size), walk(y.as_ptr(), size * at(1) as isize)];
        let dests = [Walk { ptr: sums.as_mut_ptr().cast(), step: size }];
        let row = Row {
            n: x.len(),
            accesses: accesses.as_ptr(),
            dests: dests.as_ptr(),
            params: std::ptr::null(),
        };
        // SAFETY: operands have `n` elements or one, and there are 16 sums for each chunk.
        unsafe { kernel.run(&row) };
        let bits = |sums: Vec<$float>| sums.into_iter().map(<$float>::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(sums), bits(wanted), "{:?} {:?}", $isa, $step);
    }};
}

#[test]
fn points_are_added_to_the_lanes_of_their_chunk() {
    for isa in isas() {
        for step in [Step::Unit, Step::Zero] {
            check!(f32, DType::F32, isa, step);
            check!(f64, DType::F64, isa, step);
        }
    }
}

#[test]
fn what_has_no_such_lanes_has_no_such_code() {
    let steps = |access| Variant { accesses: vec![Step::Unit, access], dests: vec![Step::Lanes] };
    for isa in isas() {
        assert!(compile_for(&program(DType::F32), &steps(Step::Any), isa).is_none());
        for dtype in [DType::I32, DType::C64] {
            assert!(compile_for(&program(dtype), &steps(Step::Unit), isa).is_none(), "{dtype}");
        }
    }
}
