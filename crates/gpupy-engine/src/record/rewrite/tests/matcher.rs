//! The matcher, tested against the table: which expression is recorded for a call.

use super::super::conditions::{Dtypes, number};
use super::super::rewrite_rules::{OPERANDS, ROWS, RewriteTerm};
use super::super::rows_of;
use super::cases::{Case, cases, dtype_of, values};
use super::meaning::{code, is_right};
use crate::array::base::{Array, ArrayOrScalar};
use crate::graph::value::{Input, Operand, ValueKind};
use crate::record::recorder::Recorder;
use crate::record::rewrite::Rewrite;
use gpupy_core::op::Op;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Scalar};

/// Arrays for the operands of a row.
struct Arrays([Array; OPERANDS]);

const SHAPE: [usize; 2] = [2, 3];

impl Arrays {
    fn new(x: DType) -> Arrays {
        let array = |dtype: DType| {
            let bytes = vec![1; 6 * dtype.size()];
            Array::from_bytes(dtype, &SHAPE, &bytes).unwrap()
        };
        Arrays([array(x), array(x), array(DType::Bool)])
    }

    /// Records a term as a user does.
    fn ask(&self, recorder: &Recorder, term: &RewriteTerm, of: Dtypes, result: DType) -> Array {
        let RewriteTerm::Of(op, args) = term else {
            let RewriteTerm::Operand(which) = term else { return self.0[0].clone() };
            return self.0[*which].clone();
        };
        if *op == Op::Cast {
            let array = self.ask(recorder, &args[0], of, of.inner);
            return recorder.convert(Op::Cast, &[ArrayOrScalar::Array(&array)], result).unwrap();
        }
        let arrays: Vec<Option<Array>> = args
            .iter()
            .map(|arg| match arg {
                RewriteTerm::Operand(_) | RewriteTerm::Again | RewriteTerm::Of(..) => {
                    Some(self.ask(recorder, arg, of, of.x))
                }
                _ => None,
            })
            .collect();
        let args: Vec<ArrayOrScalar<'_>> = args
            .iter()
            .zip(&arrays)
            .map(|(arg, array)| match array {
                Some(array) => ArrayOrScalar::Array(array),
                None => ArrayOrScalar::Scalar(scalar(arg, of.x)),
            })
            .collect();
        recorder.apply(*op, &args).unwrap()
    }

    /// Records a term as it stands.
    fn give(&self, recorder: &Recorder, term: &RewriteTerm, of: Dtypes, result: DType) -> Operand {
        match term {
            RewriteTerm::Operand(which) => self.0[*which].operand(&SHAPE).unwrap(),
            RewriteTerm::Of(op, args) => {
                let args = args.iter().map(|arg| self.give(recorder, arg, of, of.x)).collect();
                recorder.recorded(*op, result, Shape::from_slice(&SHAPE), args)
            }
            term => (Input::Scalar(scalar(term, result)), None),
        }
    }
}

/// A scalar of a row; where it may be one of many, 4.
fn scalar(term: &RewriteTerm, dtype: DType) -> Scalar {
    let four = number(4.0, dtype).unwrap();
    match term {
        RewriteTerm::Number(value) => number(*value, dtype).unwrap(),
        RewriteTerm::Made if dtype.is_float() => number(0.25, dtype).unwrap(),
        RewriteTerm::Made => ROWS
            .iter()
            .find_map(|row| match row.from.last() {
                Some(RewriteTerm::Making(make)) if row.to.is_of(Op::Shr) => make(four),
                _ => None,
            })
            .unwrap(),
        _ => four,
    }
}

#[test]
fn every_row_is_found_and_gives_what_it_says() {
    // A cast to the operand's own dtype is a copy, and one there and back the first row's.
    let copies = |case: &Case| {
        let Dtypes { x, inner, result } = case.of;
        let back = x == result && case.row.to.is_of(Op::Cast);
        case.row.op == Op::Cast && (x == inner || inner == result || back)
    };
    for case in cases().iter().filter(|case| !copies(case)) {
        let (recorder, arrays, of) = (Recorder::default(), Arrays::new(case.of.x), case.of);
        let asked = RewriteTerm::Of(case.row.op, case.row.from);
        let asked = arrays.ask(&recorder, &asked, of, of.result).value().unwrap();
        // The rest after a division by 4 is in the lowest two bits.
        let given = match case.row.op {
            Op::Mod if case.row.to.is_of(Op::And) => {
                let (x, mask) = (arrays.0[0].operand(&SHAPE).unwrap(), number(3.0, of.x).unwrap());
                let args = [x, (Input::Scalar(mask), None)].into_iter().collect();
                recorder.recorded(Op::And, of.x, Shape::from_slice(&SHAPE), args)
            }
            _ => arrays.give(&recorder, &case.row.to, of, of.result),
        };
        match given {
            (Input::Scalar(scalar), _) => {
                assert_eq!(asked.0.kind, ValueKind::Constant(scalar), "{}", case.named());
            }
            (input, _) => assert_eq!(Some(asked.id()), input.id(), "{}", case.named()),
        }
    }
}

