//! Random programs over rows of all kinds.

use crate::check::{Case, check, compiled, isas};
use crate::generate;
use crate::rng::Rng;
use gpupy_core::DType::{self, Bool, C64, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
use gpupy_core::functions;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::OPS;
use gpupy_jit::{Isa, Step, Variant, compile_for};

const SETS: [&[DType]; 8] = [
    &[F32],
    &[F32, I32, U32, Bool],
    &[F64, Bool],
    &[F64, I64, U64, Bool],
    &[F32, I32, U32, Bool, F64, I64, U64],
    &[I32, Bool],
    &[F32, U8, I16, Bool],
    &[F64, I8, U16, I64, Bool],
];

fn steps(rng: &mut Rng, plain: bool) -> Step {
    match rng.below(if plain { 2 } else { 4 }) {
        0 if plain => Step::Zero,
        0 | 1 => Step::Any,
        2 => Step::Zero,
        _ => Step::Unit,
    }
}

fn random(seed: u64, isa: Isa, operations: usize, n: usize) {
    let mut rng = Rng::new(seed);
    let dtypes = SETS[rng.below(SETS.len())];
    let program = generate::program(&mut rng, isa, dtypes, operations);
    let plain = rng.below(2) == 0;
    let accesses = Variant::walks(&program);
    let accesses = accesses
        .map(|_| match rng.below(3) {
            0 => steps(&mut rng, plain),
            _ => Step::Unit,
        })
        .collect();
    let dest = if plain { Step::Unit } else { [Step::Unit, Step::Any][rng.below(2)] };
    let variant = Variant { accesses, dests: vec![dest; program.dests.len()] };
    let kernel = compiled(&program, &variant, isa);
    let case = Case::random(&program, &variant, n, &mut rng);
    if let Err(said) = check(&kernel, &program, &variant, &case, &mut rng) {
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
        let mut sum = b.constant(gpupy_core::Scalar::f32(0.5));
        for _ in 0..40 {
            let (operand, access) = (b.operand(F32), b.access(AccessKind::Contiguous));
            let load = b.load(operand, access);
            sum = b.op(gpupy_core::Op::Add, &[sum, load]);
        }
        b.store(sum);
        let program = b.finish();
        let variant = crate::check::variant(&program, Step::Unit);
        let kernel = compiled(&program, &variant, isa);
        let mut rng = Rng::new(3);
        for n in 1..70 {
            let case = Case::random(&program, &variant, n, &mut rng);
            check(&kernel, &program, &variant, &case, &mut rng).unwrap();
        }
    }
}

#[test]
fn what_is_no_straight_map_over_lanes_is_left_to_others() {
    let isa = Isa::detect().unwrap();
    for dtype in [F16, C64, U8, Bool] {
        let mut b = Builder::new(Form::Map, 1);
        let (operand, access) = (b.operand(dtype), b.access(AccessKind::Contiguous));
        let load = b.load(operand, access);
        b.store(load);
        let unit = Variant { accesses: vec![Step::Unit], dests: vec![Step::Unit] };
        assert!(compile_for(&b.finish(), &unit, isa).is_none());
    }
}

#[test]
fn the_functions_of_the_core_have_code() {
    for isa in isas() {
        for row in OPS {
            for dtype in [F32, F64] {
                let Some(program) = functions::program(row.op, dtype) else { continue };
                let kernel = compile_for(program, &crate::check::variant(program, Step::Unit), isa);
                assert!(kernel.is_some(), "{isa:?} {} {dtype}", row.name);
            }
        }
    }
}
