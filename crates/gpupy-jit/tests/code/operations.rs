//! Each operation on each dtype, at its edge cases.

use crate::check::{Case, check, compiled, isas, variant};
use crate::generate::has_code;
use crate::rng::{Rng, specials};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::{OPS, Op, Rule};
use gpupy_core::{DType, Scalar};
use gpupy_jit::{Isa, RowStride, compile_for};

const DTYPES: [DType; 13] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::U8,
    DType::U16,
    DType::I32,
    DType::U32,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::I64,
    DType::U64,
    DType::F64,
];

/// Every pair of specials, and random ones.
fn inputs(dtypes: &[DType], rng: &mut Rng) -> Vec<Vec<Scalar>> {
    let mut inputs = vec![Vec::new(); dtypes.len()];
    let of = |k: usize| specials(dtypes[k.min(dtypes.len() - 1)]);
    for a in of(dtypes.len().saturating_sub(2)) {
        for b in of(dtypes.len() - 1) {
            for (k, input) in inputs.iter_mut().enumerate() {
                input.push(match dtypes.len() - 1 - k {
                    0 => b,
                    1 => a,
                    _ => rng.element(dtypes[k]),
                });
            }
        }
    }
    for _ in 0..200 {
        for (input, dtype) in inputs.iter_mut().zip(dtypes) {
            input.push(rng.element(*dtype));
        }
    }
    inputs
}

fn program(op: Op, dtypes: &[DType], to: DType) -> Option<Program> {
    op.result_dtype(dtypes, to)?;
    let mut b = Builder::new(Form::Map, 1);
    let mut args = Vec::new();
    for dtype in dtypes {
        let (operand, access) = (b.operand(*dtype), b.access(AccessKind::Affine));
        args.push(b.load(operand, access));
    }
    let value = match op.info().rule {
        Rule::Cast | Rule::Bitcast => b.convert(op, args[0], to),
        _ => b.op(op, &args),
    };
    b.store(value);
    widen(&mut b);
    Some(b.finish())
}

/// Stores a 32-bit number too: this crate does not compile programs of narrow values alone.
fn widen(b: &mut Builder) {
    let number = b.constant(Scalar::i32(-7));
    b.store(number);
}

#[test]
fn every_operation_has_the_bits_of_the_reference() {
    let mut rng = Rng::new(1);
    for isa in isas() {
        let mut checked = 0;
        for row in OPS.iter().filter(|row| row.op.is_scalar_op() && row.ulp == 0.0) {
            for from in DTYPES {
                for to in DTYPES {
                    let asks = matches!(row.rule, Rule::Cast | Rule::Bitcast);
                    if !asks && to != from {
                        continue;
                    }
                    let mut dtypes = vec![from; row.arity as usize];
                    if row.op == Op::Select {
                        dtypes[0] = DType::Bool;
                    }
                    let Some(program) = program(row.op, &dtypes, to) else { continue };
                    let variant = variant(&program, RowStride::Unit);
                    if !has_code(isa, row.op, from, to) {
                        assert!(
                            row.op == Op::Bitcast || compile_for(&program, &variant, isa).is_none(),
                            "{isa:?} {} {from} {to} is not expected",
                            row.name
                        );
                        continue;
                    }
                    let kernel = compiled(&program, &variant, isa);
                    let case = Case::of(inputs(&dtypes, &mut rng));
                    if let Err(said) = check(&kernel, &program, &variant, &case, &mut rng) {
                        panic!("{isa:?} {} {from} to {to}: {said}", row.name);
                    }
                    checked += 1;
                }
            }
        }
        assert!(checked > 200, "{isa:?}: {checked}");
    }
}

#[test]
fn operands_may_be_constants_scalars_and_the_same_value() {
    let mut rng = Rng::new(2);
    for isa in isas() {
        for row in OPS.iter().filter(|row| row.op.is_scalar_op() && row.ulp == 0.0) {
            for dtype in DTYPES {
                for kinds in 0..4usize.pow(u32::from(row.arity)) {
                    of_kinds(isa, row.op, dtype, kinds, &mut rng);
                }
            }
        }
    }
}

