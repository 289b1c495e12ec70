//! The text form of programs, for people, tools and tests.
//!
//! Owns `Display` and `FromStr` of [`Program`]. Invariant: `parse(print(p)) == p` for every program
//! that passes `verify`. Both directions follow one table, [`layout`].
//!
//! Not here: whether a parsed program is well formed (`verify.rs`), the grammar (`docs/ir.md`).

use super::{AccessKind, Form, FormKind, Inst, Program};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind};
use crate::op::Op;
use crate::routines::Routine;
use crate::scalar::Scalar;
use std::fmt::{self, Write};
use std::str::{FromStr, SplitWhitespace};

/// The syntax of an instruction's argument.
#[derive(Clone, Copy)]
enum ArgumentForm {
    /// `%7`: an instruction.
    Value,
    /// A letter and a number: a slot of one of the header's lists.
    Slot(char),
    /// `7`: a number.
    Number,
    /// `0x3f800000`: the bits of a literal, in two arguments.
    Bits,
    /// `(%1 %2)`: values listed in `extra`, in two arguments.
    List,
    /// `max`: an operation by its code, or nothing for 0. It comes last.
    MaybeOp,
}

/// The arguments of an operation, in order.
fn layout(op: Op) -> &'static [ArgumentForm] {
    use ArgumentForm::{Bits, List, MaybeOp, Number, Slot, Value};
    match op {
        Op::Const => &[Bits],
        Op::Param => &[Slot('p')],
        Op::Index => &[Slot('a')],
        Op::Load => &[Slot('o'), Slot('a')],
        Op::Gather => &[Slot('o'), Value],
        Op::Piece | Op::Choose => &[Value, List],
        Op::Loop => &[Value, List],
        Op::Carry | Op::Result => &[Value, Number],
        Op::Routine => &[Number, List],
        Op::Iter => &[Value],
        Op::Else | Op::End => &[Value, List],
        Op::Store => &[Slot('d'), Value],
        Op::Reduce => &[Value, MaybeOp],
        op => &[Value; 3][..op.info().arity as usize],
    }
}

/// True for instructions that others refer to: those with a value, and the openings of regions.
fn is_named(op: Op) -> bool {
    !matches!(op, Op::Else | Op::End | Op::Store)
}

/// True for instructions with a value.
fn has_dtype(op: Op) -> bool {
    is_named(op) && !matches!(op, Op::Loop | Op::If)
}

const KINDS: [(AccessKind, &str); 3] = [
    (AccessKind::Contiguous, "contiguous"),
    (AccessKind::Uniform, "uniform"),
    (AccessKind::Affine, "affine"),
];

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(KINDS.iter().find(|(kind, _)| kind == self).map_or("", |(_, name)| name))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.form, self.form.op()) {
            (Form::Routine { routine }, _) => writeln!(f, "form {} {routine}", self.form.kind())?,
            (_, None) => writeln!(f, "form {}", self.form.kind())?,
            (_, Some(op)) => writeln!(f, "form {} {}", self.form.kind(), op.info().name)?,
        }
        writeln!(f, "rank {}", self.rank)?;
        header(f, "operands", &self.operands)?;
        header(f, "params", &self.params)?;
        header(f, "accesses", &self.accesses)?;
        header(f, "dests", &self.dests)?;
        let mut depth = 0;
        for (at, inst) in self.insts.iter().enumerate() {
            if matches!(inst.op, Op::Else | Op::End) {
                depth -= 1;
            }
            write!(f, "{:indent$}", "", indent = 2 * usize::try_from(depth).unwrap_or(0))?;
            self.print(f, at, inst)?;
            if matches!(inst.op, Op::Loop | Op::If | Op::Else) {
                depth += 1;
            }
        }
        Ok(())
    }
}

fn header(f: &mut fmt::Formatter<'_>, word: &str, items: &[impl fmt::Display]) -> fmt::Result {
    f.write_str(word)?;
    for item in items {
        write!(f, " {item}")?;
    }
    f.write_char('\n')
}

