//! A nest of loops as the program has it: statements and expressions, without types.
//!
//! Owns [`Nest`]. It comes from Python as JSON; names are numbers in the list of the nest's names. Statements are
//! counted from the loop on, which is 0, in the order of the text. Not here: which texts become one (gpupy-py),
//! control flow (`flow`).

use serde::Deserialize;

use crate::called_functions::NamedFunction;

/// A name's place in [`Nest::names`].
pub type Name = usize;

/// A loop with all that is in it.
#[derive(Deserialize)]
pub struct Nest {
    /// The names that it reads and binds, without those of functions.
    pub names: Vec<String>,
    /// The loop.
    pub body: Statement,
}

/// One statement.
#[derive(Deserialize)]
pub struct Statement {
    /// Its number.
    pub number: usize,
    /// What it does.
    pub does: Does,
}

impl Statement {
    /// The number of the last statement in it, itself at least.
    pub fn last(&self) -> usize {
        let parts = match &self.does {
            Does::If(_, body, other) | Does::For(.., body, other) | Does::While(_, body, other) => {
                [&body[..], &other[..]]
            }
            _ => return self.number,
        };
        let last = parts.iter().rev().find_map(|part| part.last());
        last.map_or(self.number, Statement::last)
    }
}

/// What a statement does.
#[derive(Deserialize)]
pub enum Does {
    /// Evaluates an expression, and assigns it to targets from left to right.
    Assign(Vec<Target>, Expression),
    /// `target op= value`.
    InPlace(Target, BinaryOperator, Expression),
    /// `if`, with `else`.
    If(Expression, Vec<Statement>, Vec<Statement>),
    /// `for name in range(...)`, with what is bound to other names before its body, and `else`.
    For(Name, Vec<Expression>, Vec<(Name, Expression)>, Vec<Statement>, Vec<Statement>),
    /// `while`, with `else`.
    While(Expression, Vec<Statement>, Vec<Statement>),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// Nothing.
    Pass,
    /// What Python does from here on.
    Leave,
}

/// What a value is assigned to.
#[derive(Deserialize)]
pub enum Target {
    /// A name.
    Name(Name),
    /// An element of an array, or a row of it.
    Element(Name, Vec<Index>),
    /// Several, of a value that is a tuple of as many.
    Tuple(Vec<Target>),
}

/// An expression.
#[derive(Deserialize)]
pub enum Expression {
    /// The value of a name.
    Name(Name),
    /// A number of Python's.
    Int(i64),
    /// A number of Python's, by its bits.
    Float(u64),
    /// `True` or `False`.
    Bool(bool),
    /// A tuple, which only targets take apart.
    Tuple(Vec<Expression>),
    /// An operator between two.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// An operator before one.
    Unary(UnaryOperator, Box<Expression>),
    /// `and` between all; else `or`.
    Logic(bool, Vec<Expression>),
    /// A chain of comparisons.
    Compare(Box<Expression>, Vec<(Comparison, Expression)>),
    /// `body if test else other`: test, body, other.
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
    /// An element of an array, or a row of it.
    Element(Name, Vec<Index>),
    /// An axis's length.
    Extent(Name, isize),
    /// A call.
    Call(NamedFunction, Vec<Expression>),
    /// What becomes of rows: one number.
    Reduce(SliceReduction, Vec<Expression>),
    /// Numbers for variables of a function that is called, by their numbers, and what it gives.
    Let(Vec<(usize, Expression)>, Box<Expression>),
    /// Such a variable.
    Local(usize),
}

/// What stands for an axis of an array.
#[derive(Deserialize)]
pub enum Index {
    /// A place.
    At(Expression),
    /// A slice: start, stop, step.
    Slice([Option<Expression>; 3]),
}

/// Functions of rows that give a number.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SliceReduction {
    /// Of two.
    Dot,
    Sum,
    Mean,
    Max,
    Min,
    Argmax,
    Argmin,
    Any,
    All,
}

/// Operators between two values.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum BinaryOperator {
    Add,
    Sub,
    Mult,
    Div,
    FloorDiv,
    Mod,
    Pow,
    BitAnd,
    BitOr,
    BitXor,
    LShift,
    RShift,
}

/// Operators before a value.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum UnaryOperator {
    USub,
    UAdd,
    Invert,
    Not,
}

/// Comparisons.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Comparison {
    Eq,
    NotEq,
    Lt,
    LtE,
    Gt,
    GtE,
}
