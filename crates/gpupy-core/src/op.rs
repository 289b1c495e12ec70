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
    /// Numbers or bools in, the same dtype out.
    Number,
    /// Numbers in, the same dtype out; bools are refused or promoted first, as by NumPy.
    Arithmetic,
    /// Floats in, the same dtype out.
    Float,
    /// Integers or bools in, the same dtype out.
    Bits,
    /// Integers in, the same dtype out; bools are promoted first, as by NumPy.
    Integer,
    /// Any operands of one dtype in, bool out.
    Compare,
    /// One float in, bool out.
    FloatTest,
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

/// What an operation may have beside what every operation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// Its two operands may change places: the result is equal to the bit.
    Symmetric,
    /// It only moves elements or their parts: no arithmetic is done, and none can go wrong.
    Moves,
    /// It reduces and scans numbers.
    ReducesNumbers,
    /// It reduces and scans what has an order: real numbers and bools.
    ReducesOrdered,
    /// It reduces and scans integers and bools.
    ReducesBits,
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
    /// What else holds of it.
    pub traits: &'static [Trait],
    /// The accuracy that a driver promises, in ULP; 0 is the correctly rounded or exact result.
    pub ulp: f32,
    /// Instructions of a GPU or operations of a processor, roughly, where a device has nothing better. A function
    /// counts as its program does, on the average: sines of large numbers take more, most functions less.
    pub cost: u32,
    /// A C-like spelling with `{0}`, `{1}`, `{2}` for operands, the same in every shading language
    /// and dtype; empty where a dialect must say more.
    pub spelling: &'static str,
}

impl OpInfo {
    /// Whether it has this trait.
    pub fn has(&self, which: Trait) -> bool {
        self.traits.contains(&which)
    }

    /// Whether it reduces and scans some dtype.
    pub fn reduces(&self) -> bool {
        let reduces = |holds: &Trait| !matches!(holds, Trait::Symmetric | Trait::Moves);
        self.traits.iter().any(reduces)
    }

    /// True where complex numbers come in or out, whatever the dtypes: they have no scalars.
    pub fn is_of_complex(&self) -> bool {
        matches!(self.rule, Rule::Part | Rule::Complex)
    }
}