impl Program {
    fn print(&self, f: &mut fmt::Formatter<'_>, at: usize, inst: &Inst) -> fmt::Result {
        if is_named(inst.op) {
            write!(f, "%{at} = ")?;
        }
        f.write_str(inst.op.info().name)?;
        if has_dtype(inst.op) {
            write!(f, " {}", inst.dtype)?;
        }
        let mut args = inst.args.into_iter();
        let mut next = || args.next().unwrap_or(0);
        for arg in layout(inst.op) {
            match arg {
                ArgumentForm::Value => write!(f, " %{}", next())?,
                ArgumentForm::Slot(letter) => write!(f, " {letter}{}", next())?,
                ArgumentForm::Number => write!(f, " {}", next())?,
                ArgumentForm::Bits => {
                    let scalar = Scalar {
                        dtype: inst.dtype,
                        bits: u64::from(next()) | u64::from(next()) << 32,
                    };
                    let digits = 2 + 2 * inst.dtype.size();
                    write!(f, " {:#0digits$x}  # {scalar}", scalar.bits)?;
                }
                ArgumentForm::List => {
                    let (from, len) = (next() as usize, next() as usize);
                    let values = self.extra.get(from..from.saturating_add(len)).unwrap_or(&[]);
                    let values: Vec<_> = values.iter().map(|v| format!("%{v}")).collect();
                    write!(f, " ({})", values.join(" "))?;
                }
                ArgumentForm::MaybeOp => match (next(), inst.own_op()) {
                    (0, _) => {}
                    (_, Some(op)) => write!(f, " {}", op.info().name)?,
                    (code, None) => write!(f, " {code}")?,
                },
            }
        }
        f.write_char('\n')
    }
}

impl FromStr for Program {
    type Err = Error;

    /// Parses the text form. Blank lines and comments (from a `#` on) are ignored.
    ///
    /// The program is only syntactically correct: call `verify` on text from outside.
    ///
    /// # Errors
    /// - `Invalid`: a syntax error; a fact has the line's number.
    fn from_str(text: &str) -> Result<Program, Error> {
        let mut program = Program::empty(Form::Map, 0);
        let mut heads = 0;
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("");
            // Parentheses are separate words; commas between words are optional.
            let line = line.replace('(', " ( ").replace(')', " ) ").replace(',', " ");
            let mut words = LineWords { words: line.split_whitespace() };
            if line.trim().is_empty() {
                continue;
            }
            let read = if heads < HEADS.len() {
                heads += 1;
                program.read_head(HEADS[heads - 1], &mut words)
            } else {
                program.read_inst(&mut words)
            };
            read.and_then(|()| words.end()).map_err(|said| {
                Error::new(ErrorKind::Invalid, "parse").says(said).with("line", number + 1)
            })?;
        }
        if heads < HEADS.len() {
            return Err(Error::new(ErrorKind::Invalid, "parse")
                .says(format!("the text ends before the line `{}`", HEADS[heads])));
        }
        Ok(program)
    }
}

/// The keywords of the header's lines.
const HEADS: [&str; 6] = ["form", "rank", "operands", "params", "accesses", "dests"];

type Parsed<T = ()> = Result<T, String>;

impl Program {
    fn read_head(&mut self, head: &str, words: &mut LineWords<'_>) -> Parsed {
        words.exactly(head)?;
        match head {
            "form" => {
                let name = words.next("a form")?;
                let kind = FormKind::from_name(name);
                let kind = kind.ok_or_else(|| format!("there is no form `{name}`"))?;
                let number = match kind {
                    FormKind::Routine => words.routine()?.number(),
                    _ if kind.combines() => words.op()? as u32,
                    _ => 0,
                };
                self.form = kind.with(number).ok_or_else(|| format!("`{name}` lacks its name"))?;
            }
            "rank" => self.rank = words.number("")?,
            "operands" => self.operands = words.rest(dtype)?,
            "params" => self.params = words.rest(dtype)?,
            "accesses" => self.accesses = words.rest(access)?,
            _ => self.dests = words.rest(dtype)?,
        }
        Ok(())
    }

