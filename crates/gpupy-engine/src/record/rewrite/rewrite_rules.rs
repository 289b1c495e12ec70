//! The rewrite rules (peephole simplifications), as one table.
//!
//! Owns [`RewriteRule`], [`RewriteTerm`] and the rules. Invariants: for any operands (zeros of either sign, infinities,
//! subnormals, NaN), the result of a rule has the bits of the expression that it replaces, but for the payload of a
//! NaN, also where a device flushes subnormals to zero; every rule removes an operation or replaces it by a cheaper
//! one, so rewriting ends. The tests try every rule.
//!
//! Not here: the scalars and dtypes that a rule asks for (`conditions.rs`), finding a rule (`mod.rs`).

use super::conditions::{
    Dtypes, all, bits, bools, direct, exponent, floats, ints, mask, numbers, real, reciprocal,
    same, signed, unsigned,
};
use gpupy_core::Scalar;
use gpupy_core::op::Op;

/// An expression of a rule. A pattern is at most one operation deep below the outer one.
#[derive(Clone, Copy, Debug)]
pub(super) enum RewriteTerm {
    /// An operand.
    Operand(usize),
    /// The operand before it once more.
    Again,
    /// A scalar: this number, as cast to the operand's dtype.
    Number(f64),
    /// A scalar that the function maps to another, which is `MADE` in the result.
    Making(fn(Scalar) -> Option<Scalar>),
    /// The scalar that was made.
    Made,
    /// An operation.
    Of(Op, &'static [RewriteTerm]),
}

/// One rewrite.
#[derive(Debug)]
pub(super) struct RewriteRule {
    /// The outer operation of the pattern.
    pub op: Op,
    /// Its operands, each name once. Of a symmetric operation, scalars stand last.
    pub from: &'static [RewriteTerm],
    /// The replacement.
    pub to: RewriteTerm,
    /// The dtypes for which it is the same.
    pub when: fn(Dtypes) -> bool,
    /// Why it is the same.
    #[cfg_attr(not(test), allow(dead_code))] // the tests tell it when a row fails
    pub why: &'static str,
}

/// How many operands a row can name.
pub(super) const OPERANDS: usize = 3;

/// The operand whose dtype conditions call `x`.
pub(super) const FIRST: usize = 0;

const X: RewriteTerm = RewriteTerm::Operand(FIRST);
const AGAIN: RewriteTerm = RewriteTerm::Again;
const Y: RewriteTerm = RewriteTerm::Operand(1);
/// A bool that chooses.
const C: RewriteTerm = RewriteTerm::Operand(2);
const MADE: RewriteTerm = RewriteTerm::Made;
const ZERO: RewriteTerm = RewriteTerm::Number(0.0);
/// Of an integer or a bool this is zero too.
const MINUS_ZERO: RewriteTerm = RewriteTerm::Number(-0.0);
const ONE: RewriteTerm = RewriteTerm::Number(1.0);
/// Of an integer or a bool, every bit.
const MINUS_ONE: RewriteTerm = RewriteTerm::Number(-1.0);
const TWO: RewriteTerm = RewriteTerm::Number(2.0);
const RECIPROCAL: RewriteTerm = RewriteTerm::Making(reciprocal);
const EXPONENT: RewriteTerm = RewriteTerm::Making(exponent);
const MASK: RewriteTerm = RewriteTerm::Making(mask);

macro_rules! rows {
    ($($op:ident($($from:ident $(($($inner:ident),*))?),*) => $to:ident $(($($arg:ident
        $(($($deep:ident),*))?),*))?, $when:ident, $why:literal;)*) => {
        /// All rows; those of one outer operation stand together.
        pub(super) static ROWS: &[RewriteRule] = &[$(RewriteRule {
            op: Op::$op,
            from: &[$(rows!(@ $from $(($($inner),*))?)),*],
            to: rows!(@ $to $(($($arg $(($($deep),*))?),*))?),
            when: $when,
            why: $why,
        },)*];
    };
    (@ $leaf:ident) => { $leaf };
    (@ $op:ident($($arg:ident $(($($deep:ident),*))?),*)) => {
        RewriteTerm::Of(Op::$op, &[$(rows!(@ $arg $(($($deep),*))?)),*])
    };
}

rows! {
    // what is asked for => what is recorded, for which dtypes, why
    Cast(Cast(X)) => X, same, "the dtype between loses nothing";
    Cast(Cast(X)) => Cast(X), direct, "the dtype between loses nothing that the last one keeps";

    Neg(Neg(X)) => X, numbers, "the sign bit flips twice; integers wrap twice";
    Abs(Abs(X)) => Abs(X), signed, "the least integer stays itself twice";
    Abs(Neg(X)) => Abs(X), signed, "the least integer is its own negative";
    Abs(X) => X, unsigned, "there is no sign";
    Not(Not(X)) => X, bits, "each bit flips twice";
    Not(Eq(X, Y)) => Ne(X, Y), real, "NaN differs from everything";
    Not(Ne(X, Y)) => Eq(X, Y), real, "NaN differs from everything";
    Not(Lt(X, Y)) => Ge(X, Y), bits, "there is no NaN";
    Not(Le(X, Y)) => Gt(X, Y), bits, "there is no NaN";
    Not(Gt(X, Y)) => Le(X, Y), bits, "there is no NaN";
    Not(Ge(X, Y)) => Lt(X, Y), bits, "there is no NaN";

    Add(X, MINUS_ZERO) => X, real, "0.0 stays 0.0, as it would not for -0.0 + 0.0";
    Add(X, AGAIN) => X, bools, "or";
    Add(X, Neg(Y)) => Sub(X, Y), numbers, "that is what a difference is; integers wrap";
    Add(Neg(X), Y) => Sub(Y, X), numbers, "that is what a difference is; integers wrap";
    Sub(X, Neg(Y)) => Add(X, Y), numbers, "the sign flips twice; integers wrap";
    Sub(X, ZERO) => X, numbers, "-0.0 stays -0.0";
    Sub(MINUS_ZERO, X) => Neg(X), numbers, "-0.0 - 0.0 is -0.0, and -0.0 - -0.0 is 0.0";
    Sub(X, AGAIN) => ZERO, ints, "there is no NaN";
    Mul(X, ONE) => X, real, "exact";
    Mul(X, MINUS_ONE) => Neg(X), numbers, "exact; integers wrap";
    Mul(X, ZERO) => ZERO, bits, "there is no sign of zero, and no NaN";
    Mul(X, AGAIN) => X, bools, "and";
    Div(X, ONE) => X, floats, "exact";
    Div(X, MINUS_ONE) => Neg(X), floats, "exact";
    Div(X, RECIPROCAL) => Mul(X, MADE), floats, "both round the same number";
    FloorDiv(X, ONE) => X, ints, "exact";
    FloorDiv(X, EXPONENT) => Shr(X, MADE), ints, "both round towards minus infinity";
    Mod(X, ONE) => ZERO, ints, "nothing is left";
    Mod(X, MASK) => And(X, MADE), ints, "the rest is not negative: the lowest bits";
    Min(X, AGAIN) => X, real, "one of both";
    Min(Sqrt(X), Sqrt(Y)) => Sqrt(Min(X, Y)), floats,
        "the root is monotonic, keeps the sign of zero, and gives a NaN, which the minimum prefers, \
         for what the minimum prefers: it saves a root, and in a chain of minima all but one";
    Min(Neg(X), Neg(Y)) => Neg(Max(X, Y)), floats, "of equals both take the second";
    Max(X, AGAIN) => X, real, "one of both";
    Max(Neg(X), Neg(Y)) => Neg(Min(X, Y)), floats, "of equals both take the second";
    And(X, AGAIN) => X, bits, "bit by bit";
    And(X, ZERO) => ZERO, bits, "bit by bit";
    And(X, MINUS_ONE) => X, bits, "bit by bit";
    Or(X, AGAIN) => X, bits, "bit by bit";
    Or(X, ZERO) => X, bits, "bit by bit";
    Or(X, MINUS_ONE) => MINUS_ONE, bits, "bit by bit";
    Xor(X, AGAIN) => ZERO, bits, "bit by bit";
    Xor(X, ZERO) => X, bits, "bit by bit";
    Xor(X, MINUS_ONE) => Not(X), bits, "bit by bit";
    Shl(X, ZERO) => X, ints, "nothing moves";
    Shr(X, ZERO) => X, ints, "nothing moves";

    Pow(X, ZERO) => ONE, floats, "of NaN too";
    Pow(X, MINUS_ZERO) => ONE, floats, "of NaN too";
    Pow(X, ONE) => X, floats, "exact";
    Pow(X, TWO) => Mul(X, X), floats, "rounded once";
    Pow(X, MINUS_ONE) => Div(ONE, X), floats, "rounded once";

    Eq(X, AGAIN) => ONE, bits, "there is no NaN";
    Ne(X, AGAIN) => ZERO, bits, "there is no NaN";
    Lt(X, AGAIN) => ZERO, real,
        "nothing is less than itself; shader compilers know this too, and go on to drop additions \
         of what they then take for a literal zero, which -0.0 forbids";
    Le(X, AGAIN) => ONE, bits, "there is no NaN";
    Gt(X, AGAIN) => ZERO, real, "as for `Lt`";
    Ge(X, AGAIN) => ONE, bits, "there is no NaN";

    Select(C, X, AGAIN) => X, all, "either way";
    Select(C, ONE, ZERO) => C, bools, "itself";
    Select(C, ZERO, ONE) => Not(C), bools, "its opposite";
    Select(Not(C), X, Y) => Select(C, Y, X), all, "the other way round";
}

/// Of each outer operation, the range of its rows.
static RANGES: [(u8, u8); 256] = {
    let mut ranges = [(0, 0); 256];
    let mut i = 0;
    while i < ROWS.len() {
        let range = &mut ranges[ROWS[i].op as usize];
        if range.1 == 0 {
            range.0 = i as u8;
        }
        range.1 = i as u8 + 1;
        i += 1;
    }
    ranges
};

/// The rows of an outer operation.
pub(super) fn rows_of(op: Op) -> &'static [RewriteRule] {
    let (first, end) = RANGES[op as usize];
    &ROWS[usize::from(first)..usize::from(end)]
}
