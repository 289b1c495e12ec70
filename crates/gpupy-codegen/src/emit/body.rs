//! Emits the statements of a program's instructions.
//!
//! Owns [`Body`] and [`Leaves`]. Invariants: a value has one name, `v` and its number. A region's results and carried
//! values are variables, `r` and the region's number. Loops appear only in bodies of width one, because the
//! elements of a vector may diverge. An `if` of width four is predicated: the first branch runs if any element
//! takes it, the second always.
//!
//! Not here: loads and stores (kernels implement [`Leaves`]), the code around the statements.

use crate::analysis::float_classes::{self, FloatClasses};
use crate::dialect::{Dialect, Width};
use crate::emit::loop_bounds::{LoopHead, MOST_STEPS, StepCount, of_regions};
use crate::emit::operations::{emit, extreme_in_order, keeping_nan};
use gpupy_core::ir::Program;
use gpupy_core::op::{Op, Rule};
use gpupy_core::{DType, Scalar};
use std::fmt::Write;
use std::ops::Range;

/// The leaves of a program as a kernel writes them: expressions of the body's width.
pub trait Leaves {
    /// Scalar parameter `slot`.
    fn param(&self, slot: u32, dtype: DType) -> String;
    /// A literal.
    fn constant(&self, value: Scalar) -> String;
    /// The affine number of an access.
    fn index(&self, access: u32) -> String;
    /// An operand's element at an access.
    fn load(&self, operand: u32, access: u32) -> String;
    /// An operand's element at a computed index.
    fn gather(&self, operand: u32, index: &str) -> String;
    /// The statement that writes a value to a destination.
    fn store(&self, dest: u32, value: &str) -> String;
}

/// Statements under construction.
pub struct Body<'a> {
    program: &'a Program,
    dialect: &'a dyn Dialect,
    live: &'a [bool],
    names: Vec<String>,
    kinds: Vec<FloatClasses>,
    /// The `if` regions whose second branch exits the loop.
    ways_out: Vec<usize>,
    /// The text so far.
    pub text: String,
    /// How deep the next statement is indented.
    pub depth: usize,
    /// The steps of all loops so far in one invocation.
    steps: StepCount,
}

