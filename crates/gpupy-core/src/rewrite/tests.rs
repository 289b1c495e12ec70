//! Every row of the table against the meaning of its operations (`op_eval`), and the matcher against
//! the table.
//!
//! One operand takes all values of 8 and 16 bits, and structured and random ones beyond. Two take all
//! pairs of 8 bits; of 16 bits, every value beside every exponent and sign with a few mantissas; all
//! pairs in a test that is run by hand.
#![allow(clippy::unwrap_used)]

use super::conditions::{Dtypes, number};
use super::table::{OPERANDS, ROWS, Row, Term};
use crate::array::{Arg, Array};
use crate::dtype::DType;
use crate::op::Op;
use crate::op_eval::{self, Function};
use crate::record::Recorder;
use crate::scalar::Scalar;
use crate::value::{Input, Kind, Operand};
use crate::view::Shape;
use std::collections::BTreeSet;

/// A bool that chooses, in `table.rs`.
const C: usize = 2;

/// All dtypes but the complex ones.
fn real_dtypes() -> impl Iterator<Item = DType> + Clone {
    DType::ALL.into_iter().filter(|d| !matches!(d, DType::C64 | DType::C128))
}

/// A row for operands of certain dtypes.
struct Case {
    row: &'static Row,
    of: Dtypes,
}

/// Every row for all real dtypes for which it stands.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for row in ROWS {
        let all: Vec<Dtypes> = match row.op {
            Op::Cast => real_dtypes()
                .flat_map(|x| real_dtypes().map(move |inner| (x, inner)))
                .flat_map(|(x, inner)| real_dtypes().map(move |result| (x, inner, result)))
                .map(|(x, inner, result)| Dtypes { x, inner, result })
                .collect(),
            _ => real_dtypes().filter_map(|x| dtypes(row, x)).collect(),
        };
        cases.extend(all.into_iter().filter(|of| (row.when)(*of)).map(|of| Case { row, of }));
    }
    cases
}

/// The dtypes of a row that is not a cast, or `None` where its operations do not take `x`.
fn dtypes(row: &Row, x: DType) -> Option<Dtypes> {
    let operands: Option<Vec<DType>> = row.from.iter().map(|term| dtype_of(term, x)).collect();
    let operands = operands?;
    Some(Dtypes { x, inner: operands[0], result: row.op.result_dtype(&operands, x)? })
}

fn dtype_of(term: &Term, x: DType) -> Option<DType> {
    match term {
        Term::Operand(C) => Some(DType::Bool),
        Term::Of(op, args) => {
            let args: Option<Vec<DType>> = args.iter().map(|arg| dtype_of(arg, x)).collect();
            op.result_dtype(&args?, x)
        }
        _ => Some(x),
    }
}

impl Case {
    fn named(&self) -> String {
        let Dtypes { x, inner, result } = self.of;
        let Row { op, from, to, why, .. } = self.row;
        format!("{op:?}{from:?} => {to:?} of {x}, {inner}, {result} ({why})")
    }

    /// What is asked for and what is given, for each scalar that the row takes.
    fn sides(&self) -> Vec<(Code, Code)> {
        let making = self.row.from.iter().find_map(|term| match term {
            Term::Making(make) => Some(*make),
            _ => None,
        });
        let side = |scalars: Option<(Scalar, Scalar)>| {
            (
                code(&Term::Of(self.row.op, self.row.from), self.of, self.of.result, scalars),
                code(&self.row.to, self.of, self.of.result, scalars),
            )
        };
        match making {
            None => vec![side(None)],
            Some(make) => values(self.of.x)
                .into_iter()
                .map(|bits| Scalar::new(self.of.x, bits))
                .filter_map(|scalar| Some(side(Some((scalar, make(scalar)?)))))
                .collect(),
        }
    }

    fn names(&self, which: usize) -> bool {
        fn within(terms: &[Term], which: usize) -> bool {
            terms.iter().any(|term| match term {
                Term::Operand(name) => *name == which,
                Term::Of(_, args) => within(args, which),
                _ => false,
            })
        }
        within(self.row.from, which)
    }
}

/// A term that is ready to be computed.
enum Code {
    Operand(usize),
    Known(u64),
    Call { op: Op, from: DType, to: DType, function: Function, args: Vec<Code> },
}

