//! The verifier: checks that a program is well formed, so that drivers need not.
//!
//! Owns `Program::verify`. Invariants: a program that passes has no argument out of range, no use of a value outside
//! its region or before its definition, and only dtypes that the operation table allows. Its memory form is canonical
//! (unused arguments are 0, value lists are contiguous), so that equal programs have equal text and fingerprints.
//!
//! Not here: offsets and strides of a launch (the engine computes them with the program).

use super::{Form, FormKind, Inst, Program};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::op::{Op, Rule};
use crate::shape::MAX_RANK;
use std::ops::Range;

impl Program {
    /// Checks everything that a driver relies on.
    ///
    /// # Errors
    /// - `Invalid`: the program is malformed; the message says how, and a fact has the instruction's number.
    pub fn verify(&self) -> Result<()> {
        if self.rank == 0 || self.rank as usize > MAX_RANK {
            let rank = self.rank;
            return Err(invalid(format!("rank `{rank}` is not between 1 and {MAX_RANK}")));
        }
        if self.dests.is_empty() {
            return Err(invalid("the program has no destination".into()));
        }
        let mut walk = ProgramWalk::new(self);
        for (at, inst) in self.insts.iter().enumerate() {
            walk.inst(at, inst).map_err(|said| {
                invalid(said).with("instruction", at).with("operation", inst.op.info().name)
            })?;
        }
        walk.end().map_err(invalid)
    }
}

fn invalid(said: String) -> Error {
    Error::new(ErrorKind::Invalid, "verify").says(said)
}

type Verified<T = ()> = std::result::Result<T, String>;

/// The state of an instruction's value during verification.
#[derive(Clone, Copy, PartialEq)]
enum ScopeState {
    /// The instruction has no value, and is not a finished region.
    Nothing,
    /// The value is in scope.
    Value,
    /// A finished region. Its results are in scope.
    Region,
    /// The value is out of scope: its region has ended, or it precedes the form's instruction.
    Gone,
}

/// An open region.
struct OpenRegion {
    /// The instruction that opened it.
    at: usize,
    /// The dtypes of its values: known from the start for a loop, after the first branch for an `if`.
    dtypes: Option<Vec<DType>>,
    /// The first instruction of the current branch.
    from: usize,
    is_loop: bool,
}

struct ProgramWalk<'a> {
    program: &'a Program,
    seen: Vec<ScopeState>,
    open: Vec<OpenRegion>,
    /// The dtypes of the results of finished regions, by the instruction that opened them.
    results: Vec<Option<Vec<DType>>>,
    /// The number of entries of `extra` that lists so far cover.
    listed: usize,
    stored: Vec<bool>,
    /// True once the form's instruction was seen.
    formed: bool,
    /// The range of the reductions seen so far.
    reduces: Range<usize>,
}