impl<'a> Body<'a> {
    /// An empty body. `live` selects the instructions; `finite`: all float parameters are finite.
    pub fn new(
        program: &'a Program,
        dialect: &'a dyn Dialect,
        live: &'a [bool],
        finite: bool,
    ) -> Body<'a> {
        let names = vec![String::new(); program.insts.len()];
        let kinds = float_classes::of_program(program, finite);
        Body {
            program,
            dialect,
            live,
            names,
            kinds,
            ways_out: program.leaving().map(|leaving| leaving.choice).collect(),
            text: String::new(),
            depth: 1,
            steps: StepCount::default(),
        }
    }

    /// Adds a line as it is.
    pub fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", self.depth * 4);
    }

    /// Adds a line that opens a block.
    pub fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
        self.steps.enter(1);
    }

    /// Opens a loop.
    pub fn open_loop(&mut self, each: &LoopHead<'_>) {
        self.line(&each.head(self.dialect));
        self.depth += 1;
        self.steps.enter_loop(each);
    }

    /// Closes a block.
    pub fn close(&mut self) {
        self.depth -= 1;
        self.steps.leave();
        self.line("}");
    }

    /// The text, once all blocks are closed.
    pub fn finish(self) -> String {
        debug_assert!(self.steps.all() <= MOST_STEPS, "{}", self.text);
        self.text
    }

    /// The expression that names an instruction's value.
    pub fn name(&self, value: u32) -> &str {
        &self.names[value as usize]
    }

    /// Names the value of an instruction that the kernel computes itself.
    pub fn set_name(&mut self, value: u32, name: String) {
        self.names[value as usize] = name;
    }

    /// Writes the live instructions in `range`.
    pub fn instructions(&mut self, range: Range<usize>, width: Width, leaves: &dyn Leaves) {
        // A region is named by its position. The steps of all regions count together.
        self.steps.add(of_regions(self.program, range.clone()));
        for at in range {
            if self.live[at] {
                self.instruction(at, width, leaves);
            }
        }
    }

    fn instruction(&mut self, at: usize, width: Width, leaves: &dyn Leaves) {
        let inst = self.program.insts[at];
        let [a, b, c] = inst.args;
        let value = match inst.op {
            Op::Const => {
                let bits = u64::from(a) | u64::from(b) << 32;
                let constant = leaves.constant(Scalar::new(inst.dtype, bits));
                self.names[at] = self.dialect.splat(inst.dtype, width, &constant);
                return;
            }
            Op::Param => {
                let param = leaves.param(a, inst.dtype);
                self.names[at] = self.dialect.splat(inst.dtype, width, &param);
                return;
            }
            Op::Index => leaves.index(a),
            Op::Load => leaves.load(a, b),
            Op::Gather => leaves.gather(a, self.name(b)),
            Op::Store => {
                let statement = leaves.store(a, self.name(b));
                return self.line(&statement);
            }
            Op::If | Op::Else | Op::End if width == Width::Four => {
                return self.choice(at, b..b + c);
            }
            Op::Loop | Op::If | Op::Else | Op::End => return self.control(at, b..b + c),
            Op::Carry => return self.names[at] = format!("r{a}_{b}"),
            Op::Result => return self.names[at] = format!("r{a}_{b}"),
            Op::Iter => return self.names[at] = format!("r{a}_i"),
            Op::Reduce => return,
            op => self.operation(op, inst.dtype, width, &inst.args),
        };
        let name = format!("v{at}");
        let declaration = self.dialect.declare(inst.dtype, width, &name, &value);
        self.line(&format!("{declaration};"));
        self.names[at] = name;
    }

    fn operation(&self, op: Op, dtype: DType, width: Width, args: &[u32; 3]) -> String {
        let arity = op.info().arity as usize;
        let names: Vec<&str> = args.iter().take(arity).map(|v| self.name(*v)).collect();
        let first = args[usize::from(op == Op::Select)];
        let from = self.program.insts[first as usize].dtype;
        if let (Op::Min | Op::Max, [a, b]) = (op, &names[..]) {
            let [x, y] = [args[0], args[1]].map(|value| self.kinds[value as usize]);
            if from.is_float() && x.are_in_order(y) {
                return extreme_in_order(self.dialect, op, from, width, a, b);
            }
        }
        // `check_ir` declines programs with operations that cannot be emitted.
        let value = emit(self.dialect, op, from, dtype, width, &names).unwrap_or_default();
        match op == Op::Select && dtype.is_float() && self.compares_its_own(args) {
            true => keeping_nan(self.dialect, dtype, width, value, names[2]),
            false => value,
        }
    }

    /// Whether the condition of a select compares what it selects, one of which may be NaN.
    fn compares_its_own(&self, &[condition, first, second]: &[u32; 3]) -> bool {
        let inst = self.program.insts[condition as usize];
        let [x, y, _] = inst.args;
        let selects = [[x, y], [y, x]].contains(&[first, second]);
        inst.op.info().rule == Rule::Compare && selects
    }

    /// Writes a control instruction; `list` is its range of the program's value lists.
    fn control(&mut self, at: usize, list: Range<u32>) {
        let inst = self.program.insts[at];
        let values: Vec<u32> = self.program.extra[list.start as usize..list.end as usize].to_vec();
        match inst.op {
            Op::Loop => {
                for (k, start) in values.iter().enumerate() {
                    let dtype = self.program.insts[*start as usize].dtype;
                    let name = format!("r{at}_{k}");
                    let start = self.name(*start).to_owned();
                    let line = self.dialect.start(dtype, Width::One, &name, &start);
                    self.line(&format!("{line};"));
                }
                let count = self.name(inst.args[0]).to_owned();
                let counter = format!("r{at}_i");
                // The bound is 0 because `instructions` has counted the steps of this loop.
                let line = LoopHead::below(&counter, &count, 0).head(self.dialect);
                self.open(&line);
            }
            // If the loop is not exited here, the first branch follows; its values need no variables.
            Op::If if self.is_way_out(at) => {
                let condition = self.name(inst.args[0]).to_owned();
                self.line(&format!("if (!({condition})) {{ break; }}"));
            }
            Op::Else if self.is_way_out(inst.args[0] as usize) => {
                for (k, value) in values.iter().enumerate() {
                    let dtype = self.program.insts[*value as usize].dtype;
                    let name = format!("r{}_{k}", inst.args[0]);
                    let line = self.dialect.declare(dtype, Width::One, &name, self.name(*value));
                    self.line(&format!("{line};"));
                }
            }
            Op::End if self.is_way_out(inst.args[0] as usize) => {}
            Op::If => {
                for (k, dtype) in self.branch_dtypes(at).into_iter().enumerate() {
                    let line = self.dialect.variable(dtype, Width::One, &format!("r{at}_{k}"));
                    self.line(&format!("{line};"));
                }
                let condition = self.name(inst.args[0]).to_owned();
                self.open(&format!("if ({condition}) {{"));
            }
            _ => self.assign(inst.args[0], &values, inst.op == Op::Else),
        }
    }

    /// True for an `if` that is the whole iteration and exits the loop by its second branch.
    fn is_way_out(&self, choice: usize) -> bool {
        self.ways_out.contains(&choice)
    }

    /// Writes a control instruction of an `if` over vectors of four.
    fn choice(&mut self, at: usize, list: Range<u32>) {
        let inst = self.program.insts[at];
        let region = inst.args[0];
        let values = &self.program.extra[list.start as usize..list.end as usize];
        match inst.op {
            Op::If => {
                for (k, dtype) in self.branch_dtypes(at).into_iter().enumerate() {
                    let line = self.dialect.variable(dtype, Width::Four, &format!("r{at}_{k}"));
                    self.line(&format!("{line};"));
                }
                let condition = self.dialect.any(self.name(region));
                self.open(&format!("if ({condition}) {{"));
            }
            Op::Else => {
                for (k, value) in values.iter().enumerate() {
                    let value = self.name(*value).to_owned();
                    self.line(&format!("r{region}_{k} = {value};"));
                }
                self.close();
            }
            _ => {
                let condition = self.program.insts[region as usize].args[0];
                for (k, value) in values.iter().enumerate() {
                    let dtype = self.program.insts[*value as usize].dtype;
                    let name = format!("r{region}_{k}");
                    let (condition, value) = (self.name(condition), self.name(*value));
                    let chosen = self.dialect.select(dtype, Width::Four, condition, &name, value);
                    self.line(&format!("{name} = {chosen};"));
                }
            }
        }
    }

    /// Ends a branch or an iteration by a parallel assignment of its values.
    fn assign(&mut self, region: u32, values: &[u32], then_else: bool) {
        // One carried value may be the next value of another, so all are read before any is assigned.
        for (k, value) in values.iter().enumerate() {
            let dtype = self.program.insts[*value as usize].dtype;
            let name = format!("n{region}_{k}");
            let line = self.dialect.declare(dtype, Width::One, &name, self.name(*value));
            self.line(&format!("{line};"));
        }
        for k in 0..values.len() {
            self.line(&format!("r{region}_{k} = n{region}_{k};"));
        }
        if then_else {
            self.depth -= 1;
            self.steps.leave();
            self.open("} else {");
        } else {
            self.close();
        }
    }

    /// The dtypes of the values that the branches of `if` number `region` give.
    fn branch_dtypes(&self, region: usize) -> Vec<DType> {
        let closes = |i: &&gpupy_core::ir::Inst| {
            matches!(i.op, Op::Else | Op::End) && i.args[0] as usize == region
        };
        let Some(close) = self.program.insts.iter().find(closes) else {
            return Vec::new();
        };
        let list = close.args[1] as usize..(close.args[1] + close.args[2]) as usize;
        self.program.extra[list].iter().map(|v| self.program.insts[*v as usize].dtype).collect()
    }
}
