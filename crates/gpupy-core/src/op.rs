//! The operation table: every fact about an operation is one row here.
//!
//! Owns [`Op`] and [`OpInfo`]. Emitters, the reference evaluator, the Python ufuncs and the
//! conformance cases derive from it. Rows stand in pipeline order: leaves, casts, unary, functions,
//! binary, comparisons, ternary, control. Discriminants are part of the IR's memory form: append
//! within the free numbers of a group, never renumber.
//!
//! Not here: what an operation computes (`op_eval`), how a language spells the rows whose
//! spelling is empty (`gpupy-codegen`), which operation is a form's instruction (`ir/form.rs`).

use crate::dtype::DType;
use serde::{Deserialize, Serialize};

/// What dtypes an operation takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A leaf or a control instruction with a rule of its own (`ir/verify.rs`).
    Special,
    /// Numbers in, the same dtype out.
    Number,
    /// Floats in, the same dtype out.
    Float,
    /// Integers or bools in, the same dtype out.
    Bits,
    /// Any operands of one dtype in, bool out.
    Compare,
    /// One float in, bool out.
    FloatTest,
    /// Bools in, bool out.
    Logic,
    /// One operand of any dtype, any dtype out, by value.
    Cast,
    /// One operand, a dtype of the same size out, by bits.
    Bitcast,
    /// A bool, then two operands of one dtype, which is the result's.
    Select,
    /// One complex number in, the float that its parts are out.
    Part,
    /// Two float32 or float64 in, the complex number of these parts out.
    Complex,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The operation.
    pub op: Op,
    /// The mnemonic of the IR's text form.
    pub name: &'static str,
    /// The NumPy functions that are this operation on float32, int32 or bool, if any.
    pub numpy: &'static [&'static str],
    /// How many value operands it takes.
    pub arity: u8,
    /// Which dtypes it takes and gives.
    pub rule: Rule,
    /// Equal whichever way round its two operands stand, to the bit.
    pub symmetric: bool,
    /// The accuracy that a driver promises, in ULP; 0 is the correctly rounded or exact result.
    pub ulp: f32,
    /// A C-like spelling with `{0}`, `{1}`, `{2}` for operands, the same in every shading language
    /// and dtype; empty where a dialect must say more.
    pub spelling: &'static str,
}

impl OpInfo {
    /// True where complex numbers come in or out, whatever the dtypes: they have no scalars.
    pub fn is_of_complex(&self) -> bool {
        matches!(self.rule, Rule::Part | Rule::Complex)
    }
}

