//! Complex arithmetic, compared with plain arithmetic on real and imaginary parts.

use crate::check::{isas, run_in_rows};
use crate::rng::Rng;
use gpupy_core::DType::{self, C64, C128, F32, F64};
use gpupy_core::Op;
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_jit::{KernelStrides, RowArguments, RowGroup, RowStride, StridedPointer, compile_for};

/// `z * w + z - w`, its real part where `z` and `w` differ, and whether they are equal.
fn program(dtype: DType) -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let [z, w] = [0, 1].map(|_| {
        let (operand, access) = (b.operand(dtype), b.access(AccessKind::Affine));
        b.load(operand, access)
    });
    let product = b.op(Op::Mul, &[z, w]);
    let sum = b.op(Op::Add, &[product, z]);
    let all = b.op(Op::Sub, &[sum, w]);
    let differ = b.op(Op::Ne, &[z, w]);
    let negative = b.op(Op::Neg, &[z]);
    let chosen = b.op(Op::Select, &[differ, all, negative]);
    let real = b.op(Op::Real, &[chosen]);
    let equal = b.op(Op::Eq, &[z, w]);
    b.store(chosen);
    b.store(real);
    b.store(equal);
    b.finish()
}

/// Runs the program and compares it with the same arithmetic in float64 or float32.
fn check<T, F>(dtype: DType, n: usize, steps: [RowStride; 2], dest: RowStride, number: F)
where
    T: Copy + PartialEq + std::fmt::Debug + Default,
    T: std::ops::Add<Output = T> + std::ops::Sub<Output = T>,
    T: std::ops::Mul<Output = T> + std::ops::Neg<Output = T>,
    F: Fn(&mut Rng) -> T,
{
    let program = program(dtype);
    let variant = KernelStrides { accesses: steps.to_vec(), dests: vec![dest; 3] };
    let mut rng = Rng::new(n as u64);
    // Elements of operands and destinations are two apart, so that they can have any stride.
    let mut list =
        || -> Vec<[T; 2]> { (0..2 * n).map(|_| [number(&mut rng), number(&mut rng)]).collect() };
    let (z, mut w) = (list(), list());
    let step = |step: RowStride| match step {
        RowStride::Unit => 1,
        RowStride::Zero => 0,
        _ => 2,
    };
    let [by_z, by_w] = steps.map(step);
    for k in (0..n).step_by(3) {
        w[k * by_w] = z[k * by_z];
    }
    for isa in isas() {
        let kernel = compile_for(&program, &variant, isa).expect("complex numbers have code");
        let apart = step(dest);
        let (mut all, mut real) = (vec![[T::default(); 2]; 2 * n], vec![T::default(); 2 * n]);
        let mut equal = vec![9u8; 2 * n];
        let walk = |start: *const u8, step: usize, bytes: usize| StridedPointer {
            ptr: start.cast_mut(),
            step: (step * bytes) as isize,
        };
        let (one, two) = (size_of::<T>(), size_of::<[T; 2]>());
        let mut walks = [
            walk(z.as_ptr().cast(), by_z, two),
            walk(w.as_ptr().cast(), by_w, two),
            walk(all.as_mut_ptr().cast(), apart, two),
            walk(real.as_mut_ptr().cast(), apart, one),
            walk(equal.as_mut_ptr(), apart, 1),
        ];
        let (params, tables) = (std::ptr::null(), std::ptr::null());
        let (each, walks, accesses) = (1 + n / 3, &mut walks[..], 2);
        let group =
            RowGroup { n: each, count: n / each, walks, accesses, steps: &[], params, tables };
        // SAFETY: each list has `n` elements at this stride, and destinations are separate lists.
        unsafe { run_in_rows(&kernel, group, n) };
        for k in 0..n {
            let ([a, b], [c, d]) = (z[k * by_z], w[k * by_w]);
            let same = a == c && b == d;
            let product = [a * c - b * d, a * d + b * c];
            let wanted = match same {
                true => [-a, -b],
                false => [product[0] + a - c, product[1] + b - d],
            };
            assert_eq!(all[k * apart], wanted, "{dtype} {isa:?} {steps:?} {dest:?} point {k}");
            assert_eq!(real[k * apart], wanted[0], "{dtype} {isa:?} point {k}");
            assert_eq!(equal[k * apart], u8::from(same), "{dtype} {isa:?} point {k}");
        }
    }
}

