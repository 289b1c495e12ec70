//! Every rule of the table, tested against the meaning of its operations (`op_eval`).
//!
//! One operand takes all values of 8 and 16 bits, and structured and random ones beyond. Two operands take all pairs of
//! 8 bits; of 16 bits, every value beside every exponent and sign with a few mantissas; all pairs in a test that is run
//! by hand.
#![allow(clippy::unwrap_used)]

mod cases;
mod matcher;
mod meaning;
mod zero_signs;

use super::conditions::Dtypes;
use super::rewrite_rules::OPERANDS;
use cases::{C, Case, cases, for_operands, values};
use gpupy_core::DType;
use gpupy_core::op::Op;
use meaning::{SubnormalMode, digits, is_nan, is_right, sign_bit};

fn check(case: &Case, second: &[u64]) {
    let Dtypes { x, result, .. } = case.of;
    // Of a signalling NaN the host's functions make a NaN even where any number will do.
    let function = case.row.op.info().ulp > 0.0;
    let quiet = |bits: u64| match function && is_nan(x, bits) {
        true => bits | 1 << (digits(x) - 1),
        false => bits,
    };
    for (asked, given) in case.sides() {
        for_operands(case, second, |operands| {
            let operands = operands.map(quiet);
            let (asked, given) = (asked.compute(operands), given.compute(operands));
            let right = is_right(case.row.op, result, asked, given);
            let named = || format!("{} of {operands:#x?}", case.named());
            assert!(right, "{} is {asked:#x}, rewritten {given:#x}", named());
        });
    }
}

#[test]
fn every_row_gives_the_bits_of_what_it_stands_for() {
    for case in cases() {
        let second = values(case.of.x);
        let step = match case.of.x {
            x if x.size() == 1 => 1,
            // Integers have fewer kinds of numbers than floats.
            x if x.is_int() => 7,
            _ => (second.len() / 300) | 1,
        };
        let second: Vec<u64> = second.into_iter().step_by(step).collect();
        check(&case, &second);
    }
}

#[test]
#[ignore = "takes minutes: all 2^32 pairs for each row of two operands"]
fn every_row_of_two_operands_gives_its_bits_for_every_pair_of_float16() {
    let all: Vec<u64> = (0..=0xffff).collect();
    let pairs = |case: &Case| case.of.x == DType::F16 && case.names(1) && !case.names(C);
    for case in cases().iter().filter(|case| pairs(case)) {
        check(case, &all);
    }
}

#[test]
fn a_device_that_flushes_subnormals_gives_nothing_that_it_could_not_give_before() {
    let bools = [false, true];
    let steady: Vec<SubnormalMode> = bools
        .into_iter()
        .flat_map(|sees| bools.map(|gives| SubnormalMode::Steady { sees, gives }))
        .collect();
    for case in cases().iter().filter(|case| case.of.x.is_float()) {
        // Where only the minimum takes subnormal numbers for zero, and the root does not, the root
        // of such a number may stand for 0; and the sign of a 0 that stands for one goes through.
        let root = case.row.to.is_of(Op::Sqrt);
        // Functions promise no signs of zeros.
        let signs = !root && case.row.op.info().ulp == 0.0;
        let devices = if root { &steady[..] } else { &[SubnormalMode::Free] };
        let zero = |bits: u64| bits & !sign_bit(case.of.result) == 0;
        for (asked, given) in case.sides() {
            for operands in edges(case) {
                let possible = asked.outcomes(SubnormalMode::Free, operands);
                let outcomes = devices.iter().flat_map(|device| given.outcomes(*device, operands));
                for outcome in outcomes {
                    let right = |p: &u64| {
                        is_right(case.row.op, case.of.result, *p, outcome)
                            || !signs && zero(*p) && zero(outcome)
                    };
                    let named = case.named();
                    assert!(possible.iter().any(right), "{named} of {operands:#x?}: {outcome:#x}");
                }
            }
        }
    }
}

/// Operands with numbers around the least normal one.
fn edges(case: &Case) -> Vec<[u64; OPERANDS]> {
    let (sign, least) = (sign_bit(case.of.x), 1u64 << digits(case.of.x));
    let sizes = [0, 1, 2, least / 2, least - 1, least, least + 1, 2 * least, sign - least];
    let all: Vec<u64> = sizes.into_iter().flat_map(|size| [size, size | sign]).collect();
    let of = |which, values: &[u64]| if case.names(which) { values.to_vec() } else { vec![0] };
    let (first, second, chooses) = (of(0, &all), of(1, &all), of(C, &[0, 1]));
    let pairs = first.iter().flat_map(|x| second.iter().map(move |y| (*x, *y)));
    pairs.flat_map(|(x, y)| chooses.iter().map(move |c| [x, y, *c])).collect()
}
