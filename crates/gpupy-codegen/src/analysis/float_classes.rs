//! Sign and NaN analysis: the classes (NaN, ±infinity, sign) that a program's floats can have for any operands.
//!
//! Owns [`FloatClasses`] and [`of_program`], a single forward pass. Its results save corrections of built-ins for
//! NaN and for zeros of either sign. Invariant: a value always has one of its classes, even on a device that
//! flushes subnormal numbers to zero.
//!
//! Not here: ranges of values (`bounds/` of the engine), the cheaper code that this allows (`emit/operations.rs`).

use gpupy_core::ir::{Inst, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// A set of float classes, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FloatClasses(u8);

impl FloatClasses {
    const NONE: FloatClasses = FloatClasses(0);
    const NAN: FloatClasses = FloatClasses(1);
    const MINUS_INFINITY: FloatClasses = FloatClasses(2);
    /// Finite numbers with the sign bit, -0.0 among them.
    const MINUS: FloatClasses = FloatClasses(4);
    /// Finite numbers without the sign bit, 0.0 among them.
    const PLUS: FloatClasses = FloatClasses(8);
    const INFINITY: FloatClasses = FloatClasses(16);
    const FINITE: FloatClasses = FloatClasses::MINUS.or(FloatClasses::PLUS);
    const ANY: FloatClasses = FloatClasses(31);

    const fn or(self, other: FloatClasses) -> FloatClasses {
        FloatClasses(self.0 | other.0)
    }

    const fn is_within(self, outer: FloatClasses) -> bool {
        self.0 & !outer.0 == 0
    }

    fn each(self) -> impl Iterator<Item = FloatClasses> {
        (0..5).map(|bit| FloatClasses(1 << bit)).filter(move |kind| kind.is_within(self))
    }

    /// The union of the images of each class.
    fn map(self, of: impl Fn(FloatClasses) -> FloatClasses) -> FloatClasses {
        self.each().fold(FloatClasses::NONE, |all, kind| all.or(of(kind)))
    }

    /// The union of the images of each pair of classes.
    fn pairs(
        self,
        other: FloatClasses,
        of: impl Fn(FloatClasses, FloatClasses) -> FloatClasses,
    ) -> FloatClasses {
        self.map(|x| other.map(|y| of(x, y)))
    }

    /// True when the built-ins for minimum and maximum have one possible result for these operands: none is NaN,
    /// and no two are zeros of different sign.
    pub fn are_in_order(self, other: FloatClasses) -> bool {
        let all = self.or(other);
        all.is_within(FloatClasses::PLUS.or(FloatClasses::INFINITY))
            || all.is_within(FloatClasses::MINUS.or(FloatClasses::MINUS_INFINITY))
    }

    fn of_scalar(value: Scalar) -> FloatClasses {
        if !value.dtype.is_float() {
            return FloatClasses::ANY;
        }
        let sign = 1u64 << (8 * value.dtype.size() - 1);
        let (infinity, size) = (value.dtype.infinity(), value.bits & (sign - 1));
        match value.bits & sign != 0 {
            _ if size > infinity => FloatClasses::NAN,
            true if size == infinity => FloatClasses::MINUS_INFINITY,
            false if size == infinity => FloatClasses::INFINITY,
            true => FloatClasses::MINUS,
            false => FloatClasses::PLUS,
        }
    }
}

/// True for a scalar that is neither infinite nor NaN.
pub(crate) fn is_finite(value: Scalar) -> bool {
    !value.dtype.is_float() || FloatClasses::of_scalar(value).is_within(FloatClasses::FINITE)
}

/// Whether a program's parameters count as finite. A program without minima and maxima does not depend on it, and
/// one kernel serves all scalars.
pub(crate) fn are_finite(params: &[u64], program: &Program) -> bool {
    let mut scalars = params.iter().zip(&program.params);
    let asks = program.insts.iter().any(|inst| matches!(inst.op, Op::Min | Op::Max));
    !asks || scalars.all(|(bits, dtype)| is_finite(Scalar::new(*dtype, *bits)))
}

/// The classes of each instruction's value. `finite`: all parameters are finite. Values that are not floats have
/// every class.
pub(crate) fn of_program(program: &Program, finite: bool) -> Vec<FloatClasses> {
    let mut all: Vec<FloatClasses> = Vec::with_capacity(program.insts.len());
    for inst in &program.insts {
        let kinds = match inst.op {
            _ if !inst.dtype.is_float() => FloatClasses::ANY,
            Op::Param if finite => FloatClasses::FINITE,
            Op::Const => {
                let bits = u64::from(inst.args[0]) | u64::from(inst.args[1]) << 32;
                FloatClasses::of_scalar(Scalar::new(inst.dtype, bits))
            }
            _ => of_operation(program, inst, &all),
        };
        all.push(kinds);
    }
    all
}

fn of_operation(program: &Program, inst: &Inst, known: &[FloatClasses]) -> FloatClasses {
    let [a, b, c] = inst.args;
    let operand = |value: u32| known[value as usize];
    match inst.op {
        Op::Cast => cast(program.insts[a as usize].dtype, inst.dtype, operand(a)),
        Op::Neg => operand(a).map(negated),
        Op::Abs => operand(a).map(|x| if is_minus(x) { negated(x) } else { x }),
        Op::Sqrt => operand(a).map(|x| match x {
            FloatClasses::MINUS => FloatClasses::MINUS.or(FloatClasses::NAN),
            FloatClasses::MINUS_INFINITY => FloatClasses::NAN,
            kept => kept,
        }),
        // Both operands are one value, so they have the same class.
        Op::Add | Op::Mul if a == b => {
            operand(a).map(|x| if inst.op == Op::Add { sum(x, x) } else { product(x, x) })
        }
        Op::Add => operand(a).pairs(operand(b), sum),
        Op::Sub => operand(a).pairs(operand(b), |x, y| sum(x, negated(y))),
        Op::Mul => operand(a).pairs(operand(b), product),
        // NaN propagates.
        Op::Min | Op::Max => operand(a).or(operand(b)),
        Op::Select => operand(b).or(operand(c)),
        _ => FloatClasses::ANY,
    }
}

fn cast(from: DType, to: DType, x: FloatClasses) -> FloatClasses {
    if from.is_float() {
        // A finite value may overflow a smaller dtype.
        let narrowed = |x| if x == FloatClasses::NAN { x } else { with_infinity(x) };
        return if to.size() < from.size() { x.map(narrowed) } else { x };
    }
    let finite = if from.is_signed_int() { FloatClasses::FINITE } else { FloatClasses::PLUS };
    match (from, to) {
        (from, _) if from.is_complex() => FloatClasses::ANY,
        (_, DType::F16) => finite.map(with_infinity),
        _ => finite,
    }
}

fn is_minus(x: FloatClasses) -> bool {
    x == FloatClasses::MINUS || x == FloatClasses::MINUS_INFINITY
}

fn is_infinite(x: FloatClasses) -> bool {
    x == FloatClasses::INFINITY || x == FloatClasses::MINUS_INFINITY
}

fn negated(x: FloatClasses) -> FloatClasses {
    match x {
        FloatClasses::MINUS_INFINITY => FloatClasses::INFINITY,
        FloatClasses::MINUS => FloatClasses::PLUS,
        FloatClasses::PLUS => FloatClasses::MINUS,
        FloatClasses::INFINITY => FloatClasses::MINUS_INFINITY,
        nan => nan,
    }
}

/// A class, and the infinity of its sign: the number may have overflowed.
fn with_infinity(x: FloatClasses) -> FloatClasses {
    x.or(if is_minus(x) { FloatClasses::MINUS_INFINITY } else { FloatClasses::INFINITY })
}

fn sum(x: FloatClasses, y: FloatClasses) -> FloatClasses {
    match (is_infinite(x), is_infinite(y)) {
        _ if x == FloatClasses::NAN || y == FloatClasses::NAN => FloatClasses::NAN,
        (true, true) if x != y => FloatClasses::NAN,
        (true, _) => x,
        (_, true) => y,
        _ if x == y => with_infinity(x),
        _ => FloatClasses::FINITE,
    }
}

fn product(x: FloatClasses, y: FloatClasses) -> FloatClasses {
    let minus = is_minus(x) != is_minus(y);
    match (is_infinite(x), is_infinite(y)) {
        _ if x == FloatClasses::NAN || y == FloatClasses::NAN => FloatClasses::NAN,
        (false, false) => {
            with_infinity(if minus { FloatClasses::MINUS } else { FloatClasses::PLUS })
        }
        (both, other) => {
            let infinite =
                if minus { FloatClasses::MINUS_INFINITY } else { FloatClasses::INFINITY };
            // The finite factor may be zero, which gives NaN.
            if both && other { infinite } else { infinite.or(FloatClasses::NAN) }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gpupy_core::ir::{AccessKind, Builder, Form};
    use gpupy_core::op_eval;

    /// Floats of every kind, near the ends of each.
    fn samples() -> Vec<Scalar> {
        let positive = [0.0, f32::from_bits(1), f32::MIN_POSITIVE, 0.5, 1.0, 3.0, f32::MAX];
        let all = positive.into_iter().chain([f32::INFINITY]).flat_map(|x| [x, -x]);
        all.chain([f32::NAN]).map(Scalar::f32).collect()
    }

    #[test]
    fn results_are_of_the_kinds_that_are_told() {
        const UNARY: [Op; 3] = [Op::Neg, Op::Abs, Op::Sqrt];
        const BINARY: [Op; 5] = [Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max];
        let mut tried = 0;
        for op in UNARY.into_iter().chain(BINARY) {
            for (x, y) in
                samples().into_iter().flat_map(|x| samples().into_iter().map(move |y| (x, y)))
            {
                let mut b = Builder::new(Form::Map, 1);
                b.access(AccessKind::Contiguous);
                let (p, q) = (b.constant(x), b.constant(y));
                let args = &[p, q][..op.info().arity as usize];
                b.op(op, args);
                let program = b.finish();
                let Some(place) = program.insts.iter().position(|inst| inst.op == op) else {
                    continue; // the builder computed it
                };
                let result =
                    op_eval::eval(op, DType::F32, &[x, y][..op.info().arity as usize]).unwrap();
                let told = of_program(&program, true)[place];
                assert!(
                    FloatClasses::of_scalar(result).is_within(told),
                    "{op:?} {x:?} {y:?}: {told:?}"
                );
                tried += 1;
            }
        }
        assert!(tried > 1000, "{tried}");
    }

    #[test]
    fn squares_of_distances_are_in_order() {
        let mut b = Builder::new(Form::Map, 1);
        let place = b.access(AccessKind::Affine);
        let index = b.index(place);
        let x = b.convert(Op::Cast, index, DType::F32);
        let p = b.param(DType::F32);
        let d = b.op(Op::Sub, &[x, p]);
        let square = b.op(Op::Mul, &[d, d]);
        let sum = b.op(Op::Add, &[square, square]);
        b.store(sum);
        let program = b.finish();
        let [finite, other] =
            [true, false].map(|finite| of_program(&program, finite)[sum as usize]);
        assert!(finite.are_in_order(finite));
        assert!(!other.are_in_order(other) && !finite.are_in_order(other));
    }
}
