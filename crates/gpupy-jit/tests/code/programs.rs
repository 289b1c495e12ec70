//! Random programs over rows of all strides.

use crate::check::{Case, check, compiled, isas};
use crate::generate;
use crate::rng::Rng;
use gpupy_core::DType::{
    self, BF16, Bool, C64, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64,
};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::{OPS, Op};
use gpupy_core::{Scalar, functions};
use gpupy_jit::{Isa, KernelStrides, RowArguments, RowStride, StridedPointer, compile_for};

const SETS: [&[DType]; 12] = [
    &[F32],
    &[F32, I32, U32, Bool],
    &[F64, Bool],
    &[F64, I64, U64, Bool],
    &[F32, I32, U32, Bool, F64, I64, U64],
    &[I32, Bool],
    &[F32, U8, I16, Bool],
    &[F64, I8, U16, I64, Bool],
    &[F16, Bool],
    &[BF16, Bool],
    &[BF16, F32, I32, U16, Bool],
    &[F16, F32, I32, U8, Bool],
];

fn steps(rng: &mut Rng, plain: bool) -> RowStride {
    match rng.below(if plain { 2 } else { 4 }) {
        0 if plain => RowStride::Zero,
        0 | 1 => RowStride::Any,
        2 => RowStride::Zero,
        _ => RowStride::Unit,
    }
}

fn random(seed: u64, isa: Isa, operations: usize, n: usize) {
    let mut rng = Rng::new(seed);
    let dtypes = SETS[rng.below(SETS.len())];
    let program = generate::program(&mut rng, isa, dtypes, operations);
    // One that only moves float16, beside bools, has narrower lanes: it is interpreted.
    if gpupy_jit::is_for(&program) {
        right(seed, isa, &program, n, rng);
    }
}

/// The code of a program, with random strides, has the bits of the reference.
fn right(seed: u64, isa: Isa, program: &Program, n: usize, mut rng: Rng) {
    let plain = rng.below(2) == 0;
    let accesses = KernelStrides::walks(program);
    let accesses = accesses
        .map(|at| match rng.below(3) {
            1 if program.insts[at].op == Op::Index => RowStride::Listed,
            0 => steps(&mut rng, plain),
            _ => RowStride::Unit,
        })
        .collect();
    let dest =
        if plain { RowStride::Unit } else { [RowStride::Unit, RowStride::Any][rng.below(2)] };
    let variant = KernelStrides { accesses, dests: vec![dest; program.dests.len()] };
    let kernel = compiled(program, &variant, isa);
    let case = Case::random(program, &variant, n, &mut rng);
    if let Err(said) = check(&kernel, program, &variant, &case, &mut rng) {
        panic!("{isa:?} seed {seed}: {said}\n{variant:?}\n{program}");
    }
}

#[test]
fn random_programs_have_the_bits_of_the_reference() {
    for isa in isas() {
        for seed in 0..600 {
            random(seed, isa, 1 + seed as usize * 7 % 60, 1 + seed as usize % 70);
        }
    }
}

/// Between lanes of 32 and of 64 bits, values are joined and split, also those that are in memory or uniform.
#[test]
fn lanes_of_both_widths_have_the_bits_of_the_reference() {
    const SETS: [&[DType]; 5] = [
        &[F32, I64, I32, Bool],
        &[F32, F64, Bool],
        &[U8, F32, U64, I32],
        &[F16, F64, I16, Bool],
        &[F32, I32, U32, Bool, F64, I64, U64],
    ];
    for isa in isas() {
        for seed in 0..600 {
            let mut rng = Rng::new(seed);
            let dtypes = SETS[rng.below(SETS.len())];
            let operations = if seed % 20 == 0 { 300 } else { 1 + seed as usize * 7 % 60 };
            let program = generate::straight(&mut rng, isa, dtypes, operations);
            right(seed, isa, &program, 1 + seed as usize % 70, rng);
        }
    }
}

#[test]
fn programs_with_more_values_than_registers_do_too() {
    for isa in isas() {
        for seed in 1000..1012 {
            random(seed, isa, 500, 41);
        }
    }
}

#[test]
fn rows_longer_than_a_copy_are_whole() {
    for isa in isas() {
        for seed in 2000..2020 {
            random(seed, isa, 12, 1500 + seed as usize);
        }
    }
}

