//! The operators of Python's that are ufuncs of NumPy's.
//!
//! Owns [`Operator`]. Not here: their implementation (`operators.rs`).

use pyo3::basic::CompareOp;

macro_rules! operators {
    ($($variant:ident $ufunc:literal $python:literal;)*) => {
        /// An operator of Python's that is a ufunc of NumPy's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // the variants are their own names
        pub enum Operator { $($variant,)* }

        impl Operator {
            /// How many operators there are.
            pub const COUNT: usize = [$($ufunc),*].len();

            /// The ufunc's name.
            pub fn ufunc_name(self) -> &'static str {
                match self { $(Operator::$variant => $ufunc,)* }
            }

            /// The name in Python's module `operator`.
            pub fn python_name(self) -> &'static str {
                match self { $(Operator::$variant => $python,)* }
            }
        }
    };
}

operators! {
    Add "add" "add";
    Sub "subtract" "sub";
    Mul "multiply" "mul";
    TrueDiv "divide" "truediv";
    FloorDiv "floor_divide" "floordiv";
    Mod "remainder" "mod";
    Pow "power" "pow";
    MatMul "matmul" "matmul";
    And "bitwise_and" "and_";
    Or "bitwise_or" "or_";
    Xor "bitwise_xor" "xor";
    LeftShift "left_shift" "lshift";
    RightShift "right_shift" "rshift";
    Lt "less" "lt";
    Le "less_equal" "le";
    Eq "equal" "eq";
    Ne "not_equal" "ne";
    Gt "greater" "gt";
    Ge "greater_equal" "ge";
    Neg "negative" "neg";
    Pos "positive" "pos";
    Abs "absolute" "abs";
    Invert "invert" "invert";
    DivMod "divmod" "__divmod__";
}

impl Operator {
    /// Whether it compares.
    pub fn compares(self) -> bool {
        use Operator::{Eq, Ge, Gt, Le, Lt, Ne};
        matches!(self, Lt | Le | Eq | Ne | Gt | Ge)
    }

    /// The operator of a comparison.
    pub fn comparison(op: CompareOp) -> Operator {
        match op {
            CompareOp::Lt => Operator::Lt,
            CompareOp::Le => Operator::Le,
            CompareOp::Eq => Operator::Eq,
            CompareOp::Ne => Operator::Ne,
            CompareOp::Gt => Operator::Gt,
            CompareOp::Ge => Operator::Ge,
        }
    }
}