    fn read_inst(&mut self, words: &mut LineWords<'_>) -> Parsed {
        let mut first = words.next("an instruction")?;
        let named = first.starts_with('%');
        if named {
            let at = number("%", first)?;
            if at as usize != self.insts.len() {
                let due = self.insts.len();
                return Err(format!("this is instruction `%{due}`, not `%{at}`"));
            }
            words.exactly("=")?;
            first = words.next("an operation")?;
        }
        let op = Op::from_name(first).ok_or_else(|| format!("there is no operation `{first}`"))?;
        match (named, is_named(op)) {
            (true, false) => return Err(format!("`{first}` has no value to name")),
            (false, true) => {
                return Err(format!("`{first}` lacks its name, `%{} =`", self.insts.len()));
            }
            _ => {}
        }
        let mut dtype = if has_dtype(op) { dtype(words.next("a dtype")?)? } else { DType::Bool };
        let mut args = Vec::with_capacity(3);
        for arg in layout(op) {
            match arg {
                ArgumentForm::Value => args.push(words.number("%")?),
                ArgumentForm::Slot(letter) => {
                    args.push(words.number(letter.encode_utf8(&mut [0; 4]))?)
                }
                ArgumentForm::Number => args.push(words.number("")?),
                ArgumentForm::Bits => {
                    let bits = bits(words.next("bits")?)?;
                    args.extend([bits as u32, (bits >> 32) as u32]);
                }
                ArgumentForm::List => {
                    let from = self.extra.len();
                    words.exactly("(")?;
                    loop {
                        match words.next("`)`")? {
                            ")" => break,
                            value => self.extra.push(number("%", value)?),
                        }
                    }
                    args.extend([from as u32, (self.extra.len() - from) as u32]);
                }
                ArgumentForm::MaybeOp => args.push(words.maybe_op()?),
            }
        }
        args.resize(3, 0);
        if op == Op::Store {
            // A store has its destination's dtype. `verify` finds a missing destination.
            dtype = self.dests.get(args[0] as usize).copied().unwrap_or(dtype);
        }
        self.insts.push(Inst { op, dtype, args: [args[0], args[1], args[2]] });
        Ok(())
    }
}

/// The unparsed words of a line.
struct LineWords<'a> {
    words: SplitWhitespace<'a>,
}

impl<'a> LineWords<'a> {
    fn next(&mut self, wanted: &str) -> Parsed<&'a str> {
        self.words.next().ok_or_else(|| format!("the line ends where {wanted} should be"))
    }

    fn exactly(&mut self, wanted: &str) -> Parsed {
        match self.next(&format!("`{wanted}`"))? {
            word if word == wanted => Ok(()),
            other => Err(format!("`{other}` stands where `{wanted}` should be")),
        }
    }

    fn number(&mut self, prefix: &str) -> Parsed<u32> {
        number(prefix, self.next("a number")?)
    }

    fn op(&mut self) -> Parsed<Op> {
        let name = self.next("an operation")?;
        Op::from_name(name).ok_or_else(|| format!("there is no operation `{name}`"))
    }

    fn routine(&mut self) -> Parsed<Routine> {
        let name = self.next("a routine")?;
        Routine::from_name(name).ok_or_else(|| format!("there is no routine `{name}`"))
    }

    /// The code of the next word's operation; 0 at the end of the line.
    fn maybe_op(&mut self) -> Parsed<u32> {
        if self.words.clone().next().is_none() {
            return Ok(0);
        }
        match self.op()? {
            op if op.is_scalar_op() => Ok(op as u32),
            op => Err(format!("`{}` combines nothing", op.info().name)),
        }
    }

    fn rest<T>(&mut self, read: impl Fn(&str) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.words.by_ref().map(read).collect()
    }

    fn end(&mut self) -> Parsed {
        match self.words.next() {
            None => Ok(()),
            Some(word) => Err(format!("`{word}` stands where the line should end")),
        }
    }
}

fn number(prefix: &str, word: &str) -> Parsed<u32> {
    // `parse` alone would accept a plus sign.
    let digits = word.strip_prefix(prefix).filter(|digits| !digits.starts_with('+'));
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| {
        format!("`{word}` stands where `{prefix}` and a number from 0 to {} should be", u32::MAX)
    })
}

fn bits(word: &str) -> Parsed<u64> {
    let digits = word.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
    digits
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or_else(|| format!("`{word}` stands where bits like `0x3f800000` should be"))
}

fn dtype(word: &str) -> Parsed<DType> {
    DType::from_name(word).ok_or_else(|| format!("there is no dtype `{word}`"))
}

fn access(word: &str) -> Parsed<AccessKind> {
    let found = KINDS.iter().find(|(_, name)| *name == word);
    found.map(|(kind, _)| *kind).ok_or_else(|| format!("there is no access `{word}`"))
}