/// `result` is the dtype of the term; `scalars` are the one that is met and the one that is made.
fn code(term: &Term, of: Dtypes, result: DType, scalars: Option<(Scalar, Scalar)>) -> Code {
    match term {
        Term::Operand(which) => Code::Operand(*which),
        Term::Again => Code::Operand(0),
        Term::Number(value) => Code::Known(number(*value, result).unwrap().bits),
        Term::Making(_) => Code::Known(scalars.unwrap().0.bits),
        Term::Made => Code::Known(scalars.unwrap().1.bits),
        Term::Of(op, args) => {
            // Of a cast within a cast, what comes out in between; of a selection, what it selects.
            let from = match (op, &args[0]) {
                (Op::Cast, Term::Of(..)) => of.inner,
                (Op::Select, _) => result,
                (_, first) => dtype_of(first, of.x).unwrap(),
            };
            let inner = |arg: &Term| match arg {
                Term::Of(Op::Cast, _) => of.inner,
                Term::Of(..) => dtype_of(arg, of.x).unwrap(),
                _ => from,
            };
            let function = op_eval::function(*op, from, result).unwrap();
            let args = args.iter().map(|arg| code(arg, of, inner(arg), scalars)).collect();
            Code::Call { op: *op, from, to: result, function, args }
        }
    }
}

impl Code {
    fn compute(&self, operands: [u64; OPERANDS]) -> u64 {
        match self {
            Code::Operand(which) => operands[*which],
            Code::Known(bits) => *bits,
            Code::Call { function, args, .. } => {
                let arg = |i: usize| args.get(i).map_or(0, |arg| arg.compute(operands));
                function(arg(0), arg(1), arg(2))
            }
        }
    }

    /// All that a device may give.
    fn outcomes(&self, device: Device, operands: [u64; OPERANDS]) -> BTreeSet<u64> {
        let Code::Call { op, from, to, function, args } = self else {
            return BTreeSet::from([self.compute(operands)]);
        };
        let rounds = !matches!(op, Op::Neg | Op::Abs | Op::Min | Op::Max);
        let mut given: Vec<BTreeSet<u64>> =
            args.iter().map(|a| a.outcomes(device, operands)).collect();
        given.resize(3, BTreeSet::from([0]));
        let seen = |set: &BTreeSet<u64>| match op {
            Op::Select => set.clone(),
            _ => set.iter().flat_map(|x| device.seen(*from, *x)).collect(),
        };
        let mut outcomes = BTreeSet::new();
        for (a, b) in given[0].iter().flat_map(|a| given[1].iter().map(move |b| (*a, *b))) {
            let one = |x| seen(&BTreeSet::from([x]));
            for (x, y) in one(a).into_iter().flat_map(|x| one(b).into_iter().map(move |y| (x, y))) {
                for c in &given[2] {
                    let result = function(x, y, *c);
                    let moved = *op == Op::Select || !to.is_float();
                    outcomes.extend(if moved {
                        vec![result]
                    } else {
                        device.given(*to, result, rounds)
                    });
                }
                // These may compare what they see and give what there was.
                let less = match op {
                    Op::Min => Op::Lt,
                    Op::Max => Op::Gt,
                    _ => continue,
                };
                let first = op_eval::function(less, *from, DType::Bool).unwrap()(x, y, 0) != 0;
                outcomes.insert(if first || is_nan(*from, x) { a } else { b });
            }
        }
        outcomes
    }
}

/// What a device makes of subnormal numbers.
#[derive(Clone, Copy, Debug)]
enum Device {
    /// Takes them for zero wherever it likes, which is all that a driver promises.
    Free,
    /// Does the same in all operations: whether it sees those of operands, and gives those of
    /// results.
    Steady { sees: bool, gives: bool },
}

impl Device {
    /// What an operation may see of an operand.
    fn seen(self, dtype: DType, bits: u64) -> Vec<u64> {
        let sees = match self {
            Device::Free => None,
            Device::Steady { sees, .. } => Some(sees),
        };
        Device::flushed(sees, dtype, bits, is_subnormal(dtype, bits))
    }

    /// What may become of a result, which may have been rounded up to the least normal number.
    fn given(self, dtype: DType, bits: u64, rounds: bool) -> Vec<u64> {
        let gives = match self {
            Device::Free => None,
            Device::Steady { gives, .. } => Some(gives),
        };
        let least = rounds && bits & !sign_bit(dtype) == 1 << digits(dtype);
        let gives = if least { gives.filter(|gives| *gives) } else { gives };
        Device::flushed(gives, dtype, bits, least || is_subnormal(dtype, bits))
    }

    /// A number, or zero of either sign where it is small; `keeps` says which, or both.
    fn flushed(keeps: Option<bool>, dtype: DType, bits: u64, small: bool) -> Vec<u64> {
        match keeps {
            _ if !small => vec![bits],
            Some(true) => vec![bits],
            Some(false) => vec![0, sign_bit(dtype)],
            None => vec![bits, 0, sign_bit(dtype)],
        }
    }
}