#[test]
fn many_operands_have_no_register_each() {
    for isa in isas() {
        let mut b = Builder::new(Form::Map, 1);
        let mut sum = b.constant(Scalar::f32(0.5));
        for _ in 0..40 {
            let (operand, access) = (b.operand(F32), b.access(AccessKind::Contiguous));
            let load = b.load(operand, access);
            sum = b.op(Op::Add, &[sum, load]);
        }
        b.store(sum);
        let program = b.finish();
        let variant = crate::check::variant(&program, RowStride::Unit);
        let kernel = compiled(&program, &variant, isa);
        let mut rng = Rng::new(3);
        for n in 1..70 {
            let case = Case::random(&program, &variant, n, &mut rng);
            check(&kernel, &program, &variant, &case, &mut rng).unwrap();
        }
    }
}

/// A destination may be the row of an operand: each point is then computed once, also those behind the last whole pass.
#[test]
fn rows_in_place_are_computed_once() {
    let mut b = Builder::new(Form::Map, 1);
    let [left, right] = [(); 2].map(|()| {
        let (operand, access) = (b.operand(F64), b.access(AccessKind::Contiguous));
        b.load(operand, access)
    });
    let sum = b.op(Op::Add, &[left, right]);
    b.store(sum);
    let program = b.finish();
    let variant = crate::check::variant(&program, RowStride::Unit);
    for isa in isas() {
        let kernel = compiled(&program, &variant, isa);
        for n in 1..100 {
            for from in 0..3 {
                // The second operand, the first, and neither lie where the results do.
                let mut rows = [(); 3].map(|()| (0..n).map(f64::from).collect::<Vec<f64>>());
                let walks = rows.each_mut().map(|row| StridedPointer {
                    ptr: row.as_mut_ptr().cast(),
                    step: size_of::<f64>() as isize,
                });
                let row = RowArguments {
                    n: n as usize,
                    accesses: walks.as_ptr(),
                    dests: &raw const walks[from],
                    params: std::ptr::null(),
                    tables: std::ptr::null(),
                };
                // SAFETY: the rows have `n` elements, and each point reads no other's result.
                unsafe { kernel.run(&row) };
                let wanted: Vec<f64> = (0..n).map(|k| f64::from(2 * k)).collect();
                assert_eq!(rows[from], wanted, "{n} points of {isa:?}");
            }
        }
    }
}

#[test]
fn what_is_no_straight_map_over_lanes_is_left_to_others() {
    let isa = Isa::detect().unwrap();
    for dtype in [C64, U8, Bool] {
        let mut b = Builder::new(Form::Map, 1);
        let (operand, access) = (b.operand(dtype), b.access(AccessKind::Contiguous));
        let load = b.load(operand, access);
        b.store(load);
        let unit = KernelStrides { accesses: vec![RowStride::Unit], dests: vec![RowStride::Unit] };
        assert!(compile_for(&b.finish(), &unit, isa).is_none());
    }
}

/// A function of loaded operands.
fn function(program: &Program, dtype: DType) -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let args: Vec<u32> = (program.params.iter())
        .map(|_| {
            let (operand, access) = (b.operand(dtype), b.access(AccessKind::Contiguous));
            b.load(operand, access)
        })
        .collect();
    let value = b.inline(program, &args);
    b.store(value);
    b.finish()
}

#[test]
fn the_functions_of_the_core_have_the_same_bits_with_branches_and_without() {
    let mut rng = Rng::new(7);
    for isa in isas() {
        for (row, dtype) in OPS.iter().flat_map(|row| [(row, F32), (row, F64)]) {
            let Some(straight) = functions::program(row.op, dtype) else { continue };
            let Some(branching) = functions::branching(row.op, dtype) else { continue };
            let (straight, branching) = (function(straight, dtype), function(branching, dtype));
            let variant = crate::check::variant(&straight, RowStride::Unit);
            for program in [&straight, &branching] {
                let kernel = compiled(program, &variant, isa);
                // Numbers of all classes; then one such number among many ordinary ones.
                for large in 0..100 {
                    let element = |k: usize, rng: &mut Rng| match (dtype, large) {
                        (_, 0..50) => rng.element(dtype),
                        _ if k == large => rng.element(dtype),
                        (F32, _) => Scalar::f32(0.5 + k as f32 / 64.0),
                        _ => Scalar::f64(0.5 + k as f64 / 64.0),
                    };
                    let column = |rng: &mut Rng| (0..90).map(|k| element(k, rng)).collect();
                    let columns = straight.operands.iter().map(|_| column(&mut rng)).collect();
                    let case = Case::of(columns);
                    check(&kernel, &straight, &variant, &case, &mut rng)
                        .unwrap_or_else(|said| panic!("{isa:?} {} {dtype}: {said}", row.name));
                }
            }
        }
    }
}

