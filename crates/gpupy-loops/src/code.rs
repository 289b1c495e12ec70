//! Typed code of a nest: what is interpreted, and what becomes machine code.
//!
//! Owns [`Code`], [`Operation`] and [`Exit`]. A slot holds a value of one class; all are zero at first. The state is
//! an array of 64-bit words, which the code reads at its entry, and into which an exit writes names and loops.
//! Invariants: an operation reads slots that are written before it on each way; one that fails has no effect, and
//! goes to its exit. Not here: how it is made (`versions`), how it is run (`interpreter.rs`, `machine`).

use crate::called_functions::{Of1, Of2, OfIntegers};
use crate::kinds::{ElementType, Kind, SlotClass};
use crate::row_functions::RowFunction;

/// A place of a value.
pub type Slot = u32;

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Test {
    Eq,
    NotEq,
    Lt,
    LtE,
    Gt,
    GtE,
}

impl Test {
    /// Whether it holds.
    pub fn holds<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        match self {
            Test::Eq => a == b,
            Test::NotEq => a != b,
            Test::Lt => a < b,
            Test::LtE => a <= b,
            Test::Gt => a > b,
            Test::GtE => a >= b,
        }
    }
}

/// Arithmetic of integers that wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Integer {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    /// Rounded down; neither by 0 nor of the least by -1.
    FloorDiv,
    /// Of that.
    Mod,
    /// `Mod` of what is not negative and below twice a positive divisor.
    ModBelowTwice,
    /// `Mod` of what is below a positive divisor, and not below the same with a minus.
    ModFromMinus,
}

/// Arithmetic of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Floating {
    Add,
    Sub,
    Mul,
    Div,
}

/// A function of a floating-point number that machines have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FloatFunction {
    Neg,
    Abs,
    Sqrt,
}

/// One operation; the first slot is its result's.
#[derive(Clone, Debug)]
pub enum Operation {
    /// A constant.
    Int(Slot, i64),
    /// A constant.
    Double(Slot, f64),
    /// Of one class.
    Copy(Slot, Slot),
    /// Wraps.
    Integer(Integer, Slot, Slot, Slot),
    /// Leaves where the result has more than 64 bits: `Add`, `Sub` or `Mul`.
    Checked(Integer, Slot, Slot, Slot),
    /// 0 or 1 of two of one class.
    Compare(Test, Slot, Slot, Slot),
    /// Of one class.
    Floating(Floating, Slot, Slot, Slot),
    /// Of one class.
    Plain(FloatFunction, Slot, Slot),
    /// An integer as a floating-point number.
    ToDouble(Slot, Slot),
    /// Rounded.
    ToSingle(Slot, Slot),
    /// Exact.
    Widen(Slot, Slot),
    /// Rounded to zero, of what is within.
    ToInteger(Slot, Slot),
    /// The bits of any class.
    Bits(Slot, Slot),
    /// A call.
    Call1(Of1, Slot, Slot),
    /// A call.
    Call2(Of2, Slot, Slot, Slot),
    /// A call.
    CallIntegers(OfIntegers, Slot, Slot, Slot),
    /// A call with integers, which gives bits.
    CallRow(RowFunction, Slot, [Slot; 5]),
    /// By an integer: the second or the third.
    Select(Slot, Slot, Slot, Slot),
    /// Leaves where it is 0.
    Require(Slot),
    /// Leaves where NumPy might warn: the first is not finite, and neither of the others is to blame.
    Quiet(Slot, [Slot; 2]),
    /// Of the first, what several such make together: that is not finite where one of them is not.
    QuietAll(Slot, Vec<(Slot, [Slot; 2])>),
    /// A word of the state, of any class.
    Fetch(Slot, u32),
    /// A place on an axis: an index that counts from the end where it is negative. Leaves where it is outside.
    Within(Slot, Slot, Slot),
    /// Leaves where a place is not below an extent; it is not negative.
    Inside(Slot, Slot),
    /// An address: a base, places and strides in bytes, and a place in elements of some bytes.
    Address(Slot, Slot, Vec<(Slot, Slot)>, Option<(Slot, i64)>),
    /// An element at an address.
    Read(ElementType, Slot, Slot),
    /// Stores an element: address, value.
    Write(ElementType, Slot, Slot),
    /// Asks from time to time whether to go on.
    Poll,
    /// Counts some rounds at once: 1 where more of them are left until it is asked, else 0, and it is asked next time.
    Take(Slot, i64),
    /// 1 where a floating-point number is neither infinite nor NaN, else 0.
    IsFinite(Slot, Slot),
    /// 1 where an integer is not negative, and below another one that is not; else 0.
    IsBelow(Slot, Slot, Slot),
}