/// Stored bits of a float's mantissa.
fn digits(dtype: DType) -> u32 {
    match dtype {
        DType::F16 => 10,
        DType::F32 => 23,
        _ => 52,
    }
}

fn sign_bit(dtype: DType) -> u64 {
    1 << (dtype.size() * 8 - 1)
}

fn is_nan(dtype: DType, bits: u64) -> bool {
    let infinity = (sign_bit(dtype) - 1) & !((1 << digits(dtype)) - 1);
    dtype.is_float() && bits & (sign_bit(dtype) - 1) > infinity
}

fn is_subnormal(dtype: DType, bits: u64) -> bool {
    let size = bits & (sign_bit(dtype) - 1);
    dtype.is_float() && size != 0 && size < 1 << digits(dtype)
}

/// Values of a dtype with every exponent (of a float), near every power of two, and random ones.
fn values(dtype: DType) -> Vec<u64> {
    let width = dtype.size() as u32 * 8;
    let all = Scalar::new(dtype, u64::MAX).bits;
    if dtype == DType::Bool {
        return vec![0, 1];
    }
    if width == 8 {
        return (0..=all).collect();
    }
    let mut values = vec![0, all];
    if dtype.is_float() {
        let mantissas = [0, 1, 0x155 << (digits(dtype) - 10), (1 << digits(dtype)) - 1];
        for high in 0..1u64 << (width - digits(dtype)) {
            values.extend(mantissas.map(|low| high << digits(dtype) | low));
        }
    } else {
        for power in (0..width).map(|i| 1u64 << i) {
            values.extend([power - 1, power, power + 1, power.wrapping_neg() & all]);
        }
    }
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..100 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        values.push((state >> 17 ^ state << 40) & all);
    }
    values
}

/// Values for one operand, or for the first of two.
fn many_values(dtype: DType) -> Vec<u64> {
    if dtype.size() == 2 { (0..=0xffff).collect() } else { values(dtype) }
}

/// Calls what it is given with operands of a case; `second` are the values of a second one.
fn for_operands(case: &Case, second: &[u64], mut f: impl FnMut([u64; OPERANDS])) {
    let chooses = if case.names(C) { 0..2 } else { 0..1 };
    let second = if case.names(1) { second } else { &[0] };
    let first = if case.names(0) { many_values(case.of.x) } else { vec![0] };
    for c in chooses {
        for x in &first {
            second.iter().for_each(|y| f([*x, *y, c]));
        }
    }
}

/// Whether a result is right: the bits, another NaN, or within the bound of a function.
fn is_right(op: Op, dtype: DType, asked: u64, given: u64) -> bool {
    if asked == given || is_nan(dtype, asked) && is_nan(dtype, given) {
        return true;
    }
    let bound = op.info().ulp as u64;
    bound > 0 && !is_nan(dtype, asked) && !is_nan(dtype, given) && asked.abs_diff(given) <= bound
}

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
        // Integers have fewer kinds of numbers than floats.
        let step = if case.of.x.is_float() { (second.len() / 300) | 1 } else { 7 };
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
    let steady: Vec<Device> = bools
        .into_iter()
        .flat_map(|sees| bools.map(|gives| Device::Steady { sees, gives }))
        .collect();
    for case in cases().iter().filter(|case| case.of.x.is_float()) {
        // Where only the minimum takes subnormal numbers for zero, and the root does not, the root
        // of such a number may stand for 0; and the sign of a 0 that stands for one goes through.
        let root = case.row.to.is_of(Op::Sqrt);
        // Functions promise no signs of zeros.
        let signs = !root && case.row.op.info().ulp == 0.0;
        let devices = if root { &steady[..] } else { &[Device::Free] };
        let zero = |bits: u64| bits & !sign_bit(case.of.result) == 0;
        for (asked, given) in case.sides() {
            for operands in edges(case) {
                let possible = asked.outcomes(Device::Free, operands);
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
    fn ask(&self, recorder: &Recorder, term: &Term, of: Dtypes, result: DType) -> Array {
        let Term::Of(op, args) = term else {
            let Term::Operand(which) = term else { return self.0[0].clone() };
            return self.0[*which].clone();
        };
        if *op == Op::Cast {
            return recorder.cast(&self.ask(recorder, &args[0], of, of.inner), result).unwrap();
        }
        let arrays: Vec<Option<Array>> = args
            .iter()
            .map(|arg| match arg {
                Term::Operand(_) | Term::Again | Term::Of(..) => {
                    Some(self.ask(recorder, arg, of, of.x))
                }
                _ => None,
            })
            .collect();
        let args: Vec<Arg<'_>> = args
            .iter()
            .zip(&arrays)
            .map(|(arg, array)| match array {
                Some(array) => Arg::Array(array),
                None => Arg::Scalar(scalar(arg, of.x)),
            })
            .collect();
        recorder.apply(*op, &args).unwrap()
    }

    /// Records a term as it stands.
    fn give(&self, recorder: &Recorder, term: &Term, of: Dtypes, result: DType) -> Operand {
        match term {
            Term::Operand(which) => self.0[*which].operand(&SHAPE).unwrap(),
            Term::Of(op, args) => {
                let args = args.iter().map(|arg| self.give(recorder, arg, of, of.x)).collect();
                recorder.recorded(*op, result, Shape::from_slice(&SHAPE), args)
            }
            term => (Input::Scalar(scalar(term, result)), None),
        }
    }
}

/// A scalar of a row; where it may be one of many, 4.
fn scalar(term: &Term, dtype: DType) -> Scalar {
    let four = number(4.0, dtype).unwrap();
    match term {
        Term::Number(value) => number(*value, dtype).unwrap(),
        Term::Made if dtype.is_float() => number(0.25, dtype).unwrap(),
        Term::Made => ROWS
            .iter()
            .find_map(|row| match row.from.last() {
                Some(Term::Making(make)) if row.to.is_of(Op::Shr) => make(four),
                _ => None,
            })
            .unwrap(),
        _ => four,
    }
}

impl Term {
    fn is_of(&self, wanted: Op) -> bool {
        matches!(self, Term::Of(op, _) if *op == wanted)
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
        let asked = Term::Of(case.row.op, case.row.from);
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
                assert_eq!(asked.0.kind, Kind::Constant(scalar), "{}", case.named());
            }
            (input, _) => assert_eq!(Some(asked.id()), input.id(), "{}", case.named()),
        }
    }
}