#[test]
fn rows_of_one_operation_stand_together() {
    for row in ROWS {
        let found = rows_of(row.op).iter().any(|r| std::ptr::eq(r, row));
        assert!(found && rows_of(row.op).iter().all(|r| r.op == row.op), "{row:?}");
    }
}

/// Expressions that look like a rule but differ in bits somewhere: they are recorded unchanged.
#[test]
fn what_would_change_a_bit_is_left_alone() {
    const X: RewriteTerm = RewriteTerm::Operand(0);
    const Y: RewriteTerm = RewriteTerm::Operand(1);
    const ZERO: RewriteTerm = RewriteTerm::Number(0.0);
    let near_misses: &[(Op, &[RewriteTerm], RewriteTerm, DType)] = &[
        (Op::Add, &[X, ZERO], X, DType::F16),
        (Op::Sub, &[X, RewriteTerm::Number(-0.0)], X, DType::F16),
        (Op::Sub, &[ZERO, X], RewriteTerm::Of(Op::Neg, &[X]), DType::F16),
        (Op::Sub, &[X, RewriteTerm::Again], ZERO, DType::F16),
        (Op::Mul, &[X, ZERO], ZERO, DType::F16),
        (
            Op::Div,
            &[X, RewriteTerm::Number(3.0)],
            RewriteTerm::Of(Op::Mul, &[X, RewriteTerm::Number(1.0 / 3.0)]),
            DType::F16,
        ),
        (Op::Eq, &[X, RewriteTerm::Again], RewriteTerm::Number(1.0), DType::F16),
        (Op::Abs, &[RewriteTerm::Of(Op::Neg, &[X])], RewriteTerm::Of(Op::Abs, &[X]), DType::U8),
        (
            Op::Not,
            &[RewriteTerm::Of(Op::Lt, &[X, Y])],
            RewriteTerm::Of(Op::Ge, &[X, Y]),
            DType::F16,
        ),
        (
            Op::Min,
            &[RewriteTerm::Of(Op::Neg, &[X]), RewriteTerm::Of(Op::Neg, &[Y])],
            RewriteTerm::Of(Op::Neg, &[RewriteTerm::Of(Op::Max, &[X, Y])]),
            DType::I8,
        ),
        (
            Op::Max,
            &[RewriteTerm::Of(Op::Sqrt, &[X]), RewriteTerm::Of(Op::Sqrt, &[Y])],
            RewriteTerm::Of(Op::Sqrt, &[RewriteTerm::Of(Op::Max, &[X, Y])]),
            DType::F16,
        ),
        (
            Op::FloorDiv,
            &[X, RewriteTerm::Number(-2.0)],
            RewriteTerm::Of(Op::Shr, &[X, RewriteTerm::Number(1.0)]),
            DType::I8,
        ),
        (
            Op::Mod,
            &[X, RewriteTerm::Number(6.0)],
            RewriteTerm::Of(Op::And, &[X, RewriteTerm::Number(5.0)]),
            DType::I8,
        ),
    ];
    for (op, from, to, x) in near_misses {
        let operands: Vec<DType> = from.iter().map(|term| dtype_of(term, *x).unwrap()).collect();
        let result = op.result_dtype(&operands, *x).unwrap();
        let of = Dtypes { x: *x, inner: operands[0], result };
        let from = RewriteTerm::Of(*op, from);
        let (asked, given) = (code(&from, of, result, None), code(to, of, result, None));
        let differs = |x: u64, y: u64| {
            let (asked, given) = (asked.compute([x, y, 0]), given.compute([x, y, 0]));
            !is_right(*op, result, asked, given)
        };
        let values = values(*x);
        let found = values.iter().any(|x| values.iter().any(|y| differs(*x, *y)));
        assert!(found, "{from:?} may be {to:?} of {x} after all");
        let (recorder, arrays) = (Recorder::default(), Arrays::new(*x));
        let value = arrays.ask(&recorder, &from, of, result).value().unwrap();
        let rewritten = arrays.give(&recorder, to, of, result);
        assert_ne!(Some(value.id()), rewritten.0.id(), "{from:?} of {x} was rewritten");
        assert!(!matches!(value.0.kind, ValueKind::Constant(_)), "{from:?} of {x} was rewritten");
    }
}
