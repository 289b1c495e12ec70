//! The library: operations that take more than an expression, as functions that kernels call.
//!
//! Owns [`FUNCTIONS`], the table. Each [`LibraryFunction`] is a program of simpler operations, so that it is written
//! once for all languages and widths, and tested without a device. Its parameters are its first instructions;
//! parameters and results have the dtypes of registers. `float16_casts.rs` has the functions for float16,
//! `integers.rs` the casts between floats and integers, `division.rs` the others; `function_builder.rs` builds them.
//! Invariant: a function calls only functions that precede it in the table.
//!
//! Not here: their text (`definitions.rs`), mathematical functions (`functions/` of gpupy-core).

mod division;
mod float16_casts;
mod function_builder;
mod integers;

use division::{floor_div, floor_mod, sign_of};
use float16_casts::{half_bits, half_of_bits, half_of_double, half_of_long, half_round};
use gpupy_core::DType;
use gpupy_core::ir::Program;
use integers::{
    float_of_long, float_of_ulong, long_of_float, uint_of_float, ulong_of_double, ulong_of_float,
};
use std::sync::LazyLock;

/// A function of the library.
pub struct LibraryFunction {
    pub name: &'static str,
    /// The dtype of its operands. It is part of the full name.
    pub dtype: DType,
    pub program: Program,
}

/// All functions, each after the functions that it calls.
pub static FUNCTIONS: LazyLock<Vec<LibraryFunction>> = LazyLock::new(|| {
    let (ints, longs) = ((DType::I32, DType::U32), (DType::I64, DType::U64));
    let function = |name, dtype, program| LibraryFunction { name, dtype, program };
    let mut all = vec![
        function("half_round", DType::F32, half_round()),
        function("half_bits", DType::F32, half_bits()),
        function("half_of_bits", DType::F32, half_of_bits()),
        function("uint_of", DType::F32, uint_of_float()),
        function("long_of", DType::F32, long_of_float()),
        function("ulong_of", DType::F32, ulong_of_float()),
        function("ulong_of", DType::F64, ulong_of_double()),
        function("float_of", DType::U64, float_of_ulong()),
        function("float_of", DType::I64, float_of_long()),
        function("half_of", DType::U64, half_of_long(DType::U64)),
        function("half_of", DType::I64, half_of_long(DType::I64)),
        function("half_of_double", DType::F64, half_of_double()),
    ];
    for dtype in [DType::F32, DType::F64] {
        all.push(function("sign_of", dtype, sign_of(dtype)));
    }
    for (signed, unsigned) in [ints, longs] {
        all.push(function("floor_div", signed, floor_div(signed, unsigned)));
        all.push(function("floor_mod", signed, floor_mod(signed)));
    }
    all
});

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::dialect::{held, hold};
    use gpupy_core::op::Op;
    use gpupy_core::{Scalar, op_eval};

    /// Runs a program of scalar operations.
    fn run(program: &Program, params: &[Scalar]) -> Scalar {
        let mut values: Vec<Scalar> = Vec::new();
        for inst in &program.insts {
            let [a, b, _] = inst.args;
            values.push(match inst.op {
                Op::Param => params[a as usize],
                Op::Const => Scalar::new(inst.dtype, u64::from(a) | u64::from(b) << 32),
                Op::Store => return values[b as usize],
                op => {
                    let args: Vec<Scalar> =
                        program.uses(inst).map(|v| values[v as usize]).collect();
                    op_eval::eval(op, inst.dtype, &args).unwrap()
                }
            });
        }
        panic!("a function gives a value");
    }

    /// Samples of a dtype: bits of all magnitudes and classes.
    fn samples(dtype: DType) -> Vec<Scalar> {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 29
        };
        let mut bits: Vec<u64> = (0..64).flat_map(|k| [1 << k, (1 << k) - 1, !0 << k]).collect();
        bits.extend((0..20_000).map(|k| random() >> (k % 64)));
        // Floats of ordinary magnitudes, and near the limits of integers.
        let near = |k: i32| [1.0, 1.5, 1.0 + 1e-7, 1.0 - 1e-7].map(|x| x * 2f64.powi(k));
        let floats = (-30..70).flat_map(near).flat_map(|x| [x, -x]);
        let floats: Vec<f64> = floats.chain([0.0, -0.0, f64::NAN, f64::INFINITY]).collect();
        match dtype {
            DType::F64 => bits.extend(floats.iter().map(|x| x.to_bits())),
            DType::F32 => bits.extend(floats.iter().map(|x| u64::from((*x as f32).to_bits()))),
            _ => {}
        }
        bits.into_iter().map(|bits| Scalar::new(dtype, bits)).collect()
    }

    #[test]
    fn functions_give_the_bits_of_the_operations_that_call_them() {
        let casts = [
            ("half_round", DType::F32, DType::F16),
            ("uint_of", DType::F32, DType::U32),
            ("long_of", DType::F32, DType::I64),
            ("ulong_of", DType::F32, DType::U64),
            ("ulong_of", DType::F64, DType::U64),
            ("float_of", DType::U64, DType::F32),
            ("float_of", DType::I64, DType::F32),
            ("half_of", DType::U64, DType::F16),
            ("half_of", DType::I64, DType::F16),
            ("half_of_double", DType::F64, DType::F16),
        ];
        let mut tested = 2; // the bits of float16 are tested below
        for function in FUNCTIONS.iter() {
            let same = |(name, from, _): &&_| (*name, *from) == (function.name, function.dtype);
            let (op, to) = match (casts.iter().find(same), function.name) {
                (Some((_, _, to)), _) => (Op::Cast, *to),
                (_, "sign_of") => (Op::Sign, function.dtype),
                (_, "floor_div") => (Op::FloorDiv, function.dtype),
                (_, "floor_mod") => (Op::Mod, function.dtype),
                _ => continue,
            };
            tested += 1;
            let samples = samples(function.dtype);
            for (k, x) in samples.iter().enumerate() {
                let y = samples[(k * 7 + k / 91) % samples.len()];
                let args = &[*x, y][..op.info().arity as usize];
                let wanted = hold(op_eval::eval(op, to, args).unwrap());
                let got = run(&function.program, args);
                let nan =
                    |x: Scalar| op_eval::eval(Op::Ne, DType::Bool, &[x, x]).unwrap().as_bool();
                let same = got == wanted || nan(got) && nan(wanted);
                assert!(same, "{} of {args:x?}: {got:x?}, not {wanted:x?}", function.name);
            }
        }
        assert_eq!(tested, FUNCTIONS.len());
    }

    #[test]
    fn every_float16_keeps_its_bits_through_a_register() {
        let named = |name| FUNCTIONS.iter().find(|f| f.name == name).unwrap();
        let (bits_of, of_bits) = (named("half_bits"), named("half_of_bits"));
        for bits in 0..=u16::MAX {
            let value = Scalar::new(DType::F16, bits.into());
            let word = hold(Scalar::new(DType::U16, bits.into()));
            assert_eq!(run(&of_bits.program, &[word]), hold(value), "{bits:x}");
            assert_eq!(run(&bits_of.program, &[hold(value)]), word, "{bits:x}");
        }
        assert_eq!(held(DType::F16), DType::F32);
    }
}