#[test]
fn complex_numbers_are_computed_part_by_part() {
    for n in [1, 7, 64, 65, 700, 1100] {
        for steps in [
            [RowStride::Unit; 2],
            [RowStride::Unit, RowStride::Zero],
            [RowStride::Any, RowStride::Unit],
        ] {
            for dest in [RowStride::Unit, RowStride::Any] {
                let number = |rng: &mut Rng| rng.below(2000) as f64 / 64.0 - 9.0;
                check::<f64, _>(C128, n, steps, dest, number);
                check::<f32, _>(C64, n, steps, dest, |rng| number(rng) as f32);
            }
        }
    }
}

#[test]
fn a_cast_of_a_real_number_has_no_imaginary_part() {
    let mut b = Builder::new(Form::Map, 1);
    let (operand, access) = (b.operand(F32), b.access(AccessKind::Affine));
    let x = b.load(operand, access);
    let wide = b.convert(Op::Cast, x, C128);
    let narrow = b.convert(Op::Cast, wide, F64);
    let truth = b.convert(Op::Cast, wide, DType::Bool);
    b.store(wide);
    b.store(narrow);
    b.store(truth);
    let program = b.finish();
    let variant =
        KernelStrides { accesses: vec![RowStride::Unit], dests: vec![RowStride::Unit; 3] };
    let given = [0.5f32, 0.0, -3.0];
    for isa in isas() {
        let kernel = compile_for(&program, &variant, isa).expect("complex numbers have code");
        let (mut wide, mut narrow, mut truth) = ([[9f64; 2]; 3], [9f64; 3], [9u8; 3]);
        let accesses = [StridedPointer { ptr: given.as_ptr().cast_mut().cast(), step: 4 }];
        let dests = [
            StridedPointer { ptr: wide.as_mut_ptr().cast(), step: 16 },
            StridedPointer { ptr: narrow.as_mut_ptr().cast(), step: 8 },
            StridedPointer { ptr: truth.as_mut_ptr(), step: 1 },
        ];
        let (params, tables) = (std::ptr::null(), std::ptr::null());
        let row = RowArguments {
            n: 3,
            accesses: accesses.as_ptr(),
            dests: dests.as_ptr(),
            params,
            tables,
        };
        // SAFETY: all lists have 3 elements, and destinations are separate lists.
        unsafe { kernel.run(&row) };
        assert_eq!(wide, [[0.5, 0.0], [0.0, 0.0], [-3.0, 0.0]]);
        assert_eq!(narrow, [0.5, 0.0, -3.0]);
        assert_eq!(truth, [1, 0, 1]);
    }
}

#[test]
fn parts_may_go_through_a_choice_of_branches() {
    let mut b = Builder::new(Form::Map, 1);
    let (operand, access) = (b.operand(C128), b.access(AccessKind::Affine));
    let z = b.load(operand, access);
    let (re, im) = (b.op(Op::Real, &[z]), b.op(Op::Imag, &[z]));
    let test = b.op(Op::Lt, &[re, im]);
    let region = b.begin_if(test);
    let product = b.op(Op::Mul, &[re, im]);
    b.begin_else(region, &[product, im]);
    let sum = b.op(Op::Add, &[re, im]);
    b.end(region, &[sum, re]);
    let (first, second) = (b.result(region, 0, F64), b.result(region, 1, F64));
    let joined = b.op(Op::Complex, &[first, second]);
    b.store(joined);
    let program = b.finish();
    let variant = KernelStrides { accesses: vec![RowStride::Unit], dests: vec![RowStride::Unit] };
    let given: Vec<[f64; 2]> = (0..37).map(|k| [f64::from(k % 5), f64::from(k % 3)]).collect();
    let wanted = given.iter().map(|&[x, y]| if x < y { [x * y, y] } else { [x + y, x] });
    let wanted: Vec<[f64; 2]> = wanted.collect();
    for isa in isas() {
        let kernel = compile_for(&program, &variant, isa).expect("branches over parts have code");
        let mut results = vec![[9f64; 2]; given.len()];
        let accesses = [StridedPointer { ptr: given.as_ptr().cast_mut().cast(), step: 16 }];
        let dests = [StridedPointer { ptr: results.as_mut_ptr().cast(), step: 16 }];
        let (params, tables) = (std::ptr::null(), std::ptr::null());
        let row = RowArguments {
            n: 37,
            accesses: accesses.as_ptr(),
            dests: dests.as_ptr(),
            params,
            tables,
        };
        // SAFETY: both lists have 37 elements.
        unsafe { kernel.run(&row) };
        assert_eq!(results, wanted);
    }
}