impl Operation {
    /// The slot that it writes.
    pub fn written(&self) -> Option<Slot> {
        Some(match *self {
            Operation::Int(to, _)
            | Operation::Double(to, _)
            | Operation::Copy(to, _)
            | Operation::Integer(_, to, ..)
            | Operation::Checked(_, to, ..)
            | Operation::Compare(_, to, ..)
            | Operation::Floating(_, to, ..)
            | Operation::Plain(_, to, _)
            | Operation::ToDouble(to, _)
            | Operation::ToSingle(to, _)
            | Operation::Widen(to, _)
            | Operation::ToInteger(to, _)
            | Operation::Bits(to, _)
            | Operation::Call1(_, to, _)
            | Operation::Call2(_, to, ..)
            | Operation::CallIntegers(_, to, ..)
            | Operation::CallRow(_, to, _)
            | Operation::Select(to, ..)
            | Operation::Fetch(to, _)
            | Operation::Within(to, ..)
            | Operation::Address(to, ..)
            | Operation::Take(to, _)
            | Operation::IsFinite(to, _)
            | Operation::IsBelow(to, ..)
            | Operation::Read(_, to, _) => to,
            Operation::Require(_)
            | Operation::Quiet(..)
            | Operation::QuietAll(..)
            | Operation::Inside(..)
            | Operation::Write(..)
            | Operation::Poll => return None,
        })
    }

    /// Calls a function with each slot that it reads.
    pub fn read(&self, mut each: impl FnMut(Slot)) {
        match self {
            Operation::Int(..)
            | Operation::Double(..)
            | Operation::Fetch(..)
            | Operation::Poll
            | Operation::Take(..) => {}
            Operation::Copy(_, a)
            | Operation::Plain(_, _, a)
            | Operation::ToDouble(_, a)
            | Operation::ToSingle(_, a)
            | Operation::Widen(_, a)
            | Operation::ToInteger(_, a)
            | Operation::Bits(_, a)
            | Operation::Call1(_, _, a)
            | Operation::Require(a)
            | Operation::IsFinite(_, a)
            | Operation::Read(_, _, a) => each(*a),
            Operation::Integer(_, _, a, b)
            | Operation::Checked(_, _, a, b)
            | Operation::Compare(_, _, a, b)
            | Operation::Floating(_, _, a, b)
            | Operation::Call2(_, _, a, b)
            | Operation::CallIntegers(_, _, a, b)
            | Operation::Within(_, a, b)
            | Operation::Inside(a, b)
            | Operation::IsBelow(_, a, b)
            | Operation::Write(_, a, b) => [*a, *b].into_iter().for_each(each),
            Operation::CallRow(_, _, given) => given.iter().copied().for_each(each),
            Operation::Select(_, a, b, c) => [*a, *b, *c].into_iter().for_each(each),
            Operation::Quiet(a, [b, c]) => [*a, *b, *c].into_iter().for_each(each),
            Operation::QuietAll(a, all) => {
                each(*a);
                for &(result, [a, b]) in all {
                    [result, a, b].into_iter().for_each(&mut each);
                }
            }
            Operation::Address(_, base, terms, side) => {
                each(*base);
                for &(place, stride) in terms {
                    each(place);
                    each(stride);
                }
                if let Some((place, _)) = side {
                    each(*place);
                }
            }
        }
    }
}

/// The end of a block.
#[derive(Clone, Debug)]
pub enum BlockEnd {
    /// Goes on.
    Jump(usize),
    /// By an integer.
    Branch(Slot, usize, usize),
    /// Leaves.
    Leave,
}

impl BlockEnd {
    /// The blocks where it may go on.
    pub fn targets(&self) -> impl Iterator<Item = usize> {
        let [first, second] = match *self {
            BlockEnd::Jump(next) => [Some(next), None],
            BlockEnd::Branch(_, inside, beside) => [Some(inside), Some(beside)],
            BlockEnd::Leave => [None, None],
        };
        first.into_iter().chain(second)
    }
}

/// Operations one after the other.
#[derive(Debug, Clone)]
pub struct Block {
    /// The exit of all that is in it.
    pub exit: usize,
    /// The operations.
    pub operations: Vec<Operation>,
    /// Where it goes on.
    pub end: BlockEnd,
    /// Whether it is seldom reached.
    pub is_cold: bool,
}

/// Why a nest is left in its midst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A value was not as the code needs it: an overflow, an index outside, a division by zero.
    Value,
    /// A name has no value, or one of a kind that is not known, at a statement that needs it.
    Kind,
    /// Python returns from the function.
    Return,
    /// The nest was left behind its end.
    Done,
}

/// A way out.
#[derive(Debug, Clone)]
pub struct Exit {
    /// The statement that Python runs next.
    pub statement: usize,
    /// Why, at the end of its block.
    pub reason: Reason,
    /// Words of the state and the slots that they get.
    pub saved: Vec<(u32, Slot)>,
    /// Words of the state that get the number of a kind.
    pub kinds: Vec<(u32, Kind)>,
}

/// A nest for some kinds of values.
#[derive(Debug, Clone)]
pub struct Code {
    /// The slots.
    pub slots: Vec<SlotClass>,
    /// The blocks; it begins at the first.
    pub blocks: Vec<Block>,
    /// The ways out.
    pub exits: Vec<Exit>,
    /// How many words its state has.
    pub words: usize,
}