macro_rules! ops {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $name:literal, [$($numpy:literal),*],
       $arity:literal, $rule:ident, [$($trait:ident),*], $ulp:literal, $cost:literal, $spelling:literal;)*) => {
        /// An operation of the IR and of expressions.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        #[repr(u16)]
        pub enum Op { $($(#[$doc])* #[serde(rename = $name)] $variant = $code,)* }

        /// All rows, in pipeline order.
        pub const OPS: &[OpInfo] = &[$(OpInfo {
            op: Op::$variant, name: $name, numpy: &[$($numpy),*], arity: $arity,
            rule: Rule::$rule, traits: &[$(Trait::$trait),*], ulp: $ulp, cost: $cost, spelling: $spelling,
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
    // variant = code, mnemonic, NumPy names, arity, dtypes, traits, ULP, cost, spelling
    // Leaves. `a`, `b`, `c` are the instruction's arguments.
    /// A literal: bits `a` (low) and `b` (high).
    Const = 0, "const", [], 0, Special, [], 0.0, 0, "";
    /// The launch's scalar number `a`.
    Param = 1, "param", [], 0, Special, [], 0.0, 0, "";
    /// The affine number of access `a` at this point of the iteration space, an int32.
    Index = 2, "index", [], 0, Special, [], 0.0, 0, "";
    /// Element [access `b`] of operand block `a`.
    Load = 3, "load", [], 0, Special, [], 0.0, 0, "";
    /// Element [value `b`, an int32] of operand block `a`, as clamped into the block.
    Gather = 4, "gather", [], 1, Special, [Moves], 0.0, 2, "";

    // Conversions.
    /// By value: float to int truncates, to the least int32 where it does not fit; anything to bool
    /// compares with zero.
    Cast = 16, "cast", [], 1, Cast, [], 0.0, 2, "";
    /// By bits.
    Bitcast = 17, "bitcast", [], 1, Bitcast, [Moves], 0.0, 1, "";

    // Unary.
    /// `-x`; integers wrap.
    Neg = 32, "neg", ["negative"], 1, Arithmetic, [], 0.0, 1, "(-{0})";
    /// Absolute value; clears a float's sign bit; the least integer stays itself.
    Abs = 33, "abs", ["absolute", "fabs"], 1, Number, [], 0.0, 1, "";
    /// -1, 0 or 1; NaN stays NaN; -0.0 gives 0.0.
    Sign = 34, "sign", ["sign"], 1, Arithmetic, [], 0.0, 3, "";
    /// Square root, correctly rounded.
    Sqrt = 35, "sqrt", ["sqrt"], 1, Float, [], 0.0, 1, "";
    /// Towards minus infinity.
    Floor = 36, "floor", ["floor"], 1, Float, [], 0.0, 1, "";
    /// Towards plus infinity.
    Ceil = 37, "ceil", ["ceil"], 1, Float, [], 0.0, 1, "";
    /// Towards zero.
    Trunc = 38, "trunc", ["trunc"], 1, Float, [], 0.0, 1, "";
    /// To nearest, ties to even.
    Rint = 39, "rint", ["rint"], 1, Float, [], 0.0, 1, "";
    /// Bitwise not; of a bool, logical not.
    Not = 40, "not", ["invert"], 1, Bits, [], 0.0, 1, "";
    /// True for NaN.
    IsNan = 41, "isnan", ["isnan"], 1, FloatTest, [], 0.0, 2, "";
    /// True for either infinity.
    IsInf = 42, "isinf", ["isinf"], 1, FloatTest, [], 0.0, 2, "";
    /// True for neither NaN nor an infinity.
    IsFinite = 43, "isfinite", ["isfinite"], 1, FloatTest, [], 0.0, 2, "";
    /// True where the sign bit is set.
    SignBit = 44, "signbit", ["signbit"], 1, FloatTest, [], 0.0, 2, "";
    /// The real part of a complex number.
    Real = 45, "real", [], 1, Part, [Moves], 0.0, 1, "";
    /// The imaginary part of a complex number.
    Imag = 46, "imag", [], 1, Part, [Moves], 0.0, 1, "";

    // Functions: a driver has them natively within the bound, lowers them, or lacks them.
    /// e^x.
    Exp = 64, "exp", ["exp"], 1, Float, [], 2.0, 48, "";
    /// 2^x.
    Exp2 = 65, "exp2", ["exp2"], 1, Float, [], 2.0, 48, "";
    /// e^x - 1.
    Expm1 = 66, "expm1", ["expm1"], 1, Float, [], 2.0, 48, "";
    /// Natural logarithm.
    Log = 67, "log", ["log"], 1, Float, [], 2.0, 48, "";
    /// Logarithm to base 2.
    Log2 = 68, "log2", ["log2"], 1, Float, [], 2.0, 48, "";
    /// Logarithm to base 10.
    Log10 = 69, "log10", ["log10"], 1, Float, [], 2.0, 48, "";
    /// log(1 + x).
    Log1p = 70, "log1p", ["log1p"], 1, Float, [], 2.0, 48, "";
    /// Sine of radians.
    Sin = 71, "sin", ["sin"], 1, Float, [], 2.0, 48, "";
    /// Cosine of radians.
    Cos = 72, "cos", ["cos"], 1, Float, [], 2.0, 48, "";
    /// Tangent of radians.
    Tan = 73, "tan", ["tan"], 1, Float, [], 4.0, 48, "";
    /// Arc sine.
    Asin = 74, "asin", ["arcsin"], 1, Float, [], 2.0, 48, "";
    /// Arc cosine.
    Acos = 75, "acos", ["arccos"], 1, Float, [], 2.0, 48, "";
    /// Arc tangent.
    Atan = 76, "atan", ["arctan"], 1, Float, [], 2.0, 48, "";
    /// Hyperbolic sine.
    Sinh = 77, "sinh", ["sinh"], 1, Float, [], 2.0, 48, "";
    /// Hyperbolic cosine.
    Cosh = 78, "cosh", ["cosh"], 1, Float, [], 2.0, 48, "";
    /// Hyperbolic tangent.
    Tanh = 79, "tanh", ["tanh"], 1, Float, [], 2.0, 48, "";
    /// Inverse hyperbolic sine.
    Asinh = 80, "asinh", ["arcsinh"], 1, Float, [], 2.0, 48, "";
    /// Inverse hyperbolic cosine.
    Acosh = 81, "acosh", ["arccosh"], 1, Float, [], 2.0, 48, "";
    /// Inverse hyperbolic tangent.
    Atanh = 82, "atanh", ["arctanh"], 1, Float, [], 2.0, 48, "";
    /// Cube root.
    Cbrt = 83, "cbrt", ["cbrt"], 1, Float, [], 2.0, 48, "";

    // Binary.
    /// Sum; integers wrap; of bools, logical or.
    Add = 96, "add", ["add"], 2, Number, [Symmetric, ReducesNumbers], 0.0, 1, "({0} + {1})";
    /// Difference; integers wrap.
    Sub = 97, "sub", ["subtract"], 2, Arithmetic, [], 0.0, 1, "({0} - {1})";
    /// Product; integers wrap; of bools, logical and.
    Mul = 98, "mul", ["multiply"], 2, Number, [Symmetric, ReducesNumbers], 0.0, 1, "({0} * {1})";
    /// Quotient of floats, correctly rounded.
    Div = 99, "div", ["divide", "true_divide"], 2, Float, [], 0.0, 1, "";
    /// Quotient of integers towards minus infinity; by 0 it is 0; the least by -1 wraps.
    FloorDiv = 100, "floordiv", ["floor_divide"], 2, Integer, [], 0.0, 8, "";
    /// Remainder of integers with the divisor's sign; by 0 it is 0.
    Mod = 101, "mod", ["remainder"], 2, Integer, [], 0.0, 8, "";
    /// The lesser; the first NaN wins; of equals the second (so -0.0 and 0.0 do not commute).
    Min = 102, "min", ["minimum"], 2, Number, [ReducesOrdered], 0.0, 1, "";
    /// The greater; the first NaN wins; of equals the second.
    Max = 103, "max", ["maximum"], 2, Number, [ReducesOrdered], 0.0, 1, "";
    /// Bitwise and.
    And = 104, "and", ["bitwise_and"], 2, Bits, [Symmetric, ReducesBits], 0.0, 1, "";
    /// Bitwise or.
    Or = 105, "or", ["bitwise_or"], 2, Bits, [Symmetric, ReducesBits], 0.0, 1, "";
    /// Bitwise exclusive or.
    Xor = 106, "xor", ["bitwise_xor"], 2, Bits, [Symmetric, ReducesBits], 0.0, 1, "";
    /// Left shift; 0 when the count is negative or at least the width.
    Shl = 107, "shl", ["left_shift"], 2, Integer, [], 0.0, 3, "";
    /// Right shift, arithmetic for signed; a count that is negative or too large leaves the sign.
    Shr = 108, "shr", ["right_shift"], 2, Integer, [], 0.0, 3, "";
    /// The first's magnitude with the second's sign bit.
    Copysign = 109, "copysign", ["copysign"], 2, Float, [], 0.0, 3, "";
    /// The complex number of a real and an imaginary part.
    Complex = 110, "complex", [], 2, Complex, [Moves], 0.0, 1, "";

    // Binary functions.
    /// x to the power y.
    Pow = 120, "pow", ["power"], 2, Float, [], 4.0, 48, "";
    /// Angle of the point (second, first).
    Atan2 = 121, "atan2", ["arctan2"], 2, Float, [], 2.0, 48, "";
    /// C's remainder, with the dividend's sign, exact.
    Fmod = 122, "fmod", ["fmod"], 2, Float, [], 0.0, 1, "";
    /// Square root of the sum of squares, without overflow on the way.
    Hypot = 123, "hypot", ["hypot"], 2, Float, [Symmetric], 2.0, 48, "";

    // Comparisons. Anything with NaN is false, but for `ne`.
    /// Equal.
    Eq = 128, "eq", ["equal"], 2, Compare, [Symmetric], 0.0, 1, "";
    /// Not equal.
    Ne = 129, "ne", ["not_equal"], 2, Compare, [Symmetric], 0.0, 1, "";
    /// Less.
    Lt = 130, "lt", ["less"], 2, Compare, [], 0.0, 1, "";
    /// Less or equal.
    Le = 131, "le", ["less_equal"], 2, Compare, [], 0.0, 1, "";
    /// Greater.
    Gt = 132, "gt", ["greater"], 2, Compare, [], 0.0, 1, "";
    /// Greater or equal.
    Ge = 133, "ge", ["greater_equal"], 2, Compare, [], 0.0, 1, "";

    // Ternary.
    /// The second where the first (a bool) holds, otherwise the third.
    Select = 144, "select", [], 3, Select, [Moves], 0.0, 1, "";
    /// Of the values `extra[b..b+c]`, all of one dtype, number [value `a`, an int32], as clamped into the list.
    Choose = 145, "choose", [], 1, Special, [Moves], 0.0, 1, "";
    /// The piece in which value `a`, an int32, lies, an int32: the first `k` for which it is less than the int32
    /// `extra[b+k]`; `c` where there is none.
    Piece = 146, "piece", [], 1, Special, [], 0.0, 1, "";

    // Control. Values inside a region are seen only there; what leaves it is a `result`.
    /// Region run [value `a`, an int32] times; `extra[b..b+c]` are the carried values' starts.
    Loop = 160, "loop", [], 1, Special, [], 0.0, 0, "";
    /// Carried value `b` of the enclosing loop `a`, at the start of an iteration.
    Carry = 161, "carry", [], 0, Special, [], 0.0, 0, "";
    /// Iteration number of the enclosing loop `a`, an int32 from 0.
    Iter = 162, "iter", [], 0, Special, [], 0.0, 0, "";
    /// Region run where value `a` (a bool) holds; an `else` follows before its `end`.
    If = 163, "if", [], 1, Special, [], 0.0, 0, "";
    /// Ends the first branch of `if` number `a`, whose values are `extra[b..b+c]`.
    Else = 164, "else", [], 0, Special, [], 0.0, 0, "";
    /// Ends region `a`, whose values (of the iteration, or of the second branch) are
    /// `extra[b..b+c]`.
    End = 165, "end", [], 0, Special, [], 0.0, 0, "";
    /// Value `b` of the finished region `a`.
    Result = 166, "result", [], 0, Special, [], 0.0, 0, "";
    /// The reduction of value `a` over the last axis, by the form's operation or that of code `b`; ends the map
    /// prologue of a reduce form.
    Reduce = 167, "reduce", [], 1, Special, [], 0.0, 0, "";
    /// Writes value `b` to destination `a`.
    Store = 168, "store", [], 1, Special, [], 0.0, 0, "";
    /// The running results of value `a` along the last axis, from the starts of chunks, value `b`.
    Scan = 169, "scan", [], 2, Special, [], 0.0, 0, "";
    /// The elements of value `a` in ascending order along the last axis.
    Sort = 170, "sort", [], 1, Special, [Moves], 0.0, 0, "";
    /// The positions of the elements of value `a`, int32, in the order of `sort`.
    ArgSort = 171, "argsort", [], 1, Special, [Moves], 0.0, 0, "";
    /// The sum over the last axis of value `a` times value `b`.
    MatMul = 172, "matmul", [], 2, Special, [], 0.0, 0, "";
    /// Result number `a` of the form's routine (`routines`) on the values `extra[b..b+c]`, its operands.
    Routine = 173, "routine", [], 0, Special, [], 0.0, 0, "";
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

    /// The operations that reduce and scan some dtype.
    pub fn reducing() -> impl Iterator<Item = Op> {
        OPS.iter().filter(|row| row.reduces()).map(|row| row.op)
    }

    /// The operation behind a NumPy function's name.
    pub fn from_numpy(name: &str) -> Option<Op> {
        OPS.iter().find(|row| row.numpy.contains(&name)).map(|row| row.op)
    }

    /// True for operations that compute one value from values alone.
    pub fn is_scalar_op(self) -> bool {
        self.info().rule != Rule::Special
    }

    /// The arguments of an instruction that are positions of instructions; lists in `Program::extra` come on top.
    pub fn value_arguments(self) -> std::ops::Range<usize> {
        match self {
            Op::Const | Op::Param | Op::Load | Op::Index => 0..0,
            Op::Gather | Op::Store => 1..2,
            Op::Loop | Op::If | Op::Else | Op::End | Op::Carry | Op::Iter | Op::Result => 0..1,
            _ => 0..self.info().arity as usize,
        }
    }

    /// True for instructions whose arguments `b` and `c` are a list of values in `Program::extra`.
    pub fn has_list(self) -> bool {
        matches!(self, Op::Loop | Op::Else | Op::End | Op::Piece | Op::Choose | Op::Routine)
    }

    /// The dtype that the operation gives for operands of these dtypes, or `None` when it does not
    /// take them. `to` is the wanted dtype of a cast or bitcast, unused elsewhere.
    pub fn result_dtype(self, operands: &[DType], to: DType) -> Option<DType> {
        let row = self.info();
        if operands.len() != row.arity as usize {
            return None;
        }
        let same = || operands.windows(2).all(|w| w[0] == w[1]).then(|| operands[0]);
        match row.rule {
            Rule::Special => None,
            Rule::Number => same(),
            Rule::Arithmetic => same().filter(|d| *d != DType::Bool),
            Rule::Float => same().filter(|d| d.is_float()),
            Rule::Bits => same().filter(|d| d.is_int() || *d == DType::Bool),
            Rule::Integer => same().filter(|d| d.is_int()),
            Rule::Compare => same().map(|_| DType::Bool),
            Rule::FloatTest => same().filter(|d| d.is_float()).map(|_| DType::Bool),
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
        let is_real = !dtype.is_complex();
        self.info().traits.iter().any(|holds| match holds {
            Trait::ReducesNumbers => dtype != DType::Bool,
            Trait::ReducesOrdered => is_real,
            Trait::ReducesBits => is_real && !dtype.is_float(),
            Trait::Symmetric | Trait::Moves => false,
        })
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