#[test]
fn literals_as_second_operands_have_the_bits_of_the_reference() {
    let mut rng = Rng::new(5);
    let dtypes = DTYPES.into_iter().filter(|dtype| dtype.size() >= 4);
    // Cast narrower values have other bits.
    let small = [(DType::I16, DType::I32), (DType::F16, DType::F32)];
    let small = small
        .into_iter()
        .flat_map(|(from, to)| specials(from).into_iter().map(move |literal| (literal, to)));
    let cases = dtypes.flat_map(|dtype| {
        let powers = (0..64).filter(move |_| dtype.is_int()).map(|k| 1u64 << k);
        let powers = powers.map(move |bits| Scalar::new(dtype, bits));
        specials(dtype).into_iter().chain(powers).map(move |literal| (literal, dtype))
    });
    for (literal, dtype) in cases.chain(small) {
        for op in [Op::Mul, Op::Shl, Op::Shr, Op::Min, Op::Max, Op::Copysign] {
            if op.result_dtype(&[dtype, dtype], dtype).is_none() {
                continue;
            }
            let mut b = Builder::new(Form::Map, 1);
            let (operand, access) = (b.operand(dtype), b.access(AccessKind::Contiguous));
            let (x, mut number) = (b.load(operand, access), b.constant(literal));
            if literal.dtype != dtype {
                number = b.convert(Op::Cast, number, dtype);
            }
            let value = b.op(op, &[x, number]);
            b.store(value);
            let program = b.finish();
            for isa in isas() {
                let variant = variant(&program, RowStride::Unit);
                let kernel = compiled(&program, &variant, isa);
                let case = Case::of(inputs(&[dtype], &mut rng));
                check(&kernel, &program, &variant, &case, &mut rng)
                    .unwrap_or_else(|said| panic!("{isa:?} {said}\n{program}"));
            }
        }
    }
}

/// Tests an operation with operands that are a shared load, separate loads, constants or parameters.
fn of_kinds(isa: Isa, op: Op, dtype: DType, kinds: usize, rng: &mut Rng) {
    let mut b = Builder::new(Form::Map, 1);
    let mut args = Vec::new();
    let mut loads = Vec::new();
    for k in 0..op.info().arity as u32 {
        let dtype = if op == Op::Select && k == 0 { DType::Bool } else { dtype };
        let kind = kinds / 4usize.pow(k) % 4;
        args.push(match kind {
            0 | 1 => {
                let shared = loads.iter().find(|load| kind == 0 && b.dtype(**load) == dtype);
                shared.copied().unwrap_or_else(|| {
                    let (operand, access) = (b.operand(dtype), b.access(AccessKind::Affine));
                    let load = b.load(operand, access);
                    loads.push(load);
                    load
                })
            }
            2 => b.constant(rng.element(dtype)),
            _ => b.param(dtype),
        });
    }
    let dtypes: Vec<_> = args.iter().map(|arg| b.dtype(*arg)).collect();
    let bitcast = op == Op::Bitcast;
    let to = if bitcast { dtype } else { DType::F32 };
    if op.result_dtype(&dtypes, to).is_none() || !has_code(isa, op, dtype, to) {
        return;
    }
    let value = match op.info().rule {
        Rule::Cast | Rule::Bitcast => b.convert(op, args[0], to),
        _ => b.op(op, &args),
    };
    b.store(value);
    widen(&mut b);
    let program = b.finish();
    let variant = variant(&program, RowStride::Unit);
    let kernel = compiled(&program, &variant, isa);
    let case = Case::random(&program, &variant, 37, rng);
    if let Err(said) = check(&kernel, &program, &variant, &case, rng) {
        panic!("{isa:?} {op:?} {dtype} operands {kinds}: {said}");
    }
}