macro_rules! ops {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $name:literal, [$($numpy:literal),*],
       $arity:literal, $rule:ident, $symmetric:literal, $ulp:literal, $spelling:literal;)*) => {
        /// An operation of the IR and of expressions.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        #[repr(u16)]
        pub enum Op { $($(#[$doc])* #[serde(rename = $name)] $variant = $code,)* }

        /// All rows, in pipeline order.
        pub const OPS: &[OpInfo] = &[$(OpInfo {
            op: Op::$variant, name: $name, numpy: &[$($numpy),*], arity: $arity,
            rule: Rule::$rule, symmetric: $symmetric, ulp: $ulp, spelling: $spelling,
        },)*];

        impl Op {
            /// The operation with this discriminant.
            pub fn from_code(code: u16) -> Option<Op> {
                match code { $($code => Some(Op::$variant),)* _ => None }
            }

            /// The operation's row.
            pub fn info(self) -> &'static OpInfo {
                &OPS[ROW[self as usize] as usize]
            }
        }
    };
}

ops! {
    // variant = code, mnemonic, NumPy names, arity, dtypes, symmetric, ULP, spelling
    // Leaves. `a`, `b`, `c` are the instruction's arguments.
    /// A literal: bits `a` (low) and `b` (high).
    Const = 0, "const", [], 0, Special, false, 0.0, "";
    /// The launch's scalar number `a`.
    Param = 1, "param", [], 0, Special, false, 0.0, "";
    /// The affine number of access `a` at this point of the iteration space, an int32.
    Index = 2, "index", [], 0, Special, false, 0.0, "";
    /// Element [access `b`] of operand block `a`.
    Load = 3, "load", [], 0, Special, false, 0.0, "";
    /// Element [value `b`, an int32] of operand block `a`, as clamped into the block.
    Gather = 4, "gather", [], 1, Special, false, 0.0, "";

    // Conversions.
    /// By value: float to int truncates, to the least int32 where it does not fit; anything to bool
    /// compares with zero.
    Cast = 16, "cast", [], 1, Cast, false, 0.0, "";
    /// By bits.
    Bitcast = 17, "bitcast", [], 1, Bitcast, false, 0.0, "";

    // Unary.
    /// `-x`; integers wrap.
    Neg = 32, "neg", ["negative"], 1, Number, false, 0.0, "(-{0})";
    /// Absolute value; clears a float's sign bit; the least integer stays itself.
    Abs = 33, "abs", ["absolute", "fabs"], 1, Number, false, 0.0, "";
    /// -1, 0 or 1; NaN stays NaN; -0.0 gives 0.0.
    Sign = 34, "sign", ["sign"], 1, Number, false, 0.0, "";
    /// Square root, correctly rounded.
    Sqrt = 35, "sqrt", ["sqrt"], 1, Float, false, 0.0, "";
    /// Towards minus infinity.
    Floor = 36, "floor", ["floor"], 1, Float, false, 0.0, "";
    /// Towards plus infinity.
    Ceil = 37, "ceil", ["ceil"], 1, Float, false, 0.0, "";
    /// Towards zero.
    Trunc = 38, "trunc", ["trunc"], 1, Float, false, 0.0, "";
    /// To nearest, ties to even.
    Rint = 39, "rint", ["rint"], 1, Float, false, 0.0, "";
    /// Bitwise not; of a bool, logical not.
    Not = 40, "not", ["invert"], 1, Bits, false, 0.0, "";
    /// True for NaN.
    IsNan = 41, "isnan", ["isnan"], 1, FloatTest, false, 0.0, "";
    /// True for either infinity.
    IsInf = 42, "isinf", ["isinf"], 1, FloatTest, false, 0.0, "";
    /// True for neither NaN nor an infinity.
    IsFinite = 43, "isfinite", ["isfinite"], 1, FloatTest, false, 0.0, "";
    /// True where the sign bit is set.
    SignBit = 44, "signbit", ["signbit"], 1, FloatTest, false, 0.0, "";
    /// The real part of a complex number.
    Real = 45, "real", [], 1, Part, false, 0.0, "";
    /// The imaginary part of a complex number.
    Imag = 46, "imag", [], 1, Part, false, 0.0, "";

    // Functions: a driver has them natively within the bound, lowers them, or lacks them.
    /// e^x.
    Exp = 64, "exp", ["exp"], 1, Float, false, 2.0, "";
    /// 2^x.
    Exp2 = 65, "exp2", ["exp2"], 1, Float, false, 2.0, "";
    /// e^x - 1.
    Expm1 = 66, "expm1", ["expm1"], 1, Float, false, 2.0, "";
    /// Natural logarithm.
    Log = 67, "log", ["log"], 1, Float, false, 2.0, "";
    /// Logarithm to base 2.
    Log2 = 68, "log2", ["log2"], 1, Float, false, 2.0, "";
    /// Logarithm to base 10.
    Log10 = 69, "log10", ["log10"], 1, Float, false, 2.0, "";
    /// log(1 + x).
    Log1p = 70, "log1p", ["log1p"], 1, Float, false, 2.0, "";
    /// Sine of radians.
    Sin = 71, "sin", ["sin"], 1, Float, false, 2.0, "";
    /// Cosine of radians.
    Cos = 72, "cos", ["cos"], 1, Float, false, 2.0, "";
    /// Tangent of radians.
    Tan = 73, "tan", ["tan"], 1, Float, false, 4.0, "";
    /// Arc sine.
    Asin = 74, "asin", ["arcsin"], 1, Float, false, 2.0, "";
    /// Arc cosine.
    Acos = 75, "acos", ["arccos"], 1, Float, false, 2.0, "";
    /// Arc tangent.
    Atan = 76, "atan", ["arctan"], 1, Float, false, 2.0, "";
    /// Hyperbolic sine.
    Sinh = 77, "sinh", ["sinh"], 1, Float, false, 2.0, "";
    /// Hyperbolic cosine.
    Cosh = 78, "cosh", ["cosh"], 1, Float, false, 2.0, "";
    /// Hyperbolic tangent.
    Tanh = 79, "tanh", ["tanh"], 1, Float, false, 2.0, "";
    /// Inverse hyperbolic sine.
    Asinh = 80, "asinh", ["arcsinh"], 1, Float, false, 2.0, "";
    /// Inverse hyperbolic cosine.
    Acosh = 81, "acosh", ["arccosh"], 1, Float, false, 2.0, "";
    /// Inverse hyperbolic tangent.
    Atanh = 82, "atanh", ["arctanh"], 1, Float, false, 2.0, "";
    /// Cube root.
    Cbrt = 83, "cbrt", ["cbrt"], 1, Float, false, 2.0, "";

    // Binary.
    /// Sum; integers wrap; of bools, logical or.
    Add = 96, "add", ["add"], 2, Number, true, 0.0, "({0} + {1})";
    /// Difference; integers wrap.
    Sub = 97, "sub", ["subtract"], 2, Number, false, 0.0, "({0} - {1})";
    /// Product; integers wrap; of bools, logical and.
    Mul = 98, "mul", ["multiply"], 2, Number, true, 0.0, "({0} * {1})";
    /// Quotient of floats, correctly rounded.
    Div = 99, "div", ["divide", "true_divide"], 2, Float, false, 0.0, "";
    /// Quotient of integers towards minus infinity; by 0 it is 0; the least by -1 wraps.
    FloorDiv = 100, "floordiv", ["floor_divide"], 2, Bits, false, 0.0, "";
    /// Remainder of integers with the divisor's sign; by 0 it is 0.
    Mod = 101, "mod", ["remainder"], 2, Bits, false, 0.0, "";
    /// The lesser; the first NaN wins; of equals the second (so -0.0 and 0.0 do not commute).
    Min = 102, "min", ["minimum"], 2, Number, false, 0.0, "";
    /// The greater; the first NaN wins; of equals the second.
    Max = 103, "max", ["maximum"], 2, Number, false, 0.0, "";
    /// Bitwise and.
    And = 104, "and", ["bitwise_and"], 2, Bits, true, 0.0, "";
    /// Bitwise or.
    Or = 105, "or", ["bitwise_or"], 2, Bits, true, 0.0, "";
    /// Bitwise exclusive or.
    Xor = 106, "xor", ["bitwise_xor"], 2, Bits, true, 0.0, "";
    /// Left shift; 0 when the count is negative or at least the width.
    Shl = 107, "shl", ["left_shift"], 2, Bits, false, 0.0, "";
    /// Right shift, arithmetic for signed; a count that is negative or too large leaves the sign.
    Shr = 108, "shr", ["right_shift"], 2, Bits, false, 0.0, "";
    /// The first's magnitude with the second's sign bit.
    Copysign = 109, "copysign", ["copysign"], 2, Float, false, 0.0, "";
    /// The complex number of a real and an imaginary part.
    Complex = 110, "complex", [], 2, Complex, false, 0.0, "";

    // Binary functions.
    /// x to the power y.
    Pow = 120, "pow", ["power"], 2, Float, false, 4.0, "";
    /// Angle of the point (second, first).
    Atan2 = 121, "atan2", ["arctan2"], 2, Float, false, 2.0, "";
    /// C's remainder, with the dividend's sign, exact.
    Fmod = 122, "fmod", ["fmod"], 2, Float, false, 0.0, "";
    /// Square root of the sum of squares, without overflow on the way.
    Hypot = 123, "hypot", ["hypot"], 2, Float, true, 2.0, "";

    // Comparisons. Anything with NaN is false, but for `ne`.
    /// Equal.
    Eq = 128, "eq", ["equal"], 2, Compare, true, 0.0, "";
    /// Not equal.
    Ne = 129, "ne", ["not_equal"], 2, Compare, true, 0.0, "";
    /// Less.
    Lt = 130, "lt", ["less"], 2, Compare, false, 0.0, "";
    /// Less or equal.
    Le = 131, "le", ["less_equal"], 2, Compare, false, 0.0, "";
    /// Greater.
    Gt = 132, "gt", ["greater"], 2, Compare, false, 0.0, "";
    /// Greater or equal.
    Ge = 133, "ge", ["greater_equal"], 2, Compare, false, 0.0, "";

    // Ternary.
    /// The second where the first (a bool) holds, otherwise the third.
    Select = 144, "select", [], 3, Select, false, 0.0, "";

    // Control. Values inside a region are seen only there; what leaves it is a `result`.
    /// Region run [value `a`, an int32] times; `extra[b..b+c]` are the carried values' starts.
    Loop = 160, "loop", [], 1, Special, false, 0.0, "";
    /// Carried value `b` of the enclosing loop `a`, at the start of an iteration.
    Carry = 161, "carry", [], 0, Special, false, 0.0, "";
    /// Iteration number of the enclosing loop `a`, an int32 from 0.
    Iter = 162, "iter", [], 0, Special, false, 0.0, "";
    /// Region run where value `a` (a bool) holds; an `else` follows before its `end`.
    If = 163, "if", [], 1, Special, false, 0.0, "";
    /// Ends the first branch of `if` number `a`, whose values are `extra[b..b+c]`.
    Else = 164, "else", [], 0, Special, false, 0.0, "";
    /// Ends region `a`, whose values (of the iteration, or of the second branch) are
    /// `extra[b..b+c]`.
    End = 165, "end", [], 0, Special, false, 0.0, "";
    /// Value `b` of the finished region `a`.
    Result = 166, "result", [], 0, Special, false, 0.0, "";
    /// The reduction of value `a` over the last axis, by the form's operation or that of code `b`; ends the map
    /// prologue of a reduce form.
    Reduce = 167, "reduce", [], 1, Special, false, 0.0, "";
    /// Writes value `b` to destination `a`.
    Store = 168, "store", [], 1, Special, false, 0.0, "";
    /// The running results of value `a` along the last axis, from the starts of chunks, value `b`.
    Scan = 169, "scan", [], 2, Special, false, 0.0, "";
    /// The elements of value `a` in ascending order along the last axis.
    Sort = 170, "sort", [], 1, Special, false, 0.0, "";
    /// The positions of the elements of value `a`, int32, in the order of `sort`.
    ArgSort = 171, "argsort", [], 1, Special, false, 0.0, "";
    /// The sum over the last axis of value `a` times value `b`.
    MatMul = 172, "matmul", [], 2, Special, false, 0.0, "";
}

/// The row of each operation code.
static ROW: [u8; 256] = {
    let mut rows = [0; 256];
    let mut i = 0;
    while i < OPS.len() {
        rows[OPS[i].op as usize] = i as u8;
        i += 1;
    }
    rows
};

impl Op {
    /// The operation with this mnemonic.
    pub fn from_name(name: &str) -> Option<Op> {
        OPS.iter().find(|row| row.name == name).map(|row| row.op)
    }

    /// The operation behind a NumPy function's name.
    pub fn from_numpy(name: &str) -> Option<Op> {
        OPS.iter().find(|row| row.numpy.contains(&name)).map(|row| row.op)
    }

    /// True for operations that compute one value from values alone.
    pub fn is_scalar_op(self) -> bool {
        self.info().rule != Rule::Special
    }

    /// The dtype that the operation gives for operands of these dtypes, or `None` when it does not
    /// take them. `to` is the wanted dtype of a cast or bitcast, unused elsewhere.
    pub fn result_dtype(self, operands: &[DType], to: DType) -> Option<DType> {
        let row = self.info();
        if operands.len() != row.arity as usize {
            return None;
        }
        // NumPy refuses these for bools, or promotes the bools first.
        let not_bools = matches!(
            self,
            Op::Neg | Op::Sign | Op::Sub | Op::FloorDiv | Op::Mod | Op::Shl | Op::Shr
        );
        if not_bools && operands[0] == DType::Bool {
            return None;
        }
        let same = || operands.windows(2).all(|w| w[0] == w[1]).then(|| operands[0]);
        let bool_or_int = |d: DType| d.is_int() || d == DType::Bool;
        match row.rule {
            Rule::Special => None,
            Rule::Number => same(),
            Rule::Float => same().filter(|d| d.is_float()),
            Rule::Bits => same().filter(|d| bool_or_int(*d)),
            Rule::Compare => same().map(|_| DType::Bool),
            Rule::FloatTest => same().filter(|d| d.is_float()).map(|_| DType::Bool),
            Rule::Logic => same().filter(|d| *d == DType::Bool),
            Rule::Cast => Some(to),
            Rule::Bitcast => (operands[0].size() == to.size()).then_some(to),
            Rule::Part => operands[0].part(),
            Rule::Complex => same().and_then(DType::complex),
            Rule::Select => {
                (operands[0] == DType::Bool && operands[1] == operands[2]).then(|| operands[1])
            }
        }
    }

    /// Whether this operation reduces and scans that dtype.
    pub fn reduces(self, dtype: DType) -> bool {
        match self {
            Op::Add | Op::Mul => dtype != DType::Bool,
            Op::Min | Op::Max => dtype.is_float() || dtype.is_int() || dtype == DType::Bool,
            Op::And | Op::Or | Op::Xor => dtype.is_int() || dtype == DType::Bool,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_code_names_one_operation() {
        for (i, row) in OPS.iter().enumerate() {
            assert_eq!(Op::from_code(row.op as u16), Some(row.op));
            assert_eq!(Op::from_name(row.name), Some(row.op));
            assert_eq!(row.op.info().name, row.name);
            for other in &OPS[i + 1..] {
                assert!(row.numpy.iter().all(|n| !other.numpy.contains(n)), "{}", row.name);
            }
        }
    }
}