#[test]
fn choices_in_choices_and_loops_are_left_to_others() {
    let isa = Isa::detect().unwrap();
    for nested in [false, true] {
        let mut b = Builder::new(Form::Map, 1);
        let (operand, access) = (b.operand(I32), b.access(AccessKind::Contiguous));
        let (x, zero) = (b.load(operand, access), b.constant(Scalar::i32(0)));
        let condition = b.op(Op::Lt, &[x, zero]);
        let outer = b.begin_if(condition);
        let inner = if nested { b.begin_if(condition) } else { b.begin_loop(x, &[x]) };
        if nested {
            b.begin_else(inner, &[x]);
        }
        b.end(inner, &[zero]);
        let result = b.result(inner, 0, I32);
        b.begin_else(outer, &[result]);
        b.end(outer, &[x]);
        let result = b.result(outer, 0, I32);
        b.store(result);
        let program = b.finish();
        program.verify().unwrap();
        assert!(
            compile_for(&program, &crate::check::variant(&program, RowStride::Unit), isa).is_none()
        );
    }
}

/// The colours of pixels, which lie beside each other: each turns into the sum of it and the next one of the pixel.
#[test]
fn rows_that_lie_beside_each_other_are_copied_together_and_apart() {
    for (colours, order) in (1..=9).flat_map(|colours| [(colours, false), (colours, true)]) {
        let mut builder = Builder::new(Form::Map, 1);
        let operand = builder.operand(F32);
        let access = |builder: &mut Builder| builder.access(AccessKind::Affine);
        let number = |k: usize| if order { colours - 1 - k } else { k };
        let loaded: Vec<u32> = (0..colours)
            .map(|_| {
                let access = access(&mut builder);
                builder.load(operand, access)
            })
            .collect();
        for k in 0..colours {
            let sum = builder.op(Op::Add, &[loaded[k], loaded[(k + 1) % colours]]);
            builder.store(sum);
        }
        let program = builder.finish();
        let any = vec![RowStride::Any; colours];
        let variant = KernelStrides { accesses: any.clone(), dests: any };
        for isa in isas() {
            let kernel = compiled(&program, &variant, isa);
            for n in [1, 2, 7, 8, 9, 31, 64, 65, 511, 512, 513, 1030] {
                let pixels: Vec<f32> = (0..n * colours).map(|k| k as f32).collect();
                let mut sums = vec![-1f32; n * colours + 1];
                let step = 4 * colours as isize;
                let at = |first: *const f32, k: usize| StridedPointer {
                    ptr: first.wrapping_add(number(k)).cast_mut().cast(),
                    step,
                };
                let accesses: Vec<_> = (0..colours).map(|k| at(pixels.as_ptr(), k)).collect();
                let dests: Vec<_> = (0..colours).map(|k| at(sums.as_mut_ptr(), k)).collect();
                let row = RowArguments {
                    n,
                    accesses: accesses.as_ptr(),
                    dests: dests.as_ptr(),
                    params: std::ptr::null(),
                    tables: std::ptr::null(),
                };
                // SAFETY: both lists have `n` pixels.
                unsafe { kernel.run(&row) };
                for (pixel, k) in (0..n).flat_map(|pixel| (0..colours).map(move |k| (pixel, k))) {
                    let of = |k: usize| pixel * colours + number(k % colours);
                    let wanted = pixels[of(k)] + pixels[of(k + 1)];
                    assert_eq!(sums[of(k)], wanted, "{isa:?}, {colours} colours, {pixel} of {n}");
                }
                assert_eq!(sums[n * colours], -1.0);
            }
        }
    }
}