#[test]
fn rows_of_one_operation_stand_together() {
    for row in ROWS {
        let found = super::rows_of(row.op).iter().any(|r| std::ptr::eq(r, row));
        assert!(found && super::rows_of(row.op).iter().all(|r| r.op == row.op), "{row:?}");
    }
}

/// What looks like a row and is none: the bits differ somewhere, and it is recorded as it is.
#[test]
fn what_would_change_a_bit_is_left_alone() {
    const X: Term = Term::Operand(0);
    const Y: Term = Term::Operand(1);
    const ZERO: Term = Term::Number(0.0);
    let near_misses: &[(Op, &[Term], Term, DType)] = &[
        (Op::Add, &[X, ZERO], X, DType::F16),
        (Op::Sub, &[X, Term::Number(-0.0)], X, DType::F16),
        (Op::Sub, &[ZERO, X], Term::Of(Op::Neg, &[X]), DType::F16),
        (Op::Sub, &[X, Term::Again], ZERO, DType::F16),
        (Op::Mul, &[X, ZERO], ZERO, DType::F16),
        (
            Op::Div,
            &[X, Term::Number(3.0)],
            Term::Of(Op::Mul, &[X, Term::Number(1.0 / 3.0)]),
            DType::F16,
        ),
        (Op::Eq, &[X, Term::Again], Term::Number(1.0), DType::F16),
        (Op::Abs, &[Term::Of(Op::Neg, &[X])], Term::Of(Op::Abs, &[X]), DType::U8),
        (Op::Not, &[Term::Of(Op::Lt, &[X, Y])], Term::Of(Op::Ge, &[X, Y]), DType::F16),
        (
            Op::Min,
            &[Term::Of(Op::Neg, &[X]), Term::Of(Op::Neg, &[Y])],
            Term::Of(Op::Neg, &[Term::Of(Op::Max, &[X, Y])]),
            DType::I8,
        ),
        (
            Op::Max,
            &[Term::Of(Op::Sqrt, &[X]), Term::Of(Op::Sqrt, &[Y])],
            Term::Of(Op::Sqrt, &[Term::Of(Op::Max, &[X, Y])]),
            DType::F16,
        ),
        (
            Op::FloorDiv,
            &[X, Term::Number(-2.0)],
            Term::Of(Op::Shr, &[X, Term::Number(1.0)]),
            DType::I8,
        ),
        (Op::Mod, &[X, Term::Number(6.0)], Term::Of(Op::And, &[X, Term::Number(5.0)]), DType::I8),
    ];
    for (op, from, to, x) in near_misses {
        let operands: Vec<DType> = from.iter().map(|term| dtype_of(term, *x).unwrap()).collect();
        let result = op.result_dtype(&operands, *x).unwrap();
        let of = Dtypes { x: *x, inner: operands[0], result };
        let from = Term::Of(*op, from);
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
        assert!(!matches!(value.0.kind, Kind::Constant(_)), "{from:?} of {x} was rewritten");
    }
}