impl<'a> ProgramWalk<'a> {
    fn new(program: &'a Program) -> ProgramWalk<'a> {
        ProgramWalk {
            program,
            seen: Vec::with_capacity(program.insts.len()),
            open: Vec::new(),
            results: vec![None; program.insts.len()],
            listed: 0,
            stored: vec![false; program.dests.len()],
            formed: false,
            reduces: 0..0,
        }
    }

    fn inst(&mut self, at: usize, inst: &Inst) -> Verified {
        let [a, b, c] = inst.args;
        if inst.op != Op::Reduce && self.reduces.end == at {
            // Values of the prologue are out of scope in the epilogue.
            self.hide(0..self.reduces.start);
        }
        let mut seen = ScopeState::Value;
        let mut used = inst.op.info().arity as usize;
        match inst.op {
            Op::Const => {
                used = 2;
                literal(inst.dtype, u64::from(a) | u64::from(b) << 32)?;
            }
            Op::Param => {
                used = 1;
                gives(inst, slot("parameter", &self.program.params, a)?)?;
            }
            Op::Index => {
                used = 1;
                slot("access", &self.program.accesses, a)?;
                gives(inst, DType::I32)?;
            }
            Op::Load => {
                used = 2;
                gives(inst, slot("operand", &self.program.operands, a)?)?;
                slot("access", &self.program.accesses, b)?;
            }
            Op::Gather => {
                used = 2;
                gives(inst, slot("operand", &self.program.operands, a)?)?;
                self.takes("index", b, DType::I32)?;
            }
            Op::Piece => {
                used = 3;
                self.takes("number", a, DType::I32)?;
                let ends = self.list(b, c)?;
                if ends.is_empty() || ends.iter().any(|dtype| *dtype != DType::I32) {
                    return Err(format!("the ends of pieces are {}, not int32", names(&ends)));
                }
                gives(inst, DType::I32)?;
            }
            Op::Choose => {
                used = 3;
                self.takes("number", a, DType::I32)?;
                let dtypes = self.list(b, c)?;
                match dtypes[..] {
                    [first, ..] if dtypes.iter().all(|dtype| *dtype == first) => {
                        gives(inst, first)?;
                    }
                    _ => return Err(format!("it chooses from {}", names(&dtypes))),
                }
            }
            Op::Loop => {
                used = 3;
                self.takes("count", a, DType::I32)?;
                let dtypes = self.list(b, c)?;
                let region = OpenRegion { at, dtypes: Some(dtypes), from: at + 1, is_loop: true };
                self.open.push(region);
                seen = ScopeState::Nothing;
            }
            Op::If => {
                self.takes("condition", a, DType::Bool)?;
                self.open.push(OpenRegion { at, dtypes: None, from: at + 1, is_loop: false });
                seen = ScopeState::Nothing;
            }
            Op::Else => {
                used = 3;
                let dtypes = self.list(b, c)?;
                self.leave(a, at, |region| match (&region.dtypes, region.is_loop) {
                    (_, true) => Err(format!("region `{a}` is a loop")),
                    (Some(_), _) => Err(format!("region `{a}` has its `else` already")),
                    (None, _) => Ok(()),
                })?;
                if let Some(region) = self.open.last_mut() {
                    region.dtypes = Some(dtypes);
                    region.from = at + 1;
                }
                seen = ScopeState::Nothing;
            }
            Op::End => {
                used = 3;
                let dtypes = self.list(b, c)?;
                self.leave(a, at, |region| match &region.dtypes {
                    None => Err(format!("region `{a}` has no `else`")),
                    Some(first) if *first != dtypes => Err(format!(
                        "region `{a}` gives {} here and {} before",
                        names(&dtypes),
                        names(first)
                    )),
                    Some(_) => Ok(()),
                })?;
                self.open.pop();
                self.results[a as usize] = Some(dtypes);
                self.seen[a as usize] = ScopeState::Region;
                seen = ScopeState::Nothing;
            }
            Op::Carry | Op::Iter => {
                let region = self.open.iter().find(|r| r.is_loop && r.at == a as usize);
                let region = region.ok_or_else(|| format!("no loop `{a}` is open here"))?;
                let carried = region.dtypes.as_deref().unwrap_or(&[]);
                if inst.op == Op::Carry {
                    used = 2;
                    gives(inst, slot("carried value", carried, b)?)?;
                } else {
                    used = 1;
                    gives(inst, DType::I32)?;
                }
            }
            Op::Result => {
                used = 2;
                if self.seen.get(a as usize) != Some(&ScopeState::Region) {
                    return Err(format!("`{a}` is no finished region that can be seen here"));
                }
                let dtypes = self.results[a as usize].as_deref().unwrap_or(&[]);
                gives(inst, slot("result", dtypes, b)?)?;
            }
            Op::Reduce => {
                used = 2;
                let dtype = self.value(a)?;
                self.reduce(at, inst, dtype)?;
                gives(inst, dtype)?;
            }
            Op::Scan | Op::Sort | Op::ArgSort | Op::MatMul => {
                let dtype = self.value(a)?;
                self.form(inst.op, dtype)?;
                self.loads(at, inst)?;
                if used == 2 {
                    self.takes("second operand", b, dtype)?;
                }
                gives(inst, if inst.op == Op::ArgSort { DType::I32 } else { dtype })?;
                self.hide(0..at);
            }
            Op::Routine => {
                used = 3;
                let given = self.list(b, c)?;
                self.form(inst.op, inst.dtype)?;
                self.loads(at, inst)?;
                self.routine(a, &given, inst.dtype)?;
                self.hide(0..at);
            }
            Op::Store => {
                used = 2;
                self.store(a, b)?;
                gives(inst, self.program.dests[a as usize])?;
                seen = ScopeState::Nothing;
            }
            op => self.operation(op, inst)?,
        }
        if seen == ScopeState::Nothing && inst.op != Op::Store {
            gives(inst, DType::Bool)?;
        }
        if let Some(arg) = inst.args[used..].iter().find(|arg| **arg != 0) {
            return Err(format!("an unused argument is `{arg}`, not 0"));
        }
        self.seen.push(seen);
        Ok(())
    }

    fn end(self) -> Verified {
        if let Some(region) = self.open.last() {
            return Err(format!("region `{}` has no `end`", region.at));
        }
        if self.listed != self.program.extra.len() {
            let (listed, all) = (self.listed, self.program.extra.len());
            return Err(format!("instructions name {listed} of {all} listed values"));
        }
        if let Some(dest) = self.stored.iter().position(|stored| !stored) {
            return Err(format!("destination `{dest}` has no `store`"));
        }
        let Program { form, insts, .. } = self.program;
        if *form != Form::Map && !self.formed {
            return Err(format!("the {0} form has no `{0}`", form.kind()));
        }
        // As many loads precede the instruction as it has operands.
        let last = insts.iter().position(|inst| inst.op.form().is_some());
        if form.is_library_op() && last.is_some_and(|last| last + 2 != insts.len()) {
            return Err(format!("the {} form has one `store` and nothing else", form.kind()));
        }
        if *form == Form::MatMul && self.program.rank < 3 {
            return Err("the matmul form has at least 3 axes".to_string());
        }
        Ok(())
    }

    /// The dtype of a value in scope.
    fn value(&self, number: u32) -> Verified<DType> {
        let at = number as usize;
        match self.seen.get(at) {
            Some(ScopeState::Value) => Ok(self.program.insts[at].dtype),
            Some(ScopeState::Gone) => Err(format!("value `{number}` cannot be seen here")),
            Some(_) => Err(format!("instruction `{number}` has no value")),
            None => Err(format!("value `{number}` is not defined before")),
        }
    }

    fn takes(&self, what: &str, number: u32, wanted: DType) -> Verified {
        let dtype = self.value(number)?;
        if dtype == wanted {
            return Ok(());
        }
        Err(format!("the {what} is `{dtype}`, not `{wanted}`"))
    }

    /// The dtypes of a list of values, which must be contiguous to the previous list.
    fn list(&mut self, from: u32, len: u32) -> Verified<Vec<DType>> {
        let (start, end) = (from as usize, from as usize + len as usize);
        let values = self.program.extra.get(start..end).ok_or_else(|| {
            let all = self.program.extra.len();
            format!("values `{start}..{end}` are not among the {all} listed ones")
        })?;
        if start != self.listed {
            let before = self.listed;
            return Err(format!("the value list starts at `{start}`, not at {before}"));
        }
        self.listed = end;
        values.iter().map(|value| self.value(*value)).collect()
    }

    /// Ends a branch of the innermost region, which must be number `region`.
    fn leave(
        &mut self,
        region: u32,
        at: usize,
        fits: impl Fn(&OpenRegion) -> Verified,
    ) -> Verified {
        let open = self.open.last().filter(|open| open.at == region as usize);
        let open =
            open.ok_or_else(|| format!("region `{region}` is not the innermost open one"))?;
        fits(open)?;
        self.hide(open.from..at);
        debug_assert_eq!(self.seen.len(), at);
        Ok(())
    }

    fn hide(&mut self, values: Range<usize>) {
        for seen in &mut self.seen[values] {
            *seen = ScopeState::Gone;
        }
    }

    fn operation(&self, op: Op, inst: &Inst) -> Verified {
        let row = op.info();
        debug_assert!(row.rule != Rule::Special);
        let mut dtypes = [DType::Bool; 3];
        for (dtype, arg) in dtypes.iter_mut().zip(inst.args).take(row.arity as usize) {
            *dtype = self.value(arg)?;
        }
        let dtypes = &dtypes[..row.arity as usize];
        match op.result_dtype(dtypes, inst.dtype) {
            Some(dtype) => gives(inst, dtype),
            None => Err(format!("`{}` does not take {}", row.name, names(dtypes))),
        }
    }

    /// Checks the instruction of a form, on values of this dtype.
    fn form(&mut self, op: Op, dtype: DType) -> Verified {
        let (form, name) = (self.program.form, op.info().name);
        if op.form() != Some(form.kind()) {
            return Err(format!("the {} form has no `{name}`", form.kind()));
        }
        if !self.open.is_empty() {
            return Err(format!("`{name}` stands inside a region"));
        }
        if std::mem::replace(&mut self.formed, true) {
            return Err(format!("there is a second `{name}`"));
        }
        match form.op() {
            Some(by) if !by.reduces(dtype) => {
                Err(format!("`{}` does not {} `{dtype}`", by.info().name, form.kind()))
            }
            _ => Ok(()),
        }
    }

    /// Checks a reduction of a value of this dtype. The first has the form's operation; a further one follows directly
    /// and names its own.
    fn reduce(&mut self, at: usize, inst: &Inst, dtype: DType) -> Verified {
        let [value, named, _] = inst.args;
        if !self.formed || self.program.form.kind() != FormKind::Reduce {
            self.form(inst.op, dtype)?;
            self.reduces = at..at + 1;
            return match named {
                0 => Ok(()),
                _ => Err("the first `reduce` has the form's operation and names none".to_string()),
            };
        }
        if self.reduces.end != at {
            return Err("a further `reduce` stands apart from those before it".to_string());
        }
        if value as usize >= self.reduces.start {
            return Err(format!("value `{value}` is another reduction's result"));
        }
        self.reduces.end += 1;
        match inst.own_op() {
            None => Err(format!("a further `reduce` names no operation, but `{named}`")),
            Some(by) if !by.reduces(dtype) => {
                Err(format!("`{}` does not reduce `{dtype}`", by.info().name))
            }
            Some(_) => Ok(()),
        }
    }

    /// Checks that the operands of a whole-program form's instruction are the loads before it.
    fn loads(&self, at: usize, inst: &Inst) -> Verified {
        let loads = self.program.insts[..at].iter().all(|inst| inst.op == Op::Load);
        if loads && self.program.uses(inst).eq(0..at as u32) {
            return Ok(());
        }
        let name = inst.op.info().name;
        Err(format!("before `{name}` stand its operands' loads, in their order, and nothing else"))
    }

    /// Checks the dtypes of the form's routine: its operand, its result, and its attributes, the parameters.
    fn routine(&self, result: u32, given: &[DType], dtype: DType) -> Verified {
        let Form::Routine { routine } = self.program.form else { return Ok(()) };
        if result != 0 {
            return Err(format!("`{routine}` has no result `{result}`"));
        }
        let gives = match given {
            [operand] => routine.result_dtype(*operand),
            _ => None,
        };
        if gives != Some(dtype) {
            return Err(format!("`{routine}` does not make `{dtype}` of {}", names(given)));
        }
        let attributes: Vec<DType> = routine.attribute_dtypes().collect();
        if self.program.params != attributes {
            let (all, wanted) = (names(&self.program.params), names(&attributes));
            return Err(format!("the parameters of `{routine}` are {all}, not {wanted}"));
        }
        Ok(())
    }

    fn store(&mut self, dest: u32, value: u32) -> Verified {
        self.takes("stored value", value, slot("destination", &self.program.dests, dest)?)?;
        if !self.open.is_empty() {
            return Err("`store` stands inside a region".to_string());
        }
        if self.program.form != Form::Map && !self.formed {
            return Err(format!("`store` stands before `{}`", self.program.form.kind()));
        }
        if std::mem::replace(&mut self.stored[dest as usize], true) {
            return Err(format!("destination `{dest}` has a second `store`"));
        }
        Ok(())
    }
}

fn slot<T: Copy>(what: &str, slots: &[T], number: u32) -> Verified<T> {
    slots.get(number as usize).copied().ok_or_else(|| {
        format!("{what} `{number}` is not among the {} that the program has", slots.len())
    })
}

fn gives(inst: &Inst, dtype: DType) -> Verified {
    if inst.dtype == dtype {
        return Ok(());
    }
    Err(format!("the dtype is `{}`, not `{dtype}`", inst.dtype))
}

fn literal(dtype: DType, bits: u64) -> Verified {
    let most = match dtype {
        DType::C64 | DType::C128 => return Err(format!("`{dtype}` has no literals")),
        DType::Bool => 1,
        _ => u64::MAX >> (64 - 8 * dtype.size()),
    };
    if bits <= most {
        return Ok(());
    }
    Err(format!("`{bits:#x}` is not among the bits of `{dtype}`, at most {most:#x}"))
}

fn names(dtypes: &[DType]) -> String {
    let names: Vec<_> = dtypes.iter().map(|dtype| format!("`{dtype}`")).collect();
    format!("({})", names.join(", "))
}
